#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record.py FOLDER: records the traces of this folder anew. Paths in them are in FOLDER, which is made: programs are compiled there. Root."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402


def strip(path, to):
    """A copy without debugging information: what it is compiled from lies on this machine alone."""
    if os.path.islink(path):
        os.symlink(os.readlink(path), to)
    else:
        shutil.copy2(path, to)
        subprocess.run(['strip', '-g', to], check=False, stderr=subprocess.DEVNULL)


def install(folder):
    tracer = os.path.join(folder, 'tracesmith')
    os.makedirs(os.path.join(tracer, 'vgpu'))
    for name in sorted(os.listdir(harness.VGPU)):
        if '.so' in name and not name.endswith('.p'):
            strip(os.path.join(harness.VGPU, name), os.path.join(tracer, 'vgpu', name))
    shim = os.path.join(tracer, 'libtsinject.so')
    strip(harness.SHIM, shim)
    return {'TRACESMITH_DAEMON': harness.DAEMON, 'TRACESMITH_INJECT': shim, 'TRACESMITH_VGPU_DIR': os.path.join(tracer, 'vgpu')}


def compile_app(name, folder):
    apps = os.path.join(harness.SOURCE, 'test', 'apps')
    program = os.path.join(folder, name)
    subprocess.run(['cc', '-std=gnu11', '-O1', '-g', '-D_GNU_SOURCE', '-I', harness.SOURCE, '-ffile-prefix-map=%s/test/apps=%s' % (harness.SOURCE, folder),
                    '-include', 'stdlib.h', '-o', program, os.path.join(apps, name + '.c'), os.path.join(apps, 'gpu-driver.c'),
                    os.path.join(apps, 'gpu-truth.c'), '-ldl', '-lpthread'], check=True, cwd=folder)
    return program


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder)
    env = harness.environment(TS_TRUTH=os.path.join(folder, 'truth'), **install(folder))

    def record(name, command, *options):
        path = os.path.join(HERE, name + '.sbt')
        subprocess.run([harness.TSCTL, 'record', '-f', '-o', path, '--vgpu'] + list(options) + ['--'] + command, env=env, cwd=folder, check=False)

    for script in ('train.py', 'failing.py', 'names.py'):
        shutil.copy(os.path.join(HERE, script), folder)
    apps = {name: compile_app(name, folder) for name in ('pipeline', 'delays', 'faults')}
    with open(os.path.join(folder, 'batch'), 'wb') as stream:
        stream.write(bytes(1 << 20))
    record('pipeline', [apps['pipeline'], '4'])
    record('pipeline-longer', [apps['pipeline'], '6'])
    record('train', ['/usr/bin/python3', 'train.py'])
    record('failing', ['/usr/bin/python3', 'failing.py'])
    record('names', ['/usr/bin/python3', 'names.py'])
    record('delays', [apps['delays'], 'batch', '64'], '--kernel-events')
    record('capture', [apps['pipeline'], '1'], '--capture', 'replay')
    record('race', [apps['faults'], 'race'], '--capture', 'replay')


main()
