#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Want of memory in the trace: what a thread frees to get some, and who is killed for it, in a cgroup with little of it.

Needs root, a kernel that tells its types, and a memory cgroup that can be made; skipped by name where one is missing.
"""
import glob
import json
import os
import signal
import subprocess
import unittest

import harness
from kernel import available, end, start_service, wait

LIMIT, FILE = 192 << 20, 640 << 20
GIVEN, MISSING = available()


def memory_cgroups():
    """Folders in which memory cgroups may be made, with the name of the file that takes their limit."""
    found = []
    with open('/proc/self/mounts', encoding='utf-8') as mounts:
        for line in mounts:
            _, folder, kind, options = line.split()[:4]
            if kind == 'cgroup' and 'memory' in options.split(','):
                found.append((folder, 'memory.limit_in_bytes'))
            elif kind == 'cgroup2':
                with open(os.path.join(folder, 'cgroup.subtree_control'), encoding='ascii') as file:
                    if 'memory' in file.read().split():
                        found.append((folder, 'memory.max'))
    return found


class Hungry(harness.Case):
    def setUp(self):
        super().setUp()
        if 'memory' not in GIVEN:
            self.skipTest('no kernel events here: %s' % '; '.join(MISSING))
        self.cgroup = self.make_cgroup()
        self.file = self.path('data.bin')
        with open(self.file, 'wb') as file:
            file.truncate(FILE)

    def make_cgroup(self):
        why = 'none is mounted'
        for parent, limit in memory_cgroups():
            cgroup = os.path.join(parent, 'tracesmith-test-%d' % os.getpid())
            try:
                os.mkdir(cgroup)
                self.addCleanup(os.rmdir, cgroup)
                with open(os.path.join(cgroup, limit), 'w', encoding='ascii') as file:
                    file.write(str(LIMIT))
                swap = os.path.join(cgroup, 'memory.swap.max')
                if os.path.exists(swap):
                    with open(swap, 'w', encoding='ascii') as file:
                        file.write('0')
                return cgroup
            except OSError as error:
                why = str(error)
        return self.skipTest('no memory cgroup can be made here: %s' % why)

    def enter(self):
        with open(os.path.join(self.cgroup, 'cgroup.procs'), 'w', encoding='ascii') as file:
            file.write(str(os.getpid()))

    def run_hungry(self, *arguments):
        inject, control = self.path('inject.sock'), self.path('control.sock')
        daemon = start_service(self, '--kernel-events=sched,faults,syscalls,memory', inject, control)
        program = subprocess.Popen(
            [harness.app('hungry', 'driver'), self.file, *arguments], cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=harness.preload_environment('', TRACESMITH_SOCKET=inject, TS_APP_WAIT='1'),
            preexec_fn=self.enter)
        self.addCleanup(end, program)
        wait(lambda: str(program.pid) in harness.tsctl(
            'status', env=harness.environment(TRACESMITH_CONTROL=control)).out, daemon)
        out, _ = program.communicate(b'go\n', harness.SECONDS)
        end(daemon)
        steps = {step['what']: step for step in
                 (json.loads(line) for line in out.decode().splitlines() if line.startswith('{'))}
        self.assertEqual(set(steps), {'read', 'child'}, out)
        if steps['child']['signal'] != signal.SIGKILL:
            self.skipTest('the limit of a cgroup is not kept here')
        return program, steps, harness.Trace(glob.glob(self.path('*/*.sbt'))[0])

    def kills(self, trace):
        return [row for row in trace.of('pressure') if row['kind'] == 'oom_kill']

    def check_kill(self, row, pid):
        self.assertEqual(row['end_ns'], row['start_ns'])
        self.assertEqual(row['tid'], pid)
        # Whoever asked last: a thread of the kernel may do so for it.
        self.assertTrue(row['by_tid'])
        self.assertTrue(row['by'])

    def test_reclaim_and_a_child_that_is_killed(self):
        program, steps, trace = self.run_hungry()
        self.assertEqual(program.returncode, 0)
        self.assertEqual(trace.of('loss'), [])
        step = steps['read']
        rows = [row for row in trace.of('pressure') if row['tid'] == step['tid'] and row['kind'] != 'oom_kill' and
                row['start_ns'] >= step['start_ns'] and row['end_ns'] <= step['end_ns']]
        # What did not fit was freed, by whoever asked for more: here nobody else does. The kernel does so in batches.
        if not rows:
            self.skipTest('this file system keeps no files in memory')
        self.assertLessEqual({row['kind'] for row in rows}, {'limit', 'direct', 'node'})
        self.assertIn('limit', {row['kind'] for row in rows})
        self.assertGreaterEqual(sum(row.get('pages', 0) for row in rows), (FILE - LIMIT) // 4096 // 2)
        self.assertTrue(all(not row.get('open') for row in rows))
        self.check_gap(trace, step)
        kill, = self.kills(trace)
        self.assertEqual(kill['pid'], steps['child']['child'])
        self.check_kill(kill, steps['child']['child'])
        self.assertTrue(steps['child']['start_ns'] <= kill['start_ns'] <= steps['child']['end_ns'])
        self.check_screens(trace)

    def check_gap(self, trace, step):
        """The launch was late by what the thread spent on freeing memory, less what it was off its CPU in that."""
        result = harness.tsctl('gaps', '--json', '--least', '1us', '--limit', '1000', trace.path)
        gap, = [gap for gap in json.loads(result.out)['longest']
                if gap['start_ns'] <= step['start_ns'] and gap['end_ns'] >= step['end_ns']]
        self.assertEqual(sum(part['ns'] for part in gap['parts']), gap['end_ns'] - gap['start_ns'])
        rows = [row for row in trace.of('pressure') if row['tid'] == step['tid'] and
                row['end_ns'] > gap['start_ns'] and row['start_ns'] < min(gap['call_end_ns'], gap['end_ns'])]
        parts = [part for part in gap['parts'] if part['cause'] == 'reclaim']
        told, spent = sum(part['ns'] for part in parts), sum(row['end_ns'] - row['start_ns'] for row in rows)
        away = sum(min(off['end_ns'], row['end_ns']) - max(off['start_ns'], row['start_ns'])
                   for off in trace.of('off_cpu') if off.get('tid') == step['tid'] for row in rows
                   if off['start_ns'] < row['end_ns'] and off['end_ns'] > row['start_ns'])
        self.assertEqual({part['reason'] for part in parts}, {row['kind'] for row in rows})
        self.assertEqual(sum(part['count'] for part in parts), len(rows))
        self.assertEqual(told, spent - away)

    def check_screens(self, trace):
        result = harness.tsctl('view', '--type', 'pressure', trace.path)
        self.assertEqual(result.status, 0, result)
        self.assertIn('pages freed', result.out)
        self.assertIn('asked for memory', result.out)
        self.assertIn('reclaiming memory: limit', harness.tsctl('gaps', '--all', trace.path).out)
        self.assertEqual(trace.counts['pressure'], len(trace.of('pressure')))
        sums = json.loads(harness.tsctl('view', '--stats', '--json', trace.path).out)['pressure']
        self.assertEqual(sum(one['count'] for one in sums), trace.counts['pressure'])
        out = self.path('trace.perfetto')
        self.assertEqual(harness.tsctl('export', '--format', 'perfetto', '-o', out, trace.path).status, 0)
        with open(out, 'rb') as file:
            self.assertIn(b'memory: oom_kill', file.read())

    def test_killed_itself(self):
        program, _, trace = self.run_hungry('self')
        self.assertEqual(program.returncode, -signal.SIGKILL)
        kill, = [row for row in self.kills(trace) if 'pid' not in row]
        self.check_kill(kill, program.pid)


if __name__ == '__main__':
    harness.main()
