#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studio's page with a session that is being recorded on the virtual GPU, in a real Chromium: it scrolls by, and the page stops and starts
the recording and captures a window, which can be replayed."""
import json
import os
import subprocess
import sys
import time

import pages
import harness
import studio
from pages import IDLE, THOROUGH

COUNTERS = [sys.executable, os.path.join(harness.SOURCE, 'test', 'apps', 'counters.py')]
# Answers about gaps take 1.5 s, as those of a long trace do.
SLOW_GAPS = '''
const own = window.fetch;
window.fetch = async (path, options) => {
    if (path === '/api/ask' && options.body.includes('"gaps"'))
        await new Promise((done, fail) => {
            setTimeout(done, 1500);
            options.signal?.addEventListener('abort', () => fail(new DOMException('', 'AbortError')));
        });
    return own(path, options);
};'''
VIEW = '(f => [+f.get("from"), +f.get("to")])(new URLSearchParams(location.hash.slice(1)))'


class Live(pages.Case):
    """counters.py launches as often as it is told, under `tsctl record`."""

    def setUp(self):
        super().setUp()
        self.trace = self.path('recorded.sbt')
        self.program = subprocess.Popen(
            [harness.TSCTL, 'record', '--vgpu=small', '-o', self.trace, '--capture', 'window', '--', *COUNTERS], cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=harness.record_environment(XDG_RUNTIME_DIR=self.folder))
        self.addCleanup(self.kill)
        self.answer('ready')

    def kill(self):
        if self.program.poll() is None:
            self.program.kill()
        self.program.wait()
        for stream in (self.program.stdin, self.program.stdout, self.program.stderr):
            stream.close()

    def answer(self, word):
        line = self.program.stdout.readline().strip()
        if line != word:
            self.fail('%r: %s' % (line, self.program.stderr.read()))

    def tell(self, *words):
        self.program.stdin.write(' '.join(words) + '\n')
        self.program.stdin.flush()
        self.answer('done')

    def session(self):
        """The session as `tsctl sessions` lists it, which also asks a service of this machine."""
        with open('/proc/%d/task/%d/children' % (self.program.pid, self.program.pid), encoding='ascii') as file:
            children = file.read().split()
        result = harness.tsctl('sessions', '--json', env=harness.environment(XDG_RUNTIME_DIR=self.folder))
        session, = [session for session in json.loads(result.out)['sessions'] if str(session['pid']) in children]
        return session

    def open_session(self, script=''):
        server = studio.Server(options=('--session', str(self.session()['pid'])), XDG_RUNTIME_DIR=self.folder)
        self.addCleanup(server.close)
        page = self.page(server, script)
        page.goto(server.address)
        page.wait(IDLE)
        page.wait('document.querySelector("#tab-live")')
        return page, server

    def do(self, page, title):
        page.run('document.querySelectorAll("#panel-body .dim").forEach(e => { e.textContent = ""; })')
        page.run('[...document.querySelectorAll("#panel-body button")].find(b => b.innerText === %s).click()' % json.dumps(title))
        page.wait_text('#panel-body', title + ': done.', harness.SECONDS)

    def shown(self, page):
        """State, nanoseconds and rows of the panel."""
        return page.run('''(l => l && [l.querySelector('dd').innerText, ...[...l.querySelectorAll('.num')].map(e => +e.dataset.value)])(
            document.querySelector('#live-state dl'))''')

    @THOROUGH
    def test_sizes(self):
        """The panel of a session: recorded, stopped, and ended."""
        self.tell('step', '20')
        page, _ = self.open_session()
        self.tab(page, 'live')
        page.wait('document.querySelector("#live-state dl")')
        controls = '#panel-body button, #panel-body input, [role=tab]'
        self.check_sizes(page, 'live-recording', controls)
        self.do(page, 'Stop recording')
        page.wait_text('#live-state', 'stopped by this page')
        self.check_sizes(page, 'live-stopped', controls)
        self.do(page, 'Start recording')
        self.program.communicate(timeout=harness.SECONDS)
        page.wait('(e => e && e.innerText === "ended")(document.querySelector("#live-state dd"))', harness.SECONDS)
        self.assertEqual(page.run('[...document.querySelectorAll("#panel-body button")].map(b => b.disabled)'), [True] * 4)
        self.check_sizes(page, 'live-ended', controls)
        page.resize(390, 844, mobile=True)
        page.wait('(r => r.left >= -1 && r.right <= 391)(document.querySelector("#tab-live").getBoundingClientRect())')

    @THOROUGH
    def test_colours_by_cause_come_while_it_scrolls(self):
        """An answer about gaps that takes longer than the trace needs to grow is waited for."""
        self.tell('step', '20')
        page, _ = self.open_session(SLOW_GAPS)
        self.tab(page, 'live')
        # The view is several seconds long, so that an answer is about much of it when it comes.
        end = time.monotonic() + harness.SECONDS
        while not page.run('(n => n && +n.dataset.value > 6e9)(document.querySelector("#live-state .num"))'):
            self.assertLess(time.monotonic(), end)
            self.tell('step', '3')
            time.sleep(0.2)
        page.click('#show-all')
        page.run('''window.__gaps = [];
            new MutationObserver(() => (text => text.includes('gap') && window.__gaps.push(text))(document.querySelector('#corner').innerText))
                .observe(document.querySelector('#corner'), {childList: true, characterData: true, subtree: true});''')
        page.run('(e => { e.value = "cause"; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("#colour"))')
        self.wait_for_gaps(page, 2)
        # A short view waits for its colours: the trace grows by more than its length until they come.
        x, y, width, height = page.box('#canvas')
        for _ in range(12):
            page.wheel(x + width * 0.94, y + height / 2, -240)
        self.wait_for_gaps(page, 2 + page.run('window.__gaps.length'))
        self.assertLess(page.run('(a => a.to - a.from)(Object.fromEntries([...new URLSearchParams(location.hash.slice(1))].map(([k, v]) => [k, +v])))'),
                        1.5e9)

    def wait_for_gaps(self, page, n):
        end = time.monotonic() + harness.SECONDS
        while page.run('window.__gaps.length') < n:
            self.assertLess(time.monotonic(), end, page.text('#corner'))
            self.tell('step', '3')
            time.sleep(0.1)

    def test_stop_start_capture_and_scroll(self):
        self.tell('step', '20')
        page, server = self.open_session()
        self.tab(page, 'live')
        page.wait('document.querySelector("#live-state dl")')
        self.assertEqual(self.shown(page)[0], 'recording')

        # It scrolls by: the view ends behind what is recorded while the program goes on, and its length stays.
        page.wait(VIEW + '[1]')
        state, duration, rows = self.shown(page)
        begin, end = page.run(VIEW)
        for _ in range(2):
            before = self.shown(page)
            self.tell('step', '20')
            page.wait('(n => n[0] > %d && n[1] > %d)([...document.querySelectorAll("#live-state .num")].map(e => +e.dataset.value))' % tuple(
                before[1:]), harness.SECONDS)
        page.wait('(v => v[1] > %d)(%s)' % (end, VIEW))
        lanes = page.texts('.header .lane-name')
        self.assertTrue([name for name in lanes if name.startswith('stream')], lanes)

        # A panel that is open says that its answer is old, and reads the trace again on request.
        self.tab(page, 'errors')
        kernels = '(t => t && +[...t.tBodies[0].rows].find(r => r.cells[0].innerText === "kernel").querySelector(".num").dataset.value)(' \
                  '[...document.querySelectorAll("#panel-body table")].find(t => t.caption.innerText === "Rows by type"))'
        before = page.wait(kernels)
        self.tell('step', '3')
        page.wait('document.querySelector("#look-again")', harness.SECONDS)
        self.assertEqual(page.run(kernels), before)
        self.assertLess(before, 20 + 2 * 20 + 3)
        end = time.monotonic() + harness.SECONDS
        while page.wait(kernels) != 20 + 2 * 20 + 3:
            self.assertLess(time.monotonic(), end)
            page.run('(e => e && e.click())(document.querySelector("#look-again button"))')
        self.tab(page, 'live')

        # Who looks at something else is left alone.
        page.click('#follow')
        still = self.settled(page)
        before = self.shown(page)
        self.tell('step', '5')
        page.wait('[...document.querySelectorAll("#live-state .num")][0].dataset.value > %d' % before[1], harness.SECONDS)
        self.assertEqual(self.settled(page), still)

        # A window of capture: its launches can be replayed.
        self.assertEqual(self.session()['capture']['state'], 'closed')
        self.do(page, 'Capture a window')
        self.tell('step', '4')
        self.assertEqual(self.session()['capture']['state'], 'open')
        self.do(page, 'End the window')
        self.tell('step', '6')
        self.assertEqual(self.session()['capture']['state'], 'closed')

        # Stopped: launches are not recorded. Started: they are.
        self.do(page, 'Stop recording')
        self.tell('step', '7')
        self.do(page, 'Start recording')
        self.tell('step', '9')

        # The program ends, and so does the recording: the page has the numbers of the file.
        _, err = self.program.communicate(timeout=harness.SECONDS)
        self.assertEqual(self.program.returncode, 0, err)
        page.wait('(e => e && e.innerText === "ended")(document.querySelector("#live-state dd"))', harness.SECONDS)
        info = harness.Trace(self.trace).info
        self.assertEqual((info['counts']['kernel'], info['lost']), (20 + 2 * 20 + 3 + 5 + 4 + 6 + 9, {}))
        page.wait('+document.querySelector("#live-state .num").dataset.value === %d' % info['duration_ns'])

        # The summary was read when the page opened. It has the numbers of the file now, and so has the list of rows.
        self.tab(page, 'summary')
        answer = json.loads(harness.tsctl('analyze', '--json', self.trace).out)
        self.assertEqual([[row[0][0], row[1][1], row[3][1]] for row in self.table(page, 'Kernels with the most time')],
                         [[kernel['name'], kernel['ns'], kernel['count']] for kernel in answer['kernels']])
        self.tab(page, 'errors')
        self.assertEqual({row[0][0].replace(' ', '_').replace('/', '').lower(): row[1][1] for row in self.table(page, 'Rows by type')},
                         {kind: count for kind, count in info['counts'].items() if count})
        result = harness.tsctl('replay', '--on', 'vgpu', '--json', self.trace)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(json.loads(result.out)['launches'], 4)


if __name__ == '__main__':
    harness.main()
