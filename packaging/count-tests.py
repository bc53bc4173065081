#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count-tests.py FAILURES TESTLOG...: sums meson's logs, lists the slowest tests; the last line is "N passed, N failed" and nothing else.

FAILURES is what failed outside of any log, a build for instance. A log that is named but missing, as a
shell's unmatched pattern is, counts for nothing: whoever names it has counted its absence already.
A test that failed, and passed in the log again.json beside it, passed; it is named.

count-tests.py --again TESTLOG: names the tests worth another run, where few failed. A race that ThreadSanitizer reported once is an
error, so such a test is not among them.
"""
import json
import os
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}
# If more tests failed than this, a busy machine is not the cause, so none of them runs again.
MOST_AGAIN = 3
N_SLOWEST = 10


def read(path):
    with open(path, encoding='utf-8') as stream:
        return [json.loads(line) for line in stream]


def print_again(path):
    failed = [test for test in read(path) if test['result'] not in PASSED | SKIPPED]
    if len(failed) <= MOST_AGAIN:
        for test in failed:
            if 'WARNING: ThreadSanitizer' in test.get('stdout', '') + test.get('stderr', ''):
                continue
            # "tracesmith:integration / integration-apps"
            print(test['name'].split(' / ')[1])


def passed_again(path):
    again = os.path.join(os.path.dirname(path), 'again.json')
    if not os.path.exists(again):
        return set()
    return {test['name'] for test in read(again) if test['result'] in PASSED}


def print_slowest(durations):
    """durations: (seconds, step, name) of each test's first run."""
    print('the %d slowest tests:' % min(N_SLOWEST, len(durations)))
    for seconds, step, name in sorted(durations, reverse=True)[:N_SLOWEST]:
        print('%8.1f s  %s: %s' % (seconds, step, name))


def main():
    if sys.argv[1] == '--again':
        print_again(sys.argv[2])
        return 0
    failed, passed, skipped = int(sys.argv[1]), 0, 0
    durations = []
    for path in sys.argv[2:]:
        if not os.path.exists(path):
            continue
        build = os.path.basename(os.path.dirname(os.path.dirname(path)))
        again = passed_again(path)
        for test in read(path):
            durations.append((test['duration'], build, test['name']))
            if test['result'] in SKIPPED:
                skipped += 1
                print('skipped: %s: %s' % (build, test['name']))
            elif test['result'] in PASSED:
                passed += 1
            elif test['name'] in again:
                passed += 1
                print('passed when run again, alone: %s: %s' % (build, test['name']))
            else:
                failed += 1
                print('failed: %s: %s (%s)' % (build, test['name'], test['result']))
    if durations:
        print_slowest(durations)
    if not passed:
        print('no test ran')
    if skipped:
        print('%d skipped' % skipped)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
