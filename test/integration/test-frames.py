#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of capture that are opened and closed while a program runs: `tsctl record --capture window`, `tsctl start --capture replay`.
Each can be replayed, from memory as it was when it opened.

`--all`: every program, at random launches: the soak. `--seed N`: of those.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

import harness

ALL = False
SEED = 1
PROGRAMS = {
    'saxpy': ['20'],
    'pipeline': ['5'],
    'graph': ['10'],
    'threads': [],
    'devices': [],
    'network': ['6'],
    'tensor': [],
    'ladder': [],
    'nvrtc': [],
    'compute': [],
    'cub': [],
    'thrust': [],
}
COUNTERS = [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'counters.py')]
SAME, BAD = 0, 2


class Told:
    """counters.py under `tsctl record`, at the other end of two pipes."""

    def __init__(self, case, capture):
        self.case, self.trace = case, case.path('recorded.sbt')
        self.process = subprocess.Popen(
            [harness.TSCTL, 'record', '--vgpu=small', '-o', self.trace, '--capture', capture, '--'] + COUNTERS +
            (['hip'] if case.form in harness.HIP_FORMS else []), cwd=case.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=harness.record_environment(XDG_RUNTIME_DIR=case.folder))
        case.addCleanup(self.kill)
        self.answer('ready')

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def answer(self, word):
        line = self.process.stdout.readline().strip()
        if line != word:
            self.case.fail('%r: %s' % (line, self.process.stderr.read()))

    def tell(self, *words):
        self.process.stdin.write(' '.join(words) + '\n')
        self.process.stdin.flush()
        self.answer('done')

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=harness.environment(XDG_RUNTIME_DIR=self.case.folder))

    def session(self):
        listed = json.loads(self.tsctl('sessions', '--json').out)['sessions']
        return listed[0] if listed else None

    def switch(self, what):
        result = self.tsctl(what, '--capture', 'replay', str(self.session()['pid']))
        self.case.assertEqual(result.status, 0, result)

    def end(self):
        _, err = self.process.communicate(timeout=harness.SECONDS * 4)
        self.case.assertEqual(self.process.returncode, 0, err)
        return err


class Frames(harness.Case):
    form = 'driver'

    def replay(self, path, *options, verdict='same', status=SAME):
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', *options, path,
                               seconds=harness.SECONDS * (20 if ALL else 1))
        self.assertEqual(result.status, status, result)
        session, = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(session['verdict'], verdict)
        return session

    def capture_of(self, path):
        session, = harness.Trace(path).info['sessions']
        return session['capture']

    def check_program(self, argv, first, last):
        vgpu = 'h200' if 'tensor' in argv[0] else 'small:2'
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'window,launches=%d..%d' % (first, last))
        if result.status == harness.SKIPPED:
            self.skipTest(result.err)
        self.assertEqual(result.status, 0, result)
        session = self.replay(path)
        capture = self.capture_of(path)
        self.assertEqual((capture.get('windows'), capture.get('unsupported', [])), (1, []), capture)
        self.assertNotIn('ended', capture)
        self.assertEqual(session['operations'], session['captured'])
        return session

    def soak(self, argv):
        dice = random.Random(SEED)
        result, path = self.record(argv, '--vgpu=small:2' if 'tensor' not in argv[0] else '--vgpu=h200')
        if result.status == harness.SKIPPED:
            self.skipTest(result.err)
        n = len({row['op_id'] for row in harness.Trace(path).of('kernel')})
        os.remove(path)
        for _ in range(10):
            ends = sorted(dice.randint(1, n) for _ in range(2))
            self.check_program(argv, *ends)
            os.remove(path)

    def test_launches(self):
        session = self.check_program([harness.app('pipeline', self.form), '5'], 6, 9)
        self.assertEqual(session['launches'], 4)

    def test_launches_of_graphs(self):
        self.check_program([harness.app('graph', self.form), '5'], 3, 4)

    def test_launches_of_threads(self):
        self.check_program([harness.app('threads', self.form)], 9, 20)

    def test_launches_on_two_devices(self):
        self.check_program([harness.app('devices', self.form)], 2, 3)

    def test_one_launch_in_the_middle(self):
        program = Told(self, 'window,launches=8')
        program.tell('step', '12')
        program.end()
        session = self.replay(program.trace)
        self.assertEqual((session['launches'], session['results']), (1, 0))

    def test_start_and_stop(self):
        """As often as one likes. What lies between windows is not in the trace, and changes what the next one begins with."""
        program = Told(self, 'window')
        program.tell('step', '3')
        self.assertEqual(program.session()['capture']['state'], 'closed')
        for n in (4, 5):
            program.switch('start')
            program.tell('step', str(n))
            capture = program.session()['capture']
            self.assertEqual((capture['state'], capture['windows']), ('open', n - 3))
            self.assertGreater(capture['bytes'], 0)
            self.assertGreater(capture['ns'], 0)
            program.switch('stop')
            program.tell('new')
            program.tell('step', '2')
            self.assertEqual(program.session()['capture']['state'], 'closed')
        program.end()
        session = self.replay(program.trace)
        self.assertEqual((session['launches'], session['results']), (9, 2))
        self.assertEqual(self.capture_of(program.trace)['windows'], 2)

    def test_a_part_of_a_window(self):
        program = Told(self, 'window,launches=4..9')
        program.tell('step', '12')
        program.end()
        calls = sorted({row['op_id'] for row in harness.Trace(program.trace).of('kernel')})
        session = self.replay(program.trace, '--ops', str(calls[5]))
        self.assertEqual(session['launches'], 1)
        self.assertGreater(session['before'], 0)

    def test_a_range(self):
        program = Told(self, 'window,range=step 2, warm')
        for name, n in (('warm', 2), ('step 2, warm', 3), ('step 3', 4)):
            program.tell('push', name)
            program.tell('step', str(n))
            program.tell('pop')
        program.tell('step', '5')
        program.end()
        session = self.replay(program.trace)
        self.assertEqual((session['launches'], session['results']), (3, 1))

    def test_streams_captured_meanwhile(self):
        """What the application puts into graphs while windows open and close is not spoiled."""
        program = Told(self, 'window,range=graphs')
        program.tell('step', '2')
        program.tell('graphs', 'graphs')
        # At the latest these find nothing captured.
        program.tell('push', 'graphs')
        program.tell('step', '3')
        program.tell('pop')
        program.tell('step', '1')
        program.end()
        session = self.replay(program.trace)
        self.assertEqual(session.get('unsupported', []), [])
        self.assertGreaterEqual(session['launches'], 3)

    def test_a_range_whose_thread_ends(self):
        """It asks for no window any more."""
        program = Told(self, 'window,range=left')
        program.tell('step', '2')
        program.tell('thread', 'left')
        end = time.monotonic() + harness.SECONDS
        # The thread may end after whoever waited for it goes on.
        while True:
            program.tell('step', '1')
            if program.session()['capture']['state'] == 'closed':
                break
            self.assertLess(time.monotonic(), end)
        program.tell('push', 'left')
        program.tell('step', '3')
        self.assertEqual(program.session()['capture']['state'], 'open')
        program.tell('pop')
        program.tell('step', '1')
        self.assertEqual(program.session()['capture']['state'], 'closed')
        program.end()
        self.assertGreaterEqual(self.replay(program.trace)['launches'], 3)

    def test_a_signal(self):
        program = Told(self, 'window,signal=usr2')
        program.tell('step', '2')
        pid = program.session()['pid']
        for n in (3, 4, 5):
            os.kill(pid, signal.SIGUSR2)
            # The handler runs before it answers again.
            program.tell('step', str(n))
        program.end()
        session = self.replay(program.trace)
        self.assertEqual((session['launches'], session['results']), (3 + 5, 2))

    def test_a_limit(self):
        program = Told(self, 'window:2K,launches=2..99')
        for _ in range(9):
            program.tell('step', '2')
        # It is told while it runs, when it is over, and from the file.
        live = program.session()['capture']
        self.assertEqual((live['state'], live['max_bytes'], live['ended']), ('ended', 2048, 'the capture for replay reached its limit (see --capture)'))
        self.assertGreater(live['ns'], 0)
        told = program.tsctl('sessions').out
        self.assertIn('of 2.00 KiB captured', told)
        self.assertIn(' % of the session\'s length: the capture for replay reached its limit (see --capture)', told)
        self.assertIn('CAPTURE ENDED EARLY: the capture for replay reached its limit (see --capture)', program.end())
        self.replay(program.trace)
        capture = self.capture_of(program.trace)
        self.assertEqual(capture['ended'], 'the capture for replay reached its limit of 2048 bytes (see --capture)')
        self.assertEqual((capture['bytes'], capture['ns']), (live['bytes'], live['ns']))
        self.assertIn('ended early: the capture for replay reached its limit of 2048 bytes (see --capture)', harness.tsctl('info', program.trace).out)

    def test_what_cannot_be_replayed(self):
        """It is named where it was in a window."""
        call = 'hipLaunchHostFunc' if self.form in harness.HIP_FORMS else 'cuLaunchHostFunc'
        for options, named in (('window,launches=3..5', []), ('window,launches=1..9', [call])):
            program = Told(self, options)
            program.tell('step', '2')
            program.tell('host')
            program.tell('step', '4')
            program.end()
            self.assertEqual(self.capture_of(program.trace).get('unsupported', []), named)
            told = harness.tsctl('info', program.trace)
            self.assertEqual(call in told.out, bool(named), told)
            os.remove(program.trace)

    def test_killed_in_a_window(self):
        program = Told(self, 'window,launches=3..1000')
        program.tell('step', '6')
        os.kill(program.session()['pid'], signal.SIGKILL)
        program.process.communicate(timeout=harness.SECONDS * 4)
        session = self.replay(program.trace)
        self.assertEqual(session['launches'], 4)
        self.assertEqual((session['ended'], self.capture_of(program.trace)['ended']), ('the program was killed by SIGKILL',) * 2)

    def test_killed_behind_a_window(self):
        """That was closed: nothing is missing of it, and nobody is told that it ended early."""
        program = Told(self, 'window,launches=3..4')
        program.tell('step', '6')
        os.kill(program.session()['pid'], signal.SIGTERM)
        program.process.communicate(timeout=harness.SECONDS * 4)
        session = self.replay(program.trace)
        self.assertEqual((session['launches'], session.get('ended'), self.capture_of(program.trace).get('ended')), (2, None, None))

    def test_refusals(self):
        for options in ('window,launches=0', 'window,launches=5..4', 'window,signal=kill', 'window,range=', 'replay,launches=1',
                        'window:0', 'window,'):
            result, _ = self.record(COUNTERS, '--vgpu=small', '--capture', options)
            self.assertEqual(result.status, BAD, result)
            self.assertIn('--capture ' + options, result.err)
        program = Told(self, 'timing')
        program.tell('step', '1')
        result = program.tsctl('start', '--capture', 'replay', str(program.session()['pid']))
        self.assertEqual(result.status, BAD, result)
        self.assertIn('--capture window', result.err)
        # Of two wishes not one alone is heard.
        both = program.tsctl('start', '--capture', 'replay', '--kernel-events', 'sched:1ms', str(program.session()['pid']))
        self.assertEqual((both.status, len(both.err.splitlines())), (BAD, 1), both)
        self.assertIn('--kernel-events', both.err)
        program.end()


class FramesOverHip(harness.over_hip(
        Frames, 'test_launches', 'test_launches_of_graphs', 'test_launches_of_threads', 'test_launches_on_two_devices',
        'test_one_launch_in_the_middle', 'test_start_and_stop', 'test_a_range', 'test_streams_captured_meanwhile', 'test_a_signal',
        'test_what_cannot_be_replayed', 'test_killed_in_a_window')):
    """The same, and what is HIP's own."""

    def test_each_release(self):
        """Both ways into the runtime, and each major version."""
        for form, setting in (('hip5', ''), ('hip', ',hip=6.1'), ('hip7', '')):
            path = self.record_window([harness.app('graph', form), '5'], 'window,launches=3..4', 'mi300' + setting)
            self.assertEqual(self.replay(path)['launches'], 3)
            os.remove(path)

    def record_window(self, argv, level, vgpu):
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', level)
        self.assertEqual(result.status, 0, result)
        capture = self.capture_of(path)
        self.assertEqual((capture.get('windows'), capture.get('unsupported', []), capture.get('ended')), (1, [], None), capture)
        return path

    def test_variables_of_registered_code(self):
        """Kernels before the window changed one that the host reads later. The other has its value from the host."""
        for setting in ('', ',hip=6.1'):
            path = self.record_window([harness.app('hip-replay')], 'window,launches=7..99', 'mi300' + setting)
            variables = [row for row in harness.Trace(path).of('operation') if row['kind'] == 'variable']
            self.assertEqual(sorted((row['name'], row['bytes']) for row in variables), [('addend', 4), ('counted', 4)])
            session = self.replay(path)
            self.assertEqual((session['launches'], session['results'], session.get('unchecked', 0)), (4, 4, 0))
            os.remove(path)

    def test_two_vendors(self):
        """A window has the work of CUDA and of HIP, and the memory of both."""
        parts = [os.path.join(harness.APPS, 'libpart-pipeline-%s.so' % form) for form in ('driver', 'hip')]
        # HIP's first call is in the window.
        path = self.record_window([harness.app('both'), 'after'] + parts, 'window,launches=150..250', 'small')
        session = self.replay(path)
        self.assertEqual((session['launches'], session.get('unsupported', [])), (101, []))
        self.assertEqual(len({row['context'] for row in harness.Trace(path).of('operation') if row['kind'] == 'launch'}), 2)
        os.remove(path)
        path = self.record_window([harness.app('both'), 'at-once'] + parts, 'window,launches=150..179', 'small')
        session = self.replay(path)
        self.assertEqual(session.get('unsupported', []), [])
        # The other thread may open or close the window between the count of a launch and the launch.
        self.assertIn(session['launches'], range(28, 31))

    def test_copies_of_the_memory_have_rows(self):
        path = self.record_window([harness.app('saxpy', 'hip'), '9'], 'window,launches=4..5', 'small')
        trace = harness.Trace(path)
        copies = {row['op_id'] for row in trace.of('api') if row['name'] == 'hipMemcpyDtoHAsync'}
        rows = [row for row in trace.of('memcpy') if row['op_id'] in copies]
        self.assertGreater(len(copies), 0)
        self.assertEqual({row['op_id'] for row in rows}, copies)
        self.assertEqual(trace.lost, {})


# CUDA C++ alone: these have no form.
UNFORMED = ('compute', 'cub', 'thrust')


def add(name, form, arguments):
    setattr(Frames, 'test_soak_%s_%s' % (name, form or 'nvcc'), lambda self: self.soak([harness.app(name, form)] + arguments))


if __name__ == '__main__':
    if '--all' in sys.argv:
        ALL = True
        sys.argv.remove('--all')
    if '--seed' in sys.argv:
        where = sys.argv.index('--seed')
        SEED = int(sys.argv[where + 1])
        del sys.argv[where:where + 2]
    for program_name, program_arguments in PROGRAMS.items():
        for how in () if not ALL else [None] if program_name in UNFORMED else harness.FORMS + ('hip',):
            add(program_name, how, program_arguments)
    harness.main()
