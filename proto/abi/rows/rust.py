# SPDX-License-Identifier: Apache-2.0
"""tools/rust/src/rows.rs: row structs, row types and columns of the Rust crate."""
import textwrap

LINE = 100
HEAD = '''// SPDX-License-Identifier: Apache-2.0
//! Rows: the contents of a trace. Each type of row has a struct, whose fields are the columns.
//!
//! `proto/abi/rows/make.py rust proto/abi/rows/rows.table` makes this file, and a test compares. Later
//! versions may append fields to a struct: end a literal with `..Default::default()`.

use crate::row::{row, row_types, StackId, StringId};
'''
# Rust's keywords that are names of columns or could become one.
KEYWORDS = {'as', 'async', 'await', 'box', 'break', 'const', 'crate', 'dyn', 'else', 'enum', 'extern', 'fn', 'for', 'if', 'impl', 'in', 'let',
            'loop', 'match', 'mod', 'move', 'mut', 'priv', 'pub', 'ref', 'return', 'self', 'static', 'struct', 'super', 'trait', 'type',
            'unsafe', 'use', 'virtual', 'where', 'while', 'yield'}
# Meaning of a column, by its role.
MEANINGS = {
    'TIME_START': 'Start, in nanoseconds of CLOCK_MONOTONIC', 'TIME_END': 'End, in nanoseconds of CLOCK_MONOTONIC',
    'TIME': 'Time, in nanoseconds of CLOCK_MONOTONIC', 'DURATION': 'Duration in nanoseconds', 'STRING': 'Text', 'STACK': 'Host stack',
    'THREAD': 'Id of a thread of the session', 'OP': 'Operation id', 'BYTES': 'Bytes', 'SIZE': 'Bytes', 'COUNT': 'Count',
    'ADDRESS': 'Address or handle', 'DEVICE': 'Device; [`NO_DEVICE`](crate::NO_DEVICE): none', 'CONTEXT': 'Context', 'STREAM': 'Stream',
    'SESSION': 'Number of a session',
}


def camel(name):
    return ''.join(part.capitalize() for part in name.split('_'))


def member(name):
    return name + '_' if name in KEYWORDS else name


def plain_type(kind):
    base, _, n = kind.partition('[')
    return '[u8; %s]' % n[:-1] if base == 'octets' else '[%s; %s]' % (base, n[:-1]) if n else base


def rust_type(field):
    return {'STRING': 'StringId', 'STACK': 'StackId'}.get(field.role) or plain_type(field.kind)


def escaped(text):
    """Text that rustdoc shows as it is."""
    return ''.join('\\' + c if c in '[]<>' else c for c in text)


def doc_lines(text, indent=''):
    return [indent + '/// ' + line for line in textwrap.wrap(text, LINE - len(indent) - 4, break_on_hyphens=False, break_long_words=False)]


def field_doc(field):
    meaning, comment = MEANINGS.get(field.role), escaped(field.comment)
    if meaning and comment:
        return '%s; %s.' % (meaning, comment)
    if meaning or not comment:
        return (meaning or 'The column `%s`' % field.name) + '.'
    return comment[0].upper() + comment[1:] + '.'


def row_doc(row):
    text = escaped(' '.join(row.doc).strip())
    shown = ', '.join('`%s`' % each for each in row.types)
    return (text + ' ' if text else '') + ('Rows of type %s.' % shown)


def type_lines(types):
    lines = ['', 'row_types! {', '    events {']
    events = [each for each in types if each[2].kind != 'definition']
    lines += ['        %s(%s) = %d "%s",' % (camel(name), camel(row.name), number, name) for number, name, row in events]
    lines += ['    }', '    definitions {']
    lines += ['        %s(%s) = %d "%s",' % (camel(name), camel(row.name), number, name) for number, name, row in types if row.kind == 'definition']
    return lines + ['    }', '}']


def row_lines(row):
    # Calls are named by their numbers.
    named = 'call' if row.name == 'api' else 'name' if any((field.name, field.role) == ('name', 'STRING') for field in row.fields) else ''
    lines = ['', 'row! {'] + doc_lines(row_doc(row), '    ')
    lines.append('    %s "%s" %s [%s] (%s) {' % (camel(row.name), row.name, row.kind, ' '.join(camel(each) for each in row.types), named))
    for each in row.layout:
        if not hasattr(each, 'role'):
            lines += ['        #[doc(hidden)]', '        %s: %s;' % (each.name, plain_type(each.kind))]
            continue
        lines += doc_lines(field_doc(each), '        ')
        lines.append('        %s: %s = %s "%s" %d %d %s;' % (
            member(each.name), rust_type(each), each.name.upper(), each.name, each.id, each.offset, camel(each.role.lower())))
    return lines + ['    }', '}']


def generate(table):
    types = sorted((table.number_of(name), name, row) for row in table.rows for name in row.types)
    lines = HEAD.rstrip('\n').split('\n') + type_lines(types)
    for row in table.rows:
        lines += row_lines(row)
    return lines
