#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and libraries run with glibc 2.28 and later: they refer to no newer version of a symbol, and to each in its library of that time.

usage: check-symbols.py TABLE [--shim[=BYTES]] FILE ...
       check-symbols.py TABLE --tree FOLDER

TABLE is packaging/glibc/moved.txt. With --shim, a file needs libc.so.6 only, its references to functions of other libraries are weak and
have no version, and its loaded segments are smaller than BYTES (default: 300 KB, as in packages). With --tree, the files are all programs and libraries of the folder: the
shims by their names, and no file needs a library that is neither in the folder nor glibc's.
"""
import os
import re
import subprocess
import sys

NEWEST = (2, 28)
# It is 275 KB with gcc at -O2, and 292 KB on aarch64. The bound finds a library or a table that came in by mistake.
SHIM_BYTES = 300000
SYMBOL = re.compile(r'^\s*\d+:\s+\S+\s+\S+\s+\w+\s+(GLOBAL|WEAK)\s+\w+\s+UND\s+([\w.]+)(?:@([\w.]+) \((\d+)\))?', re.M)
# glibc's libraries.
BASE = {'libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0', 'librt.so.1', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
SHIMS = ('libtsinject.so', 'libtsinject-pti.so')
NEEDED = re.compile(r'\(NEEDED\).*\[(.*)\]')
SEGMENT = re.compile(r'^\s*LOAD\s+\S+\s+\S+\s+\S+\s+(\S+)', re.M)
# A library of which versions are needed, and such a version with its number.
VERSION = re.compile(r'File: (\S+)|Name: (\S+)\s+Flags: \w+\s+Version: (\d+)')


def version(text):
    match = re.fullmatch(r'GLIBC_(\d+)\.(\d+)(?:\.\d+)?', text or '')
    return (int(match.group(1)), int(match.group(2))) if match else None


def read_table(path):
    with open(path, encoding='utf-8') as stream:
        return {name: line.split()[0] for line in stream if not line.startswith('#') for name in line.split()[2:]}


def readelf(option, path):
    return subprocess.run(['readelf', '-W', option, path], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout


def needed_versions(path):
    """{number: (library, version)}"""
    found, library = {}, ''
    for name, node, number in VERSION.findall(readelf('-V', path)):
        library = name or library
        if node:
            found[number] = (library, node)
    return found


def findings(path, table, is_shim):
    needed, versions = set(NEEDED.findall(readelf('-d', path))), needed_versions(path)
    symbols = SYMBOL.findall(readelf('--dyn-syms', path))
    if not any(version(node) for _, _, node, _ in symbols):
        yield 'no symbol of glibc'
    for binding, name, node, number in symbols:
        library = versions[number][0] if number else None
        if node == 'GLIBC_PRIVATE' or (version(node) or NEWEST) > NEWEST:
            yield '%s@%s: packaging/glibc/README.md tells how to take an older one' % (name, node)
        elif name in table and is_shim:
            if node or binding != 'WEAK':
                yield '%s: a reference that is not weak, or has a version' % name
        elif name in table and library != table[name]:
            yield '%s: glibc 2.28 has it in %s, not in %s' % (name, table[name], library)
    for library, node in versions.values():
        if node == 'GLIBC_PRIVATE' or (version(node) or NEWEST) > NEWEST:
            yield 'needs %s of %s' % (node, library)
    if is_shim and needed != {'libc.so.6'}:
        yield 'needs ' + ', '.join(sorted(needed))


def size_findings(path, most=SHIM_BYTES):
    n_bytes = sum(int(size, 16) for size in SEGMENT.findall(readelf('-l', path)))
    if not 0 < n_bytes < most:
        yield '%d bytes, at most %d: it is mapped into every program' % (n_bytes, most)


def tree_findings(folder, table):
    paths = [os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names]
    inside = {os.path.basename(path) for path in paths}
    n = 0
    for path in sorted(paths):
        with open(path, 'rb') as file:
            if os.path.islink(path) or file.read(4) != b'\x7fELF':
                continue
        n += 1
        is_shim = os.path.basename(path) in SHIMS
        for finding in list(findings(path, table, is_shim)) + (list(size_findings(path)) if is_shim else []):
            yield path, finding
        for name in set(NEEDED.findall(readelf('-d', path))) - BASE - inside:
            yield path, 'needs %s, which is neither in the folder nor in glibc' % name
    if not n:
        yield folder, 'no program and no library'


def main():
    table, *paths = sys.argv[1:]
    table = read_table(table)
    if paths[:1] == ['--tree']:
        found = list(tree_findings(paths[1], table))
    else:
        is_shim = bool(paths) and paths[0].startswith('--shim')
        most = int(paths[0].partition('=')[2] or SHIM_BYTES) if is_shim else 0
        paths = paths[is_shim:]
        found = [(path, finding) for path in paths for finding in findings(path, table, is_shim)]
        found += [(path, finding) for path in paths if is_shim for finding in size_findings(path, most)]
    for path, finding in found:
        print('%s: %s' % (path, finding), file=sys.stderr)
    return 1 if found or not paths else 0


if __name__ == '__main__':
    sys.exit(main())
