#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of tsctl (SVG, PNG): an XML parser reads them, they are whole and safe, text stays in its box, and bars equal the figures of
the JSON and of folded stacks. Pixels of PNG have the colours of the SVG. golden/train-*.svg are the pictures of a stored trace; `test-pictures.py --update` writes those files anew."""
import collections
import json
import math
import os
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import harness
import hostile_names
import png

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
UPDATE = '--update' in sys.argv
SVG = '{http://www.w3.org/2000/svg}'
KINDS = {'timeline': 'timeline', 'memory': 'memory', 'flame': 'export'}
SIZES = {'title': 17, 'head': 14, 'dim': 12, 'small': 11, 'label': 12, 'f': 11.5}
ELEMENTS = {'svg', 'style', 'rect', 'text', 'title', 'g', 'path', 'circle'}
ATTRIBUTES = {'class', 'x', 'y', 'width', 'height', 'd', 'viewBox', 'role', 'aria-label', 'text-anchor', 'textLength', 'lengthAdjust',
              'cx', 'cy', 'r'}
MAX_BYTES = 3 << 20
MARGIN = 16


def number(element, name):
    return float(element.get(name))


def estimate(text, size):
    """A narrower estimate than the writer's: of common fonts, not of the widest."""
    return size * sum(0.3 if c in "ijl.,:;'|!()[]/ tf" else 0.85 if c in 'mMWw@%' else 0.95 if ord(c) > 0x2fff else 0.55 for c in text)


def shown(element):
    """The visible part of a text: without its tooltip."""
    return (element.text or '') + ''.join(child.tail or '' for child in element)


class Picture:
    """A parsed picture; its checks hold for each."""

    def __init__(self, test, text):
        self.test, self.text = test, text
        test.assertLess(len(text.encode()), MAX_BYTES)
        test.assertFalse(set(c for c in text if ord(c) < 32 and c != '\n'))
        self.root = ElementTree.fromstring(text)
        self.width, self.height = number(self.root, 'width'), number(self.root, 'height')
        test.assertEqual(self.root.get('viewBox'), '0 0 %s %s' % (self.root.get('width'), self.root.get('height')))
        box = None
        for element in self.root.iter():
            name = element.tag[len(SVG):]
            test.assertTrue(element.tag.startswith(SVG) and name in ELEMENTS, element.tag)
            test.assertLessEqual(set(element.attrib), ATTRIBUTES)
            if name == 'rect':
                box = element
                self.check_rect(element)
            elif name == 'text':
                self.check_text(element, box)

    def check_rect(self, rect):
        for at, size, limit in (('x', 'width', self.width), ('y', 'height', self.height)):
            self.test.assertGreaterEqual(number(rect, at), 0)
            self.test.assertGreaterEqual(number(rect, size), 0)
            self.test.assertLessEqual(number(rect, at) + number(rect, size), limit + 0.02)

    def check_text(self, text, box):
        width = estimate(shown(text), SIZES[text.get('class')])
        if text.get('textLength'):
            width = number(text, 'textLength')
        left = number(text, 'x') - width * {None: 0, 'middle': 0.5, 'end': 1}[text.get('text-anchor')]
        self.test.assertGreaterEqual(left, 0, shown(text))
        self.test.assertLessEqual(left + width, self.width, shown(text))
        self.test.assertLessEqual(number(text, 'y'), self.height)
        if text.get('class') == 'f':
            self.test.assertGreaterEqual(left, number(box, 'x'))
            self.test.assertLessEqual(left + width, number(box, 'x') + number(box, 'width'), shown(text))

    def rects(self, name):
        """Rectangles of each group with a class, in the picture's order: (x, y, width, height, tooltip)."""
        return [[(*(number(rect, key) for key in ('x', 'y', 'width', 'height')), rect.find(SVG + 'title').text)
                 for rect in group.findall(SVG + 'rect')]
                for group in self.root.iter(SVG + 'g') if name in group.get('class').split()]

    def texts(self):
        return [shown(text) for text in self.root.iter(SVG + 'text')]


class Pictures(harness.Case):
    def stored(self, name):
        return os.path.join(GOLDEN, name + '.sbt')

    def draw(self, kind, path, *options):
        result = harness.tsctl(KINDS[kind], '--format', 'svg', *options, path)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(harness.tsctl(KINDS[kind], '--format', 'svg', *options, path).out, result.out)
        return Picture(self, result.out)

    def test_every_stored_trace(self):
        for name in ('pipeline', 'train', 'failing', 'delays', 'names', 'capture'):
            for kind in KINDS:
                for width in ('320', '1200'):
                    self.draw(kind, self.stored(name), '--width', width)
        self.draw('flame', self.stored('names'), '--width', '8192')

    def test_golden(self):
        for kind in KINDS:
            path = os.path.join(GOLDEN, 'train-%s.svg' % kind)
            text = self.draw(kind, self.stored('train')).text
            if UPDATE:
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(text)
            with open(path, encoding='utf-8') as file:
                self.assertEqual(file.read().splitlines(), text.splitlines(), 'read the change, then --update')

    def check_lane(self, bars, parts, part_ns, work, above, height, bottom):
        """Bars of one kind against the parts; `above`: heights of the bars below them."""
        n = len(parts)
        for i, part in enumerate(parts):
            x = 206 + 920 * (i + 0.5) / n
            found = [bar for bar in bars if bar[0] <= x < bar[0] + bar[2]]
            wanted = height * min(1, part.get(work, 0) / part_ns)
            self.assertLessEqual(len(found), 1)
            self.assertEqual(bool(found), part.get(work, 0) > 0)
            if found:
                self.assertLessEqual(abs(found[0][3] - wanted), 1)
                self.assertLessEqual(abs(bottom - above[i] - found[0][1] - found[0][3]), 1)

    def test_bars_are_the_figures_of_the_json(self):
        path = self.stored('pipeline')
        found = json.loads(harness.tsctl('timeline', '--json', '--width', '480', path).out)
        picture = self.draw('timeline', path)
        lanes = picture.rects('bars')
        lane_boxes = [rect for rect in picture.root.iter(SVG + 'rect') if rect.get('class') == 'lane' and number(rect, 'width') > 100]
        (device,) = found['devices']
        self.assertEqual(len(lanes), 2 + 2 * len(device['streams']))
        self.assertEqual(len(lane_boxes), 2 + len(device['streams']))
        for i, stream in enumerate(device['streams']):
            box, parts = lane_boxes[2 + i], stream['parts']
            bottom, height = number(box, 'y') + number(box, 'height'), number(box, 'height')
            compute = [height * min(1, part.get('compute_ns', 0) / found['part_ns']) for part in parts]
            self.check_lane(lanes[2 + 2 * i], parts, found['part_ns'], 'compute_ns', [0] * len(parts), height, bottom)
            self.check_lane(lanes[3 + 2 * i], parts, found['part_ns'], 'copy_ns', compute, height, bottom)
        # The device's own lanes: at least each stream's share, at most their sum.
        for lane, work in ((0, 'compute_ns'), (1, 'copy_ns')):
            bars, height = lanes[lane], number(lane_boxes[lane], 'height')
            for i in range(480):
                x = 206 + 920 * (i + 0.5) / 480
                of_streams = [stream['parts'][i].get(work, 0) / found['part_ns'] for stream in device['streams']]
                its = sum(bar[3] for bar in bars if bar[0] <= x < bar[0] + bar[2]) / height
                self.assertGreaterEqual(its, min(1, max(of_streams)) - 1 / height)
                self.assertLessEqual(its, min(1, sum(of_streams)) + 1 / height)
        self.assertIn('%.1f %%' % (100 * device['compute_ns'] / (found['end_ns'] - found['start_ns'])), picture.texts())

    def test_window_and_no_operation(self):
        path = self.stored('pipeline')
        texts = self.draw('timeline', path, '--from', '2.8ms', '--to', '3.3ms').texts()
        self.assertTrue(any('2.8 ms to 3.3 ms (500.0 us)' in text for text in texts), texts)
        texts = self.draw('timeline', path, '--from', '3600s').texts()
        self.assertTrue(any('no GPU operation in this window' in text for text in texts), texts)

    def test_memory_is_that_of_the_json(self):
        path = self.stored('pipeline')
        found = json.loads(harness.tsctl('memory', '--json', path).out)
        (steps,) = self.draw('memory', path).rects('hover')
        bytes_of = [int(re.search(r'\(([\d,]+) bytes\)', step[4]).group(1).replace(',', '')) for step in steps]
        self.assertEqual(max(bytes_of), found['peak_bytes'])
        self.assertEqual(bytes_of[-1], 0)
        points = found['points']
        for i, point in enumerate(points):
            left, right = (90 + 1094 * at / len(points) for at in (i, i + 1))
            near = [b for b, step in zip(bytes_of, steps) if step[0] < right + 3 and step[0] + step[2] > left - 3]
            inside = [b for b, step in zip(bytes_of, steps) if step[0] < right - 3 and step[0] + step[2] > left + 3]
            self.assertGreaterEqual(max(near), point.get('bytes', 0))
            self.assertLessEqual(max(inside), point.get('bytes', 0))

    def test_flame_graph_has_the_sums_of_the_folded_stacks(self):
        path = self.stored('train')
        for options in ((), ('--weight', 'launches'), ('--type', 'kernel', '--no-leaf'), ('--process', '--thread')):
            sums = collections.Counter()
            for line in harness.tsctl('export', '--format', 'folded', *options, path).out.splitlines():
                stack, weight = line.rsplit(' ', 1)
                frames = tuple(stack.split(';'))
                for i in range(len(frames) + 1):
                    sums[frames[:i]] += int(weight)
            (rects,) = self.draw('flame', path, *options).rects('flame')
            drawn = collections.Counter((rect[4].split('\n')[0], round(rect[1])) for rect in rects)
            wide = {stack for stack, weight in sums.items() if 1168 * weight / sums[()] >= 0.5}
            self.assertEqual(drawn, collections.Counter((stack[-1] if stack else 'all', 82 + 19 * len(stack)) for stack in wide))
            wanted = collections.defaultdict(list)
            for stack in wide:
                wanted[len(stack)].append(1168 * sums[stack] / sums[()])
            for depth, widths in wanted.items():
                at = sorted(rect[2] for rect in rects if round(rect[1]) == 82 + 19 * depth)
                for a, b in zip(at, sorted(widths)):
                    self.assertAlmostEqual(a, b, delta=0.02)

    def test_hostile_names(self):
        path = hostile_names.write(self, self.path('hostile-<&>.sbt'))
        for kind in KINDS:
            for width in ('320', '1200', '3000'):
                picture = self.draw(kind, path, '--width', width)
                self.assertNotIn('<script', picture.text)
        text = self.draw('flame', path, '--process', '--thread', '--width', '3000').text
        self.assertIn('a&amp;b&quot;c', text)
        self.assertNotIn('\u202e', text)

    def test_many(self):
        for kind in ('streams', 'devices', 'stacks', 'allocations', 'names'):
            path = self.path(kind + '.sbt')
            harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many'), path, '3000', kind])
            for drawn in KINDS:
                self.draw(drawn, path)
        texts = self.draw('timeline', self.path('streams.sbt')).texts()
        self.assertTrue(any('streams with less work are not shown' in text for text in texts), texts[-5:])

    def check_png(self, kind, path, *options):
        """The pixels of each bar, frame and background have the colours of the SVG's style sheet."""
        picture = self.draw(kind, path, *options)
        out = self.path(kind + '.png')
        result = harness.tsctl(KINDS[kind], '--format', 'png', '-o', out, *options, path)
        if result.status == 2 and 'librsvg2-2' in result.err:
            self.skipTest('PNG needs librsvg: install librsvg2-2')
        self.assertEqual((result.status, result.out), (0, ''), result)
        with open(out, 'rb') as file:
            width, height, rows = png.decode(file.read())
        self.assertEqual((width, height), (math.ceil(picture.width), math.ceil(picture.height)))
        colours = dict(re.findall(r'\.ts-picture \.(\w+)\{fill:#(\w+)\}', picture.text.split('@media')[0]))
        self.assertEqual(rows[height - 1][width - 1], (255, 255, 255))
        n = 0
        for group in picture.root.iter(SVG + 'g'):
            classes = group.get('class').split()
            for rect in group.findall(SVG + 'rect'):
                fill = colours.get((rect.get('class') or ' '.join(set(classes) - {'bars', 'flame'})).split(' ')[0], '')
                x, y, wide, high = (number(rect, key) for key in ('x', 'y', 'width', 'height'))
                is_bar = 'bars' in classes
                if len(fill) != 6 or wide < (2 if is_bar else 4) or high < 4:
                    continue
                # Of a frame its lower right corner, below the name.
                pixel = rows[int(y + high - 2)][int(x + wide / 2 if is_bar else x + wide - 2)]
                wanted = tuple(int(fill[i:i + 2], 16) for i in (0, 2, 4))
                self.assertLessEqual(max(abs(a - b) for a, b in zip(pixel, wanted)), 3, (kind, classes, x, y, pixel, wanted))
                n += 1
        return n

    def test_png(self):
        if harness.SANITIZER:
            self.skipTest('librsvg does not free all of its memory')
        self.assertGreater(self.check_png('flame', self.stored('train'), '--width', '600'), 20)
        self.assertGreater(self.check_png('timeline', self.stored('pipeline'), '--width', '1600'), 5)
        self.check_png('memory', self.stored('train'), '--width', '500')
        path = hostile_names.write(self, self.path('hostile.sbt'))
        self.check_png('flame', path, '--process', '--width', '320')

    def test_png_without_librsvg(self):
        with open(self.path('librsvg-2.so.2'), 'w', encoding='ascii') as file:
            file.write('no library\n')
        for command in KINDS.values():
            result = harness.run([harness.TSCTL, command, '--format', 'png', '-o', self.path('out.png'), self.stored('train')],
                                 harness.environment(LD_LIBRARY_PATH=os.path.dirname(self.path('out.png'))))
            self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)
            self.assertIn('install librsvg2-2', result.err)
            self.assertFalse(os.path.exists(self.path('out.png')))

    def test_output_and_refusals(self):
        path, out = self.stored('train'), self.path('out.svg')
        for command in KINDS.values():
            printed = harness.tsctl(command, '--format', 'svg', path).out
            result = harness.tsctl(command, '--format', 'svg', '-o', out, path)
            self.assertEqual((result.status, result.out), (0, ''), result)
            with open(out, encoding='utf-8') as file:
                self.assertEqual(file.read(), printed)
        self.assertEqual(harness.tsctl('timeline', '--format', 'json', path).out, harness.tsctl('timeline', '--json', path).out)
        self.assertEqual(harness.tsctl('memory', '--format', 'text', path).out, harness.tsctl('memory', path).out)
        for command in ('timeline', 'memory'):
            for options in (('--format', 'svg', '--json'), ('-o', out), ('--format', 'pnm'), ('--format', 'svg', '--width', '99999')):
                result = harness.tsctl(command, *options, path)
                self.assertEqual((result.status, result.out, len(result.err.splitlines())), (2, '', 1), result)
        result = harness.tsctl('export', '--format', 'folded', '--width', '500', path)
        self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)


if __name__ == '__main__':
    if UPDATE:
        sys.argv.remove('--update')
        unittest.main()
    harness.main()
