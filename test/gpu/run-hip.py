#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run-hip.py [--build DIR] [--virtual]: HIP on a real AMD GPU: allocations, copies and sets of test/apps/hip-loads.

The program has no kernels, because those of test/apps are PTX. The trace equals the program's truth, preloaded alone and under
`tsctl record`. A capture is replayed on the device (`--on hip`). Skipped, with the reason on a line, without a driver, a library or a device. --virtual runs the same on the
virtual GPU.
"""
import argparse
import ctypes
import json
import os
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, 'test', 'integration'))

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument('--build', help='the build tree (default: $TS_BUILD, else build/)')
PARSER.add_argument('--virtual', action='store_true', help='on the virtual GPU')
ARGUMENTS = PARSER.parse_args()
if ARGUMENTS.build:
    os.environ['TS_BUILD'] = os.path.abspath(ARGUMENTS.build)

import harness  # noqa: E402  (it reads TS_BUILD)

LIBRARIES = ('libamdhip64.so.7', 'libamdhip64.so.6', 'libamdhip64.so')


def find_library():
    """(path or name of the runtime, reason to skip)"""
    if ARGUMENTS.virtual:
        return os.path.join(harness.VGPU, 'libamdhip64.so.6'), None
    if not os.path.exists('/dev/kfd'):
        return None, 'no /dev/kfd: no AMD driver runs on this machine'
    for name in LIBRARIES:
        try:
            hip = ctypes.CDLL(name)
        except OSError:
            continue
        count = ctypes.c_int()
        result = hip.hipGetDeviceCount(ctypes.byref(count))
        return name, 'hipGetDeviceCount gives error %d' % result if result else None if count.value else 'HIP has no device'
    return None, 'no libamdhip64 of ROCm 6.2 or later on the loader\'s path'


LIBRARY, REASON = find_library()


@unittest.skipIf(REASON, REASON)
class Hip(harness.Case):
    """The same program with both ways of recording: trace equals truth, and the program is as alone."""

    def check(self, recorded):
        argv = [harness.app('hip-loads'), 'global', LIBRARY]
        vgpu = '' if ARGUMENTS.virtual else None
        if recorded:
            result, path = self.record(argv, *(['--vgpu', '-q'] if ARGUMENTS.virtual else ['-q']))
        else:
            result, traces = self.preload(argv, vgpu)
            self.assertEqual(len(traces), 1, result)
            path = traces[0]
        self.assertEqual((result.status, result.err), (0, ''), result)
        trace = self.finished_trace(path)
        self.check_truth(trace, self.truth())
        session, = trace.info['sessions']
        self.assertIn('hip_tables', session['interfaces'])

    def test_preload(self):
        self.check(False)

    def test_record(self):
        self.check(True)

    def test_replay(self):
        """The program's copies and sets, done again on the device and on the virtual one."""
        result, path = self.record([harness.app('hip-loads'), 'global', LIBRARY], *(['--vgpu'] if ARGUMENTS.virtual else []), '-q',
                                   '--capture', 'replay')
        self.assertEqual((result.status, result.err), (0, ''), result)
        libraries = harness.VGPU if ARGUMENTS.virtual else os.environ.get('LD_LIBRARY_PATH', '')
        for on in ('hip', 'vgpu'):
            result = harness.tsctl('replay', '--on', on, '--repeat', '2', '--json', path, env=harness.environment(LD_LIBRARY_PATH=libraries))
            self.assertEqual(result.status, 0, result)
            session = json.loads(result.out)
            self.assertEqual((session['verdict'], session['unsupported'], session['operations']), ('same', [], session['captured']))
            self.assertGreater(session['results'], 0)


if __name__ == '__main__':
    sys.argv[1:] = []
    harness.main()
