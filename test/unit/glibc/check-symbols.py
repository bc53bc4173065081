#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and libraries run with glibc 2.28 and later: they refer to no newer version of a symbol, and name its library of that time.

usage: check-symbols.py [--shim] FILE ...

With --shim, a file may name libc.so.6 only. References to functions that were in other libraries have to be weak then.
"""
import re
import subprocess
import sys

NEWEST = (2, 28)
# Libraries that libc.so.6 took in with glibc 2.34, by the names of their functions.
MOVED = (('libdl.so.2', r'(?!dl_)dl\w+'), ('librt.so.1', r'(timer|mq|aio|lio|shm)_\w+'),
         ('libpthread.so.0', r'(pthread|sem)_\w+|__pthread_\w+'))
# libc.so.6 had these functions of threads before.
ALWAYS = re.compile(r'pthread_(attr_(destroy|init|(get|set)(detachstate|inheritsched|sched\w+|scope))|cond_(broadcast|destroy|init|'
                    r'signal|timedwait|wait)|condattr_(destroy|init)|equal|exit|(get|set)schedparam|mutex_(destroy|init|lock|unlock)|'
                    r'self|setcancel(state|type)|atfork)')
SYMBOL = re.compile(r'^\s*\d+:\s+\S+\s+\S+\s+\w+\s+(GLOBAL|WEAK)\s+\w+\s+UND\s+([\w.]+)@([\w.]+)', re.M)
NEEDED = re.compile(r'\(NEEDED\).*\[(.*)\]')


def version(text):
    match = re.fullmatch(r'GLIBC_(\d+)\.(\d+)(?:\.\d+)?', text)
    return (int(match.group(1)), int(match.group(2))) if match else None


def old_library(name):
    if ALWAYS.fullmatch(name):
        return None
    return next((library for library, pattern in MOVED if re.fullmatch(pattern, name)), None)


def readelf(option, path):
    return subprocess.run(['readelf', '-W', option, path], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout


def findings(path, is_shim):
    needed = set(NEEDED.findall(readelf('-d', path)))
    symbols = SYMBOL.findall(readelf('--dyn-syms', path))
    if not any(version(node) for _, _, node in symbols):
        yield 'no symbol of glibc'
    for binding, name, node in symbols:
        if node == 'GLIBC_PRIVATE' or (version(node) or NEWEST) > NEWEST:
            yield '%s@%s: packaging/glibc/README.md tells how to take an older one' % (name, node)
        library = old_library(name)
        if version(node) and library and library not in needed and not (is_shim and binding == 'WEAK'):
            yield '%s was in %s, which the file does not name' % (name, library)
    # The newest version of what a library needs is not only in its symbols.
    for node in re.findall(r'Name: (GLIBC_\S+)', readelf('-V', path)):
        if node == 'GLIBC_PRIVATE' or (version(node) or NEWEST) > NEWEST:
            yield 'needs the version %s' % node
    if is_shim and needed != {'libc.so.6'}:
        yield 'needs ' + ', '.join(sorted(needed))


def main():
    paths = sys.argv[1:]
    is_shim = paths[:1] == ['--shim']
    failures = ['%s: %s' % (path, finding) for path in paths[is_shim:] for finding in findings(path, is_shim)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures or len(paths) == is_shim else 0


if __name__ == '__main__':
    sys.exit(main())
