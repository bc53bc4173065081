# SPDX-License-Identifier: Apache-2.0
"""The command lines of a document, in its order, each with the output that the document shows for it.

A block is indented by four blanks or fenced. Its parts are separated by empty lines:

- `$ COMMAND`, then its output, also in the parts that follow, up to a part that begins with a command;
- command lines alone, with comments behind `#`;
- a list of files, with a text beside each;
- another text, which is no command: test-documents.py knows each of these.

In prose and tables, the code that begins with a word of COMMANDS, or with a command of tsctl and an option, or with an option.
"""
import os
import re

import harness

DOCUMENTS = ['README.md', *('tools/tsctl/guides/' + name for name in sorted(
    os.listdir(os.path.join(harness.SOURCE, 'tools', 'tsctl', 'guides'))) if name.endswith('.md')),
    'tools/tsctl/README.md', 'tools/library/README.md', 'packaging/README.md']
# First words of a command line.
COMMANDS = re.compile(r"(?:[A-Z][A-Z0-9_]*=\S* )*(?:\./\S+|test-\S+\.py|%s)(?= |$)" % '|'.join(map(re.escape, (
    'tsctl', 'tracesmithd', 'python', 'python3', 'pip', 'cc', 'gcc', 'c++', 'g++', 'clang', 'nvcc', 'pkg-config', 'meson', 'ninja',
    'make', 'cmake', 'sh', 'bash', 'sudo', 'systemctl', 'systemd-analyze', 'systemd-sysusers', 'systemd-run', 'journalctl', 'apt',
    'apt-get', 'docker', 'podman', 'kubectl', 'git', 'go', 'cat', 'cd', 'cp', 'mv', 'rm', 'ls', 'ln', 'mkdir', 'chmod', 'chown', 'kill',
    'export', 'env', 'install', 'perf', 'gdb', 'strace', 'curl', 'wget', 'parca-push', 'profilecli', 'flamegraph.pl', 'nsys', 'ncu'))))
TSCTL = {name[len('cmd-'):-len('.c')] for folder in ('commands', 'record', 'replay', 'export')
         for name in os.listdir(os.path.join(harness.SOURCE, 'tools', 'tsctl', folder)) if name.startswith('cmd-')} | {'stop', 'help'}
OPTION = re.compile(r'--[a-z][a-z-]*')
FILES = re.compile(r'((?:[\w-]+\.[ch]|[\w-]+/)(?:,? [\w-]+\.[ch])*)  +\S')


class Command:
    """kind: 'shown' with its output; 'block' or 'inline' without; 'option', which is no whole command; 'files'; 'text'."""

    def __init__(self, document, line, kind, text):
        self.document, self.line, self.kind, self.text = document, line, kind, text
        self.lines = []  # (number, text) of the output, or of the text itself

    @property
    def place(self):
        return '%s:%d' % (self.document, self.line)

    def __repr__(self):
        return '%s: %s' % (self.place, self.text)


def without_comment(line):
    return re.sub(r'(^|\s+)# .*$', '', line).strip()


def is_command(line):
    return bool(COMMANDS.match(line))


def _part(document, lines, shown):
    """Commands of a part of a block. shown: the command whose output may go on here, or None."""
    number, first = lines[0]
    if first.startswith('$ '):
        found = []
        for number, line in lines:
            if line.startswith('$ '):
                found.append(Command(document, number, 'shown', without_comment(line[2:])))
            else:
                found[-1].lines.append((number, line))
        return found
    commands = [(number, without_comment(line)) for number, line in lines if without_comment(line)]
    if commands and is_command(commands[0][1]):
        return [Command(document, number, 'block', line) for number, line in commands]
    if shown:
        shown.lines += lines
        return []
    kind = 'files' if all(FILES.match(line) for _, line in lines) else 'text'
    command = Command(document, number, kind, first)
    command.lines = lines
    return [command]


def _block(document, lines):
    found, part, shown = [], [], None
    for number, line in [*lines, (0, '')]:
        if line.strip():
            part.append((number, line))
        elif part:
            commands = _part(document, part, shown)
            if commands:
                shown = commands[-1] if commands[-1].kind == 'shown' else None
            if found and commands and found[-1].kind == commands[0].kind == 'text':
                found[-1].lines += commands.pop(0).lines
            found += commands
            part = []
    return found


def _inline(document, number, line):
    found = []
    for text in re.findall(r'`([^`]+)`', line):
        words = text.split()
        if is_command(text) and len(words) > 1:
            found.append(Command(document, number, 'inline', text))
        elif OPTION.match(text) or len(words) > 1 and words[0] in TSCTL and OPTION.match(words[1]):
            found.append(Command(document, number, 'option', text))
    return found


def commands(document):
    with open(os.path.join(harness.SOURCE, document), encoding='utf-8') as stream:
        return commands_of(document, stream.read())


def commands_of(document, text):
    lines = text.split('\n')
    found, block, fenced = [], [], False
    for number, line in enumerate([*lines, 'end'], 1):
        if line.startswith('```'):
            fenced = not fenced
        elif fenced or line.startswith('    ') and (block or number == 1 or not lines[number - 2].strip()) or block and not line.strip():
            block.append((number, line))
        else:
            found += _block(document, _unindented(block))
            found += _inline(document, number, line)
            block = []
    return found


def _unindented(block):
    width = min((len(line) - len(line.lstrip()) for _, line in block if line.strip()), default=0)
    return [(number, line[width:]) for number, line in block]
