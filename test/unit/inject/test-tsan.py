#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shim with 64 launching threads under ThreadSanitizer: no report. APP CUPTI LIBRARY DAEMON PLUGIN are built; the first three for it.

Three times: threads that end, without stacks, for libunwind takes locks in a thread's last moments, when the sanitizer has let go
of it; 16 that annotate while CUPTI joins their session; and threads that stay, with stacks, while recording is stopped and started, libraries (PLUGIN) come and go, and the
application's own profiler takes CUPTI and gives it back. Without randomised addresses, which some versions of
the sanitizer do not bear.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'integration'))
import control  # noqa: E402

LAUNCHES = 500
BURST = 5
CYCLES = 60
ROWS = 5000
# Longer than a stop has to last for CUPTI to be switched off.
REST_S = 0.5
SECONDS = 100
# Not built for it: what libunwind calls is not ours to answer for, and what the dynamic loader allocates is read under a
# lock of the loader's that the sanitizer does not see.
SUPPRESSIONS = 'called_from_lib:libunwind\nrace:rtld-malloc.h\n'


class Run:
    def __init__(self, folder, daemon):
        self.folder, self.traces = folder, os.path.join(folder, 'traces')
        os.mkdir(self.traces)
        with open(self.path('suppressions'), 'w', encoding='utf-8') as stream:
            stream.write(SUPPRESSIONS)
        self.service = subprocess.Popen([daemon, '--inject-socket', self.path('i.sock'), '--control-socket',
                                         self.path('c.sock'), '--directory', self.traces], stderr=subprocess.DEVNULL)
        end = time.monotonic() + SECONDS
        while True:
            try:
                self.client = control.Control(self.path('c.sock'))
                return
            except OSError:
                if self.service.poll() is not None or time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, app, cupti, library, *arguments, preload=None, **env):
        environment = dict(os.environ, FAKE_CUPTI=cupti, CUDA_INJECTION64_PATH=library,
                           TRACESMITH_SOCKET=self.path('i.sock'), TSAN_OPTIONS='log_path=%s suppressions=%s' % (
                               self.path('report'), self.path('suppressions')), **env)
        # Into the program alone: only that has the sanitizer's runtime.
        preload = ['env', 'LD_PRELOAD=' + preload] if preload else []
        return subprocess.Popen(['setarch', '-R', *preload, app, *map(str, arguments)], env=environment,
                                stdin=subprocess.PIPE)

    def end(self, process):
        """Returns 0 where nothing was reported and a trace written."""
        try:
            self.client.close()
            process.stdin.close()
            status = process.wait(SECONDS)
        finally:
            process.kill()
            process.wait()
            self.service.terminate()
            self.service.wait(SECONDS)
        for report in glob.glob(self.path('report*')):
            with open(report, encoding='utf-8', errors='replace') as stream:
                print(stream.read())
            status = status or 1
        traces = glob.glob(self.path('traces/*/*.sbt'))
        print('status %d, %d trace' % (status, len(traces)))
        return 0 if not status and len(traces) == 1 else 1


def threads_that_end(folder, app, cupti, library, daemon, what):
    run = Run(folder, daemon)
    return run.end(run.start(app, cupti, library, what, LAUNCHES, TRACESMITH_STACKS='none'))


def threads_that_stay(folder, app, cupti, library, daemon, plugin):
    run = Run(folder, daemon)
    process = run.start(app, cupti, library, 'sixty-four-that-stay', BURST, plugin, preload=library)
    try:
        client = run.client
        end = time.monotonic() + SECONDS
        while not client.start()[0] and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        n = 0
        for i in range(CYCLES):
            n += client.stop(0, SECONDS * 1000)[1]
            time.sleep(0 if i % 10 else REST_S)
            n += client.start(0, SECONDS * 1000)[1]
            time.sleep(0 if i % 4 else 0.1)
        end = time.monotonic() + SECONDS
        while client.rows() < ROWS and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        rows = client.rows()
        print('%d switches, %d rows' % (n, rows))
    finally:
        status = run.end(process)
    return status or (0 if n == 2 * CYCLES and rows >= ROWS else 1)


def main():
    if not shutil.which('setarch'):
        print('skipped: setarch is not installed')
        return 77
    app, cupti, library, daemon, plugin = sys.argv[1:6]
    status = 0
    for what in ('sixty-four-threads', 'annotate'):
        with tempfile.TemporaryDirectory(prefix='ts-tsan-') as folder:
            status |= threads_that_end(folder, app, cupti, library, daemon, what)
    with tempfile.TemporaryDirectory(prefix='ts-tsan-') as folder:
        return threads_that_stay(folder, app, cupti, library, daemon, plugin) or status


if __name__ == '__main__':
    sys.exit(main())
