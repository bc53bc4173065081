#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The container image.

In the ordinary run its parts are compared with the sources. With TS_SOAK=1 buildah builds it on a base that is made from Debian's
packages. Then the image records on the virtual GPU, reads, and serves a program of another container.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import roots
from roots import SOAK, SOURCE, need, run

FOLDER = os.path.join(SOURCE, 'packaging', 'container')
# Those that buildah gives to root in a container.
DEFAULT_CAPABILITIES = {'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'}


def text(*names):
    with open(os.path.join(SOURCE, *names), encoding='utf-8') as file:
        return file.read()


def deps(name):
    return re.search(r'^%s="([^"]*)"' % name, text('packaging', 'deps.sh'), re.MULTILINE).group(1).split()


class Files(unittest.TestCase):
    def test_instructions(self):
        lines = re.sub(r'\\\n(\s*#.*\n)*', ' ', re.sub(r'^#.*\n', '', text('packaging', 'container', 'Dockerfile'), flags=re.MULTILINE))
        words = [line.split(None, 1) for line in lines.split('\n') if line.strip()]
        known = {'ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'USER', 'STOPSIGNAL', 'CMD'}
        self.assertEqual({name for name, _ in words} - known, set())
        self.assertEqual(len([1 for name, _ in words if name == 'FROM']), 2)
        user, = [rest for name, rest in words if name == 'USER']
        self.assertRegex(user, r'\A[1-9]\d*:[1-9]\d*\Z')
        command, = [json.loads(rest) for name, rest in words if name == 'CMD']
        self.assertEqual(command, ['tracesmithd', '--directory', '/var/lib/tracesmith'])
        labels, = [rest for name, rest in words if name == 'LABEL']
        for label in ('title', 'description', 'licenses', 'version', 'revision'):
            self.assertIn('org.opencontainers.image.%s=' % label, labels)

    def test_scripts(self):
        for path in (FOLDER + '/build.sh', FOLDER + '/preload.sh', SOURCE + '/packaging/rpm.sh', SOURCE + '/packaging/homebrew/formula.sh'):
            self.assertEqual(run(['sh', '-n', path]), '')

    def test_libraries_are_in_the_image(self):
        """The packages of the libraries that the built programs need are those that the image installs."""
        build = os.environ['TS_BUILD']
        programs = [os.path.join(build, *names) for names in (('daemon', 'tracesmithd'), ('daemon', 'worker', 'tracesmith-worker'), ('tools', 'tsctl', 'tsctl'))]
        studio = os.path.join(build, 'tools', 'studio', 'server', 'tracesmith-studio')
        programs += [studio] if os.path.exists(studio) else []
        need('readelf', 'dpkg')
        libraries = set()
        for program in programs:
            if not os.path.exists(program):
                self.skipTest('%s is not built' % os.path.basename(program))
            libraries.update(re.findall(r'NEEDED.*\[(.*)\]', run(['readelf', '-d', program])))
        if any(name in library for library in libraries for name in ('asan', 'tsan')):
            self.skipTest('a sanitizer needs more')
        owners = set()
        for library in libraries:
            found = subprocess.run(['dpkg', '-S', '*/' + library], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding='utf-8', check=False).stdout
            owners.update(line.split(':')[0] for line in found.split('\n') if line)
        owners = {name for name in owners if not name.endswith(('-cross', '-dbg')) and not name.startswith(('libc6', 'lib32', 'libx32'))}
        self.assertEqual(owners - set(deps('TS_DEPS_RUN')), set())


@unittest.skipUnless(SOAK, 'builds an image: TS_SOAK=1')
class Image(unittest.TestCase):
    """One image for all tests of the class."""

    @classmethod
    def setUpClass(cls):
        need('buildah', 'git')
        run_base = roots.base('python3', *deps('TS_DEPS_RUN'))
        build_base = roots.base('ccache', *deps('TS_DEPS_BUILD'))
        cls.folder = tempfile.mkdtemp(prefix='ts-image-', dir=roots.CACHE)
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.tool = ['buildah', '--root', cls.folder + '/storage', '--runroot', cls.folder + '/run', '--storage-driver', os.environ.get('TS_STORAGE', 'vfs')]
        for name, base in (('run', run_base), ('build', build_base)):
            container = cls.buildah('from', 'scratch').split()[-1]
            cls.buildah('copy', '--quiet', container, base, '/')
            cls.buildah('commit', '--quiet', '--rm', container, 'localhost/%s-base' % name)
        begin = time.monotonic()
        jobs = os.environ.get('TS_JOBS', '')
        run(['sh', os.path.join(FOLDER, 'build.sh'), '--isolation', 'chroot', '--pull-never', '--build-arg', 'BASE=localhost/run-base', '--build-arg',
             'BUILD_BASE=localhost/build-base', '--build-arg', 'JOBS=' + re.sub(r'\D', '', jobs)], env={**os.environ, 'TOOL': ' '.join(cls.tool)})
        cls.seconds = time.monotonic() - begin
        cls.image = 'localhost/tracesmith:' + re.search(r"version: '(.*)'", text('meson.build')).group(1)
        cls.addClassCleanup(cls.buildah, 'rm', '--all')

    @classmethod
    def buildah(cls, *arguments, **options):
        return run([*cls.tool, *arguments], **options)

    def container(self, image):
        return self.buildah('from', '--pull-never', image).split()[-1]

    def inside(self, container, *command, volumes=(), status=0):
        return self.buildah('run', '--isolation', 'chroot', *('--volume=' + volume for volume in volumes), container, '--', *command, status=status)

    def test_configuration(self):
        facts = json.loads(self.buildah('inspect', '--type', 'image', self.image))['OCIv1']['config']
        self.assertEqual(facts['User'], '65010:65010')
        self.assertEqual(facts['Labels']['org.opencontainers.image.version'], self.image.split(':')[1])
        self.assertRegex(facts['Labels']['org.opencontainers.image.revision'], r'\A[0-9a-f]{40}\Z')

    def test_size(self):
        sizes = {}
        for image in (self.image, 'localhost/run-base'):
            container = self.container(image)
            place = self.buildah('mount', container).strip()
            sizes[image] = int(run(['du', '-sxb', place]).split()[0])
        own = sizes[self.image] - sizes['localhost/run-base']
        print('image: %.1f MB over its base, built in %.0f s' % (own / 1e6, self.seconds))
        self.assertLess(own, 60e6)

    def test_records_reads_and_is_not_root(self):
        """Studio too: its server answers in the container."""
        container = self.container(self.image)
        self.assertEqual(self.inside(container, 'id', '-u').strip(), '65010')
        self.inside(container, 'tsctl', 'record', '--vgpu', '-q', '-o', '/tmp/run.sbt', '--', 'tsctl', 'benchmark', '--launch', '50')
        # The program launches further kernels first, to warm up.
        self.assertGreaterEqual(json.loads(self.inside(container, 'tsctl', 'info', '--json', '/tmp/run.sbt'))['counts']['kernel'], 50)
        self.assertIn('Nothing was lost', self.inside(container, 'tsctl', 'info', '/tmp/run.sbt'))
        self.assertNotIn('not found', self.inside(container, 'sh', '-c', 'ldd /usr/bin/ts* /usr/bin/tracesmithd /usr/libexec/tracesmith/*'))
        packages = os.path.join(SOURCE, 'test', 'packages') + ':/packages:ro'
        self.assertGreater(int(self.inside(container, 'python3', '/packages/browse.py', 'tsctl', '/tmp/run.sbt', volumes=[packages])), 3)

    def test_serves_another_container(self):
        """As in Kubernetes: folders of the node for sockets, traces and library; the recorded container has them read-only."""
        node = {name: os.path.join(self.folder, 'node-' + name) for name in ('run', 'traces', 'preload')}
        for path in node.values():
            os.mkdir(path)
        prepare = self.container(self.image)
        manifest = text('packaging', 'kubernetes', 'tracesmith.yaml')
        script = re.search(r'args:\n +- \|\n((?: {14}.*\n)+)', manifest).group(1)
        names = re.findall(r'^ {16}- ([A-Z_]+)$', manifest, re.MULTILINE)
        self.assertEqual(len(names), 3)
        # With `--cap-drop=all`, buildah's isolation by chroot adds none.
        rights = ['--cap-add=CAP_' + name for name in names] + ['--cap-drop=CAP_' + name for name in DEFAULT_CAPABILITIES - set(names)]
        # Twice: when the pod starts anew, the folders are the service's.
        for _ in range(2):
            self.buildah('run', '--isolation', 'chroot', '--user', '0:0', *rights,
                         *('--volume=%s:/node/%s' % (path, name) for name, path in node.items()), prepare, '--', 'sh', '-ec', script)
        self.assertIn('libtsinject.so', os.listdir(node['preload']))
        service = self.container(self.image)
        volumes = ['%s:/run/tracesmith' % node['run'], '%s:/var/lib/tracesmith' % node['traces']]
        with open(self.folder + '/service.log', 'wb') as log:
            daemon = subprocess.Popen([*self.tool, 'run', '--isolation', 'chroot', *('--volume=' + volume for volume in volumes), service, '--', 'sh', '-c',
                                       'tracesmithd --directory /var/lib/tracesmith & echo $! >/run/tracesmith/pid; wait $!; wait $!'],
                                      stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while not os.path.exists(node['run'] + '/control.sock') and time.monotonic() < deadline:
                time.sleep(0.1)
            program = self.container('localhost/run-base')
            vgpu = self.buildah('mount', prepare).strip() + '/usr/lib/tracesmith/vgpu'
            self.inside(program, 'sh', '-ec', 'LD_LIBRARY_PATH=/vgpu CUDA_INJECTION64_PATH=/opt/tracesmith/libtsinject.so python3 /apps/fills.py device',
                        volumes=['%s:/run/tracesmith:ro' % node['run'], '%s:/opt/tracesmith:ro' % node['preload'], vgpu + ':/vgpu:ro',
                                 os.path.join(SOURCE, 'test', 'apps') + ':/apps:ro'])
            self.assertIn('service', self.inside(service, 'tsctl', 'status', volumes=volumes))
        finally:
            if os.path.exists(node['run'] + '/pid'):
                self.inside(service, 'sh', '-c', 'kill $(cat /run/tracesmith/pid)', volumes=volumes, status=None)
            try:
                daemon.wait(60)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        traces = [os.path.join(place, name) for place, _, names in os.walk(node['traces']) for name in names if name.endswith('.sbt')]
        with open(self.folder + '/service.log', encoding='utf-8') as log:
            self.assertEqual(len(traces), 1, log.read())
        shown = self.inside(service, 'tsctl', 'view', traces[0].replace(node['traces'], '/var/lib/tracesmith'), volumes=volumes)
        self.assertRegex(shown, r'kernel.*reads')


if __name__ == '__main__':
    unittest.main(verbosity=2)
