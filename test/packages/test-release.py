#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last release and this tree work with each other: shim with daemon, tsctl with daemon, files with readers, in both directions. And the
archive of a release, which `meson dist` makes: all of it has the date of the commit, so two archives of a commit are the same bytes.

The soak (TS_SOAK=1) builds the tree of the last release: the newest tag vX.Y.Z; in a clone without tags, the commit before this one that
wrote the head of an entry into CHANGELOG.md; or the revision in $TS_RELEASE. `--old FOLDER` names a build of the old tree that exists.
The versions must agree as packaging/README.md says (Versions).
"""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import command_line

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('TS_BUILD', os.path.join(SOURCE, 'build')))
PROGRAM = [sys.executable, os.path.join(SOURCE, 'test', 'apps', 'python-ctypes.py'), '25']
GOLDEN = os.path.join('test', 'integration', 'golden')
TARGETS = ('tools/tsctl/tsctl', 'daemon/tracesmithd', 'daemon/worker/tracesmith-worker', 'inject/libtsinject.so')
SECONDS = 240
# What both must find in a file. Later versions may know more rows, so only those that both count are compared.
SAME = ('format', 'duration_ns', 'lost', 'finished', 'truncated', 'bytes', 'start_ns', 'end_ns')


def git(source, *arguments):
    return subprocess.run(['git', '-C', source, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding='utf-8',
                          check=False).stdout.strip()


def last_release(source):
    """The newest tag, or the newest commit before this one that wrote the head of an entry into the CHANGELOG, or None."""
    tag = git(source, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')
    return tag or git(source, 'log', '-1', '--format=%H', '-G^## ', 'HEAD~', '--', 'packaging/CHANGELOG.md') or None


def revision():
    """What is compared with, or None."""
    return os.environ.get('TS_RELEASE') or last_release(SOURCE)


class Tree:
    """A build: its programs, and running them."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    def file(self, path):
        return os.path.join(self.folder, path)

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(('TRACESMITH_', 'CUDA_', 'LD_', 'TS_'))}
        return {**kept, **more}

    def tsctl(self, *arguments, status=0, **more):
        result = subprocess.run([self.file('tools/tsctl/tsctl'), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                encoding='utf-8', env=self.environment(**more), timeout=SECONDS, check=False)
        if result.returncode != status:
            raise AssertionError('%s tsctl %s: status %d: %s%s' % (self.name, ' '.join(arguments), result.returncode, result.stdout, result.stderr))
        return result.stdout

    def info(self, path):
        return json.loads(self.tsctl('info', '--json', path))


def build(folder):
    """Builds the old tree's programs in the folder, with the options and the compiler cache of this machine."""
    rev, source = revision(), os.path.join(folder, 'source')
    os.mkdir(source)
    archive = subprocess.Popen(['git', '-C', SOURCE, 'archive', rev], stdout=subprocess.PIPE)
    subprocess.run(['tar', '-C', source, '-xf', '-'], stdin=archive.stdout, check=True)
    if archive.wait():
        raise AssertionError('git archive %s failed' % rev)
    made = os.path.join(folder, 'build')
    environment = dict(os.environ)
    if shutil.which('ccache'):
        environment.update(CC='ccache gcc', CXX='ccache g++')
    for command in (['meson', 'setup', made, source, '-Dnvcc=disabled'], ['ninja', '-C', made, *TARGETS]):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', env=environment, check=False)
        if result.returncode:
            raise AssertionError('%s: %s' % (' '.join(command), result.stdout[-3000:]))
    return made


@unittest.skipUnless(os.environ.get('TS_SOAK'), 'the soak builds the last release: test/soak')
class Release(unittest.TestCase):
    given = None

    @classmethod
    def setUpClass(cls):
        if not cls.given and not revision():
            raise unittest.SkipTest('there is no release yet: no tag vX.Y.Z, and no earlier head in CHANGELOG.md')
        cls.folder = tempfile.mkdtemp(prefix='ts-release-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.old, cls.new = Tree(cls.given or build(cls.folder), 'old'), Tree(BUILD, 'new')
        cls.traces = {}

    def record(self, shim, daemon):
        """A program with one tree's shim, a service of the other tree; both trees' tsctl ask the service."""
        folder = tempfile.mkdtemp(dir=self.folder)
        inject, control = os.path.join(folder, 'inject.sock'), os.path.join(folder, 'control.sock')
        process = subprocess.Popen([daemon.file('daemon/tracesmithd'), '--inject-socket', inject, '--control-socket', control,
                                    '--directory', folder], env=daemon.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            end = time.monotonic() + SECONDS
            while not os.path.exists(control):
                self.assertIsNone(process.poll(), process.poll() is not None and process.stderr.read())
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            time.sleep(0.2)
            # Of the new tree is the virtual GPU alone: it is a vendor's library, not a part of the agreement.
            subprocess.run(PROGRAM, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS, env=shim.environment(
                LD_PRELOAD=shim.file('inject/libtsinject.so'), LD_LIBRARY_PATH=self.new.file('tools/vgpu'), TRACESMITH_SOCKET=inject,
                TRACESMITH_VGPU='h200'))
            for tree in (self.old, self.new):
                status = json.loads(tree.tsctl('status', '--json', TRACESMITH_CONTROL=control))
                self.assertTrue(status['running'], status)
                answer = json.loads(tree.tsctl('info', '--json', '--session', '1', TRACESMITH_CONTROL=control))
                self.assertEqual(answer['counts']['kernel'], 50, tree.name)
            path = self.wait_for_trace(folder)
            for tree in (self.old, self.new):
                served = json.loads(tree.tsctl('view', '--stats', '--json', '--served', path, TRACESMITH_CONTROL=control))
                self.assertEqual(served, json.loads(tree.tsctl('view', '--stats', '--json', path)), tree.name)
        finally:
            process.terminate()
            self.assertEqual(process.wait(SECONDS), 0, process.stderr.read())
            process.stderr.close()
        for tree in (self.old, self.new):
            found = tree.info(path)
            self.assertEqual((found['counts']['kernel'], found['lost']), (50, {}), (tree.name, found['counts']))
            tree.tsctl('verify', path)
        return path

    def wait_for_trace(self, folder):
        end = time.monotonic() + SECONDS
        while True:
            paths = glob.glob(os.path.join(folder, '**', '*.sbt'), recursive=True)
            if paths and self.new.info(paths[0])['finished']:
                return paths[0]
            self.assertLess(time.monotonic(), end, 'no finished trace in %s' % folder)
            time.sleep(0.05)

    def test_new_shim_with_old_daemon(self):
        self.read(self.record(self.new, self.old))

    def test_old_shim_with_new_daemon(self):
        self.read(self.record(self.old, self.new))

    def test_each_of_one_tree(self):
        self.read(self.record(self.old, self.old))
        self.read(self.record(self.new, self.new))

    def read(self, path):
        """Both trees read the same in a file."""
        old, new = self.old.info(path), self.new.info(path)
        self.assertEqual({key: old[key] for key in SAME}, {key: new[key] for key in SAME}, path)
        both = set(old['counts']) & set(new['counts'])
        self.assertIn('kernel', both)
        self.assertEqual({key: old['counts'][key] for key in both}, {key: new['counts'][key] for key in both}, path)
        for tree in (self.old, self.new):
            for command in (['view', '--stats'], ['analyze'], ['timeline'], ['gaps'], ['memory']):
                self.assertTrue(tree.tsctl(*command, path), command)

    def test_files(self):
        """The golden traces of both trees: those of the new one may have rows that the old one does not know."""
        paths = sorted(glob.glob(os.path.join(SOURCE, GOLDEN, '*.sbt')))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(trace=os.path.basename(path)):
                self.read(path)


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


SMALL = """project('small', version: '1.2')
meson.add_dist_script(find_program('python3'), files('dist.py'))
"""


@unittest.skipUnless(shutil.which('git'), 'git is not installed')
class LastRelease(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='ts-release-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.run_git('init', '-q')
        os.mkdir(os.path.join(self.folder, 'packaging'))

    def run_git(self, *arguments):
        subprocess.run(['git', '-C', self.folder, '-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false', *arguments],
                       check=True)

    def commit(self, path, text):
        with open(os.path.join(self.folder, path), 'w', encoding='utf-8') as file:
            file.write(text)
        self.run_git('add', '.')
        self.run_git('commit', '-qm', path)
        return git(self.folder, 'rev-parse', 'HEAD')

    def test_without_tags(self):
        """The commit that wrote the head counts, not those that added lines, and never the newest one, which is compared with it."""
        changes = os.path.join('packaging', 'CHANGELOG.md')
        self.assertIsNone(last_release(self.folder))
        self.commit('README.md', '## A head of another file\n')
        self.assertIsNone(last_release(self.folder))
        first = self.commit(changes, '# Changes\n\n## 0.1.0 - 2026-01-01\n\n- One.\n')
        self.assertIsNone(last_release(self.folder))
        self.commit(changes, '# Changes\n\n## 0.1.0 - 2026-01-01\n\n- One.\n- Two.\n')
        self.assertEqual(last_release(self.folder), first)
        second = self.commit(changes, '# Changes\n\n## 0.2.0 - 2026-02-02\n\n## 0.1.0 - 2026-01-01\n\n- One.\n- Two.\n')
        self.assertEqual(last_release(self.folder), first)
        self.commit('README.md', 'Text.\n')
        self.assertEqual(last_release(self.folder), second)

    def test_a_tag_comes_first(self):
        self.commit('README.md', 'Text.\n')
        self.run_git('tag', 'v0.1.0')
        self.commit(os.path.join('packaging', 'CHANGELOG.md'), '## 0.2.0 - 2026-02-02\n')
        self.commit('README.md', 'More.\n')
        self.assertEqual(last_release(self.folder), 'v0.1.0')


@unittest.skipUnless(shutil.which('meson') and shutil.which('git'), 'meson or git is not installed')
class Dist(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='ts-dist-')
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, folder, *command, **environment):
        result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False,
                                env={**os.environ, **environment})
        self.assertEqual(result.returncode, 0, '%s: %s' % (' '.join(command), result.stdout[-3000:]))
        return result.stdout

    def archive(self, source, *options):
        """The path of the archive of a clean checkout."""
        build = os.path.join(source, 'build')
        self.run_in(source, 'meson', 'setup', build, *options)
        self.run_in(source, 'meson', 'dist', '-C', build, '--no-tests')
        path, = glob.glob(os.path.join(build, 'meson-dist', '*.tar.xz'))
        return path

    def check(self, path, date):
        """All entries have the date; returns the files' names below the top."""
        with tarfile.open(path) as archive:
            entries = archive.getmembers()
        self.assertEqual({entry.mtime for entry in entries}, {date})
        self.assertEqual({entry.name.split('/')[0] for entry in entries}, {os.path.basename(path)[:-len('.tar.xz')]})
        return {entry.name.split('/', 1)[1] for entry in entries if not entry.isdir()}

    def test_dates_are_those_of_the_commit(self):
        """A small project with the script of this one."""
        source, date = os.path.join(self.folder, 'small'), 1000000000
        os.makedirs(os.path.join(source, 'part'))
        shutil.copy(os.path.join(SOURCE, 'packaging', 'dist.py'), source)
        for name, text in (('meson.build', SMALL), ('part/file', 'text')):
            with open(os.path.join(source, name), 'w', encoding='utf-8') as file:
                file.write(text)
        dates = {'GIT_AUTHOR_DATE': '%d +0000' % date, 'GIT_COMMITTER_DATE': '%d +0000' % date}
        identity = ('-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false')
        for command in (('init', '-q'), ('add', '.'), (*identity, 'commit', '-qm', 'all')):
            self.run_in(source, 'git', *command, **dates)
        self.assertEqual(self.check(self.archive(source), date), {'dist.py', 'meson.build', 'part/file'})

    @unittest.skipUnless(os.environ.get('TS_SOAK'), 'the soak makes the archive of the tree, twice: test/soak')
    @unittest.skipUnless(os.path.exists(os.path.join(SOURCE, '.git')), 'the tree is no checkout')
    def test_archive_of_the_tree_twice(self):
        """From clones in two folders. tsctl is built from the archive, which has no git, and packages can be made of it."""
        paths, source = [], SOURCE
        for name in ('one', 'another/place'):
            # The second is a clone of the first: a commit may come meanwhile.
            clone = os.path.join(self.folder, name)
            self.run_in(self.folder, 'git', 'clone', '-q', '--no-local', source, clone)
            paths.append(self.archive(clone, '-Dtests=false', '-Dnvcc=disabled'))
            source = clone
        self.assertEqual(digest(paths[0]), digest(paths[1]))
        names = self.check(paths[0], int(self.run_in(clone, 'git', 'log', '-1', '--format=%ct')))
        self.assertEqual(names, set(self.run_in(clone, 'git', 'ls-tree', '-r', '--name-only', '-z', 'HEAD').split('\0')[:-1]))
        with tarfile.open(paths[0]) as archive:
            archive.extractall(self.folder)
        source = os.path.join(self.folder, os.path.basename(paths[0])[:-len('.tar.xz')])
        version = source.rsplit('-', 1)[1]
        self.run_in(source, 'meson', 'setup', 'build', '-Dtests=false', '-Dnvcc=disabled')
        self.run_in(source, 'ninja', '-C', 'build', TARGETS[0])
        self.assertEqual(self.run_in(source, os.path.join('build', TARGETS[0]), 'version').split()[1], version)
        self.run_in(source, 'sh', 'packaging/rpm.sh', '--spec')
        with open(os.path.join(source, 'build', 'rpm', 'SPECS', 'tracesmith.spec'), encoding='utf-8') as file:
            self.assertIn('Version: %s\n' % version, file.read())


if __name__ == '__main__':
    sys.exit(command_line.main(Release, '--old'))
