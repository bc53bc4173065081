#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aarch64 by Debian's cross compiler and qemu-user (packaging/cross).

The ordinary run compiles the shim's parts that depend on the machine, and walks stacks with and without signed return addresses.
TS_SOAK=1 in the environment: the whole tree, its unit tests, the readers on the golden traces, and a recording on the virtual GPU.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import harness

COMPILER = 'aarch64-linux-gnu-gcc'
EMULATOR = 'qemu-aarch64-static'
LIBC = '/usr/aarch64-linux-gnu'
FLAGS = ['-D_GNU_SOURCE', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-Wshadow', '-Wno-unused-parameter', '-Wno-missing-field-initializers',
         '-I' + harness.SOURCE, '-I' + harness.BUILD, '-DTS_DAEMON_RELATIVE_PATH="x"']
# Their contents depend on the machine: assembler, registers, relocations, memory order, pages.
COMPILED = ('inject/stacks/*.c', 'inject/ring/*.c', 'inject/process/*.c', 'inject/hip/hip-references.c', 'sbt/format/*.c', 'daemon/sample/*.c')
WALK = ['test/unit/inject/stacks/test-walk.c', 'inject/stacks/stack-cache.c', 'inject/stacks/stack-cfi.c', 'inject/stacks/unwinder.c',
        'inject/ring/unlocked.c', 'inject/process/loader.c']

CROSS = os.path.join(harness.SOURCE, 'packaging', 'cross')
FOLDER = os.path.join(harness.SOURCE, 'build', 'aarch64')
TREE = os.path.join(FOLDER, 'tree')
RUN = ['sh', os.path.join(CROSS, 'run.sh'), FOLDER]
HOURS = 3600 * 4


def missing(*tools):
    lacking = [tool for tool in tools if not shutil.which(tool)]
    return ('no %s; as root run: apt-get install --no-install-recommends gcc-aarch64-linux-gnu g++-aarch64-linux-gnu '
            'libc6-dev-arm64-cross qemu-user-static' % ' and no '.join(lacking)) if lacking else None


NO_COMPILER = missing(COMPILER)
NO_EMULATOR = missing(COMPILER, EMULATOR)


class Compiled(harness.Case):
    @unittest.skipIf(NO_COMPILER, NO_COMPILER)
    def test_parts_that_depend_on_the_machine(self):
        paths = [path for pattern in COMPILED for path in sorted(glob.glob(os.path.join(harness.SOURCE, pattern)))]
        self.assertGreater(len(paths), 30)
        # Headers of libzstd and others are the same for each machine; the C library's own come first.
        result = harness.run([COMPILER, *FLAGS, '-fsyntax-only', '-idirafter', '/usr/include', *paths])
        self.assertEqual(result.status, 0, result)

    @unittest.skipIf(NO_EMULATOR, NO_EMULATOR)
    def test_walks_of_stacks(self):
        for protection in ('none', 'standard'):
            with self.subTest(protection):
                program = self.path('walk-' + protection)
                result = harness.run([COMPILER, *FLAGS, '-O1', '-mbranch-protection=' + protection, '-o', program, *WALK], cwd=harness.SOURCE)
                self.assertEqual(result.status, 0, result)
                result = harness.run([EMULATOR, '-L', LIBC, program])
                self.assertEqual(result.status, 0, result)
                self.assertEqual(len(re.findall('^ok ', result.out, re.MULTILINE)), 3, result)


if __name__ == '__main__':
    harness.main()
