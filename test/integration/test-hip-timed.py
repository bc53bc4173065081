#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HIP programs without PTX: with kernels=timed they run, their traces have each launch, and the traces say that nothing was computed.

Real HIP compilers build test/apps/timed.hip (clang) and hipcc.hip (hipcc); without one its tests are skipped by name.
"""
import collections
import os
import unittest

import harness

TIMED = os.path.join(harness.APPS, 'timed-hip')
HIPCC = os.path.join(harness.APPS, 'hipcc-hip')
SPEC = 'mi300,kernels=timed'
SHAPE = ['grid_x', 'grid_y', 'grid_z', 'block_x', 'block_y', 'block_z', 'dynamic_shared_bytes']
NOTE = 'kernels were timed, not computed'
NO_CLANG = 'no clang with lld that makes code of AMD GPUs'


def text(test, *arguments):
    result = harness.run([harness.TSCTL] + list(arguments), harness.alone_environment())
    test.assertEqual(result.status, 0, result)
    return result.out


class Compiled(harness.Case):
    def check_launches(self, argv, n_launches, n_graph):
        """Each launch has its row, with the grid, the block and the name that the program printed. A graph's kernels may lack a grid."""
        result, path = self.record(argv, '--vgpu=' + SPEC, '-q')
        self.assertEqual(result.status, 0, result)
        self.assertEqual(result.err.count('kernels are timed, not computed'), 1, result)
        printed = collections.Counter(tuple(line.rsplit(' ', 7)) for line in result.out.splitlines() if not line.startswith('graph '))
        self.assertEqual(sum(printed.values()), n_launches)
        kernels = self.finished_trace(path).of('kernel')
        self.assertEqual(len(kernels), n_launches + n_graph)
        seen = collections.Counter((row['name'],) + tuple(str(row[key]) for key in SHAPE) for row in kernels)
        self.assertEqual(printed - seen, collections.Counter())
        for row in kernels:
            # The model's fixed part of a launch on this shape.
            self.assertGreaterEqual(row['end_ns'] - row['start_ns'], 1500)

    @unittest.skipUnless(os.path.exists(TIMED), NO_CLANG)
    def test_clang(self):
        self.check_launches([TIMED], 7, 1)

    @unittest.skipUnless(os.path.exists(HIPCC), 'no hipcc that builds a program')
    def test_hipcc(self):
        self.check_launches([HIPCC], 5, 0)

    @unittest.skipUnless(os.path.exists(TIMED), NO_CLANG)
    def test_marked(self):
        _, path = self.record([TIMED], '--vgpu=' + SPEC, '-q')
        for command in 'info', 'view', 'analyze':
            self.assertEqual(text(self, command, path).count(NOTE), 1, command)
        self.assertTrue(self.finished_trace(path).info['devices'][0]['timed_kernels'])

    @unittest.skipUnless(os.path.exists(TIMED), NO_CLANG)
    def test_refused_without_the_option(self):
        result, _ = self.record([TIMED], '--vgpu=mi300', '-q')
        self.assertEqual((result.status, result.out), (1, 'hipGetLastError(): hipErrorNoBinaryForGpu (209)\n'), result)
        lines = [line for line in result.err.splitlines() if 'kernels=timed' in line]
        self.assertEqual(len(lines), 1, result)
        self.assertIn('hipv4-amdgcn-amd-amdhsa--gfx90a', lines[0])


class Timed(harness.Case):
    def test_ptx_is_timed_too(self):
        """A program with PTX makes the same operations, and its kernels compute nothing."""
        result, path = self.record([harness.app('saxpy', 'hip')], '--vgpu=' + SPEC, '-q')
        self.assertEqual(result.status, 1, result)
        self.assertIn('saxpy: y[1] is 1, not 21', result.out)
        self.assertEqual(len(self.finished_trace(path).of('kernel')), 10)

    def test_cuda(self):
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu=h200,kernels=timed', '-q')
        self.assertEqual(result.status, 1, result)
        self.assertEqual(len(self.finished_trace(path).of('kernel')), 10)
        self.assertEqual(text(self, 'info', path).count(NOTE), 1)

    def test_computed_kernels_have_no_mark(self):
        _, path = self.record([harness.app('saxpy', 'hip')], '--vgpu', '-q')
        for command in 'info', 'view', 'analyze':
            self.assertNotIn(NOTE, text(self, command, path))
        self.assertNotIn('timed_kernels', self.finished_trace(path).info['devices'][0])

    def test_needs_the_model(self):
        result = harness.run([harness.TSCTL, 'record', '--vgpu=mi300,kernels=timed,clock=host', '--', 'true'],
                             harness.alone_environment(), cwd=self.folder)
        self.assertEqual(result.status, 2, result)
        self.assertIn('kernels=timed needs the model', result.err)


if __name__ == '__main__':
    harness.main()
