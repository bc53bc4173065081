#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl export --format json: trace events with the names, places and arguments that the PyTorch profiler (kineto) gives them."""
import collections
import json
import os
import random

import harness
import perfetto

# What kineto's own files hold of each category, and the type of it. Others of theirs are of PyTorch itself.
NUMBER = (int, float)
DEVICE_ARGS = {'device': int, 'context': int, 'stream': int, 'correlation': int}
COPY_ARGS = dict(DEVICE_ARGS, **{'bytes': int, 'memory bandwidth (GB/s)': NUMBER + (str,)})
ARGS = {
    'kernel': dict(DEVICE_ARGS, **{
        'queued': int, 'registers per thread': int, 'shared memory': int, 'blocks per SM': NUMBER,
        'warps per SM': NUMBER, 'grid': list, 'block': list, 'est. achieved occupancy %': int}),
    'gpu_memcpy': COPY_ARGS,
    'gpu_memset': COPY_ARGS,
    'cuda_driver': {'cbid': int, 'correlation': int},
    'cuda_runtime': {'cbid': int, 'correlation': int},
    'cuda_sync': dict(DEVICE_ARGS, cuda_sync_kind=str),
    'user_annotation': {},
    'gpu_user_annotation': {},
}
MEMORY = {'Total Reserved': int, 'Total Allocated': int, 'Bytes': int, 'Addr': int, 'Device Id': int, 'Device Type': int}
EXTRA = {'kernel': {'graph node id'}, 'cuda_sync': {'wait_on_stream', 'wait_on_cuda_event_id', 'wait_on_cuda_event_record_corr_id'},
         'user_annotation': {'domain'}, 'gpu_user_annotation': {'domain'}, 'cuda_driver': {'result'}, 'cuda_runtime': {'result'}}
PROPERTIES = {'id': int, 'name': str, 'totalGlobalMem': int, 'computeMajor': int, 'computeMinor': int,
              'maxThreadsPerMultiprocessor': int, 'regsPerMultiprocessor': int, 'warpSize': int,
              'sharedMemPerMultiprocessor': int, 'numSms': int}
METADATA = {'process_name': 'name', 'process_labels': 'labels', 'process_sort_index': 'sort_index',
            'thread_name': 'name', 'thread_sort_index': 'sort_index'}


def ns(value):
    """Microseconds with three digits, exactly."""
    return round(value * 1000)


class Kineto(harness.Case):
    def recorded(self, argv, *options, **env):
        result, path = self.record(argv, '--vgpu', '-q', *options, **env)
        self.assertEqual(result.status, 0, result)
        return path

    def exported(self, path, *options):
        result = harness.tsctl('export', '--format', 'json', *options, path)
        self.assertEqual((result.status, result.err), (0, ''), result)
        return json.loads(result.out)

    def check_shape(self, trace):
        self.assertEqual((trace['schemaVersion'], trace['displayTimeUnit']), (1, 'ms'))
        for device in trace['deviceProperties']:
            self.assertEqual({key: type(value) for key, value in device.items()}, PROPERTIES)
        named = set()
        for event in trace['traceEvents']:
            phase = event['ph']
            if phase == 'M':
                self.assertEqual(list(event['args']), [METADATA[event['name']]])
                named.add((event['name'], event['pid'], event['tid']))
            elif phase == 'X':
                self.check_slice(event)
                self.assertIn(('thread_name', event['pid'], event['tid']), named)
                self.assertIn(('process_name', event['pid'], 0), named)
            elif phase in 'sf':
                self.assertEqual((event['cat'], event['name'], event.get('bp')),
                                 ('ac2g', 'ac2g', 'e' if phase == 'f' else None))
            else:
                self.assertIn(phase, 'ibeC')
                if event['name'] == '[memory]':
                    self.assertEqual((phase, event['cat'], event['s']), ('i', 'cpu_instant_event', 't'))
                    self.assertEqual({key: type(value) for key, value in event['args'].items()}, MEMORY)

    def check_slice(self, event):
        self.assertEqual(set(event), {'ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur', 'args'})
        args = dict(event['args'])
        for key, what in ARGS[event['cat']].items():
            self.assertIsInstance(args.pop(key), what, event)
        self.assertLessEqual(set(args), EXTRA.get(event['cat'], set()), event)
        if 'device' in event['args']:
            self.assertEqual(event['pid'], event['args']['device'])

    def check(self, path):
        view, trace = harness.Trace(path), self.exported(path)
        self.check_shape(trace)
        slices = [event for event in trace['traceEvents'] if event['ph'] == 'X']
        origin = min(int(session['start_ns']) for session in view.info['sessions'])
        base = trace['baseTimeNanoseconds'] - int(view.info['sessions'][0]['start_realtime_ns']) \
            + int(view.info['sessions'][0]['start_ns'])
        self.assertLessEqual(base, origin)
        for category, kind in (('kernel', 'kernel'), ('gpu_memcpy', 'memcpy'), ('gpu_memset', 'memset')):
            rows = collections.Counter((row['start_ns'], row['end_ns'], row['stream'], row['device'])
                                       for row in view.of(kind))
            found = collections.Counter((base + ns(event['ts']), base + ns(event['ts']) + ns(event['dur']),
                                         event['args']['stream'], event['pid'])
                                        for event in slices if event['cat'] == category)
            self.assertEqual(found, rows)
        calls = collections.Counter((row['name'], row['start_ns'], row['end_ns'], row['tid'])
                                    for row in view.of('api'))
        found = collections.Counter((event['name'], base + ns(event['ts']), base + ns(event['ts']) + ns(event['dur']),
                                     event['tid']) for event in slices
                                    if event['cat'] in ('cuda_driver', 'cuda_runtime'))
        self.assertEqual(found, calls)
        return view, trace, slices

    # ---- tests ----------------------------------------------------------------------------------

    def test_pipeline(self):
        view, trace, slices = self.check(self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none'))
        by_correlation = {event['args']['correlation']: event for event in slices
                          if event['cat'] in ('cuda_driver', 'cuda_runtime')}
        for event in slices:
            if event['cat'] not in ('kernel', 'gpu_memcpy', 'gpu_memset'):
                continue
            call = by_correlation[event['args']['correlation']]
            # To the clocks' errors, as the trace tells them.
            self.assertLess(ns(call['ts']), ns(event['ts']) + 1000 + 2 * view.info.get('clock_error_ns', 0))
        kernel = next(event for event in slices if event['name'] == 'scale')
        self.assertEqual((kernel['args']['grid'], kernel['args']['block']), ([64, 1, 1], [256, 1, 1]))
        copies = collections.Counter(event['name'] for event in slices if event['cat'] == 'gpu_memcpy')
        self.assertEqual(copies, {'Memcpy HtoD (Pinned -> Device)': 100, 'Memcpy DtoH (Device -> Pinned)': 100,
                                  'Memcpy DtoD (Device -> Device)': 100})
        starts = collections.Counter(event['id'] for event in trace['traceEvents'] if event['ph'] == 's')
        ends = collections.Counter(event['id'] for event in trace['traceEvents'] if event['ph'] == 'f')
        self.assertEqual(starts, ends)
        self.assertEqual(sum(ends.values()), sum(view.counts[kind] for kind in harness.DEVICE_TYPES))
        kinds = {event['args']['cuda_sync_kind'] for event in slices if event['cat'] == 'cuda_sync'}
        self.assertEqual(kinds, {'Event Sync', 'Stream Wait Event', 'Stream Sync', 'Context Sync'})

    def test_waits_for_events(self):
        """A wait names the record that it is for, by its call and its stream: so readers find what a kernel waited for."""
        path = self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none')
        trace, view = self.exported(path), harness.Trace(path)
        last, want = {}, {}
        for row in sorted(view.of('event', 'stream_wait'), key=lambda row: int(row['start_ns'])):
            if row['type'] == 'event':
                last[row['event']] = row
            else:
                record = last[row['event']]
                want[row['op_id']] = (record['op_id'], record['stream'])
        found = {event['args']['correlation']: (event['args']['wait_on_cuda_event_record_corr_id'],
                                                event['args']['wait_on_stream'])
                 for event in trace['traceEvents'] if event['name'] == 'Stream Wait Event'}
        self.assertGreaterEqual(len(found), 100)
        self.assertEqual(found, want)
        # Of records from before the window nothing is said.
        middle = sorted(row['start_ns'] for row in view.of('event'))[len(last)]
        for event in self.exported(path, '--from', '@%d' % (int(middle) + 1))['traceEvents']:
            if event['name'] == 'Stream Wait Event':
                told = (event['args']['wait_on_cuda_event_record_corr_id'], event['args']['wait_on_stream'])
                self.assertIn(told, (want[event['args']['correlation']], (-1, -1)))

    def test_texts(self):
        """Names of ranges that need escapes, and long ones, come through whole."""
        path = self.recorded([harness.app('annotates', 'driver'), 'nest', '3', '2', '300'], '--stacks', 'none', TS_SAID=self.path('said'))
        names = {row['name'] for row in harness.Trace(path).of('range')}
        found = {event['name'] for event in self.exported(path)['traceEvents'] if event.get('cat') == 'user_annotation'}
        self.assertEqual(found & names, names)

    def test_graphs_and_processes(self):
        self.check(self.recorded([harness.app('graph', 'driver')], '--stacks', 'none'))
        os.unlink(self.path('recorded.sbt'))
        _, trace, _ = self.check(self.recorded([harness.app('workers', 'driver'), '2', '2', '2'], '--stacks', 'none'))
        flows = collections.Counter((event['ph'], event['id']) for event in trace['traceEvents'] if event['ph'] in 'sf')
        # Numbers of one process are not those of another.
        self.assertEqual({count for (phase, _), count in flows.items() if phase == 's'}, {1})

    def test_ranges(self):
        path = self.recorded([harness.app('annotates', 'driver'), 'nest', '3', '2', '300'], '--stacks', 'none',
                             TS_SAID=self.path('said'))
        trace, view = self.exported(path), harness.Trace(path)
        self.check_shape(trace)
        found = collections.Counter(event['name'] for event in trace['traceEvents']
                                    if event['ph'] in 'Xb' and event['cat'] == 'user_annotation')
        self.assertEqual(found, collections.Counter(row['name'] for row in view.of('range')))
        begun = [event['id'] for event in trace['traceEvents'] if event['ph'] == 'b']
        self.assertEqual(begun, [event['id'] for event in trace['traceEvents'] if event['ph'] == 'e'])

    def check_annotations(self, path):
        """Of each range of a thread and each stream: from the first to the last of what was called for while it was open."""
        trace, view = self.exported(path), harness.Trace(path)
        self.check_shape(trace)
        calls = {(row['session'], row['op_id']): row for row in view.of('api')}
        ranges = [row for row in view.of('range') if row.get('action') != 'start' and row['end_ns'] > row['start_ns']]
        want = {}
        for row in view.of(*harness.DEVICE_TYPES):
            call = calls[row['session'], row['op_id']]
            for i, around in enumerate(ranges):
                if (around['session'], around['tid']) == (call['session'], call['tid']) and \
                        around['start_ns'] <= call['start_ns'] < around['end_ns']:
                    start, end = want.get((i, row['device'], row['stream']), (row['start_ns'], 0))
                    want[i, row['device'], row['stream']] = min(start, row['start_ns']), max(end, row['end_ns'])
        wanted = collections.Counter((ranges[i]['name'], device, end - start) for (i, device, _), (start, end) in want.items())
        found = [event for event in trace['traceEvents'] if event.get('cat') == 'gpu_user_annotation']
        self.assertEqual(collections.Counter((event['name'], event['pid'], ns(event['dur'])) for event in found), wanted)
        return found, want

    def test_annotations_of_gpus(self):
        path = self.recorded([harness.app('annotates', 'driver'), 'gpu'], '--stacks', 'none', TS_SAID=self.path('said'))
        found, want = self.check_annotations(path)
        self.assertGreater(len(found), 0)
        # Where operations of a stream do not overlap, beside them.
        self.assertEqual({event['tid'] for event in found}, {stream for _, _, stream in want})

    def test_memory(self):
        """An instant for each allocation of a device's memory and each free, with the sum so far."""
        path = self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none')
        trace, view = self.exported(path), harness.Trace(path)
        told = [event for event in trace['traceEvents'] if event['name'] == '[memory]']
        rows = [row for row in view.of('alloc', 'free') if row['kind'] == 'device']
        self.assertEqual([(event['args']['Addr'], event['args']['Bytes']) for event in told],
                         [(row['address'], row['bytes'] * (1 if row['type'] == 'alloc' else -1)) for row in rows])
        live = 0
        for event in told:
            live += event['args']['Bytes']
            self.assertEqual((event['args']['Total Allocated'], event['args']['Total Reserved']), (live, live))
        self.assertEqual(live, 0)
        calls = {row['op_id']: row['tid'] for row in view.of('api')}
        self.assertEqual([event['tid'] for event in told], [calls[row['op_id']] for row in rows])

    def test_no_crossing(self):
        """Slices of one thread nest or are apart: a reader drops what crosses."""
        for argv in ([harness.app('graph', 'driver')],
                     [harness.app('annotates', 'driver'), 'gpu'],
                     [harness.app('annotates', 'driver'), 'nest', '5', '2', '300']):
            path = self.recorded(argv, '--stacks', 'none', TS_SAID=self.path('said'))
            lines = collections.defaultdict(list)
            for event in self.exported(path)['traceEvents']:
                if event['ph'] == 'X':
                    lines[event['pid'], event['tid']].append((ns(event['ts']), ns(event['ts']) + ns(event['dur'])))
            for slices in lines.values():
                open_until = []
                for start, end in sorted(slices, key=lambda piece: (piece[0], -piece[1])):
                    while open_until and open_until[-1] <= start:
                        open_until.pop()
                    self.assertTrue(not open_until or end <= open_until[-1])
                    open_until.append(end)
            os.unlink(path)

    def test_damaged_and_empty(self):
        path = self.recorded([harness.app('threads', 'driver')], '--symbols', 'none')
        with open(path, 'rb') as stream:
            whole = stream.read()
        hurt, generator = self.path('hurt.sbt'), random.Random(11)
        for number in range(8):
            data = bytearray(whole)
            if number % 2:
                del data[generator.randrange(64, len(data)):]
            else:
                data[generator.randrange(64, len(data))] ^= 1 << generator.randrange(8)
            with open(hurt, 'wb') as stream:
                stream.write(data)
            result = harness.tsctl('export', '--format', 'json', hurt)
            self.assertIn(result.status, (0, 2), result)
            if result.out:
                json.loads(result.out)
        result = harness.tsctl('export', '--format', 'json', '--from', '3600s', path)
        self.assertEqual([event['ph'] for event in json.loads(result.out)['traceEvents']], ['i'])

    def test_trace_processor(self):
        if not perfetto.PROCESSOR:
            self.skipTest(perfetto.MISSING)
        path = self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none')
        out = self.path('out.json')
        self.assertEqual(harness.tsctl('export', '--format', 'json', '-o', out, path).status, 0)
        with open(out, encoding='utf-8') as stream:
            events = json.load(stream)['traceEvents']
        summary, names = perfetto.query(out, 'select name, count(*) n, sum(dur) dur from slice where dur >= 0 '
                                             'and category != "" group by name')
        self.assertEqual(summary['errors'], [])
        want = collections.defaultdict(lambda: [0, 0])
        for event in events:
            if event['ph'] == 'X':
                want[event['name']][0] += 1
                want[event['name']][1] += ns(event['dur'])
        self.assertEqual({row['name']: [row['n'], row['dur']] for row in names if row['name'] in want}, dict(want))
        self.assertEqual(summary['flows'], sum(event['ph'] == 'f' for event in events))


if __name__ == '__main__':
    harness.main()
