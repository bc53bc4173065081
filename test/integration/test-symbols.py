#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names for stacks: there when a recording ends, there on demand, and for every program the same as addr2line's."""
import json
import os
import re
import shutil
import subprocess

import harness

TSCTL = os.path.join(harness.BUILD, 'tools/tsctl/tsctl')


class Symbols(harness.Case):
    def stacks(self, path):
        result = harness.run([TSCTL, 'view', '--json', '--stacks', '--type', 'api', path])
        self.assertEqual(result.status, 0, result)
        rows = [json.loads(line) for line in result.out.splitlines()]
        return [row['stack'] for row in rows if 'stack' in row]

    def check_main(self, stacks):
        """Every launch was made below main(), in the program's own source."""
        self.assertTrue(stacks)
        found = [symbol for stack in stacks for symbol in stack['symbols']
                 if symbol.get('function') == 'main']
        self.assertTrue(found)
        for symbol in found:
            self.assertTrue(symbol['file'].endswith('/saxpy.c'), symbol)
            self.assertGreater(symbol['line'], 0)

    def test_record(self):
        result, path = self.record([self.app('saxpy')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        self.check_main(self.stacks(path))
        text = harness.run([TSCTL, 'view', '--stacks', '--type', 'api', path])
        self.assertRegex(text.out, r'main [^ ]*/saxpy\.c:\d+\n')

    def installed(self, worker):
        """The program's files in a folder of their own, with that worker; None: without one."""
        for path in (TSCTL, harness.LIBRARY, harness.DAEMON, harness.SHIM):
            copy = self.path(os.path.relpath(path, harness.BUILD))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(path, copy)
        os.symlink(harness.VGPU, self.path('tools/vgpu'))
        if worker:
            path = self.path('daemon/worker/tracesmith-worker')
            os.mkdir(os.path.dirname(path))
            with open(path, 'w', encoding='utf-8') as stream:
                stream.write(worker)
            os.chmod(path, 0o755)
        return self.path(os.path.relpath(TSCTL, harness.BUILD))

    def check_nameless(self, worker, why):
        tsctl = self.installed(worker)
        result = harness.run([tsctl, 'record', '--vgpu', '-o', self.path('run.sbt'), '--', self.app('saxpy')],
                             harness.environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        self.assertIn('nothing lost; stacks have no names: ' + why, result.err)

    def test_without_a_worker(self):
        """The recording says so itself: its stacks would be addresses, and nobody would know why."""
        self.check_nameless(None, 'tracesmith-worker is not installed')

    def test_a_worker_that_cannot_start(self):
        """As one whose libraries are missing."""
        self.check_nameless('#!/bin/sh\nexit 127\n', 'the worker ended')

    def test_on_demand(self):
        result, traces = self.preload([self.app('saxpy')])
        self.assertEqual(result.status, 0, result)
        path, = traces
        self.assertFalse(any(stack['symbols'] for stack in self.stacks(path)))
        # The process is gone, its files are not.
        result = harness.run([TSCTL, 'symbolize', '--json', path])
        self.assertEqual(result.status, 0, result)
        report = json.loads(result.out)
        self.assertGreater(report['named'], 0)
        self.assertLessEqual(report['named'], report['addresses'])
        self.check_main(self.stacks(path))
        result = harness.run([TSCTL, 'verify', path])
        self.assertEqual(result.status, 0, result)

    def test_same_as_addr2line(self):
        if not shutil.which('addr2line'):
            self.skipTest('no addr2line (Debian: binutils)')
        result, path = self.record([self.app('saxpy')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        wanted = {}
        for stack in self.stacks(path):
            for frame in range(1, len(stack['frames'])):
                symbols = [symbol for symbol in stack['symbols'] if symbol['frame'] == frame]
                if symbols and '/saxpy-' + self.form in symbols[0]['module']:
                    wanted[symbols[0]['offset'] - 1] = symbols
        self.assertGreater(len(wanted), 3)
        for address, symbols in wanted.items():
            out = subprocess.run(['addr2line', '-f', '-i', '-C', '-e', symbols[0]['module'],
                                  hex(address)], stdout=subprocess.PIPE, check=True).stdout.decode().split('\n')
            theirs = [(out[i], re.sub(r' \(.*', '', out[i + 1])) for i in range(0, len(out) - 1, 2)]
            ours = [(symbol.get('function', '??'),
                     '%s:%s' % (symbol.get('file', '??'), symbol.get('line', '?'))) for symbol in symbols]
            self.assertEqual([name for name, _ in ours], [name for name, _ in theirs])
            if symbols[0].get('file'):
                self.assertEqual([os.path.normpath(place) for _, place in ours],
                                 [os.path.normpath(place) for _, place in theirs])

    def test_file_of_another_build(self):
        """The program was built anew since: its old names are gone, and no new ones are made up."""
        program = self.path('program')
        shutil.copy(self.app('saxpy'), program)
        result, traces = self.preload([program])
        self.assertEqual(result.status, 0, result)
        shutil.copy(harness.app('pipeline', 'driver'), program)
        report = json.loads(harness.run([TSCTL, 'symbolize', '--json', traces[0]]).out)
        image = [image for image in report['images'] if image['path'] == program][0]
        self.assertEqual(image['result'], 'other_file')
        self.assertEqual(image['named'], 0)
        # It comes back: so do the names.
        shutil.copy(self.app('saxpy'), program)
        result = harness.run([TSCTL, 'symbolize', traces[0]])
        self.assertEqual(result.status, 0, result)
        self.check_main(self.stacks(traces[0]))

    def test_bad_usage(self):
        for argv in ([], ['/nonexistent.sbt'], [self.app('saxpy')], ['a', 'b']):
            result = harness.run([TSCTL, 'symbolize'] + argv)
            self.assertEqual(result.status, 2, result)
            self.assertEqual(len(result.err.splitlines()), 1, result)


SymbolsOverHip = harness.over_hip(Symbols, 'test_record', 'test_on_demand', 'test_same_as_addr2line')


if __name__ == '__main__':
    harness.main()
