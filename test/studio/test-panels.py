#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers of each panel of Studio's page, in a real Chromium: they equal `tsctl ... --json`. And the arrows and the slack that the timeline
draws."""
import json
import sys
import time
import unittest

import pages
import chromium
import harness
import hostile_names
import studio
from pages import IDLE, THOROUGH

DEPTH = 18  # DEPTH_HEIGHT of painter.ts
INSTANTS = ('3.28ms', '2ms', '5.5ms')


def sums(parts, key, value='ns'):
    """Sums of parts by a key, the largest first."""
    found = {}
    for part in parts:
        found[part[key]] = found.get(part[key], 0) + part[value]
    return found


# An operation waits for an event of a long one in another stream. It is launched a while after the wait was queued.
WAITS = harness.DRIVER_PROGRAM + '''
import time
event, streams = ctypes.c_void_p(), [ctypes.c_void_p() for _ in range(2)]
size = ctypes.c_size_t(1 << 29)
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), size)
assert not cuda.cuEventCreate(ctypes.byref(event), 0)
for stream in streams:
    assert not cuda.cuStreamCreate(ctypes.byref(stream), 1)
assert not cuda.cuMemsetD8Async(memory, 0, size, streams[0])
assert not cuda.cuEventRecord(event, streams[0])
assert not cuda.cuStreamWaitEvent(streams[1], event, 0)
time.sleep(0.02)
assert not cuda.cuMemsetD8Async(memory, 0, ctypes.c_size_t(1024), streams[1])
assert not cuda.cuCtxSynchronize()
'''
# Two streams rest while another thread is in two ranges, one in the other.
RESTS = harness.DRIVER_PROGRAM + '''
import threading, time, tracesmith
streams = [ctypes.c_void_p() for _ in range(2)]
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
for stream in streams:
    assert not cuda.cuStreamCreate(ctypes.byref(stream), 1)
def work():
    for stream in streams:
        assert not cuda.cuMemsetD8Async(memory, 0, ctypes.c_size_t(1024), stream)
    assert not cuda.cuCtxSynchronize()
def load():
    with tracesmith.annotate('load'):
        with tracesmith.annotate('read the file'):
            time.sleep(0.3)
with tracesmith.annotate('step'):
    work()
    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    work()
'''
# Launches axpy(int, float, double const*, S, unsigned char), with a structure of 12 bytes, and a kernel with C linkage.
TYPED = harness.DRIVER_PROGRAM + '''
module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
image = b".version 7.0\\n.target sm_70\\n.address_size 64\\n" + b"".join(
    b".visible .entry %s(%s) { ret; }\\n" % (name, b", ".join(b".param %s p%d%s" % (type, i, size) for i, (type, size) in enumerate(params)))
    for name, params in ((b"_Z4axpyifPKd1Sh", ((b".u32", b""), (b".f32", b""), (b".u64", b""), (b".align 4 .b8", b"[12]"), (b".u8", b""))),
                         (b"plain", ((b".u32", b""),)))) + bytes(1)
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
assert not cuda.cuModuleLoadData(ctypes.byref(module), image)
arguments = (ctypes.c_int(-7), ctypes.c_float(2.5), memory, (ctypes.c_ubyte * 12)(*range(12)), ctypes.c_ubyte(200))
for name, n in ((b"_Z4axpyifPKd1Sh", 5), (b"plain", 1)):
    assert not cuda.cuModuleGetFunction(ctypes.byref(kernel), module, name)
    pointers = (ctypes.c_void_p * n)(*(ctypes.addressof(argument) for argument in arguments[:n]))
    assert not cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)
assert not cuda.cuCtxSynchronize()
'''


class Panels(pages.Case):
    def facts(self, page, scope='#panel-body', n=0):
        """A list of terms and values: {term: (text, exact number or None)}."""
        return page.run('''(l => l && Object.fromEntries([...l.querySelectorAll('dt')].map(t => { const d = t.nextElementSibling;
            const n = d.querySelector('.num[data-value]'); return [t.innerText, [d.innerText, n ? +n.dataset.value : null]]; })))(
            document.querySelectorAll(%s)[%d])''' % (json.dumps(scope + ' dl.facts'), n))

    def numbers(self, rows, *columns):
        return [[row[i][1] for i in columns] for row in rows]

    def parts(self, page, label):
        """{part: nanoseconds} of a bar."""
        return dict(page.wait('''(t => t && [...t.tBodies[0].rows].map(r => [r.dataset.part, +r.querySelector('.num').dataset.value]))(
            [...document.querySelectorAll('#panel-body table')].find(t => t.caption && t.caption.textContent === %s))''' % json.dumps(label)))

    def frames(self, page, scope):
        """Functions of a stack, all of them."""
        page.run('''(s => { const more = [...s.querySelectorAll('button')].find(b => /^All \\d+ frames$/.test(b.innerText)); if (more) more.click();
            s.querySelectorAll('details').forEach(d => d.open = true); })(document.querySelector(%s))''' % json.dumps(scope))
        return page.texts(scope + ' ol.stack li .name')

    def record_program(self, path, vgpu, program, status=0):
        env = harness.record_environment(**{key: value for key, value in hostile_names.python_environment().items() if key.startswith('PYTHON')})
        result = harness.tsctl('record', '-o', path, '--vgpu=' + vgpu, '--', sys.executable, '-c', program, env=env)
        self.assertEqual(result.status, status, result)

    def go_to_time(self, page, at):
        page.click('#search')
        page.key('a', 'Control')
        page.type(at)
        page.key('Enter')

    # ---- state

    def check_state(self, page, server, name, at):
        answer, origin = self.json('state', name, '--at', at), server.get('trace')['origin_ns']
        self.go_to_time(page, at)
        page.wait('(e => e && +e.dataset.value === %d)(document.querySelector("#panel-body .lead .num"))' % answer['at_ns'])
        self.assertEqual(self.numbers(self.table(page, 'Devices'), 2, 3, 4, 5), [
            [device['kernels'], device['copies'] + device['sets'], device['pending'], device['allocated_bytes']] for device in answer['devices']])
        lanes = {lane['name']: lane for lane in server.get('trace')['lanes'] if lane['kind'] == 'stream'}
        busy = {stream['stream']: stream for stream in answer.get('streams', [])}
        first = {}
        for operation in answer.get('operations', []):
            first.setdefault(operation['stream'], operation)
        rows = self.table(page, 'Streams')
        self.assertEqual(len(rows), len(lanes))
        for stream, state, since, pending in rows:
            number = lanes[stream[0]]['stream']
            if number not in busy:
                self.assertEqual((state[0], since[1], pending[1]), ('idle', None, None))
                continue
            self.assertNotEqual(state[0], 'idle')
            self.assertEqual(pending[1], busy[number]['pending'])
            operation = first.get(number)
            if operation:
                self.assertEqual(since[1], answer['at_ns'] - operation['since_ns'], (operation, origin))
                if 'waits_for_op_id' in operation:
                    self.assertTrue(state[0].endswith(': operation %d' % operation['waits_for_op_id']), state)
        threads = answer.get('threads', [])
        if threads:
            rows = self.table(page, 'Threads in a call')
            self.assertEqual([(row[0][0], row[1][0], row[2][1]) for row in rows], [
                ('%s/%d' % (thread.get('thread_name', ''), thread['tid']), thread['call'], answer['at_ns'] - thread['since_ns']) for thread in threads])
        facts = {}
        for n in range(page.run('document.querySelectorAll("#panel-body dl.facts").length')):
            facts.update(self.facts(page, n=n))
        self.assertEqual([facts[key][1] for key in ('Allocated', 'Allocations', 'Events not reached')], [
            answer['allocated_bytes'], len(answer['allocations']), len(answer.get('events', []))])
        for key, near, apart in (('Before', answer.get('before'), lambda row: answer['at_ns'] - row['end_ns']),
                                 ('Next', answer.get('after'), lambda row: row['start_ns'] - answer['at_ns'])):
            self.assertEqual(facts[key][1] if key in facts else None, apart(near) if near else None)

    def test_state(self):
        """What each stream waits for, since when, and because of whom."""
        page, server = self.open('pipeline')
        # An instant at which a stream waits for another, and those of INSTANTS.
        waits = next((row for row in studio.rows(studio.golden('pipeline')) if row['type'] == 'stream_wait'), None)
        self.assertTrue(waits)
        for at in INSTANTS[:None if studio.SOAK else 1]:
            self.check_state(page, server, 'pipeline', at)

    def test_idle_streams_and_ranges(self):
        """Since when each idle stream is idle, until which operation and why; and the ranges that threads are in, here and in the gap."""
        path = self.path('rests.sbt')
        self.record_program(path, 'h200,clock=host', RESTS)
        rows = studio.rows(path)
        ranges = {row['name']: row for row in rows if row['type'] == 'range'}
        at = (ranges['read the file']['start_ns'] + ranges['read the file']['end_ns']) // 2
        page, server = self.open(path)
        origin = server.get('trace')['origin_ns']
        self.go_to_time(page, '%dns' % (at - origin))
        page.wait_text('#idle-streams', 'Until')
        streams = {lane['id']: lane['stream'] for lane in server.get('trace')['lanes'] if lane['kind'] == 'stream'}
        listed = page.run('[...document.querySelectorAll("#idle-streams tr[data-lane]")].map(e => [+e.dataset.lane, +e.dataset.op])')
        wanted = {row['stream']: row for row in sorted((row for row in rows if row['type'] == 'memset' and row['start_ns'] > at),
                                                       key=lambda row: -row['start_ns'])}
        self.assertEqual({streams[lane]: op for lane, op in listed}, {stream: row['op_id'] for stream, row in wanted.items()})
        for (lane, op), row in zip(listed, self.table(page, 'Idle streams')):
            gap = json.loads(harness.tsctl('gaps', '--json', '--op', str(op), path).out)['longest'][0]
            self.assertEqual(row[1][1], at - gap['start_ns'])
            self.assertIn('%s/%d ran its own code' % (gap['thread_name'], gap['tid']), row[2][0])
            self.assertIn('memset', row[3][0])

        def check(caption, at):
            page.wait('[...document.querySelectorAll("#panel-body caption")].some(e => e.innerText === %s)' % json.dumps(caption))
            self.assertEqual(sorted([row[1][0], row[2][1]] for row in self.table(page, caption)), [
                ['load \u203a read the file', at - ranges['read the file']['start_ns']], ['step', at - ranges['step']['start_ns']]])
        check('Ranges', at)
        page.click('#idle-streams tr[data-lane] .link')
        page.wait('document.querySelector("#gap h2")')
        op = page.run('+document.querySelector("[data-gap]").dataset.gap')
        gap = json.loads(harness.tsctl('gaps', '--json', '--op', str(op), path).out)['longest'][0]
        check('Ranges in the middle of the gap', (gap['start_ns'] + gap['end_ns'] - 2 * origin) // 2 + origin)

    def test_cursor_behind_the_end(self):
        """Of the shorter one of two traces, and in the margin: a line, and no question that is refused."""
        page, server = self.open('train', 'pipeline-longer')
        trace = server.get('trace')
        self.assertNotEqual(trace['duration_ns'], trace['second_duration_ns'])
        shorter = int(trace['second_duration_ns'] < trace['duration_ns'])
        self.go_to_time(page, '%dns' % ((trace['duration_ns'] + trace['second_duration_ns']) // 2))
        page.wait('document.querySelector("#tab-state[aria-selected=true]")')
        for side in (shorter, 1 - shorter, shorter):
            page.click('#sides button:nth-of-type(%d)' % (side + 1))
            if side == shorter:
                page.wait_text('#panel-body .after-end', 'after the end')
            else:
                self.table(page, 'Devices')
        self.tab(page, 'memory')
        page.wait_text('#memory-held', 'after the end')

    # ---- selection

    def check_selection(self, page, row, origin):
        """The facts of a row are those of `tsctl view --json --stacks`."""
        page.wait_text('#selected-name', row.get('name', row['type'])[:10])
        page.wait('(f => f && f.innerText.includes("%d"))([...document.querySelectorAll("#panel-body .facts .num")].find(e => '
                  'e.dataset.value === "%d"))' % (row['op_id'], row['op_id']))
        facts = self.facts(page)
        self.assertEqual((facts['Type'][0], facts['Duration'][1], facts['Start'][1], facts['End'][1], facts['Operation'][1]),
                         (row['type'], row['end_ns'] - row['start_ns'], row['start_ns'], row['end_ns'], row['op_id']))
        if row['type'] == 'kernel':
            for name in ('grid', 'block'):
                self.assertEqual(facts[name.capitalize()][0], ' \u00d7 '.join(str(row[name + '_' + axis]) for axis in 'xyz'))
        for key, value in row.items():
            shown = facts.get(key.replace('_', ' ').capitalize())
            if shown and shown[1] is not None:
                self.assertEqual(shown[1], value, key)
            elif shown and isinstance(value, int) and not shown[0].startswith('0x'):
                words = {True: 'yes', False: 'no'}.get(value) if isinstance(value, bool) else 'success' if (key, value) == ('result', 0) else str(value)
                self.assertEqual(shown[0], words, key)
        wanted = [symbol['function'] for symbol in row['stack']['symbols'] if 'function' in symbol]
        found = self.frames(page, '#panel-body .columns section:nth-of-type(2)')
        for function in wanted:
            self.assertTrue([text for text in found if text.startswith(function)], (function, found))

    @THOROUGH
    def test_selection(self):
        """Call, host stack, arguments and neighbours of operations."""
        for name in ('pipeline', 'train', 'capture'):
            page, server = self.open(name)
            origin = server.get('trace')['origin_ns']
            rows = studio.rows(studio.golden(name), '--stacks')
            calls = {row['op_id']: row for row in rows if row['type'] == 'api' and row.get('op_id')}
            device = [row for row in rows if row['type'] in harness.DEVICE_TYPES and row.get('stack')]
            for row in (device[0], device[len(device) // 2], device[-1]):
                other, _ = self.open(name, fragment='&op=%d&tab=selection' % row['op_id'])
                self.check_selection(other, row, origin)
                call = calls.get(row['op_id'])
                if call:
                    other.wait('[...document.querySelectorAll("#panel-body h3")].some(e => e.innerText === "Call")')
                    facts = self.facts(other, n=1)
                    self.assertEqual((facts['Function'][0], facts['Begun'][1], facts['Took'][1]),
                                     (call['name'], call['start_ns'], call['end_ns'] - call['start_ns']))
                    if row['start_ns'] >= call['end_ns']:
                        self.assertEqual(facts['From its end to the start'][1], row['start_ns'] - call['end_ns'])
                around = self.table(other, 'Rows around it')
                lane = [r for r in rows if r['type'] in harness.DEVICE_TYPES and r.get('stream') == row.get('stream')]
                self.assertIn(row['end_ns'] - row['start_ns'], [cells[2][1] for cells in around])
                self.assertLessEqual({cells[2][1] for cells in around}, {r['end_ns'] - r['start_ns'] for r in lane})

    @THOROUGH
    def test_arguments_and_memory(self):
        """A captured launch has its arguments, and the memory that it touched."""
        rows = studio.rows(studio.golden('capture'))
        row = next(row for row in rows if row['type'] == 'kernel')
        launch = next(one for one in rows if one['type'] == 'operation' and one['kind'] == 'launch' and one['op_id'] == row['op_id'])
        page, server = self.open('capture', fragment='&op=%d&tab=selection' % row['op_id'])
        page.wait('[...document.querySelectorAll("#panel-body h3")].some(e => e.innerText === "Captured operation")')
        self.table(page, 'Arguments')
        content = server.get('content?session=1&content=%d' % launch['content'])
        self.assertEqual(content['bytes'], launch['bytes'])
        data = bytes.fromhex(content['hex'])
        words = [int.from_bytes(data[i:i + 8], 'little') for i in range(0, len(data), 8)]
        shown = page.run('[...document.querySelectorAll("#touched tr[data-word]")].map(r => [r.dataset.word, r.cells[1].innerText])')
        self.assertEqual(shown, [[str(word), '0x%0*x' % (2 * len(data[8 * i:8 * i + 8]), word)] for i, word in enumerate(words)])
        # The kernel works on memory that copies write and read.
        copied = {one[end] for one in rows if one['type'] == 'access' for end in ('dst', 'src')}
        self.assertTrue(copied & set(words))
        held = json.loads(harness.tsctl('state', '--json', '--at', '@%d' % launch['start_ns'], studio.golden('capture')).out)['allocations']
        wanted = [str(one['address']) for word in words for one in held if one['address'] <= word < one['address'] + one['bytes']]
        self.assertTrue(wanted)
        self.assertEqual(page.run('[...document.querySelectorAll("#touched tr[data-word] [data-allocation]")].map(e => e.dataset.allocation)'), wanted)
        # A copy: both ends, each in its allocation.
        access = next(one for one in rows if one['type'] == 'access' and one['access'] == 'copy' and one['dst'] in copied & set(words))
        page, _ = self.open('capture', fragment='&op=%d&tab=selection' % access['op_id'])
        page.wait('document.querySelector("#touched [data-allocation]")')
        held = json.loads(harness.tsctl('state', '--json', '--at', '@%d' % access['start_ns'], studio.golden('capture')).out)['allocations']
        wanted = {str(one['address']) for end in ('dst', 'src') for one in held if one['address'] <= access[end] < one['address'] + one['bytes']}
        self.assertEqual(set(page.run('[...document.querySelectorAll("#touched [data-allocation]")].map(e => e.dataset.allocation)')), wanted)

    @THOROUGH
    def test_arguments_have_types(self):
        """Those of the kernel's name; without types, words."""
        result, path = self.record([sys.executable, '-c', TYPED], '--vgpu=small', '--capture', 'replay')
        self.assertEqual(result.status, 0, result)
        kernels = [row for row in studio.rows(path) if row['type'] == 'kernel']
        self.assertEqual([row['name'] for row in kernels], ['axpy(int, float, double const*, S, unsigned char)', 'plain'])
        page, _ = self.open(path, fragment='&op=%d&tab=selection' % kernels[0]['op_id'])
        page.wait('document.querySelector("#touched tr[data-argument]")')
        rows = self.table(page, 'Arguments')
        values = page.texts('#touched tr[data-argument] .value')
        self.assertRegex(values[2], '^0x[0-9a-f]{6,}$')
        self.assertEqual([row[0][0] + ': ' + row[1][0] for row in rows],
                         ['0: int', '4: float', '8: double const*', '16: S', '28: unsigned char'])
        self.assertEqual(values, ['-7', '2.5', values[2], ' '.join('%02x' % byte for byte in range(12)), '200'])
        # The address is that of memory.
        self.assertEqual(page.run('[...document.querySelectorAll("#touched tr[data-argument] [data-allocation]")].map(e => e.dataset.allocation)'),
                         [str(int(values[2], 16))])
        page, _ = self.open(path, fragment='&op=%d&tab=selection' % kernels[1]['op_id'])
        page.wait('document.querySelector("#touched tr[data-word]")')
        self.assertEqual([row[1][0] for row in self.table(page, 'Arguments')], ['0x%08x' % (2 ** 32 - 7)])

    # ---- span

    def check_span(self, page, name, begin, end):
        timeline = self.json('timeline', name, '--width', '1', '--from', str(begin), '--to', str(end))
        # Rows that only touch the span have no part in it.
        stats = self.json('view', name, '--stats', '--from', str(begin + 1), '--to', str(end - 1))
        device = timeline['devices'][0]
        page.wait('[...document.querySelectorAll("#panel-body caption")].some(e => e.innerText === "Kernels")')
        self.assertEqual(self.values(page, '#panel-body section p .num[data-kind=ns]')[:2], [device['busy_ns'], device['idle_ns']])
        parts = self.parts(page, 'GPU 0, busy and idle by cause')
        self.assertEqual(parts, {'compute': device['compute_ns'] - device['overlap_ns'], 'copy': device['copy_ns'],
                                 **{idle['cause']: idle['ns'] for idle in device['idle']}})
        self.assertEqual(sum(parts.values()), device['busy_ns'] + device['idle_ns'])
        rows = self.table(page, 'Kernels')
        self.assertEqual([[row[0][0]] + [cell[1] for cell in row[1:5]] for row in rows],
                         [[k['name'], k['total_ns'], k['count'], k['median_ns'], k['max_ns']] for k in stats['kernels']])
        for caption, key in (('Copies', 'copies'), ('Memory sets', 'memsets'), ('Calls', 'api'), ('Waits of the host', 'syncs')):
            if stats.get(key):
                rows = self.table(page, caption)
                self.assertEqual(self.numbers(rows, 1, 2), [[item['total_ns'], item['count']] for item in stats[key][:8]], caption)
                if key == 'copies':
                    self.assertEqual(self.numbers(rows, 3), [[item['bytes']] for item in stats[key][:8]])

    @THOROUGH
    def test_span(self):
        for name in ('pipeline', 'train'):
            # Not the whole: from the second operation to the last but one.
            origin = self.server(name).get('trace')['origin_ns']
            device = sorted(row['start_ns'] - origin for row in studio.rows(studio.golden(name)) if row['type'] in harness.DEVICE_TYPES)
            begin, end = device[1], device[-2]
            page, _ = self.open(name, fragment='&span=%d..%d&tab=span' % (begin, end))
            page.wait('document.querySelector("#span-length")')
            self.assertEqual(self.values(page, '#span-length'), [end - begin])
            self.check_span(page, name, begin, end)

    def test_span_asks_again_if_the_span_changes(self):
        """Other lanes and the names of their rows change no number of the panel."""
        page, _ = self.open('pipeline', fragment='&tab=span')

        def asked():
            page.wait('document.querySelector("#panel-body .frame") && !document.querySelector("#panel-body[aria-busy], #panel-body [aria-busy]")')
            time.sleep(0.5)  # the panels ask a quarter of a second after the last change
            return sum('/api/flame?' in address for address in page.requests)

        self.assertEqual(asked(), 1)
        page.click('#headers [aria-expanded]')
        self.assertEqual(asked(), 1)
        page.click('#headers [aria-expanded]')
        self.assertEqual(asked(), 1)
        x, y, width, height = page.box('#canvas')
        whole, = self.values(page, '#span-length')
        page.wheel(x + width / 2, y + height / 2, -120)
        page.wait('document.querySelector("#span-length").dataset.value < %d' % whole)
        self.assertEqual(asked(), 2)

    def test_span_of_a_gap(self):
        """The operations before and after a gap have no part in it."""
        gap = self.json('gaps', 'delays', '--limit', '1')['longest'][0]
        page, server = self.open('delays')
        origin = server.get('trace')['origin_ns']
        page, _ = self.open('delays', fragment='&span=%d..%d&tab=span' % (gap['start_ns'] - origin, gap['end_ns'] - origin))
        self.assertEqual(self.table(page, 'Kernels'), [[['none', None]]])
        self.assertEqual(self.parts(page, 'GPU 0, busy and idle by cause')['compute'], 0)

    # ---- gaps, memory, path

    @THOROUGH
    def test_gaps(self):
        """Sums by cause, and the parts of each explained gap."""
        for name in ('pipeline', 'delays'):
            page, server = self.open(name)
            self.tab(page, 'gaps')
            answer = self.json('gaps', name)
            self.table(page, 'The longest gaps')
            self.assertEqual(self.parts(page, 'Gaps by cause'), sums(answer['parts'], 'cause'))
            for gap in answer['longest'][:3]:
                page.click('#panel-body tr[data-op="%d"] .link' % gap['op_id'])
                page.wait('document.querySelector("[data-gap=\\"%d\\"]")' % gap['op_id'])
                one = self.json('gaps', name, '--op', str(gap['op_id']))['longest'][0]
                self.assertEqual(self.values(page, '#gap tr[data-cause] .num'), [part['ns'] for part in one['parts']][:12])
                self.assertEqual(sum(part['ns'] for part in one['parts']), gap['end_ns'] - gap['start_ns'])

    @THOROUGH
    def test_gaps_that_were_not_explained(self):
        """Their number and sum are beside the causes; an answer of a trace with millions of gaps has them."""
        server = self.server('pipeline')
        page = self.page(server, '''
            const own = window.fetch;
            window.fetch = async (path, options) => {
                const answer = await own(path, options);
                if (path !== '/api/ask' || !options.body.includes('"gaps"'))
                    return answer;
                return new Response(JSON.stringify({...await answer.json(), not_looked_at: 12, not_looked_at_ns: 3456}));
            };''')
        page.goto(server.address + '&tab=gaps')
        page.wait_text('#not-explained', 'too many')
        self.assertEqual(self.values(page, '#not-explained .num'), [12, 3456])

    @THOROUGH
    def test_memory_at_the_cursor(self):
        """Who holds each byte at the cursor, and what was never freed."""
        page, server = self.open('train')
        self.tab(page, 'memory')
        answer = self.json('memory', 'train')
        rows = self.table(page, 'Never freed')
        self.assertEqual(self.numbers(rows, 1, 3), [[site['total_bytes'], site['count']] for site in answer['never_freed_sites']])
        peak = answer['peak_ns'] - server.get('trace')['origin_ns']
        page.click('#panel-body .lead .link')
        state = self.json('state', 'train', '--at', str(peak))
        page.wait('document.querySelector("#memory-held table")')
        self.assertEqual(self.values(page, '#memory-held p .num'), [state['allocated_bytes'], len(state['allocations'])])
        self.assertEqual([row[0][1] for row in self.table(page, 'Largest allocations at the cursor')],
                         sorted((allocation['bytes'] for allocation in state['allocations']), reverse=True)[:30])
        # Each has the whole stack of the call that allocated it.
        stacks = {row['op_id']: row['stack'] for row in studio.rows(studio.golden('train'), '--stacks') if row['type'] == 'api' and row.get('stack')}
        held = sorted(state['allocations'], key=lambda allocation: -allocation['bytes'])
        self.assertEqual(page.run('document.querySelectorAll("#memory-held tbody details").length'), len(held[:30]))
        page.click('#memory-held tbody summary')
        names = self.frames(page, '#memory-held tbody tr')
        wanted = [symbol['function'] for symbol in stacks[held[0]['op_id']]['symbols'] if 'function' in symbol]
        self.assertTrue(wanted)
        for function in wanted:
            self.assertTrue([name for name in names if name.startswith(function)], (function, names))

    @THOROUGH
    def test_several_processes(self):
        """Processes that number streams and operations alike: state, gaps and links are those of the right one."""
        path = self.path('merged.sbt')
        self.assertEqual(harness.tsctl('merge', '-o', path, studio.golden('pipeline'), studio.golden('pipeline-longer')).status, 0)
        page, server = self.open(path, size=(1280, 1600))
        origin, lanes = server.get('trace')['origin_ns'], server.get('trace')['lanes']
        streams = {(lane['session'], lane['stream']): lane['id'] for lane in lanes if lane['kind'] == 'stream'}
        # One process alone, by its button and by a key, and all again.
        def shown():
            page.wait(IDLE)
            return page.run('[...document.querySelectorAll(".header.kind-stream")].map(e => +e.dataset.lane)')
        for session in (1, 2):
            process = next(lane['id'] for lane in lanes if lane['kind'] == 'process' and lane['session'] == session)
            own = {lane for (of, _), lane in streams.items() if of == session}
            page.mouse('mouseMoved', *page.center('.header[data-lane="%d"] .fold' % process))
            for kind in ('mousePressed', 'mouseReleased'):
                page.mouse(kind, *page.center('.header[data-lane="%d"] .fold' % process), button='left', clickCount=1,
                           modifiers=chromium.MODIFIERS['Shift'])
            self.assertEqual(set(shown()), own)
            page.click('.header[data-lane="%d"] .lane-name' % process)
            page.key('o')
            self.assertEqual(set(shown()), set(streams.values()))
            page.key('o')
            self.assertEqual(set(shown()), own)
            page.key('o')
            self.assertEqual(set(shown()), set(streams.values()))
        for session in (1, 2):
            rows = [row for row in studio.rows(path, '--type', 'memcpy') if row['session'] == session]
            row = rows[len(rows) // 2]
            at = (row['start_ns'] + row['end_ns']) // 2
            answer = json.loads(harness.tsctl('state', '--json', '--at', '%dns' % (at - origin), path).out)
            self.go_to_time(page, '%dns' % (at - origin))
            page.wait('(e => e && +e.dataset.value === %d)(document.querySelector("#panel-body .lead .num"))' % at)
            busy = page.run('[...document.querySelectorAll("#panel-body tr[data-lane]")].filter(r => r.cells[1].innerText !== "idle").map(r => +r.dataset.lane)')
            self.assertEqual(set(busy), {streams[stream['session'], stream['stream']] for stream in answer['streams']})
            self.assertIn(streams[session, row['stream']], busy)
            devices = [cells[0][0] for cells in self.table(page, 'Devices')]
            self.assertEqual(len(set(devices)), 2, devices)
        self.tab(page, 'memory')
        answer = json.loads(harness.tsctl('memory', '--json', path).out)
        names = {lane['session']: lane['name'] for lane in lanes if lane['kind'] == 'process'}
        self.assertEqual([row[0][0].rsplit(', ', 1)[1] for row in self.table(page, 'Who held the memory at the peak')],
                         [names[site['session']] for site in answer['peak_sites']])
        self.tab(page, 'gaps')
        listed = json.loads(harness.tsctl('gaps', '--json', '--limit', '40', path).out)['longest']
        for session in (1, 2):
            gap = [gap for gap in listed if gap['session'] == session][-1]
            self.tab(page, 'gaps')
            page.wait('document.querySelector("#panel-body tr[data-op]")')
            page.click('#panel-body tr[data-op="%d"][data-session="%d"] .link' % (gap['op_id'], session))
            page.wait('(e => e && +e.dataset.value === %d)(document.querySelector("#gap h2 .num"))' % (gap['end_ns'] - gap['start_ns']))
            page.run('[...document.querySelectorAll("#gap .link")].find(b => b.title === "Show the operation").click()')
            page.wait('(f => f && +f.dataset.value === %d)([...document.querySelectorAll("#panel-body .facts .num")].find(e => e.dataset.kind === "at"))' %
                      gap['end_ns'])

    def lines(self, name, *options):
        return [json.loads(line) for line in harness.tsctl('graph', '--json', *options, studio.golden(name)).out.splitlines()]

    @THOROUGH
    def test_critical_path(self):
        for name in ('pipeline', 'train'):
            page, server = self.open(name)
            self.tab(page, 'path')
            lines = self.lines(name, '--critical-path')
            steps = [line for line in lines if line['type'] == 'step']
            parts = next(line for line in lines if line['type'] == 'summary')['parts']
            page.wait('document.querySelector("#panel-body .lead .num")')
            self.assertEqual(self.values(page, '#panel-body .lead .num'), [len(steps), sum(part['ns'] for part in parts)])
            self.assertEqual(self.parts(page, 'The critical path by part'), {part['part']: part['ns'] for part in parts})
            rows = self.table(page, 'Its longest steps')
            self.assertEqual([row[0][1] for row in rows], sorted((step['end_ns'] - step['start_ns'] for step in steps), reverse=True)[:40])
            # The time between two calls is named by the call that comes after it.
            for row in rows:
                self.assertEqual(row[3][0].startswith('before '), row[2][0] in ('host', 'wait'), row)
            self.assertTrue([row for row in rows if row[2][0] == 'host'])

    @THOROUGH
    def test_slack(self):
        """In a table, least first, and in the selection; each trace has its own."""
        page, _ = self.open('pipeline', 'pipeline-longer')
        for side, name in enumerate(('pipeline', 'pipeline-longer')):
            page.click('#sides button:nth-of-type(%d)' % (side + 1))
            self.tab(page, 'path')
            nodes = [line for line in self.lines(name) if line['type'] == 'node' and line['kind'] == 'operation']
            rows = self.table(page, 'Slack of operations, least first')
            self.assertEqual(sorted([row[1][1], row[3][1]] for row in rows),
                             sorted([node.get('slack_ns', 0), node['end_ns'] - node['start_ns']] for node in nodes)[:200])
            self.assertEqual([row[1][1] for row in rows], sorted(row[1][1] for row in rows))
            node = next(node for node in nodes if node.get('slack_ns'))
            page.click('#panel-body tr[data-op="%d"] .link' % node['op_id'])
            page.wait_text('#panel-body .facts', 'Slack')
            facts = self.facts(page)
            self.assertEqual((facts['Operation'][1], facts['Slack'][1]), (node['op_id'], node['slack_ns']))

    @THOROUGH
    def test_slack_of_a_session(self):
        """To the latest end of all processes, and to that of one; the second trace has processes of its own."""
        path = self.path('merged.sbt')
        self.assertEqual(harness.tsctl('merge', '-o', path, studio.golden('pipeline'), studio.golden('pipeline-longer')).status, 0)
        for names, side in (((path,), 0), (('train', path), 1)):
            page, server = self.open(*names)
            if side:
                page.click('#sides button:nth-of-type(2)')
            self.tab(page, 'path')
            answers = {}
            for session in (None, 1, 2):
                body = {'question': 'graph', 'options': {}, 'trace': side, **({'session': session} if session else {})}
                lines = map(json.loads, server.ask('/api/ask', 'POST', body).body.splitlines())
                answers[session] = sorted([line.get('slack_ns', 0), line['end_ns'] - line['start_ns']] for line in lines
                                          if line['type'] == 'node' and line['kind'] == 'operation')[:200]
            self.assertEqual(len({json.dumps(answer) for answer in answers.values()}), 3)
            for session in (None, 2, 1):
                page.run('(e => { e.value = %s; e.dispatchEvent(new Event("change")); })(document.querySelector("#path-session"))' %
                         json.dumps(str(session or '')))
                page.wait('!document.querySelector("#panel-body [aria-busy]")')
                rows = self.table(page, 'Slack of operations, least first')
                self.assertEqual(sorted([row[1][1], row[3][1]] for row in rows), answers[session])

    # ---- errors, two traces

    @THOROUGH
    def test_errors_and_losses(self):
        for name in ('failing', 'pipeline'):
            page, _ = self.open(name)
            self.tab(page, 'errors')
            info = self.json('info', name)
            self.assertEqual({row[0][0].replace(' ', '_').replace('/', '').lower(): row[1][1] for row in self.table(page, 'Rows by type')},
                             {kind: count for kind, count in info['counts'].items() if count})
            self.assertEqual(self.numbers(self.table(page, 'Devices'), 2, 3), [[d['multiprocessors'], d['memory_bytes']] for d in info['devices']])
            self.assertEqual([row[2][1] for row in self.table(page, 'Sessions')], [session['threads'] for session in info['sessions']])
            self.assertEqual(page.run('[...document.querySelectorAll("[data-error]")].map(e => e.dataset.error)'),
                             [error['error'] for error in info.get('errors', [])])
            facts = self.facts(page)
            self.assertEqual((facts['Size'][1], facts['Duration'][1]), (info['bytes'], info['duration_ns']))

    @THOROUGH
    def test_two_traces(self):
        """Totals and names of `tsctl diff`, and lanes of both; a slower operation aligns them."""
        names = ('pipeline', 'pipeline-longer')
        page, server = self.open(*names, size=(1280, 3000))
        self.tab(page, 'compare')
        answer = json.loads(harness.tsctl('diff', '--json', *map(studio.golden, names)).out)
        self.assertEqual(self.numbers(self.table(page, 'Totals'), 1, 2), [
            [answer[side][key] for side in ('before', 'after')] for key in ('operations', 'operations_ns', 'busy_ns', 'span_ns')])
        rows = self.table(page, 'Names')
        verdicts = page.run('[...document.querySelectorAll("#panel-body [data-verdict]")].map(e => e.dataset.verdict)')
        self.assertEqual([[verdict, row[2][1], row[3][1]] for verdict, row in zip(verdicts, rows)], [
            [name['verdict'], name.get('before', {}).get('total_ns'), name.get('after', {}).get('total_ns')] for name in answer['names'][:30]])
        self.assertIsNone(page.box('#host-clock'))
        shown = page.texts('.header .lane-name')
        lanes = server.get('trace')['lanes']
        self.assertTrue([lane for lane in lanes if lane['trace']])
        for lane in lanes:
            if not lane.get('folded'):
                self.assertIn(lane['name'], ' '.join(shown))

    def test_times_of_the_host(self):
        """If nothing can be proven, the page does not call a kernel that took longer the same."""
        paths = [self.path(name + '.sbt') for name in ('before', 'after')]
        for path, n in zip(paths, (1, 3)):
            program = harness.DRIVER_PROGRAM + '''
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20))
for _ in range(8):
    assert not cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(%d))
''' % (300000 * n)
            self.record_program(path, 'h200,clock=host', program)
        page, _ = self.open(*paths)
        self.tab(page, 'compare')
        page.wait_text('#host-clock', 'vary from run to run')
        answer = json.loads(harness.tsctl('diff', '--json', *paths).out)
        self.assertTrue(answer['host_clock'])
        for name, row in zip(answer['names'], self.table(page, 'Names')):
            self.assertNotIn(row[0][0], ('same', 'few'))
            if name.get('before', {}).get('total_ns') and name.get('after', {}).get('total_ns'):
                before, after = name['before']['total_ns'], name['after']['total_ns']
                self.assertEqual(row[4][0].replace('\u2212', '-'), '%+.1f %%' % (100 * (after / before - 1)), name)

    def test_how_it_ended(self):
        """The first panel names the signal that ended a process, and the reason why a trace is empty."""
        path = self.path('died.sbt')
        program = harness.DRIVER_PROGRAM + """
import os
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
assert not cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(1024))
os.kill(os.getpid(), 9)
"""
        self.record_program(path, 'small', program, 128 + 9)
        session, = json.loads(harness.tsctl('info', '--json', path).out)['sessions']
        page, _ = self.open(path)
        page.wait('document.querySelector("#verdict")')
        self.assertIn('%s (process %d): %s' % (session['program'], session['pid'], session['end_reason']), page.texts('#panel-body .bad'))
        self.assertIn('SIGKILL', session['end_reason'])
        self.tab(page, 'errors')
        self.assertEqual([row[1][0] for row in self.table(page, 'Sessions')], [session['end_reason']])
        path = self.path('empty.sbt')
        self.record_program(path, 'small', '')
        page, _ = self.open(path)
        self.assertEqual(page.wait_text('#panel-body .bad', 'CUDA'), 'No GPU operation was recorded: ' +
                         json.loads(harness.tsctl('info', '--json', path).out)['empty_reason'])

    def test_missing_rows(self):
        """The first panel of a file that is cut off or damaged says so, and no panel that nothing was lost."""
        with open(studio.golden('pipeline'), 'rb') as file:
            whole = file.read()
        page, _ = self.open('pipeline')
        page.wait('document.querySelector("#verdict")')
        self.assertEqual(page.texts('#panel-body .bad'), [])
        damaged = set()
        # `tsctl info` reads the rows of one damaged block, and does not need those of the other.
        for name, part, words in (('cut', 0.75, 'cut off'), ('damaged', 0.23, 'could not be read'), ('calls', 0.41, 'could not be read')):
            at = int(len(whole) * part)
            path = self.path(name + '.sbt')
            with open(path, 'wb') as file:
                file.write(whole[:at] if name == 'cut' else whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1:])
            page, _ = self.open(path)
            page.wait('document.querySelector("#verdict")')
            self.assertTrue([text for text in page.texts('#panel-body .bad') if words in text], name)
            if name == 'cut':
                page.wait('document.querySelector("#tab-errors .badge")')
                self.tab(page, 'errors')
                self.assertTrue(page.wait_text('#panel-body .bad', ' '))
                self.assertNotIn('Nothing was lost', page.text('#panel-body'))
            for command, tab in (('gaps', 'gaps'), ('memory', 'memory')):
                self.tab(page, tab)
                page.wait('document.querySelector("#panel-body .lead, #panel-body table")')
                answer = json.loads(harness.tsctl(command, '--json', path).out)
                self.assertEqual(page.box('#panel-body .damage') is not None, answer.get('damaged', False), (name, command))
                damaged.add(answer.get('damaged', False))
        self.assertEqual(damaged, {False, True})

    @THOROUGH
    def test_summary_of_devices(self):
        for name in ('pipeline', 'train', 'failing'):
            page, _ = self.open(name)
            answer = self.json('analyze', name)
            self.table(page, 'Kernels with the most time')
            for device in answer['devices']:
                self.assertEqual(self.parts(page, 'Time of GPU %d' % device['device']), {
                    'compute': device['compute_ns'] - device['overlap_ns'], 'copy': device['copy_ns'],
                    **{idle['cause']: idle['ns'] for idle in device.get('idle', [])}})
            cards = page.run('[...document.querySelectorAll("[data-finding]")].map(e => [...e.querySelectorAll(":scope > .num")].map(n => +n.dataset.value))')
            self.assertEqual(cards, [[finding['count'], finding['ns']] for finding in answer['findings']])

    # ---- arrows

    def drawn(self, page, server, arrows, before):
        """Whether pixels at both ends of each arrow changed."""
        page.wait(IDLE)
        places = [self.place(page, server, arrow[side + '_lane'], arrow[side + '_ns']) for arrow in arrows for side in ('from', 'to')]
        # The stroke begins at the one end, and the head lies before the other.
        places = [(x + 3, y) if i % 2 == 0 else (x - 5, y) for i, (x, y) in enumerate(places)]
        return self.changed(page, before, places)

    def test_arrows(self):
        """From a launch to its kernel, and from an event to the operation that waited for it: asked for, drawn, and gone again."""
        path = studio.golden('pipeline')
        rows = studio.rows(path)
        with self.subTest('the view'):
            page, server = self.open('pipeline')
            origin = server.get('trace')['origin_ns']
            trace = server.get('trace')
            every = server.get('arrows?from=0&to=%d' % trace['duration_ns'])['arrows']
            kinds = {arrow['kind'] for arrow in every}
            self.assertLessEqual({'launch', 'event'}, kinds, kinds)
            launches = [arrow for arrow in every if arrow['kind'] == 'launch']
            events = [arrow for arrow in every if arrow['kind'] == 'event']
            # Each end is that of a row: a launch begins in its call, an event at an end of an operation.
            device = {row['op_id']: row for row in rows if row['type'] in harness.DEVICE_TYPES}
            calls = {row['op_id']: row for row in rows if row['type'] == 'api' and row.get('op_id')}
            for arrow in launches:
                call = calls[arrow['from_op']]
                self.assertTrue(call['start_ns'] <= arrow['from_ns'] + origin <= call['end_ns'], (arrow, call))
                self.assertEqual(arrow['to_ns'] + origin, device[arrow['op']]['start_ns'])
            for arrow in events:
                self.assertEqual((arrow['from_ns'] + origin, arrow['to_ns'] + origin),
                                 (device[arrow['from_op']]['end_ns'], device[arrow['op']]['start_ns']))
            arrow = max(events, key=lambda a: a['to_ns'] - a['from_ns'])
            length = max(arrow['to_ns'] - arrow['from_ns'], 1000)
            launch = max((one for one in launches if one['op'] == arrow['op']), key=lambda a: a['to_ns'], default=launches[0])
            begin = min(arrow['from_ns'], launch['from_ns'])
            self.show(page, max(0, begin - length), max(arrow['to_ns'], launch['to_ns']) + length)
            before = self.picture(page)
            page.click('#arrows')
            page.wait_text('#corner', 'arrows')
            # The pointer's own highlight is in both pictures or far away: places are ends of arrows alone.
            changed = self.drawn(page, server, [arrow, launch], before)
            self.assertTrue(all(changed), (arrow, launch, changed))
            page.click('#arrows')
            self.assertFalse(any(self.drawn(page, server, [arrow, launch], before)))

    def test_waits(self):
        """As text, too: the operations that a row waited for, and those that waited for it. The wait was queued long before the launch."""
        path = self.path('waits.sbt')
        self.record_program(path, 'h200,clock=host', WAITS)
        first, second = sorted((row for row in studio.rows(path) if row['type'] == 'memset'), key=lambda row: row['op_id'])
        calls = {row['op_id']: row for row in studio.rows(path) if row['type'] == 'api' and row.get('op_id')}
        self.assertLess(calls[first['op_id']]['end_ns'] + 15000000, calls[second['op_id']]['start_ns'])
        self.assertLess(calls[second['op_id']]['end_ns'] + 5000000, second['start_ns'])
        for row, other, words in ((second, first, 'waited for'), (first, second, 'waited for it')):
            page, _ = self.open(path, fragment='&op=%d&tab=selection' % row['op_id'])
            page.wait('document.querySelector("#panel-body tr[data-edge=event]")')
            listed = [cells for cells in self.table(page, 'Waits') if 'event' in cells[3][0]]
            self.assertEqual([[cells[0][0], cells[2][0], cells[4][1]] for cells in listed],
                             [[words, 'stream %d' % other['stream'], second['start_ns'] - first['end_ns']]])
            page.click('#panel-body tr[data-edge=event] .link')
            page.wait('new URLSearchParams(location.hash.slice(1)).get("op") === "%d"' % other['op_id'])

    # ---- slack

    def slack_lines(self, server):
        """Of each stream: (lane, end of an operation, end of the line that its slack is drawn as), the longest line first."""
        streams = [lane['id'] for lane in server.get('trace')['lanes'] if lane['kind'] == 'stream']
        found = server.get('slack?lanes=%s&from=0&to=%d&limit=65536' % (','.join(map(str, streams)), 1 << 60))['rows']
        rows = [dict(zip(found, values)) for values in zip(*found.values())]
        lines = []
        for lane in streams:
            its = sorted((row for row in rows if row['lane'] == lane), key=lambda row: row['start'])
            for row, after in zip(its, [*its[1:], None]):
                end = row['end'] + row['slack']
                lines.append((lane, row['end'], min(end, after['start']) if after else end))
        return sorted(lines, key=lambda line: line[1] - line[2])

    def test_slack_is_drawn(self):
        """A line after an operation, as long as its slack, and none behind it or after an operation without slack."""
        page, server = self.open('pipeline')
        lines = self.slack_lines(server)
        lane, start, end = lines[0]
        self.assertGreater(end, start)
        self.show(page, max(0, start - (end - start)), end + (end - start))
        before = self.picture(page)
        self.tab(page, 'path')
        self.table(page, 'Slack of operations, least first')
        page.wait(IDLE)

        def place(ns):
            x, _ = self.place(page, server, lane, ns)
            _, top, _, height = page.box('.header[data-lane="%d"]' % lane)
            return x, top + min(height, DEPTH + 6) - 4
        length = end - start
        on = self.changed(page, before, [place(start + length * part / 8) for part in (1, 4, 7)])
        self.assertTrue(all(on), (lane, start, end, on))
        # Behind the end there is no line, unless another operation's begins there.
        behind = end + length // 4
        if not any(other == lane and a <= behind <= b for other, a, b in lines):
            self.assertEqual(self.changed(page, before, [place(behind)]), [0])


if __name__ == '__main__':
    harness.main()
