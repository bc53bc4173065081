#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that takes over a second shows its progress on a terminal's stderr, wipes it, and shows none in a pipe.

Commands are made to take that long: each is stopped for a while as soon as it reads. A command that was done before, or that had
not begun, is tried again.
"""
import concurrent.futures
import os
import pty
import re
import signal
import subprocess
import tempfile
import time

import harness

LAUNCHES = 200000 if harness.SANITIZER else 1000000
STOP_S = 1.1
# When it is stopped.
DELAYS_S = (0.1, 0.05, 0.2, 0.02, 0.4, 0.3, 0.15, 0.6, 0.25, 0.8, 0.5, 1.2, 1.6, 2.2, 3.2)
WIPE = '\r\x1b[K'
# Most of the time they stand still.
AT_ONCE = 4


class Progress(harness.Case):
    def make(self, name, launches=LAUNCHES):
        path = self.path(name)
        made = harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), path, str(launches)])
        self.assertEqual(made.status, 0, made)
        return path

    def run_stopped(self, arguments, delay_s, stderr):
        """The command stands still for a while, `delay_s` after its start. Its stdout goes nowhere."""
        process = subprocess.Popen([harness.TSCTL, *arguments], env=harness.environment(TERM='xterm'), cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
        try:
            time.sleep(delay_s)
            process.send_signal(signal.SIGSTOP)
            time.sleep(STOP_S)
            process.send_signal(signal.SIGCONT)
            self.assertEqual(process.wait(harness.SECONDS), 0)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def on_terminal(self, arguments, delay_s):
        master, slave = pty.openpty()
        with os.fdopen(master, 'rb', buffering=0) as terminal:
            with os.fdopen(slave, 'wb') as stderr:
                self.run_stopped(arguments, delay_s, stderr)
            text = b''
            while True:
                try:
                    part = terminal.read(65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
        return text.decode()

    def check_each(self, checks):
        """Does checks, (arguments, options of check()), some of them at once; all are done before the first failure is told."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            begun = [(arguments, pool.submit(self.check, *arguments, **options)) for arguments, options in checks]
        for arguments, check in begun:
            with self.subTest(arguments):
                check.result()

    def check(self, shown, *arguments, remake=None, piped=False):
        for delay_s in DELAYS_S:
            if remake:
                remake()
            text = self.on_terminal(arguments, delay_s)
            if shown in text:
                break
        self.assertIn(WIPE + shown, text, arguments)
        self.assertRegex(text, re.escape(WIPE + shown) + r' \d+%?' + re.escape(WIPE))
        # All of it is wiped.
        self.assertNotIn(shown, text[text.rindex(WIPE):])
        if not piped:
            return
        if remake:
            remake()
        with tempfile.TemporaryFile() as stderr:
            self.run_stopped(arguments, delay_s, stderr)
            stderr.seek(0)
            self.assertNotIn(b'\r', stderr.read())

    def test_reading(self):
        path = self.make('made.sbt')
        checks = [(('reading rows:', *arguments, path), {'piped': arguments[0] in ('analyze', 'export')}) for arguments in (
            ('analyze',), ('gaps',), ('graph', '--critical-path'), ('timeline',), ('memory',), ('view', '--stats'), ('diff', path),
            ('export', '--format', 'json', '-o', self.path('out')))]
        self.check_each(checks + [(('verifying', 'verify', path), {})])

    def test_writing(self):
        path, other = self.make('made.sbt'), self.make('other.sbt', 1000)
        cut, merged = self.path('cut.sbt'), self.path('merged.sbt')

        def remover(made):
            return lambda: os.path.exists(made) and os.unlink(made)
        self.check_each([
            (('copying rows:', 'cut', '--from', '0', '-o', cut, path), {'remake': remover(cut), 'piped': True}),
            (('copying rows:', 'merge', '-o', merged, path, other), {'remake': remover(merged)})])

    def test_index(self):
        path = self.path('made.sbt')

        def remake():
            if os.path.exists(path):
                os.unlink(path)
            self.make('made.sbt')
        self.check('reading rows:', 'index', path, remake=remake)

    def test_a_long_answer(self):
        path = self.make('made.sbt', 100000)
        self.check_each([
            (('writing lines:', 'graph', '--json', '-o', self.path('out'), path), {}),
            (('writing nodes and edges:', 'graph', '--format', 'dot', '-o', self.path('out.dot'), path), {})])


if __name__ == '__main__':
    harness.main()
