# SPDX-License-Identifier: Apache-2.0
"""The structs of the ring and the arena, and the record types' numbers, as C."""
import ctext
from table import Type


def members(struct):
    lines = [('\t%s %s;' % (struct.first[1], struct.first[0]), '')] if struct.first else []
    return lines + [('\t' + ctext.declaration(m.name, m.kind), m.comment) for m in struct.members]


def struct_lines(struct):
    lines = ctext.comment_lines(struct.doc) + ['struct %s {' % struct.name]
    lines += ctext.commented(members(struct)) + ['};']
    lines.append('TS_ASSERT_SIZE(struct %s, %d);' % (struct.name, struct.n_bytes))
    lines += ['TS_ASSERT_FIELD(struct %s, %s, %d);' % (struct.name, m.name, m.offset)
              for m in struct.members if m.offset]
    return lines + ['']


def type_lines(table):
    """The types that have a record in the ring; the lane's are macros in record.h. Type 0 has no row."""
    in_ring = {each.upper() for row in table.rows if row.record and not row.is_lane and row.kind != 'definition'
               for each in row.types}
    types = [each for each in table.types if isinstance(each, Type) and (each.number == 0 or each.name in in_ring)]
    lines = ctext.commented([('\tTS_RECORD_%s = %d,' % (each.name, each.number), each.comment[1]) for each in types])
    return ['enum ts_record_type {'] + lines + ['\tTS_RECORD_COUNT', '};', '']


def generate(table):
    """The header includes record.h, which declares struct ts_record and includes the header in turn."""
    lines = ctext.header(['Records and definitions. The build makes them from proto/abi/rows/rows.table.'],
                         ['proto/abi/record.h'])
    lines += type_lines(table)
    for struct in table.structs.values():
        lines += struct_lines(struct)
    return lines[:-1]
