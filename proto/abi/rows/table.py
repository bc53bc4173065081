# SPDX-License-Identifier: Apache-2.0
"""Reads rows.table and refuses bad lines by file and line. The top of the table specifies its lines.

All other scripts of this folder work from the Table that read() returns.
"""
import collections
import re

WIDTHS = {'u8': 1, 'u16': 2, 'u32': 4, 'u64': 8, 'i32': 4, 'i64': 8, 'f64': 8}
C_TYPES = {'u8': 'uint8_t', 'u16': 'uint16_t', 'u32': 'uint32_t', 'u64': 'uint64_t', 'i32': 'int32_t',
           'i64': 'int64_t', 'f64': 'double'}
ROLES = ('NUMBER', 'TIME_START', 'TIME_END', 'TIME', 'DURATION', 'STRING', 'STACK', 'THREAD', 'OP', 'BYTES',
         'SIZE', 'COUNT', 'ADDRESS', 'DEVICE', 'CONTEXT', 'STREAM', 'ENUM', 'FLAGS', 'SESSION', 'DOUBLE', 'OCTETS')
# Conversions from the record's value to the row's, by role, unless the line names another.
CONVERSIONS = {'TIME_START': 'time', 'TIME_END': 'time_or_0', 'TIME': 'plausible', 'STRING': 'string',
               'STACK': 'stack', 'THREAD': 'thread'}
KNOWN_CONVERSIONS = set(CONVERSIONS.values()) | {'time_or_latest', 'thread_or_own'}
# Values that mean none, by role. Messages omit a field that has such a value.
NOTHING = {'DEVICE': 'TS_NO_DEVICE', 'STREAM': 'TS_NO_DEVICE', 'CONTEXT': '0', 'OP': '0', 'TIME': '0'}
# Sources of message fields that rowjson.c implements; any other source names a function ts_name_*().
SOURCES = {'row_name', 'kernel_name', 'api_expects', 'api_error', 'stream_name', 'category_name', 'end_tid',
           'payload', 'integer', 'stack', 'flag'}
MESSAGE_TYPES = {'string', 'bool', 'uint32', 'uint64', 'sint32', 'sint64', 'double', 'Stack'}
# Every message of a row begins with these fields.
COMMON = (('string', 'type'), ('uint64', 'start_ns'), ('uint64', 'end_ns'), ('uint32', 'session'),
          ('uint32', 'tid'), ('string', 'thread_name'))
MAX_COLUMNS, MAX_BYTES = 32, 192  # TS_ROW_MAX_COLUMNS, TS_ROW_MAX_BYTES
HEADER_BYTES = 16  # of struct ts_record, and of struct ts_definition

Type = collections.namedtuple('Type', 'number name comment')


class Error(Exception):
    """A bad line; the text names file and line."""


class Member:
    """A member of a record's or a part's struct."""

    def __init__(self, name, kind, offset, comment):
        self.name, self.kind, self.offset, self.comment = name, kind, offset, comment


class Struct:
    """A struct of the ring or the arena; `first` is its header member, or None."""

    def __init__(self, name, first):
        self.name, self.first = name, first
        self.doc, self.members, self.n_bytes = [], [], 0


class Field:
    """A column of a row: its place, its source in the record, its value for none."""

    def __init__(self, where, number, name, kind, role):
        self.where, self.id, self.name, self.kind, self.role = where, number, name, kind, role
        self.source = self.conversion = None
        self.nothing = NOTHING.get(role)
        self.offset, self.comment = 0, ''

    @property
    def width(self):
        return width_of(self.kind)


class Shown:
    """A field of a message, filled by source `how` with `argument`, from `column` if it needs one."""

    def __init__(self, where, number, kind, name, how, argument, column):
        self.where, self.number, self.kind, self.name = where, number, kind, name
        self.how, self.argument, self.column, self.comment = how, argument, column, ''


class Row:
    def __init__(self, where, name):
        self.where, self.name, self.types, self.kind = where, name, [], ''
        self.doc, self.fields, self.shown = [], [], []
        self.record = self.message = self.check = None
        self.is_lane = self.is_definition_record = False
        self.type_comment = ''
        self.n_bytes, self.layout = 0, []

    def by_id(self):
        return sorted(self.fields, key=lambda field: field.id)


class Table:
    def __init__(self):
        self.types, self.types_doc, self.rows, self.structs = [], [], [], {}
        self.message_docs = {}

    def number_of(self, name):
        for each in self.types:
            if isinstance(each, Type) and each.name == name.upper():
                return each.number
        return None

    def event_numbers(self):
        return sorted(self.number_of(each) for row in self.rows if row.kind != 'definition' for each in row.types)

    def last_event(self):
        return self.event_numbers()[-1]

    def messages(self):
        """{message: its fields by number}, merged over all rows that share it."""
        found = collections.OrderedDict()
        for row in self.rows:
            if row.message:
                fields = found.setdefault(row.message, {})
                for shown in row.shown:
                    old = fields.get(shown.number)
                    if old and (old.name, old.kind) != (shown.name, shown.kind):
                        raise Error('%s: duplicate field %d in %s: `%s` exists' % (
                            shown.where, shown.number, row.message, old.name))
                    if not old or shown.comment:
                        fields[shown.number] = shown
        return collections.OrderedDict((name, [fields[n] for n in sorted(fields)])
                                       for name, fields in found.items())


def width_of(kind, structs=None):
    """Bytes of a type: u32, u32[3], octets[16], struct:ts_place."""
    match = re.match(r'(\w+)\[(\d+)\]$', kind)
    if match:
        return (1 if match.group(1) == 'octets' else WIDTHS[match.group(1)]) * int(match.group(2))
    if kind.startswith('struct:'):
        return structs[kind[7:]].n_bytes
    return WIDTHS[kind]


def align_of(kind):
    if kind.startswith('struct:'):
        return 8
    base = kind.split('[')[0]
    return 1 if base == 'octets' else WIDTHS[base]


def gap_type(n_bytes):
    return {1: 'u8', 2: 'u16', 4: 'u32'}.get(n_bytes, 'u8[%d]' % n_bytes)


class Reader:
    def __init__(self, path):
        self.path, self.line_number = path, 0
        self.table, self.row, self.struct = Table(), None, None

    def where(self):
        return '%s:%d' % (self.path, self.line_number)

    def refuse(self, text, *args):
        raise Error('%s: %s' % (self.where(), text % args))

    def read(self):
        state = None
        with open(self.path, encoding='utf-8') as stream:
            for self.line_number, line in enumerate(stream, 1):
                line = line.rstrip()
                if not line or line.startswith('#'):
                    continue
                if line == 'types':
                    state = self.type_line
                elif line.startswith(('row ', 'struct ')):
                    self.finish()
                    state = self.field_line
                    (self.row_line if line.startswith('row ') else self.struct_line)(line)
                elif state is None:
                    self.refuse('line outside of a types, struct or row block')
                elif re.match(r'[@/]?\|', line):
                    self.doc_line(line)
                else:
                    state(line)
        self.finish()
        self.table.messages()
        return self.table

    def check_type(self, kind, in_row):
        known = re.match(r'(u8|u16|u32|u64|i32|i64|f64|octets\[\d+\])$', kind) or \
            (not in_row and (re.match(r'u(8|16|32|64)\[\d+\]$', kind) or kind[7:] in self.table.structs))
        if not known:
            self.refuse('unknown type %s', kind)

    # ---- lines ----

    def type_line(self, line):
        match = re.match(r'\s+(\d+) ([A-Z_]+)$', self.comments_of(line)[0])
        if not match:
            text, comment, of_record, _ = self.comments_of(line)
            if text.strip() or not comment:
                self.refuse('bad type; expected "NUMBER NAME"')
            self.table.types.append(comment)
            return
        _, comment, of_record, _ = self.comments_of(line)
        number, name = int(match.group(1)), match.group(2)
        for old in self.table.types:
            if isinstance(old, Type) and (old.number == number or old.name == name):
                self.refuse('duplicate type %d %s: %d %s exists', number, name, old.number, old.name)
        self.table.types.append(Type(number, name, (comment or '', of_record or '')))

    def row_line(self, line):
        match = re.match(r'row (\w+): (span|instant|definition)((?: \w+)*)((?:, \w+ \w+)*)$', line)
        if not match:
            self.refuse('bad row; expected "row NAME: span|instant|definition [TYPE ...][, record|lane|definition NAME][, check NAME][, message NAME]"')
        row = self.row = Row(self.where(), match.group(1))
        row.kind = match.group(2)
        row.types = match.group(3).split() or [row.name]
        for each in row.types:
            if self.table.number_of(each) is None:
                self.refuse('type %s is not in the types block', each.upper())
        for word, name in re.findall(r', (\w+) (\w+)', match.group(4)):
            if word == 'message':
                row.message = name
            elif word == 'check':
                row.check = name
            elif word in ('record', 'lane', 'definition'):
                row.is_lane, row.is_definition_record = word == 'lane', word == 'definition'
                self.struct_of(row, 'ts_%s_%s' % ('definition' if word == 'definition' else 'record', name))
            else:
                self.refuse('unknown row option %s', word)
        self.table.rows.append(row)

    def struct_of(self, row, name):
        first = 'definition' if row.is_definition_record else 'record'
        row.record = self.table.structs.get(name)
        if not row.record:
            row.record = self.table.structs[name] = Struct(name, (first, 'struct ts_' + first))
        self.struct = row.record

    def struct_line(self, line):
        self.row = None
        self.struct = self.table.structs[line.split()[1]] = Struct(line.split()[1], None)

    def doc_line(self, line):
        where, text = line.split('|', 1)
        text = text[1:]
        if where == '':
            owner = self.row or self.struct
            (owner.doc if owner else self.table.types_doc).append(text)
        elif where == '@':
            self.row.record.doc.append(text)
        else:
            self.table.message_docs.setdefault(self.row.message, []).append(text)

    @staticmethod
    def comments_of(line):
        """The line without its comments; the comments of row, record and message, each None if absent."""
        parts = re.split(r'\s+(;/?|@;|/;)(?=\s|$)', ' ' + line)
        comments = {';': None, '@;': None, '/;': None}
        for mark, text in zip(parts[1::2], parts[2::2]):
            comments[mark[0] if mark == ';/' else mark] = text.strip()
            if mark == ';/':
                comments['/;'] = text.strip()
        return parts[0], comments[';'], comments['@;'], comments['/;']

    def field_line(self, line):
        text, comment, of_record, of_message = self.comments_of(line)
        words = text.split()
        if words[0] == '-':
            self.member_line(words, comment)
        elif words[0].startswith('/'):
            self.shown_line(words, of_message or '')
        elif words[0].isdigit():
            self.column_line(words, comment, of_record, of_message or '')
        else:
            self.refuse('bad field; expected a column id, "-" or "/" at its beginning')

    def member_line(self, words, comment):
        """- NAME TYPE @OFFSET: a member that only the record has."""
        if len(words) != 4 or not re.match(r'@\d+$', words[3]) or not self.struct:
            self.refuse('bad record member; expected "- NAME TYPE @OFFSET"')
        self.check_type(words[2], False)
        self.add_member(words[1], words[2], int(words[3][1:]), comment or '')

    def shown_line(self, words, comment):
        """/NUMBER NAME TYPE =SOURCE[:ARGUMENT]: a field that only the message has. /1 adds to the comment of `type`."""
        if words == ['/1']:
            self.row.type_comment = comment
            return
        match = re.match(r'/(\d+) (\w+) (\w+) =(\w+)(?::(\w+))?$', ' '.join(words))
        if not match or match.group(3) not in MESSAGE_TYPES or not self.row or not self.row.message:
            self.refuse('bad message field; expected "/NUMBER NAME TYPE =SOURCE"')
        number, name, kind, how, argument = match.groups()
        column = None
        if how not in SOURCES:
            column, argument = self.column_named(argument or ''), how
            how = 'named'
        elif how == 'flag':
            column = self.column_named('flags')
        self.add_shown(Shown(self.where(), int(number), kind, name, how, argument, column), comment)

    def column_line(self, words, comment, of_record, of_message):
        """ID NAME TYPE ROLE [@...] [=CONVERSION] [/...] [none[=VALUE]|some] [since=VERSION]"""
        row = self.row
        if not row or len(words) < 4:
            self.refuse('bad column; expected "ID NAME TYPE ROLE ..."')
        field = Field(self.where(), int(words[0]), words[1], words[2], words[3])
        self.check_type(field.kind, True)
        if field.role not in ROLES:
            self.refuse('unknown role %s', field.role)
        if not re.match(r'[a-z]\w*$', field.name):
            self.refuse('bad name %s', field.name)
        for old in row.fields:
            if field.id == old.id or field.name == old.name:
                self.refuse('duplicate column %d `%s`: %d `%s` exists', field.id, field.name, old.id, old.name)
        field.comment = comment or ''
        row.fields.append(field)
        declared, show = None, None
        for word in words[4:]:
            declared, show = self.word_of(field, word, declared, show)
        if field.source and not field.conversion and not row.is_definition_record:
            field.conversion = CONVERSIONS.get(field.role)
        if declared:
            self.add_member(declared[1], declared[2], declared[0],
                            self.record_comment(field) if of_record is None else of_record)
        self.show_column(field, show, of_message)

    def word_of(self, field, word, declared, show):
        declares = re.match(r'@(\d+)(?::([a-z]\w*))?(?::(u8|u16|u32|u64))?$', word)
        if word.startswith('@') and not self.row.record:
            self.refuse('%s: the row has no record', word)
        if declares:
            member = declares.group(2)
            kind = declares.group(3)
            if member in WIDTHS:
                member, kind = None, member
            declared = (int(declares.group(1)), member or field.name, kind or field.kind)
            field.source = declared[1]
        elif re.match(r'@[a-z][\w.\[\]]*$', word):
            field.source = word[1:]
            self.check_source(field.source)
        elif word.startswith('=') and word[1:] in KNOWN_CONVERSIONS:
            field.conversion = word[1:]
        elif re.match(r'/\d+', word):
            show = word
        elif word == 'some':
            field.nothing = None
        elif word.startswith('none'):
            field.nothing = word[5:] or '0'
        elif re.match(r'since=\d+\.\d+$', word):
            field.comment = '; '.join(filter(None, [field.comment, 'since ' + word[6:]]))
        else:
            self.refuse('unknown word %s', word)
        return declared, show

    def check_source(self, source):
        base = re.match(r'\w+', source).group(0)
        struct = self.row.record
        if base not in ([struct.first[0]] if struct.first else []) + [m.name for m in struct.members]:
            self.refuse('@%s: struct %s has no %s', source, struct.name, base)

    @staticmethod
    def record_comment(field):
        """The record's default comment: the row's, after the kind of definition that an id refers to."""
        prefix = {'STRING': 'TS_DEF_STRING', 'STACK': 'TS_DEF_STACK'}.get(field.role)
        return ': '.join(filter(None, [prefix, field.comment]))

    def show_column(self, field, show, comment):
        row = self.row
        if not row.message:
            if show:
                self.refuse('%s: the row has no message', show)
            return
        if field.role in ('TIME_START', 'TIME_END'):
            if comment:
                row.shown.append(self.common(COMMON.index(('uint64', field.name)), comment))
            return
        if not show:
            # `tid` and `thread_name` show the thread; fields with source `flag` show the flags.
            if field.role != 'THREAD' and field.name != 'flags':
                self.refuse('`%s` has no field in %s; add /NUMBER', field.name, row.message)
            return
        match = re.match(r'/(\d+)(?:=(\w+))?(?::(\w+))?$', show)
        if not match or (match.group(3) and match.group(3) not in MESSAGE_TYPES):
            self.refuse('bad message field %s; expected "/NUMBER[=SOURCE][:TYPE]"', show)
        number, how, kind = match.groups()
        argument = None
        if how and how not in SOURCES:
            how, argument, kind = 'named', how, 'string'
        if not kind:
            kind = {'STRING': 'string', 'STACK': 'Stack', 'DOUBLE': 'double'}.get(field.role) or \
                '%sint%d' % ('s' if field.kind[0] == 'i' else 'u', 64 if field.width == 8 else 32)
        if not how:
            how = 'stack' if field.role == 'STACK' else 'column'
        self.add_shown(Shown(self.where(), int(number), kind, field.name, how, argument, field), comment)

    # ---- additions to the table ----

    def common(self, i, comment):
        shown = Shown(self.where(), i + 1, COMMON[i][0], COMMON[i][1], COMMON[i][1], None, None)
        shown.comment = comment
        return shown

    def column_named(self, name):
        for field in self.row.fields:
            if field.name == name:
                return field
        self.refuse('the row has no column `%s` above', name)
        return None

    def add_shown(self, shown, comment):
        if shown.number <= len(COMMON):
            self.refuse('message field %d is `%s` in every row', shown.number, COMMON[shown.number - 1][1])
        for old in self.row.shown:
            if old.number == shown.number or old.name == shown.name:
                self.refuse('duplicate field %d `%s` in %s: %d `%s` exists', shown.number, shown.name, self.row.message,
                            old.number, old.name)
        shown.comment = comment
        self.row.shown.append(shown)

    def add_member(self, name, kind, offset, comment):
        end = offset + width_of(kind, self.table.structs)
        for old in self.struct.members:
            if old.name == name:
                self.refuse('duplicate member %s in struct %s', name, self.struct.name)
            if offset < old.offset + width_of(old.kind, self.table.structs) and old.offset < end:
                self.refuse('%s at %d to %d overlaps %s at %d; next free offset: %d', name, offset, end,
                            old.name, old.offset, self.end_of(self.struct))
        if self.struct.first and offset < HEADER_BYTES and not (offset == 0 and kind.startswith('struct:')):
            self.refuse('%s at %d overlaps the header', name, offset)
        if offset % align_of(kind):
            self.refuse('%s at %d is not aligned', name, offset)
        if kind.startswith('struct:') and offset == 0:
            self.struct.first = None
        self.struct.members.append(Member(name, kind, offset, comment))

    def end_of(self, struct):
        return max([HEADER_BYTES if struct.first else 0] +
                   [m.offset + width_of(m.kind, self.table.structs) for m in struct.members])

    # ---- end of a block ----

    def finish(self):
        if self.struct:
            self.finish_struct(self.struct)
        if self.row:
            self.finish_row(self.row)
        self.row = self.struct = None

    def finish_struct(self, struct):
        """Sorts members by offset and fills gaps, and the end up to 8 bytes, with reserved members."""
        members, at = [], HEADER_BYTES if struct.first else 0
        for member in sorted((m for m in struct.members if not m.name.startswith('reserved')),
                             key=lambda m: m.offset):
            self.fill(members, at, member.offset)
            members.append(member)
            at = member.offset + width_of(member.kind, self.table.structs)
        self.fill(members, at, (at + 7) // 8 * 8)
        struct.members, struct.n_bytes = members, (at + 7) // 8 * 8

    @staticmethod
    def fill(members, at, to):
        n = sum(m.name.startswith('reserved') for m in members)
        if to > at:
            members.append(Member('reserved%s' % (n + 1 if n else ''), gap_type(to - at), at, ''))

    def finish_row(self, row):
        """Places fields in the order of their lines and fills gaps with reserved members."""
        at, row.layout = 0, []
        widest = max(align_of(field.kind) for field in row.fields)
        for field in row.fields:
            field.offset = -(-at // align_of(field.kind)) * align_of(field.kind)
            self.fill(row.layout, at, field.offset)
            row.layout.append(field)
            at = field.offset + field.width
        row.n_bytes = -(-at // widest) * widest
        self.fill(row.layout, at, row.n_bytes)
        ids = [field.id for field in row.fields]
        if row.n_bytes > MAX_BYTES or len(ids) > MAX_COLUMNS:
            raise Error('%s: %d columns in %d bytes (limit: %d in %d)' % (
                row.where, len(ids), row.n_bytes, MAX_COLUMNS, MAX_BYTES))
        if row.kind != 'definition':
            self.check_event(row)

    @staticmethod
    def check_event(row):
        first, second = row.fields[0], row.fields[1]
        if (first.id, first.role) != (1, 'TIME_START'):
            raise Error('%s: column 1 of an event must be its start' % first.where)
        for field in row.fields[1:]:
            if (field.id == 2) != (row.kind == 'span' and field is second) or \
                    (field.role == 'TIME_END') != (field.id == 2):
                raise Error('%s: column 2 must be the end of a span, and its second line' % field.where)


def read(path):
    return Reader(path).read()
