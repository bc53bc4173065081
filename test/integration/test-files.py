#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces made of traces: windows of a recording and several recordings as one, each a trace as any other."""
import json
import os

import harness


class Files(harness.Case):
    def good(self, *options):
        result, path = self.record([harness.app('threads', 'driver')], '--vgpu', '-q', *options)
        self.assertEqual(result.status, 0, result)
        return path

    def make(self, command, *arguments, status=0):
        """A trace that `command` made, which is whole."""
        path = self.path('%s-%d.sbt' % (command, len(os.listdir(self.folder))))
        result = harness.tsctl(command, *arguments, '-o', path)
        self.assertEqual(result.status, status, result)
        if not status:
            self.assertEqual(harness.tsctl('verify', path).status, 0)
        return harness.Trace(path)

    def texts(self, trace):
        return sorted(json.dumps(row, sort_keys=True) for row in trace.rows)

    def test_cuts_merge_to_the_whole(self):
        whole = harness.Trace(self.good())
        middle = whole.rows[len(whole.rows) // 2]['start_ns']
        first = self.make('cut', '--to', '@%d' % middle, whole.path)
        second = self.make('cut', '--from', '@%d' % (middle + 1), whole.path)
        self.assertLess(len(first.rows), len(whole.rows))
        merged = self.make('merge', second.path, first.path)
        self.assertEqual(self.texts(merged), self.texts(whole))
        # A thread that no row is of is in no cut.
        for trace in (merged, whole):
            trace.info['sessions'][0].pop('threads')
        self.assertEqual(merged.info['sessions'], whole.info['sessions'])
        self.assertEqual(merged.info['devices'], whole.info['devices'])
        self.assertEqual(merged.info['metadata']['1.file'], second.path)
        self.assertEqual(merged.info['metadata']['hostname'], whole.info['metadata']['hostname'])

    def test_operations_stay_whole(self):
        whole = harness.Trace(self.good())
        kernel = whole.of('kernel')[len(whole.of('kernel')) // 3]
        cut = self.make('cut', '--from', '@%d' % kernel['start_ns'], '--to', '@%d' % kernel['end_ns'],
                        whole.path)
        self.assertLess(len(cut.rows), len(whole.rows) // 2)
        self.check_joined(cut)
        self.assertIn(kernel['op_id'], [row['op_id'] for row in cut.of('api')])
        at = '@%d' % kernel['start_ns']
        states = [json.loads(harness.tsctl('state', '--json', '--at', at, trace.path).out)
                  for trace in (whole, cut)]
        for state in states:
            self.assertTrue(any(device.get('allocated_bytes', 0) for device in state['devices']), state)
        self.assertEqual(*[[device.get('allocated_bytes') for device in state['devices']]
                           for state in states])

    def test_two_recordings(self):
        first = self.good()
        os.rename(first, self.path('first.sbt'))
        second = self.good()
        merged = self.make('merge', self.path('first.sbt'), second)
        self.assertEqual([session['session'] for session in merged.info['sessions']], [1, 2])
        self.assertEqual(merged.counts['kernel'], sum(harness.Trace(path).counts['kernel']
                                                      for path in (self.path('first.sbt'), second)))
        self.check_sound(merged)
        # Each as true as it was alone, and to each other as their bounds together.
        bounds = [harness.Trace(path).info['clocks'] for path in (self.path('first.sbt'), second)]
        self.assertTrue(all('between_sessions_ns' not in bound for bound in bounds))
        self.assertEqual(merged.info['clocks'],
                         {'host_ns': max(bound['host_ns'] for bound in bounds),
                          'device_ns': max(bound['device_ns'] for bound in bounds),
                          'between_sessions_ns': sum(bound['device_ns'] for bound in bounds)})

    def test_refused(self):
        path = self.good()
        out = self.path('out.sbt')
        for arguments, word in (
                (('cut', '-o', out, path), '--from'), (('cut', '--from', '1s', path), '-o'),
                (('cut', '--from', '2s', '--to', '1s', '-o', out, path), 'before'),
                (('cut', '--from', 'x', '-o', out, path), 'time'),
                (('cut', '--range', 'nothing', '-o', out, path), 'nothing'),
                (('cut', '--from', '0', '-o', path, path), 'not overwritten'),
                (('merge', '-o', out, path), 'two'), (('merge', path, path), '-o'),
                (('merge', '-o', out, path, self.path('nothere')), 'nothere')):
            result = harness.tsctl(*arguments)
            self.assertEqual((result.status, result.out), (2, ''), result)
            self.assertEqual(len(result.err.splitlines()), 1, result)
            self.assertIn(word, result.err)
            self.assertFalse(os.path.exists(out))

    def test_damaged(self):
        """What can be read is there, whole, and it is said that the rest is not."""
        path = self.good()
        os.truncate(path, os.path.getsize(path) * 2 // 3)
        result = harness.tsctl('cut', '--from', '0', '-o', self.path('out.sbt'), path)
        self.assertEqual(result.status, 1, result)
        self.assertIn('cut off', result.err)
        self.assertEqual(harness.tsctl('verify', self.path('out.sbt')).status, 0)
        self.assertEqual(self.texts(harness.Trace(self.path('out.sbt'))), self.texts(harness.Trace(path)))


if __name__ == '__main__':
    harness.main()
