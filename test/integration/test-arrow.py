#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`export --format arrow`: every table has the values of `view --json`, by a reader from the specification, by npm's apache-arrow and by
DuckDB; no file is there before it is whole, and no name of a trace leads out of the folder."""
import filecmp
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import arrow
import harness

MAKE = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many')
GOLDEN = os.path.join(harness.SOURCE, 'test', 'integration', 'golden')
READER = os.path.join(harness.SOURCE, 'test', 'integration', 'arrow-duckdb.mjs')
PARQUET = os.path.join(harness.SOURCE, 'tools', 'export', 'arrow', 'parquet.mjs')
COLUMNS = os.path.join(harness.SOURCE, 'tools', 'export', 'arrow', 'COLUMNS.md')
PLACE = re.compile(r'job=([^/]+)/rank=([^/]+)/type=([a-z_]+)/time=(\d{8}T\d{6}Z|t\d{9})/([^/]+)\.arrow')
KERNEL = 2
BATCH, FILE = 65536, 262144  # rows


def documented_columns():
    """{type of rows: {column: type}} of COLUMNS.md"""
    common, columns, types = {}, {}, []
    with open(COLUMNS, encoding='utf-8') as stream:
        for line in stream:
            column = re.match(r'\| `(\w+)` \| (\w+) \|', line)
            if line.startswith('## '):
                types = re.findall(r'`(\w+)`', line)
                columns.update({name: dict(common) for name in types})
            for known in [columns[name] for name in types] if types else [common]:
                if column:
                    known[column[1]] = column[2]
    return columns


class Arrow(harness.Case):
    def export(self, path, *options, folder='data', status=0):
        result = harness.tsctl('export', '--format', 'arrow', '-o', self.path(folder), *options, path)
        self.assertEqual(result.status, status, result)
        return result

    def files(self, folder='data'):
        """The files of a data set: [(path below the folder, PLACE's match, File)]. There are no others."""
        found = []
        for at, _, names in os.walk(self.path(folder)):
            for name in sorted(names):
                place = os.path.relpath(os.path.join(at, name), self.path(folder))
                match = PLACE.fullmatch(place)
                self.assertTrue(match, place)
                found.append((place, match, arrow.read(os.path.join(at, name))))
        return sorted(found, key=lambda file: file[0])

    def rows(self, folder='data'):
        """{type: rows}; a null is an absent key, as in JSON."""
        rows = {}
        for _, match, file in self.files(folder):
            names = list(file.columns)
            for values in zip(*file.columns.values()):
                rows.setdefault(match[3], []).append({name: value for name, value in zip(names, values) if value is not None})
        return rows

    def check_rows(self, rows, path, *options):
        """The rows are those of `view --json`: the same keys, the same values, and types that hold them."""
        wanted = {}
        for line in harness.tsctl('view', '--json', *options, path).out.splitlines():
            row = json.loads(line)
            row.pop('stack', None)
            wanted.setdefault(row.pop('type'), []).append(row)
        self.assertEqual({name: len(rows[name]) for name in rows}, {name: len(wanted[name]) for name in wanted})

        def order(row):
            return json.dumps({key: value + 0.0 if key == 'value' else value for key, value in row.items()}, sort_keys=True)
        for name in wanted:
            for mine, shown in zip(sorted(rows[name], key=order), sorted(wanted[name], key=order)):
                self.assertEqual(mine, shown, name)

    def test_every_table(self):
        types = set()
        for path in sorted(glob.glob(os.path.join(GOLDEN, '*.sbt'))):
            folder = os.path.basename(path)
            self.export(path, folder=folder)
            self.check_rows(self.rows(folder), path)
            types |= set(self.rows(folder))
        self.assertGreater(len(types), 20)

    def test_schema(self):
        """A type has the same columns in every file, and the columns of the document."""
        self.export(os.path.join(GOLDEN, 'pipeline.sbt'))
        documented = documented_columns()
        for place, match, file in self.files():
            self.assertEqual((match[1], match[2]), ('unknown', 'unknown'))
            self.assertEqual(file.metadata['tracesmith.type'], match[3], place)
            self.assertEqual(file.metadata['tracesmith.host'], 'node1')
            origin = int(file.metadata['tracesmith.origin_ns'])
            self.assertLessEqual(origin, min(file.columns['start_ns']) if match[3] not in ('clock', 'loss') else origin)
            self.assertFalse({'type', 'job', 'rank', 'time'} & set(file.types))
            self.assertEqual(file.types, documented[match[3]], place)
        kernel, = [file for _, match, file in self.files() if match[3] == 'kernel']
        self.assertEqual({name: kernel.types[name] for name in ('start_ns', 'session', 'name', 'op_id', 'stream_name', 'grid_x')},
                         {'start_ns': 'uint64', 'session': 'uint32', 'name': 'text', 'op_id': 'uint64', 'stream_name': 'text',
                          'grid_x': 'uint32'})
        calls, = [file for _, match, file in self.files() if match[3] == 'api']
        self.assertEqual((calls.types['expects_device'], calls.types['result']), ('bool', 'int32'))
        counters, = [file for _, match, file in self.files() if match[3] == 'counter']
        self.assertEqual((counters.types['value'], counters.types['integer']), ('double', 'int64'))

    def test_options(self):
        path = os.path.join(GOLDEN, 'names.sbt')
        self.export(path, '--mangled', '--type', 'kernel,api', '--job', 'train', '--rank', '3', '--from', '1ms')
        self.check_rows(self.rows(), path, '--mangled', '--type', 'kernel', '--type', 'api', '--from', '1ms')
        self.assertEqual({match[1] + match[2] for _, match, _ in self.files()}, {'train3'})
        # Another trace beside it, and the first one again: nothing is there twice.
        before = {place for place, _, _ in self.files()}
        self.export(os.path.join(GOLDEN, 'train.sbt'), '--type', 'kernel', '--job', 'train', '--rank', '4')
        self.export(path, '--mangled', '--type', 'kernel,api', '--job', 'train', '--rank', '3', '--from', '1ms')
        self.assertEqual(len({place for place, _, _ in self.files()} - before), 1)

    def test_refusals(self):
        path = os.path.join(GOLDEN, 'names.sbt')
        with open(self.path('file'), 'w', encoding='utf-8'):
            pass
        for options, text in ((('-o', self.path('file')), 'Not a directory'), (('-o', self.path('no/folder')), 'No such file'),
                              (('-o', '-'), 'name a folder'), ((), '-o'), (('-o', 'x', '--slice', '0'), 'whole seconds'),
                              (('-o', 'x', '--slice', '1500ms'), 'whole seconds'), (('-o', 'x', '--type', 'kernels'), 'expected'),
                              (('-o', 'x', '--lines'), 'no sums')):
            result = harness.tsctl('export', '--format', 'arrow', *options, path)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(text, result.err)
        for options, text in ((('--job', 'x'), '--job requires `--format arrow`'), (('--type', 'api'), 'require')):
            result = harness.tsctl('export', '--format', 'folded', *options, path)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(text, result.err)
        result = self.export(path, '--from', '60m')
        self.assertIn('no rows to export', result.err)

    def test_hostile_names(self):
        """Names of jobs and of traces are no paths."""
        path = self.path('..%s.sbt' % ('x' * 200))
        shutil.copy(os.path.join(GOLDEN, 'names.sbt'), path)
        os.mkdir(self.path('inner'))
        for i, job in enumerate(('../../../outside', '/etc', '.', '..', 'a=b/c', 'new\nline\x1b[2J', 'z' * 5000, '\udcff\udcfe', '日本',
                                 '%2e%2e', '')):
            self.export(path, '--job', job, '--rank', job, '--type', 'kernel', folder=os.path.join('inner', str(i)))
            (place, match, file), = self.files(os.path.join('inner', str(i)))
            self.assertRegex(match[1], r'\A[A-Za-z0-9_%-][A-Za-z0-9._%-]*\Z')
            self.assertEqual((match[1], match[1]), (match[2], file.metadata['tracesmith.job']))
            self.assertLess(max(map(len, place.split('/'))), 256)
            if job == 'a=b/c':
                self.assertEqual(match[1], 'a%3Db%2Fc')
        self.assertEqual(sorted(os.listdir(self.folder)), [os.path.basename(path), 'inner'])
        self.assertEqual(len(os.listdir(self.path('inner'))), 11)

    def write(self, lines):
        """Writes own.sbt with two sessions, the first of which knows the time of day; `lines` add rows to each."""
        if harness.SANITIZER:
            self.skipTest('Python does not load libraries of a sanitizer')
        program = '''
import sys, tracesmith
with tracesmith.SBTWriter('own.sbt', job='fleet', rank='7') as writer:
    for pid, start in ((1, 1700000000000000000), (2, 0)):
        session = writer.session(pid=pid, program='own', start_ns=10**12, start_realtime_ns=start)
''' + lines.replace('\n', '\n        ')
        library = os.path.join(harness.BUILD, 'tools', 'library', 'libtracesmith.so.0')
        result = harness.run([sys.executable, '-c', program], harness.environment(
            PYTHONPATH=os.path.join(harness.SOURCE, 'tools', 'python'), PYTHONDONTWRITEBYTECODE='1', TRACESMITH_LIBRARY=library),
            cwd=self.folder)
        self.assertEqual(result.status, 0, result)

    def test_slices(self):
        """A row is in the slice in which it starts, in time of day; the trace names job and rank itself."""
        self.write('''
for i in range(100):
    session.emit('range', start_ns=10**12 + i * 10**9, end_ns=10**12 + i * 10**9 + 5 * 10**9, name='load %d' % (i % 3))
''')
        self.export(self.path('own.sbt'), '--slice', '30s')
        self.check_rows(self.rows(), self.path('own.sbt'))
        places = {}
        for _, match, file in self.files():
            self.assertEqual((match[1], match[2], match[3]), ('fleet', '7', 'range'))
            places[match[4]] = [(start - 10**12) // 10**9 for start in file.columns['start_ns']]
        # 1700000000 is 22:13:20; slices of half a minute.
        self.assertEqual(places, {'20231114T221300Z': list(range(10)), '20231114T221330Z': list(range(10, 40)),
                                  '20231114T221400Z': list(range(40, 70)), '20231114T221430Z': list(range(70, 100)),
                                  't000000000': list(range(30)), 't000000030': list(range(30, 60)),
                                  't000000060': list(range(60, 90)), 't000000090': list(range(90, 100))})

    def test_open_ranges(self):
        """Ranges that never ended are rows of their own type; the begins of the others appear only by name."""
        self.write('''
for i in range(9):
    session.emit('range_begin', start_ns=10**12 + i * 1000, range_id=i + 1, name='load')
    if i % 3:
        session.emit('range', start_ns=10**12 + i * 1000, end_ns=10**12 + i * 1000 + 500, range_id=i + 1, name='load')
''')
        for n, options in (((12, 6), ()), ((12, 6), ('--type', 'range')), ((0, 18), ('--type', 'range_begin'))):
            folder = ''.join(options)
            self.export(self.path('own.sbt'), *options, folder='data' + folder)
            rows = self.rows('data' + folder)
            self.assertEqual((len(rows.get('range', [])), len(rows.get('range_begin', []))), n, options)
            self.check_rows(rows, self.path('own.sbt'), *options)

    def make(self, n, kind='launches'):
        path = self.path('many.sbt')
        result = harness.run([MAKE, path, str(n), kind])
        self.assertEqual(result.status, 0, result)
        return path

    def test_large(self):
        """Files have a limit of rows, so memory has one; batches fill them."""
        path = self.make(FILE + BATCH + 3)
        self.export(path, '--type', 'kernel')
        first, second = [file for _, _, file in self.files()]
        # One thread writes the same files.
        result = harness.run([harness.TSCTL, 'export', '--format', 'arrow', '-o', self.path('alone'), '--type', 'kernel', path],
                             harness.environment(TRACESMITH_THREADS='1'))
        self.assertEqual(result.status, 0, result)
        for place, _, _ in self.files():
            self.assertTrue(filecmp.cmp(self.path('data/' + place), self.path('alone/' + place), shallow=False), place)
        self.assertEqual((first.batches, second.batches), ([BATCH] * 4, [BATCH, 3]))
        totals = json.loads(harness.tsctl('view', '--stats', '--json', '--type', 'kernel', path).out)['kernels']
        columns = [(file.columns['start_ns'], file.columns['end_ns']) for file in (first, second)]
        self.assertEqual(sum(sum(end) - sum(start) for start, end in columns), totals[0]['total_ns'])

    def test_many_texts(self):
        path = self.make(20000, 'ranges')
        self.export(path, '--type', 'range')
        self.check_rows(self.rows(), path, '--type', 'range')

    def test_damage(self):
        with open(os.path.join(GOLDEN, 'pipeline.sbt'), 'rb') as stream:
            data = stream.read()
        with open(self.path('damaged.sbt'), 'wb') as stream:
            stream.write(harness.damage_blocks(data, KERNEL))
        result = self.export(self.path('damaged.sbt'), status=2)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        rows = self.rows()
        self.assertNotIn('kernel', rows)
        self.check_rows(rows, self.path('damaged.sbt'))
        with open(self.path('cut.sbt'), 'wb') as stream:
            stream.write(data[:len(data) * 2 // 3])
        self.export(self.path('cut.sbt'), folder='cut')
        self.check_rows(self.rows('cut'), self.path('cut.sbt'))

    def test_no_room(self):
        """Of a file that does not fit, nothing is there."""
        path = self.make(50000)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        result = subprocess.run([harness.TSCTL, 'export', '--format', 'arrow', '-o', self.path('data'), path], preexec_fn=limit,
                                env=harness.environment(), stderr=subprocess.PIPE, encoding='utf-8', check=False, restore_signals=False)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (2, 1), result)
        self.assertIn('File too large', result.stderr)
        self.assertNotIn('kernel', [match[3] for _, match, _ in self.files()])

    def test_ended(self):
        """Killed at any time, the export leaves whole files and no others."""
        path = self.make(150000)
        for name in (signal.SIGINT, signal.SIGKILL):
            tsctl = subprocess.Popen([harness.TSCTL, 'export', '--format', 'arrow', '-o', self.path(name.name), path],
                                     env=harness.environment(), stderr=subprocess.DEVNULL)
            while tsctl.poll() is None and not glob.glob(self.path(name.name) + '/*/*/type=*'):
                time.sleep(0.001)
            tsctl.send_signal(name)
            self.assertIn(tsctl.wait(harness.SECONDS), (-name, 128 + name, 0))
            for _, _, file in self.files(name.name):
                self.assertGreater(sum(file.batches), 0)


class Others(harness.Case):
    def node(self, *packages):
        modules = os.environ.get('TS_BENCH_NODE', '')
        for package in packages:
            if not shutil.which('node') or not os.path.isdir(os.path.join(modules, 'node_modules', package)):
                self.skipTest('no %s: `npm install %s` in a folder, and TS_BENCH_NODE=that folder' % (package, ' '.join(packages)))
        return modules

    def dataset(self):
        folder = self.path('data')
        totals = {}
        for name in ('pipeline', 'train', 'names'):
            path = os.path.join(GOLDEN, name + '.sbt')
            self.assertEqual(harness.tsctl('export', '--format', 'arrow', '-o', folder, '--job', name, path).status, 0)
            for row in harness.Trace(path).of('kernel'):
                count, total = totals.get(row['name'], (0, 0))
                totals[row['name']] = (count + 1, total + row['end_ns'] - row['start_ns'])
        return folder, {name: list(figures) for name, figures in totals.items()}

    def test_columns_by_npm(self):
        """apache-arrow and DuckDB read each column, value for value."""
        modules = self.node('apache-arrow', '@duckdb/duckdb-wasm')
        folder, totals = self.dataset()
        result = harness.run(['node', READER, modules, 'columns', folder], harness.environment())
        self.assertEqual(result.status, 0, result)
        n_files = 0
        for line in result.out.splitlines():
            found = json.loads(line)
            # Numbers of 64 bits are digits, nulls are null.
            file = arrow.read(found['path'])
            mine = {name: [None if value is None else value if isinstance(value, (str, bool, float)) else str(value)
                           for value in column] for name, column in file.columns.items()}
            self.assertEqual(found['arrow'], mine, found['path'])
            self.assertEqual(found['duckdb'], mine, found['path'])
            n_files += 1
        self.assertEqual(n_files, len(glob.glob(folder + '/**/*.arrow', recursive=True)))
        result = harness.run(['node', READER, modules, 'totals', folder], harness.environment())
        self.assertEqual(json.loads(result.out), totals, result)

    def test_parquet(self):
        modules = self.node('apache-arrow', '@duckdb/node-api')
        folder, totals = self.dataset()
        output = self.path('kernels.parquet')
        result = harness.run(['node', PARQUET, folder, 'kernel', output, modules], harness.environment())
        self.assertEqual((result.status, result.err), (0, ''), result)
        with open(output, 'rb') as stream:
            self.assertEqual(stream.read(4), b'PAR1')
        result = harness.run(['node', READER, modules, 'parquet', output], harness.environment())
        self.assertEqual(json.loads(result.out), totals, result)


if __name__ == '__main__':
    harness.main()
