#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl replay --on emulate: programs in virtual time as they were; what edits come to is test-what-if.py's."""
import json
import os
import random
import subprocess

import harness

HOST_CLOCK = '--vgpu=h200:2,clock=host'
MULTI_STREAM = (('pipeline',), ('threads',), ('devices',), ('graph',), ('network',), ('workers', '2', '2', '2'),
                ('stress', '2000'))


class Replay(harness.Case):
    def recorded(self, argv, *options):
        path = self.path('t%d.sbt' % random.getrandbits(48))
        result = subprocess.run(
            [harness.TSCTL, 'record', '-q', '-o', path, *options, '--', *argv], cwd=self.folder,
            env=harness.record_environment(TS_TRUTH=self.truth_path), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=harness.SECONDS * (4 if harness.SANITIZER else 1))
        self.assertEqual(result.returncode, 0, result)
        return path

    def replay(self, path, *options):
        result = harness.tsctl('replay', '--json', *options, path)
        self.assertEqual((result.status, result.err), (0, ''), result)
        return json.loads(result.out)

    def test_as_it_was(self):
        self.check_as_it_was('driver', MULTI_STREAM)

    def test_hip_as_it_was(self):
        self.check_as_it_was('hip', (('saxpy',), ('exits',), ('tensor',)) + MULTI_STREAM)

    def check_as_it_was(self, form, programs):
        errors = {}
        for name, *arguments in programs:
            path = self.recorded([harness.app(name, form), *arguments], HOST_CLOCK, '--stacks', 'none')
            told, view = self.replay(path), harness.Trace(path)
            recorded, emulated = told['recorded'], told['emulated']
            self.assertEqual(emulated['operations'], sum(view.counts[kind] for kind in harness.DEVICE_TYPES), name)
            self.assertEqual(emulated['calls'], view.counts['api'], name)
            rows = view.of('api', *harness.DEVICE_TYPES)
            self.assertEqual(recorded['makespan_ns'],
                             max(row['end_ns'] for row in rows) - min(row['start_ns'] for row in rows), name)
            self.assertEqual(sum(part['ns'] for part in emulated['parts']), emulated['makespan_ns'], name)
            self.assertEqual(emulated['let_go'], 0, name)
            errors[name] = abs(emulated['makespan_ns'] / recorded['makespan_ns'] - 1)
            os.unlink(path)
        self.assertLessEqual(max(errors.values()), 0.05, errors)
        self.assertLessEqual(sum(errors.values()) / len(errors), 0.02, errors)

    def test_hip_without_a_capture(self):
        """Replays that carry operations out refuse a trace of times alone with one line, which names what they need."""
        path = self.recorded([harness.app('saxpy', 'hip')], '--vgpu', '--stacks', 'none')
        for options in (('--on', 'vgpu'), ('--on', 'vgpu', '--check'), ('--on', 'vgpu', '--schedules', '2'), ('--on', 'vgpu', '--debug'),
                        ('--on', 'hip')):
            result = harness.tsctl('replay', *options, path)
            self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)
            self.assertIn('--capture replay', result.err)
        self.assertEqual(self.replay(path)['emulated']['operations'], 15)

    def test_selection(self):
        path = self.recorded([harness.app('pipeline', 'driver'), '5'], '--vgpu', '--stacks', 'none')
        view = harness.Trace(path)
        operations, calls = view.of(*harness.DEVICE_TYPES), view.of('api')
        streams = sorted({row['stream'] for row in operations})
        self.assertEqual(len(streams), 4)
        for stream in streams:
            told = self.replay(path, '--stream', stream)['emulated']
            self.assertEqual(told['operations'], sum(row['stream'] == stream for row in operations))
            self.assertEqual([item['stream'] for item in told['streams']], [stream])
            self.assertLess(told['calls'], len(calls))
        # Streams need not get on at the same rate: what began later may have been asked for before.
        asked_for = sorted(row['op_id'] for row in operations)
        first, last = asked_for[20], asked_for[60]
        inside = [row for row in operations if first <= row['op_id'] <= last]
        self.assertEqual(self.replay(path, '--ops', '%d..%d' % (first, last))['emulated']['operations'], len(inside))
        plan = self.replay(path, '--ops', '%d..%d' % (first, last), '--mode', 'dry-run')
        self.assertEqual(plan['kernels'] + plan['copies'] + plan['sets'], len(inside))
        self.assertEqual(plan['recorded_ns'],
                         max(row['end_ns'] for row in inside) - min(row['start_ns'] for row in inside))
        one = self.replay(path, '--ops', first)
        self.assertEqual((one['emulated']['operations'], one['emulated']['calls']), (1, 1))
        # A call that only waits is one; no call is none, in any mode.
        sync = next(row['op_id'] for row in calls if row['name'].endswith('Synchronize'))
        self.assertEqual(self.replay(path, '--ops', sync)['emulated']['calls'], 1)
        self.assertEqual(self.replay(path, '--ops', sync, '--mode', 'dry-run')['kernels'], 0)
        for options in (('--stream', '999'), ('--ops', '99999999'), ('--from', '999s')):
            for mode in ('full', 'dry-run'):
                result = harness.tsctl('replay', '--mode', mode, *options, path)
                self.assertEqual((result.status, result.out, result.err.count('\n')), (2, '', 1), result)
                self.assertIn('no operation is selected', result.err)
        start = calls[len(calls) // 2]['start_ns']
        told = self.replay(path, '--from', '@%d' % start)['emulated']
        self.assertEqual(told['calls'], sum(row['start_ns'] >= start for row in calls))
        told = self.replay(path, '--to', '@%d' % start)['emulated']
        self.assertEqual(told['calls'], sum(row['start_ns'] <= start for row in calls))

    def test_words(self):
        path = self.recorded([harness.app('pipeline', 'driver'), '3'], '--vgpu', '--stacks', 'none')
        file = self.path('edits')
        with open(file, 'w') as stream:
            stream.write('# what we mean to do\n  kernel saxpy=2x   # soon\n\nno-sync cuEventSynchronize\n')
        told = self.replay(path, '--what-if', '@' + file, '--what-if', 'host=2x')
        self.assertEqual(told['what_if'], ['kernel saxpy=2x', 'no-sync cuEventSynchronize', 'host=2x'])
        self.assertLess(told['edited']['makespan_ns'], told['emulated']['makespan_ns'])
        text = harness.tsctl('replay', '--what-if', 'kernel *=2x', path)
        self.assertEqual((text.status, text.err), (0, ''), text)
        for words in ('recorded', 'emulated', 'edited', 'CRITICAL PATH', 'Longest steps, edited'):
            self.assertIn(words, text.out)
        # As its help says.
        listed = harness.tsctl('replay', '--what-if', 'help')
        self.assertEqual((listed.status, listed.err), (0, ''))
        self.assertLessEqual(max(map(len, listed.out.splitlines())), 80)
        for arguments, words in ((('--what-if', 'kernel nobody=2x'), 'nothing in the trace has that name'),
                                 (('--what-if', 'overclock=2x'), 'is not an edit'),
                                 (('--what-if', 'kernel saxpy'), 'not understood'),
                                 (('--what-if', '@/nowhere'), 'No such file'),
                                 (('--what-if', 'set=2x', '--mode', 'dry-run'), '--mode full'),
                                 (('--on', 'magic'), 'unknown executor'), (('--mode', 'half'), 'dry-run'),
                                 (('--ops', '9..3'), "an operation's number"), (('--stream', 'x'), "a stream's number")):
            result = harness.tsctl('replay', *arguments, path)
            self.assertEqual((result.status, result.out), (2, ''), result)
            self.assertEqual(result.err.count('\n'), 1)
            self.assertIn(words, result.err)

    def test_damaged(self):
        path = self.recorded([harness.app('threads', 'driver')], '--vgpu', '--stacks', 'none')
        with open(path, 'rb') as stream:
            whole = stream.read()
        hurt, generator = self.path('hurt.sbt'), random.Random(3)
        for _ in range(12):
            data = bytearray(whole)
            for _ in range(generator.randrange(1, 40)):
                data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
            with open(hurt, 'wb') as stream:
                stream.write(data[:generator.randrange(len(data) // 2, len(data) + 1)])
            for options in ((), ('--what-if', 'host=2x'), ('--mode', 'dry-run')):
                result = harness.tsctl('replay', '--json', *options, hurt)
                self.assertIn(result.status, (0, 2), result)
                self.assertLessEqual(result.err.count('\n'), 2, result)


if __name__ == '__main__':
    harness.main()
