# SPDX-License-Identifier: Apache-2.0
"""What integration tests share: the build tree, running programs with an end, reading traces.

Traces are read as a user's script would, through `tsctl ... --json` alone. The build tree is
$TS_BUILD; a test program ends with 77 when all it ran was skipped.
"""
import atexit
import collections
import glob
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('TS_BUILD', os.path.join(SOURCE, 'build')))

sys.path.insert(0, os.path.join(SOURCE, 'test', 'apps'))
import truth as truth_module  # noqa: E402

SHIM = os.path.join(BUILD, 'inject', 'libtsinject.so')
# With functions of vendors whose drivers load no tool; a Case whose `pti` is true preloads it.
PTI_SHIM = os.path.join(BUILD, 'inject', 'libtsinject-pti.so')
TSCTL = os.path.join(BUILD, 'tools', 'tsctl', 'tsctl')
# tsctl's, by the name that the loader looks for.
LIBRARY = os.path.join(BUILD, 'tools', 'library', 'libtracesmith.so.0')
DAEMON = os.path.join(BUILD, 'daemon', 'tracesmithd')
VGPU = os.path.join(BUILD, 'tools', 'vgpu')
APPS = os.path.join(BUILD, 'test', 'apps')

SKIPPED = 77
# A bound for what hangs, never how long something takes: on a busy machine seconds go by between two lines.
SECONDS = 240
FORMS = ('driver', 'runtime')
EVENT_TYPES = ('api', 'kernel', 'memcpy', 'memset', 'sync', 'alloc', 'free', 'event', 'stream_wait',
               'stream', 'context')
DEVICE_TYPES = ('kernel', 'memcpy', 'memset')

# CUPTI's words for what the truth counts.
COPY_KINDS = {'htod': truth_module.H2D, 'dtoh': truth_module.D2H, 'dtod': truth_module.D2D,
              'ptop': truth_module.PEER}
MEMORY_KINDS = {3: truth_module.DEVICE, 2: truth_module.PINNED}
SYNC_CALLS = {
    'stream_synchronize': ('cuStreamSynchronize', 'cudaStreamSynchronize', 'hipStreamSynchronize',
                           'mcStreamSynchronize'),
    'event_synchronize': ('cuEventSynchronize', 'cudaEventSynchronize', 'hipEventSynchronize',
                          'mcEventSynchronize'),
    'context_synchronize': ('cuCtxSynchronize', 'cudaDeviceSynchronize', 'hipDeviceSynchronize',
                            'mcDeviceSynchronize'),
}
# HIP's forms of a program, by the way into HIP: that of 6.2 has dispatch tables, that of 5.7 exported functions alone.
HIP_FORMS = {'hip': 'OverHip', 'hip5': 'OverHipSymbols'}
LAUNCHES = {'driver': 'cuLaunchKernel', 'runtime': 'cudaLaunchKernel', **dict.fromkeys(HIP_FORMS, 'hipLaunchKernel')}
WAITS_FOR_ALL = {'driver': 'cuCtxSynchronize', 'runtime': 'cudaDeviceSynchronize',
                 **dict.fromkeys(HIP_FORMS, 'hipDeviceSynchronize')}


def _sanitizer():
    """The sanitizer runtimes that the shim was linked with."""
    try:
        with open(SHIM, 'rb') as stream:
            data = stream.read()
    except OSError:
        return None
    for soname in (b'libasan.so.8', b'libasan.so.6', b'libtsan.so.2'):
        if soname in data:
            return soname.decode()
    return None


SANITIZER = _sanitizer()
# A sanitizer makes a command seven times and a kernel fifty times slower, and looks for faults that do not depend on how often something
# is done. test/soak/run.py sets TS_SOAK.
IS_SLOW = bool(SANITIZER) and not os.environ.get('TS_SOAK')
# By default, 200 launches and more in each of 8 threads, and 100 steps.
THREADS_ARGUMENTS = ['8', '50'] if IS_SLOW else []
NETWORK_ARGUMENTS = ['25'] if IS_SLOW else []
# Programs of test/apps with their arguments and TRACESMITH_VGPU, which every vendor's interface has to record.
PROGRAMS = {
    'saxpy': ([], ''),
    'pipeline': ([], ''),
    'threads': (THREADS_ARGUMENTS, ''),
    'devices': ([], 'h200:2'),
    'graph': ([], ''),
    'network': (NETWORK_ARGUMENTS, ''),
    'tensor': ([], ''),
    'exits': ([], ''),
}

# Where recordings have their sockets: what other tests record meanwhile is not found, and their daemons, which may stand still,
# are not asked.
RUNTIME = tempfile.mkdtemp(prefix='ts-run-')
atexit.register(shutil.rmtree, RUNTIME, ignore_errors=True)

# Whoever started this in the background may have had SIGINT ignored, which programs would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Told to end from outside (a time limit): what was started is ended first.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
# Programs that abort do so on purpose.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def app(name, form=None):
    """The path of a test program; skips the test where it was not built."""
    path = os.path.join(APPS, name if form is None else '%s-%s' % (name, form))
    if not os.path.exists(path):
        raise unittest.SkipTest('%s was not built%s' % (
            os.path.basename(path), ' (no nvcc)' if form == 'runtime' else ''))
    return path


# The driver, for programs of a few lines: a context, some bytes of the host's, where a device's address is to be.
DRIVER_PROGRAM = '''
import ctypes, sys
cuda = ctypes.CDLL('libcuda.so.1')
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
host = (ctypes.c_char * 1024)()
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context)
'''
# Copies five times, says so, and waits for a line before it ends: for who looks at what runs.
LIVE_PROGRAM = DRIVER_PROGRAM + '''
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
for _ in range(5):
    assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
print('ready', flush=True)
sys.stdin.readline()
assert not cuda.cuMemFree_v2(memory)
'''


def environment(**changes):
    """The environment of a test: nothing of CUDA's, the loader's or ours leaks in from outside."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(('TRACESMITH_', 'CUDA_', 'NVTX_', 'LD_', 'TS_'))}
    for key in ('ASAN_OPTIONS', 'UBSAN_OPTIONS'):
        if SANITIZER and key in os.environ:
            env[key] = os.environ[key]
    # Frames off the stack are a third of the time of a command. Unit tests and fuzzers look at frames that were left.
    if IS_SLOW:
        env['ASAN_OPTIONS'] = ':'.join(filter(None, [env.get('ASAN_OPTIONS'), 'detect_stack_use_after_return=0']))
    # What a test finds out about files of this build is nobody else's to keep.
    env['TRACESMITH_SYMBOL_CACHE'] = ''
    env['XDG_RUNTIME_DIR'] = RUNTIME
    if SHIM == PTI_SHIM:
        env['TRACESMITH_INJECT'] = SHIM
    env.update({key: value for key, value in changes.items() if value is not None})
    return env


def asan_options(env):
    """
    Of a program that is not built with ASan. Its frames are kept off its stacks: what they marked there stays when a stack is
    unmapped, and would be what ASan believes of a library that is mapped there next.
    """
    return ':'.join(filter(None, [env.get('ASAN_OPTIONS'), 'detect_stack_use_after_return=1', 'verify_asan_link_order=0',
                                  'detect_leaks=0']))


def dying():
    """For a program that is to die of a signal: a sanitizer's runtime would end it in a way of its own."""
    options = [os.environ.get('ASAN_OPTIONS'), 'handle_segv=0', 'handle_abort=0']
    return {'ASAN_OPTIONS': ':'.join(filter(None, options))} if SANITIZER else {}


def preload_environment(vgpu='', **changes):
    """For the shim preloaded alone. vgpu: TRACESMITH_VGPU, None for no virtual GPU at all."""
    env = environment(**changes)
    preloads = [SHIM]
    if SANITIZER:
        # An ASan-built library in a program that is not: its runtime has to come first, and an
        # interpreter's leaks are not ours.
        preloads.insert(0, SANITIZER)
        env['ASAN_OPTIONS'] = asan_options(env)
    env['LD_PRELOAD'] = ' '.join(preloads + ([env['LD_PRELOAD']] if 'LD_PRELOAD' in env else []))
    if vgpu is not None:
        env['LD_LIBRARY_PATH'] = VGPU
        if vgpu:
            env['TRACESMITH_VGPU'] = vgpu
    return env


def record_environment(**changes):
    """For `tsctl record`, which adds the shim and the virtual GPU itself."""
    env = environment(**changes)
    if SANITIZER:
        env['LD_PRELOAD'] = ' '.join(filter(None, [SANITIZER, env.get('LD_PRELOAD')]))
        env['ASAN_OPTIONS'] = asan_options(env)
    return env


def alone_environment(vgpu='', **changes):
    """For a program on the virtual GPU without us."""
    return record_environment(LD_LIBRARY_PATH=VGPU, TRACESMITH_VGPU=vgpu or None, **changes)


class Result:
    def __init__(self, status, out, err, pid):
        self.status, self.out, self.err, self.pid = status, out, err, pid

    def __str__(self):
        return 'status %d\n--- stdout\n%s--- stderr\n%s' % (self.status, self.out, self.err)


def run(argv, env=None, cwd=None, seconds=SECONDS, stdin=subprocess.DEVNULL):
    """Runs argv to its end, at most `seconds` (longer under a sanitizer); all of its group is gone then."""
    if SANITIZER:
        seconds *= 4
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # Files, not pipes: nothing that outlives the program can hold the test up.
        process = subprocess.Popen(argv, env=environment() if env is None else env, cwd=cwd,
                                   stdin=stdin, stdout=out, stderr=err, start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # All that it left, also where this test itself is told to end.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors='replace'))
    if status is None:
        raise AssertionError('%s: not finished after %d s\n%s' % (
            ' '.join(argv), seconds, '\n'.join(text[-2000:] for text in texts)))
    return Result(status, texts[0], texts[1], process.pid)


def private_daemons(folder):
    """Process ids of the daemons that programs in this folder started for themselves."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/cmdline' % pid, 'rb') as stream:
                words = stream.read().split(b'\0')
            if b'--private' in words and (os.readlink('/proc/%s/cwd' % pid) == folder or
                                          any(word.startswith(os.fsencode(folder) + b'/') for word in words)):
                found.append(int(pid))
        except OSError:
            continue
    return found


def tsctl(*arguments, **kwargs):
    return run([TSCTL] + [str(argument) for argument in arguments], **kwargs)


def varints(data, n):
    """The first n numbers of data, in LEB128."""
    values = [0]
    shift = 0
    for byte in data:
        values[-1] |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            if len(values) == n:
                break
            values.append(0)
            shift = 0
    return values


def damage_blocks(data, wanted):
    """The file with a bit of the payload of each block of that type turned over."""
    data, at, n = bytearray(data), 64, 0
    while data[at:at + 4] == b'TSBK' or data[at:at + 2] == b'Tb':
        if data[at:at + 2] == b'Tb':
            head, (type_, _, _, _, _, _, stored) = data[at + 2], varints(data[at + 4:], 7)
            size = head + stored
        else:
            head, (type_,), (stored,) = 96, struct.unpack_from('<H', data, at + 4), struct.unpack_from('<Q', data, at + 72)
            size = head + (stored + 7) // 8 * 8
        if type_ == wanted:
            data[at + head + stored // 2] ^= 1
            n += 1
        at += size
    assert n
    return data


class Trace:
    """A trace as `tsctl info --json` and `tsctl view --json` tell it."""

    def __init__(self, path):
        self.path = path
        self.info = self._json(tsctl('info', '--json', path))
        self._rows = None

    @staticmethod
    def _json(result):
        if result.status:
            raise AssertionError('tsctl info: %s' % result)
        return json.loads(result.out)

    @property
    def counts(self):
        return self.info['counts']

    @property
    def lost(self):
        return self.info['lost']

    @property
    def rows(self):
        """Every event row, in the order of `view`."""
        if self._rows is None:
            result = tsctl('view', '--json', self.path)
            if result.status:
                raise AssertionError('tsctl view: %s' % result)
            self._rows = [json.loads(line) for line in result.out.splitlines()]
        return self._rows

    def of(self, *types):
        return [row for row in self.rows if row['type'] in types]


class Case(unittest.TestCase):
    """A test in an empty folder of its own. `form`: of the programs of test/apps that it runs."""
    maxDiff = 4000
    form = 'driver'
    pti = False
    call_slack_ns = 1000  # between the times of a call and of its work

    def app(self, name):
        return app(name, self.form)

    @property
    def launch(self):
        """The call that launches a kernel."""
        return LAUNCHES[self.form]

    @property
    def wait_for_all(self):
        """The call that waits for all work."""
        return WAITS_FOR_ALL[self.form]

    def use_pti(self):
        """Preloads libtsinject-pti.so until the test's end."""
        def use(path):
            global SHIM
            SHIM = path
        self.addCleanup(use, SHIM)
        use(PTI_SHIM)

    def setUp(self):
        if self.pti:
            self.use_pti()
        self.folder = tempfile.mkdtemp(prefix='ts-test-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.truth_path = os.path.join(self.folder, 'truth')

    def path(self, name):
        return os.path.join(self.folder, name)

    def truth(self):
        return truth_module.read(self.truth_path)

    def preload(self, argv, vgpu='', seconds=SECONDS, **env):
        """
        Runs argv with the shim preloaded and no daemon; returns (result, paths of traces). A program waits for its daemon, but
        not for long: where that is slow, its file is complete when it has ended.
        """
        env.setdefault('TS_TRUTH', self.truth_path)
        result = run(argv, preload_environment(vgpu, **env), cwd=self.folder, seconds=seconds)
        end = time.monotonic() + seconds
        while private_daemons(self.folder):
            if time.monotonic() > end:
                self.fail('a daemon does not end: %s' % result)
            time.sleep(0.02)
        return result, sorted(glob.glob(self.path('*.sbt')))

    def record(self, argv, *options, **kwargs):
        """Runs argv under `tsctl record --vgpu`; returns (result, path of the trace)."""
        seconds = kwargs.pop('seconds', SECONDS)
        kwargs.setdefault('TS_TRUTH', self.truth_path)
        path = self.path('recorded.sbt')
        result = run([TSCTL, 'record', '-o', path] + list(options or ['--vgpu']) + ['--'] + argv,
                     record_environment(**kwargs), cwd=self.folder, seconds=seconds)
        return result, path

    def traces_appear(self, seconds=SECONDS):
        """Paths of the traces here, once there is one: a killed program did not wait for its daemon."""
        end = time.monotonic() + seconds * (4 if SANITIZER else 1)
        while True:
            traces = sorted(glob.glob(self.path('*.sbt')))
            if traces or time.monotonic() > end:
                return traces
            time.sleep(0.02)

    def finished_trace(self, path, seconds=SECONDS):
        """The trace, once its daemon has finished it: a killed program does not wait for that."""
        end = time.monotonic() + seconds * (4 if SANITIZER else 1)
        while True:
            result = tsctl('info', '--json', path)
            if not result.status and json.loads(result.out).get('finished'):
                return Trace(path)
            if time.monotonic() > end:
                self.fail('%s was not finished: %s' % (path, result))
            time.sleep(0.05)

    # ---- what must hold of every trace --------------------------------------------------------

    def check_sound(self, trace):
        """Verified, in order, summed up rightly; calls and device rows find each other."""
        verified = tsctl('verify', trace.path)
        self.assertEqual(verified.status, 0, verified)
        self.assertTrue(trace.info['finished'])
        counted = collections.Counter(row['type'] for row in trace.rows)
        for kind in EVENT_TYPES:
            self.assertEqual(trace.counts.get(kind, 0), counted[kind], kind)
        starts = [row['start_ns'] for row in trace.rows]
        self.assertEqual(starts, sorted(starts), 'view is not in the order of time')
        for row in trace.rows:
            self.assertLessEqual(row['start_ns'], row['end_ns'], row)
        self.check_joined(trace)

    def check_joined(self, trace):
        slack_ns = self.call_slack_ns + 2 * trace.info.get('clock_error_ns', 0)
        calls = {(row['session'], row['op_id']): row for row in trace.of('api')}
        self.assertEqual(len(calls), trace.counts.get('api', 0), 'operation ids repeat')
        # A device row that came long before its call is told by the id of the driver's call within it, which both name.
        outer = {(row['session'], row['nested_op_id']): (row['session'], row['op_id'])
                 for row in calls.values() if row.get('nested_op_id')}
        answered = set()
        for row in trace.of(*DEVICE_TYPES):
            key = (row['session'], row['op_id'])
            key = outer.get(key, key)
            self.assertIn(key, calls, 'a device row without its call: %s' % row)
            self.assertGreaterEqual(row['start_ns'] + slack_ns, calls[key]['start_ns'],
                                    'ran before it was asked for: %s %s' % (row, calls[key]))
            answered.add(key)
        expected = {key for key, row in calls.items() if row.get('expects_device')}
        self.assertEqual(expected - answered, set(), 'calls without device rows')

    def check_truth(self, trace, truth):
        """The trace holds what the program knows it did, exactly, and lost nothing."""
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        self.check_launches(trace, truth)
        self.check_copies(trace, truth)
        self.check_memory(trace, truth)
        self.check_calls(trace, truth)

    def check_launches(self, trace, truth):
        streams = collections.Counter(
            (row['name'], row['session'], row['device'], row['context'], row['stream'])
            for row in trace.of('kernel'))
        found = collections.defaultdict(list)
        for key, count in streams.items():
            found[key[0]].append(count)
        self.assertEqual({name: sorted(counts) for name, counts in found.items()},
                         truth.launches_by_kernel())
        used = {row['device'] for row in trace.of(*DEVICE_TYPES)}
        self.assertLessEqual(used, {bit for bit in range(64) if truth.devices >> bit & 1})

    def check_copies(self, trace, truth):
        copies, copied = collections.Counter(), collections.Counter()
        for row in trace.of('memcpy'):
            self.assertIn(row['kind'], COPY_KINDS, row)
            copies[COPY_KINDS[row['kind']]] += 1
            copied[COPY_KINDS[row['kind']]] += row['bytes']
        for direction, name in enumerate(truth_module.DIRECTIONS):
            self.assertEqual(copied[direction], truth.copy_bytes[direction], name + ' bytes')
            self.assertEqual(copies[direction], truth.copies[direction], name + ' copies')
        sets = trace.of('memset')
        self.assertEqual(len(sets), truth.sets)
        self.assertEqual(sum(row['bytes'] for row in sets), truth.set_bytes)

    def check_memory(self, trace, truth):
        for kind, number in MEMORY_KINDS.items():
            allocs = [row for row in trace.of('alloc') if row.get('memory_kind') == kind]
            frees = [row for row in trace.of('free') if row.get('memory_kind') == kind]
            self.assertEqual(len(allocs), truth.allocs[number], 'allocations of kind %d' % kind)
            self.assertEqual(sum(row['bytes'] for row in allocs), truth.alloc_bytes[number])
            self.assertEqual(len(frees), truth.frees[number], 'frees of kind %d' % kind)

    def check_calls(self, trace, truth):
        calls = truth.calls_by_name()
        found = collections.Counter(row['name'] for row in trace.of('api'))
        self.assertEqual({name: found[name] for name in calls}, calls)
        tids = {(row['session'], row['tid']) for row in trace.of('api') if row['name'] in calls}
        self.assertEqual(len(tids), truth.threads)

        def called(*suffixes):
            return sum(count for name, count in calls.items() if name.endswith(suffixes))
        # What is put into a stream while it is captured is a part of a graph, and no event or wait of the device's.
        captured = collections.Counter()
        capturing = set()
        for row in trace.of('api'):
            thread = row['session'], row['tid']
            if 'StreamBeginCapture' in row['name']:
                capturing.add(thread)
            elif 'StreamEndCapture' in row['name']:
                capturing.discard(thread)
            elif thread in capturing:
                captured['EventRecord'] += row['name'].endswith('EventRecord')
                captured['StreamWaitEvent'] += row['name'].endswith('StreamWaitEvent')
        self.check_stream_operations(trace, called('EventRecord') - captured['EventRecord'],
                                     called('StreamWaitEvent') - captured['StreamWaitEvent'])
        syncs = collections.Counter(row['kind'] for row in trace.of('sync'))
        for kind, names in SYNC_CALLS.items():
            self.assertEqual(syncs[kind], called(*names), kind)

    def check_stream_operations(self, trace, n_events, n_waits):
        self.assertEqual(len(trace.of('event')), n_events)
        self.assertEqual(len(trace.of('stream_wait')), n_waits)


def over_hip(case, *names, but=(), form='hip'):
    """
    A class with the tests of `case`, whose programs have a form of HIP_FORMS. It has the tests of these names, or all but some:
    those need CUDA.
    """
    inherited = [name for name in dir(case) if name.startswith('test_')]
    unknown = set(names + tuple(but)) - set(inherited)
    assert not unknown, unknown
    out = {name: None for name in inherited if name in but or (names and name not in names)}
    return type(case.__name__ + HIP_FORMS[form], (case,), dict(out, form=form, __module__=case.__module__, __doc__=case.__doc__))


def choose_form():
    """`--form cuda` or `--form hip`: without names of tests, only the classes of such programs run. meson.build runs long scripts as two tests."""
    if '--form' not in sys.argv:
        return
    at = sys.argv.index('--form')
    form = sys.argv[at + 1]
    del sys.argv[at:at + 2]
    if all(argument.startswith('-') for argument in sys.argv[1:]):
        sys.argv += [name for name, case in vars(sys.modules['__main__']).items() if isinstance(case, type) and issubclass(case, Case)
                     and case is not Case and case.form.startswith('hip') == (form == 'hip')]


def main():
    """unittest.main() with meson's exit status for skipped tests, and their reasons as a last line."""
    choose_form()
    for needed in (SHIM, TSCTL, DAEMON, os.path.join(VGPU, 'libcuda.so.1')):
        if not os.path.exists(needed):
            print('not built: %s (TS_BUILD names the build tree)' % needed)
            sys.exit(1)
    program = unittest.main(exit=False, verbosity=2)
    if program.result.skipped:
        for test, reason in program.result.skipped:
            print('skipped: %s: %s' % (test, reason))
    if not program.result.wasSuccessful():
        sys.exit(1)
    if program.result.testsRun and len(program.result.skipped) >= program.result.testsRun:
        sys.exit(SKIPPED)
    sys.exit(0)
