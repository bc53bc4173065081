#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""1,000,000 launches from 4 threads: every one is in the trace, or counted as lost with its reason."""
import os

import harness

# A sanitizer makes each launch many times as dear; what is tested does not depend on the number.
LAUNCHES = 50000 if harness.SANITIZER else 1000000


# Records that nobody had room for, or time; calls that lack their device rows for that are told beside these.
DROPPED = ('ring_full', 'no_shard', 'no_buffer', 'cupti_dropped', 'zero_timestamp', 'late')


class Stress(harness.Case):
    def check_all_there(self, trace, truth):
        launches = truth.n_launches()
        self.assertEqual(launches, LAUNCHES)
        kernels, calls = trace.counts.get('kernel', 0), trace.counts.get('api', 0)
        lost = trace.lost
        unknown = set(lost) - set(DROPPED) - {'unjoined_api', 'unjoined_device', 'unfinished', 'stack_truncated'}
        self.assertEqual(unknown, set(), 'nothing but overload may cost records')
        dropped = self.dropped(trace)
        if not lost.get('ring_full', 0) + lost.get('no_shard', 0):
            self.assertEqual(kernels + lost.get('unjoined_api', 0), launches, trace.info)
            self.assertEqual(self.launch_calls(trace), launches, trace.info)
        else:
            # A launch makes two records; each is a row or one of the dropped.
            self.assertGreaterEqual(kernels + self.launch_calls(trace) + dropped, 2 * launches)
            self.assertLessEqual(kernels, launches)
        self.assertLessEqual(calls, launches + 1000)
        self.assertEqual(harness.tsctl('verify', trace.path, seconds=120).status, 0)

    def dropped(self, trace):
        return sum(trace.lost.get(reason, 0) for reason in DROPPED)

    def launch_calls(self, trace):
        result = harness.tsctl('view', '--stats', '--json', trace.path, seconds=120)
        self.assertEqual(result.status, 0, result)
        stats = harness.json.loads(result.out)
        return sum(entry['count'] for entry in stats['api']
                   if entry['name'] in harness.LAUNCHES.values())

    def test_preload(self):
        result, traces = self.preload([self.app('stress'), str(LAUNCHES), '4'],
                                      seconds=180)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(len(traces), 1)
        self.check_all_there(harness.Trace(traces[0]), self.truth())

    def test_record_runtime(self):
        form = 'runtime' if os.path.exists(os.path.join(harness.APPS, 'stress-runtime')) \
            else 'driver'
        result, path = self.record([harness.app('stress', form), str(LAUNCHES), '4'], '--vgpu',
                                   '-q', seconds=180)
        self.assertEqual(result.status, 0, result)
        self.check_all_there(harness.Trace(path), self.truth())

    def test_tiny_ring_loses_by_count(self):
        """A ring that cannot hold a burst drops, and the sum still holds."""
        launches = LAUNCHES // 10
        result, path = self.record([self.app('stress'), str(launches), '4'],
                                   '--vgpu', '-q', '--ring-size', '64K', seconds=180)
        self.assertEqual(result.status, 0, result)
        trace = harness.Trace(path)
        found = trace.counts.get('kernel', 0) + self.launch_calls(trace)
        dropped = self.dropped(trace)
        self.assertLessEqual(found, 2 * launches)
        self.assertGreaterEqual(found + dropped, 2 * launches, trace.info)
        if not dropped:
            self.assertEqual(found, 2 * launches)


StressOverHip = harness.over_hip(Stress, but=['test_record_runtime'])


if __name__ == '__main__':
    harness.main()
