# SPDX-License-Identifier: Apache-2.0
"""The wire format of protobuf, for tests that check messages without the code that wrote them."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Invalid(Exception):
    pass


def number(value):
    """A varint."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def varint(data, at):
    """The value of a varint, and the offset behind it."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Invalid('a number does not end')
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value & (1 << 64) - 1, at


def fields(data):
    """(key, value) of each field: an int, or bytes, those of a FIXED64 or FIXED32 too."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        key, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == FIXED64:
            value, at = data[at:at + 8], at + 8
        elif kind == FIXED32:
            value, at = data[at:at + 4], at + 4
        elif kind == BYTES:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
        else:
            raise Invalid('field %d is of kind %d: none such is used' % (key, kind))
        if at > len(data):
            raise Invalid('field %d is cut off' % key)
        yield key, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value
