#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/python/examples/fleet.py: the slowest kernels of 1,000 traces on two workers of a Dask cluster are those of a plain loop, of tsctl,
and of DuckDB over the exported files; each worker opens the traces of its own machine."""
import concurrent.futures
import contextlib
import glob
import json
import os
import shutil
import subprocess
import time

import harness

PYTHON = '/usr/bin/python3'  # Debian's, which has python3-distributed
EXAMPLE = os.path.join(harness.SOURCE, 'tools', 'python', 'examples', 'fleet.py')
READER = os.path.join(harness.SOURCE, 'test', 'integration', 'arrow-duckdb.mjs')
TRACES, KERNELS = 1000, 60

# Writes N traces into FOLDER/node0 to node3, and prints what is in them: {name: [launches, ns, longest]}.
GENERATE = '''
import json, os, sys, tracesmith
folder, n, n_kernels = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sums = {}
for i in range(n):
    node = os.path.join(folder, 'node%d' % (i % 4))
    os.makedirs(node, exist_ok=True)
    with tracesmith.SBTWriter(os.path.join(node, 'rank%d.sbt' % i), job='fleet', rank=str(i)) as writer:
        session = writer.session(pid=100 + i, program='train', start_ns=10**9, start_realtime_ns=1700000000000000000)
        at = 10**9
        for k in range(n_kernels):
            took = 1000 + (i * 7919 + k * 104729) % 5000
            name = 'kernel_%d' % ((i + k) % 11)
            session.emit('kernel', start_ns=at, end_ns=at + took, op_id=k + 1, context=1, stream=7, name=name)
            known = sums.setdefault(name, [0, 0, 0])
            known[0] += 1
            known[1] += took
            known[2] = max(known[2], took)
            at += took + 100
print(json.dumps(sums))
'''


class Fleet(harness.Case):
    def setUp(self):
        super().setUp()
        if harness.SANITIZER:
            self.skipTest('Python does not load libraries of a sanitizer')
        if harness.run([PYTHON, '-c', 'import distributed, numpy']).status:
            self.skipTest('Debian\'s python3-distributed or python3-numpy is not installed')

    def environment(self):
        return harness.environment(
            PYTHONPATH=os.path.join(harness.SOURCE, 'tools', 'python'), PYTHONDONTWRITEBYTECODE='1', HOME=self.folder,
            DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE='False',
            TRACESMITH_LIBRARY=os.path.join(harness.BUILD, 'tools', 'library', 'libtracesmith.so.0'), TRACESMITH_TSCTL=harness.TSCTL)

    def python(self, *arguments, status=0):
        result = harness.run([PYTHON, *arguments], self.environment(), cwd=self.folder)
        self.assertEqual(result.status, status, result)
        return result

    def generate(self, n):
        return json.loads(self.python('-c', GENERATE, self.path('traces'), str(n), str(KERNELS)).out)

    def check_answer(self, found, sums):
        self.assertEqual({kernel['name']: [kernel['launches'], kernel['total_ns'], kernel['longest_ns']] for kernel in found['kernels']},
                         sums)
        totals = [kernel['total_ns'] for kernel in found['kernels']]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_thousand_traces(self):
        sums = self.generate(TRACES)
        found = json.loads(self.python(EXAMPLE, self.path('traces'), '--workers', '2', '--json').out)
        self.assertEqual((found['traces'], found['workers'], found['errors']), (TRACES, 2, []))
        self.check_answer(found, sums)
        for kernel in found['kernels']:
            host, path = kernel['longest_in'].split(':', 1)
            self.assertEqual(host, found['host'])
            rows = [row for row in harness.Trace(path).rows if row['name'] == kernel['name']]
            self.assertEqual(max(row['end_ns'] - row['start_ns'] for row in rows), kernel['longest_ns'])

    def test_duckdb(self):
        """The same answer by DuckDB, over the exported files."""
        modules = os.environ.get('TS_BENCH_NODE', '')
        if not shutil.which('node') or not os.path.isdir(os.path.join(modules, 'node_modules', '@duckdb', 'duckdb-wasm')):
            self.skipTest('no DuckDB: `npm install @duckdb/duckdb-wasm apache-arrow` in a folder, and TS_BENCH_NODE=that folder')
        sums = self.generate(TRACES)

        def export(path):
            return harness.tsctl('export', '--format', 'arrow', '--mangled', '-o', self.path('data'), path).status
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual(set(pool.map(export, glob.glob(self.path('traces') + '/*/*.sbt'))), {0})
        result = harness.run(['node', READER, modules, 'totals', self.path('data')], harness.environment())
        self.assertEqual(json.loads(result.out), {name: figures[:2] for name, figures in sums.items()}, result)

    def test_bad_traces(self):
        """A trace that cannot be read is named, and the others count."""
        sums = self.generate(8)
        with open(self.path('traces/other.sbt'), 'wb') as stream:
            stream.write(b'no trace' * 100)
        result = self.python(EXAMPLE, self.path('traces'), '--workers', '1', '--json', status=1)
        self.check_answer(json.loads(result.out), sums)
        self.assertIn('other.sbt: not a trace', result.err)
        text = self.python(EXAMPLE, self.path('traces'), '--workers', '1', '--top', '3', status=1).out.splitlines()
        self.assertEqual((text[0], len(text)), ('9 traces, 1 workers', 5))
        os.mkdir(self.path('empty'))
        self.assertEqual(json.loads(self.python(EXAMPLE, self.path('empty'), '--workers', '1', '--json').out)['kernels'], [])

    @contextlib.contextmanager
    def processes(self, commands):
        with open(self.path('dask.log'), 'a', encoding='utf-8') as log:
            running = [subprocess.Popen(command, env=self.environment(), cwd=self.folder, stdout=log, stderr=log) for command in commands]
            try:
                yield
            finally:
                for process in running:
                    process.terminate()
                for process in running:
                    process.wait(harness.SECONDS)

    def test_machines(self):
        """Two workers with different traces at the same path, as on two machines; and a scheduler that runs already."""
        sums = self.generate(40)
        os.mkdir(self.path('here'))
        alone = ['unshare', '--mount', '--map-root-user', 'sh', '-c']
        if harness.run([*alone, 'mount --bind node0 ../here'], cwd=self.path('traces')).status:
            self.skipTest('no file system can be mounted here')
        for i in (2, 3):
            for path in glob.glob(self.path('traces/node%d/*' % i)):
                shutil.move(path, self.path('traces/node%d' % (i - 2)))
        known = self.path('scheduler.json')
        # Workers name the one machine that they are on; a nanny would start the worker outside of the mount.
        worker = 'mount --bind traces/node%d here && exec %s -m distributed.cli.dask_worker --scheduler-file %s --host 127.0.0.1 ' \
            '--nthreads 1 --no-nanny --no-dashboard --local-directory %s'
        with self.processes([[PYTHON, '-m', 'distributed.cli.dask_scheduler', '--host', '127.0.0.1', '--port', '0', '--no-dashboard',
                              '--scheduler-file', known]]):
            deadline = time.monotonic() + harness.SECONDS
            while not os.path.exists(known) or not os.path.getsize(known):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            with open(known, encoding='utf-8') as stream:
                address = json.load(stream)['address']
            commands = [[*alone, worker % (i, PYTHON, known, self.path('work%d' % i))] for i in (0, 1)]
            with self.processes(commands):
                self.python('-c', 'import sys; from distributed import Client; Client(sys.argv[1]).wait_for_workers(2, timeout=200)', address)
                found = json.loads(self.python(EXAMPLE, self.path('here'), '--scheduler', address, '--json').out)
        self.assertEqual((found['traces'], found['workers'], found['errors']), (40, 2, []))
        self.check_answer(found, sums)


if __name__ == '__main__':
    harness.main()
