#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lanes of Studio's page that one trace of the test fills: more gaps than the panel lists, more levels of ranges than are drawn at first,
counters with more values than pixels, and rows that start together."""
import json
import os
import re
import sys
import tempfile

import pages
import harness
import hostile_names
import studio
from pages import COLOURS, IDLE, TEXTS, THOROUGH

KERNELS, LEVELS, MARKS, VALUES = 1000, 12, 5, 60000
# Gaps of 20 us to 1.02 ms; ranges within one another; marks of one instant, behind the ranges; a counter that jumps between 10 and 20 in
# the first third of its values, and stays at 40 in the second one. The last third has no value.
WRITER = '''
import sys, tracesmith
kernels, levels, marks, values = map(int, sys.argv[2:])
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    session, at = writer.session(pid=1, program='p', start_ns=1000), 1000
    for i in range(kernels):
        session.emit('kernel', start_ns=at, end_ns=at + 50000, op_id=i + 1, device=0, stream=7, context=1, name='short')
        at += 70000 + 1000 * (i * 37 % 1000)
    for level in range(levels):
        session.emit('range', start_ns=1000 + 1000000 * level, end_ns=at - 1000000 * level, name='level %d' % level, level=level)
    for i in range(marks):
        session.emit('mark', start_ns=at + 500, name='tie %d' % (i % 3))
    for i in range(2 * values // 3):
        session.emit('counter', start_ns=1000 + i * (at // values), name='loss', value=40 if i >= values // 3 else 20 if i % 2 else 10)
'''


# Two counters with infinite values: one with more values than pixels, which is drawn from tiles, and one with a value each millisecond.
INFINITE = '''
import sys, tracesmith
infinite = float('inf')
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    session = writer.session(pid=1, program='p', start_ns=1000)
    session.emit('kernel', start_ns=1000, end_ns=6001000, op_id=1, device=0, stream=7, context=1, name='long')
    for i in range(6000):
        session.emit('counter', start_ns=1000 + i * 1000, name='many', value=10 if i >= 3000 else infinite if i % 2 else 5)
    for i, value in enumerate((5, infinite, infinite - infinite, 10, -infinite, 10)):
        session.emit('counter', start_ns=1000 + i * 1000000, name='few', value=value)
'''


class Lanes(pages.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        store = tempfile.TemporaryDirectory()
        cls.addClassCleanup(store.cleanup)
        cls.trace = os.path.join(store.name, 'lanes.sbt')
        result = harness.run([sys.executable, '-c', WRITER, cls.trace, *map(str, (KERNELS, LEVELS, MARKS, VALUES))],
                             hostile_names.python_environment())
        assert result.status == 0, result

    def colours(self, page, places):
        return [tuple(colour) for colour in page.run(COLOURS % (json.dumps(self.picture(page)), json.dumps(places)))]

    def top(self, page, lane):
        return page.box('.header[data-lane="%d"]' % lane)[1]

    def test_numbers_of_processes(self):
        """The number of each process and thread is in sight, however long its name is."""
        path = self.path('processes.sbt')
        program = '''
import sys, tracesmith
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    for pid in (1234567, 1234568):
        session = writer.session(pid=pid, program='a-program-with-a-long-name', start_ns=1000)
        session.emit('kernel', start_ns=1000, end_ns=6000, op_id=1, device=0, stream=7, context=1, name='k')
'''
        result = harness.run([sys.executable, '-c', program, path], hostile_names.python_environment())
        self.assertEqual(result.status, 0, result)
        page, server = self.open(path)
        sizes = page.run('''[...document.querySelectorAll('.header.kind-process .lane-name')].map(e => {
            const end = document.createRange(); end.selectNode(e.lastChild);
            return [e.textContent, end.getBoundingClientRect().right, e.getBoundingClientRect().right]; })''')
        self.assertEqual([name for name, _, _ in sizes], ['a-program-with-a-long-name (process %d)' % pid for pid in (1234567, 1234568)])
        for name, end, right in sizes:
            self.assertLessEqual(end, right, name)

    def gaps(self, path, *options):
        return json.loads(harness.tsctl('gaps', '--json', '--limit', '65536', *options, path).out)

    # ---- gaps

    @THOROUGH
    def test_colours_know_all_gaps(self):
        """By cause, each gap of the view has its colour that is a pixel wide; the panel lists the 200 longest."""
        path = self.trace
        page, server = self.open(path, fragment='&colour=cause')
        lane, trace = self.lane(server, 'stream'), server.get('trace')
        text = page.wait_text('#corner', 'gap')
        view = self.settled(page)
        pixel = (view[1] - view[0]) / page.box('#canvas')[2]
        gaps = [gap for gap in self.gaps(path, '--least', '1ns')['longest'] if gap['end_ns'] - gap['start_ns'] >= pixel]
        # The view has a margin that the address has not.
        wide = [gap for gap in gaps if gap['end_ns'] - gap['start_ns'] >= 1.1 * pixel]
        self.assertGreater(len(wide), 300)
        self.assertTrue(len(wide) <= int(re.search(r'(\d+) gap', text)[1]) <= len(gaps), (len(wide), text, len(gaps)))
        # In a window, a gap that is far down the list. Its strip is low in the lane, that of a row reaches as low.
        gap = gaps[-1]
        begin, end = gap['start_ns'] - trace['origin_ns'], gap['end_ns'] - trace['origin_ns']
        self.show(page, begin - 100000, end + 100000)
        page.wait_text('#corner', 'gap')
        page.wait(IDLE)
        x, _ = self.place(page, server, lane['id'], (begin + end) / 2)
        places = [(x, self.top(page, lane['id']) + y) for y in (16, 6)]
        strip, above = self.colours(page, places)
        self.assertNotEqual(strip, above)
        page.run('(e => { e.value = "name"; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#colour"))')
        page.wait(IDLE)
        self.assertEqual(self.colours(page, places), [above, above])

    @THOROUGH
    def test_gaps_and_arrows_leave_the_result_of_a_search(self):
        page, _ = self.open(self.trace, fragment='&colour=cause')
        page.wait_text('#corner', 'gap')
        page.click('#search')
        page.type('short')
        page.key('Enter')
        result = page.wait_text('#search-result', 'match')
        x, y, width, height = page.box('#canvas')
        before = page.wait_text('#corner', 'gap')
        page.wheel(x + width / 2, y + height / 2, -240)
        page.wait('(text => text.includes("gap") && text !== %s)(document.querySelector("#corner").innerText)' % json.dumps(before))
        page.click('#arrows')
        page.wait_text('#corner', 'arrows')
        self.assertIn('gap', page.text('#corner'))
        self.assertEqual(page.text('#search-result'), result)

    def test_window_of_gaps(self):
        """`tsctl gaps --from --to` has the gaps of the whole answer that overlap the window, and so has the server."""
        path = self.trace
        origin = json.loads(harness.tsctl('info', '--json', path).out)['sessions'][0]['start_ns']
        whole = self.gaps(path)['longest']
        middle = sorted(whole, key=lambda gap: gap['start_ns'])[len(whole) // 2]
        with studio.Server(path) as server:
            for begin, end in ((middle['start_ns'], middle['end_ns']), (middle['start_ns'] + 10, middle['start_ns'] + 20), (origin, origin + 10 ** 8),
                               (middle['end_ns'], middle['end_ns'] + 1)):
                answer = self.gaps(path, '--from', '@%d' % begin, '--to', '@%d' % end)
                wanted = [gap for gap in whole if gap['start_ns'] < end and gap['end_ns'] > begin]
                self.assertEqual(answer['longest'], wanted)
                self.assertEqual((answer['gaps'], answer['gaps_ns']), (len(wanted), sum(gap['end_ns'] - gap['start_ns'] for gap in wanted)))
                moments = {'from': {'ns': begin}, 'to': {'ns': end}}
                self.assertEqual(server.question('gaps', {'limit': 65536, **moments}), answer)
        self.assertEqual(harness.tsctl('gaps', '--from', '2s', '--to', '1s', path).status, 2)
        text = harness.tsctl('gaps', '--from', '1ms', '--to', '2ms', path).out
        self.assertIn(' of 10.00 us or more that overlap the window, ', text.splitlines()[0])

    # ---- counters

    @THOROUGH
    def test_counters_are_bands(self):
        """Full up to the least value of a pixel, soft up to the largest one; the last value holds."""
        path = self.trace
        page, server = self.open(path, size=(1280, 1200))
        lane, duration = self.lane(server, 'counter'), server.get('trace')['duration_ns']
        self.assertGreater(lane['rows'], 4000)
        self.settled(page)
        top = self.top(page, lane['id'])
        # The lane has 28 pixels for 0 to 40, from 3 pixels below its top.
        height = lambda value: top + 3 + 28 * (1 - value / 40)
        columns = [self.place(page, server, lane['id'], duration * part)[0] for part in (0.1, 0.25, 0.4, 0.6, 0.8, 0.95)]
        for i, x in enumerate(columns):
            low, middle, high = self.colours(page, [(x, height(value)) for value in (5, 15, 30)])
            if i < 2:
                self.assertEqual(len({low, middle, high}), 3, (low, middle, high))
            else:
                self.assertEqual(len({low, middle, high}), 1, (low, middle, high))
        # Cells of the server: exact, whatever the level.
        level = max(0, (duration // 200).bit_length())
        _, cells = server.tiles(level, 0, 1, [lane['id']])
        values = [studio.counter_values(cell) for cell in cells[lane['id']] if cell[1]]
        self.assertLessEqual(set(values), {(10, 20), (10, 40), (20, 40), (40, 40)})
        self.assertTrue({(10, 20), (40, 40)} <= set(values))
        # The pointer reads the band.
        page.mouse('mouseMoved', columns[0], height(15))
        self.assertRegex(page.wait_text('#tip', 'values in'), r'10 to 20, [0-9]+ values in')

    @THOROUGH
    def test_infinite_values_are_drawn(self):
        """An infinite value reaches the end of the scale, which the finite ones make; a value that is no number changes nothing."""
        path = os.path.join(self.folder, 'infinite.sbt')
        result = harness.run([sys.executable, '-c', INFINITE, path], hostile_names.python_environment())
        self.assertEqual(result.status, 0, result)
        page, server = self.open(path, size=(1280, 1200))
        lanes = {lane['name']: lane for lane in server.get('trace')['lanes'] if lane['kind'] == 'counter'}
        few, many = lanes['few'], lanes['many']
        found = server.get('rows?lane=%d&from=0&to=%d' % (few['id'], 1 << 60))
        self.assertEqual(found['value'], [5, 'Infinity', None, 10, '-Infinity', 10])
        self.settled(page)
        places = []
        for lane, times in ((few, [i + 0.5 for i in range(6)]), (many, (1.5, 4.5))):
            top = self.top(page, lane['id'])
            for time in times:
                x, _ = self.place(page, server, lane['id'], time * 1000000)
                places += [(x, top + 3 + 28 * (1 - part)) for part in (0.25, 0.75)]
            places.append((x, top + 1))
        colours = self.colours(page, places)
        few, many = colours[:13], colours[13:]
        self.assertEqual([[colour != few[-1] for colour in few[i:i + 2]] for i in range(0, 12, 2)],
                         [[True, False], [True, True], [True, True], [True, True], [False, False], [True, True]])
        # 5 or infinite: full up to a half, soft above. Then 10.
        full, soft, low, high, background = many
        self.assertEqual(len({full, soft, background}), 3)
        self.assertEqual({full}, {low, high})

    # ---- levels

    def wait_for(self, page, selector, text):
        page.wait('(e => e && e.innerText === %s)(document.querySelector(%s))' % (json.dumps(text), json.dumps(selector)))

    def texts(self, page):
        """The texts of the last picture: {text: y}."""
        for height in (1190, 1200):
            page.run('window.__texts = []')
            page.resize(1280, height)
            page.wait(IDLE)
            self.picture(page)
        return {text: y for text, _, y, _ in page.run('window.__texts')}

    def test_levels(self):
        """Eight levels of ranges are drawn, each in its place; the others on demand, by mouse, by key, by a search and by a link."""
        server = self.server(self.trace)
        lane = self.lane(server, 'ranges')
        page = self.page(server, TEXTS, size=(1280, 1200))
        page.goto(server.address)
        self.settled(page)
        button = '.header[data-lane="%d"] .levels' % lane['id']
        self.assertEqual(page.wait_text(button, 'level'), '+4 levels')
        seen = self.texts(page)
        self.assertEqual([level for level in range(LEVELS) if 'level %d' % level in seen], list(range(8)))
        folded = page.box('.header[data-lane="%d"]' % lane['id'])[3]
        page.click(button)
        self.wait_for(page, button, 'fewer levels')
        page.wait(IDLE)
        seen = self.texts(page)
        places = [seen['level %d' % level] for level in range(LEVELS)]
        self.assertEqual([b - a for a, b in zip(places, places[1:])], [18] * (LEVELS - 1))
        self.assertGreater(page.box('.header[data-lane="%d"]' % lane['id'])[3], folded)
        link = page.wait('/expanded=%d/.test(location.hash) && location.hash' % lane['id'])
        page.click(button)
        self.wait_for(page, button, '+4 levels')
        page.wait(IDLE)
        # The strip below the eighth level has rows, too.
        x, _ = self.place(page, server, lane['id'], server.get('trace')['duration_ns'] // 2)
        page.click_at(x, self.top(page, lane['id']) + 3 + 8 * 18 + 3)
        self.wait_for(page, button, 'fewer levels')
        page.goto('about:blank')
        page.goto(server.address.split('#')[0] + link)
        self.wait_for(page, button, 'fewer levels')
        page.goto('about:blank')
        page.goto(server.address)
        page.wait(IDLE)
        page.click('#search')
        page.type('level 11')
        page.key('Enter')
        self.assertEqual(page.wait_text('#selected-name', 'level'), 'level 11')
        self.wait_for(page, button, 'fewer levels')

    # ---- searches

    def test_search_reaches_rows_of_one_instant(self):
        """Each of several matches of one nanosecond, once, in the order of their numbers; and back."""
        path = self.trace
        page, server = self.open(path)
        lane = self.lane(server, 'ranges')
        at = server.get('rows?lane=%d&from=0&to=%d&limit=100' % (lane['id'], 1 << 60))['start'][-1]
        rows = server.get('rows?lane=%d&from=%d&to=%d&numbers=1' % (lane['id'], at, at + 1))
        self.assertEqual(len(set(rows['row'])), MARKS)
        found, place = [], ''
        for _ in range(MARKS):
            match = server.get('search?text=tie' + place)
            place = '&from=%d&lane=%d&row=%d' % (match['start'], match['lane'], match['row'])
            found.append(match)
        self.assertEqual([match['row'] for match in found], sorted(rows['row']))
        self.assertEqual({match['start'] for match in found}, {at})
        self.assertEqual(server.ask('/api/search?text=tie' + place).status, 404)
        for match in reversed(found[:-1]):
            back = server.get('search?text=tie&direction=-1' + place)
            self.assertEqual(back, match)
            place = '&from=%d&lane=%d&row=%d' % (back['start'], back['lane'], back['row'])
        for match in found:
            row = server.get('row?lane=%d&at=%d&row=%d' % (lane['id'], at, match['row']))
            self.assertEqual((row['type'], row['name']), ('mark', match['name']))
        for wrong in ('text=tie&from=x', 'text=tie&from=1&lane=0&row=1', 'text=tie&from=1&lane=1&row=-1'):
            self.assertEqual(server.ask('/api/search?' + wrong).status, 400, wrong)
        # The page: three names in turn, and around.
        names = [match['name'] for match in found]
        page.click('#search')
        page.type('tie')
        for i, control in enumerate(['Enter'] + ['#search-next'] * MARKS + ['#search-previous'] * 2):
            if control == 'Enter':
                page.key(control)
            else:
                page.click(control)
            wanted = names[(i if i <= MARKS else 2 * MARKS - i) % MARKS]
            page.wait('(e => e && e.innerText === %s)(document.querySelector("#selected-name"))' % json.dumps(wanted))
        self.assertNotEqual(names, sorted(names))
        # Behind the last match and before the first one, the server has none: the search goes on at the other end.
        page.errors = [error for error in page.errors if '/api/search' not in error]


if __name__ == '__main__':
    harness.main()
