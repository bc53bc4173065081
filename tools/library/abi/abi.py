#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the interface of libtracesmith with that of the last release, by abidw and abidiff (Debian: abigail-tools).

abi.py BUILD            prints incompatible changes; status 1 if there are any, 77 if this machine or build cannot tell
abi.py BUILD --write    makes the built library's interface the one to compare with (libtracesmith.abi.xz)

The interface: the functions of node TRACESMITH_0.1 that people wrote, and the types that the installed headers give to them. Functions that
protoc-c makes are left out: they follow from the messages, whose types are in. New functions are no change.
"""
import argparse
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

FOLDER = os.path.dirname(os.path.abspath(__file__))
BASELINE = os.path.join(FOLDER, 'libtracesmith.abi.xz')
MAP = os.path.join(os.path.dirname(FOLDER), 'libtracesmith.map.in')
# Messages that only the library makes may grow at their end. Programs make these.
ANSWERS = re.compile(r'_?Ts__Rpc__(?!(?:Query|Request|RowFilter|Moment)$)')
SKIPPED = 77
# Bits of abidiff's exit status.
FAILED, USAGE = 1, 2
RENEW = 'python3 tools/library/abi/abi.py BUILD --write'


def run(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', errors='replace', check=False)


def public_names():
    with open(MAP, encoding='utf-8') as stream:
        node = re.search(r'^TRACESMITH_0\.1 \{\n(.*?)^\}', stream.read(), re.M | re.S).group(1)
    return re.findall(r'^\t(ts_\w+);', node.split('local:')[0], re.M)


def installed_headers(build, folder):
    """Puts the installed headers into the folder, by their names below include/tracesmith."""
    with open(os.path.join(build, 'meson-info', 'intro-installed.json'), encoding='utf-8') as stream:
        installed = json.load(stream)
    for path, destination in installed.items():
        name = destination.partition('/include/tracesmith/')[2]
        if name.endswith('.h') and os.path.exists(path):
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(path, target)


def interface(build, folder):
    """Writes the built library's interface to a file in the folder and returns its path."""
    library = os.path.join(build, 'tools', 'library', 'libtracesmith.so.0')
    headers, names, out = (os.path.join(folder, name) for name in ('include', 'names.suppr', 'new.abi'))
    installed_headers(build, headers)
    with open(names, 'w', encoding='utf-8') as stream:
        for what in ('function', 'variable'):
            stream.write('[suppress_%s]\n  symbol_name_not_regexp = ^(%s)$\n  drop = yes\n' % (what, '|'.join(public_names())))
    result = run('abidw', '--exported-interfaces-only', '--suppressions', names, '--headers-dir', headers, '--drop-private-types',
                 '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs', '--no-elf-needed', '--no-parameter-names', '--type-id-style',
                 'hash', '--out-file', out, library)
    if result.returncode or not os.path.exists(out):
        sys.exit('abidw %s: status %d\n%s' % (library, result.returncode, result.stdout))
    return out


def why_not(build):
    """Why nothing can be compared here, or None."""
    if not shutil.which('abidw') or not shutil.which('abidiff'):
        return 'no abidiff: install abigail-tools'
    library = os.path.join(build, 'tools', 'library', 'libtracesmith.so.0')
    if '.debug_info' not in run('readelf', '-S', '-W', library).stdout:
        return 'the library has no debug information'
    if 'X86-64' not in run('readelf', '-h', library).stdout:
        return 'the interface to compare with is that of x86-64'
    return None


def write(new, path):
    with open(new, 'rb') as stream, lzma.open(path, 'wb', preset=9) as packed:
        shutil.copyfileobj(stream, packed)


def layout(node):
    return [(member.get('layout-offset-in-bits'), member.find('var-decl').get('name')) for member in node.findall('data-member')]


def cut(node, known):
    """Removes the members behind those of `known`, if the others are the same."""
    had, members = layout(known), node.findall('data-member')
    if len(members) > len(had) and layout(node)[:len(had)] == had:
        for member in members[len(had):]:
            node.remove(member)
        node.set('size-in-bits', known.get('size-in-bits'))


def without_appended(old, new, path):
    """Writes the new interface without the members behind those that an answer or a choice of messages had before."""
    before, root = xml.parse(old).getroot(), xml.parse(new).getroot()
    answers = {node.get('name'): node for node in before.iter('class-decl') if node.get('size-in-bits')}
    choices = {member: node for node in before.iter('union-decl') for member in layout(node)[:1]}
    for node in root.iter('class-decl'):
        if ANSWERS.match(node.get('name', '')) and node.get('name') in answers:
            cut(node, answers[node.get('name')])
    for node in root.iter('union-decl'):
        known = next((choices[member] for member in layout(node)[:1] if member in choices), None)
        # A pointer more in a oneof: the size stays.
        if known is not None and known.get('size-in-bits') == node.get('size-in-bits'):
            cut(node, known)
    xml.ElementTree(root).write(path)
    return path


def compare(new, folder, baseline=BASELINE):
    """Prints what changed in an incompatible way; 1 if anything did."""
    old = os.path.join(folder, 'old.abi')
    with lzma.open(baseline) as packed, open(old, 'wb') as stream:
        shutil.copyfileobj(packed, stream)
    new = without_appended(old, new, os.path.join(folder, 'cut.abi'))
    result = run('abidiff', '--no-added-syms', old, new)
    if not result.returncode:
        return 0
    print(result.stdout)
    if not result.returncode & (FAILED | USAGE):
        print('Programs that were built with the last release would fail or misread data. Keep the old function or struct and add a new\n'
              'one. Before version 1.0 the interface may change: then run\n  %s' % RENEW)
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    reason = why_not(options.build)
    if reason:
        print('skipped: ' + reason)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        new = interface(options.build, folder)
        if not options.write:
            return compare(new, folder)
        write(new, BASELINE)
    return 0


if __name__ == '__main__':
    sys.exit(main())
