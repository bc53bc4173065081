#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API reference has every header that is installed, and doxygen has nothing to say against any of them.

check-reference.py BUILD
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tree

SKIPPED = 77
DOXYFILE = 'tools/library/Doxyfile'


def installed(build):
    """The library's headers that are written by hand, by their names in the tree. Headers of examples are documents."""
    with open(os.path.join(build, 'meson-info', 'intro-installed.json'), encoding='utf-8') as stream:
        names = [os.path.realpath(name) for name, place in json.load(stream).items() if '/include/' in place]
    root = os.path.realpath(tree.root()) + os.sep
    known = set(tree.files('.h'))
    return {name[len(root):] for name in names if name.startswith(root)} & known


def main():
    build = sys.argv[1]
    with open(os.path.join(tree.root(), DOXYFILE), encoding='utf-8') as stream:
        text = stream.read()
    inputs = re.search(r'^INPUT +=((?:.*\\\n)*.*)$', text, re.M).group(1)
    named = set(re.findall(r'\$\(SOURCE\)/(\S+\.h)', inputs))
    headers = installed(build)
    if not headers:
        print('no header is installed')
        return 1
    findings = ['%s: INPUT has no %s, which is installed' % (DOXYFILE, name)
                for name in sorted(headers - named)]
    findings += ['%s: INPUT has %s, which is not installed' % (DOXYFILE, name)
                 for name in sorted(named - headers)]
    doxygen = shutil.which('doxygen')
    if findings or not doxygen:
        print('skipped: no doxygen' if not findings else '')
        return tree.report(findings) if findings else SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([doxygen, '-'], cwd=folder, text=True, check=False, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, input=text + '\nGENERATE_HTML = NO\nGENERATE_XML = YES\n',
                                env=dict(os.environ, SOURCE=tree.root(), BUILD=folder,
                                         GENERATED=os.path.abspath(build)))
        findings = result.stdout.splitlines()
        if result.returncode or not os.path.exists(os.path.join(folder, 'reference', 'xml', 'index.xml')):
            findings.append('doxygen ended with status %d and made nothing' % result.returncode)
    return tree.report(findings)


if __name__ == '__main__':
    sys.exit(main())
