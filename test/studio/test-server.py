#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers of Studio's server that no command of tsctl prints as they are: lanes of the trace, slack, rows of a long one, emulations, sessions that are recorded."""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import studio

studio.skip_if_absent()
import harness  # noqa: E402
import hostile_names  # noqa: E402

WRITER = os.path.join(harness.BUILD, 'test', 'bench', 'bench-large')
THREAD_KINDS = ('thread', 'ranges', 'kernel_events', 'host_samples')


def written(case, body):
    """A trace that the Python writer `writer` makes."""
    if harness.SANITIZER:
        case.skipTest('Python does not load libraries of a sanitizer')
    path = case.path('written.sbt')
    program = 'import sys, tracesmith\nwith tracesmith.SBTWriter(sys.argv[1]) as writer:' + body
    result = harness.run([sys.executable, '-c', program, path], env=hostile_names.python_environment())
    case.assertEqual(result.status, 0, result)
    return path


class Lanes(harness.Case):
    def test_threads_have_the_number_of_the_kernel(self):
        for name in ('pipeline', 'delays'):
            tids = {row['tid'] for row in studio.rows(studio.golden(name)) if row['type'] == 'api'}
            with studio.Server(studio.golden(name)) as server:
                lanes = server.get('trace')['lanes']
            self.assertTrue(tids <= {lane['tid'] for lane in lanes if lane['kind'] == 'thread'})
            for lane in lanes:
                self.assertEqual('tid' in lane, lane['kind'] in THREAD_KINDS, lane)
                if lane['kind'] == 'thread':
                    self.assertIn('(thread %d)' % lane['tid'], lane['name'])

    def test_own_counters_are_folded(self):
        with studio.Server(studio.golden('capture')) as server:
            lanes = server.get('trace')['lanes']
        folded = {lane['name'] for lane in lanes if lane.get('folded')}
        self.assertTrue(folded)
        self.assertEqual(folded, {lane['name'] for lane in lanes if lane['kind'] == 'counter' and lane['name'].startswith('tracesmith: ')})

    def test_each_lane_with_rows_has_an_estimate(self):
        """The page does not ask for rows of a lane without any. Summaries of a cut file are missing, so its numbers are estimates."""
        with open(studio.golden('race'), 'rb') as file:
            whole = file.read()
        found, path = 0, self.path('cut.sbt')
        for tenths in (8, 9):
            with open(path, 'wb') as file:
                file.write(whole[:len(whole) * tenths // 10])
            with studio.Server(path) as server:
                trace = server.get('trace')
                for lane in trace['lanes']:
                    rows = server.get('rows?lane=%d&from=0&to=%d' % (lane['id'], trace['duration_ns'] + 1))['start']
                    found += bool(rows)
                    self.assertTrue(lane['rows'] or not rows, (tenths, lane, len(rows)))
        self.assertGreater(found, 4)

    def test_second_origin(self):
        infos = [json.loads(harness.tsctl('info', '--json', studio.golden(name)).out) for name in ('pipeline', 'pipeline-longer')]
        origins = [min(session['start_ns'] for session in info['sessions']) for info in infos]
        with studio.Server(studio.golden('pipeline'), studio.golden('pipeline-longer')) as server:
            trace = server.get('trace')
        self.assertEqual([trace['origin_ns'], trace['second_origin_ns']], origins)
        self.assertGreater(trace['second_duration_ns'], trace['duration_ns'])


class Changed(harness.Case):
    """Files that another one replaces, or that are written, while a server has them open."""

    def copy(self, name, path):
        shutil.copyfile(studio.golden(name), path)

    def test_replaced_file(self):
        """All readers of a server have the file that it opened."""
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path, other = self.path('run.sbt'), self.path('other.sbt')
        self.assertEqual(harness.run([WRITER, 'write', path, '100000']).status, 0)
        with studio.Server(path) as server:
            self.assertNotIn('changed', server.get('trace'))
            wanted = server.question('stats')
            self.copy('pipeline', other)
            os.replace(other, path)
            self.assertIs(server.get('trace')['changed'], True)
            # Questions at once need readers of their own.
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                for answer in pool.map(lambda _: server.question('stats'), range(8)):
                    self.assertEqual(answer, wanted)
            self.assertEqual(server.get('trace')['path'], path)
            os.unlink(path)
            self.assertNotIn('changed', server.get('trace'))
            self.assertEqual(server.question('stats'), wanted)

    def test_written_file(self):
        path = self.path('run.sbt')
        self.copy('pipeline', path)
        with studio.Server(studio.golden('pipeline'), path) as server:
            self.assertNotIn('changed', server.get('trace'))
            os.truncate(path, os.path.getsize(path) // 2)
            self.assertIs(server.get('trace')['changed'], True)


class Info(harness.Case):
    def test_without_failed_calls(self):
        with studio.Server(studio.golden('failing')) as server:
            whole, part = server.question('info'), server.question('info', {'no_errors': True})
            self.assertGreater(whole.pop('failed_calls'), 0)
            self.assertTrue(whole.pop('errors'))
            self.assertEqual(part.pop('errors'), [])
            self.assertEqual(part, whole)


class State(harness.Case):
    def test_end_of_time(self):
        """A trace without an operation before an instant: the search for one ends, however far the origin is."""
        path = written(self, """
    session = writer.session(pid=1, program='wide', start_ns=1)
    for start in (1, 2 ** 64 - 10):
        session.emit('api', start_ns=start, end_ns=start + 5, op_id=start % 7 + 1, thread=1, domain=1, cbid=5)
""")
        with studio.Server(path) as server:
            answer = server.ask('/api/ask', 'POST', {'question': 'state', 'options': {'at': {'ns': 2 ** 64 - 8}}}, limit_s=20)
            self.assertEqual((answer.status, 'before' in answer.json()), (200, False))


class Licences(harness.Case):
    def test_page_lists_what_it_contains(self):
        with open(os.path.join(harness.BUILD, 'tools', 'studio', 'page', 'studio-bundle.json'), encoding='utf-8') as file:
            (bundle,) = json.load(file)['outputs'].values()
        # Paths are relative to the folder of the build; the page's own files are TypeScript.
        folders = {os.path.join(harness.BUILD, re.match(r'.*/d3-\w+(?=/)', path).group()) for path in bundle['inputs'] if not path.endswith('.ts')}
        self.assertEqual({os.path.basename(folder) for folder in folders}, {'d3-hierarchy', 'd3-path', 'd3-shape'})
        with studio.Server(studio.golden('train')) as server:
            text = server.ask('/licences.txt').body.decode()
        for folder in folders:
            with open(os.path.join(folder, 'package.json'), encoding='utf-8') as file:
                package = json.load(file)
            self.assertIn('\n%(name)s %(version)s, %(license)s, by Mike Bostock\n' % package, text)
        self.assertRegex(text, r'Copyright [-0-9]+ Mike Bostock')
        self.assertRegex(text, 'THE SOFTWARE IS PROVIDED|THIS SOFTWARE IS PROVIDED')


class Flame(harness.Case):
    def folded(self, path, *options):
        """The sum of each path of frames, as `tsctl export --format folded` has it; without the letters that this format replaces."""
        sums = collections.Counter()
        for line in harness.tsctl('export', '--format', 'folded', *options, path).out.splitlines():
            stack, weight = line.rsplit(' ', 1)
            frames = tuple(stack.split(';'))
            for i in range(len(frames)):
                sums[frames[:i + 1]] += int(weight)
        return sums

    def sums(self, answer):
        """The same, of an answer; and the paths of its frames."""
        paths, sums = [()], collections.Counter()
        for frame in answer['frames']:
            self.assertLess(frame['parent'], len(paths))
            path = paths[frame['parent']]
            if 'left_out' not in frame:
                path += (re.sub(r'^ | $| (?=[0-9.]+$)', '_', frame['name'].replace(';', ':')),)
                paths.append(path)
            for i in range(len(path)):
                sums[path[:i + 1]] += frame['weight']
        return sums, paths[1:]

    def test_frames_are_those_of_tsctl(self):
        for name in ('train', 'pipeline'):
            path = studio.golden(name)
            with studio.Server(path) as server:
                length = server.get('trace')['duration_ns']
                for weight, unit in (('gpu-time', 'ns'), ('launches', 'count'), ('bytes', 'bytes'), ('cpu', 'ns'), ('host', 'ns')):
                    for window in ((), (length // 4, length // 2)):
                        bounds = dict(zip(('from', 'to'), map(str, window)))
                        answer = server.get('flame?weight=%s%s' % (weight, ''.join('&%s=%s' % pair for pair in bounds.items())))
                        found, paths = self.sums(answer)
                        self.assertEqual(answer['unit'], unit)
                        self.assertEqual(len(set(paths)), len(paths))
                        self.assertEqual(found, self.folded(path, '--weight', weight, *(word for pair in bounds.items() for word in ('--' + pair[0], pair[1]))))
                answer = server.get('flame')
            callers = {frame['parent'] for frame in answer['frames']}
            for number, frame in enumerate(answer['frames'], 1):
                self.assertIn(frame['kind'], ('python', 'native', 'other') if number in callers else ('operation',), frame)

    def test_many_frames(self):
        """An answer has the frames with the largest sums; the others are in the sums of their callers."""
        path = self.path('stacks.sbt')
        harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many'), path, '30000', 'stacks'])
        wanted = self.folded(path)
        self.assertGreater(len(wanted), 8000)
        with studio.Server(path) as server:
            answer = server.get('flame')
        found, paths = self.sums(answer)
        self.assertEqual(len(paths), 8000)
        self.assertEqual(found, {path: wanted[path] for path in paths})
        self.assertGreaterEqual(min(found.values()), max(weight for path, weight in wanted.items() if path not in found))
        left_out = sum(frame.get('left_out', 0) for frame in answer['frames'])
        self.assertEqual(left_out, sum(1 for path in wanted if path not in found and (path[:-1] in found or len(path) == 1)))

    def test_wrong_questions(self):
        with studio.Server(studio.golden('train')) as server:
            for question, status in (('weight=', 400), ('weight=time', 400), ('from=x', 400), ('to=-1', 400), ('trace=1', 404), ('trace=2', 400)):
                self.assertEqual(server.ask('/api/flame?' + question).status, status, question)
            self.assertEqual(server.ask('/api/flame', 'POST', {}).status, 405)
            self.assertEqual(server.get('flame?from=%d' % (1 << 62))['frames'], [])
            self.assertEqual(server.get('flame?from=0&to=0')['frames'], [])


class Slack(harness.Case):
    COLUMNS = ('kind', 'op', 'start', 'end', 'slack', 'critical')

    def nodes(self, name, *window):
        """Rows as the server lists them, of `tsctl graph --json`; and the first start and the last end."""
        result = harness.tsctl('graph', '--json', *window, studio.golden(name))
        self.assertEqual(result.status, 0, result)
        lines = [json.loads(line) for line in result.out.splitlines()]
        nodes = [line for line in lines if line['type'] == 'node']
        summary = [line for line in lines if line['type'] == 'summary'][0]
        return nodes, summary

    def check(self, name, server, trace, window=()):
        """The slack of all lanes of one window equals that of tsctl."""
        origin = trace['origin_ns']
        nodes, summary = self.nodes(name, *(text for key, ns in zip(('--from', '--to'), window) for text in (key, str(ns))))
        bounds = ''.join('&%s=%d' % pair for pair in zip(('start', 'end'), window))
        lanes = [lane['id'] for lane in trace['lanes'] if lane['kind'] in ('thread', 'stream')]
        found = server.get('slack?lanes=%s&from=0&to=%d&limit=65536%s' % (','.join(map(str, lanes)), 1 << 60, bounds))
        wanted = [(node['kind'], node['op_id'], node['start_ns'] - origin, node['end_ns'] - origin, node['slack_ns'], int(node['critical']))
                  for node in nodes]
        self.assertEqual(list(zip(*(found['rows'][key] for key in self.COLUMNS))), wanted)
        self.assertEqual((found['nodes'], found['more']), (len(nodes), False))
        if nodes:
            self.assertEqual((found['start_ns'], found['end_ns']), (summary['start_ns'] - origin, summary['end_ns'] - origin))
        by_id = {lane['id']: lane for lane in trace['lanes']}
        for node, lane in zip(nodes, found['rows']['lane']):
            key = 'stream' if node['kind'] == 'operation' else 'tid'
            self.assertEqual((by_id[lane]['kind'] == 'stream', by_id[lane][key]), (key == 'stream', node[key]))
        return nodes, found

    def test_slack_is_that_of_tsctl(self):
        for name in ('pipeline', 'train', 'race'):
            with studio.Server(studio.golden(name)) as server:
                trace = server.get('trace')
                nodes, _ = self.check(name, server, trace)
                self.assertTrue(any(node['slack_ns'] for node in nodes) and any(node['critical'] for node in nodes))
                length = trace['duration_ns']
                for window in ((length // 3, length // 2), (0, length // 4), (length // 2, length // 2), (length + 1000, length + 2000)):
                    self.check(name, server, trace, window)

    def test_parts(self):
        """Windows of rows, lanes of devices and of copies, limits."""
        with studio.Server(studio.golden('train')) as server:
            trace = server.get('trace')
            _, everything = self.check('train', server, trace)
            columns = ('lane',) + self.COLUMNS
            rows = list(zip(*(everything['rows'][key] for key in columns)))
            by_kind = {}
            for lane in trace['lanes']:
                by_kind.setdefault(lane['kind'], lane)
            device, thread = by_kind['device']['id'], by_kind['thread']['id']
            found = server.get('slack?lanes=%d,%d&from=0&to=%d&limit=65536' % (device, thread, 1 << 60))
            self.assertEqual(list(zip(*(found['rows'][key] for key in columns))), rows)
            found = server.get('slack?lanes=%d&from=0&to=%d&limit=65536' % (by_kind['compute']['id'], 1 << 60))
            kernels = {row['op_id'] for row in studio.rows(studio.golden('train')) if row['type'] == 'kernel'}
            self.assertEqual(set(found['rows']['op']), kernels)
            operations = [row for row in rows if row[1] == 'operation']
            start, end = operations[len(operations) // 3][3], operations[len(operations) * 2 // 3][3]
            found = server.get('slack?lanes=%d&from=%d&to=%d' % (device, start, end))
            wanted = [row for row in operations if row[3] < end and (row[4] > start or row[3] >= start)]
            self.assertEqual(list(zip(*(found['rows'][key] for key in columns))), wanted)
            part = server.get('slack?lanes=%d&from=%d&to=%d&limit=2' % (device, start, end))
            self.assertEqual((part['rows']['op'], part['more']), (found['rows']['op'][:2], True))
            op = wanted[0][2]
            found = server.get('slack?op=%d' % op)
            self.assertEqual(list(zip(*(found['rows'][key] for key in columns))), [row for row in rows if row[2] == op])

    def test_wrong_questions(self):
        with studio.Server(studio.golden('train')) as server:
            for question, status in (('', 400), ('lanes=&from=0&to=1', 400), ('lanes=1&from=0', 400), ('lanes=999&from=0&to=1', 404), ('op=0', 400),
                                     ('lanes=1,1000001&from=0&to=1', 400), ('op=999999999', 404), ('op=1&start=5&end=4', 400), ('op=1&trace=1', 404),
                                     ('lanes=%s&from=0&to=1' % ','.join(['1'] * 65), 400), ('lanes=1&from=0&to=1&limit=65537', 400)):
                self.assertEqual(server.ask('/api/slack?' + question).status, status, question)

    def test_second_trace(self):
        with studio.Server(studio.golden('pipeline'), studio.golden('train')) as server:
            trace = server.get('trace')
            lanes = [lane['id'] for lane in trace['lanes'] if lane['trace'] == 1 and lane['kind'] in ('thread', 'stream')]
            nodes, _ = self.nodes('train')
            found = server.get('slack?lanes=%s&from=0&to=%d&limit=65536' % (','.join(map(str, lanes)), 1 << 60))
            self.assertEqual(found['rows']['slack'], [node['slack_ns'] for node in nodes])
            self.assertTrue(set(found['rows']['lane']) <= set(lanes))
            op = nodes[-1]['op_id']
            self.assertTrue(set(server.get('slack?op=%d&trace=1' % op)['rows']['lane']) <= set(lanes))

    def test_slack_of_a_session(self):
        """To the latest end of one session; an operation's number belongs to its session."""
        path = self.path('merged.sbt')
        self.assertEqual(harness.tsctl('merge', '-o', path, studio.golden('pipeline'), studio.golden('pipeline-longer')).status, 0)
        with studio.Server(path) as server:
            trace = server.get('trace')
            owners = {lane['id']: lane['session'] for lane in trace['lanes'] if lane['kind'] in ('thread', 'stream')}
            question = 'slack?lanes=%s&from=0&to=%d&limit=65536' % (','.join(map(str, owners)), 1 << 60)
            everything, ends = server.get(question)['rows'], set()
            for session in (1, 2):
                body = {'question': 'graph', 'options': {}, 'session': session}
                lines = [json.loads(line) for line in server.ask('/api/ask', 'POST', body).body.splitlines()]
                nodes = [line for line in lines if line['type'] == 'node']
                found = server.get(question + '&session=%d' % session)
                self.assertEqual([*zip(found['rows']['op'], found['rows']['slack'])], [(node['op_id'], node['slack_ns']) for node in nodes])
                self.assertEqual({owners[lane] for lane in found['rows']['lane']}, {session})
                self.assertIn(0, found['rows']['slack'])
                ends.add(found['end_ns'])
                op = nodes[len(nodes) // 2]['op_id']
                both = server.get('slack?op=%d' % op)['rows']['lane']
                one = server.get('slack?op=%d&session=%d' % (op, session))['rows']['lane']
                self.assertEqual(({owners[lane] for lane in both}, {owners[lane] for lane in one}), ({1, 2}, {session}))
            self.assertEqual(len(ends), 2)
            self.assertEqual(len(everything['op']), sum(everything['lane'].count(lane) for lane in owners))
            self.assertEqual(server.ask('/api/' + question + '&session=0').status, 400)


class Rows(harness.Case):
    def test_operations_of_a_long_trace(self):
        """A trace of several blocks: the operation's row is found wherever it is."""
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path = self.path('large.sbt')
        self.assertEqual(harness.run([WRITER, 'write', path, '150000']).status, 0)
        with studio.Server(path) as server:
            duration = server.get('trace')['duration_ns']
            for part in range(5):
                start = duration * part // 5
                rows = studio.rows(path, '--stacks', '--from', str(start), '--to', str(start + 200000))
                kernels = [row for row in rows if row['type'] == 'kernel']
                self.assertTrue(kernels)
                for row in kernels[:3]:
                    self.assertEqual(server.get('row?op=%d' % row['op_id']), row)
                    for arrow in server.get('arrows?op=%d' % row['op_id'])['arrows']:
                        self.assertIn(row['op_id'], (arrow['from_op'], arrow['op']))
            for op in (150000 * 2, 1 << 60):
                self.assertEqual(server.ask('/api/row?op=%d' % op).status, 404)

    def test_contents(self):
        with studio.Server(studio.golden('capture')) as server:
            for path, status in (('session=1&content=999999', 404), ('session=9&content=1', 404), ('session=0&content=1', 400), ('content=1', 400),
                                 ('session=1&content=0', 400), ('session=1&content=1&trace=1', 404)):
                self.assertEqual(server.ask('/api/content?' + path).status, status, path)

    def test_operation_at_the_end_of_time(self):
        path = written(self, """
    session, end = writer.session(pid=1, program='late'), 2 ** 64 - 1
    session.emit('api', start_ns=end - 5000, end_ns=end - 4000, op_id=1, thread=1, domain=1, cbid=5)
    session.emit('kernel', start_ns=end - 3000, end_ns=end, op_id=1, device=0, context=1, stream=7, name='last')
""")
        with studio.Server(path) as server:
            self.assertEqual(server.get('row?op=1')['name'], 'last')
            self.assertEqual([arrow['kind'] for arrow in server.get('arrows?op=1')['arrows']], ['critical'])

    def test_sessions_number_their_operations(self):
        """Two sessions of one trace have operations of the same number: `session` chooses."""
        path = self.path('merged.sbt')
        self.assertEqual(harness.tsctl('merge', '-o', path, studio.golden('pipeline'), studio.golden('pipeline-longer')).status, 0)
        kernels = {}
        for row in studio.rows(path, '--stacks', '--type', 'kernel'):
            kernels.setdefault(row['op_id'], {})[row['session']] = row
        both = [(op, rows) for op, rows in kernels.items() if len(rows) == 2][:3]
        self.assertTrue(both)
        with studio.Server(path) as server:
            lanes = {lane['id']: lane['session'] for lane in server.get('trace')['lanes'] if 'session' in lane}
            for op, rows in both:
                for session, row in rows.items():
                    self.assertEqual(server.get('row?op=%d&session=%d' % (op, session)), row)
                    arrows = server.get('arrows?op=%d&session=%d' % (op, session))['arrows']
                    self.assertTrue(arrows)
                    self.assertEqual({lanes[arrow[end]] for arrow in arrows for end in ('from_lane', 'to_lane')}, {session})
                    body = {'question': 'gaps', 'options': {'op_id': op}, 'session': session}
                    gap, = server.ask('/api/ask', 'POST', body).json()['longest']
                    self.assertEqual((gap['session'], gap['end_ns']), (session, row['start_ns']))
            for path, status in (('row?op=%d&session=3' % both[0][0], 404), ('row?op=1&session=0', 400), ('arrows?op=1&session=x', 400)):
                self.assertEqual(server.ask('/api/' + path).status, status, path)
            for session in (0, -1, 1 << 40, 'x'):
                self.assertEqual(server.ask('/api/ask', 'POST', {'question': 'info', 'session': session}).status, 400, session)


class WhatIf(harness.Case):
    PART = 1 << 18

    def wanted(self, path, edit, *window):
        """Lengths and counts as `tsctl replay` prints them."""
        result = harness.tsctl('replay', '--json', '--what-if', edit, *window, path)
        self.assertEqual(result.status, 0, result)
        answer = json.loads(result.out)
        return (answer['recorded']['makespan_ns'], answer['edited']['makespan_ns'], answer['edited']['operations'], answer['edited']['calls'])

    def ask(self, server, edit, **view):
        answer = server.ask('/api/what-if', 'POST', {'edits': [edit], **view})
        self.assertEqual(answer.status, 200, answer)
        found = answer.json()
        return found, tuple(found[key] for key in ('before_ns', 'after_ns', 'operations', 'calls'))

    def test_short_trace_is_emulated_whole(self):
        path = studio.golden('pipeline')
        with studio.Server(path) as server:
            duration = server.get('trace')['duration_ns']
            for view in ({}, {'from': 0, 'to': 1}, {'from': duration // 2, 'to': duration * 2}):
                found, numbers = self.ask(server, 'kernel saxpy=2x', **view)
                self.assertEqual(numbers, self.wanted(path, 'kernel saxpy=2x'))
                self.assertEqual((found['part'], found['start_ns'], found['stop_ns']), (False, 0, duration))

    def test_doubts(self):
        """What makes the result uncertain is that of `tsctl replay`."""
        for name, any_doubt in (('pipeline', False), ('pipeline-longer', True)):
            path = studio.golden(name)
            with studio.Server(path) as server:
                wanted = json.loads(harness.tsctl('replay', '--json', '--what-if', 'kernel saxpy=2x', path).out)
                doubts = {key: int(n) for key, n in {**wanted['doubts'], 'let_go': wanted['edited'].get('let_go', 0)}.items() if n}
                self.assertEqual(bool(doubts), any_doubt)
                self.assertEqual(self.ask(server, 'kernel saxpy=2x')[0]['doubts'], doubts)

    def test_part_of_a_long_trace(self):
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path, edit = self.path('large.sbt'), 'host=0.5x'
        self.assertEqual(harness.run([WRITER, 'write', path, '150000']).status, 0)
        with studio.Server(path) as server:
            trace = server.get('trace')
            duration = trace['duration_ns']
            streams = [lane['id'] for lane in trace['lanes'] if lane['kind'] == 'stream']
            for view in ((duration // 2, duration // 2 + 1000), (0, duration), (duration * 3, duration * 4)):
                found, numbers = self.ask(server, edit, **dict(zip(('from', 'to'), view)))
                start, stop = found['start_ns'], found['stop_ns']
                self.assertTrue(found['part'])
                self.assertEqual(numbers, self.wanted(path, edit, '--from', str(start), '--to', str(stop)), view)
                self.assertAlmostEqual(found['operations'] + found['calls'], self.PART, delta=self.PART // 20)
                if view[1] <= duration:
                    self.assertTrue((start <= view[0] or not view[0]) and view[0] < stop and (stop >= view[1] or view == (0, duration)), (view, found))
                rows = server.get('rows?lane=%d&from=0&to=%d&layer=%d&limit=10' % (streams[0], 1 << 60, found['layer']))
                self.assertTrue(rows['more'] and min(rows['start']) >= start, (rows, found))
            # The whole trace, in one run.
            found, numbers = self.ask(server, edit, **{'from': 0, 'to': 1, 'whole': True})
            self.assertEqual(numbers, self.wanted(path, edit))
            self.assertEqual((found['part'], found['windows']), (False, 1))
            self.assertEqual(server.get('what-if'), {'done': 0, 'all': 0})

    def test_long_trace_is_emulated_in_windows(self):
        """The whole of a trace that is too long for one run: lengths, counts, cells and rows, and a client that leaves."""
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path, edit = self.path('longer.sbt'), 'kernel *=2x'
        self.assertEqual(harness.run([WRITER, 'write', path, '600000']).status, 0)
        with studio.Server(path) as server:
            trace = server.get('trace')
            duration = trace['duration_ns']
            streams = [lane['id'] for lane in trace['lanes'] if lane['kind'] == 'stream']
            view = {'from': duration // 2, 'to': duration // 2 + 1000, 'whole': True}
            found, (before, after, operations, calls) = self.ask(server, edit, **view)
            wanted = self.wanted(path, edit)
            self.assertEqual((before, operations, calls), (wanted[0], *wanted[2:]))
            self.assertAlmostEqual(after, wanted[1], delta=before // 100)
            self.assertGreater(found['windows'], 1)
            self.assertFalse(found['part'])
            # Cells of the whole trace count each operation once.
            level = 0
            while found['end_ns'] >> level >= 64 * studio.CELLS:
                level += 1
            answer = server.ask('/api/tiles?level=%d&first=0&n=64&lanes=%s&layer=%d' % (level, ','.join(map(str, streams)), found['layer']))
            cells = [cell for i in range(len(streams)) for cell in studio.CELL.iter_unpack(
                answer.body[40 + i * (8 + 64 * 4096):40 + i * (8 + 64 * 4096) + 64 * 4096])]
            self.assertEqual(sum(cell[1] for cell in cells), operations)
            # Rows from the view on; elsewhere cells alone.
            near = server.get('rows?lane=%d&from=%d&to=%d&layer=%d' % (streams[0], view['from'], view['from'] + 100000000, found['layer']))
            self.assertTrue(near['start'] and not near['more'])
            far = server.get('rows?lane=%d&from=0&to=%d&layer=%d' % (streams[0], 100000, found['layer']))
            self.assertEqual((far['start'], far['more']), ([], True))
            for wrong in ('pinned', 'kernel nothing-has-this-name=2x'):
                self.assertEqual(server.ask('/api/what-if', 'POST', {'edits': [wrong]}).status, 400, wrong)
            self.leave(server, edit)

    def leave(self, server, edit):
        """A client that closes its connection ends the emulation, and others need not wait for it."""
        body = json.dumps({'edits': [edit]}).encode()
        with socket.create_connection(('127.0.0.1', server.port)) as sock:
            sock.sendall(b'POST /api/what-if HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s' % (
                server.host.encode(), server.token.encode(), len(body), body))
            end = time.monotonic() + harness.SECONDS
            while not server.get('what-if')['all']:
                self.assertLess(time.monotonic(), end)
            # Between two windows.
            self.assertEqual(self.ask(server, edit, **{'from': 0, 'to': 1000})[0]['part'], True)
        while server.get('what-if')['all']:
            self.assertLess(time.monotonic(), end)

    def test_wrong_views(self):
        with studio.Server(studio.golden('pipeline')) as server:
            for view in ({'from': 1}, {'to': 1}, {'from': -1, 'to': 1}, {'from': 2, 'to': 1}, {'from': '0', 'to': 1}, {'from': 0, 'to': None}, {'from': 0.5, 'to': 1}):
                self.assertEqual(server.ask('/api/what-if', 'POST', {'edits': ['host=2x'], **view}).status, 400, view)
            for body in ([], 'text', {}, {'edits': 'host=2x'}, {'edits': ['nothing']}, {'edits': ['host=2x'] * 65}):
                self.assertEqual(server.ask('/api/what-if', 'POST', body if isinstance(body, (dict, list)) else body.encode()).status, 400, body)


class Graph(harness.Case):
    def test_bounds(self):
        """A client may ask for less than the server's limits, and not for more."""
        path = studio.golden('pipeline')
        nodes = [line for line in harness.tsctl('graph', '--json', path).out.splitlines() if '"node"' in line.split(',')[0]]
        with studio.Server(path) as server:
            for limit, status in ((len(nodes), 200), (len(nodes) - 1, 400), (0, 200), (1 << 32 - 1, 200), (-1, 200), ('7', 400), ([], 400)):
                answer = server.ask('/api/ask', 'POST', {'question': 'graph', 'options': {'max_nodes': limit}})
                self.assertEqual(answer.status, status, (limit, answer))

    def test_long_window_is_refused(self):
        if not os.path.exists(WRITER):
            self.skipTest('bench-large was not built')
        path = self.path('large.sbt')
        self.assertEqual(harness.run([WRITER, 'write', path, '150000']).status, 0)
        with studio.Server(path) as server:
            for options in ({}, {'path': True}, {'path': True, 'max_nodes': 1 << 23}):
                answer = server.ask('/api/ask', 'POST', {'question': 'graph', 'options': options})
                self.assertEqual(answer.status, 400, answer)
                self.assertIn('262144 calls and operations', answer.json()['error'])
            duration = server.get('trace')['duration_ns']
            answer = server.ask('/api/ask', 'POST', {'question': 'graph', 'options': {'path': True, 'to': {'ns': duration // 4, 'from_start': True}}})
            self.assertEqual(answer.status, 200, answer)


class Live(harness.Case):
    """The daemon writes only when asked, or after a minute."""
    PROGRAM = harness.DRIVER_PROGRAM + '''
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
for line in sys.stdin:
    assert not cuda.cuMemcpyHtoD_v2(memory, host, ctypes.c_size_t(1024))
    print('copied', flush=True)
'''

    def setUp(self):
        super().setUp()
        self.inject, self.control = self.path('inject.sock'), self.path('control.sock')
        os.mkdir(self.path('traces'))
        self.daemon = self.start([harness.DAEMON, '--inject-socket', self.inject, '--control-socket', self.control, '--directory', self.path('traces'),
                                  '--seal-age', '60000'], harness.environment())
        self.wait(self.listens)
        self.program = self.start([sys.executable, '-c', self.PROGRAM], harness.preload_environment('', TRACESMITH_SOCKET=self.inject, PYTHONPATH=''))

    def start(self, argv, env):
        process = subprocess.Popen(argv, env=env, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.terminate()
        process.wait(harness.SECONDS)
        process.stdin.close()
        process.stdout.close()

    def listens(self):
        with socket.socket(socket.AF_UNIX) as client:
            return not client.connect_ex(self.control)

    def wait(self, condition):
        """Waits less long than the daemon does before it writes by itself."""
        end = time.monotonic() + 45
        while not (found := condition()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return found

    def copy(self):
        """Lets the program copy; returns the time at which the copy was over."""
        self.program.stdin.write('\n')
        self.program.stdin.flush()
        self.assertEqual(self.program.stdout.readline(), 'copied\n')
        return time.monotonic_ns()

    def copies(self, server, lane):
        found = server.get('rows?lane=%d&from=0&to=%d' % (lane['id'], 1 << 60))
        return found['start'], found['end']

    def follow(self, server):
        """Each copy appears as soon as the server says that it has all rows until then."""
        for n in range(1, 4):
            over = self.copy()

            def is_past():
                live = server.get('live')
                self.assertEqual(live['state'], 'recording')
                return live.get('until_ns', 0) + server.get('trace')['origin_ns'] > over and live
            live = self.wait(is_past)
            trace = server.get('trace')
            lane = next(lane for lane in trace['lanes'] if lane['kind'] == 'copy')
            starts, ends = self.copies(server, lane)
            self.assertEqual(len(starts), n)
            self.assertLessEqual(max(ends), over - trace['origin_ns'])
            self.assertGreaterEqual(live['duration_ns'], max(ends))

        def is_near():
            return server.get('live')['until_ns'] + server.get('trace')['origin_ns'] > time.monotonic_ns() - 1000000000
        self.wait(is_near)

    def session(self):
        listed = harness.tsctl('sessions', '--json', env=harness.environment(TRACESMITH_CONTROL=self.control))
        return [session for session in json.loads(listed.out)['sessions'] if session['pid'] == self.program.pid]

    def test_session_is_a_second_old_at_most(self):
        self.wait(self.session)
        with studio.Server(options=('--session', str(self.program.pid)), TRACESMITH_CONTROL=self.control) as server:
            self.follow(server)
            self.assertEqual(server.ask('/api/live', 'POST', {'do': 'stop'}).json(), {'changed': True})
            self.assertEqual(server.ask('/api/live', 'POST', {'do': 'stop'}).json(), {'changed': False})
            self.copy()
            self.assertEqual(server.ask('/api/live', 'POST', {'do': 'start'}).json(), {'changed': True})
            over = self.copy()
            self.wait(lambda: server.get('live').get('until_ns', 0) + server.get('trace')['origin_ns'] > over)
            lane = next(lane for lane in server.get('trace')['lanes'] if lane['kind'] == 'copy')
            self.assertEqual(len(self.copies(server, lane)[0]), 4)
            self.program.stdin.close()
            self.assertEqual(self.program.wait(harness.SECONDS), 0)
            self.wait(lambda: server.get('live')['state'] == 'ended')
            self.assertFalse(server.get('trace')['live'])

    def test_file_that_is_being_written(self):
        session = self.wait(self.session)[0]
        with studio.Server(session['path'], TRACESMITH_CONTROL=self.control) as server:
            self.follow(server)
            self.assertEqual(server.ask('/api/live', 'POST', {'do': 'stop'}).json(), {'changed': True})
            self.end(self.daemon)
            self.assertNotEqual(server.ask('/api/live', 'POST', {'do': 'start'}).status, 200)


if __name__ == '__main__':
    harness.main()
