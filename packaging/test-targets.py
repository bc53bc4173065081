#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-targets.py FOLDER [--suite NAME | --no-suite NAME ...]: what ninja has to build for these tests of a build folder.

The options are `meson test`'s own. What a test runs, its `depends` in meson.build say.
"""
import argparse
import json
import os
import subprocess


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('--suite', action='append', default=[])
    parser.add_argument('--no-suite', action='append', default=[])
    options = parser.parse_args()
    known = json.loads(subprocess.run(['meson', 'introspect', '--targets', '--tests', '--force-object-output', options.folder],
                                      stdout=subprocess.PIPE, check=True).stdout)
    names = {target['id']: target['filename'] for target in known['targets']}
    wanted = set()
    for test in known['tests']:
        # "tracesmith:unit"
        suites = {suite.split(':')[-1] for suite in test['suite']}
        if (suites.intersection(options.suite) or not options.suite) and not suites.intersection(options.no_suite):
            for target in test['depends']:
                wanted.update(names[target])
    folder = os.path.realpath(options.folder)
    print('\n'.join(sorted(os.path.relpath(os.path.realpath(path), folder) for path in wanted)))


if __name__ == '__main__':
    main()
