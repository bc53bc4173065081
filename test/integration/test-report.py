#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tsctl report`: the page is well-formed HTML without scripts and without addresses of other files, its figures are those of the JSON of
analyze, gaps, memory and info, names of any kind are only text, and the Python package writes the same page."""
import html.parser
import json
import os
import re
import sys
import unittest

import harness
import hostile_names

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
VOID = {'meta', 'link', 'br'}
# Elements by the elements that may contain them; None: any of the flow.
PARENTS = {'li': {'ul', 'ol'}, 'tr': {'thead', 'tbody'}, 'th': {'tr'}, 'td': {'tr'}, 'thead': {'table'}, 'tbody': {'table'},
           'caption': {'table'}, 'dt': {'div'}, 'dd': {'div'}, 'summary': {'details'}, 'h1': {'header'}}
ELEMENTS = {'html', 'head', 'body', 'meta', 'link', 'title', 'style', 'header', 'main', 'footer', 'nav', 'section', 'article', 'div', 'p', 'span',
            'code', 'strong', 'br', 'a', 'ul', 'ol', 'dl', 'table', 'details', 'h2', 'h3', 'h4', *PARENTS,
            'svg', 'rect', 'text', 'g', 'path', 'circle'}
INLINE = {'p', 'h1', 'h2', 'h3', 'h4', 'span', 'code', 'dt', 'summary', 'a', 'strong'}  # no block within
BLOCKS = {'p', 'div', 'table', 'ul', 'ol', 'dl', 'section', 'article', 'details', 'h2', 'h3', 'h4'}
ATTRIBUTES = {'lang', 'charset', 'http-equiv', 'content', 'name', 'rel', 'href', 'class', 'id', 'role', 'tabindex', 'scope', 'aria-label',
              'aria-labelledby', 'xmlns', 'width', 'height', 'viewbox', 'x', 'y', 'd', 'cx', 'cy', 'r', 'text-anchor', 'textlength',
              'lengthadjust'}


class Page(html.parser.HTMLParser):
    """A parsed page; its checks hold for each."""

    def __init__(self, test, text):
        super().__init__(convert_charrefs=True)
        self.test, self.stack, self.ids, self.targets, self.labels = test, [], [], [], []
        self.sections, self.words = {}, []
        self.tables, self.answers = [], []
        test.assertTrue(text.startswith('<!DOCTYPE html>\n'))
        test.assertFalse(set(c for c in text if ord(c) < 32 and c != '\n'))
        self.feed(text)
        self.close()
        test.assertEqual(self.stack, [])
        test.assertEqual(len(self.ids), len(set(self.ids)), 'an id is there twice')
        test.assertLessEqual({target[1:] for target in self.targets if target.startswith('#')}, set(self.ids))
        test.assertLessEqual(set(self.labels), set(self.ids))
        test.assertLessEqual({target for target in self.targets if not target.startswith('#')}, {'data:,'})
        test.assertNotRegex(re.sub(r'xmlns="http://www.w3.org/2000/svg"', '', re.sub(r'>[^<]*<', '><', text)), r'https?:|url\(|@import|javascript:')
        test.assertIn("default-src 'none'", text)

    def handle_starttag(self, tag, attrs):
        test, parent = self.test, self.stack[-1] if self.stack else None
        test.assertIn(tag, ELEMENTS)
        test.assertLessEqual({name for name, _ in attrs}, ATTRIBUTES)
        test.assertFalse([name for name, _ in attrs if name.startswith('on')])
        if tag in PARENTS:
            test.assertIn(parent, PARENTS[tag])
        if tag in BLOCKS:
            test.assertFalse(INLINE & set(self.stack), '%s in %s' % (tag, self.stack))
        found = dict(attrs)
        self.ids += [found['id']] if 'id' in found else []
        self.targets += [found['href']] if 'href' in found else []
        self.labels += [found['aria-labelledby']] if 'aria-labelledby' in found else []
        if tag == 'tbody':
            self.tables.append([])
        elif tag == 'tr' and 'tbody' in self.stack:
            self.tables[-1].append([])
        elif tag == 'td':
            self.tables[-1][-1].append('')
        elif tag == 'dd':
            self.answers.append('')
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.stack.pop()

    def handle_endtag(self, tag):
        self.test.assertEqual(self.stack and self.stack[-1], tag)
        self.stack.pop()

    def handle_data(self, data):
        if 'style' in self.stack:
            return
        self.words.append(data)
        if 'td' in self.stack:
            self.tables[-1][-1][-1] += data
        if 'dd' in self.stack:
            self.answers[-1] += data

    @property
    def text(self):
        return ''.join(self.words)


def duration(ns):
    """As the page prints it."""
    for unit, name in ((10**9, 's'), (10**6, 'ms'), (1000, 'us')):
        if ns >= unit:
            value = ns / unit
            return '%.*f %s' % (3 if value < 9.9995 else 2 if value < 99.995 else 1, value, name)
    return '%d ns' % ns


class Report(harness.Case):
    def stored(self, name):
        return os.path.join(GOLDEN, name + '.sbt')

    def page(self, path, *options, status=0):
        result = harness.tsctl('report', *options, path)
        self.assertEqual(result.status, status, result)
        return Page(self, result.out)

    def json(self, command, path):
        return json.loads(harness.tsctl(command, '--json', path).out)

    def test_every_stored_trace(self):
        for name in ('pipeline', 'train', 'failing', 'delays', 'names', 'capture', 'race'):
            text = harness.tsctl('report', self.stored(name)).out
            Page(self, text)
            self.assertEqual(harness.tsctl('report', self.stored(name)).out, text, 'equal input, equal bytes')
            for command in ('timeline', 'memory'):
                drawn = harness.tsctl(command, '--format', 'svg', self.stored(name)).out
                self.assertEqual(drawn in text, command == 'timeline' or '<h2 id="memory">' in text, (name, command))

    def test_figures_are_those_of_the_json(self):
        for name in ('pipeline', 'train', 'delays'):
            path = self.stored(name)
            page, analysis = self.page(path), self.json('analyze', path)
            gaps, memory, info = self.json('gaps', path), self.json('memory', path), self.json('info', path)
            kernel = analysis['kernels'][0]
            self.assertIn(kernel['name'], page.answers[0])
            self.assertIn('%s, %.1f %% of all kernels\' time, in %d launch' % (
                duration(kernel['ns']), 100 * kernel['ns'] / analysis['kernels_ns'], kernel['count']), page.answers[0])
            self.assertIn(kernel['launched_by'][0]['frame'].split(' ')[0], page.answers[0])
            longest = gaps['longest'][0]
            self.assertIn('The longest gap, ' + duration(longest['end_ns'] - longest['start_ns']), page.answers[1])
            self.assertIn('%.1f %%' % (100 * gaps['parts'][0]['ns'] / gaps['gaps_ns']), page.answers[1])
            site = memory['peak_sites'][0] if memory.get('peak_sites') else {'frame': 'No device memory was allocated.'}
            self.assertIn(site['frame'].split(' ')[0], page.answers[2])
            listed = [row for table in page.tables for row in table]
            for device in analysis['devices']:
                self.assertTrue([row for row in listed if (row[0] + ' ').startswith('GPU %d ' % device['device']) and
                                 row[2] == '%.1f %%' % (100 * device['busy_ns'] / (analysis['end_ns'] - analysis['start_ns']))], listed)
            for kernel in analysis['kernels']:
                self.assertTrue([row for row in listed if row[0] == kernel['name'] and row[3] == format(kernel['count'], ',')])
            for session in info['sessions']:
                self.assertTrue([row for row in listed if row[:2] == [str(session['session']), str(session['pid'])]])
            for cause in gaps['parts'][:5]:
                self.assertTrue([row for row in listed if row[0] == duration(cause['ns'])], cause)

    def test_failed_calls_and_losses(self):
        page, info = self.page(self.stored('failing')), self.json('info', self.stored('failing'))
        self.assertIn('errors', page.ids)
        for error in info['errors'][:20]:
            self.assertIn('%s = %s' % (error['name'], error['error']), page.text)
        self.assertIn('Nothing was lost.', page.text)

    def test_hostile_names(self):
        path = hostile_names.write(self, self.path('hostile-<&>.sbt'))
        page = self.page(path)
        self.assertIn('hostile-<&>.sbt', page.text)
        self.assertIn('a&b"c\'d<e>', page.text)
        for character in '\u202e\x1b\ufffe\u0301':
            self.assertNotIn(character, page.text)
        path = hostile_names.write(self, self.path('long.sbt'), ['<b>' * 350000, 'k'])
        self.assertLess(len(harness.tsctl('report', path).out), 400000)

    def test_output_and_refusals(self):
        path, out = self.stored('train'), self.path('out.html')
        printed = harness.tsctl('report', path).out
        result = harness.tsctl('report', '-o', out, path)
        self.assertEqual((result.status, result.out, result.err), (0, '', ''), result)
        with open(out, encoding='utf-8') as file:
            self.assertEqual(file.read(), printed)
        self.assertIn('viewBox="0 0 640 ', harness.tsctl('report', '--width', '640', path).out)
        for options in (('--width', '99999', path), (path, path), (), (self.path('none.sbt'),), ('-o', path, path)):
            result = harness.tsctl('report', *options)
            self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)

    def test_damaged(self):
        with open(self.stored('pipeline'), 'rb') as file:
            data = bytearray(file.read())
        path = self.path('damaged.sbt')
        data[len(data) // 2] ^= 0xff
        with open(path, 'wb') as file:
            file.write(data)
        if harness.tsctl('analyze', path).status == 2:
            self.assertIn('The trace is damaged', self.page(path, status=2).text)
        with open(path, 'wb') as file:
            file.write(data[:len(data) // 3])
        page = self.page(path) if harness.tsctl('analyze', path).status == 0 else self.page(path, status=2)
        self.assertIn('cut off', page.text)

    def test_python(self):
        if harness.SANITIZER:
            self.skipTest('Python does not load libraries of a sanitizer')
        program = '''
import sys, tracesmith
page = tracesmith.open(sys.argv[1]).report(sys.argv[2])
assert page._repr_html_().startswith('<iframe sandbox ') and '<script' not in page, page[:200]
drawn = tracesmith.open(sys.argv[1]).flame()
try:
    assert drawn.png()[:4] == b'\\x89PNG'
except tracesmith.Error as why:
    assert 'librsvg2-2' in str(why), why
print(len(page))
'''
        out = self.path('python.html')
        result = harness.run([sys.executable, '-c', program, self.stored('train'), out], hostile_names.python_environment())
        self.assertEqual(result.status, 0, result)
        with open(out, encoding='utf-8') as file:
            self.assertEqual(file.read(), harness.tsctl('report', self.stored('train')).out)


if __name__ == '__main__':
    harness.main()
