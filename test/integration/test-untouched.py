#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LD_PRELOAD around programs that use no GPU changes nothing: not what they print, not how they end,
no socket, no thread, no process, no file.
"""
import os
import re
import shutil
import sys
import unittest

import harness

OLD_S = 946684800
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'

# System calls that would betray us, each with what is compared of it.
TRACED = ('socket,socketpair,connect,bind,memfd_create,clone,clone3,fork,vfork,eventfd2,epoll_create1,'
          'timerfd_create,pipe2,openat,open,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat2')
MAKES = re.compile(r'O_CREAT|O_WRONLY|O_RDWR')


def calls_of(log):
    """System calls that make or open something for writing, by name; reading a library is no harm."""
    counts = {}
    with open(log, encoding='utf-8', errors='replace') as stream:
        for line in stream:
            match = re.match(r'(?:\d+\s+)?(\w+)\((.*)', line)
            if not match:
                continue
            name, rest = match.groups()
            if name in ('open', 'openat') and not MAKES.search(rest):
                continue
            counts[name] = counts.get(name, 0) + 1
    return counts


class Untouched(harness.Case):
    def environments(self):
        """With nothing, and preloaded; the shim's own setting is told apart from what is inherited."""
        plain = harness.environment(HOME=self.folder)
        preloaded = harness.preload_environment(None, HOME=self.folder)
        if harness.SANITIZER:
            # A sanitizer's runtime changes processes by itself: it belongs on both sides.
            plain['LD_PRELOAD'] = harness.SANITIZER
            plain['ASAN_OPTIONS'] = preloaded['ASAN_OPTIONS']
        return plain, preloaded

    def check_same(self, *argv, status=0):
        plain, preloaded = self.environments()
        folders = [self.path('plain'), self.path('preloaded')]
        results = []
        for env, folder in zip((plain, preloaded), folders):
            os.mkdir(folder)
            with open(os.path.join(folder, 'hello.c'), 'w', encoding='utf-8') as stream:
                stream.write(HELLO)
            # Old, so that git, which mistrusts what is as new as its index, does the same each time.
            os.utime(os.path.join(folder, 'hello.c'), (OLD_S, OLD_S))
            results.append(harness.run(list(argv), env, cwd=folder))
        self.assertEqual(results[0].status, status, results[0])
        self.assertEqual((results[1].status, results[1].out, results[1].err),
                         (results[0].status, results[0].out, results[0].err))
        self.assertEqual(self.files(folders[1]), self.files(folders[0]))
        self.check_same_calls(argv, plain, preloaded)

    def files(self, folder):
        return sorted(os.path.relpath(os.path.join(top, name), folder)
                      for top, _, names in os.walk(folder) for name in names)

    def check_same_calls(self, argv, plain, preloaded):
        strace = shutil.which('strace')
        if not strace or harness.SANITIZER:
            return
        if harness.run([strace, '-o', self.path('probe'), 'true']).status:
            return  # not allowed here
        counts = []
        for name, env in (('plain', plain), ('preloaded', preloaded)):
            log = self.path(name + '.strace')
            # The preload is given to the program, not to strace.
            given = [argument for key in ('LD_PRELOAD', 'LD_LIBRARY_PATH') if key in env
                     for argument in ('-E', '%s=%s' % (key, env[key]))]
            outer = {key: value for key, value in env.items() if not key.startswith('LD_')}
            harness.run([strace, '-f', '-qq', '-o', log, '-e', 'trace=' + TRACED] + given
                        + list(argv), outer, cwd=self.path(name))
            counts.append(calls_of(log))
        self.assertEqual(counts[1], counts[0])

    def test_shell(self):
        self.check_same('sh', '-c', 'echo out; echo err >&2; (exit 3); x=$(echo sub | cat); echo $x; exit 5',
                        status=5)

    def test_shell_killed(self):
        self.check_same('sh', '-c', 'kill -TERM $$', status=-15)

    def test_python(self):
        self.check_same(sys.executable, '-c',
                        'import os, threading, subprocess\n'
                        'print(sorted(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))\n'
                        't = threading.Thread(target=print, args=("thread",)); t.start(); t.join()\n'
                        'print(subprocess.run(["echo", "child"], capture_output=True).stdout)\n'
                        'try:\n    raise KeyError(1)\nexcept KeyError as e:\n    print(repr(e))\n'
                        'os._exit(7)', status=7)

    def test_git(self):
        if not shutil.which('git'):
            self.skipTest('no git')
        self.check_same('sh', '-c', 'git init -q . && git add hello.c && '
                        'GIT_COMMITTER_DATE=2000-01-01T00:00:00Z git -c user.name=n '
                        '-c user.email=e commit -q --date 2000-01-01T00:00:00Z -m m && '
                        'git log --format=%s%ad && git diff HEAD --stat && git nonsense', status=1)

    def test_compiler(self):
        if not shutil.which('gcc'):
            self.skipTest('no gcc')
        self.check_same('sh', '-c', 'gcc -O2 -o hello hello.c && ./hello && gcc -o no nothere.c',
                        status=1)

    def test_static(self):
        self.check_same(harness.app('plain-static'), 'a', 'b', status=4)

    def test_dynamic(self):
        self.check_same(harness.app('plain'), 'a', status=4)

    def test_cxx_throws(self):
        self.check_same(harness.app('throws'), '20000' if harness.SANITIZER else '100000', status=3)

    def test_exec_through_many(self):
        self.check_same('env', 'sh', '-c', 'exec env sh -c "exec sh -c \'echo $0; exit 9\'"', status=9)

    def test_nothing_loaded(self):
        """No CUDA, no CUPTI, no unwinder, and nothing but the shim mapped into an untouched process."""
        _, preloaded = self.environments()
        result = harness.run([sys.executable, '-c', 'print(open("/proc/self/maps").read())'], preloaded)
        for library in ('libcuda', 'libcupti', 'libunwind', 'libcudart', 'libprotobuf', 'libzstd'):
            self.assertNotIn(library, result.out)
        self.assertIn('libtsinject.so', result.out)

    def test_recorded(self):
        """`tsctl record` around the same: the program's output and end, and a file that says why it is empty."""
        result, path = self.record(['sh', '-c', 'echo out; echo err >&2; exit 5'])
        self.assertEqual((result.status, result.out), (5, 'out\n'), result)
        lines = result.err.splitlines()
        self.assertEqual(lines[0], 'err')
        self.assertEqual(len(lines), 2, 'one summary line: %s' % result)
        trace = harness.Trace(path)
        self.assertTrue(trace.info.get('empty_reason'), trace.info)


if __name__ == '__main__':
    unittest.TestCase.maxDiff = None
    harness.main()
