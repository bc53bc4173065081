# SPDX-License-Identifier: Apache-2.0
"""Recording: a command, this process, or processes that run already."""
from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import threading
import time
from typing import Any, Iterator, List, Optional, Sequence, Union

from . import _annotate, _ask, _library
from ._errors import CommandError, Error, NotInstalled

SHIM = 'libtsinject.so'
NOT_STARTED = 125  # tsctl record's status if the command was not started
DAEMON_S = 10  # a daemon on a busy machine takes so long to begin
_own_output: Optional[str] = None
_is_stopped = False  # this process, by stop()
_lock = threading.RLock()  # of these two


def _new_lock() -> None:
    """A thread that the child does not have may have held the lock."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


class Recording:
    """A finished recording of a command: the trace's path and the command's exit status."""

    def __init__(self, path: str, status: int) -> None:
        self.path = path
        self.status = status
        self._place = os.path.abspath(path)

    def open(self) -> Any:
        from ._trace import Trace
        return Trace(self.path, self._place)

    def __repr__(self) -> str:
        return '<Recording %s, status %d>' % (self.path, self.status)


def record(command: Sequence[str], output: Union[str, 'os.PathLike[str]'], *, vgpu: Union[bool, str] = False, stacks: str = 'python',
           kernel_events: Union[bool, str] = False, capture: Optional[str] = None, start_later: bool = False,
           options: Sequence[str] = (), **popen: Any) -> Recording:
    """Runs a command and records its processes in one file, which is replaced if it exists.

    vgpu: run on the virtual GPU (True, or "h200:2"). stacks: "python", "native" or "none". options: further options of `tsctl record`.
    popen: for subprocess.run(), as env= or cwd=. Returns when the command has ended, whatever its status.
    """
    path = os.fspath(output)
    # With cwd=, the command's folder is another one than this process's.
    argv: List[str] = [_library.tsctl(), 'record', '--quiet', '--force', '--output', os.path.abspath(path), '--stacks', stacks]
    if vgpu:
        argv.append('--vgpu' if vgpu is True else '--vgpu=%s' % vgpu)
    if kernel_events:
        argv.append('--kernel-events' if kernel_events is True else '--kernel-events=%s' % kernel_events)
    if capture:
        argv += ['--capture', capture]
    if start_later:
        argv.append('--start-later')
    argv += [*options, '--', *command]
    status = subprocess.run(argv, **popen).returncode
    if status == NOT_STARTED:
        raise CommandError('tsctl record did not start %s; its message is on stderr' % command[0], status)
    return Recording(path, status)


def _shim() -> str:
    own = os.environ.get('TRACESMITH_INJECT')
    if own:
        return own
    for path in _library.beside_tsctl(SHIM):
        if os.path.exists(path):
            return path
    raise NotInstalled('%s is not beside tsctl: install TraceSmith, or set TRACESMITH_INJECT to its path' % SHIM)


@contextlib.contextmanager
def recording(output: Union[str, 'os.PathLike[str]']) -> Iterator[str]:
    """Records this process's use of the GPU within the block. The file can be read after the block, and is finished when the process ends.

    The recording library comes into a process before its first call of the GPU; later it is too late (an error says so). One file a
    process: a second block with the same file continues it.
    """
    path = os.path.abspath(os.fspath(output))
    with _lock:
        _begin(path)
    start()
    # The first annotation begins the session, and with it the file.
    _annotate.mark('recording')
    try:
        yield path
    finally:
        stop()


def _begin(path: str) -> None:
    """Loads the recording library if it is not there; the lock is held."""
    global _own_output
    if _own_output not in (None, path):
        raise Error('this process is recorded to %s; one process has one trace' % _own_output)
    if not _annotate.is_recorded():
        if _gpu_is_used():
            raise Error('the GPU is in use already: call recording() before the first use, or run the program under `tsctl record`')
        os.environ['TRACESMITH_OUTPUT'] = path
        shim = _shim()
        os.environ.setdefault('CUDA_INJECTION64_PATH', shim)
        ctypes.CDLL(shim, ctypes.RTLD_GLOBAL)
    elif _own_output is None and not os.environ.get('TRACESMITH_OUTPUT'):
        raise Error('this process is recorded by `tsctl record` or a service; its trace has another name')
    _own_output = path


def _gpu_is_used() -> bool:
    """Whether a driver's library is loaded: the shim has to be there first."""
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as file:
        return any('/libcuda.so' in line or '/libamdhip64.so' in line for line in file)


def start(*pids: int) -> None:
    """Starts recording where it is stopped: in the given processes, or in this one."""
    global _is_stopped
    if not pids and not _annotate.is_recorded():
        return
    if pids:
        _ask.run(['start', '--quiet', *map(str, pids)])
        return
    with _lock:
        if _is_stopped:
            _ask.run(['start', '--quiet', str(os.getpid())])
        _is_stopped = False


def stop(*pids: int) -> None:
    """Stops recording until start(): in the given processes, or in this one. The rows before it can then be read from the file."""
    global _is_stopped
    if not pids and not _annotate.is_recorded():
        return
    if pids:
        for pid in pids:
            _stop(pid)
        return
    with _lock:
        _stop(os.getpid())
        _is_stopped = True


def _stop(pid: int) -> None:
    _patiently(['stop', '--quiet', str(pid)])
    _flush(pid)


def _patiently(arguments: Sequence[str]) -> None:
    """Runs a command of tsctl; a session that has just begun may not have its daemon yet."""
    until = time.monotonic() + DAEMON_S
    while True:
        try:
            _ask.run(arguments)
            return
        except CommandError:
            if time.monotonic() > until:
                raise
        time.sleep(0.02)


def _flush(pid: int) -> None:
    """Has the daemon write the rows so far to the file: it does so before it answers a question about a process."""
    _patiently(['info', '--json', '--session', str(pid)])


def live_path(pid: int) -> str:
    """The file of a process that is being recorded."""
    listed = _ask.parse(_ask.run(['sessions', '--json'])[1])
    for session in listed.get('sessions', []):
        if session.get('pid') == pid and session.get('path'):
            _flush(pid)
            return str(session['path'])
    raise Error('process %d is not being recorded; `tsctl sessions` lists those that are' % pid)
