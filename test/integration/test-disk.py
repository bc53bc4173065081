#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full, read-only or taken away: the program runs on, the user is told, what was written can be read."""
import errno
import json
import os
import resource
import subprocess
import time

import harness

LAUNCHES = 100000 if harness.IS_SLOW else 400000


class Disk(harness.Case):
    def on_disk(self, options, *script):
        """Runs a shell script in a folder `disk` that is a file system of its own, mounted with these options."""
        mount = 'mkdir disk && mount -t tmpfs -o %s none disk && ' % options
        alone = ['unshare', '--mount', '--map-root-user', 'sh', '-c']
        try:
            subprocess.run(alone + [mount + 'true'], cwd=self.folder, check=True, timeout=harness.SECONDS,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest('no file system can be mounted here')
        os.rmdir(self.path('disk'))
        return harness.run(alone + [mount + ' '.join(script)], harness.record_environment(), cwd=self.folder)

    def record_line(self, where, *app):
        return ' '.join([harness.TSCTL, 'record', '-o', where, '--vgpu', '--'] + list(app))

    def test_full(self):
        app = [self.app('stress'), str(LAUNCHES), '2']
        result = self.on_disk('size=200k', self.record_line('disk/x.sbt', *app),
                              '; echo $?; cp disk/x.sbt .')
        self.assertEqual(result.out, 'stress: %d launches from 2 threads\n0\n' % LAUNCHES, result)
        self.assertRegex(result.err, r'LOST: .*\d disk.*CUT SHORT: the disk is full')
        trace = harness.tsctl('info', '--json', self.path('x.sbt'))
        info = json.loads(trace.out)
        self.assertTrue(info['finished'])
        self.assertGreater(info['counts']['kernel'], 0)
        self.assertGreater(info['lost'].get('disk', 0), 0)
        self.assertEqual(harness.tsctl('verify', self.path('x.sbt')).status, 0)

    def test_full_from_the_start(self):
        """Not even a block fits: the program knows nothing of it."""
        result = self.on_disk('size=8k', 'dd if=/dev/zero of=disk/all bs=4k count=2 2>/dev/null;',
                              self.record_line('disk/x.sbt', 'echo', 'hello'), '; echo $?')
        self.assertIn(result.out, ('125\n', 'hello\n0\n'))
        self.assertIn('No space left on device', result.err)

    def test_read_only(self):
        result = self.on_disk('size=1m', 'mount -o remount,ro disk;',
                              self.record_line('disk/x.sbt', 'echo', 'hello'), '; echo $?')
        self.assertEqual(result.out, '125\n', result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertIn('Read-only file system', result.err)

    def test_read_only_alone(self):
        """Preloaded: without a place to write to the program is as it was."""
        argv = [self.app('saxpy')]
        alone = harness.run(argv, harness.alone_environment(), cwd='/proc')
        result = harness.run(argv, harness.preload_environment(''), cwd='/proc')
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err))

    def bad_disk(self, *script, **env):
        """Starts a shell script under `tsctl record`; the sessions' disk is bad while the file `bad` exists."""
        with open(self.path('bad'), 'w'):
            pass
        argv = [harness.TSCTL, 'record', '-o', self.path('x.sbt'), '--vgpu', '--ring-size', '256K', '--',
                'sh', '-c', ' '.join(script)]
        env = harness.record_environment(LD_PRELOAD=os.path.join(harness.APPS, 'libbaddisk.so'),
                                         TS_BAD_DISK=self.path('bad'), **env)
        return subprocess.Popen(argv, env=env, cwd=self.folder, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def check_sound_but_for_losses(self, trace):
        self.assertTrue(trace.info['finished'])
        self.assertEqual(harness.tsctl('verify', trace.path).status, 0)

    def check_fails(self, error):
        """What was written before can be read, and the user is told; the program knows nothing of it."""
        app = [self.app('workers'), '2']
        process = self.bad_disk(*app, TS_BAD_DISK_ERROR=str(error))
        out, err = process.communicate(timeout=harness.SECONDS * 2)
        self.assertEqual((process.returncode, out), (0, b'workers: 2 rounds of 4 threads in 1 processes\n'), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(b'incomplete: ' + os.strerror(error).encode(), err)
        self.assertFalse(json.loads(harness.tsctl('info', '--json', self.path('x.sbt')).out)['finished'])
        self.assertEqual(harness.tsctl('repair', self.path('x.sbt')).status, 0)
        self.assertEqual(harness.tsctl('verify', self.path('x.sbt')).status, 0)

    def test_becomes_read_only(self):
        self.check_fails(errno.EROFS)

    def test_fails(self):
        self.check_fails(errno.EIO)

    def limited_daemon(self, n_bytes):
        """The path of a daemon that may write files of so many bytes."""
        path = self.path('limited-daemon')
        with open(path, 'w') as stream:
            stream.write('#!/usr/bin/env python3\nimport os, resource, sys\n'
                         'resource.setrlimit(resource.RLIMIT_FSIZE, (%d, %d))\n'
                         'os.execv(%r, sys.argv)\n' % (n_bytes, n_bytes, harness.DAEMON))
        os.chmod(path, 0o755)
        return path

    def test_file_size_limit(self):
        """RLIMIT_FSIZE, of a recording's daemon and of a private one: no signal ends it, and the file has its end."""
        app = [self.app('stress'), str(LAUNCHES), '2']
        daemon = self.limited_daemon(200000)
        result, path = self.record(app, '--vgpu', TRACESMITH_DAEMON=daemon)
        self.assertEqual((result.status, result.out), (0, 'stress: %d launches from 2 threads\n' % LAUNCHES), result)
        self.assertRegex(result.err, r'LOST: .*\d disk.*CUT SHORT: the file reached its size limit')
        result, paths = self.preload(app, TRACESMITH_DAEMON=daemon, TRACESMITH_OUTPUT=self.path('alone.sbt'))
        self.assertEqual((result.status, result.out, result.err),
                         (0, 'stress: %d launches from 2 threads\n' % LAUNCHES, ''))
        for path in (path, self.path('alone.sbt')):
            trace = self.finished_trace(path)
            self.check_sound_but_for_losses(trace)
            self.assertGreater(trace.lost['disk'], 0)
            self.assertGreater(trace.counts['kernel'], 0)
            self.assertLessEqual(os.path.getsize(path), 200000)
            self.assertIn('the file reached its size limit', harness.tsctl('info', path).out)

    def test_export_says_why(self):
        """A write that fails in the middle of an output is reported with its own errno, whatever happened since."""
        result, path = self.record([self.app('stress'), str(LAUNCHES // 20), '1'], '--vgpu', '-q', '--stacks', 'none')
        self.assertEqual(result.status, 0, result)
        for arguments in (('export', '--format', 'perfetto'), ('export', '--format', 'json'), ('graph', '--json')):
            full = harness.tsctl(*arguments, '-o', '/dev/full', path)
            self.assertEqual((full.status, len(full.err.splitlines())), (2, 1), full)
            self.assertIn('No space left on device', full.err)
            # Of standard output as well.
            with open('/dev/full', 'w', encoding='utf-8') as stream:
                full = subprocess.run([harness.TSCTL, *arguments, path], stdout=stream, stderr=subprocess.PIPE,
                                      text=True, check=False, env=harness.environment())
            self.assertEqual(full.returncode, 2, full)
            self.assertIn('No space left on device', full.stderr)
            # A file that grows beyond its limit; Python ignores SIGXFSZ, and so does what it starts.
            out = self.path('out')
            full = subprocess.run([harness.TSCTL, *arguments, '-o', out, path], stderr=subprocess.PIPE, text=True,
                                  check=False, restore_signals=False, env=harness.environment(),
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
            self.assertEqual(full.returncode, 2, full)
            self.assertIn('cannot write %s: File too large' % out, full.stderr)
            self.assertFalse(os.path.exists(out))

    def test_outputs_on_a_full_disk(self):
        """The file of that name stays as it was, and nothing is left beside it."""
        result, path = self.record([self.app('stress'), str(LAUNCHES // 20), '1'], '--vgpu', '-q', '--stacks', 'none')
        self.assertEqual(result.status, 0, result)
        commands = ['export --format perfetto', 'export --format json', 'graph --json', 'cut --from 0', 'merge ' + path]
        script = ['dd if=/dev/zero of=disk/fill bs=4k count=14 2>/dev/null; cp small.sbt disk/made.sbt; echo before > disk/out;',
                  'dd if=/dev/zero of=disk/rest bs=4k 2>/dev/null;',
                  *('%s %s -o disk/out %s; echo $?;' % (harness.TSCTL, command, path) for command in commands),
                  '%s index --every 1 disk/made.sbt; echo $?;' % harness.TSCTL,
                  'cat disk/out; cmp disk/made.sbt small.sbt && ls disk']
        made = harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), self.path('small.sbt'), '100000'])
        self.assertEqual(made.status, 0, made)
        result = self.on_disk('size=128k', *script)
        self.assertEqual(result.out, '2\n' * 6 + 'before\nfill\nmade.sbt\nout\nrest\n', result)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 6, result)
        for line in lines:
            self.assertRegex(line, r'cannot write (to )?disk/\S+: No space left on device')

    def test_quota(self):
        """It turns out with a write that the quota is used up: the file's end still fits."""
        process = self.bad_disk(self.app('stress'), str(LAUNCHES), '2',
                                TS_BAD_DISK_ERROR=str(errno.EDQUOT), TS_BAD_DISK_WRITES='1')
        err = process.communicate(timeout=harness.SECONDS * 2)[1]
        self.assertEqual(process.returncode, 0, err)
        self.assertRegex(err.decode(), r'LOST: .*\d disk.*CUT SHORT: the disk quota of the file system is used up')
        trace = harness.Trace(self.path('x.sbt'))
        self.check_sound_but_for_losses(trace)
        self.assertGreater(trace.lost['disk'], 0)

    def test_stalls(self):
        """It takes nothing for as long as the program runs: that one does not wait, and what does not fit is ring_full."""
        process = self.bad_disk(self.app('stress'), str(LAUNCHES), '2', '; echo done')
        lines = [process.stdout.readline() for _ in range(2)]
        self.assertTrue(os.path.exists(self.path('bad')))
        os.unlink(self.path('bad'))
        out, err = process.communicate(timeout=harness.SECONDS * 2)
        self.assertEqual((process.returncode, lines, out),
                         (0, [b'stress: %d launches from 2 threads\n' % LAUNCHES, b'done\n'], b''), err)
        trace = harness.Trace(self.path('x.sbt'))
        self.check_sound_but_for_losses(trace)
        # What lacks its other half, which was lost for that reason, is told beside it.
        self.assertEqual({reason for reason in trace.lost if not reason.startswith('unjoined_')}, {'ring_full'})
        self.assertGreaterEqual(trace.counts['api'] + trace.counts['kernel'] + trace.lost['ring_full'], 2 * LAUNCHES)

    def test_removed(self):
        """The folder is gone before the end: the user is not told that all is well."""
        os.mkdir(self.path('gone'))
        path = self.path('gone/x.sbt')
        argv = [harness.TSCTL, 'record', '-o', path, '--vgpu', '--', self.app('workers'), '10']
        process = subprocess.Popen(argv, env=harness.record_environment(TS_APP_WAIT='1'), cwd=self.folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + harness.SECONDS
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.02)
        os.unlink(path)
        os.rmdir(self.path('gone'))
        out, err = process.communicate(b'', timeout=harness.SECONDS * 2)
        self.assertEqual((process.returncode, out), (0, b'workers: 10 rounds of 4 threads in 1 processes\n'), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(b'No such file', err)


# The others are of the daemon and of tsctl alone.
DiskOverHip = harness.over_hip(Disk, 'test_full', 'test_read_only_alone', 'test_fails', 'test_file_size_limit', 'test_stalls')


if __name__ == '__main__':
    harness.main()
