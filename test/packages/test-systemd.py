#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The service under systemd as process 1: a booted system of Debian's packages, with the built .deb packages installed.

The soak (TS_SOAK=1) builds the packages, boots by systemd-nspawn, and uses the service as an administrator does. Then the packages are
purged. `--packages FOLDER` tests packages that packaging/deb.sh left in a folder. The tests are skipped by name if no system boots here.
"""
import glob
import json
import os
import re
import shutil
import sys
import tempfile
import time
import unittest

import command_line
import roots
from roots import SOAK, SOURCE, need

NAMES = ('libtracesmith0', 'tracesmith', 'tracesmith-service', 'tracesmith-vgpu')
SYSTEM = ('systemd', 'systemd-sysv', 'libpam-systemd', 'dbus', 'python3', 'procps')
UNITS = ('tracesmithd.socket', 'tracesmithd.service')
TRACES = '/var/lib/tracesmith'
STRANGER = 4711
KERNELS = 6
SECONDS = 120
# systemd-analyze's exposure, as in test/integration/test-unit.py.
MOST = 2.0
# The drop-ins need capabilities and system calls that systemd-nspawn refuses by default.
OPTIONS = ('--capability=CAP_BPF,CAP_PERFMON,CAP_SYS_PTRACE', '--system-call-filter=bpf perf_event_open')
# Files of the booted system, and of dpkg.
SYSTEMS = r'/(var/(lib/(dpkg|systemd|dbus|private)|log|cache/(private|ldconfig)|tmp)|etc/(machine-id|\.updated|ld\.so\.cache|hostname|resolv\.conf|' \
          r'\.pwd\.lock|localtime)|run|tmp|dev|root/|debs|apps|test-packages|sys|proc|var/\.updated|usr/lib/clock-epoch)'
ACCOUNTS = r'/etc/(passwd|group|g?shadow|subuid|subgid)-?\Z'


@unittest.skipUnless(SOAK, 'the soak boots a system: test/soak')
class Booted(unittest.TestCase):
    """One boot for all tests; they run in the order of their names."""

    given = None

    @classmethod
    def setUpClass(cls):
        need('systemd-nspawn', 'nsenter', 'unshare', 'mmdebstrap')
        with open(os.path.join(SOURCE, 'packaging', 'deps.sh'), encoding='utf-8') as file:
            libraries = re.search(r'^TS_DEPS_RUN="([^"]*)"', file.read(), re.MULTILINE).group(1).split()
        lower = roots.base(*SYSTEM, *libraries)
        if not cls.given:
            need('dpkg-buildpackage', 'dh')
            cls.given = os.path.dirname(roots.built('deb.sh', 'deb/*.deb')[0])
        cls.folder = tempfile.mkdtemp(prefix='ts-systemd-', dir=roots.CACHE)
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        # Its name changes by version; only one version may be there.
        cls.packages = []
        for name in NAMES:
            paths = sorted(glob.glob(os.path.join(cls.given, name + '_*.deb')))
            cls.packages.append('/debs/' + os.path.basename(paths[-1]))
        binds = [(cls.given, '/debs'), (os.path.join(SOURCE, 'test', 'apps'), '/apps'), (os.path.dirname(os.path.abspath(__file__)), '/test-packages')]
        cls.machine = roots.Machine(lower, cls.folder, binds, OPTIONS)
        cls.addClassCleanup(cls.machine.stop)
        state = cls.machine.wait_booted()
        if state != 'running':
            raise unittest.SkipTest('systemd-nspawn boots no system here: %s' % state)
        cls.machine.run('useradd', '--uid', str(STRANGER), '--user-group', 'ada')
        cls.before = set(cls.machine.left())

    # ---- helpers -------------------------------------------------------------------------------

    def run_in(self, *command, **options):
        return self.machine.run(*command, **options)

    def show(self, unit, *names):
        text = self.run_in('systemctl', 'show', unit, *('--property=' + name for name in names))
        return dict(line.split('=', 1) for line in text.splitlines())

    def states(self):
        return tuple(self.run_in('systemctl', 'is-active', unit, status=None).strip() for unit in UNITS)

    def as_stranger(self, *command):
        """A user's program with the preloaded library, as a process of its own unit."""
        vgpu = os.path.dirname(self.run_in('sh', '-c', 'ls /usr/lib/*/tracesmith/vgpu/libcuda.so.1').strip())
        return self.run_in('systemd-run', '--quiet', '--wait', '--pipe', '--collect', '--uid=%d' % STRANGER, '--gid=%d' % STRANGER,
                           '--setenv=LD_PRELOAD=libtsinject.so', '--setenv=LD_LIBRARY_PATH=' + vgpu, *command)

    def traces(self):
        return set(self.run_in('find', TRACES, '-name', '*.sbt').split())

    def info(self, path):
        end = time.monotonic() + SECONDS
        while True:
            found = json.loads(self.run_in('tsctl', 'info', '--json', path))
            if found['finished']:
                return found
            self.assertLess(time.monotonic(), end, '%s is not finished' % path)
            time.sleep(0.2)

    def record(self):
        """Records a program and checks its trace."""
        before = self.traces()
        self.as_stranger('python3', '/apps/python-ctypes.py', '3')
        # The first program may be over before the service has started. Its ring waits.
        self.wait_for(lambda: self.traces() - before, 'no trace')
        path, = self.traces() - before
        self.assertTrue(path.startswith('%s/%d/' % (TRACES, STRANGER)), path)
        found = self.info(path)
        self.assertEqual((found['counts']['kernel'], found['lost']), (KERNELS, {}))
        self.run_in('tsctl', 'verify', path)
        return path

    def wait_for(self, check, what):
        end = time.monotonic() + SECONDS
        while not check():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.1)

    # ---- the life of the service -----------------------------------------------------------------

    def test_1_install_enables_nothing(self):
        self.run_in('dpkg', '-i', *self.packages)
        self.assertEqual([self.run_in('systemctl', 'is-enabled', unit, status=None).strip() for unit in UNITS], ['disabled', 'disabled'])
        self.assertEqual(self.states(), ('inactive', 'inactive'))
        self.assertIn(TRACES, self.run_in('getent', 'passwd', 'tracesmith'))

    def test_2_the_socket_starts_the_service(self):
        self.run_in('systemctl', 'enable', '--now', 'tracesmithd.socket')
        self.assertEqual(self.states(), ('active', 'inactive'))
        self.record()
        self.assertEqual(self.states(), ('active', 'active'))
        shown = self.run_in('systemctl', 'status', '--no-pager', '--full', *UNITS)
        print(shown)
        self.assertIn('Active: active (running)', shown)
        self.assertIn('TriggeredBy', shown)
        self.assertIn('service', self.run_in('tsctl', 'status'))

    def test_3_rights(self):
        """The process has what the unit says: systemd itself has set it."""
        pid = self.show('tracesmithd.service', 'MainPID')['MainPID']
        text = self.run_in('cat', '/proc/%s/status' % pid)
        status = {line.split(':')[0]: line.split(':')[1].split() for line in text.splitlines()}
        uid = self.run_in('id', '-u', 'tracesmith').strip()
        self.assertEqual((status['Uid'], status['NoNewPrivs'], status['Seccomp']), ([uid] * 4, ['1'], ['2']))
        for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'):
            self.assertEqual(int(status[name][0], 16), 0, name)
        self.assertEqual(self.run_in('stat', '-c', '%U %a', TRACES).strip(), 'tracesmith 751')
        text = self.run_in('systemd-analyze', '--no-pager', 'security', 'tracesmithd.service')
        line = text.strip().splitlines()[-1]
        print(line)
        self.assertLessEqual(float(line.split(': ')[1].split()[0]), MOST)
        self.assertEqual(self.run_in('systemd-analyze', 'verify', '--man=no', *UNITS), '')

    def test_4_a_restart_loses_nothing(self):
        self.while_a_program_runs(lambda: self.run_in('systemctl', 'restart', 'tracesmithd.service'))

    def test_5_an_upgrade_loses_nothing(self):
        """dpkg runs the same scripts when it unpacks the same version once more."""
        self.run_in('sh', '-c', 'echo \'TRACESMITHD_OPTIONS="--max-sessions 77"\' >>/etc/default/tracesmithd')
        self.while_a_program_runs(lambda: self.run_in('dpkg', '-i', *self.packages))
        pid = self.show('tracesmithd.service', 'MainPID')['MainPID']
        self.assertIn('--max-sessions 77', self.run_in('sh', '-c', 'tr "\\0" " " </proc/%s/cmdline' % pid))

    def while_a_program_runs(self, act):
        """Another daemon continues in the program's ring; all files together have all launches."""
        before, pid = self.traces(), self.show('tracesmithd.service', 'MainPID')['MainPID']
        script = 'rm -f /tmp/over; systemctl reset-failed steady 2>/dev/null; systemd-run --quiet --unit=steady --uid=%d --gid=%d --service-type=exec ' \
                 '--property=StandardOutput=file:/tmp/launches --property=ExitType=cgroup --setenv=LD_PRELOAD=libtsinject.so ' \
                 '--setenv=LD_LIBRARY_PATH=$(dirname /usr/lib/*/tracesmith/vgpu/libcuda.so.1) ' \
                 'python3 /test-packages/steady.py /tmp/over' % (STRANGER, STRANGER)
        self.run_in('sh', '-c', script)
        self.wait_for(lambda: self.traces() - before, 'no trace begins')
        time.sleep(1)
        act()
        self.wait_for(lambda: self.states() == ('active', 'active'), 'the service is not back')
        self.assertNotEqual(self.show('tracesmithd.service', 'MainPID')['MainPID'], pid)
        time.sleep(1)
        self.run_in('touch', '/tmp/over')
        self.wait_for(lambda: self.run_in('systemctl', 'is-active', 'steady', status=None).strip() != 'active', 'the program does not end')
        launches = int(self.run_in('cat', '/tmp/launches'))
        infos = {path: self.info(path) for path in self.traces() - before}
        print('%d launches, files: %s' % (launches, {path: one['counts'].get('kernel') for path, one in infos.items()}))
        # The two halves of an operation may be in different files.
        self.assertLessEqual({reason for one in infos.values() for reason in one['lost']}, {'unjoined_api', 'unjoined_device'})
        self.assertEqual(sum(one['counts'].get('kernel', 0) for one in infos.values()), launches)

    def test_6_a_killed_service_starts_anew(self):
        self.run_in('systemctl', 'kill', '--signal=KILL', 'tracesmithd.service')
        self.wait_for(lambda: self.show('tracesmithd.service', 'NRestarts')['NRestarts'] == '1' and self.states() == ('active', 'active'), 'no restart')
        self.record()

    def test_7_rights_of_the_drop_ins(self):
        folder = '/etc/systemd/system/tracesmithd.service.d'
        self.run_in('install', '-D', '-m', '644', '-t', folder, '/usr/share/tracesmith/kernel-events.conf')
        self.run_in('systemctl', 'daemon-reload')
        self.run_in('systemctl', 'restart', 'tracesmithd.service')
        self.record()
        shown = {one['name']: one['present'] for one in json.loads(self.run_in('tsctl', 'status', '--json'))['capabilities']}
        self.assertEqual({name for name, present in shown.items() if present}, {'CAP_BPF', 'CAP_PERFMON'})

    def test_8_an_enabled_socket_listens_after_a_boot(self):
        before = self.traces()
        self.assertEqual(self.machine.reboot(), 'running')
        self.assertEqual(self.states(), ('active', 'inactive'))
        self.assertEqual(self.traces(), before)
        self.record()
        self.run_in('systemctl', 'stop', *UNITS)
        self.assertEqual(self.states(), ('inactive', 'inactive'))
        self.assertEqual(self.show('tracesmithd.service', 'Result', 'ExecMainStatus'), {'Result': 'success', 'ExecMainStatus': '0'})
        self.run_in('test', '!', '-e', '/run/tracesmith/inject.sock')

    def test_9_journal(self):
        """No warning, but for the process that test_6 killed, and that a container has no kernel events."""
        text = self.run_in('journalctl', '--no-pager', '--output=short', '--priority=warning', '--unit=tracesmithd.service', '--unit=tracesmithd.socket')
        lines = [line for line in text.splitlines() if not re.search(r'status=9/KILL|Failed with result .signal.|kernel events|^-- ', line)]
        self.assertEqual(lines, [])
        text = self.run_in('journalctl', '--no-pager', '--output=cat', '--unit=tracesmithd.service')
        print('\n'.join(text.splitlines()[:4]))
        self.assertEqual(self.run_in('systemctl', '--failed', '--no-legend', '--plain').strip(), '')

    def test_purge(self):
        self.run_in('systemctl', 'start', 'tracesmithd.socket')
        self.record()
        traces = self.traces()
        self.run_in('dpkg', '--purge', *NAMES)
        self.assertEqual(self.run_in('systemctl', 'list-unit-files', '--no-legend', 'tracesmith*', status=None).strip(), '')
        self.assertEqual(self.run_in('pgrep', '-u', 'tracesmith', status=1), '')
        self.assertEqual(self.run_in('systemctl', '--failed', '--no-legend', '--plain').strip(), '')
        self.assertEqual(self.traces(), traces)
        # A file of the base that went shows as a device (0, 0) in the upper folder, so `left` names it, too.
        left = [path for path in self.machine.left() if path not in self.before and not re.match(SYSTEMS, path) and not re.match(ACCOUNTS, path)]
        self.assertEqual(set(left) - traces, set())
        self.assertEqual(self.run_in('systemctl', 'is-system-running', status=None).strip(), 'running')


if __name__ == '__main__':
    sys.exit(command_line.main(Booted, '--packages', failfast=True))
