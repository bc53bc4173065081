#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of a stranger's making, replayed in every way there is: operations, contents and rows are changed at random in files that are
right around them (test/fuzz/hurt-capture.c). Each replay ends by itself with a verdict, and says no more than a line of it.

`--runs N`: so many files, each replayed in one way; 60 in the ordinary run, 3000 and more, with sanitizers, in the soak. `--seed N`: begins with that one.
Captures differ from run to run (addresses do), so a seed alone shows nothing again: the file of a failure is kept in the build tree, and
named with the options that it was replayed with.
"""
import collections
import os
import random
import shlex
import shutil
import sys
import unittest

import harness
from processes import option

RUNS = 60
SEED = 1
HURT = os.path.join(harness.BUILD, 'test', 'fuzz', 'hurt-capture')
SCRIPTS = os.path.join(harness.SOURCE, 'test', 'apps')
# Program, arguments, device, capture.
PROGRAMS = [
    (harness.APPS + '/faults-driver', ['none'], 'small', 'replay'),
    (harness.APPS + '/saxpy-driver', ['2'], 'small', 'replay'),
    (harness.APPS + '/pipeline-driver', ['1'], 'small', 'replay'),
    (harness.APPS + '/graph-driver', ['1'], 'small', 'replay'),
    (harness.APPS + '/devices-driver', ['1'], 'small:2', 'replay'),
    (harness.APPS + '/network-driver', ['2'], 'small', 'replay'),
    (harness.APPS + '/pipeline-driver', ['2'], 'small', 'window,launches=2..4'),
    (SCRIPTS + '/nodes.py', [], 'small', 'replay'),
    (SCRIPTS + '/pools.py', [], 'small', 'replay'),
]
BOUNDS = ('--time-limit', '5')
DEBUG = '''where
blocks
warps
list
backtrace
registers all
shared 0 64
memory 0x7f0000000000 16
write shared 0 1
step 5
print %r1
set %r1 7
finish
skip
break 12
continue
registers
delete 1
'''
WAYS = {
    'emulate': (),
    'what-if': tuple(word for edit in ('kernel *=2x', 'host=2x', 'copy htod=2x', 'launch-latency=1us') for word in ('--what-if', edit)),
    'what-if graph': ('--what-if', 'graph=3', '--what-if', 'no-sync *'),
    'what-if streams': ('--what-if', 'merge 15,16', '--what-if', 'split 15=2', '--what-if', 'h2d-engines=2', '--what-if', 'host=2x'),
    'plan': ('--mode', 'dry-run'),
    'vgpu': ('--on', 'vgpu', *BOUNDS),
    'dry-run': ('--on', 'vgpu', '--mode', 'dry-run'),
    'points': ('--on', 'vgpu', '--compare-every', '1', *BOUNDS),
    'check': ('--on', 'vgpu', '--check', 'all', *BOUNDS),
    'schedules': ('--on', 'vgpu', '--schedules', '3', '--seed', '7', *BOUNDS),
    'blocks': ('--on', 'vgpu', '--schedules', '2', '--unordered-blocks', *BOUNDS),
    'debug': ('--on', 'vgpu', '--debug', *BOUNDS),
    'part': ('--on', 'vgpu', '--ops', '20..60', '--repeat', '2', *BOUNDS),
    'stream': ('--on', 'vgpu', '--stream', '13', *BOUNDS),
    'cuda': ('--on', 'cuda', *BOUNDS),
    'cuda points': ('--on', 'cuda', '--compare-every', '1', '--repeat', '2', *BOUNDS),
    'cuda part': ('--on', 'cuda', '--from', '1ms', *BOUNDS),
}


class Hostile(harness.Case):
    def captures(self):
        found = []
        for i, (program, arguments, vgpu, capture) in enumerate(PROGRAMS):
            self.truth_path = self.path('truth%d' % i)
            argv = [sys.executable, program] if program.endswith('.py') else [program]
            result, path = self.record(argv + arguments, '-f', '-q', '--vgpu=' + vgpu, '--capture', capture)
            self.assertEqual(result.status, 0, result)
            os.rename(path, self.path('%d.sbt' % i))
            found.append((self.path('%d.sbt' % i), vgpu))
        return found

    def replay(self, way, path, vgpu, form):
        script = self.path('script')
        with open(script, 'w') as stream:
            stream.write(DEBUG if way == 'debug' else '')
        with open(script) as stdin:
            return harness.tsctl('replay', *WAYS[way], *form, path, stdin=stdin,
                                 env=harness.environment(LD_LIBRARY_PATH=harness.VGPU, TRACESMITH_VGPU=vgpu))

    def hurt(self, whole, seed):
        path = self.path('hurt.sbt')
        self.assertEqual(harness.run([HURT, 'hurt', whole, str(seed), path]).status, 0)
        return path

    def check(self, way, path, vgpu, form):
        self.assertIn(harness.tsctl('verify', path).status, (0, 1, 2))
        result = self.replay(way, path, vgpu, form)
        self.assertIn(result.status, range(4), result)
        self.assertNotIn('Sanitizer', result.err)
        self.assertNotIn('runtime error', result.err)
        self.assertLessEqual(len(result.err.splitlines()), 3, result)
        return result.status

    def keep(self, seed, way, path, vgpu, form):
        """What a failure is told with: how to see it again."""
        kept = os.path.join(harness.BUILD, 'meson-logs', 'hostile-%d-%d.sbt' % (seed, os.getpid()))
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        shutil.copyfile(path, kept)
        return 'again: TRACESMITH_VGPU=%s LD_LIBRARY_PATH=%s tsctl replay %s %s' % (
            vgpu, harness.VGPU, shlex.join([*WAYS[way], *form]), shlex.quote(kept))

    def test_a_failure_is_kept(self):
        """Its file outlives the test, and the line that is told has all that it takes."""
        path = self.path('hurt.sbt')
        with open(path, 'wb') as stream:
            stream.write(b'hurt')
        line = self.keep(7, 'check', path, 'small:2', ('--json',))
        kept = shlex.split(line)[-1]
        self.addCleanup(os.remove, kept)
        self.assertNotIn(os.path.dirname(path), kept)
        with open(kept, 'rb') as stream:
            self.assertEqual(stream.read(), b'hurt')
        self.assertIn('TRACESMITH_VGPU=small:2', line)
        self.assertIn('--on vgpu --check all --time-limit 5 --json', line)

    def test_replays(self):
        if not os.path.exists(HURT):
            raise unittest.SkipTest('hurt-capture was not built')
        captures, counted = self.captures(), collections.Counter()
        # As it is, it can be replayed: what is hurt is worth hurting.
        for whole, vgpu in captures:
            for way in ('vgpu', 'cuda'):
                result = self.replay(way, self.hurt(whole, 0), vgpu, ())
                self.assertEqual(result.status, 0, result)
        for seed in range(SEED, SEED + RUNS):
            dice = random.Random(seed)
            whole, vgpu = dice.choice(captures)
            way = list(WAYS)[seed % len(WAYS)]
            form = () if way == 'debug' else dice.choice(((), ('--json',)))
            with self.subTest(seed=seed, way=way):
                path = self.hurt(whole, seed)
                try:
                    counted[way, self.check(way, path, vgpu, form)] += 1
                except Exception as error:
                    raise AssertionError('%s\n%s' % (self.keep(seed, way, path, vgpu, form), error)) from error
        told = collections.defaultdict(dict)
        for (way, status), n in sorted(counted.items()):
            told[way][status] = n
        print('%d files from seed %d: %s' % (RUNS, SEED, dict(told)))


if __name__ == '__main__':
    RUNS = option('--runs', RUNS)
    SEED = option('--seed', SEED)
    harness.main()
