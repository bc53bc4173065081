# SPDX-License-Identifier: Apache-2.0
"""Functions by the names under which TraceSmith was first described."""
from __future__ import annotations

import enum
from typing import Any, Sequence

from ._record import record
from ._trace import Trace


class ReplayMode(enum.Enum):
    """Where a trace is run again."""
    EMULATE = 'emulate'
    VGPU = 'vgpu'
    CUDA = 'cuda'
    HIP = 'hip'


def _trace(trace: Any) -> Trace:
    return trace if isinstance(trace, Trace) else Trace(trace)


def capture_trace(command: Sequence[str], output: str, **options: Any) -> Trace:
    """Records a command, and opens its trace."""
    return Trace(record(command, output, **options).path)


def build_timeline(trace: Any) -> Any:
    """Trace.timeline() of a trace or a path."""
    return _trace(trace).timeline()


def export_perfetto(trace: Any, output: str) -> None:
    """Writes a trace for ui.perfetto.dev."""
    _trace(trace).export('perfetto', output)


def replay_trace(trace: Any, mode: ReplayMode = ReplayMode.EMULATE, **options: Any) -> Any:
    """Trace.replay() of a trace or a path."""
    return _trace(trace).replay(on=mode.value, **options)
