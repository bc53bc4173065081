#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tsctl replay --on cuda`, over the virtual GPU's libcuda: what was captured is done again through the driver's interface, with memory where
it was, and each point of memory is what it is on the virtual GPU itself. test/gpu does the same over the vendor's."""
import json
import os
import random
import re
import signal
import subprocess
import sys

import harness

SAME, NONDETERMINISTIC, BAD, DIFFERS = 0, 1, 2, 3
ENDLESS = os.path.join(harness.SOURCE, 'test', 'apps', 'endless.py')
VERDICTS = (SAME, NONDETERMINISTIC, BAD, DIFFERS)
SAID = 'runs the code of the trace'


def variables(session):
    """Whether nothing is told to lie elsewhere but variables."""
    return all(note.startswith('variable ') or ' words of ' in note for note in session.get('notes', []))


# A libcuda.so.1 before the virtual GPU's. Where the vendor's would wait for kernels, or cannot do it for all devices at once, it fails.
STRICT = """
#include <dlfcn.h>
static unsigned n_launched;
static void *real(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
    return dlsym(library, name);
}
#define FORWARD(name) ((int (*)(long, long, long, long, long, long, long, long, long, long, long)) \\
                       real(#name))(a, b, c, d, e, f, g, h, i, j, k)
#define FUNCTION(name, before, after) \\
    int name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k) \\
    { int r; before r = FORWARD(name); after return r; }
FUNCTION(cuLaunchKernel, if (n_launched++ > 1000) return 999;,)
FUNCTION(cuStreamQuery,, if (!r) n_launched = 0;)
FUNCTION(cuMemcpyAsync, if (n_launched && c > 16 << 20) return 999;,)
FUNCTION(cuMemSetAccess, if (d != 1) return 801;,)
"""


def symbols():
    """All that is asked of a libcuda.so.1."""
    with open(os.path.join(harness.SOURCE, 'replay', 'exec', 'cuda', 'exec-cuda-driver.h')) as stream:
        return sorted(set(re.findall(r'\b(cu[A-Z]\w+)', stream.read())))


class Cuda(harness.Case):
    form, executor = 'driver', 'cuda'

    def capture(self, argv, *options, vgpu='small'):
        result, path = self.record(argv, '--vgpu=' + vgpu, '--capture', 'replay', *options)
        if result.status == harness.SKIPPED:
            self.skipTest(result.err)
        self.assertEqual(result.status, 0, result)
        return path

    def replay(self, path, *options, on=None, vgpu='small', libraries=harness.VGPU, **kwargs):
        """(exit status, the JSON of each session, the result)"""
        env = harness.environment(LD_LIBRARY_PATH=libraries, TRACESMITH_VGPU=vgpu)
        result = harness.tsctl('replay', '--on', on or self.executor, '--json', *options, path, env=env, **kwargs)
        return result.status, [json.loads(line) for line in result.out.splitlines()], result

    def same(self, path, *options, **kwargs):
        status, sessions, result = self.replay(path, *options, **kwargs)
        self.assertEqual(status, SAME, result)
        for session in sessions:
            self.assertEqual((session['verdict'], session['unsupported']), ('same', []))
            self.assertEqual(session['operations'], session['captured'])
        return sessions

    @staticmethod
    def driver(folder, text):
        """A libcuda.so.1 of that folder's own."""
        os.mkdir(folder)
        subprocess.run(['cc', '-shared', '-fPIC', '-o', os.path.join(folder, 'libcuda.so.1'), '-x', 'c', '-'],
                       input=text, text=True, check=True)

    def check_app(self, name, *arguments, vgpu='small', form=None, points=True):
        path = self.capture([harness.app(name, form or self.form)] + list(arguments), vgpu=vgpu)
        truth = self.truth()
        session, = self.same(path, vgpu=vgpu)
        self.assertEqual(session['executor'], self.executor)
        self.assertIn('Virtual GPU', session['device'])
        self.assertTrue(variables(session), session.get('notes'))
        # All that the program read back was compared.
        self.assertEqual(session['results'], truth.copies[harness.truth_module.D2H])
        self.assertEqual((session.get('unchecked', 0), session['launches']), (0, truth.n_launches()))
        if not points:
            return
        every = ('--compare-every', '1', '--limit', '1000000')
        over, = self.same(path, *every, vgpu=vgpu)
        itself, = self.same(path, *every, on='vgpu')
        self.assertEqual(over['replays'], 2)
        self.assertGreater(len(over['points']), 3)
        self.assertEqual(over['points'], itself['points'])

    def test_saxpy(self):
        self.check_app('saxpy')

    def test_saxpy_runtime(self):
        self.check_app('saxpy', form='runtime')

    def test_pipeline(self):
        self.check_app('pipeline', '5')

    def test_pipeline_runtime(self):
        self.check_app('pipeline', '5', form='runtime')

    def test_threads(self):
        # Threads go on as they like: what is called for between two points is the same, and there are many.
        self.check_app('threads', '4', '20')

    def test_devices(self):
        self.check_app('devices', vgpu='small:2')

    def test_network(self):
        self.check_app('network', '2')

    def test_graph(self):
        self.check_app('graph', '5')

    def test_ladder(self):
        self.check_app('ladder')

    def test_tensor(self):
        self.check_app('tensor', vgpu='h200', points=False)

    def test_runtime_forms(self):
        """The others that nvcc builds: fatbins, kernels by name, arguments as the runtime hands them on."""
        for name, arguments, vgpu in (('graph', ['3'], 'small'), ('network', ['2'], 'small'), ('threads', ['4', '10'], 'small'),
                                      ('devices', ['2'], 'small:2'), ('tensor', [], 'h200')):
            with self.subTest(name=name):
                self.check_app(name, *arguments, vgpu=vgpu, form='runtime', points=name != 'tensor')
                os.remove(self.path('recorded.sbt'))

    def test_libraries(self):
        """What CUB, Thrust and everybody's kernels come to."""
        for name in ('compute', 'cub', 'thrust'):
            with self.subTest(name=name):
                session, = self.same(self.capture([harness.app(name)], '-f'))
                self.assertTrue(variables(session), session.get('notes'))
                self.assertGreater(session['results'], 0)
                self.assertEqual(session.get('unchecked', 0), 0)

    def test_graphs_that_are_changed(self):
        path = self.capture([sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'nodes.py')])
        session, = self.same(path)
        self.assertEqual((session['launches'], session['results']), (32, 22))

    def test_kernels_that_print(self):
        """Their text is a stranger's, and stdout the report's."""
        result, path = self.record([sys.executable, ENDLESS, 'prints'], '--vgpu=small', '--capture', 'replay')
        if result.status == harness.SKIPPED:
            self.skipTest(result.err)
        self.assertIn('PRINT', result.out, result)
        session, = self.same(path, '--repeat', '2')
        self.assertEqual(session['launches'], 1)
        result = self.replay(path)[2]
        self.assertNotIn('PRINT', result.out + result.err)

    def test_several_processes(self):
        path = self.capture(['sh', '-c', '"$0" 2; "$0" 3', harness.app('saxpy', 'driver')])
        self.assertEqual([session['launches'] for session in self.same(path)], [2, 3])

    def test_selections(self):
        path = self.capture([harness.app('pipeline', 'driver'), '5'])
        every = ('--compare-every', '1', '--limit', '1000000')
        points = self.same(path, *every, on='vgpu')[0]['points']
        streams = {row['stream'] for row in harness.Trace(path).of('kernel')}
        dice = random.Random(1)
        for call in dice.sample([point['op_id'] for point in points], 6):
            session, = self.same(path, *every, '--ops', call)
            self.assertEqual(session['points'], [point for point in points if point['op_id'] == call])
        for stream in streams:
            over, = self.same(path, '--stream', stream)
            itself, = self.same(path, '--stream', stream, on='vgpu')
            self.assertEqual([over[key] for key in ('captured', 'before', 'launches', 'copies')],
                             [itself[key] for key in ('captured', 'before', 'launches', 'copies')])
        middle = harness.Trace(path).of('api')[100]['start_ns']
        session, = self.same(path, '--to', '@%d' % middle)
        self.assertLess(session['launches'], 40)
        dry = harness.tsctl('replay', '--on', 'cuda', '--mode', 'dry-run', '--json', path)
        self.assertEqual((dry.status, dry.err, json.loads(dry.out)['launches']), (SAME, '', 40))

    def test_a_window(self):
        path = self.capture([harness.app('pipeline', 'driver'), '5'], '--capture', 'window,launches=4..8')
        session, = self.same(path)
        self.assertEqual(session['launches'], 5)

    def test_again_and_again(self):
        path = self.capture([harness.app('pipeline', 'driver'), '2'])
        self.assertEqual(self.same(path, '--repeat', '3')[0]['replays'], 3)

    def test_what_is_said(self):
        path = self.capture([harness.app('saxpy', 'driver')])
        _, _, result = self.replay(path, '--repeat', '2')
        self.assertEqual(result.err.count('\n'), 1, result)
        self.assertIn(SAID, result.err)
        env = harness.environment(LD_LIBRARY_PATH=harness.VGPU)
        text = harness.tsctl('replay', '--on', 'cuda', path, env=env)
        self.assertRegex(text.out, r'session 1 on cuda: the replay is the same as the capture\.\n  on \S')
        # Where an option is for executors that see into kernels, or what is needed is not there.
        nothing = self.path('nothing')
        self.driver(nothing, 'int cuInit(unsigned flags) { return flags; }')
        for options, env, said in (
                (('--check', 'all'), {}, 'requires `--on vgpu'), (('--schedules', '2'), {}, 'requires `--on vgpu'),
                (('--debug',), {}, 'requires `--on vgpu'), (('--what-if', 'host=2x'), {}, 'requires `--on emulate'),
                ((), {}, 'cannot load libcuda.so.1'), ((), {'LD_LIBRARY_PATH': nothing}, 'libcuda.so.1 has no cuDriverGetVersion')):
            result = harness.tsctl('replay', '--on', 'cuda', *options, path, env=harness.environment(**env))
            if said == 'cannot load libcuda.so.1' and SAID in result.err:
                continue  # A driver is installed here.
            self.assertEqual((result.status, result.out, result.err.count('\n')), (BAD, '', 1), result)
            self.assertIn(said, result.err)
        # A library of HIP may be installed, with or without a device.
        result = harness.tsctl('replay', '--on', 'hip', path)
        if SAID not in result.err:
            self.assertEqual((result.status, result.out, result.err.count('\n')), (BAD, '', 1), result)
            self.assertRegex(result.err, 'cannot load libamdhip64|no GPU to replay on: libamdhip64')
        result = harness.tsctl('replay', '--on', 'bogus', path)
        self.assertEqual((result.status, result.out), (BAD, ''), result)
        self.assertIn('the executors are `emulate`, `vgpu`, `cuda`, `hip`', result.err)

    def test_no_device(self):
        """A driver without a device, of which nothing more is asked."""
        path, nothing = self.capture([harness.app('saxpy', 'driver')]), self.path('nothing')
        self.driver(nothing, '#include <stdlib.h>\n' + ''.join('int %s(void) { return %d; }\n' % (symbol, 999 if symbol == 'cuDeviceGetCount' else 100)
                                     for symbol in symbols() if symbol != 'cuGetErrorString') +
                    'int cuGetErrorString(int r, const char **t) { *t = getenv("CUDA_CACHE_DISABLE"); return 0; }\n')
        result = harness.tsctl('replay', '--on', 'cuda', path, env=harness.environment(LD_LIBRARY_PATH=nothing))
        self.assertEqual((result.status, result.out, result.err.count('\n')), (BAD, '', 1), result)
        self.assertIn('no GPU to replay on: libcuda.so.1 reports: 1 (error 100)', result.err)  # Nothing of the trace stays in the driver's cache.

    def test_what_a_driver_may_do(self):
        """It holds so many launches, copies what it has not pinned when nothing is before it, and lets in device by device."""
        folder = self.path('strict')
        text = STRICT.replace('REAL', json.dumps(os.path.join(harness.VGPU, 'libcuda.so.1')))
        self.driver(folder, text + ''.join('FUNCTION(%s,,)\n' % symbol for symbol in symbols() if '(%s,' % symbol not in text))
        for argv, vgpu in (([sys.executable, ENDLESS, 'many', 'large', 'many'], 'small'), ([harness.app('devices', 'driver')], 'small:2')):
            path = self.capture(argv, '--force', vgpu=vgpu)
            self.same(path, vgpu=vgpu, libraries=folder)

    def test_interrupted(self):
        path = self.capture([harness.app('pipeline', 'driver'), '5'])
        process = subprocess.Popen([harness.TSCTL, 'replay', '--on', 'cuda', '--repeat', '1000000', path],
                                   env=harness.environment(LD_LIBRARY_PATH=harness.VGPU), stderr=subprocess.PIPE, text=True)
        try:
            self.assertIn(SAID, process.stderr.readline())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(harness.SECONDS), 128 + signal.SIGINT)
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def test_damaged(self):
        """Any verdict but one: never the end by a signal, nor without an end."""
        for name, n in (('saxpy', 40), ('graph', 12)):
            path = self.capture([harness.app(name, 'driver')])
            with open(path, 'rb') as stream:
                whole = stream.read()
            os.remove(path)
            hurt, dice = self.path('hurt.sbt'), random.Random(5)
            for i in range(n):
                data = bytearray(whole)
                for _ in range(dice.choice((1, 1, 3, 30))):
                    data[dice.randrange(64, len(data))] ^= 1 << dice.randrange(8)
                with open(hurt, 'wb') as stream:
                    stream.write(data[:len(data) if i % 4 else dice.randrange(len(data) // 2, len(data))])
                status, _, result = self.replay(hurt, '--time-limit', '20')
                self.assertIn(status, VERDICTS, result)
                self.assertNotIn('Sanitizer', result.err)


class HipDevice(harness.over_hip(Cuda, 'test_saxpy', 'test_pipeline', 'test_threads', 'test_devices', 'test_network', 'test_graph',
                                 'test_ladder', 'test_tensor')):
    """The same through libamdhip64; and a capture of one vendor's calls on the other vendor's device."""
    executor = 'hip'

    def test_calls_of_hips_own(self):
        path = self.capture([harness.app('hip-replay')], vgpu='mi300:2')
        session, = self.same(path, vgpu='mi300:2')
        self.assertTrue(variables(session), session.get('notes'))
        self.assertEqual((session['launches'], session['results'], session.get('unchecked', 0)), (12, 14, 0))

    def test_code_of_amd(self):
        """The device gets the code as it was captured."""
        path = self.capture([harness.app('timed-hip')], vgpu='mi300,kernels=timed')
        status, (session,), result = self.replay(path, vgpu='mi300,kernels=timed')
        self.assertEqual((status, session['verdict'], session['operations'], session['launches']), (SAME, 'same', session['captured'], 8), result)

    def test_ptx_of_hip_on_cuda(self):
        path = self.capture([harness.app('saxpy', 'hip')])
        session, = self.same(path, on='cuda')
        self.assertEqual((session['executor'], session['results']), ('cuda', 2))

    def test_cuda_on_hip(self):
        path = self.capture([harness.app('saxpy', 'driver')])
        status, (session,), _ = self.replay(path, on='hip')
        self.assertEqual((status, session['verdict']), (DIFFERS, 'differs'))
        self.assertIn('no code for AMD GPUs', session['refusal']['why'])


if __name__ == '__main__':
    harness.main()
