#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HIP whose library has no tracer: rocprofiler-sdk gives the times, and the trace equals the program's truth.

The library is tools/vgpu/hip-sdk's libamdhip64.so.7, the SDK test/apps/rocprofiler-standin.c, another tool of the SDK
rocprofiler-tool.c.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

import harness

FACE = os.path.join(harness.VGPU, 'hip-sdk')
SDK = os.path.join(harness.APPS, 'librocprofiler-sdk.so')
# AMD's library, if test-hip-register.py has built it.
REGISTER = os.path.join(os.environ.get('TS_REGISTER', harness.APPS), 'librocprofiler-register.so.0')
TOOL = os.path.join(harness.APPS, 'librocprofiler-tool.so')
# A copy, in Python.
USE = """
hip = ctypes.CDLL('libamdhip64.so.7')
memory, host = ctypes.c_void_p(), (ctypes.c_char * 4096)()
assert not hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
assert not hip.hipMemcpy(memory, host, ctypes.c_size_t(4096), 1)
assert not hip.hipFree(memory)
"""
WAYS = ['hip_tables', 'rocprofiler_sdk']
PROGRAMS = {
    # name: (arguments, devices)
    'saxpy': ([], 'mi300'),
    'pipeline': (['5'], 'mi300'),
    'threads': (harness.THREADS_ARGUMENTS, 'mi300'),
    'devices': ([], 'mi300:2'),
    'graph': (['7'], 'mi300'),
    'exits': ([], 'mi300'),
    'stress': (['200'], 'mi300'),
}


class Sdk(harness.Case):
    def setUp(self):
        super().setUp()
        for path in (FACE, SDK, TOOL):
            if not os.path.exists(path):
                self.skipTest('%s was not built' % os.path.basename(path))
        # Only these two are found here, not the stand-ins of other tests.
        self.sdk = self.path('sdk')
        os.mkdir(self.sdk)
        shutil.copy(SDK, self.sdk)

    def libraries(self, sdk=True):
        return ':'.join([FACE, harness.VGPU] + [self.sdk] * sdk)

    def run_preloaded(self, argv, devices='mi300', sdk=True, **env):
        """argv without the shim and with it: (result, path of the trace, result without the shim)."""
        env = dict(env, LD_LIBRARY_PATH=self.libraries(sdk), TRACESMITH_VGPU=devices)
        alone = harness.run(argv, harness.record_environment(TS_TRUTH=self.truth_path, **env), cwd=self.folder)
        tools = self.tools()
        result, traces = self.preload(argv, None, **env)
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err))
        self.assertEqual(len(traces), 1, result)
        self.assertEqual(self.tools(), tools)
        return result, traces[0], tools

    def tools(self):
        """Counts of the other tool's instances, whose files are removed: [[kernels, copies, launches]]."""
        found = []
        for path in glob.glob(self.path('tool.*')):
            with open(path, encoding='utf-8') as file:
                found.append([int(word) for word in file.read().split()])
            os.unlink(path)
        return found

    def check_trace(self, path, ways=None):
        trace = self.finished_trace(path)
        truth = self.truth()
        # Sets in graphs are kernels of the runtime, without a size.
        graph_sets = [row for row in trace.of('memset') if row.get('graph')]
        if graph_sets:
            self.assertEqual({row['bytes'] for row in graph_sets}, {0})
            truth.set_bytes = sum(row['bytes'] for row in trace.of('memset'))
        self.check_truth(trace, truth)
        session, = trace.info['sessions']
        self.assertEqual((session['hip_version'], session['interfaces']), (70100000, ways or WAYS))
        return trace

    def notes(self, path):
        return [row['name'] for row in self.finished_trace(path).of('mark') if 'rocprofiler-sdk' in row['name']]

    def check(self, name):
        arguments, devices = PROGRAMS[name]
        argv = [harness.app(name, 'hip7')] + arguments
        _, path, _ = self.run_preloaded(argv, devices)
        trace = self.check_trace(path)
        self.assertEqual(self.notes(path), [])
        for kernel in trace.of('kernel'):
            self.assertTrue(kernel['name'] and not kernel['name'].endswith('.kd'), kernel)
        result, path = self.record(argv, '-q', LD_LIBRARY_PATH=self.libraries(), TRACESMITH_VGPU=devices)
        self.assertEqual(result.status, 0, result)
        self.check_trace(path)

    def test_old_layouts(self):
        """Those of 0.4.0, ROCm 6.2."""
        for name in ('pipeline', 'graph'):
            with self.subTest(name):
                _, path, _ = self.run_preloaded([harness.app(name, 'hip7')] + PROGRAMS[name][0], TS_SDK_OLD='1')
                self.check_trace(path)
                os.unlink(path)

    # ---- librocprofiler-register and other tools ----------------------------------------------

    def check_tool(self, **env):
        for name in ('saxpy', 'pipeline'):
            with self.subTest(name):
                argv = [harness.app(name, 'hip7')] + PROGRAMS[name][0]
                _, path, tools = self.run_preloaded(argv, TS_TOOL=self.path('tool'), **env)
                truth = self.truth()
                launches = sum(sum(counts) for counts in truth.launches_by_kernel().values())
                self.assertEqual(tools, [[launches + truth.sets, sum(truth.copies), launches]])
                self.check_trace(path)
                os.unlink(path)

    def test_register(self):
        _, path, _ = self.run_preloaded([harness.app('pipeline', 'hip7'), '5'], LD_PRELOAD=REGISTER)
        self.check_trace(path)

    def test_other_tool_by_variable(self):
        """The other tool is the first one, as without the shim, and receives all records."""
        self.check_tool(LD_PRELOAD=REGISTER, ROCP_TOOL_LIBRARIES=TOOL)

    def test_other_tool_preloaded(self):
        self.check_tool(LD_PRELOAD=REGISTER + ' ' + TOOL)

    # ---- what keeps the times away: the reason is in the trace, the calls are recorded -------

    def check_without_times(self, reason, sdk=True, **env):
        _, path, _ = self.run_preloaded([harness.app('saxpy', 'hip7')], sdk=sdk, **env)
        trace = self.finished_trace(path)
        session, = trace.info['sessions']
        self.assertIn('hip_tables', session['interfaces'])
        self.assertNotIn('rocprofiler_sdk', session['interfaces'])
        self.assertEqual(sum(row['name'] == 'hipLaunchKernel' for row in trace.of('api')),
                         self.truth().calls_by_name()['hipLaunchKernel'])
        notes = self.notes(path)
        self.assertEqual(len(notes), 1 if reason else 0, notes)
        if reason:
            self.assertIn(reason, notes[0])
        os.unlink(path)

    def test_no_sdk(self):
        self.check_without_times(None, sdk=False)

    def test_failing_steps(self):
        for name in ('at_internal_thread_create', 'create_context', 'create_buffer', 'create_callback_thread',
                     'assign_callback_thread', 'configure_buffer_tracing_service', 'configure_callback_tracing_service',
                     'configure_external_correlation_id_request_service', 'start_context'):
            with self.subTest(name):
                self.check_without_times('rocprofiler_%s() returned 17' % name, TS_SDK_FAIL='rocprofiler_' + name)

    def test_setting(self):
        self.check_without_times('TRACESMITH_ROCPROFILER is 0', TRACESMITH_ROCPROFILER='0')

    def test_register_disabled(self):
        with open(REGISTER, 'rb') as file:
            if b'ROCPROFILER_REGISTER_ENABLED' not in file.read():
                self.skipTest('rocprofiler-register before 0.5.0 has no ROCPROFILER_REGISTER_ENABLED')
        self.check_without_times('to no tool', LD_PRELOAD=REGISTER, ROCPROFILER_REGISTER_ENABLED='0')

    def test_another_register_library(self):
        """That library receives the tables, as without the shim."""
        hip_tool = os.path.join(harness.APPS, 'libhip-tool.so')
        self.check_without_times('ROCPROFILER_REGISTER_LIBRARY', LD_PRELOAD=REGISTER, ROCPROFILER_REGISTER_LIBRARY=hip_tool,
                                 TS_TOOL=self.path('other'))
        self.assertTrue(glob.glob(self.path('other.*')))

    def test_sdk_configured_before(self):
        """The SDK takes no tool after its start: a tool that was first keeps it."""
        self.check_without_times('configured the library before', TS_SDK_EARLY='1', LD_PRELOAD=SDK)

    def test_hsa_before_hip(self):
        """HSA's table went to no tool, so the SDK sees no work."""
        path = self.run_python('library = ctypes.CDLL(None)\n'
                               'tables = (ctypes.c_void_p * 1)()\n'
                               'identifier = ctypes.c_uint64()\n'
                               'library.rocprofiler_register_library_api_table(b"hsa", None, 100, tables, ctypes.c_uint64(1),\n'
                               '                                               ctypes.byref(identifier))\n' + USE)
        self.assertIn('HSA before HIP', *self.notes(path))

    # ---- odd records --------------------------------------------------------------------------

    def test_odd_records(self):
        """A malformed record after each kernel: each one is counted, and changes nothing else."""
        _, path, _ = self.run_preloaded([harness.app('pipeline', 'hip7'), '7'], TS_SDK_ODD='1')
        trace = self.finished_trace(path)
        truth = self.truth()
        n = sum(sum(counts) for counts in truth.launches_by_kernel().values()) + truth.sets
        self.assertEqual(sum(trace.lost.values()), n, trace.lost)
        self.assertEqual(set(trace.lost), {'unknown_record', 'bad_record', 'zero_timestamp', 'unjoined_device', 'bad_time'})
        self.assertEqual(trace.counts['kernel'] + trace.counts['memset'], n)
        self.assertEqual(trace.counts['memcpy'], sum(truth.copies))

    # ---- processes ----------------------------------------------------------------------------

    def test_forked_children(self):
        """Children of a process that uses HIP start it anew by exec: each has a tool."""
        for way in ('fork', 'vfork', 'spawn'):
            with self.subTest(way):
                argv = [harness.app('forks', 'hip7'), way, '3']
                # The parent launches until its children end, which on a busy machine is longer than the daemon keeps up.
                result, path = self.record(argv, '-q', '--lossless', LD_LIBRARY_PATH=self.libraries(), TRACESMITH_VGPU='mi300')
                self.assertEqual(result.status, 0, result)
                trace = self.finished_trace(path)
                self.assertEqual([session['interfaces'] for session in trace.info['sessions']], [WAYS] * 4)
                self.assertEqual(trace.lost, {})
                os.unlink(path)

    def run_python(self, script, **env):
        """Runs a Python program that uses HIP by ctypes. Returns the path of the trace of its first process."""
        result, traces = self.preload([sys.executable, '-c', 'import ctypes, os\n' + script], None,
                                      LD_LIBRARY_PATH=self.libraries(), TRACESMITH_VGPU='mi300', **env)
        self.assertEqual((result.out, result.err), ('', ''), result)
        return traces[0]

    def test_forked_child_that_exits(self):
        """The SDK's exit handler runs in the child, too, where its threads are not."""
        path = self.run_python(USE + 'child = os.fork()\n'
                               'if not child:\n'
                               '    ctypes.CDLL(None).exit(7)\n'
                               'assert os.waitpid(child, 0)[1] == 7 << 8\n' + USE)
        trace = self.finished_trace(path)
        self.assertEqual((trace.counts['memcpy'], trace.lost), (2, {}))

    def test_killed(self):
        """Work leaves the SDK's buffer while the program runs: its row is in the file before the program is killed."""
        program = subprocess.Popen([sys.executable, '-c', 'import ctypes, time\n' + USE + 'time.sleep(1000)\n'], cwd=self.folder,
                                   env=harness.preload_environment(None, LD_LIBRARY_PATH=self.libraries(), TRACESMITH_VGPU='mi300'))
        try:
            path, = self.traces_appear()
            end = time.monotonic() + harness.SECONDS
            while not self.copies_so_far(path):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
        finally:
            program.kill()
            program.wait()
        self.assertEqual(self.finished_trace(path).counts['memcpy'], 1)

    @staticmethod
    def copies_so_far(path):
        result = harness.tsctl('info', '--json', path)
        return 0 if result.status else json.loads(result.out)['counts'].get('memcpy', 0)

    def test_end_without_exit_handlers(self):
        """The file of a program that ends with _exit() has the work that the SDK still held."""
        _, path, _ = self.run_preloaded([harness.app('exits', 'hip7'), '_exit'])
        self.check_trace(path)

    # ---- what is printed ----------------------------------------------------------------------

    def test_info_and_devices(self):
        _, path, _ = self.run_preloaded([harness.app('saxpy', 'hip7')])
        self.assertIn('HIP 7.1.0 by its dispatch tables, with times of rocprofiler-sdk', harness.tsctl('info', path).out)
        for sdk in (True, False):
            env = harness.environment(LD_LIBRARY_PATH=self.libraries(sdk))
            result = harness.run([harness.TSCTL, 'devices', '--json'], env, cwd=self.folder)
            hip = json.loads(result.out)['hip']
            self.assertEqual(hip['path'], os.path.join(FACE, 'libamdhip64.so.7'))
            self.assertEqual('rocprofiler_sdk' in hip['interfaces'], sdk)
            result = harness.run([harness.TSCTL, 'devices'], env, cwd=self.folder)
            self.assertEqual('with times of rocprofiler-sdk' in result.out, sdk)


def add(name):
    setattr(Sdk, 'test_' + name, lambda self: self.check(name))


for app_name in PROGRAMS:
    add(app_name)

if __name__ == '__main__':
    harness.main()
