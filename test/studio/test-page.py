#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studio's page in a real Chromium: each feature is clicked, and the page is read. Numbers in panels are those of `tsctl ... --json`. Names
of traces run no script, no request leaves the machine, other origins get nothing. TS_SCREENSHOTS=FOLDER keeps pictures of the page."""
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

import pages
import chromium
import harness
import hostile_names
import studio
from pages import IDLE, SIZES, THOROUGH

WRITER = os.path.join(harness.BUILD, 'test', 'bench', 'bench-large')
# Text whose contrast to its background is below WCAG's AA, by its element's computed styles.
CONTRAST = '''
(() => {
    const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
    const linear = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = rgb => 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
    const over = (top, below) => { const a = top.length > 3 ? top[3] : 1; return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]); };
    const behind = e => {
        const layers = [];
        for (; e; e = e.parentElement) {
            const colour = parse(getComputedStyle(e).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) layers.push(colour);
            if (colour.length === 3 || colour[3] === 1) break;
        }
        const base = getComputedStyle(document.documentElement).colorScheme.includes('dark') &&
            (document.documentElement.dataset.theme === 'dark' || matchMedia('(prefers-color-scheme: dark)').matches) ? [18, 18, 18] : [255, 255, 255];
        return layers.reverse().reduce((below, top) => over(top, below), base);
    };
    const bad = [];
    for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim()).map(n => n.data.trim()).join(' ');
        const style = getComputedStyle(e), box = e.getBoundingClientRect();
        if (!own || !box.width || !box.height || style.visibility === 'hidden' || e.closest('svg, [hidden], option, :disabled')) continue;
        const back = behind(e), ink = over(parse(style.color), back), a = light(ink), b = light(back);
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        if (ratio < (large ? 3 : 4.5)) bad.push([e.tagName, e.id || e.className, own.slice(0, 40), style.color, back.map(Math.round).join(), +ratio.toFixed(2)]);
    }
    return bad;
})()
'''


class Page(pages.Case):
    def test_first_picture(self):
        page, server = self.open('pipeline')
        self.assertIn('pipeline.sbt', page.text('#title'))
        names = page.texts('.header .lane-name')
        for lane in server.get('trace')['lanes']:
            if not lane.get('folded'):
                self.assertIn(lane['name'], names)
        self.assertTrue(all(request.startswith('http://%s/' % server.host) for request in page.requests), page.requests)
        self.assertTrue(all(status == 200 for status in page.answers.values()), page.answers)
        self.assertFalse([request for request in page.requests if server.token in request], 'the token is in a request\'s address')

    def test_three_questions(self):
        """A new user's: which kernel is slowest and who launched it, why the GPU stood still, who held most memory. A click each."""
        page, _ = self.open('train')
        kernel, gap = self.json('analyze', 'train')['kernels'][0], self.json('gaps', 'train')['longest'][0]
        self.assertEqual(self.table(page, 'Kernels with the most time')[0][1][1], kernel['ns'])
        page.click('#panel-body tr[data-kernel] .link')
        page.wait_text('#selected-name', kernel['name'])
        page.wait_text('#panel-body', kernel['launched_by'][0]['callers'][-1].split(' ')[0])
        self.tab(page, 'gaps')
        self.assertEqual(self.table(page, 'The longest gaps')[0][0][1], gap['end_ns'] - gap['start_ns'])
        self.tab(page, 'memory')
        page.wait_text('#panel-body', self.json('memory', 'train')['peak_sites'][0]['frame'].split(' ')[0])

    @THOROUGH
    def test_summary_has_the_numbers_of_analyze(self):
        page, _ = self.open('pipeline')
        answer = self.json('analyze', 'pipeline')
        rows = self.table(page, 'Kernels with the most time')
        self.assertEqual([[row[0][0], row[1][1], row[3][1]] for row in rows],
                         [[kernel['name'], kernel['ns'], kernel['count']] for kernel in answer['kernels']])
        self.assertEqual([row[5][1] for row in rows], [kernel['occupancy']['share'] for kernel in answer['kernels']])
        self.assertEqual(page.run('document.querySelector("#verdict").dataset.value'), answer['verdict'])
        busy = self.values(page, '#panel-body section p .num[data-kind=ns]')
        self.assertIn(answer['devices'][0]['busy_ns'], busy)
        self.assertEqual([card for card in page.run('[...document.querySelectorAll("[data-finding]")].map(e => e.dataset.finding)')],
                         [finding['finding'] for finding in answer['findings']])

    @THOROUGH
    def test_slowest_kernel_and_its_launcher(self):
        """One click."""
        page, _ = self.open('train')
        kernel = self.json('analyze', 'train')['kernels'][0]
        page.wait('document.querySelector("#panel-body tr[data-kernel]")')
        page.click('#panel-body tr[data-kernel] .link')
        self.assertEqual(page.wait_text('#selected-name', kernel['name']), kernel['name'])
        function = kernel['launched_by'][0]['callers'][-1].split(' ')[0]
        page.wait_text('#panel-body', function)
        longest = max((row for row in studio.rows(studio.golden('train')) if row['type'] == 'kernel' and row['name'] == kernel['name']),
                      key=lambda row: row['end_ns'] - row['start_ns'])
        self.assertIn(longest['end_ns'] - longest['start_ns'], self.values(page, '#panel-body .facts .num'))

    def test_slowest_kernel_of_a_name(self):
        """Other kernels, longer ones, contain its name. Names have characters of patterns."""
        names = ('scale', 'scale2', 'f<int*[4]>', 'f<int*[4]>(long)', '<*>', 'xf<int*[4]>', '\\*?', 'a' * 5000)
        path, program = self.path('names.sbt'), """
import json, sys, tracesmith
with tracesmith.SBTWriter(sys.argv[1]) as writer:
    session = writer.session(pid=1, program='names')
    for i, name in enumerate(json.load(sys.stdin)):
        for k in range(2):
            start = 1000 + 10000 * (2 * i + k)
            session.emit('kernel', start_ns=start, end_ns=start + 1000 + 100 * i + k, op_id=100 + 2 * i + k, device=0, stream=7, context=1, name=name)
"""
        if harness.SANITIZER:
            self.skipTest('Python does not load libraries of a sanitizer')
        subprocess.run([sys.executable, '-c', program, path], input=json.dumps(names), text=True, env=hostile_names.python_environment(), check=True)
        page, _ = self.open(path)
        for i, name in enumerate(names):
            page.wait('document.querySelector("#panel-body tr[data-kernel]")')
            page.run('[...document.querySelectorAll("#panel-body tr[data-kernel]")].find(e => e.dataset.kernel === %s).querySelector(".link").click()' %
                     json.dumps(name[:500]))
            page.wait('new URLSearchParams(location.hash.slice(1)).get("op") === "%d"' % (101 + 2 * i))
            self.tab(page, 'summary')

    def test_why_the_gpu_stood_still(self):
        """Two clicks: a time is searched, then an empty place of a stream is clicked."""
        page, server = self.open('pipeline')
        gap = self.json('gaps', 'pipeline')['longest'][0]
        origin = server.get('trace')['origin_ns']
        lane = next(lane for lane in server.get('trace')['lanes'] if lane['kind'] == 'stream' and lane['stream'] == gap['stream'])
        page.wait('new URLSearchParams(location.hash.slice(1)).get("to")')
        page.click_at(*self.place(page, server, lane['id'], (gap['start_ns'] + gap['end_ns']) // 2 - origin))
        page.wait_text('#gap-cause', 'Mostly')
        self.assertEqual(page.run('document.querySelector("[data-gap]").dataset.gap'), str(gap['op_id']))
        self.assertIn(gap['end_ns'] - gap['start_ns'], self.values(page, '#gap h2 .num'))

    @THOROUGH
    def test_gaps_have_the_numbers_of_gaps(self):
        page, _ = self.open('pipeline')
        self.tab(page, 'gaps')
        answer = self.json('gaps', 'pipeline')
        rows = self.table(page, 'The longest gaps')
        self.assertEqual([row[0][1] for row in rows[:10]], [gap['end_ns'] - gap['start_ns'] for gap in answer['longest']])
        self.assertEqual(self.values(page, '#panel-body .lead .num')[:3], [answer['gaps'], answer['least_ns'], answer['gaps_ns']])
        page.click('#panel-body tr[data-op] .link')
        page.wait_text('#gap-cause', 'Mostly')

    @THOROUGH
    def test_memory_at_the_peak(self):
        """One click."""
        page, _ = self.open('train')
        self.tab(page, 'memory')
        answer = self.json('memory', 'train')
        page.wait('document.querySelector("#memory-peak .num")')
        self.assertEqual(self.values(page, '#memory-peak .num'), [answer['peak_bytes']])
        rows = self.table(page, 'Who held the memory at the peak')
        self.assertEqual([[row[1][1], row[3][1]] for row in rows], [[site['total_bytes'], site['count']] for site in answer['peak_sites']])
        self.assertIn(answer['peak_sites'][0]['frame'].split(' ')[0], rows[0][0][0])
        # Two callers of one wrapper differ.
        page, _ = self.open('pipeline')
        self.tab(page, 'memory')
        sites = self.json('memory', 'pipeline')['peak_sites']
        self.assertEqual(len({site['frame'] for site in sites}), 1)
        self.assertEqual([row[0][0] for row in self.table(page, 'Who held the memory at the peak')],
                         [' < '.join([site['frame'], *site['callers'][:2]]) for site in sites])

    @THOROUGH
    def test_state_at_a_time(self):
        page, server = self.open('pipeline')
        page.click('#search')
        page.type('3.28ms')
        page.key('Enter')
        page.wait_text('#panel-body', 'State at')
        answer = self.json('state', 'pipeline', '--at', '3.28ms')
        devices = self.table(page, 'Devices')
        self.assertEqual([row[5][1] for row in devices], [device['allocated_bytes'] for device in answer['devices']])
        self.assertEqual([row[1][0] for row in devices], [device['state'] for device in answer['devices']])

    @THOROUGH
    def test_click_a_row(self):
        page, server = self.open('pipeline')
        lane = self.lane(server, 'compute')
        rows = server.get('rows?lane=%d&from=0&to=99999999' % lane['id'])
        start, end, op = rows['start'][3], rows['end'][3], rows['op'][3]
        page.wait('new URLSearchParams(location.hash.slice(1)).get("to")')
        self.show(page, start - 5 * (end - start), end + 5 * (end - start))
        page.click_at(*self.place(page, server, lane['id'], (start + end) // 2))
        row = server.get('row?op=%d' % op)
        page.wait_text('#selected-name', row['name'][:10])
        values = self.values(page, '#panel-body .facts .num')
        self.assertTrue({op, end - start} <= set(values), values)
        self.assertEqual(page.run('new URLSearchParams(location.hash.slice(1)).get("op")') or page.wait(
            'new URLSearchParams(location.hash.slice(1)).get("op")'), str(op))

    @THOROUGH
    def test_zoom_and_pan(self):
        page, _ = self.open('pipeline')
        x, y, width, height = page.box('#canvas')
        whole = self.settled(page)
        page.wheel(x + width / 2, y + height / 2, -400)
        zoomed = self.settled(page)
        self.assertLess(zoomed[1] - zoomed[0], whole[1] - whole[0])
        page.drag(x + width / 2, y + height / 2, x + width / 4, y + height / 2)
        moved = self.settled(page)
        self.assertGreater(moved[0], zoomed[0])
        self.assertAlmostEqual(moved[1] - moved[0], zoomed[1] - zoomed[0], delta=0.01 * (zoomed[1] - zoomed[0]))
        page.click('#show-all')
        self.assertEqual(self.settled(page), whole)
        page.run('document.querySelector("#canvas").focus()')
        page.key('w')
        self.assertLess(self.span(page), whole[1] - whole[0] + 1)

    @THOROUGH
    def test_measure(self):
        """A span that is dragged on the ruler has its numbers in a panel."""
        page, server = self.open('pipeline')
        x, y, width, height = page.box('#ruler')
        page.drag(x + width * 0.2, y + height / 2, x + width * 0.6, y + height / 2)
        self.tab(page, 'span')
        page.wait('document.querySelector("#span-length")')
        (length,) = self.values(page, '#span-length')
        begin, end = self.settled(page)
        self.assertAlmostEqual(length, 0.4 * (end - begin), delta=0.06 * (end - begin))
        # A row becomes the span by a button, too.
        row = max((row for row in studio.rows(studio.golden('pipeline')) if row['type'] == 'kernel'), key=lambda row: row['end_ns'] - row['start_ns'])
        page, _ = self.open('pipeline', fragment='&op=%d&tab=selection' % row['op_id'])
        page.wait_text('#selected-name', row['name'])
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === "Measure it").click()')
        page.wait('document.querySelector("#span-length")')
        self.assertEqual(self.values(page, '#span-length'), [row['end_ns'] - row['start_ns']])

    @THOROUGH
    def test_links_reload_and_bookmarks(self):
        page, server = self.open('pipeline')
        page.wait('new URLSearchParams(location.hash.slice(1)).get("to")')
        self.show(page, 3000000, 4000000)
        page.run('document.querySelector("#canvas").focus()')
        page.key('m')
        page.click('#tab-gaps')
        self.settled(page)
        address = page.run('location.href')
        self.assertIn('mark=', address)
        other = self.browser.page()
        self.pages.append((other, server))
        other.goto(address)
        other.wait(IDLE)
        other.wait('document.querySelector("#tab-gaps[aria-selected=true]")')
        self.assertEqual(other.text('#corner'), page.text('#corner'))

    @THOROUGH
    def test_without_a_token(self):
        server = self.server('pipeline')
        for fragment in ('', '#token=' + '0' * 32, '#token=<script>alert(1)</script>'):
            page = self.browser.page()
            page.goto('http://%s/%s' % (server.host, fragment))
            page.wait('!document.querySelector("#notice").hidden')
            self.assertIn('token', page.text('#notice').lower())
            self.assertNotIn('pipeline', page.text())
            page.close()

    def test_search(self):
        """Next and previous match; the address has the operation that was found."""
        page, _ = self.open('pipeline')
        kernels = sorted((row for row in studio.rows(studio.golden('pipeline')) if row['type'] == 'kernel' and row['name'] == 'saxpy'),
                         key=lambda row: row['start_ns'])
        page.click('#search')
        page.type('saxpy')
        page.click('#search-next')
        self.assertEqual(page.wait_text('#search-result', 'match'), '%d matches' % len(kernels))
        self.assertEqual(page.wait_text('#selected-name', 'saxpy'), 'saxpy')
        found = []
        for control in ('', '#search-next', '#search-next', '#search-previous'):
            if control:
                page.click(control)
                page.wait('new URLSearchParams(location.hash.slice(1)).get("op") !== "%s"' % found[-1])
            found.append(page.wait('new URLSearchParams(location.hash.slice(1)).get("op")'))
        self.assertEqual(found, [str(kernels[i]['op_id']) for i in (0, 1, 2, 1)])
        # Behind the last match the search goes on with the first one, and says so.
        self.assertEqual(page.text('#search-result'), '%d matches' % len(kernels))
        page.click('#search-previous')
        page.wait('new URLSearchParams(location.hash.slice(1)).get("op") === "%d"' % kernels[0]['op_id'])
        page.click('#search-previous')
        page.wait_text('#search-result', 'from the end again')
        page.wait('new URLSearchParams(location.hash.slice(1)).get("op") === "%d"' % kernels[-1]['op_id'])
        page.click('#search')
        page.key('Escape')
        self.assertEqual(page.text('#search-result'), '')
        page.click('#search')
        page.key('a', 'Control')
        page.type('no such name')
        page.key('Enter')
        page.wait_text('#search-result', 'no match')
        page.errors = [error for error in page.errors if '/api/search' not in error]

    @THOROUGH
    def test_what_if(self):
        """A faster kernel, no wait, another device: the new length is that of tsctl, and the new timeline has lanes of its own."""
        opened = {}
        for name, edit in (('pipeline', 'kernel saxpy=20x'), ('pipeline', 'no-sync cuEventSynchronize'), ('pipeline', 'multiprocessors=1'),
                           ('pipeline-longer', 'kernel saxpy=2x')):
            if name not in opened:
                opened[name], _ = self.open(name)
                self.tab(opened[name], 'what-if')
            page = opened[name]
            result = harness.tsctl('replay', '--what-if', edit, '--json', studio.golden(name))
            answer = json.loads(result.out.splitlines()[0])
            page.click('#what-if-edit')
            page.type(edit)
            page.key('Enter')
            page.wait('document.querySelector("#what-if-result .lead .num")')
            after, before = self.values(page, '#what-if-result .lead .num')
            self.assertGreater(before, 0)
            self.assertEqual([answer['recorded']['makespan_ns'], answer['edited']['makespan_ns']], [before, after], edit)
            doubts = {**answer['doubts'], 'let_go': answer['edited'].get('let_go', 0)}
            self.assertEqual(page.run('[...document.querySelectorAll("#what-if-doubts [data-doubt]")].map(e => e.dataset.doubt)'),
                             [kind for kind, n in doubts.items() if n], edit)
            page.wait('document.querySelectorAll(".header.layer").length > 0')
            page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === "Clear").click()')
            page.wait('document.querySelectorAll(".header.layer").length === 0')
            self.assertEqual(bool([kind for kind, n in doubts.items() if n]), name == 'pipeline-longer', doubts)

    def test_wrong_edit(self):
        """An edit that is refused is in the field again, and does not spoil the next one."""
        page, _ = self.open('pipeline')
        self.tab(page, 'what-if')
        page.click('#what-if-edit')
        page.type('kernel nosuch=2x')
        page.key('Enter')
        page.wait_text('#what-if-result', 'nosuch')
        self.assertEqual(page.run('document.querySelector("#what-if-edit").value'), 'kernel nosuch=2x')
        self.assertEqual(page.texts('#panel-body .card'), [])
        page.click('#what-if-edit')
        page.key('a', 'Control')
        page.type('kernel saxpy=2x')
        page.key('Enter')
        page.wait('document.querySelector("#what-if-result .lead .num")')
        self.assertEqual(len(page.texts('#panel-body .card')), 1)
        page.errors = [error for error in page.errors if '/api/what-if' not in error]

    @THOROUGH
    def test_what_if_of_a_long_trace(self):
        """The part in view at once, and then the whole, with a button that stops it and one that begins again."""
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path = self.path('large.sbt')
        self.assertEqual(harness.run([WRITER, 'write', path, '150000']).status, 0)
        page, _ = self.open(path)
        # Emulations of the whole wait for the test.
        page.run('''{ const real = window.fetch; window.held = [];
            window.fetch = (path, options) => path.endsWith('what-if') && options.body && JSON.parse(options.body).whole ?
                new Promise((resolve, reject) => { options.signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
                    window.held.push(() => resolve(real(path, options))); }) : real(path, options); }''')
        self.tab(page, 'what-if')
        page.click('#what-if-edit')
        page.type('host=0.5x')
        page.key('Enter')
        page.wait_text('#what-if-result', 'The part from')
        part = self.values(page, '#what-if-result .lead .num')
        page.wait('document.querySelector("#what-if-progress progress")')
        page.click('#what-if-stop')
        page.wait('!document.querySelector("#what-if-progress progress")')
        self.assertEqual(self.values(page, '#what-if-result .lead .num'), part)
        page.click('#what-if-progress button')
        page.wait('window.held.length === 2')
        page.run('window.held.pop()()')
        page.wait('!document.querySelector("#what-if-progress").innerText && !document.querySelector("#what-if-result").innerText.includes("The part")')
        answer = json.loads(harness.tsctl('replay', '--what-if', 'host=0.5x', '--json', path).out.splitlines()[0])
        self.assertEqual(self.values(page, '#what-if-result .lead .num'), [answer['edited']['makespan_ns'], answer['recorded']['makespan_ns']])
        page.wait('document.querySelectorAll(".header.layer").length > 0')

    @THOROUGH
    def test_flame_graph_of_a_span(self):
        page, server = self.open('pipeline')
        x, y, width, height = page.box('#ruler')
        page.drag(x + width * 0.1, y + height / 2, x + width * 0.9, y + height / 2)
        self.tab(page, 'span')
        page.wait('document.querySelectorAll("#panel-body .frame").length > 3')
        self.assertIn('main', ' '.join(page.texts('#panel-body .frame')))

    @THOROUGH
    def test_theme_and_help(self):
        page, _ = self.open('train')
        before = page.attribute('html', 'data-theme')
        page.click('#theme')
        self.assertNotEqual(page.attribute('html', 'data-theme'), before)
        page.click('#help')
        self.assertTrue(page.run('document.querySelector("#help-dialog").open'))
        self.assertIn('zoom in', page.text('#help-dialog'))
        page.key('Escape')
        self.assertFalse(page.run('document.querySelector("#help-dialog").open'))
        page.run('localStorage.clear()')

    @THOROUGH
    def test_other_panels(self):
        page, _ = self.open('failing')
        self.tab(page, 'errors')
        for error in self.json('info', 'failing')['errors'][:3]:
            page.wait_text('#panel-body', error['name'])
        for name in ('path', 'span', 'state', 'what-if', 'replay', 'selection'):
            self.tab(page, name)
            page.wait('document.querySelector("#panel-body").innerText.trim().length > 10')
            self.assertNotIn('undefined', page.text('#panel-body'))

    @THOROUGH
    def test_two_traces(self):
        page, _ = self.open('pipeline', 'pipeline-longer')
        self.tab(page, 'compare')
        page.wait('document.querySelector("#panel-body").innerText.trim().length > 40')

    # ---- security

    def test_changed_file(self):
        """A page that is loaded after its file was replaced says that it shows the earlier one; two traces have both names above."""
        path = self.path('run.sbt')
        shutil.copyfile(studio.golden('pipeline'), path)
        page, server = self.open('train', path)
        self.assertEqual(page.text('#title'), 'A train.sbt, B run.sbt')
        self.assertIsNone(page.box('#notice'))
        shutil.copyfile(studio.golden('pipeline-longer'), path + '.new')
        os.replace(path + '.new', path)
        page.reload()
        page.wait(IDLE)
        self.assertIn('has changed', page.text('#notice'))
        self.assertEqual(server.question('stats', trace=1), self.server('pipeline').question('stats'))

    def test_hostile_names(self):
        names = hostile_names.NAMES + ['<img src=x onerror="window.pwned=1">', '"><svg onload=window.pwned=1>', 'javascript:window.pwned=1',
                                       '{{constructor.constructor("window.pwned=1")()}}', '<img src=http://example.com/x>' * 30000]
        path = hostile_names.write(self, self.path('hostile-<b>&.sbt'), names)
        page, server = self.open(path)
        for tab in ('gaps', 'memory', 'errors', 'state', 'path', 'summary'):
            self.tab(page, tab)
            page.wait('document.querySelector("#panel-body").innerText.trim().length > 10')
        page.run('document.querySelector("#canvas").focus()')
        for key in ('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight'):
            page.key(key)
        page.wait(IDLE)
        self.assertIsNone(page.run('window.pwned'))
        self.assertEqual(page.run('document.querySelectorAll("#panel-body img, #panel-body svg, #headers img, script:not([src])").length'), 0)
        text = page.run('document.documentElement.textContent')
        for character in '\u202e\x1b\x07':
            self.assertNotIn(character, text)
        self.assertLess(page.run('document.documentElement.outerHTML.length'), 3000000)
        server = self.servers.pop((path,))
        self.assertEqual((page.foreign(server.host), page.refused(), page.errors), ([], [], []))
        self.pages.clear()
        page.close()
        server.close()

    @THOROUGH
    def test_other_origin(self):
        """A page of another origin, which even knows the token, gets nothing."""
        server = self.server('train')

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header('Content-Type', 'text/html')
                self.end_headers()
                self.wfile.write(b'<!doctype html><title>evil</title><body>')

            def log_message(self, *_):
                pass

        other = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = self.browser.page()
        page.goto('http://localhost:%d/' % other.server_address[1])
        base = 'http://%s' % server.host
        tries = page.run('''
            (async (base, token) => {
                const answers = {};
                const ask = async (name, path, options) => {
                    try { const answer = await fetch(base + path, options); answers[name] = answer.type + ' ' + (await answer.text()).length; }
                    catch (error) { answers[name] = 'refused'; }
                };
                await ask('plain', '/api/trace', {});
                await ask('token', '/api/trace', {headers: {Authorization: 'Bearer ' + token}});
                await ask('no-cors', '/api/trace', {mode: 'no-cors'});
                await ask('post', '/api/ask', {method: 'POST', mode: 'no-cors', body: '{"question":"info"}'});
                await ask('page', '/', {});
                const frame = document.createElement('iframe');
                frame.src = base + '/#token=' + token;
                const loaded = new Promise(done => { frame.onload = done; setTimeout(done, 3000); });
                document.body.append(frame);
                await loaded;
                try { answers.frame = frame.contentDocument ? 'read' : 'refused'; } catch (error) { answers.frame = 'refused'; }
                const script = document.createElement('script');
                answers.script = await new Promise(done => { script.onload = () => done('ran'); script.onerror = () => done('refused');
                    script.src = base + '/studio.js'; document.body.append(script); });
                const other = window.open(base + '/#token=' + token);
                await new Promise(done => setTimeout(done, 500));
                try { answers.opened = other && other.document ? 'read' : 'refused'; } catch (error) { answers.opened = 'refused'; }
                return answers;
            })(%s, %s)''' % (json.dumps(base), json.dumps(server.token)))
        other.shutdown()
        other.server_close()
        page.close()
        self.assertEqual({name: answer for name, answer in tries.items() if answer not in ('refused', 'opaque 0')}, {})

    # ---- accessibility

    def test_keyboard_alone(self):
        page, server = self.open('pipeline')
        seen = []
        for _ in range(60):
            page.key('Tab')
            focused = page.focused()
            seen.append(focused[1] or focused[0])
            self.assertTrue(page.run('''(e => { const s = getComputedStyle(e), r = e.getBoundingClientRect();
                return e === document.body || (r.width && r.height && (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 ||
                    s.boxShadow !== 'none')); })(document.activeElement)'''), focused)
        for wanted in ('skip', 'search', 'search-next', 'colour', 'show-all', 'link', 'help', 'canvas', 'splitter', 'tab-summary', 'panel-body'):
            self.assertIn(wanted, seen)
        page.run('document.querySelector("#canvas").focus()')
        lane = self.lane(server, 'stream', 2)
        for _ in range(40):
            page.key('ArrowDown')
            if lane['name'] in page.text('#announcer'):
                break
        self.assertIn(lane['name'], page.text('#announcer'))
        page.key('ArrowRight')
        page.wait('document.querySelector("#selected-name")')
        page.wait_text('#description', lane['name'])
        page.key('g')
        page.wait('document.querySelector("#tab-gaps[aria-selected=true]")')
        page.key('p')
        self.assertEqual(page.focused()[1], 'panel-body')
        page.run('document.querySelector("#tab-gaps").focus()')
        page.key('ArrowRight')
        self.assertEqual(page.focused()[1], 'tab-memory')
        page.key('Home')
        self.assertEqual(page.focused()[1], 'tab-summary')
        page.key('/')
        self.assertEqual(page.focused()[1], 'search')
        page.key('Escape')
        self.assertEqual(page.focused()[1], 'canvas')

    @THOROUGH
    def test_names_for_screen_readers(self):
        page, _ = self.open('pipeline')
        page.wait('document.querySelector("#panel-body table")')
        tree = page.accessible()
        nameless = [(role, name) for role, name, _ in tree if role in ('button', 'tab', 'searchbox', 'textbox', 'combobox', 'checkbox', 'application',
                                                                       'table', 'tabpanel', 'tablist', 'region', 'dialog', 'splitter') and not name]
        self.assertEqual(nameless, [])
        roles = {role for role, _, _ in tree}
        self.assertTrue({'application', 'tablist', 'tab', 'tabpanel', 'table', 'columnheader', 'heading', 'search'} <= roles, roles)
        self.assertTrue([name for role, name, _ in tree if role == 'application' and 'arrow' in name.lower()])

    @THOROUGH
    def test_contrast(self):
        page, _ = self.open('pipeline')
        page.wait('document.querySelector("#panel-body table")')
        for dark in (False, True):
            page.scheme(dark)
            page.wait('document.documentElement.dataset.theme === "%s"' % ('dark' if dark else 'light'))
            for tab in ('summary', 'gaps', 'memory', 'errors', 'state'):
                self.tab(page, tab)
                page.wait('document.querySelector("#panel-body").innerText.trim().length > 10')
                self.assertEqual(page.run(CONTRAST), [], (dark, tab))

    @THOROUGH
    def test_sizes(self):
        """At three sizes nothing is wider than the window, and controls of the bar do not overlap."""
        page, _ = self.open('pipeline')
        page.wait('document.querySelector("#panel-body table")')
        self.check_sizes(page, 'studio', '#bar button, #bar input, #bar select, [role=tab]')


class Report(harness.Case):
    """The page of `tsctl report` in the browser."""

    def test_report(self):
        path = hostile_names.write(self, self.path('hostile.sbt'), hostile_names.NAMES + ['<img src=http://example.com/x onerror=window.pwned=1>'])
        with chromium.Browser() as browser:
            page = browser.page()
            for trace in (studio.golden('pipeline'), studio.golden('failing'), path) if studio.SOAK else (path,):
                out = self.path('report.html')
                self.assertEqual(harness.tsctl('report', '-o', out, trace).status, 0)
                page.requests.clear()
                page.goto('file://' + out)
                self.assertEqual(page.requests, ['file://' + out])
                self.assertEqual((page.refused(), page.errors, page.run('window.pwned')), ([], [], None))
                self.assertEqual(page.run('document.compatMode'), 'CSS1Compat')
                for dark in (False, True):
                    page.scheme(dark)
                    self.assertEqual(page.run(CONTRAST), [], (trace, dark))
                    for width, height in SIZES:
                        page.resize(width, height, mobile=width < 500)
                        self.assertLessEqual(page.run('document.documentElement.scrollWidth'), width, trace)
                page.scheme(False)
                self.assertEqual(page.pdf()[:4], b'%PDF')


if __name__ == '__main__':
    harness.main()
