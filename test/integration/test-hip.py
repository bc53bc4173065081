#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HIP with another tool, which AMD's librocprofiler-register calls: the tool, the trace and the program's truth have the same calls.

The register library is test/apps/register-standin.c, or AMD's (test-hip-register.py). The tool is hip-tool.c. The program's output and end are as without the shim.
"""
import glob
import os
import re
import shutil
import signal
import unittest

import harness
import truth as truth_module

# With AMD's library: the folder that has it.
FOLDER = os.environ.get('TS_REGISTER', harness.APPS)
REGISTER = os.path.join(FOLDER, 'librocprofiler-register.so.0')
LINKED = os.path.join(FOLDER, 'libhip-linked.so')
TOOL = os.path.join(harness.APPS, 'libhip-tool.so')
BY_VARIABLE = {'ROCPROFILER_REGISTER_LIBRARY': TOOL}
MISSING = '/nonexistent/libtool.so'


def without_stack(text):
    """The register library's last words without its stack, which has the shim's function."""
    return re.sub(r'(?m)^ +@ .*\n', '', text)


class Hip(harness.Case):
    def tools(self):
        """{process id: calls by name} of the tool's instances, whose files are removed."""
        found = {}
        for path in glob.glob(self.path('tool.*')):
            found[int(path.rsplit('.', 1)[1])] = truth_module.read(path).calls_by_name()
            os.unlink(path)
        return found

    def alone(self, argv, **env):
        result = harness.run(argv, harness.alone_environment(TS_TRUTH=self.truth_path, **env), cwd=self.folder)
        return result, self.tools()

    def check_same(self, result, alone):
        self.assertEqual((result.status, result.out, without_stack(result.err)),
                         (alone.status, alone.out, without_stack(alone.err)))

    def check(self, argv, has_tool, **env):
        """argv alone, with the shim preloaded and under `tsctl record`."""
        env['TS_TOOL'] = self.path('tool')
        alone, tools = self.alone(argv, **env)
        self.assertEqual(alone.status, 0, alone)
        self.assertEqual(len(tools), has_tool)
        result, traces = self.preload(argv, **env)
        self.check_same(result, alone)
        self.assertEqual(len(traces), 1, result)
        self.check_seen(traces[0], has_tool)
        result, path = self.record(argv, '--vgpu', '-q', **env)
        self.check_same(result, alone)
        self.check_seen(path, has_tool)

    def check_seen(self, path, has_tool):
        truth = self.truth()
        self.assertTrue(truth.finished)
        self.check_truth(self.finished_trace(path), truth)
        self.assertEqual(list(self.tools().values()), [truth.calls_by_name()] * has_tool)

    # ---- the register library is preloaded after the shim -------------------------------------

    def test_no_tool(self):
        for name in ('saxpy', 'pipeline'):
            with self.subTest(name):
                self.check([harness.app(name, 'hip')], False, LD_PRELOAD=REGISTER)
                self.clear()

    def test_tool_by_variable(self):
        for name in ('saxpy', 'pipeline'):
            with self.subTest(name):
                self.check([harness.app(name, 'hip')], True, LD_PRELOAD=REGISTER, **BY_VARIABLE)
                self.clear()

    def test_tool_preloaded(self):
        self.check([harness.app('saxpy', 'hip')], True, LD_PRELOAD=REGISTER + ' ' + TOOL)

    def test_disabled(self):
        with open(REGISTER, 'rb') as file:
            if b'ROCPROFILER_REGISTER_ENABLED' not in file.read():
                self.skipTest('rocprofiler-register before 0.5.0 has no ROCPROFILER_REGISTER_ENABLED')
        self.check([harness.app('saxpy', 'hip')], False, LD_PRELOAD=REGISTER, ROCPROFILER_REGISTER_ENABLED='0', **BY_VARIABLE)

    def clear(self):
        for path in glob.glob(self.path('*')):
            os.unlink(path)

    def test_missing_library(self):
        """The register library ends the process; so it does with the shim, and for no other reason."""
        argv = [harness.app('saxpy', 'hip')]
        for variable in ('ROCPROFILER_REGISTER_LIBRARY', 'ROCP_TOOL_LIBRARIES'):
            with self.subTest(variable):
                env = dict(harness.dying(), LD_PRELOAD=REGISTER, **{variable: MISSING})
                alone, _ = self.alone(argv, **env)
                self.assertEqual(alone.status, -signal.SIGABRT, alone)
                result, _ = self.preload(argv, **env)
                self.check_same(result, alone)
                result, _ = self.record(argv, '--vgpu', '-q', **env)
                self.assertEqual((result.status, result.out), (128 + signal.SIGABRT, alone.out), result)
                self.assertIn(without_stack(alone.err), without_stack(result.err))
                self.clear()

    # ---- the program loads HIP; the register library is a dependency --------------------------

    def test_loaded(self):
        for way in ('local', 'global'):
            for has_tool in (False, True):
                with self.subTest(way, has_tool=has_tool):
                    self.check([harness.app('hip-loads'), way, LINKED], has_tool, **(BY_VARIABLE if has_tool else {}))
                    self.clear()

    @unittest.skipIf(harness.SANITIZER, 'a sanitizer refuses RTLD_DEEPBIND')
    def test_deep_binding(self):
        """The register library's own function comes first then: no trace, and the program and the tool run as without the shim."""
        argv = [harness.app('hip-loads'), 'deep', LINKED]
        env = dict(BY_VARIABLE, TS_TOOL=self.path('tool'))
        alone, tools = self.alone(argv, **env)
        self.assertEqual(alone.status, 0, alone)
        result, traces = self.preload(argv, **env)
        self.check_same(result, alone)
        self.assertEqual(traces, [])
        self.assertEqual(list(self.tools().values()), list(tools.values()))
        self.assertEqual(list(tools.values()), [self.truth().calls_by_name()])

    def test_second_copy(self):
        """Calls of the second copy of HIP reach it, and are in neither account."""
        second = self.path('libamdhip64.so.6')
        shutil.copy(os.path.join(harness.VGPU, 'libamdhip64.so.6'), second)
        # Each copy has thread-local storage in the loader's reserve, which is for one.
        self.check([harness.app('hip-loads'), 'local', LINKED, second], True,
                   GLIBC_TUNABLES='glibc.rtld.optional_static_tls=8192', **BY_VARIABLE)

    # ---- children -----------------------------------------------------------------------------

    def check_children(self, argv, n_processes):
        env = dict(BY_VARIABLE, LD_PRELOAD=REGISTER, TS_TOOL=self.path('tool'))
        # The parent launches until its children end, which on a busy machine is longer than the daemon keeps up.
        result, path = self.record(argv, '--vgpu', '-q', '--lossless', **env)
        self.assertEqual(result.status, 0, result)
        trace = self.finished_trace(path)
        self.check_sound(trace)
        self.assertEqual(trace.lost, {})
        truths = {}
        for name in [self.truth_path] + glob.glob(self.truth_path + '.*'):
            truth = truth_module.read(name)
            truths[truth.pid] = truth.calls_by_name()
        self.assertEqual(len(truths), n_processes)
        self.assertEqual(self.tools(), truths)
        pids = {session['session']: session['pid'] for session in trace.info['sessions']}
        found = {}
        for row in trace.of('api'):
            calls = found.setdefault(pids[row['session']], {})
            calls[row['name']] = calls.get(row['name'], 0) + 1
        self.assertEqual(set(found), set(truths))
        for pid, calls in truths.items():
            self.assertEqual({name: found[pid].get(name) for name in calls}, calls)

    def test_executed_children(self):
        """Children of fork() and vfork() that execute the program again, while the parent uses the GPU."""
        for way in ('fork', 'vfork', 'spawn'):
            with self.subTest(way):
                self.check_children([harness.app('forks', 'hip'), way, '3'], 4)
                self.clear()

    def test_forked_children(self):
        """Children that fork() made before the first call of HIP, and theirs: a session and a tool in each."""
        self.check_children([harness.app('forks', 'hip'), 'tree', '3'], 1 + 3 + 9)

    def test_other_mount_namespace(self):
        if harness.run(['unshare', '-rm', 'true']).status:
            self.skipTest('no user namespaces')
        self.check(['unshare', '-rm', harness.app('saxpy', 'hip')], True, LD_PRELOAD=REGISTER, **BY_VARIABLE)


class Tables(harness.Case):
    """Tables that HIP does not register: they are left alone, and HIP's own table is wrapped afterwards."""

    def check(self, way, **env):
        argv = [harness.app('hip-tables'), way]
        alone = harness.run(argv, harness.alone_environment(TS_TRUTH=self.truth_path, **env), cwd=self.folder)
        self.assertEqual(alone.status, 0, alone)
        result, traces = self.preload(argv, **env)
        self.assertEqual((result.status, result.err), (0, ''), result)
        self.check_truth(self.finished_trace(traces[0]), self.truth())
        os.unlink(traces[0])
        return alone, result

    def test_left_alone(self):
        for way in ('null-tables', 'no-tables', 'null-table', 'no-name', 'another', '0', '8', '13', '65544', str(1 << 60),
                    str((1 << 64) - 1)):
            with self.subTest(way):
                _, result = self.check(way)
                self.assertEqual(result.out, '1 0\n')

    def test_passed_on(self):
        """The register library gets each of them as HIP passed it, and its result is HIP's."""
        # AMD's library of 0.5.0 crashes on a null pointer to the tables, without the shim as well.
        for way in (() if 'TS_REGISTER' in os.environ else ('null-tables',)) + ('no-tables', 'null-table', 'another', '0', '8', '13',
                                                                                str(1 << 60)):
            with self.subTest(way):
                alone, result = self.check(way, LD_PRELOAD=REGISTER)
                self.assertEqual(result.out, alone.out)

    def test_short(self):
        """A table of fewer functions than the shim knows: no word behind its end changes."""
        argv = [harness.app('hip-tables'), '256']
        result, _ = self.preload(argv)
        self.assertEqual(result.status, 0, result)
        self.assertGreater(int(result.out.split()[1]), 0)
        # The same table by its size word alone ends earlier: fewer functions are wrapped.
        shorter, _ = self.preload([argv[0], '64'])
        self.assertEqual(shorter.status, 0, shorter)
        self.assertLess(int(shorter.out.split()[1]), int(result.out.split()[1]))


if __name__ == '__main__':
    harness.main()
