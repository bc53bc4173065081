# SPDX-License-Identifier: Apache-2.0
"""The wire format of protobuf, for those who check files of it without the code that wrote them."""

VARINT, FIXED64, BYTES = 0, 1, 2


class Invalid(Exception):
    pass


def varint(data, at):
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
    """(number, value): an int, or bytes, those of a FIXED64 too."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == FIXED64:
            value, at = data[at:at + 8], at + 8
        elif kind == BYTES:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
        else:
            raise Invalid('field %d is of kind %d: none such is used' % (number, kind))
        if at > len(data):
            raise Invalid('field %d is cut off' % number)
        yield number, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value
