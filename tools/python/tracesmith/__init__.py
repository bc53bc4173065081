# SPDX-License-Identifier: Apache-2.0
"""TraceSmith: records what a GPU did, and reads, asks and replays the traces.

    import tracesmith

    tracesmith.record(['python3', 'train.py'], 'train.sbt')
    with tracesmith.open('train.sbt') as trace:
        print(trace.analyze())
        start, end = trace.kernels['start_ns'], trace.kernels['end_ns']     # memoryviews, NumPy arrays
        slow = trace.kernels.where(name='*gemm*').to_pandas()
"""
from ._annotate import annotate, counter, is_recorded, mark
from ._ask import Answer, Page, Picture, frames
from ._call import Progress
from ._errors import CommandError, Error, NotInstalled, TraceError
from ._names import ReplayMode, build_timeline, capture_trace, export_perfetto, replay_trace
from ._record import Recording, record, recording, start, stop
from ._table import Column, Table
from ._trace import Folder, Trace
from ._trace import open_trace as open
from ._version import __version__
from ._writer import SBTWriter, TracingSession

__all__ = ['Answer', 'Column', 'CommandError', 'Error', 'Folder', 'NotInstalled', 'Page', 'Picture', 'Progress', 'Recording', 'ReplayMode',
           'SBTWriter', 'Table', 'Trace', 'TraceError', 'TracingSession', 'annotate', 'build_timeline', 'capture_trace', 'counter',
           'export_perfetto', 'frames', 'is_recorded', 'mark', 'open', 'record', 'recording', 'replay_trace', 'start', 'stop']
