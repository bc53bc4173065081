#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run-programs.py [--build DIR] [--jobs N] [--keep DIR] [NAME ...]: programs over frameworks on a real NVIDIA GPU.

Each program of test/gpu/programs runs alone and under `tsctl record`: the same output and status, a whole trace, no loss. The kernels of
gpt.py are those that torch.profiler counts. Captures of some programs are replayed on the device. --keep DIR keeps the traces. Skipped,
with the reason, without a device; a program is skipped if a module that it imports is missing. modern.cu and wild.cu need nvcc.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(SOURCE, 'test', 'gpu', 'programs')
sys.path.insert(0, os.path.join(SOURCE, 'test', 'integration'))

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument('--build', help='the build tree (default: $TS_BUILD, else build/)')
PARSER.add_argument('--jobs', type=int, default=max(1, (os.cpu_count() or 1) // 2), help='programs at once (default: half of the processors)')
PARSER.add_argument('--keep', metavar='DIR', help='keep traces and outputs there')
PARSER.add_argument('names', nargs='*', metavar='NAME', help='names of programs (default: all)')
ARGUMENTS = PARSER.parse_args()
if ARGUMENTS.build:
    os.environ['TS_BUILD'] = os.path.abspath(ARGUMENTS.build)

import harness  # noqa: E402  (it reads TS_BUILD)

# Name: (arguments, module that it needs, losses that belong to it). Programs that print times print them on stderr or not at all.
PYTHON = {
    'arrays': ([], 'cupy', ()),
    'jit': ([], 'jax', ('text_cut',)),
    'generate': ([], 'transformers', ()),
    'images': ([], 'torchvision', ()),
    'trainer': ([], 'pytorch_lightning', ()),
    'processes': ([], 'torch', ()),
    'collective': ([], 'torch', ()),
    'numba-add': ([], 'numba', ()),
    'neighbours': ([], 'torch_geometric', ()),
    'out-of-memory': ([], 'torch', ()),
    'device-assert': ([], 'torch', ('zero_timestamp', 'unjoined_api')),
}
CUDA = {'modern': (), 'wild': ('zero_timestamp', 'unjoined_api')}
MODES = ('eager', 'fused', 'workers', 'compile', 'graph')
REPLAYED = (('gpt', 'fused', '3'), ('gpt', 'graph', '3'), ('modern',))


def reason_to_skip():
    if not os.path.exists('/dev/nvidiactl'):
        return 'no /dev/nvidiactl: no NVIDIA driver runs on this machine'
    return None


def has(module):
    return not subprocess.run([sys.executable, '-c', 'import importlib.util, sys; sys.exit(not importlib.util.find_spec(%r))' % module],
                              check=False).returncode


class Programs:
    def __init__(self, folder):
        self.folder = folder
        self.home = os.environ.get('CUDA_HOME', '/usr/local/cuda')
        self.libraries = os.path.join(self.home, 'lib64')

    def run(self, name, argv):
        """(status, last line of output), with both outputs kept."""
        env = dict(harness.environment(LD_LIBRARY_PATH=self.libraries), PYTHONUNBUFFERED='1')
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'out'), 'wb') as out, open(os.path.join(folder, 'err'), 'wb') as err:
            status = subprocess.run(argv, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=240,
                                    check=False).returncode
        with open(os.path.join(folder, 'out'), encoding='utf-8', errors='replace') as out:
            return status, (out.read().splitlines() or [''])[-1]

    def recorded(self, name, argv, *options):
        path = os.path.join(self.folder, name + '.sbt')
        return self.run(name, [harness.TSCTL, 'record', '-q', '-o', path, *options, '--'] + argv), path

    def ask(self, command, path):
        result = harness.tsctl(command, '--json', path)
        return json.loads(result.out.splitlines()[0]) if not result.status else {'failed': result.err}

    def both(self, name, argv, losses, exact=True):
        """Alone and recorded; returns a reason to fail, or None."""
        alone = self.run(name + '-alone', argv)
        seen, path = self.recorded(name, argv)
        info = self.ask('info', path)
        if (seen[0], exact and seen[1]) != (alone[0], exact and alone[1]):
            return 'alone %r, recorded %r' % (alone, seen)
        if 'failed' in info or not info['counts'].get('kernel'):
            return info.get('failed') or 'no kernels: %s' % info.get('empty_reason')
        if set(info['lost']) - set(losses):
            return 'lost %r' % info['lost']
        return None if not harness.tsctl('verify', path).status else 'damaged'

    def profiled(self):
        """torch.profiler counts the same kernels as a recording of the same program."""
        gpt = [sys.executable, os.path.join(PROGRAMS, 'gpt.py')]
        names = os.path.join(self.folder, 'names.json')
        status, _ = self.run('gpt-profile', gpt + ['profile', '10', names])
        if status:
            return 'status %d' % status
        with open(names, encoding='utf-8') as stream:
            theirs = json.load(stream)
        _, path = self.recorded('gpt-profiled', gpt + ['fused', '10'])
        rows = harness.tsctl('view', '--json', '--type', 'kernel', path).out.splitlines()
        ours = collections.Counter(json.loads(row)['name'] for row in rows)
        other = {name: (n, theirs.get(name)) for name, n in ours.items() if theirs.get(name) != n}
        return 'ours, theirs: %r' % other if other else None

    def replayed(self, program, *arguments):
        name = 'replay-' + '-'.join((program,) + arguments[:1])
        (status, _), path = self.recorded(name, self.argv(program) + list(arguments), '--capture', 'replay')
        if status:
            return 'status %d' % status
        result = harness.run([harness.TSCTL, 'replay', '--on', 'cuda', '--repeat', '2', '--json', path],
                             harness.environment(LD_LIBRARY_PATH=self.libraries), seconds=240)
        session = json.loads(result.out.splitlines()[0]) if result.out else {}
        if session.get('verdict') == 'same' and not session['unsupported']:
            return None
        return '%s; unsupported: %s' % (session.get('refusal') or session.get('text') or session.get('verdict') or result.err,
                                        session.get('unsupported'))

    def argv(self, name):
        path = os.path.join(PROGRAMS, name)
        if os.path.exists(path + '.py'):
            return [sys.executable, path + '.py']
        return [os.path.join(self.folder, 'bin-' + name)]

    def built(self, name):
        nvcc = shutil.which('nvcc') or os.path.join(self.home, 'bin', 'nvcc')
        return os.path.exists(nvcc) and not subprocess.run([nvcc, '-arch=native', '-o', self.argv(name)[0], os.path.join(PROGRAMS, name + '.cu')],
                                                           check=False).returncode

    def tests(self):
        """(name, function, arguments)"""
        for name, (arguments, module, losses) in PYTHON.items():
            yield name, module, self.both, (name, self.argv(name) + arguments, losses)
        for mode in MODES:
            yield 'gpt-' + mode, 'torch', self.both, ('gpt-' + mode, self.argv('gpt') + [mode, '10'], (), False)
        yield 'profiled', 'torch', self.profiled, ()
        for name, losses in CUDA.items():
            yield name, None, self.both, (name, self.argv(name), losses)
        for program in REPLAYED:
            yield 'replay-' + '-'.join(program[:2]), None if program[0] in CUDA else 'torch', self.replayed, program


def run_all(folder):
    programs, failed = Programs(folder), 0
    built = {name: programs.built(name) for name in CUDA}
    wanted = [test for test in programs.tests() if not ARGUMENTS.names or test[0] in ARGUMENTS.names]
    modules = {module: has(module) for module in {test[1] for test in wanted} if module}
    with concurrent.futures.ThreadPoolExecutor(ARGUMENTS.jobs) as pool:
        running = []
        for name, module, function, arguments in wanted:
            if module and not modules[module]:
                print('skipped: %s: no module %s' % (name, module))
            elif not module and not built.get(arguments[0]):
                print('skipped: %s: nvcc did not build it' % name)
            else:
                running.append((name, pool.submit(function, *arguments)))
        for name, future in running:
            reason = future.result()
            failed += reason is not None
            print('%-24s %s' % (name, reason or 'ok'), flush=True)
    return 1 if failed else 0 if running else harness.SKIPPED


def main():
    reason = reason_to_skip()
    if reason:
        print('skipped: ' + reason)
        return harness.SKIPPED
    if ARGUMENTS.keep:
        os.makedirs(ARGUMENTS.keep, exist_ok=True)
        return run_all(os.path.abspath(ARGUMENTS.keep))
    with tempfile.TemporaryDirectory() as folder:
        return run_all(folder)


if __name__ == '__main__':
    sys.exit(main())
