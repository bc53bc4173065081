#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every interleaving of ring.pml is visited and nothing that must hold is violated; and each mutation of it is caught."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ring.pml')
MUTATIONS = ('PUBLISH_FIRST', 'COPY_FIRST', 'IGNORE_RELEASED', 'RELEASE_EARLY', 'RESUME_AT_HEAD',
             'TAKE_UNRELEASED')
# A bound for a search that does not end; beside other work on two processors it takes minutes.
SECONDS = 900


def check(folder, *defines):
    """(errors, states) of the model with these defines; every state is visited unless an error ends the search."""
    run = lambda *argv: subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, timeout=SECONDS, check=True,
                                       universal_newlines=True).stdout
    run('spin', '-a', *['-D' + define for define in defines], MODEL)
    run(os.environ.get('CC', 'cc').split()[-1], '-O1', '-w', '-DSAFETY', '-DCOLLAPSE', '-o', 'pan', 'pan.c')
    out = run('./pan', '-E', '-m1000000')
    if 'search depth too small' in out or 'memory' in re.sub(r'memory usage.*', '', out, flags=re.S):
        raise SystemExit('the search was not exhaustive:\n' + out)
    return (int(re.search(r'errors: (\d+)', out).group(1)),
            int(re.search(r'(\d+) states, stored', out).group(1)))


def main():
    if not shutil.which('spin'):
        print('skipped: spin is not installed')
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix='ts-model-') as folder:
        errors, states = check(folder)
        print('the protocol: %d errors in %d states' % (errors, states))
        failed += errors != 0
        for mutation in MUTATIONS:
            errors, states = check(folder, mutation)
            print('%s: %s after %d states' % (mutation, 'caught' if errors else 'NOT CAUGHT', states))
            failed += not errors
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
