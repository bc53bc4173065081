#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfetto.py TRACE_PROCESSOR FILE STEPS: times Perfetto's trace_processor on an exported trace, as its UI uses it, and prints JSON.

The first picture: the file is open, and each track has its table of sums (`__intrinsic_slice_mipmap`). A step is a random zoom or pan: the
slices of all tracks in 2,048 buckets. The clock is that of the client, with the answer read. TS_BENCH_MEMORY: its most
bytes of address space; a trace that needs more is not opened.
"""
import http.client
import json
import os
import random
import resource
import socket
import statistics
import subprocess
import sys
import time

import studio

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'integration'))
import wire

BUCKETS = 2048
LEAST_LEVEL = 8
LIMIT_S = 3600


class TraceProcessor:
    """A running trace_processor with a trace, asked over HTTP."""

    def __init__(self, program, trace):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        limit = int(os.environ.get('TS_BENCH_MEMORY', '0')) or resource.RLIM_INFINITY
        # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
        self.process = subprocess.Popen([program, '--httpd', '--http-port', str(self.port), trace], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.connection = None

    def wait(self):
        """Until it answers; False if it ended."""
        while self.process.poll() is None:
            try:
                self.connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=LIMIT_S)
                self.connection.connect()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def query(self, sql):
        """The integers of the answer, row by row; its bytes."""
        text = sql.encode()
        self.connection.request('POST', '/query', b'\x0a' + wire.number(len(text)) + text, {'Content-Type': 'application/x-protobuf'})
        body = self.connection.getresponse().read()
        numbers = []
        for number, value in wire.fields(body):
            if number == 2:
                raise ValueError('%s: %s' % (sql, value.decode()))
            if number == 3:
                for inner, cells in wire.fields(value):
                    at = 0
                    while inner == 2 and at < len(cells):
                        one, at = wire.varint(cells, at)
                        numbers.append(one)
        return numbers, len(body)

    def peak_bytes(self):
        """The most memory so far."""
        return studio.peak_bytes(self.process.pid)

    def end(self):
        """Ends it."""
        if self.connection:
            self.connection.close()
        self.process.kill()
        self.process.wait()


def step(processor, tracks, begin, level):
    """Seconds for all tracks."""
    width = 1 << level
    started = time.perf_counter()
    for track in tracks:
        processor.query('select z.ts / %d, z.dur, z.count, s.id, s.depth, s.name from mipmap_%d(%d, %d, %d) z cross join slice s using (id)' % (
            width, track, begin, begin + BUCKETS * width, width))
    return time.perf_counter() - started


def measure(processor, n_steps):
    """The figures of a trace_processor that was just started."""
    started = time.perf_counter()
    if not processor.wait():
        return {'opened': False}
    (slices, start, end), _ = processor.query('select count(), min(ts), max(ts + dur) from slice')
    open_s = time.perf_counter() - started
    tracks, _ = processor.query('select distinct track_id from slice where dur > 0')
    for track in tracks:
        processor.query('create virtual table mipmap_%d using __intrinsic_slice_mipmap((select id, ts, dur, depth from slice '
                        'where track_id = %d and dur > 0))' % (track, track))
    whole = LEAST_LEVEL
    while BUCKETS << whole < end - start:
        whole += 1
    step(processor, tracks, start, whole)
    first_s = time.perf_counter() - started
    chance = random.Random(1)
    steps = []
    for _ in range(n_steps):
        level = chance.randint(LEAST_LEVEL, whole)
        last = max(0, end - start - (BUCKETS << level))
        steps.append(step(processor, tracks, start + chance.randint(0, last), level))
    return {'opened': True, 'slices': slices, 'tracks': len(tracks), 'open_ms': open_s * 1e3, 'first_ms': first_s * 1e3,
            'median_ms': statistics.median(steps) * 1e3, 'worst_ms': max(steps) * 1e3, 'peak_bytes': processor.peak_bytes()}


def main():
    """Starts trace_processor, measures, and ends it."""
    processor = TraceProcessor(sys.argv[1], sys.argv[2])
    try:
        result = measure(processor, int(sys.argv[3]))
    finally:
        processor.end()
    print(json.dumps(result))


if __name__ == '__main__':
    main()
