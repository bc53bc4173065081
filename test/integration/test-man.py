#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages: clean roff that fits 80 columns, and the same options and words as the tables, `tsctl help` and `tracesmithd --help`.

A page is compared as a reader sees it: the text that man prints.
"""
import concurrent.futures
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import harness

PAGES = os.path.join(harness.BUILD, 'packaging', 'man')
SOURCES = os.path.join(harness.SOURCE, 'packaging', 'man')
MAN = shutil.which('man')
MANDOC = shutil.which('mandoc')
# Headings that each page of a section has.
HEADINGS = {'1': ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'EXIT STATUS', 'EXAMPLES', 'SEE ALSO'],
            '3': ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'HEADERS', 'SEE ALSO'],
            '5': ['NAME', 'DESCRIPTION', 'SEE ALSO'],
            '7': ['NAME', 'DESCRIPTION', 'FIRST USE', 'SEE ALSO'],
            '8': ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'FILES', 'SEE ALSO']}
COLUMNS = 80
OPTION = r'(?<![\w-])--?[a-zA-Z][\w-]*'


@functools.lru_cache(maxsize=None)
def tables():
    with open(os.path.join(PAGES, 'option-tables.json'), encoding='utf-8') as file:
        return json.load(file)


def install_destinations():
    """The paths that `meson install` makes, with meson's words for their folders."""
    with open(os.path.join(harness.BUILD, 'meson-info', 'intro-install_plan.json'), encoding='utf-8') as file:
        plan = json.load(file)
    return {entry['destination'] for kind in plan.values() for entry in kind.values()}


# Another name of `tsctl record`: the page refers to that command's page.
ALIAS = 'tsctl-profile.1'


def page_names():
    return sorted(name for name in os.listdir(PAGES) if re.search(r'\.[1-8]$', name) and name != ALIAS)


def rendered(path):
    """The text of a page at 80 columns, and the warnings."""
    env = dict(os.environ, LC_ALL='C.UTF-8', MANWIDTH=str(COLUMNS), MANROFFOPT='', TERM='dumb')
    env.pop('MAN_KEEP_FORMATTING', None)
    result = subprocess.run([MAN, '--warnings', '-l', path], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    text = re.sub('.\b', '', result.stdout.decode()).expandtabs(8)
    return text, result.stderr.decode() + ('' if result.returncode == 0 else 'status %d' % result.returncode)


@functools.lru_cache(maxsize=None)
def all_rendered():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(page_names(), pool.map(lambda name: rendered(os.path.join(PAGES, name)), page_names())))


def words(text):
    """Words without the breaks between them, and without marks of code. man also breaks a line behind a hyphen."""
    return re.sub(r'(?<=\w-) (?=\w)', '', re.sub(r'\s+', ' ', text.replace('`', ''))).strip()


def sections(text):
    """The sections of a page by heading, as lines."""
    found, heading = {}, None
    for line in text.split('\n')[1:]:
        if re.match(r'\S', line) and not line.startswith('tracesmith '):
            heading = line.strip()
            found[heading] = []
        elif heading:
            found[heading].append(line)
    return found


def entries(lines, terms=()):
    """The terms of a section with their texts. Terms are indented by 7, texts by 14; a short term has its text on the same line.

    `terms` are known terms. One of them can look like a short term with its text.
    """
    found = []
    for line in lines:
        if re.match(r' {7}\S', line):
            is_short = line.strip() not in terms and re.match(r' {7}\S.{0,5} $', line[:14]) and line[14:15].strip()
            found.append([line[7:14].strip(), [line[14:]]] if is_short else [line.strip(), []])
        elif found:
            found[-1][1].append(line)
    return [(term, words(' '.join(text))) for term, text in found]


def shown(option):
    """An option as help and page name it, and the text behind it."""
    letter = option.get('letter') if not option['is_letter_unmentioned'] else None
    names = ['-' + letter] if letter else []
    names += ['--' + option['name']] if 'name' in option else []
    value = option.get('metavar')
    return ', '.join(names) + ('' if not value else '[=%s]' % value if option['is_optional'] else ' ' + value)


def groups(command):
    """Options that share a line: the line's names, and its text."""
    group = []
    for option in command['options']:
        if option['is_hidden']:
            continue
        group.append(option)
        if 'joint' not in option:
            yield ''.join(shown(each) + each.get('joint', '') for each in group), words(option.get('help', '')), group
            group = []


@unittest.skipIf(not os.path.isdir(PAGES) or not os.path.exists(os.path.join(PAGES, 'option-tables.json')),
                 'no man pages: this build cannot run its own programs')
class Pages(unittest.TestCase):
    def test_a_page_for_each_command_and_format(self):
        wanted = ['tsctl-%s.1' % command['name'] for command in tables()['commands']]
        wanted += ['tsctl.1', 'tracesmithd.8', 'tracesmithd.conf.5', 'sbt.5', 'libtracesmith.3', 'tracesmith.7']
        self.assertEqual(page_names(), sorted(wanted))
        with open(os.path.join(PAGES, ALIAS), encoding='ascii') as file:
            self.assertEqual(file.read(), '.so man1/tsctl-record.1\n')
        self.assertGreaterEqual(len(tables()['commands']), 29)

    def test_pages_are_installed(self):
        installed = install_destinations()
        for name in page_names() + [ALIAS]:
            self.assertTrue([path for path in installed if path.endswith('/man%s/%s' % (name[-1], name))], name)

    @unittest.skipIf(not MAN, 'man is not here')
    def test_man_has_no_warnings(self):
        for name, (_, warnings) in all_rendered().items():
            self.assertEqual(warnings, '', name)

    @unittest.skipIf(not MAN, 'man is not here')
    def test_lines_sections_lists(self):
        for name, (text, _) in all_rendered().items():
            lines = text.split('\n')
            self.assertEqual([line for line in lines if len(line) > COLUMNS], [], name)
            found = sections(text)
            self.assertEqual([heading for heading in HEADINGS[name[-1]] if heading not in found], [], name)
            for heading, inside in found.items():
                self.assertTrue(any(line.strip() for line in inside), '%s: %s is empty' % (name, heading))
            # A list item without text, a macro or a mark of Markdown that is text.
            for line in lines:
                self.assertNotRegex(line, r'^\s*•\s*$', name)
                self.assertNotRegex(line, r'^\s*\.(PP|TP|IP|SH|SS|RS|RE|nf|fi)\b', name)
                self.assertNotRegex(line, r'\*\*|\]\(|\\f[BIR]', name)

    @unittest.skipIf(not MANDOC, 'mandoc is not here')
    def test_mandoc_lint(self):
        paths = [os.path.join(PAGES, name) for name in page_names()]
        result = subprocess.run([MANDOC, '-Tlint'] + paths, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        # Only builders of packages set a date.
        found = [line for line in result.stdout.decode().splitlines() if 'missing date' not in line]
        self.assertEqual(found, [])

    @unittest.skipIf(not MAN, 'man is not here')
    def test_pages_name_installed_files(self):
        """A page's reader has no source tree: no page names a file of it, and the headers and documents that pages name are installed."""
        folders = '|'.join(sorted(entry.name for entry in os.scandir(harness.SOURCE) if entry.is_dir() and re.match(r'\w+$', entry.name)))
        installed = install_destinations()
        n_named = 0
        for name, (text, _) in all_rendered().items():
            # man breaks the line in an address, too.
            text = words(re.sub('⟨[^⟩]*⟩', lambda address: re.sub(r'\s', '', address.group()), text))
            paths = re.findall(r'(?<![\w/<.-])(?:%s)/[\w./-]*\w' % folders, text)
            self.assertEqual([path for path in paths if os.path.exists(os.path.join(harness.SOURCE, path))], [], name)
            self.assertEqual(re.findall(r'[\w./-]*[A-Z]\.md\b', text), [], name)
            for folder, path in re.findall(r'/(include|share/doc)(/tracesmith/[\w./-]*\w)', text):
                n_named += 1
                self.assertIn({'include': '{includedir}', 'share/doc': '{datadir}/doc'}[folder] + path, installed, name)
        self.assertGreater(n_named, 20)

    def test_a_file_of_the_tree_without_words_is_refused(self):
        sys.path.insert(0, SOURCES)
        try:
            import markdown
        finally:
            sys.path.remove(SOURCES)
        for text in ('`test/apps/new.c`', '`NEW.md`', '`daemon/new/README.md`'):
            with self.assertRaisesRegex(markdown.Unknown, 'installed.md has no words for ' + text.strip('`')):
                markdown.inline('See %s.' % text)

    @unittest.skipIf(not MAN, 'man is not here')
    def test_references_exist(self):
        ours = {(name[:-2], name[-1]) for name in page_names()}
        for name, (text, _) in all_rendered().items():
            listed = re.findall(r'([\w.-]+)\((\d)\)', ' '.join(sections(text)['SEE ALSO']))
            self.assertTrue(listed, name)
            for page, section in listed:
                if page.startswith(('tsctl', 'tracesmith', 'libtracesmith', 'sbt')):
                    self.assertIn((page, section), ours, name)


@unittest.skipIf(not MAN or not os.path.exists(os.path.join(PAGES, 'option-tables.json')), 'no man, or no man pages')
class Agreement(unittest.TestCase):
    """Tables, help and pages."""

    def text(self, name):
        return all_rendered()[name][0]

    def test_tsctl(self):
        """Each option of each table, with its value and words, is in help and page, and these have no other options."""
        n_options = 0
        for command in tables()['commands']:
            name = command['name']
            help_text = harness.tsctl('help', name).out
            page = sections(self.text('tsctl-%s.1' % name))
            listed = dict(entries(page.get('OPTIONS', []), {tag for tag, _, _ in groups(command)}))
            helped = words(help_text)
            known = set()
            for tag, text, group in groups(command):
                n_options += len(group)
                for option in group:
                    known.update(re.findall(OPTION, shown(option)))
                if text:
                    self.assertIn(words(tag + ' ' + text), helped, name)
                else:
                    # Options that the command's text or another option's line describes.
                    self.assertIn('--' + group[0]['name'], help_text, name)
                self.assertIn(words(tag), map(words, listed), name)
                self.assertTrue(listed[tag].startswith(text), (name, tag, listed[tag]))
                self.assertTrue(listed[tag], (name, tag))
            tags = ' '.join(listed)
            self.assertEqual(set(re.findall(OPTION, tags)), known, name)
            lines = [line for line in help_text.splitlines() if re.match(r' {2,6}-', line)]
            in_help = {word for line in lines for word in re.findall(OPTION, re.split(r'\s{2,}(?=[^-\s])', line.strip())[0])}
            self.assertEqual(in_help - known, set(), name)
        self.assertGreater(n_options, 150)

    def test_texts_of_tsctl(self):
        """Summary, usage, each sentence and the example of the help are in the page."""
        for command in tables()['commands']:
            page = sections(self.text('tsctl-%s.1' % command['name']))
            self.assertEqual(words(' '.join(page['NAME'])), words('tsctl-%s - %s' % (command['name'], command['summary'])))
            lines = command['text'].split('\n')
            n = next(i for i, line in enumerate(lines) if not line)
            usages = [line.replace('usage: ', '').strip() for line in lines[:n]]
            self.assertEqual([line.strip() for line in page['SYNOPSIS'] if line.strip()][:n], usages)
            described = words(' '.join(page['DESCRIPTION']))
            for paragraph in '\n'.join(lines[n:]).split('\n\n'):
                for line in re.split(r'\n(?= {2}\S)|(?<=\.)\s|\n(?=`)', paragraph):
                    self.assertIn(words(line), described, command['name'])
            self.assertIn('tsctl ' + command['example'], words(' '.join(page['EXAMPLES'])))
            self.assertIn('tsctl ' + command['example'], words(harness.tsctl('help', command['name']).out))
        overview = sections(self.text('tsctl.1'))
        listed = dict(entries(overview['COMMANDS']))
        self.assertEqual(listed, {'tsctl-%s(1)' % command['name']: words(command['summary']) for command in tables()['commands']})

    def test_edits_of_replay(self):
        page = words(' '.join(sections(self.text('tsctl-replay.1'))['EDITS']))
        for line in re.split(r'\n(?= {2}\S)', tables()['edits'].rstrip('\n')):
            self.assertIn(words(line), page)

    def test_tracesmithd(self):
        """Each option and sentence of the daemon's help is in its page, and the page has no other options."""
        result = harness.run([harness.DAEMON, '--help'])
        page = sections(self.text('tracesmithd.8'))
        listed = entries(page['OPTIONS']) + entries(page['LIMITS'])
        tags = {word for term, _ in listed if term.startswith('--') for word in re.findall(OPTION, term)}
        helped = [line for line in result.out.splitlines() if line.startswith('  --')]
        in_help = {word for line in helped for word in re.findall(OPTION, re.split(r'\s{2,}', line.strip())[0])}
        self.assertEqual(tags, in_help)
        self.assertGreater(len(tags), 40)
        everything = words(' '.join(line for inside in page.values() for line in inside))
        for part in re.split(r'\n\n|\n(?= {2}--)', result.out):
            self.assertIn(words(re.sub('^(Usage|Example): ', '', part)), everything)

    def test_settings_of_the_service(self):
        """The daemon accepts the options of the examples, in the page and in Debian's file."""
        with open(os.path.join(harness.SOURCE, 'packaging/debian/default/tracesmithd'), encoding='utf-8') as file:
            texts = [self.text('tracesmithd.conf.5'), file.read()]
        for text in texts:
            options, = re.findall('TRACESMITHD_OPTIONS="(.*)"', text)
            result = harness.run([harness.DAEMON, *options.split(), '--version'])
            self.assertEqual((result.status, result.err), (0, ''), options)

    def test_variables(self):
        """A variable that tsctl reads, and that a document describes, is in tsctl(1)."""
        page = '\n'.join(sections(self.text('tsctl.1'))['ENVIRONMENT'])
        for name in ('TRACESMITH_CONTROL', 'TRACESMITH_DAEMON', 'TRACESMITH_VGPU_DIR', 'TRACESMITH_VGPU_THREADS', 'NO_COLOR'):
            self.assertRegex(page, r'(?m)^ {7}%s\s' % name)

    def test_headers_of_the_library(self):
        page = self.text('libtracesmith.3')
        # A long address is broken behind a slash.
        joined = re.sub(r'\s+', '', page)
        with open(os.path.join(harness.BUILD, 'meson-info', 'intro-install_plan.json'), encoding='utf-8') as file:
            plan = json.load(file)
        installed = [entry['destination'] for entry in plan['headers'].values()]
        headers = [path.split('/tracesmith/', 1)[1] for path in installed if re.search(r'/tracesmith/(proto|replay|sbt|tools)/', path)]
        self.assertGreater(len(headers), 20)
        for header in headers:
            self.assertIn('<%s>' % header, page)
            self.assertIn('/include/tracesmith/%s' % header, joined)
        with open(os.path.join(harness.SOURCE, 'tools/library/libtracesmith.map.in'), encoding='utf-8') as file:
            public = re.search(r'TRACESMITH_0\.1 \{(.*?)\}', file.read(), re.S).group(1)
        functions = {name for name in re.findall(r'(ts_\w+);', public) if name + '()' in page}
        self.assertGreater(len(functions), 150)

    def test_chapters_of_the_format(self):
        with open(os.path.join(harness.SOURCE, 'sbt/FORMAT.md'), encoding='utf-8') as file:
            headings = re.findall(r'^## (.*)$', file.read(), re.M)
        page = sections(self.text('sbt.5'))
        self.assertEqual([title.upper() for title in headings], [heading for heading in page if heading not in
                                                                 ('NAME', 'DESCRIPTION', 'SEE ALSO')])


@unittest.skipIf(not os.path.exists(os.path.join(PAGES, 'option-tables.json')), 'no man pages')
class Generator(harness.Case):
    """make.py with other tables: a page cannot lack an option, and a text cannot outlive one."""

    def make(self, changed, names=None, env=None, options=(), has_daemon=True):
        with open(self.path('tables.json'), 'w', encoding='utf-8') as file:
            json.dump(changed, file)
        command = [sys.executable, '-B', os.path.join(SOURCES, 'make.py'), '--tables', self.path('tables.json'),
                   '--source', harness.SOURCE, '--version', '9.9',
                   '--include', '/usr/include/tracesmith', '--documents', '/usr/share/doc/tracesmith', '--output', self.folder, *options]
        command += ['--daemon-help', os.path.join(PAGES, 'tracesmithd.help')] if has_daemon else []
        headers = [path.replace('{includedir}/tracesmith/', '') for path in sorted(install_destinations())]
        # Those that the build makes have no comment of their own.
        command += sum((['--header', header] for header in headers if header.endswith('.h') and os.path.exists(os.path.join(harness.SOURCE, header))), [])
        command += names or page_names() + [ALIAS]
        return harness.run(command, env=env)

    def changed(self, command, change):
        copy = json.loads(json.dumps(tables()))
        change(next(each for each in copy['commands'] if each['name'] == command))
        return copy

    def read(self, name):
        with open(self.path(name), encoding='ascii') as file:
            return file.read()

    def test_same_pages_twice(self):
        self.assertEqual(self.make(tables()).status, 0)
        first = self.read('tsctl-view.1')
        self.assertEqual(self.make(tables()).status, 0)
        self.assertEqual(self.read('tsctl-view.1'), first)
        self.assertIn('.TH "TSCTL\\-VIEW" 1 "" "tracesmith 9.9" TraceSmith', first)
        env = dict(os.environ, SOURCE_DATE_EPOCH='86400')
        self.assertEqual(self.make(tables(), env=env).status, 0)
        self.assertIn('.TH "TSCTL\\-VIEW" 1 "1970-01-02" ', self.read('tsctl-view.1'))

    def test_without_the_virtual_gpu(self):
        """Options of the virtual GPU are only in pages of a build that has it."""
        self.assertEqual(self.make(tables(), options=['--without-vgpu']).status, 0)
        for name in ('tsctl-record.1', 'tsctl-benchmark.1'):
            options = self.read(name).split('.SH "OPTIONS"')[1].split('.SH')[0]
            self.assertNotIn('vgpu', options)
            with open(os.path.join(PAGES, name), encoding='ascii') as file:
                self.assertIn('\\-\\-vgpu', file.read().split('.SH "OPTIONS"')[1].split('.SH')[0])
        self.assertNotIn('vgpu', self.read('tsctl-benchmark.1').split('.SH "EXAMPLES"')[1])

    def test_without_the_daemon(self):
        """The readers alone: no pages of the daemon, and `tsctl record` without options and example."""
        def explain(command):
            command.update(options=[], text='usage: tsctl record\n\nThis build has no recorder.\n')
            del command['example']
        names = [name for name in page_names() if not name.startswith('tracesmithd')] + [ALIAS]
        result = self.make(self.changed('record', explain), names=names, has_daemon=False)
        self.assertEqual(result.status, 0, result)
        self.assertFalse(os.path.exists(self.path('tracesmithd.8')))
        page = self.read('tsctl-record.1')
        self.assertIn('This build has no recorder.', page)
        for heading in ('OPTIONS', 'EXIT STATUS', 'EXAMPLES'):
            self.assertNotIn('.SH "%s"' % heading, page)
        self.assertEqual(self.make(tables(), has_daemon=False).status, 1)

    def test_an_option_gets_into_the_page(self):
        def add(command):
            command['options'].insert(0, dict(command['options'][0], name='new-one', metavar='X.Y', help="the dot's\n.Bl \\fB-x"))
            command['options'][0].pop('letter', None)
            command['options'][0].pop('joint', None)
        result = self.make(self.changed('info', add))
        self.assertEqual(result.status, 0, result)
        page = self.read('tsctl-info.1')
        self.assertIn('\\fB\\-\\-new\\-one\\fR \\fIX.Y\\fR', page)
        # Requests and escapes in a text stay text.
        self.assertNotRegex(page, r'(?m)^\.Bl')
        if MAN:
            text, warnings = rendered(self.path('tsctl-info.1'))
            self.assertEqual(warnings, '')
            self.assertIn("the dot's .Bl \\fB-x", words(text))

    def test_tables_and_texts_have_to_agree(self):
        def no_help(command):
            command['options'][0].pop('help', None)
            command['options'][0].pop('joint', None)
            command['options'][0]['words'] = []

        def renamed(command):
            next(option for option in command['options'] if option.get('name') == 'name')['name'] = 'other'
        for command, change, complaint in (('verify', no_help, 'no help and no text for json of verify'),
                                           ('view', renamed, 'tsctl view has no option name'),
                                           ('view', lambda command: command.update(name='views'), 'tsctl-views.1')):
            result = self.make(self.changed(command, change))
            self.assertEqual(result.status, 1, result)
            self.assertIn(complaint, result.err)
        result = self.make(tables(), names=page_names()[:-1] + [ALIAS])
        self.assertEqual(result.status, 1)
        self.assertIn(page_names()[-1], result.err)


@unittest.skipIf(not MAN, 'man is not here')
class Markdown(harness.Case):
    """Documents become pages whose text is the document's."""

    def page(self, text):
        sys.path.insert(0, SOURCES)
        try:
            import markdown
            import roff
        finally:
            sys.path.remove(SOURCES)
        page = roff.Page('x', '7', '1', '')
        page.section_head('Text')
        markdown.write(page, markdown.blocks(text)[0])
        with open(self.path('x.7'), 'w', encoding='ascii') as file:
            file.write(page.text())
        found, warnings = rendered(self.path('x.7'))
        self.assertEqual(warnings, '')
        return found

    def test_hostile_text(self):
        text = self.page(".TH is no request\n\n'quoted' at the start \\fB \\(aq ... and\n.\n\n- `.PP` and `a\\b`\n- 'x\n\n    .nf\n    'code\\n' ~^`\n")
        for wanted in ('.TH is no request', "'quoted' at the start \\fB \\(aq", '• .PP and a\\b', "• 'x", '  .nf', "'code\\n' ~^`"):
            self.assertIn(wanted, text)

    def test_wide_code(self):
        line = 'tsctl view ' + ' '.join('--option-%d value' % i for i in range(9))
        text = self.page('Text:\n\n    %s   # a comment\n    name   1.25 ms   0.5   %s\n' % (line, 'x' * 60))
        self.assertIn('# a comment\n', text)
        self.assertIn(line, words(text.replace(' \\\n', ' ')))
        self.assertIn(' ...\n', text)
        self.assertLessEqual(max(map(len, text.split('\n'))), COLUMNS)

    def test_tables(self):
        rows = '\n'.join('| `-%s`, `a|b` | %s |' % (letter, 'word **bold text** ' * 9) for letter in 'ab')
        text = self.page('| option | meaning |\n|---|---|\n%s\n' % rows)
        self.assertIn('-a, a|b  word bold text', words(text).replace('a|b ', 'a|b  '))
        self.assertLessEqual(max(map(len, text.split('\n'))), COLUMNS)
        self.assertNotIn('\n\n', text.split('meaning')[1].split('tracesmith 1')[0].strip('\n'))
        # Words that fit no column make a list.
        text = self.page('| a | b | c |\n|---|---|---|\n| %s | %s | %s |\n' % ('a' * 30, 'b' * 30, 'c' * 30))
        self.assertIn('b: ' + 'b' * 30, text)


if __name__ == '__main__':
    harness.main()
