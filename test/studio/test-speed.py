#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studio's speed and memory with a generated training job: the first picture, and random zooms and pans of the page. With TS_SOAK=1 the trace
has 100 million launches ($TS_LAUNCHES: other numbers), and the goals of time hold too; else it is small, and only its memory is bounded."""
import contextlib
import json
import os
import random
import statistics
import struct
import sys
import threading
import time
import unittest

import chromium
import studio

studio.skip_if_absent()
if not chromium.program():
    print('skipped: no Chromium here: install the package chromium')
    sys.exit(chromium.SKIPPED)
import harness  # noqa: E402

WRITER = os.path.join(harness.BUILD, 'test', 'bench', 'bench-large')
LAUNCHES = int(os.environ.get('TS_LAUNCHES', '100000000' if studio.SOAK else '100000'))
STEPS = 200 if studio.SOAK else 15
FIRST_MS, MEDIAN_MS, WORST_MS, LONG_MS = 500, 50, 150, 100
MEMORY = 300 * 1000 * 1000
# Below the goal: with an emulation, the server had 304 MiB while large arrays lay in the heap, and 200 MiB since they have mappings.
EMULATED_MEMORY = 250 << 20
PANELS = ('selection', 'span', 'state', 'gaps', 'memory', 'path', 'errors', 'summary')
# Moves the view as a link does, and waits for the complete picture: milliseconds.
STEP = '''(async (delta, x, y) => {
    const canvas = document.querySelector('#canvas'), begin = performance.now();
    canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: delta, deltaX: 0, clientX: x, clientY: y, shiftKey: %s, bubbles: true, cancelable: true}));
    await new Promise(requestAnimationFrame);
    while (!window.studio.idle() && performance.now() - begin < 20000) await new Promise(requestAnimationFrame);
    return performance.now() - begin; })(%d, %d, %d)'''


def resident(pid):
    """Resident bytes of a process that are its own: without pages of files."""
    with open('/proc/%d/status' % pid, encoding='ascii') as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith('RssAnon:'))


def load(server, page):
    """Milliseconds from the begin of the page's load to the first picture."""
    page.goto(server.address)
    page.wait('window.studio && window.studio.idle()', 120)
    return round(page.run('performance.now()'))


def are_exact(server):
    """True if coarse cells of the whole trace are sums, and no estimates."""
    lane = next(lane['id'] for lane in server.get('trace')['lanes'] if lane['kind'] == 'stream')
    answer = server.ask('/api/tiles?level=32&first=0&n=1&lanes=%d&again=1' % lane)
    return answer.status == 200 and not struct.unpack_from('<I', answer.body, 28)[0] & 1


def emulate(server, whole):
    """Milliseconds of an emulation of the part in the middle or of the whole trace, and the server's largest memory meanwhile."""
    duration, most, answers = server.get('trace')['duration_ns'], 0, []
    body = {'edits': ['host=2x'], 'from': duration // 2, 'to': duration // 2 + 1000000, 'whole': whole}
    begin = time.monotonic()
    asking = threading.Thread(target=lambda: answers.append(server.ask('/api/what-if', 'POST', body, limit_s=3600)))
    asking.start()
    while asking.is_alive():
        most = max(most, resident(server.process.pid))
        asking.join(0.05)
    assert answers and answers[0].status == 200 and answers[0].json()['operations'], answers
    return round(1000 * (time.monotonic() - begin)), most


class Speed(harness.Case):
    def test_random_steps(self):
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path = self.path('large.sbt')
        self.assertEqual(harness.run([WRITER, 'write', path, str(LAUNCHES)], seconds=3600).status, 0)
        chance = random.Random(1)
        # A browser that starts uses both processors itself for a second. The load of a page in such a one is measured at the end.
        with contextlib.ExitStack() as stack:
            browser = stack.enter_context(chromium.Browser())
            page = browser.page(1280, 800)
            browser.settle()
            server = stack.enter_context(studio.Server(path))
            begin = time.monotonic()
            first_ms = load(server, page)
            page.wait('document.querySelector("#panel-body table")', 600)
            sums_ms = round(page.run('performance.now()')) - first_ms
            x, y, width, height = page.box('#canvas')

            def step():
                delta, is_pan = chance.choice((-240, -120, -120, 120, 240)), chance.random() < 0.4
                return page.run(STEP % (json.dumps(is_pan), delta, x + chance.random() * width, y + height / 2))

            times = [step() for _ in range(STEPS)]
            # The view moves on while a panel waits for an answer about the whole trace.
            page.click('#tab-gaps')
            beside = [step() for _ in range(STEPS // 4)]
            # Panels may read much of the trace, but keep little of it.
            for tab in PANELS:
                page.click('#tab-' + tab)
                page.wait('!document.querySelector("#panel-body [aria-busy], #panel-body[aria-busy]")', 600)
            self.assertTrue(are_exact(server))
            long_tasks, renderer = page.long_tasks(), browser.renderer()
            found = {'launches': LAUNCHES, 'mib': os.path.getsize(path) >> 20, 'first_picture_ms': first_ms, 'first_panel_after_ms': sums_ms,
                     'step_median_ms': round(statistics.median(times), 1), 'step_worst_ms': round(max(times), 1),
                     'step_beside_question_median_ms': round(statistics.median(beside), 1),
                     'step_beside_question_worst_ms': round(max(beside), 1),
                     'longest_task_ms': round(max(long_tasks, default=0)), 'server_mib': resident(server.process.pid) >> 20,
                     'page_heap_mib': page.heap() >> 20, 'renderer_mib': renderer >> 20, 'seconds': round(time.monotonic() - begin)}
            for whole in (False, False, False, False, False, True):
                found['what_if_whole_ms' if whole else 'what_if_ms'], most = emulate(server, whole)
                found['what_if_mib'] = max(found.get('what_if_mib', 0), most >> 20)
            with chromium.Browser() as fresh:
                found['first_picture_in_new_browser_ms'] = load(server, fresh.page(1280, 800))
            print(json.dumps(found), flush=True)
            self.assertEqual((page.errors, page.refused()), ([], []))
            self.assertLess(resident(server.process.pid), MEMORY, found)
            self.assertLess(renderer, MEMORY, found)
            self.assertLess(found['what_if_mib'] << 20, EMULATED_MEMORY, found)
            self.assertLess(max(times), 20000, found)
            if studio.SOAK:
                self.assertLessEqual(found['step_median_ms'], MEDIAN_MS, found)
                self.assertLessEqual(found['step_worst_ms'], WORST_MS, found)
                self.assertLessEqual(found['longest_task_ms'], LONG_MS, found)
                self.assertLessEqual(found['first_picture_ms'], FIRST_MS, found)

    def test_rows_are_asked_for_if_they_can_be_drawn(self):
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path = self.path('small.sbt')
        self.assertEqual(harness.run([WRITER, 'write', path, '100000'], seconds=600).status, 0)
        with studio.Server(path) as server, chromium.Browser() as browser:
            page = browser.page(1280, 800)
            load(server, page)
            x, y, width, height = page.box('#canvas')
            for i in range(60):
                page.run(STEP % ('false', -120 if i < 50 else 360, x + width * 0.37, y + height / 2))
            asked = [address[address.index('/api/') + 5:] for address in page.requests if '/api/rows?' in address]
            self.assertGreater(len(asked), 3)
            self.assertEqual([address for address in asked if server.get(address)['more']], [])


if __name__ == '__main__':
    harness.main()
