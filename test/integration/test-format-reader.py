#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbt-kernels.py, a reader that was written from sbt/FORMAT.md alone, reads the same kernels as tsctl, and ends on damaged files.

A difference means that FORMAT.md and the code of sbt/ disagree, or that FORMAT.md lacks a fact.
"""
import concurrent.futures
import glob
import json
import os
import random
import sys
import unittest

import harness

FOLDER = os.path.dirname(os.path.abspath(__file__))
READER = os.path.join(FOLDER, 'sbt-kernels.py')
GOLDEN = sorted(glob.glob(os.path.join(FOLDER, 'golden', '*.sbt')) +
                glob.glob(os.path.join(harness.SOURCE, 'test', 'unit', 'sbt', 'golden', '*.sbt')))
N_CUTS, N_FLIPS = 30, 200
READ_AT_ONCE = 20  # files in one run of the reader: an interpreter starts slower than it reads
SECONDS = 60
# Golden traces without an end, which is an error for the reader.
UNFINISHED = ('cut.sbt',)


def read(*paths):
    return harness.run([sys.executable, READER] + list(paths), seconds=SECONDS)


def in_order(rows):
    return sorted(rows, key=lambda row: (row['start_ns'], row['session'], json.dumps(row, sort_keys=True)))


def of_reader(text):
    """The reader's kernels with the keys of tsctl, without the values that stand for nothing: tsctl omits these."""
    rows = []
    for line in text.splitlines():
        row = json.loads(line)
        for name in ('grid', 'block', 'cluster'):
            row.update(zip((name + axis for axis in ('_x', '_y', '_z')), row.pop(name)))
        for name in ('op_id', 'graph', 'graph_node', 'queued_ns', 'submitted_ns'):
            row[name] = row[name] or None
        rows.append({name: value for name, value in row.items() if value is not None})
    return in_order(rows)


def of_tsctl(path):
    result = harness.tsctl('view', '--type', 'kernel', '--mangled', '--json', path)
    if result.status:
        raise AssertionError('%s: %s' % (path, result))
    rows = [json.loads(line) for line in result.out.splitlines()]
    return in_order([{name: value for name, value in row.items() if name not in ('type', 'stream_name')}
                     for row in rows if row['type'] == 'kernel'])


class FormatReader(harness.Case):
    def check_equal(self, path, status=0):
        result = read(path)
        self.assertEqual((result.status, len(result.err.splitlines())), (status, status), '%s: %s' % (path, result))
        rows = of_reader(result.out)
        self.assertEqual(rows, of_tsctl(path), path)
        return rows

    def recorded(self):
        result, path = self.record([harness.app('pipeline', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        return path

    def test_golden(self):
        """Every golden trace: all columns, extreme numbers, files of one recording, a cut file, a repaired one."""
        self.assertGreater(len(GOLDEN), 12)
        n_kernels = sum(len(self.check_equal(path, int(os.path.basename(path) in UNFINISHED))) for path in GOLDEN)
        self.assertGreater(n_kernels, 300)

    def test_recorded(self):
        path = self.recorded()
        self.assertEqual(len(self.check_equal(path)), harness.Trace(path).counts['kernel'])

    def test_many_rows(self):
        """Blocks of many rows: planes with exceptions, centred planes, both index columns, trends, zstd."""
        generator = random.Random(2026)
        # Kernels of one configuration that take different times.
        kernels = ['a:0:0:%d:1' % generator.randrange(1, 9000) for _ in range(200)]
        for least, name, *arguments in ((3000, 'saxpy', '3000'), (1000, 'workers', '40', '4'),
                                        (400, 'schedule', '2:1', *kernels, 'sync:0')):
            result, path = self.record([harness.app(name, 'driver'), *arguments], '--vgpu', '-q')
            self.assertEqual(result.status, 0, result)
            self.assertGreaterEqual(len(self.check_equal(path)), least)
            os.unlink(path)

    def damaged(self):
        """Cut files and files with one flipped bit, with the same seed each time."""
        generator = random.Random(2026)
        small = [path for path in GOLDEN if os.path.getsize(path) < 30000]
        sources = []
        for path in small + [self.recorded()]:
            with open(path, 'rb') as stream:
                sources.append(stream.read())
        for i in range(N_CUTS + N_FLIPS):
            data = bytearray(sources[i % len(sources)])
            if i < N_CUTS:
                del data[generator.randrange(len(data)):]
            else:
                data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
            path = self.path('damaged-%d.sbt' % i)
            with open(path, 'wb') as stream:
                stream.write(data)
            yield path

    @unittest.skipIf(harness.SANITIZER, 'the reader alone runs, which is Python')
    def test_damaged(self):
        """The reader ends with status 0 or 1, a line for each error, and never with an exception of Python's."""
        paths = list(self.damaged())
        groups = [paths[i:i + READ_AT_ONCE] for i in range(0, len(paths), READ_AT_ONCE)]
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            results = list(executor.map(lambda group: read(*group), groups))
        n_named = 0
        for group, result in zip(groups, results):
            self.assertIn(result.status, (0, 1), result)
            self.assertNotIn('Traceback', result.err)
            for line in result.err.splitlines():
                self.assertTrue(line.startswith(tuple(path + ': ' for path in group)), line)
            n_named += sum(path + ': ' in result.err for path in group)
        # A flipped bit is not found in the padding of a block alone.
        self.assertGreater(n_named, (N_CUTS + N_FLIPS) * 9 // 10)


if __name__ == '__main__':
    unittest.main()
