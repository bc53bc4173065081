#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Studio's tiles, rows and lanes from outside: cells of random views equal a sum over the rows that `tsctl view --json` prints."""
import collections
import random
import sys
import time
import unittest

import studio

studio.skip_if_absent()
import harness  # noqa: E402

VIEWS = 1000 if studio.SOAK else 60
TRACES = ('pipeline', 'train', 'delays', 'failing', 'capture', 'names')
MILLION = 1000000
DIRECTIONS = {'copies to device': ('htod', 'htoa'), 'copies to host': ('dtoh', 'atoh'), 'copies on device': ()}


def rows_of(lane, rows):
    """The rows of a lane, by the fields that the lane names."""
    kind, same = lane['kind'], lambda row, *keys: all(row.get(key) == lane.get(key) for key in keys)
    if kind == 'thread':
        return [row for row in rows if row['type'] == 'api' and same(row, 'session') and row.get('tid') == lane['thread']]
    if kind == 'stream':
        return [row for row in rows if row['type'] in harness.DEVICE_TYPES and same(row, 'session', 'device', 'context', 'stream')]
    if kind == 'device':
        return [row for row in rows if row['type'] in harness.DEVICE_TYPES and same(row, 'session', 'device')]
    if kind == 'compute':
        return [row for row in rows if row['type'] == 'kernel' and same(row, 'session', 'device')]
    return None


def brute_force(rows, origin, width, first, n):
    """For each of n cells: count, share, and the parts by name. An instant belongs to the row that started first, or is longest."""
    cells = [[0, 0, collections.Counter()] for _ in range(n)]
    covered = 0
    begin = first * width
    for row in sorted(rows, key=lambda row: (row['start_ns'], -row['end_ns'])):
        start, end = row['start_ns'] - origin, row['end_ns'] - origin
        at = start // width - first
        if 0 <= at < n:
            cells[at][0] += 1
        start = max(start, covered, begin)
        covered = max(covered, end)
        while start < min(end, begin + n * width):
            at = start // width - first
            stop = min(end, (first + at + 1) * width)
            cells[at][1] += stop - start
            cells[at][2][row['name'] if 'name' in row else row['type']] += stop - start
            start = stop
    return cells


class Tiles(harness.Case):
    def check_lane(self, server, lane, rows, origin, level, first, names):
        width = 1 << level
        _, found = server.tiles(level, first, 1, [lane['id']])
        for i, (cell, (count, busy, parts)) in enumerate(zip(found[lane['id']], brute_force(rows, origin, width, first * 256, 256))):
            key, got_count, share, key_share = cell
            where = (lane, level, first, i, cell, parts)
            self.assertEqual(got_count, count, where)
            self.assertEqual(share, busy * MILLION // width, where)
            self.assertEqual(bool(key), busy > 0, where)
            if key and lane['kind'] in ('thread', 'compute'):
                if str(key) not in names:
                    names.update(server.get('names?keys=%d' % key))
                self.assertEqual(key_share, max(parts.values()) * MILLION // width, where)
                self.assertEqual(parts[names[str(key)]['name']], max(parts.values()), where)

    def test_random_views(self):
        chance = random.Random(24)
        for name in TRACES:
            rows = studio.rows(studio.golden(name))
            with studio.Server(studio.golden(name)) as server:
                # Until the server has read the whole trace, the numbers of a lane's rows are estimates.
                for _ in range(200):
                    trace, names = server.get('trace'), {}
                    lanes = [(lane, found) for lane in trace['lanes'] for found in [rows_of(lane, rows)] if found]
                    if all(lane['rows'] == len(found) for lane, found in lanes):
                        break
                    time.sleep(0.05)
                self.assertTrue(lanes)
                for lane, found in lanes:
                    self.assertEqual(lane['rows'], len(found), lane)
                top = max(trace['duration_ns'].bit_length() - 8, 0) + 2
                for _ in range(VIEWS // len(TRACES)):
                    lane, found = chance.choice(lanes)
                    level = chance.randint(0, top)
                    row = chance.choice(found)
                    first = max(0, (row['start_ns'] - trace['origin_ns'] >> level + 8) + chance.randint(-1, 1))
                    self.check_lane(server, lane, found, trace['origin_ns'], level, first, names)

    def test_rows(self):
        for name in ('pipeline', 'train'):
            rows = studio.rows(studio.golden(name))
            with studio.Server(studio.golden(name)) as server:
                trace = server.get('trace')
                for lane in trace['lanes']:
                    wanted = rows_of(lane, rows)
                    if not wanted:
                        continue
                    found = server.get('rows?lane=%d&from=0&to=%d&limit=65536' % (lane['id'], trace['duration_ns'] + 1))
                    self.assertEqual([(start + trace['origin_ns'], end + trace['origin_ns'], op) for start, end, op in
                                      zip(found['start'], found['end'], found['op'])],
                                     sorted(((row['start_ns'], row['end_ns'], row.get('op_id', 0)) for row in wanted), key=lambda r: (r[0], -r[1])))
                    self.assertEqual(found['more'], False)
                    part = server.get('rows?lane=%d&from=0&to=%d&limit=1' % (lane['id'], trace['duration_ns'] + 1))
                    self.assertEqual((part['start'], part['more']), (found['start'][:1], len(wanted) > 1))

    def test_row_is_that_of_view(self):
        path = studio.golden('train')
        rows = studio.rows(path, '--stacks')
        with studio.Server(path) as server:
            for row in rows:
                if row['type'] == 'kernel':
                    self.assertEqual(server.get('row?op=%d' % row['op_id']), row)

    def test_answers_are_those_of_tsctl(self):
        for name in TRACES:
            with studio.Server(studio.golden(name)) as server:
                for question in ('info', 'analyze', 'gaps', 'memory', 'timeline'):
                    wanted = harness.tsctl(question, '--json', *(('--width', '100') if question == 'timeline' else ()), studio.golden(name))
                    answer = server.ask('/api/ask', 'POST', {'question': question, 'options': {}})
                    self.assertEqual(answer.body.decode(), wanted.out, (name, question))

    def test_two_traces(self):
        with studio.Server(studio.golden('pipeline'), studio.golden('pipeline-longer')) as server:
            trace = server.get('trace')
            self.assertEqual(trace['traces'], 2)
            first, second = ([lane for lane in trace['lanes'] if lane['trace'] == i] for i in (0, 1))
            self.assertTrue(first and second and min(lane['id'] for lane in second) > 1000000)
            for i, name in enumerate(('pipeline', 'pipeline-longer')):
                self.assertEqual(server.question('info', {}, i)['path'], harness.tsctl('info', '--json', studio.golden(name)).out and
                                 studio.golden(name))


if __name__ == '__main__':
    harness.main()
