# SPDX-License-Identifier: Apache-2.0
"""longest_gap.py OUTPUT COMMAND [ARG ...]: records a command on the virtual GPU; prints its longest gap and the effect of faster kernels."""
import sys

import tracesmith


def main():
    output, command = sys.argv[1], sys.argv[2:]
    recording = tracesmith.record(command, output, vgpu=True)
    with recording.open() as trace:
        gaps = trace.gaps(limit=1)
        gap = gaps.longest[0]
        took_ns = gap.end_ns - gap.start_ns
        print('longest gap: %.1f us on stream %d, %d gaps in all' % (took_ns / 1e3, gap.stream, gaps.gaps))
        cause = max(gap.parts, key=lambda part: part.ns)
        print('cause: %s for %.1f us' % (cause.cause, cause.ns / 1e3))
        print('ended by %s, called from:' % gap.call)
        for frame in [frame for frame in tracesmith.frames(gap.stack) if '.py:' in frame][:3]:
            print('    ' + frame)
        answer = trace.what_if('kernel *=2x')
        print('kernels twice as fast: %.3f ms instead of %.3f ms'
              % (answer.emulated.makespan_ns / 1e6, answer.recorded.makespan_ns / 1e6))
        kernels = trace.kernels
        print('GPU time of kernels: %d ns' % sum(end - start for start, end in zip(kernels['start_ns'], kernels['end_ns'])))


if __name__ == '__main__':
    main()
