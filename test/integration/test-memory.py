#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl memory: its sums are those of the rows; memory that is named after it was freed is told of, with the calls, and nothing else is."""
import json
import os
import sys

import harness

KERNEL = 2  # a block's type
PROGRAM = os.path.join(harness.SOURCE, 'test', 'apps', 'misuse.py')


class Memory(harness.Case):
    def recorded(self, argv, *options):
        result, path = self.record(argv, '--vgpu', '-q', *options, '--force')
        self.assertEqual(result.status, 0, result)
        return path, result.out

    def memory(self, path, *options):
        result = harness.tsctl('memory', '--json', *options, path)
        self.assertEqual((result.status, result.err), (0, ''), result)
        return json.loads(result.out)

    def test_misuse(self):
        path, out = self.recorded([sys.executable, PROGRAM])
        said = {}
        for line in out.splitlines():
            word, address, result = line.split()
            said[word] = (int(address), int(result))
        found = self.memory(path)
        want = [('set', 'write_after_free', 'cuMemsetD8_v2', 'cuMemFree_v2', 'cuMemAlloc_v2'),
                ('read', 'read_after_free', 'cuMemcpyDtoH_v2', 'cuMemFree_v2', 'cuMemAlloc_v2'),
                ('copy', 'write_after_free', 'cuMemcpyDtoD_v2', 'cuMemFree_v2', 'cuMemAlloc_v2'),
                ('rows', 'read_after_free', 'cuMemcpy2D_v2', 'cuMemFree_v2', 'cuMemAlloc_v2'),
                ('free', 'double_free', 'cuMemFree_v2', 'cuMemFree_v2', 'cuMemAlloc_v2'),
                ('pooled', 'write_after_free', 'cuMemsetD8Async', 'cuMemFreeAsync', 'cuMemAllocAsync')]
        self.assertEqual(found['misuse_count'], len(want))
        for (word, kind, use, freed, allocated), misuse in zip(want, found['misuses']):
            self.assertEqual((misuse['kind'], misuse['address']), (kind, said[word][0]))
            self.assertEqual([misuse[call]['name'] for call in ('use', 'freed', 'allocated')], [use, freed, allocated])
            self.assertEqual('error' in misuse['use'], said[word][1] != 0)
            self.assertTrue(all(misuse[call]['stack']['frames'] for call in ('use', 'freed', 'allocated')))
            self.assertEqual(misuse['unsure'], [])
        self.assertEqual(found['failed_unknown_frees'], 1)
        rows = [row for row in harness.Trace(path).of('access') if row['access'] not in ('alloc', 'free')]
        self.assertEqual(found['accesses'], len(rows))
        page = harness.tsctl('memory', path)
        self.assertEqual((page.status, page.err), (0, ''), page)
        self.assertIn('Use after free (6)', page.out)
        self.assertIn('double_free of 0x%x' % said['free'][0], page.out)

    def test_pools(self):
        """Of each pool what it says of itself: the most it held and used, how often it grew, and how often though it had the room."""
        path, out = self.recorded([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'pools.py')])
        pools = {}
        for line in out.splitlines():
            pool, *said = [int(word) for word in line.split()]
            pools.setdefault(pool, [(0, 0, 0, 0)]).append(tuple(said))
        self.assertEqual(len(pools), 2)
        default, own = pools.values()
        # What is freed is held until it is let go, and no less is than is to be kept.
        self.assertEqual([max(held for held, *_ in said) for said in (default, own)], [held for *_, held, _ in (default[-1], own[-1])])
        self.assertEqual((default[-1][:2], own[-1][:2]), ((0, 0), (0, 0)))
        self.assertTrue(default[-2][0] > 0 and own[-3][0] > own[-2][0] >= 4 << 20, (default, own))
        told = {use['pool']: use for use in self.memory(path)['pools']}
        self.assertEqual(set(told), set(pools))
        for pool, said in pools.items():
            steps = [(before, after) for before, after in zip(said, said[1:]) if after[0] > before[0]]
            # Used bytes tell what was asked for.
            roomy = [before for before, after in steps if before[0] - before[1] >= after[1] - before[1]]
            self.assertEqual((told[pool]['peak_bytes'], told[pool]['peak_used_bytes']), said[-1][2:])
            self.assertEqual((told[pool]['growths'], told[pool]['growths_with_room']), (len(steps), len(roomy)))
            self.assertEqual(told[pool].get('wasted_bytes', 0), max([held - used for held, used, *_ in roomy], default=0))
            # Every other block was free, and none of the pieces was large enough.
            self.assertGreater(len(roomy), 0)
            self.assertGreater(told[pool]['wasted_bytes'], told[pool]['asked_bytes'])
            self.assertLess(told[pool]['largest_hole_bytes'], told[pool]['asked_bytes'])
            self.assertEqual(told[pool]['holes'], 4)

    def test_kernels_while_memory_was_alive(self):
        """Of what lay at an address, in turn: b alone ran between its calls; of memory that was never freed, all of its device."""
        rules = os.path.join(harness.SOURCE, 'test', 'apps', 'rules.py')
        steps = "go:a go:b go:c go:d a:n1 sync:n1 alloc:n1 b:n1 b:b1 free:n1 sync:n1 sync:b1 c:n1 sync:n1 d:n1'"
        path, _ = self.recorded([sys.executable, rules] + steps.split(), '--vgpu=h200:2')
        allocs = harness.Trace(path).of('alloc')
        pooled, = [row for row in allocs if row.get('pool')]
        held = next(row for row in allocs if row['kind'] == 'device' and not row.get('pool') and row['device'] == 0)
        for row, names, is_freed in ((pooled, {'b': 2}, True), (held, {'a': 1, 'b': 2, 'c': 1}, False)):
            alive, = self.memory(path, '--kernels', hex(row['address'] + row['bytes'] - 1))['alive']
            self.assertEqual((alive['address'], alive['bytes'], alive['op_id']), (row['address'], row['bytes'], row['op_id']))
            self.assertEqual({kernel['name'].split('(')[0]: kernel['count'] for kernel in alive['kernels']}, names)
            self.assertEqual(alive['kernel_count'], sum(names.values()))
            self.assertEqual('end_ns' in alive, is_freed)
        self.assertEqual(self.memory(path, '--kernels', '1').get('alive', []), [])
        page = harness.tsctl('memory', '--kernels', hex(pooled['address']), path)
        self.assertEqual((page.status, page.err), (0, ''), page)
        self.assertIn('2 kernels ran during this time', page.out)
        for address in ('here', '-1', '0x', '1x', '99999999999999999999'):
            result = harness.tsctl('memory', '--kernels', address, path)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
        # Without those that cannot be read, which is told.
        with open(path, 'rb') as stream:
            data = harness.damage_blocks(stream.read(), KERNEL)
        bad = self.path('bad.sbt')
        with open(bad, 'wb') as stream:
            stream.write(data)
        result = harness.tsctl('memory', '--json', '--kernels', hex(pooled['address']), bad)
        self.assertEqual(result.status, 2, result)
        self.assertRegex(result.err, r'^tsctl memory: .* is damaged at byte [0-9]+: .*\n$')
        found = json.loads(result.out)
        self.assertTrue(found['damaged'])
        self.assertEqual(found['alive'][0].get('kernels', []), [])

    def test_sound_programs(self):
        for name, arguments in (('pipeline', []), ('workers', ['2', '2', '2']), ('graph', []), ('saxpy', [])):
            path, _ = self.recorded([self.app(name), *arguments])
            found, trace = self.memory(path), harness.Trace(path)
            self.assertEqual((found['misuse_count'], found['misuses'], found['failed_unknown_frees']), (0, [], 0))
            self.assertEqual(sum(group['allocs'] for group in found['groups']), len(trace.of('alloc')))
            # A copy outside of a graph names what it copies, as many bytes as its device row says.
            named = {(row['session'], row['op_id']): row for row in trace.of('access')}
            for row in trace.of('memcpy'):
                if row.get('graph'):
                    continue
                self.assertEqual(named[row['session'], row['op_id']]['dst_bytes'], row['bytes'])
                self.assertEqual(named[row['session'], row['op_id']]['access'], 'copy')
            os.unlink(path)


MemoryOverHip = harness.over_hip(Memory, 'test_sound_programs')


if __name__ == '__main__':
    harness.main()
