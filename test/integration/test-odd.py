#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Odd programs: each runs as it does unrecorded, and its trace holds what it did.

Programs of a sanitizer, whose runtime wants to come first in the process; programs that lock their memory.
"""
import json
import re
import resource
import sys

import harness

RUNTIMES = {'address': 'libasan.so.8', 'leak': 'liblsan.so.0', 'thread': 'libtsan.so.2',
            'undefined': 'libubsan.so.1'}
# Mistake and what the sanitizer reports of it.
MISTAKES = {'address': {'overflow': 'heap-buffer-overflow', 'leak': 'detected memory leaks'},
            'leak': {'leak': 'detected memory leaks'},
            'thread': {'race': 'data race'},
            'undefined': {'shift': 'shift exponent'}}


class Sanitizers(harness.Case):
    def setUp(self):
        super().setUp()
        if harness.SANITIZER:
            self.skipTest('the shim is itself built with a sanitizer')

    def check(self, argv, report=None, **env):
        """Recorded as alone: status, output and report; and the trace has what the program did."""
        alone = harness.run(argv, harness.alone_environment(TS_TRUTH=self.truth_path, **env),
                            cwd=self.folder)
        result, path = self.record(argv, '--vgpu', '-q', '-f', **env)
        self.assertEqual((result.status, result.out), (alone.status, alone.out), '%s\n%s' % (alone, result))
        if report is None:
            self.assertEqual((alone.status, result.err), (0, alone.err), alone)
        else:
            self.assertIn(report, alone.err)
            self.assertIn(report, result.err)
            self.assertNotEqual(alone.status, 0, alone)
        trace = harness.Trace(path)
        self.assertEqual(len(trace.info['sessions']), 1, trace.info)
        if report is None:
            self.check_truth(trace, self.truth())
        else:
            self.assertEqual(trace.counts.get('api', 0) > 0, True, trace.info)
        return result

    def sanitized(self, name):
        return harness.app('sanitized-' + name)

    def test_linked(self):
        """The runtime is a library that the program needs; nobody set ASAN_OPTIONS."""
        for name in RUNTIMES:
            with self.subTest(name):
                self.check([self.sanitized(name)])

    def test_linked_mistakes(self):
        for name, mistakes in MISTAKES.items():
            for mistake, report in mistakes.items():
                with self.subTest(name, mistake=mistake):
                    self.check([self.sanitized(name), mistake], report,
                               UBSAN_OPTIONS='halt_on_error=1')

    def test_preloaded(self):
        """The user preloads the runtime into a program that was built without; ours comes behind it."""
        for runtime in RUNTIMES.values():
            with self.subTest(runtime):
                self.check([harness.app('saxpy', 'driver')], LD_PRELOAD=runtime)

    def test_preloaded_order(self):
        result = self.record(['sh', '-c', 'echo $LD_PRELOAD; echo $ASAN_OPTIONS'], '--vgpu', '-q',
                             LD_PRELOAD='libasan.so.8:libm.so.6', ASAN_OPTIONS='detect_leaks=0')[0]
        self.assertEqual(result.out.splitlines(), [
            'libasan.so.8:%s:libm.so.6' % harness.SHIM, 'detect_leaks=0:verify_asan_link_order=0'])

    def test_behind_others(self):
        """A script or `env` starts it: their own processes get no runtime, and report no leaks of theirs."""
        program = self.sanitized('address')
        script = self.path('script')
        with open(script, 'w', encoding='utf-8') as stream:
            stream.write('#!/bin/sh\necho "$LD_PRELOAD"\n"%s" && echo ended\n' % program)
        for argv in (['env', 'A=1', program], ['sh', script]):
            with self.subTest(argv[0]):
                result, path = self.record(argv, '--vgpu', '-q', '-f')
                self.assertEqual(result.status, 0, result)
                self.assertFalse(re.search('asan|LeakSanitizer', result.out + result.err), result)
                self.check_truth(harness.Trace(path), self.truth())


# Locks its memory, all that it has and will have, before its first GPU call.
LOCKED_PROGRAM = 'import ctypes\nassert not ctypes.CDLL(None).mlockall(3)\n' + harness.DRIVER_PROGRAM + '''
import json
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
for _ in range(5):
    assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
with open('/proc/self/status') as stream:
    status = dict(line.split(':', 1) for line in stream)
json.dump({key: int(status[key].split()[0]) for key in ('VmLck', 'RssShmem')}, open(sys.argv[1], 'w'))
print('done')
'''


class Locked(harness.Case):
    def setUp(self):
        super().setUp()
        if harness.SANITIZER:
            self.skipTest('a sanitizer\'s own memory cannot be locked')
        if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY and \
                harness.run([sys.executable, '-c', LOCKED_PROGRAM, self.path('probe')],
                            harness.alone_environment()).status:
            self.skipTest('memory cannot be locked here')

    def status(self):
        with open(self.path('status'), encoding='utf-8') as stream:
            return json.load(stream)

    def test_session_memory(self):
        """What the session may grow to is neither there nor locked; with a lane for a replay neither."""
        argv = [sys.executable, '-c', LOCKED_PROGRAM, self.path('status')]
        alone = harness.run(argv, harness.alone_environment(), cwd=self.folder)
        self.assertEqual((alone.status, alone.out), (0, 'done\n'), alone)
        before = self.status()
        for options in ([], ['--capture', 'replay'], ['--stacks', 'python']):
            with self.subTest(options=options):
                result, path = self.record(argv, '--vgpu', '-q', '-f', *options)
                self.assertEqual((result.status, result.out), (0, 'done\n'), result)
                after = self.status()
                print('locked: %d KiB more, shared: %d KiB' % (
                    after['VmLck'] - before['VmLck'], after['RssShmem']))
                self.assertLess(after['VmLck'] - before['VmLck'], 32 << 10)
                self.assertLess(after['RssShmem'], 4 << 10)
                self.assertEqual(harness.Trace(path).counts['memcpy'], 5)


if __name__ == '__main__':
    harness.main()
