#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsctl export: what the GPU did by the stack that asked for it, in other tools' formats, to the last nanosecond."""
import collections
import json
import os
import random
import re
import stat
import sys

import harness
import pprof

WEIGHTS = ('gpu-time', 'launches', 'bytes')
RUNGS = 6
PROGRAM = os.path.join(harness.SOURCE, 'test', 'apps', 'python-ctypes.py')
# As flamegraph.pl reads a line; two numbers at its end would be a difference.
LINE = re.compile(r'^(.*)\s+?(\d+(?:\.\d*)?)$')


def read_folded(text):
    """{(frame, ...): weight}, the outermost first."""
    stacks = {}
    for line in text.splitlines():
        match = LINE.match(line)
        assert match and not LINE.match(match.group(1)), line
        frames = tuple(match.group(1).split(';'))
        assert all(frames) and frames not in stacks, line
        stacks[frames] = int(match.group(2))
    return stacks


class Export(harness.Case):
    def recorded(self, argv, *options, **env):
        result, path = self.record(argv, '--vgpu', '-q', *options, **env)
        self.assertEqual(result.status, 0, result)
        return path

    def folded(self, path, weight='gpu-time', *options, notes=0):
        result = harness.tsctl('export', '--format', 'folded', '--weight', weight, *options, path)
        self.assertEqual((result.status, len(result.err.splitlines())), (0, notes), result)
        return read_folded(result.out)

    def profile(self, path, *options, notes=None):
        out = self.path('out.pb.gz')
        result = harness.tsctl('export', '--format', 'pprof', '-o', out, *options, path)
        self.assertEqual((result.status, result.out), (0, ''), result)
        if notes is not None:
            self.assertEqual(len(result.err.splitlines()), notes, result)
        return pprof.Profile(out)

    def stats(self, path, *options):
        """What `view --stats` says of each weight."""
        result = harness.tsctl('view', '--stats', '--json', *options, path)
        sums = json.loads(result.out)
        rows = {key: sums.get(key, []) for key in ('kernels', 'copies', 'memsets')}
        return {'gpu-time': sum(int(row['total_ns']) for part in rows.values() for row in part),
                'launches': sum(int(row['count']) for row in rows['kernels']),
                'bytes': sum(int(row.get('bytes', 0)) for row in rows['copies'])}

    def check_sums(self, path, *options, notes=0):
        want = self.stats(path, *options)
        for weight in WEIGHTS:
            found = self.folded(path, weight, *options, notes=notes if want[weight] else 1)
            self.assertEqual(sum(found.values()), want[weight], (weight, options))
        return want

    # ---- known stacks ---------------------------------------------------------------------------

    def test_known_native_stacks(self):
        path = self.recorded([harness.app('ladder', 'driver'), str(RUNGS)])
        launches, copied = collections.Counter(), collections.Counter()
        for frames, n in self.folded(path, 'launches').items():
            # The function that the program called: nothing of what reports the call.
            self.assertEqual(frames[-2:], ('cuLaunchKernel', 'nothing'))
            self.assertEqual(frames[frames.index('main') + 1], 'climb')
            launches[frames.count('climb')] += n
        self.assertEqual(launches, {depth: depth for depth in range(1, RUNGS + 1)})
        for frames, n in self.folded(path, 'bytes').items():
            self.assertEqual(frames[-2:], ('cuMemcpyHtoDAsync_v2', 'memcpy htod'))
            self.assertLess(frames.index('main'), frames.index('carry'))
            self.assertLess(frames.index('carry'), frames.index('gpu_h2d_async'))
            copied[frames.count('carry')] += n
        self.assertEqual(copied, {depth: 1024 * depth for depth in range(1, RUNGS + 1)})
        want = self.check_sums(path)
        self.assertEqual(want['launches'], RUNGS * (RUNGS + 1) // 2)
        # Sets have time and no bytes.
        leaves = {frames[-1] for frames in self.folded(path)}
        self.assertEqual(leaves, {'nothing', 'memcpy htod', 'memset'})
        self.assertEqual({frames[-1] for frames in self.folded(path, 'gpu-time', '--type', 'memset')},
                         {'memset'})

    def test_same_stacks_as_view(self):
        path = self.recorded([harness.app('ladder', 'driver'), str(RUNGS)])
        result = harness.tsctl('view', '--json', '--stacks', '--type', 'api', path)
        want = collections.Counter()
        for row in map(json.loads, result.out.splitlines()):
            if row['name'] != 'cuLaunchKernel':
                continue
            stack, frames = row['stack'], []
            for i in range(len(stack['frames'])):
                of_frame = [symbol for symbol in stack['symbols'] if symbol['frame'] == i]
                named = [symbol['function'] for symbol in of_frame if symbol.get('function')]
                frames += named or ['%s+0x%x' % (os.path.basename(symbol['module']), symbol['offset'])
                                    for symbol in of_frame]
            want[tuple(reversed(frames))] += 1
        self.assertEqual(self.folded(path, 'launches', '--no-leaf'), want)

    def test_python_stacks(self):
        if not (3, 8) <= sys.version_info[:2] <= (3, 13):
            self.skipTest('stacks of this Python are not read')
        path = self.recorded([sys.executable, PROGRAM, '4'], '--stacks', 'python')
        self.check_sums(path)
        functions = [re.sub(r' \(.*', '', frame) for frames in self.folded(path, 'launches')
                     for frame in frames if PROGRAM in frame]
        self.assertLess(functions.index('launch'), functions.index('call'))
        for frames in self.folded(path, 'launches'):
            self.assertEqual(frames[-1], 'nothing')
            python = [frame for frame in frames if '(%s:' % PROGRAM in frame]
            self.assertEqual([frame.split(' ')[0] for frame in python[-3:]], ['work', 'launch', 'call'])
        profile = self.profile(path)
        self.assertIn('python', os.path.basename(profile.text(profile.raw['mapping'][0]['filename'])))
        found = [frame for frames, _, _ in profile.samples for frame in frames if frame[1] == PROGRAM]
        self.assertIn('launch', {function for function, _, _ in found})
        for _, _, line in found:
            self.assertGreater(line, 0)

    def test_processes_and_threads(self):
        path = self.recorded([harness.app('workers', 'driver'), '2', '2', '2'])
        self.check_sums(path)
        trace = harness.Trace(path)
        pids = {str(session['pid']) for session in trace.info['sessions'] if session['counts']['kernel']}
        self.assertEqual(len(pids), 2)
        stacks = self.folded(path, 'gpu-time', '--process', '--thread')
        self.assertEqual({frames[0].rsplit('/', 1)[1] for frames in stacks}, pids)
        self.assertGreaterEqual(len({frames[:2] for frames in stacks}), 4)
        profile = self.profile(path)
        self.assertEqual({str(labels['pid']) for _, _, labels in profile.samples}, pids)
        # A file is one mapping, however many processes mapped it.
        files = [profile.text(mapping['filename']) for mapping in profile.raw['mapping']]
        self.assertEqual(len(files), len(set(files)))
        self.assertTrue(files[0].endswith('/workers-driver'), files)

    def test_graphs(self):
        """What a graph runs is under its launch."""
        path = self.recorded([harness.app('graph', 'driver')])
        self.check_sums(path)
        self.assertTrue(all('main' in frames for frames in self.folded(path)))

    # ---- pprof ----------------------------------------------------------------------------------

    def test_profile(self):
        path = self.recorded([harness.app('ladder', 'driver'), str(RUNGS)])
        profile = self.profile(path)
        self.assertEqual(profile.types,
                         [('launches', 'count'), ('gpu', 'nanoseconds'), ('copied', 'bytes')])
        self.assertEqual(profile.default, 'gpu')
        want = self.stats(path)
        for name, weight in (('gpu', 'gpu-time'), ('launches', 'launches'), ('copied', 'bytes')):
            self.assertEqual(profile.total(name), want[weight])
        # The same stacks as the folded ones, of all weights at once.
        for index, weight in ((0, 'launches'), (1, 'gpu-time'), (2, 'bytes')):
            found = collections.Counter()
            for frames, values, _ in profile.samples:
                if values[index]:
                    found[tuple(reversed([frame[0] for frame in frames]))] += values[index]
            self.assertEqual(found, self.folded(path, weight))
        for frames, _, labels in profile.samples:
            climbs = [frame for frame in frames if frame[0] in ('climb', 'carry', 'main')]
            self.assertTrue(all(frame[1].endswith('/ladder.c') and frame[2] for frame in climbs), climbs)
            self.assertEqual(set(labels), {'process', 'pid', 'thread', 'tid', 'device', 'stream'})
        for mapping in profile.raw['mapping']:
            self.assertRegex(profile.text(mapping['build_id']), '^([0-9a-f]{40})?$')
        self.assertTrue(profile.text(profile.raw['mapping'][0]['filename']).endswith('/ladder-driver'))
        self.assertTrue(profile.raw['mapping'][0]['has_functions'])
        self.assertGreater(profile.raw['duration_nanos'], 0)
        info = harness.Trace(path).info
        self.assertLess(abs(profile.raw['time_nanos']
                            - int(info['sessions'][0]['start_realtime_ns'])), 10**9)

    def test_losses_are_comments(self):
        for unfinished in ([], ['unfinished']):
            path = self.path('made%d.sbt' % len(unfinished))
            made = harness.run([os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-trace'),
                                path, '10'] + unfinished)
            self.assertEqual(made.status, 0, made)
            profile = self.profile(path, notes=2 + len(unfinished))
            self.assertEqual(profile.total('launches'), 10)
            for comment in ('lost: 3 ring_full', 'lost: 5 reason_31',
                            'operations without their call: 2'):
                self.assertIn(comment, profile.comments)
            self.assertEqual('the trace is cut off' in profile.comments, bool(unfinished))
            with open(self.path('out.pb.gz'), 'rb') as stream:
                first = stream.read()
            self.profile(path, notes=2 + len(unfinished))
            with open(self.path('out.pb.gz'), 'rb') as stream:
                self.assertEqual(stream.read(), first, 'the same trace gives other bytes')

    def test_default_type_follows_weight(self):
        path = self.recorded([harness.app('ladder', 'driver'), '1'])
        self.assertEqual(self.profile(path, '--weight', 'bytes').default, 'copied')
        self.assertEqual(self.profile(path, '--weight', 'launches').default, 'launches')
        leafless = self.profile(path, '--no-leaf', '--process')
        for frames, _, _ in leafless.samples:
            self.assertNotIn('nothing', [frame[0] for frame in frames])
            self.assertTrue(frames[-1][0].startswith('ladder-driver/'))

    def test_without_names(self):
        path = self.recorded([harness.app('ladder', 'driver'), '2'], '--symbols', 'none')
        stacks = self.folded(path, 'launches', notes=1)
        self.assertTrue(all(re.search(r'\+0x[0-9a-f]+$', frame)
                            for frames in stacks for frame in frames[:-1]), stacks)
        self.assertFalse(any(mapping['has_functions']
                             for mapping in self.profile(path).raw['mapping']))
        self.assertEqual(harness.tsctl('symbolize', path).status, 0)
        self.assertTrue(all('climb' in frames for frames in self.folded(path, 'launches')))

    def test_without_stacks(self):
        path = self.recorded([harness.app('ladder', 'driver'), '2'], '--stacks', 'none')
        self.check_sums(path)
        self.assertEqual(self.folded(path, 'launches'), {('[no stack]', 'nothing'): 3})
        self.profile(path)

    # ---- parts of traces ------------------------------------------------------------------------

    def test_windows(self):
        path = self.recorded([harness.app('pipeline', 'driver')], '--stacks', 'none')
        trace = harness.Trace(path)
        times = sorted(row['start_ns'] for row in trace.of(*harness.DEVICE_TYPES))
        whole = self.stats(path)
        generator = random.Random(5)
        for _ in range(4):
            first, last = sorted(generator.sample(range(len(times)), 2))
            window = ('--from', '@%d' % times[first], '--to', '@%d' % times[last])
            want = self.check_sums(path, *window)
            self.assertLess(want['gpu-time'], whole['gpu-time'])
            # Nothing has lost its call for the window.
            self.assertFalse([frames for frames in self.folded(path, 'gpu-time', *window)
                              if frames[0] == '[unknown]'])
        empty = self.folded(path, 'gpu-time', '--from', '3600s', notes=1)
        self.assertEqual(empty, {})

    def test_cut_and_damaged(self):
        path = self.recorded([harness.app('threads', 'driver')], '--symbols', 'none')
        with open(path, 'rb') as stream:
            whole = stream.read()
        hurt = self.path('hurt.sbt')
        generator = random.Random(7)
        for number in range(8):
            data = bytearray(whole)
            if number % 2:
                del data[generator.randrange(64, len(data)):]
            else:
                data[generator.randrange(64, len(data))] ^= 1 << generator.randrange(8)
            with open(hurt, 'wb') as stream:
                stream.write(data)
            viewed = harness.tsctl('view', '--json', hurt)
            result = harness.tsctl('export', '--format', 'folded', '--weight', 'gpu-time', hurt)
            self.assertIn(result.status, (0, 2), result)
            # It needs definitions that `view` does without.
            if result.status and not viewed.status:
                self.assertIn('is damaged at byte', result.err)
            # The file's own sums may count what is damaged: rows are what can be read.
            gpu_ns = sum(row['end_ns'] - row['start_ns'] for row in map(json.loads, viewed.out.splitlines())
                         if row['type'] in harness.DEVICE_TYPES)
            if viewed.out:
                self.assertEqual(sum(read_folded(result.out).values()), gpu_ns, result)
            out = self.path('hurt.pb.gz')
            result = harness.tsctl('export', '--format', 'pprof', '-o', out, hurt)
            if os.path.exists(out):
                self.assertEqual(pprof.Profile(out).total('gpu'), gpu_ns)
                os.unlink(out)
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith('hurt.pb')])

    def test_no_gpu_operation(self):
        path = self.path('recorded.sbt')
        harness.run([harness.TSCTL, 'record', '-q', '-o', path, '--', harness.app('plain')],
                    harness.record_environment(), cwd=self.folder)
        self.assertEqual(self.folded(path, notes=1), {})
        self.assertEqual(self.profile(path).samples, [])

    # ---- what is written where ------------------------------------------------------------------

    def test_output(self):
        path = self.recorded([harness.app('ladder', 'driver'), '1'], '--stacks', 'none')
        want = harness.tsctl('export', '--format', 'folded', path).out
        out = self.path('out.txt')
        os.symlink('real.txt', out)
        with open(self.path('real.txt'), 'w', encoding='utf-8') as stream:
            stream.write('what was there before')
        for _ in range(2):
            self.assertEqual(harness.tsctl('export', '--format', 'folded', '-o', out, path).status, 0)
            with open(self.path('real.txt'), encoding='utf-8') as stream:
                self.assertEqual(stream.read(), want)
        self.assertTrue(os.path.islink(out))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o666 & ~mask)
        self.assertEqual(harness.tsctl('export', '--format', 'folded', '-o', '-', path).out, want)
        self.assertEqual(harness.tsctl('export', '--format', 'folded', '-o', '/dev/null', path).status, 0)
        self.assertTrue(stat.S_ISCHR(os.stat('/dev/null').st_mode))
        self.assertEqual(harness.tsctl('export', '--format', 'folded', '-o', '/proc/self/fd/1', path).out, want)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ['out.txt', 'real.txt', 'recorded.sbt', 'truth'])

    def test_refusals(self):
        path = self.recorded([harness.app('ladder', 'driver'), '1'], '--stacks', 'none')
        with open(path, 'rb') as stream:
            trace = stream.read()
        missing = os.path.join(self.folder, 'nowhere', 'x')
        for arguments, words in (
                (['--format', 'folded', '-o', path, path], 'not overwritten'),
                (['--format', 'folded', '-o', self.folder, path], 'directory'),
                (['--format', 'folded', '-o', missing, path], 'No such file'),
                (['--format', 'folded', '-o', '/dev/full', path], 'No space'),
                (['--format', 'jpeg', path], 'perfetto'),
                ([path], '--format'),
                (['--format', 'folded'], 'one trace file'),
                (['--format', 'folded', '--weight', 'age', path], 'gpu-time'),
                (['--format', 'folded', '--type', 'api', path], 'kernel'),
                (['--format', 'folded', '--from', '2s', '--to', '1s', path], 'before'),
                (['--format', 'folded', '--nonsense', path], 'unknown option'),
                (['--format', 'folded', PROGRAM], 'is not a trace')):
            result = harness.tsctl('export', *arguments)
            self.assertEqual((result.status, len(result.err.splitlines())), (2, 1), result)
            self.assertIn(words, result.err)
        with open(path, 'rb') as stream:
            self.assertEqual(stream.read(), trace)
        self.assertEqual(sorted(os.listdir(self.folder)), ['recorded.sbt', 'truth'])


if __name__ == '__main__':
    harness.main()
