#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Formatting is clang-format 14's. Other versions differ in details, so there the test is skipped."""
import os
import re
import shutil
import subprocess
import sys

import tree

SKIPPED = 77


def find_clang_format():
    for name in ('clang-format-14', 'clang-format'):
        path = shutil.which(name)
        if not path:
            continue
        version = subprocess.run([path, '--version'], stdout=subprocess.PIPE,
                                 check=True).stdout.decode()
        if re.search(r'version 14\.', version):
            return path
    return None


def main():
    clang_format = find_clang_format()
    if not clang_format:
        print('skipped: no clang-format of version 14 (Debian: clang-format-14)')
        return SKIPPED
    names = tree.files('.c', '.h')
    result = subprocess.run([clang_format, '--dry-run', '--ferror-limit=1', '-Werror'] + names,
                            cwd=tree.root(), stderr=subprocess.PIPE, check=False)
    bad = sorted(set(re.findall(r'^([^\s:]+):\d+:\d+: error', result.stderr.decode(), re.M)))
    findings = ['%s: not formatted: run %s -i %s' % (name, os.path.basename(clang_format), name)
                for name in bad]
    if result.returncode and not findings:
        findings = [result.stderr.decode()]
    return tree.report(findings)


if __name__ == '__main__':
    sys.exit(main())
