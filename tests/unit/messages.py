"""Messages of protobuf, read by the numbers of their fields alone."""
import gzip
import struct


def fields(data):
    """(number, value) of each field of a message: numbers, eight bytes as an int, or bytes."""
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
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        else:
            assert key & 7 == 2, key
            size = varint()
            assert at + size <= len(data), "a field reaches over the end"
            yield key >> 3, data[at:at + size]
            at += size


def several(message, number):
    return [value for n, value in fields(message) if n == number]


def one(message, number, default=0):
    values = several(message, number)
    assert len(values) < 2, (number, values)
    return values[0] if values else default


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
