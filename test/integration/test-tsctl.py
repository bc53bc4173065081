#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl as a person and a script meet it: exit statuses, one line for an error, JSON that parses, help that fits."""
import fcntl
import json
import os
import re
import signal
import stat
import struct
import subprocess
import termios
import time

import harness

READING = ('info', 'view', 'verify', 'repair')
COMMANDS = READING + ('cut', 'merge', 'dump', 'record', 'devices', 'status', 'sessions', 'start', 'stop', 'watch',
                      'benchmark', 'index', 'mcp', 'version')
NOT_YET = ('timeline', 'state', 'graph', 'memory', 'analyze', 'diff', 'export', 'replay', 'benchmark')


BEGIN = '''
import ctypes, os
cuda = ctypes.CDLL('libcuda.so.1')
context, memory, host = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context)
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
'''
FAILING_PROGRAM = BEGIN + '''
assert not cuda.cuMemHostAlloc(ctypes.byref(host), ctypes.c_size_t(1024), 0)
assert not cuda.cuMemsetD8_v2(memory, ctypes.c_ubyte(1), ctypes.c_size_t(1024))
assert not cuda.cuCtxSynchronize()
assert cuda.cuMemFree_v2(ctypes.c_uint64(12345)) == 1
'''
KILLED_PROGRAM = BEGIN + '''
os.kill(os.getpid(), 9)
'''
LONG_NAME_PROGRAM = BEGIN + '''
name = b'%s'
module, function = ctypes.c_void_p(), ctypes.c_void_p()
text = b'.version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry ' + name + b'() { ret; }\\n'
assert not cuda.cuModuleLoadData(ctypes.byref(module), text)
assert not cuda.cuModuleGetFunction(ctypes.byref(function), module, name)
assert not cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None)
assert not cuda.cuCtxSynchronize()
'''


class Usage(harness.Case):
    def check_error(self, result, status=2, *words):
        self.assertEqual(result.status, status, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertEqual(result.out, '', result)
        for word in words:
            self.assertIn(word, result.err)

    def check_help(self, *arguments):
        result = harness.tsctl(*arguments)
        self.assertEqual((result.status, result.err), (0, ''), result)
        lines = result.out.splitlines()
        self.assertLessEqual(len(lines), 24, 'does not fit a screen')
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertNotIn('\033', result.out)
        return result.out

    def test_help(self):
        overview = self.check_help('--help')
        self.assertEqual(self.check_help('help'), overview)
        for command in COMMANDS:
            self.assertIn(command, overview)
            self.assertIn('tsctl ' + command, self.check_help(command, '--help'))
            self.check_help('help', command)
        self.check_help('profile', '--help')

    def test_no_command(self):
        result = harness.tsctl()
        self.assertEqual(result.status, 2)
        self.assertIn('tsctl', result.out + result.err)

    def test_unknown(self):
        self.check_error(harness.tsctl('recrod'), 2, 'recrod', 'record')
        self.check_error(harness.tsctl('info', '--jsno', 'x.sbt'), 2, '--jsno')
        self.check_error(harness.tsctl('help', 'nonsense'), 2, 'nonsense')
        for command in READING:
            self.check_error(harness.tsctl(command), 2)

    def test_no_abbreviations(self):
        """An option is its whole name: what is short for one today is short for two tomorrow."""
        self.check_error(harness.tsctl('record', '--outp', 'x.sbt', 'true'), 2, '--outp', '--output')
        self.check_error(harness.tsctl('record', '--ring=1M', 'true'), 2, '--ring', '--ring-size')
        self.check_error(harness.tsctl('info', '--js', 'x.sbt'), 2, '--js', '--json')
        self.check_error(harness.tsctl('view', 'x.sbt', '--lim', '3'), 2, '--lim', '--limit')
        # A value that looks like its option is a value.
        self.check_error(harness.tsctl('view', '--limit', '--lim', 'x.sbt'), 2, '--limit --lim')

    def test_fixed_values_are_listed(self):
        """An option whose values are fixed names all of them when it is given another."""
        for arguments, words in (
                (('replay', '--on', 'bogus'), ('`emulate`', '`vgpu`', '`cuda`')),
                (('replay', '--mode', 'bogus'), ('`full`', '`dry-run`')),
                (('replay', '--on', 'vgpu', '--check=bogus'), ('all', 'races', 'init', 'bounds', 'order')),
                (('graph', '--format', 'bogus'), ('`dot`', '`json`', '`text`')),
                (('export', '--format', 'bogus'), ('`perfetto`', '`json`', '`folded`', '`pprof`')),
                (('export', '--format', 'folded', '--weight', 'bogus'), ('`gpu-time`', '`launches`', '`bytes`')),
                (('export', '--format', 'folded', '--type', 'bogus'), ('`kernel`', '`memcpy`', '`memset`')),
                (('view', '--type', 'bogus'), ('kernel', 'memcpy', 'memset', 'sync', 'alloc', 'api')),
                (('record', '--stacks', 'bogus'), ('`native`', '`python`', '`none`')),
                (('record', '--symbols', 'bogus'), ('`end`', '`none`')),
                (('record', '--capture', 'bogus'), ('`timing`', '`replay`', '`window`')),
                (('record', '--kernel-events=bogus'), ('`all`', '`sched`', '`faults`', '`driver`')),
                (('record', '--dump-on', 'bogus'), ('mark:', 'SIGUSR1', 'SIGUSR2', 'SIGHUP')),
                (('benchmark', '--stacks', 'bogus'), ('`native`', '`none`')),
                (('start', '--capture', 'bogus'), ('`replay`',))):
            self.check_error(harness.tsctl(*arguments, 'x.sbt', cwd=self.folder), 2, 'bogus', *words)

    def test_record_says_what_it_cannot(self):
        for arguments, words in (
                (('-o', '-', 'true'), ('-o -', 'file')),
                (('-o', '', 'true'), ('-o', 'file')),
                (('--capture', 'full', 'true'), ('full', 'timing', 'replay')),
                (('-d', 'soon', 'true'), ('soon', 'seconds'))):
            self.check_error(harness.tsctl('record', *arguments, cwd=self.folder), 2, *words)
        self.check_error(harness.tsctl('record', '--vgpu', 'h200:2', 'true', cwd=self.folder), 125,
                         'h200:2', '--vgpu=h200:2')
        self.check_error(harness.tsctl('record', 'true', cwd=self.folder, env=harness.record_environment(
            TRACESMITH_RING_SIZE='huge')), 2, 'TRACESMITH_RING_SIZE', 'huge')
        nowhere = self.path('no/such/folder.sbt')
        result = harness.tsctl('record', '-o', nowhere, 'true', env=harness.record_environment())
        self.check_error(result, 125, nowhere)
        self.assertEqual(result.err.count(nowhere), 1, result)
        self.assertEqual(os.listdir(self.folder), [])

    def test_not_in_this_version(self):
        for command in NOT_YET:
            self.check_error(harness.tsctl(command, 'x.sbt'), 2, command)

    def test_version(self):
        result = harness.tsctl('version', '--json')
        self.assertEqual(result.status, 0, result)
        version = json.loads(result.out)
        self.assertTrue(version['version'])
        plain = harness.tsctl('--version')
        self.assertEqual(plain.status, 0)
        self.assertIn(version['version'], plain.out)

    def test_devices(self):
        result = harness.tsctl('devices', '--json')
        self.assertEqual(result.status, 0, result)
        devices = json.loads(result.out)
        self.assertIn('h200', [shape['spec'] for shape in devices['virtual_shapes']])
        self.assertTrue(devices['virtual_note'])
        vendors = {vendor['name']: vendor for vendor in devices['vendors']}
        self.assertEqual({name: vendor['state'] for name, vendor in vendors.items()},
                         {'mcpti': 'untested', 'mupti': 'untested', 'mspti': 'untested', 'topspti': 'refused', 'hgpti': 'refused'})
        self.assertIn('no public source', vendors['topspti']['missing'])
        human = harness.tsctl('devices')
        self.assertEqual(human.status, 0, human)
        self.assertIn('not', human.out)

    def test_coverage(self):
        """Each entry point of the tables has a state; the counts of a release are those of its entry points."""
        result = harness.tsctl('devices', '--coverage', '--json')
        self.assertEqual((result.status, result.err), (0, ''), result)
        coverage = json.loads(result.out)['coverage']
        interfaces = {one['interface']: one for one in coverage if 'release' not in one}
        self.assertEqual(set(interfaces), {'CUDA driver', 'CUDA runtime', 'HIP'})
        for one in interfaces.values():
            states = [point['state'] for point in one['entry_points']]
            for state in ('intercepted', 'passed', 'unknown'):
                self.assertEqual(states.count(state), one[state], (one['interface'], state))
            self.assertEqual(set(states), {'intercepted', 'passed', 'unknown'} if one['vendor'] == 'nvidia' else
                             {'intercepted', 'passed'})
        hip = {point['name']: point for point in interfaces['HIP']['entry_points']}
        for name, state, release in (('hipLaunchKernel', 'intercepted', '4.2'), ('hipGetDevice', 'passed', '4.2'),
                                     ('hipMallocAsync', 'intercepted', '5.1'), ('hipLaunchKernelExC', 'intercepted', '6.5')):
            self.assertEqual(hip[name], {'name': name, 'state': state, 'release': release})
        driver = {point['name']: point['state'] for point in interfaces['CUDA driver']['entry_points']}
        self.assertEqual((driver['cuLaunchKernel'], driver['cuDriverGetVersion']), ('intercepted', 'passed'))

        def number(release):
            return [int(part) for part in release.split('.')]

        releases = [one for one in coverage if one['interface'] == 'HIP' and 'release' in one]
        self.assertEqual([one['release'] for one in releases], sorted((one['release'] for one in releases), key=number))
        for one in releases:
            of_release = [point['state'] for point in hip.values()
                          if 'release' in point and number(point['release']) <= number(one['release'])]
            self.assertEqual((of_release.count('intercepted'), of_release.count('passed')), (one['intercepted'], one['passed']))
        page = harness.tsctl('devices', '--coverage')
        self.assertEqual((page.status, page.err), (0, ''), page)
        self.assertRegex(page.out, r'(?m)^HIP +6\.2 +%d +%d +0$' % next(
            (one['intercepted'], one['passed']) for one in releases if one['release'] == '6.2'))
        self.assertRegex(page.out, r'(?m)^intercepted +4\.2 +hipLaunchKernel$')

    def test_status(self):
        env = harness.environment(TRACESMITH_CONTROL=self.path('nobody.sock'))
        result = harness.tsctl('status', '--json', env=env)
        self.assertIn(result.status, (0, 1), result)
        json.loads(result.out)

    def test_view_times(self):
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        first, last = trace.info['start_ns'], trace.info['end_ns']
        middle = (last - first) // 2
        after = harness.tsctl('view', '--json', '--from', str(middle), path)
        rows = [json.loads(line) for line in after.out.splitlines()]
        self.assertEqual(rows, [row for row in trace.rows if row['end_ns'] >= first + middle])
        before = harness.tsctl('view', '--json', '--to', '%dns' % middle, path)
        rows = [json.loads(line) for line in before.out.splitlines()]
        self.assertEqual(rows, [row for row in trace.rows if row['start_ns'] <= first + middle])
        self.check_error(harness.tsctl('view', '--from', '3 parsecs', path), 2, 'parsecs')
        # JSON's times, as they are.
        row = trace.of('kernel')[0]
        absolute = harness.tsctl('view', '--json', '--type', 'kernel', '--from', '@%d' % row['start_ns'],
                                 '--to', '@%d' % row['start_ns'], path)
        self.assertEqual([json.loads(line) for line in absolute.out.splitlines()], [row])
        mixed = harness.tsctl('view', '--json', '--from', '@%d' % (first + middle), '--to', str(middle), path)
        self.assertEqual(mixed.status, 0, mixed)
        self.check_error(harness.tsctl('view', '--from', '@%d' % (last + 9), '--to', str(middle), path), 2,
                         '--to is before --from')

    def test_view_nothing(self):
        """Where no row is, that is said, and how long the trace is; JSON is empty."""
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        for arguments in (('--from', '1000s'), ('--stats', '--from', '1000s')):
            nothing = harness.tsctl('view', *arguments, path)
            self.assertEqual((nothing.status, len(nothing.out.splitlines())), (0, 1), nothing)
            self.assertIn('in this window; the trace lasts', nothing.out)
        self.assertIn('of this type;', harness.tsctl('view', '--type', 'range', path).out)
        self.assertEqual(harness.tsctl('view', '--json', '--from', '1000s', path).out, '')

    def test_names_of_numbers(self):
        """Kinds of memory and errors by name, in JSON and for people."""
        result, path = self.record(['python3', '-c', FAILING_PROGRAM], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        failed = [row for row in trace.of('api') if row['result']]
        self.assertEqual([(row['name'], row['error']) for row in failed],
                         [('cuMemFree_v2', 'CUDA_ERROR_INVALID_VALUE')])
        self.assertFalse([row for row in trace.of('api') if not row['result'] and 'error' in row])
        self.assertIn('cuMemFree_v2 = CUDA_ERROR_INVALID_VALUE', harness.tsctl('view', path).out)
        self.assertEqual([row['kind'] for row in trace.of('alloc')], ['device', 'pinned'])
        self.assertEqual([row['kind'] for row in trace.of('memset')], ['device'])

    def on_terminal(self, columns, *arguments):
        """What a terminal of so many columns shows."""
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        with os.fdopen(master, 'rb', buffering=0) as screen:
            process = subprocess.Popen([harness.TSCTL, *arguments], stdin=subprocess.DEVNULL, stdout=slave,
                                       stderr=slave, env=harness.environment(TERM='dumb'))
            os.close(slave)
            shown = b''
            while True:
                try:
                    piece = screen.read(4096)
                except OSError:
                    break
                if not piece:
                    break
                shown += piece
            self.assertEqual(process.wait(harness.SECONDS), 0, shown)
        return [line.rstrip('\r') for line in shown.decode().split('\n')]

    def test_long_names(self):
        """A terminal sees both ends of a name that is too long, and with --wide all of it; a pipe always does."""
        name = 'a' * 150 + 'b' * 250 + 'c' * 150
        result, path = self.record(['python3', '-c', LONG_NAME_PROGRAM % name], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        for arguments in (('view', '--type', 'kernel', path), ('view', '--stats', path), ('info', path)):
            cut = [line for line in self.on_terminal(140, *arguments) if 'aaa' in line]
            self.assertEqual(len(cut), 1, cut)
            self.assertRegex(cut[0], 'aaaa[.]{3}c+', arguments)
            self.assertEqual(len(cut[0]), 140)
            self.assertTrue(any(name in line for line in self.on_terminal(140, *arguments, '--wide')), arguments)
            self.assertIn(name, harness.tsctl(*arguments).out)
        self.assertIn('<<<1x1x1, 1x1x1>>>', ''.join(self.on_terminal(140, 'view', '--type', 'kernel', path)))

    def test_many_sessions(self):
        """Sessions that fill screens are told by program, and one by one where asked."""
        result, path = self.record(['sh', '-c', 'for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l; do "$0" >/dev/null; '
                                    'done', harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        info = harness.tsctl('info', path).out.splitlines()
        told = [line.split() for line in info if line.endswith('  saxpy-driver')]
        self.assertEqual(len(told), 1, info)
        self.assertEqual((told[0][0], told[0][3], told[0][4]), ('22', '220', 'ended'))
        each = harness.tsctl('info', '--wide', path).out.splitlines()
        self.assertEqual(len([line for line in each if line.endswith('  saxpy-driver')]), 22)

    def test_rows_mean_one_thing(self):
        """`verify`, `repair` and `info` count the same rows."""
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        counts = harness.Trace(path).counts
        verified = json.loads(harness.tsctl('verify', '--json', path).out)
        self.assertEqual(verified['counts'], counts)
        self.assertEqual(verified['rows'], sum(counts.values()))
        repaired = json.loads(harness.tsctl('repair', '--json', path).out)
        self.assertEqual(repaired['rows'], sum(counts.values()))

    def test_view_limit_and_type(self):
        result, path = self.record([harness.app('saxpy', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        limited = harness.tsctl('view', '--json', '--limit', '3', path)
        self.assertEqual([json.loads(line) for line in limited.out.splitlines()], trace.rows[:3])
        kernels = harness.tsctl('view', '--json', '--type', 'kernel,memcpy', path)
        self.assertEqual([json.loads(line) for line in kernels.out.splitlines()],
                         trace.of('kernel', 'memcpy'))
        human = harness.tsctl('view', path)
        self.assertEqual(human.status, 0, human)
        self.assertIn('saxpy', human.out)
        self.assertNotIn('\033', human.out)
        self.check_error(harness.tsctl('view', '--type', 'kernle', path), 2, 'kernle')
        for types in ('kernel,,memcpy', ',kernel', 'kernel,', ''):
            self.check_error(harness.tsctl('view', '--type', types, path), 2, 'a type is empty')

    def test_every_option_of_record_runs_over_hip(self):
        """The table of test/integration/README.md has each option of the help, with classes that exist."""
        options = set(re.findall(r'(?<!`)(--[a-z-]+)', harness.tsctl('record', '--help').out.split('\nexample:')[0]))
        folder = os.path.join(harness.SOURCE, 'test', 'integration')
        with open(os.path.join(folder, 'README.md'), encoding='utf-8') as stream:
            rows = re.findall(r'^\| (`--.*?) \| (.*?) \| (.*?) \|$', stream.read(), re.M)
        self.assertEqual(sorted(option for row in rows for option in re.findall('`(.*?)`', row[0])), sorted(options))
        for _, scripts, classes in rows:
            text = ''
            for script in re.findall('`(.*?)`', scripts):
                with open(os.path.join(folder, script), encoding='utf-8') as stream:
                    text += stream.read()
            for name in re.findall('`(.*?)`', classes):
                self.assertRegex(text, r'(?m)^(class %s\b|%s = )' % (name, name))

    def test_record_quantum(self):
        """Host times are multiples of it, which the trace says; devices' are as they were, and nothing ends before it begins."""
        result, path = self.record([self.app('saxpy'), '17'], '--vgpu', '-q', '--quantum', '1us')
        self.assertEqual(result.status, 0, result)
        info = json.loads(harness.tsctl('info', '--json', path).out)
        self.assertEqual(info['metadata']['host_quantum_ns'], '1000')
        self.assertIn('quantum of host times, ns: 1000', harness.tsctl('info', path).out)
        trace = harness.Trace(path)
        self.assertGreater(len(trace.of('api')), 17)
        for row in trace.of('api'):
            self.assertEqual((int(row['start_ns']) % 1000, int(row['end_ns']) % 1000), (0, 0), row)
            self.assertLessEqual(int(row['start_ns']), int(row['end_ns']))
        self.assertTrue(any(int(row['start_ns']) % 1000 for row in trace.of('kernel')))
        self.assertEqual(harness.tsctl('verify', path).status, 0)
        for bad in ('0', '2ms', 'much'):
            result = harness.tsctl('record', '--quantum', bad, 'true')
            self.assertEqual(result.status, 2, result)
            self.assertIn('--quantum ' + bad, result.err)

    def test_info_columns(self):
        """What columns take comes to the file, but for its header and its end marker; by type, the largest first."""
        result, path = self.record([harness.app('saxpy', 'driver'), '17'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        info = json.loads(harness.tsctl('info', '--columns', '--json', path).out)
        self.assertEqual(sum(int(size['stored_bytes']) for size in info['columns']),
                         os.path.getsize(path) - 64 - 48)
        kernels = {size.get('column'): size for size in info['columns'] if size['type'] == 'kernel'}
        self.assertEqual(int(kernels['start_ns']['rows']), int(info['counts']['kernel']))
        self.assertGreater(int(kernels['start_ns']['encoded_bytes']), 0)
        self.assertFalse(json.loads(harness.tsctl('info', '--json', path).out)['columns'])
        human = harness.tsctl('info', '--columns', path).out
        self.assertRegex(human, r'STORED +OF FILE +ENCODED +A ROW +ROWS +TYPE +COLUMN')
        self.assertRegex(human, r'start_ns')

    def test_view_stats(self):
        result, path = self.record([harness.app('saxpy', 'driver'), '17'], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        stats = json.loads(harness.tsctl('view', '--stats', '--json', path).out)
        kernels = {entry['name']: entry for entry in stats['kernels']}
        self.assertEqual(kernels['saxpy']['count'], 17)
        rows = harness.Trace(path).of('kernel')
        self.assertEqual(kernels['saxpy']['total_ns'],
                         sum(row['end_ns'] - row['start_ns'] for row in rows))
        copies = {entry['name']: entry['bytes'] for entry in stats['copies']}
        truth = self.truth()
        self.assertEqual(sum(copies.values()), sum(truth.copy_bytes))
        # Only what has bytes has a column for them, and no line is left over.
        human = harness.tsctl('view', '--stats', path).out
        tables = human.split('\n\n')
        self.assertEqual([table.split('\n')[0] for table in tables if 'BYTES' in table], ['Copies', 'Sets'])
        self.assertTrue(human.endswith('\n') and not human.endswith('\n\n'))

    def test_pipe_closed(self):
        """`tsctl view | head`: no complaint when the reader has seen enough."""
        result, path = self.record([harness.app('threads', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        piped = harness.run(['sh', '-c', '"$0" view "$1" | head -n 1', harness.TSCTL, path])
        self.assertEqual((piped.status, piped.err), (0, ''), piped)
        self.assertEqual(len(piped.out.splitlines()), 1)

    def test_full_disk(self):
        """Output that cannot be written is an error, not silence."""
        with open('/dev/full', 'w', encoding='utf-8') as full:
            process = subprocess.run([harness.TSCTL, 'version'], stdout=full, stderr=subprocess.PIPE,
                                     env=harness.environment(), timeout=60, check=False)
        self.assertNotEqual(process.returncode, 0)


class Record(harness.Case):
    def test_statuses(self):
        for status in (0, 1, 2, 77, 125, 255):
            path = self.path('%d.sbt' % status)
            result = harness.tsctl('record', '-q', '-o', path, '--', 'sh', '-c', 'exit %d' % status,
                                   env=harness.record_environment())
            self.assertEqual((result.status, result.err), (status, ''), result)

    def test_signalled(self):
        """A command that is killed: its status, and by what, in the trace too."""
        result, path = self.record(['python3', '-c', KILLED_PROGRAM], '--vgpu', '-q')
        self.assertEqual(result.status, 128 + signal.SIGKILL, result)
        trace = harness.Trace(path)
        self.assertEqual([(session['state'], session['end_reason']) for session in trace.info['sessions']],
                         [('died', 'killed by SIGKILL')])
        self.assertRegex(harness.tsctl('info', path).out, 'killed by SIGKILL +python')
        # Of a child only the silence is known.
        result, path = self.record(['sh', '-c', 'python3 -c "$0"; exit 3', KILLED_PROGRAM], '--vgpu', '-q', '-f')
        self.assertEqual(result.status, 3, result)
        self.assertNotIn('end_reason', harness.Trace(path).info['sessions'][0])
        self.assertRegex(harness.tsctl('info', path).out, 'killed or crashed +python')

    def test_lost_is_explained(self):
        """The line at the end names what was lost, not what lacks its other half for that, and who tells more."""
        result, path = self.record([self.app('stress'), '100000', '4'], '--vgpu', '--ring-size', '64K')
        self.assertEqual(result.status, 0, result)
        lost = harness.Trace(path).lost
        if not lost:
            self.skipTest('nothing was lost')
        self.assertIn('LOST: ', result.err)
        self.assertIn('`tsctl info %s` explains' % path, result.err)
        for reason in lost:
            self.assertEqual(reason in result.err, not reason.startswith('unjoined_'), result)

    def test_could_not_start(self):
        result, path = self.record([self.path('nothere')], '-q')
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertIn('nothere', result.err)
        self.assertFalse(os.path.exists(path))

    def test_no_command(self):
        result = harness.tsctl('record', '-o', self.path('x.sbt'))
        self.assertIn(result.status, (2, 125), result)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_never_overwrites(self):
        path = self.path('recorded.sbt')
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('precious')
        result, _ = self.record(['true'])
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        with open(path, encoding='utf-8') as stream:
            self.assertEqual(stream.read(), 'precious')
        result, _ = self.record([self.app('saxpy')], '--vgpu', '-f')
        self.assertEqual(result.status, 0, result)
        self.check_truth(harness.Trace(path), self.truth())

    def test_unwritable(self):
        result = harness.tsctl('record', '-o', self.path('no/such/folder.sbt'), '--', 'true',
                               env=harness.record_environment())
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_failed_start_leaves_no_file(self):
        """What a daemon made before it failed is gone, so that the next run can have the name."""
        failing, path = self.path('failing'), self.path('x.sbt')
        with open(failing, 'w') as stream:
            stream.write('#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done\nprintf "SBT" > "$2"\nexit 3\n')
        os.chmod(failing, 0o755)
        result = harness.run([harness.TSCTL, 'record', '-o', path, '--', 'true'],
                             harness.record_environment(TRACESMITH_DAEMON=failing), cwd=self.folder)
        self.assertEqual((result.status, len(result.err.splitlines())), (125, 1), result)
        self.assertFalse(os.path.exists(path))
        for word in (self.path('nothere'), self.folder, self.path('noexec')):
            with open(self.path('noexec'), 'w') as stream:
                stream.write('#!/no/such/interpreter\n')
            os.chmod(self.path('noexec'), 0o755)
            result = self.start('-o', path, '--', word)
            self.assertEqual(result.status, 125, result)
            self.assertFalse(os.path.exists(path), word)
        self.assertEqual(self.start('-o', path, '--', 'true').status, 0)

    def test_daemon_that_hangs(self):
        """It is given up, and lives on. It does so at its end; in the soak at its start, which has a minute."""
        hanging, pid_file = self.path('hanging'), self.path('pid')
        with open(hanging, 'w') as stream:
            # The third descriptor is its connection with tsctl.
            stream.write("#!/bin/sh\ntrap '' TERM HUP\necho $$ >%s\n%s\nexec sleep 1000\n" % (
                pid_file, '' if os.environ.get('TS_SOAK') else 'exec 3>&-'))
        os.chmod(hanging, 0o755)
        result = harness.run([harness.TSCTL, 'record', '-o', self.path('x.sbt'), '--', 'true'],
                             harness.record_environment(TRACESMITH_DAEMON=hanging), cwd=self.folder)
        with open(pid_file) as stream:
            os.kill(int(stream.read()), signal.SIGKILL)
        self.assertEqual(result.status, 125, result)
        self.assertIn('does not end', result.err)

    def test_output_out_of_reach(self):
        plain = self.path('plain')
        with open(plain, 'w'):
            pass
        result = self.start('-o', plain + '/x.sbt', '--', 'true')
        self.assertEqual(result.status, 125, result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertIn('Not a directory', result.err)

    def test_force_spares_a_running_recording(self):
        path = self.path('running.sbt')
        with open(path, 'wb') as stream:
            stream.write(b'SBT')
            stream.flush()
            fcntl.fcntl(stream, fcntl.F_OFD_SETLK if hasattr(fcntl, 'F_OFD_SETLK') else 37,
                        struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
            result = self.start('--force', '-o', path, '--', 'true')
            self.assertEqual(result.status, 125, result)
            self.assertIn('still being written', result.err)
            self.assertEqual(os.path.getsize(path), 3)

    def start(self, *arguments):
        return harness.run([harness.TSCTL, 'record', *arguments], harness.record_environment(),
                           cwd=self.folder)

    def test_default_name(self):
        result = harness.run([harness.TSCTL, 'record', '--vgpu', '--', self.app('saxpy')],
                             harness.record_environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        names = os.listdir(self.folder)
        self.assertEqual(len(names), 1, names)
        self.assertRegex(names[0], r'^tracesmith-saxpy-%s-\d+\.sbt$' % self.form)
        self.assertTrue(result.err.startswith('tsctl record: tracesmith-saxpy'), result)
        self.assertIn(names[0], result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_profile_is_record(self):
        path = self.path('p.sbt')
        result = harness.tsctl('profile', '-q', '-o', path, '--vgpu', '--', self.app('saxpy'),
                               env=harness.record_environment(TS_TRUTH=self.truth_path))
        self.assertEqual(result.status, 0, result)
        self.check_truth(harness.Trace(path), self.truth())

    def test_several_processes(self):
        """All processes of the command are sessions of one file."""
        command = '%s >/dev/null & %s >/dev/null; wait; %s' % (
            self.app('saxpy'), self.app('pipeline'),
            self.app('exits'))
        result, path = self.record(['sh', '-c', command], '--vgpu', '-q', TS_TRUTH=None)
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        self.check_sound(trace)
        self.assertEqual(sorted(session['program'] for session in trace.info['sessions']),
                         [name + '-' + self.form for name in ('exits', 'pipeline', 'saxpy')])
        self.assertEqual({row['session'] for row in trace.of('kernel')}, {1, 2, 3})
        self.assertEqual(trace.lost, {})

    def test_ring_sizes(self):
        """Every size that is accepted records; larger rings mean fewer of them, never none. Of a small one some may have to wait."""
        for size in ('64K', '1M', '16M', '64M', '256M'):
            result, path = self.record([self.app('threads'), *harness.THREADS_ARGUMENTS], '--vgpu', '-q', '-f', '--lossless',
                                       '--ring-size', size)
            self.assertEqual(result.status, 0, result)
            self.check_truth(harness.Trace(path), self.truth())
        for size in ('0', '63K', '100K', '512M', 'large'):
            result = harness.tsctl('record', '--ring-size', size, '--', 'true')
            self.assertIn(result.status, (2, 125), result)
            self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_lossless(self):
        """Whoever asks for lossless gets every launch, and the application waits instead."""
        launches = 20000 if harness.SANITIZER else 300000
        result, path = self.record([self.app('stress'), str(launches), '4'], '--vgpu',
                                   '-q', '--lossless', '--ring-size', '256K', seconds=120)
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        self.assertEqual((trace.counts['kernel'], trace.lost), (launches, {}))

    def test_stdin_and_arguments_pass(self):
        with open(self.path('in'), 'w', encoding='utf-8') as stream:
            stream.write('line\n')
        with open(self.path('in'), encoding='utf-8') as stream:
            result = harness.run([harness.TSCTL, 'record', '-q', '-o', self.path('r.sbt'), '--', 'sh', '-c',
                                  'cat; echo "$0" "$@"', 'a b', '--vgpu', '-o'],
                                 harness.record_environment(), stdin=stream)
        self.assertEqual((result.status, result.out), (0, 'line\na b --vgpu -o\n'), result)

    def test_interrupted(self):
        """Control-C ends the command; the file is finished all the same."""
        # The shell waits in a built-in: one that is just starting a child puts an interrupt off until that ends.
        path = self.path('r.sbt')
        env = harness.record_environment()
        process = subprocess.Popen(
            [harness.TSCTL, 'record', '-q', '-o', path, '--vgpu', '--', 'sh', '-c',
             self.app('saxpy') + '; echo ready; read line'], env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        while b'ready' not in process.stdout.readline():
            pass
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        trace = harness.Trace(path)
        self.check_sound(trace)
        self.assertEqual(trace.counts['kernel'], 10)

    def test_nothing_is_left_behind(self):
        """No process, no socket, no folder outlives a recording; the file is its owner's alone."""
        runtime = self.path('runtime')
        os.mkdir(runtime, 0o700)
        result, path = self.record([self.app('saxpy')], '--vgpu', '-q',
                                   XDG_RUNTIME_DIR=runtime, TMPDIR=runtime)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(os.listdir(runtime), [])
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o022, 0)
        self.assertEqual(self.still_running('recorded.sbt'), [])

    def still_running(self, word):
        end = time.monotonic() + harness.SECONDS
        while True:
            found = []
            for pid in filter(str.isdigit, os.listdir('/proc')):
                try:
                    with open('/proc/%s/cmdline' % pid, 'rb') as stream:
                        line = stream.read()
                except OSError:
                    continue
                if (self.folder + '/' + word).encode() in line:
                    found.append(line)
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def test_duration(self):
        """-d ends the recording, not the command; that of a slow machine, which is over too soon, is made again, and longer."""
        path = self.path('r.sbt')
        finished = '"$0" info --json "$1" | grep -q \'"finished": *true\''
        for seconds in ('2', '8', '32'):
            result = harness.tsctl('record', '-q', '-f', '-o', path, '-d', seconds, '--vgpu', '--', 'sh', '-c',
                                   '"$2"; until %s; do sleep 0.1; done; "$2"; exit 3' % finished, harness.TSCTL, path,
                                   self.app('saxpy'), env=harness.record_environment())
            self.assertEqual(result.status, 3, result)
            self.assertEqual(result.out.count('saxpy: 10 launches'), 2, result)
            trace = harness.Trace(path)
            if trace.counts.get('kernel', 0) >= 10:
                break
        self.check_sound(trace)
        self.assertEqual(trace.counts['kernel'], 10)


# Options of `record`, by each way into HIP.
OPTION_TESTS = ('test_lost_is_explained', 'test_never_overwrites', 'test_default_name', 'test_profile_is_record',
                'test_several_processes', 'test_ring_sizes', 'test_lossless', 'test_interrupted', 'test_duration')
RecordOverHip = harness.over_hip(Record, *OPTION_TESTS)
RecordOverHipSymbols = harness.over_hip(Record, *OPTION_TESTS, form='hip5')
QuantumOverHip = harness.over_hip(Usage, 'test_record_quantum')
QuantumOverHipSymbols = harness.over_hip(Usage, 'test_record_quantum', form='hip5')


class Preload(harness.Case):
    def test_output_environment(self):
        result, _ = self.preload([harness.app('saxpy', 'driver')],
                                 TRACESMITH_OUTPUT=self.path('mine-%p.trace'))
        self.assertEqual(result.status, 0, result)
        path = self.path('mine-%d.trace' % result.pid)
        self.check_truth(harness.Trace(path), self.truth())

    def test_default_name(self):
        """tsctl and the preload alone make the same name of a program's."""
        program = self.path('my app')
        os.link(harness.app('saxpy', 'driver'), program)
        for run in (lambda: self.preload([program]),
                    lambda: harness.run([harness.TSCTL, 'record', '--vgpu', program], harness.record_environment(),
                                        cwd=self.folder)):
            run()
            names = [name for name in os.listdir(self.folder) if name.endswith('.sbt')]
            self.assertEqual(len(names), 1, names)
            self.assertRegex(names[0], r'^tracesmith-my_app-\d+\.sbt$')
            os.unlink(self.path(names[0]))

    def test_debug(self):
        """What was set wrongly and why no file came is said to whoever asks, and to nobody else."""
        result, _ = self.preload([harness.app('saxpy', 'driver')], TRACESMITH_DEBUG='1', TRACESMITH_RING_SIZE='12Q',
                                 TRACESMITH_STACKS='all', TRACESMITH_OUTPUT=self.path('no/x.sbt'))
        self.assertEqual((result.status, result.out), (0, 'saxpy: 10 launches\n'), result)
        for word in ('loaded', 'TRACESMITH_RING_SIZE=12Q', 'TRACESMITH_STACKS=all',
                     'cannot create ' + self.path('no/x.sbt')):
            self.assertIn(word, result.err)
        result, _ = self.preload(['env', 'true'], TRACESMITH_DEBUG='1', CUDA_INJECTION64_PATH='/opt/libother.so')
        self.assertIn('/opt/libother.so', result.err)
        result, _ = self.preload(['env', 'true'], TRACESMITH_DEBUG='0')
        self.assertEqual(result.err, '')

    def test_never_overwrites(self):
        output = self.path('taken.sbt')
        with open(output, 'w', encoding='utf-8') as stream:
            stream.write('precious')
        result, traces = self.preload([harness.app('saxpy', 'driver')], TRACESMITH_OUTPUT=output)
        self.assertEqual(result.status, 0, result)
        with open(output, encoding='utf-8') as stream:
            self.assertEqual(stream.read(), 'precious')
        self.assertEqual(len(traces), 2, traces)
        self.check_truth(harness.Trace([path for path in traces if path != output][0]), self.truth())

    def test_output_cannot_be_written(self):
        """No file can be made: the program neither notices nor says anything."""
        result, traces = self.preload([harness.app('saxpy', 'driver')],
                                      TRACESMITH_OUTPUT=self.path('no/such/folder/x.sbt'))
        self.assertEqual((result.status, result.out, result.err), (0, 'saxpy: 10 launches\n', ''), result)
        self.assertEqual(traces, [])

    def test_no_daemon_to_start(self):
        result, traces = self.preload([harness.app('saxpy', 'driver')],
                                      TRACESMITH_DAEMON=self.path('nothere'))
        self.assertEqual((result.status, result.out, result.err), (0, 'saxpy: 10 launches\n', ''), result)
        self.assertEqual(traces, [])

    def test_small_file_limit(self):
        """A limit on file sizes is the application's business: no SIGXFSZ out of nowhere."""
        result, _ = self.preload(['sh', '-c', 'ulimit -f 64; exec ' + harness.app('saxpy', 'driver')],
                                 TS_TRUTH=None)
        self.assertEqual((result.status, result.out), (0, 'saxpy: 10 launches\n'), result)


if __name__ == '__main__':
    harness.main()
