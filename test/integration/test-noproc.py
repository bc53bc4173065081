#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Without /proc: tsctl's commands work or name what they need, the daemon does not start, and programs do not notice. Root only."""
import os
import shutil
import subprocess
import unittest

import harness

NEEDS = r'needs /proc, which is not mounted here: `mount -t proc proc /proc`\n$'
WITHOUT = ['unshare', '-m', 'sh', '-c', 'umount -l /proc && exec "$@"', 'sh']


def missing():
    if not shutil.which('unshare'):
        return 'no unshare(1)'
    if harness.SANITIZER:
        return 'LeakSanitizer reads /proc'
    return None if not subprocess.run(WITHOUT + ['true'], stderr=subprocess.DEVNULL, check=False).returncode else \
        '/proc cannot be unmounted here: needs root'


MISSING = missing()


@unittest.skipIf(MISSING, MISSING)
class NoProc(harness.Case):
    def setUp(self):
        super().setUp()
        self.trace = self.path('trace.sbt')
        make = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many')
        self.assertEqual(harness.run([make, self.trace, '100', 'captured-launches']).status, 0)

    def tsctl(self, *arguments, **kwargs):
        return harness.run(WITHOUT + [harness.TSCTL, *arguments], cwd=self.folder, **kwargs)

    def test_reading(self):
        for arguments in (['info'], ['verify'], ['view'], ['view', '--stats'], ['timeline'], ['state', '--at', '1us'], ['graph'],
                          ['memory'], ['analyze'], ['gaps'], ['replay', '--on', 'emulate'], ['replay', '--on', 'vgpu']):
            with self.subTest(arguments):
                here = harness.run([harness.TSCTL, *arguments, self.trace])
                self.assertEqual(here.status, 0, here)
                result = self.tsctl(*arguments, self.trace)
                self.assertEqual((result.status, result.err), (0, here.err))

    def test_writing(self):
        for arguments in (['cut', '--to', '10us', self.trace], ['merge', self.trace, self.trace], ['dump', self.trace],
                          ['export', '--format', 'json', self.trace], ['graph', '--format', 'json', self.trace]):
            with self.subTest(arguments):
                out = self.path(arguments[0] + '.out')
                result = self.tsctl(*arguments, '-o', out)
                self.assertEqual(result.status, 0, result)
                self.assertGreater(os.path.getsize(out), 0)
                # What was written aside is gone, and another name's file is as it was.
                self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(arguments[0] + '.out')],
                                 [arguments[0] + '.out'])

    def test_what_needs_it(self):
        for arguments, status in ((['record', '-o', 'r.sbt', '--', 'true'], 125), (['symbolize', self.trace], 2)):
            result = self.tsctl(*arguments)
            self.assertEqual(result.status, status, result)
            self.assertRegex(result.err, r'^tsctl [a-z]+: [a-z ]+ ' + NEEDS)

    def test_others(self):
        """Commands that ask a daemon or the machine: one line at most, which says something."""
        for arguments in (['devices'], ['status'], ['sessions'], ['start'], ['stop'], ['watch', '1'], ['version'],
                          ['info', '--session', '1'], ['timeline', '--served', self.trace]):
            result = self.tsctl(*arguments)
            self.assertLessEqual(result.err.count('\n'), 1, result)
            self.assertNotRegex(result.err, r'(at|in) ?[;:,]|No such file')

    def test_the_daemon(self):
        result = harness.run(WITHOUT + [harness.DAEMON, '--directory', self.folder, '--inject-socket', self.path('i'),
                                        '--control-socket', self.path('c')])
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, r'^tracesmithd: tracesmithd ' + NEEDS)

    def test_a_program(self):
        """Preloaded, without a service: it is as it was."""
        for name in ('calls', 'threads'):
            if not os.path.exists(harness.app(name, 'driver')):
                continue
            plain = harness.run(WITHOUT + [harness.app(name, 'driver'), '10'], env=harness.alone_environment())
            result = harness.run(WITHOUT + [harness.app(name, 'driver'), '10'],
                                 env=dict(harness.alone_environment(), LD_PRELOAD=harness.SHIM), cwd=self.folder)
            self.assertEqual((result.status, result.err), (plain.status, plain.err))
            self.assertEqual(result.out.count('\n'), plain.out.count('\n'))


if __name__ == '__main__':
    unittest.main()
