#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheels and the source package of tools/python: their contents are as the index's rules want them, and they work when installed.

The ordinary run packs the build tree's programs. The soak (TS_SOAK=1) packs packaging/tarball.sh's and installs the wheel under every
CPython from 3.8 on.
"""
import base64
import glob
import hashlib
import os
import shutil
import sys
import tarfile
import unittest
import zipfile

import harness
import installed

PACKAGE = os.path.join(harness.SOURCE, 'tools', 'python')
VERSION = 'import sys; print("%d.%d" % sys.version_info[:2])'
# The installed package alone records, reads and asks; then the commands.
USE = '''
import os, sys, tracesmith
assert '_tree' in tracesmith._library.tsctl() and os.path.isdir(tracesmith._library.TREE)
recording = tracesmith.record([sys.argv[1]], 'run.sbt', vgpu=True, stdout=-3)
assert recording.status == 0, recording
with tracesmith.open('run.sbt') as trace:
    assert {row.name for row in trace.kernels} == {'saxpy'}, trace.kernels
    assert trace.info().counts.kernel == len(trace.kernels) > 0
    assert 'Virtual GPU' in str(trace.analyze())
    assert not trace.info().lost
    print(tracesmith.__version__, len(trace.kernels))
'''


def check_symbols(folder):
    return harness.run([sys.executable, os.path.join(harness.SOURCE, 'test', 'unit', 'glibc', 'check-symbols.py'),
                        os.path.join(harness.SOURCE, 'packaging', 'glibc', 'moved.txt'), '--tree', folder])


class Packed(harness.Case):
    def build(self, what, source=PACKAGE, tree='none', folder=None):
        """Calls the backend as pip does; returns the path of the result."""
        folder = folder or self.path('dist')
        os.makedirs(folder, exist_ok=True)
        program = 'import sys; sys.path.insert(0, "."); import build_backend; print(build_backend.%s(sys.argv[1]))' % what
        result = harness.run([sys.executable, '-B', '-c', program, folder], {**os.environ, 'TRACESMITH_TREE': tree}, cwd=source)
        self.assertEqual(result.status, 0, result)
        return os.path.join(folder, result.out.strip())

    def check_wheel(self, path, tag, pure):
        """Name, tag, record and modes; returns the names."""
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            info = next(name for name in names if name.endswith('.dist-info/RECORD')).split('/')[0]
            self.assertEqual(os.path.basename(path), '%s-%s.whl' % (info[:-len('.dist-info')], tag))
            rows = dict(line.split(',', 1) for line in wheel.read(info + '/RECORD').decode().splitlines())
            self.assertEqual(sorted(rows), sorted(names))
            self.assertEqual(len(names), len(set(names)))
            for name in names:
                data = wheel.read(name)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
                self.assertEqual(rows[name], ',' if name.endswith('RECORD') else 'sha256=%s,%d' % (digest, len(data)))
                mode = wheel.getinfo(name).external_attr >> 16
                self.assertEqual(mode, 0o100755 if '/_tree/' in name else 0o100644, name)
            told = wheel.read(info + '/WHEEL').decode()
            self.assertIn('Tag: %s\n' % tag, told)
            self.assertIn('Root-Is-Purelib: %s\n' % ('true' if pure else 'false'), told)
            metadata = wheel.read(info + '/METADATA').decode()
            for line in ('Metadata-Version: 2.1', 'Name: tracesmith', 'Requires-Python: >=3.8', 'Description-Content-Type: text/markdown'):
                self.assertIn(line + '\n', metadata)
        return names

    def install(self, wheel, python, folder, own_pip=True):
        """A fresh environment of this CPython with the wheel, by the environment's pip or by ours; returns its folder of programs."""
        inside = os.path.join(folder, 'bin', 'python')
        install = ['install', '-q', '--no-index', '--disable-pip-version-check', wheel]
        for command in (([python, '-m', 'venv', folder], [inside, '-m', 'pip', *install]) if own_pip else
                        ([python, '-m', 'venv', '--without-pip', folder], [sys.executable, '-m', 'pip', '--python', inside, *install])):
            result = harness.run(command, {**os.environ, 'PYTHONNOUSERSITE': '1'})
            self.assertEqual(result.status, 0, result)
        return os.path.join(folder, 'bin')

    def use(self, programs):
        environment = {name: value for name, value in harness.record_environment().items() if not name.startswith('TRACESMITH_')}
        environment['PATH'] = programs + ':/usr/bin:/bin'
        result = harness.run([os.path.join(programs, 'python'), '-c', USE, harness.app('saxpy', 'driver')], environment, cwd=self.folder)
        self.assertEqual((result.status, result.err), (0, ''), result)
        for name in ('tsctl', 'tracesmith'):
            result = harness.run([name, 'info', '--json', 'run.sbt'], environment, cwd=self.folder)
            self.assertEqual(result.status, 0, result)
            self.assertIn('"kernel"', result.out)

    def test_wheel_of_the_build_tree(self):
        """Debian's libraries are not in it, and its tag tells so."""
        if harness.SANITIZER:
            self.skipTest('a sanitizer\'s runtime is not in the wheel')
        if harness.run([sys.executable, '-m', 'pip', '--version']).status:
            self.skipTest('%s has no pip' % sys.executable)
        tree = self.path('tree')
        installed.make(tree)
        wheel = self.build('build_wheel', tree=tree)
        names = self.check_wheel(wheel, 'py3-none-linux_' + os.uname().machine, pure=False)
        inside = 'tracesmith/_tree/'
        self.assertEqual({name[len(inside):] for name in names if name.startswith(inside)},
                         {os.path.relpath(os.path.join(folder, name), tree) for folder, _, found in os.walk(tree) for name in found})
        self.use(self.install(wheel, sys.executable, self.path('venv'), own_pip=False))

    def test_pure_wheel(self):
        wheel = self.build('build_wheel')
        names = self.check_wheel(wheel, 'py3-none-any', pure=True)
        self.assertEqual([name for name in names if '_tree' in name], [])
        self.assertEqual({name for name in names if name.startswith('tracesmith/')},
                         {'tracesmith/' + os.path.basename(path) for path in glob.glob(os.path.join(PACKAGE, 'tracesmith', '*.py')) + [os.path.join(PACKAGE, 'tracesmith', 'py.typed')]})

    def test_source_package(self):
        package = self.build('build_sdist')
        again = self.build('build_sdist', folder=self.path('again'))
        with open(package, 'rb') as first, open(again, 'rb') as second:
            self.assertEqual(first.read(), second.read())
        with tarfile.open(package) as archive:
            base = os.path.basename(package)[:-len('.tar.gz')]
            self.assertEqual({name.split('/')[0] for name in archive.getnames()}, {base})
            archive.extractall(self.folder)
        with open(self.path(base + '/PKG-INFO'), encoding='utf-8') as file:
            self.assertIn('Name: tracesmith\n', file.read())
        ours = self.build('build_wheel')
        theirs = self.build('build_wheel', source=self.path(base), folder=self.path('built'))
        with open(ours, 'rb') as first, open(theirs, 'rb') as second:
            self.assertEqual(first.read(), second.read())

    def test_tree_of_other_sources_is_refused(self):
        """A tree in build/tarball is packed if its digest is that of the sources. One of older sources, or without a digest, is not."""
        source = self.path('source')
        shutil.copytree(PACKAGE, os.path.join(source, 'tools', 'python'), ignore=shutil.ignore_patterns('__pycache__'))
        os.mkdir(os.path.join(source, 'packaging'))
        shutil.copy(os.path.join(harness.SOURCE, 'packaging', 'sources.py'), os.path.join(source, 'packaging'))
        shutil.copy(os.path.join(harness.SOURCE, 'meson.build'), source)
        digest = harness.run([sys.executable, os.path.join(source, 'packaging', 'sources.py')]).out
        name = os.path.basename(self.build('build_sdist'))[:-len('.tar.gz')] + '-linux-' + os.uname().machine
        tree = os.path.join(source, 'build', 'tarball', name)
        os.makedirs(os.path.join(tree, 'bin'))
        shutil.copy('/bin/true', os.path.join(tree, 'bin', 'tsctl'))
        program = 'import build_backend; print(build_backend.build_wheel("."))'

        def build(tree=None):
            environment = {name: value for name, value in os.environ.items() if name != 'TRACESMITH_TREE'}
            return harness.run([sys.executable, '-B', '-c', program], {**environment, **({'TRACESMITH_TREE': tree} if tree else {})},
                               cwd=os.path.join(source, 'tools', 'python'))
        self.assertIn('was made from other sources than these', build().err)
        with open(tree + '.sources', 'w', encoding='utf-8') as file:
            file.write(digest)
        result = build()
        self.assertEqual(result.status, 0, result)
        self.assertIn('linux', result.out)
        # The new wheel lies among the sources and is none of them.
        self.assertEqual(build().status, 0)
        with open(os.path.join(source, 'meson.build'), 'a', encoding='utf-8') as file:
            file.write('# changed\n')
        result = build()
        self.assertEqual((result.status, result.out), (1, ''), result)
        self.assertIn('run packaging/tarball.sh again', result.err)
        self.assertIn('none-any', build('none').out)

    def test_no_tree(self):
        program = 'import build_backend; build_backend.build_wheel(".", {"tree": "/nonexistent"})'
        result = harness.run([sys.executable, '-B', '-c', program], dict(os.environ), cwd=PACKAGE)
        self.assertIn('/nonexistent has no bin/tsctl', result.err)


@unittest.skipUnless(os.environ.get('TS_SOAK'), 'a soak test: it builds for minutes')
class Everywhere(Packed):
    """The wheel for many systems, as pip makes it, under every CPython that is here."""

    def test_every_interpreter(self):
        result = harness.run(['sh', os.path.join(harness.SOURCE, 'packaging', 'tarball.sh')], dict(os.environ), seconds=3600)
        self.assertEqual(result.status, 0, result)
        environment = {name: value for name, value in os.environ.items() if name != 'TRACESMITH_TREE'}
        wheels = []
        for folder in ('one', 'two'):
            result = harness.run([sys.executable, '-m', 'pip', 'wheel', '-q', '--no-deps', '--no-index', '-w', self.path(folder), PACKAGE],
                                 environment)
            self.assertEqual(result.status, 0, result)
            wheels += glob.glob(self.path(folder) + '/*.whl')
        with open(wheels[0], 'rb') as first, open(wheels[1], 'rb') as second:
            self.assertEqual(first.read(), second.read())
        print('%s: %d bytes' % (os.path.basename(wheels[0]), os.path.getsize(wheels[0])), file=sys.stderr)
        self.check_wheel(wheels[0], 'py3-none-manylinux_2_28_' + os.uname().machine, pure=False)
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(self.path('unpacked'))
        result = check_symbols(self.path('unpacked'))
        self.assertEqual((result.status, result.err), (0, ''), result)
        used = set()
        root = os.environ.get('PYENV_ROOT', os.path.expanduser('~/.pyenv'))
        for python in sorted(glob.glob(os.path.join(root, 'versions', '*', 'bin', 'python3'))) + ['/usr/bin/python3', sys.executable]:
            version = harness.run([python, '-c', VERSION]).out.strip() if os.path.exists(python) else ''
            if version and tuple(map(int, version.split('.'))) >= (3, 8) and version not in used:
                with self.subTest(version=version):
                    if harness.run([python, '-c', 'import ensurepip, venv']).status:
                        continue
                    self.use(self.install(wheels[0], python, self.path('venv-' + version)))
                    used.add(version)
        print('used under CPython ' + ', '.join(sorted(used)), file=sys.stderr)
        self.assertTrue(used)


# Everywhere inherits the helpers, not the tests.
for attribute in [name for name in dir(Packed) if name.startswith('test_')]:
    setattr(Everywhere, attribute, None)


if __name__ == '__main__':
    harness.main()
