#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that nobody preloaded: `tsctl record --system` and a service's --system see their calls, each once, exactly.

Programs run on the virtual GPU without a shim. Other programs of this machine may be seen as well: only what belongs to
those started here is looked at. Needs root and Linux 6.6; where the machine cannot give it, what is left is tested: that it is said.
"""
import collections
import errno
import glob
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import control
import harness
import service
from kernel import PROGRAM, end, exists, held, in_namespaces, wait

LIBRARIES = ':'.join([os.path.join(harness.VGPU, name) for name in ('libcuda.so.1', 'libcudart.so.13', 'libamdhip64.so.6')] +
                     [harness.SHIM])
# What probes sit on, of what the programs count.
PROBED = ('Launch', 'Memcpy', 'Memset', 'MemAlloc', 'MemFree', 'MemHostAlloc', 'Malloc', 'Free', 'Synchronize')


def missing():
    """Why this machine does not give it; None: it does."""
    with harness.tempfile.TemporaryDirectory() as folder:
        result = harness.run([harness.TSCTL, 'record', '--system', '-d', '1ms', '-o', folder + '/check.sbt'])
    if not result.status:
        return None
    assert result.status == 125 and result.err.count('\n') == 1, result
    return result.err.strip()


MISSING = missing()
# PF_EXITING of Linux: a flag of /proc/PID/stat.
EXITING = 4
needs = unittest.skipIf(MISSING, MISSING)


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


@service.no_service
class System(harness.Case):
    def start(self, *options, libraries=LIBRARIES, command=(), path='system.sbt', stdin=subprocess.DEVNULL, **env):
        """A recording that has begun: what is mapped is probed."""
        os.makedirs(self.path('system'), exist_ok=True)
        path = self.path('system/' + path)
        recording = subprocess.Popen(
            [harness.TSCTL, 'record', '--system', '-o', path, *options, *command],
            cwd=self.folder, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=harness.record_environment(TRACESMITH_GPU_LIBRARIES=libraries, **env))
        self.addCleanup(end, recording)
        self.addCleanup(recording.stderr.close)
        wait(lambda: self.info(path).get('metadata', {}).get('system') == 'calls', recording)
        return recording, path

    def info(self, path):
        if not os.path.exists(path):
            return {}
        result = harness.tsctl('info', '--json', path)
        return json.loads(result.out) if not result.status else {}

    def stop(self, recording):
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(harness.SECONDS), 0)
        return recording.stderr.read()

    def run_alone(self, name, *arguments, vgpu=''):
        """Runs a program without a shim; returns (pid, its truth)."""
        argv = [self.app(name)] if '.' not in name else \
            [shutil.which('python3'), os.path.join(harness.SOURCE, 'test', 'apps', name)]
        result = harness.run(argv + [str(argument) for argument in arguments],
                             harness.alone_environment(vgpu, TS_TRUTH=self.truth_path), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return result.pid, self.truth()

    def session_of(self, trace, pid):
        sessions = [one for one in trace.info['sessions'] if one['pid'] == pid]
        self.assertEqual(len(sessions), 1, 'sessions of pid %d' % pid)
        return sessions[0]

    def rows_of(self, trace, pid, *types):
        number = self.session_of(trace, pid)['session']
        return [row for row in trace.of(*types) if row['session'] == number]

    def check_seen(self, trace, pid, truth):
        """Each call once, with what its arguments say."""
        session = self.session_of(trace, pid)
        self.assertTrue(session['host_half_only'])
        self.assertEqual(session['uid'], os.getuid())
        self.assertEqual(session['lost'], {})
        calls = self.rows_of(trace, pid, 'api')
        known = {name: count for name, count in truth.calls_by_name().items()
                 if any(part in name for part in PROBED)}
        # What nvcc makes of <<<>>> calls __cudaLaunchKernel.
        found = collections.Counter(row['name'].lstrip('_') for row in calls)
        self.assertEqual({name: found[name] for name in known}, known)
        launches = [row for row in calls if 'Launch' in row['name']]
        self.assertEqual(len(launches), truth.n_launches())
        self.assertEqual(len({row['op_id'] for row in calls}), len(calls))
        for row in calls:
            self.assertLessEqual(session['start_ns'], row['start_ns'])
            self.assertLess(row['start_ns'], row['end_ns'])
            self.assertEqual(row['result'], 0, row)
        return calls

    def check_arguments(self, trace, pid, truth):
        named = collections.Counter()
        sizes = collections.Counter()
        calls = {row['op_id']: row['name'] for row in self.rows_of(trace, pid, 'api')}
        for row in self.rows_of(trace, pid, 'arguments'):
            if 'Launch' in calls[row['op_id']]:
                named[row['kernel']] += 1
            else:
                sizes[calls[row['op_id']].split('_')[0]] += row['bytes']
        self.assertEqual(named, {name: sum(counts) for name, counts in truth.launches_by_kernel().items()})
        self.assertEqual(sum(bytes_ for name, bytes_ in sizes.items() if 'Memcpy' in name), sum(truth.copy_bytes))
        self.assertEqual(sum(bytes_ for name, bytes_ in sizes.items() if 'Memset' in name), truth.set_bytes)
        self.assertEqual(sum(bytes_ for name, bytes_ in sizes.items() if 'alloc' in name.lower()), sum(truth.alloc_bytes))

    @needs
    def test_each_call_once(self):
        recording, path = self.start()
        seen = [(name,) + self.run_alone(name, vgpu='small:2') for name in ('saxpy', 'threads', 'pipeline', 'devices')]
        said = self.stop(recording)
        trace = harness.Trace(path)
        verified = harness.tsctl('verify', path)
        self.assertEqual(verified.status, 0, verified)
        for name, pid, truth in seen:
            with self.subTest(name):
                self.check_seen(trace, pid, truth)
                self.check_arguments(trace, pid, truth)
                session = self.session_of(trace, pid)
                self.assertEqual(session['program'], name + '-' + self.form)
                # A process that ends before /proc is read has none.
                self.assertIn(name + '-' + self.form, session.get('command_line', name + '-' + self.form))
                self.assertEqual(session['state'], 'ended')
                self.assertEqual(len({row['tid'] for row in self.rows_of(trace, pid, 'api')}), session['threads'])
        self.assertIn('host half only', said)
        self.assertEqual(trace.of('kernel', 'memcpy', 'memset'), [])

    @needs
    def test_a_runtime_calls_the_driver(self):
        recording, path = self.start()
        pid, truth = self.run_alone('python-ctypes.py', 5)
        self.stop(recording)
        trace = harness.Trace(path)
        self.check_seen(trace, pid, truth)
        calls = collections.Counter(row['domain'] for row in self.rows_of(trace, pid, 'api'))
        self.assertGreater(calls['runtime'], 0)
        # The driver's own are those that the program made itself.
        driver = sum(count for name, count in truth.calls_by_name().items() if name == 'cuLaunchKernel')
        self.assertEqual(sum(row['name'] == 'cuLaunchKernel' for row in self.rows_of(trace, pid, 'api')), driver)
        self.assertEqual({row['name'] for row in self.rows_of(trace, pid, 'api') if row['domain'] == 'driver'},
                         {'cuLaunchKernel'})

    @needs
    def test_what_nvcc_makes(self):
        path = harness.app('saxpy', 'runtime')
        recording, trace_path = self.start()
        result = harness.run([path, '50'], harness.alone_environment(TS_TRUTH=self.truth_path), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        self.stop(recording)
        trace = harness.Trace(trace_path)
        self.check_seen(trace, result.pid, self.truth())
        self.assertEqual({row['domain'] for row in self.rows_of(trace, result.pid, 'api')}, {'runtime'})
        kernels = [row.get('kernel') for row in self.rows_of(trace, result.pid, 'arguments') if 'function' in row]
        self.assertEqual(len(kernels), 50)
        self.assertEqual(len(set(kernels)), 1)
        self.assertIn('saxpy', kernels[0])

    @needs
    def test_hip(self):
        """By a library of that name that does nothing: calls, sizes and kernels are of their arguments alone."""
        library = os.path.join(harness.APPS, 'libamdhip64-standin.so')
        recording, path = self.start(libraries=library)
        result = harness.run([os.path.join(harness.APPS, 'hip-calls'), '50'], harness.alone_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        self.stop(recording)
        trace = harness.Trace(path)
        session = self.session_of(trace, result.pid)
        self.assertTrue(session['host_half_only'])
        self.assertEqual(session['lost'], {})
        calls = self.rows_of(trace, result.pid, 'api')
        self.assertEqual({row['domain'] for row in calls}, {'hip'})
        self.assertEqual(collections.Counter(row['name'] for row in calls), {
            'hipMalloc': 1, 'hipMemcpy': 1, 'hipLaunchKernel': 50, 'hipDeviceSynchronize': 1, 'hipFree': 1})
        names = {row['op_id']: row['name'] for row in calls}
        told = collections.Counter((names[row['op_id']], row.get('bytes', 0), row.get('kernel'))
                                   for row in self.rows_of(trace, result.pid, 'arguments'))
        self.assertEqual(told, {('hipMalloc', 65536, None): 1, ('hipMemcpy', 4096, None): 1,
                                ('hipLaunchKernel', 0, 'axpy'): 50})

    def burster(self, libraries=harness.VGPU, **env):
        program = subprocess.Popen(
            [self.app('bursts'), '2'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.folder, env=harness.record_environment(LD_LIBRARY_PATH=libraries, **env))
        self.addCleanup(end, program)
        return program

    def tell(self, program, order):
        program.stdin.write(order + '\n')
        program.stdin.flush()
        return program.stdout.readline()

    def pids(self, path):
        """Of all that were seen so far."""
        return [one['pid'] for one in self.info(path).get('sessions', [])]

    def wait_for_session(self, path, pid, recording):
        wait(lambda: pid in self.pids(path), recording)

    @needs
    def test_a_library_that_was_not_known(self):
        """Another file of that name, mapped before the recording begins, or after: from then on each call is seen."""
        for before in (True, False):
            with self.subTest(before=before):
                folder = self.path('libraries-%d' % before)
                os.mkdir(folder)
                shutil.copy(os.path.join(harness.VGPU, 'libcuda.so.1'), folder)
                name = 'system-%d.sbt' % before
                if before:
                    program = self.burster(folder)
                    self.tell(program, 'go 1')
                    recording, path = self.start(path=name)
                    self.assertNotIn(program.pid, self.pids(path))
                else:
                    recording, path = self.start(path=name)
                    program = self.burster(folder)
                limit = time.monotonic() + harness.SECONDS
                while program.pid not in self.pids(path):
                    self.tell(program, 'go 1')
                    self.assertLess(time.monotonic(), limit)
                since_ns = now_ns()
                self.tell(program, 'go 500')
                end(program)
                self.stop(recording)
                trace = harness.Trace(path)
                launches = [row for row in self.rows_of(trace, program.pid, 'api')
                            if row['name'] == 'cuLaunchKernel' and row['start_ns'] >= since_ns]
                self.assertEqual(len(launches), 1000)
                self.assertEqual(self.session_of(trace, program.pid)['lost'], {})

    @needs
    @unittest.skipUnless(shutil.which('unshare'), 'no unshare')
    def test_a_library_that_only_its_process_sees(self):
        """As in a container: it lies in a file system of another mount namespace."""
        folder = self.path('mounted')
        os.mkdir(folder)
        script = 'mount -t tmpfs none %s && cp %s %s && LD_LIBRARY_PATH=%s exec %s 2' % (
            folder, os.path.join(harness.VGPU, 'libcuda.so.1'), folder, folder, self.app('bursts'))
        recording, path = self.start()
        program = subprocess.Popen(['unshare', '--mount', 'sh', '-c', script], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, cwd=self.folder, env=harness.record_environment())
        self.addCleanup(end, program)
        self.assertIn('done', self.tell(program, 'go 1'))
        self.assertEqual(os.listdir(folder), [])
        limit = time.monotonic() + harness.SECONDS
        while program.pid not in self.pids(path):
            self.tell(program, 'go 1')
            self.assertLess(time.monotonic(), limit)
        since_ns = now_ns()
        self.tell(program, 'go 100')
        end(program)
        self.stop(recording)
        launches = [row for row in self.rows_of(harness.Trace(path), program.pid, 'api')
                    if row['name'] == 'cuLaunchKernel' and row['start_ns'] >= since_ns]
        self.assertEqual(len(launches), 200)

    def wait_for_command_lines(self, path, programs):
        """The daemon has read each one's command line, which it cannot do once a program is gone."""
        limit = time.monotonic() + harness.SECONDS
        while time.monotonic() < limit:
            result = harness.tsctl('info', '--json', path)
            sessions = json.loads(result.out)['sessions'] if result.status == 0 else []
            known = {session['pid'] for session in sessions if 'command_line' in session}
            if known >= {program.pid for program in programs}:
                return
            time.sleep(0.05)

    @needs
    def test_processes_at_once_and_one_that_lives_on(self):
        recording, path = self.start()
        programs = [self.burster() for _ in range(3)]
        for i, program in enumerate(programs):
            self.tell(program, 'go %d' % (100 * (i + 1)))
        self.wait_for_command_lines(path, programs)
        end(programs[0])
        programs[1].send_signal(signal.SIGKILL)
        programs[1].wait()
        self.stop(recording)
        self.assertIsNone(programs[2].poll())
        self.tell(programs[2], 'go 10')
        trace = harness.Trace(path)
        states = [self.session_of(trace, program.pid)['state'] for program in programs]
        self.assertEqual(states, ['ended', 'ended', 'stopped'])
        for i, program in enumerate(programs):
            launches = [row for row in self.rows_of(trace, program.pid, 'api') if row['name'] == self.launch]
            self.assertEqual(len(launches), 200 * (i + 1))
            self.assertIn('bursts', self.session_of(trace, program.pid)['command_line'])
            self.assertEqual(self.session_of(trace, program.pid)['lost'], {})

    @needs
    def test_stopped_and_started(self):
        recording, path = self.start()
        program = self.burster()
        self.tell(program, 'go 10')
        self.wait_for_session(path, program.pid, recording)
        daemon = int(self.child_of(recording.pid))
        env = harness.environment(TRACESMITH_CONTROL=self.control_of(daemon))
        self.assertEqual(harness.tsctl('stop', env=env).status, 0)
        # On a busy machine the probers may still take their probes away when the answer is there.
        deadline = time.monotonic() + harness.SECONDS
        while self.uprobes(daemon) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.uprobes(daemon), [])
        self.tell(program, 'go 100')
        self.assertEqual(harness.tsctl('start', env=env).status, 0)
        self.assertNotEqual(self.uprobes(daemon), [])
        self.tell(program, 'go 1000')
        end(program)
        self.stop(recording)
        trace = harness.Trace(path)
        launches = [row for row in self.rows_of(trace, program.pid, 'api') if row['name'] == self.launch]
        self.assertEqual(len(launches), 2 * 1010)
        self.assertEqual([row.get('paused', False) for row in self.rows_of(trace, program.pid, 'pause')], [True, False])

    def child_of(self, pid):
        with open('/proc/%d/task/%d/children' % (pid, pid), encoding='ascii') as children:
            return children.read().split()[0]

    def control_of(self, daemon):
        with open('/proc/%d/cmdline' % daemon, encoding='ascii') as line:
            words = line.read().split('\0')
        return words[words.index('--control-socket') + 1]

    def uprobes(self, pid):
        """Links of many probes that a daemon's probers have."""
        found = []
        for children in glob.glob('/proc/%d/task/*/children' % pid):
            with open(children, encoding='ascii') as pids:
                found += [link for child in pids.read().split() for link in self.uprobes_of(child)]
        return found

    def uprobes_of(self, pid):
        """A process that was killed does not count: on a busy machine the kernel takes minutes to remove its probes."""
        found = []
        try:
            with open('/proc/%s/stat' % pid, encoding='ascii') as stat:
                if int(stat.read().rsplit(')', 1)[1].split()[6]) & EXITING:
                    return found
        except OSError:
            return found
        for path in glob.glob('/proc/%s/fdinfo/*' % pid):
            try:
                with open(path, encoding='ascii') as info:
                    found += [line for line in info if line.startswith('link_type') and 'uprobe_multi' in line]
            except OSError:
                continue
        return found

    # ---- those that are preloaded ---------------------------------------------------------------------

    @needs
    def test_preloaded_ones_are_not_seen(self):
        """By another daemon than this one, one after the other and beside one that is not preloaded."""
        recording, path = self.start()
        other = self.burster()
        preloaded = []
        for name, *arguments in (('saxpy', 100), ('threads',), ('forks',)):
            result, traces = self.preload([harness.app(name, 'driver')] + [str(one) for one in arguments])
            self.assertEqual(result.status, 0, result)
            pids = {session['pid'] for one in traces for session in harness.Trace(one).info['sessions']}
            self.assertIn(result.pid, pids)
            preloaded.append((name, pids))
            if name != 'forks':
                self.check_truth(harness.Trace(traces[0]), self.truth())
            for one in traces:
                os.rename(one, one + '.seen')
        self.tell(other, 'go 50')
        end(other)
        self.stop(recording)
        trace = harness.Trace(path)
        for name, pids in preloaded:
            self.assertEqual([one for one in trace.info['sessions'] if one['pid'] in pids], [], name)
        self.assertEqual(sum(row['name'] == 'cuLaunchKernel' for row in self.rows_of(trace, other.pid, 'api')), 100)

    @needs
    def test_a_shim_that_was_not_known(self):
        """Its file is found when it is mapped; or the process is known by the memory that it shares with its daemon."""
        folder = self.path('shim')
        os.mkdir(folder)
        shim = shutil.copy(harness.SHIM, folder)
        recording, path = self.start(libraries=LIBRARIES.rsplit(':', 1)[0])
        preloads = ' '.join(filter(None, [harness.SANITIZER, shim]))
        env = harness.preload_environment()
        env['LD_PRELOAD'] = preloads
        env['TS_TRUTH'] = self.truth_path
        program = subprocess.Popen([harness.app('bursts', 'driver'), '2'], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, cwd=self.folder, env=env)
        self.addCleanup(end, program)
        self.tell(program, 'go 100')
        end(program)
        self.stop(recording)
        trace = harness.Trace(path)
        self.assertEqual([one for one in trace.info['sessions'] if one['pid'] == program.pid], [])

    @needs
    def test_a_command_beside_others(self):
        """The command is recorded as ever; what is started without the shim is seen from outside."""
        script = '%s 30; read end' % harness.app('saxpy', 'driver')
        recording, path = self.start('--vgpu', command=('--', 'sh', '-c', script), stdin=subprocess.PIPE)
        pid, _ = self.run_alone('saxpy', 20)
        recording.communicate('end\n', harness.SECONDS)
        self.assertEqual(recording.returncode, 0)
        trace = harness.Trace(path)
        programs = [one for one in trace.info['sessions'] if one['program'] == 'saxpy-driver']
        halves = [one for one in programs if one.get('host_half_only')]
        wholes = [one for one in programs if not one.get('host_half_only')]
        mine = [one for one in halves if one['pid'] == pid]
        self.assertEqual((len(mine), len(wholes)), (1, 1), programs)
        self.assertEqual(wholes[0]['counts']['kernel'], 30)
        numbers = {mine[0]['session']: 20, wholes[0]['session']: 30}
        launches = collections.Counter(row['session'] for row in trace.of('api') if row['name'] == 'cuLaunchKernel')
        self.assertEqual({number: launches[number] for number in numbers}, numbers)

    # ---- what people are told -------------------------------------------------------------------------

    @needs
    def test_people_are_told(self):
        recording, path = self.start()
        pid, _ = self.run_alone('saxpy', 7)
        self.stop(recording)
        for command in (['info', '--wide'], ['view'], ['view', '--stats'], ['analyze']):
            result = harness.tsctl(*command, path)
            self.assertEqual(result.status, 0, result)
            self.assertIn('ost half only', result.out, command)
        trace = harness.Trace(path)
        self.assertIn('host half only', trace.info['empty_reason'])
        analysis = json.loads(harness.tsctl('analyze', '--json', path).out)
        self.assertGreaterEqual(analysis['host_half_only'], 1)
        self.assertEqual(analysis['verdict'], 'unknown')

    @needs
    def test_nothing_to_be_seen(self):
        result = harness.run([harness.TSCTL, 'record', '--system', '-d', '200ms', '-o', self.path('none.sbt')])
        self.assertEqual(result.status, 0, result)
        self.assertTrue(harness.Trace(self.path('none.sbt')).info['finished'])

    def check_missing(self, prefix, *words):
        """The command is recorded; without one there is nothing to do. Either way it is said in one line."""
        path = self.path('recorded.sbt')
        begin = prefix + [harness.TSCTL, 'record', '-f', '-o', path, '--system']
        result = harness.run(begin + ['--vgpu', '--', harness.app('saxpy', 'driver')],
                             harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        lines = [line for line in result.err.splitlines() if 'other processes' in line]
        self.assertEqual(len(lines), 1, result)
        trace = harness.Trace(path)
        for word in words:
            self.assertIn(word, lines[0])
            self.assertIn(word, trace.info['metadata']['system_missing'])
        self.assertEqual(trace.counts['kernel'], 10)
        result = harness.run(begin, harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 125, result)
        self.assertEqual(result.err.count('\n'), 1, result)
        self.assertFalse(os.path.exists(path))

    @needs
    @unittest.skipUnless(shutil.which('setpriv'), 'no setpriv')
    def test_without_privilege(self):
        self.check_missing(['setpriv', '--bounding-set=-all', '--inh-caps=-all'], 'CAP_BPF', 'CAP_PERFMON')

    @needs
    @unittest.skipUnless(shutil.which('unshare'), 'no unshare')
    def test_in_a_container(self):
        self.check_missing(['unshare', '--pid', '--fork', '--mount-proc'], 'container')

    @needs
    @unittest.skipUnless(in_namespaces(), 'no namespaces to be had')
    def test_in_a_container_of_many_kinds(self):
        """A user of its own, as which it is root; another file where the kernel tells its types, or none."""
        empty = self.path('empty')
        open(empty, 'w').close()
        self.check_missing(['unshare', '--user', '--map-root-user'], 'CAP_BPF', 'CAP_PERFMON')
        self.check_missing(['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc'], 'container')
        for prepare in ('mount --bind "$0" /sys/kernel/btf/vmlinux', 'mount -t tmpfs none /sys/kernel'):
            self.check_missing(['unshare', '--mount', 'sh', '-c', prepare + ' && exec "$@"', empty],
                               'does not publish its types', 'CONFIG_DEBUG_INFO_BTF')

    @unittest.skipUnless(MISSING, 'it can be had')
    def test_as_it_is_here(self):
        self.check_missing([], MISSING.split(': ')[-1].split(' ')[0])


SystemOverHip = harness.over_hip(System, 'test_each_call_once', 'test_processes_at_once_and_one_that_lives_on',
                                 'test_stopped_and_started')


class Service(harness.Case):
    def setUp(self):
        super().setUp()
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        self.daemon = subprocess.Popen(
            service.command(self.folder, '--inject-socket', self.inject, '--control-socket', self.control, '--directory',
                            self.folder, '--system'), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=harness.environment(TRACESMITH_GPU_LIBRARIES=LIBRARIES))
        self.addCleanup(end, self.daemon)
        # It is ready when it answers.
        wait(lambda: self.status().get('running'), self.daemon)

    def status(self):
        result = harness.tsctl('status', '--json', env=harness.environment(TRACESMITH_CONTROL=self.control))
        return json.loads(result.out) if result.out.startswith('{') else {}

    def saxpy(self, n, env):
        result = harness.run([harness.app('saxpy', 'driver'), str(n)], env, cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return result.pid

    @needs
    def test_a_file_for_all(self):
        self.assertTrue(self.status()['system'])
        pids = {self.saxpy(n, harness.alone_environment()): n for n in (3, 4)}
        preloaded = self.saxpy(5, harness.preload_environment(TRACESMITH_SOCKET=self.inject))
        # It may not have heard yet of a program that is over, which is no reason to lose it.
        end(self.daemon)
        trace = harness.Trace(self.path('tracesmith-system.sbt'))
        sessions = {one['pid']: one['session'] for one in trace.info['sessions']}
        self.assertNotIn(preloaded, sessions)
        for pid, n in pids.items():
            self.assertEqual(sum(row['name'] == 'cuLaunchKernel' and row['session'] == sessions[pid]
                                 for row in trace.of('api')), n)
        own = glob.glob(self.path('%d/*.sbt' % os.getuid()))
        self.assertEqual(len(own), 1)
        self.assertEqual(harness.Trace(own[0]).counts['kernel'], 5)

    def burster(self):
        """Launches as often as it is told."""
        program = subprocess.Popen(
            [harness.app('bursts', 'driver'), '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.folder, env=harness.alone_environment())
        self.addCleanup(end, program)

        def go(n):
            program.stdin.write('go %d\n' % n)
            program.stdin.flush()
            return program.stdout.readline()
        return program, go

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=harness.environment(TRACESMITH_CONTROL=self.control))

    def live(self, pid):
        sessions = json.loads(self.tsctl('sessions', '--json').out)['sessions']
        return next((one for one in sessions if one['pid'] == pid), None)

    @needs
    def test_who_uses_the_gpu(self):
        """While they run, beside those that are preloaded: marked, and with what they called so far."""
        preloaded = subprocess.Popen(
            [harness.app('bursts', 'driver'), '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.folder, env=harness.preload_environment(TRACESMITH_SOCKET=self.inject))
        self.addCleanup(end, preloaded)
        program, go = self.burster()
        go(25)
        wait(lambda: (self.live(program.pid) or {'counts': {}})['counts'].get('api', 0) >= 25 and
             self.live(preloaded.pid), self.daemon)
        seen, whole = self.live(program.pid), self.live(preloaded.pid)
        self.assertEqual((seen['program'], seen['uid'], seen['state']), ('bursts-driver', os.getuid(), 'recording'))
        self.assertTrue(seen['host_half_only'])
        self.assertEqual(seen['path'], self.path('tracesmith-system.sbt'))
        self.assertNotEqual(seen['session'], whole['session'])
        self.assertFalse(whole.get('host_half_only', False))
        for command in ('sessions', 'status'):
            lines = {line.split()[1]: line.split() for line in self.tsctl(command).out.splitlines()
                     if 'bursts-driver' in line}
            self.assertEqual((lines[str(program.pid)][2], lines[str(preloaded.pid)][2]), ('observed', 'recording'))
        self.assertGreaterEqual(self.status()['sessions_live'], 2)

        watch = subprocess.Popen(
            [harness.TSCTL, 'watch', '--json', '--gpu', '-i', '100ms', str(program.pid)], stdout=subprocess.PIPE, text=True,
            env=harness.environment(TRACESMITH_CONTROL=self.control))
        self.addCleanup(watch.stdout.close)
        self.addCleanup(end, watch)
        rows, rate = json.loads(watch.stdout.readline())['rows'], 0
        go(100)
        while not rate:
            line = json.loads(watch.stdout.readline())
            self.assertTrue(line['host_half_only'])
            rate = line['api_per_s']
        self.assertGreater(line['rows'], rows)
        self.assertIn('observed', self.tsctl('watch', '-n', '1', '-i', '10ms', str(program.pid)).out)

        # Its trace is to be had by its pid, up to what it called before that was asked for.
        result = self.tsctl('info', '--json', '--session', str(program.pid))
        self.assertEqual(result.status, 0, result)
        session, = [one for one in json.loads(result.out)['sessions'] if one['pid'] == program.pid]
        self.assertGreaterEqual(session['counts']['api'], 125)

        result = self.tsctl('stop', str(program.pid))
        self.assertEqual(result.status, 2, result)
        self.assertIn('has no preloaded libtsinject.so', result.err)
        self.assertEqual(self.tsctl('stop').status, 0)
        wait(lambda: self.live(program.pid)['paused'], self.daemon)
        self.assertIn('observed, paused', self.tsctl('sessions').out)
        self.assertEqual(self.tsctl('start').status, 0)
        end(program)
        wait(lambda: not self.live(program.pid), self.daemon)
        self.assertGreaterEqual(self.status()['sessions_total'], 2)

    @needs
    @unittest.skipIf(os.geteuid(), 'only root can be somebody else')
    def test_who_may_have_the_file(self):
        """It has everybody's calls: of one's own process another user gets no trace, and has nothing written, as often as one asks."""
        others = subprocess.Popen(
            [harness.app('bursts', 'driver'), '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd='/', env=harness.alone_environment(), user=65534, group=65534, extra_groups=[])
        self.addCleanup(end, others)
        program, go = self.burster()
        others.stdin.write('go 25\n')
        others.stdin.flush()
        go(25)
        wait(lambda: all((self.live(one.pid) or {'counts': {}})['counts'].get('api', 0) >= 25 for one in (others, program)),
             self.daemon)
        number = self.live(others.pid)['session']
        os.chmod(self.folder, 0o755)
        os.chmod(self.control, 0o666)
        # OpenTrace, Flush and Query (state), of a session.
        which = control.number(1 << 3) + control.number(number)
        requests = (control.field(3, which), control.field(control.FLUSH, which),
                    control.field(control.QUERY, which + control.field(10, control.field(1, b'\x08\x00'))))
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            said = b''
            try:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                client = control.Control(self.control)
                for request in requests:
                    client.send(request)
                    answer = client.answer()[2]
                    error = control.fields(answer[control.ERROR])[1] >> 1 if control.ERROR in answer else \
                        control.fields(answer[control.FLUSHED])[1]
                    said += b'%d ' % error
            finally:
                os.write(writer, said)
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader, 'rb') as stream:
            self.assertEqual(stream.read().split(), [b'%d' % errno.EACCES, b'0', b'%d' % errno.EACCES])
        # The daemon's own user may.
        self.assertEqual(self.tsctl('info', '--json', '--session', str(others.pid)).status, 0)

    @needs
    def test_killed(self):
        """Nothing stays behind, what was written is there, and the program runs on."""
        program, go = self.burster()
        go(25)
        path = self.path('tracesmith-system.sbt')

        def seen():
            result = harness.tsctl('info', '--json', path)
            return [one['counts'].get('api', 0) for one in json.loads(result.out)['sessions']
                    if one['pid'] == program.pid] if not result.status else []
        wait(lambda: seen() and seen()[0] >= 26, self.daemon)
        things = held(self.daemon.pid)[0]
        self.assertIn(PROGRAM, {kind for kind, _ in things})
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()
        limit = time.monotonic() + harness.SECONDS
        while any(exists(thing) for thing in things):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.02)
        self.assertIn('done', go(10))
        self.assertEqual(harness.tsctl('repair', path).status, 0)
        self.assertEqual(seen()[0] >= 26, True)


if __name__ == '__main__':
    harness.main()
