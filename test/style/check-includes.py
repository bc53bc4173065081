#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: DESIGN's table, held against every #include of the tree.

Includes in quotes are relative to the root of the tree and point only to folders that the table
allows. Third-party headers belong to the folders that link the library.
"""
import os
import re
import sys

import tree

# The longest matching prefix of a file's path decides. A folder may always include itself.
MAY_INCLUDE = {
    # Comes behind all objects of a target, and knows none.
    'packaging/glibc/': [],
    # Prints tsctl's tables for the build.
    'packaging/man/': ['replay/emulate/', 'tools/tsctl/'],
    'proto/abi/': [],
    'proto/rpc/': ['proto/'],
    'proto/client/': ['proto/'],
    'sbt/': ['proto/abi/'],
    'replay/': ['proto/abi/', 'sbt/'],
    # Answers as messages: the one part of replay that knows them, and that the others do not know.
    'replay/report/': ['proto/', 'sbt/', 'replay/'],
    # The device knows nothing of CUDA's interfaces: those are tools/vgpu's.
    'replay/vgpu/': ['proto/abi/', 'sbt/', 'replay/streams/'],
    'inject/': ['proto/abi/'],
    'daemon/': ['proto/', 'sbt/', 'replay/'],
    'tools/': ['proto/', 'sbt/', 'replay/'],
    # The facades are loaded into applications: of the tree they carry the device and the rules of streams, and nothing else.
    'tools/vgpu/': ['proto/abi/', 'replay/streams/', 'replay/vgpu/'],
    'test/': ['proto/', 'sbt/', 'replay/', 'inject/', 'daemon/', 'tools/'],
}
NEVER = {
    'replay/': ['replay/report/'],
    'replay/vgpu/': ['proto/abi/vendor/'],
    'sbt/': ['proto/abi/vendor/'],
}

# Header prefix -> folders that may include it (test/ may include all).
THIRD_PARTY = {
    'protobuf-c/': ['proto/rpc/', 'proto/client/', 'replay/report/', 'daemon/', 'tools/'],
    'google/protobuf': [],
    'systemd/': ['daemon/'],
    # replay/vgpu unpacks fatbins, whose entries are compressed.
    'zstd': ['sbt/', 'replay/vgpu/', 'tools/vgpu/', 'daemon/worker/'],
    'lz4': ['replay/vgpu/', 'tools/vgpu/'],
    # The worker checks debug files' checksums.
    'zlib': ['tools/export/', 'tools/vgpu/hip/', 'daemon/worker/'],
    'bpf/': ['daemon/bpf/'],
    # What reads strangers' files does so behind the worker's walls, and nowhere else.
    'elfutils/': ['daemon/worker/'],
    'gelf.h': ['daemon/worker/'],
    'dwarf.h': ['daemon/worker/'],
    'libelf.h': ['daemon/worker/'],
    'lzma.h': ['daemon/worker/'],
    'libiberty/': ['daemon/worker/'],
    'seccomp.h': ['daemon/worker/'],
    # Reached by dlopen(): the header gives types, the library is never needed.
    'libunwind': ['inject/'],
    # NVIDIA's own headers: only the comparison test and nvcc-compiled programs read them.
    'cuda': [],
    'cupti': [],
    'hip': [],
}

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def longest(table, path):
    prefixes = [prefix for prefix in table if path.startswith(prefix)]
    return max(prefixes, key=len) if prefixes else None


# Programs as users have them: they include the installed header, and each other's files from their own folder.
OUTSIDE = 'tools/library/examples/'


def check_quoted(name, target, generated_roots):
    if name.startswith(OUTSIDE):
        return None if os.path.isfile(os.path.join(tree.root(), OUTSIDE, target)) else 'does not exist in ' + OUTSIDE
    own = longest(MAY_INCLUDE, name)
    if own is None:
        return 'lies in no folder of the include table'
    if not os.path.isfile(os.path.join(tree.root(), target)) and not any(
            os.path.isfile(os.path.join(folder, target)) for folder in generated_roots):
        if target.endswith('.pb-c.h') or os.path.basename(target).startswith('generated'):
            return None
        return 'is not relative to the root of the tree, or does not exist'
    if any(target.startswith(prefix) for prefix in NEVER.get(own, [])):
        return 'may not be included from ' + own
    if any(target.startswith(prefix) for prefix in [own] + MAY_INCLUDE[own]):
        return None
    return 'may not be included from %s (allowed: %s)' % (
        own, ', '.join([own] + MAY_INCLUDE[own]))


def check_bracketed(name, target):
    prefix = longest(THIRD_PARTY, target)
    if prefix is None or name.startswith('test/'):
        return None
    if any(name.startswith(folder) for folder in THIRD_PARTY[prefix]):
        return None
    return 'third-party header outside of %s' % (', '.join(THIRD_PARTY[prefix]) or 'test/')


def main():
    generated_roots = sys.argv[1:]
    findings = []
    for name in tree.files('.c', '.h', '.cu'):
        for number, line in enumerate(tree.lines(name), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, target = match.groups()
            problem = check_quoted(name, target, generated_roots) if kind == '"' else \
                check_bracketed(name, target)
            if problem:
                findings.append('%s:%d: %s: %s' % (name, number, target, problem))
    return tree.report(findings)


if __name__ == '__main__':
    sys.exit(main())
