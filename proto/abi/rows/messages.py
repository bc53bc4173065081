# SPDX-License-Identifier: Apache-2.0
"""The messages of rows for tracesmith.proto, and the steps by which rowjson.c fills them."""
import collections
import re
import textwrap

import ctext
from table import COMMON

LINE = 132
MARK = '// The build inserts the messages of rows here'
FROM = {'column': 'FROM_COLUMN', 'named': 'FROM_NAMED_NUMBER', 'flag': 'FROM_FLAG', 'row_name': 'FROM_ROW_NAME',
        'kernel_name': 'FROM_KERNEL_NAME', 'api_expects': 'FROM_API_EXPECTS', 'api_error': 'FROM_API_ERROR',
        'stack': 'FROM_STACK', 'stream_name': 'FROM_STREAM_NAME', 'category_name': 'FROM_CATEGORY_NAME',
        'end_tid': 'FROM_END_TID', 'payload': 'FROM_PAYLOAD', 'integer': 'FROM_INTEGER'}
FROM_COMMON = ('FROM_TYPE', 'FROM_START', 'FROM_END', 'FROM_SESSION', 'FROM_TID', 'FROM_THREAD_NAME')


def rows_of(table):
    """{message: its rows}"""
    found = collections.OrderedDict()
    for row in table.rows:
        if row.message:
            found.setdefault(row.message, []).append(row)
    return found


def fields_of(table, message, rows):
    """(number, type, name, comment) of all of a message's fields."""
    shown_by = {shown.number: shown for shown in table.messages()[message]}
    fields = []
    for i, (kind, name) in enumerate(COMMON):
        comment = shown_by[i + 1].comment if i + 1 in shown_by else ''
        if name == 'type':
            comment = ': '.join(filter(None, [', '.join('"%s"' % each for row in rows for each in row.types),
                                              rows[0].type_comment]))
        fields.append((i + 1, kind, name, comment))
    return fields + [(n, shown_by[n].kind, shown_by[n].name, shown_by[n].comment)
                     for n in sorted(shown_by) if n > len(COMMON)]


def message_lines(table, message, rows):
    lines = [('// ' + text).rstrip() for text in table.message_docs.get(message, [])] + ['message %s {' % message]
    for number, kind, name, comment in fields_of(table, message, rows):
        code = '  optional %s %s = %d;' % (kind, name, number)
        if comment and len(code) + 5 + len(comment) > LINE:
            lines += ['  // ' + text for text in textwrap.wrap(comment, LINE - 5)]
            comment = ''
        lines.append(code + ('  // ' + comment if comment else ''))
    return lines + ['}', '']


def generate_proto(table, path):
    with open(path, encoding='utf-8') as stream:
        lines = stream.read().rstrip('\n').split('\n')
    at = [i for i, line in enumerate(lines) if line.startswith(MARK)]
    made = []
    for message, rows in rows_of(table).items():
        made += message_lines(table, message, rows)
    return lines[:at[0]] + made[:-1] + lines[at[0] + 1:]


# ---- steps ----

def step_line(field, source, shown):
    words = ['.field = %d' % field, '.source = ' + source]
    if shown and shown.column:
        words.append('.column = %d' % shown.column.index)
    if shown and shown.how == 'named':
        words.append('.name = ts_name_' + shown.argument)
    if shown and shown.how == 'flag':
        words.append('.flag = ' + shown.argument)
    if shown and shown.how in ('column', 'named') and shown.column.nothing is not None and \
            shown.column.role != 'STRING':
        words.append('.has_nothing = true')
        if shown.column.nothing != '0':
            words.append('.nothing = ' + shown.column.nothing)
    return '\t{%s},' % ', '.join(words)


def step_lines(table, row):
    numbers = [number for number, _, _, _ in fields_of(table, row.message, [row])]
    lines = ['static const struct step_spec %s_specs[] = {' % row.name]
    lines += [step_line(i, source, None) for i, source in enumerate(FROM_COMMON)]
    for i, field in enumerate(row.by_id()):
        field.index = i
    for shown in sorted(row.shown, key=lambda shown: shown.number):
        if shown.number > len(COMMON):
            lines.append(step_line(numbers.index(shown.number), FROM[shown.how], shown))
    return lines + ['};', '']


def snake(message):
    return re.sub(r'(?<!^)([A-Z])', r'_\1', message).lower()


def generate_steps(table):
    lines = ctext.header(['Steps that fill the messages of rows; only rowjson.c includes them. The build makes them from',
                          'proto/abi/rows/rows.table.'], [])
    rows = [row for row in table.rows if row.message]
    for row in rows:
        lines += step_lines(table, row)
    for message in rows_of(table):
        lines.append('TS_STATIC_ASSERT(sizeof(Ts__Rpc__%s) <= MESSAGE_BYTES, "room for it");' % message)
    for row in rows:
        lines.append('TS_STATIC_ASSERT(TS_ARRAY_LEN(%s_specs) <= MAX_FIELDS, "room for its fields");' % row.name)
    lines += ['', 'static const struct {', '\tconst ProtobufCMessageDescriptor *descriptor;',
              '\tTs__Rpc__Row__RowCase row_case;', '\tunsigned int n_specs;', '\tconst struct step_spec *specs;',
              '} messages[TS_ROW_EVENT_END] = {']
    for _, name, row in sorted((table.number_of(name), name, row) for row in rows for name in row.types):
        lines += ['\t[TS_ROW_%s] = {&ts__rpc__%s__descriptor,' % (name.upper(), snake(row.message)),
                  '\t\tTS__RPC__ROW__ROW_%s, TS_ARRAY_LEN(%s_specs), %s_specs},' % (
                      snake(row.message)[:-4].upper(), row.name, row.name)]
    return lines + ['};']
