#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon replays: the same as tsctl does itself; it tells how far it is, within limits, until it is cancelled.

What is to last is a replay that is done a million times: nothing here depends on how fast the machine is.
"""
import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import control
import harness
import service

REPLAY, FOREVER = 16, '1000000'
# Each once here and once by the daemon.
QUESTIONS = (
    (),
    ('--json',),
    ('--json', '--what-if', 'kernel *=2x', '--limit', '3'),
    ('--mode', 'dry-run'),
    ('--mode', 'dry-run', '--json', '--to', '2ms'),
    ('--what-if', 'kernel nobody=2x'),
    ('--on', 'vgpu'),
    ('--on', 'vgpu', '--json', '--check', 'all'),
    ('--on', 'vgpu', '--json', '--compare-every', '20'),
    ('--on', 'vgpu', '--json', '--schedules', '2', '--seed', '3'),
    ('--on', 'vgpu', '--mode', 'dry-run', '--stream', '7'),
    ('--on', 'vgpu', '--json', '--ops', '40..80'),
    ('--on', 'vgpu', '--ops', '9999999'),
)


def without_time(text):
    """How long it took is all that differs."""
    return re.sub(r'"elapsed_ns": \d+|(?<= in )[\d.]+ [a-zµ]+$', '', text, flags=re.M)


def text_field(key, text):
    return control.field(key, text.encode())


def wish(executor, *more):
    """A request to replay; more: (number, value) of varints."""
    body = text_field(1, executor) + b''.join(control.number(key << 3) + control.number(value) for key, value in more)
    return control.field(control.QUERY, control.field(16, body))


class Served(service.Service):
    def end(self, process, how=signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(how)
        process.communicate(timeout=harness.SECONDS)

    def begin(self, *arguments):
        """tsctl, which says how far it is, on its way; returns it when it has said so once."""
        process = subprocess.Popen([harness.TSCTL, 'replay', '--progress', *arguments], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.folder,
                                   encoding='utf-8')
        self.addCleanup(self.end, process)
        self.assertRegex(process.stderr.readline(), r'^replaying.*: [\d,]+ of [\d,]+ operations')
        return process

    def check_alive(self):
        """The daemon lives on, and nothing of a replay is left."""
        self.assertEqual(self.tsctl('sessions', '--json').status, 0)
        self.wait(lambda: not self.workers(), 'the end of all replays')

    def capture(self):
        result, path = self.record([harness.app('pipeline', 'driver'), '3'], '--vgpu', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        captured = self.path('captured.sbt')
        os.rename(path, captured)
        return captured

    def answerer(self, script):
        """A worker that does as the shell script says; descriptor 3 is the daemon's."""
        path = self.path('answerer')
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('#!/bin/sh\n%s\n' % script)
        os.chmod(path, 0o755)
        return path

    # ---- answers ----------------------------------------------------------------------------------

    def test_the_same(self):
        """What the daemon answers is what tsctl works out, with its exit status; of what was not captured, too."""
        self.start_daemon()
        path = self.capture()
        for question in QUESTIONS:
            with self.subTest(question):
                here, served = self.tsctl('replay', *question, path), self.tsctl('replay', '--served', *question, path)
                self.assertEqual((here.status, here.err), (served.status, served.err))
                self.assertEqual(without_time(here.out), without_time(served.out))
                self.assertEqual(bool(here.out), here.status != 2)
        result, plain = self.record([harness.app('pipeline', 'driver'), '3'])
        here, served = self.tsctl('replay', '--on', 'vgpu', plain), self.tsctl('replay', '--served', '--on', 'vgpu', plain)
        self.assertEqual((here.status, here.err, here.out), (served.status, served.err, served.out))
        self.assertIn('has no capture to replay', served.err)
        self.check_alive()

    def test_refused_by_name(self):
        """What the daemon cannot replay on it says."""
        self.start_daemon()
        client, path = control.Control(self.control), self.capture()
        self.addCleanup(client.close)
        with open(path, 'rb') as trace:
            for executor in ('cuda', 'hip', 'nothing'):
                client.send(wish(executor), [trace.fileno()])
                _, more, answer = client.answer()
                self.assertTrue(more)
                told = control.fields(answer[REPLAY])
                self.assertEqual(told[7], 1)
                self.assertIn(executor.encode(), told[6])
                self.assertEqual(list(client.answer()[2]), [control.QUERY_END])
        self.assertEqual(self.tsctl('replay', '--served', '--on', 'vgpu', '--debug', path).status, 2)
        self.check_alive()

    # ---- while it runs ----------------------------------------------------------------------------

    def test_progress_and_cancel(self):
        """It tells how far it is; cancelled it says what it found; that it was cancelled has an answer of its own."""
        self.start_daemon()
        client, path = control.Control(self.control), self.capture()
        self.addCleanup(client.close)
        with open(path, 'rb') as trace:
            asked = client.send(wish('vgpu', (10, int(FOREVER))), [trace.fileno()])
            for _ in range(2):
                number, more, answer = client.answer()
                self.assertEqual((number, more, list(answer)), (asked, True, [REPLAY]))
                progress = control.fields(control.fields(answer[REPLAY])[1])
                self.assertIn(progress[1], (b'replaying', b'comparing'))
                self.assertLess(progress.get(4, 0), progress[5])
            cancel = client.send(control.field(control.CANCEL, control.number(1 << 3) + control.number(asked)))
        cancelled, results = 0, []
        while True:
            number, more, answer = client.answer()
            if number == cancel:
                cancelled += 1
                continue
            if not more:
                break
            told = control.fields(answer[REPLAY])
            results += [control.fields(told[4])] if 4 in told else []
        self.assertEqual((number, list(answer)), (asked, [control.QUERY_END]))
        self.assertEqual((cancelled, len(results)), (1, 1))
        self.assertEqual((results[0][4], results[0][56]), (b'interrupted', 1))
        self.check_alive()

    def test_interrupt(self):
        """Ctrl-C, here and served: what was found so far, and the status of who was interrupted."""
        self.start_daemon()
        path = self.capture()
        for served in ((), ('--served',)):
            with self.subTest(served):
                process = self.begin('--json', '--on', 'vgpu', '--repeat', FOREVER, *served, path)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=harness.SECONDS)
                self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
                told = json.loads(out)
                self.assertEqual((told['verdict'], told['interrupted']), ('interrupted', True))
                self.assertLessEqual(told['operations'], told['captured'])
        self.check_alive()

    def test_interrupt_twice(self):
        """A second Ctrl-C does not wait for what was found so far."""
        ready = self.path('ready')
        self.start_daemon('--worker', self.answerer('trap "" TERM\n: >%s\nwhile :; do sleep 1; done' % ready))
        process = subprocess.Popen([harness.TSCTL, 'replay', '--served', self.capture()], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment(), cwd=self.folder)
        self.addCleanup(self.end, process)
        self.wait(lambda: os.path.exists(ready), 'who hangs')
        process.send_signal(signal.SIGINT)
        self.wait(lambda: not self.catches(process, signal.SIGINT), 'the first signal')
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=harness.SECONDS)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.check_alive()

    def catches(self, process, number):
        with open('/proc/%d/status' % process.pid, encoding='utf-8') as status:
            return int(re.search(r'^SigCgt:\s*(\w+)', status.read(), re.M).group(1), 16) >> (number - 1) & 1

    def test_killed(self):
        """Of a client that is gone nothing goes on."""
        self.start_daemon()
        process = self.begin('--on', 'vgpu', '--repeat', FOREVER, '--served', self.capture())
        self.assertEqual(len(self.workers()), 1)
        # Where memory is short it goes first.
        with open('/proc/%d/oom_score_adj' % self.workers()[0], encoding='ascii') as score:
            self.assertEqual(score.read().strip(), '1000')
        process.kill()
        self.check_alive()

    @service.no_service
    def test_terminal(self):
        """On a terminal a line that changes in place and is gone at the end; without one nothing, unless it is asked for."""
        path = self.capture()
        quiet = harness.tsctl('replay', '--on', 'vgpu', path)
        self.assertEqual((quiet.status, quiet.err), (0, ''))
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([harness.TSCTL, 'replay', '--on', 'vgpu', '--repeat', FOREVER, path], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=slave, env=harness.environment(TERM='xterm'))
        self.addCleanup(self.end, process)
        os.close(slave)
        shown, end = b'', time.monotonic() + harness.SECONDS
        while shown.count(b'replaying') < 2 and time.monotonic() < end:
            if select.select([master], [], [], 1)[0]:
                shown += os.read(master, 4096)
        self.assertRegex(shown, rb'\r\x1b\[Kreplaying[^\r\n]* operations')
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn(b'interrupted', out)
        try:
            while select.select([master], [], [], 0)[0]:
                shown += os.read(master, 4096)
        except OSError:
            pass
        self.assertTrue(shown.endswith(b'\r\x1b[K'), shown[-200:])
        self.assertNotIn(b'\n', shown)

    # ---- limits -----------------------------------------------------------------------------------

    def test_time(self):
        """Who takes too long is ended, and it is said; who does not end when it is cancelled, too."""
        path = self.capture()
        self.start_daemon('--max-replay-ms', '300')
        late = self.tsctl('replay', '--served', '--on', 'vgpu', '--repeat', FOREVER, path)
        self.assertEqual((late.status, late.out, len(late.err.splitlines())), (2, '', 1), late)
        self.assertIn('time limit (see --max-query-ms, --max-replay-ms)', late.err)
        self.check_alive()
        self.end(self.daemon, signal.SIGTERM)
        ready = self.path('ready')
        self.start_daemon('--worker', self.answerer('trap "" TERM\n: >%s\nwhile :; do sleep 1; done' % ready))
        client = control.Control(self.control)
        self.addCleanup(client.close)
        with open(path, 'rb') as trace:
            asked = client.send(wish('vgpu'), [trace.fileno()])
            self.wait(lambda: os.path.exists(ready), 'who hangs')
            client.send(control.field(control.CANCEL, control.number(1 << 3) + control.number(asked)))
            answers = {number: answer for number, _, answer in (client.answer(), client.answer())}
        self.assertEqual(control.fields(answers[asked][control.ERROR])[1] >> 1, errno.ECANCELED)
        self.check_alive()

    def test_memory(self):
        """A replay that needs more memory than it may have ends, and it is said."""
        self.start_daemon('--max-replay-memory', '64M')
        path = self.path('made.sbt')
        made = harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), path, '300000'])
        self.assertEqual(made.status, 0, made)
        served = self.tsctl('replay', '--served', path)
        self.assertEqual((served.status, served.out, len(served.err.splitlines())), (2, '', 1), served)
        self.assertIn('memory', served.err)
        self.check_alive()

    # ---- strangers --------------------------------------------------------------------------------

    def test_lies(self):
        """An answer that lacks what it is about is told as that; so is one of a daemon that does not know the question."""
        path, said = self.capture(), self.path('said')
        head = text_field(1, 'run.sbt') + text_field(2, 'vgpu')
        verdict, path_only = text_field(4, 'same'), text_field(1, 'run.sbt')
        lies = [
            b'', control.field(1, b''), control.field(2, b''), control.field(2, head), control.field(3, b''), control.field(4, b''),
            control.field(4, head), control.field(5, b''), control.field(2, head + control.field(3, b'') + control.field(4, b'')),
            control.field(4, head + verdict + control.field(18, b'')), control.field(4, head + verdict + control.field(19, b'')),
            control.field(4, head + verdict + control.field(41, b'')), control.field(4, head + verdict + control.field(55, b'')),
            # A word that a terminal would act on.
            control.field(4, head + verdict + text_field(40, '\x1b[2J')),
            # A thread without its numbers.
            control.field(4, head + verdict + text_field(40, 'races') + control.field(41, text_field(1, 'race') + text_field(
                2, 'global') + control.field(9, text_field(7, 'f')))),
            # More than one thing, of which one is empty or would go unsaid.
            *(other + control.field(1, progress) for progress in (b'', text_field(1, 'replaying'))
              for other in (text_field(6, 'complaint'), control.field(5, path_only), control.field(4, head + verdict))),
            control.field(4, b'') + control.field(5, path_only), control.field(4, head + verdict) + control.field(5, b''),
            text_field(6, 'complaint') + control.field(4, head + verdict),
        ]
        self.start_daemon('--worker', self.answerer('exec cat %s >&3' % said))
        unknown = control.field(control.ERROR, control.number(1 << 3) + control.number(errno.EOPNOTSUPP << 1) +
                                text_field(2, 'this version does not know the query'))
        for lie in [*lies, None]:
            with self.subTest(lie):
                bodies = [(unknown, 0)] if lie is None else [(control.field(REPLAY, lie), control.MORE),
                                                             (control.field(control.QUERY_END, b''), 0)]
                with open(said, 'wb') as stream:
                    for body, flags in bodies:
                        stream.write(control.HEADER.pack(control.MAGIC, control.VERSION, control.ANSWER, 0, 1, 0, len(body), flags) +
                                     body)
                told = self.tsctl('replay', '--served', '--progress', '--on', 'vgpu', path)
                self.assertEqual((told.status, told.out, len(told.err.splitlines())), (2, '', 1), told)
        self.check_alive()


if __name__ == '__main__':
    harness.main()
