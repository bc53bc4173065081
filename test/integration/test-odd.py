#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Odd programs: each runs as it does unrecorded, and its trace holds what it did.

Programs of a sanitizer, whose runtime wants to come first in the process; programs that lock their memory; programs
under a seccomp filter, which kills them for a call that it does not permit.
"""
import json
import os
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
        if alone.status < 0:
            # Older runtimes of ThreadSanitizer do not bear how newer kernels place memory.
            self.skipTest('%s does not run here, recorded or not' % argv[0])
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
                # Each thread's first malloc() would map 64 MiB for the C library, whichever thread is the first.
                result, path = self.record(argv, '--vgpu', '-q', '-f', *options, MALLOC_ARENA_MAX='1')
                self.assertEqual((result.status, result.out), (0, 'done\n'), result)
                after = self.status()
                print('locked: %d KiB more, shared: %d KiB' % (
                    after['VmLck'] - before['VmLck'], after['RssShmem']))
                self.assertLess(after['VmLck'] - before['VmLck'], 32 << 10)
                self.assertLess(after['RssShmem'], 4 << 10)
                self.assertEqual(harness.Trace(path).counts['memcpy'], 5)


# Starts its arguments under a filter that permits everything, as a container's permits most.
UNDER_A_FILTER = '''
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack('HBBI', 0x06, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack('H6xQ', 1, ctypes.addressof(code)))
assert not libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(77)
os.environ.update(pair.split('=', 1) for pair in sys.argv[1].split(';') if pair)
os.execv(sys.argv[2], sys.argv[2:])
'''


class Sandboxed(harness.Case):
    def setUp(self):
        super().setUp()
        if harness.SANITIZER:
            self.skipTest('a sanitizer makes calls of its own')
        self.program = self.app('sandboxed')
        if harness.run([self.program, 'own'], harness.alone_environment()).status == harness.SKIPPED:
            self.skipTest('no seccomp filter can be installed here')

    def under_filter(self, argv, env):
        """Runs argv under a filter that was there before it."""
        given = ';'.join('%s=%s' % (key, env.pop(key)) for key in ('LD_PRELOAD', 'LD_LIBRARY_PATH')
                         if key in env)
        result = harness.run([sys.executable, '-c', UNDER_A_FILTER, given] + argv, env, cwd=self.folder)
        if result.status == harness.SKIPPED:
            self.skipTest('no seccomp filter can be installed here')
        return result

    def test_nothing_else_is_called(self):
        """Every call beyond the list kills: the program lives, and the trace has all that it did."""
        for how in ([], ['exec'], ['fork']):
            alone = harness.run([self.program, 'own'] + how, harness.alone_environment(),
                                cwd=self.folder)
            self.assertEqual(alone.status, 0, alone)
            for options in ([], ['--stacks', 'none'], ['--stacks', 'python'], ['--lossless'],
                            ['--capture', 'replay']):
                with self.subTest(how=how, options=options):
                    result, path = self.record([self.program, 'listed'] + how, '--vgpu', '-q', '-f',
                                               *options)
                    self.assertEqual((result.status, result.out, result.err), (0, alone.out, ''), result)
                    trace = harness.Trace(path)
                    if how == ['fork']:
                        self.assertEqual((trace.lost, trace.counts['kernel'], len(trace.info['sessions'])),
                                         ({}, 200, 2))
                    else:
                        self.check_truth(trace, self.truth())

    def test_filter_is_strict(self):
        """The test above has a filter that can fail: without the list, the session's first call kills."""
        result = self.record([self.program, 'own'], '--vgpu', '-q')[0]
        self.assertEqual(result.status, 128 + 31, result)

    def test_no_private_daemon_under_its_own(self):
        """Preloaded alone, with nobody to record it: it lives, and nothing is started in it."""
        alone = harness.run([self.program, 'own'], harness.alone_environment(), cwd=self.folder)
        result, traces = self.preload([self.program, 'listed'])
        self.assertEqual((result.status, result.out, result.err), (0, alone.out, ''), result)
        self.assertEqual(traces, [])

    def test_private_daemon_under_an_inherited_one(self):
        """A container's filter was there before the program; a trace comes as without it."""
        env = harness.preload_environment(TS_TRUTH=self.truth_path)
        result = self.under_filter([self.app('saxpy')], env)
        self.assertEqual(result.status, 0, result)
        traces = self.traces_appear()
        self.assertEqual(len(traces), 1, traces)
        self.check_truth(self.finished_trace(traces[0]), self.truth())

    def test_reported(self):
        """`tsctl devices` has the list, and whether a filter is in force; the README has the same list."""
        argv = [harness.TSCTL, 'devices', '--json']
        free = json.loads(harness.run(argv, harness.environment()).out)['seccomp']
        shut = json.loads(self.under_filter(argv, harness.environment()).out)['seccomp']
        with open('/proc/self/status', encoding='utf-8') as stream:
            mode = re.search(r'^Seccomp:\s*(\d)', stream.read(), re.M).group(1)
        self.assertEqual((free['in_force'], shut['in_force']), (mode != '0', True))
        self.assertEqual(free['calls'], shut['calls'])
        with open(os.path.join(harness.SOURCE, 'inject', 'README.md'), encoding='utf-8') as stream:
            text = stream.read()
        table = text[text.index('\n## Under a seccomp filter'):].split('\n## ')[1]
        rows = re.findall(r'^\| (`.*?`) \| (always|start) \|', table, re.M)
        for key, when in (('calls', 'always'), ('start_calls', 'start')):
            documented = [name for names, row in rows if row == when for name in re.findall('`(.*?)`', names)]
            self.assertEqual(sorted(documented), sorted(free[key]))
        text = harness.run(argv[:2], harness.environment()).out
        self.assertIn('Seccomp: ', text)
        for name in free['calls'] + free['start_calls']:
            self.assertRegex(text, r'\b%s\b' % name)


SandboxedOverHip = harness.over_hip(Sandboxed, but=['test_reported'])
SandboxedOverHipSymbols = harness.over_hip(Sandboxed, but=['test_reported'], form='hip5')


if __name__ == '__main__':
    harness.main()
