#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Children of every kind, made at every moment, from any thread, under load: each process's counts are exact.

`--processes N`: how many are started and ended in one recording; 64 in the ordinary run, 1000 in the soak.
"""
import glob
import sys

import harness

PROCESSES = 64
CHILDREN = 6
# Those whose children use the GPU, and so have a session each.
GPU_WAYS = ('fork', 'vfork', 'clone', 'spawn')
WAYS = GPU_WAYS + ('exit', 'touch')
MOMENTS = ('before', 'after', 'within')


class OfSession:
    """One session of a trace, as the harness's checks see a trace."""

    def __init__(self, trace, number):
        self.rows = [row for row in trace.rows if row.get('session') == number]

    def of(self, *types):
        return [row for row in self.rows if row['type'] in types]


class Fork(harness.Case):
    def truths(self):
        found = [harness.truth_module.read(path) for path in glob.glob(self.truth_path + '*')]
        return {truth.pid: truth for truth in found}

    def check_processes(self, traces, n):
        """So many processes used the GPU; each has one session, and that holds what it did, exactly."""
        truths = self.truths()
        self.assertEqual(len(truths), n)
        sessions = {}
        for trace in traces:
            self.assertEqual(trace.lost, {})
            self.check_sound(trace)
            for session in trace.info['sessions']:
                self.assertNotIn(session['pid'], sessions, 'two sessions of one process')
                self.assertEqual(session['state'], 'ended')
                sessions[session['pid']] = (trace, session['session'])
        self.assertEqual(set(sessions), set(truths))
        for pid, truth in truths.items():
            self.assertTrue(truth.finished)
            session = OfSession(*sessions[pid])
            self.check_launches(session, truth)
            self.check_copies(session, truth)
            self.check_memory(session, truth)
            self.check_calls(session, truth)

    def check_recorded(self, argv, n_processes, expected):
        result, path = self.record(argv, '--vgpu', '-q', '--lossless')
        self.assertEqual((result.status, result.out, result.err), (0, expected, ''))
        self.check_processes([harness.Trace(path)], n_processes)

    def check_way(self, way, moment):
        """Under `tsctl record`: all in one file."""
        argv = [self.app('forks'), way, str(CHILDREN), moment]
        self.check_recorded(argv, 1 + (CHILDREN if way in GPU_WAYS else 0),
                            'forks: %d by %s, %s\n' % (CHILDREN, way, moment))

    def check_alone(self, way):
        """Preloaded alone: a file for each process that used the GPU, and none for the others."""
        argv = [self.app('forks'), way, '3', 'after']
        result, traces = self.preload(argv, TRACESMITH_LOSSLESS='1')
        self.assertEqual((result.status, result.err), (0, ''))
        self.assertEqual(len(traces), 1 + (3 if way in GPU_WAYS else 0))
        self.check_processes([self.finished_trace(path) for path in traces], len(traces))

    def test_tree(self):
        """Forked before the first call: children, and theirs, which all use the GPU themselves."""
        result, path = self.record([self.app('forks'), 'tree', '4'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        self.check_processes([harness.Trace(path)], 1 + 4 + 16)

    def test_many(self):
        """Started and ended in one recording."""
        argv = [self.app('forks'), 'spawn', str(PROCESSES), 'before']
        self.check_recorded(argv, 1 + PROCESSES, 'forks: %d by spawn, before\n' % PROCESSES)


def add(name, check, *arguments):
    setattr(Fork, 'test_' + name, lambda self: check(self, *arguments))


for each in WAYS:
    add(each + '_alone', Fork.check_alone, each)
    for when in MOMENTS:
        # Before the first call a child's call cannot tell it from its parent.
        if each != 'touch' or when != 'before':
            add('%s_%s' % (each, when), Fork.check_way, each, when)


ForkOverHip = harness.over_hip(Fork)


if __name__ == '__main__':
    if '--processes' in sys.argv:
        at = sys.argv.index('--processes')
        PROCESSES = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    harness.main()
