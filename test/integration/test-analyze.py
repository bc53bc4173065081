#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl analyze: its sums are those of the rows, its findings are there to be seen in them, and its page says the same."""
import json
import os
import sys

import harness

VERDICTS = {'compute_bound', 'copy_bound', 'launch_bound', 'host_bound', 'waiting', 'model_clock', 'unknown'}


class Analyze(harness.Case):
    def recorded(self, argv, *options, **env):
        result, path = self.record(argv, '--vgpu', '-q', *options, **env)
        self.assertEqual(result.status, 0, result)
        return path

    def analysis(self, path, *options):
        result = harness.tsctl('analyze', '--json', *options, path)
        self.assertEqual((result.status, result.err), (0, ''), result)
        return json.loads(result.out)

    def test_programs(self):
        for name, arguments in (('pipeline', []), ('graph', []), ('ladder', ['4']), ('workers', ['2', '2', '2'])):
            path = self.recorded([harness.app(name, 'driver'), *arguments])
            found, view = self.analysis(path, '--limit', '100'), harness.Trace(path)
            self.assertIn(found['verdict'], VERDICTS)
            kernels = view.of('kernel')
            self.assertEqual(found['kernels_ns'], sum(row['end_ns'] - row['start_ns'] for row in kernels))
            self.assertEqual({kernel['name']: kernel['count'] for kernel in found.get('kernels', [])},
                             {name: sum(row['name'] == name for row in kernels)
                              for name in {row['name'] for row in kernels}})
            self.check_copies(found, view)
            self.check_occupancies(found, view)
            page = harness.tsctl('analyze', path)
            self.assertEqual((page.status, page.err), (0, ''), page)
            self.check_remedies(found, page.out, harness.tsctl('analyze', '--all', path).out)
            os.unlink(path)

    def test_times_of_a_model_give_no_verdict_on_the_host(self):
        """The virtual GPU's model and the host have times of their own: only with clock=host are they compared."""
        ladder, note = [harness.app('ladder', 'driver'), '4'], 'are not comparable'
        for clock, modelled in (('model', True), ('host', False)):
            path = self.recorded(ladder, '--vgpu=h200,clock=' + clock, '--force')
            self.assertEqual(self.analysis(path)['verdict'] == 'model_clock', modelled)
            for command in (['analyze'], ['gaps'], ['graph', '--critical-path']):
                page = harness.tsctl(*command, path)
                self.assertEqual((page.status, note in page.out), (0, modelled), (clock, page))
            summary = json.loads(harness.tsctl('graph', '--format', 'json', path).out.splitlines()[-1])
            self.assertEqual(summary.get('model_clock', False), modelled)

    def test_planted(self):
        """What is planted is found, with the stacks of the calls, and nothing else of its kind; in sound programs none is."""
        rules = os.path.join(harness.SOURCE, 'test', 'apps', 'rules.py')
        sound = 'go:a go:b go:c a:n1 sync:n1 b:n2 sync:n2'
        for steps, finding, count, calls in (
                ('a:b1 begun:a b:L c:b2 go:a go:b go:c device', 'serialised_streams', 3, 2),
                ('a:b1 begun:a b:L go:a go:b device', 'legacy_stream', 1, 1),
                ('page:n1 page:n1', 'pageable_copy', 2, 2),
                ('copy:n1 copy:n1 copy:n1 device', 'tiny_copy', 3, 3),
                ('go:a a:n1' + 50 * ' device', 'redundant_sync', 1, 1),
                (sound, None, 0, 0),
                ('a:n1 begun:a b:n2 begun:b go:a go:b device', None, 0, 0)):
            path = self.recorded([sys.executable, rules] + steps.split(), '--vgpu=h200:2,clock=host', '--force')
            found = {one['finding']: one for one in self.analysis(path, '--limit', '100').get('findings', [])}
            # The program ends with waits for its devices, of which all but one wait for nothing.
            wanted = {finding, 'redundant_sync'}
            if finding in ('legacy_stream', 'serialised_streams'):
                wanted |= {'legacy_stream', 'serialised_streams'}
            self.assertLessEqual(set(found), wanted, steps)
            # What was held up for long may have waited for something.
            if finding == 'redundant_sync':
                self.assertGreaterEqual(found[finding]['count'], count)
            elif finding:
                self.assertEqual(found[finding]['count'], count, steps)
                self.assertEqual(sum(example['count'] for example in found[finding]['examples']), calls)
            if finding:
                self.assertGreater(found[finding]['ns'], 0)
                self.assertTrue(all(example['stack']['frames'] for example in found[finding]['examples']))

    def test_remedies(self):
        """The findings come first, those that can gain the most before; what gains less than a percent is left out."""
        path = self.recorded([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'rules.py'), 'page:n1', 'copy:n1', 'copy:n1', 'device'],
                             '--vgpu=h200,clock=host')
        found = self.analysis(path)
        page, everything = harness.tsctl('analyze', path).out, harness.tsctl('analyze', '--all', path).out
        self.check_remedies(found, page, everything)
        self.assertGreater(len(found['findings']), 1)
        self.assertLess(everything.index('Up to '), everything.index('GPU 0: '))

    def check_remedies(self, found, page, everything):
        findings, all_ns = found.get('findings', []), found['end_ns'] - found['start_ns']
        gains = [finding['gain_ns'] for finding in findings]
        self.assertEqual(gains, sorted(gains, reverse=True))
        self.assertEqual(everything.count('Up to '), len(findings))
        n_small = sum(gain < all_ns / 100 for gain in gains)
        self.assertEqual(page.count('Up to '), len(findings) - n_small)
        self.assertEqual('less than 1 % of the time' in page, n_small > 0)
        self.assertRegex(page.splitlines()[0], r': [0-9.]+ [mun]?s from the first operation of a GPU to the last$')

    def check_copies(self, found, view):
        host = ('pageable', 'pinned')
        kinds = {1: 'pageable', 2: 'pinned', 3: 'device'}
        copies = [(row, kinds.get(row['src_kind']), kinds.get(row['dst_kind'])) for row in view.of('memcpy')]
        want = {'tiny_copy': [row for row, a, b in copies if row['bytes'] < 4096 and (a in host) != (b in host)],
                'pageable_copy': [row for row, a, b in copies if 'pageable' in (a, b)]}
        findings = {finding['finding']: finding for finding in found.get('findings', [])}
        for name, rows in want.items():
            self.assertEqual(findings.get(name, {}).get('count', 0), len(rows))
            if rows:
                self.assertEqual(findings[name]['bytes'], sum(row['bytes'] for row in rows))
                examples = findings[name]['examples']
                self.assertEqual(sum(example['count'] for example in examples), len(rows))
                self.assertTrue(all(example['stack']['frames'] for example in examples))

    def check_occupancies(self, found, view):
        """Of kernels without shared memory, of few registers and of blocks of whole warps: those of the H200's shape."""
        for kernel in found['kernels']:
            shares = []
            for row in view.of('kernel'):
                warps = -(-row['block_x'] * row['block_y'] * row['block_z'] // 32)
                if row['name'] == kernel['name'] and row['registers_per_thread'] <= 32 and not row['dynamic_shared_bytes'] \
                        and not row['static_shared_bytes']:
                    fits = min(64 // warps, 32)
                    blocks = row['grid_x'] * row['grid_y'] * row['grid_z']
                    shares.append(min(1, blocks / (fits * 132)) * fits * warps / 64)
            if len(shares) == kernel['count']:
                self.assertAlmostEqual(kernel['occupancy']['share_min'], min(shares))
                self.assertAlmostEqual(kernel['occupancy']['share_max'], max(shares))
                self.assertNotIn('unknown', kernel['occupancy'])
        self.assertTrue(all(0 < device['occupancy']['share'] <= 1 for device in found['devices'] if device['compute_ns']))

    def test_damaged_and_refused(self):
        path = self.path('made.sbt')
        harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), path, '5'])
        with open(path, 'rb') as stream:
            whole = stream.read()
        hurt = self.path('hurt.sbt')
        for at in range(64, len(whole), len(whole) // 20):
            with open(hurt, 'wb') as stream:
                stream.write(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
            self.assertIn(harness.tsctl('analyze', '--json', hurt).status, (0, 2))
        for arguments, words in ((['--limit', 'x', path], '--limit'), ([], 'one trace file')):
            result = harness.tsctl('analyze', *arguments)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(words, result.err)


if __name__ == '__main__':
    harness.main()
