#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives libcupti's functions another prefix: prefix.py PREFIX HEADER [--both], where HEADER lists the functions.

Prints a header with the macros. With --both prints the linker's options that keep CUPTI's names too.
"""
import re
import sys

prefix, header = sys.argv[1:3]
with open(header, encoding='utf-8') as stream:
    names = sorted(set(re.findall(r'\bX\((cupti\w*),', stream.read())))
if '--both' in sys.argv[3:]:
    for name in names:
        print('-Wl,--defsym=%s=%s%s' % (name, prefix, name[len('cupti'):]))
else:
    print('/* SPDX-License-Identifier: Apache-2.0 */')
    print('/* Made by tools/vgpu/maca/prefix.py. */')
    print('#pragma once\n')
    for name in names:
        print('#define %s %s%s' % (name, prefix, name[len('cupti'):]))
