#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of tools/library answer as tsctl does: one program for each question of README.md."""
import json
import os
import re
import subprocess
import unittest

import harness

TRACES = os.path.join(harness.SOURCE, 'test', 'integration', 'golden')
SOURCES = os.path.join(harness.SOURCE, 'tools', 'library', 'examples')
# Written before the library had questions: they read rows, columns and sums, or write.
LONG = {'columns.c', 'kernels.c', 'state.c', 'write.c'}


def trace(name):
    return os.path.join(TRACES, name + '.sbt')


def tsctl(command, *words):
    result = harness.tsctl(command, '--json', *words)
    return [json.loads(line) for line in result.out.splitlines()]


class Examples(harness.Case):
    def ask(self, name, *words, status=0):
        """The lines of an example, split at tabs."""
        result = harness.run([os.path.join(harness.BUILD, 'tools', 'library', 'example-' + name), *words], env=harness.record_environment())
        self.assertEqual(result.status, status, result)
        self.assertEqual(bool(result.err), bool(status), result)
        return [line.split('\t') for line in result.out.splitlines()] if not status else result.err

    def test_slow(self):
        for name in ('pipeline', 'train', 'names'):
            [stats] = tsctl('view', '--stats', '--type', 'kernel', '-n', '10', trace(name))
            self.assertEqual(self.ask('slow', trace(name)),
                             [[str(kernel['total_ns']), str(kernel['count']), kernel['name'],
                               kernel['launched_by'][0].get('frame', '-') if kernel.get('launched_by') else '-']
                              for kernel in stats['kernels']])

    def test_idle(self):
        for name in ('delays', 'pipeline'):
            [report] = tsctl('timeline', trace(name))
            expected = []
            for device in report['devices']:
                number = str(device['device'])
                expected += [[number, 'busy', str(device['busy_ns'])], [number, 'idle', str(device['idle_ns'])]]
                expected += [[number, part['cause'], str(part['ns'])] for part in device['idle']]
            self.assertGreater(len(expected), 2)
            self.assertEqual(self.ask('idle', trace(name)), expected)

    def frames(self, stack):
        """The frames of an answer, as the example prints them."""
        symbols = stack.get('symbols', [])
        if not symbols:
            return [['', frame] for frame in stack['frames']]
        return [['', '%s (%s:%d)' % (symbol['function'], symbol.get('file', '?'), symbol.get('line', 0))]
                for symbol in symbols if 'function' in symbol]

    def test_failed_calls(self):
        rows = tsctl('view', '--errors', '--stacks', '--type', 'api', trace('failing'))
        expected = []
        for row in rows:
            expected += [[str(row['op_id']), row['name'], row['error']], *self.frames(row['stack'])]
        self.assertGreater(len(rows), 0)
        self.assertEqual(self.ask('launched', trace('failing')), expected)

    def test_launched(self):
        rows = tsctl('view', '--stacks', '--type', 'kernel', '--name', 'saxpy', trace('pipeline'))
        expected = []
        for row in rows:
            expected += [[str(row['op_id']), 'saxpy', row['thread_name']], *self.frames(row['stack'])]
        self.assertGreater(len(rows), 1)
        self.assertEqual(self.ask('launched', trace('pipeline'), 'saxpy'), expected)

    def test_changed(self):
        before, after = trace('pipeline'), trace('pipeline-longer')
        [report] = tsctl('diff', before, after)
        expected = [[name['verdict'], name['type'], name['name'], *(str(name.get(side, {}).get('total_ns', 0)) for side in ('before', 'after'))]
                    for name in report['names'] if name['verdict'] not in ('same', 'few')]
        self.assertGreater(len(expected), 2)
        self.assertEqual(self.ask('changed', before, after), expected)
        self.assertEqual(self.ask('changed', before, before), [])

    def test_export(self):
        for form in ('folded', 'json', 'perfetto', 'pprof'):
            outputs = [subprocess.run(argv, env=harness.record_environment(), stdout=subprocess.PIPE, timeout=harness.SECONDS, check=True).stdout
                       for argv in ([os.path.join(harness.BUILD, 'tools', 'library', 'example-export'), trace('pipeline'), form],
                                    [harness.TSCTL, 'export', '--format', form, trace('pipeline')])]
            self.assertGreater(len(outputs[0]), 100)
            self.assertEqual(*outputs)
        self.assertIn('no such format', self.ask('export', trace('pipeline'), 'nothing', status=2))

    def test_memory(self):
        [report] = tsctl('memory', trace('train'))

        def lines(when, key):
            return [[when, str(one['bytes']), '0x%x' % one['address'], one['kind']] for one in report.get(key, [])]

        self.assertEqual(self.ask('memory', trace('train')),
                         [['peak', str(report['peak_bytes'])], *lines('at peak', 'at_peak'),
                          ['leaked', str(report['never_freed_bytes'])], *lines('never freed', 'never_freed')])
        self.assertGreater(report['never_freed_bytes'], 0)

    def test_races(self):
        result = tsctl('replay', '--on', 'vgpu', '--check', trace('race'))[-1]
        lines = self.ask('races', trace('race'))
        self.assertEqual(lines[0], [result['verdict'], str(result['replays'])])
        self.assertEqual(lines[1:], [[one['kind'], one.get('kernel', '-'), str(one['times'])] for one in result['findings']])
        self.assertIn('race', [line[0] for line in lines[1:]])
        self.assertIn('no capture', self.ask('races', trace('pipeline'), status=2))

    def test_what_if(self):
        for edits in (['kernel saxpy=2x'], ['kernel *=0.5x', 'kernel scale=2x']):
            words = [word for edit in edits for word in ('--what-if', edit)]
            [report] = tsctl('replay', *words, trace('pipeline'))
            self.assertEqual(self.ask('what-if', trace('pipeline'), *edits),
                             [[name, str(report[key]['makespan_ns'])] for name, key in
                              (('recorded', 'recorded'), ('repeated', 'emulated'), ('edited', 'edited'))])
        self.assertIn('nonsense', self.ask('what-if', trace('pipeline'), 'nonsense', status=2))

    def test_no_daemon(self):
        """test-live.py runs the example with a daemon."""
        env = harness.record_environment(TRACESMITH_CONTROL=self.path('nobody.sock'))
        result = harness.run([os.path.join(harness.BUILD, 'tools', 'library', 'example-node')], env=env)
        self.assertEqual((result.status, result.out, result.err), (2, '', '%s: No such file or directory\n' % self.path('nobody.sock')))

    def test_refusals(self):
        for name in ('changed', 'export', 'idle', 'launched', 'memory', 'races', 'slow', 'what-if'):
            self.assertIn('usage', self.ask(name, status=2))
        for name in ('idle', 'launched', 'memory', 'races', 'slow'):
            self.assertIn('missing.sbt', self.ask(name, self.path('missing.sbt'), status=2))

    def test_short(self):
        """Each example of a question fits on a page."""
        for name in sorted(os.listdir(SOURCES)):
            with open(os.path.join(SOURCES, name), encoding='utf-8') as stream:
                text = stream.read()
            if name.endswith('.c') and name not in LONG:
                self.assertLess(text.count('\n'), 80, name)
                self.assertTrue(re.search(r'^ \*     cc %s \$\(pkg-config ' % re.escape(name), text, re.M), name)


if __name__ == '__main__':
    unittest.main()
