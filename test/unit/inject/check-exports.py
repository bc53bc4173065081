#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shim exports what exports.txt names, without versions, and HIP's functions with AMD's nodes, hidden from dlsym().

usage: check-exports.py LIBRARY LIST [VERSION_SCRIPT]

Without a version script the library has only the names in the list.
"""
import re
import subprocess
import sys


def main():
    library, names, *script = sys.argv[1:]
    lines = subprocess.run(['nm', '-D', '--defined-only', library], check=True, stdout=subprocess.PIPE,
                           encoding='utf-8').stdout.splitlines()
    exported = {line.split()[2] for line in lines if line.split()[1] != 'A'}
    with open(names, encoding='utf-8') as stream:
        wanted = set(stream.read().split())
    plain = {name for name in exported if '@' not in name}
    hip = exported - plain
    failures = ['%s: %s' % (name, 'not in the list' if name in plain else 'not exported') for name in sorted(plain ^ wanted)]
    failures += check_versions(hip, *script)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def check_versions(hip, script=None):
    """Checks the functions with a version node."""
    if script is None:
        return ['%s: has a version' % name for name in sorted(hip)]
    with open(script, encoding='utf-8') as stream:
        nodes = re.findall(r'^(\w[\w.]*) {', stream.read(), re.M)
    failures = []
    # The loader takes the first node for references without one.
    if nodes[:2] != ['tsinject', 'hip_4.2'] or any(name.endswith('@tsinject') for name in hip):
        failures.append('the first version node has a function')
    failures += ['%s: dlsym() finds it' % name for name in sorted(hip) if not re.fullmatch(r'(__)?hip\w+@hip_[\d.]+', name)]
    if len(hip) < 200:
        failures.append('%d functions of HIP' % len(hip))
    return failures


if __name__ == '__main__':
    sys.exit(main())
