# SPDX-License-Identifier: Apache-2.0
"""A reader of Apache Arrow's IPC files, written from the specification: "Arrow Columnar Format", Schema.fbs, Message.fbs, File.fbs, and
the internals of FlatBuffers. It checks what the specification demands, and knows the types that TraceSmith writes.

read(path) gives a File: `columns` ({name: list of values, None for null}), `types` ({name: text}), `metadata`, `batches` (lengths).
"""
import struct

MAGIC, CONTINUATION, ALIGN = b'ARROW1', b'\xff\xff\xff\xff', 64
SCHEMA, DICTIONARY, BATCH = 1, 2, 3
INT, FLOAT, UTF8, BOOL = 2, 3, 5, 6
FORMATS = {'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q', 'double': 'd'}


class Bad(Exception):
    pass


def demand(truth, text):
    if not truth:
        raise Bad(text)


class Table:
    """A table of a FlatBuffer at a position; fields by their number in the schema. Every reference is checked against the bounds."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - self.number(at, 'i')
        demand(at % 4 == 0 and 0 <= self.vtable < at, 'a table without a vtable')
        self.size, self.bytes = self.number(self.vtable, 'H'), self.number(self.vtable + 2, 'H')
        demand(self.size >= 4 and self.size % 2 == 0, 'a vtable of %d bytes' % self.size)

    def number(self, at, form):
        demand(0 <= at <= len(self.data) - struct.calcsize(form), 'a reference beyond the end')
        demand(at % struct.calcsize(form) == 0, 'a number that is not aligned')
        return struct.unpack_from('<' + form, self.data, at)[0]

    def place(self, field):
        offset = self.number(self.vtable + 4 + 2 * field, 'H') if 4 + 2 * field < self.size else 0
        demand(offset < self.bytes, 'a field outside of its table')
        return self.at + offset if offset else 0

    def get(self, field, form, default=0):
        return self.number(self.place(field), form) if self.place(field) else default

    def target(self, field):
        at = self.place(field)
        return at + self.number(at, 'I') if at else 0

    def table(self, field):
        return Table(self.data, self.target(field)) if self.target(field) else None

    def vector(self, field):
        """(position of the first element, count)"""
        at = self.target(field)
        return (at + 4, self.number(at, 'I')) if at else (0, 0)

    def tables(self, field):
        at, n = self.vector(field)
        return [Table(self.data, at + 4 * i + self.number(at + 4 * i, 'I')) for i in range(n)]

    def structs(self, field, form, size):
        at, n = self.vector(field)
        demand(not n or at % 8 == 0 and at + n * size <= len(self.data), 'a vector of structs that is not aligned')
        return [struct.unpack_from(form, self.data, at + size * i) for i in range(n)]

    def text(self, field):
        at, n = self.vector(field)
        demand(at + n < len(self.data) and self.data[at + n] == 0, 'a string without its end')
        return self.data[at:at + n].decode()


def root(data):
    return Table(data, struct.unpack_from('<I', data, 0)[0])


class Field:
    def __init__(self, table):
        self.name, kind = table.text(0), table.get(2, 'B')
        demand(table.get(1, 'B') == 1, '%s is not nullable' % self.name)
        demand(table.vector(5)[1] == 0 and table.place(5), '%s has no list of children' % self.name)
        self.dictionary = None
        if kind == INT:
            self.type = '%sint%d' % ('' if table.table(3).get(1, 'B') else 'u', table.table(3).get(0, 'i'))
        elif kind == FLOAT:
            demand(table.table(3).get(0, 'h') == 2, 'no double')
            self.type = 'double'
        else:
            self.type = {UTF8: 'text', BOOL: 'bool'}[kind]
        if table.place(4):
            encoding = table.table(4)
            index = encoding.table(1)
            demand(kind == UTF8 and index.get(0, 'i') == 32 and index.get(1, 'B') == 1, 'a dictionary of something else')
            self.dictionary = encoding.get(0, 'q')
        demand((self.type == 'text') == (self.dictionary is not None), 'texts have dictionaries')


class File:
    def __init__(self, data):
        self.data = data
        demand(data[:8] == MAGIC + b'\0\0' and data[-6:] == MAGIC, 'no Arrow file')
        size = struct.unpack('<i', data[-10:-6])[0]
        demand(0 < size <= len(data) - 18, 'a footer of %d bytes' % size)
        footer = root(data[len(data) - 10 - size:len(data) - 10])
        demand(footer.get(0, 'h') == 4, 'another version')
        self.fields = self.schema(footer.table(1))
        self.types = {field.name: field.type for field in self.fields}
        demand(len(self.types) == len(self.fields), 'two columns of a name')
        blocks = [footer.structs(field, '<qi4xq', 24) for field in (2, 3)]
        self.check_stream(blocks)
        self.texts = {}
        for block in blocks[0]:
            self.read_dictionary(block)
        self.columns = {field.name: [] for field in self.fields}
        self.batches = [self.read_batch(block) for block in blocks[1]]

    def schema(self, table):
        demand(table.get(0, 'h') == 0, 'not little-endian')
        self.metadata = {fact.text(0): fact.text(1) for fact in table.tables(2)}
        return [Field(field) for field in table.tables(1)]

    def message(self, off):
        """(header's table, its kind, bytes of prefix and header, bytes of the body)"""
        demand(off % 8 == 0 and self.data[off:off + 4] == CONTINUATION, 'no message at %d' % off)
        size = struct.unpack_from('<i', self.data, off + 4)[0]
        if not size:
            return None, 0, 8, 0
        demand(size % 8 == 0 and off + 8 + size <= len(self.data), 'a header of %d bytes' % size)
        message = root(self.data[off + 8:off + 8 + size])
        demand(message.get(0, 'h') == 4, 'another version')
        return message.table(2), message.get(1, 'B'), 8 + size, message.get(3, 'q')

    def check_stream(self, blocks):
        """A reader of streams sees the same messages: schema, dictionaries, batches, end."""
        off, seen = 8, []
        while True:
            table, kind, header, body = self.message(off)
            if not table:
                break
            seen.append((kind, off, header, body))
            off += header + body
        demand(seen[0][0] == SCHEMA and [field.name for field in self.schema(root_of(self, seen[0]))] ==
               [field.name for field in self.fields], 'another schema in front')
        demand(seen[1:] == [(DICTIONARY, *block) for block in blocks[0]] + [(BATCH, *block) for block in blocks[1]],
               'the footer lists other messages')

    def buffers(self, batch, off):
        nodes, places = batch.structs(1, '<qq', 16), batch.structs(2, '<qq', 16)
        for at, size in places:
            demand(at % ALIGN == 0 and off % ALIGN == 0, 'a buffer that is not aligned')
            demand(at >= 0 and size >= 0 and off + at + size <= len(self.data), 'a buffer beyond the end')
        return nodes, [self.data[off + at:off + at + size] for at, size in places]

    def read_dictionary(self, block):
        table, kind, header, _ = self.message(block[0])
        demand(kind == DICTIONARY and not table.get(2, 'B'), 'no whole dictionary')
        (node,), (validity, ends, texts) = self.buffers(table.table(1), block[0] + header)
        demand(not validity and len(ends) == 4 * (node[0] + 1), 'a dictionary of another shape')
        ends = memoryview(ends).cast('i')
        demand(ends[0] == 0 and ends[-1] == len(texts) and list(ends) == sorted(ends), 'offsets of texts')
        demand(table.get(0, 'q') not in self.texts, 'two dictionaries of a number')
        self.texts[table.get(0, 'q')] = [texts[ends[i]:ends[i + 1]].decode() for i in range(node[0])]

    def read_batch(self, block):
        batch, kind, header, _ = self.message(block[0])
        demand(kind == BATCH, 'no batch')
        n = batch.get(0, 'q')
        nodes, buffers = self.buffers(batch, block[0] + header)
        demand(len(nodes) == len(self.fields) and len(buffers) == 2 * len(nodes) and n > 0, 'a batch of another shape')
        for i, field in enumerate(self.fields):
            demand(nodes[i][0] == n, 'a column of another length')
            self.columns[field.name] += self.values(field, n, nodes[i][1], buffers[2 * i], buffers[2 * i + 1])
        return n

    def values(self, field, n, n_nulls, validity, data):
        valid = [bool(validity[i // 8] >> i % 8 & 1) for i in range(n)] if validity else [True] * n
        demand(valid.count(False) == n_nulls, '%s has another count of nulls' % field.name)
        if field.type == 'bool':
            values = [bool(data[i // 8] >> i % 8 & 1) for i in range(n)]
        else:
            form = FORMATS.get(field.type, 'i')
            demand(len(data) == n * struct.calcsize(form), '%s has another length' % field.name)
            values = list(memoryview(data).cast(form))
        if field.type == 'text':
            texts = self.texts[field.dictionary]
            values = [texts[value] if there else None for value, there in zip(values, valid)]
        return [value if there else None for value, there in zip(values, valid)]


def root_of(file, message):
    return file.message(message[1])[0]


def read(path):
    with open(path, 'rb') as stream:
        return File(stream.read())
