#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of HIP's functions and hip.h, against hip-facts.txt or against AMD's headers.

usage: check-hip.py facts CALLS_PY HIP_CALLS FACTS -- CC ...      places, steps, version nodes, values and layouts
       check-hip.py arguments CALLS_PY HIP_CALLS -- CC ...        arguments and result of every function that the headers declare

CC reads the tree's headers, and <hip/hip_runtime_api.h> for `arguments`, by the options that follow it.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

HEADERS = ('stdbool.h', 'stddef.h', 'stdint.h', 'proto/abi/vendor/hip.h', 'proto/abi/vendor/hip_calls.h', 'proto/abi/vendor/hip_params.h',
           'proto/abi/vendor/rocprofiler.h')


def load(path):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location('calls', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_lines(compiler, lines):
    """The compiler's errors, if not all assertions of the lines hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'same.c')
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('\n'.join(lines) + '\n')
        result = subprocess.run(compiler + ['-fsyntax-only', path], stderr=subprocess.PIPE, check=False, encoding='utf-8')
    return [result.stderr] if result.returncode else []


def fact_of_table(words, calls, module):
    """What is wrong with a fact on the table of functions, or nothing."""
    if words[0] == 'end':
        places = [place for place, step in (call.slots['slot'] for call in calls.values() if 'slot' in call.slots)
                  if step <= int(words[1])]
        return '' if max(places) + 1 == int(words[2]) else 'the table ends at %d' % (max(places) + 1)
    call = calls.get(words[1])
    if call is None:
        return 'no entry'
    if words[0] == 'node':
        return '' if call.values.get('node') == words[2] else 'node=%s' % call.values.get('node')
    found = call.slots.get(words[0])
    return '' if found == (int(words[2]), int((words + [0])[3])) else '%s=%s' % (words[0], found)


def fact_of_header(words):
    if words[0] == 'size':
        return 'sizeof(struct %s) == %s' % tuple(words[1:])
    if words[0] == 'field':
        return 'offsetof(struct %s, %s) == %s' % tuple(words[1:])
    return '%s == %s' % tuple(words[1:])


def check_facts(module, table, facts, compiler):
    calls = {call.name: call for call in module.read_table(table)[1]}
    lines, findings, source, n_facts = ['#include <%s>' % name for name in HEADERS], [], None, 0
    with open(facts, encoding='utf-8') as stream:
        for number, line in enumerate(stream, 1):
            words = line.split('#')[0].split()
            if not words or words[0] == 'source':
                source = ' '.join(words[1:]) or source
                continue
            n_facts += 1
            if words[0] in ('slot', 'compiler', 'node', 'end'):
                wrong = fact_of_table(words, calls, module)
                if wrong:
                    findings.append('%s:%d: %s: %s, not as %s' % (facts, number, ' '.join(words[:2]), wrong, source))
            elif words[0] in ('size', 'field', 'value'):
                lines.append('_Static_assert(%s, "%s:%d");' % (fact_of_header(words), facts, number))
            else:
                findings.append('%s:%d: unknown fact "%s"' % (facts, number, words[0]))
    # No caller may meet a wrapper at a place that differs between copies of the vendor's header.
    findings += ['%s: %s is wrapped, but its place is not sure' % (call.place, call.name) for call in calls.values()
                 if 503 <= call.slots.get('slot', (0,))[0] <= 506 and call.wrapped()]
    return findings + compile_lines(compiler, lines), n_facts, 300


# The vendor's headers; the second one has the calls of roctracer, and not every release has it.
VENDOR = """#include <hip/hip_runtime_api.h>
#if __has_include(<hip/amd_detail/hip_runtime_prof.h>)
#include <hip/amd_detail/hip_runtime_prof.h>
#endif
"""
# Results, and the word returns= for each.
RESULTS = {'hipError_t': None, 'int': None, 'void': 'void', 'bool': 'bool', '_Bool': 'bool', 'const char*': 'string'}


def declared(compiler):
    """The results of the functions that the headers declare, and the types of their arguments."""
    text = subprocess.run(compiler + ['-E', '-P', '-x', 'c', '-'], input=VENDOR, check=True, stdout=subprocess.PIPE,
                          encoding='utf-8').stdout
    text = re.sub(r'__attribute__\s*\(\(.*?\)\)', ' ', text)
    found = {}
    results = '|'.join(re.escape(result).replace(r'\ ', r'\s+').replace(r'\*', r'\s*\*') for result in RESULTS)
    for result, name, arguments in re.findall(r'\b(%s)\s*\b(hip\w+)\s*\(([^()]*)\)\s*;' % results, text):
        arguments = arguments.strip()
        found[name] = (RESULTS[re.sub(r'\s*\*', '*', re.sub(r'\s+', ' ', result))],
                       [] if arguments in ('', 'void') else [part.strip() for part in arguments.split(',')])
    return found


def type_of(declaration):
    """`const void *dst` is the type `const void *`; an argument may have no name."""
    match = re.fullmatch(r'(.*?)(\w+)', declaration)
    if not match or not re.sub(r'\b(const|struct|enum)\b', '', match[1]).strip() or \
            re.fullmatch(r'int|char|long|short|unsigned|float|\w+_t', match[2]) and '*' not in match[1]:
        return declaration
    return match[1]


def compare_arguments(calls, vendor, findings):
    """Yields lines of C that compile if each argument has the kind and size of the vendor's."""
    for number, call in enumerate(calls):
        if call.name not in vendor:
            continue
        result, theirs = vendor[call.name]
        if call.values.get('returns') != result:
            findings.append('%s: %s: the vendor returns %s' % (call.place, call.name, result or 'hipError_t'))
        if len(theirs) != len(call.arguments):
            findings.append('%s: %s: the vendor has %s' % (call.place, call.name, theirs))
            continue
        for at, ((our, _), their) in enumerate(zip(call.arguments, theirs)):
            ours = 'our_%d_%d' % (number, at)
            yield 'typedef %s; typedef %s their_%d_%d;' % (
                re.sub(r'\w+$', ours, our), type_of(their), number, at)
            for form in ('sizeof(%s)', '__builtin_classify_type(*(%s *)0)'):
                yield '_Static_assert(%s == %s, "%s: %s: argument %d");' % (
                    form % ours, form % ('their_%d_%d' % (number, at)), call.place, call.name, at + 1)


def check_arguments(module, table, compiler):
    findings = []
    calls = [call for call in module.read_table(table)[1] if call.arguments is not None]
    lines = ['#include <%s>' % name for name in HEADERS] + VENDOR.splitlines()
    lines += compare_arguments(calls, declared(compiler), findings)
    n_compared = sum(line.startswith('_Static_assert') for line in lines)
    return findings + compile_lines(compiler, lines), n_compared, 1000


def main():
    split = sys.argv.index('--')
    mode, script, *paths = sys.argv[1:split]
    check = {'facts': check_facts, 'arguments': check_arguments}[mode]
    findings, n, wanted = check(load(script), *paths, sys.argv[split + 1:])
    if n < wanted:
        findings.append('found only %d comparisons: the parser has lost its way' % n)
    for finding in findings:
        print(finding, file=sys.stderr)
    print('%d comparisons' % n)
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
