# SPDX-License-Identifier: Apache-2.0
"""tools/export/arrow/COLUMNS.md: the columns of exported Arrow files, which are the fields of the rows' messages."""
import messages
from table import COMMON

HEAD = '''# Columns of Arrow files

The columns of `tsctl export --format arrow` by type of row. Each column may be null: then `tsctl view --json` omits the key.
`proto/abi/rows/make.py` makes this page from `proto/abi/rows/rows.table`, and a test compares.

Texts are dictionaries of UTF-8. Other types have Arrow's names. Times are nanoseconds of CLOCK_MONOTONIC.

All types have these columns first:

| column | type | meaning |
|---|---|---|
| `start_ns` | uint64 | start; of an instant, its time |
| `end_ns` | uint64 | end; of an instant, its time |
| `session` | uint32 | number of the session in its trace |
| `tid` | uint32 | the system's number of the thread; null: the type has no thread, or it is unknown |
| `thread_name` | text | the application's name of the thread, or the system's |'''
KINDS = {'string': 'text', 'sint32': 'int32', 'sint64': 'int64'}
LEFT_OUT = ('Stack',)


def column_line(kind, name, comment):
    return '| `%s` | %s | %s |' % (name, KINDS.get(kind, kind), comment.replace('|', '\\|')) if comment else \
        '| `%s` | %s | |' % (name, KINDS.get(kind, kind))


def generate(table):
    lines = HEAD.split('\n')
    for message, rows in messages.rows_of(table).items():
        types = ['`%s`' % each for row in rows for each in row.types]
        lines += ['', '## ' + ', '.join(types), '', '| column | type | meaning |', '|---|---|---|']
        for number, kind, name, comment in messages.fields_of(table, message, rows):
            if number > len(COMMON) and kind not in LEFT_OUT:
                lines.append(column_line(kind, name, comment))
    return lines
