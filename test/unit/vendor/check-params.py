#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The arguments of calls as the tables list them, against CUPTI's headers: size, and each argument's name, offset and size.

usage: check-params.py CALLS_PY TABLE ... -- CC ...

CC reads <cupti.h> and the tree's headers by the options that follow it. Every form of a call that has an id and
arguments is compared with the vendor's structure for that id, also where ours has no declaration in a header.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

# Our names for the vendor's, beside those that differ in their case and in a prefix of p or h.
NAMES = {
    ('dev_ptr', 'dptr'), ('byte_size', 'bytesize'), ('value', 'uc'), ('value', 'us'), ('value', 'ui'), ('func', 'hfunc'),
    ('func', 'f'), ('module', 'hmod'), ('module', 'pMod'), ('index', 'paramIndex'), ('offset', 'paramOffset'),
    ('bytes', 'paramSize'), ('graph_exec', 'hGraph'), ('ctx', 'pctx'), ('create_params', 'paramsArray'),
    ('n_params', 'numParams'), ('create_params', 'ctxCreateParams'), ('error_node', 'hErrorNode_out'),
    ('update_result', 'updateResult_out'), ('handle_type', 'shHandleType'), ('pool', 'memPool'),
}
HEADERS = ('cupti.h', 'proto/abi/vendor/cuda_driver_params.h', 'proto/abi/vendor/cuda_runtime_params.h')


def load(path):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location('calls', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def vendor_structures(compiler):
    """The vendor's fields by the callback's name."""
    text = subprocess.run(compiler + ['-E', '-P', '-x', 'c', '-'], input='#include <cupti.h>\n', check=True,
                          stdout=subprocess.PIPE, encoding='utf-8').stdout
    found = {}
    for name, body in re.findall(r'typedef struct (\w+)_params_st \{(.*?)\} \1_params;', text, re.S):
        fields = [re.sub(r'\(\*(\w+)\).*', r'\1', field.strip()) for field in body.split(';') if field.strip()]
        found[name] = [re.search(r'(\w+)(?:\[\w*\])?$', field)[1] for field in fields]
    return found


def same_name(ours, theirs):
    word = re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', theirs)
    word = re.sub(r'([A-Z]+)([A-Z][a-z])', r'\1_\2', word).lower()
    return ours in (word, re.sub(r'^(p|h|pp|ph|pph)_', '', word)) or (ours, theirs) in NAMES


def comparisons(ours, theirs, pairs):
    yield 'sizeof(%s) == sizeof(%s)' % (ours, theirs)
    for our, their in pairs:
        yield 'offsetof(%s, %s) == offsetof(%s, %s)' % (ours, our, theirs, their)
        yield 'sizeof(((%s *)0)->%s) == sizeof(((%s *)0)->%s)' % (ours, our, theirs, their)


def compare(calls, vendor, findings):
    """Yields lines of C that compile if all sizes and offsets are the same."""
    for number, call in enumerate(calls):
        ours = call.structure()
        if 'local' in call.flags:
            ours = 'struct local_%d' % number
            yield '%s { %s };' % (ours, ' '.join(text + ';' for text, _ in call.arguments))
        for form in call.ids:
            theirs = vendor.get(form.callback)
            if theirs is None or len(theirs) != len(call.arguments):
                findings.append('%s: %s: the vendor has %s' % (call.place, form.callback, theirs or 'none'))
                continue
            pairs = list(zip(call.names(), theirs))
            findings += ['%s: %s: %s is the vendor\'s %s' % (call.place, form.callback, *pair)
                         for pair in pairs if not same_name(*pair)]
            for text in comparisons(ours, form.callback + '_params', pairs):
                yield '_Static_assert(%s, "%s: %s");' % (text, call.place, text)


def main():
    split = sys.argv.index('--')
    script, *tables = sys.argv[1:split]
    compiler = sys.argv[split + 1:]
    module, vendor, findings = load(script), vendor_structures(compiler), []
    lines = ['#include <%s>' % name for name in HEADERS] + ['#include <stddef.h>', 'struct ipc_handle { char bytes[64]; };']
    for table in tables:
        calls = [call for call in module.read_table(table)[1] if call.arguments and call.ids]
        lines += compare(calls, vendor, findings)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'same.c')
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('\n'.join(lines) + '\n')
        result = subprocess.run(compiler + ['-fsyntax-only', path], stderr=subprocess.PIPE, check=False, encoding='utf-8')
    if result.returncode:
        findings.append(result.stderr)
    n_compared = sum(line.startswith('_Static_assert') for line in lines)
    if n_compared < 1000:
        findings.append('found only %d comparisons: the parser has lost its way' % n_compared)
    for finding in findings:
        print(finding, file=sys.stderr)
    print('%d comparisons' % n_compared)
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
