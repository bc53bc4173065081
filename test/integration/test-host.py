#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host sampler: threads of a program are sampled while they run on a processor, and reports name the code.

test/apps/host.c and host.py spend 70 % of their time in preprocess() and 30 % in load(), and print what their thread's clock
measured. Samples and `tsctl gaps` have to find the same shares. TS_SOAK=1: longer runs, narrower limits, and a table.
"""
import collections
import concurrent.futures
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from kernel import end

SOAK = os.environ.get('TS_SOAK') == '1'
ROUND_MS = 100
# A sanitizer looks at the same code in fewer rounds; what the samples come to is compared closely in the build without.
ROUNDS = 110 if SOAK else 6 if harness.SANITIZER else 20
POINTS = 3 if SOAK else 20 if harness.SANITIZER else 6
PERIOD_NS = 1000000000 // 199
NOBODY = 65534
SAMPLES = '--kernel-events=samples'
HOST_PY = os.path.join(harness.SOURCE, 'test', 'apps', 'host.py')
NATIVE = ('host-c-pointers', 'host-c-no-pointers', 'host-cxx-pointers', 'host-cxx-no-pointers')

# A function that uses its thread's processor for so many nanoseconds.
WORK = harness.DRIVER_PROGRAM + '''
import os, signal, threading, time

def work(ns):
    begun = time.thread_time_ns()
    while time.thread_time_ns() - begun < ns:
        for i in range(2000):
            pass
    return time.thread_time_ns() - begun

'''


def interpreters():
    """One of each version from 3.8 to 3.13 that is installed."""
    spec = importlib.util.spec_from_file_location(
        'python_stacks', os.path.join(harness.SOURCE, 'test', 'unit', 'inject', 'stacks', 'test-python.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {}
    for (version, _), path in sorted(module.interpreters().items()):
        # The one that runs this test comes first of its version.
        if version not in found or os.path.realpath(path) == os.path.realpath(sys.executable):
            found[version] = path
    return {'python%d.%d' % version: path for version, path in found.items()}


PYTHONS = interpreters()
WITHOUT_ROOT = (NATIVE[0], *list(PYTHONS)[-1:])


def paranoid():
    try:
        with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as file:
            return int(file.read())
    except OSError:
        return None


def closed_folder(path):
    """The highest folder above the path that others may not enter; None: there is none."""
    found, above = None, os.path.dirname(os.path.realpath(path))
    while above != '/':
        if not os.stat(above).st_mode & 0o001:
            found = above
        above = os.path.dirname(above)
    return found


def record(folder, argv, options, prefix=()):
    """Result and trace's path of a recording in a folder; `prefix`: a command that runs `tsctl record`."""
    path = os.path.join(folder, 'recorded.sbt')
    return harness.run([*prefix, harness.TSCTL, 'record', '-q', '-f', '-o', path, *options, '--', *argv],
                       harness.record_environment(XDG_RUNTIME_DIR=folder, HOME=folder), cwd=folder), path


def ordinary_user(folder, needed):
    """A command that makes what follows an ordinary user's, with that folder of its own; `needed` is a file that it reads."""
    if os.geteuid():
        raise unittest.SkipTest('only root can be somebody else')
    if paranoid() > 2:
        raise unittest.SkipTest('perf_event_paranoid is %d: only root may sample' % paranoid())
    if not shutil.which('setpriv'):
        raise unittest.SkipTest('no setpriv')
    if closed_folder(harness.TSCTL):
        raise unittest.SkipTest('%s is for its owner alone' % closed_folder(harness.TSCTL))
    os.chown(folder, NOBODY, NOBODY)
    prefix = ['setpriv', '--reuid=%d' % NOBODY, '--regid=%d' % NOBODY, '--clear-groups']
    return opened(folder, needed) + prefix if closed_folder(needed) else prefix


def opened(folder, needed):
    """A command under which everybody can read the program `needed` and what lies beside its folder, where that is closed."""
    held = folder + '-held'
    os.mkdir(held)
    script = ('mount --bind "$1" "$2" && mount -t tmpfs -o mode=755 none "$0" && mkdir -p "$1" && mount --move "$2" "$1" && '
              'shift 2 && exec "$@"')
    beside = os.path.dirname(os.path.dirname(os.path.realpath(needed)))
    prefix = ['unshare', '--mount', 'sh', '-c', script, closed_folder(needed), beside, held]
    if harness.run(prefix + ['true']).status:
        raise unittest.SkipTest('%s is for its owner alone' % closed_folder(needed))
    return prefix


def setUpModule():
    if not os.path.exists('/proc/sys/kernel/perf_event_paranoid'):
        raise unittest.SkipTest('this kernel has no perf events')


class Host(harness.Case):
    """Records programs with samples, and looks at them."""

    def record_samples(self, argv, *options):
        """(result, trace) of a recording by whoever runs this test."""
        result, path = record(self.folder, argv, options or ('--vgpu', SAMPLES))
        return result, harness.Trace(path)

    def samples(self, trace):
        result = harness.tsctl('view', '--type', 'sample', '--json', '--stacks', trace.path)
        self.assertEqual(result.status, 0, result)
        rows = [json.loads(line) for line in result.out.splitlines()]
        missing = trace.info['metadata'].get('samples_missing', '')
        if not rows and ('not permitted' in missing or 'no perf events' in missing):
            self.skipTest(missing)
        return rows

    def functions(self, row):
        """{function: (file, line)} of a sample's stack."""
        stack = row.get('stack') or {}
        found = {one['function'].split('(')[0]: (one.get('file', ''), one.get('line', 0))
                 for one in stack.get('symbols', []) if one.get('function')}
        for frame in stack.get('frames', []):
            match = re.fullmatch(r'(\S+) \((.*):(\d+)\)', frame)
            if match:
                found[match[1]] = match[2], int(match[3])
        return found

    def of_function(self, rows, name):
        return [row for row in rows if name in self.functions(row)]

    def in_tracer(self, row):
        """In the shim, which uses more stack at times than a sample copies. With a sanitizer's larger frames the virtual GPU does, too."""
        ours = ('libtsinject', harness.VGPU) if harness.SANITIZER else ('libtsinject',)
        return any(part in one.get('module', '') for one in row['stack'].get('symbols', []) for part in ours)

    def in_lazy_binding(self, row):
        """The loader's trampoline has its frame in rbx, which is not among the registers of a sample."""
        return any(one.get('function', '').startswith('_dl_runtime_resolve') for one in row['stack'].get('symbols', [])[-1:])

    def lost_samples(self, trace):
        """Samples that the kernel had no room for: where other programs keep the sampler from its processor."""
        return sum(row.get('count', 0) for row in trace.of('loss'))


def measured(result):
    match = re.search(r'preprocess (\d+) load (\d+)', result.out)
    assert result.status == 0 and match, result
    return int(match[1]), int(match[2])


class Shares(Host):
    """
    A program whose shares are known: in the rows, in `gaps`, in `analyze`. By root and by an ordinary user, two recordings at once: what
    others do on the machine changes no processor time. An ordinary user's rights are the same for each program, so only the soak records
    all of them without root.
    """

    order = []

    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix='ts-test-')
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        os.chmod(cls.top, 0o755)
        cls.pool = concurrent.futures.ThreadPoolExecutor(2)
        cls.addClassCleanup(cls.pool.shutdown)
        cls.recordings = {}

    @classmethod
    def begin(cls, form, ordinary):
        if (form, ordinary) not in cls.recordings:
            cls.recordings[form, ordinary] = cls.pool.submit(cls.make, form, ordinary)
        return cls.recordings[form, ordinary]

    @classmethod
    def make(cls, form, ordinary):
        folder = os.path.join(cls.top, '%s-%s' % (form, 'ordinary' if ordinary else 'own'))
        os.mkdir(folder)
        program = [PYTHONS[form], HOST_PY] if form in PYTHONS else [harness.app(form)]
        prefix = ordinary_user(folder, program[0]) if ordinary else []
        return record(folder, program + [str(ROUNDS), str(ROUND_MS)], ['--vgpu=h200,clock=host', SAMPLES], prefix)

    def gaps(self, trace):
        result = harness.tsctl('gaps', '--json', '--limit', '10000', trace.path)
        self.assertEqual(result.status, 0, result)
        return json.loads(result.out)

    def own_code(self, gaps):
        """Processor time of the functions that `gaps` found in the gaps' own code."""
        ns = collections.Counter()
        for part in gaps['parts']:
            if part['cause'] == 'host' and 'function' in part:
                ns[part['function'].split('(')[0]] += part['ns']
        return ns

    def check_near(self, what, shares, truth):
        """`shares`: weights by function. In percent, of all that was sampled."""
        total = sum(shares.values())
        self.assertGreater(total, 0, what)
        told = [100 * shares[name] / total for name in ('preprocess', 'load')]
        for one, known in zip(told, truth):
            self.assertLessEqual(abs(one - known), POINTS, '%s: %s, not %s' % (what, told, truth))
        return told

    def check_frames(self, rows, form):
        source = 'host.py' if form in PYTHONS else 'host.c'
        # The first deep stack of a thread that had flat ones is cut.
        cut = [row for row in rows if (row.get('stack') or {}).get('truncated') and not self.in_tracer(row) and
               not self.in_lazy_binding(row)]
        self.assertEqual(len(cut), len({row['tid'] for row in cut}), cut)
        for name in ('preprocess', 'load', 'main'):
            places = {self.functions(row)[name] for row in self.of_function(rows, name)}
            self.assertTrue(places, name)
            self.assertEqual({os.path.basename(file) for file, _ in places}, {source}, name)
            self.assertGreater(min(line for _, line in places), 0, name)
        # Innermost first: neither stands below main().
        for name in ('preprocess', 'load'):
            row = self.of_function(rows, name)[0]
            names = list(self.functions(row))
            self.assertLess(names.index(name), names.index('main'), row)

    def check_count(self, trace, gaps, rows, total_ns):
        """One sample in each period of processor time, from when the sampler is there: before the first half is over."""
        begun = rows[0]['start_ns']
        whole = [gap for gap in gaps['longest'] if gap['start_ns'] >= begun]
        if harness.SANITIZER and len(whole) < ROUNDS // 2:
            return 0
        self.assertGreaterEqual(len(whole), ROUNDS // 2)
        n = sum(part.get('samples', 0) for gap in whole for part in gap['parts'] if 'function' in part)
        expected = total_ns / ROUNDS * len(whole) / PERIOD_NS
        self.assertLessEqual(n, expected * 1.1)
        self.assertGreaterEqual(n + self.lost_samples(trace), expected * 0.9)
        return n / expected

    def check_reports(self, trace, form, truth_ns):
        place = r'\(host\.py:\d+\)' if form in PYTHONS else r'\(host\.c:\d+\)'
        idle_ns = json.loads(harness.tsctl('analyze', '--json', trace.path).out)['host_ns']
        for command in ('gaps', 'analyze'):
            result = harness.tsctl(command, trace.path)
            self.assertEqual(result.status, 0, result)
            for name, ns in zip(('preprocess', 'load'), truth_ns):
                # `analyze` leaves out code of under 1 % of the idle time. On a busy machine the program waits for most of it.
                if command == 'gaps' or ns > idle_ns / 50:
                    self.assertRegex(result.out, r'\b%s(\([a-z ]+\))? %s' % (name, place))

    def check(self, form, ordinary):
        recording = self.begin(form, ordinary)
        # The next one runs meanwhile.
        for other in self.order[self.order.index((form, ordinary)) + 1:][:1]:
            self.begin(*other)
        result, path = recording.result()
        trace, truth_ns = harness.Trace(path), measured(result)
        truth = [100 * ns / sum(truth_ns) for ns in truth_ns]
        rows, gaps = self.samples(trace), self.gaps(trace)
        self.check_frames(rows, form)
        counted = {name: len(self.of_function(rows, name)) for name in ('preprocess', 'load')}
        in_rows = self.check_near('rows', counted, truth)
        in_gaps = self.check_near('gaps', self.own_code(gaps), truth)
        of_expected = self.check_count(trace, gaps, rows, sum(truth_ns))
        self.check_reports(trace, form, truth_ns)
        self.check_rights(trace, ordinary)
        if SOAK:
            print('%-22s %-12s %4.1f s, preprocess %.1f %%: in rows %.1f, in gaps %.1f; %d samples, %.3f of those expected, %d lost' % (
                form, 'without root' if ordinary or os.geteuid() else 'root', sum(truth_ns) / 1e9, truth[0], in_rows[0],
                in_gaps[0], len(rows), of_expected, self.lost_samples(trace)), flush=True)

    def check_rights(self, trace, ordinary):
        """It is said where time in the kernel is missing."""
        missing = 'time in the kernel is not sampled' in trace.info['metadata'].get('samples_missing', '')
        if ordinary:
            self.assertEqual(missing, paranoid() == 2, trace.info['metadata'])
        if missing:
            self.assertFalse(any(row.get('kernel') for row in trace.of('sample')))
        elif not ordinary:
            self.assertEqual(trace.info['metadata'].get('samples_missing', ''), '')


def add_shares(form):
    def test(self, ordinary=False):
        self.check(form, ordinary)

    name = 'test_' + form.replace('-', '_').replace('.', '_')
    setattr(Shares, name, test)
    Shares.order.append((form, False))
    if SOAK or form in WITHOUT_ROOT:
        setattr(Shares, name + '_without_root', lambda self: test(self, True))
        Shares.order.append((form, True))


# As unittest sorts the tests.
for each_form in sorted((*NATIVE, *PYTHONS), key=lambda form: form.replace('-', '_').replace('.', '_')):
    add_shares(each_form)


class Sampling(Host):
    """When threads are sampled, how often, and which."""

    def test_period(self):
        """Five times as often where that is asked for."""
        program = harness.app('host-c-pointers') if self.form == 'driver' else self.app('host')
        result, trace = self.record_samples([program, '10', '100'], '--vgpu',
                                            '--kernel-events=samples:1ms')
        total_ns = sum(measured(result))
        rows = self.samples(trace)
        self.assertEqual({row['period_ns'] for row in rows}, {1000000})
        n = len(self.of_function(rows, 'preprocess')) + len(self.of_function(rows, 'load'))
        self.assertLessEqual(n, 1.1 * total_ns / 1000000)
        # On a busy machine the sampler comes late, at the beginning and later.
        self.assertGreaterEqual(n + self.lost_samples(trace), 0.8 * total_ns / 1000000)

    def test_a_thread_that_sleeps(self):
        result, trace = self.record_samples(['python3', '-c', WORK + '''
work(300000000)
begun = time.monotonic_ns()
time.sleep(1)
print(begun, time.monotonic_ns())
'''])
        self.assertEqual(result.status, 0, result)
        begun, ended = map(int, result.out.split())
        rows = self.samples(trace)
        self.assertGreater(len(self.of_function(rows, 'work')), 30)
        self.assertLessEqual(len([row for row in rows if begun <= row['start_ns'] <= ended]), 2)

    def test_all_threads(self):
        """A second thread begins when sampling goes on. Each row is of the thread that ran."""
        result, trace = self.record_samples(['python3', '-c', WORK + '''
found = []

def second():
    found.append((threading.get_native_id(), work(800000000)))

work(300000000)
thread = threading.Thread(target=second)
thread.start()
found.append((threading.get_native_id(), work(800000000)))
thread.join()
for tid, ns in found:
    print(tid, ns)
'''])
        self.assertEqual(result.status, 0, result)
        threads = {int(tid): int(ns) for tid, ns in map(str.split, result.out.splitlines())}
        self.assertEqual(len(threads), 2)
        rows = self.samples(trace)
        main, = {row['tid'] for row in self.of_function(rows, '<module>')}
        seconds = self.of_function(rows, 'second')
        (other, other_ns), = [thread for thread in threads.items() if thread[0] != main]
        self.assertEqual({row['tid'] for row in seconds}, {other})
        self.assertIn(main, threads)
        self.assertLessEqual(len(seconds), 1.1 * other_ns / PERIOD_NS)
        # It is found a moment after it began.
        self.assertGreaterEqual(len(seconds) + self.lost_samples(trace), 0.6 * other_ns / PERIOD_NS)

    def test_killed(self):
        result, trace = self.record_samples(['python3', '-c', WORK + '''
print(work(1000000000), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
'''])
        self.assertEqual(result.status, 128 + signal.SIGKILL, result)
        n = len(self.of_function(self.samples(trace), 'work'))
        expected = int(result.out) / PERIOD_NS
        self.assertLessEqual(n, 1.1 * expected)
        self.assertGreaterEqual(n + self.lost_samples(trace), 0.8 * expected)

    def test_stop_and_start(self):
        path = self.path('recorded.sbt')
        env = harness.record_environment(XDG_RUNTIME_DIR=self.folder)
        recording = subprocess.Popen(
            [harness.TSCTL, 'record', '-q', '-o', path, '--vgpu', SAMPLES, '--', 'python3', '-c', WORK + '''
print(os.getpid(), flush=True)
for line in sys.stdin:
    begun = time.monotonic_ns()
    work(int(line) // 2)
    middle = time.monotonic_ns()
    work(int(line) // 2)
    print(begun, middle, time.monotonic_ns(), flush=True)
'''], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.addCleanup(end, recording)
        pid = recording.stdout.readline().decode().strip()
        limit = time.monotonic() + harness.SECONDS
        while pid not in harness.tsctl('sessions', env=env).out and time.monotonic() < limit:
            time.sleep(0.02)

        def work():
            recording.stdin.write(b'600000000\n')
            recording.stdin.flush()
            return [int(time_ns) for time_ns in recording.stdout.readline().split()]

        on = work()
        self.assertEqual(harness.tsctl('stop', pid, env=env).status, 0)
        off = work()
        self.assertEqual(harness.tsctl('start', pid, env=env).status, 0)
        again = work()
        recording.communicate(b'', harness.SECONDS)
        self.assertEqual(recording.returncode, 0)
        trace = harness.Trace(path)
        starts = [row['start_ns'] for row in self.samples(trace)]

        def half(times):
            """Samples of the second half: the sampler hears of a change a moment later."""
            return len([start for start in starts if times[1] <= start < times[2]])

        expected = 300000000 / PERIOD_NS
        self.assertEqual(half(off), 0)
        for times in (on, again):
            self.assertLessEqual(half(times), expected * 1.1 + 1)
            self.assertGreaterEqual(half(times) + self.lost_samples(trace), expected * 0.8)

    def test_program_is_untouched(self):
        """No signal, no timer, no thread of the program's own: with samples it finds itself as it is without."""
        program = WORK + '''
came = []

def look():
    with open('/proc/self/status') as file:
        # SigQ counts signals of all processes of the user.
        lines = [line for line in file if line.startswith(('SigPnd', 'ShdPnd', 'SigBlk', 'SigIgn', 'SigCgt', 'Threads', 'TracerPid'))]
    timers = open('/proc/self/timers').read() if os.path.exists('/proc/self/timers') else ''
    return [len(os.listdir('/proc/self/task')), lines, timers, [signal.getitimer(which) for which in range(3)],
            len(os.listdir('/proc/self/fd')), came]

found = [look()]
for number in range(1, signal.NSIG):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        try:
            signal.signal(number, lambda number, frame: came.append(number))
        except (OSError, ValueError):
            pass
found.append(look())
work(500000000)
found.append(look())
assert not cuda.cuCtxSynchronize()
found.append(look())
print(found)
'''
        found = {}
        for options in ((), (SAMPLES,)):
            result, trace = self.record_samples(['python3', '-c', program], '--vgpu', *options)
            self.assertEqual(result.status, 0, result)
            found[options] = result.out
            self.assertEqual(bool(self.of_function(self.samples(trace), 'work')), bool(options))
        self.assertEqual(*found.values())
        self.assertIn('[]]', found[()])


SamplingOverHip = harness.over_hip(Sampling, 'test_period')


if __name__ == '__main__':
    harness.main()
