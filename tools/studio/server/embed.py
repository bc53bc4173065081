#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C file with the contents of the page's files: embed.py OUTPUT FILE ..."""
import os
import sys

TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.txt': 'text/plain; charset=utf-8',
    '.svg': 'image/svg+xml',
}


def main():
    """Writes an array for each file, and the table of all."""
    lines = ['#include "tools/studio/server/studio-page.h"', '']
    table = []
    for number, path in enumerate(sys.argv[2:]):
        with open(path, 'rb') as file:
            data = file.read()
        name = os.path.basename(path)
        rows = [', '.join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
        lines += ['static const unsigned char file_%d[] = {' % number, ',\n'.join(rows) or '0', '};']
        table.append('\t{"%s", "%s", file_%d, %d},' % (name, TYPES[os.path.splitext(name)[1]], number, len(data)))
    lines += ['', 'const struct ts_studio_file ts_studio_files[] = {'] + table + ['};']
    lines += ['const size_t ts_studio_n_files = %d;' % len(table), '']
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines))


if __name__ == '__main__':
    main()
