#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""short-dictionary.py FORMAT.md: prints the dictionary of short blocks, which that document specifies, as a header for C."""
import re
import sys


def listed(text, mark):
    """The bytes of the list behind a mark: lines of text, and lines of hex digits that begin with \\x."""
    lines = re.search(r'<!-- %s -->\n\n((?:    .*\n)+)' % mark, text).group(1).splitlines()
    return b''.join(bytes.fromhex(line[7:]) if line.startswith('    \\x ') else line[4:].encode() for line in lines)


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        text = file.read()
    tables, content = listed(text, 'tables'), listed(text, 'dictionary')
    data = tables + content
    print('/* Made by sbt/format/short-dictionary.py from sbt/FORMAT.md. */')
    print('#define TABLES_BYTES %du' % len(tables))
    print('static const uint8_t dictionary[] = {')
    for i in range(0, len(data), 16):
        print('\t' + ' '.join('0x%02x,' % byte for byte in data[i:i + 16]))
    print('};')


if __name__ == '__main__':
    main()
