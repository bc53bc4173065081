#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are not what they should be: every command ends, with a status of its own and one line.

A cut file opens up to its last complete block, repair makes it whole, and nothing that is complete is lost.
"""
import json
import os
import random
import shutil
import unittest

import harness

THREADS, STRINGS, STACKS = 33, 48, 49  # types of blocks
READING = ('info', 'view', 'verify', 'repair')
GOLDEN = harness.SOURCE + '/test/unit/sbt/golden'
FORMATS = ('perfetto', 'json', 'folded', 'pprof')


def questions(path, out):
    """All that reads a trace and leaves it as it is."""
    for command in (('info',), ('view',), ('view', '--stats'), ('view', '--stacks'), ('analyze',), ('timeline',),
                    ('timeline', '--width', '200'), ('state', '--at', '0'), ('state', '--at', '1s'), ('gaps',), ('graph',),
                    ('memory',), ('verify',), ('replay',), ('replay', '--mode', 'dry-run'),
                    ('replay', '--on', 'vgpu')):
        yield (*command, path)
        if '--stats' not in command:
            yield (*command, '--json', path)
    yield 'diff', path, path
    yield 'diff', '--json', path, path
    for name in FORMATS:
        yield 'export', '--format', name, '-o', out, path
    yield 'cut', '--from', '0', '--to', '1s', '-o', out, path
    yield 'merge', '-o', out, path, path


class Damage(harness.Case):
    def good(self):
        result, path = self.record([harness.app('threads', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        return path

    def check_refused(self, path, commands=READING):
        for command in commands:
            result = harness.tsctl(command, path)
            self.assertEqual(result.status, 1 if command == 'verify' and os.path.isfile(path)
                             and result.status == 1 else 2, '%s %s: %s' % (command, path, result))
            self.assertEqual(len(result.err.splitlines()), 1, '%s: %s' % (command, result))

    def test_not_there(self):
        self.check_refused(self.path('nothere.sbt'))

    def test_directory(self):
        self.check_refused(self.folder)

    def test_endless_device(self):
        self.check_refused('/dev/zero')

    def test_nothing_device(self):
        self.check_refused('/dev/null')

    def test_empty_file(self):
        path = self.path('empty.sbt')
        with open(path, 'wb'):
            pass
        self.check_refused(path)

    def test_garbage(self):
        generator = random.Random(2)
        for size in (1, 63, 64, 65, 4096, 1 << 20):
            path = self.path('garbage.sbt')
            with open(path, 'wb') as stream:
                stream.write(generator.getrandbits(8 * size).to_bytes(size, 'little'))
            self.check_refused(path)

    def test_text(self):
        self.check_refused(harness.SOURCE + '/README.md', ('info', 'view', 'verify'))

    def test_unreadable(self):
        if os.getuid() == 0:
            raise unittest.SkipTest('root reads everything')
        path = self.good()
        os.chmod(path, 0)
        self.check_refused(path)

    def test_good_is_left_alone(self):
        path = self.good()
        with open(path, 'rb') as stream:
            before = stream.read()
        self.assertEqual(harness.tsctl('verify', path).status, 0)
        result = harness.tsctl('repair', '--json', path)
        self.assertEqual(result.status, 0, result)
        self.assertFalse(harness.json.loads(result.out)['changed'])
        with open(path, 'rb') as stream:
            self.assertEqual(stream.read(), before)

    def test_golden(self):
        """Rows of zeros, of the greatest values, of every type: every command ends, with a status of its own."""
        paths = sorted(name for name in os.listdir(GOLDEN) if name.endswith('.sbt'))
        self.assertIn('extremes.sbt', paths)
        for name in paths:
            path, out = os.path.join(GOLDEN, name), self.path('out')
            # The rows of short-X.sbt are those of X.sbt: under a sanitizer, which is slow, the other file is enough for analyses of them.
            is_again = harness.SANITIZER and name.replace('short-', '', 1) in paths and name.startswith('short-')
            for question in questions(path, out):
                if is_again and question[0] not in ('info', 'view', 'verify', 'cut', 'merge'):
                    continue
                result = harness.tsctl(*question)
                self.assertIn(result.status, range(4), '%s: %s' % (question, result))
                if os.path.exists(out):
                    os.unlink(out)

    def test_no_such_time(self):
        """A time that no clock can have counted to is shown as one, and not as a trace of centuries."""
        path = os.path.join(GOLDEN, 'extremes.sbt')
        self.assertTrue(json.loads(harness.tsctl('info', '--json', path).out)['at_no_time'])
        self.assertIn('(uncertain: a row has an impossible time)', harness.tsctl('info', path).out)
        self.assertIn('with an impossible end time', harness.tsctl('timeline', path).out)
        doubts = json.loads(harness.tsctl('timeline', '--json', path).out)['doubts']
        self.assertGreater(doubts['at_no_time'], 0)
        self.assertNotIn('at_no_time', json.loads(harness.tsctl('info', '--json', self.good()).out))

    def test_cut(self):
        """At any point: what was complete before it is read, and after repair verified."""
        path = self.good()
        whole = harness.Trace(path)
        size = os.path.getsize(path)
        generator = random.Random(3)
        points = {size - 1, size - 8, size - 64, size // 2, 64} | {
            generator.randrange(64, size) for _ in range(6)}
        for point in sorted(points):
            cut = self.path('cut.sbt')
            shutil.copy(path, cut)
            os.truncate(cut, point)
            self.check_cut(cut, whole)

    def check_cut(self, cut, whole):
        self.assertEqual(harness.tsctl('verify', cut).status, 1, cut)
        info = harness.Trace(cut)
        self.assertFalse(info.info['finished'])
        rows = info.rows
        self.assertEqual(self.bare(rows) - self.bare(whole.rows), set(), 'rows that never were')
        self.assertLessEqual(len(rows), len(whole.rows))
        result = harness.tsctl('repair', '--json', cut)
        self.assertEqual(result.status, 0, result)
        self.assertTrue(harness.json.loads(result.out)['changed'])
        self.assertEqual(harness.tsctl('verify', cut).status, 0)
        self.assertEqual(harness.Trace(cut).rows, rows)

    def test_damage_is_told(self):
        """A part never passes for the whole, and repair does not claim what it did not do."""
        path = self.good()
        whole = harness.tsctl('info', path)
        self.assertIn('Nothing was lost.', whole.out)
        cut = self.path('cut.sbt')
        shutil.copy(path, cut)
        os.truncate(cut, os.path.getsize(path) - 64)
        for arguments in (('info',), ('view', '--stats')):
            result = harness.tsctl(*arguments, cut)
            self.assertNotIn('Nothing was lost', result.out)
            self.assertIn('This file is cut off', result.out)
        with open(path, 'r+b') as stream:
            stream.seek(os.path.getsize(path) // 2)
            byte = stream.read(1)
            stream.seek(-1, os.SEEK_CUR)
            stream.write(bytes([byte[0] ^ 1]))
        self.assertEqual(harness.tsctl('verify', path).status, 1)
        result = harness.tsctl('repair', path)
        self.assertEqual((result.status, result.out), (1, ''), result)
        self.assertIn('cannot restore this part', result.err)
        self.assertIn('error', harness.json.loads(harness.tsctl('repair', '--json', path).out))
        info = harness.tsctl('info', path)
        if info.status:
            self.assertNotIn('Nothing was lost', info.out)
            self.assertIn('damaged at byte', info.out)
            self.assertIn('damaged_at', harness.json.loads(harness.tsctl('info', '--json', path).out))

    def test_lost_definitions(self):
        """Rows whose names or stacks cannot be read are shown without, and that is no success."""
        path = self.good()
        with open(path, 'rb') as stream:
            data = stream.read()
        for wanted, options in ((STRINGS, ()), (STACKS, ('--stacks',)), (THREADS, ())):
            bad = self.path('bad.sbt')
            with open(bad, 'wb') as stream:
                stream.write(harness.damage_blocks(data, wanted))
            for form in ((), ('--json',)):
                result = harness.tsctl('view', *options, *form, bad)
                self.assertEqual(result.status, 2, result)
                self.assertRegex(result.err, r'^tsctl view: .* is damaged at byte [0-9]+: .*\n$')
                self.assertGreater(len(result.out.splitlines()), 100)
            if wanted != STRINGS:
                continue
            for command in ('info', 'analyze', 'gaps'):
                result = harness.tsctl(command, bad)
                self.assertEqual(result.status, 2, result)
                self.assertRegex(result.err, r'^tsctl %s: .* is damaged at byte [0-9]+: .*\n$' % command)
            self.assertIn('damaged_at', harness.json.loads(harness.tsctl('info', '--json', bad).out))

    def bare(self, rows):
        """Rows without what `view` looks up elsewhere in the file: it may lie behind the cut."""
        return {harness.json.dumps({key: value for key, value in row.items()
                                    if key not in ('tid', 'thread_name')}, sort_keys=True)
                for row in rows}

    def test_flipped(self):
        """One byte wrong, anywhere: verify finds it, and no command crashes or hangs."""
        path = self.good()
        size = os.path.getsize(path)
        generator = random.Random(4)
        with open(path, 'rb') as stream:
            data = stream.read()
        for _ in range(12):
            position = generator.randrange(size)
            bad = self.path('bad.sbt')
            with open(bad, 'wb') as stream:
                stream.write(data[:position] + bytes([data[position] ^ (1 << generator.randrange(8))])
                             + data[position + 1:])
            result = harness.tsctl('verify', bad)
            self.assertIn(result.status, (1, 2), 'byte %d of %d: %s' % (position, size, result))
            for command in ('info', 'view', 'repair'):
                result = harness.tsctl(command, bad)
                self.assertIn(result.status, (0, 1, 2), '%s: byte %d: %s' % (command, position, result))
                self.assertLessEqual(len(result.err.splitlines()), 1, result)


if __name__ == '__main__':
    harness.main()
