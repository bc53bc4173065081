#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual GPU computes: programs as nvcc makes them get right results while they are recorded."""
import unittest

import harness

COMPUTE = ['matmul', 'reduce', 'scan', 'histogram', 'softmax', 'layernorm', 'nbody', 'stencil', 'sort',
           'grid']
CUB = ['reduce', 'scan', 'sort']


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


if __name__ == '__main__':
    harness.main()
