#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roctx: marks, ranges and names of programs that are linked with libroctx64, or that load librocprofiler-sdk-roctx.

The program is test/apps/annotates-hip.c, the libraries are tools/vgpu/hip/roctx-face.c. The program prints the same with and without the shim.
"""
import os
import sys
import unittest

import harness

LINKED = [os.path.join(harness.APPS, 'roctx-linked')]
LINKED_SDK = [os.path.join(harness.APPS, 'roctx-linked-sdk')]
LOADS = [os.path.join(harness.APPS, 'roctx-loads')]
LIBRARY = os.path.join(harness.BUILD, 'tools', 'vgpu', 'libroctx64.so.4')
SDK = os.path.join(harness.BUILD, 'tools', 'vgpu', 'librocprofiler-sdk-roctx.so.0')
RETURNED = '0 1\n1 0 -1\n1\n'
NAMES = '0\n0\n'


class Roctx(harness.Case):
    def check(self, argv, out):
        alone = harness.run(argv, harness.alone_environment(), cwd=self.folder)
        self.assertEqual((alone.status, alone.out, alone.err), (0, out, ''))
        result, traces = self.preload(argv)
        self.assertEqual((result.status, result.out, result.err), (0, out, ''))
        self.assertEqual(len(traces), 1)
        trace = self.finished_trace(traces[0])
        marks = [row['name'] for row in trace.of('mark') if row.get('domain') is None]
        ranges = {row['name']: (row['action'], row.get('level')) for row in trace.of('range')}
        self.assertEqual(marks, ['begin'])
        self.assertEqual(ranges, {'epoch': ('push', 0), 'batch 1': ('push', 1), 'elsewhere': ('start', 0)})
        self.assertEqual(trace.of('range_begin'), [])
        # The pop without a range.
        self.assertEqual(trace.lost, {'bad_annotation': 1})
        return trace

    def test_linked(self):
        self.check(LINKED, RETURNED)

    def test_tables(self):
        """The program finds the functions in the library; the library's tables have the wrappers."""
        trace = self.check(LOADS + [SDK], NAMES + RETURNED)
        self.assertEqual({row['thread_name'] for row in trace.of('mark')}, {'trainer'})

    def test_exported_before_tables(self):
        """Calls that pass an exported function and a table make one row."""
        self.check(LINKED_SDK + [SDK], NAMES + RETURNED)

    def test_handle_of_the_old_library(self):
        """libroctx64 has no tables: calls by its own handle are not seen, as inject/README.md states."""
        result, traces = self.preload(LOADS + [LIBRARY])
        self.assertEqual((result.status, result.out), (0, RETURNED))
        self.assertEqual(traces, [])

    def renamed(self, between):
        """Calls that pass the shim reach a library whose name is its package's, before and after `between`."""
        script = ('import _ctypes, ctypes, sys\n'
                  'library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)\n'
                  'shim = ctypes.CDLL(None)\n'
                  'def call():\n'
                  '    print(shim.roctxRangeStartA(b"a"), shim.roctxRangePushA(b"b"), shim.roctxRangePop(), flush=True)\n'
                  '    shim.roctxRangeStop(42)\n'
                  'call()\n%s\ncall()\n' % between)
        result, _ = self.preload([sys.executable, '-c', script, harness.app('libroctx64-1a2b3c4d.so')], vgpu=None)
        self.assertEqual((result.status, result.out, result.err), (0, '42 40 41\n' * 2, ''), result)

    def test_renamed_library(self):
        self.renamed('')

    def test_unloaded_library(self):
        """The shim keeps the functions, so the library stays."""
        self.renamed('_ctypes.dlclose(library._handle)')


if __name__ == '__main__':
    unittest.main()
