#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a file that repeats the fields of rows: make.py WHAT TABLE [--depfile FILE] [INPUT].

Meson runs it at configure time, and again if the table or a script changes.
"""
import os
import sys

sys.dont_write_bytecode = True  # no caches beside the sources

import arrow_columns
import convert
import document
import messages
import records
import rust
import schema
import table

MAKERS = {
    'check': lambda _: [],
    'records': records.generate,
    'rows': schema.generate_rows,
    'columns': schema.generate_columns,
    'convert': convert.generate_records,
    'definitions': convert.generate_definitions,
    'messages': messages.generate_proto,
    'steps': messages.generate_steps,
    'format': document.generate,
    'arrow': arrow_columns.generate,
    'rust': rust.generate,
}


def write_depfile(path, source):
    """FILE.d lists the inputs of FILE."""
    folder = os.path.dirname(os.path.abspath(__file__))
    names = [source] + sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.py'))
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write('%s: %s\n' % (os.path.basename(path)[:-2], ' '.join(name.replace(' ', '\\ ') for name in names)))


def main():
    what, source, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if rest and rest[0] == '--depfile':
        write_depfile(rest[1], source)
        rest = rest[2:]
    try:
        lines = MAKERS[what](table.read(source), *rest)
    except table.Error as error:
        sys.exit(str(error))
    sys.stdout.write(''.join(line + '\n' for line in lines))


if __name__ == '__main__':
    main()
