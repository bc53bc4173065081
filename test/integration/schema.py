# SPDX-License-Identifier: Apache-2.0
"""Messages of proto/rpc/tracesmith.proto that hold what nobody who is honest would say, made from the file itself."""
import os
import re

import control
import harness

SOURCE = os.path.join(harness.BUILD, 'proto', 'rpc', 'tracesmith.proto')
FIELD = re.compile(r'^\s*(optional|repeated|required)?\s*(map<\s*\w+\s*,\s*(\w+)\s*>|[\w.]+)\s+(\w+)\s*=\s*(\d+)\s*[;\[]')
VARINTS = {'uint32', 'uint64', 'int32', 'int64', 'sint32', 'sint64', 'bool'}
FIXED = {'double': 8, 'fixed64': 8, 'sfixed64': 8, 'float': 4, 'fixed32': 4, 'sfixed32': 4}
DEPTH = 6

# What each says: whether fields that are no messages are there, and with which number and text.
LIES = {
    'hollow': None,                                     # every message within, and nothing in it
    'large': ((1 << 64) - 1, ''),
    'zero': (0, ''),
    'texts': (1, '\x1b[31m%s%n\u202e' + 'x' * 3000),
}


def messages():
    """{name: [(number, type, value's type of a map)]}, of those at the top of the file."""
    found, name, depth = {}, None, 0
    with open(SOURCE, encoding='utf-8') as stream:
        for line in stream:
            line = line.split('//')[0]
            begins = re.match(r'^message (\w+) \{', line)
            if begins:
                name = begins.group(1)
                found[name] = []
            field = FIELD.match(line)
            # Also of a `oneof`; messages within messages are requests, which nobody makes here.
            if field and name and depth <= 2:
                found[name].append((int(field.group(5)), field.group(2), field.group(3)))
            depth += line.count('{') - line.count('}')
    return found


MESSAGES = messages()


def value(kind, said, depth):
    """A field's value with its wire type, or None."""
    if kind in MESSAGES:
        return (2, lie(kind, said, depth + 1)) if depth < DEPTH else None
    if said is None:
        return None
    number, text = said
    if kind in FIXED:
        return (1 if FIXED[kind] == 8 else 5, bytes([number & 255]) * FIXED[kind])
    if kind in ('string', 'bytes'):
        return 2, text.encode()
    return 0, number


def lie(name, said, depth=0):
    """A message of that name, each of its fields once; lists twice would show nothing more."""
    out = b''
    for key, kind, of_map in MESSAGES[name]:
        if of_map:
            # An entry without its key, as well.
            pieces = [(2, b'')]
            if said:
                inner = value(of_map, said, DEPTH)
                pieces.append((2, control.field(1, said[1].encode()) + encode(2, inner)))
        else:
            pieces = [value(kind, said, depth)]
        out += b''.join(encode(key, piece) for piece in pieces if piece)
    return out


def encode(key, piece):
    wire, content = piece
    head = control.number(key << 3 | wire)
    if wire == 0:
        return head + control.number(content)
    return head + (control.number(len(content)) if wire == 2 else b'') + content
