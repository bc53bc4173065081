# SPDX-License-Identifier: Apache-2.0
"""Annotations of this process for its trace: ranges, marks, counters. They do nothing in a process that is not recorded.

The functions are those of <tracesmith/annotate.h>; the recording library exports them as tracesmith_annotate_1.
"""
from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any, Callable, Optional, TypeVar

Function = TypeVar('Function', bound=Callable[..., Any])


class _Functions(ctypes.Structure):
    _fields_ = [
        ('n_bytes', ctypes.c_size_t),
        ('domain', ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)),
        ('mark', ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
        ('push', ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
        ('pop', ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ('begin', ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p)),
        ('end', ctypes.CFUNCTYPE(None, ctypes.c_uint64)),
        ('counter', ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double)),
        ('counter_i64', ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64)),
        ('record', ctypes.CFUNCTYPE(None, ctypes.c_int)),
    ]


_process = ctypes.CDLL(None)
_found: Optional[_Functions] = None


def functions() -> Optional[_Functions]:
    """The recording library's functions; None: this process is not recorded (yet)."""
    global _found
    if _found is None:
        # Without a lock: threads that look at once find the same, and a forked child inherits no lock that is held.
        try:
            found = _Functions.in_dll(_process, 'tracesmith_annotate_1')
        except ValueError:
            return None
        if found.n_bytes >= ctypes.sizeof(_Functions):
            _found = found
    return _found


def _bytes(name: str) -> bytes:
    """A name as UTF-8; it never fails, because a program must not end only where it is recorded."""
    return str(name).encode('utf-8', 'replace')


def is_recorded() -> bool:
    """Whether this process runs under the recording library."""
    return functions() is not None


class annotate:
    """A named range: `with annotate("epoch"):`, or `@annotate("step")` over a function; `@annotate()` takes the function's name."""

    def __init__(self, name: Optional[str] = None) -> None:
        self._name = name
        self._local = threading.local()

    def __enter__(self) -> 'annotate':
        found = functions()
        name = _bytes(self._name or 'range')
        pushed = getattr(self._local, 'pushed', [])
        pushed.append(found)
        self._local.pushed = pushed
        if found:
            found.push(None, name)
        return self

    def __exit__(self, *_: Any) -> None:
        found = self._local.pushed.pop()
        if found:
            found.pop(None)

    def __call__(self, function: Function) -> Function:
        named = annotate(self._name or function.__qualname__)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with named:
                return function(*args, **kwargs)
        return wrapped  # type: ignore[return-value]


def mark(name: str) -> None:
    """Records that something happened now."""
    found = functions()
    if found:
        found.mark(None, _bytes(name))


def counter(name: str, value: float) -> None:
    """Records a value of a counter; whole numbers stay exact."""
    found = functions()
    if found and isinstance(value, int) and -2**63 <= value < 2**63:
        found.counter_i64(None, _bytes(name), value)
    elif found:
        found.counter(None, _bytes(name), float(value))
