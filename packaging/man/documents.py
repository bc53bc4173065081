# SPDX-License-Identifier: Apache-2.0
"""Pages made of documents: sbt(5), libtracesmith(3), tracesmith(7), tracesmithd.conf(5). make.py calls this module."""
import os
import re

import commands
import markdown
import roff

# The guides in the order of the tutorial. extend.md is for those who change TraceSmith.
GUIDES = ('record', 'idle', 'studio', 'launched', 'changed', 'memory', 'deterministic', 'replay', 'service', 'library')
GUIDES_FOLDER = 'tools/tsctl/guides'


class Document:
    """A file in Markdown: its title, and its sections in order, each a level, a title and blocks."""

    def __init__(self, source, path):
        self.path = path
        with open(os.path.join(source, path), encoding='utf-8') as file:
            found, self.labels = markdown.blocks(file.read())
        self.title = ''
        self.sections = [(2, '', [])]
        for block in found:
            if block.kind != 'heading':
                self.sections[-1][2].append(block)
            elif block.value[0] == 1:
                self.title = block.value[1]
            else:
                self.sections.append(block.value + ([],))

    def section(self, title):
        for _, found, inside in self.sections:
            if found == title:
                return inside
        raise commands.Wrong('%s has no section %s' % (self.path, title))


def read_installed(source, headers, include, documents):
    """Reads text/installed.md: what pages call files of the source tree."""
    for _, _, inside in Document(source, 'packaging/man/text/installed.md').sections:
        for block in inside:
            if block.kind == 'table':
                markdown.read_installed(block.value[1], headers, include, documents)


class Variables(dict):
    """The variables of the environment and their meanings, from the tables of the guides and of text/variables.md."""

    def __init__(self, paths, source):
        super().__init__()
        self.readers = {}
        for path in paths:
            document = Document(source, path)
            for _, _, inside in document.sections:
                for block in inside:
                    if block.kind == 'table' and block.value[0][0] == 'variable':
                        self.add(*block.value)

    def add(self, head, rows):
        for row in rows:
            readers = row[1] if len(head) == 3 else 'tracesmithd'
            names = re.findall(r'`(\w+)`', row[0])
            meanings = row[-1].split('; ')
            # Variables of one row have a meaning each.
            for i, name in enumerate(names):
                self[name] = meanings[i] if 1 < len(names) == len(meanings) else row[-1]
                self.readers[name] = readers

    def read_by(self, name, program):
        return re.search(r'(?<![\w-])%s(?![\w-])' % program, self.readers[name]) is not None


def titled_links(titles, labels):
    """The links of the guides: to a section of the same page, or the address as text."""
    def link(name, address):
        address = labels.get(name) if address is None else address
        title = titles.get(os.path.basename(address or ''))
        if title:
            return 'section %s' % roff.bold(title.upper())
        return markdown.plain_link(name, address)
    return link


def tutorial_page(page, source):
    readme = Document(source, 'README.md')
    guides = [Document(source, '%s/%s.md' % (GUIDES_FOLDER, name)) for name in GUIDES]
    titles = {os.path.basename(guide.path): guide.title for guide in guides}
    link = titled_links(titles, readme.labels)
    page.section_head('Name')
    page.prose(r'tracesmith \- records, explains and replays the work of GPUs: a tutorial')
    page.section_head('Description')
    markdown.write(page, readme.section(''), link)
    for title in ('First use', 'Questions'):
        page.section_head(title)
        markdown.write(page, readme.section(title), link)
    for guide in guides:
        link = titled_links(titles, guide.labels)
        page.section_head(guide.title)
        for _, title, inside in guide.sections:
            if title:
                page.subsection(markdown.inline(title))
            markdown.write(page, inside, link)
    page.section_head('Limits')
    markdown.write(page, readme.section('Limits'), titled_links(titles, readme.labels))
    commands.see_also(page, ['tsctl(1)', 'tracesmithd(8)', 'sbt(5)', 'libtracesmith(3)'])


def format_page(page, source):
    document = Document(source, 'sbt/FORMAT.md')
    page.section_head('Name')
    page.prose(r'sbt \- the trace file of TraceSmith')
    page.section_head('Description')
    for level, title, inside in document.sections:
        if title and level == 2:
            page.section_head(title)
        elif title:
            page.subsection(markdown.inline(title))
        markdown.write(page, inside)
    commands.see_also(page, ['verify', 'repair', 'info', 'libtracesmith(3)', 'tracesmith(7)'])


def service_page(page, source, texts):
    """tracesmithd.conf(5): the settings of the service, from packaging/README.md."""
    packaging = Document(source, 'packaging/README.md')
    page.section_head('Name')
    page.prose(r'tracesmithd.conf \- settings of the service tracesmithd: /etc/default/tracesmithd and drop\-ins')
    for title in ('Description', 'Variables'):
        page.section_head(title)
        markdown.write(page, texts.section('', title))
    page.section_head('The service')
    markdown.write(page, packaging.section('The service'))
    page.section_head('Files')
    markdown.write(page, texts.section('', 'Files'))
    page.section_head('Examples')
    markdown.write(page, texts.section('', 'Examples'))
    commands.see_also(page, ['tracesmithd(8)', 'systemd.unit(5)', 'systemctl(1)', 'sysusers.d(5)'])


# ---- libtracesmith(3) ----

def header_comment(path):
    """The first comment of a header behind the licence, as paragraphs without its code."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    comments = re.findall(r'/\*(.*?)\*/', text, re.S)
    lines = [re.sub(r'^ ?\* ?', '', line.strip()) for line in comments[1].split('\n')]
    return [' '.join(part.split()) for part in '\n'.join(lines).split('\n\n') if part.strip()]


def header_functions(path, exported):
    with open(path, encoding='utf-8') as file:
        text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
    names = re.findall(r'\b(ts_\w+|tracesmith_\w+)\s*\(', text)
    return [name for name in dict.fromkeys(names) if name in exported]


def exported_names(source):
    with open(os.path.join(source, 'tools/library/libtracesmith.map.in'), encoding='utf-8') as file:
        public = re.search(r'TRACESMITH_\d+\.\d+ \{(.*?)\}', file.read(), re.S)
    return set(re.findall(r'\b(ts_\w+)\*?;', public.group(1)))


def library_page(page, source, headers, include):
    readme = Document(source, 'tools/library/README.md')
    purposes = {}
    for block in readme.sections[0][2]:
        if block.kind == 'table':
            for names, purpose in block.value[1]:
                for name in re.findall('`([^`]+)`', names):
                    purposes[name] = purpose
    page.section_head('Name')
    page.prose(r'libtracesmith \- read, write and query traces of GPUs')
    page.section_head('Synopsis')
    page.lines += ['.nf', r'\fB#include <tracesmith.h>\fR', '',
                   r'cc \fIprogram.c\fR $(pkg\-config \-\-cflags \-\-libs tracesmith)', '.fi']
    page.section_head('Description')
    markdown.write(page, [block for block in readme.sections[0][2] if block.kind == 'text'])
    page.section_head('Behaviour')
    markdown.write(page, readme.section('Behaviour'))
    page.section_head('Headers')
    exported = exported_names(source)
    for header in sorted(headers):
        path = os.path.join(source, header)
        purpose = purposes.get(header)
        text = markdown.inline(purpose) if purpose else roff.escape(header_comment(path)[0])
        functions = header_functions(path, exported)
        extra = ['Functions: %s.' % ', '.join(roff.bold(name) + '()' for name in functions)] if functions else []
        page.tagged(roff.bold('<%s>' % header), text, extra)
        page.lines += ['.IP', '.UR file://' + roff.escape(os.path.join(include, header), True).replace('/', '/\\:'), 'Installed header', '.UE']
    page.section_head('Examples')
    markdown.write(page, readme.section('Examples by question'))
    commands.see_also(page, ['tsctl(1)', 'sbt(5)', 'tracesmith(7)', 'tracesmithd(8)', 'pkg-config(1)'])
