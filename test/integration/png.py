# SPDX-License-Identifier: Apache-2.0
"""Decodes PNG files of 8-bit colours, as cairo and Chromium write them."""
import struct
import zlib


def decode(data):
    """Width, height, and rows of pixels: (red, green, blue)."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n', data[:8]
    at, packed, header, kinds = 8, b'', None, []
    while at < len(data):
        (n,), kind = struct.unpack_from('>I', data, at), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + n]
        assert struct.unpack_from('>I', data, at + 8 + n)[0] == zlib.crc32(kind + body)
        header = struct.unpack('>IIBBBBB', body) if kind == b'IHDR' else header
        packed += body if kind == b'IDAT' else b''
        kinds.append(kind)
        at += 12 + n
    assert kinds[0] == b'IHDR' and kinds[-1] == b'IEND', kinds
    width, height, depth, colour, *rest = header
    assert depth == 8 and colour in (2, 6) and rest == [0, 0, 0], header
    size = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * size)
    assert len(raw) == height * (1 + width * size)
    for y in range(height):
        start = y * (1 + width * size)
        before = _unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * size]), before, size)
        rows.append([tuple(before[i:i + 3]) for i in range(0, width * size, size)])
    return width, height, rows


def _unfilter(kind, line, above, size):
    if not kind:
        return line
    if kind == 2:
        return bytearray((a + b) & 0xff for a, b in zip(line, above))
    for i in range(len(line)):
        left, up, corner = line[i - size] if i >= size else 0, above[i], above[i - size] if i >= size else 0
        if kind == 4:
            guess = left + up - corner
            near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        else:
            near = left if kind == 1 else (left + up) // 2
        line[i] = (line[i] + near) & 0xff
    return line
