#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full, read-only or taken away: the program runs on, the user is told, what was written can be read."""
import json
import os
import subprocess
import time

import harness

LAUNCHES = 100000


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
        app = [harness.app('stress', 'driver'), str(LAUNCHES), '2']
        result = self.on_disk('size=300k', self.record_line('disk/x.sbt', *app),
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
        argv = [harness.app('saxpy', 'driver')]
        alone = harness.run(argv, harness.alone_environment(), cwd='/proc')
        result = harness.run(argv, harness.preload_environment(''), cwd='/proc')
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err))

    def test_removed(self):
        """The folder is gone before the end: the user is not told that all is well."""
        os.mkdir(self.path('gone'))
        path = self.path('gone/x.sbt')
        argv = [harness.TSCTL, 'record', '-o', path, '--vgpu', '--', harness.app('workers', 'driver'), '10']
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


if __name__ == '__main__':
    harness.main()
