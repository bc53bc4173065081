#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two recordings of one program against each other: of the same device, of a slower one, of a program that does more."""
import contextlib
import json
import os
import subprocess
import sys

import harness

ROUNDS = 25
SOAK = bool(os.environ.get('TS_SOAK'))
CHANGES = os.path.join(harness.SOURCE, 'test', 'apps', 'changes.py')
COPIES = 'htod, 1.00 MiB to 2.00 MiB'
# An argument of changes.py, the verdict, and the name that the list begins with.
PLANTS = (
    # Counts.
    ('rounds=21', 'more', None), ('firsts=3', 'fewer', 'first'), ('copies=5', 'more', COPIES), ('sets=0', 'gone', 'memset, 1.00 MiB to 2.00 MiB'),
    # One kernel 5 % slower.
    ('first=425', 'slower', 'first'), ('second=425', 'slower', 'second'), ('gate=21050', 'slower', 'gate'), ('last=2110', 'slower', 'last'),
    # A new copy: to the host, within the device, of another size, a single one.
    ('back=1', 'new', 'dtoh, 64.00 KiB to 128.0 KiB'), ('inside=1', 'new', 'dtod, 64.00 KiB to 128.0 KiB'),
    ('small=1', 'new', 'htod, 2.00 KiB to 4.00 KiB'), ('once=1', 'new', 'htod, 2.00 KiB to 4.00 KiB'),
    # A lost overlap.
    ('streams=1', 'lost', None), ('order=wait', 'lost', None), ('order=sync', 'lost', None), ('order=legacy', 'lost', None),
    # Another launch configuration.
    ('grid=2', 'config', 'second'), ('block=96', 'config', 'second'), ('shared=1024', 'config', 'second'), ('config=8,64,0,first', 'config', 'first'),
)
# One of each verdict, where a sanitizer looks on: a kernel takes it a second.
OF_EACH_VERDICT = tuple({verdict: (how, verdict, name) for how, verdict, name in PLANTS}.values())

# Wants a processor until its time is over or its parent is gone.
BUSY = """
import os, time
parent, end = os.getppid(), time.monotonic() + %d
while time.monotonic() < end and os.getppid() == parent:
    for _ in range(100000):
        pass
"""


@contextlib.contextmanager
def load():
    """Two processes that want processors; none under a sanitizer, which is load enough and looks for something else."""
    busy = [] if harness.SANITIZER else [subprocess.Popen([sys.executable, '-c', BUSY % (3600 if SOAK else 120)]) for _ in range(2)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


class Diff(harness.Case):
    def recorded(self, name, spec='h200', rounds=ROUNDS):
        path = self.path(name)
        result = harness.run([harness.TSCTL, 'record', '-q', '-o', path, '--vgpu=' + spec, '--',
                              self.app('pipeline'), str(rounds)],
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

    def test_a_changed_size_is_another_name(self):
        report = self.diff(*self.runs([CHANGES], 1, 'before'), *self.runs([CHANGES, 'bytes=4096'], 1, 'after'))
        found = [(one['verdict'], one['name']) for one in report['names'] if one['type'] == 'memcpy']
        self.assertEqual(sorted(found), [('gone', 'htod, 1.00 MiB to 2.00 MiB'), ('new', 'htod, 4.00 KiB to 8.00 KiB')])

    def test_texts(self):
        before, = self.runs([CHANGES], 1, 'before')
        text = harness.tsctl('diff', before, *self.runs([CHANGES, 'grid=2'], 1, 'grid')).out
        self.assertIn('second: <<<4x1x1, 64x1x1>>> -> <<<2x1x1, 64x1x1>>>', text)
        text = harness.tsctl('diff', before, *self.runs([CHANGES, 'streams=1'], 1, 'streams')).out
        self.assertLess(text.index('Overlap lost: '), text.index('GPU operations'))
        self.assertNotIn('times of the host', text)
        text = harness.tsctl('diff', '--calls', before, before).out
        self.assertEqual(text.count('These are times of the host'), 1)
        host, = self.runs([CHANGES], 1, 'host', 'small,clock=host')
        self.assertIn('These are times of the host', harness.tsctl('diff', host, host).out)

    def runs(self, argv, n, stem, spec='small'):
        """Paths of n recordings of a program."""
        paths = [self.path('%s%d.sbt' % (stem, i)) for i in range(n)]
        for path in paths:
            result = harness.run([harness.TSCTL, 'record', '-q', '--force', '-o', path, '--vgpu=' + spec, '--stacks', 'none', '--'] +
                                 ([sys.executable] if argv[0].endswith('.py') else []) + argv,
                                 env=harness.record_environment(), cwd=self.folder)
            self.assertEqual(result.status, 0, result)
        return paths

    @staticmethod
    def changed_work(report):
        return [one for one in report['names'] if one['type'] != 'api' and one['verdict'] not in ('same', 'few')]

    def check_plant(self, before, after, plant):
        """The change is found, and the list begins with it."""
        how, verdict, name = plant
        report = self.diff(*before, 'vs', *after, '--check', status=1)
        found = self.changed_work(report)
        if verdict == 'lost':
            self.assertEqual((report.get('overlap'), found), ('lost', []))
            return
        self.assertNotIn('overlap', report)
        self.assertEqual(report['names'][0]['verdict'], verdict, found)
        # A round more is more of all.
        self.assertEqual(len(found), 1 if name else 6, found)
        if name:
            self.assertEqual(report['names'][0]['name'], name, found)
        if verdict == 'config':
            self.assertNotEqual(found[0]['config_before'], found[0]['config_after'])

    def check_plants(self, plants, spec, n):
        before = self.runs([CHANGES], n, 'before', spec)
        for plant in plants:
            with self.subTest(plant=plant, spec=spec, n=n):
                self.check_plant(before, self.runs([CHANGES, plant[0]], n, 'after', spec), plant)

    def test_planted_changes(self):
        """On the model's clock one run a side suffices."""
        self.check_plants(OF_EACH_VERDICT if harness.SANITIZER else PLANTS, 'small', 1)
        self.diff(*self.runs([CHANGES], 1, 'before'), *self.runs([CHANGES, 'first=375'], 1, 'after'), '--check')

    def test_planted_changes_under_load(self):
        """Three runs a side, while others want the processors; on the host's clock all but times."""
        with load():
            self.check_plants(PLANTS if SOAK else PLANTS[::20] if harness.SANITIZER else PLANTS[::4], 'small', 3)
            of_host = [plant for plant in PLANTS if plant[1] not in ('slower', 'lost')]
            self.check_plants(of_host if SOAK else of_host[::16] if harness.SANITIZER else of_host[::4], 'small,clock=host', 3)

    def check_identical(self, spec, n, pairs):
        """So many pairs of n runs a side of each program: nothing is found, calls included."""
        for i in range(pairs):
            argv = [CHANGES] if i % 2 else [self.app('pipeline'), str(ROUNDS)]
            before, after = self.runs(argv, n, 'before', spec), self.runs(argv, n, 'after', spec)
            with self.subTest(pair=i, spec=spec, n=n, program=argv):
                report = self.diff(*before, 'vs', *after)
                self.assertEqual((self.changed_work(report), report.get('overlap')), ([], None))
                self.assertEqual(harness.tsctl('diff', '--check', '--calls', *before, 'vs', *after).status, 0,
                                 [one for one in report['names'] if one['verdict'] not in ('same', 'few')])

    def test_identical_runs_under_load(self):
        with load():
            for spec in ('small', 'small,clock=host'):
                for n in (1, 3, 5) if SOAK else (1,) if harness.SANITIZER else (1, 3):
                    self.check_identical(spec, n, 50 if SOAK else 2)

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
