#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service as a flight recorder: it keeps the last of each process, and dumps it on a mark, a signal, a request and death."""
import json
import os
import signal
import subprocess

import harness
import service
from bursts import THREADS, Bursts


class Service(Bursts):
    """The same of a service: a file for each process, which it keeps the last of."""

    def serve(self, *options):
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        self.daemon = subprocess.Popen(
            service.command(self.folder, '--directory', self.folder, '--inject-socket', self.inject, '--control-socket',
                            self.control, '--stacks', 'none', *options), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment())
        self.addCleanup(self.end_daemon)
        self.wait(lambda: json.loads(self.tsctl('status', '--json').out)['running'], 'the service')

    def end_daemon(self):
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(harness.SECONDS), 0)

    def run_bursts(self):
        self.begin([self.app('bursts'), str(THREADS)],
                   harness.preload_environment(TRACESMITH_SOCKET=self.inject))
        return '%d/tracesmith-bursts-%s-%d' % (os.getuid(), self.form, self.process.pid)

    def leave(self):
        """The process ends; its service hears of that, and has its file complete a moment later."""
        self.process.stdin.close()
        self.assertEqual(self.process.wait(harness.SECONDS), 0)

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=harness.environment(TRACESMITH_CONTROL=self.control))

    def session(self):
        sessions = json.loads(self.tsctl('sessions', '--json').out)['sessions']
        return [one for one in sessions if one['pid'] == self.process.pid][0]

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
        self.assertEqual(self.finished_trace(self.path(stem + '.sbt')).counts['kernel'], launched)
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
            self.assertEqual(self.finished_trace(self.path(stem + '.sbt')).counts['kernel'], n + THREADS)

    def test_keeps_the_last(self):
        """On request, and of a process that died."""
        self.serve('--keep-last-size', '64K')
        stem = self.run_bursts()
        self.wait(lambda: self.go(2000) and self.parts(stem) and
                  int(self.parts(stem)[0].split('.')[-2]) >= 3, 'an old file to be deleted')
        launched = self.tell('go 1')
        result = self.tsctl('dump', '-o', self.path('now.sbt'), str(self.process.pid))
        self.assertEqual(result.status, 0, result)
        now = self.check_dump(self.path('now.sbt'), 1, is_cut=True)
        self.assertLess(now.counts['kernel'], launched)
        newest = max(row['op_id'] for row in now.of('api'))
        self.tell('go 100')
        self.process.kill()
        self.process.wait()
        path = self.path(stem + '.sbt')
        dead = self.finished_trace(path)
        self.assertEqual(dead.info['sessions'][0]['state'], 'died')
        self.assertGreater(max(row['op_id'] for row in dead.of('api')), newest)
        self.assertLess(sum(os.path.getsize(part) for part in self.parts(stem)[1:]), 64 << 10)


ServiceOverHip = harness.over_hip(Service)


if __name__ == '__main__':
    harness.main()
