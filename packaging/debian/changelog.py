#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changelog.py [--revision N]: prints debian/changelog, made from CHANGELOG.md.

The newest entry must have the version of meson.build. With a revision above 1, an entry "Rebuilt from the same sources" comes first.
"""
import argparse
import datetime
import os
import re
import sys
import textwrap

PACKAGING = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = re.compile(r'^## (\S+) - (\d{4}-\d\d-\d\d)$')
ITEM = re.compile(r'^- (.*)$')
MORE = re.compile(r'^  (\S.*)$')


def read(*path):
    with open(os.path.join(PACKAGING, *path), encoding='utf-8') as file:
        return file.read()


def entries(text):
    """[(version, date, [item, ...]), ...] of CHANGELOG.md."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        head, item, more = HEAD.match(line), ITEM.match(line), MORE.match(line)
        if head:
            found.append((head.group(1), head.group(2), []))
        elif line.startswith('## '):
            raise SystemExit('CHANGELOG.md:%d: a head is "## VERSION - YYYY-MM-DD"' % number)
        elif found and item:
            found[-1][2].append(item.group(1))
        elif found and more and found[-1][2]:
            found[-1][2][-1] += ' ' + more.group(1)
        elif found and line:
            raise SystemExit('CHANGELOG.md:%d: a line of an entry begins with "- " or with two blanks' % number)
    return found


def version():
    return re.search(r"^    version: '(.*)',$", read('..', 'meson.build'), re.MULTILINE).group(1)


def maintainer():
    return re.search(r'^Maintainer: (.*)$', read('debian', 'control'), re.MULTILINE).group(1)


def paragraph(name, date, items, revision):
    body = ''.join(textwrap.fill(item, 78, initial_indent='  * ', subsequent_indent='    ') + '\n' for item in items)
    day = datetime.date.fromisoformat(date)
    # The names of days and months are English in any locale.
    days, months = 'Mon Tue Wed Thu Fri Sat Sun'.split(), 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()
    # A later entry has a later time.
    stamp = '%s, %02d %s %d 00:00:%02d +0000' % (days[day.weekday()], day.day, months[day.month - 1], day.year, revision - 1)
    return 'tracesmith (%s-%d) unstable; urgency=medium\n\n%s\n -- %s  %s\n' % (name, revision, body, maintainer(), stamp)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--revision', type=int, default=1)
    options = parser.parse_args()
    found = entries(read('CHANGELOG.md'))
    if not found or found[0][0] != version():
        raise SystemExit('CHANGELOG.md: the newest entry is %s, meson.build has version %s'
                         % (found[0][0] if found else 'missing', version()))
    made = [paragraph(*entry, 1) for entry in found]
    if options.revision > 1:
        made.insert(0, paragraph(found[0][0], found[0][1], ['Rebuilt from the same sources.'], options.revision))
    print('\n'.join(made), end='')
    return 0


if __name__ == '__main__':
    sys.exit(main())
