#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The archive for other systems: it runs from any folder, and with an old glibc.

The ordinary run moves the files of the build tree. The soak (TS_SOAK=1) makes the archive twice, in two folders, and runs it in Debian 11
(glibc 2.31), the oldest Debian that the registry has.
"""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

import harness
import installed

SUITE = 'bullseye'
MIRROR = 'deb http://deb.debian.org/debian %s main'
# Which glibc, what tsctl finds, a recording of C and of Python, with names of functions.
IN_OLD_ROOT = '''
set -e
ldd --version | head -n 1
ln -sf "/opt/a b/$1/bin/tsctl" /usr/local/bin/tsctl
cd /tmp
tsctl version >/dev/null
tsctl record -q -o c.sbt --vgpu -- ./pipeline-old >/dev/null
tsctl verify c.sbt
tsctl analyze --all c.sbt | grep 'slot_submit .*pipeline.c'
tsctl record -q -o python.sbt --vgpu -- python3 python-ctypes.py 2 >/dev/null
tsctl view --stats python.sbt | grep nothing
tsctl record -q --capture replay -o replay.sbt --vgpu -- ./pipeline-old >/dev/null
tsctl replay --on vgpu --check replay.sbt >/dev/null
# By the preload alone, with a private daemon.
LD_PRELOAD=/opt/plain/lib/libtsinject.so:libpthread.so.0:libdl.so.2 LD_LIBRARY_PATH=/opt/plain/lib/tracesmith/vgpu ./pipeline-old >/dev/null
sleep 1
tsctl info tracesmith-pipeline-old-*.sbt | grep 'Nothing was lost'
# The page of a trace, from the server in the archive.
: >address
tsctl studio --no-browser c.sbt >address &
studio=$!
python3 - <<END
import time, urllib.request
for _ in range(600):
    address = open('address').read()
    if address.endswith('\\n'):
        break
    time.sleep(0.1)
page, token = address.strip().split('#token=')
assert b'<html' in urllib.request.urlopen(page).read()
request = urllib.request.Request(page + 'api/trace', headers={'Authorization': 'Bearer ' + token})
assert b'"lanes"' in urllib.request.urlopen(request).read()
END
kill $studio
wait $studio
# A service, with an event loop of its own.
mkdir -p traces
/opt/plain/bin/tracesmithd --directory /tmp/traces --inject-socket /tmp/inject.sock --control-socket /tmp/control.sock &
sleep 1
LD_PRELOAD=/opt/plain/lib/libtsinject.so:libpthread.so.0:libdl.so.2 LD_LIBRARY_PATH=/opt/plain/lib/tracesmith/vgpu \\
	TRACESMITH_SOCKET=/tmp/inject.sock ./pipeline-old >/dev/null
TRACESMITH_CONTROL=/tmp/control.sock tsctl status
kill $!
wait $!
tsctl verify traces/0/tracesmith-pipeline-old-*.sbt
'''


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def contents(path):
    """{name: digest} of the regular files."""
    with tarfile.open(path) as archive:
        return {entry.name: hashlib.sha256(archive.extractfile(entry).read()).hexdigest() for entry in archive if entry.isreg()}


def linked(ninja):
    """Debian's packages of the static libraries that a build's programs are linked with, and of the modules in Studio's page."""
    with open(ninja, encoding='utf-8') as file:
        lines = re.findall(r'^ LINK_ARGS = (.*)$', file.read(), re.M)
    libraries = {os.path.normpath(word) for line in lines for word in line.split() if re.fullmatch(r'/usr/\S+\.a', word)}
    with open(os.path.join(os.path.dirname(ninja), 'tools', 'studio', 'page', 'studio-bundle.json'), encoding='utf-8') as file:
        (bundle,) = json.load(file)['outputs'].values()
    libraries |= {os.path.join('/usr', path.split('/usr/', 1)[1]) for path in bundle['inputs'] if not path.endswith('.ts')}
    return {harness.run(['dpkg', '-S', library]).out.split(':')[0] for library in libraries}


class Moved(harness.Case):
    """The build tree's files in a folder whose name the loader's lists cannot contain."""

    def environment(self, **changes):
        os.makedirs(self.path('cache'), exist_ok=True)
        return harness.record_environment(**{'XDG_CACHE_HOME': self.path('cache'), **changes})

    def record(self, tsctl, path, *options, **changes):
        return harness.run([tsctl, 'record', '-q', '-o', path, *options, '--', harness.app('saxpy', 'driver')], self.environment(**changes),
                           cwd=self.folder)

    def test_runs_from_any_folder(self):
        folder = self.path('a b:c')
        installed.make(folder)
        os.symlink(os.path.join(folder, 'bin', 'tsctl'), self.path('tsctl'))
        for turn in range(2):
            result = self.record(self.path('tsctl'), self.path('run%d.sbt' % turn), '--vgpu')
            self.assertEqual((result.status, result.err), (0, ''), result)
        links = glob.glob(self.path('cache', 'tracesmith', '*'))
        self.assertEqual(sorted(map(os.readlink, links)),
                         [os.path.join(folder, installed.libdir()), os.path.join(folder, installed.libdir(), 'tracesmith', 'vgpu')])
        trace = harness.Trace(self.path('run1.sbt'))
        self.check_sound(trace)
        self.assertIn('saxpy', {row['name'] for row in trace.of('kernel')})
        # Moved on, the old links name nothing; the new place gets its own.
        moved = self.path('moved on')
        os.rename(folder, moved)
        result = self.record(os.path.join(moved, 'bin', 'tsctl'), self.path('moved.sbt'), '--vgpu')
        self.assertEqual((result.status, result.err), (0, ''), result)
        self.assertEqual(len(glob.glob(self.path('cache', 'tracesmith', '*'))), 3)
        result = harness.run([os.path.join(moved, 'bin', 'tsctl'), 'complete', 'rec'], self.environment())
        self.assertIn('record', result.out, result)

    @unittest.skipUnless(os.path.isdir(os.path.join(harness.BUILD, 'packaging', 'glibc', 'stubs')),
                         'this build takes the newest versions of glibc\'s functions (packaging/glibc)')
    def test_every_symbol_is_looked_at(self):
        """All is well with these files but for the Debian libraries, which are not in the folder."""
        installed.make(self.path('tree'))
        result = harness.run([sys.executable, os.path.join(harness.SOURCE, 'test', 'unit', 'glibc', 'check-symbols.py'),
                              os.path.join(harness.SOURCE, 'packaging', 'glibc', 'moved.txt'), '--tree', self.path('tree')])
        self.assertEqual(result.status, 1, result)
        lines = result.err.splitlines()
        self.assertEqual([line for line in lines if 'neither in the folder nor in glibc' not in line], [])
        self.assertTrue([line for line in lines if 'libtracesmith.so.0: needs libzstd.so.1' in line], lines)
        self.assertFalse([line for line in lines if 'needs libtracesmith' in line or 'needs libcuda' in line], lines)

    def test_no_place_for_a_link(self):
        folder = self.path('a b')
        installed.make(folder)
        tsctl = os.path.join(folder, 'bin', 'tsctl')
        for cache in (self.path('b c'), '/proc/self/nothing'):
            if cache.endswith('b c'):
                os.mkdir(cache)
            result = self.record(tsctl, self.path('x.sbt'), XDG_CACHE_HOME=cache)
            self.assertEqual(result.status, 125, result)
            self.assertIn('the loader takes no path with a blank or a colon', result.err)
        self.assertFalse(os.path.exists(self.path('x.sbt')))

    def path(self, *names):
        return os.path.join(self.folder, *names)


@unittest.skipUnless(os.environ.get('TS_SOAK'), 'a soak test: it builds for minutes')
class Archive(harness.Case):
    def make(self, source):
        # Two compilations, not one and a cache.
        changes = {'SOURCE_DATE_EPOCH': '1700000000', 'CCACHE_DISABLE': '1'}
        result = harness.run(['sh', os.path.join(source, 'packaging', 'tarball.sh')], {**os.environ, **changes}, seconds=3600)
        self.assertEqual(result.status, 0, result)
        return result.out.strip().splitlines()[-1]

    def sources(self, name):
        """A copy of the sources in a folder of another name and depth."""
        folder = self.path(name)
        shutil.copytree(harness.SOURCE, folder, symlinks=True, ignore=shutil.ignore_patterns('build', 'build-*', '.git', '__pycache__'))
        return folder

    def test_same_bytes_and_old_glibc(self):
        first = self.make(self.sources('one'))
        second = self.make(self.sources('another/place'))
        print('%s: %d bytes' % (os.path.basename(first), os.path.getsize(first)), file=sys.stderr)
        self.assertEqual(contents(first), contents(second))
        self.assertEqual(digest(first), digest(second))
        with tarfile.open(first) as archive:
            entries = archive.getmembers()
        name = os.path.basename(first)[:-len('.tar.xz')]
        self.assertEqual({entry.name.split('/')[0] for entry in entries}, {name})
        self.assertEqual({(entry.uid, entry.gid, entry.mtime) for entry in entries}, {(0, 0, 1700000000)})
        self.assertEqual([entry.name for entry in entries if entry.issym() and '/' in entry.linkname], [])
        for part in ('bin/tsctl', 'bin/tracesmithd', 'lib/libtsinject.so', 'lib/tracesmith/libunwind.so.8', 'lib/tracesmith/vgpu/libcuda.so.1',
                     'libexec/tracesmith/tracesmith-studio', 'licenses/libmicrohttpd', 'licenses/SOURCES', 'README.md'):
            self.assertIn('%s/%s' % (name, part), {entry.name for entry in entries})
        # Whose code is in the programs has its licence there. libmicrohttpd and libunwind are compiled here.
        packages = linked(os.path.join(self.path('one'), 'build', 'tarball', 'build', 'build.ninja'))
        self.assertGreater(len(packages), 8)
        with_licence = {entry.name.rsplit('/', 1)[1] for entry in entries if '/licenses/' in entry.name}
        self.assertEqual({package[:-len('-dev')] if package.endswith('-dev') else package for package in packages} - with_licence, set())
        self.assertLessEqual({'libmicrohttpd', 'libunwind', 'libgcc-12', 'tracesmith', 'LGPL-2.1', 'LGPL-3', 'SOURCES'}, with_licence)
        self.run_in_old_root(first, name)

    def old_root(self):
        if os.geteuid() or not shutil.which('mmdebstrap'):
            self.skipTest('needs root and mmdebstrap for a root with an old glibc')
        root = self.path('root')
        result = harness.run(['mmdebstrap', '--quiet', '--variant=minbase', '--include=python3', SUITE, root, MIRROR % SUITE], dict(os.environ),
                             seconds=1800)
        if result.status:
            self.skipTest('mmdebstrap has no %s: %s' % (SUITE, result.err.strip().splitlines()[-1:]))
        return root

    def run_in_old_root(self, archive, name):
        root = self.old_root()
        os.makedirs(os.path.join(root, 'opt', 'a b'))
        subprocess.run(['tar', '-xf', archive, '-C', os.path.join(root, 'opt', 'a b')], check=True)
        os.symlink(os.path.join('a b', name), os.path.join(root, 'opt', 'plain'))
        for path in (harness.app('pipeline-old'), os.path.join(harness.SOURCE, 'test', 'apps', 'python-ctypes.py'),
                     os.path.join(harness.SOURCE, 'test', 'apps', 'truth.py')):
            shutil.copy(path, os.path.join(root, 'tmp'))
        result = harness.run(['unshare', '--mount', '--pid', '--fork', '--mount-proc=' + os.path.join(root, 'proc'), 'chroot', root, 'env',
                              '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/root', 'sh', '-c', IN_OLD_ROOT, 'sh', name], dict(os.environ),
                             seconds=600)
        print(result.out, file=sys.stderr)
        self.assertEqual(result.status, 0, result)


if __name__ == '__main__':
    harness.main()
