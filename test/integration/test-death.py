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
import shutil
import signal
import subprocess
import sys
import time

import harness

POINTS = 10
SEED = None
THREADS = 3
ROUNDS = 150
PROCESSES = 3
# Of the programs that lose nothing, from eight threads; and for how long their daemon stands still.
LAUNCHES = 30000 if harness.SANITIZER else 100000
STOP_S = 2


def option(name, default):
    """The value of an option of this script, taken out of what unittest sees."""
    if name not in sys.argv:
        return default
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


def descendants(pid):
    """Every process below `pid`, by /proc."""
    children = collections.defaultdict(list)
    for stat in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(stat, encoding='utf-8', errors='replace') as stream:
                fields = stream.read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(stat.split('/')[2]))
    found, todo = [], [pid]
    while todo:
        below = children[todo.pop()]
        found += below
        todo += below
    return found


def processes_with(*arguments):
    """Pids of processes whose command line holds these arguments."""
    found = []
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            with open(path, 'rb') as stream:
                words = stream.read().split(b'\0')
        except OSError:
            continue
        if all(argument.encode() in words for argument in arguments):
            found.append(int(path.split('/')[2]))
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Death(harness.Case):
    duration = {}

    def setUp(self):
        super().setUp()
        self.counted = collections.Counter()

    # ---- running ------------------------------------------------------------------------------

    def argv(self, processes, rounds=ROUNDS):
        return [harness.app('workers', 'driver'), str(rounds), str(THREADS), str(processes)]

    def expected(self, processes, rounds=ROUNDS):
        return 'workers: %d rounds of %d threads in %d processes\n' % (rounds, THREADS, processes)

    def start(self, argv, environment):
        with open(self.path('out'), 'wb') as out, open(self.path('err'), 'wb') as err:
            process = subprocess.Popen(argv, env=environment, cwd=self.folder, stdout=out, stderr=err,
                                       stdin=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
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
        print('%s: %d points, seed %d: %s' % (kind, n, seed, dict(self.counted)))

    def empty(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)

    def measured(self, argv, environment):
        """How long a run takes that nobody kills; once for each kind."""
        key = tuple(argv)
        if key not in self.duration:
            start = time.monotonic()
            result = harness.run(argv, environment, cwd=self.folder)
            self.assertEqual(result.status, 0, result)
            Death.duration[key] = time.monotonic() - start
            self.empty()
        return self.duration[key]

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
        argv = [harness.TSCTL, 'record', '-q', '-o', self.path('recorded.sbt'), '--vgpu', '--'] \
            + self.argv(processes)
        environment = harness.record_environment(TS_TRUTH=self.truth_path)
        delay = chance.uniform(0, self.measured(argv, environment))
        process = self.start(argv, environment)
        time.sleep(delay)
        daemons = processes_with('--record', self.path('recorded.sbt'))
        victims = [pid for pid in descendants(process.pid) if pid not in daemons]
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
        environment = harness.preload_environment('', TS_TRUTH=self.truth_path)
        delay = chance.uniform(0, self.measured(self.argv(1), environment))
        process = self.start(self.argv(1), environment)
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
        argv = [harness.TSCTL, 'record', '-q', '-o', self.path('recorded.sbt'), '--vgpu', '--'] \
            + self.argv(processes)
        environment = harness.record_environment(TS_TRUTH=self.truth_path)
        delay = chance.uniform(0, self.measured(argv, environment))
        process = self.start(argv, environment)
        time.sleep(delay)
        daemons = processes_with('--record', self.path('recorded.sbt'))
        for pid in daemons:
            kill(pid)
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
        environment = harness.preload_environment('', TS_TRUTH=self.truth_path, XDG_RUNTIME_DIR=self.folder)
        delay = chance.uniform(0, self.measured(self.argv(1), environment))
        process = self.start(self.argv(1), environment)
        time.sleep(delay)
        daemons = processes_with('--private', '--pid', str(process.pid))
        for pid in daemons:
            kill(pid)
        process.stdin.close()
        self.assertEqual(process.wait(harness.SECONDS * 4), 0)
        self.assertEqual((self.text('out'), self.text('err')), (self.expected(1), ''))
        self.assertTrue(self.truths()[process.pid].finished)
        self.counted['killed' if daemons else 'not there'] += 1
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
                [harness.DAEMON, '--inject-socket', self.path('inject.sock'), '--control-socket',
                 self.path('control.sock'), '--directory', self.path('traces')],
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
                               t.calls_by_name().get('cuCtxSynchronize')]) == processes, 'the work')
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
                [harness.DAEMON, '--inject-socket', self.path('i.sock'), '--control-socket',
                 self.path('c.sock'), '--directory', self.path('traces')],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=harness.environment())
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon

    def until(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while not what():
            self.assertLess(time.monotonic(), end, name)
            time.sleep(0.02)

    def infos(self):
        paths = sorted(glob.glob(self.path('traces/**/*.sbt'), recursive=True))
        results = [harness.tsctl('info', '--json', path) for path in paths]
        return [json.loads(result.out) for result in results if not result.status]

    def test_losses_are_told_once(self):
        os.mkdir(self.path('traces'))
        daemon = self.service()
        self.until(lambda: os.path.exists(self.path('i.sock')), 'the daemon')
        environment = harness.preload_environment(
            '', TS_TRUTH=self.truth_path, TRACESMITH_SOCKET=self.path('i.sock'),
            TRACESMITH_RING_SIZE='64K', TS_APP_WAIT='1')
        process = subprocess.Popen([harness.app('workers', 'driver'), '3000', '2'], env=environment,
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        self.until(self.infos, 'the session')
        # While it stands still, rings that small overflow.
        daemon.send_signal(signal.SIGSTOP)
        self.until(lambda: self.truth().calls_by_name().get('cuCtxSynchronize'), 'the work')
        daemon.send_signal(signal.SIGCONT)
        self.until(lambda: self.infos()[0]['lost'].get('ring_full'), 'the losses')
        time.sleep(1)
        told = self.infos()[0]['lost']['ring_full']
        daemon.kill()
        daemon.wait()
        daemon = self.service()
        self.until(lambda: len(self.infos()) == 2, 'the second file')
        process.stdin.close()
        self.assertEqual(process.wait(harness.SECONDS), 0)
        daemon.terminate()
        self.assertEqual(daemon.wait(harness.SECONDS), 0)
        # The second file stays only where a record came late enough for it; it tells no loss of its own.
        losses = [info['lost'].get('ring_full', 0) for info in self.infos()]
        self.assertEqual([lost for lost in losses if lost], [told])

    def test_lossless_before_the_daemon_looks(self):
        """What the process itself was told holds before a daemon, which stands still here, has told it anything."""
        os.mkdir(self.path('traces'))
        daemon = self.service()
        self.until(lambda: os.path.exists(self.path('c.sock')), 'the daemon')
        daemon.send_signal(signal.SIGSTOP)
        environment = harness.preload_environment(
            '', TS_TRUTH=self.truth_path, TRACESMITH_SOCKET=self.path('i.sock'),
            TRACESMITH_RING_SIZE='64K', TRACESMITH_LOSSLESS='1')
        process = subprocess.Popen([harness.app('workers', 'driver'), '3000', '2'], env=environment,
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
        argv = [harness.TSCTL, 'record', '-q', '-o', self.path('r.sbt'), '--vgpu'] + list(options) \
            + ['--', harness.app('stress', 'driver'), str(LAUNCHES), '8']
        process = subprocess.Popen(argv, env=harness.record_environment(TS_TRUTH=self.truth_path),
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def daemon_when(self, n_launched):
        """The recording's daemon, once so much was launched."""
        end = time.monotonic() + harness.SECONDS
        while time.monotonic() < end:
            try:
                if self.truth().n_launches() >= n_launched:
                    return processes_with('--record', self.path('r.sbt'))[0]
            except (OSError, ValueError):
                pass
            time.sleep(0.005)
        self.fail('nothing was launched')

    def finish(self, process, seconds):
        out, err = process.communicate(timeout=seconds * (4 if harness.SANITIZER else 1))
        self.assertEqual((process.returncode, out.decode()),
                         (0, 'stress: %d launches from 8 threads\n' % LAUNCHES), err)
        self.assertEqual(self.truth().n_launches(), LAUNCHES)

    def test_stopped(self):
        """Stopped as by a debugger, twice: all is there, and the trace says who waited for how long."""
        process = self.start('--lossless', '--ring-size', '256K')
        for part in (10, 2):
            daemon = self.daemon_when(LAUNCHES // part)
            os.kill(daemon, signal.SIGSTOP)
            time.sleep(STOP_S)
            os.kill(daemon, signal.SIGCONT)
        self.finish(process, 600)
        path = self.path('r.sbt')
        info = json.loads(harness.tsctl('info', '--json', path, seconds=300).out)
        self.assertEqual((info['counts']['kernel'], info['lost']), (LAUNCHES, {}))
        waits = collections.Counter()
        view = harness.tsctl('view', '--json', '--type', 'overhead', path, seconds=300)
        self.assertEqual(view.status, 0, view)
        for row in map(json.loads, view.out.splitlines()):
            if row['kind'] == 'waited_for_room':
                waits[row['object']] += row['end_ns'] - row['start_ns']
        self.assertGreaterEqual(max(waits.values(), default=0), STOP_S * 5e8, waits)

    def test_killed(self):
        """Dead while everybody waits for it: nobody waits on."""
        process = self.start('--lossless', '--ring-size', '64K')
        daemon = self.daemon_when(LAUNCHES // 10)
        os.kill(daemon, signal.SIGSTOP)
        time.sleep(STOP_S / 2)
        kill(daemon)
        self.finish(process, harness.SECONDS * 5)


if __name__ == '__main__':
    POINTS = option('--points', POINTS)
    SEED = option('--seed', SEED)
    LAUNCHES = option('--launches', LAUNCHES)
    harness.main()
