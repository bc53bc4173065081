# SPDX-License-Identifier: Apache-2.0
"""Programs captured and done again: `tsctl record --capture replay`, then `tsctl replay --on vgpu`."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness

SAME, NONDETERMINISTIC, BAD, DIFFERS = 0, 1, 2, 3


class Replay(harness.Case):
    form = 'driver'

    def capture(self, argv, *options, vgpu='small', **kwargs):
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'replay', *options, **kwargs)
        self.assertEqual(result.status, 0, result)
        return path

    def replay(self, path, *options):
        """(exit status, the JSON of each session)"""
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', *options, path)
        return result.status, [json.loads(line) for line in result.out.splitlines()], result

    def check_same(self, path):
        status, sessions, result = self.replay(path)
        self.assertEqual(status, SAME, result)
        for session in sessions:
            self.assertEqual(session['verdict'], 'same')
            self.assertEqual(session['operations'], session['captured'])
            self.assertEqual(session['unsupported'], [])
            self.assertNotIn('cut', session)
        return sessions

    def check_app(self, name, *arguments, vgpu='small', form=None):
        path = self.capture([harness.app(name, form or self.form)] + list(arguments), vgpu=vgpu)
        verified = harness.tsctl('verify', path)
        self.assertEqual(verified.status, 0, verified)
        truth = self.truth()
        session, = self.check_same(path)
        # All that the program read back was compared.
        self.assertEqual(session['results'], truth.copies[harness.truth_module.D2H])
        self.assertEqual(session.get('unchecked', 0), 0)
        self.assertEqual(session['launches'], truth.n_launches())

    def test_saxpy(self):
        self.check_app('saxpy')

    def test_saxpy_runtime(self):
        self.check_app('saxpy', form='runtime')

    def test_pipeline(self):
        self.check_app('pipeline', '5')

    def test_pipeline_runtime(self):
        self.check_app('pipeline', '5', form='runtime')

    def test_threads(self):
        self.check_app('threads', *harness.THREADS_ARGUMENTS)

    def test_devices(self):
        self.check_app('devices', vgpu='small:2')

    def test_network(self):
        self.check_app('network', *harness.NETWORK_ARGUMENTS)

    def test_mapped_memory_and_pools_of_two_devices(self):
        program = [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'mapped.py')]
        for vgpu in ('small:2', 'small'):
            path = self.capture(program, vgpu=vgpu)
            session, = self.check_same(path)
            self.assertEqual(session['results'], 4 if vgpu == 'small:2' else 3)
            self.assertEqual(session.get('unchecked', 0), 0)
            self.assertEqual(self.replay(path, '--check', 'all')[1][0].get('findings', []), [])
            self.assertEqual(self.replay(path, '--schedules', '3')[0], SAME)
            os.unlink(path)
        # What a capture cannot tell is named.
        path = self.capture(program + ['again'])
        self.assertEqual(self.replay(path)[1][0]['unsupported'], ['a second cuMemMap of the same cuMemCreate handle'])

    def test_graph(self):
        self.check_app('graph', '5')

    def test_graph_runtime(self):
        self.check_app('graph', '5', form='runtime')

    def test_graphs_that_are_changed(self):
        """Nodes by hand, children, parameters that are set, updates: each launch is captured as it was then."""
        path = self.capture([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'nodes.py')])
        session, = self.check_same(path)
        self.assertEqual((session['launches'], session['results']), (32, 22))

    def test_graphs_that_change_host_memory(self):
        """The memory is captured as it was before each launch. The shim's queries print nothing."""
        argv = [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'inplace.py')]
        result, path = self.record(argv + (['hip'] if self.form in harness.HIP_FORMS else []), '-q', '--vgpu=small', '--capture', 'replay')
        self.assertEqual((result.status, result.err), (0, ''), result)
        session, = self.check_same(path)
        self.assertEqual((session['launches'], session['results']), (8, 4))

    def odd(self, *what):
        return self.capture([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'odd.py'), *what])

    def test_code_of_files(self):
        """It is in the capture: the files are gone."""
        session, = self.check_same(self.odd('file', 'library'))
        self.assertEqual((session['launches'], session['results'], session.get('unchecked', 0)), (2, 2, 0))

    def check_everywhere(self, path):
        """The same on the virtual GPU, and by its driver, which chooses where memory lies."""
        session, = self.check_same(path)
        env = harness.environment(LD_LIBRARY_PATH=harness.VGPU, TRACESMITH_VGPU='small')
        result = harness.tsctl('replay', '--on', 'cuda', '--json', path, env=env)
        self.assertEqual((result.status, json.loads(result.out)['verdict']), (SAME, 'same'), result)
        return session

    def test_a_variable_without_its_size(self):
        """The program asks for its address alone; the driver tells how long it is."""
        path = self.odd('variable')
        variable, = [row for row in harness.Trace(path).of('operation') if row['kind'] == 'variable']
        self.assertEqual((variable['name'], variable['bytes']), ('addend', 4))
        self.assertEqual(self.check_everywhere(path)['results'], 1)

    def test_a_kernel_that_a_captured_graph_launches_by_its_function(self):
        """The graph's node has the kernel's function, which no call gave to the program."""
        session = self.check_everywhere(self.odd('graph'))
        self.assertEqual((session['launches'], session['results']), (2, 1))

    def test_a_context_that_is_waited_for_by_its_handle(self):
        """What it waited for has its results."""
        session, = self.check_same(self.odd('waits', 'waits'))
        self.assertEqual((session['launches'], session['results'], session.get('unchecked', 0)), (2, 2, 0))

    def test_a_function_of_the_host(self):
        """It is not called again, and that is said of the file, and of its replay, which may come out otherwise."""
        path = self.odd('function')
        self.assertEqual(harness.Trace(path).info['sessions'][0]['capture']['unsupported'], ['cuLaunchHostFunc'])
        self.assertIn('cannot be replayed: cuLaunchHostFunc', harness.tsctl('info', path).out)
        status, (session,), result = self.replay(path)
        self.assertIn(status, (SAME, DIFFERS), result)
        self.assertEqual((session['unsupported'], session['operations']), (['cuLaunchHostFunc'], session['captured']))

    def test_a_kernel_that_waits_for_a_store_of_the_host(self):
        """The store is not captured: the replay ends, and names the kernel."""
        path = self.capture([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'waits.py'), 'host'])
        # A sanitizer takes seconds to see that a kernel waits for ever.
        for threads in ('2',) if harness.IS_SLOW else ('1', '2'):
            result = harness.tsctl('replay', '--on', 'vgpu', '--json', path, env=harness.environment(TRACESMITH_VGPU_THREADS=threads))
            session = json.loads(result.out)
            self.assertEqual((result.status, session['verdict'], session['refusal']['kind']), (DIFFERS, 'differs', 'sync'), result)
            self.assertIn('in kernel waits. No operation of the replay writes this memory', session['refusal']['why'])

    def test_a_copy_of_the_file_elsewhere(self):
        path = self.capture([harness.app('saxpy', 'driver')])
        moved = self.path('moved')
        os.mkdir(moved)
        shutil.move(path, os.path.join(moved, 'other.sbt'))
        self.check_same(os.path.join(moved, 'other.sbt'))

    def machine_of_its_own(self):
        """A root folder with tsctl and the libraries that it needs, and nothing else."""
        root = self.path('machine')
        listed = harness.run(['ldd', harness.TSCTL])
        needed = {os.path.normpath(word) for line in listed.out.splitlines() for word in line.split() if word.startswith('/')}
        for path in needed:
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
        for name in ('tsctl', 'here'):
            os.mkdir(os.path.join(root, name))
        shutil.copy(harness.TSCTL, os.path.join(root, 'tsctl'))
        return root

    @unittest.skipIf(harness.SANITIZER, 'a sanitizer needs /proc')
    def test_another_machine(self):
        """No program, no library of its, no /proc, another host's name, other addresses, nobody's user: what is needed is in the file."""
        alone = ['unshare', '--user', '--map-root-user', '--mount', '--uts', '--pid', '--fork']
        if not shutil.which('unshare') or harness.run(alone + ['hostname', 'elsewhere']).status:
            self.skipTest('no namespaces of its own for who is not root here')
        # Some sandboxes let nobody choose a layout.
        layouts = [layout for layout in ([], ['setarch', '-R']) if not harness.run(alone + layout + ['true']).status]
        root = self.machine_of_its_own()
        for name, form, vgpu, *arguments in (('pipeline', 'driver', 'small', '3'), ('graph', 'driver', 'h200', '3'),
                                             ('devices', 'driver', 'small:2'), ('saxpy', 'runtime', 'small')):
            program = self.path('program')
            try:
                shutil.copy(harness.app(name, form), program)
            except unittest.SkipTest:
                continue
            path = self.capture([program, *arguments], '--force', vgpu=vgpu)
            os.remove(program)
            told = [row['digest'] for row in self.replay(path, '--compare-every', '1', '--limit', '100000')[1][0]['points']]
            self.assertGreater(len(told), 3)
            shutil.move(path, os.path.join(root, 'here', 'x.sbt'))
            for layout in layouts:
                result = harness.run(alone + ['sh', '-c', 'hostname elsewhere && exec "$@"', 'sh', *layout, 'env', '-i',
                                              'PATH=/usr/bin:/usr/sbin:/bin:/sbin', 'chroot', root,
                                              '/tsctl/tsctl', 'replay', '--on', 'vgpu', '--json', '--compare-every', '1',
                                              '--limit', '100000', '/here/x.sbt'])
                self.assertEqual(result.status, SAME, result)
                session = json.loads(result.out)
                self.assertEqual((session['verdict'], session['unsupported']), ('same', []))
                # The memory after each operation is what it is here.
                self.assertEqual([point['digest'] for point in session['points']], told)

    def test_several_processes(self):
        path = self.capture(['sh', '-c', '"$0" 2; "$0" 3', harness.app('saxpy', self.form)])
        self.assertEqual([session['launches'] for session in self.check_same(path)], [2, 3])

    def test_again_and_again(self):
        path = self.capture([harness.app('pipeline', self.form), '2'])
        status, sessions, result = self.replay(path, '--repeat', '3')
        self.assertEqual(status, SAME, result)
        self.assertEqual(sessions[0]['replays'], 3)

    def test_dry_run(self):
        path = self.capture([harness.app('saxpy', self.form), '7'])
        result = harness.tsctl('replay', '--on', 'vgpu', '--mode', 'dry-run', '--json', path)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(json.loads(result.out)['launches'], 7)

    def test_copies_are_without(self):
        """What was captured is not in a part of a trace: that is said when it is made, and when somebody wants to replay it."""
        path = self.capture([harness.app('saxpy', self.form)])
        plain, other = self.record([harness.app('saxpy', self.form)], '--force')[1], self.path('other.sbt')
        os.rename(plain, other)
        path = self.capture([harness.app('saxpy', self.form)], '--force')
        for name, argv in (('cut', ('--from', '0')), ('dump', ()), ('merge', (other,))):
            part = self.path(name + '.sbt')
            made = harness.tsctl(name, *argv, '-o', part, path)
            self.assertEqual(made.status, 0, made)
            self.assertIn('no capture for replay', made.err)
            status, sessions, result = self.replay(part)
            self.assertEqual((status, sessions), (BAD, []))
            self.assertIn('`tsctl cut`', result.err)
        # Of a trace that has nothing of it nothing is said.
        made = harness.tsctl('cut', '--from', '0', '-o', self.path('plain.sbt'), other)
        self.assertEqual((made.status, made.err), (0, ''), made)

    def test_what_was_not_captured(self):
        result, path = self.record([harness.app('saxpy', 'driver')])
        self.assertEqual(result.status, 0, result)
        status, sessions, result = self.replay(path)
        self.assertEqual(status, BAD)
        self.assertEqual(sessions, [])
        self.assertIn('--capture replay', result.err)

    def test_contents_are_stored_once(self):
        """As many launches again take few bytes: what is the same is there once, and rows compress."""
        few = os.path.getsize(self.capture([harness.app('saxpy', self.form), '10']))
        os.remove(self.path('recorded.sbt'))
        more = 200 if harness.IS_SLOW else 1000
        many = os.path.getsize(self.capture([harness.app('saxpy', self.form), str(10 + more)]))
        # A program that takes its time has more blocks.
        self.assertLess(many - few, more * 300)

    def test_a_limit(self):
        """The program goes on; what was captured before is done again; what it was and what it took is told."""
        result, path = self.record([harness.app('pipeline', self.form), '5'], '--vgpu=small', '--capture', 'replay:256K')
        self.assertEqual((result.status, result.out), (0, 'pipeline: 5 rounds of 4 buffers\n'), result)
        self.assertRegex(result.err, r'; captured [0-9.]+ KiB for replay, which took .* in the program\'s threads; CAPTURE ENDED EARLY: the capture for replay reached its limit \(see --capture\)\n$')
        traced = harness.Trace(path)
        self.assertEqual(traced.counts['kernel'], self.truth().n_launches())
        capture = traced.info['sessions'][0]['capture']
        self.assertTrue(0 < capture['bytes'] <= 256 << 10 and capture['ns'] > 0, capture)
        status, (session,), result = self.replay(path)
        self.assertEqual(status, SAME, result)
        self.assertEqual(session['ended'], 'the capture for replay reached its limit of 262144 bytes (see --capture)')
        self.assertGreater(session['operations'], 20)

    def test_without_the_library(self):
        """The shim loads its capture from its own folder. If it is not there, the program goes on, and the trace has the reason."""
        shim = self.path('libtsinject.so')
        shutil.copy(harness.SHIM, shim)
        result, path = self.record([harness.app('saxpy', self.form)], '--vgpu=small', '--capture', 'replay', TRACESMITH_INJECT=shim)
        self.assertEqual(result.status, 0, result)
        self.assertIn('CAPTURE ENDED EARLY: the process cannot load libtsinject-capture.so', result.err)
        self.assertEqual(harness.Trace(path).counts['kernel'], self.truth().n_launches())
        # By a link from another folder, it is found.
        os.unlink(shim)
        os.symlink(harness.SHIM, shim)
        result, path = self.record([harness.app('saxpy', self.form)], '--vgpu=small', '--capture', 'replay', '-f', TRACESMITH_INJECT=shim)
        self.assertEqual((result.status, 'ENDED' in result.err), (0, False), result)
        self.check_same(path)

    def test_a_killed_program(self):
        """Up to the last operation that it captured, its file can be done again."""
        program = subprocess.Popen(
            [harness.app('pipeline', self.form), '1000000'], cwd=self.folder,
            env=harness.preload_environment('small', TRACESMITH_CAPTURE='replay',
                                            TS_TRUTH=self.truth_path),
            stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            path, = self.traces_appear()
            deadline = time.monotonic() + harness.SECONDS
            while os.path.getsize(path) < 65536 and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        self.finished_trace(path)
        status, (session,), result = self.replay(path)
        self.assertEqual(status, SAME, result)
        self.assertEqual(session['operations'], session['captured'])
        self.assertGreater(session['launches'], 10)

    def test_a_damaged_file(self):
        """Any verdict but one: never the end by a signal, and never `the same` where a content is another."""
        path = self.capture([harness.app('saxpy', 'driver')])
        with open(path, 'rb') as stream:
            whole = stream.read()
        for at in range(64, len(whole), max(1, len(whole) // 60)):
            damaged = self.path('damaged.sbt')
            with open(damaged, 'wb') as stream:
                stream.write(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:])
            status, _, result = self.replay(damaged)
            self.assertIn(status, (SAME, NONDETERMINISTIC, BAD, DIFFERS), '%d: %s' % (at, result))

    def test_refusals(self):
        for options, said in (
                (('--capture', 'all'), "`replay:SIZE`"),
                (('--capture', 'replay', '--start-later'), '--start-later'),
                (('--capture', 'replay', '--rotate-size', '1G', '--keep', '2'), '--rotate-size')):
            result, _ = self.record([harness.app('saxpy', 'driver')], *options)
            self.assertEqual(result.status, BAD, result)
            self.assertIn(said, result.err)
        path = self.capture([harness.app('saxpy', 'driver')])
        for options in (('--compare-every', '0'), ('--time-limit', 'soon')):
            status, _, result = self.replay(path, *options)
            self.assertEqual(status, BAD)
            self.assertIn(options[0], result.err)
        result = harness.tsctl('replay', '--compare-every', '1', path)
        self.assertEqual(result.status, BAD, result)
        self.assertIn('--on vgpu', result.err)


class ReplayOverHip(harness.over_hip(
        Replay, 'test_saxpy', 'test_pipeline', 'test_threads', 'test_devices', 'test_network', 'test_graph', 'test_several_processes',
        'test_again_and_again', 'test_dry_run', 'test_copies_are_without', 'test_contents_are_stored_once', 'test_a_limit',
        'test_without_the_library', 'test_a_killed_program', 'test_graphs_that_change_host_memory')):
    """The same, and what is HIP's own."""

    def test_each_release(self):
        """Both ways into the runtime, and each major version."""
        for form, setting in (('hip5', ''), ('hip', ',hip=6.1'), ('hip', ''), ('hip7', '')):
            for name, launches, results in (('saxpy', 10, 2), ('graph', 21, 7)):
                arguments = ['7'] if name == 'graph' else []
                path = self.capture([harness.app(name, form)] + arguments, '-f', vgpu='mi300' + setting)
                session, = self.check_same(path)
                self.assertEqual((session['launches'], session['results']), (launches, results), form + setting)

    def test_calls_of_hips_own(self):
        """Variables, boxes, launches of every form, changed graphs, queries, pools, peers, by both ways into the runtime."""
        for setting, launches, results in (('', 12, 14), (',hip=6.1', 12, 14)):
            path = self.capture([harness.app('hip-replay')], '-f', vgpu='mi300:2' + setting)
            session, = self.check_same(path)
            self.assertEqual((session['launches'], session['results'], session.get('unchecked', 0)), (launches, results, 0))
            self.assertEqual(self.replay(path, '--check', 'all')[1][0].get('findings', []), [])
            variables = [row for row in harness.Trace(path).of('operation') if row['kind'] == 'variable']
            self.assertEqual([(row['name'], row['bytes']) for row in variables], [('addend', 4), ('counted', 4)])

    def test_what_is_not_captured(self):
        """The trace names each call once, and its timings are whole. So does the replay."""
        path = self.capture([harness.app('hip-replay'), 'host'])
        self.assertEqual(harness.Trace(path).info['sessions'][0]['capture']['unsupported'], ['hipLaunchHostFunc'])
        status, (session,), result = self.replay(path)
        self.assertEqual((status, session['unsupported'], session['operations']), (SAME, ['hipLaunchHostFunc'], session['captured']), result)

    def test_code_in_all_its_forms(self):
        """Arguments of a compressed bundle's kernels are not known: such launches are named."""
        path = self.capture([harness.app('hip-code'), os.path.join(harness.APPS, 'hip-code-packed.hipfb')])
        status, (session,), result = self.replay(path)
        self.assertIn(status, (SAME, DIFFERS), result)
        self.assertEqual(session['unsupported'], ['a kernel whose argument sizes the driver does not report',
                                                  'a graph with a kernel whose arguments the driver does not report'])

    def test_code_of_amd(self):
        """Arguments come from the code's metadata. A replay on the virtual GPU ends at the code, and names what runs it."""
        path = self.capture([harness.app('timed-hip')], vgpu='mi300,kernels=timed')
        launches = [row for row in harness.Trace(path).of('operation') if row['kind'] == 'launch']
        self.assertEqual(len(launches), 8)
        self.assertTrue(all(row['bytes'] for row in launches), launches)
        self.assertEqual(harness.Trace(path).info['sessions'][0]['capture']['unsupported'], ["managed variables of the program's code"])
        status, (session,), _ = self.replay(path)
        self.assertEqual((status, session['refusal']['kind']), (DIFFERS, 'module_load'))
        self.assertIn("a bundle of HIP's code without PTX, which only an AMD GPU runs: use `--on hip`", session['refusal']['why'])

    def test_two_vendors(self):
        """CUDA and HIP in one process, whichever is first: the replay has both on devices of their own."""
        for forms in (('hip', 'driver'), ('driver', 'hip')):
            for when in ('after', 'at-once'):
                parts = [os.path.join(harness.APPS, 'libpart-pipeline-%s.so' % form) for form in forms]
                result, path = self.record([harness.app('both'), when] + parts, '--vgpu', '--capture', 'replay', '-f')
                self.assertEqual(result.status, 0, result)
                session, = self.check_same(path)
                truths = [harness.truth_module.read('%s.%d' % (self.truth_path, i)) for i in range(2)]
                self.assertEqual((session['launches'], session['results'], session.get('unchecked', 0)),
                                 (sum(truth.n_launches() for truth in truths),
                                  sum(truth.copies[harness.truth_module.D2H] for truth in truths), 0))
                for truth in glob.glob(self.truth_path + '.*'):
                    os.unlink(truth)
        self.assertEqual(self.replay(path, '--check', 'all')[1][0].get('findings', []), [])
        for executor in ('cuda', 'hip'):
            env = harness.environment(LD_LIBRARY_PATH=harness.VGPU)
            result = harness.tsctl('replay', '--on', executor, '--json', path, env=env)
            self.assertEqual(result.status, DIFFERS, result)
            # On HIP, the code of the programs may be refused first: it is PTX.
            self.assertRegex(json.loads(result.out)['refusal']['why'],
                             'the process used CUDA and HIP: use `--on vgpu`|no code for AMD GPUs: use `--on cuda` or `--on vgpu`')


if __name__ == '__main__':
    harness.main()
