#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An empty trace says why it is empty: on the summary line of `record`, and in `info`."""
import os
import shutil
import signal
import subprocess
import sys

import harness


class Empty(harness.Case):
    def check(self, argv, *words, **env):
        status = env.pop('status', 0)
        options = env.pop('options', ['--vgpu'])
        result, path = self.record(argv, *options, **env)
        self.assertEqual(result.status, status, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        trace = harness.Trace(path)
        self.assertEqual(trace.counts.get('kernel', 0), 0)
        reason = trace.info.get('empty_reason', '')
        self.assertEqual(len(reason.splitlines()), 1, trace.info)
        for word in words:
            self.assertIn(word.lower(), reason.lower())
            self.assertIn(word.lower(), result.err.lower())
        human = harness.tsctl('info', path)
        self.assertEqual(human.status, 0)
        self.assertIn(reason, ' '.join(human.out.split()))
        return trace

    def test_no_gpu_used(self):
        self.check(['true'], 'cuda')

    def test_static_program(self):
        self.check([harness.app('plain-static')], 'static', status=4)

    def test_hint_is_for_empty_traces(self):
        """What was kept in case nothing came is not in a trace where something did."""
        result, path = self.record([harness.app('saxpy', 'driver')])
        self.assertEqual(result.status, 0, result)
        self.assertNotIn('empty_hint', harness.Trace(path).info['metadata'])
        result, path = self.record(['true'], '--vgpu', '-f')
        self.assertIn('empty_hint', harness.Trace(path).info['metadata'])

    def test_static_cudart(self):
        """nvcc links its runtime in unless told otherwise: the virtual GPU cannot serve that, and it is said."""
        if not shutil.which('nvcc'):
            self.skipTest('no nvcc')
        with open(self.path('k.cu'), 'w', encoding='utf-8') as source:
            source.write('__global__ void k() {} int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize() ? 4 : 0; }')
        subprocess.run(['nvcc', '-cudart', 'static', '-o', self.path('k'), self.path('k.cu')], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        result, path = self.record([self.path('k')])
        self.assertEqual(result.status, 4, result)
        reason = harness.Trace(path).info['empty_reason']
        self.assertIn('-cudart shared', reason)
        self.assertIn(reason, result.err)

    def test_injection_held(self):
        """Another tool holds the driver's injection variable: it is named, and stays undisturbed."""
        other = self.path('libother.so')
        subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-o', other, '-'], check=True,
                       input=b'int InitializeInjection(void) { return 1; }')
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu',
                                   CUDA_INJECTION64_PATH=other)
        self.assertEqual((result.status, result.out), (0, 'saxpy: 10 launches\n'), result)
        trace = harness.Trace(path)
        self.assertIn('libother.so', trace.info.get('empty_reason', ''), trace.info)
        self.assertIn('libother.so', result.err)

    def test_launcher(self):
        """Nsight Compute does not start if the variable is set: it has none of ours, also below a shell that had one."""
        launcher = self.path('ncu')
        subprocess.run(['cc', '-x', 'c', '-o', launcher, '-'], check=True, input=b'''
            #include <stdio.h>
            #include <stdlib.h>
            int main(void) { return puts(getenv("CUDA_INJECTION64_PATH") ?: "unset") < 0; }''')
        for other, expected in ((None, 'unset\n'), ('/other/tool.so', '/other/tool.so\n')):
            result = harness.run(['sh', '-c', 'test "$CUDA_INJECTION64_PATH" && "$0"; exit $?', launcher],
                                 harness.preload_environment('', CUDA_INJECTION64_PATH=other))
            self.assertEqual((result.status, result.out, result.err), (0, expected, ''))

    def test_cupti_held(self):
        """Another tool subscribed to CUPTI first: we name it if it can be named, and stay out."""
        holder = self.path('libholder.so')
        source = b'''
            #include <dlfcn.h>
            static void *held;
            static void callback(void *a, int b, unsigned c, const void *d) {}
            int InitializeInjection(void);
            __attribute__((constructor)) static void hold(void)
            {
                void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
                int (*subscribe)(void **, void *, void *) = cupti ? dlsym(cupti, "cuptiSubscribe") : 0;
                if (subscribe)
                    subscribe(&held, (void *)callback, 0);
            }'''
        subprocess.run(['cc', '-shared', '-fPIC', '-w', '-x', 'c', '-o', holder, '-', '-ldl'],
                       check=True, input=source)
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', LD_PRELOAD=holder)
        self.assertEqual((result.status, result.out), (0, 'saxpy: 10 launches\n'), result)
        trace = harness.Trace(path)
        reasons = [session.get('empty_reason') for session in trace.info['sessions']]
        self.assertIn('cupti_held', reasons, trace.info)
        self.assertIn('CUPTI', trace.info.get('empty_reason', ''))
        self.assertIn('CUPTI', result.err)

    def test_no_work(self):
        """CUDA was initialised and nothing was asked of it: a session, no rows, and that is said."""
        source = b'''
            #include <dlfcn.h>
            int main(void)
            {
                void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
                int (*init)(unsigned) = cuda ? dlsym(cuda, "cuInit") : 0;
                return init ? init(0) : 9;
            }'''
        program = self.path('init-only')
        subprocess.run(['cc', '-w', '-x', 'c', '-o', program, '-', '-ldl'], check=True, input=source)
        trace = self.check([program])
        self.assertEqual(len(trace.info['sessions']), 1)

    def test_killed_before_its_work_was_reported(self):
        """A kernel that does not end before its program does: it is not told that nothing was launched, and that it was captured is."""
        program = [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'endless.py'), 'killed']
        for options in ((), ('--stacks', 'none'), ('--capture', 'replay', '--stacks', 'none')):
            result, path = self.record(program, '--vgpu=small', '-f', *options)
            self.assertEqual(result.status, 128 + signal.SIGTERM, result)
            said = 'the GPU work of 1 call was not reported: the program was killed by SIGTERM first'
            self.assertEqual(harness.Trace(path).info['empty_reason'], said)
            self.assertIn('holds no GPU operation: ' + said, result.err)
            self.assertEqual('operations were captured: `tsctl replay --on vgpu' in result.err, '--capture' in options, result)

    def test_preload_leaves_no_file(self):
        """Preloaded alone, a program that never initialises CUDA leaves nothing at all."""
        result, traces = self.preload(['true'])
        self.assertEqual((result.status, traces), (0, []))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == '__main__':
    harness.main()
