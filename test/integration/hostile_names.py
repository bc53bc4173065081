# SPDX-License-Identifier: Apache-2.0
"""A trace whose processes, devices, streams and kernels have hostile names."""
import json
import os
import subprocess
import sys

import harness

NAMES = ['</title></svg><script>alert(1)</script>', 'a&b"c\'d<e>', '\x1b[31mred\x07\x00', 'x' * 5000, ']]>', '&lt;&#0;', '\u202egnp.exe',
         'e\u0301\u0302\u0303', '\u6f22\u5b57' * 40, '\U0001f600\U0001f600', '%s%n%99999d', '\ufffe\uffff', 'W' * 60, '']
PROGRAM = '''
import json, sys, tracesmith
names = json.load(sys.stdin)
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    for number, name in enumerate(names):
        session = writer.session(pid=100 + number, program=name, start_ns=1000)
        for i, kernel in enumerate(names):
            start = 2000 + 100 * (number * len(names) + i)
            session.emit('kernel', start_ns=start, end_ns=start + 90, op_id=i + 1, device=number, stream=i, context=1, name=kernel)
            session.emit('alloc', start_ns=start, op_id=i + 1000, address=0x10000 * (i + 1), bytes=512 << i, device=number, memory_kind=3)
'''


def python_environment(**more):
    """For programs that import the Python package of this build."""
    return harness.environment(PYTHONPATH=os.path.join(harness.SOURCE, 'tools', 'python'), PYTHONDONTWRITEBYTECODE='1',
                               TRACESMITH_TSCTL=harness.TSCTL, TRACESMITH_LIBRARY=harness.LIBRARY, **more)


def write(case, path, names=None):
    """Writes the trace; skips a test of a build with a sanitizer."""
    if harness.SANITIZER:
        case.skipTest('Python does not load libraries of a sanitizer')
    result = subprocess.run([sys.executable, '-c', PROGRAM, path], input=json.dumps(NAMES if names is None else names), text=True,
                            env=python_environment(), timeout=harness.SECONDS, check=False)
    case.assertEqual(result.returncode, 0)
    return path
