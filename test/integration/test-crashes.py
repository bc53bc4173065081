#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A short run that crashes keeps the kernels that it had waited for; the others are counted.

TS_CRASHES is how many runs there are of each way to die and each time, 3 if it is not set.
"""
import collections
import os
import signal

import harness

WAYS = {'abort': signal.SIGABRT, 'segv': signal.SIGSEGV, 'kill': signal.SIGKILL}
MILLISECONDS = (1, 3, 10, 30)
# What was waited for this long before the end is to be kept.
KEPT_NS = 2000000


class Crashes(harness.Case):
    def run_once(self, how, milliseconds):
        """Returns whether everything was kept that is to be."""
        result, path = self.record([harness.app('crashes', 'driver'), how, str(milliseconds)], '--vgpu', '-q', '-f')
        self.assertEqual(result.status, 128 + WAYS[how], result)
        ages = [int(age) for age in result.out.split()]
        self.assertEqual(len(ages), 100)
        trace = harness.Trace(path)
        self.assertEqual([session['state'] for session in trace.info['sessions']], ['died'])
        launches = [row['op_id'] for row in trace.of('api') if row['name'].startswith('cuLaunchKernel')]
        kept = {row['op_id'] for row in trace.of('kernel')}
        self.assertEqual(len(launches), 100)
        # The rest is counted.
        self.assertEqual(len(kept) + trace.lost.get('unjoined_api', 0), 100)
        self.assertEqual(set(trace.lost) - {'unjoined_api'}, set())
        return all(op_id in kept for op_id, age in zip(sorted(launches), ages) if age > KEPT_NS)

    def test_what_was_waited_for_is_kept(self):
        n = int(os.environ.get('TS_CRASHES', '3'))
        whole = collections.Counter()
        for how in WAYS:
            for milliseconds in MILLISECONDS:
                for _ in range(n):
                    whole[how, milliseconds] += self.run_once(how, milliseconds)
        print('of %d runs each, whole: %s' % (n, ', '.join('%s %d ms: %d' % (*key, count) for key, count in whole.items())), flush=True)
        self.assertGreaterEqual(sum(whole.values()), n * len(WAYS) * len(MILLISECONDS) * 0.9)


if __name__ == '__main__':
    harness.main()
