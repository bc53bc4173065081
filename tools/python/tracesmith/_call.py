# SPDX-License-Identifier: Apache-2.0
"""Questions to libtracesmith: replay/report/ask-json.h. Each call has a reader of its own, so threads ask at the same time."""
from __future__ import annotations

import _thread
import ctypes
import json
import os
import threading
from typing import Any, Callable, Dict, List, Optional, TypeVar

from . import _library
from ._errors import CommandError, Error, TraceError

CORRUPT = 3
CANCELLED = -125
REPORT_BYTES = 4096  # struct ts_export_report has fewer
Result = TypeVar('Result')


def interruptible(work: Callable[[Any], Result]) -> Result:
    """
    Returns work(flag). Signals reach the main thread between two lines of Python, so the main thread waits for another one. Ctrl-C
    sets the flag, which ends a function of the library at the next block of the file.
    """
    flag = ctypes.c_int(0)
    if threading.current_thread() is not threading.main_thread():
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
        done.wait()
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


def _ask(path: str, call: Callable[[Any, Any, Any], int], flag: Any) -> str:
    """The text of an answer; `call` gets the options, the answer and the place for the line of an error."""
    lib = _library.library()
    options = _library.AskOptions(no_memory=ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p), cancel=ctypes.addressof(flag))
    answer, why = _library.Json(), ctypes.create_string_buffer(_library.WHY_BYTES)
    try:
        result = call(ctypes.byref(options), ctypes.byref(answer), why)
        if result == -12:
            raise MemoryError('%s: no memory' % path)
        if result:
            raise CommandError(why.value.decode(errors='replace') or '%s: error %d' % (path, result))
        return ctypes.string_at(answer.data, answer.n_bytes).decode() if answer.data else ''
    finally:
        lib.ts_json_deinit(ctypes.byref(answer))


def ask(again: Callable[[], Any], path: str, question: str, options: Dict[str, Any]) -> str:
    """The answer to a question about a trace, which again() opens."""
    text = json.dumps(options).encode()

    def work(flag: Any) -> str:
        with again() as trace:
            return _ask(path, lambda *more: int(_library.library().ts_ask_json(trace.reader, 0, os.fsencode(path), question.encode(),
                                                                               text, *more)), flag)
    return interruptible(work)


def diff(before: Callable[[], Any], after: Callable[[], Any]) -> str:
    """The comparison of two traces."""
    def work(flag: Any) -> str:
        with before() as first, after() as second:
            sides = (_library.Side * 2)()
            for side, trace in zip(sides, (first, second)):
                side.readers, side.n, side.path = (ctypes.c_void_p * 1)(trace.reader), 1, os.fsencode(trace.path)
            return _ask(first.path, lambda *more: int(_library.library().ts_ask_json_diff(sides, None, *more)), flag)
    return interruptible(work)


def format_of(name: str) -> Optional[int]:
    """The number of an export's format; None: the library has no such format."""
    lib = _library.library()
    number = int(lib.ts_export_format_of(name.encode()))
    return number if number != lib.ts_export_format_of(b'') else None


def export(again: Callable[[], Any], path: str, number: int, descriptor: int) -> None:
    """Writes a trace to a descriptor."""
    def work(flag: Any) -> None:
        lib = _library.library()
        with again() as trace:
            report = ctypes.create_string_buffer(REPORT_BYTES)
            lib.ts_sbt_reader_cancel(trace.reader, ctypes.addressof(flag))
            result = lib.ts_export_fd(trace.reader, number, None, descriptor, report)
            error = lib.ts_sbt_reader_error(trace.reader).contents
            if result < 0 and result != CANCELLED:
                raise Error('%s: %s' % (path, os.strerror(-result)))
            if result or error.code == CORRUPT:
                raise TraceError('%s: %s' % (path, error.text.decode(errors='replace') or 'error %d' % result))
    interruptible(work)
