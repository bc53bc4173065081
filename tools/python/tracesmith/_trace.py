# SPDX-License-Identifier: Apache-2.0
"""Traces: opening, definitions, tables. `open()` is the entry."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

from . import _library
from ._ask import Questions
from ._errors import Error, TraceError
from ._table import Table, Time, _Columns

MAX_PARTS = 65536
CAPSULE_NAME = b'arrow_array_stream\0'
Path = Union[str, 'os.PathLike[str]']
STATES = {1: 'finished', 2: 'growing', 3: 'truncated'}

# An object of its own: other packages set the argument types of those that ctypes.pythonapi hands out.
_pythonapi_new = ctypes.PyDLL(None)['PyCapsule_New']
_pythonapi_new.restype = ctypes.py_object
_pythonapi_new.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
_malloc = ctypes.CDLL(None).malloc
_malloc.restype, _malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
_free = ctypes.CDLL(None).free
_free.restype, _free.argtypes = None, [ctypes.c_void_p]


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return '/'


class Trace(Questions):
    """An open trace. Any threads may share it: they read one after another. A context manager."""

    def __init__(self, path: Path, place: Optional[str] = None) -> None:
        self.path = os.fspath(path)
        # A question opens the file again, whatever folder is current then: `place` is for that.
        self.folder = _current_folder()
        self.place = place or os.path.join(self.folder, self.path)
        self._lock = threading.RLock()
        self._strings: Dict[int, str] = {}
        self._lib = _library.library()
        self._reader: Any = self._open(self.place, self.path)
        self._join()

    # ---- opening ----

    def _open(self, place: str, path: str) -> Any:
        reader, error = ctypes.c_void_p(), _library.ErrorStruct()
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as why:
            raise Error('%s: %s' % (path, why.strerror)) from why
        try:
            _library.check(self._lib.ts_sbt_reader_open(descriptor, ctypes.byref(reader), ctypes.byref(error)), path, error)
        finally:
            os.close(descriptor)
        return reader

    def _before(self, reader: Any) -> Optional[str]:
        """The path of the file before this one in a recording of several files."""
        part = _library.PartStruct()
        if self._lib.ts_sbt_reader_part(reader, ctypes.byref(part)):
            return None
        field = next(field for field in _library.schema('part').fields if field.name == 'before')
        number = int.from_bytes(bytes(part.bytes[field.offset:field.offset + field.width]), 'little')
        pointer = self._lib.ts_sbt_part_path(os.fsencode(self.place), number)
        if not pointer:
            return None
        path = os.fsdecode(ctypes.cast(pointer, ctypes.c_char_p).value or b'')
        _free(pointer)
        return path

    def _join(self) -> None:
        """Reads the earlier files of a recording, too, as far as they are there."""
        before: List[Any] = []
        last = self._reader
        while len(before) < MAX_PARTS:
            path = self._before(last)
            if not path or not os.path.isfile(path):
                break
            try:
                reader = self._open(path, path)
            except Error:
                break
            if not self._lib.ts_sbt_reader_is_before(reader, last):
                self._lib.ts_sbt_reader_free(reader)
                break
            before.append(reader)
            last = reader
        if before:
            array = (ctypes.c_void_p * len(before))(*before)
            self._check(self._lib.ts_sbt_reader_join(self._reader, array, len(before)))

    def close(self) -> None:
        """Closes the file. Columns and arrays that were read stay valid."""
        with self._lock:
            if self._reader:
                self._lib.ts_sbt_reader_free(self._reader)
                self._reader = None

    def __del__(self) -> None:
        if getattr(self, '_reader', None):
            self.close()

    def __enter__(self) -> 'Trace':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _check(self, result: int) -> None:
        if result:
            error = self._lib.ts_sbt_reader_error(self._reader)
            _library.check(result, self.path, error.contents if error else None)

    def _own(self) -> Any:
        if not self._reader:
            raise Error('%s: the trace is closed' % self.path)
        return self._reader

    @property
    def reader(self) -> Any:
        """The library's reader, for this package's calls."""
        return self._own()

    def refresh(self) -> None:
        """Reads what was written since, if the recording is not finished."""
        with self._lock:
            self._check(self._lib.ts_sbt_reader_refresh(self._own()))

    # ---- definitions ----

    @property
    def file_state(self) -> str:
        """"finished", "growing" (a recording is being written), or "truncated" (its end is missing)."""
        with self._lock:
            return STATES.get(self._lib.ts_sbt_reader_state(self._own()), 'unknown')

    @property
    def origin_ns(self) -> int:
        """The trace's start: CLOCK_MONOTONIC, in nanoseconds."""
        with self._lock:
            return int(self._lib.ts_sbt_reader_origin_ns(self._own()))

    def instant(self, time: Time) -> int:
        """A time as nanoseconds of CLOCK_MONOTONIC: a float is seconds since the trace's start."""
        return self.origin_ns + round(time * 1e9) if isinstance(time, float) else time

    @property
    def metadata(self) -> Dict[str, str]:
        """Facts about the recording: hostname, kernel, command, ..."""
        facts = {}
        with self._lock:
            reader = self._own()
            for i in range(self._lib.ts_sbt_reader_n_metadata(reader)):
                key, value = ctypes.c_char_p(), ctypes.c_char_p()
                self._lib.ts_sbt_reader_metadata_at(reader, i, ctypes.byref(key), ctypes.byref(value))
                facts[(key.value or b'').decode(errors='replace')] = (value.value or b'').decode(errors='replace')
        return facts

    def string(self, number: int) -> str:
        """The string of an id; "" is that of id 0."""
        if not number:
            return ''
        found = self._strings.get(number)
        if found is not None:
            return found
        length = ctypes.c_size_t()
        with self._lock:
            pointer = self._lib.ts_sbt_reader_string(self._own(), number, ctypes.byref(length))
            if not pointer:
                raise TraceError('%s: string %d cannot be read: the trace is damaged' % (self.path, number))
            text = ctypes.string_at(pointer, length.value).decode(errors='replace')
        self._strings[number] = text
        return text

    def find_strings(self, name: str, pattern: str) -> List[int]:
        """The numbers of the names in rows of a type that match a pattern, ascending: ids of strings, or calls."""
        return Table(self, name)._find_names(pattern)

    def stack(self, session: int, number: int) -> List[int]:
        """The frames of a host stack, innermost first, as proto/abi/record.h encodes them. `rows(stacks=True)` gives their names."""
        found = _library.StackStruct()
        with self._lock:
            self._check(self._lib.ts_sbt_reader_stack(self._own(), session, number, ctypes.byref(found)))
            return list(found.frames[:found.n_frames])

    # ---- tables ----

    def table(self, name: str, columns: Optional[Sequence[str]] = None) -> Table:
        """The rows of a type: "kernel", "api", "session", ...; all columns, or these."""
        return Table(self, name, columns=columns)

    @property
    def tables(self) -> Dict[str, Table]:
        """The types of events that this trace has."""
        tables = {name: Table(self, name) for name in _library.event_types()}
        return {name: table for name, table in tables.items() if len(table)}

    @property
    def sessions(self) -> Table:
        """One row for each recorded process."""
        return Table(self, 'session')

    @property
    def threads(self) -> Table:
        return Table(self, 'thread')

    @property
    def devices(self) -> Table:
        return Table(self, 'device')

    @property
    def kernels(self) -> Table:
        return Table(self, 'kernel')

    @property
    def copies(self) -> Table:
        return Table(self, 'memcpy')

    @property
    def sets(self) -> Table:
        return Table(self, 'memset')

    @property
    def calls(self) -> Table:
        """Calls of the vendor's functions. The column `name` is made of `domain` and `cbid`."""
        return Table(self, 'api')

    @property
    def syncs(self) -> Table:
        return Table(self, 'sync')

    @property
    def ranges(self) -> Table:
        return Table(self, 'range')

    @property
    def marks(self) -> Table:
        return Table(self, 'mark')

    @property
    def counters(self) -> Table:
        return Table(self, 'counter')

    def _columns(self, options: _library.ColumnsOptions) -> Any:
        """Reads columns; the lock is held, and Python's other threads run meanwhile."""
        columns = ctypes.c_void_p()
        with self._lock:
            self._check(self._lib.ts_sbt_columns_new(self._own(), ctypes.byref(options), ctypes.byref(columns)))
            if self._lib.ts_sbt_columns_damaged(columns):
                error = self._lib.ts_sbt_reader_error(self._reader)
                self._lib.ts_sbt_columns_free(columns)
                _library.check(3, self.path, error.contents)
        return columns

    def _arrow_stream(self, columns: _Columns) -> Any:
        # The capsule keeps a pointer to its name, which therefore lies in the same memory.
        n_bytes = ctypes.sizeof(_library.ArrowStream)
        stream = _malloc(n_bytes + len(CAPSULE_NAME))
        if not stream:
            raise MemoryError('%s: no memory' % self.path)
        with self._lock:
            name_call = ctypes.cast(self._lib.ts_name_call, ctypes.c_void_p)
            result = self._lib.ts_sbt_arrow_stream_named(self._own(), columns.pointer, name_call, stream)
            if result:
                _free(stream)
                self._check(result)
        destructor = ctypes.cast(self._lib.ts_sbt_arrow_capsule_free, ctypes.c_void_p)
        ctypes.memmove(stream + n_bytes, CAPSULE_NAME, len(CAPSULE_NAME))
        return _pythonapi_new(stream, stream + n_bytes, destructor)

    def __repr__(self) -> str:
        return '<Trace %s%s>' % (self.path, '' if self._reader else ', closed')


class Folder(Sequence[Trace]):
    """The traces in a folder, in order of their names; each is opened when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._place = os.path.abspath(self.path)
        self.paths = sorted(os.path.join(self.path, name) for name in os.listdir(self.path) if name.endswith('.sbt'))

    def _open(self, path: str) -> Trace:
        return Trace(path, os.path.join(self._place, os.path.basename(path)))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: Any) -> Any:
        return self._open(self.paths[index]) if isinstance(index, int) else [self._open(path) for path in self.paths[index]]

    def __iter__(self) -> Iterator[Trace]:
        return (self._open(path) for path in self.paths)

    def __repr__(self) -> str:
        return '<Folder %s: %d traces>' % (self.path, len(self))


def open_trace(what: Union[Path, int]) -> Any:
    """Opens a trace (a path), the traces of a folder, or the running recording of a process (its pid)."""
    if isinstance(what, int):
        from ._record import live_path
        return Trace(live_path(what))
    if os.path.isdir(what):
        return Folder(what)
    return Trace(what)


__all__ = ['Folder', 'Trace', 'TraceError', 'open_trace']
