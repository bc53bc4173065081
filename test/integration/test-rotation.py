#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings in several files: each opens by itself, all read as one; a recorder that keeps the last of it, and dumps.

Whatever is told to wait waits for what it waits for: nothing here depends on how fast the machine is.
"""
import glob
import json
import os
import signal
import subprocess
import time

import harness

THREADS = 2


class Bursts(harness.Case):
    """bursts-driver, which launches when it is told to, and the files that come of it."""

    def start(self, *options):
        """`tsctl record` of bursts-driver, which launches when it is told to."""
        app = harness.app('bursts', 'driver')
        self.path_of_trace = self.path('run.sbt')
        self.begin([harness.TSCTL, 'record', '-o', self.path_of_trace, '--vgpu', '--stacks', 'none'] + list(options) +
                   ['--', app, str(THREADS)], harness.record_environment())

    def begin(self, command, env):
        self.process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process)

    def end_process(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def tell(self, line):
        """Returns how many launches there were by then."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise AssertionError('it ended: %s' % self.process.stderr.read())
        return int(answer[1])

    def end(self, status=0):
        _, err = self.process.communicate(timeout=harness.SECONDS * 4)
        self.assertEqual(self.process.returncode, status, err)
        return err

    def wait(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while True:
            found = what()
            if found:
                return found
            if time.monotonic() > end:
                self.fail('%s did not come: %s' % (name, sorted(os.listdir(self.folder))))
            time.sleep(0.02)

    def parts(self, stem='run'):
        """The finished files, the oldest first."""
        paths = glob.glob(self.path(stem + '.[0-9]*.sbt'))
        return sorted(paths, key=lambda path: int(path.split('.')[-2]))

    def go(self, n):
        """
        As tell(), and its daemon has seen it all: a program that goes on at once launches more than rings hold while a slow
        daemon looks elsewhere.
        """
        launched = self.tell('go %d' % n)
        self.wait(lambda: int(self.session()['counts'].get('kernel', 0)) >= launched, 'what was launched')
        return launched

    def until_parts(self, n, launches=1000):
        """Launches until there are so many finished files."""
        self.wait(lambda: self.go(launches) and len(self.parts()) >= n, '%d files' % n)

    def check_dump(self, path, launched):
        self.wait(lambda: os.path.exists(path), 'a dump')
        trace = harness.Trace(path)
        self.assertTrue(trace.info['finished'])
        self.assertEqual(harness.tsctl('verify', path).status, 0)
        self.check_no_gap(trace)
        self.assertGreaterEqual(trace.counts['kernel'], launched)
        return trace

    def check_no_gap(self, trace):
        """Calls are numbered one after the other within a process: none is missing between the first and the last."""
        calls = sorted(row['op_id'] for row in trace.of('api'))
        kernels = {row['op_id'] for row in trace.of('kernel')}
        self.assertTrue(kernels)
        self.assertEqual(len(calls), len(set(calls)))
        self.assertEqual(trace.lost, {})
        # Between the first kernel and the last that is there, every launch is.
        first, last = min(kernels), max(kernels)
        launches = {row['op_id'] for row in trace.of('api') if 'Launch' in row.get('name', '') and
                    first <= row['op_id'] <= last}
        self.assertTrue(launches)
        missing = sorted(launches - kernels)
        self.assertEqual((len(missing), missing[:3], missing[-3:], first, last), (0, [], [], first, last))


class Rotation(Bursts):
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
        self.check_no_gap(now)
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
                (('--keep-last', '1M', '--rotate-size', '1M'), 'leave'),
                (('--rotate-size', '1M', '-o', 'run.3.sbt'), 'number')):
            result = harness.run([harness.TSCTL, 'record'] + list(options) + ['--', 'true'],
                                 harness.record_environment(), cwd=self.folder)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(word, result.err)


class Service(Bursts):
    """The same of a service: a file for each process, which it keeps the last of."""

    def serve(self, *options):
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        self.daemon = subprocess.Popen(
            [harness.DAEMON, '--directory', self.folder, '--inject-socket', self.inject, '--control-socket',
             self.control, '--stacks', 'none'] + list(options), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment())
        self.addCleanup(self.end_daemon)
        self.wait(lambda: not self.tsctl('status').status, 'the service')

    def end_daemon(self):
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(harness.SECONDS), 0)

    def run_bursts(self):
        self.begin([harness.app('bursts', 'driver'), str(THREADS)],
                   harness.preload_environment(TRACESMITH_SOCKET=self.inject))
        return 'tracesmith-bursts-driver-%d' % self.process.pid

    def leave(self):
        """The process ends; its file is complete by then."""
        self.process.stdin.close()
        self.assertEqual(self.process.wait(harness.SECONDS), 0)

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=harness.environment(TRACESMITH_CONTROL=self.control))

    def of_dump(self, stem, number):
        return self.path('%s-dump%d.sbt' % (stem, number))

    def test_dump_on_mark(self):
        self.serve('--dump-on-mark', 'enough', '--keep-last-size', '64M')
        other, other_process = self.run_bursts(), self.process
        self.tell('go 10')
        stem = self.run_bursts()
        launched = self.tell('go 500')
        self.tell('mark')
        self.check_dump(self.of_dump(stem, 1), launched)
        launched = self.tell('go 500')
        # The last word, before it ends.
        self.tell('mark')
        self.leave()
        dump = self.check_dump(self.of_dump(stem, 2), launched)
        self.assertIn('enough', [row['name'] for row in dump.of('mark')])
        self.assertEqual(harness.Trace(self.path(stem + '.sbt')).counts['kernel'], launched)
        # Nobody asked for the other's.
        self.process = other_process
        self.leave()
        self.assertFalse(os.path.exists(self.of_dump(other, 1)))

    def test_dump_on_signal(self):
        self.serve()
        stems, processes, launched = [], [], []
        for n in (100, 200):
            stems.append(self.run_bursts())
            processes.append(self.process)
            launched.append(self.tell('go %d' % n))
        self.wait(lambda: len(json.loads(self.tsctl('sessions', '--json').out)['sessions']) == len(stems), 'sessions')
        self.daemon.send_signal(signal.SIGUSR1)
        for stem, n in zip(stems, launched):
            self.check_dump(self.of_dump(stem, 1), n)
        for self.process, stem, n in zip(processes, stems, launched):
            self.assertEqual(self.tell('go 1'), n + THREADS)
            self.leave()
            self.assertEqual(harness.Trace(self.path(stem + '.sbt')).counts['kernel'], n + THREADS)

    def test_keeps_the_last(self):
        """On request, and of a process that died."""
        self.serve('--keep-last-size', '64K')
        stem = self.run_bursts()
        self.wait(lambda: self.tell('go 2000') and self.parts(stem) and
                  int(self.parts(stem)[0].split('.')[-2]) >= 3, 'an old file to be deleted')
        launched = self.tell('go 1')
        result = self.tsctl('dump', '-o', self.path('now.sbt'), str(self.process.pid))
        self.assertEqual(result.status, 0, result)
        now = self.check_dump(self.path('now.sbt'), 1)
        self.assertLess(now.counts['kernel'], launched)
        newest = max(row['op_id'] for row in now.of('api'))
        self.tell('go 100')
        self.process.kill()
        self.process.wait()
        path = self.path(stem + '.sbt')
        self.wait(lambda: harness.Trace(path).info['finished'], 'the end of the trace')
        dead = harness.Trace(path)
        self.assertEqual(dead.info['sessions'][0]['state'], 'died')
        self.assertGreater(max(row['op_id'] for row in dead.of('api')), newest)
        self.assertLess(sum(os.path.getsize(part) for part in self.parts(stem)[1:]), 64 << 10)


if __name__ == '__main__':
    harness.main()
