#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that have many of one thing: commands take time as the trace grows, not as its square, and a limit is reported as one.

The bounds of processor time lie far above what commands take, and far below what they took when they were quadratic: tens of seconds.
"""
import json
import os
import resource
import unittest

import harness

MAKE = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many')
# A sanitizer makes commands slower than the bound allows for; that they are not quadratic is told without it.
MANY = 15000 if harness.SANITIZER else 150000
PROCESSOR_SECONDS = 10
# One more than replay/state/limit.h allows.
STREAMS = (1 << 18) + 1


class Many(harness.Case):
    def make(self, kind, n):
        path = self.path('%s-%d.sbt' % (kind, n))
        result = harness.run([MAKE, path, str(n), kind])
        self.assertEqual(result.status, 0, result)
        return path

    def check(self, *arguments):
        """Runs tsctl and returns its result, if it took no more processor time than it may."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = harness.run(['prlimit', '--cpu=%d' % (4 * PROCESSOR_SECONDS), harness.TSCTL, *arguments])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertEqual((result.status, result.err), (0, ''), (arguments, result.err))
        self.assertLess(seconds, PROCESSOR_SECONDS, arguments)
        return result

    # ---- time ----------------------------------------------------------------------------------------

    def test_streams(self):
        path = self.make('streams', MANY)
        self.check('replay', path, '--on', 'emulate')
        self.check('gaps', path)
        timeline = json.loads(self.check('timeline', '--json', '--width', '4', path).out)
        self.assertEqual(sum(len(device['streams']) for device in timeline['devices']), MANY)

    def test_contexts(self):
        self.check('replay', self.make('contexts', MANY), '--on', 'emulate')

    def test_threads(self):
        self.check('replay', self.make('threads', MANY), '--on', 'emulate')

    def test_devices(self):
        path = self.make('devices', MANY)
        self.check('replay', path, '--on', 'emulate')
        self.check('timeline', '--json', '--width', '4', path)
        self.check('state', path, '--at', '5ms')

    def test_pools(self):
        memory = json.loads(self.check('memory', '--json', self.make('pools', MANY)).out)
        self.assertEqual(len(memory['groups']), MANY)

    def test_sessions(self):
        self.check('graph', self.make('sessions', MANY // 4), '--format', 'dot')

    def test_streams_of_a_capture(self):
        """The virtual GPU looks for the next kernel among those that wait, which was a cube; and waits for those streams alone that
        have work."""
        path = self.make('captured-streams', MANY // 3)
        for _ in range(3):
            self.check('replay', path, '--on', 'vgpu')
        self.check('replay', path, '--on', 'vgpu', '--check', 'all')
        self.check('replay', path, '--on', 'vgpu', '--schedules', '2')

    # ---- limits --------------------------------------------------------------------------------------

    def test_more_streams_than_the_first_limit(self):
        path = self.make('streams', 5000)
        for command in ('timeline', 'analyze'):
            self.check(command, path)

    def test_too_many_streams(self):
        path = self.make('streams', STREAMS)
        commands = (['timeline', path], ['graph', path], ['replay', path, '--on', 'emulate'], ['diff', path, path], ['analyze', path],
                    ['gaps', path], ['state', path, '--at', '5ms'])
        # All of them return the limit of replay/state/limit.h.
        for arguments in commands[:-3] if harness.IS_SLOW else commands:
            result = harness.tsctl(*arguments)
            self.assertEqual(result.status, 2, (arguments, result))
            self.assertRegex(result.err, r'^tsctl [a-z]+: .* holds more than 262,144 streams, which is the limit; '
                             r'`tsctl cut` writes a trace of a part of it\n$', arguments)
        part = self.path('part.sbt')
        result = harness.tsctl('cut', path, '--to', '1ms', '-o', part)
        self.assertEqual((result.status, result.err), (0, ''))
        self.check('timeline', part)

    def test_too_many_cells(self):
        result = harness.tsctl('timeline', '--width', '10000', self.make('streams', 5000))
        self.assertEqual(result.status, 2)
        self.assertIn('holds more than 16,777,216 cells of a timeline (streams times --width)', result.err)

    # ---- nothing -------------------------------------------------------------------------------------

    def test_none(self):
        """A trace without a row: no list is empty for a function that wants none that is (UBSan looks on)."""
        path = self.make('launches', 0)
        for arguments in (['info', path], ['gaps', path], ['timeline', path], ['analyze', path], ['memory', path],
                          ['state', path, '--at', '0'], ['graph', path], ['view', path], ['view', '--stats', path],
                          ['diff', path, path], ['verify', path], ['replay', path, '--on', 'emulate']):
            result = harness.tsctl(*arguments)
            self.assertIn(result.status, (0, 2), (arguments, result))
            self.assertNotIn('runtime error', result.err)
            self.assertLess(result.err.count('\n'), 2, result.err)


if __name__ == '__main__':
    unittest.main()
