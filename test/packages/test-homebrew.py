#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Homebrew's formula of the readers.

In the ordinary run ruby reads it, and meson configures the readers with the pkg-config files of its dependencies alone. With TS_SOAK=1 it
is built, installed and tested as the formula does it, in a root file system with Debian's packages of its dependencies.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import roots
from roots import SOAK, SOURCE, need, run

FORMULA = os.path.join(SOURCE, 'packaging', 'homebrew', 'tracesmith.rb')
# Homebrew's name: Debian's packages. What brings no package of its own is empty.
DEBIAN = {'meson': ['meson'], 'ninja': ['ninja-build'], 'pkgconf': ['pkg-config'], 'json-c': ['libjson-c-dev'],
          'esbuild': ['esbuild'], 'libmicrohttpd': ['libmicrohttpd-dev'],
          'd3-hierarchy': ['node-d3-hierarchy'], 'd3-path': ['node-d3-path'], 'd3-shape': ['node-d3-shape'],
          'protobuf-c': ['libprotobuf-c-dev', 'protobuf-c-compiler'], 'zstd': ['libzstd-dev'], 'python': ['python3'], 'zlib': ['zlib1g-dev']}
# What Homebrew has on each machine.
COMPILER = ['gcc', 'libc6-dev']


def text():
    with open(FORMULA, encoding='utf-8') as file:
        return file.read()


def dependencies():
    return re.findall(r'^  (?:depends_on|uses_from_macos|resource) "([^"]+)"', text(), re.MULTILINE)


def setup_options():
    line = re.search(r'system "meson", "setup", "build", (.*), \*std_meson_args', text()).group(1)
    return re.findall(r'"([^"]+)"', line)

# The commands of a build of the readers alone, without the rest of tsctl.
REFUSALS = """
#include "tools/tsctl/tsctl.h"
#include <stdarg.h>
void ts_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}
int main(void)
{
	printf("\\n%d %d\\n", ts_command_record.run(0, NULL), ts_command_benchmark.run(0, NULL));
	return 0;
}
"""


class Formula(unittest.TestCase):
    def test_resources_are_those_of_the_page(self):
        """The versions that `npm ci` installs."""
        with open(os.path.join(SOURCE, 'tools', 'studio', 'page', 'package-lock.json'), encoding='utf-8') as file:
            locked = {path[len('node_modules/'):]: one['version'] for path, one in json.load(file)['packages'].items() if path}
        found = re.findall(r'^  resource "([^"]+)" do\n    url "(.*)"\n    sha256 "[0-9a-f]{64}"\n  end$', text(), re.MULTILINE)
        self.assertEqual(found, [(name, 'https://registry.npmjs.org/%s/-/%s-%s.tgz' % (name, name, version)) for name, version in sorted(locked.items())])

    def test_recording_is_refused(self):
        need('cc')
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + '/refusals.c', 'w', encoding='utf-8') as file:
                file.write(REFUSALS)
            run(['cc', '-D_GNU_SOURCE', '-I' + SOURCE, file.name, os.path.join(SOURCE, 'tools', 'tsctl', 'record', 'record-none.c'), '-o', folder + '/refusals'])
            printed = run([folder + '/refusals'])
        self.assertEqual(printed.count('this build has readers only'), 2)
        self.assertTrue(printed.endswith('\n125 2\n'), printed)

    def test_readers_need_no_recorder(self):
        """Only the files that meson leaves out with the recorder include its headers."""
        folder = os.path.join(SOURCE, 'tools', 'tsctl')
        with open(os.path.join(folder, 'meson.build'), encoding='utf-8') as file:
            recorder = re.search(r"^tsctl_recorder = have_recorder \? files\((.*?)\) : files\('record/record-none.c'\)", file.read(), re.MULTILINE | re.DOTALL).group(1)
        left_out = set(re.findall(r"'([^']+)'", recorder))
        needing = set()
        for path in glob.glob(folder + '/*/*.c') + glob.glob(folder + '/*.c'):
            with open(path, encoding='utf-8') as file:
                if '/record/' in path or '#include "tools/tsctl/record/' in file.read():
                    needing.add(os.path.relpath(path, folder))
        self.assertEqual(needing - left_out, {'record/record-none.c'})

    def test_syntax(self):
        need('ruby')
        self.assertEqual(run(['ruby', '-wc', FORMULA]), 'Syntax OK\n')

    def test_release(self):
        need('ruby')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'tracesmith-1.2.3.tar.xz')
            with open(path, 'wb') as file:
                file.write(b'abc')
            made = run(['sh', os.path.join(SOURCE, 'packaging', 'homebrew', 'formula.sh'), 'https://example.org/tracesmith-1.2.3.tar.xz', path])
            self.assertIn('  url "https://example.org/tracesmith-1.2.3.tar.xz"\n', made)
            self.assertIn('  sha256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"\n', made)
            with open(os.path.join(folder, 'made.rb'), 'w', encoding='utf-8') as file:
                file.write(made)
            self.assertEqual(run(['ruby', '-wc', file.name]), 'Syntax OK\n')

    def test_version(self):
        with open(os.path.join(SOURCE, 'meson.build'), encoding='utf-8') as file:
            version = re.search(r"version: '(.*)'", file.read()).group(1)
        self.assertIn('tracesmith-%s.tar.xz"' % version, text())

    def add_library(self, folder, name):
        """Puts the library's pkg-config file into the folder, with those of its own libraries, which its formula depends on."""
        link = os.path.join(folder, name + '.pc')
        if not os.path.lexists(link):
            os.symlink(os.path.join(run(['pkg-config', '--variable=pcfiledir', name]).strip(), name + '.pc'), link)
            for line in run(['pkg-config', '--print-requires', '--print-requires-private', name]).splitlines():
                self.add_library(folder, line.split()[0])

    def libraries(self, but=()):
        """A folder with the pkg-config files of the dependencies alone: pkg-config and meson see no other library."""
        need('meson', 'pkg-config', 'dpkg')
        folder = tempfile.mkdtemp(prefix='ts-homebrew-')
        self.addCleanup(shutil.rmtree, folder)
        for name in dependencies():
            for package in DEBIAN[name] if name not in but else []:
                result = subprocess.run(['dpkg', '-L', package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding='utf-8', check=False)
                if result.returncode:
                    self.skipTest('%s is not installed' % package)
                for path in result.stdout.split():
                    if path.endswith('.pc'):
                        self.add_library(folder, os.path.basename(path)[:-len('.pc')])
        return folder

    def configure(self, folder, options):
        """What meson prints, and the files that it would install."""
        build = os.path.join(folder, 'build')
        printed = run(['meson', 'setup', *options, build, SOURCE], env={**os.environ, 'PKG_CONFIG_LIBDIR': folder, 'PKG_CONFIG_PATH': '', 'CC': 'gcc'})
        return printed, run(['meson', 'introspect', '--installed', build])

    def test_configures_with_its_dependencies(self):
        """meson would miss a library that the formula does not name."""
        _, installed = self.configure(self.libraries(), setup_options())
        self.assertIn('/bin/tsctl"', installed)
        self.assertIn('/tracesmith-studio"', installed)
        self.assertNotRegex(installed, 'tracesmithd|libtsinject|/vgpu/|systemd')

    def test_without_what_studio_needs(self):
        """The build reports that Studio is left out, and goes on. With TS_SOAK=1 it is built, and `tsctl studio` has the reason, too."""
        folder = self.libraries(but=['libmicrohttpd'])
        printed, installed = self.configure(folder, [option for option in setup_options() if not option.startswith('-Dstudio')])
        self.assertRegex(printed, r'Studio +: left out: needs libmicrohttpd, esbuild, d3-hierarchy and d3-shape')
        self.assertIn('/bin/tsctl"', installed)
        self.assertNotIn('tracesmith-studio', installed)
        if SOAK:
            run(['ninja', '-C', os.path.join(folder, 'build')])
            trace, = glob.glob(os.path.join(SOURCE, 'test', 'integration', 'golden', 'train.sbt'))
            printed = run([os.path.join(folder, 'build', 'tools', 'tsctl', 'tsctl'), 'studio', trace], 2)
            self.assertIn('install the package tracesmith-studio, or build with libmicrohttpd, esbuild, d3-hierarchy and d3-shape', printed)

    def test_without_the_modules_of_the_page(self):
        """As without libmicrohttpd; and if Studio is demanded, an error names what is missing and what to do."""
        folder = self.libraries()
        options = setup_options() + ['-Dstudio_modules=' + folder]
        printed, installed = self.configure(folder, [option for option in options if not option.startswith('-Dstudio=')])
        self.assertRegex(printed, r'Studio +: left out: needs libmicrohttpd, esbuild, d3-hierarchy and d3-shape')
        self.assertIn('/bin/tsctl"', installed)
        self.assertNotIn('tracesmith-studio', installed)
        environment = {**os.environ, 'PKG_CONFIG_LIBDIR': folder, 'PKG_CONFIG_PATH': '', 'CC': 'gcc'}
        printed = run(['meson', 'setup', *options, folder + '/demanded', SOURCE], 1, env=environment)
        self.assertRegex(printed, 'Studio needs the modules d3-hierarchy and d3-shape, which are not in %s: install node-d3-hierarchy' % folder)

    @unittest.skipUnless(SOAK, 'builds the readers: TS_SOAK=1')
    def test_built_in_a_clean_root(self):
        packages = sum((DEBIAN[name] for name in dependencies()), [])
        folder = tempfile.mkdtemp(prefix='ts-homebrew-', dir=os.path.dirname(roots.base(*COMPILER, *packages)))
        self.addCleanup(shutil.rmtree, folder, True)
        root = roots.Root(roots.base(*COMPILER, *packages), folder)
        tree = os.path.join(root.upper, 'src')
        os.mkdir(tree)
        names = run(['git', '-C', SOURCE, 'ls-files', '-z']).split('\0')[:-1]
        for name in names:
            if not name.startswith('test/') or '/golden/' in name:
                os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
                shutil.copy(os.path.join(SOURCE, name), os.path.join(tree, name))
        # std_meson_args, as Homebrew has it.
        root.run('sh', '-ec', 'cd /src && meson setup build %s --prefix=/opt/brew --libdir=lib --buildtype=release --wrap-mode=nofallback && '
                 'meson compile -C build --verbose && meson install -C build' % ' '.join(setup_options()))
        shutil.rmtree(os.path.join(tree, 'build'))
        root.run('sh', '-ec', 'cd /tmp && cc /opt/brew/share/doc/tracesmith/examples/write.c -o write $(pkg-config --cflags --libs tracesmith) && ./write written.sbt',
                 environment={'PKG_CONFIG_PATH': '/opt/brew/lib/pkgconfig', 'LD_RUN_PATH': '/opt/brew/lib'})
        self.assertIn('Nothing was lost', root.run('/opt/brew/bin/tsctl', 'info', '/tmp/written.sbt'))
        self.assertIn('readers only', root.run('/opt/brew/bin/tsctl', 'record', '--', 'true', status=125))
        self.assertIn('readers only', root.run('/opt/brew/bin/tsctl', 'benchmark', status=2))
        self.assertNotIn('tsctl record', root.run('/opt/brew/bin/tsctl', 'help'))
        # Every recorded trace is read.
        traces = sorted(glob.glob(os.path.join(SOURCE, 'test', 'integration', 'golden', '*.sbt')))
        self.assertTrue(traces)
        for path in traces:
            for command in (['info'], ['view', '--limit', '5'], ['analyze'], ['timeline'], ['gaps'], ['memory'], ['verify'], ['graph']):
                self.assertTrue(root.run('sh', '-c', '/opt/brew/bin/tsctl "$@" || [ $? = 1 ]', 'sh', *command,
                                         '/src/test/integration/golden/' + os.path.basename(path)))
        # Nothing of a program's libraries is missing, and tsctl finds the server, which answers.
        self.assertNotIn('not found', root.run('ldd', '/opt/brew/bin/tsctl', '/opt/brew/libexec/tracesmith/tracesmith-studio'))
        tests = [(os.path.join(SOURCE, 'test', 'packages'), '/tmp/packages')]
        self.assertGreater(int(root.run('python3', '/tmp/packages/browse.py', '/opt/brew/bin/tsctl', '/tmp/written.sbt', binds=tests)), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
