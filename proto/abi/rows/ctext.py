# SPDX-License-Identifier: Apache-2.0
"""C text in the tree's format: tabs of 8, trailing comments aligned, lines of 100 columns."""
import textwrap

from table import C_TYPES

LICENCE = '/* SPDX-License-Identifier: Apache-2.0 */'
LINE = 100


def columns(text):
    at = 0
    for character in text:
        at = at // 8 * 8 + 8 if character == '\t' else at + 1
    return at


def padding(start, end):
    """Tabs and blanks from one column to another, as clang-format writes them."""
    to_tab = 8 - start % 8
    if end - start < to_tab or end - start == 1:
        return ' ' * (end - start)
    return '\t' + '\t' * ((end - start - to_tab) // 8) + ' ' * ((end - start - to_tab) % 8)


def commented(lines):
    """Lines from (code, comment). A comment that is too long for its line precedes it."""
    out, run = [], []

    def flush():
        at = max([columns(code) for code, _ in run], default=0) + 1
        # A comment that does not fit at the common column begins a new run.
        while run and any(at + len(comment) + 6 > LINE for _, comment in run):
            keep = [i for i, (code, comment) in enumerate(run)
                    if columns(code) + 1 + len(comment) + 6 <= LINE < at + len(comment) + 6]
            split = keep[0] if keep and keep[0] else 1
            head, tail = run[:split], run[split:]
            run[:] = head
            flush()
            run[:] = tail
            at = max([columns(code) for code, _ in run], default=0) + 1
        out.extend(code + padding(columns(code), at) + '/* ' + comment + ' */' for code, comment in run)
        del run[:]

    for code, comment in lines:
        if comment and columns(code) + 1 + len(comment) + 6 <= LINE:
            run.append((code, comment))
            continue
        flush()
        if comment:
            out.extend(comment_lines(textwrap.wrap(comment, LINE - 14), '\t'))
        out.append(code)
    flush()
    return out


def comment_lines(lines, indent=''):
    """A comment on lines of its own."""
    if not lines:
        return []
    if len(lines) == 1:
        return ['%s/* %s */' % (indent, lines[0])]
    return [indent + '/*'] + [(indent + ' * ' + line).rstrip() for line in lines] + [indent + ' */']


def declaration(name, kind):
    """The declaration of a member of a table type."""
    if kind.startswith('struct:'):
        return 'struct %s %s;' % (kind[7:], name)
    base, _, n = kind.partition('[')
    return '%s %s%s;' % ('uint8_t' if base == 'octets' else C_TYPES[base], name, '[' + n if n else '')


def header(title, includes):
    lines = [LICENCE] + comment_lines(title) + ['#pragma once', '']
    return lines + ['#include "%s"' % name for name in includes] + ([''] if includes else [])
