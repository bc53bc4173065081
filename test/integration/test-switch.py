#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording stopped and started while programs run: what is recorded is whole, and nothing is left behind in them.

`--cycles N`: so many of stop and start under load, 100 in the ordinary run. `--slow N`: so many of them with a rest between, in
which CUPTI is switched off.
"""
import fcntl
import glob
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

import control
import harness
import service
from processes import option

THREADS = 4
# A leak of one cycle is found, so those who look at the same code once more need fewer.
CYCLES = 40 if harness.SANITIZER or service.UNIT else 100
SLOW = 3
# Longer than a stop has to last for CUPTI to be switched off.
REST_S = 0.5
WARM_UP = 30


def footprint(pid):
    """What a process has: descriptors, threads, mappings and their bytes."""
    maps = []
    with open('/proc/%d/maps' % pid, encoding='utf-8') as stream:
        for line in stream:
            start, end = (int(word, 16) for word in line.split()[0].split('-'))
            maps.append(end - start)
    threads = []
    for path in glob.glob('/proc/%d/task/*/comm' % pid):
        with open(path, encoding='utf-8') as stream:
            threads.append(stream.read().strip())
    return {'descriptors': sorted(os.listdir('/proc/%d/fd' % pid)), 'threads': sorted(threads),
            'mappings': len(maps), 'mapped': sum(maps)}


def resident_bytes(pid):
    with open('/proc/%d/statm' % pid, encoding='utf-8') as stream:
        return int(stream.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


class Bursts:
    """bursts-driver at the other end of two pipes."""

    def __init__(self, argv, env, cwd):
        self.process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def tell(self, line):
        """Returns how many launches there were by then."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise AssertionError('it ended: %s' % self.process.stderr.read())
        return int(answer[1])

    def end(self):
        _, err = self.process.communicate(timeout=harness.SECONDS * 4)
        return self.process.returncode, err


class Switch(harness.Case):
    form = 'driver'

    def setUp(self):
        super().setUp()
        self.inject, self.socket = self.path('inject.sock'), self.path('control.sock')
        self.traces = self.path('traces')
        os.mkdir(self.traces)

    def start_daemon(self, *options):
        with open(self.path('daemon.log'), 'ab') as log:
            self.daemon = subprocess.Popen(
                service.command(self.folder, '--inject-socket', self.inject, '--control-socket', self.socket,
                                '--directory', self.traces, *options), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=harness.environment())
        self.addCleanup(self.end_process, self.daemon)
        self.wait(self.answers, 'the daemon')
        self.control = control.Control(self.socket)
        self.addCleanup(self.control.close)

    def answers(self):
        return json.loads(self.tsctl('status', '--json').out)['running']

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def wait(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while not what():
            if time.monotonic() > end:
                self.fail('%s did not come' % name)
            time.sleep(0.01)

    def tsctl(self, *arguments, **env):
        env.setdefault('TRACESMITH_CONTROL', self.socket)
        return harness.tsctl(*arguments, env=harness.environment(**env))

    def start(self, *argv, **env):
        env = harness.preload_environment('', TRACESMITH_SOCKET=self.inject, TS_TRUTH=self.truth_path,
                                          TRACESMITH_STACKS='none',
                                          # Who waits for malloc()'s lock is given a heap of his own.
                                          MALLOC_ARENA_MAX='1', **env)
        argv = argv or (self.app('bursts'), str(THREADS))
        bursts = Bursts(list(argv), env, self.folder)
        self.addCleanup(self.end_process, bursts.process)
        # It goes on when it has asked the daemon to take its session, which may hear of what tsctl wants before.
        self.wait(lambda: bursts.process.pid in [session['pid'] for session in self.sessions()], 'its session')
        return bursts

    def sessions(self):
        return json.loads(self.tsctl('sessions', '--json').out)['sessions']

    def states(self):
        return [session['state'] for session in self.sessions()]

    def files(self):
        return sorted(glob.glob(os.path.join(self.traces, '**', '*.sbt'), recursive=True))

    def check(self, path, kernels):
        """Sound, nothing lost, and so many kernels; returns the trace."""
        trace = self.finished_trace(path)
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        if kernels is not None:
            self.assertEqual(trace.counts['kernel'], kernels)
        return trace

    def pauses(self, trace):
        return [row['paused'] for row in trace.of('pause')]

    def check_exact(self, **env):
        """At rest the program knows what it launched while recording was on: that, and no more, is there."""
        self.start_daemon()
        bursts = self.start(**env)
        pid = bursts.process.pid
        bursts.tell('go 100')
        self.assertEqual(self.control.stop(pid), (1, 1, 0))
        self.assertEqual(self.states(), ['paused'])
        bursts.tell('go 7')
        time.sleep(REST_S)
        bursts.tell('go 9')
        self.assertEqual(self.control.stop(pid), (1, 0, 0))
        self.assertEqual(self.control.start(pid), (1, 1, 0))
        self.assertEqual(self.control.start(), (1, 0, 0))
        bursts.tell('go 10')
        self.assertEqual(self.states(), ['recording'])
        self.assertEqual(self.control.stop(), (1, 1, 0))
        bursts.tell('go 3')
        self.assertEqual(self.control.start(pid + 1), (0, 0, 0))
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(self.files()[0], 110 * THREADS)
        self.assertEqual(self.pauses(trace), [True, False, True])
        self.assertEqual([row['cause'] for row in trace.of('pause')], ['request'] * 3)
        session = trace.info['sessions'][0]
        self.assertEqual(session['stops'], 2)
        self.assertGreater(session['stopped_ns'], REST_S * 1e9)
        self.assertIn('Stopped', harness.tsctl('info', trace.path).out)
        self.assertEqual(self.truth().n_launches(), 129 * THREADS)
        # Streams are known, whenever they came and went.
        self.assertEqual(sorted(row['action'] for row in trace.of('stream') if row['action'] != 'seen'),
                         ['created'] * THREADS + ['destroyed'] * THREADS)

    def test_what_is_recorded_is_exact(self):
        self.check_exact()

    def test_what_is_recorded_beside_a_capture_is_exact(self):
        self.check_exact(TRACESMITH_CAPTURE='replay')

    def test_the_applications_own_switch(self):
        """tracesmith_stop() and tracesmith_start(), exact as tsctl's; recording is on where neither has it off."""
        self.start_daemon()
        bursts = self.start()
        bursts.tell('off')
        bursts.tell('go 3')
        bursts.tell('on')
        bursts.tell('go 10')
        bursts.tell('off')
        bursts.tell('go 4')
        time.sleep(REST_S)
        self.control.stop()
        bursts.tell('on')
        bursts.tell('go 5')
        self.control.start()
        bursts.tell('go 20')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(self.files()[0], 30 * THREADS)
        self.assertEqual([(row['paused'], row['cause']) for row in trace.of('pause')],
                         [(True, 'application'), (False, 'application')] * 2)

    def test_tsctl_says_what_it_did(self):
        self.start_daemon()
        for command in ('start', 'stop', 'watch'):
            result = self.tsctl(command)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
        self.assertEqual(self.tsctl('sessions').out, 'No process is being recorded.\n')
        bursts = self.start()
        bursts.tell('go 1')
        pid = str(bursts.process.pid)
        self.assertEqual(self.tsctl('stop', pid).out, 'stopped: 1 process\n')
        self.assertIn('0 of 1', self.tsctl('stop').out)
        self.assertIn('paused', self.tsctl('sessions').out)
        self.assertEqual(json.loads(self.tsctl('start', '--json').out),
                         {'sessions': 1, 'changed': 1, 'timed_out': 0})
        result = self.tsctl('stop', '1')
        self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
        result = self.tsctl('stop', 'all')
        self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
        self.assertEqual(self.tsctl('stop', '-q').out, '')
        self.assertEqual(bursts.end(), (0, ''))

    def test_watch(self):
        """A line for each look; it ends with the process."""
        self.start_daemon()
        bursts = self.start()
        bursts.tell('run')
        result = self.tsctl('watch', '--json', '-n', '3', '-i', '100ms')
        lines = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual((result.status, len(lines)), (0, 3), result)
        self.assertEqual({line['pid'] for line in lines}, {bursts.process.pid})
        self.assertEqual([line['rows'] for line in lines], sorted(line['rows'] for line in lines))
        self.wait(lambda: json.loads(self.tsctl('watch', '--json', '-n', '1', '-i', '200ms').out)
                  ['kernels_per_s'] > 0, 'a rate')
        bursts.tell('halt')
        watch = subprocess.Popen([harness.TSCTL, 'watch', '-i', '50ms', str(bursts.process.pid)],
                                 env=harness.environment(TRACESMITH_CONTROL=self.socket),
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, watch)
        self.assertIn('KERNELS/S', watch.stdout.readline())
        self.assertIn('recording', watch.stdout.readline())
        self.assertEqual(bursts.end(), (0, ''))
        watch.communicate(timeout=harness.SECONDS)
        self.assertEqual(watch.returncode, 0)

    def screen_of(self, data):
        """What a terminal of 24 by 80 shows that is told `data`; nothing of it may scroll, or be cut by the edge."""
        rows, row = [''] * 24, 0
        for piece in re.split(r'(\x1b\[[0-9;]*[A-Za-z]|\r?\n)', data):
            if piece == '\x1b[H':
                row, fresh = 0, True
            elif piece == '\x1b[2J':
                rows = [''] * 24
            elif piece == '\x1b[J':
                rows[row:] = [''] * (24 - row)
            elif piece.endswith('\n'):
                row += 1
                fresh = True
                self.assertLess(row, 24)
            elif piece and not piece.startswith('\x1b'):
                rows[row] = piece if fresh else rows[row] + piece
                fresh = False
                self.assertLessEqual(len(rows[row]), 80)
        return '\n'.join(rows)

    def test_watch_on_a_terminal(self):
        """In place: rates, how busy the GPU is, its kernels, memory. It ends with the process."""
        self.start_daemon()
        bursts = self.start()
        bursts.tell('run')
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
        watch = subprocess.Popen([harness.TSCTL, 'watch', '-i', '200ms', str(bursts.process.pid)],
                                 env=harness.environment(TRACESMITH_CONTROL=self.socket, TERM='xterm'),
                                 stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(self.end_process, watch)
        data, until = b'', time.monotonic() + harness.SECONDS
        while time.monotonic() < until:
            data += os.read(ours, 65536)
            looks = data.decode(errors='replace').split('\x1b[H')
            # The last one may not be there in full.
            shown = self.screen_of('\x1b[H' + '\x1b[H'.join(looks[1:-1])) if len(looks) > 2 else ''
            if re.search(r'GPU 0 busy', shown) and re.search(r'^ +[0-9.]+ %  ', shown, re.M):
                break
        self.assertRegex(shown, r'^%d  recording  ' % bursts.process.pid)
        self.assertRegex(shown, r'per second [0-9,]+ calls, [0-9,]+ kernels, [0-9,]+ copies')
        self.assertRegex(shown, r'memory .*B, at most .*B')
        self.assertRegex(shown, r'GPU 0 busy [0-9.]+ %: compute')
        bursts.tell('halt')
        self.assertEqual(bursts.end(), (0, ''))
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass  # the other end is closed
        self.assertEqual(watch.wait(harness.SECONDS), 0)

    def test_watch_tells_of_gpus(self):
        """In JSON where asked for; the window's kernels are those of the trace."""
        self.start_daemon()
        bursts = self.start()
        bursts.tell('run')
        lines = []

        def busy():
            lines.append(json.loads(self.tsctl('watch', '--json', '--gpu', '-n', '1', '-i', '300ms').out))
            return lines[-1].get('kernels')

        self.wait(busy, 'kernels')
        line = lines[-1]
        self.assertEqual(line['window_ns'], 300000000)
        self.assertEqual([device['device'] for device in line['devices']], [0])
        self.assertLessEqual(line['devices'][0]['busy_ns'], line['window_ns'])
        self.assertEqual(line['kernels_ns'], sum(kernel['ns'] for kernel in line['kernels']))
        self.assertGreaterEqual(line['peak_bytes'], line['live_bytes'])
        self.assertNotIn('window_ns', json.loads(self.tsctl('watch', '--json', '-n', '1', '-i', '10ms').out))
        bursts.tell('halt')
        self.assertEqual(bursts.end(), (0, ''))

    def listed(self, path):
        """The sessions of a recording, whose daemon may hear of the first after that has begun its work."""
        found = []

        def look():
            env = harness.environment(XDG_RUNTIME_DIR=self.folder)
            found[:] = [session for session in json.loads(harness.tsctl('sessions', '--json', env=env).out)['sessions']
                        if session['path'] == path]
            return found

        self.wait(look, 'its session')
        return found

    @service.no_service
    def test_a_recording_that_starts_later(self):
        """`tsctl record --start-later`, found by `tsctl sessions` without being told where."""
        path = self.path('later.sbt')
        own = {'XDG_RUNTIME_DIR': self.folder, 'TRACESMITH_CONTROL': None}
        bursts = Bursts([harness.TSCTL, 'record', '-q', '-o', path, '--vgpu', '--start-later', '--',
                         self.app('bursts'), str(THREADS)],
                        harness.record_environment(XDG_RUNTIME_DIR=self.folder), self.folder)
        self.addCleanup(self.end_process, bursts.process)
        bursts.tell('go 5')

        def mine(*arguments):
            return harness.tsctl(*arguments, env=harness.environment(**own))

        listed = self.listed(path)
        self.assertEqual([session['state'] for session in listed], ['paused'])
        self.assertTrue(listed[0]['control'].startswith(self.folder))
        pid = str(listed[0]['pid'])
        self.assertEqual(mine('start', pid).out, 'started: 1 process\n')
        bursts.tell('go 6')
        result = mine('stop', pid)
        self.assertEqual((result.status, result.err), (0, ''))
        bursts.tell('go 7')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(path, 6 * THREADS)
        self.assertEqual(self.pauses(trace), [True, False, True])
        self.assertEqual(len(trace.info['devices']), 1)

    @service.no_service
    def test_another_recording_ends_meanwhile(self):
        """A daemon that hangs up when asked: what it recorded is over, and the process that was named is stopped."""
        path, own = self.path('this.sbt'), {'XDG_RUNTIME_DIR': self.folder, 'TRACESMITH_CONTROL': None}
        bursts = Bursts([harness.TSCTL, 'record', '-q', '-o', path, '--vgpu', '--',
                         self.app('bursts'), str(THREADS)],
                        harness.record_environment(XDG_RUNTIME_DIR=self.folder), self.folder)
        self.addCleanup(self.end_process, bursts.process)
        bursts.tell('go 5')
        pid = str(self.listed(path)[0]['pid'])
        os.mkdir(self.path('tracesmith-ends'))
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path('tracesmith-ends/control.sock'))
        listener.listen()

        def hang_up():
            connection, _ = listener.accept()
            connection.recv(1)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        result = harness.tsctl('stop', pid, env=harness.environment(**own))
        thread.join()
        self.assertEqual((result.status, result.out, result.err), (0, 'stopped: 1 process\n', ''))
        bursts.tell('go 7')
        self.assertEqual(bursts.end(), (0, ''))
        self.check(path, 5 * THREADS)

    @service.no_service
    def test_the_preload_alone(self):
        """Nobody but the shim: its daemon is found, asked, watched, stopped and started, and leaves nothing behind."""
        path, own = self.path('alone.sbt'), {'XDG_RUNTIME_DIR': self.folder, 'TRACESMITH_CONTROL': None}
        bursts = Bursts([self.app('bursts'), str(THREADS)],
                        harness.preload_environment(TRACESMITH_OUTPUT=path, TRACESMITH_SOCKET=None, **own), self.folder)
        self.addCleanup(self.end_process, bursts.process)

        def mine(*arguments):
            return harness.tsctl(*arguments, env=harness.environment(**own))

        pid = str(bursts.process.pid)
        bursts.tell('go 5')
        # It was begun without waiting for its daemon.
        self.wait(lambda: pid in mine('sessions').out, 'its daemon')
        listed = [session for session in json.loads(mine('sessions', '--json').out)['sessions']
                  if str(session['pid']) == pid]
        self.assertEqual([(session['state'], session['path']) for session in listed], [('recording', path)])
        self.assertEqual(os.path.dirname(os.path.dirname(listed[0]['control'])), self.folder)
        self.assertEqual(mine('stop', pid).out, 'stopped: 1 process\n')
        bursts.tell('go 6')
        live = mine('view', '--stats', pid)
        self.assertEqual((live.status, live.err), (0, ''))
        self.assertEqual(mine('start', pid).out, 'started: 1 process\n')
        bursts.tell('go 7')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(path, 12 * THREADS)
        self.assertEqual(self.pauses(trace), [True, False])
        self.wait(lambda: not glob.glob(self.path('tracesmith-*')), 'the end of its daemon')

    @service.no_service
    def test_what_a_killed_daemon_left(self):
        """Its directory goes when somebody looks, but not before it can be told from one that is about to listen."""
        for name in 'tracesmith-old', 'tracesmith-new':
            os.mkdir(self.path(name))
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(os.path.join(self.path(name), 'control.sock'))
        old = self.path('tracesmith-old/control.sock')
        os.utime(old, (time.time() - 3600,) * 2)
        own = {'XDG_RUNTIME_DIR': self.folder, 'TRACESMITH_CONTROL': None}
        self.assertEqual(harness.tsctl('sessions', env=harness.environment(**own)).status, 0)
        self.assertEqual([os.path.basename(path) for path in glob.glob(self.path('tracesmith-*'))], ['tracesmith-new'])

    @service.no_service
    def test_an_empty_recording_says_why(self):
        result, path = self.record([self.app('saxpy')], '--vgpu', '--start-later')
        self.assertEqual(result.status, 0, result)
        self.assertIn('tsctl start', result.err)
        self.assertIn('tsctl start', json.loads(harness.tsctl('info', '--json', path).out)['empty_reason'])

    def test_a_service_that_starts_later(self):
        """It keeps no file of a process that nobody started."""
        self.start_daemon('--start-later')
        bursts = self.start(TRACESMITH_START_LATER='1')
        bursts.tell('go 5')
        self.assertEqual(self.states(), ['paused'])
        self.assertEqual(bursts.end(), (0, ''))
        self.wait(lambda: not self.sessions() and not self.files(), 'the end of its session')
        bursts = self.start()
        bursts.tell('go 5')
        self.wait(lambda: self.states() == ['paused'], 'its session')
        self.control.stop()
        before = bursts.tell('go 6')
        self.assertEqual(self.control.start(), (1, 1, 0))
        bursts.tell('go 7')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(self.files()[0], None)
        # Until it heard of the service's wish it may have recorded some.
        self.assertGreaterEqual(trace.counts['kernel'], 7 * THREADS)
        self.assertLessEqual(trace.counts['kernel'], 12 * THREADS)
        self.assertEqual(before, 11 * THREADS)

    def test_another_daemon_leaves_it_stopped(self):
        self.start_daemon()
        bursts = self.start()
        bursts.tell('go 4')
        self.control.stop()
        self.daemon.kill()
        self.daemon.wait()
        bursts.tell('go 5')
        self.start_daemon()
        self.wait(lambda: self.states() == ['paused'], 'the session, taken up')
        bursts.tell('go 6')
        self.assertEqual(self.control.start(), (1, 1, 0))
        bursts.tell('go 7')
        self.assertEqual(bursts.end(), (0, ''))
        # A service is told of the end, and not waited for.
        self.wait(lambda: not self.sessions(), 'the end of its session')
        self.assertEqual(len(self.files()), 2)
        kernels = sum(json.loads(harness.tsctl('info', '--json', path).out)['counts']['kernel']
                      for path in self.files())
        self.assertEqual(kernels, 11 * THREADS)

    def test_stopped_while_the_applications_profiler_has_cupti(self):
        """What is done in a yield within a stop is no loss; what is done in one that outlives it, is."""
        self.start_daemon()
        process = self.start('python3', '-c', YIELDING)
        pid = process.process.pid
        self.assertEqual(process.tell('work 3'), 3)
        self.control.stop(pid)
        process.tell('take 0')
        self.wait(lambda: self.states() == ['yielded'], 'the yield')
        process.tell('work 5')
        process.tell('give 0')
        self.wait(lambda: self.states() == ['paused'], 'CUPTI, taken back')
        process.tell('work 6')
        self.control.start(pid)
        process.tell('work 7')
        process.tell('take 0')
        self.assertEqual(self.control.stop(pid)[:2], (1, 1))
        self.assertTrue(self.sessions()[0]['paused'])
        process.tell('work 8')
        process.tell('give 0')
        self.wait(lambda: self.states() == ['paused'], 'CUPTI, taken back')
        process.tell('work 9')
        self.assertEqual(self.control.start(pid)[:2], (1, 1))
        process.tell('work 10')
        self.assertEqual(process.end(), (0, ''))
        trace = self.finished_trace(self.files()[0])
        self.assertEqual(trace.counts['memcpy'], 3 + 7 + 10, trace.info)
        self.assertEqual(set(trace.lost), {'yielded'})
        self.assertGreaterEqual(trace.lost['yielded'], 8)
        self.check_joined(trace)
        self.assertEqual(self.pauses(trace), [True, False, True, False])

    def test_forks_while_stopped(self):
        """Children that only end change nothing; one that runs a program of its own is a session of its own, and recorded."""
        self.start_daemon()
        process = self.start('python3', '-c', FORKING, COPYING)
        process.tell('work 3')
        self.control.stop()
        for _ in range(20):
            process.tell('fork 7')
        process.tell('work 4')
        child = process.tell('run 5')
        process.tell('fork 7')
        self.assertEqual(self.control.start(process.process.pid), (1, 1, 0))
        process.tell('fork 7')
        process.tell('work 6')
        self.assertEqual(process.end(), (0, ''))
        self.wait(lambda: not self.sessions(), 'the end')
        counts = {}
        for path in self.files():
            trace = self.check(path, None)
            counts[trace.info['sessions'][0]['pid']] = trace.counts['memcpy']
        self.assertEqual(counts, {process.process.pid: 9, child: 5})

    def test_a_thread_that_waits_for_room(self):
        """Lossless, its daemon stands still: a stop that comes meanwhile is heard when it goes on, and nothing is lost."""
        self.start_daemon()
        bursts = self.start(TRACESMITH_LOSSLESS='1', TRACESMITH_RING_SIZE='64K')
        bursts.tell('go 1')
        self.daemon.send_signal(signal.SIGSTOP)
        answers = []
        went = threading.Thread(target=lambda: answers.append(bursts.tell('go 3000')))
        went.start()
        stopper = control.Control(self.socket)
        self.addCleanup(stopper.close)
        stops = threading.Thread(target=lambda: answers.append(stopper.stop(0, 30000)))
        stops.start()
        time.sleep(1)
        self.assertEqual(answers, [])
        self.daemon.send_signal(signal.SIGCONT)
        for thread in (went, stops):
            thread.join(harness.SECONDS * 2)
            self.assertFalse(thread.is_alive())
        self.assertIn((1, 1, 0), answers)
        self.control.start()
        bursts.tell('go 5')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(self.files()[0], None)
        self.assertLessEqual(trace.counts['kernel'], 3006 * THREADS)
        self.assertGreaterEqual(trace.counts['kernel'], 6 * THREADS)

    def cycle(self, client, n, rest_s=0):
        for _ in range(n):
            sessions, _, timed_out = client.stop()
            self.assertEqual((sessions, timed_out), (1, 0))
            time.sleep(rest_s)
            sessions, _, timed_out = client.start()
            self.assertEqual((sessions, timed_out), (1, 0))

    def settled_footprint(self, pid):
        """As it is once it is the same after some cycles as before them."""
        seen = None
        for _ in range(10):
            self.cycle(self.control, WARM_UP)
            before, seen = seen, footprint(pid)
            if before == seen:
                return seen
        return seen

    def test_cycles_leave_nothing_behind(self):
        """Under load: descriptors, mappings and threads are as many before and after; what is recorded is whole."""
        self.start_daemon()
        bursts = self.start()
        pid = bursts.process.pid
        bursts.tell('run')
        self.cycle(self.control, 2, REST_S)
        # Pools (of CUPTI's buffers, of the virtual GPU's threads) grow to what load they ever saw, on a busy machine one by one; a
        # leak grows each time.
        for _ in range(12):
            before, resident_before = self.settled_footprint(pid), resident_bytes(pid)
            began = time.monotonic()
            self.cycle(self.control, CYCLES - SLOW)
            took_ms = (time.monotonic() - began) * 1000 / (CYCLES - SLOW)
            self.cycle(self.control, SLOW, REST_S)
            after, resident = footprint(pid), resident_bytes(pid)
            if after == before:
                break
        self.assertEqual(after, before)
        launches = bursts.tell('halt')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(self.files()[0], None)
        self.assertEqual(self.pauses(trace), [True, False] * (len(trace.of('pause')) // 2))
        self.assertGreaterEqual(len(trace.of('pause')), 2 * CYCLES)
        self.assertEqual(trace.counts['kernel'],
                         sum(1 for row in trace.of('api') if row['name'] == self.launch))
        self.assertLess(trace.counts['kernel'], launches)
        print('%d cycles, %.1f ms each; %d launches, %d recorded; %s; resident %d KiB before, %d after' % (
            CYCLES, took_ms, launches, trace.counts['kernel'], after, resident_before // 1024, resident // 1024))
        # The rings are pages that were touched; beyond them a cycle leaves none.
        self.assertLess(resident, resident_before + (96 << 20))

    def test_two_clients_at_once(self):
        self.start_daemon()
        bursts = self.start()
        bursts.tell('run')
        errors = []

        def switch(client):
            try:
                self.cycle(client, 50)
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)
        other = control.Control(self.socket)
        self.addCleanup(other.close)
        threads = [threading.Thread(target=switch, args=(client,)) for client in (self.control, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(harness.SECONDS * 2)
        self.assertEqual(errors, [])
        bursts.tell('halt')
        # How often it was on when they launched is anybody's guess; after a last stop and start it is not.
        self.cycle(self.control, 1)
        bursts.tell('go 11')
        self.assertEqual(bursts.end(), (0, ''))
        trace = self.check(self.files()[0], None)
        started_ns = max(row['start_ns'] for row in trace.of('pause') if not row['paused'])
        self.assertEqual(sum(1 for row in trace.of('kernel') if row['start_ns'] > started_ns), 11 * THREADS)
        self.assertEqual(trace.counts['kernel'],
                         sum(1 for row in trace.of('api') if row['name'] == self.launch))
        # It was stopped whenever it was started, and the other way round.
        self.assertEqual(self.pauses(trace), [True, False] * (len(trace.of('pause')) // 2))


# The two others are programs of CUDA's.
SwitchOverHip = harness.over_hip(Switch, but=['test_forks_while_stopped', 'test_stopped_while_the_applications_profiler_has_cupti'])
SwitchOverHipSymbols = harness.over_hip(Switch, 'test_what_is_recorded_is_exact', 'test_a_recording_that_starts_later', form='hip5')

COPYING = '''
import ctypes, os, sys
context, memory, done = ctypes.c_void_p(), ctypes.c_uint64(), 0
host = (ctypes.c_char * 64)()

def begin():
    global cuda
    cuda = ctypes.CDLL('libcuda.so.1')
    assert not cuda.cuInit(0)
    assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    assert not cuda.cuCtxSetCurrent(context)
    assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))

def work(n):
    global done
    for _ in range(n):
        assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(64))
    done += n
    return done
'''
YIELDING = COPYING + '''
cupti, held = ctypes.CDLL(None), ctypes.c_void_p()
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(lambda *_: None)
begin()
for line in sys.stdin:
    what, n = line.split()
    if what == 'take':
        assert not cupti.cuptiSubscribe(ctypes.byref(held), callback, None)
    elif what == 'give':
        assert not cupti.cuptiUnsubscribe(held)
    else:
        work(int(n))
    print(what, done, flush=True)
'''
FORKING = COPYING + '''
import subprocess
begin()
for line in sys.stdin:
    what, n = line.split()
    if what == 'work':
        print(what, work(int(n)), flush=True)
    elif what == 'fork':
        child = os.fork()
        if not child:
            os._exit(int(n))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == int(n)
        print(what, child, flush=True)
    else:
        child = subprocess.Popen([sys.executable, '-c', sys.argv[1] + 'begin(); work(%s)' % n])
        assert not child.wait()
        print(what, child.pid, flush=True)
'''


class Maca(Switch):
    """Another vendor's library: its ids are probed by another call."""
    form, pti = 'maca', True


# Of the tests, those of the shim's side.
for attribute in [name for name in dir(Switch) if name.startswith('test_')]:
    if attribute not in ('test_what_is_recorded_is_exact', 'test_the_applications_own_switch'):
        setattr(Maca, attribute, None)


if __name__ == '__main__':
    CYCLES = option('--cycles', CYCLES)
    SLOW = option('--slow', SLOW)
    harness.main()
