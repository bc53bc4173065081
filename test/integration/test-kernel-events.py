#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernel events by eBPF: what kept a thread from its next launch is in the trace, with its cause and its length.

Compared with what the program measured itself. Needs root and a kernel that tells its types; where the machine cannot give
them, what is left is tested: that it is said, and that the rest is recorded.
"""
import functools
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import harness
import service
from kernel import MAP, PROGRAM, available, end, exists, held, in_namespaces, start_service, wait

PROGRAMS = ('sched', 'faults', 'syscalls', 'stacks', 'block', 'memory', 'driver')
# Part of `--kernel-events`, but by no eBPF program of its own: test-host.py.
SAMPLES = 'samples'
PAGES = 100000
PIECE, PIECES = 1048576, 8
RECORDINGS = 5


# Copies, waits for a line, touches fresh pages and copies again.
FAULTING_PROGRAM = harness.DRIVER_PROGRAM + '''
import mmap, os
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
print(os.getpid(), flush=True)
sys.stdin.readline()
pages = mmap.mmap(-1, 256 * mmap.PAGESIZE)
for at in range(0, len(pages), mmap.PAGESIZE):
    pages[at] = 1
assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
'''

GIVEN, MISSING = available()


def needs(*names):
    return unittest.skipUnless(set(names) <= GIVEN, 'no kernel events here: %s' % '; '.join(MISSING))


def duration(row):
    return row['end_ns'] - row['start_ns']


# TS_GAP_MAX_PARTS (replay/state/gaps/gaps.h).
GAP_PARTS = 256


def undisturbed(test):
    """
    A test that compares times which a program measured with what the kernel told. What a busy machine does to a thread where
    neither sees it (a virtual processor has to wait, a thread is preempted between a look at the clock and what it does next),
    and a wake-up by an interrupt that came while the same program ran on that processor (the kernel skips the second one),
    may spoil one recording, and not each of several: in one of them all holds.
    """
    @functools.wraps(test)
    def repeated(self):
        for _ in range(RECORDINGS - 1):
            try:
                return test(self)
            except AssertionError:
                self.record()
        return test(self)
    return repeated


class Delays(harness.Case):
    """A recording of test/apps/delays.c, looked at from all sides."""

    @classmethod
    def setUpClass(cls):
        if set(PROGRAMS) - GIVEN:
            raise unittest.SkipTest('no kernel events here: %s' % '; '.join(MISSING))
        cls.record()

    @classmethod
    def record(cls):
        case = harness.Case()
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        data = case.path('data.bin')
        with open(data, 'wb') as file:
            file.write(os.urandom(PIECE * PIECES))
        inject, control = case.path('inject.sock'), case.path('control.sock')
        daemon = start_service(case, '--kernel-events', inject, control, TRACESMITH_GPU_NODES='/dev/urandom')
        program = subprocess.Popen(
            [harness.app('delays', cls.form), data, str(PAGES)], cwd=case.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=harness.preload_environment('', TRACESMITH_SOCKET=inject,
                                                                   TS_APP_WAIT='1'))
        cls.addClassCleanup(end, program)
        # What comes before the daemon has the session is not seen.
        wait(lambda: str(program.pid) in harness.tsctl(
            'status', env=harness.environment(TRACESMITH_CONTROL=control)).out, daemon)
        out, _ = program.communicate(b'go\n', harness.SECONDS)
        if program.returncode == harness.SKIPPED:
            raise unittest.SkipTest('no real-time threads here')
        assert program.returncode == 0, out
        end(daemon)
        cls.steps = {step['what']: step for step in
                     (json.loads(line) for line in out.decode().splitlines() if line.startswith('{'))}
        cls.trace = harness.Trace(glob.glob(case.path('*/*.sbt'))[0])
        result = harness.tsctl('gaps', '--json', '--least', '1us', '--limit', '1000', cls.trace.path)
        assert result.status == 0, result
        cls.gaps = json.loads(result.out)

    def setUp(self):
        pass

    def rows(self, kind, step, **values):
        """Rows of the step's thread that lie in it."""
        step = self.steps[step]
        return [row for row in self.trace.of(kind) if row.get('tid') == step['tid'] and
                row['start_ns'] >= step['start_ns'] and row['end_ns'] <= step['end_ns'] and
                all(row.get(key) == value for key, value in values.items())]

    def check_off_cpu(self, step, reason, start='start_ns', end='end_ns'):
        """
        All of the time that the program missed is told, to 5 % or 50 us, and most of it for that reason: on a busy
        machine it was preempted besides.
        """
        step = self.steps[step]
        measured = step[end] - step[start]
        rows = [row for row in self.trace.of('off_cpu') if row.get('tid') == step['tid'] and
                row['start_ns'] >= step[start] and row['end_ns'] <= step[end]]
        told = sum(duration(row) for row in rows)
        self.assertLessEqual(told, measured)
        self.assertLessEqual(measured - told, max(50000, measured // 20), rows)
        rows = [row for row in rows if row['reason'] == reason]
        self.assertTrue(rows)
        return rows

    def test_nothing_else_changed(self):
        # Not every machine shows the end of all that a disk does; a busy one keeps the sampler from its processor.
        self.assertEqual([row for row in self.trace.of('loss') if row.get('context') not in (
            PROGRAMS.index('block') + 1, len(PROGRAMS) + 1)], [])
        self.assertEqual(self.trace.counts['kernel'], 1 + len(self.steps))
        self.assertEqual(self.trace.info['metadata']['kernel_events'], ','.join((*PROGRAMS, SAMPLES)))
        self.assertEqual(self.trace.info['metadata'].get('kernel_events_missing', ''), '; '.join(MISSING))
        self.check_sound(self.trace)

    @undisturbed
    def test_sleep(self):
        rows = self.check_off_cpu('sleep', 'sleep')
        self.assertEqual(len(rows), 1)
        self.assertGreaterEqual(duration(rows[0]), 30000000)
        self.assertEqual(rows[0].get('waker_context'), 'interrupt')
        self.assertGreaterEqual(rows[0]['woken_ns'], rows[0]['start_ns'] + 29900000)
        self.assertLessEqual(rows[0]['woken_ns'], rows[0]['end_ns'])

    @undisturbed
    def test_futex(self):
        step = self.steps['futex']
        rows = self.check_off_cpu('futex', 'futex')
        self.assertEqual({row['address'] for row in rows}, {step['address']})
        self.assertEqual(rows[-1].get('waker_tid'), step['partner'])
        self.assertEqual(rows[-1].get('waker_context'), 'thread')
        calls = self.rows('syscall', 'futex', syscall='futex', address=step['address'])
        self.assertEqual(len(calls), len(rows))
        for call, row in zip(calls, rows):
            self.assertLessEqual(call['start_ns'], row['start_ns'])
            self.assertGreaterEqual(call['end_ns'], row['end_ns'])

    @undisturbed
    def test_preempted(self):
        step = self.steps['preempted']
        rows = self.check_off_cpu('preempted', 'preempted', 'gap_start_ns', 'gap_end_ns')
        takers = {row['next_tid'] for row in rows}
        # On a full machine somebody else may have had the processor for some microseconds before the partner took it.
        if step['partner'] not in takers:
            self.assertFalse(takers & {0} | takers & {row['tid'] for row in rows}, rows)
        self.assertEqual({row['cpu'] for row in rows}, {0})

    def test_faults(self):
        step = self.steps['faults']
        rows = [row for row in self.rows('page_fault', 'faults')
                if 0 <= row['address'] - step['address'] < PAGES * 4096]
        self.assertEqual(len(rows), PAGES)
        self.assertEqual(len({row['address'] // 4096 for row in rows}), PAGES)
        self.assertEqual({row['fault'] for row in rows}, {'minor'})
        # Who changes the map at that moment has its lock: then the kind of memory is not known.
        self.assertLessEqual({row.get('memory') for row in rows}, {'anonymous', 'unknown'})
        self.assertGreater(sum(row['memory'] == 'anonymous' for row in rows), PAGES * 9 // 10)
        self.assertLess(sum(duration(row) for row in rows), step['end_ns'] - step['start_ns'])
        self.assertEqual(min(duration(row) > 0 for row in rows), True)

    def test_reads(self):
        rows = self.rows('syscall', 'read', syscall='pread64')
        # The last one finds the end.
        self.assertEqual([row['result'] for row in rows], [PIECE] * PIECES + [0])
        self.assertEqual([row.get('offset', 0) for row in rows],
                         [PIECE * i for i in range(PIECES + 1)])
        self.assertEqual({row['file'] for row in rows}, {'data.bin'})
        self.assertEqual({row['bytes'] for row in rows}, {PIECE})

    def test_ioctl(self):
        step = self.steps['ioctl']
        rows = self.rows('syscall', 'ioctl', syscall='ioctl')
        self.assertEqual(len(rows), step['count'])
        self.assertEqual({(row['operation'], row['file'], row['result']) for row in rows},
                         {(step['request'], 'urandom', 0)})

    def test_map(self):
        step = self.steps['map']
        rows = [row for row in self.rows('syscall', 'map') if row.get('bytes') == step['bytes']]
        self.assertEqual([row['syscall'] for row in rows], ['mmap', 'munmap'])
        self.assertEqual(rows[0]['result'], step['address'])
        self.assertEqual(rows[1]['address'], step['address'])

    @undisturbed
    def test_child(self):
        step = self.steps['child']
        self.check_off_cpu('child', 'wait')
        rows = [row for row in self.trace.of('off_cpu') if row.get('pid') == step['child']]
        slept = [row for row in rows if row['reason'] == 'sleep']
        self.assertEqual(len(slept), 1)
        self.assertEqual(slept[0]['tid'], step['child'])
        self.assertGreaterEqual(duration(slept[0]), 30000000)

    @undisturbed
    def test_stacks(self):
        """Of the first interval in a system call that lasted a millisecond: where in the program that was."""
        result = harness.tsctl('view', '--json', '--stacks', '--type', 'off_cpu', self.trace.path)
        rows = {(row['tid'], row['start_ns']): row for row in map(json.loads, result.out.splitlines())}
        # Of whatever reason: on a busy machine it is preempted there before it waits. Now and then the kernel gives none.
        long = [[rows[row['tid'], row['start_ns']] for row in self.rows('off_cpu', step, syscall=call)
                 if duration(row) >= 1000000] for step, call in (
                     ('sleep', 'clock_nanosleep'), ('futex', 'futex'), ('child', 'wait4'))]
        self.assertTrue(all(long))
        self.assertTrue(any(intervals[0].get('stack', {}).get('frames') for intervals in long), long)
        for row in rows.values():
            if row.get('stack'):
                self.assertIn('syscall', row)
                self.assertGreaterEqual(duration(row), 1000000)

    def gap(self, step):
        """That before the step's launch; its rows by kind; what of off-CPU time in it lies outside of the step."""
        step = self.steps[step]
        found = [gap for gap in self.gaps['longest']
                 if gap['start_ns'] <= step['start_ns'] and gap['end_ns'] >= step['end_ns']]
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]['tid'], step['tid'])
        return found[0]

    def in_gap(self, gap, kind, **values):
        return [row for row in self.trace.of(kind) if row.get('tid') == gap['tid'] and
                row['end_ns'] > gap['start_ns'] and row['start_ns'] < gap['call_end_ns'] and
                all(row.get(key) == value for key, value in values.items())]

    def check_gap(self, step, **values):
        """
        What the program measured is in the gap's parts, to 5 % or 50 us: of these, and what it was off its CPU for besides.
        """
        gap, step = self.gap(step), self.steps[step]
        parts = [part for part in gap['parts'] if all(part.get(key) == value for key, value in values.items())]
        self.assertTrue(parts, gap)
        outside = sum(min(row['end_ns'], gap['end_ns']) - max(row['start_ns'], gap['start_ns'])
                      for row in self.in_gap(gap, 'off_cpu')
                      if row['end_ns'] <= step['start_ns'] or row['start_ns'] >= step['end_ns'])
        told = sum(part['ns'] for part in gap['parts'] if part in parts or part['cause'] == 'off_cpu') - outside
        measured = step['end_ns'] - step['start_ns']
        self.assertLess(abs(told - measured), max(measured // 20, 50000), gap)
        return gap, parts

    def test_gaps_add_up(self):
        def count(parts):
            return sum(1 + count(part.get('waker_did', [])) for part in parts)

        for gap in self.gaps['longest']:
            self.assertEqual(sum(part['ns'] for part in gap['parts']), gap['end_ns'] - gap['start_ns'])
            # On a busy machine a gap may have more causes than a report lists.
            self.assertTrue(not gap['truncated'] or count(gap['parts']) >= GAP_PARTS, gap)
            # A busy machine may lose samples of the host, which test_nothing_else_changed() allows too.
            lost = any(row['start_ns'] <= gap['end_ns'] and row['end_ns'] >= gap['start_ns']
                       for row in self.trace.of('loss'))
            self.assertEqual(gap.get('unsure', []), ['lost'] if lost else [])
        self.assertEqual(self.gaps['gaps'], len(self.gaps['longest']))
        self.assertEqual(sum(part['ns'] for part in self.gaps['parts']), self.gaps['gaps_ns'])
        self.assertEqual(sum(stream['gaps_ns'] for stream in self.gaps['streams']), self.gaps['gaps_ns'])

    def test_gap_before_one_operation(self):
        gap = self.gap('map')
        result = harness.tsctl('gaps', '--json', '--op', str(gap['op_id']), self.trace.path)
        self.assertEqual(json.loads(result.out)['longest'], [gap])
        self.assertEqual(json.loads(harness.tsctl('gaps', '--json', '--op', '999999', self.trace.path).out)['gaps'], 0)
        self.assertEqual(harness.tsctl('gaps', '--op', '0', self.trace.path).status, 2)

    @undisturbed
    def test_gap_of_a_sleep(self):
        _, parts = self.check_gap('sleep', cause='off_cpu', reason='sleep')
        self.assertEqual([(part['count'], part.get('waker_context')) for part in parts], [(1, 'interrupt')])

    @undisturbed
    def test_gap_of_a_futex(self):
        partner = self.steps['futex']['partner']
        _, parts = self.check_gap('futex', cause='off_cpu', reason='futex', waker_tid=partner)
        self.assertEqual(len(parts), 1)
        # The chain goes on: who held it slept, and then let it go.
        did = parts[0]['waker_did']
        self.assertEqual({part['tid'] for part in did}, {partner})
        blocked = parts[0]['ns'] - parts[0]['runnable_ns']
        self.assertLessEqual(sum(part['ns'] for part in did), blocked)
        self.assertGreater(sum(part['ns'] for part in did if part['cause'] == 'off_cpu'), blocked * 9 // 10)
        self.assertEqual(sum(part['count'] for part in did if part.get('reason') == 'sleep'), 1)

    @undisturbed
    def test_gap_of_a_preemption(self):
        step = self.steps['preempted']
        gap = self.gap('preempted')
        parts = [part for part in gap['parts'] if part.get('reason') == 'preempted' and
                 part.get('waker_tid') == step['partner']]
        rows = self.in_gap(gap, 'off_cpu', reason='preempted', next_tid=step['partner'])
        self.assertEqual(sum(part['count'] for part in parts), len(rows))
        self.assertEqual(sum(part['ns'] for part in parts), sum(duration(row) for row in rows))
        self.assertGreaterEqual(sum(part['ns'] for part in parts),
                                (step['gap_end_ns'] - step['gap_start_ns']) * 19 // 20)
        # It could have run all the time.
        self.assertEqual([part['runnable_ns'] for part in parts], [part['ns'] for part in parts])

    def test_gap_of_page_faults(self):
        gap = self.gap('faults')
        parts = [part for part in gap['parts'] if part['cause'] == 'page_fault']
        # The launch's call returns after its kernel began, where the gap ends: it may touch a page of a ring then.
        rows = [row for row in self.in_gap(gap, 'page_fault') if row['start_ns'] < gap['end_ns']]
        self.assertEqual(sum(part['count'] for part in parts), len(rows))
        self.assertGreaterEqual(len(rows), PAGES)
        # Less what the thread was off its CPU meanwhile.
        self.assertLessEqual(sum(part['ns'] for part in parts), sum(duration(row) for row in rows))
        self.assertGreater(sum(part['ns'] for part in parts), 0)

    @undisturbed
    def test_gap_of_a_cold_file(self):
        # Whatever it was in within its calls; what came between them is not the file's.
        parts = [part for part in self.gap('read')['parts'] if part.get('file') == 'data.bin']
        told, measured = sum(part['ns'] for part in parts), self.steps['read']['inside_ns']
        slack = max(measured // 20, 50000)
        self.assertLess(told - measured, slack, parts)
        # On a busy machine it is preempted between a call and the look at the clock; so is its virtual processor, which nobody here sees.
        self.assertGreater(2 * told, measured, parts)
        if not harness.SANITIZER and not any(row['reason'] == 'preempted' for row in self.rows('off_cpu', 'read')):
            between = sum(duration(row) for row in self.rows('off_cpu', 'read') if row.get('syscall') != 'pread64')
            self.assertLess(measured - told, slack + between, parts)
        self.assertEqual(sum(part['count'] for part in parts if part['cause'] == 'syscall'), PIECES + 1)
        if not self.steps['read']['cold']:
            self.skipTest('this file system keeps its files in memory')
        # It waited for the disk, or for a CPU until that was done.
        self.assertLessEqual({'off_cpu'}, {part['cause'] for part in parts})

    def test_gap_of_a_disk(self):
        if not self.steps['read']['cold']:
            self.skipTest('this file system keeps its files in memory')
        rows = self.in_gap(self.gap('read'), 'block_io', operation='read')
        rows = [row for row in rows if not row.get('metadata') and row['start_ns'] >= self.steps['read']['start_ns']]
        if not rows:
            self.skipTest('the file is on no disk of this machine')
        # Whether it asked for them or they were read ahead: all of its bytes, once.
        if not self.trace.lost:
            self.assertEqual(sum(row['bytes'] for row in rows), PIECE * PIECES)
        for row in rows:
            self.assertEqual(row['result'], 0)
            self.assertTrue(row['disk'])
            self.assertLessEqual(row['start_ns'], row.get('issued_ns', row['start_ns']))
            self.assertLessEqual(row.get('issued_ns', row['start_ns']), row['end_ns'])
        # launch <- system call <- off its CPU <- disk: where it was off for one of its own, that is told below.
        waits = [part for part in self.gap('read')['parts'] if part.get('reason') == 'io' and
                 part.get('file') == 'data.bin']
        below = [part for wait in waits for part in wait.get('waker_did', []) if part['cause'] == 'block_io']
        proven = [off for off in self.in_gap(self.gap('read'), 'off_cpu', reason='io', syscall='pread64')
                  if any(off['start_ns'] < row['end_ns'] <= off.get('woken_ns', 0) for row in rows)]
        self.assertEqual(bool(below), bool(proven))
        for wait in waits:
            told = sum(part['ns'] for part in wait.get('waker_did', []) if part['cause'] == 'block_io')
            self.assertLessEqual(told, wait['ns'] - wait['runnable_ns'])
        for part in below:
            self.assertIn(part['disk'], {row['disk'] for row in rows})
            self.assertEqual(part['operation'], 'read')
            self.assertLessEqual(part['queued_ns'], part['ns'])

    @undisturbed
    def test_gap_of_a_child(self):
        self.check_gap('child', cause='off_cpu', reason='wait')

    def check_threads_are_named(self, text):
        """A line of all gaps together has the thread; a line of one gap has it where it is not the caller's."""
        together, longest = text.split('Causes of all gaps\n')[1].split('Longest gaps')
        lines = [line for line in together.splitlines() if re.match(r'  {1,9}[0-9.]+ [mun]?s ', line)]
        named = [part for part in self.gaps['parts'] if part.get('tid')]
        self.assertTrue(named)
        self.assertEqual(len(lines), len(self.gaps['parts']), together)
        for line, part in zip(lines, self.gaps['parts']):
            thread = '%s/%d: ' % (part.get('thread_name', '?'), part['tid']) if part.get('tid') else ''
            self.assertRegex(line, r'%  ' + re.escape(thread))
        for gap in longest.split('\n\n'):
            caller = re.search(r' by thread (\S+/\d+)', gap)
            if caller:
                self.assertNotRegex(gap, r'%  ' + re.escape(caller.group(1)) + ': ')

    def test_people_can_read_it(self):
        self.assertEqual(harness.tsctl('gaps', self.trace.path).status, 0)
        # On a busy machine there is more to tell than a page holds.
        result = harness.tsctl('gaps', '--all', self.trace.path)
        self.assertEqual(result.status, 0, result)
        self.assertIn('off CPU: sleep in clock_nanosleep, woken by an interrupt', result.out)
        self.assertIn('page faults: minor, anonymous memory', result.out)
        self.check_threads_are_named(result.out)
        for mistake in ('--least=soon', '--limit=-1', '--nonsense'):
            self.assertEqual(harness.tsctl('gaps', mistake, self.trace.path).status, 2)
        result = harness.tsctl('view', '--type', 'off_cpu,syscall', self.trace.path)
        self.assertEqual(result.status, 0, result)
        self.assertIn('sleep, woken by an interrupt', result.out)
        self.assertIn('ioctl urandom', result.out)
        result = harness.tsctl('view', '--stats', '--json', self.trace.path)
        sums = {sum['name']: sum for sum in json.loads(result.out)['page_faults']}
        self.assertGreaterEqual(sum(one['count'] for one in sums.values()), PAGES)


class Counted(harness.Case):
    """`sched:count`: counters say how many there were and how long they took, and nothing else is told."""

    def run_in_service(self, events, *command, **env):
        """Returns what the program printed, by lines of JSON, and its trace."""
        inject, control = self.path('inject.sock'), self.path('control.sock')
        daemon = start_service(self, '--kernel-events=' + events, inject, control, TRACESMITH_GPU_NODES='/dev/urandom')
        program = subprocess.Popen(
            command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=harness.preload_environment('', TRACESMITH_SOCKET=inject, TS_APP_WAIT='1', **env))
        self.addCleanup(end, program)
        wait(lambda: str(program.pid) in harness.tsctl(
            'sessions', env=harness.environment(TRACESMITH_CONTROL=control)).out, daemon)
        out, _ = program.communicate(b'go\n', harness.SECONDS)
        if program.returncode == harness.SKIPPED:
            self.skipTest('no real-time threads here')
        self.assertEqual(program.returncode, 0, out)
        end(daemon)
        path, = glob.glob(self.path('*/*.sbt'))
        trace = harness.Trace(path)
        self.assertEqual(trace.lost, {})
        self.assertEqual(trace.of('off_cpu', 'page_fault', 'syscall'), [])
        return [json.loads(line) for line in out.decode().splitlines() if line.startswith('{')], trace

    def counters(self, trace):
        return sorted((row for row in trace.of('counter') if row['domain'].startswith('kernel ')),
                      key=lambda row: row['start_ns'])

    def sums(self, trace):
        """The last of each counter, by thread and name; they only grow."""
        last = {}
        for row in self.counters(trace):
            self.assertEqual(row['domain'], 'kernel %d' % row['tid'])
            key = row['tid'], row['name']
            self.assertGreaterEqual(row['integer'], last.get(key, 0))
            last[key] = row['integer']
        return last

    @needs('syscalls')
    def test_each_call(self):
        """More than the daemon looks at once, by several threads at once, and none too many or too few."""
        threads, trace = self.run_in_service('syscalls:count', self.app('calls'), '200000', '100000', '3')
        sums = self.sums(trace)
        self.assertEqual(len(threads), 3)
        for one in threads:
            self.assertEqual(sums[one['tid'], 'syscalls.mremap.count'], 200000)
            self.assertGreater(sums[one['tid'], 'syscalls.mremap.ns'], 0)
            self.assertLess(sums[one['tid'], 'syscalls.mremap.ns'], one['end_ns'] - one['start_ns'])
        # The shim grows its mappings by a few calls of its own.
        tids = {one['tid'] for one in threads}
        self.assertLess(sum(count for (tid, name), count in sums.items()
                            if name == 'syscalls.mremap.count' and tid not in tids), 100)
        metadata = trace.info['metadata']
        self.assertEqual((metadata['kernel_events'], metadata['kernel_events_counted']), ('', 'syscalls'))
        # It took two seconds at least: they are there while it runs, not at the end alone.
        self.assertGreater(len({row['start_ns'] for row in self.counters(trace)}), 1)

    @needs('sched', 'faults', 'syscalls')
    def test_all_that_can_be_counted(self):
        with open(self.path('data.bin'), 'wb') as file:
            file.write(os.urandom(PIECE * PIECES))
        steps, trace = self.run_in_service('sched:count,faults:count,syscalls:count', self.app('delays'),
                                           self.path('data.bin'), str(PAGES))
        sums = self.sums(trace)
        step = {one['what']: one for one in steps}
        tid = step['sleep']['tid']
        self.assertEqual(sums[tid, 'syscalls.pread64.count'], PIECES + 1)
        self.assertEqual(sums[tid, 'syscalls.ioctl.count'], step['ioctl']['count'])
        self.assertGreaterEqual(sums[tid, 'faults.minor.count'], PAGES)
        self.assertLess(sums[tid, 'faults.minor.count'], PAGES + PAGES // 2)
        # It may have slept elsewhere, too.
        self.assertGreaterEqual(sums[tid, 'sched.clock_nanosleep.count'], 1)
        self.assertGreaterEqual(sums[tid, 'sched.clock_nanosleep.ns'], 30000000)
        self.assertLess(sums[tid, 'sched.clock_nanosleep.ns'], step['child']['end_ns'] - step['sleep']['start_ns'])
        self.assertGreaterEqual(sums[tid, 'sched.preempted.count'], 1)
        # Its child's, too.
        self.assertGreaterEqual(sums[step['child']['child'], 'sched.clock_nanosleep.ns'], 30000000)
        # That nothing of scheduling was told does not mean that the thread ran.
        result = harness.tsctl('gaps', '--json', trace.path)
        self.assertEqual(result.status, 0, result)
        self.assertNotIn('running', {part['cause'] for gap in json.loads(result.out)['longest'] for part in gap['parts']})


@service.no_service
class Wishes(harness.Case):
    def delays(self, *options, **env):
        with open(self.path('data.bin'), 'wb') as file:
            file.write(bytes(PIECE))
        return self.record([self.app('delays'), self.path('data.bin'), '100'], '--vgpu',
                           *options, **env)

    @needs('sched')
    def test_only_what_is_asked_for(self):
        with open(self.path('data.bin'), 'wb') as file:
            file.write(bytes(PIECE))
        path = self.path('recorded.sbt')
        recording = subprocess.Popen(
            [harness.TSCTL, 'record', '-q', '-o', path, '--vgpu', '--kernel-events=sched:10ms', '--',
             self.app('delays'), self.path('data.bin'), '100'], cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, env=harness.record_environment(XDG_RUNTIME_DIR=self.folder, TS_APP_WAIT='1'))
        self.addCleanup(end, recording)
        # What comes before the daemon has the session is not seen.
        wait(lambda: 'delays-' + self.form in harness.tsctl(
            'sessions', env=harness.environment(XDG_RUNTIME_DIR=self.folder)).out, recording)
        recording.communicate(b'go\n', harness.SECONDS)
        self.assertEqual(recording.returncode, 0)
        trace = harness.Trace(path)
        rows = trace.of('off_cpu')
        self.assertGreaterEqual(len(rows), 1)
        self.assertGreaterEqual(min(duration(row) for row in rows if not row.get('open')), 10000000)
        self.assertEqual(trace.of('page_fault', 'syscall'), [])
        self.assertEqual(trace.info['metadata']['kernel_events'], 'sched')

    def test_nothing_is_asked_for(self):
        result, path = self.delays()
        self.assertEqual(result.status, 0, result)
        self.assertEqual(harness.Trace(path).of('off_cpu', 'page_fault', 'syscall'), [])

    def test_mistakes(self):
        for wish in ('shed', 'sched:', 'sched:soon', 'sched,,faults', '', 'block:count', 'all:count', 'sched:counts'):
            result, path = self.delays('--kernel-events=' + wish)
            self.assertEqual(result.status, 2, result)
            self.assertEqual(len(result.err.splitlines()), 1, result)
            self.assertFalse(os.path.exists(path))

    def check_missing(self, prefix, *words):
        """The recording goes on, and says in one line and in the trace what it lacks."""
        path = self.path('recorded.sbt')
        result = harness.run(prefix + [
            harness.TSCTL, 'record', '-f', '-o', path, '--vgpu', '--kernel-events', '--',
            self.app('saxpy')], harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        lines = [line for line in result.err.splitlines() if 'kernel events' in line]
        self.assertEqual(len(lines), 1, result)
        trace = harness.Trace(path)
        shown, = re.findall('^kernel events are missing: (.*)$', harness.tsctl('info', '--wide', path).out, re.M)
        self.assertEqual(shown, trace.info['metadata']['kernel_events_missing'])
        for word in words:
            self.assertIn(word, lines[0])
            self.assertIn(word, shown)
        self.assertEqual(trace.info['metadata']['kernel_events'], SAMPLES)
        self.assertEqual(trace.counts['kernel'], 10)
        self.assertEqual(trace.of('off_cpu', 'page_fault', 'syscall'), [])

    @needs(*PROGRAMS)
    @unittest.skipUnless(shutil.which('setpriv'), 'no setpriv')
    def test_without_privilege(self):
        self.check_missing(['setpriv', '--bounding-set=-all', '--inh-caps=-all'], 'CAP_BPF', 'CAP_PERFMON')

    @needs('sched', 'faults', 'syscalls')
    @unittest.skipUnless(shutil.which('setpriv'), 'no setpriv')
    def test_two_capabilities_suffice(self):
        path = self.path('recorded.sbt')
        env = harness.record_environment(XDG_RUNTIME_DIR=self.folder)
        recording = subprocess.Popen(
            ['setpriv', '--bounding-set=-all,+bpf,+perfmon', '--inh-caps=-all', harness.TSCTL, 'record', '-q', '-f', '-o', path, '--vgpu',
             '--kernel-events=sched,faults,syscalls', '--', 'python3', '-c', FAULTING_PROGRAM],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.addCleanup(end, recording)
        pid = recording.stdout.readline().decode().strip()
        # Faults before the daemon has the session are not seen.
        wait(lambda: pid in harness.tsctl('sessions', env=env).out, recording)
        recording.communicate(b'go\n', harness.SECONDS)
        self.assertEqual(recording.returncode, 0)
        trace = harness.Trace(path)
        self.assertEqual(trace.info['metadata'].get('kernel_events_missing', ''), '')
        self.assertEqual(sorted(trace.info['metadata']['kernel_events'].split(',')), ['faults', 'sched', 'syscalls'])
        self.assertGreaterEqual(len(trace.of('page_fault')), 1)

    @needs(*PROGRAMS)
    @unittest.skipUnless(shutil.which('unshare'), 'no unshare')
    def test_in_a_container(self):
        self.check_missing(['unshare', '--pid', '--fork', '--mount-proc'], 'container')

    @needs(*PROGRAMS)
    @unittest.skipUnless(in_namespaces(), 'no namespaces to be had')
    def test_in_a_container_of_many_kinds(self):
        """A user of its own, as which it is root; another file where the kernel tells its types, or none."""
        empty = self.path('empty')
        open(empty, 'w').close()
        self.check_missing(['unshare', '--user', '--map-root-user'], 'CAP_BPF', 'CAP_PERFMON')
        self.check_missing(['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc'], 'container')
        for prepare in ('mount --bind "$0" /sys/kernel/btf/vmlinux', 'mount -t tmpfs none /sys/kernel'):
            self.check_missing(['unshare', '--mount', 'sh', '-c', prepare + ' && exec "$@"', empty],
                               'does not publish its types', 'CONFIG_DEBUG_INFO_BTF')

    @unittest.skipIf(GIVEN - {SAMPLES}, 'some of them can be had')
    def test_as_it_is_here(self):
        self.check_missing([], MISSING[0].split(': ')[1])

    def test_what_is_absent_is_said_and_leaves_the_rest(self):
        absent = [line for line in MISSING if ' without ' in line]
        if not absent:
            self.skipTest('this kernel has all of them, or none')
        result, path = self.delays('--kernel-events')
        self.assertEqual(result.status, 0, result)
        line, = [line for line in result.err.splitlines() if 'kernel events' in line]
        for one in absent:
            self.assertIn(one, line)
            self.assertIn(one, harness.Trace(path).info['metadata']['kernel_events_missing'])
        told = {one['name']: one for one in json.loads(harness.tsctl('devices', '--json').out)['kernel_events']}
        for one in absent:
            name, parts = one.split(' without ')
            self.assertTrue(told[name]['available'])
            self.assertEqual(told[name]['absent'], parts)

    def test_devices(self):
        result = harness.tsctl('devices', '--json')
        self.assertEqual(result.status, 0, result)
        told = {one['name']: one for one in json.loads(result.out)['kernel_events']}
        self.assertEqual({name for name, one in told.items() if one['available']}, GIVEN)
        self.assertEqual(set(told), {*PROGRAMS, SAMPLES})
        system = json.loads(result.out)['system']
        self.assertNotEqual(system['available'], 'missing' in system)
        for one in told.values():
            self.assertNotEqual(one['available'], 'missing' in one)


class Service(harness.Case):
    def setUp(self):
        super().setUp()
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        self.daemon = start_service(self, '--kernel-events=sched', self.inject, self.control)

    def wait(self, what):
        wait(what, self.daemon)

    def start(self):
        program = subprocess.Popen(
            [self.app('workers'), '1', '1', '1'], cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.preload_environment(
                '', TRACESMITH_SOCKET=self.inject, TS_APP_WAIT='1'))
        self.addCleanup(end, program)
        return program

    @needs('sched')
    def test_attached_only_for_a_session(self):
        self.assertEqual(held(self.daemon.pid)[1], 0)
        self.assertTrue(held(self.daemon.pid)[0])
        programs = [self.start(), self.start()]
        self.wait(lambda: held(self.daemon.pid)[1] > 0)
        for program in programs:
            program.communicate(b'')
        self.wait(lambda: held(self.daemon.pid)[1] == 0)
        result = harness.tsctl('status', env=harness.environment(TRACESMITH_CONTROL=self.control))
        self.assertIn('kernel:      sched', result.out)

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=harness.environment(TRACESMITH_CONTROL=self.control))

    @needs('sched')
    def test_not_attached_while_recording_is_stopped(self):
        programs = [self.start(), self.start()]
        for program in programs:
            self.wait(lambda one=program: str(one.pid) in self.tsctl('status').out)
        self.wait(lambda: held(self.daemon.pid)[1] > 0)
        self.assertEqual(self.tsctl('stop', str(programs[0].pid)).status, 0)
        self.assertGreater(held(self.daemon.pid)[1], 0)
        self.assertEqual(self.tsctl('stop', str(programs[1].pid)).status, 0)
        self.wait(lambda: held(self.daemon.pid)[1] == 0)
        self.assertEqual(self.tsctl('start', str(programs[1].pid)).status, 0)
        self.wait(lambda: held(self.daemon.pid)[1] > 0)
        for program in programs:
            program.communicate(b'')

    @needs('sched')
    def test_thresholds_at_run_time(self):
        programs = [self.start(), self.start()]
        for program in programs:
            self.wait(lambda one=program: str(one.pid) in self.tsctl('status').out)
        for wrong in ('shed', 'sched,faults', ''):
            result = self.tsctl('start', '--kernel-events=' + wrong, str(programs[0].pid))
            self.assertEqual(result.status, 2, result)
            self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertEqual(self.tsctl('stop', '--kernel-events=sched').status, 2)
        result = self.tsctl('start', '--kernel-events=sched:5m', str(programs[0].pid))
        self.assertEqual(result.status, 0, result)
        changed_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        for program in programs:
            program.communicate(b'')
        end(self.daemon)
        traces = [harness.Trace(path) for path in glob.glob(self.path('*/*.sbt'))]
        later = {trace.info['sessions'][0]['pid']: [
            row for row in trace.of('off_cpu') if row['end_ns'] > changed_ns and not row.get('open')] for trace in traces}
        self.assertEqual(later[programs[0].pid], [])
        self.assertGreater(len(later[programs[1].pid]), 0)

    @needs('sched')
    def test_killed_while_attached(self):
        self.start()
        self.wait(lambda: held(self.daemon.pid)[1] > 0)
        programs = held(self.daemon.pid)[0]
        self.assertEqual({kind for kind, _ in programs}, {PROGRAM, MAP})
        self.assertTrue(all(exists(program) for program in programs))
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()
        limit = time.monotonic() + harness.SECONDS
        while any(exists(program) for program in programs):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.02)


# The threads of HIP's calls: what kept them from a launch is told as for CUDA.
DelaysOverHip = harness.over_hip(Delays)
# The kernel counts calls of each thread, whatever library it uses.
CountedOverHip = harness.over_hip(Counted, but=('test_each_call',))
WishesOverHip = harness.over_hip(Wishes, 'test_only_what_is_asked_for', 'test_nothing_is_asked_for', 'test_without_privilege')
ServiceOverHip = harness.over_hip(Service)

NOBODY = 65534
# A session of an ordinary user: starts an ordinary program and one of root's, then computes on one CPU before it copies again.
USERS_PROGRAM = harness.LIVE_PROGRAM + '''
import os, subprocess, time
children = []
for command in (['cat', '/etc/hostname'], ['passwd', '-S']):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    child.wait()
    children.append(child.pid)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
until = time.monotonic() + 0.5
while time.monotonic() < until:
    pass
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
print(*children, flush=True)
'''
NEIGHBOUR = '''
import os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
while True:
    pass
'''


@unittest.skipIf(os.geteuid(), 'only root can be somebody else')
class Users(harness.Case):
    """A service of root's, and a session of an ordinary user in it."""

    def record(self):
        """Returns the numbers of the program's children and the path of its trace."""
        above = harness.VGPU
        while above != '/':
            if not os.stat(above).st_mode & 0o001:
                self.skipTest('%s is for its owner alone' % above)
            above = os.path.dirname(above)
        os.chmod(self.folder, 0o755)
        inject, control = self.path('inject.sock'), self.path('control.sock')
        daemon = start_service(self, '--kernel-events', inject, control)
        neighbour = subprocess.Popen(['python3', '-c', NEIGHBOUR])
        self.addCleanup(end, neighbour)
        program = subprocess.Popen(
            ['python3', '-c', USERS_PROGRAM], cwd='/', stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=NOBODY, group=NOBODY,
            extra_groups=[], env=harness.preload_environment('', TRACESMITH_SOCKET=inject))
        self.addCleanup(end, program)
        self.assertEqual(program.stdout.readline(), b'ready\n')
        wait(lambda: str(program.pid) in harness.tsctl(
            'sessions', env=harness.environment(TRACESMITH_CONTROL=control)).out, daemon)
        out, _ = program.communicate(b'go\n', harness.SECONDS)
        self.assertEqual(program.returncode, 0)
        end(neighbour)
        end(daemon)
        path, = glob.glob(self.path('*/*.sbt'))
        return [int(child) for child in out.split()], neighbour.pid, path

    @needs(*PROGRAMS)
    @unittest.skipUnless(shutil.which('passwd'), 'no passwd')
    def test_another_user_is_hidden(self):
        (ordinary, roots), neighbour, path = self.record()
        trace = harness.Trace(path)
        opened = {child: [row.get('file') for row in trace.of('syscall') if row.get('pid') == child and row['syscall'] == 'openat']
                  for child in (ordinary, roots)}
        self.assertIn('/etc/hostname', opened[ordinary])
        # The libraries of a program that runs as root have no rows either.
        self.assertEqual(opened[roots], [])
        rows = trace.of('off_cpu')
        self.assertNotIn(neighbour, {row.get(key) for row in rows for key in ('next_tid', 'next_pid', 'waker_tid', 'waker_pid')})
        hidden = [row for row in rows if row.get('next') == "another user's thread"]
        self.assertTrue(hidden)
        self.assertEqual({(row.get('next_tid', 0), row.get('next_pid', 0)) for row in hidden}, {(0, 0)})
        text = harness.tsctl('view', '--type', 'off_cpu', path)
        self.assertIn("preempted by another user's thread\n", text.out.replace(' \n', '\n'))
        text = harness.tsctl('gaps', '--all', '--least', '1us', path)
        self.assertIn("off CPU: preempted, CPU given to another user's thread", text.out)
        self.assertEqual(harness.tsctl('export', '--format', 'perfetto', '-o', self.path('out.pftrace'), path).status, 0)
        with open(self.path('out.pftrace'), 'rb') as file:
            self.assertIn(b"another user's thread", file.read())
        for command in (('view',), ('view', '--json'), ('gaps', '--all'), ('gaps', '--json')):
            result = harness.tsctl(*command, path)
            self.assertEqual(result.status, 0, result)
            self.assertNotRegex(result.out, r'(tid|pid|/)["=: ]*4294967295')


if __name__ == '__main__':
    harness.main()
