# SPDX-License-Identifier: Apache-2.0
"""Writing traces: a program of any kind puts its own events into an SBT file, which all tools read."""
from __future__ import annotations

import ctypes
import functools
import os
import struct
import threading
from typing import Any, Callable, Dict, List, TypeVar, Union

from . import _library
from ._errors import Error, TraceError

SEAL_ROWS = 50000  # rows in memory before a block is written
JOB_RANK, JOB_LOCAL_RANK = 1, 2  # TS_JOB_* of proto/abi/session.h: the fields that are known
Method = TypeVar('Method', bound=Callable[..., Any])


def _one_at_a_time(method: Method) -> Method:
    """A method of a session, under its writer's lock."""
    @functools.wraps(method)
    def locked(self: 'TracingSession', *args: Any, **fields: Any) -> Any:
        with self._writer._lock:
            return method(self, *args, **fields)
    return locked  # type: ignore[return-value]


class TracingSession:
    """A session of a file: one process. `emit()` adds a row."""

    def __init__(self, writer: 'SBTWriter', fields: Dict[str, Any]) -> None:
        self._writer = writer
        self._lib = _library.library()
        self._session = ctypes.c_void_p()
        self._n_pending = 0
        self._facts = fields
        writer._check(self._lib.ts_sbt_session_writer_new(writer._writer, writer._row('session', fields), ctypes.byref(self._session)))
        self.number: int = self._lib.ts_sbt_session_writer_number(self._session)

    @_one_at_a_time
    def emit(self, type: str, **fields: Any) -> None:
        """Adds a row of a type ("kernel", "range", "counter", ...). Times are nanoseconds of CLOCK_MONOTONIC; names are text.

        Fields that are not given are 0. Rows of a session may come in any order of time.
        """
        row = self._writer._row(type, fields)
        self._writer._check(self._lib.ts_sbt_session_writer_add_row(self._session, _library.schema(type).type, row))
        self._n_pending += 1
        if self._n_pending >= SEAL_ROWS:
            self.seal()

    @_one_at_a_time
    def seal(self) -> None:
        """Writes the rows so far, so that a reader sees them."""
        if not self._session:
            raise Error('%s: the writer is finished' % self._writer.path)
        self._writer._check(self._lib.ts_sbt_session_writer_seal(self._session, None, 0))
        self._n_pending = 0

    def _end(self) -> None:
        if not self._session:
            return
        # 1: the session ended, and everything is there.
        ended = {'ended_by': 1}
        known = {field.name for field in _library.schema('session').fields}
        row = self._writer._row('session', {**self._facts, **{key: value for key, value in ended.items() if key in known}})
        self._writer._check(self._lib.ts_sbt_session_writer_update(self._session, row))
        self.seal()

    def _free(self) -> None:
        self._lib.ts_sbt_session_writer_free(self._session)
        self._session = ctypes.c_void_p()


class SBTWriter:
    """Writes a new trace: `with SBTWriter("own.sbt") as writer: writer.session(pid=1).emit("range", start_ns=1, end_ns=2, name="load")`.

    Threads may share a writer and its sessions: each call waits for the others. The file must not exist; without finish(), which the block calls, it has no end.
    """

    def __init__(self, path: Union[str, 'os.PathLike[str]'], **metadata: str) -> None:
        self.path = os.fspath(path)
        self._lib = _library.library()
        self._sessions: List[TracingSession] = []
        self._lock = threading.RLock()
        self._writer = ctypes.c_void_p()
        self._pid = os.getpid()
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as why:
            raise Error('%s: %s' % (self.path, why.strerror)) from why
        result = self._lib.ts_sbt_writer_new(descriptor, ctypes.byref(self._writer))
        if result:
            os.close(descriptor)
            self._check(result)
        for key, value in metadata.items():
            self._check(self._lib.ts_sbt_writer_metadata(self._writer, key.encode(), value.encode()))

    def _check(self, result: int) -> None:
        _library.check(result, self.path)

    def _string(self, text: Union[str, int]) -> int:
        if isinstance(text, int):
            return text
        number = ctypes.c_uint32()
        data = text.encode()
        self._check(self._lib.ts_sbt_writer_string(self._writer, data, len(data), ctypes.byref(number)))
        return number.value

    def _row(self, type: str, fields: Dict[str, Any]) -> ctypes.Array[ctypes.c_char]:
        schema = _library.schema(type)
        row = ctypes.create_string_buffer(schema.row_bytes)
        by_name = {field.name: field for field in schema.fields if field.role != _library.CALL}
        if not self._writer:
            raise Error('%s: the writer is finished' % self.path)
        for name, value in fields.items():
            field = by_name.get(name)
            if not field:
                raise TraceError('rows of type %s have no column %r; they have %s' % (type, name, ', '.join(by_name)))
            if field.role == _library.STRING:
                value = self._string(value)
            try:
                struct.pack_into('<' + field.format, row, field.offset, value)
            except struct.error as why:
                raise TraceError('%s.%s: %s' % (type, name, why)) from None
        return row

    def session(self, **fields: Any) -> TracingSession:
        """Begins a session; fields of its row are pid=, program=, job=, rank= and so on."""
        known = sum(bit for name, bit in (('rank', JOB_RANK), ('local_rank', JOB_LOCAL_RANK)) if name in fields)
        with self._lock:
            session = TracingSession(self, {'job_flags': known, **fields} if known else fields)
            self._sessions.append(session)
        return session

    def finish(self) -> None:
        """Writes what is left, and the file's end. In a forked child it does nothing: the file is the parent's."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self._writer:
                self._finish()

    def _finish(self) -> None:
        try:
            for session in self._sessions:
                session._end()
            self._check(self._lib.ts_sbt_writer_finish(self._writer))
        finally:
            self._close()

    def _close(self) -> None:
        if os.getpid() != self._pid:
            return
        for session in self._sessions:
            session._free()
        self._sessions = []
        self._lib.ts_sbt_writer_free(self._writer)
        self._writer = ctypes.c_void_p()

    def __enter__(self) -> 'SBTWriter':
        return self

    def __exit__(self, *_: Any) -> None:
        self.finish()

    def __del__(self) -> None:
        if getattr(self, '_writer', None):
            self._close()
