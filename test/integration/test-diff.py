#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two recordings of one program against each other: of the same device, of a slower one, of a program that does more."""
import json
import os
import subprocess
import sys

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
        report = self.diff(before, after, '--check', status=1)
        self.assertEqual(self.verdicts(report), {'more'})
        self.assertEqual(report['before']['alone'], 0)
        self.assertEqual(report['after']['alone'], report['after']['operations'] - report['before']['operations'])
        self.assertGreater(report['after']['alone'], 0)
        self.assertNotIn('op_id_before', report['first_difference'])

    def changed(self, *how):
        path = self.path('%s.sbt' % '-'.join(how or ['plain']))
        result = harness.run([harness.TSCTL, 'record', '-q', '--force', '-o', path, '--vgpu', '--stacks', 'none', '--', sys.executable,
                              os.path.join(harness.SOURCE, 'test', 'apps', 'changes.py')] + list(how),
                             env=harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return path

    def test_planted_changes(self):
        """Each is found, and is what the list begins with."""
        before = self.changed()
        for how, verdict, name in (
                ('rounds=70', 'more', 'gate'), ('rounds=21', 'more', 'gate'), ('rounds=19', 'fewer', 'gate'),
                ('loops=420', 'slower', 'first'), ('loops=440', 'slower', 'first'), ('loops=800', 'slower', 'first'),
                ('loops=380', 'faster', 'first'), ('third=1', 'new', 'third'),
                ('copies=5', 'more', 'htod, 1.00 MiB to 2.00 MiB'), ('copies=3', 'fewer', 'htod, 1.00 MiB to 2.00 MiB'),
                ('copies=0', 'gone', 'htod, 1.00 MiB to 2.00 MiB'), ('sets=2', 'more', 'memset, 1.00 MiB to 2.00 MiB'),
                ('sets=0', 'gone', 'memset, 1.00 MiB to 2.00 MiB'), ('grid=2', 'config', 'second'), ('grid=8', 'config', 'second'),
                ('block=32', 'config', 'second'), ('block=96', 'config', 'second'), ('shared=1024', 'config', 'second'),
                ('streams=1', None, None)):
            with self.subTest(how=how):
                report = self.diff(before, self.changed(how), '--check', status=0 if verdict == 'faster' else 1)
                found = [one for one in report['names'] if one['type'] != 'api' and one['verdict'] not in ('same', 'few')]
                if name:
                    self.assertEqual((found[0]['verdict'], found[0]['name']), (verdict, name), found)
                else:
                    self.assertEqual((found, report['overlap']), ([], 'lost'))
                    self.assertIn('Overlap lost', harness.tsctl('diff', before, self.path('streams=1.sbt')).out)
                if verdict == 'config':
                    self.assertNotEqual(found[0]['config_before'], found[0]['config_after'])
        # Another size is another name.
        found = [(one['verdict'], one['name']) for one in self.diff(before, self.changed('bytes=4096'))['names'] if one['type'] == 'memcpy']
        self.assertEqual(sorted(found), [('gone', 'htod, 1.00 MiB to 2.00 MiB'), ('new', 'htod, 4.00 KiB to 8.00 KiB')])
        text = harness.tsctl('diff', before, self.path('grid=2.sbt')).out
        self.assertIn('second: <<<4x1x1, 64x1x1>>> -> <<<2x1x1, 64x1x1>>>', text)

    def test_identical_runs_under_load(self):
        """Pairs of runs of one program, while others want the processors: nothing is found. TS_PAIRS is how many."""
        pairs = int(os.environ.get('TS_PAIRS', '8'))
        load = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(os.cpu_count() or 1)]
        try:
            paths = [self.recorded('run%d.sbt' % i) for i in range(pairs + 1)]
        finally:
            for process in load:
                process.kill()
                process.wait()
        for before, after in zip(paths, paths[1:]):
            self.diff(before, after, '--check')
        half = len(paths) // 2
        report = self.diff(*paths[:half], 'vs', *paths[half:], '--check')
        self.assertEqual((report['before']['runs'], report['after']['runs']), (half, len(paths) - half))

    def test_several_runs(self):
        """A median that moved in one run alone is chance; counts and times are of a run, on the average."""
        one, other, slow = self.recorded('one.sbt'), self.recorded('other.sbt'), self.recorded('slow.sbt', 'small')
        self.assertEqual(self.verdicts(self.diff(one, other, 'vs', other, slow)), {'same'})
        report = self.diff(one, other, 'vs', slow, slow, slow, '--check', status=1)
        self.assertEqual(self.verdicts(report), {'slower'})
        self.assertEqual(report['before']['operations'], report['after']['operations'])
        for arguments in ((one, other, slow), (one, 'vs'), ('vs', one), [one] * 65 + ['vs', one]):
            self.assertEqual(harness.tsctl('diff', *arguments).status, 2, arguments)

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
