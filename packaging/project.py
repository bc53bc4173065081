#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The project's facts, in the `Project:` paragraph of packages.txt, and all files that repeat them.

    project.py              compares the files with the table
    project.py --write      writes the table's values into the files
    project.py --release    also refuses values with which nothing can be published
    project.py get FIELD    prints one field: Address, Maintainer or Image

A check prints one line for each difference, and its status is then 1. A field without a value is left out where the format permits it:
a homepage of no project could belong to somebody else. packages.py, build.sh and formula.sh read the table themselves.
"""
import os
import re
import sys

import packages

TOP = os.path.dirname(packages.HERE)
# RFC 2606 and RFC 6761 reserve these names, so they belong to nobody.
RESERVED = re.compile(r'(^|[@./])((example|invalid|test|localhost)|example\.(com|net|org))([/:>]|\Z)')


def read():
    """{field: value} of the paragraph."""
    for fields in packages.paragraphs():
        if 'Project' in fields:
            return {name: ' '.join(lines) for name, lines in fields.items()}
    raise SystemExit('packages.txt has no paragraph with Project:')


def version():
    with open(os.path.join(TOP, 'meson.build'), encoding='utf-8') as file:
        return re.search(r"^    version: '(.*)',$", file.read(), re.MULTILINE).group(1)


def line_after(text, before, pattern, line):
    """The text with `line`, or without a line if it is empty, in the place of the line that matches pattern, behind the one that matches before."""
    text = re.sub(r'^%s\n' % pattern, '', text, flags=re.MULTILINE)
    if not line:
        return text
    changed, n = re.subn(r'^(%s)\n' % before, lambda match: match.group(0) + line + '\n', text, count=1, flags=re.MULTILINE)
    if not n:
        raise SystemExit('no line like %s' % before)
    return changed


def control(text, project):
    text = re.sub(r'^Maintainer: .*$', lambda _: 'Maintainer: ' + project['Maintainer'], text, flags=re.MULTILINE)
    return line_after(text, 'Maintainer: .*', 'Homepage: .*', project['Address'] and 'Homepage: ' + project['Address'])


def crate(text, project):
    return line_after(text, 'description = .*', 'homepage = .*', project['Address'] and 'homepage = "%s"' % project['Address'])


def wheel(text, project):
    text = re.sub(r'\n\[project\.urls\]\n(.+\n)*', '', text)
    return text + ('\n[project.urls]\nhomepage = "%s"\n' % project['Address'] if project['Address'] else '')


def image(text, project):
    """The image's name where a line of a manifest or of a command has it with the version."""
    return re.sub(r'\S+/tracesmith:\d+(\.\d+)+', lambda _: '%s:%s' % (project['Image'], version()), text)


FILES = {'packaging/debian/control': control, 'tools/rust/Cargo.toml': crate, 'tools/python/pyproject.toml': wheel,
         'packaging/kubernetes/tracesmith.yaml': image, 'packaging/container/README.md': image}


def check(project, is_writing=False):
    differences = []
    for name, change in FILES.items():
        path = os.path.join(TOP, name)
        with open(path, encoding='utf-8') as file:
            text = file.read()
        changed = change(text, project)
        if changed == text:
            continue
        if is_writing:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(changed)
        else:
            differences.append('%s differs from packages.txt: run packaging/project.py --write' % name)
    return differences


def release(project):
    """What prevents a publication."""
    found = []
    if not project['Address']:
        found.append('packages.txt: Address is empty, so no package has a homepage')
    for field in ('Address', 'Maintainer', 'Image'):
        if RESERVED.search(project[field]):
            found.append('packages.txt: %s is %s, a name that is reserved for examples' % (field, project[field]))
    return found


def main():
    project, arguments = read(), sys.argv[1:]
    if arguments[:1] == ['get'] and len(arguments) == 2 and arguments[1] in project:
        print(project[arguments[1]])
        return 0
    if arguments not in ([], ['--write'], ['--release']):
        sys.exit(__doc__)
    differences = check(project, '--write' in arguments)
    if '--release' in arguments:
        differences += release(project)
    for difference in differences:
        print(difference, file=sys.stderr)
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
