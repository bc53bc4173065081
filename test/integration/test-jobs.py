#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs and ranks: each session has those of its own process's environment; info, merge, export and the Python package show them."""
import json
import os

import harness
import package

ALL = ('SLURM_JOB_ID', 'SLURM_PROCID', 'SLURM_NTASKS', 'SLURM_LOCALID', 'RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'OMPI_COMM_WORLD_RANK',
       'OMPI_COMM_WORLD_SIZE', 'OMPI_COMM_WORLD_LOCAL_RANK', 'PMI_RANK', 'PMI_SIZE', 'MPI_LOCALRANKID')
KEYS = ('job', 'rank', 'ranks', 'local_rank')


class Jobs(package.Case):
    def traced(self, name, argv, **variables):
        """The path of a trace of a command with these variables alone."""
        path = self.path(name)
        result = harness.run([harness.TSCTL, 'record', '-q', '--vgpu=small', '-o', path, '--', *argv],
                             harness.record_environment(**{**dict.fromkeys(ALL), **variables}), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return path

    def jobs(self, path):
        """The job and ranks of each session, as info --json has them."""
        sessions = json.loads(harness.tsctl('info', '--json', path).out)['sessions']
        return [{key: session[key] for key in KEYS if key in session} for session in sessions]

    def folders(self, *options):
        """The folders by job and rank of a data set."""
        result = harness.tsctl('export', '--format', 'arrow', '-o', self.path('data'), *options)
        self.assertEqual(result.status, 0, result)
        return sorted('%s/%s' % (job, rank) for job in os.listdir(self.path('data')) for rank in os.listdir(self.path('data', job)))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def test_workers(self):
        """A launcher sets its workers' ranks: one recording has a session for each."""
        app = harness.app('pipeline', 'driver')
        path = self.traced('workers.sbt', ['/bin/sh', '-c', 'for i in 0 1; do RANK=$i LOCAL_RANK=$i WORLD_SIZE=2 %s; done' % app],
                           SLURM_JOB_ID='4711', SLURM_PROCID='0')
        wanted = [{'job': '4711', 'rank': rank, 'ranks': 2, 'local_rank': rank} for rank in (0, 1)]
        self.assertEqual(self.jobs(path), wanted)
        text = harness.tsctl('info', path).out
        for rank in (0, 1):
            self.assertIn('session %d: job 4711, rank %d of 2, local rank %d\n' % (rank + 1, rank, rank), text)
        self.assertEqual(self.folders(path), ['job=4711/rank=0', 'job=4711/rank=1'])
        self.python('''
import sys, tracesmith
trace = tracesmith.open(sys.argv[1])
assert trace.sessions['job'].texts() == ['4711', '4711'] and list(trace.sessions['rank']) == [0, 1], list(trace.sessions)
assert list(trace.sessions['n_ranks']) == [2, 2] and list(trace.sessions['job_flags']) == [3, 3]
''', path)

    def test_merged_ranks(self):
        """One trace a rank, merged: each session keeps its own, and the options of export replace them."""
        app = [harness.app('pipeline', 'driver')]
        paths = [self.traced('rank%d.sbt' % rank, app, SLURM_JOB_ID='job/7', SLURM_PROCID=str(rank), SLURM_NTASKS='3') for rank in range(2)]
        paths.append(self.traced('alone.sbt', app))
        wanted = [{'job': 'job/7', 'rank': rank, 'ranks': 3} for rank in range(2)] + [{}]
        self.assertEqual([self.jobs(path)[0] for path in paths], wanted)
        self.assertNotIn('rank', harness.tsctl('info', paths[2]).out)
        merged = self.path('merged.sbt')
        self.assertEqual(harness.tsctl('merge', '-o', merged, *paths).status, 0)
        self.assertEqual(sorted(self.jobs(merged), key=str), sorted(wanted, key=str))
        self.assertEqual(self.folders(merged), ['job=job%2F7/rank=0', 'job=job%2F7/rank=1', 'job=unknown/rank=unknown'])
        self.assertIn('job=train/rank=9', self.folders('--job', 'train', '--rank', '9', merged))

    def test_own_traces(self):
        """A program that writes its own trace names job and rank in the session's row, or for the whole file."""
        self.python('''
import tracesmith
with tracesmith.SBTWriter('row.sbt') as writer:
    writer.session(pid=7, job='train', rank=0, start_ns=1).emit('mark', start_ns=5, name='here')
with tracesmith.SBTWriter('file.sbt', job='train', rank='4') as writer:
    writer.session(pid=7, start_ns=1).emit('mark', start_ns=5, name='here')
''')
        self.assertEqual(self.jobs(self.path('row.sbt')), [{'job': 'train', 'rank': 0}])
        self.assertEqual(self.folders(self.path('row.sbt')), ['job=train/rank=0'])
        self.assertEqual(self.jobs(self.path('file.sbt')), [{}])
        self.assertEqual(self.folders(self.path('file.sbt')), ['job=train/rank=0', 'job=train/rank=4'])


if __name__ == '__main__':
    harness.main()
