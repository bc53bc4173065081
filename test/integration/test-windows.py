#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of what was captured, done again on the virtual GPU: each single kernel, random windows; at each check point the memory is what it is
when all is done again.

`--all`: every program, every kernel and ten windows of each: the soak; in the ordinary run some of each. `--seed N`: of the windows.
"""
import json
import os
import random
import sys

import harness

ALL = False
SEED = 1
# A pair of arguments: of the ordinary run, of the soak.
PROGRAMS = {
    'saxpy': (['3'], ['20']),
    'pipeline': (['1'], ['5']),
    'graph': (['2'], ['10']),
    'threads': (None, ['4', '20']),
    'devices': ([], []),
    'network': (None, ['6']),
    'tensor': (None, []),
    'ladder': (None, []),
    'nvrtc': (None, []),
    'compute': (None, []),
    'cub': (None, []),
    'thrust': (None, []),
}
SAME = 0


class Windows(harness.Case):
    def replay(self, path, *options):
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', '--compare-every', '1', '--limit', '1000000',
                               *options, path, seconds=harness.SECONDS * (20 if ALL else 1))
        self.assertEqual(result.status, SAME, result)
        session, = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual((session['verdict'], session['unsupported']), ('same', []))
        return session

    def check_part(self, path, points, first, last):
        """The memory after each of its operations is what it was, and nothing else counts."""
        part = self.replay(path, '--repeat', '1', '--ops', '%d..%d' % (first, last))
        self.assertEqual(part.get('points', []), [point for point in points if first <= point['op_id'] <= last])
        self.assertEqual(part['operations'], part['captured'])

    def check_program(self, argv):
        vgpu = 'h200' if 'tensor' in argv[0] else 'small:2'
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'replay')
        if result.status == harness.SKIPPED:
            self.skipTest(result.err)
        self.assertEqual(result.status, 0, result)
        # Twice, the second time with kernels on all CPUs at once: the same at each point, and at the end.
        whole = self.replay(path)
        self.assertEqual(whole['replays'], 2)
        points = whole['points']
        self.assertEqual(len(points), whole['compared_points'])
        rows = harness.Trace(path).of('kernel')
        calls = sorted({row['op_id'] for row in rows})
        self.assertGreater(len(calls), 0)
        dice = random.Random(SEED)
        for call in calls if ALL else dice.sample(calls, min(3, len(calls))):
            self.check_part(path, points, call, call)
        for _ in range(10 if ALL else 2):
            ends = sorted(dice.choice(points)['op_id'] for _ in range(2))
            self.check_part(path, points, *ends)

    def test_nodes(self):
        """Of a graph's launch all nodes count."""
        self.check_program([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'nodes.py')])

    def test_a_stream(self):
        result, path = self.record([harness.app('pipeline', 'driver'), '2'], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        points = self.replay(path, '--repeat', '1')['points']
        kernels = harness.Trace(path).of('kernel')
        stream = kernels[-1]['stream']
        part = self.replay(path, '--repeat', '1', '--stream', str(stream))
        mine = {row['op_id'] for row in harness.Trace(path).of('kernel', 'memcpy', 'memset')
                if row['stream'] == stream}
        self.assertEqual(part['points'], [point for point in points if point['op_id'] in mine])
        self.assertEqual(part['launches'], sum(row['stream'] == stream for row in kernels))

    def test_a_time(self):
        """From a moment on: what is before it is done, and does not count."""
        result, path = self.record([harness.app('saxpy', 'driver'), '4'], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        calls = {row['op_id']: row for row in harness.Trace(path).of('api')}
        kernels = [row for row in harness.Trace(path).of('kernel')]
        moment = '@%d' % calls[kernels[1]['op_id']]['start_ns']
        part = self.replay(path, '--repeat', '1', '--from', moment)
        self.assertEqual(part['launches'], len(kernels) - 1)
        self.assertGreater(part['before'], 0)
        dry = harness.tsctl('replay', '--on', 'vgpu', '--mode', 'dry-run', '--json', '--from', moment, path)
        self.assertEqual(dry.status, 0, dry)
        plan = json.loads(dry.out)
        self.assertEqual((plan['operations'], plan['before'], plan['launches']),
                         (part['captured'], part['before'], part['launches']))
        self.assertEqual((plan['missing_contents'], plan['unknown_functions']), (0, 0))
        self.assertGreater(plan['recorded_ns'], 0)

    def test_nothing(self):
        result, path = self.record([harness.app('saxpy', 'driver'), '1'], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        result = harness.tsctl('replay', '--on', 'vgpu', '--stream', '4000000', path)
        self.assertEqual(result.status, 2, result)
        self.assertIn('no captured operation is selected', result.err)


# CUDA C++ alone: these have no form.
UNFORMED = ('compute', 'cub', 'thrust')


def add(name, form, arguments):
    setattr(Windows, 'test_%s_%s' % (name, form or 'nvcc'),
            lambda self: self.check_program([harness.app(name, form)] + arguments))


if __name__ == '__main__':
    if '--all' in sys.argv:
        ALL = True
        sys.argv.remove('--all')
    if '--seed' in sys.argv:
        where = sys.argv.index('--seed')
        SEED = int(sys.argv[where + 1])
        del sys.argv[where:where + 2]
    for program, (few, many) in PROGRAMS.items():
        for how in [None] if program in UNFORMED else harness.FORMS if ALL else harness.FORMS[:1]:
            if (many if ALL else few) is not None:
                add(program, how, many if ALL else few)
    harness.main()
