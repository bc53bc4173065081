#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual GPU computes: programs as nvcc makes them get right results while they are recorded.

TS_SOAK=1 in the environment: CUB and Thrust on 5,000,000 numbers, 100 times.
"""
import os
import unittest

import harness

COMPUTE = ['matmul', 'reduce', 'scan', 'histogram', 'softmax', 'layernorm', 'nbody', 'stencil', 'sort',
           'grid']
CUB = ['reduce', 'scan', 'sort', 'select', 'unique', 'reduce_by_key', 'histogram']
THRUST = ['reduce', 'transform_reduce', 'count_if', 'scan', 'copy_if', 'sort', 'reduce_by_key', 'unique']


class Compute(harness.Case):
    def check(self, name, results, vgpu, **environment):
        result, path = self.record([harness.app(name)], '--vgpu=' + vgpu, '-q', **environment)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(result.out.splitlines(), ['%s: right' % one for one in results])
        kernels = len(list(harness.Trace(path).of('kernel')))
        self.assertGreaterEqual(kernels, len(results))

    def test_compute(self):
        self.check('compute', COMPUTE, 'h200')

    def test_compute_small(self):
        self.check('compute', COMPUTE, 'small')

    def test_compute_on_one_thread(self):
        self.check('compute', COMPUTE, 'h200', TRACESMITH_VGPU_THREADS='1')

    def test_cub(self):
        self.check('cub', CUB, 'h200')

    def test_thrust(self):
        self.check('thrust', THRUST, 'h200')

    def check_often(self, name, results):
        """Right every time, whatever engine thread a block runs on: blocks wait for the blocks before them."""
        size, runs = (5000000, 100) if os.environ.get('TS_SOAK') else (100000, 2)
        for threads in ('2', '8'):
            result = harness.run([harness.app(name), str(size), str(runs)], seconds=1800,
                                 env=harness.alone_environment('h200', TRACESMITH_VGPU_THREADS=threads))
            self.assertEqual(result.status, 0, result)
            self.assertEqual(result.out.splitlines(), ['%s: right' % one for one in results])

    def test_cub_often(self):
        self.check_often('cub', CUB)

    def test_thrust_often(self):
        self.check_often('thrust', THRUST)


class Network(harness.Case):
    """A network in training: the program compares every step with the host's; the trace must show a step as it is."""
    STEP = ['network_forward', 'network_forward', 'network_loss', 'network_mean', 'network_weights', 'network_back',
            'network_weights', 'network_descend', 'network_descend']

    def check(self, form, **environment):
        result, path = self.record([harness.app('network', form)], '--vgpu', '-q', **environment)
        self.assertEqual(result.status, 0, result)
        self.assertRegex(result.out, r'^network: 100 steps, the loss fell from 1\.[0-9]* to 0\.[0-9]*\n$')
        trace = harness.Trace(path)
        self.check_truth(trace, self.truth())
        kernels = [row['name'] for row in sorted(trace.of('kernel'), key=lambda row: row['start_ns'])]
        self.assertEqual(kernels, self.STEP * 100)
        return result.out

    def test_driver(self):
        self.check('driver')

    def test_runtime(self):
        self.check('runtime')

    def test_same_every_time(self):
        """No kernel of it adds up in an order of its own: threads change nothing."""
        first = self.check('driver')
        os.unlink(self.path('recorded.sbt'))
        self.assertEqual(self.check('driver', TRACESMITH_VGPU_THREADS='1'), first)


class Compiled(harness.Case):
    """Source that the program compiles itself; skipped where there is no libnvrtc."""

    def test_nvrtc(self):
        result, path = self.record([harness.app('nvrtc', 'driver')], '--vgpu', '-q')
        if result.status == harness.SKIPPED:
            self.skipTest(result.err.strip())
        self.assertEqual(result.status, 0, result)
        self.assertEqual((result.out, result.err), ('nvrtc: compiled and computed\n', ''))
        self.check_truth(harness.Trace(path), self.truth())


if __name__ == '__main__':
    harness.main()
