# SPDX-License-Identifier: Apache-2.0
"""libtracesmith by ctypes: where it lies, its structs and functions. The headers are the reference: sbt/reader.h, sbt/columns.h."""
from __future__ import annotations

import ctypes
import os
import shutil
import threading
from ctypes import (CFUNCTYPE, POINTER, byref, c_bool, c_char, c_char_p, c_int, c_int16, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64,
                    c_void_p)
from typing import Any, Dict, List, NamedTuple, Optional

from ._errors import Error, NotInstalled, TraceError

NAME = 'libtracesmith.so.0'
ERROR_TEXT_BYTES = 200
MAX_TYPES = 256
WHY_BYTES = 400


class ColumnStruct(ctypes.Structure):
    _fields_ = [('name', c_char_p), ('id', c_uint16), ('width', c_uint16), ('offset', c_uint16), ('role', c_uint8),
                ('is_signed', c_uint8)]


class SchemaStruct(ctypes.Structure):
    _fields_ = [('name', c_char_p), ('type', c_uint16), ('n_columns', c_uint16), ('row_bytes', c_uint32),
                ('columns', POINTER(ColumnStruct)), ('is_event', c_bool), ('has_end', c_bool), ('bytes_column', c_int16)]


class ErrorStruct(ctypes.Structure):
    _fields_ = [('code', c_int), ('off', c_uint64), ('text', c_char * ERROR_TEXT_BYTES)]


class PartStruct(ctypes.Structure):
    """struct ts_row_part has at most so many bytes; its fields are read by their schema."""
    _fields_ = [('bytes', c_uint8 * 192)]


class ColumnsOptions(ctypes.Structure):
    _fields_ = [('type', c_uint32), ('session', c_uint32), ('columns', c_uint64), ('from_ns', c_uint64), ('to_ns', c_uint64),
                ('filter', c_uint32), ('device', c_uint32), ('context', c_uint32), ('stream', c_uint32), ('thread', c_uint32),
                ('n_names', c_uint32), ('names', POINTER(c_uint32))]


class StackStruct(ctypes.Structure):
    _fields_ = [('frames', POINTER(c_uint64)), ('n_frames', c_uint32), ('flags', c_uint32)]


class ArrowStream(ctypes.Structure):
    _fields_ = [('get_schema', c_void_p), ('get_next', c_void_p), ('get_last_error', c_void_p), ('release', c_void_p),
                ('private_data', c_void_p)]


class Json(ctypes.Structure):
    _fields_ = [('data', c_void_p), ('n_bytes', c_size_t), ('n_allocated', c_size_t), ('error', c_int)]


class AskOptions(ctypes.Structure):
    _fields_ = [('no_memory', c_void_p), ('cancel', c_void_p), ('n_rows', c_void_p), ('max_bytes', c_size_t), ('n_threads', c_uint32),
                ('device_bytes', c_uint64), ('progress', c_void_p)]


class ExportOptions(ctypes.Structure):
    """struct ts_export_options"""
    _fields_ = [('session', c_uint32), ('types', c_uint64), ('from_ns', c_uint64), ('to_ns', c_uint64), ('weight', c_int),
                ('mangled', c_bool), ('no_leaf', c_bool), ('processes', c_bool), ('threads', c_bool), ('lines', c_bool),
                ('names', c_void_p), ('step', c_void_p), ('user', c_void_p), ('generator', c_char_p), ('width', c_uint32),
                ('title', c_char_p), ('cancel', c_void_p), ('no_memory', c_void_p)]


# Functions that the library calls: in the thread of the call, but for ProgressReport.
ArrowOpen = CFUNCTYPE(c_int, c_void_p, c_char_p, POINTER(c_void_p))
ArrowFinish = CFUNCTYPE(c_int, c_void_p)
RowsReport = CFUNCTYPE(None, c_uint32, c_void_p)


class ArrowOptions(ctypes.Structure):
    """struct ts_export_arrow_options"""
    _fields_ = [('job', c_char_p), ('rank', c_char_p), ('path', c_char_p), ('slice_ns', c_uint64), ('open', ArrowOpen),
                ('finish', ArrowFinish), ('user', c_void_p)]


class ProgressNow(ctypes.Structure):
    """struct ts_replay_progress_now"""
    _fields_ = [('doing', c_char_p), ('session', c_uint32), ('replay', c_uint32), ('done', c_uint64), ('all', c_uint64),
                ('op_id', c_uint64), ('operation', c_char * 128)]


ProgressReport = CFUNCTYPE(None, c_void_p, POINTER(ProgressNow))


class Side(ctypes.Structure):
    """struct ts_query_side: the traces of one side of a comparison."""
    _fields_ = [('readers', POINTER(c_void_p)), ('n', c_size_t), ('path', c_char_p)]


FUNCTIONS: Dict[str, Any] = {
    'ts_row_schema': (POINTER(SchemaStruct), [ctypes.c_uint]),
    'ts_row_type_by_name': (ctypes.c_uint, [c_char_p]),
    'ts_sbt_reader_open': (c_int, [c_int, POINTER(c_void_p), POINTER(ErrorStruct)]),
    'ts_sbt_reader_free': (None, [c_void_p]),
    'ts_sbt_reader_refresh': (c_int, [c_void_p]),
    'ts_sbt_reader_part': (c_int, [c_void_p, POINTER(PartStruct)]),
    'ts_sbt_reader_is_before': (c_bool, [c_void_p, c_void_p]),
    'ts_sbt_reader_join': (c_int, [c_void_p, POINTER(c_void_p), c_size_t]),
    'ts_sbt_part_path': (c_void_p, [c_char_p, c_uint32]),
    'ts_sbt_reader_error': (POINTER(ErrorStruct), [c_void_p]),
    'ts_sbt_reader_state': (c_int, [c_void_p]),
    'ts_sbt_reader_format': (c_char_p, [c_void_p]),
    'ts_sbt_reader_file_bytes': (c_uint64, [c_void_p]),
    'ts_sbt_reader_string': (c_void_p, [c_void_p, c_uint32, POINTER(c_size_t)]),
    'ts_sbt_reader_stack': (c_int, [c_void_p, c_uint32, c_uint32, POINTER(StackStruct)]),
    'ts_sbt_reader_n_metadata': (c_size_t, [c_void_p]),
    'ts_sbt_reader_metadata_at': (None, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p)]),
    'ts_sbt_reader_origin_ns': (c_uint64, [c_void_p]),
    'ts_sbt_reader_cancel': (c_void_p, [c_void_p, c_void_p]),
    'ts_ask_json': (c_int, [c_void_p, c_uint32, c_char_p, c_char_p, c_char_p, POINTER(AskOptions), POINTER(Json), c_char_p]),
    'ts_ask_json_diff': (c_int, [POINTER(Side), c_char_p, POINTER(AskOptions), POINTER(Json), c_char_p]),
    'ts_ask_picture': (c_int, [c_void_p, c_uint32, c_char_p, c_char_p, c_char_p, c_uint32, POINTER(AskOptions), POINTER(Json), c_char_p]),
    'ts_picture_png': (c_int, [c_char_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t)]),
    'ts_picture_why': (c_char_p, [c_int]),
    'ts_replay_progress_new': (c_int, [ProgressReport, c_void_p, c_uint32, POINTER(c_void_p)]),
    'ts_replay_progress_free': (None, [c_void_p]),
    'ts_sbt_reader_watch': (None, [c_void_p, RowsReport, c_void_p]),
    'ts_json_deinit': (None, [POINTER(Json)]),
    'ts_export_format_of': (c_int, [c_char_p]),
    'ts_export_fd': (c_int, [c_void_p, c_int, POINTER(ExportOptions), c_int, c_void_p]),
    'ts_export_arrow': (c_int, [c_void_p, POINTER(ExportOptions), POINTER(ArrowOptions), c_bool, c_void_p]),
    'ts_sbt_columns_new': (c_int, [c_void_p, POINTER(ColumnsOptions), POINTER(c_void_p)]),
    'ts_sbt_columns_free': (None, [c_void_p]),
    'ts_sbt_columns_rows': (c_uint64, [c_void_p]),
    'ts_sbt_columns_values': (c_void_p, [c_void_p, c_int]),
    'ts_sbt_columns_sessions': (c_void_p, [c_void_p]),
    'ts_sbt_columns_damaged': (c_uint64, [c_void_p]),
    'ts_sbt_arrow_stream_named': (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    'ts_name_call': (c_char_p, [c_uint32, c_uint32, c_void_p]),
    'ts_sbt_writer_new': (c_int, [c_int, POINTER(c_void_p)]),
    'ts_sbt_writer_free': (None, [c_void_p]),
    'ts_sbt_writer_string': (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_uint32)]),
    'ts_sbt_writer_metadata': (c_int, [c_void_p, c_char_p, c_char_p]),
    'ts_sbt_writer_finish': (c_int, [c_void_p]),
    'ts_sbt_session_writer_new': (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    'ts_sbt_session_writer_free': (None, [c_void_p]),
    'ts_sbt_session_writer_update': (c_int, [c_void_p, c_void_p]),
    'ts_sbt_session_writer_number': (c_uint32, [c_void_p]),
    'ts_sbt_session_writer_add_row': (c_int, [c_void_p, ctypes.c_uint, c_void_p]),
    'ts_sbt_session_writer_seal': (c_int, [c_void_p, c_void_p, c_size_t]),
}

# enum ts_role of sbt/schema.h.
STRING, STACK, THREAD, DEVICE, CONTEXT, STREAM, DOUBLE, OCTETS = 5, 6, 7, 13, 14, 15, 19, 20
CALL = -1  # no role of the library: the name of a call, by TS_SBT_CALL_COLUMN of sbt/columns.h
CALL_COLUMN = 63
CALL_NAME_BYTES = 32


class Field(NamedTuple):
    """A column of a row type."""
    name: str
    place: int
    width: int
    offset: int
    role: int
    is_signed: bool

    @property
    def is_text(self) -> bool:
        """Whether the values are numbers of texts."""
        return self.role in (STRING, CALL)

    @property
    def format(self) -> str:
        """The format of a value, in the words of `struct` and `memoryview`."""
        if self.role == OCTETS:
            return '%ds' % self.width
        if self.role == DOUBLE:
            return 'd'
        letter = {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[self.width]
        return letter.lower() if self.is_signed else letter


class Schema(NamedTuple):
    """A row type."""
    name: str
    type: int
    row_bytes: int
    fields: List[Field]
    is_event: bool


_lock = threading.Lock()
_library: Optional[ctypes.CDLL] = None
_schemas: Dict[str, Schema] = {}


# The wheel's own TraceSmith. A pure wheel has none and uses the installed one.
TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '_tree')


def beside_tsctl(name: str) -> List[str]:
    """Where a library of the wheel's or the installed TraceSmith may lie."""
    command = shutil.which('tsctl')
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(command))) if command else '/usr'
    if os.path.isdir(TREE):
        prefix = TREE
    return [os.path.join(prefix, folder, name) for folder in ('lib', 'lib64', 'lib/x86_64-linux-gnu', 'lib/aarch64-linux-gnu')]


def _paths() -> List[str]:
    """Where libtracesmith may lie, the first choice first."""
    own = os.environ.get('TRACESMITH_LIBRARY')
    if own:
        return [own]
    return ([] if os.path.isdir(TREE) else [NAME]) + beside_tsctl(NAME)


def library() -> ctypes.CDLL:
    """libtracesmith, loaded at the first call."""
    global _library
    if _library is not None:
        return _library  # without the lock, which another thread may hold at a fork
    with _lock:
        if _library is None:
            reasons = []
            for path in _paths():
                try:
                    loaded = ctypes.CDLL(path)
                    break
                except OSError as error:
                    reasons.append(str(error))
            else:
                raise NotInstalled('cannot load libtracesmith (%s): install TraceSmith, or set TRACESMITH_LIBRARY to the '
                                   "library's path" % reasons[0])
            for name, (result, arguments) in FUNCTIONS.items():
                try:
                    function = getattr(loaded, name)
                except AttributeError:
                    raise NotInstalled('libtracesmith lacks %s: it is older than this package' % name) from None
                function.restype, function.argtypes = result, arguments
            _library = loaded
        return _library


def schema(name: str) -> Schema:
    """A row type by its name: "kernel", "memcpy", ..."""
    found = _schemas.get(name)
    if found:
        return found
    lib = library()
    pointer = lib.ts_row_schema(lib.ts_row_type_by_name(name.encode()))
    if not pointer:
        raise TraceError('no type of row is named %r' % name)
    own = pointer.contents
    fields = [Field(own.columns[i].name.decode(), i, own.columns[i].width, own.columns[i].offset, own.columns[i].role,
                    bool(own.columns[i].is_signed)) for i in range(own.n_columns)]
    if name == 'api':
        fields.append(Field('name', CALL_COLUMN, 4, own.row_bytes, CALL, False))
    found = _schemas[name] = Schema(name, own.type, own.row_bytes, fields, own.is_event)
    return found


def call_name(number: int) -> str:
    """The name of a call, by its number in the column `name` of calls."""
    buffer = ctypes.create_string_buffer(CALL_NAME_BYTES)
    return str(library().ts_name_call(number >> 16, number & 0xffff, buffer).decode())


def event_types() -> List[str]:
    """The names of all types of events."""
    pointers = [library().ts_row_schema(number) for number in range(MAX_TYPES)]
    return [pointer.contents.name.decode() for pointer in pointers if pointer and pointer.contents.is_event]


def check(result: int, path: str, error: Optional[ErrorStruct] = None) -> None:
    """Raises what a function of the library returned, if that is not 0."""
    if not result:
        return
    text = error.text.decode(errors='replace') if error is not None and error.text else ''
    if result == -12:
        raise MemoryError('%s: no memory' % path)
    if result < 0 and not text:
        raise Error('%s: %s' % (path, os.strerror(-result)))
    raise TraceError('%s: %s' % (path, text or 'error %d' % result))


def tsctl() -> str:
    """The path of tsctl."""
    own = os.environ.get('TRACESMITH_TSCTL')
    if not own and os.path.isdir(TREE):
        own = os.path.join(TREE, 'bin', 'tsctl')
    own = own or shutil.which('tsctl')
    if not own:
        raise NotInstalled('tsctl is not in PATH: install TraceSmith, or set TRACESMITH_TSCTL to its path')
    return own


__all__ = ['ArrowOptions', 'ArrowStream', 'AskOptions', 'ColumnsOptions', 'ErrorStruct', 'ExportOptions', 'Field', 'Json', 'PartStruct', 'Schema', 'Side', 'StackStruct', 'beside_tsctl', 'byref', 'check',
           'event_types', 'library', 'schema', 'tsctl']
