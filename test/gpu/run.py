#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--build DIR] [--observe | --virtual] [TEST ...]: what is tested on the virtual GPU, on a real NVIDIA GPU.

The programs of test/apps, the same binaries with the same truth and the same checks (test/integration); the
conformance suites, call by call (test/unit/vgpu) and instruction by instruction (test/unit/ptx); PyTorch and Triton,
where python3 can import them. Skipped, with the reason on a line, where there is no driver or no device. --observe
writes what this GPU, driver and CUPTI did into test/gpu/observed/, which test-observed.py holds the virtual GPU against.
--virtual runs the same on the virtual GPU, so that this script is known to work before there is a GPU to run it on.
"""
import argparse
import ctypes
import glob
import json
import os
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GPU = os.path.join(SOURCE, 'test', 'gpu')
sys.path.insert(0, os.path.join(SOURCE, 'test', 'integration'))
sys.path.insert(0, GPU)

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument('--build', help='the build tree (default: $TS_BUILD, else build/)')
WAY = PARSER.add_mutually_exclusive_group()
WAY.add_argument('--observe', action='store_true', help='write test/gpu/observed/')
WAY.add_argument('--virtual', action='store_true', help='on the virtual GPU')
PARSER.add_argument('tests', nargs='*', metavar='TEST', help='names of tests, or parts of them')
ARGUMENTS = PARSER.parse_args()
if ARGUMENTS.build:
    os.environ['TS_BUILD'] = os.path.abspath(ARGUMENTS.build)

import harness  # noqa: E402  (it reads TS_BUILD)
import observation  # noqa: E402

OBSERVED = os.path.join(GPU, 'observed')
# Programs that check themselves and print a line for each thing that was right, without a truth.
CHECKED = ('compute', 'cub', 'thrust')
# The conformance suites, as the build tree has them.
CONFORMANCE = ('test/gpu/test-gpu-ptx-*', 'test/unit/vgpu/test-cuda-*', 'test/unit/vgpu/test-cudart-*')


def reason_to_skip():
    if ARGUMENTS.virtual:
        return None
    if not os.path.exists('/dev/nvidiactl'):
        return 'no /dev/nvidiactl: no NVIDIA driver runs on this machine'
    try:
        cuda = ctypes.CDLL('libcuda.so.1')
    except OSError as error:
        return str(error)
    count = ctypes.c_int()
    result = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    if result:
        return 'cuInit gives error %d' % result
    return None if count.value else 'the driver has no device'


def cuda_libraries():
    """Where the toolkit's libcudart and libcupti lie, for programs that nvcc linked to the shared one."""
    if ARGUMENTS.virtual:
        return harness.VGPU
    home = os.environ.get('CUDA_HOME', '/usr/local/cuda')
    folders = [os.path.join(home, 'lib64'), os.path.join(home, 'extras', 'CUPTI', 'lib64')]
    return ':'.join(folder for folder in folders if os.path.isdir(folder))


def machine():
    """The GPU, its driver and CUPTI, as `tsctl devices` tells them."""
    result = harness.tsctl('devices', '--json', env=harness.environment(LD_LIBRARY_PATH=cuda_libraries()))
    return json.loads(result.out) if not result.status else {}


class OnGpu(harness.Case):
    """Runs programs on the GPU and looks at their traces."""

    def run_preloaded(self, argv):
        env = harness.preload_environment(None, TS_TRUTH=self.truth_path, LD_LIBRARY_PATH=cuda_libraries())
        result = harness.run(argv, env, cwd=self.folder, seconds=180)
        return result, sorted(glob.glob(self.path('*.sbt')))

    def run_recorded(self, argv):
        path = self.path('recorded.sbt')
        env = harness.record_environment(TS_TRUTH=self.truth_path, LD_LIBRARY_PATH=cuda_libraries())
        result = harness.run([harness.TSCTL, 'record', '-q', '-o', path, '--'] + argv, env,
                             cwd=self.folder, seconds=180)
        return result, [path]

    def check_ends(self, result, status=0):
        if result.status == harness.SKIPPED:
            self.skipTest(result.err.strip())
        self.assertEqual(result.status, status, result)

    def check_sound(self, trace):
        super().check_sound(trace)
        for device in trace.info['devices']:
            self.assertEqual(bool(device.get('virtual')), ARGUMENTS.virtual, device)


class Gpu(OnGpu):
    """Preloaded alone and under `tsctl record`, in both forms of program."""

    def check_program(self, run, name, argv, form):
        result, traces = run(argv)
        self.check_ends(result, observation.STATUSES.get(name, 0))
        self.assertEqual(len(traces), 1, traces)
        trace = harness.Trace(traces[0])
        if ARGUMENTS.observe:
            observation.write(OBSERVED, observation.observe('%s-%s' % (name, form), trace), trace)
        self.check_truth(trace, self.truth())

    def test_record_nvrtc(self):
        self.check_program(self.run_recorded, 'nvrtc', [harness.app('nvrtc', 'driver')], 'driver')

    def test_preload_python(self):
        argv = [sys.executable, os.path.join(SOURCE, 'test', 'apps', 'python-ctypes.py')]
        self.check_program(self.run_preloaded, 'python-ctypes', argv, 'python')

    def test_stress(self):
        """1,000,000 launches from 4 threads: in the trace, or counted as lost."""
        result, traces = self.run_preloaded([harness.app('stress', 'driver')])
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(traces[0])
        launches = self.truth().n_launches()
        if ARGUMENTS.observe:
            observation.write(OBSERVED, observation.observe('stress-driver', trace, rows=False), trace)
        lost = sum(trace.lost.get(reason, 0) for reason in (
            'ring_full', 'cupti_dropped', 'zero_timestamp', 'unfinished', 'unjoined_api', 'no_buffer'))
        self.assertLessEqual(trace.counts['kernel'], launches)
        self.assertGreaterEqual(trace.counts['kernel'] + lost, launches, trace.info)


def add(name, arguments, form):
    def argv():
        return [harness.app(name, form)] + arguments
    setattr(Gpu, 'test_preload_%s_%s' % (name, form),
            lambda self: self.check_program(self.run_preloaded, name, argv(), form))
    setattr(Gpu, 'test_record_%s_%s' % (name, form),
            lambda self: self.check_program(self.run_recorded, name, argv(), form))


for program, program_arguments in observation.PROGRAMS.items():
    for program_form in harness.FORMS:
        add(program, program_arguments, program_form)


class Replay(OnGpu):
    """Captured on the GPU, done again there and on the virtual GPU: what came back is what came back then."""

    def replayed(self, path, on, *options):
        env = harness.environment(LD_LIBRARY_PATH=cuda_libraries())
        result = harness.tsctl('replay', '--on', on, '--json', *options, path, env=env, seconds=180)
        self.assertIn(result.status, (0, 1, 3), result)
        session, = [json.loads(line) for line in result.out.splitlines()]
        if session.get('notes'):
            print('%s on %s: %s' % (self.id(), on, '; '.join(session['notes'])))
        return session

    def check(self, argv, exact):
        path = self.path('captured.sbt')
        env = harness.record_environment(TS_TRUTH=self.truth_path, LD_LIBRARY_PATH=cuda_libraries())
        result = harness.run([harness.TSCTL, 'record', '-q', '--capture', 'replay', '-o', path, '--'] + argv, env,
                             cwd=self.folder, seconds=180)
        self.check_ends(result)
        here, there = self.replayed(path, 'cuda', '--repeat', '2'), self.replayed(path, 'vgpu')
        for session in (here, there):
            self.assertEqual((session['unsupported'], session.get('refusal')), ([], None))
            self.assertEqual(session['operations'], session['captured'])
        self.assertEqual((here['verdict'], here['replays']), ('same', 2))
        self.assertEqual(bool(here['device'].startswith('TraceSmith')), ARGUMENTS.virtual)
        self.assertEqual([here[key] for key in ('launches', 'copies', 'results')],
                         [there[key] for key in ('launches', 'copies', 'results')])
        # A multiplication and an addition the driver may make one, which rounds once.
        if exact or ARGUMENTS.virtual:
            self.assertEqual(there['verdict'], 'same')
        else:
            print('%s: on the virtual GPU: %s' % (self.id(), there['verdict']))


# Whose arithmetic comes out the same however it is done.
EXACT = ('saxpy', 'pipeline', 'threads', 'graph', 'devices')


def add_replay(name, arguments, form):
    setattr(Replay, 'test_replay_%s_%s' % (name, form),
            lambda self: self.check([harness.app(name, form)] + arguments, name in EXACT))


for replayed_name, replayed_arguments in (('saxpy', []), ('pipeline', ['5']), ('threads', ['4', '20']), ('graph', ['5']),
                                          ('devices', []), ('network', ['2']), ('ladder', []), ('tensor', [])):
    for replayed_form in harness.FORMS:
        add_replay(replayed_name, replayed_arguments, replayed_form)


class Checked(OnGpu):
    """Programs that compare what they computed with the host."""

    def check(self, name):
        result, traces = self.run_recorded([harness.app(name)])
        self.check_ends(result)
        lines = result.out.splitlines()
        self.assertTrue(lines)
        self.assertEqual([line for line in lines if not line.endswith(': right')], [])
        trace = harness.Trace(traces[0])
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        self.assertGreaterEqual(trace.counts['kernel'], len(lines))


class Conformance(OnGpu):
    """The driver's answers are those that the virtual GPU is held to, or the suite is wrong."""

    def check(self, path):
        # The vendor's driver takes its time to start, in every test's own process.
        result = harness.run([path], harness.environment(LD_LIBRARY_PATH=cuda_libraries()), cwd=self.folder,
                             seconds=500)
        self.check_ends(result)

    def test_there_are_suites(self):
        self.assertTrue(suites(), 'the build tree has no conformance suite: build all of it')


class Frameworks(OnGpu):
    """Scripts over PyTorch and Triton, skipped where those are not."""

    def run_script(self, name):
        result, traces = self.run_recorded([sys.executable, os.path.join(GPU, name)])
        self.check_ends(result)
        trace = harness.Trace(traces[0])
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        return json.loads(result.out.splitlines()[-1]), trace

    def test_torch(self):
        known, trace = self.run_script('torch-train.py')
        # Forward, loss, backward and descent of two layers are at least a dozen kernels however they are fused.
        self.assertGreaterEqual(trace.counts['kernel'], 12 * known['steps'])
        for kind in ('htod', 'dtoh'):
            copied = sum(row['bytes'] for row in trace.of('memcpy') if row['kind'] == kind)
            self.assertGreaterEqual(copied, known['least_%s_bytes' % kind])

    def test_triton(self):
        known, trace = self.run_script('triton-add.py')
        launched = [row for row in trace.of('kernel') if row['name'] == known['kernel']]
        self.assertEqual(len(launched), known['launches'])


def suites():
    found = []
    for pattern in CONFORMANCE:
        found += [path for path in sorted(glob.glob(os.path.join(harness.BUILD, pattern)))
                  if os.path.isfile(path) and os.access(path, os.X_OK)]
    return found


for checked_name in CHECKED:
    setattr(Checked, 'test_' + checked_name, lambda self, name=checked_name: self.check(name))
for suite_path in suites():
    setattr(Conformance, 'test_' + os.path.basename(suite_path)[len('test-'):].replace('-', '_'),
            lambda self, path=suite_path: self.check(path))


def main():
    reason = reason_to_skip()
    if reason:
        print('skipped: ' + reason)
        return harness.SKIPPED
    print(json.dumps(machine()))
    sys.argv = [sys.argv[0]] + [argument for name in ARGUMENTS.tests for argument in ('-k', name)]
    harness.main()
    return 0


if __name__ == '__main__':
    sys.exit(main())
