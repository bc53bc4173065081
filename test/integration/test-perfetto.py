#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl export --format perfetto: all that a trace holds, on the right tracks, to the nanosecond; and as Perfetto reads it."""
import collections
import json
import os
import random
import re
import subprocess
import unittest

import clean
import harness
import perfetto

DEVICE = {'kernel': lambda row: row['name'], 'memcpy': lambda row: 'memcpy ' + row['kind'],
          'memset': lambda row: 'memset'}
LANE = re.compile(r'^stream (\d+)(?: "[^"]*")? of context (\d+)')


def keys(rows, name):
    return collections.Counter((name(row), row['start_ns'], row['end_ns']) for row in rows)


def of_slices(slices):
    return collections.Counter((piece.name, piece.start, piece.end) for piece in slices)


class Perfetto(harness.Case):
    def recorded(self, argv, *options, **env):
        result, path = self.record(argv, '--vgpu', '-q', *options, **env)
        self.assertEqual(result.status, 0, result)
        return path

    def exported(self, path, *options, status=0):
        out = self.path('out.pftrace')
        result = harness.tsctl('export', '--format', 'perfetto', '-o', out, *options, path)
        self.assertEqual((result.status, result.out), (status, ''), result)
        return perfetto.Trace(out)

    def check(self, path):
        """Everything that `view` tells is there, where it belongs."""
        view, trace = harness.Trace(path), self.exported(path)
        self.assertEqual(trace.primary, perfetto.MONOTONIC)
        streams = trace.of_streams()
        want = collections.Counter()
        for kind, name in DEVICE.items():
            want += keys(view.of(kind), name)
        self.assertEqual(of_slices(streams), want)
        self.check_streams(view, trace, streams)
        threads = trace.of_threads()
        self.assertEqual(of_slices([piece for piece in threads if not piece.args.keys() & {'domain', 'category'}
                                    and (piece.name.startswith('cu'))]),
                         keys([row for row in view.of('api')], lambda row: row['name']))
        tids = collections.Counter((row['tid'], row['start_ns']) for row in view.of('api'))
        self.assertEqual(tids - collections.Counter((trace.thread(piece)['tid'], piece.start) for piece in threads),
                         collections.Counter())
        self.check_flows(view, trace)
        return view, trace

    def check_streams(self, view, trace, streams):
        """Nothing in a stream nests, and each operation is in its own."""
        rows = {(row['op_id'], row['start_ns'], row['end_ns']): row for row in view.of(*harness.DEVICE_TYPES)}
        self.assertEqual({piece.depth for piece in streams}, {0} if streams else set())
        where = collections.Counter((row['start_ns'], row['end_ns'], row['stream'], row['context'])
                                    for row in rows.values())
        found = collections.Counter()
        for piece in streams:
            stream, context = map(int, LANE.match(trace.name(piece.track)).groups())
            found[piece.start, piece.end, stream, context] += 1
            self.assertRegex(trace.path(piece.track)[0], r'^GPU \d+')
        self.assertEqual(found, where)

    def check_flows(self, view, trace):
        """From each call to what it launched: as many as have a call."""
        calls = {(row['session'], op): row for row in view.of('api')
                 for op in (row['op_id'], row.get('nested_op_id')) if op}
        joined = [row for row in view.of(*harness.DEVICE_TYPES) if (row['session'], row['op_id']) in calls]
        pairs = list(trace.flows())
        self.assertEqual(len(pairs), len(joined))
        first = collections.Counter((calls[row['session'], row['op_id']]['start_ns'], row['start_ns']) for row in joined)
        for before, after in pairs:
            self.assertIn('stream ', trace.name(after.track))
            if 'stream ' not in trace.name(before.track):
                self.assertGreater(first[before.start, after.start], 0)

    def ask(self, path, *statements):
        if not perfetto.PROCESSOR:
            self.skipTest(perfetto.MISSING)
        summary, *rows = perfetto.query(path, *statements)
        self.assertEqual(summary['errors'], [])
        return summary, rows

    # ---- what is in it --------------------------------------------------------------------------

    def test_pipeline(self):
        path = self.recorded([harness.app('pipeline', 'driver')])
        view, trace = self.check(path)
        for piece in trace.of_streams():
            if piece.name == 'scale':
                self.assertRegex(piece.args['launch'], r'^grid 64x1x1 block 256x1x1 shared 0\+0 registers \d+$')
            if piece.name.startswith('memcpy'):
                self.assertEqual(piece.args['bytes'], 65536)
        stacks = {piece.args['stack'] for piece in trace.of_threads() if piece.name == 'cuLaunchKernel'}
        self.assertTrue(stacks and all('\nmain\n' in stack for stack in stacks), stacks)
        self.assertLess(abs(trace.realtime - (int(view.info['sessions'][0]['start_realtime_ns'])
                                              - int(view.info['sessions'][0]['start_ns']))), 10**6)
        self.check_counters(view, trace, path)

    def check_counters(self, view, trace, path):
        live = [counts for uuid, counts in trace.counts.items() if trace.name(uuid) == 'live memory']
        memory = harness.tsctl('memory', '--json', path)
        peak = int(harness.json.loads(memory.out)['peak_bytes'])
        self.assertEqual([max(value for _, value in counts) for counts in live], [peak])
        self.assertEqual(live[0][-1][1], 0)
        # The parts of the time, each as busy as it says, are what kernels and sets took together.
        (busy,) = [counts for uuid, counts in trace.counts.items() if trace.name(uuid) == 'utilisation: compute']
        intervals = sorted((row['start_ns'], row['end_ns']) for row in view.of('kernel', 'memset'))
        taken, until = 0, 0
        for start, end in intervals:
            taken += max(0, end - max(start, until))
            until = max(until, end)
        times = [time for time, _ in busy]
        part = min(b - a for a, b in zip(times, times[1:]))
        found = sum(value / 100 * ((times + [times[-1] + part])[i + 1] - time)
                    for i, (time, value) in enumerate(busy))
        self.assertLess(abs(found - taken), 10)

    def test_threads_and_processes(self):
        path = self.recorded([harness.app('workers', 'driver'), '2', '2', '2'], '--stacks', 'none')
        view, trace = self.check(path)
        pids = {session['pid'] for session in view.info['sessions'] if session['counts']['kernel']}
        self.assertEqual({track['process']['pid'] for track in trace.tracks.values() if 'process' in track}, pids)
        self.assertGreaterEqual(len({track['thread']['tid'] for track in trace.tracks.values() if 'thread' in track}),
                                4)
        # One device, however many processes use it.
        self.assertEqual(len([track for track in trace.tracks.values()
                              if track.get('name', '').startswith('GPU 0')]), 1)

    def test_several_devices(self):
        """A copy between two has its flow, as all others."""
        result, path = self.record([harness.app('devices', 'driver'), '1'], '--vgpu=small:2', '-q', '--stacks', 'none')
        self.assertEqual(result.status, 0, result)
        _, trace = self.check(path)
        self.assertIn('memcpy ptop', {after.name for _, after in trace.flows()})

    def test_graphs(self):
        _, trace = self.check(self.recorded([harness.app('graph', 'driver')], '--stacks', 'none'))
        self.assertTrue([piece for piece in trace.of_streams() if piece.args.get('graph_node')])

    def test_ranges_nest(self):
        said = self.path('said')
        path = self.recorded([harness.app('annotates', 'driver'), 'nest', '3', '2', '300'], '--stacks', 'none',
                             TS_SAID=said)
        view, trace = harness.Trace(path), self.exported(path)
        ranges = view.of('range')
        self.assertTrue(ranges)
        pushed = [row for row in ranges if row['action'] == 'push']
        in_threads = [piece for piece in trace.of_threads() if not piece.name.startswith('cu') and 'category' in piece.args]
        marks = view.of('mark')
        self.assertEqual(of_slices(in_threads), keys(pushed, lambda row: row['name']) + keys(marks, lambda row: row['name']))
        crossing = [piece for piece in trace.slices if trace.path(piece.track)[1:] == ('ranges',)]
        self.assertEqual(of_slices(crossing), keys([row for row in ranges if row['action'] != 'push'],
                                                   lambda row: row['name']))
        # As deep as there are others of the thread around it, each of which is a slice around it.
        for track in {piece.track for piece in in_threads}:
            pieces = [piece for piece in trace.slices if piece.track == track]
            for piece in pieces:
                around = [other for other in pieces if other is not piece and other.end > other.start
                          and other.start <= piece.start and piece.end <= other.end
                          and (other.start, -other.end) != (piece.start, -piece.end)]
                same = [other for other in pieces if (other.start, other.end) == (piece.start, piece.end)]
                if len(same) == 1 and piece.start not in [other.end for other in around]:
                    self.assertEqual(piece.depth, len(around), piece)

    def test_open_ranges(self):
        path = self.recorded([harness.app('annotates', 'driver'), 'open'], '--stacks', 'none')
        trace = self.exported(path)
        open_rows = harness.Trace(path).of('range_begin')
        self.assertTrue(open_rows)
        found = [piece for piece in trace.slices if 'never_ended' in piece.args]
        self.assertEqual(sorted(piece.start for piece in found), sorted(row['start_ns'] for row in open_rows))

    def made(self, *arguments):
        path = self.path('made.sbt')
        made = harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), path, *arguments])
        self.assertEqual(made.status, 0, made)
        return path

    def test_rows_of_every_type(self):
        trace = self.exported(self.made('10'))
        found = collections.Counter(piece.name for piece in trace.slices)
        for name, n in (('lost: ring_full', 1), ('lost: #31', 1), ('off CPU: futex', 1), ('page fault: minor', 1),
                        ('ioctl', 1), ('recording paused', 1), ('yielded to another profiler', 1),
                        ('cupti_buffer_flush', 1), ('memset', 1), ('memcpy htod', 1), ('cudaLaunchKernel', 10)):
            self.assertEqual(found[name], n, name)
        (lost,) = [piece for piece in trace.slices if piece.name == 'lost: ring_full']
        self.assertEqual((trace.path(lost.track), lost.args['count']), (('lost records',), 3))
        (off,) = [piece for piece in trace.slices if piece.name == 'off CPU: futex']
        self.assertEqual(trace.name(off.track), 'off CPU')
        self.assertEqual(self.tracks_of(trace, off), 4711)

    @staticmethod
    def tracks_of(trace, piece):
        return trace.tracks[trace.tracks[piece.track]['parent']]['thread']['tid']

    def test_small(self):
        """At most 70 bytes a launch with its flow, its stack and how it was launched."""
        few, many = self.made('1000'), self.path('many.sbt')
        harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'), many, '3000'])
        self.assertLess((self.exported(many).bytes - self.exported(few).bytes) / 2000, 70)

    # ---- parts, and what is damaged -------------------------------------------------------------

    def test_windows(self):
        path = self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none')
        view = harness.Trace(path)
        rows = view.of(*harness.DEVICE_TYPES)
        times = sorted(row['start_ns'] for row in rows)
        generator = random.Random(5)
        for _ in range(3):
            first, last = sorted(times[i] for i in generator.sample(range(len(times)), 2))
            trace = self.exported(path, '--from', '@%d' % first, '--to', '@%d' % last)
            want = [row for row in rows if row['start_ns'] <= last and row['end_ns'] >= first]
            self.assertEqual(of_slices(trace.of_streams()), collections.Counter(
                (DEVICE[row['type']](row), row['start_ns'], row['end_ns']) for row in want))
            # What was allocated before is live.
            live = [counts for uuid, counts in trace.counts.items() if trace.name(uuid) == 'live memory']
            self.assertGreater(live[0][0][1], 0)
        only = self.exported(path, '--type', 'memset')
        self.assertEqual({piece.name for piece in only.of_streams()}, {'memset'})

    def test_damaged(self):
        path = self.recorded([harness.app('threads', 'driver')], '--symbols', 'none')
        with open(path, 'rb') as stream:
            whole = stream.read()
        hurt, out = self.path('hurt.sbt'), self.path('hurt.pftrace')
        generator = random.Random(7)
        for number in range(10):
            data = bytearray(whole)
            if number % 2:
                del data[generator.randrange(64, len(data)):]
            else:
                data[generator.randrange(64, len(data))] ^= 1 << generator.randrange(8)
            with open(hurt, 'wb') as stream:
                stream.write(data)
            result = harness.tsctl('export', '--format', 'perfetto', '-o', out, hurt)
            self.assertIn(result.status, (0, 2), result)
            if os.path.exists(out):
                perfetto.Trace(out)
                os.unlink(out)

    def test_interrupted(self):
        """Whatever ends an export, it leaves nothing."""
        path = self.made('300000')
        folder = self.path('to')
        os.mkdir(folder)
        try:
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            self.skipTest('this file system has no files without names')
        for ending in (2, 9, 15):
            with subprocess.Popen([harness.TSCTL, 'export', '--format', 'perfetto', '-o',
                                   os.path.join(folder, 'out'), path], stderr=subprocess.DEVNULL) as process:
                process.send_signal(ending)
                process.wait(harness.SECONDS)
            self.assertIn(os.listdir(folder), ([], ['out']))
            for name in os.listdir(folder):
                perfetto.Trace(os.path.join(folder, name))
                os.unlink(os.path.join(folder, name))

    def test_refusals(self):
        path = self.made('1')
        for option in (['--weight', 'bytes'], ['--lines'], ['--no-leaf'], ['--process'], ['--thread']):
            result = harness.tsctl('export', '--format', 'perfetto', *option, '-o', self.path('x'), path)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(option[0], result.err)

    # ---- as Perfetto reads it -------------------------------------------------------------------

    def test_trace_processor(self):
        said = self.path('said')
        for argv in ([harness.app('pipeline', 'driver')], [harness.app('graph', 'driver')],
                     [harness.app('annotates', 'driver'), 'nest', '3', '2', '300']):
            path = self.recorded(argv, TS_SAID=said)
            trace = self.exported(path)
            summary, (names, flows, tids) = self.ask(
                self.path('out.pftrace'),
                'select name, count(*) n, sum(dur) dur, min(ts) ts, sum(depth) depth from slice group by name',
                'select count(*) n from flow',
                'select tid, count(*) n from slice join thread_track on track_id = thread_track.id '
                'join thread using(utid) group by tid')
            self.assertEqual(summary['slices'], len(trace.slices))
            want = collections.defaultdict(lambda: [0, 0, 1 << 63, 0])
            for piece in trace.slices:
                sums = want[piece.name]
                sums[0] += 1
                sums[1] += piece.end - piece.start
                sums[2] = min(sums[2], piece.start)
                sums[3] += piece.depth
            self.assertEqual({row['name']: [row['n'], row['dur'], row['ts'], row['depth']] for row in names}, dict(want))
            self.assertEqual(flows[0]['n'], len(list(trace.flows())))
            self.assertEqual({row['tid']: row['n'] for row in tids},
                             collections.Counter(trace.thread(piece)['tid'] for piece in trace.of_threads()))
            os.unlink(path)

    def test_trace_processor_agrees_with_the_library(self):
        """Of each program: SQL over its file sums up to what `view` and `memory` tell."""
        if not perfetto.PROCESSOR:
            self.skipTest(perfetto.MISSING)
        programs = [*clean.CLEAN, *clean.COMPUTE, ('pools.py', [], 'small'), ('annotates', ['nest', '3', '2', '300'], 'small')]
        asked = 0
        for name, arguments, vgpu in programs:
            for argv in clean.commands(name, arguments):
                with self.subTest(' '.join([os.path.basename(argv[0]), *argv[1:]])):
                    result, path = self.record(argv, '--vgpu=' + vgpu, '-q', '--force', TS_SAID=self.path('said'))
                    if result.status == harness.SKIPPED:
                        continue
                    self.assertEqual(result.status, 0, result)
                    self.check_sql(harness.Trace(path))
                    asked += 1
        self.assertGreaterEqual(asked, len(clean.CLEAN))

    def check_sql(self, view):
        out = self.path('out.pftrace')
        result = harness.tsctl('export', '--format', 'perfetto', '-o', out, view.path)
        self.assertEqual(result.status, 0, result)
        _, (streams, threads, flows, memory, deep) = self.ask(
            out, *('select s.name name, count(*) n, sum(s.dur) dur from slice s join %s t on s.track_id = t.id %s group by 1' % words
                   for words in (('track', "where t.name glob 'stream *'"), ('thread_track', "where s.name glob 'cu[A-Z]*' or s.name glob 'cuda[A-Z]*'"))),
            'select count(*) n from flow',
            "select max(value) peak from counter join counter_track t on track_id = t.id where t.name = 'live memory' group by t.id",
            "select count(*) n from slice s join slice p on s.parent_id = p.id join thread_track t on s.track_id = t.id "
            'where ' + ' and '.join("(%s.name glob 'cu[A-Z]*' or %s.name glob 'cuda[A-Z]*')" % (it, it) for it in 'sp'))
        self.assertEqual(self.told(streams), self.sums(view.of(*DEVICE), lambda row: DEVICE[row['type']](row)))
        calls = view.of('api')
        self.assertEqual(self.told(threads), self.sums(calls, lambda row: row['name']))
        ids = {(row['session'], op) for row in calls for op in (row['op_id'], row.get('nested_op_id')) if op}
        joined = [row for row in view.of(*DEVICE) if (row['session'], row['op_id']) in ids]
        self.assertEqual(flows[0]['n'], len(joined))
        used = json.loads(harness.tsctl('memory', '--json', view.path).out)
        peaks = [row['peak'] for row in memory]
        if len(peaks) < 2:
            self.assertEqual(peaks, [int(used['peak_bytes'])] if used['peak_bytes'] else [])
        else:
            # Each device's own; they need not be highest at once.
            self.assertLessEqual(max(peaks), int(used['peak_bytes']))
            self.assertGreaterEqual(sum(peaks), int(used['peak_bytes']))
        self.assertEqual(deep[0]['n'], self.within(calls))

    @staticmethod
    def told(rows):
        return {row['name']: (row['n'], row['dur']) for row in rows}

    @staticmethod
    def sums(rows, name):
        found = collections.defaultdict(lambda: (0, 0))
        for row in rows:
            n, taken = found[name(row)]
            found[name(row)] = n + 1, taken + row['end_ns'] - row['start_ns']
        return dict(found)

    @staticmethod
    def within(calls):
        """How many calls are made by another call of their thread."""
        count, open_until = 0, collections.defaultdict(list)
        for row in sorted(calls, key=lambda row: (row['start_ns'], -row['end_ns'])):
            ends = open_until[row['session'], row['tid']]
            while ends and ends[-1] <= row['start_ns']:
                ends.pop()
            count += bool(ends)
            ends.append(row['end_ns'])
        return count

    def test_trace_processor_takes_all(self):
        path = self.made('10')
        trace = self.exported(path)
        summary, _ = self.ask(self.path('out.pftrace'))
        self.assertEqual(summary['slices'], len(trace.slices))


if __name__ == '__main__':
    harness.main()
