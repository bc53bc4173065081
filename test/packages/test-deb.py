#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: what is installed is in one package each, versions agree; the soak builds, tries, upgrades and purges them.

Ordinary run: the lists of files, the control file and the changelog, without a build. Soak (TS_SOAK=1): two builds in two folders are
byte-identical, lintian has no finding, and a root file system of Debian's packages has nothing left of TraceSmith but data.
`--packages FOLDER` tests packages that were built before. Root, mmdebstrap and a mirror are needed; the tests are skipped by name
without them.
"""
import fnmatch
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import command_line

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('TS_BUILD', os.path.join(SOURCE, 'build')))
PACKAGING = os.path.join(SOURCE, 'packaging')
DEBIAN = os.path.join(PACKAGING, 'debian')
NAMES = ('libtracesmith0', 'libtracesmith-dev', 'tracesmith', 'tracesmith-service', 'tracesmith-vgpu', 'tracesmith-studio', 'python3-tracesmith')
MIRROR = 'http://deb.debian.org/debian'
# The preloaded library is mapped into every program.
SHIM_BYTES = 300000
# Debian's rules for uploads to its archive, which these packages do not go to.
NO_UPLOAD = ('initial-upload-closes-no-bugs', 'bad-distribution-in-changes-file')
# What debian/rules moves. The libdir of a build may be another one than a package's.
MOVED = (('usr/lib/systemd/system/', 'lib/systemd/system/'),
         ('usr/share/doc/tracesmith/examples/', 'usr/share/doc/libtracesmith-dev/examples/'))
# Folders where a purge leaves what dpkg, apt, the loader and the accounts keep themselves.
OTHERS = ('proc', 'sys', 'dev', 'tmp', 'run', 'packages', 'test', 'var/lib/dpkg', 'var/lib/apt', 'var/cache/apt', 'var/cache/ldconfig',
          'var/log', 'var/cache/debconf', 'etc/ld.so.cache')
ACCOUNTS = {'etc/passwd', 'etc/group', 'etc/shadow', 'etc/gshadow', 'etc/passwd-', 'etc/group-', 'etc/shadow-', 'etc/gshadow-', 'etc/.pwd.lock'}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False, **more)


def output(*command, **more):
    result = run(*command, **more)
    if result.returncode:
        raise AssertionError('%s: status %d\n%s' % (' '.join(command), result.returncode, result.stdout))
    return result.stdout


def version():
    return re.search(r"^    version: '(.*)',$", read(SOURCE, 'meson.build'), re.M).group(1)


def needs(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    return unittest.skipIf(missing, '%s not installed' % ' and '.join(missing))


class Files(unittest.TestCase):
    def installed(self):
        """Paths of all that `meson install` installs, as a package has them."""
        options = {option['name']: option['value'] for option in
                   json.loads(output('meson', 'introspect', '--buildoptions', BUILD))}
        plan = json.loads(output('meson', 'introspect', '--installed', BUILD))
        libdir = os.path.join(options['prefix'], options['libdir'])
        for path in plan.values():
            if path.startswith(libdir + '/'):
                path = 'usr/lib/TUPLE' + path[len(libdir):]
            else:
                path = 'usr' + path[len(options['prefix']):]
            for old, new in MOVED:
                if path.startswith(old):
                    path = new + path[len(old):]
            yield path

    def test_every_installed_file_is_in_one_package(self):
        lines = {}
        for name in NAMES:
            lines[name] = [line.split()[0] for line in read(DEBIAN, name + '.install').splitlines()]
        used, installed = set(), sorted(self.installed())
        self.assertGreater(len(installed), 50)
        for path in installed:
            owners = [(name, line) for name in NAMES for line in lines[name]
                      if fnmatch.fnmatch(path, line) or fnmatch.fnmatch(path, line + '/*')]
            self.assertEqual(len(owners), 1, '%s: in the packages %s' % (path, owners))
            used.update(owners)
        # The Python package is not meson's, and the symbolic links are not in its list.
        rest = [owner for name in NAMES for owner in ((name, line) for line in lines[name]) if owner not in used]
        rest = [line for _, line in rest if not line.startswith(('debian/', 'usr/lib/python3/')) and not line.endswith('.so')
                and 'vgpu' not in line]
        self.assertEqual(rest, [], 'lists name files that meson does not install')

    def test_build_dependencies(self):
        """debian/control needs what deps.sh installs; debhelper and the essential packages come by themselves."""
        control = re.search(r'^Build-Depends:\n((?: .*\n)+)', read(DEBIAN, 'control'), re.M).group(1)
        wanted = {line.strip().rstrip(',').split()[0] for line in control.splitlines()}
        listed = output('sh', '-c', '. "%s/deps.sh"; echo $TS_DEPS_BUILD' % PACKAGING).split()
        self.assertEqual({name for name in wanted if not name.startswith(('debhelper-', 'dh-'))}, set(listed) - {'gcc', 'libc6-dev'})

    def test_every_package_is_listed(self):
        self.assertEqual(re.findall(r'^Package: (.*)$', read(DEBIAN, 'control'), re.M), list(NAMES))
        soversion = re.search(r"soversion: '(\d+)'", read(SOURCE, 'tools', 'library', 'meson.build')).group(1)
        self.assertIn('libtracesmith' + soversion, NAMES)


class Version(unittest.TestCase):
    """The version is in meson.build alone; what cannot read it there is compared."""

    def test_changelog(self):
        text = output(sys.executable, os.path.join(DEBIAN, 'changelog.py'))
        self.assertTrue(text.startswith('tracesmith (%s-1) ' % version()), text)
        again = output(sys.executable, os.path.join(DEBIAN, 'changelog.py'), '--revision', '2')
        self.assertTrue(again.startswith('tracesmith (%s-2) ' % version()) and again.endswith(text), again)
        if shutil.which('dpkg-parsechangelog'):
            with tempfile.NamedTemporaryFile('w') as file:
                file.write(again)
                file.flush()
                # dpkg warns about a line that it cannot read.
                self.assertEqual(output('dpkg-parsechangelog', '-l', file.name, '-S', 'Version'), version() + '-2\n')

    def test_python_package(self):
        shown = output(sys.executable, '-c', 'import build_backend; print(build_backend.project()["version"])',
                       cwd=os.path.join(SOURCE, 'tools', 'python'), env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
        self.assertEqual(shown, version() + '\n')

    def test_manifests(self):
        paths = glob.glob(os.path.join(SOURCE, 'tools', '*', 'Cargo.toml'))
        for path in paths:
            self.assertIn(version(), re.findall(r'^version = "(.*)"$', read(path), re.M), path)
        if not paths:
            self.skipTest('the tree has no Cargo.toml')


@needs('lintian', 'dpkg-source')
class Source(unittest.TestCase):
    def test_lintian(self):
        """debian/ with one other file as a source package: lintian's checks of control, rules, copyright and changelog take a second or two."""
        with tempfile.TemporaryDirectory() as folder:
            tree = os.path.join(folder, 'tracesmith')
            shutil.copytree(DEBIAN, os.path.join(tree, 'debian'))
            shutil.copy(os.path.join(SOURCE, 'README.md'), tree)
            with open(os.path.join(tree, 'debian', 'changelog'), 'w', encoding='utf-8') as file:
                file.write(output(sys.executable, os.path.join(DEBIAN, 'changelog.py')))
            output('tar', '-C', folder, '-czf', os.path.join(folder, 'tracesmith_%s.orig.tar.gz' % version()), '--exclude=debian', 'tracesmith')
            output('dpkg-source', '-b', 'tracesmith', cwd=folder)
            check_lintian(self, glob.glob(os.path.join(folder, '*.dsc')))


def check_lintian(case, paths):
    result = run('lintian', '--allow-root', '--suppress-tags', ','.join(NO_UPLOAD), *paths)
    findings = [line for line in result.stdout.splitlines() if line.startswith(('E:', 'W:'))]
    case.assertEqual((findings, result.returncode), ([], 0), result.stdout)


# ---- the packages ----------------------------------------------------------------------------------

class Root:
    """A root file system of Debian's packages. Commands run in it in mount, pid and network namespaces of their own, if wanted."""

    def __init__(self, folder):
        self.path = os.path.join(folder, 'root')
        os.makedirs(self.path)
        suite = re.search(r'^VERSION_CODENAME=(.*)$', read('/etc/os-release'), re.M).group(1)
        kept = os.path.join(BUILD, 'deb-root-%s.tar' % suite)
        if not os.path.exists(kept) or time.time() - os.path.getmtime(kept) > 30 * 86400:
            made = run('mmdebstrap', '--quiet', '--variant=minbase', '--format=tar', suite, kept + '.new', 'deb %s %s main' % (MIRROR, suite))
            if made.returncode:
                raise unittest.SkipTest('mmdebstrap made no root file system: %s' % made.stdout.strip().splitlines()[-1:])
            os.rename(kept + '.new', kept)
        output('tar', '-C', self.path, '-xf', kept)
        shutil.copy('/etc/resolv.conf', self.file('etc/resolv.conf'))

    def file(self, path):
        return os.path.join(self.path, path)

    def run(self, *command):
        """The command's standard output. It sees no process from outside, and its processes end with it."""
        script = 'mount -t proc proc "$1/proc" && mkdir -p "$1/dev/shm" && mount -t tmpfs tmpfs "$1/dev/shm" && cd / && ' \
                 'root=$1 && shift && exec chroot "$root" "$@"'
        result = subprocess.run(['unshare', '--mount', '--pid', '--ipc', '--fork', '--kill-child', 'sh', '-c', script, 'sh', self.path,
                                 *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False,
                                env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'DEBIAN_FRONTEND': 'noninteractive', 'LC_ALL': 'C.UTF-8',
                                     'HOME': '/root'})
        if result.returncode:
            raise AssertionError('%s: status %d\n%s%s' % (' '.join(command), result.returncode, result.stdout[-3000:], result.stderr[-3000:]))
        return result.stdout

    def files(self):
        """{path: digest} of all but what belongs to other tools; folders have no digest."""
        found = {}
        for folder, folders, names in os.walk(self.path):
            inside = os.path.relpath(folder, self.path)
            folders[:] = [name for name in folders if os.path.normpath(os.path.join(inside, name)) not in OTHERS]
            for name in folders:
                found[os.path.normpath(os.path.join(inside, name))] = None
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, 'rb') as file:
                        found[os.path.normpath(os.path.join(inside, name))] = hashlib.sha256(file.read()).hexdigest()
                else:
                    found[os.path.normpath(os.path.join(inside, name))] = 'link'
        return {path: digest for path, digest in found.items() if path not in OTHERS}


def built(folder, revision=1):
    paths = sorted(glob.glob(os.path.join(folder, '*_%s-%d_*.deb' % (version(), revision))))
    return {os.path.basename(path).split('_')[0]: path for path in paths}


def sizes(packages):
    for name, path in sorted(packages.items()):
        print('%-26s %9d bytes' % (name, os.path.getsize(path)), flush=True)


@unittest.skipUnless(os.environ.get('TS_SOAK'), 'the soak builds, installs, upgrades and purges packages: test/soak')
@unittest.skipIf(os.geteuid(), 'needs root')
@needs('dpkg-buildpackage', 'dh', 'lintian', 'mmdebstrap', 'unshare')
class Packages(unittest.TestCase):
    given = None

    @classmethod
    def setUpClass(cls):
        # Below the tree, where a cache of compilations may know the folders.
        os.makedirs(os.path.join(SOURCE, 'build'), exist_ok=True)
        cls.folder = tempfile.mkdtemp(prefix='ts-deb-', dir=os.path.join(SOURCE, 'build'))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.first = cls.given or os.path.join(cls.folder, 'first')
        if not cls.given:
            cls.build(cls.first)

    @staticmethod
    def build(folder, revision=1, **environment):
        begin = time.monotonic()
        output('sh', os.path.join(PACKAGING, 'deb.sh'), '--output', folder, '--revision', str(revision), env={**os.environ, **environment})
        print('%s: built in %.0f s' % (os.path.basename(folder), time.monotonic() - begin), flush=True)

    def test_1_all_are_there(self):
        packages = built(self.first)
        self.assertEqual({name for name in packages if not name.endswith('-dbgsym')}, set(NAMES))
        self.assertEqual({name for name in packages if name.endswith('-dbgsym')},
                         {name + '-dbgsym' for name in ('libtracesmith0', 'tracesmith', 'tracesmith-studio', 'tracesmith-vgpu')})
        sizes(packages)
        listed = output('dpkg-deb', '-c', packages['tracesmith'])
        shims = re.findall(r'(\d+) \S+ \S+ \S+/(libtsinject(?:-pti)?\.so)$', listed, re.M)
        self.assertEqual(len(shims), 2, listed)
        for n_bytes, name in shims:
            print('%-26s %9s bytes' % (name, n_bytes), flush=True)
            self.assertLess(int(n_bytes), SHIM_BYTES, name)

    def test_2_lintian(self):
        check_lintian(self, glob.glob(os.path.join(self.first, '*.changes')))

    def test_3_no_path_of_the_build(self):
        for name, path in built(self.first).items():
            with self.subTest(package=name), tempfile.TemporaryDirectory(dir=self.folder) as folder:
                output('dpkg-deb', '-R', path, folder)
                # Debug symbols name files from the top of the tree. meson leaves the end of a replaced RUNPATH in a program.
                folders = [os.path.realpath(self.first) + '/', SOURCE + '/'] + ([] if name.endswith('-dbgsym') else ['obj-%s/tools' % output('dpkg-architecture', '-qDEB_HOST_GNU_TYPE').strip()])
                found = run('grep', '-rlaF', *('--regexp=' + path for path in folders), folder)
                self.assertEqual(found.stdout, '')

    def test_3_symbols_of_each_program(self):
        """A debugger finds the symbols of each program and library by its build id, in the package of its own."""
        packages, n = built(self.first), 0
        for name in sorted(name for name in packages if name + '-dbgsym' in packages):
            with self.subTest(package=name), tempfile.TemporaryDirectory(dir=self.folder) as folder:
                output('dpkg-deb', '-x', packages[name], folder + '/own')
                output('dpkg-deb', '-x', packages[name + '-dbgsym'], folder + '/symbols')
                for place, _, names in os.walk(folder + '/own'):
                    for path in (os.path.join(place, one) for one in names):
                        with open(path, 'rb') as file:
                            if os.path.islink(path) or file.read(4) != b'\x7fELF':
                                continue
                        identity = re.search(r'Build ID: ([0-9a-f]+)', output('readelf', '-n', path)).group(1)
                        symbols = '%s/symbols/usr/lib/debug/.build-id/%s/%s.debug' % (folder, identity[:2], identity[2:])
                        self.assertTrue(os.path.exists(symbols), path)
                        self.assertIn('.debug_info', output('readelf', '-SW', symbols), path)
                        n += 1
        self.assertGreater(n, 10)

    def test_4_two_builds_are_identical(self):
        second = os.path.join(self.folder, 'another-folder', 'second')
        # A compilation, not a cache of the first one.
        self.build(second, CCACHE_DISABLE='1')
        packages, again = built(self.first), built(second)
        self.assertEqual(set(packages), set(again))
        for name in packages:
            with self.subTest(package=name):
                with open(packages[name], 'rb') as one, open(again[name], 'rb') as other:
                    self.assertTrue(one.read() == other.read(), 'the package differs: see diffoscope %s %s' % (packages[name], again[name]))

    # ---- in a root file system -----------------------------------------------------------------

    def install(self, root, packages):
        """Installs the packages from files, and leaves changed configuration as it is."""
        shutil.rmtree(root.file('packages'), ignore_errors=True)
        os.mkdir(root.file('packages'))
        for name in NAMES:
            shutil.copy(packages[name], root.file('packages'))
        paths = ['/packages/' + os.path.basename(packages[name]) for name in NAMES]
        return ['apt-get', '-qq', '-y', '--no-install-recommends', '-o', 'APT::Sandbox::User=root', 'install', *paths]

    def used(self, root, phase):
        return json.loads(root.run('python3', '/test/packaged.py', phase).splitlines()[-1])

    def compile_example(self, root):
        """A program of the documents, built on this machine with the root's headers and library, runs in the root."""
        environment = {**os.environ, 'PKG_CONFIG_SYSROOT_DIR': root.path, 'PKG_CONFIG_LIBDIR': glob.glob(root.file('usr/lib/*/pkgconfig'))[0]}
        flags = output('pkg-config', '--cflags', '--libs', 'tracesmith', env=environment).split()
        output('cc', '-o', root.file('test/kernels'), root.file('usr/share/doc/libtracesmith-dev/examples/kernels.c'), *flags,
               '-Wl,--unresolved-symbols=ignore-in-shared-libs')
        self.assertIn('nothing', root.run('/test/kernels', '/root/run.sbt'))

    def test_5_install_use_upgrade_remove_purge(self):
        second = os.path.join(self.folder, 'revision-2')
        if self.given and built(self.given, 2):
            second = self.given
        else:
            self.build(second, 2)
        root = Root(self.folder)
        os.mkdir(root.file('test'))
        for path in ('test/packages/packaged.py', 'test/packages/browse.py', 'test/integration/unit.py', 'test/apps/python-ctypes.py', 'test/apps/truth.py'):
            shutil.copy(os.path.join(SOURCE, path), root.file('test'))
        root.run('apt-get', '-qq', 'update')
        install = self.install(root, built(self.first))
        # The packages that ours need are there before, so what changes is ours.
        simulated = root.run(*[part for part in install if part != '-qq'], '--simulate')
        others = [name for name in re.findall(r'^Inst (\S+)', simulated, re.M) if name not in NAMES]
        root.run('apt-get', '-qq', '-y', '--no-install-recommends', '-o', 'APT::Sandbox::User=root', 'install', *others)
        root.run('apt-get', 'clean')
        before = root.files()

        root.run(*install)
        self.assertFalse(glob.glob(root.file('etc/systemd/system/*/tracesmith*')), 'something enabled a unit')
        use = self.used(root, 'use')
        self.assertEqual((use['version'], use['python']), (version(), [version(), '6', '1']))
        self.assertGreater(use['lanes'], 3)
        self.compile_example(root)
        first = self.used(root, 'service')
        self.assertTrue(os.path.exists(root.path + first['trace']))

        # An administrator's options and drop-in.
        with open(root.file('etc/default/tracesmithd'), 'a', encoding='utf-8') as file:
            file.write('TRACESMITHD_OPTIONS="--max-sessions 77"\n')
        root.run('install', '-D', '-m', '644', '-t', '/etc/systemd/system/tracesmithd.service.d', '/usr/share/tracesmith/kernel-events.conf')
        root.run(*self.install(root, built(second, 2)))
        shown = root.run('dpkg-query', '-W', '-f', '${Version}\n', *NAMES).split()
        self.assertEqual(shown, [version() + '-2'] * len(NAMES))
        again = self.used(root, 'service')
        self.assertIn('--max-sessions 77', ' '.join(again['command']))
        self.assertEqual(len(self.used(root, 'read')['traces']), 4)

        root.run('apt-get', '-qq', '-y', 'remove', *NAMES)
        left = self.left(root, before)
        kept = {'etc/default/tracesmithd', 'etc/systemd/system/tracesmithd.service.d', 'etc/systemd/system/tracesmithd.service.d/kernel-events.conf'}
        traces = {first['trace'][1:], again['trace'][1:]}
        self.assertLessEqual(kept | traces, left)
        self.assertEqual([path for path in left if path.startswith(('usr', 'lib', 'run'))], [])
        said = root.run('dpkg', '--purge', *NAMES)
        self.assertIn('the traces in /var/lib/tracesmith stay', said)
        left = self.left(root, before)
        data = {path for path in left if path.startswith('var/lib/tracesmith')}
        self.assertLessEqual(traces, data)
        self.assertEqual(left - data - ACCOUNTS, {'root/run.sbt', 'root/alone.sbt'})
        self.assertIn('tracesmith', root.run('getent', 'passwd', 'tracesmith'))

    def left(self, root, before):
        """Paths that are new or have other contents."""
        now = root.files()
        self.assertEqual([path for path in before if path not in now], [])
        return {path for path in now if path not in before or now[path] != before[path]}


if __name__ == '__main__':
    sys.exit(command_line.main(Packages, '--packages'))
