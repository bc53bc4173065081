#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks that were seen before are recognised, and those that are recognised are right, in whole programs."""
import harness


class Stacks(harness.Case):
    def counters(self, argv):
        """How often each way was gone at the end, every stack being unwound in full as well."""
        result, traces = self.preload(argv, TRACESMITH_STACKS_CHECK='1')
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(traces[0])
        self.assertNotIn('no_stack', trace.lost)
        last = {}
        for row in trace.of('counter'):
            if row['domain'] == 'tracesmith':
                last[row['name']] = row['value']
        return last

    def check(self, argv, n_at_least):
        last = self.counters(argv)
        self.assertEqual(last['stacks that differ'], 0, last)
        self.assertGreaterEqual(last['stacks recognised'], n_at_least, last)
        # The rest is what was new: told once, told twice.
        self.assertLess(last['stacks walked'] + last['stacks unwound'], 200, last)

    def test_one_thread(self):
        self.check([self.app('stress'), '20000'], 19900)

    def test_four_threads(self):
        self.check([self.app('stress'), '20000', '4'], 19800)

    def test_a_program_of_many_calls(self):
        last = self.counters([self.app('pipeline')])
        self.assertEqual(last['stacks that differ'], 0, last)


StacksOverHip = harness.over_hip(Stacks)
StacksOverHipSymbols = harness.over_hip(Stacks, form='hip5')


if __name__ == '__main__':
    harness.main()
