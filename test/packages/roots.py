# SPDX-License-Identifier: Apache-2.0
"""Root file systems made from Debian's packages, for tests that install packages in one.

A base is made once by mmdebstrap and kept in build/packages. A Root lies over a base: what is written in it goes to a folder of the
test, so `left()` lists what a package has left behind. Needs root and the mounts of a private namespace.
"""
import glob
import hashlib
import os
import shutil
import signal
import subprocess
import time
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


class Machine(Root):
    """A Root whose systemd is booted by systemd-nspawn, as process 1 of its own namespaces."""

    SECONDS = 120

    def __init__(self, lower, folder, binds=(), options=()):
        super().__init__(lower, folder)
        self.log = os.path.join(folder, 'console.log')
        script = 'mount -t overlay overlay -o lowerdir="$1",upperdir="$2",workdir="$3" "$4" && shift 3 && place=$1 && shift && ' \
                 'exec systemd-nspawn --quiet --register=no --keep-unit --private-network --console=read-only --machine="ts-$$" ' \
                 '--directory="$place" "$@" --boot'
        self.command = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'machine', lower, self.upper, self.work, self.place,
                        *('--bind-ro=%s:%s' % pair for pair in binds), *options]
        self.boot()

    def boot(self):
        # cgroup v2 even where the host has version 1, because systemd will drop version 1.
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, 'SYSTEMD_NSPAWN_UNIFIED_HIERARCHY': '1'})

    def console(self):
        with open(self.log, encoding='utf-8', errors='replace') as log:
            return log.read()

    def leader(self):
        """The machine's process 1 as this machine numbers it, or None."""
        try:
            with open('/proc/%d/task/%d/children' % (self.process.pid, self.process.pid), encoding='utf-8') as file:
                children = file.read().split()
        except OSError:
            return None
        for pid in children:
            try:
                with open('/proc/%s/comm' % pid, encoding='utf-8') as file:
                    if file.read().strip() == 'systemd':
                        return pid
            except OSError:
                pass
        return None

    def reboot(self):
        """With --keep-unit, systemd-nspawn ends with this status if its system reboots, and its caller starts it again."""
        self.run('systemctl', 'reboot')
        self.process.wait(self.SECONDS)
        if self.process.returncode != 133:
            raise AssertionError('systemd-nspawn: status %d: %s' % (self.process.returncode, self.console()[-1500:]))
        self.boot()
        return self.wait_booted()

    def wait_booted(self):
        """Returns the state of the booted system, for example `running`."""
        end = time.monotonic() + self.SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if self.leader():
                state = self.run('systemctl', 'is-system-running', status=None).strip()
                if state in ('running', 'degraded', 'maintenance'):
                    return state
            time.sleep(0.2)
        return 'not booted: %s' % self.console()[-1500:]

    def run(self, *argv, status=0, environment=None):  # pylint: disable=arguments-differ
        """Runs a command in the booted system, as root."""
        return run(['nsenter', '--target', str(self.leader()), '--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--wdns=/', *argv], status,
                   env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root', 'LC_ALL': 'C.UTF-8', **(environment or {})})

    def stop(self):
        """Shuts the system down. A second SIGTERM ends it without its services."""
        for _ in range(2):
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(self.SECONDS / 2)
                except subprocess.TimeoutExpired:
                    continue
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def built(script, pattern):
    """Runs a script of packaging/ and returns the paths that it made."""
    run(['sh', os.path.join(SOURCE, 'packaging', script)])
    paths = sorted(glob.glob(os.path.join(SOURCE, 'build', pattern)))
    if not paths:
        raise AssertionError('%s made no %s' % (script, pattern))
    return paths
