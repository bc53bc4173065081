#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes licences.txt, which lists the libraries in the page: licences.py BUNDLE OUTPUT. BUNDLE is esbuild's description of the bundle.

Name, version, licence and author are those of a module's package.json. The text is the module's file LICENSE, as npm has it, or that of
Debian's package, /usr/share/doc/node-NAME/copyright. Without a text the script fails: the licences demand a copy.
"""
import glob
import json
import os
import sys

HEAD = """TraceSmith Studio

The page is TraceSmith's own code, under the Apache License, Version 2.0:
https://www.apache.org/licenses/LICENSE-2.0

It contains these libraries:
"""


def modules(bundle):
    """The folders of the modules whose code is in the page. The page's own files are TypeScript."""
    with open(bundle, encoding='utf-8') as file:
        (output,) = json.load(file)['outputs'].values()
    folders = set()
    for path, use in output['inputs'].items():
        if use['bytesInOutput'] and not path.endswith('.ts'):
            # esbuild names files from the folder that the build runs in, as it runs this script.
            folder = os.path.dirname(os.path.abspath(path))
            while not os.path.exists(os.path.join(folder, 'package.json')):
                if folder == '/':
                    sys.exit('%s: no package.json above it' % path)
                folder = os.path.dirname(folder)
            folders.add(folder)
    return sorted(folders, key=os.path.basename)


def paragraphs(path):
    """Dicts of fields. A field's further lines begin with a blank; " ." is an empty line."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    for part in text.strip().split('\n\n'):
        fields = {}
        for line in part.split('\n'):
            if line.startswith(' ') and fields:
                fields[name] += '\n' + ('' if line.strip() == '.' else line[1:])
            else:
                name, _, value = line.partition(':')
                fields[name] = value.strip()
        yield fields


def debian(name):
    """(copyright, text) of the module's own files, from Debian's description of its package."""
    fields = list(paragraphs('/usr/share/doc/node-%s/copyright' % name))
    own = next(one for one in fields if one.get('Files') == '*')
    # The case of a licence's name differs.
    text = next(one['License'].partition('\n')[2] for one in fields if 'Files' not in one and
                one.get('License', '').partition('\n')[0].lower() == own['License'].lower())
    return ''.join('\nCopyright ' + line.strip() for line in own['Copyright'].split('\n')), text


def licence(folder, name):
    """(copyright, text); the copyright is '' if the text has it."""
    for path in sorted(glob.glob(os.path.join(folder, 'LICENSE*'))):
        with open(path, encoding='utf-8') as file:
            return '', file.read()
    try:
        return debian(name)
    except (OSError, StopIteration, KeyError):
        sys.exit("no licence text of %s: expected %s/LICENSE, or Debian's package node-%s" % (name, folder, name))


def main():
    """Modules with the same text share it."""
    found = {}
    for folder in modules(sys.argv[1]):
        with open(os.path.join(folder, 'package.json'), encoding='utf-8') as file:
            package = json.load(file)
        own, text = licence(folder, package['name'])
        found.setdefault(text.strip(), []).append('%s %s, %s, by %s%s' % (package['name'], package['version'], package['license'],
                                                                          package['author']['name'], own))
    with open(sys.argv[2], 'w', encoding='utf-8') as file:
        file.write(HEAD)
        for text, lines in found.items():
            file.write('\n%s\n\n%s\n' % ('\n'.join(lines), text))


if __name__ == '__main__':
    main()
