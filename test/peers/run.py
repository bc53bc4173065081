#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py --build DIR --checkouts DIR [OPTION ...] [PROJECT | PROJECT/PROGRAM ...]: other people's programs on the virtual GPU.

Builds each program of the lists (*.ini) from a checkout of its project, runs it on the virtual GPU, records it, captures it, replays
the capture, checks the replay, and compares each result with the one that the list expects. README.md describes the lists and the
table. Without names all programs of all projects run. Exits with 1 if a result is not the expected one.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

import lists
import steps
import table

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


def clone(project, folder):
    """Clones a project at the revision of its list."""
    subprocess.run(['git', 'clone', '--quiet', '--filter=blob:none', project.url, folder], check=True)
    subprocess.run(['git', '-C', folder, 'checkout', '--quiet', project.revision], check=True)


def find_checkout(project, options):
    """The folder of a project's checkout, or None."""
    folder = os.path.join(options.checkouts, project.name)
    if not os.path.isdir(folder) and options.clone:
        clone(project, folder)
    return folder if os.path.isdir(folder) else None


def choose(names):
    """The programs that names select, project by project."""
    projects = lists.read(HERE)
    every = [program for project in projects for program in project.programs]
    if not names:
        return projects, every
    chosen = [program for program in every if program.project.name in names or program.name in names or
              any(re.fullmatch(re.escape(name).replace(r'\*', '.*'), program.name) for name in names)]
    return projects, chosen


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--build', default=os.path.join(SOURCE, 'build', 'test', 'gcc'), help="TraceSmith's build folder")
    parser.add_argument('--checkouts', default='peers', help='folder that holds a checkout of each project, by the name of its list')
    parser.add_argument('--work', default='peers-work', help='folder for programs, traces, logs and results')
    parser.add_argument('--clone', action='store_true', help='clone a project that has no checkout (needs a network)')
    parser.add_argument('--list', action='store_true', help='print the programs and what is expected of them')
    parser.add_argument('--rebuild', action='store_true', help='build programs that are already built')
    parser.add_argument('--unsettled', action='store_true', help='only programs without a result in the work folder, or with an unexpected one')
    parser.add_argument('--table', metavar='FILE', help='write the result table of all programs that ever ran in the work folder')
    parser.add_argument('--patience', type=int, default=1, help='factor for all time limits, for a busy machine (default: 1)')
    parser.add_argument('-j', '--jobs', type=int, default=1, help='programs at once (default: 1)')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    projects, programs = choose(options.names)
    if options.unsettled:
        results = [table.load(options.work, program) for program in programs]
        programs = [program for program, result in zip(programs, results) if not result or result['unexpected']]
    if not programs:
        parser.error('no such program: %s' % ' '.join(options.names))
    if options.list:
        for program in programs:
            print('%-50s %s' % (program.name, program.expectation()))
        return 0
    tools = steps.Tools(os.path.abspath(options.build), os.path.abspath(options.work), options.rebuild, options.patience)
    checkouts = {project.name: find_checkout(project, options) for project in {program.project for program in programs}}

    def one(program):
        checkout = checkouts[program.project.name]
        if not checkout:
            return program, {'unexpected': ['no checkout of %s in %s' % (program.project.name, options.checkouts)]}
        return program, steps.run(program, os.path.abspath(checkout), tools)

    unexpected = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, result in pool.map(one, programs):
            table.save(tools.work, program, result)
            unexpected += bool(result['unexpected'])
            print('%-50s %s' % (program.name, '; '.join(result['unexpected']) or table.summary(result)), flush=True)
    if options.table:
        table.write(options.table, tools.work, projects)
    print('%d as expected, %d not' % (len(programs) - unexpected, unexpected))
    return 1 if unexpected else 0


if __name__ == '__main__':
    sys.exit(main())
