#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of threads on the processor, in a trace that test/unit/tools/sampled.h describes: gaps, analyze, view, and copies."""
import json
import os

import harness

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
        self.assertEqual(text.count('63.0 %  running preprocess (data.py:31)\n'), 2, text)
        self.assertEqual(text.count('27.0 %  running load (data.py:12)\n'), 2, text)
        self.assertNotIn('its own code', text)

    def test_few_samples(self):
        """Two samples name 10 ms of 900, and the text gives their number."""
        few = self.path('few.sbt')
        self.make(few, 'few')
        text = self.tsctl('gaps', few)
        for line in ('890.0 ms  89.0 %  running its own code\n',
                     '5.000 ms   0.5 %  running preprocess (data.py:31) (from 1 of 2 samples)\n',
                     '5.000 ms   0.5 %  running load (data.py:12) (from 1 of 2 samples)\n'):
            self.assertEqual(text.count(line), 2, text)
        self.assertNotIn('Meanwhile', self.tsctl('analyze', few))

    def test_analyze_names_code(self):
        self.assertIn('Meanwhile the host ran preprocess (data.py:31) 63 %, load (data.py:12) 27 %.\n',
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


if __name__ == '__main__':
    harness.main()
