#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-prose.py finds the bad text that is planted here, and passes the good text beside it."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
prose = __import__('prose')
check = __import__('check-prose')

BAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* What it waits for. */
int a;
// Of the ring: the bytes
// that nobody said were read.
int b; /* not what is read */
/* Who else? */
""" + '\tint c; /* %s */\n' % ('c' * (100 - len('        int c; /*  */') + 1))
GOOD = """/* Waits for the doorbell. Asks: who is there? */
const char *text = "/* What it waits for. */", quote = '"'; /* of the ring */
/* `what` is a field; the what-if edits are options. */
""" + '\tint c; /* %s */\n' % ('c' * (100 - len('        int c; /*  */'))) + '/* Short. */ int %s;\n' % ('c' * 100)
LONG = ' '.join(['word'] * check.WORDS)


def found(name, text):
    """Pairs of a line and a figure, by kind."""
    result = {}
    for kind, findings in check.check_file(name, text):
        next(findings)
        result[kind] = [(finding.line, finding.figure) for finding in findings]
    return result


class Comments(unittest.TestCase):
    def test_planted_comments_are_found(self):
        self.assertEqual(found('sbt/a.c', BAD)['comments'], [
            (2, 'openers'), (2, 'free'), (4, 'openers'), (4, 'told'), (6, 'free'), (8, 'columns')])

    def test_good_comments_pass(self):
        self.assertEqual(found('sbt/a.h', GOOD), {'comments': []})

    def test_lines_of_one_comment_are_one(self):
        texts = [comment.text for comment in prose.comments('int a; // one\n// two\n\n// three\n/*\n * four\n */', 100)]
        self.assertEqual(texts, ['one\ntwo', 'three', '\nfour\n'])


class Readmes(unittest.TestCase):
    def readme(self, text):
        return found('sbt/README.md', text)['READMEs']

    def test_planted_sentences_are_found(self):
        self.assertEqual(self.readme('Good. Nor is this.\n\n- It says\n  so.\n'), [(1, 'openers'), (3, 'told')])
        self.assertEqual(self.readme('| a | read by whoever asks |\n'), [(1, 'free')])
        self.assertEqual(self.readme('One %s.\n' % LONG), [(1, 'sentences')])

    def test_good_sentences_pass(self):
        self.assertEqual(self.readme('# What it is\n\nWho launched it? %s.\n\n    what told\n\n```\nwho\n```\n' % LONG), [])
        self.assertEqual(self.readme('See `tsctl %s what` and [a page](who/said.md).\n' % LONG), [])
        self.assertEqual(self.readme('- %s\n- %s\n' % (LONG, LONG)), [])

    def test_a_list_of_names_is_no_long_sentence(self):
        self.assertEqual(self.readme('| %s |\n' % ', '.join(['1 `name` u64 start'] * 20)), [])


class Help(unittest.TestCase):
    def help(self, text):
        return found('tools/tsctl/cmd-a.c', text)['help']

    def test_planted_help_is_found(self):
        self.assertEqual(self.help('{\n.text = "usage: tsctl a what\\n"\n"\\n"\n"Prints a.\\n"\n"Who\\n"\n"ran.\\n",'),
                         [(4, 'openers'), (4, 'free')])
        self.assertEqual(self.help('{"limit", .help = "print what\\n"\n"is" WORD "there"}'), [(1, 'free')])
        self.assertEqual(self.help('.text = "  -n N   %s\\n"\n"         word",' % LONG), [(1, 'sentences')])

    def test_good_help_passes(self):
        self.assertEqual(self.help('.text = "usage: tsctl a\\n\\n"\n"  --what N  one\\n"\n"  --who     two\\n"\n"example: what\\n",'), [])
        self.assertEqual(self.help('.text = "  -n N   %s\\n"\n"  -m N   word",' % LONG), [])
        self.assertNotIn('help', found('daemon/a.c', '.text = "what"'))


class Limits(unittest.TestCase):
    KEY = ('sbt', 'comments', 'openers')

    def judge(self, count, limit):
        return list(check.judge({self.KEY: count} if count else {}, {self.KEY: limit} if limit else {}))

    def test_a_limit_may_only_fall(self):
        self.assertEqual(self.judge(20, 20) + self.judge(18, 20) + self.judge(0, 0), [])
        self.assertIn('21, at most 20: reword', self.judge(21, 20)[0])
        self.assertIn('1, at most the goal of 0.5 %: reword', self.judge(1, 0)[0])
        self.assertIn('17, the limit is still 20', self.judge(17, 20)[0])
        self.assertIn('the goal is met, the limit is still 20', self.judge(0, 20)[0])

    def test_a_count_within_its_goal_is_no_excess(self):
        def excess(count, units):
            counters = check.Measure({'all': units}, {'openers': count})
            return check.excess({('sbt', 'comments'): counters})
        self.assertEqual(excess(1, 200), {})
        self.assertEqual(excess(1, 199), {self.KEY: 1})

    def test_limits_are_read(self):
        self.assertEqual(check.read_limits('# text\n\nsbt comments openers 7\n'), {self.KEY: 7})


if __name__ == '__main__':
    unittest.main()
