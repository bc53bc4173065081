# SPDX-License-Identifier: Apache-2.0
"""Pages of programs: tsctl(1), tsctl-COMMAND(1) and tracesmithd(8). make.py calls this module.

Options come from tsctl's tables (option-tables.c) and from `tracesmithd --help`. text/ has everything that help has not.
"""
import re

import markdown
import roff

METAVAR = re.compile(r'[A-Z][A-Z]*\b')
# In a help text: code, an option, the name of an argument.
MARKED = re.compile(r'`[^`]+`|(?<![\w-])--?[a-zA-Z][\w-]*|\b[A-Z][A-Z]*\b')
VGPU = 'Requires the virtual GPU (Debian: package tracesmith-vgpu).'
REFERENCE = re.compile(r'(.*)\((\d)\)$')


class Wrong(Exception):
    """The texts and the tables do not belong together."""


class Texts:
    """A file of text/: for each heading of the first level its sections, by title, with their blocks."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding='utf-8') as file:
            found, _ = markdown.blocks(file.read())
        self.commands, self.options = {'': {}}, {}
        command, section, option = '', None, None
        for block in found:
            if block.kind != 'heading':
                if section is None:
                    raise Wrong('%s: text before the first section' % path)
                kept = self.options[command][option] if option else self.commands[command][section]
                kept.append(block)
                continue
            level, title = block.value
            if level == 1:
                command, section, option = title, None, None
                self.commands[command], self.options[command] = {}, {}
            elif level == 2:
                section, option = title, None
                self.commands[command][section] = []
            else:
                option = title.lstrip('-')
                self.options[command][option] = []

    def section(self, command, title):
        return self.commands.get(command, {}).get(title, [])

    def words(self, command, title):
        return ' '.join(block.value for block in self.section(command, title)).split()


def page_reference(name):
    """`info` is the command; tracesmithd(8) is that page."""
    match = REFERENCE.match(name)
    base, section = match.groups() if match else ('tsctl-' + name, '1')
    return r'%s(%s)' % (roff.bold(base), section)


def see_also(page, names):
    page.section_head('See also')
    page.paragraph(', '.join(map(page_reference, names)))


def helped(text, metavars):
    """A line of help as roff: code and options bold, names of arguments italic."""
    out, at = [], 0
    for match in MARKED.finditer(text):
        word = match.group(0)
        out.append(roff.escape(text[at:match.start()]))
        at = match.end()
        if word[0] in '`-':
            out.append(roff.bold(word.strip('`')))
        else:
            out.append(roff.italic(word) if word in metavars else roff.escape(word))
    return ''.join(out) + roff.escape(text[at:])


# ---- tsctl's commands ----

def usage_and_rest(text):
    lines = text.split('\n')
    n = markdown.run(lines, 0, lambda line: line.startswith(('usage: ', '       ')))
    return [line[7:].strip() for line in lines[:n]], lines[n:]


def synopsis(page, usages):
    page.section_head('Synopsis')
    for i, usage in enumerate(usages):
        if i:
            page.lines.append('.br')
        parts = re.split(r'([A-Z][A-Z]*|[a-z-][\w-]*)', usage)
        page.lines.append(roff.safe(''.join(
            roff.escape(part, True) if i % 2 == 0 else roff.italic(part) if METAVAR.match(part) else roff.bold(part)
            for i, part in enumerate(parts))))


def description(page, lines, metavars):
    """Paragraphs, and lists of lines that begin with two blanks: a term, its description."""
    i = 0
    while i < len(lines):
        if not lines[i].strip():
            i += 1
        elif lines[i].startswith('  '):
            term, text = re.match(r'  (\S.*?)\s{2,}(.*)', lines[i]).groups()
            n = markdown.run(lines, i + 1, lambda line: line.startswith('    '))
            text = ' '.join([text] + [line.strip() for line in lines[i + 1:i + 1 + n]])
            page.tagged(roff.bold(term), helped(text, metavars))
            i += 1 + n
        else:
            n = markdown.run(lines, i, lambda line: line.strip() and not line.startswith('  '))
            page.paragraph(helped(' '.join(lines[i:i + n]), metavars))
            i += n


def option_tag(option):
    has_letter = 'letter' in option and not option['is_letter_unmentioned']
    names = [roff.bold('-' + option['letter'])] if has_letter else []
    names += [roff.bold('--' + option['name'])] if 'name' in option else []
    tag = ', '.join(names)
    if 'metavar' in option:
        value = roff.italic(option['metavar'])
        tag += '[=%s]' % value if option['is_optional'] else ' ' + value
    return tag


def option_groups(options):
    """Options that share a line of help."""
    group = []
    for option in options:
        group.append(option)
        if 'joint' not in option:
            yield group
            group = []
    if group:
        yield group


def option_name(option):
    return option.get('name') or option['letter']


def command_options(page, command, texts, metavars, has_vgpu):
    name = command['name']
    options = [option for option in command['options'] if not option['is_hidden'] and (has_vgpu or not option['is_for_vgpu'])]
    own = dict(texts.options.get(name, {}))
    if options:
        page.section_head('Options')
    for group in option_groups(options):
        tag = ''.join(option_tag(option) + option.get('joint', '') for option in group)
        text = next((option['help'] for option in group if 'help' in option), '').replace('\n', ' ').strip()
        extra = []
        for option in group:
            known = text + ' ' + option.get('metavar', '')
            words = [word for word in option['words']
                     if not re.search(r'(?<![\w-])%s(?![\w-])' % re.escape(word.rstrip(':')), known)]
            if words and not option['is_for_vgpu']:
                extra.append('Values: %s.' % ', '.join(map(roff.bold, option['words'])))
            if option['is_for_vgpu']:
                extra.append(VGPU)
            for block in own.pop(option_name(option), []):
                extra.append(markdown.inline(block.value))
        if not text and not extra:
            raise Wrong('%s: no help and no text for %s of %s' % (texts.path, option_name(group[0]), name))
        first = [helped(text, metavars)] if text else [extra.pop(0)]
        page.tagged(tag, first[0], extra)
    own = {option for option in own if options and not any(option == option_name(known) for known in command['options'])}
    if own:
        raise Wrong('%s: tsctl %s has no option %s' % (texts.path, name, ', '.join(sorted(own))))


def example_lines(command, has_vgpu):
    example = command.get('example')
    if example and not has_vgpu:
        example = example.split(' --vgpu')[0]
    return ['tsctl ' + example] if example else []


DEFAULT_STATUS = [['0', 'success'], ['2', 'bad usage or bad input']]


def command_page(page, command, texts, variables, has_vgpu, edits):
    name = command['name']
    usages, rest = usage_and_rest(command['text'])
    metavars = set(METAVAR.findall(' '.join(usages + [option.get('metavar', '') for option in command['options']])))
    page.section_head('Name')
    page.prose(r'tsctl\-%s \- %s' % (roff.escape(name, True), roff.escape(command['summary'])))
    synopsis(page, usages)
    if 'alias' in command:
        page.paragraph('%s is another name of the command.' % roff.bold('tsctl ' + command['alias']))
    page.section_head('Description')
    description(page, rest, metavars)
    command_options(page, command, texts, metavars, has_vgpu)
    if name == 'replay':
        page.section_head('Edits')
        description(page, edits.split('\n'), metavars)
    if texts.options.get(name) and not command['options']:
        # In a build of the readers alone, the command is only an explanation.
        see_also(page, ['tsctl(1)', 'tracesmith(7)'])
        return
    page.section_head('Exit status')
    status = texts.section(name, 'Exit status')
    if status:
        markdown.write(page, status)
    else:
        page.table(['status', 'meaning'], DEFAULT_STATUS)
    if texts.section(name, 'Files'):
        page.section_head('Files')
        markdown.write(page, texts.section(name, 'Files'))
    names = texts.words(name, 'Environment')
    if any(option.get('name') == 'session' for option in command['options']) or name in LIVE:
        names.append('TRACESMITH_CONTROL')
    environment(page, names, variables)
    examples = texts.section(name, 'Examples')
    lines = example_lines(command, has_vgpu)
    if examples and examples[0].kind == 'code':
        lines += examples[0].value
        examples = examples[1:]
    if lines:
        page.section_head('Examples')
        page.code(lines)
        markdown.write(page, examples)
    see_also(page, ['tsctl(1)'] + texts.words(name, 'See also') + ['tracesmith(7)'])


# Commands that ask daemons although they have no --session.
LIVE = ('status', 'sessions', 'start', 'stop', 'watch')


def environment(page, names, variables):
    if not names:
        return
    page.section_head('Environment')
    for name in sorted(names):
        if name not in variables:
            raise Wrong('no document describes the variable %s' % name)
        page.tagged(roff.bold(name), markdown.inline(variables[name]))


def tsctl_page(page, commands, texts, variables):
    page.section_head('Name')
    page.prose(r'tsctl \- records, explains and replays the work of GPUs')
    synopsis(page, ['tsctl COMMAND [OPTION ...] [ARG ...]', 'tsctl help [COMMAND]'])
    page.section_head('Description')
    markdown.write(page, texts.section('', 'Description'))
    page.section_head('Commands')
    for command in commands:
        page.tagged(page_reference(command['name']), roff.escape(command['summary']))
    for title in ('Options', 'Exit status', 'Files'):
        page.section_head(title)
        markdown.write(page, texts.section('', title))
    environment(page, [name for name in variables if variables.read_by(name, 'tsctl')] + ['NO_COLOR'], variables)
    page.section_head('Examples')
    markdown.write(page, texts.section('', 'Examples'))
    see_also(page, ['tracesmith(7)', 'tracesmithd(8)', 'sbt(5)', 'libtracesmith(3)'])


# ---- tracesmithd ----

class DaemonHelp:
    """`tracesmithd --help`: usage, and sections of prose or of options."""

    def __init__(self, text):
        paragraphs = [part.split('\n') for part in text.strip('\n').split('\n\n')]
        if not paragraphs[0][0].startswith('Usage: '):
            raise Wrong('tracesmithd --help does not begin with its usage')
        self.usages = [line.replace('Usage: ', '') for line in paragraphs[0]]
        self.parts = []
        for lines in paragraphs[1:]:
            if lines[0].startswith('  --'):
                self.parts.append(('options', parse_options(lines)))
            elif lines[0].startswith('Example: '):
                self.parts.append(('example', lines[0].split(': ', 1)[1]))
            else:
                self.parts.append(('prose', ' '.join(lines)))


def parse_options(lines):
    """Pairs of an option and its description. Two blanks, or the column of the others, separate the two."""
    column = min(match.end() for match in (re.match(r'  --\S.*?\s{2,}(?=\S)', line) for line in lines) if match)
    found = []
    for line in lines:
        if not line.startswith('  --'):
            found[-1][1].append(line.strip())
            continue
        match = re.match(r'  (--\S.*?)\s{2,}(\S.*)$', line)
        left, text = match.groups() if match else (line[2:column].rstrip(), line[column:])
        found.append((left, [text]))
    return [(left, ' '.join(text)) for left, text in found]


def daemon_tag(left):
    parts = re.split(r'(--[a-z][a-z-]*)', left)
    return ''.join(roff.bold(part) if i % 2 else re.sub(r'([A-Za-z][\w|]*)', lambda match: roff.italic(match.group(1)), part)
                   for i, part in enumerate(parts))


def daemon_page(page, text, texts, variables):
    daemon = DaemonHelp(text)
    page.section_head('Name')
    page.prose(r'tracesmithd \- records the GPU work of processes, as a service')
    synopsis(page, daemon.usages)
    page.section_head('Description')
    is_options = False
    for kind, part in daemon.parts:
        if kind == 'options':
            if not is_options:
                markdown.write(page, texts.section('', 'Description'))
                page.section_head('Options')
                is_options = True
            for left, described in part:
                metavars = set(METAVAR.findall(left))
                page.tagged(daemon_tag(left), helped(described, metavars))
        elif kind == 'prose':
            if part.startswith('These options limit'):
                page.section_head('Limits')
            elif is_options:
                page.section_head('Internal options')
            page.paragraph(helped(part, {'SIZE'}))
    for title in ('Signals', 'Exit status', 'Files'):
        page.section_head(title)
        markdown.write(page, texts.section('', title))
    environment(page, [name for name in variables if variables.read_by(name, 'tracesmithd')], variables)
    page.section_head('Examples')
    page.code([part for kind, part in daemon.parts if kind == 'example'])
    see_also(page, ['tracesmithd.conf(5)', 'record', 'status', 'sessions', 'tracesmith(7)', 'systemctl(1)'])
