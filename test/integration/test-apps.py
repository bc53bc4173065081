#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every program of test/apps, in both forms of program and both forms of recording: trace equals truth.

What was recorded comes through the library unchanged. And the application is sacred: what it prints and how it ends is what it prints and how it ends alone.
"""
import collections
import re
import sys
import unittest

import harness


class Apps(harness.Case):
    def check_alone(self, argv, vgpu, result):
        """The same program without us: same output, same end."""
        alone = harness.run(argv, harness.alone_environment(vgpu), cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err),
                         (alone.status, alone.out, alone.err))

    def written(self, path):
        """All rows with all that belongs to them; a stack's number is its file's own."""
        result = harness.tsctl('view', '--json', '--stacks', path)
        self.assertEqual(result.status, 0, result)
        return sorted(re.sub(r'"stack": {"id": [0-9]+, ', '"stack": {', line) for line in result.out.splitlines())

    def check_copy(self, trace):
        """Read row by row and written again by the library it reads as before."""
        copy = self.path('copy.sbt')
        result = harness.tsctl('cut', '--from', '@0', '--to', '@%d' % (2**63), '-o', copy, trace.path)
        self.assertEqual(result.status, 0, result)
        result = harness.tsctl('verify', copy)
        self.assertEqual(result.status, 0, result)
        again = self.written(copy)
        self.assertEqual(len(again), len(trace.rows))
        for before, after in zip(self.written(trace.path), again):
            self.assertEqual(before, after)

    def check_preload(self, name, argv, vgpu):
        result, traces = self.preload(argv, vgpu)
        self.assertEqual(result.status, 0, result)
        self.assertEqual([self.path('tracesmith-%s-%d.sbt' % (name, result.pid))], traces)
        trace = self.finished_trace(traces[0])
        self.check_truth(trace, self.truth())
        self.assertEqual([session['pid'] for session in trace.info['sessions']], [result.pid])
        self.assertEqual(trace.info['sessions'][0]['state'], 'ended')
        self.check_alone(argv, vgpu, result)

    def check_record(self, argv, vgpu):
        result, path = self.record(argv, '--vgpu=' + vgpu if vgpu else '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        self.check_truth(trace, self.truth())
        self.assertEqual(len(trace.info['sessions']), 1)
        self.check_alone(argv, vgpu, result)
        self.check_copy(trace)


def add(name, form, arguments, vgpu):
    def argv():
        return [harness.app(name, form)] + arguments
    program = '%s-%s' % (name, form)
    setattr(Apps, 'test_preload_%s_%s' % (name, form),
            lambda self: self.check_preload(program, argv(), vgpu))
    setattr(Apps, 'test_record_%s_%s' % (name, form), lambda self: self.check_record(argv(), vgpu))


for app_name, (app_arguments, app_vgpu) in harness.PROGRAMS.items():
    for app_form in harness.FORMS + ('hip',):
        add(app_name, app_form, app_arguments, app_vgpu)


class Graphs(harness.Case):
    """A launch of a graph is one call with many device rows, each with its graph and its node."""

    def check(self, form):
        result, path = self.record([harness.app('graph', form), '7'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        launches = trace.of('graph_launch')
        self.assertEqual(len(launches), 7)
        graphs = {row['graph'] for row in launches}
        self.assertEqual(len(graphs), 1)
        calls = {row['op_id'] for row in launches}
        self.assertEqual(len(calls), 7)
        nodes = {}
        for row in trace.of(*harness.DEVICE_TYPES):
            self.assertEqual({row.get('graph')}, graphs, row)
            self.assertIn(row['op_id'], calls)
            nodes.setdefault(row['op_id'], []).append(row['graph_node'])
        for ids in nodes.values():
            self.assertEqual(len(ids), 7)
            self.assertEqual(sorted(ids), sorted(nodes[min(calls)]))
            self.assertEqual(len(set(ids)), 7, 'nodes share an id')

    def test_driver(self):
        self.check('driver')

    def test_runtime(self):
        self.check('runtime')

    def test_hip(self):
        """HIP shows the graph. Kernels have nodes, because each is the only one with its name; copies and sets have none."""
        result, path = self.record([harness.app('graph', 'hip'), '7'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        graphs = {row['graph'] for row in trace.of('graph_launch')}
        self.assertEqual((len(trace.of('graph_launch')), len(graphs)), (7, 1))
        calls = collections.Counter(row['op_id'] for row in trace.of(*harness.DEVICE_TYPES))
        self.assertEqual(sorted(calls.values()), [7] * 7)
        self.assertEqual({row['graph'] for row in trace.of(*harness.DEVICE_TYPES)}, graphs)
        nodes = {(row['name'], row.get('graph_node')) for row in trace.of('kernel')}
        self.assertEqual(sorted(name for name, _ in nodes), ['nothing', 'saxpy', 'scale'])
        self.assertEqual(len({node for _, node in nodes if node}), 3, nodes)
        self.assertEqual({row.get('graph_node') for row in trace.of('memcpy', 'memset')}, {None})


class Python(Apps):
    """A script is named by its interpreter; apart from that a program like the others."""
    argv = [sys.executable, harness.SOURCE + '/test/apps/python-ctypes.py']

    def test_preload(self):
        result, traces = self.preload(self.argv)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(len(traces), 1)
        self.check_truth(self.finished_trace(traces[0]), self.truth())
        self.check_alone(self.argv, '', result)

    def test_record(self):
        self.check_record(self.argv, '')


# Python inherits the checks, not the tests.
for attribute in [name for name in dir(Apps) if name.startswith('test_')]:
    setattr(Python, attribute, None)


if __name__ == '__main__':
    harness.main()
