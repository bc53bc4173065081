# SPDX-License-Identifier: Apache-2.0
"""Programs without mistakes: nothing is to be found in them, whatever is looked for and in which order they are done."""
import os
import sys

import harness

# Program, arguments, device. Some have a second form, where nvcc is found. What takes longer is in LONG.
CLEAN = [
    ('faults', ['none'], 'small'),
    ('saxpy', ['2'], 'small'),
    ('pipeline', ['1'], 'small'),
    ('threads', ['4', '5'], 'small'),
    ('devices', ['1'], 'small:2'),
    ('graph', ['2'], 'small'),
    ('network', ['2'], 'small'),
    ('tensor', [], 'h200'),
    ('ladder', [], 'small'),
    ('stress', ['100'], 'small'),
    ('workers', ['1', '2', '2'], 'small'),
    ('workers', ['2', '1', '1'], 'small'),
    ('nvrtc', [], 'small'),
    ('exits', ['return'], 'small'),
    ('exits', ['_exit'], 'small'),
    ('bursts', ['3'], 'small'),
    ('schedule', '2 in:0:4 a:0:1 record:0:0 wait:0:1 b:1:1 out:1:4 device'.split(), 'small'),
    ('schedule', '1 in:0:4 in:1:4 { a:0:1 b:0:1 } out:0:4 device'.split(), 'small'),
    ('nodes.py', [], 'small'),
    ('python-ctypes.py', [], 'small'),
]
LONG = [
    ('threads', [], 'small'),
    ('network', ['20'], 'small'),
]
# With nvcc alone.
COMPUTE = [
    ('compute', [], 'small'),
    ('cub', [], 'small'),
    ('thrust', [], 'small'),
]


def commands(name, arguments):
    if name.endswith('.py'):
        yield [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', name), *arguments]
        return
    # What has CUDA C++ alone has no form.
    for program in ['%s-%s' % (name, form) for form in harness.FORMS] + [name]:
        path = os.path.join(harness.APPS, program)
        if os.path.exists(path):
            yield [path, *arguments]
