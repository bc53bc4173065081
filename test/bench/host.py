#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""host.py [ITERATIONS [DEPTH]]: bench-host.c in Python."""
import ctypes
import json
import sys
import time


def work(n_slices, n):
    slices = []
    for _ in range(n_slices):
        begun, x = time.thread_time_ns(), 1
        for i in range(n):
            x = (x * 31 + i) % 1000003
        slices.append(time.thread_time_ns() - begun)
    return slices


def descend(depth, n_slices, n):
    return descend(depth - 1, n_slices, n) if depth else work(n_slices, n)


def main():
    n, depth = (int(argument) for argument in sys.argv[1:] + ['200000', '10'][len(sys.argv) - 1:])
    cuda, context = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()
    assert not cuda.cuInit(0)
    assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    descend(depth, 20, n)
    print('ready', flush=True)
    for line in sys.stdin:
        begun = time.monotonic_ns()
        slices = descend(depth, int(line), n)
        print(json.dumps({'start_ns': begun, 'end_ns': time.monotonic_ns(), 'slices': slices}), flush=True)


main()
