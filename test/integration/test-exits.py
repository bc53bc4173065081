#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However a process ends: what it did is in the trace, and its parent sees the end that it chose."""
import signal

import harness

# how: (argument, exit status as subprocess has it, what the session's end is)
ENDS = {
    'return': (7, 7, 'ended'),
    'exit': (8, 8, 'ended'),
    '_exit': (9, 9, 'ended'),
    '_Exit': (10, 10, 'ended'),
    'quick_exit': (11, 11, 'ended'),
    'thread': (12, 12, 'ended'),
    'fork': (13, 13, 'ended'),
    'abort': (0, -signal.SIGABRT, 'died'),
    'signal': (signal.SIGTERM, -signal.SIGTERM, 'died'),
    'vain-exec': (14, 14, 'ended'),
}
# A program that replaces itself, by every call that does it.
ENDS.update({how: (0, 6, 'ended') for how in (
    'execl', 'execlp', 'execle', 'execv', 'execve', 'execvp', 'execvpe', 'exec-fd', 'execveat')})


class Exits(harness.Case):
    def check(self, how, form, recorded):
        argument, status, state = ENDS[how]
        argv = [harness.app('exits', form), how, str(int(argument))]
        alone = harness.run(argv, harness.alone_environment(), cwd=self.folder)
        self.assertEqual(alone.status, status, alone)
        if recorded:
            result, path = self.record(argv, '--vgpu', '-q')
            # A shell's way of telling a signal, since tsctl is the application's parent.
            self.assertEqual(result.status, status if status >= 0 else 128 - status, result)
        else:
            result, traces = self.preload(argv)
            self.assertEqual(result.status, status, result)
            traces = traces or self.traces_appear()
            self.assertEqual(len(traces), 1, traces)
            path = traces[0]
        self.assertEqual((result.out, result.err), (alone.out, alone.err))
        trace = self.finished_trace(path)
        if state == 'ended':
            self.check_truth(trace, self.truth())
        else:
            self.check_died(trace)
        self.assertEqual([session['state'] for session in trace.info['sessions']], [state])

    def check_died(self, trace):
        """Every call is there; a launch is a kernel row, or counted as unjoined: CUPTI held it."""
        truth = self.truth()
        self.check_calls_exactly(trace, truth)
        missing = trace.lost.get('unjoined_api', 0)
        device_rows = sum(trace.counts.get(kind, 0) for kind in harness.DEVICE_TYPES)
        asked = truth.n_launches() + sum(truth.copies) + truth.sets
        self.assertEqual(device_rows + missing, asked, trace.info)
        self.assertEqual(set(trace.lost) - {'unjoined_api'}, set())

    def check_calls_exactly(self, trace, truth):
        calls = truth.calls_by_name()
        found = {name: 0 for name in calls}
        for row in trace.of('api'):
            if row['name'] in found:
                found[row['name']] += 1
        self.assertEqual(found, calls)


def add(how, form):
    name = how.replace('-', '_').strip('_') + ('_bare' if how.startswith('_') else '')
    setattr(Exits, 'test_preload_%s_%s' % (name, form), lambda self: self.check(how, form, False))
    setattr(Exits, 'test_record_%s_%s' % (name, form), lambda self: self.check(how, form, True))


for end in ENDS:
    add(end, 'driver')
    add(end, 'hip')
for end in ('return', '_exit', 'quick_exit', 'thread'):
    add(end, 'runtime')


if __name__ == '__main__':
    harness.main()
