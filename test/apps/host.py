#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""host.py [ROUNDS [MS]]: between launches the host works, 70 % of the time in preprocess() and 30 % in load().

Rounds of MS milliseconds of processor time each (default: 20 of 50). Prints the processor time of each function in
nanoseconds, by the thread's own clock. For CPython 3.8 to 3.13.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import driver  # noqa: E402  (it lies beside this file)

PTX = b'.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n    ret;\n}\n\0'


def preprocess(ns):
    begun, x = time.thread_time_ns(), 1
    while time.thread_time_ns() - begun < ns:
        for i in range(2000):
            x = (x * 31 + i) % 1000003
    return time.thread_time_ns() - begun


def load(ns):
    begun, x = time.thread_time_ns(), 1
    while time.thread_time_ns() - begun < ns:
        for i in range(2000):
            x = (x * 31 + i) % 1000003
    return time.thread_time_ns() - begun


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    ns = (int(sys.argv[2]) if len(sys.argv) > 2 else 50) * 1000000
    preprocess_ns = load_ns = 0
    driver.call('cuInit', driver.u32(0))
    context = driver.made('cuDevicePrimaryCtxRetain', 0)
    driver.call('cuCtxSetCurrent', context)
    module = driver.made('cuModuleLoadData', PTX)
    kernel = driver.made('cuModuleGetFunction', module, b'nothing')
    for _ in range(rounds):
        preprocess_ns += preprocess(ns * 7 // 10)
        load_ns += load(ns * 3 // 10)
        driver.call('cuLaunchKernel', kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
        driver.call('cuCtxSynchronize')
    print('preprocess %d load %d' % (preprocess_ns, load_ns))


main()
