# SPDX-License-Identifier: Apache-2.0
"""A daemon as a service, and asking it.

$TS_UNIT is a unit file: services then run as its user, with its rights and in its confinement (unit.py), else as the test does.
"""
import glob
import os
import subprocess
import sys
import time
import unittest

import control
import harness
import unit

UNIT = os.environ.get('TS_UNIT')
DROP_INS = {'--kernel-events': 'kernel-events.conf', '--system': 'system.conf'}
# For tests, and classes of tests, that start no service: in the unit they would run a second time as they are.
no_service = unittest.skipIf(UNIT, 'it starts no service')


def drop_in(name):
    return os.path.join(harness.SOURCE, 'packaging', 'systemd', name)


def make(folder):
    """A directory for a service that runs already."""
    os.mkdir(folder)
    if UNIT:
        os.chown(folder, unit.UID, unit.UID)


def command(folder, *options, binds=()):
    """How a service is started that keeps all it has below the folder. What options need more rights for comes by drop-ins."""
    argv = [harness.DAEMON, *options]
    if not UNIT:
        return argv
    if unit.missing():
        raise unittest.SkipTest(unit.missing())
    os.chmod(folder, 0o755)
    for path, names, _ in os.walk(folder):
        os.chown(path, unit.UID, unit.UID)
    needed = {DROP_INS[option.split('=')[0]] for option in options if option.split('=')[0] in DROP_INS}
    return [sys.executable, unit.__file__, '--write', folder, *('--drop-in=' + drop_in(name) for name in sorted(needed)),
            *('--bind=' + bind for bind in binds), UNIT, *argv]


class Service(harness.Case):
    def setUp(self):
        super().setUp()
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        self.traces = self.path('traces')
        os.mkdir(self.traces)

    def start_daemon(self, *options, binds=()):
        with open(self.path('daemon.log'), 'ab') as log:
            self.daemon = subprocess.Popen(
                command(self.folder, '--inject-socket', self.inject, '--control-socket', self.control,
                        '--directory', self.traces, *options, binds=binds), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=harness.environment())
        self.addCleanup(self.end_daemon, self.daemon)
        self.wait(lambda: os.path.exists(self.inject) and self.listens(), 'the daemon')

    def listens(self):
        """A socket has a path before it listens."""
        try:
            control.Control(self.control).close()
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    def end_daemon(self, daemon):
        if daemon.poll() is None:
            daemon.terminate()
        self.assertEqual(daemon.wait(harness.SECONDS), 0)

    def wait(self, what, name):
        end = time.monotonic() + harness.SECONDS
        while not what():
            if time.monotonic() > end or self.daemon.poll() is not None:
                with open(self.path('daemon.log'), encoding='utf-8') as log:
                    self.fail('%s did not come: %s' % (name, log.read()))
            time.sleep(0.02)

    def environment(self):
        return harness.environment(TRACESMITH_CONTROL=self.control)

    def tsctl(self, *arguments):
        return harness.tsctl(*arguments, env=self.environment(), cwd=self.folder)

    def workers(self):
        """Processes of the daemon that work out answers: its children, but for the porter."""
        found = []
        for path in glob.glob('/proc/[0-9]*/stat'):
            try:
                with open(path, encoding='utf-8', errors='replace') as stat:
                    text = stat.read()
            except OSError:
                continue
            fields = text[text.rindex(')') + 2:].split()
            name = text[text.index('(') + 1:text.rindex(')')]
            if int(fields[1]) == self.daemon.pid and name != 'tracesmith-port':
                found.append(int(path.split('/')[2]))
        return found
