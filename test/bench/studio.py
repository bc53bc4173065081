#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""studio.py TSCTL TRACE STEPS: times the server of `tsctl studio` on a trace, as the page uses it, and prints JSON.

A step is a random zoom or pan: all lanes in 2,048 cells. The clock is that of the client, with the answer read.
"""
import json
import random
import statistics
import struct
import subprocess
import sys
import time
import urllib.request

TILES = 8
CELLS = 256
LEAST_LEVEL = 8
INEXACT = 1


def peak_bytes(pid):
    """The most memory that a process had so far."""
    with open('/proc/%d/status' % pid, encoding='ascii') as file:
        for line in file:
            if line.startswith('VmHWM:'):
                return int(line.split()[1]) * 1024
    return 0


class Server:
    """A running `tsctl studio`."""

    def __init__(self, tsctl, trace):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([tsctl, 'studio', '--no-browser', trace], stdout=subprocess.PIPE, text=True)
        self.address, self.token = self.process.stdout.readline().strip().split('/#token=')

    def get(self, request):
        """The body of an answer."""
        asked = urllib.request.Request(self.address + '/api/' + request, headers={'Authorization': 'Bearer ' + self.token})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.read()

    def tiles(self, level, first, lanes):
        """Seconds, and whether the cells are exact."""
        begin = time.perf_counter()
        body = self.get('tiles?level=%d&first=%d&n=%d&lanes=%s' % (level, first, TILES, lanes))
        return time.perf_counter() - begin, not struct.unpack_from('<I', body, 28)[0] & INEXACT

    def peak_bytes(self):
        """The most memory so far."""
        return peak_bytes(self.process.pid)

    def end(self):
        """Ends the server."""
        self.process.terminate()
        self.process.stdout.close()
        self.process.wait()


def measure(server, n_steps):
    """The figures of a started server."""
    begin = time.perf_counter()
    trace = json.loads(server.get('trace'))
    duration = trace['duration_ns']
    lanes = ','.join(str(lane['id']) for lane in trace['lanes'])
    whole = LEAST_LEVEL
    while CELLS * TILES << whole < duration:
        whole += 1
    is_exact = server.tiles(whole, 0, lanes)[1]
    first_s = time.perf_counter() - begin
    while not is_exact:
        time.sleep(0.05)
        is_exact = server.tiles(whole, 0, lanes)[1]
    exact_s = time.perf_counter() - begin
    chance = random.Random(1)
    steps = []
    for _ in range(n_steps):
        level = chance.randint(LEAST_LEVEL, whole)
        last = max(0, (duration >> level) // CELLS - TILES)
        steps.append(server.tiles(level, chance.randint(0, last), lanes)[0])
    return {'rows': sum(lane['rows'] for lane in trace['lanes'] if lane['kind'] in ('thread', 'stream')),
            'lanes': len(trace['lanes']), 'first_ms': first_s * 1e3, 'exact_s': exact_s,
            'median_ms': statistics.median(steps) * 1e3, 'worst_ms': max(steps) * 1e3, 'peak_bytes': server.peak_bytes()}


def main():
    """Starts the server, measures, and ends it."""
    begin = time.perf_counter()
    server = Server(sys.argv[1], sys.argv[2])
    start_s = time.perf_counter() - begin
    try:
        result = measure(server, int(sys.argv[3]))
    finally:
        server.end()
    result['start_ms'] = start_s * 1e3
    print(json.dumps(result))


if __name__ == '__main__':
    main()
