#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A HIP runtime that reports no work of the GPU: pairs of events time a sample, and the trace marks the times.

The library in `hip-untraced` lacks hipRegisterTracerCallback(). The same programs over the usual library give the device's truth.
"""
import json
import os
import signal
import subprocess
import time

import harness

FOLDER = os.path.join(harness.VGPU, 'hip-untraced')
# By exported functions, and by dispatch tables.
WAYS = {',hip=6.1': ['hip_symbols', 'hip_events'], '': ['hip_tables', 'hip_events']}


class Events(harness.Case):
    def untraced(self, name, arguments=(), setting='mi300', **env):
        """Runs a program over the library without reports; returns its trace."""
        argv = [harness.app(name, 'hip')] + list(arguments)
        env.update(LD_LIBRARY_PATH=FOLDER, TRACESMITH_VGPU=setting)
        alone = harness.run(argv, harness.record_environment(LD_LIBRARY_PATH=FOLDER, TRACESMITH_VGPU=setting), cwd=self.folder)
        self.assertEqual(alone.status, 0, alone)
        result, traces = self.preload(argv, None, **env)
        self.assertEqual((result.status, result.out, result.err), (0, alone.out, ''), result)
        return self.finished_trace(traces[0])

    def check_untraced(self, trace, truth, ways):
        """Each call is recorded. Work has times, or is counted."""
        self.check_sound(trace)
        session, = trace.info['sessions']
        self.assertEqual(sorted(session['interfaces']), sorted(ways))
        self.assertLessEqual(set(trace.lost), {'untimed'})
        self.assertGreater(session['hip_time_error_ns'], 0)
        self.check_calls(trace, truth)
        launched = sum(sum(counts) for counts in truth.launches_by_kernel().values())
        timed = sum(trace.counts.get(kind, 0) for kind in harness.DEVICE_TYPES)
        self.assertEqual(timed + trace.lost.get('untimed', 0), launched + sum(truth.copies) + truth.sets)
        self.assertGreater(timed, 0)

    def check(self, name, arguments=(), setting='mi300'):
        for release, ways in WAYS.items():
            with self.subTest(release):
                trace = self.untraced(name, arguments, setting + release)
                try:
                    self.check_untraced(trace, self.truth(), ways)
                finally:
                    os.unlink(trace.path)

    def test_saxpy(self):
        self.check('saxpy')

    def test_pipeline(self):
        self.check('pipeline', ['5'])

    def test_threads(self):
        self.check('threads')

    def test_devices(self):
        self.check('devices', setting='mi300:2')

    def test_stress(self):
        self.check('stress', ['200'])

    def test_device_truth(self):
        """The model's clock runs a kernel in the same time each time. Between kernels that follow each other, a pair shows that time."""
        if harness.SANITIZER:
            self.skipTest('under a sanitizer a short kernel ends before the event behind it is recorded')
        argv = [harness.app('saxpy', 'hip')]
        # A small device: its kernel takes longer than the host needs for the next launch.
        result, traces = self.preload(argv, 'small,hip=6.1')
        self.assertEqual(result.status, 0, result)
        truth, = {row['end_ns'] - row['start_ns'] for row in self.finished_trace(traces[0]).of('kernel')}
        os.unlink(traces[0])
        # A busy machine may delay the host between all launches of a run.
        for _ in range(20):
            trace = self.untraced('saxpy', setting='small,hip=6.1')
            lengths = [row['end_ns'] - row['start_ns'] for row in trace.of('kernel')]
            os.unlink(trace.path)
            self.assertGreaterEqual(min(lengths), truth - 1)
            if min(lengths) <= truth + 1:
                return
        self.fail('no pair is as long as its kernel, %d ns: %s' % (truth, lengths))

    def test_settings(self):
        trace = self.untraced('stress', ['100'], TRACESMITH_TIMED_LAUNCHES='10')
        timed = trace.counts['kernel']
        self.assertTrue(10 <= timed < 100, timed)
        self.assertEqual(trace.lost, {'untimed': 100 - timed})
        os.unlink(trace.path)
        trace = self.untraced('stress', ['100'], TRACESMITH_TIMED_LAUNCHES='0')
        self.assertEqual((trace.counts['kernel'], trace.lost), (0, {'untimed': 100}))
        self.assertEqual(trace.info['sessions'][0]['interfaces'], ['hip_tables'])

    def test_stopped_from_the_start(self):
        trace = self.untraced('stress', ['100'], TRACESMITH_START_LATER='1')
        self.assertEqual((trace.counts['kernel'], trace.counts['api'], trace.lost), (0, 0, {}))

    def test_killed(self):
        """Work that had been read is in the trace; the rest is counted."""
        env = harness.preload_environment(None, LD_LIBRARY_PATH=FOLDER, TRACESMITH_VGPU='mi300,hip=6.1')
        process = subprocess.Popen([harness.app('stress', 'hip'), '100000000'], env=env, cwd=self.folder, stdout=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            self.traces_appear()
            time.sleep(1)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        trace = self.finished_trace(self.traces_appear()[0])
        self.assertGreater(trace.counts['kernel'], 0)
        self.assertGreater(trace.lost['untimed'], 0)
        self.assertLessEqual(set(trace.lost), {'untimed', 'unjoined_api', 'unjoined_device', 'unfinished', 'ring_full'})

    def test_words(self):
        trace = self.untraced('saxpy')
        self.assertRegex(harness.tsctl('info', trace.path).out,
                         "HIP 6.2.0 by its dispatch tables; a sample of the GPU's work has times, by events, correct to [0-9.]+ us\n")
        # All exports have marks.
        mark, = trace.of('mark')
        self.assertIn('a sample of the work', mark['name'])
        out = self.path('out.json')
        self.assertEqual(harness.tsctl('export', trace.path, '--format', 'json', '-o', out).status, 0)
        with open(out, encoding='utf-8') as file:
            self.assertIn('a sample of the work', file.read())
        result = harness.run([harness.TSCTL, 'devices', '--json'], harness.environment(LD_LIBRARY_PATH=FOLDER), cwd=self.folder)
        self.assertEqual(json.loads(result.out)['hip']['interfaces'], ['hip_tables', 'hip_events'])


if __name__ == '__main__':
    harness.main()
