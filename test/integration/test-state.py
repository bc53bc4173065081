#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The state at an instant, and memory over time, of real programs on the virtual GPU: held against the rows of the same trace."""
import collections
import json
import random

import harness

DEVICE = ('kernel', 'memcpy', 'memset')


class State(harness.Case):
    def state(self, path, at_ns):
        result = harness.tsctl('state', '--json', '--at', '@%d' % at_ns, path)
        self.assertEqual(result.status, 0, result)
        return json.loads(result.out)

    def check_instant(self, trace, at_ns):
        """Every operation called for and not over is there, once, and nothing else; so with threads and memory."""
        state = self.state(trace.path, at_ns)
        calls = {(row['session'], row['op_id']): row for row in trace.of('api')}
        live, running = set(), set()
        for row in trace.of(*DEVICE):
            call = calls[row['session'], row['op_id']]
            if call['start_ns'] <= at_ns < row['end_ns']:
                key = row['session'], row['op_id'], row['start_ns']
                live.add(key)
                if row['start_ns'] <= at_ns:
                    running.add(key)
        told = [(op['session'], op['op_id'], op['start_ns']) for op in state['operations']]
        self.assertEqual(sorted(told), sorted(live))
        self.assertEqual({key for key, op in zip(told, state['operations'])
                          if op['state'] == 'running'}, running)
        for op in state['operations']:
            self.check_op(op, at_ns)
        in_call = [key for key, row in calls.items() if row['start_ns'] <= at_ns < row['end_ns']]
        self.assertEqual(sorted((thread['session'], thread['op_id']) for thread in state['threads']),
                         sorted(in_call))
        memory = {}
        for row in trace.of('alloc', 'free'):
            if row['start_ns'] <= at_ns:
                key = row['session'], row['address']
                memory.pop(key, None)
                if row['type'] == 'alloc':
                    memory[key] = row['bytes']
        self.assertEqual({(a['session'], a['address']): a['bytes'] for a in state['allocations']}, memory)
        self.assertEqual(state['allocated_bytes'], sum(memory.values()))
        self.assertFalse(state['incomplete'])
        return state

    def check_op(self, op, at_ns):
        self.assertLessEqual(op['since_ns'], at_ns, op)
        self.assertNotIn('overlap', op['unsure'], op)
        self.assertNotIn('call', op['unsure'], op)
        self.assertNotIn('dependency', op['unsure'], op)
        if op['state'] in ('queued', 'waiting'):
            self.assertIn(op['waits_for'], ('stream', 'event', 'legacy_stream', 'engine'))
            self.assertEqual(op['waits_for'] == 'stream', op['state'] == 'queued')
            # An engine may be held by another node of the same graph.
            if op['waits_for'] == 'engine':
                self.assertLessEqual(op['waits_for_op_id'], op['op_id'])
            else:
                self.assertLess(op['waits_for_op_id'], op['op_id'])

    def check_program(self, *argv, vgpu='--vgpu'):
        result, path = self.record([harness.app(*argv[:2])] + list(argv[2:]), vgpu, '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        rows = trace.of(*DEVICE)
        middle = rows[len(rows) // 2]
        allocs = [row['start_ns'] for row in trace.of('alloc')]
        states = []
        for at_ns in (rows[0]['start_ns'], rows[len(rows) // 3]['start_ns'] - 1, middle['start_ns'],
                      middle['end_ns'], rows[-1]['end_ns'] - 1, trace.info['end_ns'],
                      allocs[-1] if allocs else middle['end_ns'] + 1):
            states.append(self.check_instant(trace, at_ns))
        self.check_checkpoints(trace)
        return trace, states

    def check_checkpoints(self, trace):
        """From checkpoints, few rows apart, the same is told as from the trace's start."""
        generator = random.Random(1)
        instants = [generator.randint(trace.info['start_ns'] - 1, trace.info['end_ns'] + 1) for _ in range(24)]
        before = [self.state(trace.path, at_ns) for at_ns in instants]
        result = harness.tsctl('index', '--json', '--every', '16', trace.path)
        self.assertEqual(result.status, 0, result)
        made = json.loads(result.out)
        self.assertGreater(made['checkpoints'], 3, made)
        self.assertGreater(made['added_bytes'], 0, made)
        self.assertEqual([self.state(trace.path, at_ns) for at_ns in instants], before)
        again = harness.tsctl('index', '--json', trace.path)
        self.assertEqual(again.status, 0, again)
        self.assertEqual(json.loads(again.out)['added_bytes'], 0, again)
        self.assertEqual(harness.tsctl('verify', trace.path).status, 0)

    def test_pipeline(self):
        trace, states = self.check_program('pipeline', self.form, '6')
        self.assertTrue(any(state['operations'] for state in states))
        kernels = [op for state in states for op in state['operations'] if op['type'] == 'kernel']
        for op in kernels:
            self.assertEqual(op['block_x'] > 0 and op['grid_x'] > 0, True)
        # The end: nothing is under way, nothing is allocated.
        self.assertEqual(states[5]['operations'], [])
        self.assertEqual(states[5]['allocated_bytes'], 0)
        self.assertEqual([device['state'] for device in states[5]['devices']], ['idle'])

    def test_graph(self):
        self.check_program('graph', self.form, '5')

    def test_devices(self):
        self.check_program('devices', self.form, '3', vgpu='--vgpu=h200:2')

    def test_for_people(self):
        result, path = self.record([self.app('saxpy')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        kernel = harness.Trace(path).of('kernel')[0]
        result = harness.tsctl('state', '--stacks', '--at', '@%d' % kernel['start_ns'], path)
        self.assertEqual(result.status, 0, result)
        self.assertIn('running', result.out)
        self.assertIn('saxpy <<<', result.out)
        self.assertIn('was called at', result.out)

    def test_usage(self):
        for arguments in (['x.sbt'], ['--at', 'noon', 'x.sbt'], ['--at', '1ms'], ['--at', '1ms', 'nothere']):
            result = harness.tsctl('state', *arguments)
            self.assertEqual(result.status, 2, result)
            self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_cut(self):
        """A cut trace says that it is incomplete where it is; it never fails by a signal."""
        result, path = self.record([self.app('pipeline'), '6'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        end_ns = harness.Trace(path).info['end_ns']
        with open(path, 'rb') as stream:
            whole = stream.read()
        for part in (100, len(whole) // 3, len(whole) // 2, len(whole) - 60):
            with open(path, 'wb') as stream:
                stream.write(whole[:part])
            result = harness.tsctl('state', '--json', '--at', '@%d' % (end_ns - 1000), path)
            self.assertEqual(result.status, 0, result)
            json.loads(result.out)

    def test_damaged(self):
        """Bytes that were changed: an answer, or one line that says what is wrong."""
        result, path = self.record([self.app('pipeline'), '3'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        generator = random.Random(3)
        with open(path, 'rb') as stream:
            whole = stream.read()
        for _ in range(16):
            at = generator.randrange(len(whole))
            with open(path, 'wb') as stream:
                stream.write(whole[:at] + bytes([whole[at] ^ (1 + generator.randrange(255))]) + whole[at + 1:])
            for command in (('state', '--at', '5ms'), ('memory',)):
                result = harness.tsctl(*command, path)
                self.assertIn(result.status, (0, 2), result)
                self.assertEqual(len(result.err.splitlines()), 1 if result.status else 0, result)


HOST_KINDS = ('pageable', 'pinned')


class Memory(harness.Case):
    def check_memory(self, *argv):
        """What `memory` says of a program is what its rows add up to."""
        result, path = self.record([self.app(argv[0])] + list(argv[1:]), '--vgpu', '-q')
        trace = harness.Trace(path)
        result = harness.tsctl('memory', '--json', '--limit', '1000', path)
        self.assertEqual(result.status, 0, result)
        report = json.loads(result.out)
        live, at_peak, peak = {}, {}, 0
        allocs, frees = collections.Counter(), collections.Counter()
        for row in trace.of('alloc', 'free'):
            key = row['session'], row['address']
            if row['type'] == 'alloc':
                allocs[row['kind']] += 1
                live[key] = row
            else:
                frees[row['kind']] += 1
                del live[key]
            on_device = {key: row for key, row in live.items() if row['kind'] not in HOST_KINDS}
            bytes_now = sum(row['bytes'] for row in on_device.values())
            if bytes_now > peak:
                peak, at_peak = bytes_now, on_device
        self.assertEqual(report['peak_bytes'], peak)
        self.assertEqual(max([point['bytes'] for point in report['points']], default=0), peak)
        for told, rows in (('at_peak', at_peak), ('never_freed', live)):
            self.assertEqual({(h['session'], h['address']): h['bytes'] for h in report[told]},
                             {key: row['bytes'] for key, row in rows.items()}, told)
        self.assertEqual(report['never_freed_bytes'], sum(row['bytes'] for row in live.values()))
        told_allocs, told_frees = collections.Counter(), collections.Counter()
        for group in report['groups']:
            told_allocs[group['kind']] += group['allocs']
            told_frees[group['kind']] += group['frees']
        self.assertEqual(told_allocs, allocs)
        self.assertEqual(+told_frees, frees)
        self.assertEqual(report['unknown_frees'], 0)
        return path, report

    def test_all_freed(self):
        path, report = self.check_memory('pipeline', '3')
        self.assertGreater(report['peak_bytes'], 0)
        self.assertEqual(report['never_freed_allocations'], 0)
        result = harness.tsctl('memory', path)
        self.assertEqual(result.status, 0, result)
        self.assertNotIn('Never freed', result.out)

    def test_usage(self):
        for arguments in ([], ['--limit', 'many', 'x.sbt'], ['a', 'b'], ['nothere']):
            result = harness.tsctl('memory', *arguments)
            self.assertEqual(result.status, 2, result)
            self.assertEqual(len(result.err.splitlines()), 1, result)


StateOverHip = harness.over_hip(State, 'test_pipeline', 'test_graph', 'test_devices', 'test_for_people')
MemoryOverHip = harness.over_hip(Memory)


if __name__ == '__main__':
    harness.main()
