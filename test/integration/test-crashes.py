#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A short run that crashes keeps the kernels that it had waited for; the others are counted.

`--runs N`: so many runs of each way to die and each time; 3 in the ordinary run, 100 in the soak. At least 95 of 100 keep
everything. A run that does not is left out if the machine kept the flush thread waiting for a CPU: the program says for how long.
"""
import collections
import signal

import harness
from processes import option

RUNS = 3
WAYS = {'abort': signal.SIGABRT, 'segv': signal.SIGSEGV, 'kill': signal.SIGKILL}
MILLISECONDS = (1, 3, 10, 30)
# What was waited for this long before the end is to be kept.
KEPT_NS = 2000000
# The flush comes 1 ms after the work, and takes a part of the other one.
HINDERED_NS = 500000
WHOLE, LOST, HINDERED = 'whole', 'not whole', 'hindered'


class Crashes(harness.Case):
    def check_counted(self, path, n_missing):
        """A person reads how many calls lack their work, and why."""
        info = harness.tsctl('info', path)
        self.assertEqual(info.status, 0, info)
        lines = [line.split(None, 2) for line in info.out.splitlines() if 'unjoined_api' in line]
        self.assertEqual([line[:2] for line in lines], [[str(n_missing), 'unjoined_api']] if n_missing else [], info)
        for line in lines:
            self.assertIn('GPU work has no record', line[2])

    def run_once(self, how, milliseconds):
        """Returns what became of the kernels, and how many there are not."""
        result, path = self.record([self.app('crashes'), how, str(milliseconds)], '--vgpu', '-q', '-f',
                                   **harness.dying())
        self.assertEqual(result.status, 128 + WAYS[how], result)
        ages, waited = result.out.splitlines()
        ages = [int(age) for age in ages.split()]
        self.assertEqual(len(ages), 100)
        trace = harness.Trace(path)
        self.assertEqual([session['state'] for session in trace.info['sessions']], ['died'])
        launches = [row['op_id'] for row in trace.of('api') if row['name'].startswith(self.launch)]
        kept = {row['op_id'] for row in trace.of('kernel')}
        self.assertEqual(len(launches), 100)
        # The rest is counted.
        self.assertEqual(len(kept) + trace.lost.get('unjoined_api', 0), 100)
        self.assertEqual(set(trace.lost) - {'unjoined_api'}, set())
        if len(kept) < 100 or RUNS < 10:
            self.check_counted(path, 100 - len(kept))
        if all(op_id in kept for op_id, age in zip(sorted(launches), ages) if age > KEPT_NS):
            return WHOLE, 100 - len(kept)
        hindered = waited.startswith('at least') or int(waited) > HINDERED_NS
        return HINDERED if hindered else LOST, 100 - len(kept)

    def test_what_was_waited_for_is_kept(self):
        runs, missing = collections.Counter(), collections.Counter()
        for how in WAYS:
            for milliseconds in MILLISECONDS:
                for _ in range(RUNS):
                    what, n_missing = self.run_once(how, milliseconds)
                    runs[how, milliseconds, what] += 1
                    missing[how, milliseconds] += n_missing
        print('\n%-6s %4s %6s %10s %9s %18s' % ('end', 'ms', WHOLE, LOST, HINDERED, 'kernels counted'))
        for how in WAYS:
            for milliseconds in MILLISECONDS:
                cell = [runs[how, milliseconds, what] for what in (WHOLE, LOST, HINDERED)]
                print('%-6s %4d %6d %10d %9d %18d' % (how, milliseconds, *cell, missing[how, milliseconds]), flush=True)
                # Each by itself where there are enough of them.
                if RUNS >= 20:
                    self.assertGreaterEqual(cell[0], 0.95 * (cell[0] + cell[1]), (how, milliseconds, cell))
        whole, lost = (sum(n for (_, _, what), n in runs.items() if what == kind) for kind in (WHOLE, LOST))
        if whole + lost < RUNS * len(WAYS) * len(MILLISECONDS) / 2:
            self.skipTest('the machine is too busy: the flush thread waited for a CPU in most runs')
        # The ordinary run has few of them: 3 of 36 runs that lose their end say no more than 1 of 20.
        few = 1 if RUNS < 20 else 0
        self.assertGreaterEqual(whole + few, 0.95 * (whole + lost))


CrashesOverHip = harness.over_hip(Crashes)


if __name__ == '__main__':
    RUNS = option('--runs', RUNS)
    harness.main()
