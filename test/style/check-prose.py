#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prose is written by one rule: comments, READMEs and help are measured against goals.

A comment is a block comment or a run of // lines, of a .c or .h file of the tree. READMEs are all *.md files, help is the
text of tsctl's commands and options; both are counted by sentence. A question ("?") counts in no figure of words.

    openers    begin with What, Who, Whoever, Whom, Of, Nor, Where or Which; `/* of the ring */` beside a member does not
    free       contain the word what, who, whoever or whom
    told       contain the word told, tell, tells, said or says
    columns    lines of comment that end past column 100, with tabs of 8
    sentences  sentences of more than 30 words, unless every fourth word is code: that is a list of names

If a folder is beyond a goal, prose-limits.txt holds its count as a limit that may only fall. The test fails if the
count is above the limit, and if it is more than a tenth below.
"""
import argparse
import collections
import os
import re
import sys

import prose
import tree

COLUMNS = 100
WORDS = 30
# The most that are allowed, in parts of a thousand comments or sentences.
GOALS = {'openers': 5, 'free': 20, 'told': 10, 'columns': 0, 'sentences': 0}
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'prose-limits.txt')
HEADER = """# Counts of prose beyond the goals of check-prose.py, which writes this file: check-prose.py --write
# A limit may only fall. Rows: folder, kind, figure, limit.
"""

FOLDERS = ('proto', 'inject', 'daemon', 'sbt', 'replay', 'tools', 'test', 'packaging', '.')
HELP_FOLDER = 'tools/tsctl/'

OPENER = re.compile(r'\W*(What|Who|Whoever|Whom|Of|Nor|Where|Which)(?![-\w])')
FREE = re.compile(r'(?<![-\w])(what|who|whoever|whom)(?![-\w])', re.I)
TOLD = re.compile(r'(?<![-\w])(told|tells?|said|says)(?![-\w])', re.I)

# A found place: `figure` is a key of GOALS.
Finding = collections.namedtuple('Finding', 'name line figure text')
Measure = collections.namedtuple('Measure', 'units counts')


def top_folder(name):
    return name.split('/')[0] if '/' in name else '.'


def word_figures(sentences):
    """The figures of words that a comment, or one sentence, counts in."""
    stated = [sentence for sentence in sentences if not sentence.endswith('?')]
    if sentences and sentences[0] in stated and OPENER.match(sentences[0]):
        yield 'openers'
    if any(FREE.search(sentence) for sentence in stated):
        yield 'free'
    if any(TOLD.search(sentence) for sentence in stated):
        yield 'told'


def is_long(sentence):
    words = [word for word in sentence.split() if any(letter.isalnum() for letter in word)]
    n_codes = sum(1 for word in words if prose.CODE_WORD in word)
    return len(words) > WORDS and n_codes * 4 < len(words)


def check_comments(name, text):
    """Yields the number of comments, then the findings."""
    found = list(prose.comments(text, COLUMNS))
    yield len(found)
    for comment in found:
        for figure in word_figures(prose.sentences(comment.text)):
            yield Finding(name, comment.line, figure, ' '.join(comment.text.split()))
        for line, part in comment.wide:
            yield Finding(name, line, 'columns', part.strip())


def check_sentences(name, found):
    """Yields the number of sentences, then the findings."""
    found = list(found)
    yield len(found)
    for line, sentence in found:
        for figure in word_figures([sentence]):
            yield Finding(name, line, figure, sentence)
        if is_long(sentence):
            yield Finding(name, line, 'sentences', sentence)


def check_file(name, text):
    """Pairs of a kind of prose and the check of it."""
    if name.endswith('.md'):
        yield 'READMEs', check_sentences(name, prose.markdown(text))
    else:
        yield 'comments', check_comments(name, text)
    if name.startswith(HELP_FOLDER) and name.endswith('.c'):
        yield 'help', check_sentences(name, prose.help_texts(text))


def measure(names):
    """Measures by folder and kind, and all findings."""
    measures, findings = {}, []
    for name in names:
        for kind, check in check_file(name, '\n'.join(tree.lines(name))):
            entry = measures.setdefault((top_folder(name), kind), Measure(collections.Counter(), collections.Counter()))
            entry.units['all'] += next(check)
            found = list(check)
            entry.counts.update(finding.figure for finding in found)
            findings += found
    return measures, findings


def excess(measures):
    """The counts that are beyond their goal, by folder, kind and figure."""
    return {key + (figure,): count for key, entry in measures.items() for figure, count in entry.counts.items()
            if count * 1000 > GOALS[figure] * entry.units['all']}


def judge(counts, limits):
    """Sentences about counts beyond the goals that do not fit the limits."""
    for key in sorted(set(counts) | set(limits)):
        place, count, limit = '%s, %s, %s' % key, counts.get(key, 0), limits.get(key, 0)
        if count > limit:
            yield '%s: %d, at most %s: reword, see check-prose.py --list %s' % (
                place, count, limit or 'the goal of %g %%' % (GOALS[key[2]] / 10), key[0])
        elif not count:
            yield '%s: the goal is met, the limit is still %d: check-prose.py --write' % (place, limit)
        elif count * 10 < limit * 9:
            yield '%s: %d, the limit is still %d: check-prose.py --write' % (place, count, limit)


def read_limits(text):
    limits = {}
    for line in text.split('\n'):
        words = line.split('#')[0].split()
        if words:
            limits[tuple(words[:3])] = int(words[3])
    return limits


def load_limits():
    if not os.path.exists(LIMITS):
        return {}
    with open(LIMITS, encoding='utf-8') as stream:
        return read_limits(stream.read())


def write_limits(counts, limits):
    """Writes the counts as limits, and names those that rose."""
    with open(LIMITS, 'w', encoding='utf-8') as stream:
        stream.write(HEADER + ''.join('%s %s %s %d\n' % (key + (counts[key],)) for key in sorted(counts)))
    for key in sorted(counts):
        if limits and counts[key] > limits.get(key, 0):
            print('%s, %s, %s: rose from %d to %d' % (key + (limits.get(key, 0), counts[key])))


def main():
    parser = argparse.ArgumentParser(description='Measures comments, READMEs and help.')
    parser.add_argument('--write', action='store_true', help='write prose-limits.txt anew; print the limits that rose')
    parser.add_argument('--list', metavar='FOLDER', help='print each place in FOLDER that counts in a figure')
    options = parser.parse_args()
    measures, findings = measure(name for name in tree.files('.c', '.h', '.md') if top_folder(name) in FOLDERS)
    if options.list:
        folder = os.path.normpath(options.list)
        for name, line, figure, text in sorted(findings):
            if folder == '.' or name == folder or name.startswith(folder + '/'):
                print('%s:%d: %s: %s' % (name, line, figure, text))
        return 0
    counts, limits = excess(measures), load_limits()
    if options.write:
        write_limits(counts, limits)
        return 0
    return tree.report(list(judge(counts, limits)))


if __name__ == '__main__':
    sys.exit(main())
