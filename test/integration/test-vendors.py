#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUDA and HIP in one recording: in one process, in either order and at once; in two processes. Readers show them apart."""
import json
import os
import re

import harness
from harness import truth_module

# Where the numbers of the vendor that comes second begin: devices, contexts, operations.
DEVICE, OP_ID = 64, 1 << 39
# The virtual libraries have thread-local storage in the loader's reserve, which is for one of them.
ROOM = {'GLIBC_TUNABLES': 'glibc.rtld.optional_static_tls=8192'}
DOMAINS = {'driver': ('driver', 'runtime'), 'hip': ('hip',)}


class OfVendor:
    """The rows of one vendor, numbered as if the other were not there: as the harness's checks see a trace."""

    def __init__(self, trace, form, is_second):
        calls = {(row['session'], row['op_id']) for row in trace.of('api') if row['domain'] in DOMAINS[form]}
        self.rows = []
        for row in trace.rows:
            if not row.get('op_id') or (row['session'], row['op_id']) not in calls:
                continue
            assert (row['op_id'] >= OP_ID) == is_second, row
            if is_second:
                for name in ('device', 'context'):
                    if row.get(name):
                        assert row[name] >= DEVICE, row
                        row = dict(row, **{name: row[name] - DEVICE})
            self.rows.append(row)

    def of(self, *types):
        return [row for row in self.rows if row['type'] in types]


class OneProcess(harness.Case):
    def recorded(self, when, name, forms, *options):
        parts = [os.path.join(harness.APPS, 'libpart-%s-%s.so' % (name, form)) for form in forms]
        argv = [harness.app('both'), when] + parts
        result, path = self.record(argv, *(options or ['--vgpu=h200', '-q']), **ROOM)
        alone = harness.run(argv, harness.alone_environment('h200', TS_TRUTH=self.path('alone'), **ROOM), cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err))
        self.assertEqual(result.status, 0)
        return harness.Trace(path)

    def check(self, when, name, forms):
        trace = self.recorded(when, name, forms)
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        self.assertEqual(len(trace.info['sessions']), 1)
        self.assertEqual(trace.info['sessions'][0]['state'], 'ended')
        self.assertEqual(sorted(device['device'] for device in trace.info['devices']), [0, DEVICE])
        self.assertEqual(len({device['uuid'] for device in trace.info['devices']}), 2)
        first = min((row for row in trace.of('api')), key=lambda row: row['start_ns'])['domain']
        n_rows = 0
        for number, form in enumerate(forms):
            # At once either may come first; CUDA's driver is loaded before HIP's first call, or after.
            is_second = first not in DOMAINS[form] if when == 'after' else \
                min(row['op_id'] for row in trace.of('api') if row['domain'] in DOMAINS[form]) >= OP_ID
            rows = OfVendor(trace, form, is_second)
            truth = truth_module.read('%s.%d' % (self.truth_path, number))
            self.assertTrue(truth.finished)
            self.check_launches(rows, truth)
            self.check_copies(rows, truth)
            self.check_memory(rows, truth)
            self.check_calls(rows, truth)
            n_rows += len(rows.of(*harness.DEVICE_TYPES))
        self.assertEqual(n_rows, len(trace.of(*harness.DEVICE_TYPES)))
        return trace

    def test_readers(self):
        """Each reader has both devices, with the work of one vendor each."""
        trace = self.check('at-once', 'pipeline', ('hip', 'driver'))
        kernels = {}
        for row in trace.of('kernel'):
            kernels[row['device']] = kernels.get(row['device'], 0) + 1

        def read(*arguments):
            result = harness.tsctl(*arguments, trace.path)
            self.assertEqual((result.status, result.err), (0, ''), result)
            return result.out

        self.assertIn('HIP 6.2', read('info'))
        self.assertEqual(len(re.findall(r'^ +(0|64) .*Virtual GPU', read('info'), re.M)), 2)
        analysis = json.loads(read('analyze', '--json'))
        self.assertEqual(sorted(device['device'] for device in analysis['devices']), [0, DEVICE])
        self.assertEqual(len(re.findall(r'^GPU (?:0|64): busy', read('analyze'), re.M)), 2)
        self.assertEqual(len(re.findall(r'^GPU (?:0|64): Trace', read('timeline'), re.M)), 2)
        gaps = json.loads(read('gaps', '--json'))
        self.assertEqual({stream['device'] for stream in gaps['streams']}, {0, DEVICE})
        memory = json.loads(read('memory', '--json'))
        self.assertEqual({group['device'] for group in memory['groups']}, {0, DEVICE})
        self.assertEqual((memory['misuse_count'], memory['failed_unknown_frees']), (0, 0))
        row = trace.of('kernel')[0]
        state = json.loads(read('state', '--json', '--at', '@%d' % row['start_ns']))
        self.assertIn(row['device'], [op['device'] for op in state['operations']])
        self.assertEqual({device['device'] for device in state['devices']}, {0, DEVICE})
        emulated = json.loads(read('replay', '--on', 'emulate', '--json'))
        self.assertEqual(emulated['recorded']['operations'], len(trace.of(*harness.DEVICE_TYPES)))
        diff = json.loads(harness.tsctl('diff', '--json', trace.path, trace.path).out)
        self.assertEqual({name['verdict'] for name in diff['names']}, {'same', 'few'})
        chrome = json.loads(read('export', '--format', 'json', '-o', '/dev/stdout'))['traceEvents']
        found = {}
        for event in chrome:
            if event.get('cat') == 'kernel':
                found[event['args']['device']] = found.get(event['args']['device'], 0) + 1
        self.assertEqual(found, kernels)
        for form in ('perfetto', 'folded', 'pprof'):
            out = self.path('out.' + form)
            self.assertEqual(harness.tsctl('export', '--format', form, '-o', out, trace.path).status, 0)
            self.assertGreater(os.path.getsize(out), 0)

    def test_before_a_start(self):
        """Neither vendor is recorded while recording is stopped."""
        trace = self.recorded('at-once', 'pipeline', ('hip', 'driver'), '--vgpu=h200', '-q', '--start-later')
        self.assertEqual(sum(trace.counts.get(kind, 0) for kind in ('api', 'kernel', 'memcpy', 'memset')), 0)


class TwoProcesses(harness.Case):
    def check(self, script, n_kernels):
        result, path = self.record(['sh', '-c', script], '--vgpu=h200', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        domains = {}
        for row in trace.of('api'):
            domains.setdefault(row['session'], set()).add(row['domain'])
        self.assertEqual(sorted(map(sorted, domains.values())), [['driver'], ['hip']])
        self.assertEqual(len(trace.of('kernel')), n_kernels)
        hip, = (session for session, names in domains.items() if names == {'hip'})
        devices = {device['session']: device for device in trace.info['devices']}
        self.assertIn('MI300X', devices[hip]['name'])
        self.assertEqual(len({device['uuid'] for device in devices.values()}), 2)
        # Two GPUs of the same number, which no reader adds up.
        page = harness.tsctl('timeline', path).out
        self.assertEqual(sorted(re.findall(r'^GPU 0: .*\((\w+) shape\)$', page, re.M)), ['H200', 'MI300X'])
        analysis = json.loads(harness.tsctl('analyze', '--json', path).out)
        self.assertEqual(len(analysis['devices']), 2)
        page = harness.tsctl('analyze', path).out
        self.assertEqual(sorted(re.findall(r'^GPU 0 of session (\d): busy', page, re.M)), ['1', '2'])
        groups = json.loads(harness.tsctl('memory', '--json', path).out)['groups']
        self.assertEqual({group['session'] for group in groups}, {1, 2})

    def test_one_after_the_other(self):
        self.check('"%s" 3 && TRACESMITH_VGPU=mi300 "%s" 3' % (harness.app('pipeline', 'driver'), harness.app('pipeline', 'hip')), 48)

    def test_child_of_the_other(self):
        self.check('TRACESMITH_VGPU=mi300 "%s" 3 & "%s" 3 && wait' % (harness.app('pipeline', 'hip'), harness.app('pipeline', 'driver')),
                   48)


def add(when, name, forms):
    setattr(OneProcess, 'test_%s_%s_%s' % (name, '_'.join(forms), when.replace('-', '_')),
            lambda self: self.check(when, name, forms) and None)


for each in ('pipeline', 'graph'):
    for moment in ('after', 'at-once'):
        for order in (('driver', 'hip'), ('hip', 'driver')):
            add(moment, each, order)

if __name__ == '__main__':
    harness.main()
