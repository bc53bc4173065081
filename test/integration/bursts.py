# SPDX-License-Identifier: Apache-2.0
"""bursts-driver under a recorder, and the files that come of it.

Whatever is told to wait waits for what it waits for: nothing here depends on how fast the machine is.
"""
import glob
import os
import subprocess
import time

import harness

THREADS = 2


class Bursts(harness.Case):
    """bursts-driver, which launches when it is told to, and the files that come of it."""

    def begin(self, command, env):
        self.process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, self.process)

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    def tell(self, line):
        """Returns how many launches there were by then."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise AssertionError('it ended: %s' % self.process.stderr.read())
        return int(answer[1])

    def wait(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while True:
            found = what()
            if found:
                return found
            if time.monotonic() > end:
                self.fail('%s did not come: %s' % (name, sorted(os.listdir(self.folder))))
            time.sleep(0.02)

    def parts(self, stem='run'):
        """The finished files, the oldest first."""
        paths = glob.glob(self.path(stem + '.[0-9]*.sbt'))
        return sorted(paths, key=lambda path: int(path.split('.')[-2]))

    def go(self, n):
        """
        As tell(), and its daemon has seen it all: a program that goes on at once launches more than rings hold while a slow
        daemon looks elsewhere.
        """
        launched = self.tell('go %d' % n)
        self.wait(lambda: int(self.session()['counts'].get('kernel', 0)) >= launched, 'what was launched')
        return launched

    def until_parts(self, n, launches=1000):
        """Launches until there are so many finished files."""
        self.wait(lambda: self.go(launches) and len(self.parts()) >= n, '%d files' % n)

    def check_dump(self, path, launched, is_cut=False):
        self.wait(lambda: os.path.exists(path), 'a dump')
        trace = harness.Trace(path)
        self.assertTrue(trace.info['finished'])
        self.assertEqual(harness.tsctl('verify', path).status, 0)
        self.check_no_gap(trace, is_cut)
        self.assertGreaterEqual(trace.counts['kernel'], launched)
        return trace

    def check_no_gap(self, trace, is_cut=False):
        """
        Calls are numbered one after the other within a process: none is missing between the first and the last. If the older rows
        were deleted (is_cut), a thread's first launches may lack their kernels: the daemon drains a kernel's row before the row of its
        call if that comes from another shard, and a file may end between the two.
        """
        calls = sorted(row['op_id'] for row in trace.of('api'))
        kernels = {row['op_id'] for row in trace.of('kernel')}
        self.assertTrue(kernels)
        self.assertEqual(len(calls), len(set(calls)))
        self.assertEqual(trace.lost, {})
        # Between the first kernel and the last that is there, every launch is.
        first, last = min(kernels), max(kernels)
        launches = {row['op_id'] for row in trace.of('api') if 'Launch' in row.get('name', '') and
                    first <= row['op_id'] <= last}
        self.assertTrue(launches)
        if is_cut:
            for tid in {row['tid'] for row in trace.of('api')}:
                for op_id in sorted(row['op_id'] for row in trace.of('api') if row['tid'] == tid and row['op_id'] in launches):
                    if op_id in kernels:
                        break
                    launches.remove(op_id)
        missing = sorted(launches - kernels)
        self.assertEqual((len(missing), missing[:3], missing[-3:], first, last), (0, [], [], first, last))
