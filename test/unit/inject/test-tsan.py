#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shim with 64 launching threads under ThreadSanitizer: no report. APP CUPTI LIBRARY DAEMON are built; the first three for it.

Without stacks: libunwind takes locks in a thread's last moments, when the sanitizer has let go of it. Without
randomised addresses, which some versions of the sanitizer do not bear.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

LAUNCHES = 500
SECONDS = 100


def run(folder, app, cupti, library, daemon):
    path = lambda name: os.path.join(folder, name)
    os.mkdir(path('traces'))
    service = subprocess.Popen([daemon, '--inject-socket', path('i.sock'), '--control-socket', path('c.sock'),
                                '--directory', path('traces')], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + SECONDS
        while not os.path.exists(path('i.sock')) and service.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        environment = dict(os.environ, FAKE_CUPTI=cupti, CUDA_INJECTION64_PATH=library, TRACESMITH_STACKS='none',
                           TRACESMITH_SOCKET=path('i.sock'), TSAN_OPTIONS='log_path=' + path('report'))
        status = subprocess.run(['setarch', '-R', app, 'sixty-four-threads', str(LAUNCHES)], env=environment,
                                timeout=SECONDS, check=False).returncode
    finally:
        service.terminate()
        service.wait(SECONDS)
    for report in glob.glob(path('report*')):
        with open(report, encoding='utf-8', errors='replace') as stream:
            print(stream.read())
        status = status or 1
    traces = glob.glob(path('traces/*.sbt'))
    print('status %d, %d trace' % (status, len(traces)))
    return 0 if not status and len(traces) == 1 else 1


def main():
    if not shutil.which('setarch'):
        print('skipped: setarch is not installed')
        return 77
    with tempfile.TemporaryDirectory(prefix='ts-tsan-') as folder:
        return run(folder, *sys.argv[1:5])


if __name__ == '__main__':
    sys.exit(main())
