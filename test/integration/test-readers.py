#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tsctl export writes, as the programs read it that it is for: `go tool pprof` and speedscope's importer."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import harness

# Where the importer lies: dist/release of the npm package `speedscope`.
SPEEDSCOPE = os.environ.get('TS_SPEEDSCOPE', '')
WEIGHTS = {'launches': ('launches', 'count'), 'gpu-time': ('gpu', 'ns'), 'bytes': ('copied', 'B')}
PYTHON = os.path.join(harness.SOURCE, 'test', 'apps', 'python-ctypes.py')


def read_folded(path):
    stacks = collections.Counter()
    with open(path, encoding='utf-8') as stream:
        for line in stream:
            frames, weight = line.rsplit(' ', 1)
            stacks[tuple(frames.split(';'))] = int(weight)
    return stacks


def pprof_name(frame):
    """Of Python's functions a profile keeps files and lines apart; an address without a symbol goes by its file."""
    return re.sub(r'^(.*)\+0x[0-9a-f]+$', r'[\1]', re.sub(r' \([^()]*:[^()]*\)$', '', frame))


class Readers(harness.Case):
    def programs(self):
        """Traces of programs, one after the other, in the same place."""
        for argv in ([harness.app('ladder', 'driver'), '5'], [harness.app('pipeline', 'driver')],
                     [harness.app('graph', 'driver')], [harness.app('workers', 'driver'), '2', '2', '2'],
                     [sys.executable, PYTHON, '4']):
            result, path = self.record(argv, '--vgpu', '-q')
            self.assertEqual(result.status, 0, result)
            yield argv, path
            os.unlink(path)

    def exported(self, path, form, *options):
        out = self.path('out.' + form)
        result = harness.tsctl('export', '--format', form, '-o', out, *options, path)
        self.assertEqual((result.status, result.out), (0, ''), result)
        return out

    def pprof(self, profile, sample, unit):
        """{stack from the outermost in: weight}, of one kind of sample."""
        run = subprocess.run(['go', 'tool', 'pprof', '-symbolize=none', '-traces', '-sample_index=' + sample, '-unit=' + unit, profile],
                             env=dict(os.environ, HOME=self.folder, PPROF_TMPDIR=self.folder, GOTELEMETRY='off'),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.SECONDS, check=False)
        self.assertEqual((run.returncode, run.stderr.decode()), (0, ''))
        stacks = collections.Counter()
        for sample_text in re.split('(?m)^-+\\+-+\n', run.stdout.decode())[1:]:
            lines = [line for line in sample_text.splitlines() if not re.match(r' *(thread|process|pid|tid|device|stream): ', line)]
            if not lines:
                continue
            weight, first = re.match(r' *(\d+)[a-zA-Z]* +(.*)', lines[0]).groups()
            frames = [re.sub(r' \(inline\)$', '', frame) for frame in [first] + [line.strip() for line in lines[1:]]]
            stacks[tuple(reversed(frames))] += int(weight)
        return +stacks

    def test_pprof(self):
        if not shutil.which('go'):
            self.skipTest('go is not here, whose pprof would read it')
        for argv, path in self.programs():
            profile = self.exported(path, 'pprof')
            for weight, (sample, unit) in WEIGHTS.items():
                with self.subTest(argv=argv, weight=weight):
                    want = collections.Counter()
                    for frames, value in read_folded(self.exported(path, 'folded', '--weight', weight)).items():
                        want[tuple(map(pprof_name, frames))] += value
                    self.assertEqual(self.pprof(profile, sample, unit), want)

    def test_speedscope(self):
        if not SPEEDSCOPE:
            self.skipTest('speedscope is not here: name the folder dist/release of its npm package in $TS_SPEEDSCOPE')
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'speedscope.mjs')
        for argv, path in self.programs():
            for weight in WEIGHTS:
                with self.subTest(argv=argv, weight=weight):
                    folded = self.exported(path, 'folded', '--weight', weight)
                    run = subprocess.run(['node', script, SPEEDSCOPE, folded], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         timeout=harness.SECONDS, check=False)
                    self.assertEqual((run.returncode, run.stderr.decode()), (0, ''))
                    read = json.loads(run.stdout)
                    self.assertEqual((read['said'], len(read['profiles'])), (['Importing as collapsed stack format'], 1))
                    found = collections.Counter()
                    for sample in read['profiles'][0]['samples']:
                        found[tuple(sample['stack'])] += sample['weight']
                    self.assertEqual(found, read_folded(folded))


if __name__ == '__main__':
    harness.main()
