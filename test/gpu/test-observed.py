#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual GPU does what real ones were observed to do: test/gpu/observed/ against the same programs here.

And the comparison can fail: it is held against made-up observations.
"""
import copy
import glob
import os
import re
import sys
import unittest

GPU = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(GPU), 'integration'))
sys.path.insert(0, GPU)

import harness  # noqa: E402
import observation  # noqa: E402

OBSERVED = os.path.join(GPU, 'observed')
SPECS = {'devices': 'h200:2'}


class Here(harness.Case):
    def trace_of(self, name, form):
        result, path = self.record([harness.app(name, form)] + observation.PROGRAMS[name],
                                   '--vgpu=' + SPECS.get(name, 'h200'), '-q')
        self.assertEqual(result.status, observation.STATUSES.get(name, 0), result)
        trace = harness.Trace(path)
        self.assertTrue(trace.rows)
        os.unlink(path)  # its rows are read, the next run writes there again
        return trace

    def observe(self, program):
        name, _, form = program.rpartition('-')
        if name not in observation.PROGRAMS or form not in harness.FORMS:
            self.skipTest('%s is not compared' % program)
        trace = self.trace_of(name, form)
        return observation.observe(program, trace), trace


class Observed(Here):
    """A test for each observation that there is."""

    def test_there_are_observations(self):
        if not observation.read_all(OBSERVED):
            self.skipTest('no GPU was observed yet: test/gpu/run.py --observe on a machine that has one')


def add(path, observed):
    def test(self):
        seen, _ = self.observe(observed['program'])
        self.assertEqual(observation.differences(observed, seen), [], path)
    folder, name = os.path.split(path)
    setattr(Observed, 'test_%s_%s' % (os.path.basename(folder), name[:-len('.json')]), test)


for observed_path, observed_one in observation.read_all(OBSERVED).items():
    add(observed_path, observed_one)


class Sequences(Here):
    """What CUPTI told cupti-sequence of a program over the driver, call by call and record by record."""

    # What is asked of a driver before there is a context, the driver's own nodes of graphs, and what profilers alone do.
    LEFT_OUT = ('cuDeviceGet', 'GRAPH', 'MODULE_PROFILED')
    # Of an unknown number, or of kinds that the virtual CUPTI has not.
    RECORDS_LEFT_OUT = ('OVERHEAD', 'CUDA_EVENT', 'DEVICE')

    def read(self, path):
        """Calls and resources in order, without what a compiler or a machine decides; sorted records; bytes by kind of record."""
        calls, records, sizes, kind = [], [], {}, None
        with open(path, encoding='utf-8', errors='replace') as stream:
            for line in stream:
                text = re.sub(r'^[0-9.]+ t[0-9]+ ', '', line.rstrip())
                if text.startswith('record '):
                    kind = text.split()[1]
                    record = re.match(r'record (\w+) .*?(#\d+)', text)
                    # Streams beyond a context's that nobody made are an executable graph's own.
                    if record and kind not in self.RECORDS_LEFT_OUT and not (kind == 'STREAM' and self.is_of_graph(text, calls)):
                        records.append(record.groups())
                elif text.startswith('step ') and kind:
                    sizes[kind] = int(text.split()[1])
                elif text.startswith(('enter ', 'exit ', 'resource ', 'synchronized ')):
                    if not any(word in text for word in self.LEFT_OUT):
                        calls.append(re.sub(r' module \d+ bytes \d+ magic \w+', '', text))
        return calls, sorted(records), sizes

    @staticmethod
    def is_of_graph(record, calls):
        correlation = re.search(r'#\d+', record)[0]
        return any('cuGraphInstantiate' in call and correlation + ' ' in call for call in calls)

    def check(self, path):
        name = os.path.basename(path)[:-len('.txt')]
        program, _, form = name.rpartition('-')
        here = self.path('sequence')
        env = harness.environment(
            CUDA_INJECTION64_PATH=os.path.join(harness.BUILD, 'test', 'gpu', 'libcupti-sequence.so'), TS_SEQUENCE=here,
            LD_LIBRARY_PATH=harness.VGPU, TS_TRUTH=self.path('truth'), TRACESMITH_VGPU='h200')
        result = harness.run([harness.app(program, form)] + observation.PROGRAMS[program], env, cwd=self.folder)
        self.assertEqual(result.status, observation.STATUSES.get(program, 0), result)
        (calls, records, sizes), (seen_calls, seen_records, seen_sizes) = self.read(path), self.read(here)
        self.assertTrue(calls and records)
        self.assertEqual(calls, seen_calls)
        self.assertEqual(records, seen_records)
        self.assertEqual({kind: sizes[kind] for kind in sizes if kind in seen_sizes}, seen_sizes)


for sequence_path in sorted(glob.glob(os.path.join(OBSERVED, '*', 'sequences', '*-driver.txt'))):
    setattr(Sequences, 'test_%s_%s' % (sequence_path.split(os.sep)[-3], os.path.basename(sequence_path)[:-len('.txt')]),
            lambda self, path=sequence_path: self.check(path))


class Comparison(Here):
    """What was observed comes back from its file and equals the next run; what was not so is told."""

    def check(self, program):
        seen, trace = self.observe(program)
        again, _ = self.observe(program)
        path = observation.write(self.path('observed'), seen, trace)
        found = observation.read_all(self.path('observed'))
        self.assertEqual(list(found), [path])
        self.assertEqual(observation.differences(found[path], again), [])
        return found[path], again

    def test_saxpy(self):
        self.check('saxpy-driver')

    def test_threads(self):
        """Threads and streams in whatever order they came."""
        self.check('threads-driver')

    def test_graph(self):
        self.check('graph-driver')

    def test_pipeline_runtime(self):
        self.check('pipeline-runtime')

    def test_a_made_up_observation_differs(self):
        honest, seen = self.check('saxpy-driver')
        self.assertTrue(honest['rows'])

        def told(change):
            made_up = copy.deepcopy(honest)
            change(made_up)
            return '\n'.join(observation.differences(made_up, seen))

        def drop_call(made_up):
            made_up['threads'][0].remove('cuCtxSynchronize: sync context_synchronize')

        def swap_work(made_up):
            work = made_up['streams'][0]
            first = next(i for i, line in enumerate(work) if line.startswith('kernel'))
            work[first - 1], work[first] = work[first], work[first - 1]

        def other_grid(made_up):
            made_up['streams'][0] = [line.replace('kernel saxpy 256,', 'kernel saxpy 128,')
                                     for line in made_up['streams'][0]]

        def more_streams(made_up):
            made_up['streams'].append(['kernel nothing 1,1,1 1,1,1 shared 0'])

        def more_copies(made_up):
            made_up['counts']['memcpy'] += 1

        def other_call(made_up):
            made_up['calls']['cuMemGetInfo_v2'] = 1

        self.assertRegex(told(drop_call), r'thread: step \d+ is "cuCtxSynchronize: sync context_synchronize", observed')
        self.assertRegex(told(swap_work), r'stream: step \d+ is "memcpy htod .*", observed was "kernel saxpy')
        self.assertRegex(told(other_grid), r'stream: step \d+ is "kernel saxpy 256,.*", observed was "kernel saxpy 128,')
        self.assertIn('stream: 1, observed were 2', told(more_streams))
        self.assertRegex(told(more_copies), r'^counts: memcpy is (\d+), observed was (\d+)$')
        self.assertIn('calls: cuMemGetInfo_v2 is 0, observed was 1', told(other_call))


if __name__ == '__main__':
    harness.main()
