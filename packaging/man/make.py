#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the man pages. meson runs this program; README.md describes its inputs.

make.py [OPTION ...] --output FOLDER PAGE ...: each PAGE is a file's name, like tsctl-info.1. The program fails if the pages are not
those of the tables' commands, or if a text belongs to no command or option.
"""
import argparse
import datetime
import json
import os
import sys

import commands
import documents
import markdown
import roff

HERE = os.path.dirname(os.path.abspath(__file__))
OTHERS = ['tsctl.1', 'libtracesmith.3', 'sbt.5', 'tracesmith.7']
OF_DAEMON = ['tracesmithd.conf.5', 'tracesmithd.8']


def date():
    """The day of SOURCE_DATE_EPOCH, which builders of packages set; otherwise no date: the same tree gives the same pages."""
    seconds = os.environ.get('SOURCE_DATE_EPOCH', '')
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime('%Y-%m-%d') if seconds.isdigit() else ''


def text(name):
    return commands.Texts(os.path.join(HERE, 'text', name))


def fill(page, arguments, tables, variables):
    name = page.name
    if name == 'tsctl':
        commands.tsctl_page(page, tables['commands'], text('tsctl.md'), variables)
    elif name == 'tracesmithd':
        with open(arguments.daemon_help, encoding='utf-8') as file:
            commands.daemon_page(page, file.read(), text('tracesmithd.md'), variables)
    elif name == 'tracesmithd.conf':
        documents.service_page(page, arguments.source, text('tracesmithd.conf.md'))
    elif name == 'sbt':
        documents.format_page(page, arguments.source)
    elif name == 'libtracesmith':
        documents.library_page(page, arguments.source, arguments.header, arguments.include)
    elif name == 'tracesmith':
        documents.tutorial_page(page, arguments.source)
    else:
        command = next(command for command in tables['commands'] if 'tsctl-' + command['name'] == name)
        commands.command_page(page, command, text('commands.md'), variables, not arguments.without_vgpu, tables['edits'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tables', required=True)
    parser.add_argument('--daemon-help', help='none in a build of the readers alone')
    parser.add_argument('--source', required=True)
    parser.add_argument('--version', required=True)
    parser.add_argument('--include', required=True, help='folder of the installed headers')
    parser.add_argument('--documents', required=True, help='folder of the installed documents')
    parser.add_argument('--header', action='append', default=[])
    parser.add_argument('--without-vgpu', action='store_true')
    parser.add_argument('--output', required=True)
    parser.add_argument('pages', nargs='+')
    arguments = parser.parse_args()
    with open(arguments.tables, encoding='utf-8') as file:
        tables = json.load(file)
    names = [command['name'] for command in tables['commands']]
    aliases = {'tsctl-%s.1' % command['alias']: 'tsctl-%s.1' % command['name'] for command in tables['commands'] if 'alias' in command}
    wanted = sorted(OTHERS + (OF_DAEMON if arguments.daemon_help else []) + list(aliases) + ['tsctl-%s.1' % name for name in names])
    if sorted(arguments.pages) != wanted:
        raise commands.Wrong('packaging/man/meson.build lists other pages than tsctl has commands: %s'
                             % ', '.join(sorted(set(wanted) ^ set(arguments.pages))))
    unknown = set(text('commands.md').commands) - set(names) - {''}
    if unknown:
        raise commands.Wrong('text/commands.md: tsctl has no command %s' % ', '.join(sorted(unknown)))
    documents.read_installed(arguments.source, arguments.header, arguments.include, arguments.documents)
    guides = ['%s/%s.md' % (documents.GUIDES_FOLDER, name) for name in documents.GUIDES]
    variables = documents.Variables(guides + ['packaging/man/text/variables.md'], arguments.source)
    for name in arguments.pages:
        base, section = name.rsplit('.', 1)
        page = roff.Page(base, section, arguments.version, date())
        if name not in aliases:
            fill(page, arguments, tables, variables)
        with open(os.path.join(arguments.output, name), 'w', encoding='ascii') as file:
            file.write('.so man1/%s\n' % aliases[name] if name in aliases else page.text())
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (commands.Wrong, markdown.Unknown) as wrong:
        sys.exit('make.py: %s' % wrong)
