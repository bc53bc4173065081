#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HIP of each major version, and by each way into it: the trace equals the program's truth and names the way.

Runtimes since 6.2 register dispatch tables. The others are recorded by functions that stand before theirs.
"""
import collections
import json
import os
import sys
import unittest

import harness

TABLES = ['hip_tables', 'hip_tracer']
SYMBOLS = ['hip_tracer', 'hip_symbols']
FACES = {
    # release: (form, setting of the virtual GPU, version, interfaces)
    '5.7': ('hip5', '', 50700000, SYMBOLS),
    '6.1': ('hip', ',hip=6.1', 60100000, SYMBOLS),
    '6.2': ('hip', '', 60200000, TABLES),
    '7.1': ('hip7', '', 70100000, TABLES),
}
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


def plugin(major):
    return harness.app('libhip-plugin-%d.so' % major)


class Versions(harness.Case):
    def check_trace(self, path, version, ways):
        trace = self.finished_trace(path)
        self.check_truth(trace, self.truth())
        session, = trace.info['sessions']
        self.assertEqual((session['hip_version'], session['interfaces']), (version, ways))
        return trace

    def check(self, face, name):
        form, setting, version, ways = FACES[face]
        arguments, devices = PROGRAMS[name]
        argv = [harness.app(name, form)] + arguments
        alone = harness.run(argv, harness.alone_environment(devices + setting), cwd=self.folder)
        self.assertEqual(alone.status, 0, alone)
        result, traces = self.preload(argv, devices + setting)
        self.assertEqual((result.status, result.out, result.err), (0, alone.out, alone.err))
        trace = self.check_trace(traces[0], version, ways)
        # The devices of 5.x have their properties, too.
        self.assertEqual({(device['name'], device['multiprocessors']) for device in trace.info['devices']},
                         {('TraceSmith Virtual GPU (MI300X shape)', 304)})
        result, path = self.record(argv, '--vgpu=' + devices + setting, '-q')
        self.assertEqual((result.status, result.out), (0, alone.out))
        self.check_trace(path, version, ways)

    def test_info_names_the_way(self):
        for face, words in (('5.7', 'HIP 5.7.0 by its exported functions'), ('7.1', 'HIP 7.1.0 by its dispatch tables')):
            form, setting = FACES[face][:2]
            _, path = self.record([harness.app('saxpy', form)], '--vgpu=mi300' + setting, '-q')
            self.assertIn(words, harness.tsctl('info', path).out)
            os.unlink(path)

    def devices(self, folder):
        result = harness.run([harness.TSCTL, 'devices', '--json'], harness.environment(LD_LIBRARY_PATH=folder), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return json.loads(result.out)['hip']

    def test_devices_names_the_way(self):
        self.assertEqual(self.devices(harness.VGPU), {'path': os.path.join(harness.VGPU, 'libamdhip64.so.7'), 'interfaces': TABLES})
        old = os.path.join(harness.VGPU, 'hip-5.2')
        self.assertEqual(self.devices(old), {'path': os.path.join(old, 'libamdhip64.so.5'),
                                             'interfaces': ['hip_symbols', 'hip_activity']})

    # ---- 5.2, whose library has the name of 5.7's ---------------------------------------------

    def preload_old(self, name, arguments):
        folder = os.path.join(harness.VGPU, 'hip-5.2')
        result, traces = self.preload([harness.app(name, 'hip5')] + arguments, None, LD_LIBRARY_PATH=folder,
                                      TRACESMITH_VGPU=PROGRAMS[name][1])
        self.assertEqual((result.status, result.err), (0, ''), result)
        return traces[0]

    def test_5_2(self):
        """The callbacks for roctracer. Their records have no names and no sizes: the calls have them."""
        for name in ('saxpy', 'pipeline', 'threads', 'devices', 'exits', 'stress'):
            with self.subTest(name):
                path = self.preload_old(name, PROGRAMS[name][0])
                self.check_trace(path, 50200000, ['hip_symbols', 'hip_activity'])
                os.unlink(path)

    def test_5_2_graph(self):
        """The nodes of a graph have neither: the graph's launch does not show them."""
        trace = self.finished_trace(self.preload_old('graph', ['7']))
        self.check_sound(trace)
        truth = self.truth()
        self.assertEqual(trace.lost, {})
        self.assertEqual(trace.counts['kernel'], sum(sum(counts) for counts in truth.launches_by_kernel().values()))
        self.assertEqual(trace.counts['memcpy'], sum(truth.copies))
        self.assertEqual(trace.counts['memset'], truth.sets)

    # ---- scopes -------------------------------------------------------------------------------

    def check_plugins(self, way, libraries, version, ways, vgpu, **env):
        argv = [harness.app('hip-loads'), way] + libraries
        alone = harness.run(argv, harness.alone_environment(vgpu, TS_TRUTH=self.truth_path, **env), cwd=self.folder)
        self.assertEqual(alone.status, 0, alone)
        result, traces = self.preload(argv, vgpu, **env)
        self.assertEqual((result.status, result.out, result.err), (0, alone.out, alone.err))
        self.check_trace(traces[0], version, ways)
        os.unlink(traces[0])

    def test_linked_library_in_a_scope_of_its_own(self):
        """The loader binds the library's references to the shim, which finds the runtime outside the global scope."""
        for way in ('local', 'global'):
            for major, setting, version, ways in ((5, '', 50700000, SYMBOLS), (6, ',hip=6.1', 60100000, SYMBOLS),
                                                  (6, '', 60200000, TABLES), (7, '', 70100000, TABLES)):
                with self.subTest(way, version=version):
                    self.check_plugins(way, [plugin(major)], version, ways, 'mi300' + setting)

    @unittest.skipIf(harness.SANITIZER, 'a sanitizer refuses RTLD_DEEPBIND')
    def test_deep_binding(self):
        """The runtime's own functions come first then: no trace, and the program runs as without the shim."""
        argv = [harness.app('hip-loads'), 'deep', plugin(5)]
        alone = harness.run(argv, harness.alone_environment('mi300'), cwd=self.folder)
        result, traces = self.preload(argv, 'mi300')
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err))
        self.assertEqual(traces, [])

    def test_two_runtimes(self):
        """Each library's calls reach its own runtime. Those of the first are recorded."""
        # Each copy has thread-local storage in the loader's reserve, which is for one.
        tunables = {'GLIBC_TUNABLES': 'glibc.rtld.optional_static_tls=8192'}
        for first, second, setting, version, ways in ((5, 6, ',hip=6.1', 50700000, SYMBOLS), (6, 5, ',hip=6.1', 60100000, SYMBOLS),
                                                      (7, 5, '', 70100000, TABLES)):
            with self.subTest(first=first, second=second):
                self.check_plugins('local', [plugin(first), plugin(second)], version, ways, 'mi300' + setting, **tunables)

    def test_loaded_without_linking(self):
        """dlsym() on the library's handle finds the runtime's own function: without tables there is no trace."""
        library = os.path.join(harness.VGPU, 'libamdhip64.so.5')
        result, traces = self.preload([harness.app('hip-loads'), 'global', library], 'mi300')
        self.assertEqual((result.status, result.err), (0, ''), result)
        self.assertEqual(traces, [])

    # ---- first calls --------------------------------------------------------------------------

    def first(self, *words):
        result, traces = self.preload([harness.app('hip-first'), *words], vgpu=None, seconds=60)
        self.assertEqual((result.status, result.out, result.err), (0, 'done\n', ''), result)
        return [collections.Counter(row['name'] for row in self.finished_trace(path).of('api')) for path in traces]

    def test_call_while_a_constructor_waits_for_it(self):
        """Finding a function takes the loader's lock, which a constructor's thread holds: only the first call of all finds any."""
        calls = self.first('constructor', harness.app('libhip-first-library.so'))
        self.assertEqual(calls, [{'hipMalloc': 1, 'hipFree': 1}])

    def test_pending_error_of_the_loader(self):
        self.assertEqual(self.first('error'), [{'hipMalloc': 1, 'hipFree': 1, 'hipDeviceSynchronize': 1}])

    def test_fork_during_the_first_call(self):
        """The child decides again: its parent's thread, which was about to, is not there."""
        self.assertEqual(self.first('fork'), [{'hipMalloc': 1, 'hipFree': 1}] * 2)

    # ---- processes without HIP ----------------------------------------------------------------

    def test_no_hip_is_seen_where_there_is_none(self):
        script = ('import ctypes\n'
                  'for name in ("hipInit", "hipMalloc", "hipGetDeviceCount"):\n'
                  '    print(hasattr(ctypes.CDLL(None), name))\n')
        result, traces = self.preload([sys.executable, '-c', script], 'mi300')
        self.assertEqual((result.status, result.out, result.err), (0, 'False\n' * 3, ''), result)
        self.assertEqual(traces, [])

    # ---- AMD's own library --------------------------------------------------------------------

    def test_real_library(self):
        """Without a device its calls fail, with the shim as without it."""
        argv = [harness.app('hip-real')]
        alone = harness.run(argv, harness.environment(), cwd=self.folder)
        if alone.status:
            self.skipTest('libamdhip64 of the build is not here: %s' % alone.err)
        result, traces = self.preload(argv, vgpu=None)
        self.assertEqual((result.status, result.out, result.err), (0, alone.out, alone.err))
        calls = {row['name']: row for row in self.finished_trace(traces[0]).of('api')}
        self.assertEqual(set(calls), {'hipInit', 'hipMalloc', 'hipFree'})
        results = alone.out.split()
        self.assertEqual([calls[name].get('result', 0) for name in ('hipInit', 'hipMalloc', 'hipFree')],
                         [int(results[0]), int(results[3]), int(results[4])])


def add(face, name):
    setattr(Versions, 'test_%s_%s' % (face.replace('.', '_'), name), lambda self: self.check(face, name))


for hip_face in FACES:
    for app_name in PROGRAMS:
        add(hip_face, app_name)

if __name__ == '__main__':
    harness.main()
