#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parcagpu.py attach LIBRARY COPY: copies ParcaGPU's library with the semaphores of its probes set, as an attached tracer sets them.
parcagpu.py count: reads the library's debug output and prints how many graph launches and kernels it reported.
"""
import re
import subprocess
import sys


def attach(library, copy):
    """The section .probes holds one 16-bit semaphore for each probe."""
    sections = subprocess.run(['readelf', '-SW', library], stdout=subprocess.PIPE, check=True, text=True).stdout
    offset, size = re.search(r'\.probes +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)', sections).groups()
    with open(library, 'rb') as stream:
        content = bytearray(stream.read())
    for place in range(int(offset, 16), int(offset, 16) + int(size, 16), 2):
        content[place] = 1
    with open(copy, 'wb') as stream:
        stream.write(content)


def count(lines):
    launches = kernels = marked = 0
    for line in lines:
        kernels += 'Kernel activity:' in line
        marked += 'into graph map' in line
        launched = re.search(r'done, (\d+) driver graph launches', line)
        launches += int(launched.group(1)) if launched else 0
        if 'PARCAGPU' not in line:
            print(line, end='')
    print('parcagpu: %d of %d graph launches, %d kernels' % (marked, launches, kernels))


def main():
    if sys.argv[1] == 'attach':
        attach(*sys.argv[2:])
    else:
        count(sys.stdin)


if __name__ == '__main__':
    main()
