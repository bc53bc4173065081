#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users ask first: each test is one question, and the command that answers it."""
import json
import os
import re
import subprocess
import sys

import harness
import kernel


def lines(*argv):
    result = harness.tsctl(*argv)
    assert result.status == 0, result
    return [json.loads(line) for line in result.out.splitlines()]


class OneNumber(harness.Case):
    """An operation has one number, in every output and every option; rows are found by what is known of them."""

    @classmethod
    def setUpClass(cls):
        case = harness.Case()
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        result, cls.path = case.record([harness.app('pipeline', 'driver'), '4'], '--vgpu', '-q')
        assert result.status == 0, result
        cls.rows = lines('view', '--json', cls.path)

    def found(self, *options):
        return lines('view', '--json', *options, self.path)

    def test_view_has_op_ids(self):
        table = harness.tsctl('view', '--type', 'kernel', self.path).out.splitlines()
        self.assertEqual(table[0].split()[:2], ['OP', 'TIME'])
        self.assertEqual([int(line.split()[0]) for line in table[1:]], [row['op_id'] for row in self.rows if row['type'] == 'kernel'])

    def test_ops(self):
        op_id = [row['op_id'] for row in self.rows if row['type'] == 'kernel'][3]
        rows = self.found('--ops', str(op_id))
        self.assertEqual([row['type'] for row in rows if row['type'] != 'access'], ['api', 'kernel'])
        self.assertEqual({row['op_id'] for row in self.found('--ops', '%d..%d' % (op_id, op_id + 3))},
                         {row['op_id'] for row in self.rows if op_id <= row.get('op_id', 0) <= op_id + 3})
        self.assertEqual(harness.tsctl('view', '--ops', 'x', self.path).status, 2)

    def test_name_stream_device_thread(self):
        kernels = [row for row in self.rows if row['type'] == 'kernel']
        self.assertEqual(self.found('--name', 'scal'), [row for row in self.rows if 'scal' in row.get('name', '')])
        self.assertEqual(self.found('--name', 's?le', '--type', 'kernel'), [])
        self.assertEqual(self.found('--name', 'sc?le', '--type', 'kernel'), [row for row in kernels if row['name'] == 'scale'])
        stream = kernels[0]['stream']
        self.assertEqual(self.found('--stream', str(stream), '--type', 'kernel'), [row for row in kernels if row['stream'] == stream])
        self.assertEqual(self.found('--device', '0', '--type', 'kernel'), kernels)
        self.assertEqual(self.found('--device', '1'), [])
        thread = {row['tid'] for row in self.rows if row['type'] == 'api'}.pop()
        self.assertEqual(len(self.found('--thread', str(thread), '--type', 'kernel')), len(kernels))
        self.assertEqual(len(self.found('--thread', 'pipeline', '--type', 'kernel')), len(kernels))
        self.assertEqual(self.found('--thread', 'nobody'), [])
        self.assertIn('No rows match the filters', harness.tsctl('view', '--thread', 'nobody', self.path).out)
        for option in ('--stream', '--device'):
            self.assertEqual(harness.tsctl('view', option, 'x', self.path).status, 2)

    def test_longest_first(self):
        timed = sorted((row['start_ns'] - row['end_ns'], row['start_ns']) for row in self.rows
                       if row['type'] in ('api', 'kernel', 'memcpy'))
        found = self.found('--sort', 'duration', '--limit', '20', '--type', 'api,kernel,memcpy')
        self.assertEqual([(row['start_ns'] - row['end_ns'], row['start_ns']) for row in found], timed[:20])
        table = harness.tsctl('view', '--sort', 'duration', '-n', '5', '--type', 'kernel', self.path).out
        # Out of the order of time, too, a kernel has the thread that launched it.
        self.assertEqual(table.count('pipeline'), 5)
        self.assertEqual(harness.tsctl('view', '--sort', 'name', self.path).status, 2)

    def test_medians_and_percentiles(self):
        (stats,) = lines('view', '--json', '--stats', self.path)
        for sums, kind in ((stats['kernels'], 'kernel'), (stats['api'], 'api')):
            for one in sums:
                durations = sorted(row['end_ns'] - row['start_ns'] for row in self.rows
                                   if row['type'] == kind and row['name'] == one['name'])
                self.assertEqual(one['count'], len(durations))
                self.assertEqual(one['total_ns'], sum(durations))
                for key, share in (('median_ns', 50), ('p95_ns', 95), ('p99_ns', 99)):
                    exact = durations[max(0, -(-share * len(durations) // 100) - 1)]
                    self.assertLessEqual(abs(one[key] - exact), exact // 500 + 1, (one, key, exact))
        (some,) = lines('view', '--json', '--stats', '--name', 'scale', self.path)
        self.assertEqual([one['name'] for one in some['kernels']], ['scale'])
        self.assertEqual(some['api'], [])


    def test_between_two_operations(self):
        """At an instant at which nothing runs, `state` names the operation before it and the one after it."""
        device = [row for row in self.rows if row['type'] in harness.DEVICE_TYPES]
        ends = sorted((row['end_ns'], row['op_id']) for row in device)
        tried = 0
        for row in device:
            before = [end for end in ends if end[0] < row['start_ns']]
            if not before or any(other['start_ns'] < row['start_ns'] <= other['end_ns'] for other in device):
                continue
            (report,) = lines('state', '--json', '--at', '@%d' % ((before[-1][0] + row['start_ns']) // 2), self.path)
            self.assertEqual(report['before']['end_ns'], before[-1][0])
            self.assertIn(report['before']['op_id'], [op_id for end_ns, op_id in before if end_ns == before[-1][0]])
            # Two may begin at one instant.
            self.assertEqual(report['after']['start_ns'], row['start_ns'])
            self.assertIn(report['after']['op_id'], [other['op_id'] for other in device if other['start_ns'] == row['start_ns']])
            tried += 1
        self.assertGreater(tried, 10)
        (report,) = lines('state', '--json', '--at', '@%d' % device[0]['start_ns'], self.path)
        self.assertNotIn('before', report)
        self.assertNotIn('after', report)


class WhoLaunched(harness.Case):
    """The stack of the launch, with file and line, without frames that are nobody's."""

    def test_kernels_have_stacks(self):
        result, path = self.record([harness.app('saxpy', 'driver'), '2'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        text = harness.tsctl('view', '--type', 'kernel', '--stacks', path).out
        self.assertRegex(text, r'\n +gpu_saxpy [^ ]*/gpu-driver\.c:\d+\n +main [^ ]*/saxpy\.c:\d+\n')
        for hidden in ('cuLaunchKernel', '__libc_start', '_start'):
            self.assertNotIn(hidden, text)
        for row in lines('view', '--json', '--stacks', '--type', 'kernel', path):
            functions = [symbol['function'] for symbol in row['stack']['symbols']]
            self.assertIn('main', functions)
            self.assertTrue(row['stack']['hidden'])
        (stats,) = lines('view', '--json', '--stats', path)
        site = stats['kernels'][0]['launched_by'][0]
        self.assertRegex(site['frame'], r'^launch \(gpu-driver\.c:\d+\)$')
        self.assertEqual(site['count'], stats['kernels'][0]['count'])
        self.assertRegex(harness.tsctl('view', '--stats', path).out, r'LAUNCHED BY +NAME\n.* launch \(gpu-driver\.c:\d+\) < gpu_saxpy \(gpu-driver\.c:\d+\) < main \(saxpy\.c:\d+\) +saxpy')

    def test_a_stub_launched_nothing(self):
        """nvcc makes a function for the host of each kernel, with the kernel's name: it is not who launched."""
        result, path = self.record([harness.app('pipeline', 'runtime'), '1'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        (stats,) = lines('view', '--json', '--stats', path)
        sites = {sums['name']: sums['launched_by'][0] for sums in stats['kernels']}
        self.assertEqual(set(sites), {'scale', 'saxpy'})
        for name, site in sites.items():
            self.assertRegex(site['frame'], r'^gpu_%s \(gpu-runtime\.cu:\d+\)$' % name)
            self.assertRegex(' < '.join(site['callers']), r'^slot_submit \(pipeline\.c:\d+\) < main \(pipeline\.c:\d+\)$')


    def test_stubs_are_hidden(self):
        """The function that nvcc makes of a kernel launches nothing of its own accord."""
        with open(os.path.join(harness.SOURCE, 'test', 'apps', 'launches.cu'), encoding='utf-8') as stream:
            launches = {line.split('// ')[1].strip(): number for number, line in enumerate(stream, 1) if '<<<' in line and '// ' in line}
        self.assertEqual(len(launches), 5)
        for level in ('O0', 'O2'):
            result, path = self.record([harness.app('launches-' + level)], '--vgpu', '-q', '--force')
            self.assertEqual(result.status, 0, result)
            (stats,) = lines('view', '--json', '--stats', path)
            # A static function has its parameters, or not, as the compiler knows it.
            self.assertEqual({kernel['name']: kernel['launched_by'][0]['frame'].replace('(int*)', '') for kernel in stats['kernels']},
                             {name: 'launch_all (launches.cu:%d)' % line for name, line in launches.items()})
            for text in (harness.tsctl('view', '--type', 'kernel', '--stacks', path).out, harness.tsctl('analyze', path).out):
                self.assertNotIn('device_stub', text)
            stacks = [line.split()[0] for line in harness.tsctl('view', '--type', 'kernel', '--stacks', path).out.splitlines()
                      if 'launches.cu' in line]
            self.assertEqual([stack.split('(')[0] for stack in stacks], ['launch_all', 'main'] * 5)
            # JSON has all frames, and says which are hidden.
            for row in lines('view', '--json', '--stacks', '--type', 'kernel', path):
                self.assertTrue(any('cudaLaunchKernel' in symbol['function'] for symbol in row['stack']['symbols']) or row['stack']['hidden'])


# Takes a memory that is there, four times, and one that is not, twice.
HUNGRY = harness.DRIVER_PROGRAM + '''
def take(n_bytes):
    return cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(n_bytes))

def train():
    return take(60 << 30)

for _ in range(4):
    assert not take(30 << 30)
assert train() == 2 and train() == 2
'''


# Leaks four times, frees as often, and is killed.
LEAKS = harness.DRIVER_PROGRAM + '''
import os

def make_leak():
    assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(16 << 20))

for _ in range(4):
    make_leak()
    assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20))
    assert not cuda.cuMemFree_v2(memory)
os.kill(os.getpid(), int(sys.argv[1]))
'''


# A kernel writes where nothing is; the program aborts at once.
FAULTY = harness.DRIVER_PROGRAM + '''
import os

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z5strayPj(.param .u64 to)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
"""
module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
assert not cuda.cuModuleLoadData(ctypes.byref(module), PTX)
assert not cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b'_Z5strayPj')

def launch():
    to = ctypes.c_uint64(0x1234500)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(to))
    assert not cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)

launch()
if cuda.cuCtxSynchronize():
    os.abort()
'''


class WhatFailed(harness.Case):
    """The call, its error, when, from where, and what is known of the cause: the same in info, analyze and memory."""

    def test_out_of_memory(self):
        program = self.path('hungry.py')
        with open(program, 'w', encoding='utf-8') as stream:
            stream.write(HUNGRY)
        result, path = self.record([sys.executable, program], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        for command in ('info', 'memory'):
            report = json.loads(harness.tsctl(command, '--json', path).out)
            (error,) = report['errors']
            self.assertEqual((error['name'], error['error'], error['count'], error['bytes'], report['failed_calls']),
                             ('cuMemAlloc_v2', 'CUDA_ERROR_OUT_OF_MEMORY', 2, 60 << 30, 2))
            text = harness.tsctl(command, path).out
            self.assertIn('Errors: 2 calls failed\n', text)
            self.assertRegex(text, r'cuMemAlloc_v2 = CUDA_ERROR_OUT_OF_MEMORY, 60\.00 GiB requested\n +at [0-9.]+ s, op \d+, thread \d+, 2 times\n'
                                   r' +take \([^)]*hungry\.py:\d+\)\n +train \([^)]*hungry\.py:\d+\)\n +<module> ')
            # Who held the rest.
            (site,) = error['held_sites']
            self.assertEqual((error['held_bytes'], site['count'], site['bytes']), (120 << 30, 4, 30 << 30))
            self.assertRegex(text, r'held on devices at that time: 120\.0 GiB\n +120\.0 GiB \(4 x 30\.00 GiB\)  take \(hungry\.py:\d+\)\n'
                                   r' +< <module> \(hungry\.py:\d+\)\n')
        self.assertEqual([row['op_id'] for row in lines('view', '--json', '--errors', path)], [error['op_id'], error['op_id'] + 1])
        # Nothing was launched, and the error is there all the same.
        self.assertEqual(harness.tsctl('analyze', path).out.split('\n\n')[1].rstrip(), text.split('\n\n')[1].rstrip())
        report = json.loads(harness.tsctl('memory', '--json', path).out)
        self.assertEqual(report.get('misuses', []), [])
        # Who held the rest.
        (site,) = report['peak_sites']
        self.assertEqual((site['count'], site['bytes'], report['never_freed_sites']), (4, 30 << 30, [site]))
        (device,) = json.loads(harness.tsctl('info', '--json', path).out)['devices']
        self.assertEqual(report['capacity_bytes'], device['memory_bytes'])
        self.assertRegex(site['callers'][0], r'^<module> \(hungry\.py:\d+\)$')
        self.assertRegex(site['frame'], r'^take \(hungry\.py:\d+\)$')
        self.assertRegex(harness.tsctl('memory', path).out, r'Never freed in this trace .*\n +BYTES .*\n +120\.0 GiB +4 x 30\.00 GiB +device 0 +take \(hungry\.py:\d+\)')

    def test_illegal_address(self):
        result, path = self.record([harness.app('faults', 'driver'), 'bounds'], '--vgpu', '-q')
        self.assertNotEqual(result.status, 0, result)
        (error,) = json.loads(harness.tsctl('analyze', '--json', path).out)['errors']
        self.assertEqual((error['name'], error['error']), ('cuCtxSynchronize', 'CUDA_ERROR_ILLEGAL_ADDRESS'))
        (suspect,) = error['suspects']
        (kernel,) = [row for row in lines('view', '--json', '--type', 'kernel', path) if row['op_id'] == suspect['op_id']]
        self.assertEqual((suspect['kernel'], kernel['name']), ('spill', 'spill'))
        self.assertRegex(harness.tsctl('analyze', path).out, r'launched since the last wait:\n +op \d+ spill\n(.*\n)* +main [^ ]*/faults\.c:\d+\n')

    def test_the_same_time_everywhere(self):
        result, path = self.record([harness.app('faults', 'driver'), 'bounds'], '--vgpu', '-q')
        self.assertNotEqual(result.status, 0, result)
        (moment,) = {re.search(r'ILLEGAL_ADDRESS\n +at ([0-9.]+) s', harness.tsctl(command, path).out).group(1)
                     for command in ('info', 'analyze', 'memory')}
        self.assertIn(moment, harness.tsctl('view', '--errors', path).out)

    def test_memory_of_a_program_that_was_killed(self):
        """Nothing is missing though it is killed at once: what CUPTI did not deliver is known by the calls."""
        program = self.path('leaks.py')
        with open(program, 'w', encoding='utf-8') as stream:
            stream.write(LEAKS)
        for signal in ('6', '9', '11'):
            result, path = self.record([sys.executable, program, signal], '--vgpu', '-q', '--force', **harness.dying())
            self.assertEqual(result.status, 128 + int(signal), result)
            report = json.loads(harness.tsctl('memory', '--json', path).out)
            (site,) = report['never_freed_sites']
            self.assertEqual((site['count'], site['bytes'], site['total_bytes']), (4, 16 << 20, 64 << 20))
            self.assertEqual((report['peak_bytes'], report.get('unknown_frees', 0), report.get('lost_frees', 0)), (65 << 20, 0, 0))
            self.assertEqual(sum(group['allocs'] for group in report['groups']), 8)
            self.assertEqual(sum(group['frees'] for group in report['groups']), 4)
            self.assertRegex(harness.tsctl('memory', path).out, r' 4 x 16\.00 MiB  device( 0)?  make_leak \(leaks\.py:\d+\)')

    def test_a_fault_that_aborts_at_once(self):
        """The kernel has its name, though the program dies at the first error: CUPTI delivers before the call returns."""
        program = self.path('faulty.py')
        with open(program, 'w', encoding='utf-8') as stream:
            stream.write(FAULTY)
        for _ in range(5):
            result, path = self.record([sys.executable, program], '--vgpu', '-q', '--force')
            self.assertEqual(result.status, 128 + 6, result)
            (error,) = json.loads(harness.tsctl('info', '--json', path).out)['errors']
            self.assertEqual(error['error'], 'CUDA_ERROR_ILLEGAL_ADDRESS')
            self.assertEqual([suspect.get('kernel') for suspect in error['suspects']], ['stray(unsigned int*)'])
            self.assertRegex(harness.tsctl('memory', path).out, r'op \d+ stray\(unsigned int\*\)\n +launch \([^)]*faulty\.py:\d+\)\n')

    def test_nothing_failed(self):
        result, path = self.record([harness.app('saxpy', 'driver'), '1'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        for command in ('info', 'analyze', 'memory'):
            self.assertNotIn('failed', harness.tsctl(command, path).out)


# Keeps its CPU busy between launches.
BUSY = harness.DRIVER_PROGRAM + '''
import os, time
os.sched_setaffinity(0, {0})
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
for _ in range(40):
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass
    assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
'''


NEIGHBOUR = '''
import os, time
with open('/proc/self/comm', 'w') as comm:
    comm.write('neighbour')
os.sched_setaffinity(0, {0})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print('ready', flush=True)
while True:
    end = time.monotonic() + 0.004
    while time.monotonic() < end:
        pass
    time.sleep(0.004)
'''


class IsItANeighbour(harness.Case):
    """A process that has the CPU while a thread that is late to launch could run."""

    def test_gaps_names_it(self):
        if 'sched' not in kernel.available()[0]:
            self.skipTest('no kernel events here')
        program = self.path('busy.py')
        with open(program, 'w', encoding='utf-8') as stream:
            stream.write(BUSY)
        # A real-time thread has the CPU whenever it wants it, whatever else runs.
        with subprocess.Popen([sys.executable, '-c', NEIGHBOUR], stdout=subprocess.PIPE, text=True) as neighbour:
            try:
                if neighbour.stdout.readline() != 'ready\n':
                    self.skipTest('no real-time threads here')
                result, path = self.record([sys.executable, program], '--vgpu', '-q', '--kernel-events=sched')
            finally:
                neighbour.kill()
        self.assertEqual(result.status, 0, result)
        report = json.loads(harness.tsctl('gaps', '--json', path).out)
        text = harness.tsctl('gaps', path).out
        had_ns = sum(part['ns'] for part in report['parts'] if part.get('reason') == 'preempted' and part.get('waker') == 'neighbour')
        self.assertGreater(had_ns, report['gaps_ns'] // 20)
        found = re.search(r'\nOther processes had the CPU for .* of the gaps, ([0-9.]+) %\n(?: +[0-9.]+ [mu]?s  .*\n)*? +([0-9.]+) (m?)s  neighbour\n', text)
        self.assertTrue(found, text)
        self.assertGreaterEqual(float(found.group(1)) + 0.1, 100 * had_ns / report['gaps_ns'])
        self.assertAlmostEqual(float(found.group(2)) * (1e6 if found.group(3) else 1e9), had_ns, delta=had_ns // 100)


class SmallThings(harness.Case):
    """What surprised people who came from other tools."""

    @classmethod
    def setUpClass(cls):
        case = harness.Case()
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        result, cls.captured = case.record([harness.app('saxpy', 'driver'), '1'], '--vgpu', '--capture', 'replay', '-q')
        assert result.status == 0, result

    def refused(self, *argv):
        result = harness.tsctl(*argv)
        self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)
        return result.err

    def test_moments_outside(self):
        self.assertIn('outside the trace', self.refused('state', '--at', '1000s', self.captured))
        self.assertIn('outside the trace', self.refused('state', '--json', '--at', '@1', self.captured))
        self.assertIn('no rows in this window', self.refused('cut', '--from', '1000s', '--to', '2000s', '-o', self.empty(), self.captured))
        self.assertFalse(os.path.exists(self.empty()))

    def empty(self):
        return os.path.join(os.path.dirname(self.captured), 'empty.sbt')

    def test_graph_has_json(self):
        graph = harness.tsctl('graph', '--json', self.captured)
        self.assertEqual(graph.out, harness.tsctl('graph', '--format', 'json', self.captured).out)
        self.assertTrue(graph.out.startswith('{'))

    def test_force_is_what_f_means(self):
        for command in ('graph', 'export'):
            self.assertIn('unknown option -f', self.refused(command, '-f', 'json', self.captured))

    def test_check_without_a_value(self):
        everything = harness.tsctl('replay', '--on', 'vgpu', '--check', self.captured)
        self.assertEqual(everything.status, 0, everything)
        for options in (('--check=all',), ('--check', 'all')):
            self.assertEqual(harness.tsctl('replay', '--on', 'vgpu', *options, self.captured).out.splitlines()[-1], everything.out.splitlines()[-1])
        self.assertIn('checked for races, init, bounds, order: nothing found', everything.out)
        self.assertIn('checked for races: nothing found', harness.tsctl('replay', '--on', 'vgpu', '--check', 'races', self.captured).out)

    def test_summary_of_keep_last(self):
        """The line at the end has what is in the file, and of how much."""
        result, path = self.record([harness.app('pipeline', 'driver'), '600'], '--vgpu', '--keep-last', '32K')
        self.assertEqual(result.status, 0, result)
        counts = json.loads(harness.tsctl('info', '--json', path).out)['counts']
        kept = sum(counts[kind] for kind in ('kernel', 'memcpy', 'memset'))
        self.assertIn(': the last {:,} of 14,400 GPU operations, '.format(kept), result.err)

    def test_fixed_values_are_listed(self):
        self.assertIn('`emulate`, `vgpu`, `cuda`', self.refused('replay', '--on', 'bogus', self.captured))


if __name__ == '__main__':
    harness.main()
