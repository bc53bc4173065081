# SPDX-License-Identifier: Apache-2.0
"""The command line and the exit status that test-deb.py, test-release.py and test-systemd.py share."""
import os
import sys
import unittest

SKIPPED = 77


def main(case, option, failfast=False):
    """Runs the tests. The folder behind `option` becomes case.given. Returns the exit status; reasons of skips are printed."""
    if option in sys.argv:
        at = sys.argv.index(option)
        case.given = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    program = unittest.main(exit=False, verbosity=2, failfast=failfast)
    for test, reason in program.result.skipped:
        print('skipped: %s: %s' % (test, reason))
    if not program.result.wasSuccessful():
        return 1
    return SKIPPED if len(program.result.skipped) >= program.result.testsRun else 0
