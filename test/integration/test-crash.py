#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL while a program is captured, of the program and of the daemon, at random points: its file replays up to the last whole
operation, and says that there may have been more.

`--points N`: so many kills of each test; 3 in the ordinary run, 200 in the soak. A point that fails names its seed; `--seed N` begins with that one.
"""
import collections
import glob
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

import harness
from processes import descendants, kill, option, processes_with, words_of

POINTS = 3
SEED = None
SCRIPTS = os.path.join(harness.SOURCE, 'test', 'apps')
# Program, form, arguments, device: what takes about half a second, so that there is something to hit. A number is how much it does.
PROGRAMS = [
    ('saxpy', 'driver', [150], 'small'),
    ('saxpy', 'runtime', [150], 'small'),
    ('pipeline', 'driver', [60], 'small'),
    ('pipeline', 'runtime', [60], 'small'),
    ('graph', 'driver', [400], 'small'),
    ('graph', 'runtime', [400], 'small'),
    ('threads', 'driver', ['8', 60], 'small'),
    ('devices', 'driver', [200], 'small:2'),
    ('network', 'driver', [150], 'small'),
    ('stress', 'driver', [20000], 'small'),
    ('workers', 'driver', [200, '2', '2'], 'small'),
    ('nodes.py', None, [], 'small'),
    ('python-ctypes.py', None, [], 'small'),
]
WINDOW = 'window,launches=6..40'
SAME, BAD = 0, 2


def built(times):
    """(argv, device) of each program that is there, as one that does so many times as much."""
    for name, form, arguments, vgpu in PROGRAMS:
        # A sanitizer makes a quarter of it last longer than that.
        arguments = [word // 4 if isinstance(word, int) and harness.IS_SLOW else word for word in arguments]
        try:
            first = [sys.executable, os.path.join(SCRIPTS, name)] if form is None else [harness.app(name, form)]
        except unittest.SkipTest:
            continue
        yield first + [str(word * times) if isinstance(word, int) else word for word in arguments], vgpu


class Crash(harness.Case):
    def setUp(self):
        super().setUp()
        self.root, self.counted, self.took = self.folder, collections.Counter(), {}

    def points(self, how):
        """how(random) for each point, in a folder of its own."""
        seed = SEED if SEED is not None else random.SystemRandom().randrange(1 << 32)
        for point in range(POINTS):
            self.folder = os.path.join(self.root, str(point))
            os.mkdir(self.folder)
            self.truth_path = self.path('truth')
            with self.subTest(seed=seed + point):
                how(random.Random(seed + point))
            harness.shutil.rmtree(self.folder)
        print('%s: %d points, seed %d: %s' % (self.id().rsplit('.', 1)[-1], POINTS, seed, dict(self.counted)))

    # ---- running ------------------------------------------------------------------------------

    def recording(self, argv, vgpu, capture):
        """(argv, environment) of a program under `tsctl record`."""
        return ([harness.TSCTL, 'record', '-q', '-o', self.path('recorded.sbt'), '--vgpu=' + vgpu, '--symbols', 'none',
                 '--stacks', 'none', '--capture', capture, '--'] + argv, harness.record_environment(TS_TRUTH=self.truth_path))

    def alone(self, argv, vgpu, capture):
        """The same with a daemon of its own."""
        return argv, harness.preload_environment(vgpu, TRACESMITH_CAPTURE=capture, TRACESMITH_STACKS='none', TS_TRUTH=self.truth_path,
                                                 XDG_RUNTIME_DIR=self.folder)

    def start_some(self, chance, command, times=1):
        """One of the programs, whole or in a window; returns once it is time to kill."""
        chosen = chance.choice(list(built(times)))
        self.capture = chance.choice(('replay', 'replay', WINDOW))
        key = (times, command.__name__, *chosen[0][:2])
        if key not in self.took:
            start = time.monotonic()
            result = harness.run(*command(*chosen, self.capture), cwd=self.folder)
            self.assertEqual(result.status, 0, result)
            while harness.private_daemons(self.folder):
                time.sleep(0.02)
            self.took[key] = time.monotonic() - start
            for name in os.listdir(self.folder):
                os.remove(self.path(name))
        self.name = os.path.basename(chosen[0][0] if len(chosen[0]) < 2 or '.py' not in chosen[0][1] else chosen[0][1])
        argv, environment = command(*chosen, self.capture)
        with open(self.path('out'), 'wb') as out:
            process = subprocess.Popen(argv, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       start_new_session=True)
        self.addCleanup(self.end, process)
        time.sleep(chance.uniform(0, self.took[key]))
        return process, chosen[0]

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def said(self):
        with open(self.path('out'), encoding='utf-8', errors='replace') as stream:
            return stream.read()

    def launched(self):
        """{pid: launches that returned} as the programs themselves counted."""
        found = {}
        for path in glob.glob(self.path('truth*')):
            try:
                truth = harness.truth_module.read(path)
            except ValueError:
                continue
            found[truth.pid] = truth.n_launches()
        return found

    # ---- what must hold -----------------------------------------------------------------------

    def check_replay(self, path):
        """Same, to the last operation that it has, and said to have ended early where that was not the program's own end. {pid: launches}"""
        info = harness.tsctl('info', '--json', path)
        self.assertEqual(info.status, 0, info)
        sessions = {session['session']: session for session in json.loads(info.out)['sessions']}
        launched = self.launched()
        captured = {number: session['capture'] for number, session in sessions.items() if 'capture' in session}
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', path)
        dry = harness.tsctl('replay', '--on', 'vgpu', '--mode', 'dry-run', '--json', path)
        if not captured:
            self.assertEqual((result.status, result.err.count('\n')), (BAD, 1), result)
            self.counted['nothing captured'] += 1
            return {}
        self.assertEqual(result.status, SAME, '%s: %s%s' % (self.name, result, info))
        told = [json.loads(line) for line in result.out.splitlines()]
        plans = [json.loads(line) for line in dry.out.splitlines()]
        self.assertEqual({session['session'] for session in told}, set(captured))
        for session, plan in zip(told, plans):
            whole = sessions[session['session']]
            self.assertEqual((session['verdict'], session['operations'], session.get('cut')), ('same', session['captured'], None), session)
            self.assertEqual(session['unsupported'], [])
            self.assertEqual(session['operations'], captured[session['session']]['operations'])
            early = session.get('ended')
            self.assertEqual((plan.get('ended'), captured[session['session']].get('ended')), (early, early))
            # Of a window that was closed before the program died nothing is missing.
            if whole['state'] != 'ended' and (self.capture == 'replay' or early):
                self.assertTrue(early, session)
                self.counted['ended early'] += 1
            # What the program counted came back, and what came back was captured.
            if self.capture == 'replay' and whole['state'] in ('died', 'ended'):
                self.assertGreaterEqual(session['launches'], launched.get(whole['pid'], 0), whole)
                self.counted['nothing missing'] += 1
        self.counted['replayed'] += 1
        text = harness.tsctl('replay', '--on', 'vgpu', path)
        self.assertEqual(text.out.count('The capture ended early: '), sum('ended' in session for session in told), text)
        return {sessions[session['session']]['pid']: session['launches'] for session in told}

    def check_trace(self, path):
        if not os.path.exists(path):
            self.assertFalse(self.launched())
            self.counted['before the trace'] += 1
            return {}
        return self.check_replay(path)

    # ---- the program is the victim ------------------------------------------------------------

    def kill_program(self, chance):
        process, argv = self.start_some(chance, self.recording)
        victims = [pid for pid in descendants(process.pid) if words_of(pid)[0] == os.fsencode(argv[0])]
        for pid in victims:
            kill(pid)
        process.wait(harness.SECONDS * 4)
        self.counted['killed' if process.returncode == 137 else 'status %d' % process.returncode] += 1
        self.assertIn(process.returncode, (137, 0), self.said())
        self.check_trace(self.path('recorded.sbt'))

    def test_program(self):
        self.points(self.kill_program)

    def kill_alone(self, chance):
        """Nobody but the shim: its private daemon finishes the file after the program's death."""
        process, _ = self.start_some(chance, self.alone)
        family = [process.pid] + descendants(process.pid)
        for pid in family:
            kill(pid)
        process.wait()
        self.counted['killed' if process.returncode else 'ended'] += 1
        end = time.monotonic() + harness.SECONDS
        while harness.private_daemons(self.folder):
            self.assertLess(time.monotonic(), end, 'a daemon does not end')
            time.sleep(0.02)
        for path in glob.glob(self.path('*.sbt')):
            self.check_replay(path)

    def test_program_alone(self):
        self.points(self.kill_alone)

    # ---- the daemon is the victim -------------------------------------------------------------

    def kill_daemon(self, chance):
        """The program runs on as if nothing were; what was written is replayed, as it is and once it was given its end."""
        # What it has not written yet is lost with it: it is given time to have written some. A sanitizer gives it more.
        process, _ = self.start_some(chance, self.recording, 2 if harness.SANITIZER else 6)
        daemons = processes_with('--record', self.path('recorded.sbt'))
        for pid in daemons:
            kill(pid)
        process.wait(harness.SECONDS * 4)
        self.counted['killed' if daemons else 'not there'] += 1
        self.assertIn(process.returncode, (0, 125) if daemons else (0,), self.said())
        path = self.path('recorded.sbt')
        # One that was killed before it wrote the file's header left nothing to read.
        if os.path.exists(path) and harness.tsctl('info', path).status and os.path.getsize(path) < 4096:
            self.counted['before its header'] += 1
            return
        if not os.path.exists(path):
            self.counted['before the trace'] += 1
            return
        before = self.check_replay(path)
        repaired = harness.tsctl('repair', path)
        self.assertEqual(repaired.status, 0, repaired)
        self.assertEqual(self.check_replay(path), before)

    def test_daemon(self):
        self.points(self.kill_daemon)


if __name__ == '__main__':
    POINTS = option('--points', POINTS)
    SEED = option('--seed', SEED)
    harness.main()
