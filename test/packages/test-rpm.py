#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of packages and the RPM packages.

In the ordinary run the table is compared with what `meson install` installs and with the packages that the build needs, and the spec
file is read by rpm. With TS_SOAK=1 the packages are built, twice, and installed, used, upgraded and erased in a root file system that is
made from Debian's packages.
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import roots
from roots import SOAK, SOURCE, need, run

sys.path.insert(0, os.path.join(SOURCE, 'packaging'))
import packages  # noqa: E402
import project  # noqa: E402

BUILD = os.environ.get('TS_BUILD')
OLDER = '0.0.9'
PACKAGES = os.path.join(SOURCE, 'packaging', 'packages.py')
DEBIAN = os.path.join(SOURCE, 'packaging', 'debian')
NAMES = {'tracesmith', 'tracesmith-libs', 'tracesmith-devel', 'tracesmith-service', 'tracesmith-vgpu', 'tracesmith-studio', 'python3-tracesmith'}
# What the packages' programs load; on an RPM system rpm finds it.
LIBRARIES = ('libzstd1', 'liblz4-1', 'zlib1g', 'libprotobuf-c1', 'libjson-c5', 'libsystemd0', 'libdw1', 'libelf1', 'libseccomp2', 'liblzma5',
             'libbpf1', 'libunwind8', 'libmicrohttpd12', 'python3', 'systemd')


class Table(unittest.TestCase):
    def test_covers_installation(self):
        options = {option['name']: option['value'] for option in packages.meson(BUILD, '--buildoptions')}
        if 'disabled' in (options['vgpu'], options['recorder']):
            self.skipTest('this build does not have all parts')
        self.assertEqual(packages.check(BUILD), [])

    def test_difference_is_found(self):
        folders = {name: '/' + name for name in packages.RPM}
        paths = []
        for package in packages.read()[0]:
            paths += [pattern.format(**folders).replace('**', 'x/y').replace('*', '1') for pattern in package.patterns if not pattern.startswith('?')]
        self.assertEqual(packages.assign(paths, folders)[1], [])
        self.assertEqual(packages.assign([path for path in paths if path != '/bindir/tsctl'] + ['/bindir/other'], folders)[1],
                         ['/bindir/other is in no package', 'tools: no file matches {bindir}/tsctl'])

    def test_build_needs_are_those_of_deps(self):
        with open(os.path.join(SOURCE, 'packaging', 'deps.sh'), encoding='utf-8') as file:
            needed = re.search(r'^TS_DEPS_BUILD="([^"]*)"', file.read(), re.MULTILINE).group(1).split()
        self.assertEqual(sorted(debian for debian, _ in packages.read()[2]), sorted(needed))

    def test_debian_files(self):
        if not os.path.exists(os.path.join(DEBIAN, 'control')):
            self.skipTest('packaging/debian has no control file')
        self.assertEqual(packages.debian_check(DEBIAN), [])

    def test_debian_difference_is_found(self):
        table, others, build = packages.read()
        names = {**{package.role: package.debian for package in table}, **{role: debian for role, (debian, _) in others.items()}}
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'control'), 'w', encoding='utf-8') as file:
                file.write('Source: tracesmith\nBuild-Depends: %s\n' % ', '.join(debian for debian, _ in build))
                for package in table:
                    needs = [names[role] + ('' if role in others else ' (= ${binary:Version})') for role in package.needs]
                    file.write('\nPackage: %s\nArchitecture: %s\nDepends: %s\n' % (package.debian, 'all' if package.is_all else 'any', ', '.join(needs)))
            for name, patterns in packages.debian_install().items():
                with open(os.path.join(folder, name + '.install'), 'w', encoding='utf-8') as file:
                    file.write(''.join(pattern.lstrip('?') + '\n' for pattern in patterns))
            self.assertEqual(packages.debian_check(folder), [])
            with open(os.path.join(folder, 'tracesmith-vgpu.install'), 'w', encoding='utf-8') as file:
                file.write('usr/bin/vgpu\n')
            path = os.path.join(folder, 'control')
            with open(path, encoding='utf-8') as file:
                changed = file.read().replace(', clang', '').replace('Depends: tracesmith (= ${binary:Version})', 'Depends: tracesmith', 1)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(changed)
            self.assertEqual(packages.debian_check(folder), [
                'control: Build-Depends lacks clang', 'control: tracesmith-service does not need tracesmith',
                'tracesmith-vgpu.install lacks usr/lib/*/tracesmith/vgpu/*', 'tracesmith-vgpu.install has usr/bin/vgpu'])


class Project(unittest.TestCase):
    """The project's address, maintainer and image: packages.txt alone has them."""

    def test_files_repeat_the_table(self):
        self.assertEqual(project.check(project.read()), [])

    def test_an_address_goes_everywhere(self):
        table = project.read()
        for name, change in project.FILES.items():
            with self.subTest(name), open(os.path.join(SOURCE, name), encoding='utf-8') as file:
                text = file.read()
                changed = change(text, {**table, 'Address': 'https://one.example/ts', 'Maintainer': 'A <a@one.example>', 'Image': 'one.example/tracesmith'})
                again = change(changed, {**table, 'Address': 'https://other.example/ts', 'Image': 'other.example/tracesmith'})
                self.assertIn('one.example', changed)
                self.assertIn('other.example', again)
                self.assertNotIn('one.example', again)
                self.assertEqual(change(again, table), text)

    def test_what_prevents_a_publication(self):
        table = project.read()
        good = {**table, 'Address': 'https://gpu.eu/ts', 'Maintainer': 'A <a@gpu.eu>', 'Image': 'gpu.eu/ts'}
        self.assertEqual(project.release(good), [])
        for field, value in (('Address', ''), ('Address', 'https://ts.example'), ('Maintainer', 'A <a@example.org>'), ('Maintainer', 'A <a@localhost>'),
                             ('Image', 'localhost/ts'), ('Image', 'test:5000/ts')):
            self.assertEqual(len(project.release({**good, field: value})), 1, value)

    def test_no_address_of_somebody_else(self):
        """Hosts in the packages' files: standards and pages that the text is about, or reserved names."""
        known = {'www.debian.org', 'ui.perfetto.dev', 'www.apache.org', 'speedscope.app', 'registry.npmjs.org'}
        hosts = set()
        if not os.path.exists(os.path.join(SOURCE, '.git')):
            self.skipTest('git does not know these files')
        for name in run(['git', '-C', SOURCE, 'ls-files', '-z', 'packaging', 'tools/rust', 'tools/python']).split('\0')[:-1]:
            with open(os.path.join(SOURCE, name), encoding='utf-8') as file:
                hosts.update(re.findall(r'https?://([A-Za-z0-9.-]+)', file.read()))
        address = re.findall(r'https?://([A-Za-z0-9.-]+)', project.read()['Address'])
        self.assertEqual({host for host in hosts - known - set(address) if not project.RESERVED.search('/' + host)}, set())


class Spec(unittest.TestCase):
    def setUp(self):
        need('rpmspec')
        self.folder = tempfile.mkdtemp(prefix='ts-rpm-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.spec = os.path.join(self.folder, 'tracesmith.spec')
        with open(self.spec, 'w', encoding='utf-8') as file:
            subprocess.run([sys.executable, PACKAGES, 'spec', '1.2.3', 'Thu Jan 01 2026'], stdout=file, check=True)

    def query(self, *arguments):
        return run(['rpmspec', '-q', *arguments, self.spec]).split('\n')[:-1]

    def test_packages(self):
        names = self.query('--qf', '%{name} %{version}\\n')
        self.assertEqual({name.split()[0] for name in names} - {'tracesmith-debuginfo', 'tracesmith-debugsource'}, NAMES)
        self.assertEqual({name.split()[1] for name in names}, {'1.2.3'})

    def test_packages_of_both_machines(self):
        """The spec file and Debian's control file are for x86-64 and aarch64, and no script is for one of them."""
        without_code = {package.rpm for package in packages.read()[0] if package.is_all}
        for machine in ('x86_64', 'aarch64'):
            lines = self.query('--target', machine, '--qf', '%{name} %{arch}\\n')
            self.assertEqual({name: arch for name, arch in map(str.split, lines) if name in NAMES},
                             {name: 'noarch' if name in without_code else machine for name in NAMES})
        with open(os.path.join(DEBIAN, 'control'), encoding='utf-8') as file:
            self.assertEqual(set(re.findall(r'^Architecture: (.*)$', file.read(), re.MULTILINE)), {'all', 'amd64 arm64'})
        for path in glob.glob(os.path.join(SOURCE, 'packaging', '*.sh')) + glob.glob(os.path.join(SOURCE, 'packaging', 'tarball', '*.sh')):
            with open(path, encoding='utf-8') as file:
                self.assertNotRegex(file.read(), 'x86_64|x86-64|amd64', path)

    def test_facts_of_the_project(self):
        self.assertEqual(set(self.query('--qf', '%{url}\\n')), {project.read()['Address'] or '(none)'})

    def test_dependencies(self):
        lines = self.query('--qf', '[%{=name} %{requirename}\\n]')
        for name, needed in (('tracesmith-devel', 'tracesmith-libs'), ('tracesmith', 'tracesmith-libs'), ('tracesmith-service', 'tracesmith'),
                             ('python3-tracesmith', 'tracesmith'), ('tracesmith', 'libunwind'), ('python3-tracesmith', 'tracesmith-libs')):
            self.assertTrue([line for line in lines if re.match(r'%s %s(\(\S+\))?\Z' % (name, needed), line)], (name, needed, lines))

    def test_nothing_is_enabled(self):
        text = run(['rpmspec', '-P', self.spec])
        calls = re.findall(r'^[^#`\n]*\bsystemctl (?:--no-reload )?(\S+)', text, re.MULTILINE)
        self.assertEqual(set(calls), {'daemon-reload', 'disable', 'try-restart'})

    def test_debug_symbols(self):
        if not os.path.exists('/usr/bin/find-debuginfo'):
            self.skipTest('debugedit is not installed')
        self.assertIn('tracesmith-debuginfo', self.query('--qf', '%{name}\\n'))


@unittest.skipUnless(SOAK, 'builds packages: TS_SOAK=1')
class Packages(unittest.TestCase):
    """One build; the tests use its packages."""

    @classmethod
    def setUpClass(cls):
        need('rpmbuild', 'rpm')
        cls.paths = roots.built('rpm.sh', 'rpm/*.rpm')
        cls.by_name = {re.sub(r'-[0-9][^-]*-[^-]*\.rpm\Z', '', os.path.basename(path)): path for path in cls.paths if not path.endswith('.src.rpm')}

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='ts-rpm-', dir=roots.CACHE if os.path.isdir(roots.CACHE) else None)
        self.addCleanup(shutil.rmtree, self.folder, True)

    def older(self):
        """The same tree as version 0.0.9, which no release has: its packages, by name. Its build is no part of the checkout."""
        tree = os.path.join(self.folder, 'older')
        for name in run(['git', '-C', SOURCE, 'ls-files', '-z']).split('\0')[:-1]:
            if os.path.exists(os.path.join(SOURCE, name)):
                os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
                shutil.copy2(os.path.join(SOURCE, name), os.path.join(tree, name))
        with open(os.path.join(tree, 'meson.build'), 'r+', encoding='utf-8') as file:
            text = re.sub(r"^    version: '.*',$", "    version: '%s'," % OLDER, file.read(), count=1, flags=re.MULTILINE)
            file.seek(0)
            file.write(text)
            file.truncate()
        run(['sh', os.path.join(tree, 'packaging', 'rpm.sh')], env={**os.environ, 'SOURCE_DATE_EPOCH': '1700000000'})
        paths = glob.glob(os.path.join(tree, 'build', 'rpm', '*-%s-*.rpm' % OLDER))
        return {re.sub(r'-[0-9][^-]*-[^-]*\.rpm\Z', '', os.path.basename(path)): path for path in paths if not path.endswith('.src.rpm')}

    def test_names(self):
        self.assertLessEqual(NAMES | {'tracesmith-debuginfo'}, set(self.by_name))

    def test_library_needs(self):
        """What is preloaded needs libc only, and no package needs the vendors' libraries or provides them."""
        needed = run(['rpm', '-qp', '--requires', *self.paths]) + run(['rpm', '-qp', '--provides', *self.paths])
        self.assertNotRegex(needed, r'libcuda|libcudart|libcupti|libamdhip|libmcpti|libmcruntime')

    def test_rpmlint(self):
        need('rpmlint')
        text = run(['rpmlint', '-r', os.path.join(SOURCE, 'packaging', 'rpm', 'rpmlintrc'), *self.paths], status=None)
        self.assertRegex(text, r'\b0 errors, 0 warnings\b')

    def test_same_bytes_twice(self):
        def sums():
            found = {}
            for path in glob.glob(os.path.join(SOURCE, 'build', 'rpm', '*.rpm')):
                with open(path, 'rb') as file:
                    found[os.path.basename(path)] = hashlib.sha256(file.read()).hexdigest()
            return found
        first = sums()
        roots.built('rpm.sh', 'rpm/*.rpm')
        self.assertEqual(sums(), first)

    def test_installed_used_upgraded_erased(self):
        root = roots.Root(roots.base(*LIBRARIES), self.folder)
        place = root.place

        def rpm(*arguments, **options):
            return root.run('rpm', '--root', place, '--dbpath', '/var/lib/rpm', *arguments, outside=True, **options)

        older, own = ([packages[name] for name in sorted(NAMES)] for packages in (self.older(), self.by_name))
        rpm('--initdb')
        rpm('-i', '--nodeps', *older)
        # Debian's loader does not search the folder of RPM systems.
        root.run('sh', '-c', 'echo /usr/lib64 >/etc/ld.so.conf.d/lib64.conf && ldconfig')
        self.assertEqual(rpm('-V', '--nodeps', *(name for name in sorted(NAMES))), '')
        self.assertNotIn('/etc/systemd/system', ' '.join(root.left()))
        self.assertIn('tracesmith', root.run('getent', 'passwd', 'tracesmith'))
        self.assertIn('No such file', root.run('ls', '/etc/systemd/system/sockets.target.wants', status=2))
        self.use(root, OLDER)

        # An upgrade keeps traces and changed configuration, and the new version reads what the old one has recorded.
        root.run('sh', '-c', 'echo "TRACESMITHD_OPTIONS=\\"--max-sessions 77\\"" >>/etc/default/tracesmithd')
        root.run('install', '-D', '-m', '644', '-t', '/etc/systemd/system/tracesmithd.service.d', '/usr/share/tracesmith/kernel-events.conf')
        root.run('cp', '/tmp/run.sbt', '/root/old.sbt')
        before = root.run('sh', '-c', 'find /var/lib/tracesmith -name "*.sbt" -exec sha256sum {} +')
        self.assertRegex(before, r'\.sbt\n')
        rpm('-U', '--nodeps', *own)
        version = run(['rpm', '-qp', '--qf', '%{version}', own[0]])
        self.assertEqual(set(rpm('-qa', '--qf', '%{version}\\n').split()), {version})
        self.assertEqual(root.run('sh', '-c', 'find /var/lib/tracesmith -name "*.sbt" -exec sha256sum {} +'), before)
        self.assertIn('--max-sessions 77', root.run('cat', '/etc/default/tracesmithd'))
        self.assertTrue(os.path.exists(root.upper + '/etc/systemd/system/tracesmithd.service.d/kernel-events.conf'))
        for path in ['/root/old.sbt', *re.findall(r'/\S+\.sbt', before)]:
            root.run('tsctl', 'verify', path)
            self.assertIn('Nothing was lost', root.run('tsctl', 'info', path))
        # The changed configuration is all that differs from the packages.
        self.assertRegex(rpm('-V', '--nodeps', *sorted(NAMES), status=1), r'\AS\S+ +c /etc/default/tracesmithd\n\Z')
        self.use(root, version)

        rpm('-e', '--nodeps', *sorted(NAMES))
        self.assertEqual(rpm('-qa').strip(), '')
        # The user stays, because its files do.
        data = r'/(etc/(passwd|group|g?shadow)-?|etc/default/tracesmithd\.rpmsave|etc/systemd/system/tracesmithd\.service\.d/kernel-events\.conf|' \
               r'root/old\.sbt|var/lib/tracesmith/.*|var/lib/rpm/.*|tmp/.*)\Z'
        ours = r'/(etc/ld\.so\.(cache|conf\.d/lib64\.conf)|var/cache/ldconfig/aux-cache|etc/\.pwd\.lock|dev/.*|proc|run/.*)\Z'
        self.assertEqual([path for path in root.left() if not re.match(data, path) and not re.match(ours, path)], [])

    def use(self, root, version):
        """Records on the virtual GPU, reads, imports, looks by Studio, and starts the service by its unit's command."""
        apps = [(os.path.join(SOURCE, 'test', 'apps'), '/tmp/apps'), (os.path.join(SOURCE, 'test', 'packages'), '/tmp/packages')]
        for name in ('run.sbt', 'served.log'):
            if os.path.exists(root.upper + '/tmp/' + name):
                os.remove(root.upper + '/tmp/' + name)
        root.run('tsctl', 'record', '--vgpu', '-q', '-o', '/tmp/run.sbt', '--', 'python3', '/tmp/apps/fills.py', 'device', binds=apps)
        self.assertRegex(root.run('tsctl', 'view', '/tmp/run.sbt'), r'kernel.*reads')
        self.assertIn('Nothing was lost', root.run('tsctl', 'info', '/tmp/run.sbt'))
        # The folder of RPM systems is not among those of Debian's Python.
        modules = [path for path in run(['rpm', '-qpl', self.by_name['python3-tracesmith']]).split() if path.endswith('/tracesmith')][0]
        program = 'import tracesmith; trace = tracesmith.open("/tmp/run.sbt"); print(len(trace.kernels), tracesmith.__version__)'
        self.assertEqual(root.run('python3', '-c', program, environment={'PYTHONPATH': os.path.dirname(modules)}), '1 %s\n' % version)
        # The loopback interface of the root is this machine's.
        self.assertGreater(int(root.run('python3', '/tmp/packages/browse.py', 'tsctl', '/tmp/run.sbt', binds=apps)), 3)
        # systemd makes these folders and drops rights; the user and the command are the unit's.
        command = re.search(r'^ExecStart=(.*)$', root.run('cat', '/usr/lib/systemd/system/tracesmithd.service'), re.MULTILINE).group(1)
        script = '''set -e
install -d -o tracesmith -g tracesmith /run/tracesmith /var/lib/tracesmith
export TRACESMITHD_KERNEL_EVENTS= TRACESMITHD_SYSTEM= TRACESMITHD_OPTIONS=
setpriv --reuid tracesmith --regid tracesmith --clear-groups --inh-caps=-all --bounding-set=-all %s >/tmp/served.log 2>&1 &
service=$!
i=0; while ! [ -S /run/tracesmith/control.sock ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
LD_LIBRARY_PATH=/usr/lib64/tracesmith/vgpu LD_PRELOAD=/usr/lib64/libtsinject.so python3 /tmp/apps/fills.py device
tsctl status
kill $service; wait $service
newest=$(ls -t /var/lib/tracesmith/0/*.sbt | head -n 1)
echo "$newest"
tsctl view "$newest" | grep -c "kernel.*reads"
rm -rf /run/tracesmith
''' % command
        self.assertRegex(root.run('sh', '-c', script, binds=apps), r'tracesmith-python3.*\.sbt\n[1-9]\d*\n\Z')


if __name__ == '__main__':
    unittest.main(verbosity=2)
