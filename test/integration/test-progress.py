#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that takes over a second shows its progress on a terminal's stderr, wipes it, and shows none in a pipe.

Commands are made to take that long: each is stopped for a while as soon as it reads. A command that was done before, or that had
not begun, is tried again.
"""
import os
import pty
import re
import signal
import subprocess
import time

import harness

LAUNCHES = 200000 if harness.SANITIZER else 1000000
STOP_S = 1.1
# When it is stopped.
DELAYS_S = (0.1, 0.05, 0.2, 0.02, 0.4, 0.8, 1.6, 3.2)
WIPE = '\r\x1b[K'


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
        with open(self.path('stderr'), 'wb') as stderr:
            self.run_stopped(arguments, delay_s, stderr)
        with open(self.path('stderr'), encoding='utf-8') as stderr:
            self.assertNotIn('\r', stderr.read())

    def test_reading(self):
        path = self.make('made.sbt')
        for arguments in (['analyze'], ['gaps'], ['graph', '--critical-path'], ['timeline'], ['memory'], ['view', '--stats'],
                          ['diff', path], ['export', '--format', 'json', '-o', self.path('out')]):
            with self.subTest(arguments):
                self.check('reading rows:', *arguments, path, piped=arguments[0] in ('analyze', 'export'))
        with self.subTest('verify'):
            self.check('verifying', 'verify', path)

    def test_writing(self):
        path, other = self.make('made.sbt'), self.make('other.sbt', 1000)
        made = self.path('new.sbt')

        def remove():
            if os.path.exists(made):
                os.unlink(made)
        with self.subTest('cut'):
            self.check('copying rows:', 'cut', '--from', '0', '-o', made, path, remake=remove, piped=True)
        with self.subTest('merge'):
            self.check('copying rows:', 'merge', '-o', made, path, other, remake=remove)

    def test_index(self):
        path = self.path('made.sbt')

        def remake():
            if os.path.exists(path):
                os.unlink(path)
            self.make('made.sbt')
        self.check('reading rows:', 'index', path, remake=remake)

    def test_a_long_answer(self):
        path = self.make('made.sbt', 100000)
        self.check('writing lines:', 'graph', '--json', '-o', self.path('out'), path)
        self.check('writing nodes and edges:', 'graph', '--format', 'dot', '-o', self.path('out'), path)


if __name__ == '__main__':
    harness.main()
