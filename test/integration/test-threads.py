#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports and lists that threads make: the output is that of one thread, and so are errors and ends.

The traces are long enough for threads, and have many of one thing: streams, names, ranges, threads, allocations, graphs of waits.
"""
import os
import resource
import shutil
import signal
import subprocess
import unittest

import harness

MAKE = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many')
# In a sanitizer's build threads start with an eighth of the rows (sbt/reader-threads.h).
N = 2500 if harness.SANITIZER else 20000
SOAK = bool(os.environ.get('TS_SOAK'))
# One, as many as the caller's thread helps, and more.
THREADS = ('1', '2', '16') if harness.SANITIZER else ('1', '2', '3', '16')
# A command of each kind of text, and further options of these.
TEXTS = (
    ('export', '--format', 'json'),
    ('export', '--format', 'perfetto'),
    ('view', '--json'),
    ('graph', '--json'),
    ('graph', '--format', 'dot'),
)
COMMANDS = TEXTS + (
    ('export', '--format', 'json', '--type', 'memcpy,kernel', '--from', '1ms'),
    ('view', '--json', '--limit', '19999'),
    ('view', '--json', '--mangled', '--type', 'kernel,range,sample', '--to', '9ms'),
    ('view', '--json', '--sort', 'duration', '--limit', '9000'),
    ('graph', '--json', '--critical-path'),
)
API = 1  # type of rows
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

    def check_same(self, commands, path, several=THREADS[1:]):
        """Returns the status of each command, its messages, and how much it wrote."""
        results = {}
        for arguments in commands:
            alone = self.output('1', arguments, path)
            results[arguments] = alone[0], alone[1], len(alone[2])
            for threads in several:
                self.assertTrue(alone == self.output(threads, arguments, path), (arguments, path, threads))
        return results

    def test_same_output(self):
        for kind in KINDS:
            # All options and numbers of threads of one kind, and each text of the others.
            is_whole = kind == KINDS[0] or SOAK
            several = THREADS[1:] if is_whole else THREADS[-1:] if harness.SANITIZER else ('2', '16')
            results = self.check_same(COMMANDS if is_whole else TEXTS, self.make(kind), several)
            self.assertEqual({status for status, _, _ in results.values()}, {0}, results)
            # Long enough for threads: more than the pieces that one thread writes alone.
            self.assertGreater(results['view', '--json'][2], N * 210)

    def arrow(self, threads, path):
        """Exports a trace to Arrow; returns the status, the messages and all files."""
        folder = self.path('arrow')
        result = harness.run([harness.TSCTL, 'export', '--format', 'arrow', '-o', folder, path],
                             harness.environment(TRACESMITH_THREADS=threads))
        files = {}
        for at, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(at, name), 'rb') as stream:
                    files[os.path.relpath(os.path.join(at, name), folder)] = stream.read()
        shutil.rmtree(folder)
        return result.status, result.err, files

    def test_arrow(self):
        for kind in ('names',) if harness.SANITIZER else ('launches', 'names', 'ranges', 'allocations'):
            path = self.make(kind)
            alone = self.arrow('1', path)
            self.assertEqual(alone[:2], (0, ''))
            self.assertGreater(sum(map(len, alone[2].values())), N * 100)
            for threads in THREADS[1:]:
                self.assertTrue(alone == self.arrow(threads, path), (kind, threads))

    def test_stacks(self):
        path = self.make('stacks', N * 3 // 20)
        results = self.check_same([('view', '--json', '--stacks'), ('view', '--json', '--thread', '1')], path)
        self.assertEqual({status for status, _, _ in results.values()}, {0}, results)

    def test_damage(self):
        """The rows that are left, and one message."""
        path = self.make('names')
        with open(path, 'r+b') as stream:
            size = os.path.getsize(path)
            for part in (3, 5):
                stream.seek(size * part // 8)
                stream.write(b'\xff' * 64)
        results = self.check_same(COMMANDS, path)
        self.assertNotEqual(results['view', '--json'][:2], (0, ''))
        with open(path, 'rb') as stream:
            data = stream.read()
        with open(path, 'wb') as stream:
            stream.write(harness.damage_blocks(data, API))
        alone = self.arrow('1', path)
        self.assertEqual((alone[0], len(alone[1].splitlines())), (2, 1), alone[1])
        self.assertTrue(alone == self.arrow('16', path))

    def test_write_fails(self):
        """A full disk, and a file that reaches its limit in the middle: the errno, and no half a file."""
        path = self.make('launches')
        # Options change the rows and not the writing.
        for arguments in TEXTS if harness.SANITIZER else COMMANDS:
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
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (N * 50, N * 50)))
            self.assertEqual(full[0], 2, full)
            self.assertIn('cannot write %s: File too large' % out, full[1])
            self.assertFalse(os.path.exists(out))

    def test_pipe_is_closed(self):
        """`| head` ends the command without a message."""
        path = self.make('launches')
        for arguments in TEXTS if harness.SANITIZER else COMMANDS:
            for threads in ('1', '16'):
                process = subprocess.Popen([harness.TSCTL, *arguments, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           env=harness.environment(TRACESMITH_THREADS=threads))
                process.stdout.read(1000)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b'', arguments)
                process.stderr.close()
                self.assertIn(process.wait(timeout=harness.SECONDS), (0, 2, -signal.SIGPIPE), arguments)

    def test_interrupt(self):
        """Ctrl-C while the reader of the pipe waits: the command ends by the signal, as with one thread, without writing on."""
        path = self.make('launches')
        for arguments in TEXTS[0], TEXTS[2]:
            for threads in ('1', '16'):
                process = subprocess.Popen([harness.TSCTL, *arguments, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           env=harness.environment(TRACESMITH_THREADS=threads))
                process.stdout.read(1000)
                process.send_signal(signal.SIGINT)
                # The pipe is full, so a command that goes on never ends.
                self.assertEqual(process.wait(timeout=harness.SECONDS), -signal.SIGINT, arguments)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b'', arguments)
                process.stderr.close()


if __name__ == '__main__':
    unittest.main()
