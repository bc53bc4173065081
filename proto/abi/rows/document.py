# SPDX-License-Identifier: Apache-2.0
"""FORMAT.md with the lines that list a type's columns replaced."""
import re

ROLES = {'TIME_START': 'start', 'TIME_END': 'end', 'OP': 'operation', 'NUMBER': '', 'DOUBLE': '', 'OCTETS': ''}


def column_text(field):
    kind = '%d bytes' % field.width if field.role == 'OCTETS' else field.kind
    role = ROLES.get(field.role, field.role.lower())
    return '%d `%s` %s%s' % (field.id, field.name, kind, ' ' + role if role else '')


def type_line(number, name, row):
    return '| %d | `%s` | %s |' % (number, name, ', '.join(column_text(field) for field in row.by_id()))


def generate(table, path):
    with open(path, encoding='utf-8') as stream:
        lines = stream.read().rstrip('\n').split('\n')
    for number, name, row in sorted((table.number_of(name), name, row) for row in table.rows for name in row.types):
        made = type_line(number, name, row)
        at = [i for i, line in enumerate(lines) if line.startswith('| %d | `%s` | ' % (number, name))]
        if at:
            lines[at[0]] = made
        else:
            lines.insert(place_of(lines, number, row), made)
    return lines


def place_of(lines, number, row):
    """A new type follows the lower numbers of its table."""
    heading = '## Definitions' if row.kind == 'definition' else '## Events'
    at = lines.index('| type | name | columns |', lines.index(heading)) + 2
    while re.match(r'\| \d+ \| ', lines[at]) and int(lines[at].split()[1]) < number:
        at += 1
    return at
