#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A build without the virtual GPU (-Dvgpu=disabled): reads every trace, refuses by name what needs it, installs without it."""
import glob
import json
import os
import subprocess
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, 'test', 'integration'))

import harness  # noqa: E402

TRACES = sorted(glob.glob(os.path.join(SOURCE, 'test', 'integration', 'golden', '*.sbt')))
READERS = (['info'], ['info', '--json'], ['view', '--limit', '5'], ['view', '--stats'], ['analyze'], ['timeline'], ['gaps'], ['memory'],
           ['verify'], ['graph'])


class Alone(harness.Case):
    def test_readers(self):
        self.assertTrue(TRACES)
        for path in TRACES:
            for command in READERS:
                with self.subTest(trace=os.path.basename(path), command=command):
                    result = harness.tsctl(*command, path)
                    self.assertIn(result.status, (0, 1), result)
                    self.assertTrue(result.out)

    def test_what_needs_it_is_refused(self):
        capture = os.path.join(SOURCE, 'test', 'integration', 'golden', 'capture.sbt')
        for arguments, says in ((('replay', '--on', 'vgpu', capture), 'this build has no virtual GPU (-Dvgpu=disabled)'),
                                (('replay', '--on', 'vgpu', '--debug', capture), 'which this build lacks'),
                                (('record', '--vgpu', '-o', self.path('run.sbt'), '--', 'true'), 'the virtual GPU\'s libcuda.so.1 is not in')):
            result = harness.tsctl(*arguments)
            self.assertNotEqual(result.status, 0, result)
            self.assertIn(says, result.err)

    def test_no_message_recommends_it(self):
        devices = harness.tsctl('devices')
        self.assertNotIn('--vgpu', devices.out)
        self.assertEqual(json.loads(harness.tsctl('devices', '--json').out)['virtual_shapes'], [])
        benchmark = harness.tsctl('benchmark', '-n', '10')
        self.assertIn('there is no CUDA driver here', benchmark.err)
        self.assertNotIn('--vgpu', benchmark.err)
        for command in ('record', 'benchmark'):
            self.assertNotIn('--vgpu', harness.tsctl('help', command).out)
            self.assertEqual(harness.tsctl('complete', command, '--vg').out, '')
        record = harness.tsctl('record', '-o', self.path('run.sbt'), '--', 'true')
        self.assertNotIn('--vgpu', record.out + record.err)

    def test_install(self):
        root = self.path('root')
        subprocess.run(['meson', 'install', '-C', harness.BUILD, '--no-rebuild', '--quiet', '--destdir', root], check=True,
                       stdout=subprocess.DEVNULL)
        installed = {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}
        self.assertTrue({os.path.basename(path) for path in installed} >= {'tsctl', 'tracesmithd', 'libtsinject.so', 'libtracesmith.so.0'}, installed)
        self.assertEqual([path for path in installed if 'libcuda.so' in path or 'libcupti' in path or 'libcudart' in path], [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
