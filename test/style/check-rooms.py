#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A room holds at most 25 files: DESIGN's rule for the folders of the product.

Documents and meson.build do not count. Generated files lie in the build folder and do not count either.
"""
import collections
import os
import sys

import tree

LIMIT = 25
PRODUCT = ('proto/', 'inject/', 'daemon/', 'sbt/', 'replay/', 'tools/')


def rooms(names):
    """The number of files by folder, of folders with more than the limit."""
    counts = collections.Counter(os.path.dirname(name) for name in names
                                 if name.startswith(PRODUCT) and not name.endswith(('.md', '/meson.build')))
    return {room: count for room, count in counts.items() if count > LIMIT}


def main():
    return tree.report(['%s: %d files, at most %d: split the room' % (room, count, LIMIT)
                        for room, count in sorted(rooms(tree.files()).items())])


if __name__ == '__main__':
    sys.exit(main())
