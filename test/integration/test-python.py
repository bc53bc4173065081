#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python stacks in a trace: every launch of a Python program tells the functions and lines that made it."""
import json
import os
import sys
import unittest

import harness

# By the form of the test: the program, its arguments, and its call that launches a kernel. HIP by its dispatch tables: a program that
# finds functions by dlsym() is recorded by them alone.
PROGRAMS = {
    'driver': ('python-ctypes.py', ['4'], 'cuLaunchKernel'),
    'hip': ('python-hip.py', [os.path.join(harness.APPS, 'hip-code-plain.hipfb'), '4'], 'hipModuleLaunchKernel'),
}


def line_of(program, text):
    with open(program, encoding='utf-8') as source:
        return [i for i, line in enumerate(source, 1) if text in line]


@unittest.skipUnless((3, 8) <= sys.version_info[:2] <= (3, 13), "stacks of this Python are not read")
class Python(harness.Case):
    def setUp(self):
        super().setUp()
        name, self.arguments, self.call = PROGRAMS[self.form]
        self.program = os.path.join(harness.SOURCE, 'test', 'apps', name)

    def functions(self, *options):
        """For each launch the Python functions of its stack, the innermost first, and its frames."""
        result, path = self.record([sys.executable, self.program] + self.arguments, '--vgpu', '-q', *options)
        self.assertEqual(result.status, 0, result)
        rows = harness.tsctl('view', '--json', '--stacks', path).out.splitlines()
        launches = [row for row in map(json.loads, rows) if row.get('name') == self.call]
        self.assertEqual(len(launches), 8)
        trace = harness.Trace(path)
        self.assertEqual(trace.lost, {})
        return [[frame for frame in row['stack']['frames'] if not frame.startswith('0x')]
                for row in launches], trace

    def test_functions_and_lines(self):
        found, trace = self.functions()
        definition, = line_of(self.program, 'def launch(')
        for functions in found:
            self.assertEqual([function.split(' ')[0] for function in functions[:3]], ['call', 'launch', 'work'])
            for function in functions[:3]:
                self.assertIn('(%s:' % self.program, function)
            self.assertGreater(int(functions[1].rstrip(')').rsplit(':')[-1]), definition)
            # From a thread's start to its target, as the interpreter has it.
            self.assertTrue(any(function.startswith('_bootstrap ') for function in functions), functions)
        counters = {row['name']: row['value'] for row in trace.of('counter')}
        self.assertGreater(counters['stacks with Python functions'], 0)

    def test_native_alone(self):
        for functions in self.functions('--stacks', 'native')[0]:
            self.assertEqual(functions, [])


PythonOverHip = harness.over_hip(Python)


if __name__ == '__main__':
    harness.main()
