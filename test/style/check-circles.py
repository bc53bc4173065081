#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files do not call each other in circles: DESIGN's rule for files of one folder, checked for the whole product.

The graph comes from the objects of a build. File A refers to file B if an object of A leaves a symbol undefined that an object of B
defines: a call, an address taken, or data. A call through a pointer is no reference. `nm` reads the objects; no debug info is needed.

modules.txt lists the modules that are deliberately several files. A circle is printed with the symbols that make it.

  check-circles.py BUILD
"""
import argparse
import collections
import json
import os
import subprocess
import sys

import tree

HERE = os.path.dirname(os.path.abspath(__file__))
PRODUCT = ('proto', 'inject', 'daemon', 'sbt', 'replay', 'tools')
SKIPPED = 77
# Objects of such builds hold no symbols of the machine's code, or more symbols than the sources have.
UNREADABLE = ('-flto', '-fsanitize=')


class Unreadable(Exception):
    """This build cannot answer."""


# The graph

def objects(build, top):
    """Source by object, of all product sources that the build compiles. Sources of the tree are relative to its top."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as stream:
        entries = json.load(stream)
    sources = {}
    for entry in entries:
        if entry['output'].split('/')[0] not in PRODUCT:
            continue
        for flag in UNREADABLE:
            if flag in entry['command']:
                raise Unreadable('a build with %s' % flag.rstrip('='))
        source = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        for base in (os.path.realpath(build), os.path.realpath(top)):
            name = os.path.relpath(source, base)
            if name.split(os.sep)[0] in PRODUCT and os.path.isfile(os.path.join(build, entry['output'])):
                sources[entry['output']] = name
                break
    return sources


def symbols(build, sources, nm):
    """Pairs of (object, symbol), first those that an object defines, then those that it leaves undefined."""
    out = subprocess.run([nm, '-A', '-P'] + sorted(sources), cwd=build, stdout=subprocess.PIPE, check=True).stdout.decode()
    defined, undefined = [], []
    for line in out.splitlines():
        name, rest = line.split(': ', 1)
        symbol, kind = rest.split()[:2]
        if kind in 'Uwv':
            undefined.append((name, symbol))
        elif kind.isupper() or kind == 'u':
            defined.append((name, symbol))
    return defined, undefined


def definers(user, places, sources):
    """The sources that a reference means: those of the same library, else of the same product folder, else all."""
    for same in (os.path.dirname, lambda name: name.split('/')[0], lambda name: ''):
        near = {sources[place] for place in places if same(place) == same(user)}
        if near:
            return near
    return set()


def graph(build, top, nm):
    """references[A][B]: the symbols of B that A uses."""
    sources = objects(build, top)
    if not sources:
        raise Unreadable('a build without objects')
    defined, undefined = symbols(build, sources, nm)
    places = collections.defaultdict(list)
    for name, symbol in defined:
        places[symbol].append(name)
    references = {source: collections.defaultdict(set) for source in sources.values()}
    for name, symbol in undefined:
        for source in definers(name, places.get(symbol, []), sources):
            if source != sources[name]:
                references[sources[name]][source].add(symbol)
    return references


def components(references):
    """Strongly connected components of two files and more (Tarjan's algorithm, without recursion), the largest first."""
    index, low, stack, found = {}, {}, [], []
    for start in sorted(references):
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        walk = [(start, iter(sorted(references[start])))]
        while walk:
            node, targets = walk[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    walk.append((target, iter(sorted(references[target]))))
                    break
                if low[target] is not None:
                    low[node] = min(low[node], index[target])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node):]
                    del stack[-len(component):]
                    for member in component:
                        low[member] = None
                    if len(component) > 1:
                        found.append(sorted(component))
    return sorted(found, key=lambda circle: (-len(circle), circle))


def merged(references, modules):
    """The graph in which the files of a module are one node, named by the first file."""
    first = {name: module[0] for module in modules for name in module}
    result = {first.get(source, source): collections.defaultdict(set) for source in references}
    for source, targets in references.items():
        for target, names in targets.items():
            a, b = first.get(source, source), first.get(target, target)
            if a != b:
                result[a][b] |= names
    return result


def circles(references, modules):
    """The circles by the files' names; a module that takes part is there with all its files."""
    members = {module[0]: module for module in modules}
    return [sorted(name for node in component for name in members.get(node, [node]))
            for component in components(merged(references, modules))]


def describe(circle, references):
    """A circle as text: folder, count, files, and each reference with its symbols."""
    folder = os.path.commonpath([os.path.dirname(name) for name in circle]) or '.'
    short = {name: os.path.relpath(name, folder) for name in circle}
    lines = ['%s: a circle of %d files: %s' % (folder, len(circle), ' '.join(short[name] for name in circle))]
    for source in circle:
        for target in sorted(references[source]):
            if target in short:
                lines.append('    %s -> %s: %s' % (short[source], short[target], ' '.join(sorted(references[source][target]))))
    return '\n'.join(lines)


# The modules

def read_list(path):
    """The lines of a list, in words; `#` begins a comment."""
    with open(path, encoding='utf-8') as stream:
        lines = [line.split('#')[0].strip() for line in stream]
    return [line for line in lines if line]


def read_modules(path):
    """Modules of several files: `PATH PATH ...: reason`."""
    modules, findings = [], []
    for line in read_list(path):
        names, colon, reason = line.partition(':')
        modules.append(sorted(names.split()))
        if not colon or not reason.strip() or len(modules[-1]) < 2:
            findings.append('%s: "%s": expected two paths or more, a colon and the reason' % (os.path.basename(path), line))
    return modules, findings


def check_modules(modules, references):
    """A module whose files need no permission is not to be listed."""
    for module in modules:
        missing = [name for name in module if name not in references]
        if missing:
            yield 'modules.txt: %s is not compiled by this build' % ' '.join(missing)
            continue
        inside = {name: {target: names for target, names in references[name].items() if target in module} for name in module}
        if [sorted(module)] != components({name: collections.defaultdict(set, targets) for name, targets in inside.items()}):
            yield 'modules.txt: the files of "%s" are no circle: remove the line' % ' '.join(module)


def main():
    parser = argparse.ArgumentParser(description='checks that product files do not call each other in circles')
    parser.add_argument('build', help='a build folder, built')
    parser.add_argument('--nm', default='nm', help='the program that lists symbols (default: nm)')
    parser.add_argument('--tree', default=tree.root(), help='the source tree (default: the tree of this script)')
    parser.add_argument('--modules', default=os.path.join(HERE, 'modules.txt'), help='the list of modules (default: modules.txt beside this script)')
    args = parser.parse_args()

    try:
        references = graph(args.build, args.tree, args.nm)
    except Unreadable as reason:
        print('skipped: %s' % reason)
        return SKIPPED
    modules, findings = read_modules(args.modules)
    findings += check_modules(modules, references)
    findings += [describe(circle, references) for circle in circles(references, modules)]
    return tree.report(findings)


if __name__ == '__main__':
    sys.exit(main())
