#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a header that gives libcupti's functions another prefix: prefix.py PREFIX HEADER, where HEADER declares them."""
import re
import sys

prefix, header = sys.argv[1:]
with open(header, encoding='utf-8') as stream:
    names = re.findall(r'\b(cupti[A-Z]\w*)\(', stream.read())
print('/* SPDX-License-Identifier: Apache-2.0 */')
print('/* Made by tools/vgpu/maca/prefix.py. */')
print('#pragma once\n')
for name in sorted(set(names)):
    print('#define %s %s%s' % (name, prefix, name[len('cupti'):]))
