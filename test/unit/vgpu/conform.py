#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The conformance suite's two halves that are made from what the virtual GPU's libraries export.

usage: conform.py header driver|runtime SOURCE ...   prints the header that the tests reach a library by
       conform.py check LIBRARY REFUSED TEST ...     fails for an exported function that no test checks
       conform.py works LIBRARY SLOTS TEST ...       fails for a function of libamdhip64 that no test checks a success of
       conform.py table CALLS_PY TABLE LIBRARY [RELEASE]
                                                     fails unless the library exports what the table of calls says

The header has a type for each function and a macro of its name, which finds it at run time: the tests are linked
to no library, and run over whichever the loader finds. A function counts as tested where a test checks a success
of it, ok(NAME(...)), and an error, want(ERROR, NAME(...)) or refuses(); the forms for the other default stream are the same
tests built again. What has no error to test, or no success, is listed here with its reason.
"""
import importlib.util
import re
import subprocess
import sys

NO_ERROR = {
    'cudaCreateChannelDesc': 'no result code',
    '__cudaGetKernel': 'called by what nvcc generates; its failure is the launch\'s, tested there',
    '__cudaInitModule': 'its result says whether there was something to do',
    '__cudaPushCallConfiguration': 'cannot fail',
    '__cudaRegisterFatBinary': 'no result that tells',
    '__cudaRegisterFatBinaryEnd': 'no result',
    '__cudaRegisterFunction': 'no result',
    '__cudaRegisterHostVar': 'no result',
    '__cudaRegisterManagedVar': 'no result',
    '__cudaRegisterVar': 'no result',
    '__cudaUnregisterFatBinary': 'no result',
    'cudaGetErrorName': 'answers a text for every number',
    'cudaGetErrorString': 'answers a text for every number',
    'cudaGetLastError': 'its result is another call\'s error',
    'cudaPeekAtLastError': 'its result is another call\'s error',
    'cudaProfilerStart': 'no error is documented',
    'cudaProfilerStop': 'no error is documented',
    'cudaDeviceGetStreamPriorityRange': 'every argument is good',
    'cudaMemGetInfo': 'every argument is good',
    'cudaDeviceSynchronize': 'fails by what a kernel did only',
    'cudaDeviceReset': 'fails by what a kernel did only',
}
NO_SUCCESS = {
    'refused by the virtual GPU: README.md says so': (
        'cuIpcCloseMemHandle', 'cuIpcGetEventHandle', 'cuIpcGetMemHandle', 'cuIpcOpenEventHandle',
        'cuIpcOpenMemHandle', 'cuIpcOpenMemHandle_v2', 'cuMemExportToShareableHandle',
        'cuMemImportFromShareableHandle', 'cuMemMapArrayAsync', 'cuGraphConditionalHandleCreate',
        'cuGraphAddMemAllocNode', 'cuGraphAddMemFreeNode', 'cudaGraphAddMemAllocNode', 'cudaGraphAddMemFreeNode',
        'cudaIpcCloseMemHandle', 'cudaIpcGetEventHandle', 'cudaIpcGetMemHandle', 'cudaIpcOpenEventHandle',
        'cudaIpcOpenMemHandle', 'cudaGraphConditionalHandleCreate'),
    'serves other libraries of the vendor\'s only': ('cudaGetExportTable',),
}
SUFFIX = re.compile(r'_pt[sd][sz]$|_spt$')


def functions(sources):
    """Yields (result, name, parameters) of the functions that the sources export."""
    for source in sources:
        with open(source, encoding='utf-8') as stream:
            text = re.sub(r'^#(?:.*\\\n)*.*', '', stream.read(), flags=re.M)
        text = re.sub(r'\s+', ' ', text)
        for match in re.finditer(r'\bAPI (const char \*|void \*\*|struct \w+ |\w+ )(\w+)(\(.*?\)) \{', text):
            result, name, parameters = match.groups()
            # Structures of the libraries' own files go by their address.
            ours = r'struct (?!ts_(?!cu_mem_allocation_prop)|ipc_handle)\w+ \*'
            yield result, name, re.sub(ours, 'void *', parameters)


def refused(sources):
    """The names that are there to be refused, all by one test."""
    names = []
    for source in sources:
        if source.endswith('refused.h'):
            with open(source, encoding='utf-8') as stream:
                names += re.findall(r'\bX\((\w+)\)', stream.read())
    return names


def zeros(name, parameters):
    """A call with zeros. A structure goes by its type: ABIs differ in the passing of large ones."""
    types = [re.fullmatch(r'(?:const )?(struct \w+) \w+', parameter.strip()) for parameter in parameters.strip()[1:-1].split(',')]
    if not any(types):
        return 'conform_call_zeros(conform_find("%s"))' % name
    return '%s(%s)' % (name, ', '.join('(%s){0}' % found.group(1) if found else '0' for found in types))


def header(prefix, sources):
    names = []
    print('/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by conform.py. */\n#pragma once\n\n'
          '#include "test/unit/vgpu/conform.h"\n')
    for result, name, parameters in functions(sources):
        if SUFFIX.search(name):
            continue
        names.append(name)
        print('typedef %sconform_%s%s;' % (result, name, parameters))
        print('#define %s (*(conform_%s *)conform_find("%s"))' % (name, name, name))
        print('#define conform_zeros_%s() %s' % (name, zeros(name, parameters)))
    print('#define CONFORM_EACH(F) %s' % ' '.join('F(%s)' % name for name in names))
    print('#define CONFORM_REFUSED(F) %s' % ' '.join('F(%s)' % name for name in refused(sources)))
    print('#define CONFORM_CODE(name) TS_%s_##name' % {'driver': 'CU', 'runtime': 'CUDA'}[prefix])
    return 0


def exported(library):
    lines = subprocess.run(['nm', '-D', '--defined-only', library], check=True, capture_output=True,
                           encoding='utf-8').stdout.splitlines()
    names = {line.split()[-1].split('@')[0] for line in lines}
    return {name for name in names if re.match(r'(__)?(cu|hip)[a-zA-Z]', name)}


def check(library, tests):
    text, sources = '', [test for test in tests if test.endswith('refused.h')]
    tests = [test for test in tests if test not in sources]
    for test in tests:
        with open(test, encoding='utf-8') as stream:
            text += re.sub(r'/\*.*?\*/|//[^\n]*', ' ', stream.read(), flags=re.S)
    called = set(re.findall(r'\b(?:ok|done)\(\s*(\w+)\(', text))
    failed = set(re.findall(r'\b(?:want|refuses)\(\s*\w+,\s*(\w+)\(', text))
    no_success = {name for names in NO_SUCCESS.values() for name in names}
    names = {SUFFIX.sub('', name) for name in exported(library) - set(refused(sources))}
    if 'CONFORM_REFUSED(' not in text:
        print('no test of what is refused', file=sys.stderr)
        return 1
    missing = ['%s: no test checks that it works' % name for name in sorted(names - called - no_success)]
    missing += ['%s: no test checks an error of it' % name for name in sorted(names - failed - set(NO_ERROR))]
    for line in missing:
        print(line, file=sys.stderr)
    print('%s: %d functions, %d gaps' % (library, len(names), len(missing)))
    if len(names) < 150:
        print('found too few functions: the list has lost its way', file=sys.stderr)
        return 1
    return 1 if missing else 0


def works(library, slots, tests):
    with open(slots, encoding='utf-8') as stream:
        refuses = set(re.findall(r'X\(\d+, (\w+), REFUSED\)', stream.read()))
    called = set()
    for test in tests:
        with open(test, encoding='utf-8') as stream:
            text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ', stream.read(), flags=re.S)
        called |= set(re.findall(r'\bhip\w+(?=\()', re.sub(r'\bwant\(\s*\w+,\s*\w+', '', text)))
    names = {name for name in exported(library) - refuses if not name.startswith('__')}
    missing = sorted({SUFFIX.sub('', name) for name in names - called} - called)
    for name in missing:
        print('%s: no test checks that it works' % name, file=sys.stderr)
    print('%s: %d functions, %d gaps' % (library, len(names), len(missing)))
    return 1 if missing or len(names) < 150 else 0


def table(script, path, library, release=None):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location('calls', script)
    calls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(calls)
    known = [call for call in calls.read_table(path)[1] if call.work]
    if release:
        known = calls.exported_calls(known, release)
    wanted = {form.symbol for call in known for form in call.forms}
    there = exported(library)
    for name in sorted(wanted ^ there):
        print('%s: only %s has it' % (name, 'the table' if name in wanted else 'the library'), file=sys.stderr)
    print('%s: %d functions' % (library, len(there)))
    return 1 if wanted != there or len(there) < 150 else 0


def main():
    if sys.argv[1] == 'header':
        return header(sys.argv[2], sys.argv[3:])
    if sys.argv[1] == 'works':
        return works(sys.argv[2], sys.argv[3], sys.argv[4:])
    if sys.argv[1] == 'table':
        return table(*sys.argv[2:])
    return check(sys.argv[2], sys.argv[3:])


if __name__ == '__main__':
    sys.exit(main())
