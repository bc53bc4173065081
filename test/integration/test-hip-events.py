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
import unittest

import harness

FOLDER = os.path.join(harness.VGPU, 'hip-untraced')
# By exported functions, and by dispatch tables.
WAYS = {',hip=6.1': ['hip_symbols', 'hip_events'], '': ['hip_tables', 'hip_events']}


class Events(harness.Case):
    def untraced(self, name, arguments=(), setting='mi300', **env):
        """Runs a program over the library without reports; returns its trace."""
        argv = [harness.app(name, 'hip')] + list(arguments)
        env.update(LD_LIBRARY_PATH=FOLDER, TRACESMITH_VGPU=setting)
        alone = harness.run(argv, harness.environment(LD_LIBRARY_PATH=FOLDER, TRACESMITH_VGPU=setting), cwd=self.folder)
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


if __name__ == '__main__':
    harness.main()
