#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbt-kernels.py FILE...: prints the kernels of SBT traces, one line of JSON each, and verifies all checksums.

This reader was written from sbt/FORMAT.md alone, as a proof that the specification suffices. It shares no code with sbt/.
Errors go to stderr, one line each; the exit status is then 1.
"""

import ctypes
import functools
import itertools
import json
import os
import re
import struct
import sys
from collections import namedtuple

MASK, MAX_PAYLOAD = (1 << 64) - 1, 72 << 20
API, KERNEL, PART, STRINGS, INDEX = 1, 2, 40, 48, 56
KNOWN_TYPES = {*range(1, 42), *range(48, 52), *range(56, 63)}
PLACE, SITE = 65520, 65521
RAW, CONSTANT, VARINTS, PLANES, SCALED = range(5)
NONE, COLUMN, LAST, GROUPED = range(4)
SIGNED, INDEXED, CENTRED, ZSTD, REQUIRED = 1, 2, 4, 1, 2  # flags of columns, then flags of blocks
FIRST_ID, TIMES, CALLS, DICTIONARY, TABLES = 4, 8, 16, 32, 64  # flags of short headers
TYPECODES = {1: "B", 2: "H", 4: "I", 8: "Q"}

# The columns of the types that are decoded here: name and bytes, in the order of their ids, which begin with 1. None is signed.
# Type `api` has 7 more columns.
KNOWN = {kind: [(name, int(width)) for name, width in (column.split(":") for column in text.split())] for kind, text in {
    API: "start_ns:8 end_ns:8 op_id:8 nested_op_id:8",
    KERNEL: "start_ns:8 end_ns:8 op_id:8 device:4 context:4 stream:4 graph:4 graph_node:8 queued_ns:8 submitted_ns:8 name:4 "
            "grid_x:4 grid_y:4 grid_z:4 block_x:4 block_y:4 block_z:4 cluster_x:4 cluster_y:4 cluster_z:4 static_shared_bytes:4 "
            "dynamic_shared_bytes:4 local_bytes_per_thread:4 channel:4 registers_per_thread:2 launch_type:1 channel_type:1",
    PART: "recording:16 part:4 before:4 carried:8",
    STRINGS: "length:4 bytes:1",
    INDEX: "off:8 bytes:8 raw:8 earliest:8 latest:8 duration:8 amount:8 rows:4 session:4 first_id:4 type:2 flags:2"}.items()}
Header = namedtuple("Header", "magic type version flags columns session rows first_id number earliest latest duration amount raw "
                              "stored reserved payload_crc crc off bytes head short calls")
Column = namedtuple("Column", "id width encoding flags predictor trend base key context planes reserved count size data contexts")

zstd_decompress = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
zstd_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
zstd_decompress.restype = ctypes.c_size_t

MAGIC = b"\x28\xb5\x2f\xfd"
zstd_using_dictionary = ctypes.CDLL("libzstd.so.1").ZSTD_decompress_usingDict
zstd_using_dictionary.argtypes = [ctypes.c_void_p] + 3 * [ctypes.c_char_p, ctypes.c_size_t]
zstd_using_dictionary.restype = ctypes.c_size_t


@functools.lru_cache(None)
def zstd_context():
    create = ctypes.CDLL("libzstd.so.1").ZSTD_createDCtx
    create.restype = ctypes.c_void_p
    return create()


@functools.lru_cache(None)
def dictionary(*marks):
    """The bytes of the lists behind these marks in the chapter "Dictionary" of FORMAT.md."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../sbt/FORMAT.md"), encoding="utf-8") as file:
        text = file.read()
    lines = [line for mark in marks for line in re.search(r"<!-- %s -->\n\n((?:    .*\n)+)" % mark, text).group(1).splitlines()]
    return b"".join(bytes.fromhex(line[7:]) if line.startswith("    \\x ") else line[4:].encode() for line in lines)


CRC_TABLE = list(range(256))
for _ in range(8):
    CRC_TABLE = [crc >> 1 ^ 0x82F63B78 * (crc & 1) for crc in CRC_TABLE]


class Damage(Exception):
    """A part of a file cannot be read."""


def need(condition, message, *values):
    if not condition:
        raise Damage(message % values)


def crc32c(data):
    return functools.reduce(lambda crc, byte: CRC_TABLE[crc & 255 ^ byte] ^ crc >> 8, data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        need(value <= MASK and shift <= 70, "a varint is too long")
        if byte < 128:
            yield value
            value = shift = 0
    need(shift == 0, "a varint has no end")


def short_header(data, off):
    """The header of a short block, or None if it is not valid."""
    size, flags = data[2], data[3]
    if not 13 <= size <= 96 or int.from_bytes(data[size - 4:size], "little") != crc32c(data[:size - 4]) or flags > 127:
        return None
    values = list(varints(data[4:size - 8]))
    need(len(values) == 7 + bool(flags & FIRST_ID) + (4 if flags & TIMES else 0) + bool(flags & CALLS),
         "a short header has other fields")
    calls = values.pop() if flags & CALLS else 0
    need(calls or not flags & CALLS, "a short header does not say where its calls are")
    kind, columns, session, rows, number, raw, stored = values[:7]
    first = values[7] if flags & FIRST_ID else 0
    earliest, span, duration, amount = values[-4:] if flags & TIMES else (0, 0, 0, 0)
    return Header(0x4B425354, kind, 3, flags & (ZSTD | REQUIRED | DICTIONARY | TABLES), columns, session, rows, first, number, earliest,
                  earliest + span & MASK, duration, amount, raw, stored, 0, int.from_bytes(data[size - 8:size - 4], "little"), 0, off,
                  size + stored, size, True, calls)


def restore(header, data):
    """The payload of a short block, with entries of 24 bytes. `data` is the short payload."""
    entries, last, pos = b"", 0, 0

    def byte():
        nonlocal pos
        need(pos < len(data), "a short directory has no end")
        pos += 1
        return data[pos - 1]

    def number():
        octets = [byte()]
        while octets[-1] > 127:
            octets.append(byte())
        return next(varints(octets))

    for _ in range(header.columns):
        step, a = number(), byte()
        need(step, "a short directory repeats a column")
        last, encoding, predictor, width = last + step, a & 3, a >> 2 & 3, a >> 4 & 7
        encoding, width = (encoding + 4, 3) if width == 6 else (encoding, width)
        width = number() if width == 7 else 1 << width
        b = byte() if a & 128 else 0
        base = number() if b & 8 else {NONE: 0, COLUMN: 1, LAST: last, GROUPED: 0}[predictor]
        key = number() + PLACE & 65535 if b & 16 else 0
        context = number() + PLACE & 65535 if b & 32 else 0
        trend = number() if b & 64 else 0
        count = number() if b & 128 else header.rows
        planes = number() if encoding == PLANES else 0
        size = number() if encoding > CONSTANT else width * (count if encoding == RAW else 1)
        try:
            entries += struct.pack("<HHBBBBHHHBBII", last, width, encoding, b & 7, predictor, trend, base, key, context, planes, 0,
                                   count, size)
        except struct.error:
            raise Damage("a short directory has a number that is too large")
    return entries + data[pos:]


def zigzag(value):
    return value >> 1 ^ -(value & 1)


def residuals(c):
    """The residuals of a column, unless it is RAW or CONSTANT, then None. That last step checks the column's end."""
    numbers, row, bits = varints(c.data[c.planes * c.count if c.encoding == PLANES else 0:]), None, 8 * c.planes
    if c.encoding == VARINTS:
        yield from (zigzag(number) for _, number in zip(range(c.count), numbers))
    else:
        row = next(numbers, None)
        for i in range(c.count):
            value = sum(c.data[plane * c.count + i] << 8 * plane for plane in range(c.planes))
            if i == row:
                value += zigzag(next(numbers, 0)) << bits
                row = next((i + 1 + skipped for skipped in numbers), None)
            yield value - (1 << bits - 1 if c.flags & CENTRED and bits else 0)
    need(row is None and next(numbers, None) is None, "column %d has bytes behind its values", c.id)
    yield None


def scaled_residuals(c, context):
    """As residuals(), of a column of encoding SCALED."""
    pos = 0

    def number():
        nonlocal pos
        start = pos
        while pos < c.size and c.data[pos] > 127:
            pos += 1
        pos += 1
        return next(varints(c.data[start:pos]), 0)

    quantum, remainders = number(), number()
    need(1 <= quantum <= 1 << 24 and remainders <= 1, "column %d has an invalid quantum", c.id)
    centres = [zigzag(number()) for _ in range(c.contexts)]
    shifts, plane, twos = c.data[pos:pos + c.contexts], pos + c.contexts, pos + c.contexts + c.count
    pos = twos + (c.count + 3) // 4 * remainders
    need(max(shifts, default=0) <= 32, "column %d has an invalid scale", c.id)
    size = number()
    need(pos + size <= c.size, "column %d is too short", c.id)
    bits, used, numbers = int.from_bytes(c.data[pos:pos + size], "little"), 0, varints(c.data[pos + size:])
    row = next(numbers, None)
    for i in range(c.count):
        shift = shifts[context[i]]
        value = centres[context[i]] + (c.data[plane + i] - 128 << shift) + (bits >> used & (1 << shift) - 1)
        value, used = value * quantum + ((c.data[twos + i // 4] >> i % 4 * 2 & 3) - 1 if remainders else 0), used + shift
        if i == row:
            more = next(numbers, 0)
            value += zigzag(more >> 1) if more & 1 else (zigzag(more >> 1) << 8 + shift) * quantum
            row = next((i + 1 + skipped for skipped in numbers), None)
        yield value
    need(size == (used + 7) // 8, "column %d has a wrong number of low bits", c.id)
    need(row is None and next(numbers, None) is None, "column %d has bytes behind its values", c.id)
    yield None


def entries(header, payload, widths):
    """The known columns of a payload, by id. Refuses columns that break the format's rules."""
    columns, pos, last = {}, 24 * header.columns, 0
    for i in range(header.columns if pos <= len(payload) else 0):
        c = Column(*struct.unpack_from("<HHBBBBHHHBBII", payload, 24 * i), None, 1)
        need(c.id > last, "column %d is out of order", c.id)
        if c.id in widths:
            columns[c.id] = c._replace(data=payload[pos:pos + c.size])
        last, pos = c.id, pos + c.size
    need(pos == len(payload), "the columns do not fill the payload")
    for c in list(columns.values()):
        if c.encoding == SCALED:
            need(c.width == 8 and not c.flags and not c.trend and header.type in (API, KERNEL), "column %d cannot be scaled", c.id)
            columns[c.id] = c._replace(contexts=columns[c.context].base + 1 if c.context else 1)
        need(c.encoding in (RAW, CONSTANT) or c.encoding <= SCALED and c.predictor <= GROUPED and c.trend <= 17,
             "column %d has encoding %d, predictor %d, trend %d", c.id, c.encoding, c.predictor, c.trend)
        count, low = columns[c.key].base + 1 if c.flags & INDEXED else header.rows, c.planes * c.count
        count = min(c.count, MAX_PAYLOAD) if header.type == STRINGS and c.id == 2 else count
        size = {RAW: c.width * c.count, CONSTANT: c.width, VARINTS: c.size, SCALED: c.size,
                PLANES: low if c.planes == 8 else max(low, c.size)}
        need(c.width == widths[c.id] and not c.flags & SIGNED and c.count == count and c.size == size[c.encoding] and c.planes <= 8
             and (c.width in TYPECODES or c.encoding in (RAW, CONSTANT)), "column %d is not valid", c.id)
    return columns


def predict(group, values, indices):
    """Decodes columns of one length together, row by row, since each may predict the other."""
    states = []
    for c in group:
        values[c.id] = bytearray() if c.width == 1 else []
        key, context = [indices[i] if i and not c.flags & INDEXED else bytes(c.count) for i in (c.key, c.context)]
        source = scaled_residuals(c, context) if c.encoding == SCALED else residuals(c)
        states.append((c, source, values[c.id], key, context, {}, {}))
    for i in range(group[0].count):
        for c, source, own, key, context, last, trend in states:
            value = next(source)
            need(value is not None, "column %d lacks values", c.id)
            if c.trend:
                memory, change = trend.get(context[i], 0), value & MASK
                value = value + memory & MASK
                trend[context[i]] = memory + (change - (change >> 63 << 64) >> c.trend - 1) & MASK if memory else value
            value += last.get(key[i], 0) if c.predictor == LAST else values[c.base][i] if c.predictor == COLUMN else 0
            need((value & MASK) >> 8 * c.width == 0, "column %d has a value that does not fit", c.id)
            own.append(value & MASK)
        for c, _, _, key, _, last, _ in states:
            if c.predictor == LAST:
                last[key[i]] = values[c.base][i]
    for state in states:
        next(state[1])


def decode(header, payload):
    """The values of a block's known columns, by name."""
    widths = {PLACE: 2, SITE: 2} if header.type in (API, KERNEL) else {}
    widths.update((i + 1, width) for i, (_, width) in enumerate(KNOWN[header.type]))
    columns, values, indices = entries(header, payload, widths), {}, {}
    for c in sorted(columns.values(), key=lambda c: (c.id < PLACE, c.id < PLACE and c.encoding > CONSTANT, c.id)):
        if c.encoding in (RAW, CONSTANT):
            data, form = bytes(c.data) * (c.count if c.encoding == CONSTANT else 1), TYPECODES.get(c.width, "%ds" % c.width)
            values[c.id] = data if c.width == 1 else [value for value, in struct.iter_unpack("<" + form, data)]
        elif c.id not in values:
            both = c.predictor == LAST and c.base > c.id and c.base not in values
            predict([c, columns[c.base]] if both else [c], values, indices)
        if c.predictor == GROUPED:
            values[c.id] = [value for _, value in sorted(zip(sorted(range(c.count), key=indices[PLACE].__getitem__), values[c.id]))]
        if c.flags & INDEXED:
            values[c.id] = [values[c.id][item] for item in indices[c.key]]
        if c.id >= PLACE:
            indices[c.id] = values[c.id]
            need(max(values[c.id], default=0) <= c.base, "column %d has an index above its highest", c.id)
    if header.type == STRINGS:
        ends, data = [0, *itertools.accumulate(values.get(1, ()))], values.get(2, b"")
        need(len(ends) == header.rows + 1 and ends[-1] == len(data), "the lengths do not add up")
        return {"ends": ends, "bytes": data}
    return {name: values.get(i + 1, bytes(header.rows)) for i, (name, _) in enumerate(KNOWN[header.type])}


class Trace:
    """One file. Raises Damage if it must be refused as a whole."""

    def __init__(self, path):
        self.file, self.errors, self.strings, self.decode = open(path, "rb"), {}, [], functools.lru_cache(4)(self.decode_block)
        self.size = self.file.seek(0, os.SEEK_END)
        data = self.read(0, 64)
        magic, major, self.minor, size, _, incompatible, uuid, _, _, crc = struct.unpack("<8sHHIQQ16sQII", data)
        need(magic == b"TSBT\r\n\x1a\n", "this is not an SBT file")
        need(major == 1, "SBT version %d.%d wrote the file; only version 1 is known", major, self.minor)
        need(crc == crc32c(data[:60]) and size == 64, "the file header is damaged")
        need(incompatible <= 15, "the incompatible flags %#x are not known", incompatible)
        self.short = incompatible & 1
        try:
            self.blocks = self.indexed_blocks()
        except Damage as error:
            self.blocks, off = [], 64
            for block in iter(lambda: self.header(off, len(self.blocks), self.size), None):
                self.blocks.append(block)
                off += block.bytes
            self.errors["%s; %d blocks found, %d bytes behind" % (error, len(self.blocks), max(self.size - off, 0))] = True
        self.recording, self.part, self.before = uuid, 1, 0
        for block in self.blocks:
            for row in zip(*self.values(block).values()) if block.type == PART else ():
                if row[1] > 1 and row[3] == block.number:
                    self.recording, self.part, self.before, _ = row

    def read(self, off, size):
        return os.pread(self.file.fileno(), size, max(off, 0)).ljust(size, b"\0")

    def header(self, off, number, end):
        """The block header at `off`, or None if it is not valid or the block does not end before `end`."""
        data = self.read(off, 96)
        h = Header(*struct.unpack("<IHHHHIIIQQQQQQQQII", data), off, 0, 96, False, 0)
        h = h._replace(bytes=96 + (h.stored + 7 & ~7))
        if self.short and data[:2] == b"Tb":
            h = short_header(data, off)
        elif h.magic != 0x4B425354 or h.crc != crc32c(data[:92]) or h.raw != h.stored and not h.flags & ZSTD:
            return None
        if not h or h.number != number or off + h.bytes > end or h.columns > 256 or (
                h.rows > 65536 or not h.stored <= h.raw <= MAX_PAYLOAD):
            return None
        need(not h.flags & REQUIRED or h.type in KNOWN_TYPES and h.version == 3,
             "the required block type %d, version %d, is not known", h.type, h.version)
        return h

    def indexed_blocks(self):
        data = self.read(self.size - 48, 48)
        magic, first, size, total, count, _, crc = struct.unpack("<8sQQQQII", data)
        need(magic == b"TSBTEND\n" and crc == crc32c(data[:44]) and first + size + 48 == total == self.size, "no valid end marker")
        blocks, off, at, number, indices = [], 64, first, 0, 0
        while at < first + size:
            header = self.header(at, count + indices, first + size)
            need(header and header.type == INDEX, "the index is damaged")
            columns = self.decode(header)
            for row in zip(*columns.values()):
                entry, block = dict(zip(columns, row)), self.header(off, number, first)
                if self.short and not entry["off"]:
                    entry = {"off": off, "bytes": entry["bytes"]}
                need(entry["off"] == off and (19 if self.short else 96) <= entry["bytes"] <= first - off, "the index has a gap")
                if block and all(value == getattr(block, name) for name, value in entry.items()):
                    blocks.append(block)
                else:
                    self.errors["block %d: the header is damaged" % number] = True
                off, number = off + entry["bytes"], number + 1
            at, indices = at + header.bytes, indices + 1
        need(off == first and number == count, "the index is not complete")
        return blocks

    def decode_block(self, header):
        """The values of the known columns of a block, if its type is known. Checks the checksum of every block."""
        data = self.read(header.off + header.head, header.stored)
        need(crc32c(data) == header.payload_crc, "the checksum of the payload is wrong")
        if header.type not in KNOWN or header.version != 3:
            return {}
        row_limit = sum(max(10, width) for _, width in KNOWN[header.type]) + {KERNEL: 20, API: 70 + 20}.get(header.type, 0)
        limit = 24 * header.columns + header.rows * row_limit
        need(header.type == STRINGS or header.raw <= limit or self.minor > 1, "the payload is larger than its rows can be")
        if header.flags & ZSTD:
            buffer = ctypes.create_string_buffer(header.raw + 1)
            if header.short and header.flags & (DICTIONARY | TABLES):
                head, lists = MAGIC, dictionary("dictionary")
                if header.flags & TABLES:
                    need(len(data) <= 131072, "the payload is larger than a block of zstd")
                    head, lists = MAGIC + b"\0\x38" + (8 * len(data) + 5).to_bytes(3, "little"), dictionary("tables", "dictionary")
                size = zstd_using_dictionary(zstd_context(), buffer, header.raw, head + data, len(head + data), lists, len(lists))
            else:
                size = zstd_decompress(buffer, header.raw, data, len(data))
            data = memoryview(buffer).cast("B")[:size] if size <= header.raw else b""
        data = restore(header, bytes(data)) if header.short else data
        need(len(data) == header.raw, "the payload cannot be decompressed")
        try:
            return self.absolute(header, decode(header, memoryview(data)))
        except LookupError:
            raise Damage("a column needs another one that is not there")

    def absolute(self, header, columns):
        """Adds to the times of a block those of the calls that they are relative to."""
        if not header.calls:
            return columns
        number, kind, own, nested, call = header.number - (header.calls >> 2), header.calls & 3, {}, {}, (0, 0)
        block = next((block for block in self.blocks if block.number == number < header.number), None)
        need(block and (block.type, block.session) == (API, header.session) and block.rows <= 8192 and header.type != API and kind < 3,
             "the block of the calls is missing")
        for start, end, op_id, nested_op_id in zip(*self.decode(block).values()):
            own.setdefault(op_id, (start, end))
            nested.setdefault(nested_op_id, (start, end))
        starts, ends = columns["start_ns"], columns["end_ns"] = list(columns["start_ns"]), list(columns["end_ns"])
        for i, op_id in enumerate(columns["op_id"]):
            call = (own.get(op_id) or nested.get(op_id) or call) if op_id else call
            starts[i] = starts[i] + call[kind == 0] & MASK
            ends[i] = ends[i] + call[kind != 1] & MASK
        return columns

    def string(self, number):
        """The string with an id, None if there is none. Blocks of strings are decoded on demand, so that memory stays bounded."""
        for block in self.strings:
            if block.first_id <= number < block.first_id + block.rows:
                strings, row = self.decode(block), number - block.first_id
                return bytes(strings["bytes"][strings["ends"][row]:strings["ends"][row + 1]]).decode("utf-8", "replace")

    def values(self, block):
        try:
            return self.decode(block)
        except Damage as error:
            self.errors["block %d: %s" % (block.number, error)] = True
            return {}

    def print_kernels(self):
        for block in self.blocks:
            columns = self.values(block)
            if block.type == STRINGS and columns:
                self.strings.append(block)
            for values in zip(*columns.values()) if block.type == KERNEL else ():
                row = dict(zip(columns, values), session=block.session)
                for name in ("grid", "block", "cluster"):
                    row[name] = [row.pop(name + axis) for axis in ("_x", "_y", "_z")]
                for name, nothing in (("device", 4294967295), ("context", 0), ("stream", 4294967295)):
                    row[name] = None if row[name] == nothing else row[name]
                print(json.dumps(dict(row, name=self.string(row["name"]), end_ns=max(row["start_ns"], row["end_ns"]))))


def main():
    failed = False
    for path in sys.argv[1:]:
        name, traces = path, []
        stem, number, ending = re.fullmatch(r"(.*?)(\.\d+)?(\.sbt)?", path, re.S).groups("")
        try:
            while os.path.exists(name) or not traces:
                trace = Trace(name)
                if traces and (trace.recording, trace.part) != (traces[0].recording, traces[0].part - 1):
                    break
                traces.insert(0, trace)
                name = "%s.%d%s" % (stem, trace.before, ending) if trace.before and not number else ""
        except (Damage, OSError) as error:
            print("%s: %s" % (name, error), file=sys.stderr)
            failed = True
        for trace in traces:
            trace.print_kernels()
            for error in trace.errors:
                print("%s: %s" % (trace.file.name, error), file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
