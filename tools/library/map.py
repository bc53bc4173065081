#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The private node of libtracesmith.map.in: names that tsctl uses and no installed header declares.

map.py BUILD            prints the names that the node lacks (+) and those that tsctl does not use (-); status 1 if there are any
map.py BUILD --write    puts the right names into the node

The archives of tsctl and of the library have to be built, tsctl itself and the library need not be linked: a name that the node lacks
is an undefined reference there. `ninja -k 0 tools/tsctl/tsctl` builds all of it. A build without the virtual GPU knows too few names.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

MAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'libtracesmith.map.in')
PUBLIC, PRIVATE = 'TRACESMITH_0.1', 'TRACESMITH_PRIVATE_@VERSION@'
GENERATED = 'ts__rpc__'
# Folders of the build with the archives of tsctl (USERS) and of the library (PARTS).
USERS = ('tools/tsctl',)
PARTS = ('sbt', 'proto', 'replay', 'tools/export')


def node(name):
    """The names of a node of the map, in its order."""
    with open(MAP, encoding='utf-8') as stream:
        body = re.search(r'^%s \{\nglobal:\n(.*?)^(?:local:|\})' % re.escape(name), stream.read(), re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r'^\t(\S+);$', body, re.MULTILINE)


def symbols(build, folders, *options):
    paths = [path for folder in folders for path in glob.glob(os.path.join(build, folder, '**', '*.a'), recursive=True)]
    if not paths:
        sys.exit('%s: no archive in %s' % (build, ' or '.join(folders)))
    out = subprocess.run(['nm', '--format=posix', '-g', *options, *paths], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {line.split()[0] for line in out.splitlines() if len(line.split()) > 1}


def used(build):
    """Names of the library that tsctl uses and the public node lacks."""
    used_names = symbols(build, USERS, '-u') & symbols(build, PARTS, '--defined-only')
    return {name for name in used_names if not name.startswith(GENERATED)} - set(node(PUBLIC))


def write(names):
    with open(MAP, encoding='utf-8') as stream:
        text = stream.read()
    body = ''.join('\t%s;\n' % name for name in sorted(names))
    text = re.sub(r'(^%s \{\nglobal:\n).*?^\}' % re.escape(PRIVATE), lambda match: match.group(1) + body + '}', text,
                  flags=re.DOTALL | re.MULTILINE)
    with open(MAP, 'w', encoding='utf-8') as stream:
        stream.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    wanted, listed = used(options.build), set(node(PRIVATE))
    for sign, names in (('+', wanted - listed), ('-', listed - wanted)):
        for name in sorted(names):
            print('%s\t%s;' % (sign, name))
    if options.write:
        write(wanted)
        return 0
    return 1 if wanted != listed else 0


if __name__ == '__main__':
    sys.exit(main())
