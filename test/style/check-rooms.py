#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A room holds at most 25 files: DESIGN's rule for the folders of the product.

Documents and meson.build do not count. Generated files lie in the build folder and do not count either. known-rooms.txt lists the
larger rooms of today with their sizes. It may only shrink; `check-rooms.py --update` writes it, if rooms only became smaller.
"""
import collections
import os
import sys

import tree

LIMIT = 25
PRODUCT = ('proto/', 'inject/', 'daemon/', 'sbt/', 'replay/', 'tools/')
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'known-rooms.txt')
HEADER = '''# Rooms of more than 25 files that the tree still has: the folder and its number of files.
# The list may only shrink. `check-rooms.py --update` writes smaller numbers; a new room is never added.
'''


def rooms(names):
    """The number of files by folder, of folders with more than the limit."""
    counts = collections.Counter(os.path.dirname(name) for name in names
                                 if name.startswith(PRODUCT) and not name.endswith(('.md', '/meson.build')))
    return {room: count for room, count in counts.items() if count > LIMIT}


def read_known(path):
    with open(path, encoding='utf-8') as stream:
        lines = [line.split('#')[0].split() for line in stream]
    return {line[0]: int(line[1]) for line in lines if line}


def compare(found, known):
    for room, count in sorted(found.items()):
        if count > known.get(room, LIMIT):
            yield '%s: %d files, at most %d: split the room' % (room, count, known.get(room, LIMIT))
    for room, count in sorted(known.items()):
        if found.get(room, 0) < count:
            yield 'known-rooms.txt: %s has fewer than %d files now: update the list (--update)' % (room, count)


def update(path, found, known):
    sizes = {room: min(count, known[room]) for room, count in found.items() if room in known}
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(HEADER + ''.join('%s %d\n' % size for size in sorted(sizes.items())))


def main():
    found = rooms(tree.files())
    if '--update' in sys.argv[1:]:
        update(LIST, found, read_known(LIST))
    return tree.report(list(compare(found, read_known(LIST))))


if __name__ == '__main__':
    sys.exit(main())
