# SPDX-License-Identifier: Apache-2.0
"""What tests of Studio's page share: a browser, servers, and reading of the page. After each test the page's log must have no request that
leaves the machine, no error, and no violation of its policy."""
import json
import os
import sys
import unittest

import chromium
import studio

studio.skip_if_absent()
if not chromium.program():
    print('skipped: no Chromium here: install the package chromium')
    sys.exit(chromium.SKIPPED)
import harness  # noqa: E402

SIZES = ((390, 844), (1280, 800), (3840, 2160))
THOROUGH = unittest.skipUnless(studio.SOAK, 'TS_SOAK=1 runs it')
IDLE = 'window.studio && window.studio.idle()'
# Keeps each text that a canvas draws: the text, where it begins, and its width.
TEXTS = '''
window.__texts = [];
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    if (this.canvas.id === 'canvas' && window.__texts.length < 100000) window.__texts.push([text, x, y, this.measureText(text).width]);
    return draw.call(this, text, x, y, ...more);
};'''
# The colours of a picture at places.
COLOURS = '''(async (picture, places) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), c => c.charCodeAt(0))], {type: 'image/png'}));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return places.map(([x, y]) => [...context.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)]);
})(%s, %s)'''
# Whether pixels of a picture before and a picture after differ near places: of each, the number that do.
CHANGED = '''(async (before, after, places) => {
    const pixels = async data => {
        const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), c => c.charCodeAt(0))], {type: 'image/png'}));
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    };
    const a = await pixels(before), b = await pixels(after);
    return places.map(([x, y]) => {
        let n = 0;
        for (let i = Math.max(0, Math.round(x) - 5); i <= Math.min(a.width - 1, Math.round(x) + 5); i++)
            for (let j = Math.max(0, Math.round(y) - 5); j <= Math.min(a.height - 1, Math.round(y) + 5); j++) {
                const at = 4 * (j * a.width + i);
                n += [0, 1, 2].some(c => Math.abs(a.data[at + c] - b.data[at + c]) > 24);
            }
        return n;
    });
})(%s, %s, %s)'''


class Case(harness.Case):
    """A browser for all tests of the class, and a server for each trace that they open."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = chromium.Browser()
        cls.servers = {}

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        for server in cls.servers.values():
            server.close()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.pages = []

    def tearDown(self):
        for page, server in self.pages:
            self.assertEqual(page.foreign(server.host), [], 'a request left the machine')
            self.assertEqual((page.refused(), page.errors), ([], []), page.text('#notice'))
            page.close()
        super().tearDown()

    def server(self, *names):
        if names not in self.servers:
            self.servers[names] = studio.Server(*(name if '/' in name else studio.golden(name) for name in names))
        return self.servers[names]

    def page(self, server, script='', size=(1280, 800), dark=False):
        """A page of a server, before it is loaded. The script runs before those of the page."""
        page = self.browser.page(*size, dark=dark)
        self.pages.append((page, server))
        if script:
            page.ask('Page.addScriptToEvaluateOnNewDocument', source=script)
        return page

    def open(self, *names, size=(1280, 800), dark=False, fragment='', script=''):
        server = self.server(*names)
        page = self.page(server, script, size, dark)
        page.goto(server.address + fragment)
        page.wait(IDLE)
        page.wait('document.querySelector("[role=tab][aria-selected=true]")')
        return page, server

    def tab(self, page, name):
        page.click('#tab-' + name)
        self.assertEqual(page.attribute('#tab-' + name, 'aria-selected'), 'true')

    def values(self, page, selector):
        """The exact numbers of elements."""
        return [int(value) for value in page.run('[...document.querySelectorAll(%s)].map(e => e.dataset.value)' % json.dumps(selector))]

    def table(self, page, caption):
        """Rows of a table: (text, exact number or None) of each cell."""
        return page.wait('''(t => t && [...t.tBodies[0].rows].map(row => [...row.cells].map(cell => {
            const number = cell.querySelector('.num[data-value]'); return [cell.innerText, number ? +number.dataset.value : null]; })))(
            [...document.querySelectorAll('#panel-body table')].find(t => t.caption && t.caption.innerText === %s))''' % json.dumps(caption))

    def json(self, command, name, *options):
        return json.loads(harness.tsctl(command, '--json', *options, studio.golden(name)).out)

    def check_sizes(self, page, name, controls):
        """Nothing is wider than the window, and controls do not overlap. TS_SCREENSHOTS=FOLDER keeps pictures, light and dark."""
        folder = os.environ.get('TS_SCREENSHOTS')
        for dark in (False, True):
            page.scheme(dark)
            for width, height in SIZES:
                page.resize(width, height, mobile=width < 500)
                page.wait(IDLE)
                self.assertLessEqual(page.run('document.documentElement.scrollWidth'), width)
                boxes = page.run('''[...document.querySelectorAll(%s)].map(e => {
                    const r = e.getBoundingClientRect(); return [e.id || e.innerText, r.left, r.top, r.right, r.bottom]; }).filter(b => b[3] > b[1])''' %
                                 json.dumps(controls))
                self.assertGreater(len(boxes), 1)
                for i, a in enumerate(boxes):
                    for b in boxes[:i]:
                        self.assertFalse(a[1] < b[3] - 1 and b[1] < a[3] - 1 and a[2] < b[4] - 1 and b[2] < a[4] - 1, (width, a, b))
                if folder:
                    page.screenshot(os.path.join(folder, '%s-%d-%s.png' % (name, width, 'dark' if dark else 'light')))

    # ---- the timeline

    def place(self, page, server, lane, ns):
        """The place of a time in a lane of the timeline."""
        x, _, width, _ = page.box('#canvas')
        y = page.box('.header[data-lane="%d"]' % lane)
        # A new page writes its view into the address a little later.
        view = page.wait('(f => f.get("to") && [+f.get("from"), +f.get("to")])(new URLSearchParams(location.hash.slice(1)))')
        self.assertTrue(y and view[1] > view[0], (y, view))
        return x + (ns - view[0]) / (view[1] - view[0]) * width, y[1] + y[3] / 2

    def lane(self, server, kind, n=0):
        return [lane for lane in server.get('trace')['lanes'] if lane['kind'] == kind][n]

    def show(self, page, start, end):
        """Moves the view by the address, as a link does."""
        page.run('''(f => { f.set('from', %d); f.set('to', %d); history.replaceState(null, '', '#' + f); })(
            new URLSearchParams(location.hash.slice(1)))''' % (start, end))
        page.reload()
        page.wait(IDLE)

    def span(self, page):
        return page.run('(f => f.get("to") - f.get("from"))(new URLSearchParams(location.hash.slice(1)))')

    def settled(self, page):
        """The view after its animation, in the address."""
        page.wait(IDLE)
        before = None
        for _ in range(100):
            now = page.run('new Promise(done => setTimeout(() => done(location.hash), 500))')
            if now == before:
                return page.run('(f => [+f.get("from"), +f.get("to")])(new URLSearchParams(location.hash.slice(1)))')
            before = now
        raise chromium.Failed('the view does not rest')

    def picture(self, page, alike=2):
        """What the page shows, twice the same unless told otherwise: the last frame is drawn."""
        last = None
        while True:
            now = page.ask('Page.captureScreenshot', format='png')['data']
            if now == last or alike == 1:
                return now
            last = now

    def changed(self, page, before, places):
        """How many pixels near each place differ from an earlier picture."""
        return page.run(CHANGED % tuple(json.dumps(part) for part in (before, self.picture(page), places)))
