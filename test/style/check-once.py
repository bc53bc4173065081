#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Facts and containers of the product stand once, and its names are the field's words.

Arrays grow by proto/abi/grow.h, keys are hashed by proto/abi/tablehash.h, and the arguments of a vendor's function stand in the tables of
proto/abi/vendor alone. Exceptions are listed here, each with its reason. Comments and texts do not count.
"""
import re
import sys

import tree

PRODUCT = ('proto/', 'inject/', 'daemon/', 'sbt/', 'replay/', 'tools/')

# Calls of realloc() outside of proto/abi/grow.h.
GROWTH = {
    'daemon/ingest/arena.c': 'the account of the user is charged for the new size first',
    'daemon/util/porter/porter-process.c': 'a message of one size',
    'replay/check/check-operations.c': 'the rows of a square array, whose size the actors give',
    'replay/check/strays.c': 'as many as there are allocations; they begin anew for each kernel',
    'replay/report/tiles/tile-layer-rows.c': 'three arrays of one exact size, which the caller knows',
    'replay/state/compare/diff-collect.c': 'the exact size of two arrays that become one',
    'sbt/read/reader-summary.c': 'as many as there are blocks',
    'sbt/write/block-builder.c': 'the columns of a block share one size',
    'tools/library/examples/columns.c': 'a program for users of the public library, which has no container',
    'tools/library/examples/kernels.c': 'the same',
}
# Constants of hash functions outside of proto/abi/tablehash.h and hash.h.
HASHES = {
    'inject/ring/definitions.c': 'two lanes for long stacks on the launch path',
    'replay/exec/exec-schedule.c': 'random numbers, not a hash',
    'replay/state/compare/diff-collection.c': 'random numbers, not a hash',
    'replay/state/memory/spans.c': 'random numbers, not a hash',
    'sbt/write/dictionary.c': 'the writer\'s dictionary: independent products, no chain',
}
GROWS = re.compile(r'\brealloc(?:array)?\s*\(')
HASH = re.compile(r'0x(?:9e3779b[19]|100000001b3(?![0-9a-f])|cbf29ce484222325|ff51afd7|c6a4a793)', re.I)
# X(field, cuInit, (uint32_t flags)): a list that repeats a call's arguments.
CALL = re.compile(r'\b(?:cu|cuda|hip|cupti)[A-Z]\w*\s*,\s*\(\s*(?:void\b|const\b|struct\b|size_t\b|char\b|float\b|u?int\d*(?:_t)?\b)')
# int32_t (*query)(void *) = ts_hip_next(hipEventQuery)
POINTER = re.compile(r'\(\*\w+\)\([^;{}]*?\)\s*=\s*(?:\w+\s*\(\s*)?(?:cu|cuda|hip)[A-Z]\w*')

# Parts of names of C, and names as a whole, that say nothing to a reader who knows CUDA.
PARTS = frozenset(('closer', 'eras', 'keyed', 'born', 'told', 'tell', 'underway', 'wish'))
WHOLE = frozenset(('called', 'during', 'room'))
PREFIX = re.compile(r'^static\s+(?!inline)(?:[^;={}()]*?)\b(ts_\w+)\s*\(', re.M)

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NAME = re.compile(r'\b[A-Za-z_]\w*')


def code(text):
    """The text without comments, texts and characters; lines keep their numbers."""
    return TOKEN.sub(lambda match: '\n' * match[0].count('\n') or ' ', text)


def check(name, text):
    """Findings of one file of C."""
    text = code(text)
    rules = [('realloc(): use TS_GROW() of proto/abi/grow.h', GROWS, name in GROWTH or name == 'proto/abi/grow.h'),
             ('a hash function: use proto/abi/tablehash.h', HASH, name in HASHES or name in ('proto/abi/tablehash.h', 'proto/abi/hash.h')),
             ('arguments of a vendor\'s function: use its type, NAME_fn', CALL, name.startswith('proto/abi/vendor/')),
             ('the type of a vendor\'s function: use NAME_fn', POINTER, False),
             ('a static function with a prefix', PREFIX, False)]
    for what, pattern, is_allowed in rules:
        if is_allowed:
            continue
        for match in pattern.finditer(text):
            yield '%s:%d: %s' % (name, text.count('\n', 0, match.start()) + 1, what)
    for match in NAME.finditer(text):
        word = match[0].lower()
        if word in WHOLE or PARTS.intersection(word.split('_')):
            yield '%s:%d: %s: a word of the field instead' % (name, text.count('\n', 0, match.start()) + 1, match[0])


def unused(texts):
    """Exceptions that no file needs."""
    for listed, pattern in ((GROWTH, GROWS), (HASHES, HASH)):
        for name in sorted(listed):
            if name not in texts or not pattern.search(code(texts[name])):
                yield 'check-once.py: %s needs no exception: remove the line' % name


def main():
    texts = {name: '\n'.join(tree.lines(name)) for name in tree.files('.c', '.h') if name.startswith(PRODUCT)}
    findings = [finding for name in sorted(texts) for finding in check(name, texts[name])]
    return tree.report(findings + list(unused(texts)))


if __name__ == '__main__':
    sys.exit(main())
