#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs say of themselves comes back: ranges as they nested, across threads, domains, processes and their ends.

`annotates` writes a line for each thing that it said, in the order in which its thread came to it.
"""
import collections
import glob
import json
import os
import unittest

import harness

FORMS = ('driver', 'nvtx')  # NVTX by the project's own declarations, and by NVIDIA's headers
DOMAINS = {'-': None, 'library': 'library', 'bücher': 'bücher'}
RECORD = ('-q', '--lossless')
MOST_DEEP, MOST_DOMAINS = 65536, 4096

Said = collections.namedtuple('Said', 'what tid key domain level')


def payload_of(key):
    """As annotates.c's attributes_of() has it: the field of the row and its value."""
    return [(None, None), ('payload_u64', 2 ** 64 - 1 - key), ('payload_i64', -2 ** 63 + key), ('payload_f64', key + 0.25),
            ('payload_u64', 2 ** 32 - 1 - key), ('payload_i64', -key), ('payload_f64', key / 2)][key % 7]


class Annotations(harness.Case):
    def setUp(self):
        super().setUp()
        self.said_path = self.path('said')

    def annotates(self, form, *arguments, options=RECORD, status=0, **env):
        """Recorded; returns the trace."""
        argv = [harness.app('annotates', form)] + [str(argument) for argument in arguments]
        result, path = self.record(argv, *options, TS_SAID=self.said_path, **env)
        self.assertEqual((result.status, result.out, result.err), (status, '', ''))
        return self.finished_trace(path)

    def said(self):
        """Its lines: those of events, and the others as they are."""
        events, others = [], []
        with open(self.said_path, encoding='utf-8') as stream:
            for line in stream.read().splitlines():
                words = line.split()
                if len(words) == 5:
                    events.append(Said(words[0], int(words[1]), int(words[2]), DOMAINS[words[3]], int(words[4])))
                else:
                    others.append(line)
        return events, others

    def check_row(self, row, begun):
        """The row says what was said when it began."""
        self.assertEqual(row['name'], 'text € %d' % (begun.key % 50))
        self.assertEqual(row.get('domain'), begun.domain)
        self.assertEqual(row['tid'], begun.tid)
        self.assertEqual(row.get('color'), 0xff000000 | begun.key if begun.key % 2 else None)
        if begun.what != 'mark':
            self.assertEqual(row['action'], begun.what)
        if begun.what == 'push':
            self.assertEqual(row['level'], begun.level)
        field, value = payload_of(begun.key)
        for each in ('payload_u64', 'payload_i64', 'payload_f64'):
            self.assertEqual(row.get(each), value if each == field else None, row)

    def check_nesting(self, trace, session=None):
        """Every range and mark, exactly as it was said; what a thread did comes in the order in which it did it."""
        events, _ = self.said()
        rows, times = {}, collections.defaultdict(list)
        for row in trace.of('range', 'range_begin', 'mark'):
            if session is None or row['session'] == session:
                self.assertFalse(row['category'] in rows, row)
                rows[row['category']] = row
        begun = {event.key: event for event in events if event.what in ('push', 'start', 'mark')}
        ended = {event.key: event for event in events if event.what in ('pop', 'end')}
        self.assertEqual(set(rows), set(begun))
        for key, event in begun.items():
            self.check_row(rows[key], event)
            kind = 'mark' if event.what == 'mark' else 'range' if key in ended else 'range_begin'
            self.assertEqual(rows[key]['type'], kind)
            if kind == 'range':
                self.assertEqual(rows[key]['end_tid'], ended[key].tid)
                self.assertEqual(ended[key].level, event.level if event.what == 'push' else 0)
        for event in events:
            end = event.what in ('pop', 'end')
            times[event.tid].append(rows[event.key]['end_ns' if end else 'start_ns'])
        for tid, list_ns in times.items():
            for before, after in zip(list_ns, list_ns[1:]):
                self.assertLessEqual(before, after + self.slack_ns(trace), 'thread %d' % tid)

    @staticmethod
    def slack_ns(trace):
        """Times are exact to the clock's error, and a tick may have been converted twice."""
        return 4 * trace.info.get('clock_error_ns', 0)

    def check_nest(self, form):
        trace = self.annotates(form, 'nest', 11, 6, 2000)
        self.assertEqual(trace.lost, {})
        self.check_sound(trace)
        self.check_nesting(trace)
        self.assertGreater(trace.counts['range'], 3000)
        self.assertEqual(trace.counts['range'], trace.counts['range_begin'])
        sums = json.loads(harness.tsctl('view', '--stats', '--json', trace.path).out)['ranges']
        self.assertEqual(sum(each['count'] for each in sums), trace.counts['range'])
        # Names that differ in numbers alone are one.
        self.assertEqual({each['name'] for each in sums if each.get('numbered')}, {'text € N', 'library: text € N', 'bücher: text € N'})

    def check_open(self, form, killed):
        trace = self.annotates(form, 'open', *(['kill'] if killed else []), status=137 if killed else 0)
        self.assertEqual(trace.lost, {})
        self.check_nesting(trace)
        self.assertEqual(sorted(row['category'] for row in trace.of('range_begin')), [1, 2, 3])
        shown = harness.tsctl('view', trace.path).out
        self.assertEqual(shown.count('(open)'), 3, shown)
        # Asked for by name, every beginning is there.
        rows = harness.tsctl('view', '--json', '--type', 'range_begin', trace.path).out.splitlines()
        self.assertEqual(len(rows), 4)
        rows = [json.loads(row) for row in harness.tsctl('view', '--json', '--type', 'range', trace.path).out.splitlines()]
        self.assertEqual(sorted(row['type'] for row in rows), ['range'] + ['range_begin'] * 3)

    def check_gpu(self, form):
        """The first range begins before the driver is initialised: one session has both, and launches lie in their ranges."""
        trace = self.annotates(form, 'gpu', options=('-q', '--vgpu'))
        self.assertEqual(len(trace.info['sessions']), 1)
        self.assertEqual(trace.lost, {})
        self.check_nesting(trace)
        self.check_launches(trace, self.truth())
        self.check_joined(trace)
        inner = [row for row in trace.of('range') if 'domain' not in row]
        launches = [row for row in trace.of('api') if row['name'] == 'cuLaunchKernel']
        self.assertEqual((len(inner), len(launches)), (10, 10))
        for around, launch in zip(inner, launches):
            self.assertEqual(around['tid'], launch['tid'])
            self.assertLessEqual(around['start_ns'], launch['start_ns'] + self.slack_ns(trace))
            self.assertLessEqual(launch['end_ns'], around['end_ns'] + self.slack_ns(trace))
        self.assertEqual({row.get('stream_name') for row in trace.of('kernel')}, {'the only stream'})

    def test_switch(self):
        """The application's own switch: of what was called, exactly the part that is to be seen; nothing of the rest is a loss."""
        trace = self.annotates('driver', 'switch', 20, options=('-q', '--vgpu'))
        self.assertEqual(trace.lost, {})
        self.assertEqual(len(trace.of('kernel')), 20 * 10 + 1)
        self.assertEqual(len([row for row in trace.of('api') if row['name'] == 'cuLaunchKernel']), 20 * 10 + 1)
        self.check_joined(trace)
        self.assertEqual([row['name'] for row in trace.of('range', 'range_begin')], ['seen'] * 20)
        pauses = trace.of('pause')
        self.assertEqual([row['paused'] for row in pauses], [True, False] * 20)
        self.assertEqual({row['cause'] for row in pauses}, {'application'})

    def check_fork(self, form):
        """A child goes on with its parent's domains and strings, in a session of its own; the parent's range is the parent's."""
        trace = self.annotates(form, 'fork')
        self.assertEqual(trace.lost, {})
        sessions = {session['pid']: session['session'] for session in trace.info['sessions']}
        self.assertEqual(len(sessions), 2)
        rows = [(row['session'], row['category'], row['domain'], row['level']) for row in trace.of('range')]
        self.assertEqual(trace.of('range_begin'), [])
        # Which of the two the daemon hears of first is open.
        self.assertEqual(sorted(row[0] for row in rows), sorted(sessions.values()))
        self.assertEqual(sorted(row[1:] for row in rows), [(1, 'library', 0), (2, 'library', 0)])
        events, _ = self.said()
        self.assertEqual([event.level for event in events], [0, 0, 0, 0, 0])

    def check_bad(self, form):
        trace = self.annotates(form, 'bad')
        self.assertEqual(trace.lost, {'bad_annotation': 11, 'text_cut': 3})
        _, others = self.said()
        self.assertEqual(others, ['pop -1', 'push 0', 'pop 0', 'pop -1', 'pop -1', 'same 1', 'registered 1', 'registered 1'])
        marks = trace.of('mark')
        self.assertEqual(len(marks), 14)
        named = [row.get('name') for row in marks]
        self.assertEqual(named[:4], [None, None, 'l' * 4096, '€' * 1365])
        self.assertEqual(named[4:10], [None] * 6)
        self.assertEqual(named[10:], ['with another\'s payload'] * 3 + ['the end'])
        self.assertEqual([row.get('domain') for row in marks[10:]], [None, None, 'short-lived', None])
        self.assertFalse([row for row in marks if 'payload' in row])

    def check_names(self, form):
        trace = self.annotates(form, 'names')
        self.assertEqual(trace.lost, {})
        found = [(row['thread_name'], row['name'], row.get('domain'), row.get('category_name')) for row in trace.of('mark')]
        self.assertEqual(found, [('first thread', 'categorised', None, 'five'),
                                 ('first thread', 'categorised', 'library', 'the library\'s five'),
                                 ('first thread', 'categorised', 'bücher', None),
                                 ('second thread', 'of the second', None, None)])
        shown = harness.tsctl('view', trace.path).out
        self.assertIn('library: categorised [the library\'s five]', shown)
        self.assertIn('second thr', shown)

    def test_many_texts(self):
        """Each of them is known; of domains there are so many and no more."""
        trace = self.annotates('driver', 'texts', 100000)
        self.assertEqual(trace.lost, {'bad_annotation': 2 + 5000 - MOST_DOMAINS})
        self.assertEqual(trace.counts['range'], 100000)
        self.assertEqual(len({row['name'] for row in trace.of('range')}), 100000)

    def test_deep(self):
        trace = self.annotates('driver', 'deep', 70000)
        self.assertEqual(trace.lost, {'bad_annotation': 70000 - MOST_DEEP + 1})
        self.assertEqual(self.said()[1], ['wrong 0', 'pop -1'])
        self.assertEqual(trace.counts['range'], MOST_DEEP)
        self.assertEqual(max(row['level'] for row in trace.of('range')), 65535)

    def test_preloaded_alone(self):
        """A file of its own, at the first mark; who only makes domains and registers strings has none."""
        app = harness.app('annotates', 'driver')
        result, traces = self.preload([app, 'names'], None)
        self.assertEqual((result.status, result.out, result.err), (0, '', ''))
        self.assertEqual(len(traces), 1)
        self.assertEqual(len(self.finished_trace(traces[0]).of('mark')), 4)
        os.unlink(traces[0])
        result, traces = self.preload([app, 'texts', '0'], None)
        self.assertEqual((result.status, traces), (0, []))

    def test_another_tool(self):
        """Whose NVTX is another tool's: nothing of it is recorded, and the trace says why."""
        trace = self.annotates('driver', 'gpu', options=('-q', '--vgpu'), NVTX_INJECTION64_PATH='/nowhere/other.so')
        self.assertEqual(trace.of('range', 'range_begin'), [])
        marks = [row['name'] for row in trace.of('mark') if row.get('domain') == 'tracesmith']
        self.assertEqual(marks, ['NVTX_INJECTION64_PATH is /nowhere/other.so: that tool receives the NVTX ranges'])

    def test_untraced(self):
        """Without us the same program says the same, but for what NVTX returns where nobody follows."""
        for app in ('annotates-driver', 'annotates-nvtx'):
            if os.path.exists(os.path.join(harness.APPS, app)):
                result = harness.run([harness.app(app), 'nest', '3', '2', '100'],
                                     harness.environment(TS_SAID=self.said_path), cwd=self.folder)
                self.assertEqual((result.status, result.out, result.err), (0, '', ''))
        for event in self.said()[0]:
            self.assertEqual(event.level, -2 if event.what in ('push', 'pop') else 0)

    def check_says(self, name):
        """tracesmith/annotate.h: what was said while it was stopped is not there, and nothing else is missing."""
        result, path = self.record([harness.app(name)], '-q')
        self.assertEqual((result.status, result.out, result.err), (0, '', ''))
        trace = self.finished_trace(path)
        self.assertEqual(trace.lost, {})
        rows = [(row['type'], row['name'], row.get('action')) for row in trace.rows if row.get('domain') == 'says']
        self.assertEqual(rows, [('range', 'crossing', 'start'), ('range', 'outer', 'push'), ('counter', 'loss', None),
                                ('counter', 'tokens', None), ('range', 'scope', 'push'), ('mark', 'inside', None)])
        crossing, outer, loss, tokens, scope, inside = [row for row in trace.rows if row.get('domain') == 'says']
        self.assertNotEqual(crossing['tid'], crossing['end_tid'])
        self.assertEqual((loss['value'], loss.get('integer')), (0.125, None))
        self.assertEqual((tokens['integer'], tokens['value']), (2 ** 63 - 1, 2.0 ** 63))
        order = [outer['start_ns'], loss['start_ns'], tokens['start_ns'], outer['end_ns'], scope['start_ns'], inside['start_ns'],
                 scope['end_ns'], crossing['end_ns']]
        for before, after in zip(order, order[1:]):
            self.assertLessEqual(before, after + self.slack_ns(trace))
        # And alone it runs as it did.
        result = harness.run([harness.app(name)], cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err), (0, '', ''))

    def test_says_in_c(self):
        self.check_says('says')

    def test_says_in_cxx(self):
        self.check_says('says-cxx')


def add(name, check, *arguments):
    setattr(Annotations, 'test_' + name, lambda self: check(self, *arguments))


for each in FORMS:
    for what in ('nest', 'gpu', 'fork', 'bad', 'names'):
        add('%s_%s' % (what, each), getattr(Annotations, 'check_' + what), each)
    add('open_' + each, Annotations.check_open, each, False)
    add('killed_' + each, Annotations.check_open, each, True)


if __name__ == '__main__':
    harness.main()
