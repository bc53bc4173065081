# SPDX-License-Identifier: Apache-2.0
"""The structs of rows, the types' numbers, and the tables of columns, as C."""
import ctext
from table import Field, Type

KINDS = {'span': 'true, .has_end = true', 'instant': 'true', 'definition': 'false'}


def type_lines(table):
    lines = []
    run = []
    for each in table.types:
        if not isinstance(each, Type):
            lines += ctext.commented(run) + ctext.comment_lines([each], '\t')
            run = []
        elif each.number:
            code = '\tTS_ROW_%s = %d,' % (each.name, each.number)
            run.append((code, each.comment[0]))
            if each.number == table.last_event():
                code = '\tTS_ROW_EVENT_END,'
                run.append((code, 'above all numbers of events: the length of an array by type of event'))
    return ctext.comment_lines(table.types_doc) + ['enum ts_row_type {'] + lines + ctext.commented(run) + ['\tTS_ROW_COUNT = 64', '};', '']


def set_lines(table):
    """The set of events: a bit for each."""
    numbers = table.event_numbers()
    return ['/* The types of events, as a set of bits. */',
            '#define TS_ROW_EVENTS\tUINT64_C(0x%x)' % sum(1 << number for number in numbers),
            '#define TS_ROW_N_EVENTS %du /* types in TS_ROW_EVENTS */' % len(numbers), '']


def struct_lines(row):
    lines = []
    for each in row.layout:
        is_column = isinstance(each, Field)
        lines.append(('\t' + ctext.declaration(each.name, each.kind), each.comment if is_column else 'not a column'))
    return ctext.comment_lines(row.doc) + ['struct ts_row_%s {' % row.name] + ctext.commented(lines) + ['};', '']


def generate_rows(table):
    lines = ctext.header(['Rows. The build makes them from proto/abi/rows/rows.table.'], ['proto/abi/base.h'])
    lines += type_lines(table) + set_lines(table)
    for row in table.rows:
        lines += struct_lines(row)
    return lines[:-1]


def column_lines(row):
    lines = ['static const struct ts_column %s_columns[] = {' % row.name]
    for field in row.by_id():
        lines.append('\t%s(ts_row_%s, %d, %s, %s),' % (
            'S' if field.kind[0] == 'i' else 'U', row.name, field.id, field.name, field.role))
    return lines + ['};', '']


def schema_lines(row, name):
    summed = [i for i, field in enumerate(row.by_id()) if field.role == 'BYTES']
    return ['\t[TS_ROW_%s] = {.name = "%s",' % (name.upper(), name),
            '\t\t.type = TS_ROW_%s,' % name.upper(),
            '\t\t.n_columns = TS_ARRAY_LEN(%s_columns),' % row.name,
            '\t\t.row_bytes = sizeof(struct ts_row_%s),' % row.name,
            '\t\t.columns = %s_columns,' % row.name,
            '\t\t.is_event = %s,' % KINDS[row.kind],
            '\t\t.bytes_column = %d},' % (summed[0] if summed else -1)]


def generate_columns(table):
    lines = ctext.header(['Columns; only sbt/format/schema.c includes them. The build makes them from proto/abi/rows/rows.table.'], [])
    for row in table.rows:
        lines += column_lines(row)
    lines.append('static const struct ts_row_schema schemas[TS_ROW_COUNT] = {')
    for number, row, name in sorted((table.number_of(name), row, name) for row in table.rows for name in row.types):
        lines += schema_lines(row, name)
    lines += ['};', '',
              '/* Rows have no implicit padding. ts_row_end_ns() reads a span\'s end at offset 8. */']
    for row in table.rows:
        lines.append('TS_ASSERT_SIZE(struct ts_row_%s, %d);' % (row.name, row.n_bytes))
        if row.kind == 'span':
            lines.append('TS_ASSERT_FIELD(struct ts_row_%s, end_ns, 8);' % row.name)
    return lines
