#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline of Studio's page in a real Chromium: keys, pinches, colours, names, bookmarks, folding, the overview, what lies over the lanes,
two traces, and 64 devices. The canvas is read by its pixels, and by the texts that the page draws."""
import collections
import json
import os
import sys
import time

import pages
import harness
import hostile_names
import studio
from pages import COLOURS, IDLE, TEXTS, THOROUGH

# One kernel, all of the trace.
BUSY = '''
import sys, tracesmith
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    session = writer.session(pid=1, program='p', start_ns=1000)
    session.emit('kernel', start_ns=1000, end_ns=1000 + int(sys.argv[2]), op_id=1, device=0, stream=7, context=1, name='long')
'''
# Copies to each of 16 devices.
MANY = harness.DRIVER_PROGRAM.replace('assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)\n', '').replace(
    'assert not cuda.cuCtxSetCurrent(context)\n', '') + '''
for device in range(16):
    assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    assert not cuda.cuCtxSetCurrent(context)
    assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
    for _ in range(3):
        assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
'''
# 9,000 copies within a moment, half a second of nothing, and one more.
CROWD = harness.DRIVER_PROGRAM + '''
import time
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
for i in range(9001):
    if i == 9000:
        time.sleep(0.5)
    assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(16))
'''

# The first answer with cells takes 0.7 s. Keeps when it came, and when questions were asked.
SLOW_TILES = '''
window.__asked = [];
const own = window.fetch;
window.fetch = async (path, options) => {
    if (path === '/api/ask')
        window.__asked.push(performance.now());
    if (path.startsWith('/api/tiles') && !window.__tiles)
        await new Promise(done => setTimeout(() => { window.__tiles = performance.now(); done(); }, 700));
    return own(path, options);
};'''


class Timeline(pages.Case):
    def view(self, page):
        return page.run('(f => [+f.get("from"), +f.get("to")])(new URLSearchParams(location.hash.slice(1)))')

    def hold(self, page, key):
        """Holds a key until the page has moved."""
        before = page.text('#corner'), self.picture(page)
        code = {'key': key, 'code': 'Key' + key.upper(), 'windowsVirtualKeyCode': ord(key.upper())}
        page.ask('Input.dispatchKeyEvent', type='keyDown', text=key, **code)
        end = time.monotonic() + harness.SECONDS
        while (page.text('#corner'), self.picture(page, 1)) == before:
            self.assertLess(time.monotonic(), end, 'the view does not move')
        page.ask('Input.dispatchKeyEvent', type='keyUp', **code)
        return self.settled(page)

    @THOROUGH
    def test_keys_of_perfetto(self):
        """w, a, s, d: in, left, out, right."""
        page, _ = self.open('pipeline')
        whole = self.settled(page)
        page.run('document.querySelector("#canvas").focus()')
        views = [whole] + [self.hold(page, key) for key in 'wwdas']
        (_, once, inside, right, left, out) = views
        width = [end - begin for begin, end in views]
        self.assertTrue(width[0] > width[1] > width[2] < width[5], views)
        self.assertTrue(inside[0] < right[0] > left[0], views)
        for i in (3, 4):
            self.assertAlmostEqual(width[i], width[2], delta=0.02 * width[2])
        self.assertTrue(once[0] >= whole[0] and out[1] <= whole[1], views)
        page.key('0')
        self.assertEqual(self.settled(page), whole)

    @THOROUGH
    def test_pinch(self):
        """Of a touchpad, and of two fingers."""
        page, _ = self.open('pipeline')
        whole = self.settled(page)
        x, y, width, height = page.box('#canvas')
        page.wheel(x + width / 2, y + height / 2, -60, 0, 'Control')
        zoomed = self.settled(page)
        self.assertLess(zoomed[1] - zoomed[0], whole[1] - whole[0])

        def touch(kind, apart):
            points = [] if apart is None else [{'x': x + width / 2 + side * apart, 'y': y + height / 2, 'id': i} for i, side in enumerate((-1, 1))]
            page.ask('Input.dispatchTouchEvent', type=kind, touchPoints=points)
        touch('touchStart', 30)
        for apart in range(40, 160, 20):
            touch('touchMove', apart)
        touch('touchEnd', None)
        fingers = self.settled(page)
        self.assertLess(fingers[1] - fingers[0], zoomed[1] - zoomed[0])

    def seen(self, page, mode, places):
        """The colours at places of the page, with the rows coloured by a property."""
        page.run('(e => { e.value = %r; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#colour"))' % mode)
        page.wait('new URLSearchParams(location.hash.slice(1)).get("colour") === %s' % ('null' if mode == 'name' else json.dumps(mode)))
        page.wait(IDLE)
        return [tuple(colour) for colour in page.run(COLOURS % (json.dumps(self.picture(page)), json.dumps(places)))]

    @THOROUGH
    def test_colours(self):
        """Equal names, types, streams and launches have equal colours, others have others; by cause, the gaps have colours. The address keeps it."""
        page, server = self.open('pipeline', size=(1280, 1600))
        trace = server.get('trace')
        origin, rows = trace['origin_ns'], studio.rows(studio.golden('pipeline'))
        device = [row for row in rows if row['type'] in harness.DEVICE_TYPES]
        calls = {row['op_id']: row for row in rows if row['type'] == 'api' and row.get('op_id')}
        lanes = {lane['stream']: lane['id'] for lane in trace['lanes'] if lane['kind'] == 'stream'}
        self.assertEqual(set(page.run('[...document.querySelector("#colour").options].map(o => o.value)')),
                         {'name', 'type', 'stream', 'correlation', 'cause'})
        # Two pairs of kernels in two streams, a copy before the first pair: all near each other.
        kernels = [row for row in device if row['type'] == 'kernel']
        one, same, other, _ = kernels[4:8]
        self.assertEqual((one['stream'] == same['stream'], one['name'] == same['name']), (True, False))
        self.assertEqual((one['stream'] == other['stream'], one['name'] == other['name']), (False, True))
        copy = max((row for row in device if row['type'] == 'memcpy' and row['stream'] == one['stream'] and row['start_ns'] < one['start_ns']),
                   key=lambda row: row['start_ns'])
        self.show(page, copy['start_ns'] - origin - 3000, other['end_ns'] - origin + 5000)
        places = [self.place(page, server, lanes[row['stream']], (row['start_ns'] + row['end_ns']) / 2 - origin) for row in (one, same, other, copy)]
        # Between the second row of the first stream and the first row of the other one; the strip of a gap is low in its lane.
        x, y = self.place(page, server, lanes[one['stream']], (same['end_ns'] + other['start_ns']) / 2 - origin)
        places.append((x, y + 4))
        scale, saxpy, again, moved, empty = self.seen(page, 'name', places)
        self.assertEqual((scale == again, scale == saxpy), (True, False))
        kernel, also, third, moved, _ = self.seen(page, 'type', places)
        self.assertEqual((kernel == also == third, kernel == moved), (True, False))
        first, also, second, moved, _ = self.seen(page, 'stream', places)
        self.assertEqual((first == also == moved, first == second), (True, False))
        first, second, third, _, _ = self.seen(page, 'correlation', places)
        self.assertEqual(len({first, second, third}), 3)
        grey, also, third, moved, gap = self.seen(page, 'cause', places)
        self.assertEqual((grey == also == third == moved, gap == empty, gap == grey), (True, False, False))
        # A launch has the colour of its kernel.
        thread = next(lane for lane in trace['lanes'] if lane['kind'] == 'thread' and lane['rows'])
        row = min((row for row in kernels if row['op_id'] in calls), key=lambda row: row['end_ns'] - calls[row['op_id']]['start_ns'])
        call = calls[row['op_id']]
        self.show(page, call['start_ns'] - origin - 500, row['end_ns'] - origin + 500)
        width = page.box('#canvas')[2] / (row['end_ns'] - call['start_ns'] + 1000)
        # Near the left edge of each, before its name.
        places = [self.place(page, server, lane, start - origin + 2 / width) for lane, start in
                  ((thread['id'], call['start_ns']), (lanes[row['stream']], row['start_ns']))]
        call, kernel = self.seen(page, 'correlation', places)
        self.assertEqual(call, kernel)
        call, kernel = self.seen(page, 'name', places)
        self.assertNotEqual(call, kernel)

    @THOROUGH
    def test_correlation_needs_rows(self):
        """Where a pixel has many launches, none has its colour."""
        writer = os.path.join(harness.BUILD, 'test', 'bench', 'bench-large')
        if not os.path.exists(writer):
            self.skipTest('bench-large was not built')
        path = self.path('large.sbt')
        self.assertEqual(harness.run([writer, 'write', path, '100000']).status, 0)
        page, server = self.open(path)
        lane, duration = self.lane(server, 'compute'), server.get('trace')['duration_ns']
        # Low in the lane, where each column is filled.
        places = [(x, y + 6) for x, y in (self.place(page, server, lane['id'], duration * part / 7) for part in range(1, 7))]
        grey = self.seen(page, 'cause', places)
        self.assertEqual(len(set(grey)), 1, grey)
        self.assertEqual(self.seen(page, 'correlation', places), grey)
        self.assertNotIn(grey[0], self.seen(page, 'name', places))

    def test_names_where_there_is_room(self):
        server = self.server('pipeline')
        lane = self.lane(server, 'compute')
        rows = server.get('rows?lane=%d&from=0&to=%d' % (lane['id'], server.get('trace')['duration_ns']))
        start, end, key = rows['start'][3], rows['end'][3], rows['key'][3]
        name = server.get('names?keys=%d' % key)[str(key)]['name']
        page = self.page(server, TEXTS)
        length = end - start
        # As wide as the third of the window, and as a pixel.
        for begin, stop, has_room in ((start - length, end + length, True), (start - 2000 * length, end + 2000 * length, False)):
            page.goto('about:blank')
            page.goto(server.address + '&from=%d&to=%d' % (max(0, begin), stop))
            page.wait(IDLE)
            self.picture(page)
            x, _, width, _ = page.box('#canvas')
            left = (start - max(0, begin)) / (stop - max(0, begin)) * width
            right = (end - max(0, begin)) / (stop - max(0, begin)) * width
            texts = page.run('window.__texts')
            inside = [text for text in texts if text[0] and left - 1 <= text[1] <= right]
            if has_room:
                self.assertTrue([text for text in inside if text[0] == name], inside)
                self.assertFalse([text for text in inside if text[0] == name and text[1] + text[3] > right + 1], (inside, left, right))
            else:
                self.assertFalse([text for text in inside if text[0] == name], inside)

    @THOROUGH
    def test_bookmarks(self):
        page, _ = self.open('pipeline')
        self.settled(page)
        cursor = '+new URLSearchParams(location.hash.slice(1)).get("at")'
        for at in ('2ms', '4ms', '6ms'):
            page.click('#search')
            page.key('a', 'Control')
            page.type(at)
            page.key('Enter')
            page.wait('%s === %d' % (cursor, int(at[0]) * 1000000))
            page.click('#mark')
        page.run('document.querySelector("#canvas").focus()')
        for key, wanted in (('[', 4), ('[', 2), (']', 4), (']', 6)):
            page.key(key)
            page.wait('%s === %d' % (cursor, wanted * 1000000))
        self.assertEqual(page.run('new URLSearchParams(location.hash.slice(1)).getAll("mark").join().match(/000000/g).length'), 3)
        page.click('#mark')
        page.wait('new URLSearchParams(location.hash.slice(1)).getAll("mark").join().match(/000000/g).length === 2')

    @THOROUGH
    def test_fold_and_overview(self):
        page, _ = self.open('pipeline', size=(1280, 2000))
        whole = self.settled(page)
        before = len(page.texts('.header .lane-name'))
        page.run('document.querySelector("#canvas").focus()')
        page.key('ArrowDown')
        page.key('Enter')
        page.wait('document.querySelectorAll(".header .lane-name").length !== %d' % before)
        folded = len(page.texts('.header .lane-name'))
        page.key('Enter')
        page.wait('document.querySelectorAll(".header .lane-name").length === %d' % before)
        self.assertLess(folded, before)
        # A click in the overview moves the view there.
        length = whole[1] - whole[0]
        self.show(page, 0.1 * length, 0.2 * length)
        x, y, width, height = page.box('#overview')
        page.click_at(x + width * 0.7, y + height / 2)
        begin, end = self.settled(page)
        self.assertAlmostEqual((begin + end) / 2, 0.7 * length, delta=0.01 * length)
        self.assertAlmostEqual(end - begin, 0.1 * length, delta=0.01 * length)

    @THOROUGH
    def test_overview_has_no_holes(self):
        """A GPU that is busy all the time is one bar, however wide the cells are."""
        for duration in (1000000, 1300000, 1900000):
            path = self.path('%d.sbt' % duration)
            result = harness.run([sys.executable, '-c', BUSY, path, str(duration)], hostile_names.python_environment())
            self.assertEqual(result.status, 0, result)
            page, _ = self.open(path)
            x, y, width, height = page.box('#overview')
            # Between the frame of the view and the lower line.
            places = [(x + at, y + height / 2) for at in range(4, int(width) - 4)]
            colours = page.run(COLOURS % (json.dumps(self.picture(page)), json.dumps(places)))
            self.assertEqual(len(set(map(tuple, colours))), 1, duration)

    @THOROUGH
    def test_critical_path_over_the_lanes(self):
        page, server = self.open('pipeline')
        lines = harness.tsctl('graph', '--json', '--critical-path', studio.golden('pipeline')).out.splitlines()
        steps = [step for step in map(json.loads, lines) if step['type'] == 'step' and step.get('part') == 'compute']
        step = max(steps, key=lambda step: step['end_ns'] - step['start_ns'])
        origin = server.get('trace')['origin_ns']
        lane = next(lane for lane in server.get('trace')['lanes'] if lane['kind'] == 'stream' and lane['stream'] == step['stream'])
        length = step['end_ns'] - step['start_ns']
        self.show(page, step['start_ns'] - origin - 2 * length, step['end_ns'] - origin + 2 * length)
        before = self.picture(page)
        self.tab(page, 'path')
        page.wait('document.querySelector("#panel-body .lead .num")')
        page.wait(IDLE)
        x, y = self.place(page, server, lane['id'], (step['start_ns'] + step['end_ns']) / 2 - origin)
        box = page.box('.header[data-lane="%d"]' % lane['id'])
        places = [(x, y), (x, box[1] + min(box[3], 22) / 2 + 8)]
        self.assertTrue(any(self.changed(page, before, places)))
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText.startsWith("Hide")).click()')
        self.assertFalse(any(self.changed(page, before, places)))

    @THOROUGH
    def test_what_if_under_the_lanes(self):
        """The new timeline is below the old one, lane by lane; it goes when the edits go."""
        page, server = self.open('pipeline', size=(1280, 2400))
        row = max((row for row in studio.rows(studio.golden('pipeline')) if row['type'] == 'kernel'), key=lambda row: row['end_ns'])
        origin, layer = server.get('trace')['origin_ns'], server.ask('/api/what-if', 'POST', {'edits': ['kernel %s=4x' % row['name']]}).json()['layer']
        recorded = {row['op_id']: row for row in studio.rows(studio.golden('pipeline')) if row['type'] == 'kernel'}
        longest = None
        for lane in server.get('trace')['lanes']:
            if lane['kind'] != 'stream':
                continue
            found = server.get('rows?lane=%d&from=0&to=%d&layer=%d' % (lane['id'], 1 << 60, layer))
            for start, end, op in zip(found['start'], found['end'], found['op']):
                if op in recorded and end != recorded[op]['end_ns'] - origin and (not longest or end - start > longest[2] - longest[1]):
                    longest = lane, start, end, recorded[op]
        lane, start, end, slower = longest
        self.show(page, start - 10 * (end - start), end + 10 * (end - start))
        self.tab(page, 'what-if')
        page.click('#what-if-edit')
        page.type('kernel %s=4x' % row['name'])
        page.key('Enter')
        page.wait('document.querySelectorAll(".header.layer").length > 0')
        headers = page.run('[...document.querySelectorAll(".header")].map(e => [e.dataset.lane, e.classList.contains("layer"), e.getBoundingClientRect().y])')
        for its, is_layer, y in headers:
            if is_layer:
                self.assertEqual([other[1] for other in headers if other[0] == its and other[2] < y], [False], its)
        # An emulated row has times of its own: a click selects the operation of the trace.
        x, y, width, _ = page.box('#canvas')
        _, top, _, height = page.box('.header.layer[data-lane="%d"]' % lane['id'])
        view = self.settled(page)
        page.click_at(x + ((start + end) / 2 - view[0]) / (view[1] - view[0]) * width, top + min(height, 22) / 2)
        page.wait('new URLSearchParams(location.hash.slice(1)).get("op") === "%d"' % slower['op_id'])
        self.assertEqual(page.run('+new URLSearchParams(location.hash.slice(1)).get("row")'), slower['start_ns'] - origin)
        self.tab(page, 'what-if')
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === "Clear").click()')
        page.wait('document.querySelectorAll(".header.layer").length === 0')

    @THOROUGH
    def test_folding_by_the_button_keeps_the_focus(self):
        """The tab key visits the lanes from top to bottom, and a lane that folds has the focus still."""
        page, _ = self.open('pipeline', size=(1280, 500))
        box = page.box('#headers')
        for down in (400, -400):
            page.wheel(box[0] + 20, box[1] + 20, down)
            page.wait(IDLE)
        tops = page.run('[...document.querySelectorAll(".header")].map(e => e.getBoundingClientRect().y)')
        self.assertEqual(tops, sorted(tops))
        page.run('document.querySelector("button.fold").focus()')
        name = page.run('document.activeElement.parentElement.dataset.lane')
        for expanded in ('false', 'true'):
            page.key('Enter')
            page.wait('document.activeElement.getAttribute("aria-expanded") === "%s"' % expanded)
            self.assertEqual(page.run('document.activeElement.parentElement.dataset.lane'), name)

    @THOROUGH
    def test_steps_back_over_a_crowd(self):
        """Many rows near each other, far before the cursor: the last of them is found, with few requests."""
        result, path = self.record([sys.executable, '-c', CROWD], '--vgpu')
        self.assertEqual(result.status, 0, result)
        page, server = self.open(path)
        lane = self.lane(server, 'copy')
        rows = server.get('rows?lane=%d&from=0&to=%d&limit=65536' % (lane['id'], 1 << 60))
        self.assertEqual(len(rows['start']), 9001)
        page.run('document.querySelector("#canvas").focus()')
        focused = '(e => e ? +e.dataset.lane : 0)(document.querySelector(".header.focused"))'
        before = 0
        while (now := page.run(focused)) != lane['id']:
            self.assertTrue(now != before or not now, now)
            page.key('ArrowDown')
            page.wait('%s !== %d' % (focused, now))
            before = now
            if page.run('document.querySelector(".header.focused").classList.contains("kind-process")'):
                page.key('ArrowLeft')
                page.wait_text('#announcer', 'no rows in this lane')
        page.click('#search')
        page.type('%dns' % (rows['start'][-1] - 1000))
        page.key('Enter')
        page.run('document.querySelector("#canvas").focus()')
        page.key('ArrowLeft')
        page.wait('+new URLSearchParams(location.hash.slice(1)).get("row") === %d' % rows['start'][-2])

    @THOROUGH
    def test_panels_ask_after_the_first_picture(self):
        """Questions about the trace wait for the first picture; a tab that is chosen before it stays."""
        server = self.server('pipeline')
        # The address asks for colours by cause as well, which need a question.
        for tab, fragment in (('summary', ''), ('summary', '&colour=cause'), ('gaps', '')):
            page = self.page(server, SLOW_TILES)
            page.goto(server.address + fragment)
            page.wait('document.querySelector("#tab-gaps")')
            if tab == 'gaps':
                page.run('document.querySelector("#tab-gaps").click()')
            page.wait('window.__asked.length', harness.SECONDS)
            page.wait(IDLE)
            page.run('new Promise(done => setTimeout(done, 300))')
            self.assertEqual(page.attribute('#tab-' + tab, 'aria-selected'), 'true')
            if tab == 'summary':
                drawn, asked = page.run('[window.__tiles, window.__asked[0]]')
                self.assertGreater(asked, drawn)

    @THOROUGH
    def test_arrows_that_are_switched_off_stay_off(self):
        page, _ = self.open('pipeline')
        before = self.picture(page)
        page.run('for (let i = 0; i < 4; i++) document.querySelector("#arrows").click()')
        page.wait(IDLE)
        self.assertEqual(page.attribute('#arrows', 'aria-pressed'), 'false')
        page.run('new Promise(done => setTimeout(done, 1000))')
        x, y, width, height = page.box('#canvas')
        self.assertFalse(any(self.changed(page, before, [(x + width * i / 40, y + height * k / 20) for i in range(40) for k in range(20)])))

    @THOROUGH
    def test_flame_graph_zooms(self):
        page, _ = self.open('train')
        self.tab(page, 'span')
        page.wait('document.querySelectorAll("#panel-body .frame").length > 3')
        # Each frame has its exact sum.
        sums = collections.Counter()
        for line in harness.tsctl('export', '--format', 'folded', studio.golden('train')).out.splitlines():
            stack, weight = line.rsplit(' ', 1)
            frames = stack.split(';')
            for depth in range(len(frames) + 1):
                sums[depth, tuple(frames[:depth])] += int(weight)
        whole = sums[0, ()]
        drawn = page.run('[...document.querySelectorAll("#panel-body .frame")].map(e => [+e.dataset.depth, +e.dataset.value])')
        self.assertEqual(sorted(drawn), sorted([depth, weight] for (depth, _), weight in sums.items() if weight >= 0.0015 * whole))
        before = page.run('[...document.querySelectorAll("#panel-body .frame")].map(e => e.innerText)')
        narrow = page.run('''(list => list.findIndex(e => e.style.width !== list[0].style.width && parseFloat(e.style.width) > 1))(
            [...document.querySelectorAll("#panel-body .frame")])''')
        self.assertGreater(narrow, 0)
        page.run('document.querySelectorAll("#panel-body .frame")[%d].click()' % narrow)
        page.wait('[...document.querySelectorAll("#panel-body .frame")].map(e => e.innerText).join() !== %s' % json.dumps(','.join(before)))
        self.assertIn('100%', page.run('[...document.querySelectorAll("#panel-body .frame")].map(e => e.style.width)'))
        # The frame has the focus: the same key zooms out.
        page.key('Enter')
        page.wait('[...document.querySelectorAll("#panel-body .frame")].map(e => e.innerText).join() === %s' % json.dumps(','.join(before)))

    @THOROUGH
    def test_flame_graph_of_narrow_frames(self):
        """A frame that is drawn only when its caller is zoomed: zoomed out, the caller has the focus."""
        page, _ = self.open('train')
        page.run('''(others => { window.fetch = (address, options) => !/flame[?]/.test(address) ? others(address, options) :
            Promise.resolve(new Response(JSON.stringify({unit: 'ns', frames: [{parent: 0, name: 'most', kind: 'native', weight: 1000000},
                {parent: 0, name: 'caller', kind: 'native', weight: 9000}, {parent: 2, name: 'narrow', kind: 'operation', weight: 1000}]})));
        })(window.fetch.bind(window))''')
        self.tab(page, 'span')
        frame = '[...document.querySelectorAll("#panel-body .frame")].find(e => e.title.startsWith("%s"))'
        page.wait(frame % 'caller')
        self.assertFalse(page.run('!!' + frame % 'narrow'))
        page.run('(e => e.click())(%s)' % frame % 'caller')
        page.wait(frame % 'narrow')
        page.run('(e => e.click())(%s)' % frame % 'narrow')
        page.wait('(e => e.style.width === "100%%")(%s)' % (frame % 'narrow'))
        page.key('Enter')
        page.wait('!(%s)' % frame % 'narrow')
        self.assertTrue(page.run('document.activeElement.title.startsWith("caller")'), page.focused())

    @THOROUGH
    def test_two_traces_aligned(self):
        """By the second launch of a kernel: both begin at the same place."""
        names = ('pipeline', 'pipeline-longer')
        page, server = self.open(*names)
        self.tab(page, 'compare')
        page.wait('document.querySelector("#align-name option[data-name=saxpy]")')
        page.run('''(e => { e.value = [...e.options].find(o => o.dataset.name === 'saxpy').value; e.selectedIndex = [...e.options].findIndex(
            o => o.dataset.name === 'saxpy'); })(document.querySelector('#align-name'))''')
        page.run('document.querySelector("#align-number").value = 2')
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === "Align").click()')
        starts = []
        for i, name in enumerate(names):
            rows = sorted(row['start_ns'] for row in studio.rows(studio.golden(name)) if row['type'] == 'kernel' and row['name'] == 'saxpy')
            starts.append(rows[1] - server.get('trace')['origin_ns' if i == 0 else 'second_origin_ns'])
        page.wait('+new URLSearchParams(location.hash.slice(1)).get("offset") === %d' % (starts[0] - starts[1]))

    @THOROUGH
    def test_64_devices(self):
        """Of four processes with 16 each."""
        paths = []
        for i in range(4):
            result, path = self.record([sys.executable, '-c', MANY], '--vgpu=small:16')
            self.assertEqual(result.status, 0, result)
            paths.append(self.path('%d.sbt' % i))
            os.rename(path, paths[-1])
        self.assertEqual(harness.tsctl('merge', '-o', self.path('merged.sbt'), *paths).status, 0)
        page, server = self.open(self.path('merged.sbt'))
        devices = [lane for lane in server.get('trace')['lanes'] if lane['kind'] == 'device']
        self.assertEqual(len(devices), 64)
        ids = '[...document.querySelectorAll(".header")].map(e => +e.dataset.lane)'
        x, y, width, height = page.box('#headers')
        seen, last = set(page.run(ids)), None
        while last != seen:
            last = set(seen)
            for _ in range(4):
                page.wheel(x + width / 2, y + height / 2, 300)
                page.wait(IDLE)
                seen |= set(page.run(ids))
        self.assertLessEqual({lane['id'] for lane in devices}, seen)
        self.assertEqual(page.run('document.documentElement.scrollWidth'), 1280)


if __name__ == '__main__':
    harness.main()
