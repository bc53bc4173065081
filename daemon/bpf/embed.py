#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes C sources of compiled eBPF objects: embed.py OUT.c NAME=OBJECT ..."""
import sys

with open(sys.argv[1], 'w', encoding='ascii') as out:
    out.write('#include "daemon/bpf/bpf-objects.h"\n')
    for pair in sys.argv[2:]:
        name, path = pair.split('=', 1)
        with open(path, 'rb') as file:
            data = file.read()
        out.write(f'static const unsigned char {name}_bytes[] __attribute__((aligned(8))) = {{\n')
        for i in range(0, len(data), 24):
            out.write(','.join(str(byte) for byte in data[i:i + 24]) + ',\n')
        out.write('};\n')
        out.write(f'const struct ts_bpf_object ts_bpf_object_{name} = '
                  f'{{{name}_bytes, sizeof({name}_bytes)}};\n')
