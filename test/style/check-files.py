#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every file of the tree owes its reader.

A licence line; a paragraph at the top of each .c; files and functions of a length that can be read;
no left-over work; no getenv(), which obeys the caller of a privileged program; a README.md for each
folder; scripts that a POSIX shell accepts; a name of its own for each module of the product.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

import tree

FILE_LINES = 1000
FUNCTION_LINES = 100
# Lists of comparisons with a vendor's headers, one line an entry: their functions have nothing to read in them.
LISTS = ('test/unit/vendor/',)

SPDX = 'SPDX-License-Identifier: Apache-2.0'
NEEDS_SPDX = ('.c', '.h', '.cu', '.py', '.sh', '.proto', '.rs', 'meson.build', 'meson.options')
LEFT_OVER = re.compile(r'\b(' + '|'.join(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK']) + r')\b')

PRODUCT = ('proto/', 'inject/', 'daemon/', 'sbt/', 'replay/', 'tools/')
# Every program has one.
SHARED_NAMES = ('main.c',)
# Each file is a program by itself.
PROGRAMS = ('tools/library/examples/',)

# Only tests, which nobody installs, may read the environment of a privileged program.
GETENV = re.compile(r'\bgetenv\b')


def check_environment(name, lines):
    if not name.endswith(('.c', '.h', '.cc', '.cu')) or name.startswith('test/'):
        return
    for number, line in enumerate(lines, 1):
        if GETENV.search(line):
            yield '%s:%d: getenv(): use secure_getenv()' % (name, number)


def check_licence(name, lines):
    if name.endswith(NEEDS_SPDX) and SPDX not in '\n'.join(lines[:2]):
        yield '%s:1: no line "%s" at the top' % (name, SPDX)


def check_paragraph(name, lines):
    if name.endswith('.c') and not any(line.startswith('/*') for line in lines[1:3]):
        yield '%s:2: no paragraph at the top that says what this module is and why' % name


def check_lengths(name, lines):
    if not name.endswith(('.c', '.h', '.cu')):
        return
    if len(lines) > FILE_LINES:
        yield '%s: %d lines, at most %d' % (name, len(lines), FILE_LINES)
    start = None
    for number, line in enumerate(lines, 1):
        # Kernel style: only functions open with a brace in the first column.
        if line == '{':
            start = number
        elif line == '}' and start is not None:
            if number - start > FUNCTION_LINES and not name.startswith(LISTS):
                yield '%s:%d: a function of %d lines, at most %d' % (
                    name, start, number - start, FUNCTION_LINES)
            start = None


def check_text(name, lines):
    for number, line in enumerate(lines, 1):
        if LEFT_OVER.search(line):
            yield '%s:%d: left-over work: %s' % (name, number, line.strip())
        if line.rstrip() != line:
            yield '%s:%d: blanks at the end of the line' % (name, number)
        if '\r' in line:
            yield '%s:%d: carriage return' % (name, number)


def check_shell(name):
    shell = shutil.which('dash') or shutil.which('sh')
    result = subprocess.run([shell, '-n', os.path.join(tree.root(), name)],
                            stderr=subprocess.PIPE, check=False)
    if result.returncode:
        yield '%s: %s' % (name, result.stderr.decode().strip())


def check_readmes(names):
    """Each top folder has a README.md; one with sources has its own or its parent's."""
    have = {os.path.dirname(name) for name in names if os.path.basename(name) == 'README.md'}
    folders = {os.path.dirname(name) for name in names if name.endswith(('.c', '.h', '.py', '.sh'))}
    folders |= {folder.split('/')[0] for folder in folders}
    for folder in sorted(folder for folder in folders if folder):
        parent = os.path.dirname(folder)
        if folder in have or (parent and parent in have):
            continue
        # test/unit/x mirrors x, whose README speaks for it.
        if folder.startswith('test/unit') and 'test' in have:
            continue
        yield '%s: no README.md' % folder


def check_names(names):
    """Two modules of the product do not share a name. `x.c` and `x.h` are one module if they share a folder, or if the header's
    folder is above: sbt/copy.h and sbt/rewrite/copy.c."""
    modules = collections.defaultdict(list)
    for name in names:
        module, suffix = os.path.splitext(os.path.basename(name))
        if name.startswith(PRODUCT) and not name.startswith(PROGRAMS) and suffix in ('.c', '.h') and \
                module + suffix not in SHARED_NAMES:
            modules[module].append(name)
    for module, files in sorted(modules.items()):
        sources = [os.path.dirname(name) for name in files if name.endswith('.c')]
        headers = [os.path.dirname(name) for name in files if name.endswith('.h')]
        folders = set(sources)
        folders.update(folder for folder in headers
                       if not any(source.startswith(folder + '/') for source in sources))
        if len(folders) > 1:
            yield '%s: modules that share the name "%s": rename all but one' % (' '.join(sorted(files)), module)


def main():
    names = tree.files()
    findings = list(check_readmes(names)) + list(check_names(names))
    for name in names:
        if not name.endswith(('.c', '.h', '.cc', '.cu', '.py', '.rs', '.sh', '.proto', '.map', '.md',
                              'meson.build')):
            continue
        lines = tree.lines(name)
        findings += check_licence(name, lines)
        findings += check_paragraph(name, lines)
        findings += check_lengths(name, lines)
        findings += check_text(name, lines)
        findings += check_environment(name, lines)
        if name.endswith('.sh'):
            findings += check_shell(name)
    return tree.report(findings)


if __name__ == '__main__':
    sys.exit(main())
