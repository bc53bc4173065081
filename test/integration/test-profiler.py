#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The application's own profiler gets CUPTI, and exactly what it gets without us; then it is ours again."""
import json
import subprocess
import time

import harness

ROUNDS = 2
OUTSIDE, WITHIN = 100, 60
# Copies in and out, a set and a wait; and the launches.
CALLS_WITHIN = WITHIN + 4


class Profiler(harness.Case):
    form, launch = 'driver', 'cuLaunchKernel'

    def missed(self):
        """How much was not seen, as far as is known by now: it is told of when CUPTI has been taken back."""
        told = harness.tsctl('sessions', '--json', env=harness.environment(XDG_RUNTIME_DIR=self.folder))
        # Those of others on this machine are told of too.
        return [int(session['lost'].get('yielded', 0)) for session in json.loads(told.out).get('sessions', [])
                if session['path'] == self.path('recorded.sbt')]

    def recorded(self, argv, times):
        """Runs it to its end. So many times it waits until CUPTI is taken back from it."""
        path, missed = self.path('recorded.sbt'), [0]
        with subprocess.Popen([harness.TSCTL, 'record', '-o', path, '--vgpu', '-q', '--', *argv], cwd=self.folder,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=harness.record_environment(TS_APP_WAIT='1', XDG_RUNTIME_DIR=self.folder)) as process:
            self.addCleanup(process.kill)
            end = time.monotonic() + harness.SECONDS
            for _ in range(times):
                before = missed
                while not missed or missed <= before:
                    self.assertIsNone(process.poll(), 'it ended')
                    self.assertLess(time.monotonic(), end, 'CUPTI is not taken back')
                    time.sleep(0.02)
                    missed = self.missed()
                process.stdin.write('go on\n')
                process.stdin.flush()
            out, err = process.communicate(timeout=harness.SECONDS)
        return process.returncode, out, err, path

    def both(self, way, rounds=ROUNDS, times=0):
        """Alone, then recorded: the same output and status. Returns the trace."""
        argv = [harness.app('profiler', self.form), way, str(rounds)]
        alone = harness.run(argv, harness.alone_environment(), cwd=self.folder)
        self.assertEqual((alone.status, alone.err), (0, ''), alone)
        self.assertIn('%d kernels, 0 others' % WITHIN, alone.out)
        self.assertIn(' 0 times wrong, 0 dropped, 0 buffers out', alone.out)
        status, out, err, path = self.recorded(argv, times)
        self.assertEqual((status, out, err), (0, alone.out, ''))
        trace = harness.Trace(path)
        self.check_sound(trace)
        return trace

    def check_taken_back(self, way):
        trace = self.both(way, times=ROUNDS)
        self.assertEqual(trace.lost, {'yielded': ROUNDS * CALLS_WITHIN})
        kernels = [row['name'] for row in trace.of('kernel')]
        self.assertEqual(kernels, ['scale'] * (ROUNDS + 1) * OUTSIDE)
        launches = [row for row in trace.of('api') if row['name'] == self.launch]
        self.assertEqual(len(launches), len(kernels))
        self.assertEqual([row['state'] for row in trace.info['sessions']], ['ended'])
        yields = trace.of('yield')
        self.assertEqual([row['yielded'] for row in yields], [True, False] * ROUNDS)
        self.assertEqual({row['to'] for row in yields}, {'profiler-' + self.form})
        # What is between them is the profiler's.
        for given, taken in zip(yields[::2], yields[1::2]):
            self.assertFalse([row for row in trace.of('kernel', 'api')
                              if given['start_ns'] < row['start_ns'] < taken['start_ns']
                              and row['end_ns'] < taken['start_ns']])

    def test_subscribe(self):
        self.check_taken_back('subscribe')

    def test_activity(self):
        """Buffers alone: it never subscribes."""
        self.check_taken_back('activity')

    def test_clock(self):
        """With a clock of its own, which stays: the trace's times are ours all the same."""
        self.check_taken_back('clock')

    def test_finalize(self):
        self.check_taken_back('finalize')

    def test_keep(self):
        """It never lets go: the trace says since when, and to whom."""
        trace = self.both('keep', 1)
        self.assertEqual([row['name'] for row in trace.of('kernel')], ['scale'] * OUTSIDE)
        self.assertEqual([row['yielded'] for row in trace.of('yield')], [True])
        self.assertEqual(trace.lost, {'yielded_to_end': 1})

    def test_first(self):
        """From before the first call to the driver: CUPTI is taken when it is free."""
        trace = self.both('first', 1, times=1)
        self.assertEqual([row['name'] for row in trace.of('kernel')], ['scale'] * OUTSIDE)
        self.assertEqual([row['yielded'] for row in trace.of('yield')], [True, False])
        self.assertEqual({row['to'] for row in trace.of('yield')}, {'profiler-' + self.form})
        self.assertEqual(list(trace.lost), ['yielded'])
        # What it profiled, and what it did to get there.
        self.assertGreater(trace.lost['yielded'], CALLS_WITHIN)
        self.assertLess(trace.lost['yielded'], CALLS_WITHIN + 100)
        session, = trace.info['sessions']
        self.assertEqual((session['state'], session.get('empty_reason')), ('ended', None))
        self.assertTrue(trace.info['devices'])

    def test_first_keep(self):
        """And it never lets go: the trace says who it was, and that it does not know what it lacks."""
        trace = self.both('first-keep', 1)
        self.assertEqual(trace.counts.get('kernel', 0), 0)
        self.assertEqual([row['yielded'] for row in trace.of('yield')], [True])
        self.assertEqual(trace.lost, {'yielded_to_end': 1})
        self.assertEqual(trace.info['sessions'][0]['empty_reason'], 'cupti_held')
        told = harness.tsctl('info', trace.path)
        self.assertIn('the application\'s own profiler holds CUPTI: profiler-driver', told.out + told.err)

    def test_injection_held(self):
        """Another tool's library is injected in our place: whoever records is told which."""
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu',
                                   CUDA_INJECTION64_PATH='/nowhere/other-tool.so')
        self.assertEqual(result.status, 0, result)
        self.assertIn('/nowhere/other-tool.so', result.err)
        self.assertIn('/nowhere/other-tool.so', harness.tsctl('info', path).out)


class Maca(Profiler):
    """Another vendor's library, used by CUPTI's names."""
    form, launch, pti = 'maca', 'mcModuleLaunchKernel', True
    test_first = test_first_keep = test_injection_held = None


if __name__ == '__main__':
    harness.main()
