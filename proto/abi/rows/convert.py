# SPDX-License-Identifier: Apache-2.0
"""What makes rows of records and definitions: a function for each, for one C file of the daemon to include."""
import ctext

TIMES = ('time', 'time_or_0', 'plausible', 'time_or_latest')
# Members of union ts_row_any that cannot have their row's name: macros and functions of the C library have it.
ANY = {'memcpy': 'memcpy_', 'memset': 'memset_'}


def signature(start, parameters):
    """static ... name(a, b): on one line, or with the rest below the bracket."""
    line, indent = start, ctext.columns(start)
    out = []
    for i, parameter in enumerate(parameters):
        text = parameter + (')' if i == len(parameters) - 1 else ',')
        if ctext.columns(line + ' ' + text) > ctext.LINE and not line.endswith('('):
            out.append(line)
            line = ctext.padding(0, indent) + text
        else:
            line += ('' if line.endswith('(') else ' ') + text
    return out + [line]


def value(field):
    """The row's value, from the record's."""
    if field.source is None:
        return 'rows->thread' if field.role == 'THREAD' else None
    if not field.conversion:
        return 'from->' + field.source
    return 'rows_%s(rows, %sfrom->%s)' % (field.conversion, 'clock, ' if field.conversion in TIMES else '', field.source)


def record_lines(row):
    lines = signature('static void rows_%s(' % row.name, ['struct ts_rows *rows', 'const struct %s *from' % row.record.name,
                                                         'struct ts_row_%s *to' % row.name])
    start = row.fields[0].source
    lines += ['{', '\tunsigned clock = from->%s;' % start.replace('time', 'clock'), '',
              '\t*to = (struct ts_row_%s){' % row.name]
    for field in row.fields:
        made = value(field)
        if made:
            lines.append('\t\t.%s = %s,' % (field.name, made))
    return lines + ['\t};', '}', '']


def is_in_ring(row):
    return row.record and row.kind != 'definition' and not row.is_lane


def generate_records(table):
    """Rows whose start is no number of the record's are made by hand."""
    lines = ctext.header(['What makes rows of records, for rows.c alone. Made by the build: see proto/abi/rows/rows.table.'], [])
    made = [row for row in table.rows if row.record and row.kind != 'definition' and row.fields[0].source]
    for row in made:
        lines += record_lines(row)
    ring = sorted((table.number_of(name), name, row) for row in table.rows if is_in_ring(row) for name in row.types)
    lines += ['#define ROWS_MAX_RECORD_BYTES %d /* of those of the ring */' % max(row.record.n_bytes for _, _, row in ring), '',
              'static const uint8_t rows_record_bytes[TS_RECORD_COUNT] = {']
    lines += ['\t[TS_RECORD_%s] = sizeof(struct %s),' % (name.upper(), row.record.name) for _, name, row in ring]
    lines += ['};', '', '/* A row\'s number on disk is its record\'s in the ring. */']
    lines += ['TS_STATIC_ASSERT((int)TS_RECORD_%s == (int)TS_ROW_%s, "one number");' % (name.upper(), name.upper())
              for _, name, _ in ring]
    lines += [''] + signature('static int rows_convert(', ['struct ts_rows *rows', 'unsigned type', 'const void *from',
                                                          'union ts_row_any *ret_row'])
    lines += ['{', '\tswitch (type) {']
    for _, name, row in ring:
        if row in made:
            lines += ['\tcase TS_RECORD_%s:' % name.upper(),
                      '\t\trows_%s(rows, from, &ret_row->%s);' % (row.name, ANY.get(row.name, row.name)), '\t\treturn 0;']
    return lines + ['\tdefault:', '\t\treturn TS_ROWS_E_UNKNOWN;', '\t}', '}']


def definition_lines(row):
    """Times and strings are the caller's to translate."""
    given = [field for field in row.fields if field.source and field.role in ('TIME_START', 'STRING')]
    lines = signature('static inline void definition_%s(' % row.name,
                      ['const struct %s *from' % row.record.name] +
                      ['%s %s' % (ctext.C_TYPES[field.kind], field.name) for field in given] +
                      ['struct ts_row_%s *to' % row.name])
    lines += ['{', '\t*to = (struct ts_row_%s){' % row.name]
    for field in row.fields:
        if field.source and field.role != 'OCTETS':
            lines.append('\t\t.%s = %s,' % (field.name, field.name if field in given else 'from->' + field.source))
    lines.append('\t};')
    lines += ['\tmemcpy(to->%s, from->%s, sizeof(to->%s));' % (field.name, field.source, field.name)
              for field in row.fields if field.source and field.role == 'OCTETS']
    return lines + ['}', '']


def generate_definitions(table):
    lines = ctext.header(['What makes rows of definitions. Made by the build: see proto/abi/rows/rows.table.'], ['sbt/schema.h'])
    for row in table.rows:
        if row.record and row.kind == 'definition':
            lines += definition_lines(row)
    return lines[:-1]
