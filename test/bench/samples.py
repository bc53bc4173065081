# SPDX-License-Identifier: Apache-2.0
"""What a sample of a thread on the processor costs, for `run.py host`: the sampler, the daemon, and the thread itself.

Sampler and daemon are measured by their own clocks while the subject works: at 199 Hz, and at the rate that the sampler chooses. The
thread's slow-down at 199 Hz is below what can be seen, so it is measured at 1 kHz, with samples switched off and on between blocks of work.
Each block is compared with its neighbours, by the thread's own clock. The quartiles of these comparisons show how far they can be trusted.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

NOBODY = 65534
RATE = 199
# As a service's option: not the sampler's own period, which it would change.
PERIOD = '5025us'
GOAL_NS = 15000
GOAL_SHARE = 0.003


def processor_ns(pid):
    """Processor time of all threads of a process so far, by its clock, which is exact; 0 of no process."""
    return time.clock_gettime_ns((~pid << 3) | 2) if pid else 0


def program_ns(pid):
    """Time of a run of the eBPF program that a process holds, by the kernel's count; 0: none, or the kernel does not count."""
    for path in glob.glob('/proc/%d/fdinfo/*' % pid) if pid else ():
        with contextlib.suppress(OSError), open(path, encoding='utf-8') as file:
            match = re.search(r'run_time_ns:\s*(\d+)\s*run_cnt:\s*(\d+)', file.read())
            if match and int(match[2]):
                return int(match[1]) / int(match[2])
    return 0


def child_of(parent, name):
    """The process of that name; 0: there is none."""
    for path in glob.glob('/proc/[0-9]*/stat'):
        with contextlib.suppress(OSError), open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
            if '(%s)' % name in text and int(text.rsplit(')', 1)[1].split()[1]) == parent:
                return int(path.split('/')[2])
    return 0


def quartiles(values):
    """Lower quartile, median and upper quartile."""
    ordered = sorted(values)
    return ordered[len(ordered) // 4], statistics.median(ordered), ordered[len(ordered) * 3 // 4]


class Unmeasured(Exception):
    """Why a case cannot be measured here."""


class Session:
    """A subject that a daemon records with samples; `events`: the daemon's option, or None."""

    def __init__(self, bench, prefix, argv, events):
        self.bench, self.prefix = bench, prefix
        self.stack = contextlib.ExitStack()
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        if prefix:
            os.chown(self.folder, NOBODY, NOBODY)
        socket, self.control = os.path.join(self.folder, 'inject'), os.path.join(self.folder, 'control')
        env = dict(os.environ, HOME=self.folder, XDG_RUNTIME_DIR=self.folder)
        # pylint: disable=consider-using-with
        self.daemon = subprocess.Popen(
            prefix + [bench.path('daemon/tracesmithd'), '--inject-socket', socket, '--control-socket', self.control, '--directory',
                      self.folder] + (['--kernel-events=' + events] if events else []), stderr=subprocess.DEVNULL, env=env)
        self.stack.callback(self.daemon.kill)
        bench.wait(lambda: os.path.exists(self.control))
        self.subject = subprocess.Popen(
            prefix + argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=dict(env, LD_PRELOAD=bench.path('inject/libtsinject.so'), TRACESMITH_SOCKET=socket,
                     LD_LIBRARY_PATH=os.path.join(bench.build, 'tools/vgpu')))
        self.stack.callback(self.subject.kill)
        if self.subject.stdout.readline() != 'ready\n':
            sys.exit('host: the subject did not start')
        self.sampler = child_of(self.daemon.pid, 'ts-sampler')
        self.on, self.blocks = True, []

    def work(self, n_slices, on=True):
        """Lets the subject work, with samples or without them. Appends to the blocks what it printed, and the processor time meanwhile."""
        if on != self.on:
            subprocess.run(self.prefix + [self.bench.path('tools/tsctl/tsctl'), 'start' if on else 'stop', '-q', str(self.subject.pid)],
                           env=dict(os.environ, TRACESMITH_CONTROL=self.control), check=True)
            self.on = on
        begun = [processor_ns(pid) for pid in (self.sampler, self.daemon.pid)]
        self.subject.stdin.write('%d\n' % n_slices)
        self.subject.stdin.flush()
        block = json.loads(self.subject.stdout.readline())
        block.update(on=on, sampler_ns=processor_ns(self.sampler) - begun[0], daemon_ns=processor_ns(self.daemon.pid) - begun[1],
                     ns=block['end_ns'] - block['start_ns'])
        self.blocks.append(block)
        return block

    def end(self):
        """Ends the subject. Returns the trace's info, and adds to each block the rows of its time."""
        program = program_ns(self.sampler)
        self.subject.communicate(timeout=300)
        self.bench.wait(lambda: glob.glob(os.path.join(self.folder, '**', '*.sbt'), recursive=True))
        trace, = glob.glob(os.path.join(self.folder, '**', '*.sbt'), recursive=True)
        info = self.bench.finished(trace)
        out = subprocess.run([self.bench.path('tools/tsctl/tsctl'), 'view', '--json', '--stacks', '--type', 'sample', trace],
                             stdout=subprocess.PIPE, check=True).stdout
        rows = [json.loads(line) for line in out.splitlines()]
        for block in self.blocks:
            block['rows'] = [row for row in rows if block['start_ns'] <= row['start_ns'] <= block['end_ns']]
        if self.sampler and not rows:
            raise Unmeasured(info['metadata'].get('samples_missing', 'no samples came'))
        self.daemon.terminate()
        self.daemon.wait()
        self.stack.close()
        return dict(info, program_ns=program)


def steady(bench, prefix, argv, events, seconds):
    """Sampler and daemon while the subject works so long: (the block, info). The first seconds, in which the rate falls, are left out."""
    session = Session(bench, prefix, argv, events)
    slice_s = sum(session.work(10)['slices']) / 1e10
    for warm_up in ((0.1, 0.2) if bench.smoke else (2 if events != 'samples' else 6, seconds)):
        block = session.work(max(1, int(warm_up / slice_s)))
    return block, session.end()


def slow_down(bench, prefix, argv):
    """Nanoseconds that each sample takes from the thread, by each pair of neighbours: (list, info, blocks)."""
    session = Session(bench, prefix, argv, 'samples:1ms')
    # on, off, off, on: what grows or falls meanwhile cancels out.
    for i in range(4 if bench.smoke else 100):
        session.work(10, i % 4 in (0, 3))
    info = session.end()
    found = []
    for one, other in zip(session.blocks, session.blocks[1:]):
        with_samples, without = (one, other) if one['on'] else (other, one)
        if with_samples['on'] == without['on'] or not with_samples['rows']:
            continue
        # The lower quartile: what other programs do to a slice only makes it longer.
        longer = quartiles(with_samples['slices'])[0] - quartiles(without['slices'])[0]
        found.append(longer * len(with_samples['slices']) / len(with_samples['rows']))
    if not found:
        raise Unmeasured('no samples came while samples were on')
    return found, info


def interrupt_ns(bench):
    """An interrupt of perf's clock by itself, the machine's part of each sample: 0 if it cannot be measured."""
    out = subprocess.run([bench.path('test/bench/bench-host'), 'interrupt', '5' if bench.smoke else '400'],
                         stdout=subprocess.PIPE, check=False).stdout
    return json.loads(out)['interrupt_ns'] if out else 0


def measure_case(bench, name, prefix, argv):
    """Prints the figures of a subject for one user."""
    floor = interrupt_ns(bench)
    without, _ = steady(bench, prefix, argv, None, 8)
    fixed, info = steady(bench, prefix, argv, 'samples:' + PERIOD, 10)
    own, own_info = (fixed, info) if bench.smoke else steady(bench, prefix, argv, 'samples', 8)
    thread, pairs_info = slow_down(bench, prefix, argv)
    if not fixed['rows'] or not own['rows']:
        raise Unmeasured('no samples came')
    idle = without['daemon_ns'] / without['ns']
    sampler = fixed['sampler_ns'] / len(fixed['rows'])
    daemon = (fixed['daemon_ns'] - idle * fixed['ns']) / len(fixed['rows'])
    low, middle, high = quartiles(thread)
    total = sampler + daemon + middle
    bench.say('a sample of a thread on the processor, %s' % name, '%.1f us' % (total / 1e3),
              '%d samples of %.0f frames, %d lost' % (len(fixed['rows']), statistics.mean(len(row['stack']['frames']) for row in fixed['rows']),
                                                     sum(info['lost'].values())), 'at most %d us' % (GOAL_NS / 1000))
    bench.say('  sampler, daemon', '%.1f, %.1f us' % (sampler / 1e3, daemon / 1e3))
    bench.say('  the thread itself (quartiles)', '%.1f us (%.1f, %.1f)' % (middle / 1e3, low / 1e3, high / 1e3),
              'with an empty interrupt of %.1f us' % (floor / 1e3))
    bench.say('  the whole, above that interrupt', '%.1f us' % ((total - floor) / 1e3))
    if pairs_info['program_ns']:
        bench.say("  the eBPF program, in the thread's time", '%.1f us' % (pairs_info['program_ns'] / 1e3), 'by the kernel')
    share = total * RATE / 1e9
    bench.say('  of a core at %d Hz' % RATE, '%.2f %%' % (100 * share), '%.2fx of 0.3 %%' % (share / GOAL_SHARE), 'at most 1x')
    share = (own['sampler_ns'] + own['daemon_ns'] - idle * own['ns'] + middle * len(own['rows'])) / own['ns']
    bench.say('  of a core at the rate that the sampler chose', '%.2f %%' % (100 * share),
              '%.2fx of 0.3 %%; %s' % (share / GOAL_SHARE, own_info['metadata'].get('samples_rate', '%d Hz' % RATE)), 'at most 1x')


def python_of(prefix):
    """This interpreter, or the system's where an ordinary user may not run it."""
    for path in (sys.executable, '/usr/bin/python3'):
        if not subprocess.run(prefix + ['sh', '-c', 'test -x "$0" && exec "$0" -c ""', path], stderr=subprocess.DEVNULL,
                              check=False).returncode:
            return path
    raise Unmeasured('no Python that an ordinary user may run')


def measure(bench):
    """Prints the figures of C and of Python, as root and without root."""
    here = os.path.dirname(os.path.abspath(__file__))
    subjects = {'C': [bench.path('test/bench/bench-host')], 'Python': [os.path.join(here, 'host.py')]}
    if bench.smoke:
        # Slices of about 10 ms: ten of them are long enough to be sampled.
        subjects = {'C': subjects['C'] + ['8000000'], 'Python': subjects['Python'] + ['80000']}
    for user in ('root', 'without root') if not os.geteuid() else ('without root',):
        prefix = []
        if user != 'root' and not os.geteuid():
            prefix = ['setpriv', '--reuid=%d' % NOBODY, '--regid=%d' % NOBODY, '--clear-groups']
        for name, argv in subjects.items():
            try:
                if prefix and not shutil.which('setpriv'):
                    raise Unmeasured('no setpriv')
                if name == 'Python':
                    argv = [python_of(prefix)] + argv
                if subprocess.run(prefix + ['test', '-r', bench.path('daemon/tracesmithd'), '-a', '-r', argv[0]],
                                  check=False).returncode:
                    raise Unmeasured('an ordinary user may not read the build')
                measure_case(bench, '%s, %s' % (name, user), prefix, argv)
            except Unmeasured as reason:
                print('skipped: %s, %s: %s' % (name, user, reason))
