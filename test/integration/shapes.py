# SPDX-License-Identifier: Apache-2.0
"""Compares the output of a command with the text that a document shows: the same shape.

Lines are matched in order; empty lines and the width of blanks do not count. Words must be equal. Wildcards:

- `...` alone in a line: any number of lines; `...` within a line: any text;
- numbers; times and sizes, in any of their units; dates; addresses; folders of a path; pids (`NAME/PID` is a thread, which a column may
  cut);
- the marks of drawings: what is between the bars of a timeline, or in the brackets of a curve.

A word after a number may be singular or plural. A long line of the output may be folded in the document.
"""
import difflib
import re

NUMBER = r'[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?'
# A document folds a line that is longer than this.
FOLD = 100
# Patterns, and their stand-in; the order is part of the meaning.
WILD = (
    (r'\|[ ░▒▓▁▂▃▄▅▆▇█]*\|', '<drawing>'),
    (r'\[[ .:=+*#%@-]{10,}\]', '<drawing>'),
    (r'0x[0-9a-f]+', '<address>'),
    (r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [-+]\d{4}', '<date>'),
    (r'(?<![\w<])(?:\.\.\.|~)?/(?:[^\s:;,()"/]+/)*(?=[^\s/])', ''),
    (r'(?<![\w.<])%s ?(?:ns|us|ms|s|min|h)(?![\w/])' % NUMBER, '<time>'),
    (r'(?<![\w.<])%s ?(?:B|KiB|MiB|GiB|TiB)(?![\w/])' % NUMBER, '<size>'),
    # A column cuts the name of a thread where the pid is long.
    (r'(?<![\w<])([\w.-]{1,7})[\w.-]*/\d+(?![\w.])', r'<thread \1>'),
    (r'(?<![\w.<])%s(?![\w])' % NUMBER, '<n>'),
)
PLURALS = ((r'(?<=<n> )(\w+)ies\b', r'\1y'), (r'(?<=<n> )(\w+(?:ss|sh|ch))es\b', r'\1'), (r'(?<=<n> )(\w*[^\Ws])s\b', r'\1'))


def normal(line, vary=()):
    """The line with stand-ins for what is not its shape. vary: more (pattern, stand-in) of the caller's, before all others."""
    for pattern, word in (*vary, *WILD, *PLURALS):
        line = re.sub(pattern, word, line)
    return ' '.join(line.split())


def is_cut(line):
    return line.strip() == '...'


def _pattern(line, vary):
    """Of a line of a document; `...` before a path is the path's, not a cut."""
    parts = normal(line, vary).split('...')
    return re.compile(r' ?.* ?'.join(re.escape(part.strip()) for part in parts))


def _joined(lines):
    """Ways to read the first line: as it is, or with the next one as its other part."""
    yield 1, lines[0]
    if len(lines) > 1 and len(lines[0]) > FOLD and not is_cut(lines[1]):
        yield 2, lines[0].rstrip() + ' ' + lines[1].strip()


def mismatch(expected, got, vary=()):
    """None, or (index of the first line of `expected` that has no partner, the line that was found there or None)."""
    rows = [(i, line) for i, line in enumerate(expected) if line.strip()]
    found = [line for line in got if line.strip()]
    shapes = [normal(line, vary) for line in found]
    # (row, line) that can be reached; the furthest row, and the lines at which it was tried.
    states, seen, furthest = [(0, 0, False)], set(), (-1, 0, False)
    while states:
        state = states.pop()
        if state in seen:
            continue
        seen.add(state)
        row, at, cut = state
        if row == len(rows):
            if cut or at == len(found):
                return None
        elif is_cut(rows[row][1]):
            states.append((row + 1, at, True))
            continue
        furthest = max(furthest, (row, at, cut))
        if row < len(rows):
            texts = [line for _, line in rows[row:]]
            for n, text in _joined(texts):
                pattern = _pattern(text, vary)
                for line in range(at, len(found) if cut else min(at + 1, len(found))):
                    if pattern.fullmatch(shapes[line]):
                        states.append((row + n, line + 1, False))
    return _explain(rows, found, furthest, expected)


def _explain(rows, found, furthest, expected):
    row, at, cut = furthest
    if row == len(rows):
        return len(expected), found[at]
    line = rows[row][1]
    rest = found[at:]
    if cut and rest:
        rest = sorted(rest, key=lambda other: -difflib.SequenceMatcher(None, line, other).ratio())
    return rows[row][0], rest[0] if rest else None


def mismatch_unordered(expected, got, vary=()):
    """As mismatch(), for lists whose order is that of measured times: each line of the document has a line of its own somewhere."""
    left = [(normal(line, vary), line) for line in got if line.strip()]
    for i, text in enumerate(expected):
        if not text.strip() or is_cut(text):
            continue
        pattern = _pattern(text, vary)
        partner = next((pair for pair in left if pattern.fullmatch(pair[0])), None)
        if partner is None:
            rest = sorted((line for _, line in left), key=lambda other: -difflib.SequenceMatcher(None, text, other).ratio())
            return i, rest[0] if rest else None
        left.remove(partner)
    if left and not any(is_cut(line) for line in expected):
        return len(expected), left[0][1]
    return None
