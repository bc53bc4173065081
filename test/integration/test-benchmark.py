#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl benchmark: its counts are the trace's, its answer has the keys that scripts rely on, its refusals a reason."""
import json
import os
import unittest

import harness

KEYS = {'launched', 'captured', 'with_stacks', 'lost', 'mean_frames', 'seconds', 'kernels_per_s',
        'kernels_per_s_untraced'}
LAUNCHES = 2000


@unittest.skipIf(harness.SANITIZER, 'the program it records is tsctl itself, whose sanitizer wants to be first')
class Benchmark(harness.Case):
    def benchmark(self, *options):
        result = harness.tsctl('benchmark', '-n', str(LAUNCHES), '--json', *options)
        self.assertEqual(result.status, 0, result)
        return json.loads(result.out)

    def test_every_launch_with_its_stack(self):
        path = self.path('kept.sbt')
        report = self.benchmark('--vgpu=small', '--lossless', '-o', path)
        self.assertLessEqual(KEYS, set(report))
        self.assertEqual(report['launched'], LAUNCHES)
        self.assertEqual(report['captured'], LAUNCHES)
        self.assertEqual(report['with_stacks'], LAUNCHES)
        self.assertEqual(report['lost'], {})
        # Depths 0 to 15 below main(), and what is below main() itself.
        self.assertGreater(report['mean_frames'], 9)
        self.assertLess(report['mean_frames'], 30)
        self.assertAlmostEqual(report['kernels_per_s'] * report['seconds'], LAUNCHES, delta=1)
        # The trace that was kept is the one that was counted.
        trace = harness.Trace(path)
        names = [row['name'] for row in trace.of('kernel')]
        self.assertEqual(names.count('tracesmith_benchmark'), LAUNCHES)
        self.assertEqual(report['bytes'], os.path.getsize(path))

    def test_without_stacks_none_is_counted(self):
        report = self.benchmark('--vgpu=small', '--stacks', 'none')
        self.assertEqual(report['captured'], LAUNCHES)
        self.assertEqual(report['with_stacks'], 0)

    def test_for_people(self):
        result = harness.tsctl('benchmark', '-n', '100', '--vgpu')
        self.assertEqual(result.status, 0, result)
        self.assertIn('100 (100.00 %)', result.out)
        self.assertIn('nothing', result.out)

    def test_refusals(self):
        for options, reason in ((('-n', '0'), 'expected a number from 1'),
                                (('-n', '10x'), 'expected a number from 1'),
                                (('--vgpu=tpu',), 'tpu'),
                                (('--stacks', 'python'), 'native'),
                                (('extra',), 'takes no argument'),
                                (('--vgpu', '-o', '/nonexistent/x.sbt'), 'No such file')):
            result = harness.tsctl('benchmark', *options)
            self.assertEqual(result.status, 2, result)
            self.assertIn(reason, result.err)
            self.assertEqual(result.out, '')

    @unittest.skipIf(os.path.exists('/dev/nvidiactl'), 'a driver is here')
    def test_without_a_driver(self):
        result = harness.tsctl('benchmark', '-n', '10')
        self.assertEqual(result.status, 2, result)
        self.assertIn('there is no CUDA driver here', result.err)
        self.assertEqual(len(result.err.splitlines()), 1)


if __name__ == '__main__':
    harness.main()
