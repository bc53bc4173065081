#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kineto.py TRACE: compares the JSON trace of Kineto's playground with the program: kernels, launches, copies, and their order in time."""
import json
import sys

KERNEL = 'kineto::square(float*, int)'


def main():
    with open(sys.argv[1], encoding='utf-8') as stream:
        events = [event for event in json.load(stream)['traceEvents'] if event.get('ph') == 'X']
    kernels = sorted((event for event in events if event.get('cat') == 'kernel' and event['name'] == KERNEL), key=lambda event: event['ts'])
    launches = {event['args']['correlation']: event for event in events if event['name'] == 'cudaLaunchKernel'}
    copies = [event for event in events if event.get('cat') == 'gpu_memcpy']
    wrong = []
    for before, after in zip(kernels, kernels[1:]):
        if before['ts'] + before['dur'] > after['ts'] + 0.001:
            wrong.append('kernels of one stream overlap')
    for kernel in kernels:
        launch = launches.get(kernel['args']['correlation'])
        if not launch or launch['ts'] > kernel['ts']:
            wrong.append('a kernel without a launch before it')
        if kernel['args']['grid'] != [196, 1, 1] or kernel['args']['block'] != [256, 1, 1]:
            wrong.append('grid %s, block %s' % (kernel['args']['grid'], kernel['args']['block']))
    streams = {kernel['args']['stream'] for kernel in kernels}
    print('kineto: %d kernels in %d stream, %d launches, %d copies of %s bytes: %s' %
          (len(kernels), len(streams), len(launches), len(copies), ' and '.join(sorted({str(copy['args']['bytes']) for copy in copies})),
           ', '.join(sorted(set(wrong))) or 'right'))


if __name__ == '__main__':
    main()
