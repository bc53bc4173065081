# SPDX-License-Identifier: Apache-2.0
"""The tag of a wheel with programs and libraries, from what these need: build_backend.py calls it.

A wheel for `manylinux_2_28` (PEP 600) runs with glibc 2.28 and later and needs glibc's libraries only. The tag is read out of the
files, so it cannot promise what a file does not keep.
"""
import os
import re
import struct

MACHINES = {62: 'x86_64', 183: 'aarch64'}
BASE = re.compile(r'lib(c|dl|m|pthread|rt)\.so\.\d+|ld-linux-.*')
OLDEST = 28  # of the supported versions of glibc 2
DYNAMIC, NEEDED_VERSIONS = 6, 0x6ffffffe
NEEDED = 1


def text(data, offset):
    return data[offset:data.index(b'\0', offset)].decode()


def sections(data):
    """(type, offset, size, offset of the linked section, which has the texts) of each section."""
    offset, = struct.unpack_from('<Q', data, 40)
    size, count = struct.unpack_from('<HH', data, 58)
    found = [struct.unpack_from('<IIQQQQI', data, offset + size * i) for i in range(count)]
    return [(kind, start, length, found[link][4]) for _, kind, _, _, start, length, link in found]


def versions(data, offset, texts):
    """The versions that the file needs, as GLIBC_2.14."""
    while True:
        _, count, _, aux, following = struct.unpack_from('<HHIII', data, offset)
        at = offset + aux
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from('<IHHII', data, at)
            yield text(data, texts + name)
            at += step
        if not following:
            return
        offset += following


def needs(data):
    """(machine, names of libraries, versions) that an ELF file needs."""
    libraries, found = set(), set()
    for kind, offset, size, texts in sections(data):
        if kind == DYNAMIC:
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from('<QQ', data, at)
                if tag == NEEDED:
                    libraries.add(text(data, texts + value))
        elif kind == NEEDED_VERSIONS:
            found.update(versions(data, offset, texts))
    return MACHINES.get(struct.unpack_from('<H', data, 18)[0], 'unknown'), libraries, found


def tag(contents):
    """The tag for {name: bytes}; without manylinux if a file needs a library from elsewhere."""
    minor, machine, foreign = OLDEST, 'unknown', set()
    inside = {os.path.basename(name) for name in contents}
    for data in contents.values():
        if data[:4] != b'\x7fELF':
            continue
        machine, libraries, found = needs(data)
        foreign.update(name for name in libraries - inside if not BASE.fullmatch(name))
        for version in found:
            parts = re.fullmatch(r'GLIBC_2\.(\d+)(\.\d+)?', version)
            if parts:
                minor = max(minor, int(parts.group(1)))
            elif version.startswith('GLIBC_'):
                foreign.add(version)
    return 'py3-none-' + ('linux_%s' % machine if foreign else 'manylinux_2_%d_%s' % (minor, machine))
