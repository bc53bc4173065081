#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports and lists that threads write: the output is that of one thread, and so are errors and ends.

The traces are long enough for threads, and have many of one thing: streams, names, ranges, threads, allocations, graphs of waits.
"""
import os
import resource
import signal
import subprocess
import time
import unittest
import unittest

import harness

MAKE = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many')
N = 20000
THREADS = ('1', '2', '4', '16')
COMMANDS = (
    ('export', '--format', 'json'),
    ('export', '--format', 'json', '--type', 'memcpy,kernel', '--from', '1ms'),
    ('export', '--format', 'perfetto'),
    ('view', '--json'),
    ('view', '--json', '--limit', '19999'),
    ('view', '--json', '--mangled', '--type', 'kernel,range,sample', '--to', '12ms'),
    ('view', '--json', '--sort', 'duration', '--limit', '9000'),
    ('graph', '--json'),
    ('graph', '--json', '--critical-path'),
    ('graph', '--format', 'dot'),
)
KINDS = ('launches', 'streams', 'names', 'ranges', 'threads', 'allocations', 'sessions')


class Threads(harness.Case):
    def make(self, kind, n=N):
        path = self.path('%s.sbt' % kind)
        result = harness.run([MAKE, path, str(n), kind])
        self.assertEqual(result.status, 0, result)
        return path

    def output(self, threads, arguments, path, **kwargs):
        """Runs tsctl; returns its status, messages and standard output, which may be no text."""
        done = subprocess.run([harness.TSCTL, *arguments, path], env=harness.environment(TRACESMITH_THREADS=threads),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.SECONDS, check=False, **kwargs)
        return done.returncode, done.stderr.decode(), done.stdout

    def check_same(self, commands, path, status=0):
        for arguments in commands:
            alone = self.output('1', arguments, path)
            self.assertEqual(alone[0], status, (arguments, alone[1]))
            for threads in THREADS[1:]:
                self.assertTrue(alone == self.output(threads, arguments, path), (arguments, path, threads))

    def test_same_output(self):
        for kind in KINDS:
            path = self.make(kind)
            self.assertEqual(self.output('1', COMMANDS[0], path)[0], 0)
            # Long enough for threads: more than the pieces that one thread writes alone.
            self.assertGreater(len(self.output('1', ('view', '--json'), path)[2]), 1 << 22)
            self.check_same(COMMANDS, path)

    def test_stacks(self):
        path = self.make('stacks', 3000)
        self.check_same([('view', '--json', '--stacks'), ('view', '--json', '--thread', '1')], path)

    def test_damage(self):
        """The rows that are left, and one message."""
        path = self.make('names')
        with open(path, 'r+b') as stream:
            size = os.path.getsize(path)
            for part in (3, 5):
                stream.seek(size * part // 8)
                stream.write(b'\xff' * 64)
        for arguments in COMMANDS:
            alone = self.output('1', arguments, path)
            for threads in THREADS[1:]:
                self.assertTrue(alone == self.output(threads, arguments, path), (arguments, threads))
        self.assertNotEqual(self.output('1', ('view', '--json'), path)[:2], (0, ''))

    def test_write_fails(self):
        """A full disk, and a file that reaches its limit in the middle: the errno, and no half a file."""
        path = self.make('launches')
        for arguments in COMMANDS:
            for threads in THREADS:
                with open('/dev/full', 'w', encoding='utf-8') as stream:
                    full = subprocess.run([harness.TSCTL, *arguments, path], stdout=stream, stderr=subprocess.PIPE, text=True,
                                          check=False, env=harness.environment(TRACESMITH_THREADS=threads))
                self.assertEqual(full.returncode, 2, full)
                self.assertIn('No space left on device', full.stderr)
                self.assertEqual(len(full.stderr.splitlines()), 1, full)
        out = self.path('out')
        for threads in THREADS:
            # Python ignores SIGXFSZ, and so does what it starts.
            full = self.output(threads, ('export', '--format', 'json', '-o', out), path, restore_signals=False,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000000, 1000000)))
            self.assertEqual(full[0], 2, full)
            self.assertIn('cannot write %s: File too large' % out, full[1])
            self.assertFalse(os.path.exists(out))

    def test_pipe_is_closed(self):
        """`| head` ends the command without a message."""
        path = self.make('launches')
        for arguments in COMMANDS:
            for threads in ('1', '16'):
                process = subprocess.Popen([harness.TSCTL, *arguments, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           env=harness.environment(TRACESMITH_THREADS=threads))
                process.stdout.read(1000)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b'', arguments)
                process.stderr.close()
                self.assertIn(process.wait(timeout=harness.SECONDS), (0, 2, -signal.SIGPIPE), arguments)

    def test_interrupt(self):
        """Ctrl-C while the reader of the pipe waits: the command ends by the signal at once, as with one thread."""
        path = self.make('launches')
        for arguments in COMMANDS[:1] + COMMANDS[3:4]:
            for threads in ('1', '16'):
                process = subprocess.Popen([harness.TSCTL, *arguments, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           env=harness.environment(TRACESMITH_THREADS=threads))
                process.stdout.read(1000)
                process.send_signal(signal.SIGINT)
                begin = time.monotonic()
                self.assertEqual(process.wait(timeout=harness.SECONDS), -signal.SIGINT, arguments)
                self.assertLess(time.monotonic() - begin, 10)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b'', arguments)
                process.stderr.close()


if __name__ == '__main__':
    unittest.main()
