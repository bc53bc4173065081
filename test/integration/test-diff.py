#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two recordings of one program against each other: of the same device, of a slower one, of a program that does more."""
import json
import os

import harness

ROUNDS = 25


class Diff(harness.Case):
    def recorded(self, name, spec='h200', rounds=ROUNDS):
        path = self.path(name)
        result = harness.run([harness.TSCTL, 'record', '-q', '-o', path, '--vgpu=' + spec, '--',
                              harness.app('pipeline', 'driver'), str(rounds)],
                             env=harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return path

    def diff(self, *arguments, status=0):
        result = harness.tsctl('diff', '--json', *arguments)
        self.assertEqual((result.status, result.err), (status, ''))
        return json.loads(result.out)

    @staticmethod
    def verdicts(report, calls=False):
        return {name['verdict'] for name in report['names'] if (name['type'] == 'api') == calls}

    def test_the_same_device(self):
        """Virtual time is the same to the nanosecond; calls take what they take."""
        before, after = self.recorded('before.sbt'), self.recorded('after.sbt')
        report = self.diff(before, after)
        trace = harness.Trace(before)
        n = sum(trace.counts[kind] for kind in ('kernel', 'memcpy', 'memset'))
        self.assertEqual(self.verdicts(report), {'same'})
        self.assertLessEqual(self.verdicts(report, calls=True), {'same', 'few', 'slower', 'faster'})
        self.assertEqual((report['aligned'], report['before']['alone'], report['after']['alone']), (n, 0, 0))
        self.assertEqual(report['before']['operations'], n)
        self.assertNotIn('first_difference', report)
        of_kernels = [name for name in report['names'] if name['type'] == 'kernel']
        self.assertEqual(sum(name['before']['count'] for name in of_kernels), trace.counts['kernel'])
        self.assertEqual(sum(name['before']['total_ns'] for name in of_kernels),
                         sum(row['end_ns'] - row['start_ns'] for row in trace.of('kernel')))

    def test_a_slower_device(self):
        before, after = self.recorded('before.sbt'), self.recorded('after.sbt', 'small')
        report = self.diff(before, after, '--check', status=1)
        self.assertEqual(self.verdicts(report), {'slower'})
        for name in report['names']:
            if name['type'] != 'api':
                self.assertGreater(name['after']['median_ns'], name['before']['median_ns'])
                self.assertLess(name['p'], 0.01)
                self.assertGreater(name['slower_share'], 0.9)
        self.assertEqual(self.verdicts(self.diff(after, before)), {'faster'})
        text = harness.tsctl('diff', before, after).out
        self.assertIn('slower', text)
        self.assertIn('GPU operations', text)

    def test_a_longer_program(self):
        before, after = self.recorded('before.sbt'), self.recorded('after.sbt', rounds=ROUNDS + 3)
        report = self.diff(before, after)
        self.assertEqual(self.verdicts(report), {'same'})
        self.assertEqual(report['before']['alone'], 0)
        self.assertEqual(report['after']['alone'], report['after']['operations'] - report['before']['operations'])
        self.assertGreater(report['after']['alone'], 0)
        self.assertNotIn('op_id_before', report['first_difference'])

    def test_mistakes(self):
        path = self.recorded('one.sbt')
        broken = self.path('broken.sbt')
        with open(path, 'rb') as stream:
            data = bytearray(stream.read())
        with open(broken, 'wb') as stream:
            stream.write(data[:len(data) // 2])
        for arguments, says in (((path,), 'two traces'), ((path, path, path), 'two traces'),
                                ((path, self.path('none.sbt')), 'none.sbt'),
                                ((path, os.devnull), 'no regular file'),
                                (('--least', '-1', path, path), '--least'),
                                (('--limit', 'x', path, path), '--limit')):
            result = harness.tsctl('diff', *arguments)
            self.assertEqual(result.status, 2, result)
            self.assertIn(says, result.err)
        # What is there of half a trace is compared: blocks of some types are, of others not.
        report = self.diff(broken, path)
        self.assertLess(report['before']['operations'], report['after']['operations'])


if __name__ == '__main__':
    harness.main()
