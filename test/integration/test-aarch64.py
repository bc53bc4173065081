#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aarch64 by Debian's cross compiler and qemu-user (packaging/cross).

The ordinary run compiles the shim's parts that depend on the machine, and walks stacks with and without signed return addresses.
TS_SOAK=1 in the environment: the whole tree, its unit tests, the files of packages, the readers on the golden traces, and a recording on
the virtual GPU. The archive of packaging/tarball.sh, used under qemu-user. The packages that a build on such a machine needs.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request

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
SOAK = os.environ.get('TS_SOAK')
# Whole tests that qemu-user cannot run. Others skip parts of themselves: ts_skip_emulated().
IN_UNIT = "the unit's launcher makes namespaces and mounts of its own"
LIBRARY = 'the interpreter of this machine cannot load a library for aarch64'
NOT_RUN = {
    'unit-daemon-daemon-in-unit': IN_UNIT,
    'unit-daemon-hostile-in-unit': IN_UNIT,
    'unit-daemon-limits-in-unit': IN_UNIT,
    'unit-daemon-neighbours-in-unit': IN_UNIT,
    'unit-daemon-output-in-unit': IN_UNIT,
    'unit-daemon-hostile': 'its attacks have limits of time that the emulator does not meet',
    'unit-daemon-memory': "counts memory of the process, the emulator's included",
    'unit-daemon-observer': 'the emulator maps code without the right to execute it, so the daemon observes none',
    'unit-daemon-porter': 'two tests wait for closes that do not come under qemu-user; the cause was not found',
    'unit-daemon-sources': "compares with tools of this machine on this machine's programs",
    'unit-inject-hip': 'qemu-user ignores MADV_WIPEONFORK, which ends the session in a forked child',
    'unit-inject-shim': 'has limits of time that the emulator does not meet',
    'unit-inject-python': LIBRARY,
    'unit-inject-tsan': "ThreadSanitizer's runtime is not in the sysroot",
    'unit-library-abi': 'compares with the interface of x86-64',
}


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

    @unittest.skipIf(harness.SANITIZER, 'a build with a sanitizer has fewer tests')
    def test_reasons_are_of_tests(self):
        with open(os.path.join(harness.BUILD, 'meson-info', 'intro-tests.json'), encoding='utf-8') as stream:
            self.assertEqual(set(NOT_RUN) - {test['name'] for test in json.load(stream)}, set())


@unittest.skipIf(not SOAK, 'the soak: TS_SOAK=1')
@unittest.skipIf(NO_EMULATOR, NO_EMULATOR)
class All(harness.Case):
    @classmethod
    def setUpClass(cls):
        for argv in (['sh', os.path.join(CROSS, 'setup.sh')], ['ninja', '-C', TREE, '--quiet']):
            result = harness.run(argv, seconds=HOURS)
            if result.status:
                raise AssertionError(result)

    def emulated(self, *argv, **changes):
        """Runs a program at the size of the ordinary run: the emulator is slow enough."""
        return harness.run([*RUN, *argv], seconds=HOURS, env=harness.environment(**changes),
                           cwd=os.path.join(harness.SOURCE, 'test', 'integration'))

    def test_unit_tests(self):
        tests = json.loads(harness.run(['meson', 'introspect', '--tests', TREE]).out)
        names = [test['name'] for test in tests if 'tracesmith:unit' in test['suite'] and test['name'] not in NOT_RUN]
        self.assertGreater(len(names), 200)
        result = self.emulated('meson', 'test', '-C', TREE, '--no-rebuild', '-t', '20', '--print-errorlogs', *names)
        self.assertEqual(result.status, 0, result)

    def test_packages_have_the_same_files(self):
        result = harness.run([sys.executable, os.path.join(harness.SOURCE, 'packaging', 'packages.py'), 'check', TREE])
        self.assertEqual(result.status, 0, result)

    def test_debian_has_what_the_scripts_install(self):
        """apt-get takes each package of deps.sh from Debian's lists for arm64, and finds all that they need."""
        script = '. packaging/deps.sh; . packaging/cross/apt.sh; ts_arm_begin "$1" && ' \
                 'ts_arm_apt --simulate install $TS_DEPS_BUILD $TS_DEPS_DEB $TS_DEPS_RPM $TS_DEPS_RUN $TS_DEPS_TARBALL $TS_DEPS_TEST'
        result = harness.run(['sh', '-c', script, 'sh', self.path('apt')], seconds=600, cwd=harness.SOURCE)
        self.assertEqual(result.status, 0, result)
        self.assertIn('Inst libbpf-dev ', result.out)

    def test_the_archive(self):
        """It records from a folder with a blank in its path, and its Studio answers."""
        result = harness.run(['sh', os.path.join(harness.SOURCE, 'packaging', 'tarball.sh'), '--cross'], seconds=HOURS)
        self.assertEqual(result.status, 0, result)
        archive = result.out.strip().splitlines()[-1]
        self.assertTrue(archive.endswith('-linux-aarch64.tar.xz'), archive)
        os.mkdir(self.path('a b'))
        subprocess.run(['tar', '-xf', archive, '-C', self.path('a b'), '--strip-components=1'], check=True)
        for path in ('bin/tsctl', 'lib/libtsinject.so', 'lib/tracesmith/libunwind.so.8', 'libexec/tracesmith/tracesmith-studio'):
            header = subprocess.run(['readelf', '-h', self.path('a b/' + path)], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
            self.assertRegex(header, 'Machine: +AArch64', path)
        tsctl, trace = self.path('a b/bin/tsctl'), self.path('s.sbt')
        result = self.emulated(tsctl, 'record', '-q', '-o', trace, '--vgpu', '--', os.path.join(TREE, 'test', 'apps', 'saxpy-driver'),
                               XDG_CACHE_HOME=self.folder)
        self.assertEqual(result.status, 0, result)
        info = json.loads(self.emulated(tsctl, 'info', '--json', trace).out)
        self.assertEqual((info['counts']['kernel'], info['lost']), (10, {}))
        with subprocess.Popen([*RUN, tsctl, 'studio', '--no-browser', trace], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              encoding='utf-8', env=harness.environment()) as studio:
            page, token = studio.stdout.readline().strip().split('#token=')
            request = urllib.request.Request(page + 'api/trace', headers={'Authorization': 'Bearer ' + token})
            with urllib.request.urlopen(request, timeout=600) as answer:
                self.assertEqual(json.load(answer)['duration_ns'], info['duration_ns'])
            studio.terminate()

    def test_readers_print_the_same(self):
        result = self.emulated(sys.executable, os.path.join(harness.SOURCE, 'test', 'integration', 'test-golden.py'), TS_BUILD=TREE)
        self.assertEqual(result.status, 0, result)

    def test_a_recording_on_the_virtual_gpu(self):
        tsctl, trace = os.path.join(TREE, 'tools', 'tsctl', 'tsctl'), self.path('s.sbt')
        result = self.emulated(tsctl, 'record', '-o', trace, '--vgpu', '--', os.path.join(TREE, 'test', 'apps', 'saxpy-driver'))
        self.assertEqual(result.status, 0, result)
        # The tsctl of this machine reads it.
        info = json.loads(harness.tsctl('info', '--json', trace).out)
        self.assertEqual((info['counts']['kernel'], info['lost']), (10, {}))
        # Text leaves out frames before main().
        row = json.loads(harness.tsctl('view', '--json', '--type', 'kernel', '--stacks', '-n', '1', trace).out)
        self.assertEqual([symbol['function'] for symbol in row['stack']['symbols']][-3:], ['main', '__libc_start_main', '_start'])

    def test_what_is_missing_is_refused_by_name(self):
        """Kernel events, samples and calls of other processes: the rest is recorded, and the reason is printed and in the trace."""
        tsctl, trace = os.path.join(TREE, 'tools', 'tsctl', 'tsctl'), self.path('s.sbt')
        why = 'this tracesmithd has no eBPF; it needs x86-64, libbpf and clang'
        for option, printed, shown in (('--kernel-events', 'kernel events are missing: sched,', 'kernel events are missing: sched,'),
                                       ('--system', 'calls of other processes are not recorded: ', 'calls of other processes are missing: ')):
            with self.subTest(option):
                result = self.emulated(tsctl, 'record', '-f', '-o', trace, '--vgpu', option, '--', os.path.join(TREE, 'test', 'apps', 'saxpy-driver'))
                self.assertEqual(result.status, 0, result)
                line, = [line for line in result.err.splitlines() if printed in line]
                self.assertIn(why, line)
                text = harness.tsctl('info', '--wide', trace).out
                line, = [line for line in text.splitlines() if line.startswith(shown)]
                self.assertIn(why, line)
                if option == '--kernel-events':
                    self.assertIn('\nmissing: samples: not on this processor, only on x86-64\n', text)


if __name__ == '__main__':
    harness.main()
