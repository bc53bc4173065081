# SPDX-License-Identifier: Apache-2.0
"""Functions that convert records and definitions to rows. One C file of the daemon includes each output."""
import re

import ctext

TIMES = ('time', 'time_or_0', 'plausible', 'time_or_latest')
# Bytes of fields that are copied at once.
LONG_RUN = 24
# Members of union ts_row_any whose rows have the name of a C library function.
ANY = {'memcpy': 'memcpy_', 'memset': 'memset_'}


def signature(start, parameters):
    """A function's head, broken below its bracket if it exceeds the line."""
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
    """The C expression of a column's value; None if the record has none."""
    if field.source is None:
        return 'rows->thread' if field.role == 'THREAD' else None
    if not field.conversion:
        return 'from->' + field.source
    return 'rows_%s(rows, %sfrom->%s)' % (field.conversion, 'clock, ' if field.conversion in TIMES else '', field.source)


def record_offset(row, field):
    """The offset of the field in the record, if it is copied from there as it is; else None."""
    match = re.match(r'(\w+)(?:\[(\d+)\])?$', field.source or '')
    if not match or field.conversion:
        return None
    for member in row.record.members:
        if member.name != match.group(1):
            continue
        if not match.group(2) and member.kind == field.kind:
            return member.offset
        if match.group(2) and member.kind.startswith(field.kind + '['):
            return member.offset + int(match.group(2)) * field.width
    return None


def runs(row):
    """Lists of fields that follow each other in the row and in the record alike."""
    out = []
    for field in row.fields:
        offset, last = record_offset(row, field), out[-1][-1] if out else None
        if last and offset is not None and record_offset(row, last) is not None and \
                offset - record_offset(row, last) == field.offset - last.offset == last.width:
            out[-1].append(field)
        else:
            out.append([field])
    return out


def run_lines(row, fields):
    """A long run is copied at once: the compiler would take it apart."""
    n_bytes = sum(field.width for field in fields)
    if n_bytes < LONG_RUN:
        return ['\tto->%s = %s;' % (field.name, value(field) or '0') for field in fields]
    return ['\tmemcpy((uint8_t *)to + offsetof(struct ts_row_%s, %s),' % (row.name, fields[0].name),
            '\t       (const uint8_t *)from + %d, %d);' % (record_offset(row, fields[0]), n_bytes)]


def record_lines(row):
    # Field by field: a compound literal with padding costs a clearing of the whole row.
    lines = signature('static inline void rows_%s(' % row.name,
                      ['struct ts_rows *rows', 'const struct %s *restrict from' % row.record.name,
                       'struct ts_row_%s *restrict to' % row.name])
    start = row.fields[0].source
    lines += ['{', '\tunsigned clock = from->%s;' % start.replace('time', 'clock'), '']
    for fields in runs(row):
        lines += run_lines(row, fields)
    return lines + ['}', '']


def is_in_ring(row):
    return row.record and row.kind != 'definition' and not row.is_lane


def generate_records(table):
    """Skips rows whose start has no source in the record: convert-rows.c converts them by hand."""
    lines = ctext.header(['Conversions of records to rows; only convert-rows.c includes them. The build makes them from proto/abi/rows/rows.table.'], [])
    made = [row for row in table.rows if row.record and row.kind != 'definition' and row.fields[0].source]
    for row in made:
        lines += record_lines(row)
    ring = sorted((table.number_of(name), name, row) for row in table.rows if is_in_ring(row) for name in row.types)
    lines += ['#define ROWS_MAX_RECORD_BYTES %d /* the largest record of the ring */' % max(row.record.n_bytes for _, _, row in ring), '',
              'static const uint8_t rows_record_bytes[TS_RECORD_COUNT] = {']
    lines += ['\t[TS_RECORD_%s] = sizeof(struct %s),' % (name.upper(), row.record.name) for _, name, row in ring]
    lines += ['};', '', '/* TS_RECORD_*, ORed as bits: records whose row has an end. */', 'static const uint64_t rows_with_end =']
    ends = ['UINT64_C(1) << TS_RECORD_%s' % name.upper() for _, name, row in ring if row.kind == 'span']
    lines += ['\t%s%s' % (end, ' |' if end != ends[-1] else ';') for end in ends]
    lines += ['', '/* A row and its record have one number. */']
    lines += ['TS_STATIC_ASSERT((int)TS_RECORD_%s == (int)TS_ROW_%s, "one number");' % (name.upper(), name.upper())
              for _, name, _ in ring]
    lines += [''] + signature('static int rows_convert(', ['struct ts_rows *rows', 'unsigned type', 'const void *from',
                                                          'union ts_row_any *ret_row'])
    lines += ['{', '\tswitch (type) {']
    for _, name, row in ring:
        if row in made:
            lines.append('\tcase TS_RECORD_%s:' % name.upper())
            if row.check:
                lines += ['\t\tif (!rows_check_%s(from))' % row.check, '\t\t\treturn TS_ROWS_E_BAD;']
            lines += ['\t\trows_%s(rows, from, &ret_row->%s);' % (row.name, ANY.get(row.name, row.name)), '\t\treturn 0;']
    return lines + ['\tdefault:', '\t\treturn TS_ROWS_E_UNKNOWN;', '\t}', '}']


def definition_lines(row):
    """The caller passes times and strings, translated."""
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
    lines = ctext.header(['Conversions of definitions to rows. The build makes them from proto/abi/rows/rows.table.'], ['sbt/schema.h'])
    for row in table.rows:
        if row.record and row.kind == 'definition':
            lines += definition_lines(row)
    return lines[:-1]
