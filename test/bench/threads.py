#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""threads.py BUILD TRACE [--threads 1,2,4,8,16] [--passes N] [NAME ...]: processor time of tsctl's analyses by thread.

Runs each analysis with each number of threads (TRACESMITH_THREADS) and preloads libbench-threads.so, which measures the processor
time of every thread. The speed-up is the time of the run with one thread, divided by the time of the busiest thread. These are
processor times, so the figures hold on a machine with fewer cores. They flatter where more threads are started than asked for: a
decoding thread is a thread of its own. `wall_s` is the time by the clock, and means something only with as many idle cores. Each figure
is the least of N passes. The outputs are compared with the one of one thread. Prints JSON; run.py prints the result.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

# The arguments of tsctl; TRACE stands for the trace, and OUT for a file or a folder.
ANALYSES = {
    'rows': ['view', '--json', '--type', 'range', 'TRACE'],
    'view': ['view', '--json', 'TRACE'],
    'totals': ['view', '--stats', '--json', 'TRACE'],
    'state': ['state', '--json', 'TRACE', '--at', 'END'],
    'timeline': ['timeline', '--json', 'TRACE'],
    'gaps': ['gaps', '--json', 'TRACE'],
    'graph': ['graph', '--json', 'TRACE'],
    'diff': ['diff', '--json', 'TRACE', 'TRACE'],
    'memory': ['memory', '--json', 'TRACE'],
    'analyze': ['analyze', '--json', 'TRACE'],
    'json': ['export', '--format', 'json', '-o', 'OUT', 'TRACE'],
    'perfetto': ['export', '--format', 'perfetto', '-o', 'OUT', 'TRACE'],
    'arrow': ['export', '--format', 'arrow', '-o', 'OUT', 'TRACE'],
    'verify': ['verify', '--json', 'TRACE'],
}


def run(build, argv, threads, out):
    """Runs tsctl once; returns the times and a digest of its output."""
    with tempfile.NamedTemporaryFile() as times, tempfile.TemporaryFile() as output:
        env = dict(os.environ, TRACESMITH_THREADS=str(threads), TS_BENCH_THREADS=times.name,
                   LD_PRELOAD=os.path.join(build, 'test/bench/libbench-threads.so'))
        if os.path.isdir(out):
            shutil.rmtree(out)
        elif os.path.exists(out):
            os.remove(out)
        start_s = time.monotonic()
        subprocess.run([os.path.join(build, 'tools/tsctl/tsctl')] + argv, env=env, check=True, stdout=output, timeout=3600)
        wall_s = time.monotonic() - start_s
        result = json.load(open(times.name, encoding='utf-8'))
        digest = hashlib.sha256()
        output.seek(0)
        paths = sorted(os.path.join(at, name) for at, _, names in os.walk(out) for name in names) or [out]
        for path in [None] + [path for path in paths if os.path.exists(path)]:
            digest.update(os.path.relpath(path or out, out).encode())
            with open(path, 'rb') if path else output as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        result['digest'] = digest.hexdigest()
        result['wall_s'] = wall_s
        return result


def measure(build, trace, name, counts, passes):
    info = json.loads(subprocess.run([os.path.join(build, 'tools/tsctl/tsctl'), 'info', '--json', trace], check=True,
                                     stdout=subprocess.PIPE).stdout)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out')
        words = {'TRACE': trace, 'OUT': out, 'END': str(info['duration_ns'])}
        argv = [words.get(word, word) for word in ANALYSES[name]]
        # The runs with different numbers alternate, so that other load meets all of them.
        results = [[run(build, argv, threads, out) for threads in counts] for _ in range(passes)]
    for i, threads in enumerate(counts):
        mine = [result[i] for result in results]
        if any(result['digest'] != results[0][0]['digest'] for result in mine):
            sys.exit('%s: the output with %d threads differs' % (name, threads))
        rows.append({'threads': threads, 'started': max(result['threads'] for result in mine),
                     'sum_s': min(result['sum_s'] for result in mine), 'busiest_s': min(result['busiest_s'] for result in mine),
                     'wall_s': min(result['wall_s'] for result in mine),
                     'peak_kib': max(result['peak_kib'] for result in mine)})
    for row in rows:
        row['speed_up'] = rows[0]['sum_s'] / row['busiest_s']
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('trace')
    parser.add_argument('--threads', default='1,2,4,8,16')
    parser.add_argument('--passes', type=int, default=3)
    parser.add_argument('names', nargs='*', default=list(ANALYSES), metavar='NAME')
    arguments = parser.parse_intermixed_args()
    counts = [int(word) for word in arguments.threads.split(',')]
    print(json.dumps({name: measure(os.path.abspath(arguments.build), arguments.trace, name, counts, arguments.passes)
                      for name in arguments.names}))


if __name__ == '__main__':
    main()
