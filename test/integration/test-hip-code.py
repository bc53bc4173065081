#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device code of HIP: rows of kernels have the registers and the memory that the code's metadata has, whatever form the code has.

The code is that of test/apps/meson.build (hip-code-plain, hip-code-packed), the program is test/apps/hip-code.c.
"""
import os
import unittest

import harness

PLAIN = {'registers_per_thread': 24, 'static_shared_bytes': 512, 'local_bytes_per_thread': 32}
PACKED = {'registers_per_thread': 96, 'static_shared_bytes': 4096, 'local_bytes_per_thread': 0}
SIZES = ('grid_x', 'grid_y', 'grid_z', 'block_x', 'block_y', 'block_z', 'dynamic_shared_bytes')
NUMBERS = {'plain': PLAIN, 'packed': PACKED}
FILE = os.path.join(harness.APPS, 'hip-code-packed.hipfb')
ARGV = [os.path.join(harness.APPS, 'hip-code'), FILE]


class HipCode(harness.Case):
    def check_trace(self, path):
        kernels = self.finished_trace(path).of('kernel')
        names = ['plain', 'packed', 'packed', 'plain'] + ['plain', 'packed'] * 2 + ['plain'] * 2
        self.assertEqual([kernel['name'] for kernel in kernels], names)
        for kernel in kernels:
            self.assertEqual({key: kernel[key] for key in PLAIN}, NUMBERS[kernel['name']], kernel)
        # Nodes of graphs: by their own call, changed, from a stream capture, changed in the executable graph.
        sizes = [[kernel[key] for key in SIZES] for kernel in kernels[4:]]
        self.assertEqual(sizes[:4], [[3, 2, 1, 32, 1, 1, 64], [5, 1, 1, 64, 1, 1, 0], [4, 2, 1, 32, 1, 1, 64], [5, 1, 1, 64, 1, 1, 0]])
        # Two nodes of one kernel that differ: the sizes of their rows are unknown.
        self.assertEqual(sizes[4:], [[0] * 7] * 2)

    def test_recorded(self):
        result, path = self.record(ARGV, '--vgpu', '-q')
        self.assertEqual((result.status, result.out), (0, '46\n'), result)
        self.check_trace(path)

    def test_preloaded(self):
        result, traces = self.preload(ARGV)
        self.assertEqual((result.status, result.out), (0, '46\n'), result)
        self.assertEqual(len(traces), 1)
        self.check_trace(traces[0])

    def test_without_tables(self):
        """6.1 registers no tables: the shim sees the code at the exported functions."""
        result, path = self.record(ARGV, '--vgpu=mi300,hip=6.1', '-q')
        self.assertEqual((result.status, result.out), (0, '46\n'), result)
        self.check_trace(path)
        self.check_modules(path)

    def test_modules(self):
        _, path = self.record(ARGV, '--vgpu', '-q')
        self.check_modules(path)

    def check_modules(self, path):
        rows = self.finished_trace(path).of('gpu_module')
        seen = [row['module'] for row in rows if row['action'] == 'seen']
        created = [row for row in rows if row['action'] == 'created']
        destroyed = [row['module'] for row in rows if row['action'] == 'destroyed']
        self.assertEqual(len(seen), 2)
        self.assertEqual([row['bytes'] for row in created],
                         [os.path.getsize(FILE), os.path.getsize(FILE.replace('packed', 'plain'))])
        self.assertEqual(destroyed[:2], [row['module'] for row in created])
        self.assertEqual(sorted(destroyed[2:]), sorted(seen))
        self.assertEqual(len(set(seen + destroyed[:2])), 4)


if __name__ == '__main__':
    unittest.main()
