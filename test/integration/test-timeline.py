#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl timeline: its numbers against those that follow from the rows, of programs on the virtual GPU; and how it is drawn."""
import collections
import json
import os

import harness

CLASSES = {'kernel': 'compute', 'memset': 'compute', 'memcpy': 'copy'}


def union(intervals):
    """Disjoint, in order."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in union(intervals))


class Timeline(harness.Case):
    def recorded(self, argv, *options, **env):
        result, path = self.record(argv, '--vgpu', '-q', *options, **env)
        self.assertEqual(result.status, 0, result)
        return path

    def timeline(self, path, *options):
        result = harness.tsctl('timeline', '--json', *options, path)
        self.assertEqual((result.status, result.err), (0, ''), result)
        return json.loads(result.out)

    def check(self, path, *options):
        found, rows = self.timeline(path, *options), harness.Trace(path).of(*harness.DEVICE_TYPES)
        start, end = found['start_ns'], found['end_ns']
        rows = [row for row in rows if row['start_ns'] <= end and row['end_ns'] >= start]
        cut = [(max(row['start_ns'], start), min(row['end_ns'], end), row) for row in rows]
        self.assertEqual(sum(device['operations'] for device in found['devices']), len(rows))
        for device in found['devices']:
            its = [(a, b, row) for a, b, row in cut if row['device'] == device['device']]
            self.check_device(device, its, end - start)
            for stream in device['streams']:
                of_stream = [(a, b) for a, b, row in its
                             if (row['stream'], row['context'], row['session'])
                             == (stream['stream'], stream['context'], stream['session'])]
                self.assertEqual(stream['operations'], len(of_stream))
                self.assertEqual(stream['busy_ns'], length(of_stream))
            self.check_parts(device, its, start, found['part_ns'])
        return found

    def check_device(self, device, rows, span):
        self.assertEqual(device['operations'], len(rows))
        self.assertEqual(device['busy_ns'], length((a, b) for a, b, _ in rows))
        for name in ('compute', 'copy'):
            self.assertEqual(device[name + '_ns'],
                             length((a, b) for a, b, row in rows if CLASSES[row['type']] == name))
        self.assertEqual(device['overlap_ns'],
                         device['compute_ns'] + device['copy_ns'] - device['busy_ns'])
        self.assertEqual(device['idle_ns'] + device['busy_ns'], span)
        self.assertEqual(sum(idle['ns'] for idle in device['idle']), device['idle_ns'])
        edges = sorted([(b, -1) for a, b, _ in rows if b > a] + [(a, 1) for a, b, _ in rows if b > a])
        most = at_once = 0
        for _, change in edges:
            at_once += change
            most = max(most, at_once)
        self.assertEqual(device['max_at_once'], most)

    def check_parts(self, device, rows, start, part_ns):
        for stream in device['streams']:
            want = collections.defaultdict(int)
            for name in ('compute', 'copy'):
                for a, b in union((a, b) for a, b, row in rows if CLASSES[row['type']] == name
                                  and (row['stream'], row['session']) == (stream['stream'], stream['session'])):
                    while a < b:
                        part = (a - start) // part_ns
                        until = min(b, start + (part + 1) * part_ns)
                        want[part, name] += until - a
                        a = until
            found = {(i, name): part[name + '_ns'] for i, part in enumerate(stream['parts'])
                     for name in ('compute', 'copy') if part[name + '_ns']}
            self.assertEqual(found, dict(want))

    def test_programs(self):
        for name, arguments in (('pipeline', []), ('graph', []), ('threads', []), ('workers', ['2', '2', '2'])):
            path = self.recorded([self.app(name), *arguments], '--stacks', 'none')
            self.check(path, '--width', '37')
            os.unlink(path)

    def test_window(self):
        path = self.recorded([self.app('pipeline')], '--stacks', 'none')
        rows = harness.Trace(path).of(*harness.DEVICE_TYPES)
        found = self.check(path, '--width', '11', '--from', '@%d' % (rows[50]['start_ns'] + 1),
                           '--to', '@%d' % (rows[250]['end_ns'] - 1))
        self.assertEqual(found['start_ns'], rows[50]['start_ns'] + 1)
        causes = {idle['cause'] for device in found['devices'] for idle in device['idle']}
        self.assertLessEqual(causes, {'host', 'call', 'dispatch', 'dependency', 'end'})

    def test_drawing(self):
        path = self.recorded([self.app('pipeline')], '--stacks', 'none')
        for locale, width in (('C', 20), ('C.UTF-8', 33)):
            result = harness.run([harness.TSCTL, 'timeline', '--width', str(width), path],
                                 harness.environment(LC_ALL=locale))
            self.assertEqual((result.status, result.err), (0, ''), result)
            self.assertEqual(result.out.isascii(), locale == 'C')
            lines = [line for line in result.out.splitlines() if line.startswith('  stream ')]
            self.assertEqual(len(lines), 4)
            for line in lines:
                self.assertEqual(len(line.split('|')[1]), width)
        self.assertTrue(harness.run([harness.TSCTL, 'timeline', '--ascii', path],
                                    harness.environment(LC_ALL='C.UTF-8')).out.isascii())

    def test_empty_damaged_refused(self):
        path = self.path('made.sbt')
        harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), path, '5'])
        with open(path, 'rb') as stream:
            whole = stream.read()
        self.assertEqual(self.timeline(path, '--from', '3600s')['devices'] if 'devices' in
                         self.timeline(path, '--from', '3600s') else [], [])
        hurt = self.path('hurt.sbt')
        for at in range(64, len(whole), len(whole) // 20):
            with open(hurt, 'wb') as stream:
                stream.write(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
            result = harness.tsctl('timeline', '--json', hurt)
            self.assertIn(result.status, (0, 2), result)
        for arguments, words in ((['--width', '0', path], '--width'), ([], 'one trace file'),
                                 (['--from', '2s', '--to', '1s', path], 'before')):
            result = harness.tsctl('timeline', *arguments)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(words, result.err)


TimelineOverHip = harness.over_hip(Timeline)


if __name__ == '__main__':
    harness.main()
