#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl as a person and a script meet it: exit statuses, one line for an error, JSON that parses, help that fits."""
import fcntl
import json
import os
import signal
import stat
import struct
import time
import subprocess

import harness

READING = ('info', 'view', 'verify', 'repair')
COMMANDS = READING + ('record', 'devices', 'status', 'benchmark', 'version')
NOT_YET = ('timeline', 'state', 'graph', 'memory', 'analyze', 'diff', 'export', 'replay', 'benchmark')


class Usage(harness.Case):
    def check_error(self, result, status=2, *words):
        self.assertEqual(result.status, status, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertEqual(result.out, '', result)
        for word in words:
            self.assertIn(word, result.err)

    def check_help(self, *arguments):
        result = harness.tsctl(*arguments)
        self.assertEqual((result.status, result.err), (0, ''), result)
        lines = result.out.splitlines()
        self.assertLessEqual(len(lines), 24, 'does not fit a screen')
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertNotIn('\033', result.out)
        return result.out

    def test_help(self):
        overview = self.check_help('--help')
        self.assertEqual(self.check_help('help'), overview)
        for command in COMMANDS:
            self.assertIn(command, overview)
            self.assertIn('tsctl ' + command, self.check_help(command, '--help'))
            self.check_help('help', command)
        self.check_help('profile', '--help')

    def test_no_command(self):
        result = harness.tsctl()
        self.assertEqual(result.status, 2)
        self.assertIn('tsctl', result.out + result.err)

    def test_unknown(self):
        self.check_error(harness.tsctl('recrod'), 2, 'recrod', 'record')
        self.check_error(harness.tsctl('info', '--jsno', 'x.sbt'), 2, '--jsno')
        self.check_error(harness.tsctl('help', 'nonsense'), 2, 'nonsense')
        for command in READING:
            self.check_error(harness.tsctl(command), 2)

    def test_not_in_this_version(self):
        for command in NOT_YET:
            self.check_error(harness.tsctl(command, 'x.sbt'), 2, command)
        for option in ('--kernel-events', '--capture=replay', '--stacks=python'):
            result = harness.tsctl('record', option, '--', 'true')
            self.assertIn(result.status, (2, 125), result)
            self.assertEqual(len(result.err.splitlines()), 1, result)
            self.assertIn(option.split('=')[-1].strip('-'), result.err)

    def test_version(self):
        result = harness.tsctl('version', '--json')
        self.assertEqual(result.status, 0, result)
        version = json.loads(result.out)
        self.assertTrue(version['version'])
        plain = harness.tsctl('--version')
        self.assertEqual(plain.status, 0)
        self.assertIn(version['version'], plain.out)

    def test_devices(self):
        result = harness.tsctl('devices', '--json')
        self.assertEqual(result.status, 0, result)
        devices = json.loads(result.out)
        self.assertIn('h200', [shape['spec'] for shape in devices['virtual_shapes']])
        self.assertTrue(devices['virtual_note'])
        human = harness.tsctl('devices')
        self.assertEqual(human.status, 0, human)
        self.assertIn('not', human.out)

    def test_status(self):
        env = harness.environment(TRACESMITH_CONTROL=self.path('nobody.sock'))
        result = harness.tsctl('status', '--json', env=env)
        self.assertIn(result.status, (0, 1), result)
        json.loads(result.out)

    def test_view_times(self):
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        first, last = trace.info['start_ns'], trace.info['end_ns']
        middle = (last - first) // 2
        after = harness.tsctl('view', '--json', '--from', str(middle), path)
        rows = [json.loads(line) for line in after.out.splitlines()]
        self.assertEqual(rows, [row for row in trace.rows if row['end_ns'] >= first + middle])
        before = harness.tsctl('view', '--json', '--to', '%dns' % middle, path)
        rows = [json.loads(line) for line in before.out.splitlines()]
        self.assertEqual(rows, [row for row in trace.rows if row['start_ns'] <= first + middle])
        self.check_error(harness.tsctl('view', '--from', '3 parsecs', path), 2, 'parsecs')

    def test_view_limit_and_type(self):
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        limited = harness.tsctl('view', '--json', '--limit', '3', path)
        self.assertEqual([json.loads(line) for line in limited.out.splitlines()], trace.rows[:3])
        kernels = harness.tsctl('view', '--json', '--type', 'kernel,memcpy', path)
        self.assertEqual([json.loads(line) for line in kernels.out.splitlines()],
                         trace.of('kernel', 'memcpy'))
        human = harness.tsctl('view', path)
        self.assertEqual(human.status, 0, human)
        self.assertIn('saxpy', human.out)
        self.assertNotIn('\033', human.out)
        self.check_error(harness.tsctl('view', '--type', 'kernle', path), 2, 'kernle')

    def test_view_stats(self):
        result, path = self.record([harness.app('saxpy', 'driver'), '17'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        stats = json.loads(harness.tsctl('view', '--stats', '--json', path).out)
        kernels = {entry['name']: entry for entry in stats['kernels']}
        self.assertEqual(kernels['saxpy']['count'], 17)
        rows = harness.Trace(path).of('kernel')
        self.assertEqual(kernels['saxpy']['total_ns'],
                         sum(row['end_ns'] - row['start_ns'] for row in rows))
        copies = {entry['name']: entry['bytes'] for entry in stats['copies']}
        truth = self.truth()
        self.assertEqual(sum(copies.values()), sum(truth.copy_bytes))

    def test_pipe_closed(self):
        """`tsctl view | head`: no complaint when the reader has seen enough."""
        result, path = self.record([harness.app('threads', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        piped = harness.run(['sh', '-c', '"$0" view "$1" | head -n 1', harness.TSCTL, path])
        self.assertEqual((piped.status, piped.err), (0, ''), piped)
        self.assertEqual(len(piped.out.splitlines()), 1)

    def test_full_disk(self):
        """Output that cannot be written is an error, not silence."""
        with open('/dev/full', 'w', encoding='utf-8') as full:
            process = subprocess.run([harness.TSCTL, 'version'], stdout=full, stderr=subprocess.PIPE,
                                     env=harness.environment(), timeout=60, check=False)
        self.assertNotEqual(process.returncode, 0)


class Record(harness.Case):
    def test_statuses(self):
        for status in (0, 1, 2, 77, 125, 255):
            path = self.path('%d.sbt' % status)
            result = harness.tsctl('record', '-q', '-o', path, '--', 'sh', '-c', 'exit %d' % status,
                                   env=harness.record_environment())
            self.assertEqual((result.status, result.err), (status, ''), result)

    def test_signalled(self):
        result, _ = self.record(['sh', '-c', 'kill -KILL $$'], '-q')
        self.assertEqual(result.status, 128 + signal.SIGKILL, result)

    def test_could_not_start(self):
        result, path = self.record([self.path('nothere')], '-q')
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertIn('nothere', result.err)
        self.assertFalse(os.path.exists(path))

    def test_no_command(self):
        result = harness.tsctl('record', '-o', self.path('x.sbt'))
        self.assertIn(result.status, (2, 125), result)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_never_overwrites(self):
        path = self.path('recorded.sbt')
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('precious')
        result, _ = self.record(['true'])
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        with open(path, encoding='utf-8') as stream:
            self.assertEqual(stream.read(), 'precious')
        result, _ = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-f')
        self.assertEqual(result.status, 0, result)
        self.check_truth(harness.Trace(path), self.truth())

    def test_unwritable(self):
        result = harness.tsctl('record', '-o', self.path('no/such/folder.sbt'), '--', 'true',
                               env=harness.record_environment())
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_daemon_that_hangs(self):
        hanging = self.path('hanging')
        with open(hanging, 'w') as stream:
            stream.write("#!/bin/sh\ntrap '' TERM HUP\nexec sleep 40\n")
        os.chmod(hanging, 0o755)
        begin = time.monotonic()
        result = harness.run([harness.TSCTL, 'record', '-o', self.path('x.sbt'), '--', 'true'],
                             harness.record_environment(TRACESMITH_DAEMON=hanging), cwd=self.folder)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(result.status, 125, result)
        self.assertIn('does not end', result.err)

    def test_output_out_of_reach(self):
        plain = self.path('plain')
        with open(plain, 'w'):
            pass
        result = self.start('-o', plain + '/x.sbt', '--', 'true')
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertIn('Not a directory', result.err)

    def test_force_spares_a_running_recording(self):
        path = self.path('running.sbt')
        with open(path, 'wb') as stream:
            stream.write(b'SBT')
            stream.flush()
            fcntl.fcntl(stream, fcntl.F_OFD_SETLK if hasattr(fcntl, 'F_OFD_SETLK') else 37,
                        struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
            result = self.start('--force', '-o', path, '--', 'true')
            self.assertEqual(result.status, 125, result)
            self.assertIn('still being written', result.err)
            self.assertEqual(os.path.getsize(path), 3)

    def start(self, *arguments):
        return harness.run([harness.TSCTL, 'record', *arguments], harness.record_environment(),
                           cwd=self.folder)

    def test_default_name(self):
        result = harness.run([harness.TSCTL, 'record', '--vgpu', '--', harness.app('saxpy', 'driver')],
                             harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        names = os.listdir(self.folder)
        self.assertEqual(len(names), 1, names)
        self.assertRegex(names[0], r'^tracesmith-saxpy-driver-\d+\.sbt$')
        self.assertIn(names[0], result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_profile_is_record(self):
        path = self.path('p.sbt')
        result = harness.tsctl('profile', '-q', '-o', path, '--vgpu', '--', harness.app('saxpy', 'driver'),
                               env=harness.record_environment(TS_TRUTH=self.truth_path))
        self.assertEqual(result.status, 0, result)
        self.check_truth(harness.Trace(path), self.truth())

    def test_several_processes(self):
        """All processes of the command are sessions of one file."""
        command = '%s >/dev/null & %s >/dev/null; wait; %s' % (
            harness.app('saxpy', 'driver'), harness.app('pipeline', 'driver'),
            harness.app('exits', 'driver'))
        result, path = self.record(['sh', '-c', command], '--vgpu', '-q', TS_TRUTH=None)
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        self.check_sound(trace)
        self.assertEqual(sorted(session['program'] for session in trace.info['sessions']),
                         ['exits-driver', 'pipeline-driver', 'saxpy-driver'])
        self.assertEqual({row['session'] for row in trace.of('kernel')}, {1, 2, 3})
        self.assertEqual(trace.lost, {})

    def test_ring_sizes(self):
        """Every size that is accepted records; larger rings mean fewer of them, never none."""
        for size in ('64K', '1M', '16M', '64M', '256M'):
            result, path = self.record([harness.app('threads', 'driver')], '--vgpu', '-q', '-f',
                                       '--ring-size', size)
            self.assertEqual(result.status, 0, result)
            self.check_truth(harness.Trace(path), self.truth())
        for size in ('0', '63K', '100K', '512M', 'large'):
            result = harness.tsctl('record', '--ring-size', size, '--', 'true')
            self.assertIn(result.status, (2, 125), result)
            self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_lossless(self):
        """Whoever asks for lossless gets every launch, and the application waits instead."""
        launches = 20000 if harness.SANITIZER else 300000
        result, path = self.record([harness.app('stress', 'driver'), str(launches), '4'], '--vgpu',
                                   '-q', '--lossless', '--ring-size', '256K', seconds=120)
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        self.assertEqual((trace.counts['kernel'], trace.lost), (launches, {}))

    def test_stdin_and_arguments_pass(self):
        with open(self.path('in'), 'w', encoding='utf-8') as stream:
            stream.write('line\n')
        with open(self.path('in'), encoding='utf-8') as stream:
            result = harness.run([harness.TSCTL, 'record', '-q', '-o', self.path('r.sbt'), '--', 'sh', '-c',
                                  'cat; echo "$0" "$@"', 'a b', '--vgpu', '-o'],
                                 harness.record_environment(), stdin=stream)
        self.assertEqual((result.status, result.out), (0, 'line\na b --vgpu -o\n'), result)

    def test_interrupted(self):
        """Control-C ends the command; the file is finished all the same."""
        # The shell waits in a built-in: one that is just starting a child puts an interrupt off until that ends.
        path = self.path('r.sbt')
        env = harness.record_environment()
        process = subprocess.Popen(
            [harness.TSCTL, 'record', '-q', '-o', path, '--vgpu', '--', 'sh', '-c',
             harness.app('saxpy', 'driver') + '; echo ready; read line'], env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        while b'ready' not in process.stdout.readline():
            pass
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        trace = harness.Trace(path)
        self.check_sound(trace)
        self.assertEqual(trace.counts['kernel'], 10)

    def test_nothing_is_left_behind(self):
        """No process, no socket, no folder outlives a recording; the file is its owner's alone."""
        runtime = self.path('runtime')
        os.mkdir(runtime, 0o700)
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q',
                                   XDG_RUNTIME_DIR=runtime, TMPDIR=runtime)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(os.listdir(runtime), [])
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o022, 0)
        self.assertEqual(self.still_running('recorded.sbt'), [])

    def still_running(self, word):
        end = time.monotonic() + 5
        while True:
            found = []
            for pid in filter(str.isdigit, os.listdir('/proc')):
                try:
                    with open('/proc/%s/cmdline' % pid, 'rb') as stream:
                        line = stream.read()
                except OSError:
                    continue
                if (self.folder + '/' + word).encode() in line:
                    found.append(line)
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def test_duration(self):
        """-d ends the recording, not the command."""
        path = self.path('r.sbt')
        result = harness.tsctl('record', '-q', '-o', path, '-d', '0.5', '--vgpu', '--', 'sh', '-c',
                               harness.app('saxpy', 'driver') + '; sleep 1; '
                               + harness.app('saxpy', 'driver') + '; exit 3',
                               env=harness.record_environment())
        self.assertEqual(result.status, 3, result)
        self.assertEqual(result.out.count('saxpy: 10 launches'), 2, result)
        trace = harness.Trace(path)
        self.check_sound(trace)
        self.assertEqual(trace.counts['kernel'], 10)


class Preload(harness.Case):
    def test_output_environment(self):
        result, _ = self.preload([harness.app('saxpy', 'driver')],
                                 TRACESMITH_OUTPUT=self.path('mine-%p.trace'))
        self.assertEqual(result.status, 0, result)
        path = self.path('mine-%d.trace' % result.pid)
        self.check_truth(harness.Trace(path), self.truth())

    def test_never_overwrites(self):
        output = self.path('taken.sbt')
        with open(output, 'w', encoding='utf-8') as stream:
            stream.write('precious')
        result, traces = self.preload([harness.app('saxpy', 'driver')], TRACESMITH_OUTPUT=output)
        self.assertEqual(result.status, 0, result)
        with open(output, encoding='utf-8') as stream:
            self.assertEqual(stream.read(), 'precious')
        self.assertEqual(len(traces), 2, traces)
        self.check_truth(harness.Trace([path for path in traces if path != output][0]), self.truth())

    def test_output_cannot_be_written(self):
        """No file can be made: the program neither notices nor says anything."""
        result, traces = self.preload([harness.app('saxpy', 'driver')],
                                      TRACESMITH_OUTPUT=self.path('no/such/folder/x.sbt'))
        self.assertEqual((result.status, result.out, result.err), (0, 'saxpy: 10 launches\n', ''), result)
        self.assertEqual(traces, [])

    def test_no_daemon_to_start(self):
        result, traces = self.preload([harness.app('saxpy', 'driver')],
                                      TRACESMITH_DAEMON=self.path('nothere'))
        self.assertEqual((result.status, result.out, result.err), (0, 'saxpy: 10 launches\n', ''), result)
        self.assertEqual(traces, [])

    def test_small_file_limit(self):
        """A limit on file sizes is the application's business: no SIGXFSZ out of nowhere."""
        result, _ = self.preload(['sh', '-c', 'ulimit -f 64; exec ' + harness.app('saxpy', 'driver')],
                                 TS_TRUTH=None)
        self.assertEqual((result.status, result.out), (0, 'saxpy: 10 launches\n'), result)


if __name__ == '__main__':
    harness.main()
