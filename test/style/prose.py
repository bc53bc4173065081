# SPDX-License-Identifier: Apache-2.0
"""Finds the prose of a file for check-prose.py: comments of C, sentences of Markdown, sentences of tsctl's help.

Each reader yields pairs of a line number and a text. Code in backquotes is one word, CODE_WORD.
"""
import collections
import re

TAB = 8
Comment = collections.namedtuple('Comment', 'line text wide')

STRING = r'"(?:\\.|[^"\\\n])*"'
TOKEN = re.compile(STRING + r"|'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/", re.S)
FRAME = re.compile(r'^[ \t]*(?:/\*+|//+|\*(?!/))?<?[ \t]*|[ \t]*\*/$', re.M)
# Lines for tools: neither is prose.
DIRECTIVE = re.compile(r'SPDX-License-Identifier|clang-format o(n|ff)')
CODE_WORD = 'CODE'
CODE = re.compile(r'(`+)(?!`).+?(?<!`)\1(?!`)', re.S)

SENTENCE_END = re.compile(r'(?<=[.?!])(?<!e\.g\.)(?<!i\.e\.)(?:["\')*_]*)\s+')

FENCE = re.compile(r'^\s*(```|~~~)')
LIST_ITEM = re.compile(r'^\s*(?:[-*+]|\d+\.)\s+')
LINK = re.compile(r'!?\[([^\]]*)\]\([^)]*\)')
# A shorter cell of a table is a name or a number.
CELL_WORDS = 3
TABLE_RULE = re.compile(r'^[\s|:-]+$')

HELP = re.compile(r'\.(?:text|summary|help)\s*=\s*((?:%s|[A-Z][A-Z0-9_]*|\s)+)' % STRING)
HELP_ROW = re.compile(r'^ {1,8}(?=\S)(?:.*?\S {2,})?(.*)$')


def sentences(text):
    """The sentences of a text, each with its blanks made one."""
    found = SENTENCE_END.split(CODE.sub(CODE_WORD, text))
    return [sentence for sentence in (' '.join(part.split()) for part in found) if sentence]


def _merge_lines(text):
    """Spans of comments; // comments of consecutive lines are one."""
    spans = []
    for match in TOKEN.finditer(text):
        if match.group()[0] != '/':
            continue
        start, end = match.span()
        if spans and text.startswith('//', start) and text.startswith('//', spans[-1][0]):
            between = text[spans[-1][1]:start]
            if between.count('\n') == 1 and not between.strip():
                start = spans.pop()[0]
        spans.append((start, end))
    return spans


def comments(text, columns):
    """The comments of a C file. `wide` lists pairs of number and text: the comment's lines that end past `columns`."""
    line, counted = 1, 0
    for start, end in _merge_lines(text):
        line += text.count('\n', counted, start)
        counted = start
        if DIRECTIVE.search(text, start, end):
            continue
        whole = text[text.rfind('\n', 0, start) + 1:end].split('\n')
        wide = [(line + i, part) for i, part in enumerate(whole) if len(part.expandtabs(TAB)) > columns]
        yield Comment(line, FRAME.sub('', text[start:end]), wide)


def _join(pieces):
    for line, parts in pieces:
        for sentence in sentences(' '.join(parts)):
            yield line, sentence


def _is_code(line, before):
    """True if an indented line of Markdown is a block of code."""
    return line.startswith(('    ', '\t')) and before in ('blank', 'code') and not LIST_ITEM.match(line)


def _markdown_pieces(text):
    """Paragraphs, items and cells, each with its lines. Headings are no sentences."""
    piece, before, fenced = None, 'blank', False
    for number, line in enumerate(text.split('\n'), 1):
        is_fence = bool(FENCE.match(line))
        is_code = fenced or is_fence or _is_code(line, before)
        fenced ^= is_fence
        before = 'code' if is_code else 'text' if line.strip() else before if before == 'code' else 'blank'
        if is_code or not line.strip() or line.startswith('#'):
            piece = None
        elif line.lstrip().startswith('|'):
            piece = None
            if not TABLE_RULE.match(line):
                yield from ((number, [cell]) for cell in CODE.sub(CODE_WORD, line).split('|')
                            if len(cell.split()) >= CELL_WORDS)
        elif piece is None or LIST_ITEM.match(line):
            piece = [LIST_ITEM.sub('', line)]
            yield number, piece
        else:
            piece.append(line)


def markdown(text):
    """The sentences of a Markdown file."""
    return _join([(line, [LINK.sub(r'\1', part) for part in parts])
                  for line, parts in list(_markdown_pieces(text))])


def _literals(source):
    """The text of adjacent literals; a macro between them is a word."""
    parts = re.findall(STRING + r'|[A-Z][A-Z0-9_]*', source)
    joined = ''.join(part[1:-1] if part[0] == '"' else ' %s ' % CODE_WORD for part in parts)
    return joined.replace(r'\n', '\n').replace(r'\"', '"').replace(r'\t', '\t')


def _help_pieces(text, first):
    """Paragraphs, and the right column of rows. Usage and example are command lines."""
    piece, in_row, in_usage = None, False, False
    for number, line in enumerate(text.split('\n'), first):
        row = HELP_ROW.match(line)
        in_usage = bool(line.strip()) and (in_usage or line.startswith('usage:'))
        if in_usage or not line.strip() or line.startswith('example:'):
            piece = None
        elif piece is None or row or (in_row and not line.startswith(' ')):
            piece, in_row = [row.group(1) if row else line], bool(row)
            yield number, piece
        else:
            piece.append(line)


def help_texts(text):
    """The sentences of the help in a file of tsctl: of its commands' texts and summaries, and of its options' tables."""
    for match in HELP.finditer(text):
        first = text.count('\n', 0, match.start()) + 1
        yield from _join(list(_help_pieces(_literals(match.group(1)), first)))
