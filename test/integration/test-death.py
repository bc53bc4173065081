#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random points, of the application and of the daemon: what was committed is in the trace.

`--points N`: so many kills of an application, and so many of a daemon, in programs of one process and of several; 10 in
the ordinary run, 200 in the soak. `--launches N`: of a program that is to lose nothing; 10000000 in the soak. A point that fails names its seed; `--seed N` begins with that one.
"""
import collections
import glob
import json
import os
import random
import signal
import subprocess
import time

import control
import harness
import service
from processes import descendants, kill, option, processes_with, words_of

POINTS = 10
SEED = None
THREADS = 3
# A sanitizer makes a round several times slower, so that fewer last as long.
ROUNDS = 60 if harness.SANITIZER else 150
PROCESSES = 3
# Of the programs that lose nothing, from eight threads; and for how long their daemon stands still.
LAUNCHES = 30000 if harness.SANITIZER else 100000
STOP_S = 2


def is_dead(pid):
    """All its threads; it may be there yet for its parent to ask about."""
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8', errors='replace') as stream:
            return stream.read().rsplit(')', 1)[1].split()[0] in 'ZX' and len(os.listdir('/proc/%d/task' % pid)) < 2
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(what, name):
    end = time.monotonic() + harness.SECONDS
    while not what():
        if time.monotonic() > end:
            raise AssertionError('%s did not come' % name)
        time.sleep(0.01)


def kill_wholly(pid):
    """It writes nothing more once this returns, however long a signal takes to be heard."""
    kill(pid)
    until(lambda: is_dead(pid), 'the end of %d' % pid)


class Death(harness.Case):
    duration = {}

    def setUp(self):
        super().setUp()
        self.counted = collections.Counter()
        self.processes = []
        self.root, self.n_folders = self.folder, 0

    # ---- running ------------------------------------------------------------------------------

    def argv(self, processes, rounds=ROUNDS):
        return [self.app('workers'), str(rounds), str(THREADS), str(processes)]

    def expected(self, processes, rounds=ROUNDS):
        return 'workers: %d rounds of %d threads in %d processes\n' % (rounds, THREADS, processes)

    def start(self, argv, environment):
        with open(self.path('out'), 'wb') as out, open(self.path('err'), 'wb') as err:
            process = subprocess.Popen(argv, env=environment, cwd=self.folder, stdout=out, stderr=err,
                                       stdin=subprocess.PIPE, start_new_session=True)
        self.processes.append(process)
        self.addCleanup(self.end)
        return process

    def end(self):
        """Whatever was started, with what it left behind."""
        while self.processes:
            process = self.processes.pop()
            process.stdin.close()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def text(self, name):
        with open(self.path(name), encoding='utf-8') as stream:
            return stream.read()

    def points(self, kind, share, how):
        """Calls how(random) once for each of this test's share of the points, in an empty folder each time."""
        seed = SEED if SEED is not None else random.SystemRandom().randrange(1 << 32)
        n = -(-POINTS // share)
        for point in range(n):
            self.empty()
            with self.subTest(kind=kind, seed=seed + point):
                how(random.Random(seed + point))
            self.end()
        print('%s: %d points, seed %d: %s' % (kind, n, seed, dict(self.counted)))

    def empty(self):
        """From now on all is in another folder: what a daemon of the last one writes yet does not come here."""
        self.n_folders += 1
        self.folder = os.path.join(self.root, str(self.n_folders))
        os.mkdir(self.folder)
        self.truth_path = self.path('truth')

    def measured(self, command):
        """How long a run of command()'s (argv, environment) takes that nobody kills; once for each test."""
        if self.id() not in self.duration:
            start = time.monotonic()
            result = harness.run(*command(), cwd=self.folder)
            self.assertEqual(result.status, 0, result)
            Death.duration[self.id()] = time.monotonic() - start
            self.empty()
        return self.duration[self.id()]

    def recording(self, processes):
        """(argv, environment) of a program under `tsctl record`: one that lasts as long as the program does."""
        return ([harness.TSCTL, 'record', '-q', '-o', self.path('recorded.sbt'), '--vgpu', '--symbols', 'none', '--']
                + self.argv(processes),
                harness.record_environment(TS_TRUTH=self.truth_path))

    def alone(self):
        """(argv, environment) of a program with a daemon of its own."""
        return self.argv(1), harness.preload_environment('', TS_TRUTH=self.truth_path, XDG_RUNTIME_DIR=self.folder)

    # ---- what must hold -----------------------------------------------------------------------

    def truths(self):
        """{pid: truth} of every process that came so far as to have one."""
        found = {}
        for path in glob.glob(self.path('truth*')):
            try:
                truth = harness.truth_module.read(path)
            except ValueError:
                continue
            found[truth.pid] = truth
        return found

    def opens(self, path):
        """It can be read; `repair` gives it an end; then it is verified. Returns it as it was."""
        trace = harness.Trace(path)
        self.assertEqual(sum(trace.counts.get(kind, 0) for kind in harness.EVENT_TYPES), len(
            trace.of(*harness.EVENT_TYPES)))
        repaired = harness.tsctl('repair', path)
        self.assertEqual(repaired.status, 0, repaired)
        verified = harness.tsctl('verify', path)
        self.assertEqual(verified.status, 0, verified)
        after = harness.Trace(path)
        self.assertTrue(after.info['finished'])
        self.assertEqual(after.counts, trace.counts, 'repair lost rows')
        return trace

    def sessions_of(self, traces, pid):
        """[(trace, session number)] of a process."""
        return [(trace, session['session']) for trace in traces for session in trace.info['sessions']
                if session['pid'] == pid]

    def rows_of(self, traces, pid, *types):
        return [row for trace, number in self.sessions_of(traces, pid) for row in trace.of(*types)
                if row['session'] == number]

    def check_process(self, traces, truth, ahead_by, undrained=0):
        """All that the process committed is there: each call once, its device row there or counted. A thread that
        was killed between a call and its count has done one more than it knows. Of a process that runs on after the
        recording `undrained` calls may be missing, for so many are told as lost; and ahead_by None is one of which nothing is known."""
        calls, device = {}, collections.defaultdict(list)
        for row in self.rows_of(traces, truth.pid, 'api'):
            calls[row['op_id']] = row
        for row in self.rows_of(traces, truth.pid, *harness.DEVICE_TYPES):
            device[row['op_id']].append(row)
        found = collections.Counter(row['name'] for row in calls.values())
        if ahead_by is not None:
            difference = {name: found[name] - count for name, count in truth.calls_by_name().items()}
            short = -sum(min(n, 0) for n in difference.values())
            self.assertLessEqual(short, undrained, '%d: %s, lost %s, sessions %s' % (
                truth.pid, difference, [trace.lost for trace in traces], [trace.info['sessions'] for trace in traces]))
            self.assertLessEqual(sum(difference.values()), ahead_by)
        expected = {op for op, row in calls.items() if row.get('expects_device')}
        return len(expected - set(device)), len(set(device) - expected)

    def check_lost(self, traces, unjoined, unjoined_device, undrained=0):
        lost = collections.Counter()
        for trace in traces:
            lost.update(trace.lost)
        self.assertEqual(dict(lost), {key: value for key, value in
                                      (('unjoined_api', unjoined), ('unjoined_device', unjoined_device),
                                       ('undrained', undrained))
                                      if value})

    # ---- the application is the victim --------------------------------------------------------

    def kill_application(self, chance, processes):
        delay = chance.uniform(0, self.measured(lambda: self.recording(processes)))
        process = self.start(*self.recording(processes))
        time.sleep(delay)
        # Neither the daemon, nor whoever is about to become it.
        victims = [pid for pid in descendants(process.pid) if words_of(pid)[0] == self.argv(processes)[0].encode()]
        command = victims[:1]
        victims = chance.sample(victims, chance.randint(1, len(victims))) if victims else []
        before = self.truths()
        # The command last: with it the recording ends, and whoever were killed after that would have done more.
        for pid in sorted(victims, key=command.__contains__):
            kill(pid)
        # When the command ends so does the recording; what it left behind runs on without it.
        orphans = set(command) <= set(victims)
        process.stdin.close()
        status = process.wait(harness.SECONDS * 4)
        self.counted['killed' if status == 137 else 'status %d' % status] += 1
        if not os.path.exists(self.path('recorded.sbt')):
            self.assertFalse(self.truths(), 'a program ran, and there is no trace')
            self.counted['before the trace'] += 1
            return
        if not status:
            self.assertEqual(self.text('out'), self.expected(processes))
        self.assertEqual(self.text('err'), '')
        trace = self.opens(self.path('recorded.sbt'))
        self.assertTrue(trace.info['finished'])
        unjoined = unjoined_device = 0
        for pid, truth in self.truths().items():
            ahead_by, may_miss = THREADS if pid in victims else 0, 0
            if orphans and pid not in victims:
                may_miss = trace.lost.get('undrained', 0)
                ahead_by = None
                if pid in before:
                    ahead_by = sum(truth.calls) - sum(before[pid].calls) + THREADS
                    truth = before[pid]
            missing, alone = self.check_process([trace], truth, ahead_by, may_miss)
            if ahead_by == 0:
                self.assertEqual((missing, alone), (0, 0))
                self.assertTrue(truth.finished)
            unjoined, unjoined_device = unjoined + missing, unjoined_device + alone
        self.check_lost([trace], unjoined, unjoined_device, trace.lost.get('undrained', 0) if orphans else 0)

    def test_application(self):
        self.points('application', 3, lambda chance: self.kill_application(chance, 1))

    def test_applications(self):
        self.points('applications', 3, lambda chance: self.kill_application(chance, PROCESSES))

    def kill_alone(self, chance):
        """Nobody but the shim: its private daemon finishes the file after the program's death."""
        delay = chance.uniform(0, self.measured(self.alone))
        process = self.start(*self.alone())
        time.sleep(delay)
        process.kill()
        status = process.wait()
        self.counted['killed' if status == -9 else 'status %d' % status] += 1
        truths = self.truths()
        if not sum(sum(truth.calls) for truth in truths.values()):
            self.counted['before the first call'] += 1
            return
        traces = self.traces_appear()
        self.assertEqual(len(traces), 1, traces)
        self.finished_trace(traces[0])
        trace = self.opens(traces[0])
        self.check_lost([trace], *self.check_process([trace], truths[process.pid], THREADS))

    def test_application_alone(self):
        self.points('application alone', 3, self.kill_alone)

    # ---- the daemon is the victim -------------------------------------------------------------

    def check_partial(self, path, before):
        """A file whose daemon died: it opens up to its last complete block, and holds nothing twice."""
        if not os.path.exists(path):
            self.counted['before the trace'] += 1
            return
        if harness.tsctl('info', path).status and os.path.getsize(path) < before:
            self.counted['before its header'] += 1
            return
        trace = self.opens(path)
        calls = collections.Counter((row['session'], row['op_id']) for row in trace.of('api'))
        self.assertLessEqual(max(calls.values(), default=0), 1, 'told twice')
        for pid, truth in self.truths().items():
            found = collections.Counter(row['name'] for row in self.rows_of([trace], pid, 'api'))
            for name, count in truth.calls_by_name().items():
                self.assertLessEqual(found[name], count)

    def kill_recorder(self, chance, processes):
        """`tsctl record` without its daemon: the program runs on, and its status is its own."""
        delay = chance.uniform(0, self.measured(lambda: self.recording(processes)))
        process = self.start(*self.recording(processes))
        time.sleep(delay)
        daemons = processes_with('--record', self.path('recorded.sbt'))
        for pid in daemons:
            kill_wholly(pid)
        process.stdin.close()
        status = process.wait(harness.SECONDS * 4)
        if status == 125:
            # It died before the command was started, which is then not run at all.
            self.assertEqual(self.text('out'), '')
            self.counted['not started'] += 1
            return
        self.assertEqual((status, self.text('out')), (0, self.expected(processes)), self.text('err'))
        for truth in self.truths().values():
            self.assertTrue(truth.finished)
        self.counted['killed' if daemons else 'ended'] += 1
        self.assertLessEqual(len(self.text('err').splitlines()), 1, self.text('err'))
        self.check_partial(self.path('recorded.sbt'), 64)

    def test_daemon_of_a_recording(self):
        self.points('daemon of a recording', 5, lambda chance: self.kill_recorder(chance, 1))

    def test_daemon_of_a_recording_of_several(self):
        self.points('daemon of a recording of several', 5,
                    lambda chance: self.kill_recorder(chance, PROCESSES))

    def kill_private(self, chance):
        delay = chance.uniform(0, self.measured(self.alone))
        process = self.start(*self.alone())
        time.sleep(delay)
        daemons = processes_with('--private', '--pid', str(process.pid))
        for pid in daemons:
            kill_wholly(pid)
        process.stdin.close()
        self.assertEqual(process.wait(harness.SECONDS * 4), 0)
        self.assertEqual((self.text('out'), self.text('err')), (self.expected(1), ''))
        self.assertTrue(self.truths()[process.pid].finished)
        self.counted['killed' if daemons else 'not there'] += 1
        # One that came after the look was not killed, and may be at its file yet.
        until(lambda: not processes_with('--private', '--pid', str(process.pid)), 'the end of its daemon')
        traces = glob.glob(self.path('*.sbt'))
        self.assertLessEqual(len(traces), 1)
        for path in traces:
            self.check_partial(path, 64)

    def test_private_daemon(self):
        self.points('private daemon', 5, self.kill_private)

    # ---- the daemon dies and another takes up -------------------------------------------------

    def start_service(self):
        with open(self.path('daemon.log'), 'ab') as log:
            daemon = subprocess.Popen(
                service.command(self.folder, '--inject-socket', self.path('inject.sock'), '--control-socket',
                                self.path('control.sock'), '--directory', self.path('traces')),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=harness.environment())
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon

    def wait(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while not what():
            if time.monotonic() > end:
                self.fail('%s did not come: %s' % (name, self.text('daemon.log')))
            time.sleep(0.01)

    def listening(self, daemon):
        log = self.path('daemon.log')
        self.wait(lambda: os.path.exists(self.path('inject.sock')) or daemon.poll() is not None, log)

    def service_files(self):
        return sorted(glob.glob(self.path('traces') + '/**/*.sbt', recursive=True))

    def live(self):
        """{pid: unwritten bytes} of the service's sessions."""
        result = harness.tsctl('status', '--json', env=harness.environment(
            TRACESMITH_CONTROL=self.path('control.sock')))
        if result.status:
            return {}
        return {session['pid']: session for session in json.loads(result.out).get('sessions', [])}

    def restart_service(self, chance, processes):
        """Killed and started anew while programs run: both files together hold everything, without a gap."""
        os.mkdir(self.path('traces'))
        environment = harness.preload_environment(
            '', TS_TRUTH=self.truth_path, TRACESMITH_SOCKET=self.path('inject.sock'),
            TRACESMITH_RING_SIZE='16M', TS_APP_WAIT='1')
        daemon = self.start_service()
        self.listening(daemon)
        process = self.start(self.argv(processes), environment)
        time.sleep(chance.uniform(0, 1.5))
        daemon.kill()
        daemon.wait()
        self.counted['killed'] += 1
        first = self.service_files()
        time.sleep(chance.choice((0, chance.uniform(0, 0.5))))
        daemon = self.start_service()
        # Each process did its work and waits; each is in the new daemon's hands.
        self.wait(lambda: len([t for t in self.truths().values() if t.finished == 0 and
                               t.calls_by_name().get(self.wait_for_all)]) == processes, 'the work')
        pids = set(self.truths())
        self.wait(lambda: pids <= set(self.live()), 'the sessions')
        process.stdin.close()
        self.assertEqual(process.wait(harness.SECONDS), 0)
        self.assertEqual((self.text('out'), self.text('err')), (self.expected(processes), ''))
        self.wait(lambda: not self.live(), 'the end')
        daemon.terminate()
        self.assertEqual(daemon.wait(harness.SECONDS), 0)
        traces = [self.opens(path) for path in self.service_files()]
        for trace in traces:
            self.assertEqual(trace.info['finished'], trace.path not in first)
            self.assertEqual(set(trace.lost) - {'unjoined_api', 'unjoined_device'}, set())
        for truth in self.truths().values():
            self.assertTrue(truth.finished)
            self.assertEqual(self.check_process(traces, truth, 0), (0, 0))
        self.counted['two files'] += bool(first)

    def test_service(self):
        self.points('service', 5, lambda chance: self.restart_service(chance, 1))

    def test_service_of_several(self):
        self.points('service of several', 5, lambda chance: self.restart_service(chance, PROCESSES))


class Takeover(harness.Case):
    """What one daemon told as lost is not told again by the next."""

    def service(self):
        with open(self.path('log'), 'ab') as log:
            daemon = subprocess.Popen(
                service.command(self.folder, '--inject-socket', self.path('i.sock'), '--control-socket',
                                self.path('c.sock'), '--directory', self.path('traces')),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=harness.environment())
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon

    def infos(self):
        paths = sorted(glob.glob(self.path('traces/**/*.sbt'), recursive=True))
        results = [harness.tsctl('info', '--json', path) for path in paths]
        return [json.loads(result.out) for result in results if not result.status]

    def test_losses_are_told_once(self):
        os.mkdir(self.path('traces'))
        daemon = self.service()
        until(lambda: os.path.exists(self.path('i.sock')), 'the daemon')
        environment = harness.preload_environment(
            '', TS_TRUTH=self.truth_path, TRACESMITH_SOCKET=self.path('i.sock'),
            TRACESMITH_RING_SIZE='64K', TS_APP_WAIT='1')
        process = subprocess.Popen([self.app('workers'), '3000', '2'], env=environment,
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        until(self.infos, 'the session')
        # While it stands still, rings that small overflow.
        daemon.send_signal(signal.SIGSTOP)
        until(lambda: self.truth().calls_by_name().get(self.wait_for_all), 'the work')
        daemon.send_signal(signal.SIGCONT)
        # The program waits now: once all is written that it did, there is nothing more to tell.
        asker = control.Control(self.path('c.sock'))
        self.assertEqual(asker.flush(), (1, 0))
        asker.close()
        told = self.infos()[0]['lost']['ring_full']
        self.assertGreater(told, 0)
        daemon.kill()
        daemon.wait()
        daemon = self.service()
        until(lambda: len(self.infos()) == 2, 'the second file')
        process.stdin.close()
        self.assertEqual(process.wait(harness.SECONDS), 0)
        daemon.terminate()
        self.assertEqual(daemon.wait(harness.SECONDS), 0)
        # The second file stays only where a record came late enough for it; it tells no loss of its own.
        losses = [info['lost'].get('ring_full', 0) for info in self.infos()]
        self.assertEqual([lost for lost in losses if lost], [told])

    def n_calls(self):
        """Calls that the program has made; 0 before its truth has a header."""
        try:
            return sum(self.truth().calls_by_name().values())
        except (FileNotFoundError, ValueError):
            return 0

    def test_handed_over(self):
        """SIGHUP: the daemon completes its file and ends. The next one has the rest, while the program runs on."""
        os.mkdir(self.path('traces'))
        daemon = self.service()
        until(lambda: os.path.exists(self.path('i.sock')), 'the daemon')
        process = subprocess.Popen([self.app('workers'), '3000', '2'], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   env=harness.preload_environment('', TS_TRUTH=self.truth_path, TRACESMITH_SOCKET=self.path('i.sock'),
                                                                     TRACESMITH_RING_SIZE='32M', TS_APP_WAIT='1'))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        until(lambda: self.n_calls() > 200, 'the work')
        until(self.infos, 'the session')
        daemon.send_signal(signal.SIGHUP)
        self.assertEqual(daemon.wait(harness.SECONDS), 0)
        self.assertIsNone(process.poll())
        first, = self.infos()
        daemon = self.service()
        until(lambda: len(self.infos()) == 2, 'the second file')
        process.stdin.close()
        self.assertEqual(process.wait(harness.SECONDS), 0)
        until(lambda: all(info['finished'] for info in self.infos()), 'the end')
        daemon.terminate()
        self.assertEqual(daemon.wait(harness.SECONDS), 0)
        infos = self.infos()
        self.assertTrue(first['finished'])
        self.assertEqual({reason for info in infos for reason in info['lost']} - {'unjoined_api', 'unjoined_device'}, set())
        self.assertEqual(sum(info['counts']['kernel'] for info in infos), self.truth().n_launches())

    def test_lossless_before_the_daemon_looks(self):
        """What the process itself was told holds before a daemon, which stands still here, has told it anything."""
        os.mkdir(self.path('traces'))
        daemon = self.service()
        until(lambda: os.path.exists(self.path('c.sock')), 'the daemon')
        daemon.send_signal(signal.SIGSTOP)
        environment = harness.preload_environment(
            '', TS_TRUTH=self.truth_path, TRACESMITH_SOCKET=self.path('i.sock'),
            TRACESMITH_RING_SIZE='64K', TRACESMITH_LOSSLESS='1')
        process = subprocess.Popen([self.app('workers'), '3000', '2'], env=environment,
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(STOP_S / 2)
        self.assertIsNone(process.poll(), 'it did not wait')
        daemon.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(harness.SECONDS), 0)
        daemon.terminate()
        self.assertEqual(daemon.wait(harness.SECONDS), 0)
        infos = self.infos()
        self.assertEqual([info['lost'] for info in infos], [{} for info in infos])
        self.assertEqual(sum(info['counts']['kernel'] for info in infos), self.truth().n_launches())


class Lossless(harness.Case):
    """`--lossless`: a daemon that stands still for seconds costs time and no record; one that dies, neither."""
    def start(self, *options):
        number = len(os.listdir(self.folder))
        self.trace_path, self.truth_path = self.path('r%d.sbt' % number), self.path('truth%d' % number)
        argv = [harness.TSCTL, 'record', '-q', '-o', self.trace_path, '--vgpu'] + list(options) \
            + ['--', self.app('stress'), str(LAUNCHES), '8']
        process = subprocess.Popen(argv, env=harness.record_environment(TS_TRUTH=self.truth_path),
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def launched(self):
        try:
            return self.truth().n_launches()
        except (OSError, ValueError):
            return 0

    def waited_for(self, n_launched, seconds):
        """
        The recording's daemon, which was made to stand still when so much was launched, and for which everybody waits: nobody
        has launched for so many seconds. None where the program was done before that.
        """
        until(lambda: self.launched() >= n_launched, 'what is launched')
        daemons = processes_with('--record', self.trace_path)
        if not daemons:
            return None
        try:
            os.kill(daemons[0], signal.SIGSTOP)
        except ProcessLookupError:
            return None
        launched, since = -1, time.monotonic()
        while time.monotonic() - since < seconds:
            if self.launched() != launched:
                launched, since = self.launched(), time.monotonic()
            time.sleep(0.02)
        if launched < LAUNCHES:
            return daemons[0]
        os.kill(daemons[0], signal.SIGCONT)
        return None

    def attempts(self, what):
        """what() until it was there in time, which it may miss on a machine that has other things to do."""
        for _ in range(5):
            if what():
                return
        self.fail('the program was always done before its daemon stood still')

    def finish(self, process, seconds):
        out, err = process.communicate(timeout=seconds * (4 if harness.SANITIZER else 1))
        self.assertEqual((process.returncode, out.decode()),
                         (0, 'stress: %d launches from 8 threads\n' % LAUNCHES), err)
        self.assertEqual(self.truth().n_launches(), LAUNCHES)

    def test_stopped(self):
        """Stopped as by a debugger, twice: all is there, and the trace says who waited for how long."""
        self.attempts(self.stop_twice)

    def stop_twice(self):
        process = self.start('--lossless', '--ring-size', '64K')
        stops = []
        for part in (10, 2):
            stops.append(self.waited_for(LAUNCHES // part, STOP_S))
            if stops[-1]:
                os.kill(stops[-1], signal.SIGCONT)
        self.finish(process, 600)
        path = self.trace_path
        info = json.loads(harness.tsctl('info', '--json', path, seconds=300).out)
        self.assertEqual((info['counts']['kernel'], info['lost']), (LAUNCHES, {}))
        waits = collections.Counter()
        view = harness.tsctl('view', '--json', '--type', 'overhead', path, seconds=300)
        self.assertEqual(view.status, 0, view)
        for row in map(json.loads, view.out.splitlines()):
            if row['kind'] == 'waited_for_room':
                waits[row['object']] += row['end_ns'] - row['start_ns']
        if any(stops):
            self.assertGreaterEqual(max(waits.values(), default=0), STOP_S * 5e8, waits)
        return all(stops)

    def test_killed(self):
        """Dead while everybody waits for it: nobody waits on."""
        self.attempts(self.stop_and_kill)

    def stop_and_kill(self):
        process = self.start('--lossless', '--ring-size', '64K')
        daemon = self.waited_for(LAUNCHES // 10, STOP_S / 2)
        if daemon:
            kill(daemon)
        self.finish(process, harness.SECONDS * 5)
        return daemon


DeathOverHip = harness.over_hip(Death)
TakeoverOverHip = harness.over_hip(Takeover)
LosslessOverHip = harness.over_hip(Lossless)


if __name__ == '__main__':
    POINTS = option('--points', POINTS)
    SEED = option('--seed', SEED)
    LAUNCHES = option('--launches', LAUNCHES)
    harness.main()
