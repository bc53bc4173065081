#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count-tests.py FAILURES TESTLOG...: sums meson's logs; the last line is "N passed, N failed" and nothing else.

FAILURES is what failed outside of any log, a build for instance. A log that is named but missing, as a
shell's unmatched pattern is, counts for nothing: whoever names it has counted its absence already.
"""
import json
import os
import sys

PASSED = {'OK', 'EXPECTEDFAIL'}
SKIPPED = {'SKIP'}


def main():
    failed, passed, skipped = int(sys.argv[1]), 0, 0
    for path in sys.argv[2:]:
        if not os.path.exists(path):
            continue
        build = os.path.basename(os.path.dirname(os.path.dirname(path)))
        with open(path, encoding='utf-8') as stream:
            for line in stream:
                test = json.loads(line)
                if test['result'] in PASSED:
                    passed += 1
                elif test['result'] in SKIPPED:
                    skipped += 1
                    print('skipped: %s: %s' % (build, test['name']))
                else:
                    failed += 1
                    print('failed: %s: %s (%s)' % (build, test['name'], test['result']))
    if not passed:
        print('no test ran')
    if skipped:
        print('%d skipped' % skipped)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
