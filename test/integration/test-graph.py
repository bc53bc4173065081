#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl graph: what waited for what in real programs, and its critical path, which leaves no time out."""
import collections
import json
import os
import random
import re

import harness

DEVICE_PARTS = {'kernel': 'compute', 'memset': 'compute', 'memcpy': 'copy'}


class Graph(harness.Case):
    def recorded(self, argv, *options, **env):
        result, path = self.record(argv, '--vgpu', '-q', *options, **env)
        self.assertEqual(result.status, 0, result)
        return path

    def graph(self, path, *options):
        result = harness.tsctl('graph', '--format', 'json', *options, path)
        self.assertEqual((result.status, result.err), (0, ''), result)
        objects = collections.defaultdict(list)
        for line in result.out.splitlines():
            item = json.loads(line)
            objects[item['type']].append(item)
        return objects

    def check(self, path):
        view, graph = harness.Trace(path), self.graph(path)
        nodes, edges, steps = graph['node'], graph['edge'], graph['step']
        (summary,) = graph['summary']
        self.assertEqual([node['node'] for node in nodes], list(range(len(nodes))))
        self.assertEqual((summary['nodes'], summary['edges'], summary['damaged']), (len(nodes), len(edges), False))
        for kind in harness.DEVICE_TYPES:
            self.assertEqual(
                collections.Counter((row['op_id'], row['start_ns'], row['end_ns']) for row in view.of(kind)),
                collections.Counter((node['op_id'], node['start_ns'], node['end_ns']) for node in nodes
                                    if node.get('of') == kind))
        self.assertEqual(sum(node['kind'] == 'call' for node in nodes), view.counts['api'])
        self.check_edges(nodes, edges)
        self.check_path(nodes, steps, summary)
        return view, nodes, edges, steps

    def check_edges(self, nodes, edges):
        released = collections.defaultdict(int)
        for edge in edges:
            before, after = nodes[edge['from']], nodes[edge['to']]
            self.assertLess(edge['from'], edge['to'])
            self.assertLessEqual(edge['release_ns'], after['start_ns'])
            if edge['kind'] in ('stream', 'event', 'legacy', 'engine', 'launch'):
                self.assertEqual(after['kind'], 'operation')
            if edge['kind'] == 'launch':
                self.assertEqual((before['kind'], before['session']), ('call', after['session']))
            if edge['kind'] == 'stream':
                # Nodes of a graph run in streams of their own, and wait for what stands before their launch.
                self.assertNotEqual(before['op_id'], after['op_id'])
                if not any('graph' in node.get('unsure', ()) for node in (before, after)):
                    self.assertEqual(before['stream'], after['stream'])
            released[edge['to']] = max(released[edge['to']], edge['release_ns'])
        for edge in edges:
            if edge['binding']:
                self.assertEqual(edge['release_ns'], released[edge['to']])
        self.assertEqual(sum(edge['binding'] for edge in edges), len(released))

    def check_path(self, nodes, steps, summary):
        self.assertEqual(steps[0]['start_ns'], summary['start_ns'])
        self.assertEqual(steps[-1]['end_ns'], summary['end_ns'])
        parts = collections.defaultdict(lambda: [0, 0])
        for before, after in zip(steps, steps[1:]):
            self.assertEqual(before['end_ns'], after['start_ns'])
        for step in steps:
            self.assertEqual(nodes[step['node']]['slack_ns'], 0, step)
            self.assertTrue(nodes[step['node']]['critical'])
            parts[step['part']][0] += step['end_ns'] - step['start_ns']
            parts[step['part']][1] += 1
            of = nodes[step['node']].get('of')
            if step['part'] in ('compute', 'copy'):
                self.assertEqual(DEVICE_PARTS[of], step['part'])
        self.assertEqual({part['part']: [part['ns'], part['steps']] for part in summary['parts']}, dict(parts))

    def test_pipeline(self):
        view, nodes, edges, _ = self.check(self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none'))
        kinds = collections.Counter(edge['kind'] for edge in edges)
        # Each operation has its launch; each wait for an event is an edge, or its record's stream had nothing before.
        self.assertEqual(kinds['launch'], sum(view.counts[kind] for kind in harness.DEVICE_TYPES))
        self.assertEqual(kinds['event'], 200)
        # What was over before a call began did not make it wait: on a slow host that is all of it.
        calls = {row['op_id']: row for row in view.of('api')}
        waits = [row for row in view.of('sync') if row['kind'] == 'stream_synchronize']
        self.assertTrue(waits)
        for wait in waits:
            call = calls[wait['op_id']]
            if any(call['start_ns'] <= row['end_ns'] <= call['end_ns'] for row in view.of(*harness.DEVICE_TYPES)
                   if row['stream'] == wait['stream'] and row['op_id'] < wait['op_id']):
                self.assertTrue(kinds['sync'])
        # Copies to the device come before the kernels of their round, those before the copies back.
        order = collections.Counter((nodes[edge['from']]['name'], nodes[edge['to']]['name'])
                                    for edge in edges if edge['kind'] == 'event')
        self.assertEqual(sum(n for (before, _), n in order.items() if before == 'htod'), 100, order)

    def test_graph_launches(self):
        """All of one launch waits for what the stream of its launch held before: the launch before it."""
        view, nodes, edges, _ = self.check(self.recorded([harness.app('graph', 'driver')], '--stacks', 'none'))
        launches = sorted(row['op_id'] for row in view.of('graph_launch'))
        parts = collections.Counter(node['op_id'] for node in nodes if node['kind'] == 'operation')
        waits = collections.Counter((nodes[edge['from']]['op_id'], nodes[edge['to']]['op_id'])
                                    for edge in edges if edge['kind'] == 'stream')
        self.assertEqual(len(launches), 50)
        self.assertEqual(waits, {(before, after): parts[after] for before, after in zip(launches, launches[1:])})

    def test_other_programs(self):
        for name, arguments in (('threads', []), ('workers', ['2', '2', '2'])):
            path = self.recorded([harness.app(name, 'driver'), *arguments], '--stacks', 'none')
            self.check(path)
            os.unlink(path)

    def test_window_and_forms(self):
        path = self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none')
        rows = harness.Trace(path).of(*harness.DEVICE_TYPES)
        first, last = rows[100]['start_ns'], rows[200]['start_ns']
        graph = self.graph(path, '--from', '@%d' % first, '--to', '@%d' % last)
        want = [row for row in rows if row['start_ns'] <= last and row['end_ns'] >= first]
        self.assertEqual(sum(node['kind'] == 'operation' for node in graph['node']), len(want))
        only = self.graph(path, '--critical-path')
        self.assertEqual(set(only), {'step', 'summary'})
        text = harness.tsctl('graph', '--critical-path', '--limit', '3', path)
        self.assertEqual((text.status, text.err), (0, ''), text)
        self.assertEqual(len(text.out.split('Longest steps\n')[1].splitlines()), 1 + 3)
        dot = harness.tsctl('graph', path).out
        self.assertTrue(dot.startswith('digraph trace {\n') and dot.endswith('}\n'))
        whole = self.graph(path)
        self.assertEqual(len(re.findall(r'^\tn\d+ \[', dot, re.M)), len(whole['node']))
        self.assertEqual(len(re.findall(r'^\tn\d+ -> n\d+ ', dot, re.M)), len(whole['edge']))

    def test_damaged(self):
        path = self.recorded([harness.app('threads', 'driver')], '--stacks', 'none')
        with open(path, 'rb') as stream:
            whole = stream.read()
        hurt, generator = self.path('hurt.sbt'), random.Random(3)
        for number in range(8):
            data = bytearray(whole)
            if number % 2:
                del data[generator.randrange(64, len(data)):]
            else:
                data[generator.randrange(64, len(data))] ^= 1 << generator.randrange(8)
            with open(hurt, 'wb') as stream:
                stream.write(data)
            result = harness.tsctl('graph', '--format', 'json', hurt)
            self.assertIn(result.status, (0, 2), result)
            for line in result.out.splitlines():
                json.loads(line)

    def test_refusals(self):
        path = self.recorded([harness.app('ladder', 'driver'), '1'], '--stacks', 'none')
        for arguments, words in ((['--format', 'svg', path], 'dot'), (['--format', 'text', path], '--critical-path'),
                                 (['--from', '2s', '--to', '1s', path], 'before'), ([], 'one trace file'),
                                 (['--limit', 'x', path], '--limit')):
            result = harness.tsctl('graph', *arguments)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(words, result.err)


if __name__ == '__main__':
    harness.main()
