"""What is in a profile.proto of pprof, read by the numbers of its fields alone."""
import gzip


def fields(data):
    """(number, value) of each field of a message; texts and messages are bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        assert key & 7 == 2, key
        size = varint()
        yield key >> 3, data[at:at + size]
        at += size


def several(message, number):
    return [value for n, value in fields(message) if n == number]


class Pprof:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        texts = [t.decode() for t in several(data, 6)]
        assert texts[0] == ""
        self.types = [tuple(texts[i] for i in (dict(fields(t))[1], dict(fields(t))[2])) for t in several(data, 1)]
        functions = {f[1]: texts[f[2]] for f in map(lambda m: dict(fields(m)), several(data, 5))}
        locations = {}
        for message in several(data, 4):
            location = dict(fields(message))
            locations[location[1]] = functions[dict(fields(location[4]))[1]]
        self.samples = [(tuple(locations[i] for i in reversed(several(s, 1))), several(s, 2)) for s in several(data, 2)]
        self.period_ns = several(data, 12)[0]
        self.duration_ns = several(data, 10)[0]
