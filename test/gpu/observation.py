# SPDX-License-Identifier: Apache-2.0
"""What a program's trace shows of the GPU, driver and CUPTI under it, kept as JSON and compared.

An observation is what two runs of one program have in common wherever they run: calls in each thread's order with the
rows that answer them, device work in each stream's order, counts. Times, addresses, ids, registers and whatever else
a compiler or a machine decides stay out of the comparison; the first rows are kept whole as evidence.
"""
import collections
import json
import os
import re

ROWS_KEPT = 400
# What is counted by the program's doings, not by the profiler's.
COUNTED = ('api', 'kernel', 'memcpy', 'memset', 'sync', 'alloc', 'free', 'event', 'stream_wait', 'stream', 'context',
           'graph_launch')
LAZY_LOADS = ('cuLibraryLoadData', 'cuLibraryGetKernel')
DEVICE_TYPES = ('kernel', 'memcpy', 'memset')
# Programs of test/apps with the arguments that they are observed with, by what is observed of them.
PROGRAMS = {
    'saxpy': [],
    'pipeline': [],
    'threads': [],
    'devices': [],
    'graph': [],
    'network': ['20'],
    'tensor': [],
    'exits': ['_exit', '9'],
}
STATUSES = {'exits': 9}


def text_of(row):
    """A row without what differs between machines."""
    if row['type'] == 'kernel':
        shape = ' '.join(','.join(str(row['%s_%s' % (what, axis)]) for axis in 'xyz') for what in ('grid', 'block'))
        return 'kernel %s %s shared %d' % (row['name'], shape, row['dynamic_shared_bytes'])
    if row['type'] == 'memcpy':
        return 'memcpy %s %d kinds %s>%s%s' % (row['kind'], row['bytes'], row.get('src_kind'), row.get('dst_kind'),
                                               ' async' if row.get('async') else '')
    if row['type'] == 'memset':
        return 'memset %d of %s%s' % (row['bytes'], row.get('value'), ' async' if row.get('async') else '')
    if row['type'] == 'sync':
        return 'sync %s' % row['kind']
    if row['type'] in ('alloc', 'free'):
        return '%s %d kind %s' % (row['type'], row['bytes'], row.get('memory_kind'))
    return row['type']


def threads_of(trace):
    """Each thread's calls in order, each with the rows that answer it; a list of lists of lines."""
    answers = collections.defaultdict(list)
    for row in trace.rows:
        if row['type'] != 'api' and row.get('op_id'):
            answers[row['session'], row['op_id']].append(text_of(row))
    threads = collections.defaultdict(list)
    for row in trace.of('api'):
        line = row['name'] + (' failed: %d' % row['result'] if row.get('result') else '')
        found = answers[row['session'], row['op_id']]
        # What a graph's launch does beside each other has no order.
        threads[row['session'], row['tid']].append(': '.join([line] + [', '.join(sorted(found))] * bool(found)))
    return sorted(threads.values())


def streams_of(trace):
    """Each stream's device work in the order that it began in; by its text where several threads gave it, in whatever order."""
    streams, givers = collections.defaultdict(list), collections.defaultdict(set)
    thread_of = {(row['session'], row['op_id']): row['tid'] for row in trace.of('api')}
    for row in trace.of(*DEVICE_TYPES):
        if not row.get('graph'):
            key = row['session'], row['device'], row['context'], row['stream']
            streams[key].append(text_of(row))
            givers[key].add(thread_of.get((row['session'], row['op_id'])))
    return sorted(sorted(lines) if len(givers[key]) > 1 else lines for key, lines in streams.items())


def streams_made(trace):
    """
    Streams by how they came and what they are. Beyond those that a context brings, an executable graph's own are as many as the
    driver thinks fit.
    """
    rows = trace.of('stream')
    first = min([row['stream'] for row in rows if row['action'] == 'created'], default=None)
    return dict(collections.Counter('%s priority %d flags %s' % (row['action'], row['priority'], row.get('stream_flags'))
                                    for row in rows
                                    if row['action'] != 'seen' or first is None or row['stream'] < first))


def rows_of(trace):
    """The first rows with times from the trace's start, without what names a process, a thread or an address."""
    start = trace.info['start_ns']
    rows = []
    for row in trace.rows[:ROWS_KEPT]:
        row = {key: value for key, value in row.items()
               if key not in ('tid', 'thread_name', 'stack', 'address', 'handle')}
        for key in ('start_ns', 'end_ns', 'queued_ns', 'submitted_ns'):
            if row.get(key):
                row[key] -= start
        rows.append(row)
    return rows


def observe(name, trace, rows=True):
    """The observation of a program's trace; without rows where there are too many to keep."""
    calls = collections.Counter(row['name'] for row in trace.of('api')) if rows else {}
    return {
        'program': name,
        'devices': [{key: value for key, value in device.items() if key != 'uuid'}
                    for device in trace.info['devices']],
        'counts': {key: value for key, value in trace.counts.items() if key in COUNTED},
        'lost': trace.lost,
        'kernels': trace.info.get('kernels'),
        'copies': trace.info.get('copies'),
        'calls': dict(sorted(calls.items())),
        'threads': threads_of(trace) if rows else [],
        'streams': streams_of(trace) if rows else [],
        'made': streams_made(trace) if rows else {},
        'rows': rows_of(trace) if rows else [],
    }


def write(root, observation, trace):
    """Into root/<gpu>-<driver>-<cupti>/<program>.json; returns the path."""
    devices, session = trace.info['devices'], trace.info['sessions'][0]
    folder = os.path.join(root, re.sub(r'[^a-z0-9.]+', '-', '%s-driver-%s-cupti-%s' % (
        devices[0]['name'].lower() if devices else 'no-device', session.get('driver_version'),
        session.get('cupti_version'))))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, observation['program'] + '.json')
    with open(path, 'w', encoding='utf-8') as stream:
        json.dump(observation, stream, indent=1)
        stream.write('\n')
    return path


def read_all(root):
    """{path: observation} of all that was observed."""
    found = {}
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith('.json'):
                path = os.path.join(folder, name)
                with open(path, encoding='utf-8') as stream:
                    found[path] = json.load(stream)
    return found


def first_difference(what, observed, seen):
    for i, (one, other) in enumerate(zip(observed, seen)):
        if one != other:
            return '%s: step %d is "%s", observed was "%s"' % (what, i, other, one)
    longer, verb = (observed, 'lacks') if len(observed) > len(seen) else (seen, 'has more than was observed:')
    return '%s: %s "%s" at step %d' % (what, verb, longer[min(len(observed), len(seen))], min(len(observed), len(seen)))


def compare_sequences(what, observed, seen):
    """Threads and streams have no order among themselves: equal ones are paired first."""
    left = [list(sequence) for sequence in seen]
    missing = []
    for sequence in observed:
        if sequence in left:
            left.remove(sequence)
        else:
            missing.append(sequence)
    lines = ['%s: %d, observed were %d' % (what, len(seen), len(observed))] if len(seen) != len(observed) else []
    return lines + [first_difference(what, *pair) for pair in zip(missing, left)]


def without_lazy_loads(threads):
    """Of several threads that launch the same kernels one loads the code first, whichever comes first."""
    return threads if len(threads) < 3 else [[line for line in lines if line not in LAZY_LOADS] for lines in threads]


def compare_counts(what, observed, seen):
    return ['%s: %s is %d, observed was %d' % (what, key, seen.get(key, 0), observed.get(key, 0))
            for key in sorted(set(observed) | set(seen)) if seen.get(key, 0) != observed.get(key, 0)]


def differences(observed, seen):
    """Lines that say where a run differs from an observation of the same program; empty where it does not."""
    lines = compare_counts('counts', *({key: n for key, n in of['counts'].items() if key != 'stream'}
                                       for of in (observed, seen)))
    if observed.get('made') is not None:
        lines += compare_counts('streams', observed['made'], seen['made'])
    if observed['threads']:
        lines += compare_counts('calls', observed['calls'], seen['calls'])
        lines += compare_sequences('thread', *(without_lazy_loads(of['threads']) for of in (observed, seen)))
        lines += compare_sequences('stream', observed['streams'], seen['streams'])
    return lines
