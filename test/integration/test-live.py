#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A daemon as a service: sessions are seen while they run, files are whole when they ended.

One file per process; a killed process loses nothing it committed; a daemon that goes away leaves readable files and
applications that run on.
"""
import glob
import json
import os
import signal
import socket
import subprocess
import time
import unittest

import harness
import service
import unit


# Above what any kernel gives out.
NO_PID = (1 << 22) + 1


class Live(harness.Case):
    def setUp(self):
        super().setUp()
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        self.traces = self.path('traces')
        os.mkdir(self.traces)
        self.start_daemon()

    def start_daemon(self):
        with open(self.path('daemon.log'), 'ab') as log:
            self.daemon = subprocess.Popen(
                service.command(self.folder, '--inject-socket', self.inject, '--control-socket', self.control,
                                '--directory', self.traces), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=harness.environment())
        self.addCleanup(self.end_daemon, self.daemon)
        # A socket has its name before anybody listens; a dead daemon's has it too.
        self.wait(self.listens, 'the daemon')

    def listens(self):
        """At its control socket, the last that it opens."""
        with socket.socket(socket.AF_UNIX) as client:
            return not client.connect_ex(self.control)

    def end_daemon(self, daemon):
        if daemon.poll() is None:
            daemon.terminate()
        daemon.wait(harness.SECONDS)

    def wait(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while not what():
            if time.monotonic() > end or (name == 'the daemon' and self.daemon.poll() is not None):
                with open(self.path('daemon.log'), encoding='utf-8') as log:
                    self.fail('%s did not come: %s' % (name, log.read()))
            time.sleep(0.02)

    def start(self, argv, **env):
        """Starts a program that the service records; returns the process."""
        environment = harness.preload_environment('', TRACESMITH_SOCKET=self.inject,
                                                  TS_TRUTH=self.truth_path, **env)
        process = subprocess.Popen(argv, env=environment, cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        return process

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=harness.environment(TRACESMITH_CONTROL=self.control))

    def files(self):
        return sorted(glob.glob(os.path.join(self.traces, '**', '*.sbt'), recursive=True))

    def test_two_programs_two_files(self):
        for name in ('saxpy', 'pipeline'):
            process = self.start([harness.app(name, 'driver')])
            _, err = process.communicate(timeout=harness.SECONDS)
            self.assertEqual((process.returncode, err), (0, b''))
            self.wait(lambda: any(name in path for path in self.files()), name)
            path = [path for path in self.files() if name in path][0]
            self.check_truth(self.finished_trace(path), self.truth())
        self.assertEqual(len(self.files()), 2)
        self.assertEqual(glob.glob(self.path('*.sbt')), [], 'no private file beside the service')

    def test_seen_while_it_runs(self):
        """A session that waits for its input can be listed, summed up and viewed by its pid."""
        process = self.start(['python3', '-c', harness.LIVE_PROGRAM], PYTHONPATH='')
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(lambda: str(process.pid) in self.tsctl('status', '--json').out, 'the session')
        self.wait(lambda: self.live_counts(process.pid).get('memcpy') == 5, 'its rows')
        rows = [json.loads(line)
                for line in self.tsctl('view', '--json', '--session', str(process.pid)).out.splitlines()]
        copies = [row for row in rows if row['type'] == 'memcpy']
        self.assertEqual([row['bytes'] for row in copies], [1024] * 5)
        folded = self.tsctl('export', '--format', 'folded', '--weight', 'bytes', '--session',
                            str(process.pid))
        self.assertEqual(folded.status, 0, folded)
        self.assertEqual(sum(int(line.rsplit(' ', 1)[1]) for line in folded.out.splitlines()), 5120)
        info = json.loads(self.tsctl('info', '--json', '--session', str(process.pid)).out)
        self.assertFalse(info['finished'])
        self.assertEqual(info['sessions'][0]['state'], 'running')
        node = harness.run([os.path.join(harness.BUILD, 'tools', 'library', 'example-node')],
                           env=harness.environment(TRACESMITH_CONTROL=self.control))
        [session] = json.loads(self.tsctl('sessions', '--json').out)['sessions']
        self.assertEqual((node.status, node.out.split('\t')[:2], node.out.rstrip('\n').split('\t')[3]),
                         (0, [str(process.pid), 'recording'], session['program']), node)
        process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)
        trace = self.finished_trace(self.files()[0])
        self.assertEqual(trace.counts['memcpy'], 5)
        self.assertEqual(trace.info['sessions'][0]['state'], 'ended')
        for name in (str(process.pid), '1'):
            over = self.tsctl('info', '--json', '--session', name)
            self.assertEqual(over.status, 0, over)
            self.assertTrue(json.loads(over.out)['finished'])
        missing = self.tsctl('info', '--session', str(NO_PID))
        self.assertEqual((missing.status, len(missing.err.splitlines())), (2, 1), missing)
        for command in ('info', 'timeline'):
            no_number = self.tsctl(command, '--session', 'x')
            self.assertEqual((no_number.status, no_number.err), (2,
                "tsctl %s: --session x: expected a session's number or a pid; `tsctl sessions` lists both\n" % command))

    def test_removed_while_it_runs(self):
        """Its file is taken away, and the folder: who looks is told, who comes is refused, nobody else suffers."""
        process = self.start(['python3', '-c', harness.LIVE_PROGRAM], PYTHONPATH='')
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(self.files, 'its file')
        self.assertNotIn('REMOVED', self.tsctl('status').out)
        path, = self.files()
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
        os.rmdir(self.traces)
        self.wait(lambda: 'REMOVED' in self.tsctl('status').out, 'word of it')
        session, = json.loads(self.tsctl('status', '--json').out)['sessions']
        self.assertEqual((session['removed'], session['path']), (True, path))
        said = '%s was removed while the daemon writes it' % path
        self.wait(lambda: said in self.log(), 'a line of it')
        # For as long as the session lives what it did can be read.
        self.wait(lambda: self.live_counts(process.pid).get('memcpy') == 5, 'its rows')
        other = self.start([harness.app('saxpy', 'driver')])
        _, err = other.communicate(timeout=harness.SECONDS)
        self.assertEqual((other.returncode, err), (0, b''))
        # Who is refused does not wait to hear of it.
        self.wait(lambda: self.status().get('sessions_refused'), 'the refusal')
        process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)
        service.make(self.traces)
        again = self.start([harness.app('saxpy', 'driver')])
        again.communicate(timeout=harness.SECONDS)
        self.wait(self.files, 'the next file')
        self.check_truth(self.finished_trace(self.files()[0]), self.truth())
        self.assertEqual(self.status()['sessions_refused'], 1)
        self.assertEqual(self.log().count(said), 1)

    def status(self):
        result = self.tsctl('status', '--json')
        return json.loads(result.out) if not result.status else {}

    def log(self):
        with open(self.path('daemon.log'), encoding='utf-8') as log:
            return log.read()

    def live_counts(self, pid):
        result = self.tsctl('info', '--json', '--session', str(pid))
        return json.loads(result.out)['counts'] if not result.status else {}

    def test_killed_program(self):
        """kill -9 loses nothing that was committed; what CUPTI still held is counted."""
        process = self.start(['python3', '-c', harness.LIVE_PROGRAM])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        process.kill()
        process.communicate()
        self.wait(self.files, 'the file')
        trace = self.finished_trace(self.files()[0])
        self.assertEqual(trace.info['sessions'][0]['state'], 'died')
        self.assertEqual(trace.counts.get('memcpy', 0) + trace.lost.get('unjoined_api', 0), 5, trace.info)
        copies = [row for row in trace.of('api') if row['name'].startswith('cuMemcpy')]
        self.assertEqual(len(copies), 5)

    def test_daemon_terminated(self):
        """The service stops: the application runs on and ends as it would, the file is whole."""
        process = self.start(['python3', '-c', harness.LIVE_PROGRAM])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(lambda: self.live_counts(process.pid).get('memcpy') == 5, 'its rows')
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(self.daemon.wait(harness.SECONDS), 0)
        trace = self.finished_trace(self.files()[0])
        self.assertEqual(trace.counts['memcpy'], 5)
        self.assertFalse(os.path.exists(self.inject) or os.path.exists(self.control))
        _, err = process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual((process.returncode, err), (0, b''))

    def test_daemon_killed(self):
        """kill -9 of the daemon: a file up to its last complete block, an application that runs on."""
        process = self.start(['python3', '-c', harness.LIVE_PROGRAM])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(lambda: self.live_counts(process.pid).get('memcpy') == 5, 'its rows')
        self.daemon.kill()
        self.daemon.wait()
        _, err = process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual((process.returncode, err), (0, b''))
        trace = harness.Trace(self.files()[0])
        self.assertFalse(trace.info['finished'])
        self.assertEqual(trace.counts['memcpy'], 5)
        self.assertEqual(harness.tsctl('repair', self.files()[0]).status, 0)
        self.assertEqual(harness.tsctl('verify', self.files()[0]).status, 0)

    def test_daemon_restarted(self):
        """A new daemon takes the session up: its file says which one it continues."""
        process = self.start(['python3', '-c', harness.LIVE_PROGRAM])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(lambda: self.live_counts(process.pid).get('memcpy') == 5, 'its rows')
        first = os.path.basename(self.files()[0])
        self.daemon.kill()
        self.daemon.wait()
        self.start_daemon()
        self.wait(lambda: len(self.files()) == 2, 'the second file')
        process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)
        second = [path for path in self.files() if os.path.basename(path) != first][0]
        trace = self.finished_trace(second)
        self.assertEqual(trace.info['metadata'].get('continues'), first)
        self.assertIn('continues ' + first, harness.tsctl('info', second).out)
        # Who has a namesake of an earlier life (a pid comes again) continues nothing.
        process = self.start(['sh', '-c', ': > "%s/tracesmith-saxpy-driver-$$.sbt"; exec "$0"' % os.path.dirname(second),
                              harness.app('saxpy', 'driver')])
        process.communicate(timeout=harness.SECONDS)
        self.wait(lambda: len(self.files()) == 4, 'the file beside its namesake')
        new = [path for path in self.files() if path.endswith('-1.sbt') and path != second][0]
        self.assertNotIn('continues', self.finished_trace(new).info['metadata'])

    def test_directory(self):
        """A service makes its folder, says where all is, and does not start where it could keep nothing."""
        arguments = [harness.DAEMON, '--inject-socket', 'i.sock', '--control-socket', 'c.sock', '--directory']
        for folder in ('plain/x', 'plain'):
            with open(self.path('plain'), 'w', encoding='utf-8'):
                pass
            refused = harness.run(arguments + [folder], cwd=self.folder)
            self.assertEqual(refused.status, 2, refused)
            self.assertEqual(len(refused.err.splitlines()), 1, refused)
            self.assertIn(self.path(folder), refused.err)
        with open(self.path('second.log'), 'ab') as log:
            daemon = subprocess.Popen(arguments + ['made'], cwd=self.folder, stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=log, env=harness.environment())
        self.addCleanup(self.end_daemon, daemon)
        self.wait(lambda: os.path.exists(self.path('c.sock')), 'its socket')
        self.wait(lambda: os.path.getsize(self.path('second.log')), 'its line')
        self.assertTrue(os.path.isdir(self.path('made')))
        with open(self.path('second.log'), encoding='utf-8') as log:
            lines = log.read().splitlines()
        self.assertEqual(len(lines), 1, lines)
        status = json.loads(harness.tsctl('status', '--json', env=harness.environment(
            TRACESMITH_CONTROL=self.path('c.sock'))).out)
        for key, name in (('directory', 'made'), ('inject_socket', 'i.sock'), ('control_socket', 'c.sock')):
            self.assertEqual(status[key], self.path(name))
            self.assertIn(self.path(name), lines[0])

    @service.no_service
    def test_sizes(self):
        for arguments, word in ((('--max-session-bytes', '9G'), '8589934592'), (('--keep-free', '12Q'), '12Q'),
                                (('--max-file-bytes', ''), "''")):
            refused = harness.run([harness.DAEMON, *arguments])
            self.assertEqual((refused.status, len(refused.err.splitlines())), (2, 1), refused)
            self.assertIn(word, refused.err)

    @unittest.skipIf(os.geteuid(), 'only root can be somebody else')
    def test_whose_trace(self):
        """What a system's service recorded its user opens while it runs, and reads by its name when it is over."""
        user, above = 65534, harness.VGPU
        while above != '/':
            if not os.stat(above).st_mode & 0o001:
                self.skipTest('%s is for its owner alone' % above)
            above = os.path.dirname(above)
        os.chmod(self.folder, 0o755)
        process = self.start(['python3', '-c', 'import ctypes, os; os.setuid(%d)\n%s' % (user, harness.LIVE_PROGRAM)])
        self.assertEqual(process.stdout.readline(), b'ready\n')
        self.wait(self.files, 'its file')
        path = self.files()[0]
        owner = unit.UID if service.UNIT else 0
        self.assertEqual(os.stat(path).st_uid, owner)
        self.assertNotEqual(self.read_as(user, path), b'')
        process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)
        self.finished_trace(path)
        self.assertEqual((os.stat(path).st_uid, os.stat(path).st_mode & 0o707), (owner, 0o600))
        if 'system.posix_acl_access' not in os.listxattr(path):
            self.skipTest('the file system has no access control lists')
        self.assertEqual(self.read_as(user, path), b'')
        self.assertNotEqual(self.read_as(user + 1, path), b'')

    @staticmethod
    def read_as(user, path):
        """What is said where it cannot be read."""
        return subprocess.run(['head', '-c1', path], user=user, extra_groups=[], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False).stderr

    def test_strangers(self):
        """Garbage on either socket is dropped; the daemon lives on and records the next program."""

        for path, kind in ((self.inject, socket.SOCK_SEQPACKET), (self.control, socket.SOCK_STREAM)):
            for data in (b'', b'\0', os.urandom(64), os.urandom(4096), b'\xff' * 4096):
                stranger = socket.socket(socket.AF_UNIX, kind)
                stranger.connect(path)
                try:
                    stranger.send(data)
                except OSError:
                    pass
                stranger.close()
        process = self.start([harness.app('saxpy', 'driver')])
        process.communicate(timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)
        self.wait(self.files, 'the file')
        self.check_truth(self.finished_trace(self.files()[-1]), self.truth())
        self.assertIsNone(self.daemon.poll())

    def test_status(self):
        status = self.tsctl('status', '--json')
        self.assertEqual(status.status, 0, status)
        json.loads(status.out)
        self.assertEqual(self.tsctl('status').status, 0)


if __name__ == '__main__':
    harness.main()
