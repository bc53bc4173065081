#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every header stands alone: compiles as C and, where it is public, as C++. Unit tests' fixtures are exempt.

check-headers.py BUILD_ROOT CC... -- CXX...: a translation unit is made for each header that includes
nothing but this header, and only its syntax is checked. Without a C++ compiler that half is skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tree

SKIPPED = 77
# Made to be included several times or at one place only, and said so at their top. The last one is for programs outside the tree.
NOT_ALONE = {'test/bench/tracepoint.h', 'test/bench/tracepoint-rows.h', 'tools/library/examples/example.h'}
# The folders of libtracesmith. What of theirs other folders include is public; the rest is their own.
LIBRARY = ('proto/', 'sbt/', 'replay/')
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def public(headers):
    """Headers of the library that any other top folder, tests apart, includes."""
    included = set()
    for name in tree.files('.c', '.h'):
        for match in map(INCLUDE.match, tree.lines(name)):
            if match and match.group(1).split('/')[0] not in (name.split('/')[0], 'test') and \
                    not name.startswith('test/'):
                included.add(match.group(1))
    return [name for name in headers if name in included and name.startswith(LIBRARY)]


def check(headers, compiler, flags, suffix, build_root):
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        units = []
        for header in headers:
            unit = os.path.join(folder, header.replace('/', '+') + suffix)
            with open(unit, 'w', encoding='utf-8') as stream:
                stream.write('#include "%s"\n' % header)
            units.append((header, unit))
        command = compiler + flags + ['-fsyntax-only', '-D_GNU_SOURCE', '-I', tree.root(),
                                      '-I', build_root, '-Wall', '-Wextra', '-Werror',
                                      '-Wno-unused-parameter', '-Wno-missing-field-initializers',
                                      '-Wno-unused-function', '-Wno-unused-variable']
        # All at once first; one by one only to say which fails.
        if subprocess.run(command + [unit for _, unit in units], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return []
        for header, unit in units:
            result = subprocess.run(command + [unit], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, check=False)
            if result.returncode:
                findings.append('%s: does not stand alone (%s):\n%s' % (
                    header, ' '.join(compiler), result.stdout.decode(errors='replace')[:2000]))
    return findings


def main():
    build_root, rest = sys.argv[1], sys.argv[2:]
    split = rest.index('--')
    compiler, cxx = rest[:split], rest[split + 1:]
    headers = [name for name in tree.files('.h')
               if name not in NOT_ALONE and not name.startswith('test/unit/')
               # For programs in the kernel: no compiler of the host's reads them.
               and not name.endswith('.bpf.h')]
    findings = check(headers, compiler, ['-std=gnu11', '-x', 'c'], '.c', build_root)
    if cxx and shutil.which(cxx[0]):
        findings += check(public(headers), cxx, ['-std=gnu++17', '-x', 'c++'], '.cc', build_root)
    elif not findings:
        print('skipped: no C++ compiler, the headers were checked as C only')
        return SKIPPED
    return tree.report(findings)


if __name__ == '__main__':
    sys.exit(main())
