#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text of every reading command, on recorded traces, as a person sees it on terminals of 80 and 160 columns, and its JSON.

golden/*.txt is what is printed, byte for byte. `test-golden.py --update` writes those files anew: read them before you commit them.
"""
import difflib
import fcntl
import glob
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import harness

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
UPDATE = '--update' in sys.argv
WIDTHS = (80, 160)
MAX_LINES = 400  # of a difference

# By trace: what is asked. FILE is the trace.
EVERY = ('info FILE', 'analyze FILE', 'view --stats FILE', 'timeline FILE', 'memory FILE', 'verify FILE')
COMMANDS = {
    'pipeline': EVERY + (
        'info --columns FILE', 'view -n 120 FILE', 'view --type kernel --stacks -n 3 FILE', 'view --sort duration --type kernel -n 4 FILE',
        'view --name saxpy --stream 15 FILE', 'view --ops 40..44 FILE', 'view --stats --name scale FILE', 'view --errors FILE',
        'view --thread nobody FILE', 'timeline --from 30ms --to 40ms FILE', 'timeline --from 2.8ms --to 3.3ms FILE',
        'state --at 1ms FILE', 'state --at 3.227ms FILE',
        'state --at 3.3ms --stacks FILE', 'state --at 10s FILE', 'gaps --limit 4 FILE', 'graph --critical-path FILE',
        'graph --critical-path --limit 4 FILE', 'memory --stacks FILE', 'diff FILE pipeline.sbt', 'diff FILE pipeline-longer.sbt',
        'diff --check FILE pipeline-longer.sbt', 'replay FILE', 'replay --what-if "kernel saxpy=2x" FILE',
        'replay --what-if "copies=0.5x" FILE', 'replay --mode dry-run FILE', 'export --format folded FILE',
        'export --format folded --weight launches --thread --lines FILE', 'cut --from 2ms --to 3ms -o cut.sbt FILE',
        'cut --from 1s --to 2s -o late.sbt FILE', 'merge -o merged.sbt FILE pipeline-longer.sbt'),
    'train': EVERY + (
        'view --type api,kernel,memcpy FILE', 'view --type kernel --stacks -n 2 FILE', 'state --at 44.645ms --stacks FILE', 'gaps FILE',
        'gaps --stacks --limit 2 FILE', 'graph --critical-path --limit 6 FILE', 'memory --stacks --limit 2 FILE', 'analyze --all FILE',
        'replay FILE', 'export --format folded FILE'),
    'failing': EVERY + ('view --errors FILE', 'view --errors --stacks FILE', 'state --at 1ms FILE'),
    'delays': EVERY + ('gaps FILE', 'gaps --stacks --limit 3 FILE', 'view --type off_cpu,page_fault,syscall,block_io -n 20 FILE'),
    'names': EVERY + ('view --type kernel FILE', 'view --type kernel --mangled -n 3 FILE', 'graph --critical-path FILE', 'replay FILE'),
    'capture': EVERY + (
        'replay --mode dry-run --on vgpu FILE', 'replay --on vgpu FILE', 'replay --on vgpu --check FILE', 'replay --on vgpu --schedules 4 FILE'),
    'race': ('info FILE', 'replay --on vgpu --check FILE', 'replay --on vgpu --mode dry-run FILE'),
}
# As JSON, each command once, on a small trace.
JSON = {
    'pipeline': ('diff FILE pipeline-longer.sbt', 'timeline --width 4 FILE', 'verify FILE', 'replay --mode dry-run FILE'),
    'train': ('info FILE', 'view --type kernel,memcpy FILE', 'view --type kernel --stacks -n 1 FILE', 'view --stats FILE',
              'state --at 44.645ms FILE', 'gaps --limit 2 FILE', 'analyze --limit 1 FILE', 'memory --limit 1 FILE', 'replay FILE'),
    'failing': ('view --errors FILE', 'graph --critical-path FILE'),
    'names': ('info --columns FILE',),
    'capture': ('replay --mode dry-run --on vgpu FILE', 'replay --on vgpu --schedules 2 FILE'),
    'race': ('replay --on vgpu --check FILE',),
}
# Sentences and stacks that are not broken: a terminal wraps them.
LONG = ('export', 'gaps', 'diff', 'replay --on vgpu')


def commands(trace, asked):
    return [line.replace('FILE', trace + '.sbt') for line in asked[trace]]


def words(line):
    parts = line.split('"')
    return [word for i, part in enumerate(parts) for word in ([part] if i % 2 else part.split())]


def environment():
    return harness.environment(TZ='UTC', TERM='dumb', LC_ALL='C.UTF-8')


def on_terminal(argv, columns, folder):
    """Standard output on a terminal of that width, then standard error, then the status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    with tempfile.TemporaryFile() as err, os.fdopen(master, 'rb', 0) as reader:
        process = subprocess.Popen(argv, env=environment(), cwd=folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=err)
        os.close(slave)
        pieces = []
        while True:
            try:
                piece = reader.read(65536)
            except OSError:
                break
            if not piece:
                break
            pieces.append(piece)
        status = process.wait(harness.SECONDS)
        err.seek(0)
        return b''.join(pieces).decode(), err.read().decode(), status


def piped(argv, folder):
    result = harness.run(argv, env=environment(), cwd=folder)
    return result.out, result.err, result.status


def stable(text):
    """What a replay took is of this machine."""
    return re.sub(r'(?m)(operations done,.* in )[0-9.]+ [mun]?s$', r'\1TIME', re.sub(r'"elapsed_ns": \d+', '"elapsed_ns": 0', text))


def readable(text):
    """JSON, a value a line: for a difference that a person can read."""
    lines = []
    for line in text.splitlines():
        try:
            lines += json.dumps(json.loads(line), indent=1).splitlines()
        except ValueError:
            lines.append(line)
    return lines


def transcript(lines, ask):
    text = []
    for line in lines:
        out, err, status = ask([harness.TSCTL] + words(line))
        text.append('$ tsctl %s\n%s%s%s\n' % (line, stable(out), err, '[exit status %d]\n' % status if status else ''))
    return ''.join(text)


class Golden(harness.Case):
    def setUp(self):
        super().setUp()
        for path in glob.glob(os.path.join(GOLDEN, '*.sbt')):
            shutil.copy(path, self.folder)

    def compare(self, name, text):
        path = os.path.join(GOLDEN, name)
        if UPDATE:
            with open(path, 'w', encoding='utf-8') as stream:
                stream.write(text)
        with open(path, encoding='utf-8') as stream:
            expected = stream.read()
        if expected != text:
            difference = list(difflib.unified_diff(readable(expected), readable(text), 'golden/' + name, 'printed', lineterm=''))
            self.fail('it reads otherwise (--update accepts it):\n' + '\n'.join(difference[:MAX_LINES]))

    def check_fit(self, text, columns):
        """Lines end within the terminal, and not with a blank; but for those of LONG, and what goes to standard error."""
        long = False
        for line in text.splitlines():
            if line.startswith('$ tsctl '):
                long = line[len('$ tsctl '):].startswith(LONG)
            self.assertEqual(line, line.rstrip())
            if not long and not line.startswith(('$ tsctl ', 'tsctl ')):
                self.assertLessEqual(len(line), columns, line)

    def at_width(self, trace, columns):
        text = transcript(commands(trace, COMMANDS), lambda argv: on_terminal(argv, columns, self.folder))
        self.check_fit(text, columns)
        self.compare('%s-%d.txt' % (trace, columns), text)

    def as_json(self, trace):
        lines = [line.replace(' ', ' --json ', 1) for line in commands(trace, JSON)]
        self.compare('%s-json.txt' % trace, transcript(lines, lambda argv: piped(argv, self.folder)))


def add_test(kind, trace, argument):
    def test(self):
        getattr(self, kind)(*argument)
    setattr(Golden, 'test_%s_%s' % (trace, argument[-1] if kind == 'at_width' else 'json'), test)


for name in COMMANDS:
    for width in WIDTHS:
        add_test('at_width', name, (name, width))
for name in JSON:
    add_test('as_json', name, (name,))

if __name__ == '__main__':
    sys.argv = [argument for argument in sys.argv if argument != '--update']
    harness.main()
