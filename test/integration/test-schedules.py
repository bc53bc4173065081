#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tsctl replay --on vgpu --schedules`: results that depend on an order that nothing promises are found, with what it takes, and shown again from
their seed; programs without come out the same in every order.

`--all`: a thousand orders of each, and the programs that take long: the soak; in the ordinary run fifty.
"""
import json
import os
import sys
import time

import clean
import harness

ALL = False
SAME, FOUND, BAD, DIFFERS = 0, 1, 2, 3
# A busy machine does not end one order within the shortest.
TIME_LIMITS_S = ('2', '10', '60')


class Schedules(harness.Case):
    def capture(self, argv, vgpu='small', status=0):
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'replay', '--force')
        if result.status == harness.SKIPPED:
            return None
        self.assertEqual(result.status, status, result)
        return path

    def replay(self, path, *options):
        """(exit status, the JSON of each session)"""
        if '--time-limit' not in options:
            options += ('--time-limit', str(harness.SECONDS * (50 if ALL else 1)))
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', *options, path, seconds=harness.SECONDS * (50 if ALL else 1))
        self.assertIn(result.status, (SAME, FOUND, BAD, DIFFERS), result)
        return result.status, [json.loads(line) for line in result.out.splitlines()]

    def find(self, fault):
        """The session of a mistake that changes what comes out, and its operations by sequence."""
        path = self.capture([harness.app('faults', 'driver'), fault])
        status, (session,) = self.replay(path, '--schedules', '50')
        self.assertEqual((status, session['verdict']), (FOUND, 'nondeterministic'))
        self.assertTrue(session['smallest'])
        self.assertEqual(session['difference']['from'], 'schedule')
        # The same from its seed, and as a person reads it.
        status, (again,) = self.replay(path, '--schedules', '1', '--seed', session['seed'])
        self.assertEqual(status, FOUND)
        for key in ('difference', 'decisions'):
            self.assertEqual(again[key], session[key])
        text = harness.tsctl('replay', '--on', 'vgpu', '--schedules', '1', '--seed', session['seed'], path)
        self.assertEqual(text.status, FOUND, text)
        self.assertIn('--seed ' + session['seed'], text.out)
        # The last decision is what makes the difference.
        fewer = session['seed'].replace(':', ',').split(',')[:-1]
        if len(fewer) > 1:
            seed = fewer[0] + ':' + ','.join(fewer[1:])
            self.assertEqual(self.replay(path, '--schedules', '1', '--seed', seed)[0], SAME)
        return session, {row['sequence']: row for row in harness.Trace(path).of('operation')}, text.out

    def test_a_sum_of_floats(self):
        session, operations, text = self.find('sum')
        launch = max(n for n, row in operations.items() if row['kind'] == 'launch')
        for decision in session['decisions']:
            self.assertEqual((decision['sequence'], decision['name']), (launch, 'sum'))
            self.assertIn(decision['kind'], ('turn', 'lanes'))
            self.assertGreater(decision['line'], 0)
        self.assertIn('launch of sum', text)
        self.assertEqual(session['difference']['buffer_offset'], 0)

    def test_two_streams(self):
        session, operations, text = self.find('streams')
        decision, = session['decisions']
        self.assertEqual((decision['kind'], decision['name']), ('held', 'turn'))
        other = operations[decision['first_before']]
        self.assertEqual(other['kind'], 'launch')
        self.assertNotEqual(other['stream_handle'], operations[decision['sequence']]['stream_handle'])
        self.assertIn('is done after operation', text)

    def test_a_race(self):
        session, _, text = self.find('race')
        for decision in session['decisions']:
            self.assertEqual((decision['kind'], decision['name']), ('turn', 'turn_race'))
        self.assertIn('goes on at PTX line', text)

    def check_clean(self, argv, vgpu, n):
        path = self.capture(argv, vgpu)
        if not path:
            return
        status, sessions = self.replay(path, '--schedules', n)
        self.assertEqual(status, SAME, sessions)
        for session in sessions:
            self.assertEqual((session['verdict'], session['schedules']), ('same', int(n)))
            self.assertNotIn('unfinished', session)

    def test_clean(self):
        n = '1000' if ALL else '10' if harness.SANITIZER else '50'
        for name, arguments, vgpu in clean.CLEAN + (clean.COMPUTE + clean.LONG if ALL else []):
            for argv in clean.commands(name, arguments):
                with self.subTest(argv=argv):
                    self.check_clean(argv, vgpu, n)

    def test_what_goes_with_it(self):
        """Checks of the usual order; replays of it with kernels on all processors; memory where the host waited for all."""
        path = self.capture([harness.app('faults', 'driver'), 'streams'])
        status, (session,) = self.replay(path, '--schedules', '50', '--check', 'all', '--compare-every', '1')
        self.assertEqual((status, session['verdict']), (FOUND, 'nondeterministic'))
        self.assertEqual({finding['kind'] for finding in session['findings']}, {'unordered'})
        self.assertEqual((session['difference']['from'], session['difference']['in_memory']), ('schedule', True))
        self.assertGreater(session['compared_points'], 0)
        operation = {row['sequence']: row for row in harness.Trace(path).of('operation')}[session['difference']['sequence']]
        self.assertEqual(operation['kind'], 'sync')
        path = self.capture([harness.app('pipeline', 'driver'), '2'])
        for options in (('--check', 'all'), ('--compare-every', '1'), ('--repeat', '3'), ('--check', 'all', '--repeat', '2')):
            status, (session,) = self.replay(path, '--schedules', '5', *options)
            self.assertEqual((status, session['verdict'], session['schedules']), (SAME, 'same', 5), options)
            self.assertGreaterEqual(session['replays'], 6 + (int(options[-1]) - 1 if '--repeat' in options else 0), options)

    def test_other_than_the_capture(self):
        """The same in every order, and other than when it was captured: that is no nondeterminism."""
        result, path = self.record([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'late.py'), '5'], '--vgpu=small',
                                   '--capture', 'replay', '--force')
        if result.status == harness.SKIPPED:
            self.skipTest('it was too late already')
        self.assertEqual(result.status, 0, result)
        time.sleep(max(0, (int(result.out.split()[-1]) - time.monotonic_ns()) / 1e9 + 0.01))
        for options in ((), ('--check', 'all'), ('--compare-every', '1'), ('--repeat', '3')):
            status, (session,) = self.replay(path, '--schedules', '5', *options)
            self.assertEqual((status, session['verdict'], session['schedules']), (DIFFERS, 'differs', 5), (options, session))
            self.assertEqual((session['difference']['from'], session['difference']['expected'], session['difference']['found']),
                             ('capture', '01000000', '07000000'), session)

    def in_time(self, path):
        """(exit status, session, limit) of a million orders under the first limit in which this machine ends the usual one."""
        for limit in TIME_LIMITS_S:
            begin = time.monotonic()
            status, (session,) = self.replay(path, '--schedules', '1000000', '--time-limit', limit)
            self.assertLess(time.monotonic() - begin, int(limit) + harness.SECONDS / 10)
            if session['verdict'] != 'unfinished':
                break
        return status, session, limit

    def test_time_limit(self):
        """It holds for all orders together, and the answer has how many were tried; looking for mistakes has it as well."""
        path = self.capture([harness.app('saxpy', 'driver'), '20'])
        status, session, limit = self.in_time(path)
        self.assertEqual((status, session['verdict'], session['time_is_up']), (SAME, 'same', True))
        self.assertGreater(session['schedules'], 0)
        self.assertLess(session['schedules'], 1000000)
        text = harness.tsctl('replay', '--on', 'vgpu', '--schedules', '1000000', '--time-limit', limit, path)
        self.assertEqual(text.status, SAME, text)
        self.assertIn('the time limit was reached', text.out)
        # A mistake that is found is told in the time, with fewer decisions left out.
        status, session, _ = self.in_time(self.capture([harness.app('faults', 'driver'), 'sum']))
        self.assertEqual((status, session['verdict'], session['difference']['from']), (FOUND, 'nondeterministic', 'schedule'))

    def test_fills(self):
        """A fill of managed or pinned memory returns when it is over; what comes behind one of device memory, or an asynchronous one, may pass it."""
        program = [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'fills.py')]
        # What a launch finds in managed memory is captured with it, so that no order of the asynchronous fill changes the result. The
        # captured run itself may have had the other one, where the fill came between the launch and the kernel.
        for what, verdicts, findings in (('managed', ('same',), []), ('pinned', ('same',), []),
                                         ('device', ('nondeterministic',), ['unordered']), ('async', ('same', 'differs'), ['unordered'])):
            with self.subTest(what=what):
                status, (session,) = self.replay(self.capture(program + [what]), '--schedules', '20', '--check', 'all')
                self.assertEqual(status, FOUND if findings else SAME, session)
                self.assertIn(session['verdict'], verdicts, session)
                self.assertEqual([finding['kind'] for finding in session.get('findings', [])], findings)

    def test_kernels_that_wait(self):
        """Where a kernel waits for another stream, no order can be tried: that is said, and is no verdict on the program."""
        result, path = self.record([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'waits.py')], '--vgpu=small',
                                   '--capture', 'replay', '--force')
        if result.status == harness.SKIPPED:
            return
        self.assertEqual(result.status, 0, result)
        self.assertEqual(harness.tsctl('replay', '--on', 'vgpu', path).status, SAME)
        # Under a sanitizer the kernel waits for a minute of a core, each access being checked, before it is given up.
        limited = ('--time-limit', '2') if harness.SANITIZER else ()
        for options in (('--schedules', '5'), ('--check', 'all', *limited), ('--schedules', '5', '--time-limit', '1')):
            status, (session,) = self.replay(path, *options)
            self.assertEqual((status, session['verdict'], session['refusal']['kind']), (BAD, 'unfinished', 'launch'), (options, session))
            if '--time-limit' not in options:
                self.assertIn('another operation', session['refusal']['why'])
            self.assertEqual(session.get('schedules', 0), 0)
        text = harness.tsctl('replay', '--on', 'vgpu', '--schedules', '5', *limited, path)
        self.assertEqual(text.status, BAD, text)
        self.assertRegex(text.out, r'  no other order was tried.*: the results of other orders are unknown\n')
        self.assertNotIn('always the same', text.out)

    def test_unordered_blocks(self):
        path = self.capture([harness.app('saxpy', 'driver'), '1'])
        self.assertEqual(self.replay(path, '--schedules', '20', '--unordered-blocks')[0], SAME)

    def test_what_does_not_go_together(self):
        path = self.capture([harness.app('saxpy', 'driver'), '1'])
        for options in (('--seed', '1'), ('--unordered-blocks',), ('--schedules', '0'), ('--schedules', '2', '--seed', '1:3'),
                        ('--schedules', '1', '--seed', '1:'), ('--schedules', '1', '--seed', '1:5,4'),
                        ('--schedules', '1', '--seed', '1:7-6'), ('--schedules', '1', '--seed', 'x'),
                        ('--schedules', '1', '--repeat', '2', '--compare-every', '1'),
                        ('--schedules', '1', '--mode', 'dry-run')):
            result = harness.tsctl('replay', '--on', 'vgpu', *options, path)
            self.assertEqual((result.status, result.out), (BAD, ''), (options, result))
        result = harness.tsctl('replay', '--schedules', '1', path)
        self.assertEqual((result.status, result.out), (BAD, ''), result)


if __name__ == '__main__':
    if '--all' in sys.argv:
        ALL = True
        sys.argv.remove('--all')
    harness.main()
