# SPDX-License-Identifier: Apache-2.0
"""Questions to libtracesmith: replay/report/ask-json.h. Each call has a reader of its own, so threads ask at the same time."""
from __future__ import annotations

import _thread
import contextlib
import ctypes
import errno
import json
import os
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, TypeVar

from . import _library
from ._errors import CommandError, Error, TraceError

CORRUPT = 3
CANCELLED = -125
NO_MEMORY = -12
REPORT_BYTES = 4096  # struct ts_export_report has fewer
LOOK_S = 0.2
Result = TypeVar('Result')


class Progress(NamedTuple):
    """How far a question is. `done` and `all` count rows, operations or nanoseconds, as `doing` tells; `all` 0: unknown."""
    doing: str
    done: int
    all: int = 0
    session: int = 0
    replay: int = 0
    op_id: int = 0
    operation: str = ''


Report = Optional[Callable[[Progress], Any]]


class _Watch:
    """
    What the thread that works notes, and the thread that asked looks at. Either side only loads and stores whole attributes, so
    no lock is needed, with or without the interpreter's.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._reported: Optional[Progress] = None
        self._latest: Optional[Progress] = None
        self.n_rows = ctypes.c_uint64(0)
        # The library's threads call these.
        self._on_progress = _library.ProgressReport(self._note)
        self._on_rows = _library.RowsReport(self._count)

    def _note(self, _: Any, now: Any) -> None:
        found = now.contents
        self._latest = Progress((found.doing or b'').decode(), found.done, found.all, found.session, found.replay, found.op_id,
                                found.operation.decode(errors='replace'))

    def _count(self, n_rows: int, _: Any) -> None:
        self.n_rows.value += n_rows

    def report(self) -> None:
        """Reports the progress, if there is any since the last time."""
        now = self._latest or Progress('reading', self.n_rows.value)
        if self._report and (self._latest or now.done) and now != self._reported:
            self._reported = now
            self._report(now)

    def count(self, reader: Any) -> None:
        """Counts the rows that a reader reads."""
        if self._report:
            _library.library().ts_sbt_reader_watch(reader, self._on_rows, None)

    @contextlib.contextmanager
    def options(self, flag: Any, n_threads: int = 0) -> Iterator[_library.AskOptions]:
        """The options of a question; a replay reports its progress until the block ends."""
        options = _library.AskOptions(no_memory=ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p), cancel=ctypes.addressof(flag),
                                      n_threads=n_threads)
        lib, progress = _library.library(), ctypes.c_void_p()
        if self._report:
            options.n_rows = ctypes.addressof(self.n_rows)
            if lib.ts_replay_progress_new(self._on_progress, None, round(LOOK_S * 1000), ctypes.byref(progress)):
                raise MemoryError('no memory for the progress')
            options.progress = progress
        try:
            yield options
        finally:
            lib.ts_replay_progress_free(progress)


def interruptible(work: Callable[[Any], Result], report: Optional[Callable[[], None]] = None) -> Result:
    """
    Returns work(flag). Signals reach the main thread between two lines of Python, so the main thread waits for another one. Ctrl-C
    sets the flag, which ends a function of the library at the next block of the file, or a replay at its next operation. report() is
    called now and then by the thread that asks; an exception of it ends the work, too.
    """
    flag = ctypes.c_int(0)
    if not report and threading.current_thread() is not threading.main_thread():
        return work(flag)
    done, results, errors = threading.Event(), [], []  # type: threading.Event, List[Result], List[BaseException]

    def run() -> None:
        try:
            results.append(work(flag))
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)
        finally:
            done.set()

    is_started = False
    try:
        # Thread.start() would wait for the thread, and Ctrl-C could come before it runs.
        _thread.start_new_thread(run, ())
        is_started = True
        # The kernel may give the signal to another thread, which ends no wait of this one.
        while not done.wait(LOOK_S):
            if report:
                report()
    except BaseException as error:
        flag.value = 1
        if is_started:
            done.wait()
        elif isinstance(error, RuntimeError):
            flag.value = 0
            return work(flag)  # the interpreter ends, and starts no thread
        raise
    if errors:
        raise errors[0]
    return results[0]


def _interruptible(watch: _Watch, report: Report, work: Callable[[Any], Result]) -> Result:
    return interruptible(work, watch.report if report else None)


def _ask(path: str, call: Callable[[Any, Any, Any], int], watch: _Watch, flag: Any, n_threads: int = 0) -> str:
    """The text of an answer; `call` gets the options, the answer and the place for the line of an error."""
    lib = _library.library()
    answer, why = _library.Json(), ctypes.create_string_buffer(_library.WHY_BYTES)
    try:
        with watch.options(flag, n_threads) as options:
            result = call(ctypes.byref(options), ctypes.byref(answer), why)
        if result == NO_MEMORY:
            raise MemoryError('%s: no memory' % path)
        if result:
            raise CommandError(why.value.decode(errors='replace') or '%s: error %d' % (path, result))
        return ctypes.string_at(answer.data, answer.n_bytes).decode() if answer.data else ''
    finally:
        lib.ts_json_deinit(ctypes.byref(answer))


def ask(again: Callable[[], Any], question: str, options: Dict[str, Any], report: Report = None, n_threads: int = 0) -> str:
    """The answer to a question about a trace, which again() opens."""
    text, watch = json.dumps(options).encode(), _Watch(report)

    def work(flag: Any) -> str:
        with again() as trace:
            return _ask(trace.path, lambda *more: int(_library.library().ts_ask_json(
                trace.reader, 0, os.fsencode(trace.path), question.encode(), text, *more)), watch, flag, n_threads)
    return _interruptible(watch, report, work)


def picture(again: Callable[[], Any], question: str, options: Dict[str, Any], width: int, report: Report = None) -> str:
    """The answer to "timeline" or "memory" as SVG."""
    text, watch = json.dumps(options).encode(), _Watch(report)

    def work(flag: Any) -> str:
        with again() as trace:
            return _ask(trace.path, lambda *more: int(_library.library().ts_ask_picture(
                trace.reader, 0, os.fsencode(trace.path), question.encode(), text, width, *more)), watch, flag)
    return _interruptible(watch, report, work)


def png(svg: str) -> bytes:
    """A picture as PNG."""
    lib, data, found, n_bytes = _library.library(), svg.encode(), ctypes.c_void_p(), ctypes.c_size_t()
    result = lib.ts_picture_png(data, len(data), ctypes.byref(found), ctypes.byref(n_bytes))
    if result:
        raise Error(lib.ts_picture_why(result).decode())
    try:
        return ctypes.string_at(found, n_bytes.value)
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(found)


def diff(before: Callable[[], Any], after: Callable[[], Any], report: Report = None) -> str:
    """The comparison of two traces."""
    watch = _Watch(report)

    def work(flag: Any) -> str:
        with before() as first, after() as second:
            sides = (_library.Side * 2)()
            for side, trace in zip(sides, (first, second)):
                side.readers, side.n, side.path = (ctypes.c_void_p * 1)(trace.reader), 1, os.fsencode(trace.path)
            return _ask(first.path, lambda *more: int(_library.library().ts_ask_json_diff(sides, None, *more)), watch, flag)
    return _interruptible(watch, report, work)


def format_of(name: str) -> Optional[int]:
    """The number of an export's format; None: the library has no such format."""
    lib = _library.library()
    number = int(lib.ts_export_format_of(name.encode()))
    return number if number != lib.ts_export_format_of(b'') else None


def _exported(path: str, trace: Any, result: int) -> None:
    """Raises the error of an export."""
    error = _library.library().ts_sbt_reader_error(trace.reader).contents
    if result == NO_MEMORY:
        raise MemoryError('%s: no memory' % path)
    if result < 0 and result != CANCELLED:
        raise Error('%s: %s' % (path, os.strerror(-result)))
    if result or error.code == CORRUPT:
        raise TraceError('%s: %s' % (path, error.text.decode(errors='replace') or 'error %d' % result))


def export(again: Callable[[], Any], number: int, options: _library.ExportOptions, descriptor: int, report: Report = None) -> None:
    """Writes a trace to a descriptor."""
    watch = _Watch(report)

    def work(flag: Any) -> None:
        with again() as trace:
            found = ctypes.create_string_buffer(REPORT_BYTES)
            options.cancel, options.no_memory = ctypes.addressof(flag), ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p)
            options.title = os.fsencode(os.path.basename(trace.path) or trace.path)
            watch.count(trace.reader)
            result = _library.library().ts_export_fd(trace.reader, number, ctypes.byref(options), descriptor, found)
            _exported(trace.path, trace, result)
    _interruptible(watch, report, work)


class _Folder:
    """The files of a data set of Arrow. A file appears when it is complete."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: Optional[Tuple[Any, str, str]] = None
        self.error: Optional[BaseException] = None
        # An object of its own: other packages set the types of those that they share.
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.fdopen.restype = ctypes.c_void_p
        for name in ('fclose', 'ferror', 'fflush'):
            getattr(self._libc, name).argtypes = [ctypes.c_void_p]

    def begin(self, _: Any, path: bytes, ret_file: Any) -> int:
        """struct ts_export_arrow_options.open"""
        try:
            real = os.path.join(self._root, os.fsdecode(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            place = '%s.%d-%d' % (real, os.getpid(), threading.get_ident())
            descriptor = os.open(place, os.O_WRONLY | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL, 0o666)
            file = self._libc.fdopen(descriptor, b'w')
            if not file:
                os.close(descriptor)
                os.unlink(place)
                raise MemoryError('%s: no memory' % real)
            self._open = file, place, real
            ret_file[0] = file
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
            return CANCELLED

    def finish(self, _: Any) -> int:
        """struct ts_export_arrow_options.finish"""
        try:
            assert self._open
            file, place, real = self._open
            self._open = None
            is_bad = self._libc.fflush(file) or self._libc.ferror(file)
            number = ctypes.get_errno() or errno.EIO
            if self._libc.fclose(file) or is_bad:
                os.unlink(place)
                raise OSError(number, os.strerror(number), real)
            os.replace(place, real)
            return 0
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
            return CANCELLED

    def close(self) -> None:
        """Removes a file that is not complete."""
        if self._open:
            file, place, _ = self._open
            self._libc.fclose(file)
            os.unlink(place)


def export_arrow(again: Callable[[], Any], options: _library.ExportOptions, arrow: _library.ArrowOptions, output: str,
                 report: Report = None) -> None:
    """Writes a trace as files of Arrow into a folder."""
    watch = _Watch(report)

    def work(flag: Any) -> None:
        folder = _Folder(output)
        arrow.open, arrow.finish = _library.ArrowOpen(folder.begin), _library.ArrowFinish(folder.finish)
        with again() as trace:
            found = ctypes.create_string_buffer(REPORT_BYTES)
            arrow.path = os.fsencode(os.path.realpath(trace.place))
            options.cancel = ctypes.addressof(flag)
            watch.count(trace.reader)
            try:
                result = _library.library().ts_export_arrow(trace.reader, ctypes.byref(options), ctypes.byref(arrow), False, found)
            finally:
                folder.close()
            if isinstance(folder.error, OSError):
                raise CommandError('%s: %s' % (folder.error.filename or output, folder.error.strerror)) from folder.error
            if folder.error:
                raise folder.error
            _exported(trace.path, trace, result)
    _interruptible(watch, report, work)
