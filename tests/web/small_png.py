"""Small PNG files of pictures of text: few colours, without filters, as a browser's own pictures are several times as large."""
import collections
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 64


def chunks(png):
    at = len(SIGNATURE)
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        yield name, png[at + 8:at + 8 + length]
        at += length + 12


def paeth(left, up, corner):
    guess = left + up - corner
    far = (abs(guess - left), abs(guess - up), abs(guess - corner))
    return (left, up, corner)[far.index(min(far))]


def rows_of(png):
    """Width, and the rows of a picture of 8 bits a channel that is not interlaced, as lists of pixels, of three bytes each."""
    parts = list(chunks(png))
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    assert depth == 8 and colour in (2, 6) and not interlaced, (depth, colour, interlaced)
    step = 3 if colour == 2 else 4
    raw = zlib.decompress(b"".join(data for name, data in parts if name == b"IDAT"))
    before, rows = bytearray(width * step), []
    for y in range(height):
        at = y * (width * step + 1)
        kind, row = raw[at], bytearray(raw[at + 1:at + 1 + width * step])
        if kind:
            for x in range(len(row)):
                left = row[x - step] if x >= step else 0
                up, corner = before[x], before[x - step] if x >= step else 0
                row[x] = row[x] + (0, left, up, (left + up) // 2, paeth(left, up, corner) if kind == 4 else 0)[kind] & 255
        before = row
        rows.append([bytes(row[x:x + 3]) for x in range(0, len(row), step)])
    return width, rows


def small(png):
    """The same picture, as far as so many colours can have it."""
    width, rows = rows_of(png)
    counts = collections.Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in counts.most_common(COLOURS)]
    at = {colour: i for i, colour in enumerate(palette)}
    for colour in counts:
        if colour not in at:
            at[colour] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    data = b"".join(b"\0" + bytes(at[pixel] for pixel in row) for row in rows)

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return (SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))
