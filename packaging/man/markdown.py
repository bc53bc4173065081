# SPDX-License-Identifier: Apache-2.0
"""The part of Markdown that the tree's documents use, as blocks and as roff. pages.py calls this module.

Blocks are headings, paragraphs, lists, indented code and tables. In a line there are code, bold and italic text, and links. Anything
else is text.
"""
import collections
import os
import re

import roff

# kind: 'heading' (level, text), 'text' (text), 'code' (lines), 'table' (head, rows), 'list' (items: a mark and its blocks)
Block = collections.namedtuple('Block', 'kind value')

HEADING = re.compile(r'(#+) (.*)')
ITEM = re.compile(r'( *)([-*]|\d+\.) +')
LABEL = re.compile(r'\[([^\]]+)\]: (\S+)$')
INLINE = re.compile(r'(`+)(?P<code>.+?)\1|\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<italic>[^*\s][^*]*?)\*(?![\w*])'
                    r'|\[(?P<name>[^\]]+)\](?:\((?P<to>[^)\s]+)\))?')

# A file of the source tree, as the documents name it.
SOURCE = re.compile(r'(?:proto|inject|daemon|sbt|replay|tools|test|packaging)/[\w./-]+|[\w./-]*[A-Z]\.md')
# What a page calls such a file, because its reader has no source tree: text in Markdown by the code of the documents.
installed = {}


class Unknown(Exception):
    """A page would name a file of the source tree."""


def blocks(text):
    """Returns the blocks of a document, and the addresses of its link labels."""
    lines = text.split('\n')
    labels = dict(match.groups() for match in map(LABEL.match, lines) if match)
    return parse([line for line in lines if not LABEL.match(line)]), labels


def parse(lines):
    found = []
    i = 0
    while i < len(lines):
        line = lines[i]
        if not line.strip() or line.startswith('<!--'):
            i += 1
        elif HEADING.match(line):
            marks, title = HEADING.match(line).groups()
            found.append(Block('heading', (len(marks), title)))
            i += 1
        elif line.startswith('    '):
            n = run(lines, i, lambda text: text.startswith('    ') or not text.strip())
            found.append(Block('code', trimmed([text[4:] for text in lines[i:i + n]])))
            i += n
        elif line.startswith('|'):
            n = run(lines, i, lambda text: text.startswith('|'))
            rows = [cells(text) for text in lines[i:i + n]]
            found.append(Block('table', (rows[0], rows[2:])))
            i += n
        elif ITEM.match(line):
            items, i = parse_list(lines, i)
            found.append(Block('list', items))
        else:
            n = run(lines, i, lambda text: text.strip() and not text.startswith(('#', '|')) and not ITEM.match(text))
            found.append(Block('text', ' '.join(lines[i:i + max(n, 1)])))
            i += max(n, 1)
    return found


def run(lines, start, accepts):
    end = start
    while end < len(lines) and accepts(lines[end]):
        end += 1
    return end - start


def trimmed(lines):
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def cells(line):
    """The cells of a row. A bar in code is text."""
    parts, cell, is_code = [], '', False
    for character in line.strip()[1:]:
        is_code ^= character == '`'
        if character == '|' and not is_code:
            parts.append(cell.strip())
            cell = ''
        else:
            cell += character
    return parts


def parse_list(lines, i):
    """The items of a list: lines that are indented as an item's text belong to that item."""
    items = []
    indent = len(ITEM.match(lines[i]).group(1))
    while i < len(lines):
        match = ITEM.match(lines[i])
        if not match or len(match.group(1)) != indent:
            break
        inside = len(match.group(0))
        own = [lines[i][inside:]]
        i += 1
        while i < len(lines) and (lines[i].startswith(' ' * inside) or (not lines[i].strip() and i + 1 < len(lines)
                                                                        and lines[i + 1].startswith(' ' * inside))):
            own.append(lines[i][inside:])
            i += 1
        items.append((match.group(2), parse(own)))
        while i + 1 < len(lines) and not lines[i].strip() and ITEM.match(lines[i + 1]):
            i += 1
    return items, i


def inline(text, links=None):
    """A line as roff. `links` returns the text of a link from its name and address (None: a label)."""
    out, at = [], 0
    for match in INLINE.finditer(text):
        out.append(roff.escape(text[at:match.start()]))
        at = match.end()
        is_start = not text[:match.start()].strip() or text[:match.start()].rstrip().endswith('.')
        if match['code']:
            out.append(code(match['code'].strip(), is_start))
        elif match['bold']:
            out.append(r'\fB%s\fR' % re.sub(r'\\f[BIR]', '', inline(match['bold'], links)))
        elif match['italic']:
            out.append(r'\fI%s\fR' % re.sub(r'\\f[BIR]', '', inline(match['italic'], links)))
        else:
            linked = (links or plain_link)(match['name'], match['to'])
            out.append(linked[:1].upper() + linked[1:] if is_start else linked)
    out.append(roff.escape(text[at:]))
    return ''.join(out)


def code(text, is_start):
    """Code as roff. The words for a file of the source tree may begin a sentence."""
    if text not in installed:
        if SOURCE.fullmatch(text):
            raise Unknown('text/installed.md has no words for %s' % text)
        return roff.bold(text)
    words = inline(installed[text])
    return words[:1].upper() + words[1:] if is_start else words


def read_installed(rows, headers, include, documents):
    """Fills `installed` from the rows of text/installed.md and the names of the installed headers."""
    installed.update((header, '`<%s>`' % header) for header in headers)
    for names, words in rows:
        for name in re.findall('`([^`]+)`', names):
            installed[name] = words.replace('{name}', os.path.basename(name)).replace('{include}', include) \
                .replace('{documents}', documents)


def plain_link(name, address):
    if address is None:
        return roff.escape('[%s]' % name)
    return '%s (%s)' % (inline(name), roff.escape(address, True)) if '://' in address else inline(name)


def write(page, found, links=None, columns=roff.TEXT_COLUMNS):
    """Appends blocks without headings to a page."""
    for block in found:
        if block.kind == 'text':
            page.paragraph(inline(block.value, links))
        elif block.kind == 'code':
            page.code(block.value, columns - roff.CODE_INDENT)
        elif block.kind == 'table':
            head, rows = block.value
            page.table([inline(cell, links) for cell in head], [[inline(cell, links) for cell in row] for row in rows],
                       columns)
        elif block.kind == 'list':
            write_list(page, block.value, links, columns)


def write_list(page, items, links, columns):
    for mark, inside in items:
        is_counted = mark[0].isdigit()
        first = inside[0].value if inside and inside[0].kind == 'text' else ''
        page.item(mark if is_counted else r'\(bu', inline(first, links))
        rest = inside[1:] if first else inside
        if rest:
            indent = 4 if is_counted else 2
            page.indent(indent)
            write(page, rest, links, columns - indent)
            page.outdent()
