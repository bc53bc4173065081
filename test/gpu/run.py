#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--build DIR] [--observe] [TEST ...]: the programs of test/apps on a real NVIDIA GPU.

The same binaries, the same truth, the same checks as on the virtual GPU (test/integration). Skipped, with the
reason on a line, where there is no driver or no device. --observe writes what this GPU, driver and CUPTI did
into test/gpu/observed/, for those who build the virtual GPU to compare with.
"""
import argparse
import collections
import ctypes
import glob
import json
import os
import re
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, 'test', 'integration'))

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument('--build', help='the build tree (default: $TS_BUILD, else build/)')
PARSER.add_argument('--observe', action='store_true', help='write test/gpu/observed/')
PARSER.add_argument('tests', nargs='*', metavar='TEST', help='names of tests, or parts of them')
ARGUMENTS = PARSER.parse_args()
if ARGUMENTS.build:
    os.environ['TS_BUILD'] = os.path.abspath(ARGUMENTS.build)

import harness  # noqa: E402  (it reads TS_BUILD)

OBSERVED = os.path.join(SOURCE, 'test', 'gpu', 'observed')
ROWS_OBSERVED = 400


def reason_to_skip():
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
    home = os.environ.get('CUDA_HOME', '/usr/local/cuda')
    folders = [os.path.join(home, 'lib64'), os.path.join(home, 'extras', 'CUPTI', 'lib64')]
    return ':'.join(folder for folder in folders if os.path.isdir(folder))


def machine():
    """The GPU, its driver and CUPTI, as `tsctl devices` tells them."""
    result = harness.tsctl('devices', '--json', env=harness.environment(LD_LIBRARY_PATH=cuda_libraries()))
    return json.loads(result.out) if not result.status else {}


class Gpu(harness.Case):
    """Preloaded alone and under `tsctl record`, in both forms of program."""
    programs = {
        'saxpy': [],
        'pipeline': [],
        'threads': [],
        'devices': [],
        'graph': [],
        'exits': ['_exit', '9'],
    }
    statuses = {'exits': 9}

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

    def check_program(self, run, name, argv, form):
        result, traces = run(argv)
        if result.status == harness.SKIPPED:
            self.skipTest(result.err.strip())
        self.assertEqual(result.status, self.statuses.get(name, 0), result)
        self.assertEqual(len(traces), 1, traces)
        trace = harness.Trace(traces[0])
        if ARGUMENTS.observe:
            observe('%s-%s' % (name, form), trace)
        self.check_truth(trace, self.truth())

    def check_sound(self, trace):
        super().check_sound(trace)
        for device in trace.info['devices']:
            self.assertFalse(device.get('virtual'), 'this is the virtual GPU')

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
            observe('stress-driver', trace, rows=False)
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


for program, program_arguments in Gpu.programs.items():
    for program_form in harness.FORMS:
        add(program, program_arguments, program_form)


def observe(name, trace, rows=True):
    """Keeps what the trace of a program looked like on this machine."""
    devices = trace.info['devices']
    folder = re.sub(r'[^a-z0-9.]+', '-', '%s-driver-%s-cupti-%s' % (
        devices[0]['name'].lower() if devices else 'no-device',
        trace.info['sessions'][0].get('driver_version'), trace.info['sessions'][0].get('cupti_version')))
    os.makedirs(os.path.join(OBSERVED, folder), exist_ok=True)
    calls = collections.Counter()
    if rows:
        calls.update(row['name'] for row in trace.of('api'))
    seen = {
        'program': name,
        'devices': [{key: value for key, value in device.items() if key != 'uuid'} for device in devices],
        'counts': trace.counts,
        'lost': trace.lost,
        'kernels': trace.info.get('kernels'),
        'copies': trace.info.get('copies'),
        'calls': dict(sorted(calls.items())),
        'rows': relative(trace)[:ROWS_OBSERVED] if rows else [],
    }
    with open(os.path.join(OBSERVED, folder, name + '.json'), 'w', encoding='utf-8') as stream:
        json.dump(seen, stream, indent=1)
        stream.write('\n')


def relative(trace):
    """Rows with times from the trace's start, without what names a process or thread."""
    start = trace.info['start_ns']
    rows = []
    for row in trace.rows:
        row = {key: value for key, value in row.items() if key not in ('tid', 'thread_name', 'stack')}
        for key in ('start_ns', 'end_ns', 'queued_ns', 'submitted_ns'):
            if row.get(key):
                row[key] -= start
        rows.append(row)
    return rows


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
