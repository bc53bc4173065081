#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unit that is installed: what systemd-analyze says of it, and a service that runs as its user, with its rights, in its confinement.

unit.py does what systemd would do, for systemd is not process 1 where tests run.
"""
import ctypes
import errno
import glob
import json
import os
import shutil
import socket
import struct
import subprocess
import unittest

import harness

UNIT = os.path.join(harness.BUILD, 'packaging', 'tracesmithd.service')
os.environ['TS_UNIT'] = UNIT
import service  # noqa: E402
import unit  # noqa: E402

WORKER = os.path.join(harness.BUILD, 'test', 'unit', 'daemon', 'hostile-worker')
MAKE_TRACE = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace')
MOST = 2.0
STRANGER, OTHER, MEMBER, GROUP = 65531, 65532, 65533, 65020
# With the system-call filter the kernel kills whoever does this; opening is refused.
FATAL = ('socket', 'internet', 'ptrace', 'signal', 'readv', 'descriptors', 'fork', 'user', 'namespace')
REFUSED = ('open', 'create', 'traces', 'memory')
# Without it, Landlock, the unit and that the service is not dumpable stand there.
BEHIND = REFUSED + ('internet', 'ptrace', 'signal', 'readv', 'user', 'namespace')
CONNECTIONS = 10000


def analyze(*arguments):
    return subprocess.run(['systemd-analyze', '--no-pager', *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', check=False)


@unittest.skipUnless(shutil.which('systemd-analyze'), 'systemd-analyze is not installed')
class Score(harness.Case):
    def install(self, *drop_ins):
        """The unit as it is installed, with drop-ins enabled."""
        folder = self.path('-'.join(('units',) + drop_ins))
        os.makedirs(os.path.join(folder, 'tracesmithd.service.d'))
        shutil.copy(UNIT, folder)
        shutil.copy(service.drop_in('tracesmithd.socket'), folder)
        for name in drop_ins:
            shutil.copy(service.drop_in(name), os.path.join(folder, 'tracesmithd.service.d'))
        return os.path.join(folder, 'tracesmithd.service')

    def score(self, path):
        result = analyze('security', '--offline=true', '--threshold=%d' % (MOST * 10), path)
        self.assertEqual(result.returncode, 0, result.stdout)
        line = result.stdout.strip().splitlines()[-1]
        return float(line.split(': ')[1].split()[0])

    def test_scores(self):
        """At most 2.0, with each drop-in and with both; a drop-in is read at all."""
        base = self.score(self.install())
        scores = {names: self.score(self.install(*names)) for names in (
            ('kernel-events.conf',), ('system.conf',), ('kernel-events.conf', 'system.conf'))}
        print('scores: %s, %s' % (base, scores))
        for score in scores.values():
            self.assertLess(base, score)
            self.assertLessEqual(score, MOST)

    def test_a_worse_unit_fails(self):
        """The score is of this file: as root, without confinement, it is above."""
        path = self.install()
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write('[Service]\nExecStart=%s\n' % harness.DAEMON)
        result = analyze('security', '--offline=true', '--threshold=%d' % (MOST * 10), path)
        self.assertNotEqual(result.returncode, 0, result.stdout)

    def test_settings_are_known(self):
        """systemd knows each line."""
        said = analyze('verify', '--man=no', self.install('kernel-events.conf', 'system.conf')).stdout
        for word in ('Unknown', 'Invalid', 'Failed to parse', 'ignoring', 'Ignoring'):
            self.assertNotIn(word, said)


@unittest.skipIf(unit.missing(), unit.missing())
class InUnit(service.Service):
    def setUp(self):
        super().setUp()
        above = harness.DAEMON
        while above != '/':
            if not os.stat(above).st_mode & 0o001:
                self.skipTest('%s is for its owner alone' % above)
            above = os.path.dirname(above)

    def status_of(self, pid, key):
        with open('/proc/%d/status' % pid, encoding='utf-8') as stream:
            return [line.split()[1:] for line in stream if line.startswith(key + ':')][0]

    def trace(self):
        path = self.path('made.sbt')
        self.assertEqual(harness.run([MAKE_TRACE, path, '100']).status, 0)
        return path

    def make_worker(self):
        """A worker that attacks, and a trace to ask about."""
        if not os.path.exists(WORKER):
            self.skipTest('hostile-worker was not built')
        self.made = self.trace()
        shutil.copy(WORKER, self.path('worker'))
        self.results = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(self.results.close)
        self.results.bind(self.path('result'))
        os.chmod(self.path('result'), 0o777)
        self.results.listen(8)
        self.results.settimeout(harness.SECONDS)

    # ---- rights ---------------------------------------------------------------------------------

    def test_rights(self):
        """The user is the unit's, with no capability and with a filter; tsctl names what that costs."""
        self.start_daemon()
        pid = self.daemon.pid
        self.assertEqual(self.status_of(pid, 'Uid'), [str(unit.UID)] * 4)
        self.assertEqual(self.status_of(pid, 'Groups'), [])
        for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'):
            self.assertEqual(int(self.status_of(pid, name)[0], 16), 0)
        self.assertEqual((self.status_of(pid, 'NoNewPrivs'), self.status_of(pid, 'Seccomp')), (['1'], ['2']))
        # Not dumpable: a process of the same user opens nothing of it in /proc.
        self.assertEqual(os.stat('/proc/%d/mem' % pid).st_uid, 0)
        told = json.loads(self.tsctl('status', '--json').out)['capabilities']
        self.assertEqual([one['name'] for one in told], ['CAP_BPF', 'CAP_PERFMON', 'CAP_SYS_PTRACE', 'CAP_SYS_RESOURCE'])
        self.assertFalse(any(one['present'] for one in told))
        text = self.tsctl('status').out
        for one in told:
            self.assertIn('%s: %s' % (one['name'], one['cost']), text)

    def test_rights_by_a_drop_in(self):
        """What is given is not named as missing; its workers do not have it."""
        self.make_worker()
        self.start_daemon('--kernel-events=sched', '--worker', self.path('worker'))
        told = {one['name']: one['present'] for one in json.loads(self.tsctl('status', '--json').out)['capabilities']}
        self.assertEqual(told, {'CAP_BPF': True, 'CAP_PERFMON': True, 'CAP_SYS_PTRACE': False, 'CAP_SYS_RESOURCE': False})
        text = self.tsctl('status').out
        self.assertIn('CAP_SYS_PTRACE: ', text)
        self.assertNotIn('CAP_BPF: ', text)
        self.assertNotEqual(int(self.status_of(self.daemon.pid, 'CapEff')[0], 16), 0)
        with open(self.path('attack'), 'w', encoding='utf-8') as stream:
            stream.write('wait')
        asking = subprocess.Popen([harness.TSCTL, 'state', '--at', '0', '--served', self.made], env=self.environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(asking.wait)
        self.addCleanup(asking.kill)
        connection, _ = self.results.accept()
        with connection:
            connection.recv(64)
            pid = struct.unpack('iii', connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            for name in ('CapPrm', 'CapEff', 'CapAmb'):
                self.assertEqual(int(self.status_of(pid, name)[0], 16), 0)

    # ---- a worker that was taken over -------------------------------------------------------------

    def attack(self, name):
        """What the worker says of its walls and of the attack; None: it was killed. And how the daemon tells it."""
        with open(self.path('attack'), 'w', encoding='utf-8') as stream:
            stream.write(name)
        said = self.tsctl('state', '--at', '0', '--served', self.made)
        self.assertEqual(said.status, 2, said)
        connection, _ = self.results.accept()
        with connection:
            connection.settimeout(harness.SECONDS)
            walls, result = connection.recv(64), connection.recv(64)
        return int(walls), int(result) if result else None, said.err

    def test_worker(self):
        """It opens nothing, reaches nobody, starts nothing: each attempt ends it, or is refused; the service lives on."""
        self.make_worker()
        self.start_daemon('--worker', self.path('worker'))
        for name in REFUSED:
            with self.subTest(name):
                walls, result, _ = self.attack(name)
                self.assertGreaterEqual(walls, 0)
                self.assertEqual(result, errno.EACCES)
        for name in FATAL:
            with self.subTest(name):
                _, result, said = self.attack(name)
                self.assertIsNone(result)
                self.assertIn('made a system call that its filter does not allow', said)
        # landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)
        if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
            self.skipTest('this kernel has no Landlock: the filter is the only wall')
        self.assertGreater(self.attack('+open')[0], 0)
        for name in BEHIND:
            with self.subTest('without the filter: ' + name):
                _, result, _ = self.attack('+' + name)
                self.assertIn(result, (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ESRCH, errno.EAFNOSUPPORT))
        self.assertIsNone(self.daemon.poll())
        self.assertEqual(self.tsctl('sessions').status, 0)

    # ---- traces ---------------------------------------------------------------------------------

    def record_as(self, uid, **env):
        """A program of that user's, with a home of its own that nobody else enters; returns the home."""
        home = self.path('home-%d' % uid)
        os.makedirs(home, 0o700, exist_ok=True)
        os.chown(home, uid, uid)
        result = subprocess.run(
            [harness.app('saxpy', 'driver'), '2'], cwd=home, user=uid, group=uid, extra_groups=[], check=False,
            env=harness.preload_environment('', TRACESMITH_SOCKET=self.inject, **env), timeout=harness.SECONDS)
        self.assertEqual(result.returncode, 0)
        return home

    def test_output_of_the_process(self):
        """TRACESMITH_OUTPUT names a file in a directory that the service cannot enter: it is whole when the program is over."""
        self.start_daemon()
        for expected in ('mine.sbt', 'mine-1.sbt'):
            home = self.record_as(STRANGER, TRACESMITH_OUTPUT='mine.sbt')
            path = os.path.join(home, expected)
            if not os.path.exists(path):
                with open(self.path('daemon.log'), encoding='utf-8') as log:
                    self.assertIn('not on a local ', log.read())
                self.skipTest('the tests\' folder is not on a local disk')
            self.assertEqual(os.stat(path).st_uid, STRANGER)
            self.assertTrue(self.finished_trace(path).info['finished'])
        self.assertEqual(sorted(os.listdir(home)), ['mine-1.sbt', 'mine.sbt'])
        self.assertEqual(os.listdir(self.traces), [])

    def test_output_that_is_not_taken(self):
        """A file in memory is left out and named; nothing of it stays, and the service keeps the trace."""
        if not os.path.isdir('/dev/shm'):
            self.skipTest('no /dev/shm')
        self.start_daemon()
        output = '/dev/shm/tracesmith-test-%d.sbt' % os.getpid()
        self.record_as(STRANGER, TRACESMITH_OUTPUT=output)
        self.assertFalse(os.path.exists(output))
        self.wait(lambda: glob.glob(self.path('traces/%d/*.sbt' % STRANGER)), 'its trace')
        with open(self.path('daemon.log'), encoding='utf-8') as log:
            self.assertIn('not on a local ', log.read())

    def as_user(self, uid, groups, *arguments):
        return subprocess.run([harness.TSCTL, *arguments], user=uid, group=uid, extra_groups=groups, check=False, cwd='/',
                              env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')

    def test_group(self):
        """A user sees and reads what is the user's; members of group tracesmith everything."""
        with open('/etc/group', encoding='utf-8') as groups, open(self.path('group'), 'w', encoding='utf-8') as stream:
            stream.write(''.join(line for line in groups if not line.startswith('tracesmith:')))
            stream.write('tracesmith:x:%d:\n' % GROUP)
        self.start_daemon(binds=(self.path('group') + ':/etc/group',))
        self.record_as(STRANGER)
        self.wait(lambda: glob.glob(self.path('traces/%d/*.sbt' % STRANGER)), 'its trace')
        path, = glob.glob(self.path('traces/%d/*.sbt' % STRANGER))
        self.finished_trace(path)
        session = path.rsplit('-', 1)[1].split('.')[0]
        seen = {name: self.as_user(uid, groups, 'info', '--session', session).returncode for name, uid, groups in (
            ('owner', STRANGER, []), ('other', OTHER, []), ('member', MEMBER, [GROUP]))}
        self.assertEqual(seen, {'owner': 0, 'other': 2, 'member': 0})
        if 'system.posix_acl_access' not in os.listxattr(path):
            self.skipTest('the file system has no access control lists')
        read = {name: self.as_user(uid, groups, 'info', path).returncode for name, uid, groups in (
            ('owner', STRANGER, []), ('other', OTHER, []), ('member', MEMBER, [GROUP]))}
        self.assertEqual(read, {'owner': 0, 'other': 2, 'member': 0})

    # ---- many strangers ---------------------------------------------------------------------------

    def test_connections(self):
        """One user makes 10,000 connections that say nothing, half a message, too much or nonsense: others are served."""
        self.start_daemon()
        os.chmod(self.folder, 0o755)
        stranger = subprocess.Popen(
            ['python3', '-c', STORM, self.inject, self.control, str(CONNECTIONS)], user=STRANGER, group=STRANGER, extra_groups=[],
            stdout=subprocess.PIPE)
        self.addCleanup(stranger.stdout.close)
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        while stranger.poll() is None:
            self.assertEqual(self.tsctl('status').status, 0)
        self.assertEqual(int(stranger.stdout.read()), CONNECTIONS)
        self.record_as(OTHER)
        self.wait(lambda: glob.glob(self.path('traces/%d/*.sbt' % OTHER)), 'its trace')
        self.assertIsNone(self.daemon.poll())


STORM = '''
import os, resource, socket, struct, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (600, 600))
said = [b'', b'x', b'SH', struct.pack('<HHI', 0x4853, 1, 40), struct.pack('<HHI', 0x4853, 1, 4000) + bytes(3992),
        b'TSRP', bytes(65536), b'\\xff' * 4096]
held, n = [], 0
while n < int(sys.argv[3]):
    path, kind = ((sys.argv[1], socket.SOCK_SEQPACKET), (sys.argv[2], socket.SOCK_STREAM))[n % 2]
    one = socket.socket(socket.AF_UNIX, kind)
    one.settimeout(20)
    try:
        one.connect(path)
        one.setblocking(False)
        data = said[n // 2 % len(said)]
        if n % 3 or not data:
            one.send(data)
        else:
            socket.send_fds(one, [data], [0, 1, 2] * 20)
    except OSError:
        pass
    n += 1
    held.append(one)
    if len(held) > 500:
        held.pop(0).close()
print(n)
'''


if __name__ == '__main__':
    harness.main()
