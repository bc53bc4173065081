# SPDX-License-Identifier: Apache-2.0
"""Root file systems made from Debian's packages, for tests that install packages in one.

A base is made once by mmdebstrap and kept in build/packages. A Root lies over a base: what is written in it goes to a folder of the
test, so `left()` lists what a package has left behind. Needs root and the mounts of a private namespace.
"""
import glob
import hashlib
import os
import shutil
import subprocess
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(SOURCE, 'build', 'packages')
SOAK = bool(os.environ.get('TS_SOAK'))


def need(*programs):
    """Skips the test if a program is missing."""
    for program in programs:
        if not shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin'):
            raise unittest.SkipTest('%s is not installed' % program)


def run(argv, status=0, **options):
    """Runs to the end; returns stdout and stderr together. Another exit status fails the test; None accepts any."""
    result = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', errors='replace',
                            check=False, **options)
    if status is not None and result.returncode != status:
        raise AssertionError('%s: status %d\n%s' % (' '.join(argv)[:2000], result.returncode, result.stdout[-6000:]))
    return result.stdout


def base(*packages):
    """The folder of a base with Debian's smallest set and these packages."""
    if os.geteuid():
        raise unittest.SkipTest('needs root, to make a root file system')
    need('mmdebstrap', 'unshare', 'chroot')
    name = hashlib.sha256(' '.join(sorted(packages)).encode()).hexdigest()[:12]
    folder = os.path.join(CACHE, 'base-' + name)
    if not os.path.exists(folder + '/etc/debian_version'):
        os.makedirs(CACHE, exist_ok=True)
        archive = '%s-%d.tar' % (folder, os.getpid())
        try:
            made = subprocess.run(['mmdebstrap', '--quiet', '--variant=minbase', '--include=' + ','.join(packages), 'bookworm', archive],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
            if made.returncode:
                raise unittest.SkipTest('mmdebstrap made no base: %s' % made.stdout[-300:])
            shutil.rmtree(folder + '.new', ignore_errors=True)
            os.mkdir(folder + '.new')
            run(['tar', '-xf', archive, '-C', folder + '.new', '--exclude=./dev/*'])
            os.rename(folder + '.new', folder)
        finally:
            if os.path.exists(archive):
                os.remove(archive)
    return folder


class Root:
    """A base, and a folder for what is written over it."""

    def __init__(self, lower, folder):
        self.lower, self.upper, self.work, self.place = lower, folder + '/upper', folder + '/work', folder + '/root'
        for path in (self.upper, self.work, self.place):
            os.mkdir(path)

    def run(self, *argv, status=0, binds=(), outside=False, environment=None):
        """
        Runs a command in the root, as root; with `outside`, a command of this machine that finds the root at `place`. binds: (path here, path in the
        root), which the command can read only.
        """
        lines = ['set -e', 'mount -t overlay overlay -o lowerdir="$1",upperdir="$2",workdir="$3" "$4"', 'mount -t proc proc "$4/proc"',
                 'mount -t tmpfs tmpfs "$4/dev"', 'for name in null zero full random urandom; do touch "$4/dev/$name"; mount --bind "/dev/$name" "$4/dev/$name"; done',
                 'ln -s /proc/self/fd "$4/dev/fd"', 'mkdir "$4/dev/shm"']
        arguments = [self.lower, self.upper, self.work, self.place]
        for source, place in binds:
            lines += ['if [ -d "$%d" ]; then mkdir -p "$4/$%d"; else mkdir -p "$(dirname "$4/$%d")"; touch "$4/$%d"; fi'.replace('%d', '{%d}')
                      % (len(arguments) + 1, len(arguments) + 2, len(arguments) + 2, len(arguments) + 2),
                      'mount --rbind -o ro "${%d}" "$4/${%d}"' % (len(arguments) + 1, len(arguments) + 2)]
            arguments += [source, place]
        lines += ['shift %d' % len(arguments), 'exec "$@"' if outside else 'exec chroot "%s" "$@"' % self.place]
        return run(['unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', '\n'.join(lines), 'root', *arguments, *argv],
                   status, env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root', 'LC_ALL': 'C.UTF-8', **(environment or {})})

    def left(self):
        """The paths of files that are in the root and not in its base. A file that went has another type (0, 0)."""
        return sorted(os.path.join(place, name)[len(self.upper):] for place, _, names in os.walk(self.upper) for name in names
                      if not os.path.islink(os.path.join(place, name)) or True)


def built(script, pattern):
    """Runs a script of packaging/ and returns the paths that it made."""
    run(['sh', os.path.join(SOURCE, 'packaging', script)])
    paths = sorted(glob.glob(os.path.join(SOURCE, 'build', pattern)))
    if not paths:
        raise AssertionError('%s made no %s' % (script, pattern))
    return paths
