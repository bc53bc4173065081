#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes libraries to link with, which have the functions of moved.txt where glibc 2.28 has them.

stubs.py FOLDER BASE COMPILER ...

BASE is the version of the oldest functions of the architecture: GLIBC_2.2.5. FOLDER gets libdl.so.2, libpthread.so.0 and librt.so.1
without code. A program that loads them fails.
"""
import os
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'moved.txt')


def number(version):
    return [int(part) for part in version.split('_')[1].split('.')]


def moved():
    """{library: {version: names}}"""
    found = {}
    with open(TABLE, encoding='utf-8') as stream:
        for line in stream:
            if not line.startswith('#'):
                library, version, *names = line.split()
                found.setdefault(library, {}).setdefault(version, []).extend(names)
    return found


def write(path, text):
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(text)


def make(compiler, folder, library, versions):
    """`versions`: names by version, oldest first."""
    names = [name for group in versions.values() for name in group]
    source, script = os.path.join(folder, library + '.S'), os.path.join(folder, library + '.map')
    write(source, '\t.text\n' + ''.join('\t.globl\t%s\n\t.type\t%s, %%function\n%s:\n' % (name, name, name) for name in names) +
          '\t.section .note.GNU-stack, "", %progbits\n')
    nodes, before = [], ''
    for version, group in versions.items():
        nodes.append('%s {\nglobal:\n%s}%s;\n' % (version, ''.join('\t%s;\n' % name for name in group), before))
        before = ' ' + version
    write(script, ''.join(nodes))
    subprocess.run([*compiler, '-shared', '-nostdlib', '-Wl,-soname,' + library, '-Wl,--version-script=' + script,
                    '-o', os.path.join(folder, library), source], check=True)


def main():
    folder, base, *compiler = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for library, versions in moved().items():
        by_version = {}
        for version in sorted(versions, key=number):
            own = base if number(version) < number(base) else version
            by_version.setdefault(own, []).extend(versions[version])
        make(compiler, folder, library, by_version)


if __name__ == '__main__':
    main()
