#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py --build DIR [--list] [NAME ...]: checks that take over a minute, at full size.

Each check is a test of the ordinary run with other numbers: an option of the test, or TS_SOAK=1 in its environment. The ordinary
run has the same code at a size that ends in seconds. Without names all checks run, one after the other; each has a time limit.
The last line is "N passed, N failed, N skipped".
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Name: (meson test that has the code, arguments that the soak adds, limit in seconds).
CHECKS = {
    'death': ('integration-death', ['--points', '200'], 7200),
    'death-over-hip': ('integration-death-over-hip', ['--points', '200'], 7200),
    'crash': ('integration-crash', ['--points', '200'], 7200),
    'crashes': ('integration-crashes', ['--runs', '100'], 7200),
    'fork': ('integration-fork', ['--processes', '1000'], 1200),
    'switch': ('integration-switch', ['--cycles', '10000', 'Switch.test_cycles_leave_nothing_behind'], 7200),
    'windows': ('integration-windows', ['--all'], 7200),
    'frames': ('integration-frames', ['--all'], 7200),
    'schedules': ('integration-schedules', ['--all'], 7200),
    'host': ('integration-host', ['-v', 'Shares'], 3600),
    'memory': ('unit-daemon-memory', [], 3600),
    'compute': ('integration-compute', ['Compute.test_cub_often', 'Compute.test_thrust_often'], 7200),
    'tears': ('unit-ptx-memory', [], 3600),
    'diff': ('integration-diff', ['Diff.test_planted_changes_under_load', 'Diff.test_identical_runs_under_load'], 7200),
    'order': ('unit-ptx-order', [], 3600),
    'threads': ('integration-threads', ['Threads.test_same_output'], 3600),
    'hang': ('integration-tsctl', ['Record.test_daemon_that_hangs'], 600),
    'deb': ('packages-deb', [], 10800),
    'release': ('packages-release', [], 7200),
    'tarball': ('integration-tarball', ['Archive'], 7200),
    'wheel': ('integration-wheel', ['Everywhere'], 7200),
    'rpm': ('packages-rpm', [], 7200),
    'systemd': ('packages-systemd', [], 10800),
    'container': ('packages-container', [], 7200),
    'homebrew': ('packages-homebrew', [], 3600),
    'aarch64': ('integration-aarch64', [], 14400),
    'studio': ('studio-chromium', [], 3600),
    'studio-findings': ('studio-findings', [], 3600),
    'studio-lanes': ('studio-lanes', [], 3600),
    'studio-looks': ('studio-looks', [], 3600),
    'studio-panels': ('studio-panels', [], 3600),
    'studio-speed': ('studio-speed', [], 7200),
    'studio-timeline': ('studio-timeline', [], 3600),
    'studio-tiles': ('studio-tiles-outside', [], 3600),
    'replay-hostile': ('integration-hostile', ['--runs', '3000'], 14400),
}


def find_test(build, name):
    """The command and the environment that the build has for a test."""
    tests = json.loads(subprocess.run(['meson', 'introspect', '--tests', build], check=True, capture_output=True).stdout)
    for test in tests:
        if test['name'] == name:
            return test['cmd'], test['env'], test['workdir'] or build
    raise SystemExit('%s has no test %s' % (build, name))


def run(build, name):
    """'passed', 'failed' or 'skipped'."""
    test, arguments, limit = CHECKS[name]
    command, environment, folder = find_test(build, test)
    begin = time.monotonic()
    print('== %s: %s %s' % (name, test, ' '.join(arguments)), flush=True)
    try:
        status = subprocess.run(command + arguments, cwd=folder, timeout=limit, check=False,
                                env={**os.environ, **environment, 'TS_SOAK': '1'}).returncode
    except subprocess.TimeoutExpired:
        print('%s: not over after %d s' % (name, limit))
        return 'failed'
    result = {0: 'passed', 77: 'skipped'}.get(status, 'failed')
    print('== %s: %s, %.0f s' % (name, result, time.monotonic() - begin), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(usage=re.split(r'\n', __doc__)[0])
    parser.add_argument('--build', default=os.path.join(SOURCE, 'build', 'test', 'gcc'))
    parser.add_argument('--list', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in CHECKS]
    if unknown:
        parser.error('no such check: %s (%s)' % (', '.join(unknown), ' '.join(CHECKS)))
    if options.list:
        for name, (test, arguments, _) in CHECKS.items():
            print('%-16s %s %s' % (name, test, ' '.join(arguments)))
        return 0
    results = [run(os.path.abspath(options.build), name) for name in options.names or CHECKS]
    print('%d passed, %d failed, %d skipped' % tuple(results.count(result) for result in ('passed', 'failed', 'skipped')))
    return 1 if 'failed' in results else 0


if __name__ == '__main__':
    sys.exit(main())
