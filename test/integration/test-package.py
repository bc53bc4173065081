#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: its columns are the trace's rows, it writes and records traces, and it outlives its users.

Each program runs in an interpreter of its own, as its users' do; the package is for CPython from 3.8 on.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

import harness
import package

EXAMPLE = os.path.join(package.PACKAGE, 'examples', 'longest_gap.py')
PROGRAM = os.path.join(harness.SOURCE, 'test', 'apps', 'python-ctypes.py')
KERNEL = 2  # the number of the row type
PYENV = os.environ.get('PYENV_ROOT', os.path.expanduser('~/.pyenv'))
# Eight threads share a trace, a table and a writer.
SHARED = '''
import sys, threading, tracesmith
trace = tracesmith.open(sys.argv[1])
wanted, failures, shared = list(trace.kernels), [], [trace.kernels, trace.calls]
n_calls, info, writer = len(list(trace.calls)), trace.info(), tracesmith.SBTWriter('shared.sbt')
session, start = writer.session(pid=1), threading.Barrier(8)
def work(number):
    start.wait()
    for i in range(10):
        if list(shared[0]) != wanted or len(shared[1]['name'].texts()) != n_calls:
            failures.append('a shared table')
        if list(trace.kernels) != wanted or len(trace.copies.where(name=None)) == 0 or trace.file_state != 'finished':
            failures.append('a shared trace')
        if i == 5 and trace.info() != info:
            failures.append('a question')
        session.emit('mark', start_ns=1 + i, name='mark %d of %d' % (i, number))
        if i % 3 == 0:
            session.seal()
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
writer.finish()
assert not failures, failures
names = tracesmith.open('shared.sbt').marks['name'].texts()
assert sorted(names) == sorted('mark %d of %d' % (i, number) for i in range(10) for number in range(8))
'''
VERSION = 'import sys; print("%d.%d" % sys.version_info[:2])'


def interpreters():
    """{version: path} of the CPythons here that the package is for."""
    found = {}
    for path in sorted(glob.glob(os.path.join(PYENV, 'versions', '*', 'bin', 'python3'))) + ['/usr/bin/python3', sys.executable]:
        version = harness.run([path, '-c', VERSION]).out.strip() if os.path.exists(path) else ''
        if version and tuple(map(int, version.split('.'))) >= (3, 8):
            found.setdefault(version, path)
    return found


class Package(package.Case):
    def test_example_under_every_interpreter(self):
        found = interpreters()
        self.assertTrue(found)
        for version, python in found.items():
            result = harness.run([python, EXAMPLE, self.path('gap.sbt'), python, PROGRAM, '3'], self.environment(), cwd=self.folder)
            self.assertEqual((result.status, result.err), (0, ''), (version, result))
            for wanted in ('longest gap: ', 'cause: ', 'ended by cu', 'kernels twice as fast: ', 'GPU time of kernels: '):
                self.assertIn(wanted, result.out, version)
            if version <= '3.13':
                self.assertIn('(%s:' % PROGRAM, result.out, version)

    def test_rows_are_those_of_tsctl(self):
        path = self.trace()
        self.python('''
import json, sys, tracesmith
with tracesmith.open(sys.argv[1]) as trace, open('rows.json', 'w') as file:
    rows = {name: [row._asdict() for row in table] for name, table in trace.tables.items()}
    json.dump(rows, file, default=str)
''', path)
        with open(self.path('rows.json'), encoding='utf-8') as file:
            ours = json.load(file)
        theirs = {}
        for row in harness.Trace(path).rows:
            theirs.setdefault(row['type'], []).append(row)
        self.assertEqual({name: len(rows) for name, rows in ours.items()}, {name: len(rows) for name, rows in theirs.items()})
        for name in ('kernel', 'memcpy', 'memset', 'api'):
            def order(row):
                return row['start_ns'], row['op_id']
            for mine, shown in zip(sorted(ours[name], key=order), sorted(theirs[name], key=order)):
                common = set(mine) & set(shown) - {'domain'}  # tsctl prints its name
                self.assertLessEqual({'start_ns', 'end_ns', 'op_id', 'session'}, common)
                self.assertLessEqual({'name'} if name == 'api' else {'stream', 'device'}, common)
                self.assertEqual({key: mine[key] for key in common}, {key: shown[key] for key in common})

    def test_selection(self):
        self.python('''
import sys, tracesmith
trace = tracesmith.open(sys.argv[1])
kernels = trace.kernels
rows = list(kernels)
middle = sorted(row.start_ns for row in rows)[len(rows) // 2]
def check(table, wanted):
    assert [row for row in table] == [row for row in rows if wanted(row)], table
    assert 0 < len(table) < len(rows)
check(kernels.where(name='sc*'), lambda row: row.name == 'scale')
check(kernels.where(stream=rows[0].stream), lambda row: row.stream == rows[0].stream)
check(kernels.where(start=middle), lambda row: row.end_ns >= middle)
check(kernels.where(end=middle, name='saxpy'), lambda row: row.start_ns <= middle and row.name == 'saxpy')
assert len(kernels.where(name='nothing of the kind')) == 0 == len(kernels.where(start=1e9))
assert list(kernels.where(name='nothing')) == []
assert len(kernels.where(end=0)) == 0 and len(kernels.where(start=-1)) == len(rows)
assert len(kernels.where(name='sa[x]py')) == 0
calls = list(trace.calls)
launches = trace.calls.where(name='cuLaunch*')
assert [row for row in launches] == [row for row in calls if row.name.startswith('cuLaunch')], launches
assert 0 < len(launches) < len(calls) and set(launches['name'].texts()) == {'cuLaunchKernel'}
assert len(trace.calls.where(name='x')) == 0 and trace.calls['name'].is_text and trace.calls['name'].text(0) == calls[0].name
two = kernels.select('start_ns', 'name')
assert two.columns == ['start_ns', 'name'] and two['start_ns'].data == kernels['start_ns'].data
for wrong, error in ((lambda: trace.table('kernels'), tracesmith.TraceError), (lambda: kernels.select('when'), tracesmith.TraceError),
                     (lambda: kernels['when'], KeyError), (lambda: len(trace.copies.where(name='x')), tracesmith.TraceError),
                     (lambda: len(kernels.where(thread=1)), tracesmith.TraceError),
                     (lambda: len(kernels.where(session=2**32 + 1)), tracesmith.TraceError),
                     (lambda: len(kernels.where(session=0)), tracesmith.TraceError),
                     (lambda: trace.what_if('nonsense!!'), tracesmith.CommandError),
                     (lambda: trace.replay(on='nope'), tracesmith.CommandError)):
    try:
        wrong()
    except error as why:
        assert str(why), why
    else:
        raise AssertionError('no error')
''', self.trace())

    def test_writer(self):
        self.python('''
import sys, tracesmith
with tracesmith.SBTWriter('own.sbt', command='by hand') as writer:
    session = writer.session(pid=7, program='own', start_ns=1000)
    for i in range(1000):
        session.emit('range', start_ns=1000 + i * 10, end_ns=1005 + i * 10, name='load %d' % (i % 3))
    session.emit('counter', start_ns=1500, name='loss', value=0.5, value_type=0)
    for wrong in (dict(type='rang', start_ns=1), dict(type='range', start=1), dict(type='range', start_ns=-1),
                  dict(type='range', start_ns='now'), dict(type='kernel', grid_x=2 ** 32)):
        try:
            session.emit(wrong.pop('type'), **wrong)
        except tracesmith.TraceError as error:
            assert str(error)
        else:
            raise AssertionError(wrong)
with tracesmith.open('own.sbt') as trace:
    assert trace.file_state == 'finished' and trace.metadata['command'] == 'by hand'
    assert trace.ranges['name'].texts()[:4] == ['load 0', 'load 1', 'load 2', 'load 0']
    assert len(trace.ranges.where(name='load 1')) == 333
for wrong in (lambda: tracesmith.SBTWriter('own.sbt'), lambda: session.emit('range', start_ns=1), session.seal):
    try:
        wrong()
    except tracesmith.Error as error:
        assert 'own.sbt' in str(error)
    else:
        raise AssertionError('no error')
''')
        # A forked child leaves the parent's file alone.
        self.python('''
import os, sys, tracesmith
with tracesmith.SBTWriter('forked.sbt') as writer:
    session = writer.session(pid=7)
    session.emit('mark', start_ns=1, name='before')
    session.seal()
    pid = os.fork()
    if not pid:
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    for i in range(1000):
        session.emit('mark', start_ns=2 + i, name='after')
        session.seal()
assert len(tracesmith.open('forked.sbt').marks) == 1001
''')
        result = harness.tsctl('verify', self.path('forked.sbt'))
        self.assertEqual(result.status, 0, result)
        result = harness.tsctl('verify', self.path('own.sbt'))
        self.assertEqual(result.status, 0, result)
        self.assertIn('load 2', harness.tsctl('view', '--type', 'range', self.path('own.sbt')).out)

    def test_own_process(self):
        """recording() in a process that begins without the shim; its trace is read in between and after it."""
        self.python('''
import ctypes, os, subprocess, sys, tracesmith
assert not tracesmith.is_recorded()
tracesmith.mark('nobody sees this')
with tracesmith.recording('own.sbt') as path:
    cudart = ctypes.CDLL('libcudart.so.13')
    memory = ctypes.c_void_p()
    assert cudart.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0
    with tracesmith.annotate('epoch'):
        for i in range(5):
            assert cudart.cudaMemset(memory, 1, ctypes.c_size_t(4096)) == 0
            tracesmith.counter('loss', i / 2)
assert cudart.cudaMemset(memory, 1, ctypes.c_size_t(4096)) == 0
with tracesmith.open(path) as trace:
    assert (trace.file_state, len(trace.sets)) == ('growing', 5)
    assert [row.value for row in trace.counters.where(name='loss')] == [0, 0.5, 1, 1.5, 2]
    assert trace.ranges['name'].texts() == ['epoch']
with tracesmith.annotate('\\udcff'):
    pass
@tracesmith.annotate()
def step():
    assert cudart.cudaMemset(memory, 1, ctypes.c_size_t(4096)) == 0
with tracesmith.recording('own.sbt'):
    step()
with tracesmith.open(os.getpid()) as trace:
    assert len(trace.sets) == 6 and trace.ranges['name'].texts()[-1] == 'step', list(trace.ranges)
try:
    with tracesmith.recording('other.sbt'):
        pass
except tracesmith.Error as error:
    assert 'own.sbt' in str(error)
else:
    raise AssertionError('no error')
''', LD_LIBRARY_PATH=harness.VGPU, TRACESMITH_VGPU='h200')
        trace = self.finished_trace(self.path('own.sbt'))
        self.assertEqual(len(trace.of('memset')), 6)

    def test_too_late(self):
        result = self.python('''
import ctypes, tracesmith
ctypes.CDLL('libcuda.so.1').cuInit(0)
with tracesmith.recording('own.sbt'):
    pass
''', status=1, LD_LIBRARY_PATH=harness.VGPU)
        self.assertIn('call recording() before the first use', result.err)

    def test_columns_outlive_all(self):
        """Columns live on when the trace is closed, in a forked child, and until the interpreter ends."""
        path = self.trace()
        self.python('''
import gc, os, sys, tracesmith
trace = tracesmith.open(sys.argv[1])
column = trace.kernels['start_ns']
view, total = column.data, sum(column)
stream = trace.kernels.__arrow_c_stream__()
trace.close()
for wrong in (lambda: len(trace.kernels), lambda: trace.file_state, lambda: trace.kernels.__arrow_c_stream__()):
    try:
        wrong()
    except tracesmith.Error as error:
        assert 'closed' in str(error)
    else:
        raise AssertionError('no error')
del trace, column
gc.collect()
assert sum(view) == total
pid = os.fork()
if not pid:
    os._exit(0 if sum(view) == total else 1)
assert os.waitpid(pid, 0)[1] == 0
again = tracesmith.open(sys.argv[1])
left = [again.kernels['end_ns'], again, stream]
''', path)

    def test_threads_share_a_trace(self):
        self.python(SHARED, self.trace())

    def test_without_the_interpreters_lock(self):
        """The same under free-threaded builds of CPython."""
        program = 'import sys, sysconfig; print(sysconfig.get_config_var("Py_GIL_DISABLED") or 0)'
        free = [path for path in glob.glob(os.path.join(PYENV, 'versions', '*', 'bin', 'python3'))
                if harness.run([path, '-c', program]).out.strip() == '1']
        if not free:
            self.skipTest('no free-threaded CPython is installed')
        for python in free:
            self.python(SHARED, self.trace(), python=python, PYTHON_GIL='0')

    def test_hostile_files(self):
        path = self.trace()
        with open(path, 'rb') as file:
            data = file.read()
        with open(self.path('cut.sbt'), 'wb') as file:
            file.write(data[:len(data) // 2])
        with open(self.path('other.sbt'), 'wb') as file:
            file.write(b'no trace' * 100)
        with open(self.path('damaged.sbt'), 'wb') as file:
            file.write(harness.damage_blocks(data, KERNEL))
        self.python('''
import tracesmith
assert tracesmith.open('cut.sbt').file_state == 'truncated'
for wrong, text in ((lambda: tracesmith.open('other.sbt'), 'not a trace'), (lambda: tracesmith.open('none.sbt'), 'No such file'),
                    (lambda: len(tracesmith.open('damaged.sbt').kernels), 'damaged.sbt: '), (lambda: tracesmith.open(1), 'process 1'),
                    (lambda: tracesmith.record(['/nonexistent/program'], 'x.sbt'), '/nonexistent/program')):
    try:
        wrong()
    except tracesmith.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
folder = tracesmith.open('.')
assert len(folder) == 4 and folder[0].path.endswith('cut.sbt'), folder.paths
''')

    def test_missing_library(self):
        result = harness.run([sys.executable, '-c', 'import tracesmith; tracesmith.open("x")'],
                             harness.environment(PYTHONPATH=package.PACKAGE, TRACESMITH_LIBRARY='/nonexistent/libtracesmith.so'))
        self.assertIn('NotInstalled', result.err)
        self.assertIn('set TRACESMITH_LIBRARY', result.err)


class Others(Package):
    """Other libraries read the columns value for value."""

    def test_numpy_and_pandas(self):
        if harness.run(['/usr/bin/python3', '-c', 'import numpy, pandas']).status:
            self.skipTest('Debian\'s python3-pandas is not installed')
        self.python('''
import json, sys, numpy, pandas, tracesmith
trace = tracesmith.open(sys.argv[1])
for name, table in trace.tables.items():
    rows = list(table)
    frame = table.to_pandas()
    assert list(frame.columns) == [name.rstrip('_') for name in rows[0]._fields] and len(frame) == len(rows)
    for column in table.columns:
        array = numpy.asarray(table[column])
        assert not array.flags.owndata and not array.flags.writeable
        if array.ndim == 1:
            assert array.tolist() == list(table[column]), (name, column)
        assert frame[column].tolist() == [row._asdict()[column + '_' * (column == 'async')] for row in rows], (name, column)
kernels = trace.kernels.to_pandas()
shown = json.loads(sys.argv[2])
assert kernels.groupby('name', observed=True).size().to_dict() == shown
''', self.trace_path(), json.dumps({'saxpy': 100, 'scale': 100}), python='/usr/bin/python3')

    def trace_path(self):
        return self.trace()

    def test_arrow_stream(self):
        """A consumer by the specification takes the capsule, reads each column and releases it."""
        self.python('''
import ctypes, sys, tracesmith
P, L = ctypes.c_void_p, ctypes.c_int64
class Schema(ctypes.Structure):
    pass
class Array(ctypes.Structure):
    pass
class Stream(ctypes.Structure):
    pass
Schema._fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_char_p), ('flags', L), ('n_children', L),
                   ('children', ctypes.POINTER(ctypes.POINTER(Schema))), ('dictionary', ctypes.POINTER(Schema)),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ('private_data', P)]
Array._fields_ = [('length', L), ('null_count', L), ('offset', L), ('n_buffers', L), ('n_children', L), ('buffers', ctypes.POINTER(P)),
                  ('children', ctypes.POINTER(ctypes.POINTER(Array))), ('dictionary', ctypes.POINTER(Array)),
                  ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ('private_data', P)]
Stream._fields_ = [('get_schema', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ('get_next', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))), ('last_error', P),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ('private_data', P)]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = P, [ctypes.py_object, ctypes.c_char_p]
KINDS = {b'C': 'B', b'S': 'H', b'I': 'I', b'L': 'Q', b'c': 'b', b's': 'h', b'i': 'i', b'l': 'q', b'g': 'd'}
trace = tracesmith.open(sys.argv[1])
for name, table in list(trace.tables.items()) + [('session', trace.sessions)]:
    capsule = table.__arrow_c_stream__()
    stream = ctypes.cast(get_pointer(capsule, b'arrow_array_stream'), ctypes.POINTER(Stream))
    schema, array, end = Schema(), Array(), Array()
    assert not stream.contents.get_schema(stream, schema) and not stream.contents.get_next(stream, array)
    assert not stream.contents.get_next(stream, end) and not end.release
    assert array.length == len(table) and schema.format == b'+s'
    for i in range(schema.n_children):
        column, values = schema.children[i].contents, array.children[i].contents
        own = table[column.name.decode()] if column.name.decode() in table.columns else table.sessions
        if column.format not in KINDS:
            assert column.format.startswith(b'w:')
            continue
        width = ctypes.sizeof(ctypes.c_char) * memoryview(b'x' * 8).cast(KINDS[column.format]).itemsize
        data = memoryview(ctypes.string_at(values.buffers[1], array.length * width)).cast(KINDS[column.format])
        assert list(data) == list(own) or (name, column.name) == ('api', b'name'), (name, column.name)
        if column.dictionary:
            texts = values.dictionary.contents
            offsets = memoryview(ctypes.string_at(texts.buffers[1], 4 * (texts.length + 1))).cast('i')
            known = [ctypes.string_at(texts.buffers[2] + offsets[k], offsets[k + 1] - offsets[k]).decode() for k in range(texts.length)]
            assert [known[number] for number in data] == own.texts(), column.name
    array.release(array)
    schema.release(schema)
    if name != 'kernel':
        stream.contents.release(stream)
    del capsule
for _ in range(100):
    trace.kernels.__arrow_c_stream__()
''', self.trace())


# Others inherits the helpers, not the tests.
for attribute in [name for name in dir(Package) if name.startswith('test_')]:
    setattr(Others, attribute, None)


class Install(harness.Case):
    """`pip install ./tools/python` in a fresh virtual environment, without a network and without anything else."""

    def test_pip(self):
        # pip writes beside the sources. The version is in meson.build.
        source = shutil.copytree(package.PACKAGE, self.path('tree/tools/python'))
        shutil.copy(os.path.join(harness.SOURCE, 'meson.build'), self.path('tree'))
        venv = self.path('venv')
        if harness.run([sys.executable, '-m', 'venv', venv]).status:
            self.skipTest('this Python makes no virtual environments')
        environment = harness.environment(PIP_NO_INDEX='1', PIP_DISABLE_PIP_VERSION_CHECK='1', PIP_NO_CACHE_DIR='1', PATH='/usr/bin:/bin')
        result = harness.run([venv + '/bin/pip', 'install', source], environment, cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        facts = subprocess.run([venv + '/bin/pip', 'show', '-f', 'tracesmith'], stdout=subprocess.PIPE, encoding='utf-8',
                               env=environment, check=True).stdout
        version = harness.tsctl('version').out.split()[1]
        self.assertIn('Version: %s\n' % version, facts)
        self.assertIn('py.typed', facts)
        environment['TRACESMITH_TSCTL'] = harness.TSCTL
        if not harness.SANITIZER:
            result = harness.run([venv + '/bin/tracesmith', 'version'], environment)
            self.assertEqual((result.status, result.out), (0, harness.tsctl('version').out), result)
        result = harness.run([venv + '/bin/python3', '-c', 'import tracesmith; print(tracesmith.__version__)'], environment,
                             cwd=self.folder)
        self.assertEqual((result.status, result.out), (0, version + '\n'), result)
        result = harness.run([venv + '/bin/pip', 'uninstall', '-y', 'tracesmith'], environment)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(glob.glob(venv + '/lib/python3*/site-packages/tracesmith*'), [])


class Types(unittest.TestCase):
    def test_mypy(self):
        if not shutil.which('mypy'):
            self.skipTest('mypy is not installed')
        result = harness.run(['mypy', '--strict', '--no-incremental', '--cache-dir=/dev/null', os.path.join(package.PACKAGE, 'tracesmith')])
        self.assertEqual(result.status, 0, result)


if __name__ == '__main__':
    harness.main()
