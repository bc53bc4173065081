#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings in several files: each opens by itself, all read as one; a recorder that keeps the last of it, and dumps.

Whatever is told to wait waits for what it waits for: nothing here depends on how fast the machine is.
"""
import json
import os
import signal
import sys

import harness
from bursts import THREADS, Bursts

# Allocates, and copies to what it allocated when it is told to.
COPIES = harness.DRIVER_PROGRAM + '''
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(65536))
for n, _ in enumerate(sys.stdin):
    for _ in range(1000):
        assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
    print('done', 1000 * (n + 1), flush=True)
'''


class Rotation(Bursts):
    def start(self, *options):
        """`tsctl record` of bursts-driver, which launches when it is told to."""
        app = self.app('bursts')
        self.path_of_trace = self.path('run.sbt')
        self.begin([harness.TSCTL, 'record', '-o', self.path_of_trace, '--vgpu', '--stacks', 'none'] + list(options) +
                   ['--', app, str(THREADS)], harness.record_environment())

    def test_files_are_one(self):
        self.start('--rotate-size', '16K')
        self.until_parts(2)
        launched = self.tell('go 1')
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        whole = harness.Trace(self.path_of_trace)
        self.assertEqual(whole.counts['kernel'], launched)
        self.assertTrue(whole.info['finished'])
        self.assertEqual(len(whole.info['sessions']), 1)
        self.assertEqual(whole.info['sessions'][0]['state'], 'ended')
        self.check_no_gap(whole)
        self.check_joined(whole)
        alone = self.alone()
        for path in self.parts():
            self.assertEqual(harness.tsctl('verify', path).status, 0)
            part = harness.Trace(path)
            self.assertTrue(part.info['finished'])
            self.assertEqual(len(part.info['sessions']), 1)
            self.assertEqual(len(part.info['devices']), 1)
            self.assertGreater(os.path.getsize(path), 16 << 10)
            alone += part.counts['kernel']
        self.assertEqual(alone, launched)
        self.assertEqual(harness.tsctl('verify', self.path_of_trace).status, 0)
        # Names are found in every file: they were defined in the first.
        rows = harness.Trace(self.parts()[-1]).of('kernel')
        self.assertEqual({row['name'] for row in rows}, {row['name'] for row in whole.of('kernel')})
        self.assertNotIn('', {row['name'] for row in rows})
        # One file of it all.
        result = harness.tsctl('dump', '-o', self.path('all.sbt'), self.path_of_trace)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(harness.tsctl('verify', self.path('all.sbt')).status, 0)
        one, all_files = [sorted(harness.tsctl('view', '--json', path).out.splitlines())
                          for path in (self.path('all.sbt'), self.path_of_trace)]
        # Not assertEqual: how long lists differ takes long to tell.
        self.assertTrue(one == all_files)
        self.check_checkpoints(whole)

    def states(self, instants):
        results = [harness.tsctl('state', '--json', '--at', '@%d' % at_ns, self.path_of_trace) for at_ns in instants]
        for result in results:
            self.assertEqual(result.status, 0, result)
        return [result.out for result in results]

    def index(self, *options):
        result = harness.tsctl('index', '--json', *options, self.path_of_trace)
        self.assertEqual(result.status, 0, result)
        return json.loads(result.out)

    def check_checkpoints(self, whole):
        """The newest has those of all files: the same is told from them. They are none of what is left when one is gone."""
        start_ns, end_ns = whole.info['start_ns'], whole.info['end_ns']
        instants = [start_ns + (end_ns - start_ns) * i // 8 for i in range(9)]
        before = self.states(instants)
        made = self.index('--every', '64')
        self.assertGreater(made['checkpoints'], 8, made)
        self.assertGreater(made['rows'], whole.counts['kernel'], made)
        self.assertEqual(self.states(instants), before)
        self.assertEqual(self.index()['added_bytes'], 0)
        for path in [self.path_of_trace] + self.parts():
            self.assertEqual(harness.tsctl('verify', path).status, 0)
        os.unlink(self.parts()[0])
        self.states(instants)
        self.assertGreater(self.index()['added_bytes'], 0)
        self.assertEqual(harness.tsctl('verify', self.path_of_trace).status, 0)

    def test_watch(self):
        """What is in memory is told of all files: it was allocated in the first."""
        self.path_of_trace = self.path('run.sbt')
        self.begin([harness.TSCTL, 'record', '-o', self.path_of_trace, '--vgpu', '--stacks', 'none', '--rotate-size', '16K', '--',
                    sys.executable, '-c', COPIES], harness.record_environment())
        self.wait(lambda: self.tell('go') and self.parts()[1:] and not harness.Trace(self.parts()[-1]).of('alloc'), 'files')
        result = harness.tsctl('watch', '--json', '--gpu', '-n', '1', '-i', '10ms', str(self.session()['pid']))
        self.assertEqual(result.status, 0, result)
        self.assertEqual(json.loads(result.out)['live_bytes'], 65536)
        self.process.stdin.close()
        self.assertEqual(self.process.wait(harness.SECONDS * 4), 0)

    def test_keep(self):
        self.start('--rotate-size', '16K', '--keep', '2')
        self.wait(lambda: self.go(1000) and self.parts()[-1:] and
                  int(self.parts()[-1].split('.')[-2]) >= 3, 'a third file')
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        self.assertEqual(len(self.parts()), 1)
        self.check_no_gap(harness.Trace(self.path_of_trace))
        # What there was before is not there.
        counts = harness.Trace(self.path_of_trace).counts
        self.assertEqual(counts['kernel'], self.alone() + sum(harness.Trace(path).counts['kernel']
                                                              for path in self.parts()))

    def alone(self):
        """Kernels of the newest file, the others out of its sight."""
        other = self.path('other')
        os.mkdir(other)
        os.link(self.path_of_trace, os.path.join(other, 'run.sbt'))
        return harness.Trace(os.path.join(other, 'run.sbt')).counts['kernel']

    def test_age(self):
        self.start('--rotate-age', '200ms', '--lossless')
        self.tell('run')
        self.wait(lambda: len(self.parts()) >= 3, 'files')
        self.tell('halt')
        launched = self.tell('go 1')
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        self.assertEqual(harness.Trace(self.path_of_trace).counts['kernel'], launched)

    def test_recorder_keeps_the_last(self):
        self.start('--keep-last', '64K')
        self.wait(lambda: self.go(2000) and self.parts() and
                  int(self.parts()[0].split('.')[-2]) >= 3, 'an old file to be deleted')
        launched = self.tell('go 1')
        # Asked for, while it runs.
        session = str(self.session()['pid'])
        result = self.tsctl('dump', '-o', self.path('now.sbt'), session)
        self.assertEqual(result.status, 0, result)
        now = harness.Trace(self.path('now.sbt'))
        self.assertEqual(harness.tsctl('verify', now.path).status, 0)
        self.check_no_gap(now, is_cut=True)
        self.assertLess(now.counts['kernel'], launched)
        result = self.tsctl('dump', '--last', '10ms', '-o', self.path('last.sbt'), session)
        self.assertEqual(result.status, 0, result)
        self.assertLess(harness.Trace(self.path('last.sbt')).counts.get('kernel', 0), now.counts['kernel'])
        # At the death of the process.
        newest = max(row['op_id'] for row in now.of('api'))
        self.tell('go 100')
        os.kill(self.session()['pid'], signal.SIGKILL)
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        dead = harness.Trace(self.path_of_trace)
        self.assertTrue(dead.info['finished'])
        self.assertEqual(dead.info['sessions'][0]['state'], 'died')
        # What the GPU did last its driver still held; the calls were in the rings.
        self.assertGreater(max(row['op_id'] for row in dead.of('api')), newest)
        sizes = [os.path.getsize(path) for path in self.parts()]
        self.assertGreaterEqual(sum(sizes), 64 << 10)
        # An eighth more at most, and what a seal brings at once.
        self.assertLess(sum(sizes[1:]), 64 << 10)

    def test_force_replaces_all_files(self):
        """-f deletes the earlier recording's finished files as well, and no file that is not one of them."""
        self.start('--rotate-size', '16K')
        self.until_parts(3)
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        old = self.parts()
        number = 1 + max(int(path.split('.')[-2]) for path in old)
        others = [self.path('run.%d.sbt' % number), self.path('run.%d.sbt' % (number + 1)), self.path('run.old.sbt')]
        with open(others[0], 'w', encoding='utf-8') as stream:
            stream.write('precious')
        result, _ = self.record([self.app('saxpy')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        for other in others[1:]:
            os.link(self.path('recorded.sbt'), other)
        result = harness.run([harness.TSCTL, 'record', '-f', '-q', '-o', self.path_of_trace, '--vgpu', '--',
                              self.app('saxpy')], harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(self.parts(), others[:2])
        self.assertEqual(harness.Trace(self.path_of_trace).counts['kernel'], harness.Trace(self.path('recorded.sbt')).counts['kernel'])

    def session(self):
        return json.loads(self.tsctl('sessions', '--json').out)['sessions'][0]

    def tsctl(self, *arguments):
        """Of the recording under way, which is asked by its own socket."""
        with open('/proc/%d/task/%d/children' % (self.process.pid, self.process.pid)) as stream:
            children = stream.read().split()
        for child in children:
            with open('/proc/%s/cmdline' % child) as stream:
                words = stream.read().split('\0')
            if '--control-socket' in words:
                socket = words[words.index('--control-socket') + 1]
                return harness.tsctl(*arguments, env=harness.environment(TRACESMITH_CONTROL=socket))
        raise AssertionError('no daemon')

    def test_dump_on_mark(self):
        self.start('--dump-on', 'mark:enough', '--keep-last', '64M')
        launched = self.tell('go 500')
        self.tell('mark')
        self.check_dump(self.path('run-dump1.sbt'), launched)
        launched = self.tell('go 500')
        # The last word, before it ends.
        self.tell('mark')
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        dump = self.check_dump(self.path('run-dump2.sbt'), launched)
        self.assertIn('enough', [row['name'] for row in dump.of('mark')])
        self.assertEqual(harness.Trace(self.path_of_trace).counts['kernel'], launched)

    def test_dump_on_signal(self):
        self.start('--dump-on', 'SIGUSR2')
        launched = self.tell('go 300')
        self.process.send_signal(signal.SIGUSR2)
        self.check_dump(self.path('run-dump1.sbt'), launched)
        self.assertEqual(self.tell('go 1'), launched + THREADS)
        self.process.stdin.close()
        self.process.wait(harness.SECONDS * 4)
        self.assertEqual(self.process.returncode, 0)

    def test_refused(self):
        for options, word in (
                (('--rotate-size', '1K'), '16K'), (('--rotate-age', '10'), 'unit'),
                (('--keep', '3'), '--rotate-size'), (('--keep', '0', '--rotate-age', '1s'), 'at least 1'),
                (('--keep-last', '5'), 'like 64M'), (('--dump-on', 'SIGKILL'), 'mark:NAME'),
                (('--keep-last', '1M', '--rotate-size', '1M'), 'cannot be used with'),
                (('--rotate-size', '1M', '-o', 'run.3.sbt'), 'number')):
            result = harness.run([harness.TSCTL, 'record'] + list(options) + ['--', 'true'],
                                 harness.record_environment(), cwd=self.folder)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(word, result.err)


RotationOverHip = harness.over_hip(Rotation, but=['test_watch'])


if __name__ == '__main__':
    harness.main()
