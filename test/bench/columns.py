# SPDX-License-Identifier: Apache-2.0
"""columns.py TRACE: processor time to read the start, end and name of each kernel into NumPy arrays; prints JSON."""
import json
import sys
import time

import numpy

import tracesmith

COLUMNS = ('start_ns', 'end_ns', 'name')
PASSES = 5


def main():
    seconds, n_rows = [], 0
    with tracesmith.open(sys.argv[1]) as trace:
        for _ in range(PASSES):
            begin = time.process_time()
            table = trace.table('kernel', COLUMNS).load()
            arrays = [numpy.asarray(table[column]) for column in COLUMNS]
            n_rows = len(arrays[0])
            del table, arrays
            seconds.append(time.process_time() - begin)
    print(json.dumps({'n': n_rows, 'seconds': min(seconds)}))


if __name__ == '__main__':
    main()
