#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of Studio's page: page.py unit ESBUILD NODE MODULES, or page.py types TSC. What is not installed is ''."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, '..', '..', '..', 'tools', 'studio', 'page')
SKIPPED = 77


def run_unit(esbuild, node, modules):
    """Bundles the modules without document and network, and runs page.mjs on the bundle."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = os.path.join(folder, 'core.mjs')
        subprocess.run([esbuild, os.path.join(PAGE, 'src', 'core', 'index.ts'), '--bundle', '--format=esm', '--target=es2020',
                        '--log-level=warning', '--outfile=' + bundle], check=True, env={**os.environ, 'NODE_PATH': modules})
        return subprocess.run([node, os.path.join(HERE, 'page.mjs'), bundle], check=False).returncode


def main():
    """Runs one of the two tests."""
    what, *programs = sys.argv[1:]
    for name, program in zip({'unit': ['esbuild', 'node', 'd3-hierarchy'], 'types': ['tsc']}[what], programs):
        if not program:
            print('skipped: %s is not installed' % name)
            return SKIPPED
    if what == 'types':
        return subprocess.run([programs[0], '-p', os.path.join(PAGE, 'tsconfig.json')], check=False).returncode
    return run_unit(*programs)


if __name__ == '__main__':
    sys.exit(main())
