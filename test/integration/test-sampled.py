#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of threads on the processor, in a trace that test/unit/tools/sampled.h describes: gaps, analyze, view, and copies."""
import collections
import json
import os

import harness
import perfetto
import pprof

MAKE = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-sampled')
PERIOD_NS = 5000000
GAP_NS = 1000 * 1000000
OWN_NS = GAP_NS - 100 * 1000000 - 10000  # without the sleep and the call


class Sampled(harness.Case):
    def setUp(self):
        super().setUp()
        self.sampled = self.path('sampled.sbt')
        self.make(self.sampled)

    def make(self, path, *arguments):
        made = harness.run([MAKE, path, *arguments])
        self.assertEqual((made.status, made.err), (0, ''), made)

    def tsctl(self, *arguments):
        result = harness.tsctl(*arguments)
        self.assertEqual((result.status, result.err), (0, ''), result)
        return result.out

    def json(self, *arguments):
        return json.loads(self.tsctl(*arguments))

    def test_gaps_name_code(self):
        report = self.json('gaps', '--json', self.sampled)
        for parts in report['parts'], report['longest'][0]['parts']:
            code = {part['function']: part for part in parts if 'function' in part}
            self.assertEqual(set(code), {'preprocess', 'load'})
            self.assertEqual([code[name]['samples'] for name in ('preprocess', 'load')], [126, 54])
            self.assertEqual([code[name]['line'] for name in ('preprocess', 'load')], [31, 12])
            self.assertEqual({part['file'] for part in code.values()}, {'/app/data.py'})
            self.assertEqual({(part['cause'], part['tid']) for part in code.values()}, {('running', 500)})
            self.assertEqual(code['preprocess']['ns'], OWN_NS * 7 // 10)
            self.assertEqual(sum(part['ns'] for part in parts), GAP_NS)
            self.assertFalse([part for part in parts if part['cause'] == 'running' and 'function' not in part])
        text = self.tsctl('gaps', self.sampled)
        # Of all gaps with the thread, of one below its call without.
        for line in ('63.0 %%  %srunning preprocess (data.py:31)\n', '27.0 %%  %srunning load (data.py:12)\n'):
            self.assertEqual([text.count(line % thread) for thread in ('main/500: ', '')], [1, 1], text)
        self.assertNotIn('its own code', text)

    def test_few_samples(self):
        """Two samples name 10 ms of 900, and the text gives their number."""
        few = self.path('few.sbt')
        self.make(few, 'few')
        text = self.tsctl('gaps', few)
        for line in ('890.0 ms  89.0 %%  %srunning its own code\n',
                     '5.000 ms   0.5 %%  %srunning preprocess (data.py:31) (from 1 of 2 samples)\n',
                     '5.000 ms   0.5 %%  %srunning load (data.py:12) (from 1 of 2 samples)\n'):
            self.assertEqual([text.count(line % thread) for thread in ('main/500: ', '')], [1, 1], text)
        self.assertNotIn('Meanwhile', self.tsctl('analyze', few))

    def test_analyze_names_code(self):
        self.assertIn('During idle time, the host ran preprocess (data.py:31) 63 %, load (data.py:12) 27 %.\n',
                      self.tsctl('analyze', self.sampled))
        report = self.json('analyze', '--json', self.sampled)
        self.assertEqual(report['verdict'], 'host_bound')
        self.assertEqual(report['host_ns'], GAP_NS)
        self.assertEqual([(code['function'], code['line'], code['samples']) for code in report['host_code']],
                         [('preprocess', 31, 126), ('load', 12, 54)])
        self.assertEqual(report['host_code'][0]['ns'], OWN_NS * 7 // 10)
        self.assertEqual(len(self.json('analyze', '--json', '--limit', '1', self.sampled)['host_code']), 1)

    def test_view(self):
        # Quiet unless asked for.
        self.assertNotIn('sample', self.tsctl('view', self.sampled))
        lines = [line for line in self.tsctl('view', '--type', 'sample', self.sampled).splitlines() if ' sample ' in line]
        self.assertEqual(len(lines), 200)
        self.assertIn('preprocess (data.py:31), 5.000 ms on CPU 1', lines[1])
        self.assertTrue(lines[0].endswith('resample (resample.c:88), 5.000 ms on CPU 2, in the kernel'), lines[0])
        rows = [json.loads(line) for line in self.tsctl('view', '--json', '--type', 'sample', self.sampled).splitlines()]
        self.assertEqual({(row['type'], row['period_ns']) for row in rows}, {('sample', PERIOD_NS)})
        self.assertEqual(sum(row['name'] == 'load (data.py:12)' for row in rows), 54)
        self.assertEqual({(row['tid'], row.get('kernel', False)) for row in rows}, {(500, False), (501, True)})
        named = self.tsctl('view', '--type', 'sample', '--name', 'load (data.py*', '--thread', 'main', self.sampled)
        self.assertEqual(named.count(' sample '), 54)

    def test_stats(self):
        sums = {row['name']: row for row in self.json('view', '--json', '--stats', self.sampled)['on_cpu']}
        self.assertEqual({name: row['count'] for name, row in sums.items()},
                         {'preprocess (data.py:31)': 90, 'preprocess (data.py:32)': 36, 'load (data.py:12)': 54,
                          'resample (resample.c:88)': 18, '0x10': 1, 'unknown place': 1})
        self.assertEqual(sums['load (data.py:12)']['total_ns'], 54 * PERIOD_NS)

    def test_info(self):
        self.assertEqual(self.json('info', '--json', self.sampled)['samples'],
                         {'count': 200, 'threads': 2, 'ns': 200 * PERIOD_NS})
        self.assertIn('\n200 samples of 2 threads, 1.000 s on a CPU: ', self.tsctl('info', self.sampled))
        without = self.path('without.sbt')
        harness.run([os.path.join(os.path.dirname(MAKE), 'make-trace'), without, '1'])
        self.assertIn('\n1 sample of 1 thread, 5.025 ms on a CPU: ', self.tsctl('info', without))

    def test_copies_keep_samples(self):
        """Of a window those in it; parts that are put together again have all, once, and name the same code."""
        def samples(path):
            lines = self.tsctl('view', '--json', '--type', 'sample', path).splitlines()
            return [{key: row[key] for key in ('start_ns', 'tid', 'name', 'period_ns')} for row in map(json.loads, lines)]
        first, second, both = (self.path(name + '.sbt') for name in ('first', 'second', 'both'))
        self.tsctl('cut', '--to', '600ms', '-o', first, self.sampled)
        self.tsctl('cut', '--from', '400ms', '-o', second, self.sampled)
        whole = samples(self.sampled)
        begin = self.json('info', '--json', self.sampled)['start_ns']
        self.assertEqual(samples(first), [row for row in whole if row['start_ns'] <= begin + 600 * 1000000])
        self.assertEqual(samples(second), [row for row in whole if row['start_ns'] >= begin + 400 * 1000000])
        self.tsctl('merge', '-o', both, first, second)
        self.assertEqual(samples(both), whole)
        self.assertIn('63.0 %  running preprocess (data.py:31)\n', self.tsctl('gaps', both))
        self.tsctl('verify', both)

    def test_diff_is_of_the_gpu(self):
        few = self.path('few.sbt')
        self.make(few, 'few')
        text = self.tsctl('diff', self.sampled, few)
        self.assertNotIn(' sample', text)
        self.assertIn('1 name without a provable change', text)

    # Time of threads by stack, in ms: samples, and the sleep of the trace.
    LOAD = '<module> (/app/train.py:5);load (/app/data.py:12);python3.11+0x10'

    def folded(self, *options):
        result = harness.tsctl('export', '--format', 'folded', *options, self.sampled)
        self.assertEqual(result.status, 0, result)
        # Of the native frames only those of one library have symbols here.
        self.assertFalse([line for line in result.err.splitlines() if 'no frame has a name' not in line], result)
        return {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) / 1e6 for line in result.out.splitlines()}

    def test_flame_graphs(self):
        cpu, off, both = (self.folded('--weight', weight) for weight in ('cpu', 'off-cpu', 'host'))
        self.assertEqual(cpu[self.LOAD], 270)
        self.assertEqual(sum(ms for stack, ms in cpu.items() if 'preprocess' in stack), 630)
        self.assertEqual(cpu['libc.so.6+0x900;resample;libc.so.6+0x100;[on cpu, in the kernel]'], 90)
        self.assertEqual(sum(cpu.values()), 1000)
        self.assertEqual(off, {self.LOAD + ';[off cpu: sleep]': 100, '[no stack];[off cpu: sleep]': 1})
        self.assertEqual(both[self.LOAD + ';[on cpu]'], 270)
        self.assertEqual(both[self.LOAD + ';[off cpu: sleep]'], 100)
        self.assertEqual(sum(both.values()), 1101)
        whole = self.folded('--weight', 'host', '--no-leaf', '--thread')
        self.assertEqual(whole['main/500;' + self.LOAD], 370)
        self.assertEqual(self.folded('--weight', 'cpu', '--from', '0', '--to', '100ms', '--no-leaf')[self.LOAD], 6 * 5)
        # What the GPU did is another matter.
        self.assertEqual(sum(self.folded().values()), 2)

    def test_profile(self):
        out = self.path('cpu.pb.gz')
        result = harness.tsctl('export', '--format', 'pprof', '--weight', 'cpu', '-o', out, self.sampled)
        self.assertEqual((result.status, result.out, result.err), (0, '', ''), result)
        profile = pprof.Profile(out)
        self.assertEqual(profile.types, [('cpu', 'nanoseconds'), ('off_cpu', 'nanoseconds'), ('host', 'nanoseconds')])
        self.assertEqual((profile.default, profile.raw['period']), ('cpu', PERIOD_NS))
        sums = [sum(values[i] for _, values, _ in profile.samples) / 1e6 for i in range(3)]
        self.assertEqual(sums, [1000, 101, 1101])
        slept = [labels for _, values, labels in profile.samples if values[1] == 100e6]
        self.assertEqual([(labels['state'], labels['thread']) for labels in slept], [('off cpu: sleep', 'main')])

    def test_timeline(self):
        out = self.path('sampled.pftrace')
        self.tsctl('export', '--format', 'perfetto', '-o', out, self.sampled)
        trace = perfetto.Trace(out)
        pieces = [piece for piece in trace.slices if trace.name(piece.track) == 'samples']
        self.assertEqual(collections.Counter(piece.name for piece in pieces),
                         {'preprocess (data.py:31)': 90, 'preprocess (data.py:32)': 36, 'load (data.py:12)': 54,
                          'resample (resample.c:88)': 18, '0x10': 1, 'unknown place': 1})
        self.assertEqual({piece.args['period_ns'] for piece in pieces}, {PERIOD_NS})
        threads = {(trace.tracks[trace.tracks[piece.track]['parent']]['thread']['tid'], piece.args['cpu'],
                    piece.args.get('in_the_kernel')) for piece in pieces}
        self.assertEqual(threads, {(500, 1, None), (501, 2, 1)})
        (load,) = {piece.args['stack'] for piece in pieces if piece.name == 'load (data.py:12)'}
        self.assertEqual(load, 'python3.11+0x10\nload (/app/data.py:12)\n<module> (/app/train.py:5)')

    def test_refused(self):
        for arguments, words in ((('--weight', 'cpu', '--type', 'kernel'), '--type selects GPU work'),
                                 (('--weight', 'nonsense'), '`cpu`, `off-cpu` or `host`')):
            result = harness.tsctl('export', '--format', 'folded', *arguments, self.sampled)
            self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)
            self.assertIn(words, result.err)
        # Nothing there is no error, but worth a word.
        result = harness.tsctl('export', '--format', 'folded', '--weight', 'cpu', '--from', '5s', self.sampled)
        self.assertEqual((result.status, result.out), (0, ''))
        self.assertIn('no samples of threads in this window', result.err)


if __name__ == '__main__':
    harness.main()
