#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library like CUPTI: the programs of test/apps over the virtual libmcruntime and libmcpti. The trace equals the program's truth.

libmcpti has MetaX's prefix, ids of calls, lengths of records and a clock of its own that runs fast by a thousandth.
"""
import collections
import os
import shutil

import harness

PROGRAMS = dict(harness.PROGRAMS, workers=(['10'], ''), ladder=([], ''))


class Maca(harness.Case):
    pti = True

    def check_stream_operations(self, trace, n_events, n_waits):
        """The shim does not read the arguments of MetaX's calls, so it names no event."""
        super().check_stream_operations(trace, 0, 0)

    def check_interface(self, trace):
        sessions = trace.info['sessions']
        self.assertEqual([session['interfaces'] for session in sessions], [['mcpti']] * len(sessions))
        self.assertEqual({session['cupti_version'] for session in sessions}, {18})
        self.assertEqual({row['domain'] for row in trace.of('api')}, {'maca'})

    def check_times(self, trace):
        """Device rows lie behind the begin of their call and before the process's end: the library's clock was converted."""
        begins = {row['op_id']: row['start_ns'] for row in trace.of('api')}
        ends = [row['end_ns'] for row in trace.of('api')]
        for row in trace.of(*harness.DEVICE_TYPES):
            self.assertGreater(row['start_ns'], begins[row['op_id']] - 100000, row)
            self.assertLess(row['end_ns'], max(ends) + 10**9, row)

    def check_alone(self, argv, vgpu, result):
        alone = harness.run(argv, harness.alone_environment(vgpu), cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err))

    def check_trace(self, path):
        trace = self.finished_trace(path)
        self.check_truth(trace, self.truth())
        self.check_interface(trace)
        self.check_times(trace)
        return trace

    def check_preload(self, argv, vgpu):
        result, traces = self.preload(argv, vgpu)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(len(traces), 1)
        self.check_trace(traces[0])
        self.check_alone(argv, vgpu, result)

    def check_record(self, argv, vgpu):
        result, path = self.record(argv, '--vgpu=' + vgpu if vgpu else '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        self.check_trace(path)
        self.check_alone(argv, vgpu, result)

    def test_fork(self):
        """A child has no GPU, and its parent is recorded."""
        result, traces = self.preload([harness.app('forks', 'maca')])
        self.assertEqual(result.status, 0, result)
        for path in traces:
            self.assertEqual(harness.Trace(path).lost, {})

    def test_killed(self):
        result, traces = self.preload([harness.app('crashes', 'maca'), 'kill'])
        self.assertNotEqual(result.status, 0, result)
        self.assertEqual(len(traces), 1)
        self.assertTrue(harness.Trace(traces[0]).of('api'))

    def test_no_library(self):
        """Without libmcpti there is a session that states the reason, and the program runs as alone."""
        folder = self.path('runtime')
        os.mkdir(folder)
        shutil.copy(os.path.join(harness.VGPU, 'libmcruntime.so'), folder)
        # A copy, because the program's own path leads to the build's libraries.
        argv = [shutil.copy(harness.app('saxpy', 'maca'), folder)]
        result, traces = self.preload(argv, None, LD_LIBRARY_PATH=folder)
        self.check_alone(argv, '', result)
        self.assertEqual(len(traces), 1)
        info = harness.Trace(traces[0]).info
        self.assertEqual(info['sessions'][0]['empty_reason'], 'no_cupti', info)
        self.assertIn('libmcpti.so', info['sessions'][0]['empty_text'])

    def test_capture(self):
        """Nothing is captured, and the trace states it."""
        result, path = self.record([harness.app('saxpy', 'maca')], '--vgpu', '-q', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        marks = [row['name'] for row in self.check_trace(path).of('mark')]
        self.assertEqual(marks, ["capture for replay knows CUDA's calls, not those of MetaX MACA"])

    def test_functions(self):
        """The functions before which the shim stands are no functions of a process without the runtime."""
        program = ('import ctypes; us = ctypes.CDLL(None); count = ctypes.c_int(7);'
                   'print(us.mcGetDeviceCount(ctypes.byref(count)), count.value)')
        result, traces = self.preload(['python3', '-c', program])
        self.assertEqual((result.status, result.out, traces), (0, '100 7\n', []), result)


class Ascend(harness.Case):
    """MSPTI's layouts, by a stand-in: other numbers and lengths, CLOCK_REALTIME, one record that comes last, callbacks without ids."""
    pti = True
    MSPTI = os.path.join(harness.APPS, 'libmspti.so')

    def check_joined(self, trace):
        """Calls have ids of the shim's, which no device row has."""
        calls = {row['op_id'] for row in trace.of('api')}
        self.assertEqual(len(calls), trace.counts['api'])
        self.assertFalse(calls & {row['op_id'] for row in trace.of(*harness.DEVICE_TYPES)})

    def check(self, trace, has_library):
        session, = trace.info['sessions']
        self.assertEqual(session['interfaces'], ['mspti'] if has_library else [])
        if not has_library:
            self.assertEqual(session['empty_reason'], 'no_cupti')
            self.assertIn('add it to LD_PRELOAD', session['empty_text'])
            return
        self.check_sound(trace)
        calls = collections.Counter(row['name'] for row in trace.of('api'))
        self.assertEqual(calls, {'aclrtSetDevice': 1, 'aclrtMemcpy': 3, 'aclrtLaunchKernel': 10})
        self.assertEqual({row['domain'] for row in trace.of('api')}, {'acl'})
        self.assertEqual([(row['name'], row['stream']) for row in trace.of('kernel')], [('MatMul', 5)] * 10)
        self.assertEqual([(row['kind'], row['bytes']) for row in trace.of('memcpy')], [('htod', 4096)] * 3)
        # The calls of the work are not known, which is counted. No call has the id of another call's work.
        self.assertEqual(trace.lost, {'unjoined_device': 13})
        self.assertEqual(len({row['op_id'] for row in trace.of('kernel', 'memcpy')}), 13)
        self.assertEqual({row['result'] for row in trace.of('api')}, {0})

    def test_preloaded(self):
        argv = [harness.app('acl-calls')]
        result, traces = self.preload(argv, LD_PRELOAD=self.MSPTI)
        self.assertEqual((result.status, result.out, result.err), (0, 'acl-calls: 0 failed\n', ''))
        self.assertEqual(len(traces), 1)
        self.check(self.finished_trace(traces[0]), True)

    def test_not_preloaded(self):
        result, traces = self.preload([harness.app('acl-calls')])
        self.assertEqual((result.status, result.out, result.err), (0, 'acl-calls: 0 failed\n', ''))
        self.assertEqual(len(traces), 1)
        self.check(harness.Trace(traces[0]), False)


def add(name, arguments, vgpu):
    setattr(Maca, 'test_preload_' + name,
            lambda self: self.check_preload([harness.app(name, 'maca')] + arguments, vgpu))
    setattr(Maca, 'test_record_' + name, lambda self: self.check_record([harness.app(name, 'maca')] + arguments, vgpu))


for app_name, (app_arguments, app_vgpu) in PROGRAMS.items():
    add(app_name, app_arguments, app_vgpu)

if __name__ == '__main__':
    harness.main()
