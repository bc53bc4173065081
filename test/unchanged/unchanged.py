#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that two builds behave alike: what a change of structure has to prove.

  unchanged.py BEFORE AFTER

BEFORE and AFTER are build folders, each with its own source tree. The traces are recorded once, by BEFORE; the golden traces of
test/integration are added. Both builds then run every command on them: text on terminals of 80 and 160 columns, JSON, all formats of
export, files that commands write, refusals, help, and answers of the daemon. What the builds offer is compared as well: exported symbols
with versions, needed libraries, installed files, layouts and prototypes of the public headers and of proto/abi, descriptors of messages.
Both builds record the same programs, and the traces have the same rows but for times and addresses.

Each difference is printed. A command whose output changes from run to run in BEFORE is asked again, and differs only if no answer of
AFTER is one of BEFORE's. Exit status: 0 alike, 1 different, 2 cannot run.
"""
import argparse
import collections
import concurrent.futures
import difflib
import fcntl
import glob
import hashlib
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import commands
import interface

SECONDS = 120
AGAIN = 4  # times that a differing command is asked once more
MAX_LINES = 30  # of a difference
FOLDER = threading.local()  # a scratch folder by thread


class Asker:
    """Runs programs of a build, with nothing of this machine's in the environment."""

    def __init__(self, build, runtime, folders):
        self.build, self.folders = build, folders
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(('TRACESMITH_', 'CUDA_', 'NVTX_', 'LD_', 'TS_', 'XDG_'))}
        self.environment.update(TZ='UTC', TERM='dumb', LC_ALL='C.UTF-8', TRACESMITH_SYMBOL_CACHE='', XDG_RUNTIME_DIR=runtime)
        self.tsctl = build.program('tsctl')

    def run(self, argv, cwd, terminal=0, **variables):
        """Status, output and errors as text; `terminal`: the columns of the terminal that standard output is."""
        environment = dict(self.environment, **variables)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            reader, slave = pty.openpty() if terminal else (None, None)
            if terminal:
                fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, terminal, 0, 0))
                modes = termios.tcgetattr(slave)
                modes[1] &= ~termios.OPOST
                termios.tcsetattr(slave, termios.TCSANOW, modes)
            process = subprocess.Popen(argv, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=slave if terminal else out, stderr=err,
                                       start_new_session=True)
            timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            try:
                if terminal:
                    os.close(slave)
                    copy(reader, out)
                status = process.wait()
            finally:
                timer.cancel()
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read())
        return status, self.stable(texts[0]), self.stable(texts[1])

    def stable(self, data):
        """Text without the folders of both builds, which traces name as well, and without the time that a replay took; other bytes by their checksum."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return '%d bytes, SHA-256 %s\n' % (len(data), hashlib.sha256(data).hexdigest())
        text = re.sub(r'"elapsed_ns": ?\d+', '"elapsed_ns": 0', text)
        for folder, word in self.folders:
            text = text.replace(folder, word)
        return re.sub(r'(?m)(operations done,.* in )[0-9.]+ [munµ]?s$', r'\1TIME', text)

    def ask(self, words, cwd, terminal=0, **variables):
        status, out, err = self.run([self.tsctl] + words, cwd, terminal, **variables)
        return '[exit status %d]\n%s%s' % (status, out, ''.join('stderr: %s\n' % line for line in err.splitlines()))


def copy(reader, out):
    """Copies what a terminal shows, to its end."""
    with os.fdopen(reader, 'rb', 0) as stream:
        while True:
            try:
                piece = stream.read(65536)
            except OSError:
                return
            if not piece:
                return
            out.write(piece)


# The traces

def record(asker, name, folder, what):
    """Records one program into folder/name.sbt; True if there is a trace."""
    argv, options, variables = what
    scratch = tempfile.mkdtemp(prefix='ts-unchanged-')
    try:
        with open(os.path.join(scratch, 'batch'), 'wb') as stream:
            stream.write(bytes(1 << 20))
        program = os.path.join(asker.build.path, 'test', 'apps', argv[0])
        asker.run([asker.tsctl, 'record', '-q', '-o', os.path.join(folder, name + '.sbt')] + options + ['--', program] + argv[1:], scratch,
                  TS_TRUTH=os.path.join(scratch, 'truth'), **variables)
    finally:
        shutil.rmtree(scratch)
    return os.path.exists(os.path.join(folder, name + '.sbt'))


def damage(folder):
    """Traces that are not whole: cut off, a bit turned over, nothing."""
    with open(os.path.join(folder, 'pipeline.sbt'), 'rb') as stream:
        data = bytearray(stream.read())
    for name, part in (('cut-off', data[:len(data) * 2 // 3]), ('header', data[:64])):
        with open(os.path.join(folder, name + '.sbt'), 'wb') as stream:
            stream.write(part)
    data[len(data) // 2] ^= 0x10
    with open(os.path.join(folder, 'flipped.sbt'), 'wb') as stream:
        stream.write(data)


def make_traces(before, folder):
    recordings = dict(commands.RECORDINGS, **(commands.KERNEL_EVENTS if os.geteuid() == 0 else {}))
    for name, what in recordings.items():
        if not record(before, name, folder, what):
            print('not recorded: %s' % name)
    for path in glob.glob(os.path.join(before.build.source, 'test', 'integration', 'golden', '*.sbt')):
        shutil.copy(path, os.path.join(folder, 'golden-' + os.path.basename(path)))
    damage(folder)
    with open(os.path.join(folder, 'text.sbt'), 'w', encoding='utf-8') as stream:
        stream.write('no trace\n' * 100)
    with open(os.path.join(folder, 'empty.sbt'), 'w', encoding='utf-8'):
        pass


def rows_of(asker, path):
    _, out, _ = asker.run([asker.tsctl, 'view', '--json', path], '/')
    return [json.loads(line) for line in out.splitlines()]


def first(rows, key, of=None):
    values = [row[key] for row in rows if row.get(key) not in (None, '', 0) and (of is None or row['type'] == of)]
    return str(values[len(values) // 2]) if values else None


def facts_of(asker, folder, name, others):
    """What stands for the words in capitals of a command."""
    path = os.path.join(folder, name)
    rows = rows_of(asker, path)
    _, out, _ = asker.run([asker.tsctl, 'info', '--json', path], '/')
    duration = json.loads(out).get('duration_ns', 0) if out.startswith('{') else 0
    found = {'FILE': name, 'OTHER': others[(others.index(name) + 1) % len(others)]}
    found.update({'T%d' % i: '%d' % (duration * i // 10) for i in range(11)})
    op = first(rows, 'op_id', 'kernel') or first(rows, 'op_id')
    found.update(STREAM=first(rows, 'stream', 'kernel'), THREAD=first(rows, 'thread_name'), OP=op, OPS=op and '%d..%d' % (int(op) - 10, int(op) + 10),
                 KERNEL=first(rows, 'name', 'kernel'), ADDRESS=first(rows, 'address', 'alloc'), RANGE=first(rows, 'name', 'range'))
    return found


# Comparing

def difference(before, after):
    """A difference that a person can read: JSON, a value a line."""
    lines = []
    for text in (before, after):
        lines.append([])
        for line in text.splitlines():
            try:
                lines[-1] += json.dumps(json.loads(line), indent=1).splitlines()
            except ValueError:
                lines[-1].append(line)
    found = list(difflib.unified_diff(lines[0], lines[1], 'before', 'after', lineterm='', n=1))
    return found[:MAX_LINES] + (['... %d more lines' % (len(found) - MAX_LINES)] if len(found) > MAX_LINES else [])


class Comparison:
    """Asks both builds, prints what differs and counts."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        self.counts, self.findings, self.lock = collections.Counter(), 0, threading.Lock()

    def report(self, kind, what, before, after):
        with self.lock:
            self.findings += 1
            print('differs: %s: %s' % (kind, what))
            for line in difference(before, after):
                print('    ' + line)
            sys.stdout.flush()

    def compare(self, kind, what, ask):
        """ask(asker) gives a text. What BEFORE itself answers differently from time to time is asked again."""
        before, after = {ask(self.before)}, {ask(self.after)}
        for _ in range(AGAIN):
            if before & after:
                break
            before.add(ask(self.before))
            after.add(ask(self.after))
        with self.lock:
            self.counts[kind] += 1
            self.counts['asked again'] += len(before | after) > 1
        if not before & after:
            self.report(kind, what, min(before), min(after))


def changed_files(asker, words, traces, names):
    """The answer to a command in a folder of its own, and the files that are there then."""
    if not hasattr(FOLDER, 'path'):
        FOLDER.path = tempfile.mkdtemp(prefix='ts-unchanged-')
    shutil.rmtree(FOLDER.path, ignore_errors=True)
    os.mkdir(FOLDER.path)
    for name in names:
        shutil.copy(os.path.join(traces, name), FOLDER.path)
    text = asker.ask(words, FOLDER.path)
    for name in sorted(os.listdir(FOLDER.path)):
        with open(os.path.join(FOLDER.path, name), 'rb') as stream:
            data = bytearray(stream.read())
        if name not in names and data.startswith(b'TSBT'):
            # A new file has a UUID and a time of its own, and the checksum of these.
            data[32:56], data[60:64] = bytes(24), bytes(4)
        text += 'file %s: %d bytes, SHA-256 %s\n' % (name, len(data), hashlib.sha256(data).hexdigest())
    shutil.rmtree(FOLDER.path)
    return text


def trace_questions(traces, found, replays):
    """(kind, line, question) of all that is asked about one trace."""
    for line in commands.READING + (commands.REPLAYING if replays else ()):
        words = commands.fill(line, found)
        if words is None:
            continue
        for columns in (80, 160):
            yield 'text', 'tsctl %s (%d columns)' % (' '.join(words), columns), lambda asker, words=words, columns=columns: asker.ask(
                words, traces, columns)
        yield 'JSON', 'tsctl %s --json' % ' '.join(words), lambda asker, words=words: asker.ask(words[:1] + ['--json'] + words[1:], traces)
    for line in commands.WRITING:
        words = commands.fill(line, found)
        if words is not None:
            yield 'export', 'tsctl ' + ' '.join(words), lambda asker, words=words: asker.ask(words, traces)
    for line in commands.CHANGING:
        words = commands.fill(line, found)
        if words is not None:
            yield 'files', 'tsctl ' + ' '.join(words), lambda asker, words=words: changed_files(
                asker, words, traces, {found['FILE'], found['OTHER']})


def general_questions(traces):
    """Help, refusals, and what is asked about no trace."""
    lines = list(commands.ALONE) + [command for command in commands.COMMANDS if command not in commands.NOT_ALONE]
    lines += [how % command for command in commands.COMMANDS for how in ('help %s', '%s --help')]
    lines += [how % command for command in commands.COMMANDS for how in commands.REFUSED if command not in commands.NOT_ALONE + ('record', )]
    for line in lines:
        yield 'help', 'tsctl ' + line, lambda asker, line=line: asker.ask(line.split(), traces)
    for name in ('tracesmithd', 'tracesmith-worker'):
        for option in ('--help', '--version', '--nonsense'):
            yield 'help', '%s %s' % (name, option), lambda asker, name=name, option=option: str(
                asker.run([asker.build.program(name), option], traces))


# The daemon

class Daemon:
    """A daemon of a build, in a folder of its own."""

    def __init__(self, asker, folder):
        self.asker, self.control = asker, os.path.join(folder, 'control.sock')
        os.makedirs(os.path.join(folder, 'traces'))
        self.log = open(os.path.join(folder, 'log'), 'wb')
        self.process = subprocess.Popen(
            [asker.build.program('tracesmithd'), '--inject-socket', os.path.join(folder, 'inject.sock'), '--control-socket', self.control,
             '--directory', os.path.join(folder, 'traces')], env=asker.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.monotonic() + SECONDS
        while self.asker.run([self.asker.tsctl, 'status'], '/', TRACESMITH_CONTROL=self.control)[0]:
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit('%s: the daemon does not answer' % self.asker.build.path)
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ask(self, words, traces):
        text = self.asker.ask(words, traces, TRACESMITH_CONTROL=self.control)
        # Ages and process ids of this daemon.
        return re.sub(r'\b%d\b' % self.process.pid, 'PID', re.sub(r'\b\d+(\.\d+)? ?(ns|us|ms|s)\b|(?<=_ns": )\d+', 'TIME', text)
                      if words[0] in ('status', 'sessions') else text).replace(os.path.dirname(self.control), '@DAEMON@')


def compare_served(comparison, traces, by_name, folder):
    """Folders of both daemons have names of one length."""
    with Daemon(comparison.before, os.path.join(folder, 'a')) as before, Daemon(comparison.after, os.path.join(folder, 'b')) as after:
        daemons = {comparison.before: before, comparison.after: after}
        for name in ('pipeline.sbt', 'captured.sbt', 'flipped.sbt'):
            for line in commands.SERVED:
                words = commands.fill(line, by_name.get(name, {}))
                if words is None:
                    continue
                words = words[:1] + (['--served'] if name in words else []) + words[1:]
                comparison.compare('served', 'tsctl ' + ' '.join(words), lambda asker, words=words: daemons[asker].ask(words, traces))


# Recording

def shape(asker, name, what):
    """The rows of a recording by type, name and fields, without what changes from run to run; and what was lost."""
    folder = tempfile.mkdtemp(prefix='ts-unchanged-')
    try:
        if not record(asker, name, folder, what):
            return 'no trace\n'
        path = os.path.join(folder, name + '.sbt')
        rows = collections.Counter('%s %s: %s' % (row['type'], row.get('name', ''), ' '.join(row)) for row in rows_of(asker, path)
                                   if row['type'] not in ('clock', 'overhead', 'counter', 'loss'))
        _, out, _ = asker.run([asker.tsctl, 'info', '--json', path], '/')
        info = json.loads(out)
        lines = ['%d of %s' % (count, row) for row, count in rows.items()] + ['lost: %s' % info['lost'], 'sessions: %d' % len(info['sessions'])]
        return ''.join(line + '\n' for line in sorted(lines))
    finally:
        shutil.rmtree(folder)


def compare_interfaces(comparison):
    found = [interface.facts(asker.build) for asker in (comparison.before, comparison.after)]
    for name in sorted(set(found[0]) | set(found[1])):
        before, after = ('\n'.join(facts.get(name, ['(there is none)'])) for facts in found)
        comparison.counts['interface'] += 1
        if before != after:
            comparison.report('interface', name, before, after)


def compare_commands(comparison, traces, folder, jobs):
    whole = sorted(os.path.basename(path) for path in glob.glob(os.path.join(traces, '*.sbt')))
    whole = [name for name in whole if name not in ('text.sbt', 'empty.sbt')]
    by_name = {name: facts_of(comparison.before, traces, name, whole) for name in whole}
    questions = list(general_questions(traces))
    for name in whole:
        questions += trace_questions(traces, by_name[name], name.startswith(('captured', 'race', 'bounds', 'golden-capture', 'golden-race')))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(comparison.compare, *question) for question in questions]:
            done.result()
    compare_served(comparison, traces, by_name, folder)
    return len(whole)


def main():
    parser = argparse.ArgumentParser(description='compares what two builds of TraceSmith print, write, record and offer')
    parser.add_argument('before', help='the build folder to compare with')
    parser.add_argument('after', help='the build folder that must not differ')
    parser.add_argument('--traces', metavar='FOLDER', help='keep the traces there; if FOLDER has traces, none is recorded')
    parser.add_argument('--only', choices=('interface', 'commands', 'recording'), help='compare this alone')
    parser.add_argument('-j', '--jobs', type=int, default=2, help='commands at a time (default: 2)')
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix='ts-unchanged-') as folder:
        builds = [interface.Build(path) for path in (args.before, args.after)]
        folders = [(build.path, '@BUILD@') for build in builds] + [(build.source, '@SOURCE@') for build in builds]
        comparison = Comparison(*(Asker(build, folder, folders) for build in builds))
        traces = os.path.abspath(args.traces) if args.traces else os.path.join(folder, 'traces')
        n_traces = 0
        if args.only in (None, 'interface'):
            compare_interfaces(comparison)
        if args.only in (None, 'commands'):
            os.makedirs(traces, exist_ok=True)
            if not os.listdir(traces):
                make_traces(comparison.before, traces)
            n_traces = compare_commands(comparison, traces, folder, args.jobs)
        if args.only in (None, 'recording'):
            for name, what in commands.RECORDINGS.items():
                if name in commands.UNSTEADY:
                    continue
                comparison.compare('recording', name, lambda asker, name=name, what=what: shape(asker, name, what))
    print('%s; %d traces; differences: %d' % (', '.join('%d %s' % (n, kind) for kind, n in sorted(comparison.counts.items())), n_traces,
                                              comparison.findings))
    return 1 if comparison.findings else 0


if __name__ == '__main__':
    sys.exit(main())
