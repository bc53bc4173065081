#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pictures of Studio's page once showed as wrong: texts that a line crosses, texts that are alike and mean different things, headings at
different heights, controls that a small window has no room for. In a real Chromium, by boxes, by texts and by pixels."""
import json
import sys

import pages
import harness
import hostile_names
import studio
from pages import COLOURS, IDLE, TEXTS, THOROUGH

# Memory of device 1 and then of device 0, a counter, and a kernel.
DEVICES = '''
import sys, tracesmith
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    session = writer.session(pid=1, program='p', start_ns=1000)
    session.emit('kernel', start_ns=1000, end_ns=9000000, op_id=1, device=0, stream=7, context=1, name='long')
    for i, device in enumerate((1, 0)):
        session.emit('alloc', start_ns=1000 + 1000 * i, op_id=10 + i, address=0x10000 * (i + 1), bytes=512 << i, device=device, memory_kind=3)
    for i, value in enumerate((-2, 20000, 12345)):
        session.emit('counter', start_ns=1000 + i * 3000000, name='tokens', value=value)
'''
# Keeps the texts that the memory's curves have: text, left edge, width.
CURVES = TEXTS.replace("this.canvas.id === 'canvas'", "this.className === undefined && this.canvas.className === 'curve'")
HEADINGS = '''[...document.querySelectorAll('#panel-body .columns > section')].map(s => s.querySelector('h2, h3, caption, p')).filter(e => e).map(e => {
    const range = document.createRange(); range.selectNodeContents(e); const r = range.getClientRects()[0]; return [e.innerText, r.top, r.left]; })'''


class Looks(pages.Case):
    def own(self):
        """A trace of the tests."""
        path = self.path('devices.sbt')
        result = harness.run([sys.executable, '-c', DEVICES, path], hostile_names.python_environment())
        self.assertEqual(result.status, 0, result)
        return path

    @THOROUGH
    def test_headings_of_columns_are_at_one_height(self):
        page, _ = self.open('train', size=(1920, 1080))
        page.wait('document.querySelector("#panel-body tr[data-kernel]")')
        page.click('#panel-body tr[data-kernel] .link')
        page.wait('[...document.querySelectorAll("#panel-body h3")].some(e => e.innerText === "Call")')
        for tab in ('selection', 'summary', 'span', 'memory', 'errors'):
            self.tab(page, tab)
            page.wait('document.querySelectorAll("#panel-body .columns > section").length > 1 && !document.querySelector("#panel-body [aria-busy]")')
            tops = [top for _, top, _ in page.run(HEADINGS)]
            # The columns of the first row, whose headings are of two sizes.
            self.assertGreater(len([top for top in tops if top < tops[0] + 30]), 1)
            self.assertLessEqual(max(top for top in tops if top < tops[0] + 30) - min(tops), 4, (tab, page.run(HEADINGS)))

    def test_alike_names_are_told_apart(self):
        """Kernels whose short names are the same, and launches of one line from different ones."""
        page, _ = self.open('names')
        names = [row[0][0] for row in self.table(page, 'Kernels with the most time')]
        self.assertEqual(len(set(names)), len(self.json('analyze', 'names')['kernels']))
        self.assertTrue([name for name in names if name.startswith('vectorized_elementwise_kernel') and 'Add' in name], names)
        page, _ = self.open('failing')
        sites = page.run('(t => [...t.querySelectorAll("td:last-child .name")].map(e => e.innerText))(document.querySelector("#panel-body table"))') \
            if self.table(page, 'Kernels with the most time') else []
        self.assertEqual((len(sites), len(set(sites))), (2, 2), sites)

    @THOROUGH
    def test_names_break_between_words(self):
        page, _ = self.open('pipeline', size=(800, 600))
        self.tab(page, 'path')
        page.wait('document.querySelector("#panel-body .lead .num")')
        lines = page.run('''[...document.querySelectorAll('#panel-body td .link')].filter(e => e.innerText.includes('_')).map(e => {
            const range = document.createRange(), lines = {};
            const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
            while (walker.nextNode())
                for (let i = 0; i < walker.currentNode.length; i++) {
                    range.setStart(walker.currentNode, i); range.setEnd(walker.currentNode, i + 1);
                    const top = Math.round(range.getBoundingClientRect().top); lines[top] = (lines[top] || '') + walker.currentNode.data[i];
                }
            return Object.values(lines); })''')
        broken = [line for line in lines if len(line) > 1]
        self.assertTrue(broken, lines)
        for parts in broken:
            self.assertTrue(all(part.endswith(('_', ' ')) for part in parts[:-1]), parts)

    @THOROUGH
    def test_the_label_of_the_peak_is_beside_its_line(self):
        page, server = self.open('train', size=(800, 600), script=CURVES)
        self.tab(page, 'memory')
        page.wait('window.__texts.some(t => t[0].startsWith("peak"))')
        answer = self.json('memory', 'train', '--stacks')
        width = page.box('#panel-body .curve')[2]
        duration = page.run('+document.querySelector("#panel-body .curve").ariaValueMax')
        peak = (answer['peak_ns'] - server.get('trace')['origin_ns']) / duration * width
        label = page.run('window.__texts.findLast(t => t[0].startsWith("peak"))')
        self.assertFalse(label[1] <= peak <= label[1] + label[3], (label, peak))
        self.assertTrue(label[1] >= 0 and label[1] + label[3] <= width, (label, width))

    @THOROUGH
    def test_devices_are_in_order(self):
        page, _ = self.open(self.own())
        self.tab(page, 'memory')
        page.wait('document.querySelectorAll("#panel-body .curve").length === 2')
        self.assertEqual([title[:5] for title in page.texts('#panel-body div:has(> .curve) > h3')], ['GPU 0', 'GPU 1'])

    @THOROUGH
    def test_a_counter_has_its_scale(self):
        page, server = self.open(self.own(), script=TEXTS)
        texts = {text[0] for text in page.run('window.__texts')}
        self.assertLessEqual({'20k', '-2'}, texts)
        # A row of it has a time and a value, and no duration.
        lane = self.lane(server, 'counter')
        rows = server.get('rows?lane=%d&from=0&to=%d' % (lane['id'], 1 << 60))
        page, _ = self.open(self.path('devices.sbt'), fragment='&lane=%d&row=%d&op=0&tab=selection' % (lane['id'], rows['start'][1]))
        page.wait_text('#selected-name', 'tokens')
        terms = page.texts('#panel-body dl.facts dt')
        self.assertIn('Value', terms)
        self.assertFalse({'Duration', 'End', 'Value type'} & set(terms), terms)
        self.table(page, 'Rows around it')
        tops = [top for _, top, _ in page.run(HEADINGS)]
        self.assertLessEqual(max(tops) - min(tops), 4, page.run(HEADINGS))

    def test_the_overview_has_both_traces(self):
        """The second trace is 20 times as long as the first one."""
        page, _ = self.open('failing', 'delays')
        self.settled(page)
        x, y, width, height = page.box('#overview')
        places = [[at, y + height - 3] for at in range(int(x + width / 2), int(x + width) - 4)]
        colours = [tuple(colour) for colour in page.run(COLOURS % (json.dumps(self.picture(page)), json.dumps(places)))]
        self.assertGreater(len(set(colours)), 1)

    def test_the_row_of_a_link_is_in_sight(self):
        """In a window that is too low for all lanes, and when it becomes lower."""
        server = self.server('train')
        lane = self.lane(server, 'thread')
        rows = server.get('rows?lane=%d&from=0&to=%d' % (lane['id'], 1 << 60))
        page, _ = self.open('train', size=(800, 600), fragment='&lane=%d&row=%d&op=%s&tab=selection' % (
            lane['id'], rows['start'][1], rows['op'][1]))
        header = '.header[data-lane="%d"]' % lane['id']
        for height in (600, 420):
            page.resize(800, height)
            page.wait('(([h, l]) => h && h.bottom <= l.bottom + 1 && h.top >= l.top - 1)([%s, "#lanes"].map(s => document.querySelector(s)?.getBoundingClientRect()))'
                      % json.dumps(header), 20)

    def test_a_refused_page_is_its_message(self):
        server = self.server('train')
        page = self.browser.page(1280, 800, dark=True)
        page.goto(server.address[:server.address.index('#')])
        page.wait_text('#notice', 'token')
        self.assertEqual((page.box('#main'), page.attribute('html', 'data-theme')), (None, 'dark'))
        page.close()

    def test_a_bookmark_elsewhere_has_no_name_of_the_selection(self):
        page, _ = self.open('train')
        self.settled(page)
        page.run('document.querySelector("#canvas").focus()')
        for key in ('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight'):
            page.key(key)
        page.wait('document.querySelector("#selected-name")')
        page.click('#search')
        page.type('1ns')
        page.key('Enter')
        page.click('#mark')
        marks = page.wait('(m => m.length && m)(new URLSearchParams(location.hash.slice(1)).getAll("mark").map(m => m.split(":").pop()))')
        self.assertEqual(marks, ['1'])

    @THOROUGH
    def test_a_bookmark_in_a_span_is_read(self):
        """The line of the span does not cross the bookmark's label."""
        page, server = self.open('pipeline')
        self.settled(page)
        page.click('#search')
        page.type('10ms')
        page.key('Enter')
        page.click('#mark')
        x, y, width, height = page.box('#ruler')
        page.drag(x + width * 0.05, y + height / 2, x + width * 0.95, y + height / 2)
        begin, end = page.run('(f => [+f.get("from"), +f.get("to")])(new URLSearchParams(location.hash.slice(1)))')
        page.wait(IDLE)
        # The view begins before the trace, and the address has none of that: the mark is found by the cursor's line.
        row = page.run(COLOURS % (json.dumps(self.picture(page)), json.dumps([[at, y + 3] for at in range(int(x), int(x + width))])))
        line = [tuple(colour) for colour in row]
        selected = tuple(int(page.run('getComputedStyle(document.documentElement).getPropertyValue("--selected")').strip()[i:i + 2], 16) for i in (1, 3, 5))
        at = int(x) + line.index(selected)
        panel, accent = (tuple(int(page.run('getComputedStyle(document.documentElement).getPropertyValue("--%s")' % name).strip()[i:i + 2], 16)
                               for i in (1, 3, 5)) for name in ('panel', 'accent'))
        beside, under = page.run(COLOURS % (json.dumps(self.picture(page)), json.dumps([[at - 20, y + 8], [at + 5, y + 8]])))
        self.assertEqual((tuple(beside), tuple(under)), (accent, panel), (begin, end))

    @THOROUGH
    def test_a_small_window_has_all_controls(self):
        """All tabs, and the choice of colours; the message about a search is not cut where there is room."""
        page, _ = self.open('pipeline', size=(800, 600))
        self.assertTrue(page.box('#colour'))
        tabs = page.run('[...document.querySelectorAll("[role=tab]")].map(e => e.getBoundingClientRect().right)')
        self.assertLessEqual(max(tabs), 800)
        page.click('#search-regex')
        page.click('#search')
        page.type('(')
        page.key('Enter')
        page.wait('document.querySelector("#search-result").innerText === "not a regular expression"')
        self.assertTrue(page.run('(e => e.scrollWidth <= e.clientWidth)(document.querySelector("#search-result"))'))
        page.errors = [error for error in page.errors if '/api/search' not in error]

    @THOROUGH
    def test_the_flame_graph_is_whole(self):
        """It has no scrollbar of its own, and a name that is cut says so."""
        page, _ = self.open('train')
        self.tab(page, 'span')
        page.wait('document.querySelectorAll("#panel-body .frame").length > 3')
        self.assertTrue(page.run('(e => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth)(document.querySelector(".flame-box"))'))
        self.assertEqual(page.run('getComputedStyle(document.querySelector(".frame")).textOverflow'), 'ellipsis')
        # The legend has the colours of the frames.
        legend, frames = (set(page.run('[...document.querySelectorAll("#panel-body %s")].map(e => getComputedStyle(e).backgroundColor)' % which))
                          for which in ('.legend .swatch', '.frame'))
        self.assertTrue(frames <= legend and len(legend) == 4, (frames, legend))

    @THOROUGH
    def test_sums_are_below_the_kernels(self):
        """Not below the column of devices, which may be long."""
        page, _ = self.open('train', size=(1920, 1080))
        self.tab(page, 'span')
        page.wait('document.querySelectorAll("#panel-body .frame").length > 3')
        kernels, copies = (page.run('(e => [e.getBoundingClientRect().x, e.getBoundingClientRect().y])([...document.querySelectorAll('
                                    '"#panel-body caption")].find(e => e.innerText === "%s"))' % title) for title in ('Kernels', 'Copies'))
        self.assertEqual(copies[0], kernels[0])
        self.assertGreater(copies[1], kernels[1])

    @THOROUGH
    def test_texts_of_tables_have_room(self):
        """Tables with many columns have the window's width if it is small, and most of it if it is not."""
        for width, least in ((800, 700), (1280, 700)):
            page, _ = self.open('pipeline', size=(width, 800))
            page.click('#search')
            page.type('3.28ms')
            page.key('Enter')
            page.wait('document.querySelector("#tab-state[aria-selected=true]") && document.querySelector("#panel-body .columns")')
            self.assertGreater(page.run('document.querySelectorAll("#panel-body .columns > section")[1].getBoundingClientRect().width'), least)
            self.tab(page, 'gaps')
            page.wait('document.querySelector("#panel-body tr[data-op]")')
            self.assertGreater(page.run('document.querySelector("#panel-body .columns table").getBoundingClientRect().width'), least)

    @THOROUGH
    def test_swatches_are_apart_from_numbers(self):
        """A swatch is behind the number before it, and in front of the lines of its text."""
        page, _ = self.open('delays', size=(800, 600))
        self.tab(page, 'gaps')
        page.wait('document.querySelector("#panel-body tr[data-op]")')
        page.run('document.querySelector("#panel-body tr[data-op] .link").click()')
        page.wait_text('#gap-cause', 'Mostly')
        found = page.run('''[...document.querySelectorAll('#gap td.swatched')].map(e => {
                const ends = node => { const r = document.createRange(); r.selectNodeContents(node); return r.getBoundingClientRect(); };
                const range = document.createRange(); range.selectNodeContents(e); range.setStartAfter(e.firstChild);
                return [ends(e.previousSibling).right, e.firstChild.getBoundingClientRect().left,
                    Math.min(...[...range.getClientRects()].filter(r => r.width).map(r => r.left)) - e.firstChild.getBoundingClientRect().right]; })''')
        self.assertTrue(found)
        for before, swatch, text in found:
            self.assertGreater(swatch - before, 6)
            self.assertGreater(text, 2)

    @THOROUGH
    def test_causes_are_spelled(self):
        page, _ = self.open('delays', fragment='&colour=cause', script=TEXTS)
        page.wait_text('#corner', 'gap')
        page.wait('window.__texts.some(text => text[0] === "off CPU")')

    @THOROUGH
    def test_the_length_in_view_is_that_of_the_trace(self):
        page, server = self.open('pipeline')
        self.tab(page, 'span')
        length = page.wait('document.querySelector("#span-length") && document.querySelector("#span-length").innerText')
        self.assertEqual(page.text('#corner'), length + ' in view')

    @THOROUGH
    def test_stop_is_for_a_replay_that_runs(self):
        page, _ = self.open('capture')
        self.tab(page, 'replay')
        stop = '[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === "Stop")'
        self.assertTrue(page.run(stop + '.disabled'))
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText.startsWith("Check")).click()')
        page.wait('document.querySelector("#replay-result .lead")', harness.SECONDS)
        page.wait(stop + '.disabled')

    @THOROUGH
    def test_both_traces_have_names(self):
        page, _ = self.open('pipeline', 'pipeline-longer')
        self.assertEqual(page.text('#title'), 'A pipeline.sbt, B pipeline-longer.sbt')
        self.assertTrue(page.run('(e => e.scrollWidth <= e.clientWidth)(document.querySelector("#title"))'))
        self.assertEqual(set(page.run('''[...document.querySelectorAll('.header .lane-name')].map(e => getComputedStyle(e, '::before').content)''')),
                         {'"A "', '"B "'})
        self.tab(page, 'compare')
        self.table(page, 'Totals')
        self.assertEqual(page.texts('#panel-body table:first-of-type th')[:3], ['', 'Before (A)', 'After (B)'])

    @THOROUGH
    def test_the_summary_says_what_is_wrong_with_a_trace(self):
        """A file that ends too early, and a trace without rows."""
        with open(studio.golden('pipeline'), 'rb') as whole, open(self.path('cut.sbt'), 'wb') as cut:
            cut.write(whole.read()[:-2000])
        result, empty = self.record(['true'], '--vgpu')
        self.assertEqual(result.status, 0, result)
        for path, text in ((self.path('cut.sbt'), 'The file is cut off'), (empty, 'CUDA')):
            page, _ = self.open(path)
            page.wait_text('#panel-body .bad', text)
            self.assertEqual(page.attribute('#tab-summary', 'aria-selected'), 'true')

    @THOROUGH
    def test_a_kernel_without_a_name_is_listed(self):
        path = self.path('nameless.sbt')
        result = harness.run([sys.executable, '-c', DEVICES.replace("name='long'", "name=''"), path], hostile_names.python_environment())
        self.assertEqual(result.status, 0, result)
        page, _ = self.open(path)
        self.assertEqual(self.table(page, 'Kernels with the most time')[0][0][0], '(no name)')

    @THOROUGH
    def test_report(self):
        """The page of `tsctl report` in a window of 800 pixels: names have room. Pictures of memory have the devices in order."""
        out = self.path('report.html')
        self.assertEqual(harness.tsctl('report', '-o', out, studio.golden('names')).status, 0)
        page = self.browser.page(800, 600)
        page.goto('file://' + out)
        cells = page.run('[...document.querySelectorAll("td.kernel")].map(e => e.getBoundingClientRect().width)')
        self.assertEqual(len(cells), 5)
        self.assertGreater(min(cells), 300)
        self.assertIn('GPU 0', page.texts('td.gpu'))
        self.assertLess(page.box('td.gpu')[3], 40)
        self.assertEqual(harness.tsctl('report', '-o', out, self.own()).status, 0)
        page.goto('file://' + out)
        names = page.run('[...document.querySelectorAll(".picture[aria-label^=Live] text")].map(e => e.textContent).filter(text => /^GPU [01]/.test(text))')
        self.assertEqual([name[:5] for name in names], ['GPU 0', 'GPU 1'])
        page.close()


if __name__ == '__main__':
    harness.main()
