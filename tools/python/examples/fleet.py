# SPDX-License-Identifier: Apache-2.0
"""fleet.py FOLDER [--scheduler ADDRESS | --workers N] [--top N] [--json]: the slowest kernels of all traces of a fleet, by Dask.

Each worker lists FOLDER on its own machine and opens its traces there; only sums travel. If several workers see the same file (a shared
folder, workers of one machine), one of them reads it. Without --scheduler, workers start on this machine. Workers need the package
`tracesmith`, libtracesmith and NumPy. Names of kernels are mangled. Exit status 1: a trace could not be read.
"""
import argparse
import json
import os
import socket
import sys

TRACES_PER_TASK = 16


# ---- on the workers: these functions travel to them, so each imports what it uses ----


def list_traces(folder):
    """[(path, identity)] of the traces below a folder of this machine."""
    import os
    found = []
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if name.endswith('.sbt') and os.path.isfile(path):
                status = os.stat(path)
                found.append((path, (path, status.st_ino, status.st_size, status.st_mtime_ns)))
    return sorted(found)


def sum_kernels(paths):
    """({name: [launches, total ns, longest ns, host and path of the longest]}, [errors]) of some traces of this machine."""
    import socket

    import numpy
    import tracesmith
    sums, errors = {}, []
    for path in paths:
        try:
            with tracesmith.open(path) as trace:
                kernels = trace.kernels.select('name', 'start_ns', 'end_ns').load()
                ids, places = numpy.unique(numpy.asarray(kernels['name']), return_inverse=True)
                start_ns, end_ns = numpy.asarray(kernels['start_ns']), numpy.asarray(kernels['end_ns'])
                took_ns = numpy.maximum(end_ns, start_ns) - start_ns
                launches = numpy.bincount(places, minlength=len(ids))
                total_ns, longest_ns = numpy.zeros(len(ids), numpy.uint64), numpy.zeros(len(ids), numpy.uint64)
                numpy.add.at(total_ns, places, took_ns)
                numpy.maximum.at(longest_ns, places, took_ns)
                where = '%s:%s' % (socket.gethostname(), path)
                for number, n, total, longest in zip(ids.tolist(), launches.tolist(), total_ns.tolist(), longest_ns.tolist()):
                    add(sums, trace.string(number), [n, total, longest, where])
        except tracesmith.Error as why:
            errors.append('%s: %s' % (socket.gethostname(), why))
    return sums, errors


def add(sums, name, figures):
    """Adds a kernel's figures; of two equally long launches the first place by name counts."""
    known = sums.setdefault(name, [0, 0, 0, ''])
    known[0] += figures[0]
    known[1] += figures[1]
    if (figures[2], known[3]) > (known[2], figures[3]):
        known[2:] = figures[2:]


# ---- on the client ----


def share_out(listed):
    """{worker: [paths]}: each file once, the files that several workers see evenly among these."""
    seers = {}
    for worker, traces in sorted(listed.items()):
        for path, identity in traces:
            seers.setdefault(identity, []).append((worker, path))
    shares = {worker: [] for worker in listed}
    for _, places in sorted(seers.items()):
        worker, path = min(places, key=lambda place: len(shares[place[0]]))
        shares[worker].append(path)
    return shares


def slowest_kernels(client, folder):
    """(sums as of sum_kernels(), number of traces, errors) of all traces that the workers see."""
    from distributed import as_completed
    shares = share_out(client.run(list_traces, folder))
    tasks = [client.submit(sum_kernels, paths[i:i + TRACES_PER_TASK], workers=[worker], allow_other_workers=False, pure=False)
             for worker, paths in shares.items() for i in range(0, len(paths), TRACES_PER_TASK)]
    sums, errors = {}, []
    for _, (part, failed) in as_completed(tasks, with_results=True):
        for name, figures in part.items():
            add(sums, name, figures)
        errors += failed
    return sums, sum(map(len, shares.values())), sorted(errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', help='folder of traces, on each worker\'s machine')
    parser.add_argument('--scheduler', metavar='ADDRESS', help='a running cluster, such as tcp://head:8786')
    parser.add_argument('--workers', type=int, default=2, metavar='N', help='start N workers on this machine (default: 2)')
    parser.add_argument('--top', type=int, default=10, metavar='N', help='print N kernels (default: 10)')
    parser.add_argument('--json', action='store_true', help='print all kernels as JSON')
    options = parser.parse_args()

    from distributed import Client, LocalCluster
    where = options.scheduler or LocalCluster(n_workers=options.workers, threads_per_worker=1, host='127.0.0.1', dashboard_address=None)
    with Client(where) as client:
        sums, n_traces, errors = slowest_kernels(client, os.path.abspath(options.folder))
        n_workers = len(client.scheduler_info()['workers'])
    if not options.scheduler:
        where.close()
    for error in errors:
        print('fleet.py: %s' % error, file=sys.stderr)
    order = sorted(sums, key=lambda name: (-sums[name][1], name))
    if options.json:
        print(json.dumps({'host': socket.gethostname(), 'traces': n_traces, 'workers': n_workers, 'errors': errors, 'kernels': [
            {'name': name, 'launches': sums[name][0], 'total_ns': sums[name][1], 'longest_ns': sums[name][2], 'longest_in': sums[name][3]}
            for name in order]}))
        return 1 if errors else 0
    print('%d traces, %d workers' % (n_traces, n_workers))
    print('%14s %10s %12s %12s  %s' % ('TOTAL (ms)', 'LAUNCHES', 'MEAN (us)', 'LONGEST (us)', 'NAME'))
    for name in order[:options.top]:
        n, total, longest, place = sums[name]
        print('%14.3f %10d %12.3f %12.3f  %s (longest in %s)' % (total / 1e6, n, total / n / 1e3, longest / 1e3, name, place))
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
