#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--smoke] [--build DIR] [NAME ...]: the benchmarks, as ratios to baselines of the same run.

  record    cost of one API record on the producer's side, against an LTTng-UST tracepoint with the same fields
            and against two clock reads and a 64-byte store
  ingest    launches a second from ring to file with the daemon on one core
  bytes     bytes of file per launch, of a pipeline-like program and of the stress program
  sbt       a generated training job: bytes a launch against structs, JSON and interned Perfetto packets, each through zstd;
            launches encoded and decoded a second
  parquet   the same job as Parquet files, zstd, by DuckDB (TS_BENCH_NODE: the folder in which npm installed it)
  ctf       the same job in LTTng's CTF
  large     a trace of 100 million launches, made and removed again (TS_BENCH_LARGE: of so many): to open it, a millisecond
            of it, totals by kernel, the reader's memory
  studio    that trace in `tsctl studio`: the first picture, random steps, the server's memory
  perfetto  the same of exported traces in Perfetto's trace_processor (in PATH, or TS_BENCH_TRACE_PROCESSOR), as its UI asks it;
            TS_BENCH_PERFETTO: numbers of launches, TS_BENCH_MEMORY: bytes that it may have
  columns   columns of 10 million launches read into NumPy by the Python package, against C
  stacks    a host stack of 35 frames: recognised and not, against libunwind's unw_backtrace() and glibc's backtrace();
            and one with 20 Python functions
  shim      time the whole shim adds to a launch on the virtual GPU, over CUDA and over HIP; instructions of a launch
  capture   what capturing for replay adds to a launch, without and with contents; bytes a launch; the replay's time
            against the program's
  symbols   naming addresses of a large library, against eu-addr2line and binutils' addr2line with the same ones
  preload   time the preload adds to a program that uses no GPU
  start     time a session adds to a program's first CUDA call and to its exit
  annotations  a push and a pop of a range, by NVTX and by tracesmith/annotate.h, against two LTTng-UST tracepoints;
            and what the latter costs where nothing records
  system    what probes on the GPU's libraries add to a call of a process that nobody preloaded (root)
  kernel    what kernel events add to a context switch, to a program that computes and to one that launches; system
            calls and page faults a second that come to the file, and the daemon's time for each
  host      what a sample of a thread on the processor costs: the sampler, the daemon, the thread itself; C and Python, with
            and without root
  emulate   operations of a generated training job a second in virtual time
  export    operations of that job a second, and bytes of each, in the formats of other tools
  state     operations of a generated training job a second through the state machine, timeline, gaps, graph and diff

What is absent (LTTng, a built part) is skipped by name. --smoke runs each with tiny numbers, to see that it
works: its figures mean nothing.
"""
import argparse
import contextlib
import glob
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import samples

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def cpu_seconds(pid):
    """Of all its threads so far."""
    with open('/proc/%d/stat' % pid, encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Skip(Exception):
    pass


class Bench:
    def __init__(self, build, smoke):
        self.build, self.smoke = build, smoke
        self.repeats = 1 if smoke else 5
        self.lines = []

    def path(self, *parts):
        path = os.path.join(self.build, *parts)
        if not os.path.exists(path):
            raise Skip('%s was not built' % os.path.join(*parts))
        return path

    def say(self, what, value, baseline=None, goal=None):
        line = '%-52s %s' % (what, value)
        if baseline:
            line += '   %s' % baseline
        if goal:
            line += '   goal: %s' % goal
        print(line, flush=True)

    def json(self, argv, **kwargs):
        out = subprocess.run(argv, stdout=subprocess.PIPE, check=True, timeout=kwargs.pop('timeout', 300), **kwargs).stdout
        return json.loads(out.decode().splitlines()[-1])

    # ---- record -------------------------------------------------------------------------------

    def record(self):
        n = str(20000 if self.smoke else 10000000)
        lttng_n = str(20000 if self.smoke else 4000000)
        ours, bare, lttng = [], [], []
        with contextlib.ExitStack() as stack:
            try:
                session = stack.enter_context(Lttng(self))
                lttng_reason = None
            except Skip as reason:
                session, lttng_reason = None, str(reason)
            # Interleaved, so that what the machine does meanwhile falls on all alike.
            for _ in range(self.repeats):
                ours.append(self.json([self.path('test/bench/bench-record'), n]))
                bare.append(self.json([self.path('test/bench/bench-store'), n]))
                if session:
                    lttng.append(self.json([self.path('test/bench/bench-lttng'), lttng_n],
                                           env=session.env))
            discarded = session.stop() if session else None
        mine, floor = median(ours, 'ns'), median(bare, 'ns')
        lost = sum(result['lost'] for result in ours)
        self.say('API record (both clock reads, %s)' % ours[0]['clock'], '%.1f ns' % mine,
                 '%d of %d lost' % (lost, sum(result['n'] for result in ours)))
        self.say('  against two clock reads and a 64-byte store', '%.2fx' % (mine / floor),
                 'that is %.1f ns' % floor)
        if not session:
            print('skipped: LTTng-UST: ' + lttng_reason)
            return
        if not all(result['enabled'] for result in lttng):
            print('skipped: LTTng-UST: its session did not enable the tracepoint')
            return
        theirs = median(lttng, 'ns')
        self.say('  against an LTTng-UST tracepoint', '1/%.1f' % (theirs / mine),
                 'that is %.1f ns, %s discarded' % (theirs, discarded), 'at most 1/5')

    # ---- ingest and bytes ---------------------------------------------------------------------

    def ingest(self):
        n = 20000 if self.smoke else 3000000
        results = []
        with tempfile.TemporaryDirectory() as folder:
            for number in range(1 if self.smoke else 3):
                output = os.path.join(folder, '%d.sbt' % number)
                result = self.json([self.path('test/bench/bench-ingest'),
                                    self.path('daemon/tracesmithd'), output, str(n)])
                info = self.info(output)
                if info['counts'].get('kernel') != n or info['counts'].get('api') != n:
                    sys.exit('ingest: %s launches in, %s in the file' % (n, info['counts']))
                result['bytes'] = info['bytes']
                results.append(result)
        rate = median(results, 'launches_per_s')
        self.say('ring to file, daemon on one core', '%.2f M launches/s' % (rate / 1e6),
                 'CPU of the daemon: %.0f ns a launch' % (
                     median(results, 'daemon_cpu_seconds') * 1e9 / n), 'at least 5 M')
        self.say('  bytes a launch in that file (synthetic, regular)', '%.1f' % (median(results, 'bytes') / n),
                 '%d in the ring' % (56 + 136))

        self.ingest_sessions(20000 if self.smoke else 4000000)

    def ingest_sessions(self, n):
        """64 sessions against one: in files of their own (a service), and in one file (a recording)."""
        for what, is_folder in (('a file for each', True), ('one file', False)):
            pairs = []
            for _ in range(1 if self.smoke else 3):
                pair = []
                for sessions in (1, 64):
                    with tempfile.TemporaryDirectory() as folder:
                        output = folder if is_folder else os.path.join(folder, 'all.sbt')
                        pair.append(self.json([self.path('test/bench/bench-ingest'), self.path('daemon/tracesmithd'),
                                               output, str(n), str(sessions)]))
                        files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith('.sbt')]
                        found = sum(self.info(path)['counts'].get('kernel', 0) for path in files)
                        if found != n:
                            sys.exit('ingest: %d launches of %d sessions in, %d in the files' % (n, sessions, found))
                pairs.append(pair)
            if self.smoke:
                continue
            ratio = statistics.median(one['steady_ns'] / many['steady_ns'] for one, many in pairs)
            one, many = ([pair[i] for pair in pairs] for i in (0, 1))
            self.say('  64 sessions, %s, against one, by processor time' % what, '%.2fx' % ratio,
                     '%.0f ns a launch against %.0f, memory %.0f MB against %.0f' % (
                         median(many, 'steady_ns'), median(one, 'steady_ns'),
                         median(many, 'daemon_max_rss_kib') / 1024, median(one, 'daemon_max_rss_kib') / 1024), 'at least 0.95')
            whole = statistics.median((many['daemon_cpu_seconds'] - one['daemon_cpu_seconds']) / 63 for one, many in pairs)
            self.say('    a session more, with its start and end', '%.1f ms' % (whole * 1e3))

    def info(self, path):
        return json.loads(subprocess.run([self.path('tools/tsctl/tsctl'), 'info', '--json', path],
                                         stdout=subprocess.PIPE, check=True).stdout)

    def finished(self, path):
        """info(), of a trace that a daemon may be at yet: who ends does not wait for it for long."""
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.CalledProcessError):
                info = self.info(path)
                if info['finished']:
                    return info
            time.sleep(0.05)
        sys.exit('%s was not finished' % path)

    def bytes(self):
        for name, arguments in (('stress', ['5000' if self.smoke else '1000000', '4']),
                                ('pipeline', ['5' if self.smoke else '500'])):
            with tempfile.TemporaryDirectory() as folder:
                output = os.path.join(folder, 'x.sbt')
                subprocess.run([self.path('tools/tsctl/tsctl'), 'record', '-q', '-o', output, '--vgpu', '--',
                                self.path('test/apps/%s-driver' % name)] + arguments, check=True,
                               stdout=subprocess.DEVNULL, timeout=300)
                info = self.info(output)
                self.say('bytes a launch, %s' % name,
                         '%.1f' % (info['bytes'] / info['counts']['kernel']),
                         '%d launches, %d rows, lost: %s' % (
                             info['counts']['kernel'], sum(info['counts'].values()), info['lost']))

    # ---- the format ---------------------------------------------------------------------------

    def sbt(self):
        n = '20000' if self.smoke else '1000000'
        # Times in ticks of 32 ns, as current devices have them; and what is left of the advantage without ticks.
        result = self.json([self.path('test/bench/bench-sbt'), n])
        fine = self.json([self.path('test/bench/bench-sbt'), n, '1'])
        self.say('bytes a launch (API row, device row, stack id)', '%.2f' % result['sbt'],
                 '%d launches; %.2f where the device ticks in nanoseconds' % (result['n'], fine['sbt']), 'at most 5')
        rounded = self.json([self.path('test/bench/bench-sbt'), n, '32', '1', '1000'])
        self.say('  with host times rounded to a microsecond (--quantum)', '%.2f' % rounded['sbt'],
                 'API rows %.2f, not %.2f' % (rounded['sbt_api'], result['sbt_api']))
        for name, what, goal in (('perfetto', 'interned Perfetto packets without launch arguments', 2),
                                 ('json', 'JSON', None), ('structs', 'structs', None)):
            theirs = result[name]
            self.say('  against %s, zstd' % what, '1/%.1f' % (theirs['zstd'] / result['sbt']),
                     'that is %.1f, plain %.0f: 1/%.0f' % (theirs['zstd'], theirs['plain'],
                                                           theirs['plain'] / result['sbt']),
                     'at most 1/%d' % goal if goal else 'at most 1/90 of plain' if name == 'json' else None)
        for key, what, goal in (('encode_per_s', 'rows to file', 10), ('columns_per_s', 'file to columns', 30),
                                ('rows_per_s', 'file to rows', None), ('walk_per_s', 'file to rows in one order of time', None)):
            self.say('  %s, one core' % what, '%.1f M launches/s' % (result[key] / 1e6),
                     goal='at least %d M' % goal if goal else None)

    def parquet(self):
        modules = os.environ.get('TS_BENCH_NODE', '')
        if not shutil.which('node'):
            raise Skip('no node')
        if not os.path.isdir(os.path.join(modules, 'node_modules', '@duckdb', 'node-api')):
            raise Skip('no DuckDB: `npm install @duckdb/node-api` in a folder, and TS_BENCH_NODE=that folder')
        n = '20000' if self.smoke else '1000000'
        ours = self.json([self.path('test/bench/bench-sbt'), n])
        with tempfile.TemporaryDirectory() as folder:
            made = self.json([self.path('test/bench/bench-csv'), folder, n])
            subprocess.run(['node', os.path.join(SOURCE, 'test', 'bench', 'parquet.mjs'), modules, folder], check=True,
                           timeout=600)
            size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)
                       if name.endswith('.parquet'))
        if made['n'] != ours['n']:
            sys.exit('parquet: %d launches, not %d' % (made['n'], ours['n']))
        self.say('bytes a launch against Parquet, zstd', '1/%.2f' % (size / made['n'] / ours['sbt']),
                 'that is %.2f against %.2f, names and stacks not counted' % (size / made['n'], ours['sbt']),
                 'at most 1/1.3')

    def ctf(self):
        n = '5000' if self.smoke else '200000'
        program = self.path('test/bench/bench-ctf')
        with Lttng(self, 'tracesmith_rows') as session:
            made = self.json([program, n], env=session.env)
            discarded = session.stop()
            size = session.size()
        if not made['enabled']:
            raise Skip('LTTng-UST: its session did not enable the tracepoints')
        ours = self.json([self.path('test/bench/bench-sbt'), n])
        self.say('bytes a launch against CTF by LTTng', '1/%.1f' % (size / made['n'] / ours['sbt']),
                 'that is %.1f against %.2f, %s discarded' % (size / made['n'], ours['sbt'], discarded))

    def columns(self):
        python = '/usr/bin/python3'
        if subprocess.run([python, '-c', 'import numpy'], stderr=subprocess.DEVNULL).returncode:
            raise Skip('no NumPy: install python3-numpy')
        n = '20000' if self.smoke else '10000000'
        env = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, 'tools', 'python'), PYTHONDONTWRITEBYTECODE='1',
                   TRACESMITH_LIBRARY=self.path('tools/library/libtracesmith.so.0'))
        with tempfile.TemporaryDirectory(dir=os.environ.get('TS_BENCH_FOLDER')) as folder:
            path = os.path.join(folder, 'large.sbt')
            self.json([self.path('test/bench/bench-large'), 'write', path, n], timeout=3600)
            seconds = []
            for _ in range(5):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([self.path('tools/library/example-columns'), path], stdout=subprocess.DEVNULL, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            program = [python, os.path.join(SOURCE, 'test', 'bench', 'columns.py'), path]
            # In turns: the first reading of fresh memory is the slowest.
            rounds = [(self.json(program, env=env), self.json([self.path('test/bench/bench-columns'), path])) for _ in range(3)]
            ours, same = (min((pair[i] for pair in rounds), key=lambda one: one['seconds']) for i in range(2))
        self.say('start, end and name of %d kernels as arrays, Python to C' % ours['n'], '%.2f' % (ours['seconds'] / same['seconds']),
                 'NumPy %.3f s, bench-columns %.3f s' % (ours['seconds'], same['seconds']), 'at most 1.2')
        self.say('start, end and name of %d kernels as NumPy arrays' % ours['n'], '%.3f s' % ours['seconds'],
                 '%.2f times the processor time of C (examples/columns.c), which only sums them' % (ours['seconds'] / min(seconds)),
                 'less than 1 s')

    def large(self):
        n = '200000' if self.smoke else os.environ.get('TS_BENCH_LARGE', '100000000')
        program = self.path('test/bench/bench-large')
        with tempfile.TemporaryDirectory(dir=os.environ.get('TS_BENCH_FOLDER')) as folder:
            path = os.path.join(folder, 'large.sbt')
            made = self.json([program, 'write', path, n], timeout=3600)
            result = self.json([program, 'read', path])
            index = self.json([program, 'index', path], timeout=3600)
            state = self.json([program, 'state', path])
        self.say('a trace of %d launches: opened' % made['n'], '%.1f ms' % result['open_ms'],
                 '%.0f MB, %d blocks' % (made['bytes'] / 1e6, result['blocks']), 'less than 50 ms')
        self.say('  all rows of a millisecond, the worst of 64', '%.1f ms' % result['window_ms'],
                 '%.0f rows of %.1f blocks' % (result['window_rows'], result['window_blocks']), 'less than 5 ms')
        self.say('  totals by kernel', '%.1f ms' % result['totals_ms'],
                 '%d launches, %d blocks decoded' % (result['kernels'], result['totals_decoded']), 'less than 100 ms')
        self.say('  memory of the reader, at its peak', '%.1f MB' % (result['peak_bytes'] / 1e6), goal='less than 64 MB')
        self.say('  checkpoints made, once', '%.1f s' % index['seconds'], '%d of them, %.1f %% of the file' % (
            index['n'], 100 * index['bytes'] / index['of_bytes']))
        self.say('  the state at an instant, the worst of 256', '%.1f ms' % state['worst_ms'],
                 'mean %.1f ms, %.0f operations under way' % (state['mean_ms'], state['ops']), 'less than 10 ms')

    def studio(self):
        n = '200000' if self.smoke else os.environ.get('TS_BENCH_LARGE', '100000000')
        self.path('tools/studio/server/tracesmith-studio')
        with tempfile.TemporaryDirectory(dir=os.environ.get('TS_BENCH_FOLDER')) as folder:
            path = os.path.join(folder, 'large.sbt')
            self.json([self.path('test/bench/bench-large'), 'write', path, n], timeout=3600)
            result = self.json([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'studio.py'), self.path('tools/tsctl/tsctl'), path,
                                '20' if self.smoke else '200'], timeout=600)
        self.say('%d rows in %d lanes: server started' % (result['rows'], result['lanes']), '%.0f ms' % result['start_ms'])
        self.say('  first picture', '%.0f ms' % result['first_ms'], goal='less than 500 ms')
        self.say('  all cells exact', '%.1f s' % result['exact_s'])
        self.say('  a random step of all lanes', '%.1f ms' % result['median_ms'], 'the worst %.1f ms' % result['worst_ms'],
                 'median 50 ms, worst 150 ms')
        self.say('  memory of the server, at its peak', '%.0f MB' % (result['peak_bytes'] / 1e6), goal='less than 300 MB')

    def perfetto(self):
        program = os.environ.get('TS_BENCH_TRACE_PROCESSOR') or shutil.which('trace_processor_shell')
        if not program:
            raise Skip('no trace_processor_shell in PATH, and no TS_BENCH_TRACE_PROCESSOR')
        self.path('tools/studio/server/tracesmith-studio')
        here = os.path.dirname(os.path.abspath(__file__))
        steps = '5' if self.smoke else '50'
        for n in ['20000'] if self.smoke else os.environ.get('TS_BENCH_PERFETTO', '1000000,10000000').split(','):
            with tempfile.TemporaryDirectory(dir=os.environ.get('TS_BENCH_FOLDER')) as folder:
                path, exported = os.path.join(folder, 'large.sbt'), os.path.join(folder, 'large.pftrace')
                self.json([self.path('test/bench/bench-large'), 'write', path, n], timeout=3600)
                subprocess.run([self.path('tools/tsctl/tsctl'), 'export', '--format', 'perfetto', '-o', exported, path], check=True,
                               stdout=subprocess.DEVNULL, timeout=3600)
                size = os.path.getsize(exported) / os.path.getsize(path)
                ours = self.json([sys.executable, os.path.join(here, 'studio.py'), self.path('tools/tsctl/tsctl'), path, steps], timeout=3600)
                theirs = self.json([sys.executable, os.path.join(here, 'perfetto.py'), program, exported, steps], timeout=7200)
            self.say('%s launches in Studio against trace_processor: the file' % n, '1/%.1f' % size)
            if not theirs['opened']:
                self.say('  first picture', '%.0f ms' % ours['first_ms'], 'trace_processor did not open the file')
                continue
            ours_ms = ours['start_ms'] + ours['first_ms']
            self.say('  first picture, opened from nothing', '1/%.1f' % (theirs['first_ms'] / ours_ms),
                     '%.0f ms against %.0f ms, %.0f ms of them until the file is open' % (ours_ms, theirs['first_ms'], theirs['open_ms']))
            for key, what in (('median_ms', 'a random step, the median'), ('worst_ms', 'a random step, the worst')):
                self.say('  ' + what, '1/%.2f' % (theirs[key] / ours[key]), '%.1f ms for %d lanes against %.1f ms for %d tracks' % (
                    ours[key], ours['lanes'], theirs[key], theirs['tracks']))
            self.say('  memory, at its peak', '1/%.1f' % (theirs['peak_bytes'] / ours['peak_bytes']),
                     '%.0f MB against %.0f MB' % (ours['peak_bytes'] / 1e6, theirs['peak_bytes'] / 1e6))

    def state(self):
        result = self.json([self.path('test/bench/bench-state'), '20000' if self.smoke else '10000000'], timeout=3600)
        walk = result['walk_per_s']
        for key, what, goal in (('machine', 'the state machine: operations joined, with what they waited for', 5),
                                ('timeline', 'the timeline', 5), ('gaps', 'gaps and why', None),
                                ('overview', 'all of `tsctl analyze`', 5),
                                ('graph', 'the graph with its critical path, of %d' % result['graph_n'], 2),
                                ('diff', 'compared with themselves', None)):
            rate = result[key + '_per_s']
            self.say('%d operations from a file: %s' % (result['n'], what), '%.2f M/s' % (rate / 1e6),
                     'rows alone %.2f M/s' % (walk / 1e6), 'at least %d M/s' % goal if goal else None)
        self.say('verify', '%.2f M/s' % (result['verify_per_s'] / 1e6))
        self.say('  speed-up by a second core', '%.2f' % result['verify_threads'], goal='at least 1.8')
        self.say('  speed-up by 16 cores', '%.1f' % result['verify_threads16'], 'by the mean of 16 threads', 'nearly 16')

    def threads(self):
        with tempfile.TemporaryDirectory(dir=os.environ.get('TS_BENCH_FOLDER')) as folder:
            path = os.path.join(folder, 'trace.sbt')
            made = self.json([self.path('test/bench/bench-large'), 'write', path, '20000' if self.smoke else '2000000'], timeout=3600)
            self.path('test/bench/libbench-threads.so')
            here = os.path.dirname(os.path.abspath(__file__))
            result = self.json([sys.executable, os.path.join(here, 'threads.py'), self.build, path] +
                               (['--passes', '1', '--threads', '1,2'] if self.smoke else []), timeout=7200)
        for name, rows in result.items():
            self.say('%s of %d operations, one thread' % (name, made['n']), '%.2f s' % rows[0]['sum_s'],
                     '%.0f MB' % (rows[0]['peak_kib'] / 1024))
            for row in rows[1:]:
                self.say('  %d threads: speed-up by the busiest' % row['threads'], '%.2f' % row['speed_up'],
                         '%.2f s, in all %.2f s, %d started, %.0f MB' % (row['busiest_s'], row['sum_s'], row['started'], row['peak_kib'] / 1024),
                         {2: 'at least 1.8', 16: 'nearly 16'}.get(row['threads']))
                if row['threads'] <= len(os.sched_getaffinity(0)):
                    self.say('  %d threads: speed-up by the clock' % row['threads'], '%.2f' % (rows[0]['wall_s'] / row['wall_s']),
                             '%.2f s against %.2f s' % (row['wall_s'], rows[0]['wall_s']))

    def export(self):
        result = self.json([self.path('test/bench/bench-export'), '20000' if self.smoke else '2000000'], timeout=3600)
        for key, what, goal in (('perfetto', 'Perfetto, with flows, stacks and launches', (2, 70)),
                                ('json', 'trace events in JSON', (1, 800)), ('pprof', 'pprof', None),
                                ('folded', 'folded stacks', None)):
            self.say('%d operations to another format: %s' % (result['n'], what),
                     '%.2f M/s' % (result[key + '_per_s'] / 1e6),
                     '%.1f bytes an operation, in the trace %.2f' % (result[key + '_bytes'], result['sbt_bytes']),
                     'at least %d M/s, at most %d bytes' % goal if goal else None)

    def emulate(self):
        result = self.json([self.path('test/bench/bench-emulate'), '20000' if self.smoke else '5000000'], timeout=3600)
        for key, what, goal in (('first_read', 'made a program of, from a file, in fresh memory', None),
                                ('read', 'made a program of, from a file', 5), ('simulate', 'run in virtual time', 5),
                                ('run', 'with figures and the critical path', None), ('edited', 'with an edit, too', 8)):
            self.say('%d operations and %d calls: %s' % (result['n'], result['calls'], what),
                     '%.2f M/s' % (result[key + '_per_s'] / 1e6), 'makespan off by %.4f %%' % (100 * abs(result['error'])),
                     'at least %d M/s' % goal if goal else None)

    # ---- shim and preload ---------------------------------------------------------------------

    def shim(self):
        """The same launches over CUDA's driver, and over HIP by its dispatch tables and by its exported functions."""
        launches = 5000 if self.smoke else 300000
        vgpu = os.path.dirname(self.path('tools/vgpu/libcuda.so.1'))
        env = dict(os.environ, LD_LIBRARY_PATH=vgpu, TS_APP_TIME='1')
        preload = dict(env, LD_PRELOAD=self.path('inject/libtsinject.so'))
        environments = {'plain': env, 'with stacks': preload, 'without stacks': dict(preload, TRACESMITH_STACKS='none')}
        # HIP's two ways have the same program and library: the setting hides the tables.
        ways = {'CUDA': ('driver', ''), 'HIP by tables': ('hip', 'mi300'), 'HIP by functions': ('hip', 'mi300,hip=6.1')}
        times = {(way, name): [] for way in ways for name in environments}
        # Its daemon may outlive a program.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for _ in range(self.repeats):
                for way, name in times:
                    form, setting = ways[way]
                    # Bursts that a stream takes without making the thread wait: else the device is measured.
                    stress = [self.path('test/apps/stress-' + form), str(launches), '1', '500']
                    result = subprocess.run(stress, env=dict(environments[name], TRACESMITH_VGPU=setting), cwd=folder, timeout=300,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
                    times[way, name].append(float(result.stderr.split()[-1]) / launches * 1e9)
                for name in os.listdir(folder):
                    os.unlink(os.path.join(folder, name))
        ns = {key: statistics.median(values) for key, values in times.items()}
        for way in ways:
            base = ns[way, 'plain']
            for name in ('with stacks', 'without stacks'):
                self.say('shim on a launch, %s, %s' % (way, name), '%.0f ns' % (ns[way, name] - base),
                         '%.2fx of %.0f ns on the virtual GPU' % (ns[way, name] / base, base))
        for way in list(ways)[1:]:
            for name in ('with stacks', 'without stacks'):
                added = [ns[vendor, name] - ns[vendor, 'plain'] for vendor in (way, 'CUDA')]
                self.say('  %s against CUDA, %s' % (way, name), '%.2fx' % (added[0] / added[1]), goal='at most 1')
        for what, over in (('CUDA', 'cuda'), ('HIP by tables', 'hip-tables'), ('HIP by functions', 'hip-functions')):
            self.instructions('over ' + what, ['--over', over], 'at most 500')

    def instructions(self, what, options, goal=None):
        """The shim's instructions for a launch: a count, where times are noise."""
        if not shutil.which('valgrind'):
            print('skipped: instructions of the shim: no valgrind')
            return
        count = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'instructions.py'), self.build] + options
        result = self.json(count + (['--launches', '500'] if self.smoke else []))
        self.say('instructions of the shim for a launch, %s' % what, '%.0f' % result['instructions'], 'by callgrind', goal)

    # ---- capture for replay ----

    def capture(self):
        """What a launch costs more that is captured: without contents (an empty kernel's arguments), and with a program's copies."""
        launches, rounds = (2000, 3) if self.smoke else (100000, 200)
        stress = [self.path('test/apps/stress-driver'), str(launches), '1', '500']
        pipeline = [self.path('test/apps/pipeline-driver'), str(rounds)]
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(self.path('tools/vgpu/libcuda.so.1')), TS_APP_TIME='1')
        preload = dict(env, LD_PRELOAD=self.path('inject/libtsinject.so'), TRACESMITH_STACKS='none')
        environments = {'plain': env, 'timing': preload, 'replay': dict(preload, TRACESMITH_CAPTURE='replay')}
        launching = {name: [] for name in environments}
        running = {name: [] for name in environments}
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for number in range(self.repeats):
                for name, environment in environments.items():
                    for argv, times in ((stress, launching), (pipeline, running)):
                        output = os.path.join(folder, '%s-%s-%d.sbt' % (os.path.basename(argv[0]), name, number))
                        start = time.monotonic()
                        result = subprocess.run(argv, env=dict(environment, TRACESMITH_OUTPUT=output), cwd=folder, timeout=300,
                                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
                        times[name].append(float(result.stderr.split()[-1]) if times is launching else time.monotonic() - start)
            traces = [os.path.join(folder, program + '-driver-replay-0.sbt') for program in ('stress', 'pipeline')]
            infos = [self.finished(trace) for trace in traces]
            replays = []
            for _ in range(self.repeats):
                start = time.monotonic()
                subprocess.run([self.path('tools/tsctl/tsctl'), 'replay', '--on', 'vgpu', '--repeat', '1', traces[1]], timeout=300,
                               stdout=subprocess.DEVNULL, check=True)
                replays.append(time.monotonic() - start)
        for what, times, n, info in (('without contents', launching, launches, infos[0]),
                                     ('with the contents of its copies', running, infos[1]['counts']['kernel'], infos[1])):
            plain, timing, replay = (statistics.median(times[name]) / n * 1e9 for name in ('plain', 'timing', 'replay'))
            self.say('capture adds to a launch, %s' % what, '%.0f ns' % (replay - timing),
                     'timing adds %.0f ns to %.0f ns on the virtual GPU' % (timing - plain, plain))
            self.say('  bytes a launch in the file', '%.1f' % (info['bytes'] / info['counts']['kernel']),
                     '%d launches, lost: %s' % (info['counts']['kernel'], info['lost']))
        self.say('replay on the virtual GPU against the program there', '%.2fx' % (
            statistics.median(replays) / statistics.median(running['plain'])),
                 'that is %.3f s, process and all' % statistics.median(running['plain']))
        self.instructions('captured, without stacks', ['--capture'])

    # ---- kernel events ------------------------------------------------------------------------

    def kernel(self):
        if os.geteuid():
            raise Skip('kernel events need root')
        program = [self.path('test/bench/bench-kernel')] + (['2000', '5'] if self.smoke else [])
        result = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        if result.returncode == 77:
            raise Skip(result.stderr.decode().strip())
        told = json.loads(result.stdout)
        plain = told['switch_ns']
        self.say('scheduling adds to a context switch', '%.0f ns' % (told['switch_with_ns'] - plain),
                 '%.2fx of %.0f ns; %d events, %d lost' % (told['switch_with_ns'] / plain, plain, told['events'],
                                                          told['lost']), 'at most 300 ns')
        self.say('  of it in programs, by the kernel\'s count', ', '.join(
            '%s %.0f ns' % (name, one['ns']) for name, one in sorted(told['programs'].items())))
        self.say('scheduling adds to a thread that computes', '%.2f %%' % (100 * (told['compute_ratio'] - 1)),
                 goal='at most 1 %')
        self.kernel_calls()
        self.kernel_faults()
        self.kernel_launches()

    def kernel_record(self, folder, events, *command):
        trace = os.path.join(folder, 'trace.sbt')
        result = subprocess.run([self.path('tools/tsctl/tsctl'), 'record', '-o', trace, '--vgpu', '--symbols', 'none'] + events +
                                ['--'] + list(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                                env=dict(os.environ, TS_APP_TIME='1'), check=True)
        info = subprocess.run([self.path('tools/tsctl/tsctl'), 'info', '--json', trace], stdout=subprocess.PIPE, check=True)
        os.unlink(trace)
        return result, json.loads(info.stdout)

    def kernel_calls(self):
        """
        System calls that cost next to nothing, as fast as a thread makes them, each of them told, through to the file of a
        service; the calls are counted by the program, the rows by the file, and the daemon's time by the kernel.
        """
        calls = 20000 if self.smoke else 3000000
        with tempfile.TemporaryDirectory() as folder:
            socket, control = os.path.join(folder, 'inject'), os.path.join(folder, 'control')
            daemon = subprocess.Popen(
                [self.path('daemon/tracesmithd'), '--inject-socket', socket, '--control-socket', control, '--directory', folder,
                 '--kernel-events=syscalls'], stderr=subprocess.DEVNULL)
            self.wait(lambda: os.path.exists(control))
            program = subprocess.Popen(
                [self.path('test/apps/calls-driver'), str(calls)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=dict(os.environ, LD_PRELOAD=self.path('inject/libtsinject.so'), TRACESMITH_SOCKET=socket, TS_APP_WAIT='1',
                         LD_LIBRARY_PATH=os.path.join(self.build, 'tools/vgpu')))
            self.wait(lambda: str(program.pid) in subprocess.run(
                [self.path('tools/tsctl/tsctl'), 'sessions'], stdout=subprocess.PIPE, text=True, check=False,
                env=dict(os.environ, TRACESMITH_CONTROL=control)).stdout)
            before = cpu_seconds(daemon.pid)
            out, _ = program.communicate('go\n', timeout=300)
            self.wait(lambda: glob.glob(os.path.join(folder, '**', '*.sbt'), recursive=True) and
                      self.info(glob.glob(os.path.join(folder, '**', '*.sbt'), recursive=True)[0])['finished'])
            taken = cpu_seconds(daemon.pid) - before
            daemon.terminate()
            daemon.wait()
            info = self.info(glob.glob(os.path.join(folder, '**', '*.sbt'), recursive=True)[0])
        step = json.loads(out.splitlines()[0])
        self.say('system calls a second, to the file', '%.2f M/s' % (calls / (step['end_ns'] - step['start_ns']) * 1e3),
                 '%d made, %d rows, lost: %s; a call takes its thread %.0f ns of its processor' % (
                     calls, info['counts']['syscall'], info['lost'] or 'none', step['processor_ns'] / calls), 'at least 1 M/s')
        self.say('  time of the daemon, from ring to file', '%.0f ns an event' % (taken / calls * 1e9),
                 'one core of it: %.1f M/s' % (calls / taken / 1e6) if taken else None, 'at most 60 ns')

    def wait(self, what, seconds=60):
        limit = time.monotonic() + seconds
        while not what():
            if time.monotonic() > limit:
                sys.exit('nothing came of it in %d s' % seconds)
            time.sleep(0.02)

    def kernel_faults(self):
        pages = 2000 if self.smoke else 1000000
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, 'data')
            with open(data, 'wb') as file:
                file.write(bytes(4096))
            result, info = self.kernel_record(folder, ['--kernel-events=faults'], self.path('test/apps/delays-driver'), data,
                                              str(pages))
        step = next(one for one in map(json.loads, result.stdout.splitlines()) if one['what'] == 'faults')
        self.say('page faults a second, to the file', '%.2f M/s' % (pages / (step['end_ns'] - step['start_ns']) * 1e3),
                 '%d rows, lost: %s' % (info['counts']['page_fault'], info['lost'] or 'none'),
                 '1 M/s, as fast as one thread faults')

    def kernel_launches(self):
        launches = 5000 if self.smoke else 300000
        stress = [self.path('test/apps/stress-driver'), str(launches), '1', '500']
        results = {'none': [], 'all': []}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(self.repeats):
                for name, events in (('none', []), ('all', ['--kernel-events'])):
                    result, info = self.kernel_record(folder, events, *stress)
                    line = next(line for line in result.stderr.decode().splitlines() if line.split()[-1:] and
                                re.fullmatch(r'[0-9.]+', line.split()[-1]))
                    results[name].append(float(line.split()[-1]) / launches * 1e9)
        base = statistics.median(results['none'])
        self.say('all kernel events add to a launch', '%.0f ns' % (statistics.median(results['all']) - base),
                 '%.2fx of %.0f ns, recorded without; lost: %s' % (statistics.median(results['all']) / base, base,
                                                                  info['lost'] or 'none'))

    # ---- samples of threads on the processor ----------------------------------------------------

    def host(self):
        if not os.path.exists('/proc/sys/kernel/perf_event_paranoid'):
            raise Skip('this kernel has no perf events')
        samples.measure(self)

    # ---- processes that nobody preloaded ------------------------------------------------------

    def system(self):
        if os.geteuid():
            raise Skip('probes need root')
        program = [self.path('test/bench/bench-system')] + (['500'] if self.smoke else [])
        result = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        if result.returncode == 77:
            raise Skip(result.stderr.decode().strip())
        for told in map(json.loads, result.stdout.splitlines()):
            how = 'two programs (before Linux 6.13)' if told['pairs'] else 'one program'
            for what, name in (('a call that is told', 'told_ns'), ('one within another', 'nested_ns'),
                               ('one of an excluded process', 'excluded_ns')):
                self.say('%s costs, %s' % (what, how), '%.0f ns' % told[name],
                         '%.1fx of getppid(2), %.0f ns' % (told[name] / told['getppid_ns'], told['getppid_ns']))
            self.say('  calls told', '%d of %d' % (told['told'], told['called']), goal='all')

    # ---- symbols ------------------------------------------------------------------------------

    def symbols(self):
        library = os.environ.get('TS_BENCH_LIBRARY', '/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6')
        if not os.path.exists(library):
            raise Skip('no %s (Debian: libstdc++6-12-dbg); TS_BENCH_LIBRARY names another' % library)
        library = os.path.realpath(library)
        addresses, build_id = self.addresses(library, 50 if self.smoke else 2000)
        ours, ratios, theirs = [], {'eu-addr2line': [], 'addr2line': []}, {'eu-addr2line': [], 'addr2line': []}
        for _ in range(1 if self.smoke else 5):
            with tempfile.TemporaryDirectory() as folder:
                ours.append(self.json([self.path('test/bench/bench-symbols'),
                                       self.path('daemon/worker/tracesmith-worker'), folder, library, build_id],
                                      input=addresses))
            for tool, results in theirs.items():
                if not shutil.which(tool):
                    continue
                results.append(self.processor_s([tool, '-f', '-i', '-C', '-e', library], addresses))
                ratios[tool].append(results[-1] / ours[-1]['cold_processor_s'])
        # Processor time: what else the machine does is none of the worker's.
        self.say('%d addresses of %s, from nothing' % (ours[0]['addresses'], os.path.basename(library)),
                 '%.0f ms of processor time' % (median(ours, 'cold_processor_s') * 1e3),
                 '%.0f ms in all' % (median(ours, 'cold_s') * 1e3))
        for tool, goal in (('eu-addr2line', '1/20'), ('addr2line', '1/5')):
            if not theirs[tool]:
                print('skipped: %s (Debian: elfutils, binutils)' % tool)
                continue
            self.say('  against ' + tool, '1/%.1f' % statistics.median(ratios[tool]),
                     'that is %.0f ms' % (statistics.median(theirs[tool]) * 1e3), 'at most ' + goal)
        self.say('  again, from the cache on disk', '%.2f ms' % (median(ours, 'warm_s') * 1e3))
        self.say('  a look-up in memory', '%.0f ns' % median(ours, 'look_up_ns'), goal='at most 100 ns')

    def processor_s(self, argv, text):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        start = used()
        subprocess.run(argv, input=text, stdout=subprocess.DEVNULL, check=True, timeout=300)
        return used() - start

    def addresses(self, library, n):
        """n addresses, evenly over its code, as text; and its build id."""
        out = subprocess.run(['readelf', '-SWn', library], stdout=subprocess.PIPE, check=True).stdout.decode()
        text = re.search(r'\.text +PROGBITS +([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+)', out)
        build_id = re.search(r'Build ID: ([0-9a-f]+)', out)
        if not text or not build_id:
            raise Skip('%s has no code or no build id' % library)
        start, size = (int(number, 16) for number in text.groups())
        return ''.join('0x%x\n' % (start + size * i // n) for i in range(n)).encode(), build_id.group(1)

    def preload(self):
        n = 20 if self.smoke else 3000
        program = shutil.which('true')
        env = {'PATH': os.environ.get('PATH', '')}
        preload = dict(env, LD_PRELOAD=self.path('inject/libtsinject.so'))
        plain, preloaded = [], []
        # By turns, so that what else the machine does meets both alike.
        for _ in range(n):
            for results, environment in ((plain, env), (preloaded, preload)):
                start = time.perf_counter()
                pid = os.posix_spawn(program, [program], environment)
                os.waitpid(pid, 0)
                results.append((time.perf_counter() - start) * 1e3)
        base, more = statistics.median(plain), statistics.median(preloaded)
        self.say('the preload adds to a program without a GPU', '%.3f ms' % (more - base),
                 '%.2fx of %.3f ms' % (more / base, base), 'at most 0.1 ms')

    def start(self):
        """The first CUDA call and the exit of a small program, with a service that runs already: the daemon's own time is apart."""
        n = 5 if self.smoke else 100
        program = self.path('test/bench/bench-start')
        with tempfile.TemporaryDirectory() as folder:
            socket, control = os.path.join(folder, 'inject'), os.path.join(folder, 'control')
            daemon = subprocess.Popen([self.path('daemon/tracesmithd'), '--inject-socket', socket, '--control-socket', control,
                                       '--directory', folder], stderr=subprocess.DEVNULL)
            self.wait(lambda: os.path.exists(control))
            plain = dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.build, 'tools/vgpu'))
            preload = dict(plain, LD_PRELOAD=self.path('inject/libtsinject.so'), TRACESMITH_SOCKET=socket)
            runs = {'plain': [], 'preloaded': []}
            for _ in range(n):
                for name, environment in (('plain', plain), ('preloaded', preload)):
                    runs[name].append(self.start_run(program, environment))
            daemon.terminate()
            daemon.wait()
        for key, what, goal in (('first', "the first CUDA call", 'at most 5 ms'), ('exit', 'the exit of a small program', 'at most 20 ms')):
            base, more = (median(runs[name], key + '_ns') / 1e6 for name in runs)
            processor = (median(runs['preloaded'], key + '_processor_ns') - median(runs['plain'], key + '_processor_ns')) / 1e6
            least = min(one[key + '_ns'] for one in runs['preloaded']) / 1e6
            self.say('a session adds to ' + what, '%.2f ms' % (more - base),
                     '%.2f ms without; least with %.2f ms; processor time: %.2f ms more' % (base, least, processor), goal)

    def start_run(self, program, environment):
        process = subprocess.Popen([program], stdout=subprocess.PIPE, env=environment)
        told = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        process.stdout.close()
        if status:
            sys.exit('bench-start: status %d' % status)
        told['exit_ns'] = time.monotonic_ns() - told['end_ns']
        told['exit_processor_ns'] = (usage.ru_utime + usage.ru_stime) * 1e9 - told['end_processor_ns']
        return told

    # ---- annotations --------------------------------------------------------------------------

    def annotations(self):
        program, n = self.path('test/bench/bench-annotations'), '16000' if self.smoke else '480000'
        ours, alone, lttng = [], [], []
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            # None may find the ring full: such a pair costs less, and says nothing. Who waits has no good pass.
            env = dict(os.environ, LD_PRELOAD=self.path('inject/libtsinject.so'), TRACESMITH_RING_SIZE='16M',
                       TRACESMITH_LOSSLESS='1')
            try:
                session = stack.enter_context(Lttng(self))
                lttng_reason = None
            except Skip as reason:
                session, lttng_reason = None, str(reason)
            for number in range(self.repeats):
                output = os.path.join(folder, '%d.sbt' % number)
                ours.append(self.json([program, n], env=dict(env, TRACESMITH_OUTPUT=output)))
                info = self.finished(output)
                if info['counts'].get('range') != ours[-1]['n'] or info['lost']:
                    sys.exit('annotations: %d ranges, %s in the file, lost: %s' % (ours[-1]['n'], info['counts'], info['lost']))
                os.unlink(output)
                alone.append(self.json([program, n]))
                if session:
                    lttng.append(self.json([self.path('test/bench/bench-lttng'), n, 'ranges'], env=session.env))
            discarded = session.stop() if session else None
        pair = median(ours, 'nvtx_ns')
        self.say('a push and a pop by NVTX', '%.1f ns' % pair, 'none of %d lost' % sum(result['n'] for result in ours))
        self.say('  in a domain, by a registered string', '%.1f ns' % median(ours, 'registered_ns'))
        self.say('  by tracesmith/annotate.h', '%.1f ns' % median(ours, 'header_ns'))
        self.say('  the same, switched off', '%.1f ns' % median(ours, 'off_ns'))
        self.say('  the same, in a program that is not traced', '%.1f ns' % median(alone, 'header_ns'), goal='a few')
        if not session or not all(result['enabled'] for result in lttng):
            print('skipped: LTTng-UST: %s' % (lttng_reason or 'its session did not enable the tracepoints'))
            return
        theirs = median(lttng, 'ns')
        self.say('  against two LTTng-UST tracepoints', '1/%.1f' % (theirs / pair),
                 'that is %.1f ns, %s discarded' % (theirs, discarded), 'at most 1/4')

    # ---- ptx ----------------------------------------------------------------------------------

    def ptx(self):
        """Kernels on one core, by the best copy of the lane functions; the plain copy is the baseline."""
        program, n = self.path('test/bench/bench-ptx'), '20' if self.smoke else '4000'
        runs = []
        for _ in range(self.repeats):
            out = subprocess.run([program, n], stdout=subprocess.PIPE, check=True, timeout=300).stdout
            runs.append([json.loads(line) for line in out.decode().splitlines()])
        for kernel, goal in (('arithmetic', 'at least 1000 M/s'), ('divergent', 'at least 300 M/s'), ('vectors', ''), ('flushing', ''),
                             ('lanes', ''), ('barriers', ''), ('calls', ''), ('atomics', '')):
            rates = {}
            for line in (line for run in runs for line in run if line['kernel'] == kernel):
                rates.setdefault(line['isa'], []).append(line['thread_instructions_per_s'])
            rates = {isa: statistics.median(values) for isa, values in rates.items()}
            best = list(rates)[-1]
            self.say('%s kernel, thread instructions on one core (%s)' % (kernel, best),
                     '%.0f M/s' % (rates[best] / 1e6),
                     '%.2fx of the plain copy (%.0f M/s)' % (rates[best] / rates['base'], rates['base'] / 1e6),
                     goal)
        launches = [line['launches_per_s'] for run in runs for line in run if line['kernel'] == 'empty']
        self.say('launches of an empty kernel', '%.0f k/s' % (statistics.median(launches) / 1e3),
                 goal='at least 300 k/s')

    # ---- stacks -------------------------------------------------------------------------------

    def stacks(self):
        program = self.path('test/bench/bench-stacks')
        n = 2000 if self.smoke else 1000000
        results = []
        for _ in range(self.repeats):
            out = subprocess.run([program, str(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 check=False, timeout=300)
            if out.returncode == 77:
                raise Skip(out.stderr.decode().strip())
            results.append(json.loads(out.stdout.decode()))
        if any(result['different'] for result in results):
            raise SystemExit('stacks: frames differ from what libunwind and glibc find')
        cached, missed = median(results, 'cached_ns'), median(results, 'missed_ns')
        unwind, glibc = median(results, 'unwind_ns'), median(results, 'glibc_ns')
        self.say('a stack of %d frames, recognised' % results[0]['frames'], '%.1f ns' % cached,
                 '%.1fx faster than unw_backtrace (%.0f ns)' % (unwind / cached, unwind), 'at least 6x')
        self.say('', '', '%.0fx faster than glibc backtrace (%.0f ns)' % (glibc / cached, glibc),
                 'at least 60x')
        self.say('the same, not recognised', '%.1f ns' % missed,
                 '%.2fx of unw_backtrace' % (missed / unwind), 'at most 1.3x')
        self.python_stacks(n)

    def python_stacks(self, n):
        """In this interpreter: native frames, the functions in their places, and the look-up of the id."""
        library = self.path('test/unit/inject/libtest-python-library.so')
        script = ('import ctypes\n'
                  'library = ctypes.PyDLL(%r)\n'
                  'library.stacks_time.restype = ctypes.c_uint64\n'
                  'library.stacks_init(0)\n'
                  'def f(n): return f(n - 1) if n else library.stacks_time(%d)\n'
                  'print(f(18))\n' % (library, max(n // 100, 100)))
        times = [int(subprocess.run([sys.executable, '-c', script], stdout=subprocess.PIPE, check=True,
                                    timeout=300).stdout) for _ in range(self.repeats)]
        self.say('a stack with 20 Python functions (Python %d.%d)' % sys.version_info[:2],
                 '%d ns' % statistics.median(times), goal='at most 2000 ns')


def median(results, key):
    return statistics.median(result[key] for result in results)


class Lttng:
    """A session of LTTng with a daemon of our own, its tracepoint enabled, discarding when full."""

    def __init__(self, bench, provider='tracesmith_bench'):
        self.provider = provider
        if not shutil.which('lttng') or not shutil.which('lttng-sessiond'):
            raise Skip('no lttng-tools (Debian: lttng-tools)')
        bench.path('test/bench/bench-lttng')
        self.folder = tempfile.TemporaryDirectory()
        self.env = dict(os.environ, LTTNG_HOME=self.folder.name, HOME=self.folder.name)
        self.sessiond = None

    def lttng(self, *arguments):
        result = subprocess.run(['lttng', '--no-sessiond'] + list(arguments), env=self.env, timeout=60,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if result.returncode:
            raise Skip('lttng %s: %s' % (arguments[0], result.stdout.decode().strip()[-200:]))
        return result.stdout.decode()

    def __enter__(self):
        try:
            self.sessiond = subprocess.Popen(['lttng-sessiond', '--no-kernel'], env=self.env,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_ready()
            self.lttng('create', 'bench', '--output=' + os.path.join(self.folder.name, 'trace'))
            self.lttng('enable-channel', '--userspace', '--discard', '--subbuf-size=8M',
                       '--num-subbuf=8', 'channel')
            self.lttng('enable-event', '--userspace', '--channel=channel', self.provider + ':*')
            self.lttng('start')
        except Skip:
            self.__exit__()
            raise
        return self

    def wait_ready(self):
        for _ in range(100):
            if self.sessiond.poll() is not None:
                raise Skip('lttng-sessiond ended at once (one of another user or session runs?)')
            with contextlib.suppress(Skip):
                self.lttng('list')
                return
            time.sleep(0.1)
        raise Skip('lttng-sessiond did not come up')

    def stop(self):
        out = self.lttng('stop') + self.lttng('list', 'bench', '-c', 'channel')
        for line in out.splitlines():
            if 'iscarded events' in line:
                return line.split(':')[-1].strip()
        return 'unknown how many'

    def size(self):
        """Bytes of the trace's folder, once it was stopped."""
        return sum(os.path.getsize(os.path.join(path, name))
                   for path, _, names in os.walk(os.path.join(self.folder.name, 'trace')) for name in names)

    def __exit__(self, *unused):
        if self.sessiond and self.sessiond.poll() is None:
            with contextlib.suppress(Skip, subprocess.TimeoutExpired):
                self.lttng('destroy', 'bench')
            self.sessiond.terminate()
            self.sessiond.wait(30)
        self.folder.cleanup()


def main():
    names = ['record', 'ingest', 'bytes', 'sbt', 'parquet', 'ctf', 'large', 'studio', 'perfetto', 'columns', 'stacks', 'shim', 'capture', 'symbols', 'preload', 'start', 'ptx', 'annotations', 'kernel', 'host', 'system', 'state', 'threads', 'export', 'emulate']
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--smoke', action='store_true')
    parser.add_argument('--build', default=os.environ.get('TS_BUILD', os.path.join(SOURCE, 'build')))
    parser.add_argument('names', nargs='*', default=names, metavar='NAME')
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A private file for each program that is preloaded, and no daemon from outside.
    for key in [key for key in os.environ if key.startswith(('TRACESMITH_', 'CUDA_', 'LD_'))]:
        del os.environ[key]
    bench = Bench(os.path.abspath(arguments.build), arguments.smoke)
    skipped = 0
    for name in arguments.names:
        if name not in names:
            parser.error('no benchmark %s (%s)' % (name, ', '.join(names)))
        try:
            getattr(bench, name)()
        except Skip as reason:
            print('skipped: %s: %s' % (name, reason))
            skipped += 1
    return 77 if skipped == len(arguments.names) else 0


if __name__ == '__main__':
    sys.exit(main())
