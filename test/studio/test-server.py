#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers of Studio's server that no command of tsctl prints as they are: lanes of the trace."""
import json

import studio

studio.skip_if_absent()
import harness  # noqa: E402

THREAD_KINDS = ('thread', 'ranges', 'kernel_events', 'host_samples')


class Lanes(harness.Case):
    def test_threads_have_the_number_of_the_kernel(self):
        for name in ('pipeline', 'delays'):
            tids = {row['tid'] for row in studio.rows(studio.golden(name)) if row['type'] == 'api'}
            with studio.Server(studio.golden(name)) as server:
                lanes = server.get('trace')['lanes']
            self.assertTrue(tids <= {lane['tid'] for lane in lanes if lane['kind'] == 'thread'})
            for lane in lanes:
                self.assertEqual('tid' in lane, lane['kind'] in THREAD_KINDS, lane)
                if lane['kind'] == 'thread':
                    self.assertIn('(thread %d)' % lane['tid'], lane['name'])

    def test_own_counters_are_folded(self):
        with studio.Server(studio.golden('capture')) as server:
            lanes = server.get('trace')['lanes']
        folded = {lane['name'] for lane in lanes if lane.get('folded')}
        self.assertTrue(folded)
        self.assertEqual(folded, {lane['name'] for lane in lanes if lane['kind'] == 'counter' and lane['name'].startswith('tracesmith: ')})

    def test_second_origin(self):
        infos = [json.loads(harness.tsctl('info', '--json', studio.golden(name)).out) for name in ('pipeline', 'pipeline-longer')]
        origins = [min(session['start_ns'] for session in info['sessions']) for info in infos]
        with studio.Server(studio.golden('pipeline'), studio.golden('pipeline-longer')) as server:
            trace = server.get('trace')
        self.assertEqual([trace['origin_ns'], trace['second_origin_ns']], origins)
        self.assertGreater(trace['second_duration_ns'], trace['duration_ns'])


if __name__ == '__main__':
    harness.main()
