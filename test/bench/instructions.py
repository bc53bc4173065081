#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""instructions.py BUILD [--over WAY] [--launches N] [--functions] [--capture]: instructions of the shim for one launch, by callgrind.

Runs stress-driver or stress-hip with 1,000 and with N more launches, preloaded, and takes the difference of the instructions in libtsinject's
objects. The start, the end and the launches of the warm-up cancel out. run.py prints the result; by itself the program prints JSON.

  --over       cuda (default), hip-tables or hip-functions: HIP by its dispatch tables or by its exported functions
  --functions  also the functions, the largest first
  --capture    with capture for replay, without stacks
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FIRST = 1000

# The program's form and the virtual GPU's setting. HIP's two ways have the same program and library: a release without tables.
WAYS = {'cuda': ('driver', 'small'), 'hip-tables': ('hip', 'small'), 'hip-functions': ('hip', 'small,hip=6.1')}


def by_function(path):
    """Instructions by object and function, of a file that callgrind wrote."""
    names = {'ob': {}, 'fn': {}}
    costs, here, is_call = {}, {'ob': '', 'fn': ''}, False
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            match = re.match(r'(c?)(ob|fn)=\((\d+)\)(?: (.*))?', line)
            if match:
                kind = names[match[2]]
                if match[4]:
                    kind[match[3]] = match[4]
                if not match[1]:
                    here[match[2]] = kind[match[3]]
            elif line.startswith('calls='):
                is_call = True
            elif re.match(r'[+*\d-]', line):
                # The line behind `calls=` has the cost of the callee, which the callee's own lines have, too.
                if not is_call:
                    key = here['ob'], here['fn']
                    costs[key] = costs.get(key, 0) + int(line.split()[-1])
                is_call = False
    return costs


def run(build, form, launches, folder, env):
    out = os.path.join(folder, 'callgrind.%d' % launches)
    subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=' + out,
                    os.path.join(build, 'test/apps/stress-' + form), str(launches), '1', '500'],
                   env=dict(env, TRACESMITH_OUTPUT=os.path.join(folder, '%d.sbt' % launches)), check=True, timeout=600, cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    info = json.loads(subprocess.run([os.path.join(build, 'tools/tsctl/tsctl'), 'info', '--json',
                                      os.path.join(folder, '%d.sbt' % launches)], check=True, stdout=subprocess.PIPE).stdout)
    if info['counts'].get('kernel') != launches or info['lost']:
        sys.exit('%d launches, in the file: %s, lost: %s' % (launches, info['counts'], info['lost']))
    return by_function(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--over', choices=WAYS, default='cuda')
    parser.add_argument('--launches', type=int, default=10000)
    parser.add_argument('--functions', action='store_true')
    parser.add_argument('--capture', action='store_true')
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    mapping = os.path.join(build, 'test/bench/libbench-mapping.so')
    if not shutil.which('valgrind'):
        print('no valgrind', file=sys.stderr)
        return 77
    form, setting = WAYS[arguments.over]
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(build, 'tools/vgpu'), TRACESMITH_VGPU=setting,
               LD_PRELOAD=mapping + ':' + os.path.join(build, 'inject/libtsinject.so'))
    if arguments.capture:
        env.update(TRACESMITH_CAPTURE='replay', TRACESMITH_STACKS='none')
    with tempfile.TemporaryDirectory() as folder:
        before, after = (run(build, form, launches, folder, env) for launches in (FIRST, FIRST + arguments.launches))
    costs = {key: (cost - before.get(key, 0)) / arguments.launches for key, cost in after.items()}
    shim = {key: cost for key, cost in costs.items() if 'libtsinject' in key[0]}
    result = {'instructions': round(sum(shim.values()), 1)}
    if arguments.functions:
        result['functions'] = {'%s:%s' % (os.path.basename(key[0]), key[1]): round(cost, 1)
                               for key, cost in sorted(shim.items(), key=lambda item: -item[1]) if cost >= 0.5}
    print(json.dumps(result))
    return 0


if __name__ == '__main__':
    sys.exit(main())
