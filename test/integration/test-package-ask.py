#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package's questions: answers are tsctl's, without tsctl; pictures, exports and replays; progress, and Ctrl-C."""
import json
import sys

import harness
import package


class Questions(package.Case):
    def test_answers_are_those_of_tsctl(self):
        path = self.trace()
        result = self.python('''
import json, os, sys, tracesmith
trace = tracesmith.open(sys.argv[1])
middle = trace.origin_ns + 1000000
answers = [trace.info(), trace.state(middle), trace.timeline(), trace.gaps(), trace.memory(), trace.analyze(), trace.diff(trace)]
for answer in answers:
    assert repr(answer).startswith('<Answer') and len(str(answer)) > 100
    drawn = answer in (answers[2], answers[4])
    assert (answer._repr_svg_() is None, answer._repr_html_() is None) == (not drawn, drawn)
    assert '<svg ' in answer._repr_svg_() if drawn else '<pre>' in answer._repr_html_()
path = trace.critical_path()
assert path[-1].type != path[0].type and path[0].end_ns >= path[0].start_ns
assert trace.what_if('kernel *=2x').emulated.makespan_ns > 0
assert len(trace.export('folded').splitlines()) > 1
trace.export('perfetto', 'out.pftrace')
trace.export('arrow', 'out.arrow')
assert os.path.isdir('out.arrow/job=unknown/rank=unknown/type=kernel')
for binary in ('perfetto', 'arrow'):
    try:
        trace.export(binary)
    except ValueError as error:
        assert 'give the output a name' in str(error)
    else:
        raise AssertionError('no error')
tracesmith.export_perfetto(trace, 'again.pftrace')
assert open('out.pftrace', 'rb').read() == open('again.pftrace', 'rb').read()
assert tracesmith.replay_trace(trace, tracesmith.ReplayMode.EMULATE).status == 0
assert tracesmith.build_timeline(sys.argv[1]) == trace.timeline()
try:
    trace.state(1e9)
except tracesmith.CommandError as error:
    assert 'the time is outside the trace' in str(error) and error.status == 2, error
else:
    raise AssertionError('no error')
print(json.dumps([*answers, path, trace.rows('kernel', start=0.001, limit=3, stacks=True), trace.export('folded')]))
''', path)
        ours = json.loads(result.out)
        for answer in ours[:7]:
            self.assertEqual(answer.pop('status'), 0)
        start = json.loads(harness.tsctl('info', '--json', path).out)['start_ns']
        for mine, words in zip(ours, (('info',), ('state', '--at', '@%d' % (start + 1000000)), ('timeline',), ('gaps',), ('memory',),
                                      ('analyze',), ('diff', path))):
            self.assertEqual(mine, json.loads(harness.tsctl(words[0], '--json', *words[1:], path).out), words)
        for mine, words in zip(ours[7:9], (('graph', '--critical-path'),
                                           ('view', '--type', 'kernel', '--from', '1ms', '--limit', '3', '--stacks'))):
            self.assertEqual(mine, [json.loads(line) for line in harness.tsctl(words[0], '--json', *words[1:], path).out.splitlines()])
        self.assertEqual(ours[9], harness.tsctl('export', '--format', 'folded', path).out)

    def test_questions_without_tsctl(self):
        """The library answers; several threads ask at once; exports are complete or absent; errors are exceptions."""
        self.python('''
import glob, os, pickle, sys, threading, tracesmith
os.environ['TRACESMITH_TSCTL'] = '/nonexistent/tsctl'
os.chdir(os.path.dirname(sys.argv[1]))
trace = tracesmith.open(os.path.basename(sys.argv[1]))
os.mkdir('elsewhere')
os.chdir('elsewhere')
def ask():
    return (trace.info(), trace.analyze(), trace.gaps(), trace.memory(), trace.diff(sys.argv[1]), trace.export('json'),
            trace.what_if('kernel *=2x'), trace.flame(), trace.picture('memory'), trace.replay(dry_run=True))
wanted, failures = ask(), []
def work():
    for _ in range(5):
        if ask() != wanted:
            failures.append(1)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures
os.symlink('out.json', 'link.json')
trace.export('json', 'link.json')
assert os.path.islink('link.json') and open('out.json').read() == wanted[5]
assert os.stat('out.json').st_mode & 0o777 == 0o666 & ~os.umask(0)
for wrong, text in ((lambda: trace.export('json', 'nowhere/out'), 'nowhere/out: No such file'), (lambda: trace.export('json', '/dev/full'), 'No space'),
                    (lambda: trace.rows('kernal'), 'no type of row'), (lambda: trace.gaps(limit=-1), 'limit: the number is out of range'),
                    (lambda: trace.state(-5), 'the time is outside the trace'), (lambda: trace.diff('none.sbt'), 'none.sbt: No such file'),
                    (lambda: trace.export('arrow', '/dev/null/out'), '/dev/null/out'), (lambda: trace.export('parquet'), 'no such format'),
                    (lambda: trace.what_if('nonsense!!'), 'nonsense!!'), (lambda: trace.replay(on='magic'), 'magic'),
                    (lambda: trace.replay('vgpu'), 'no capture to replay'), (lambda: trace.replay('vgpu', ['kernel *=2x']), 'what_if requires'),
                    (lambda: trace.check('everything'), 'check everything'), (lambda: trace.replay(repeat=2), 'repeat and time_limit'),
                    (lambda: trace.replay(schedules=2), 'checks and schedules'), (lambda: trace.replay(stream=77), 'no '),
                    (lambda: trace.replay('cuda'), 'tsctl'), (lambda: trace.picture('memory', start=1), 'no window'),
                    (lambda: trace.flame('weight'), 'weight: expected')):
    try:
        wrong()
    except tracesmith.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
assert not [name for name in os.listdir('.') if name.startswith('out.json.')]
assert 'sessions' in str(trace.info()) and 'emulated' in str(wanted[6])
again = pickle.loads(pickle.dumps(trace.timeline()))
assert again == trace.timeline() and again._repr_svg_() == trace.picture('timeline')
trace.export('arrow', 'data', job='train', rank=3)
[kernels] = glob.glob('data/job=train/rank=3/type=kernel/*/*.arrow')
assert open(kernels, 'rb').read(6) == b'ARROW1' and not glob.glob('data/**/*.arrow.*', recursive=True)
trace.close()
assert trace.info() == wanted[0]
''', self.trace())

    def captured(self):
        result, path = self.record([harness.app('pipeline', 'driver')], '--vgpu=small', '--capture', 'replay', '-q')
        self.assertEqual(result.status, 0, result)
        return path

    def test_replays_are_those_of_tsctl(self):
        """Without tsctl: in virtual time, on the virtual GPU, with checks. Figures of time apart, the JSON is that of tsctl."""
        path = self.captured()
        result = self.python('''
import json, os, sys, tracesmith
os.environ['TRACESMITH_TSCTL'] = '/nonexistent/tsctl'
trace = tracesmith.open(sys.argv[1])
answers = [trace.replay(), trace.what_if('kernel *=2x'), trace.replay('vgpu', repeat=2), trace.check('races', 'init'),
           trace.replay('vgpu', dry_run=True), trace.replay(dry_run=True, end=0.5)]
print(json.dumps(answers))
''', path)
        for mine, words in zip(json.loads(result.out), (
                (), ('--what-if', 'kernel *=2x'), ('--on', 'vgpu', '--repeat', '2'), ('--on', 'vgpu', '--check=races,init'),
                ('--on', 'vgpu', '--mode', 'dry-run'), ('--mode', 'dry-run', '--to', '500ms'))):
            shown = harness.tsctl('replay', '--json', *words, path)
            self.assertEqual(mine.pop('status'), shown.status, words)
            theirs = json.loads(shown.out)
            self.assertEqual(list(mine), list(theirs), words)
            for key in set(mine) - {'elapsed_ns'}:
                self.assertEqual(mine[key], theirs[key], (words, key))

    def test_findings(self):
        """A check that finds something has status 1."""
        result, path = self.record([harness.app('faults', 'driver'), 'race'], '--vgpu=small', '--capture', 'replay', '-q')
        self.assertEqual(result.status, 0, result)
        self.python('''
import sys, tracesmith
answer = tracesmith.open(sys.argv[1]).check('races')
assert answer.status == 1 and [found.kind for found in answer.findings] == ['race'], answer
assert 'a data race' in str(answer)
''', path)

    def test_progress(self):
        """A function of the program's hears how far a question is; its exception ends the question."""
        self.python('''
import sys, threading, time, tracesmith
from tracesmith import _call
_call.LOOK_S = 0.02
trace = tracesmith.open(sys.argv[1])
heard, threads = [], set()
def hear(now):
    heard.append(now)
    threads.add(threading.current_thread())
trace.progress = hear
until = time.monotonic() + 30
while not heard and time.monotonic() < until:
    trace.replay('vgpu', repeat=20)
assert heard and threads == {threading.main_thread()}, heard
now = heard[-1]
assert isinstance(now, tracesmith.Progress) and now.doing and now.done > 0, now
class Enough(Exception):
    pass
def enough(now):
    raise Enough
trace.progress = enough
began = time.monotonic()
try:
    trace.replay('vgpu', repeat=1000000)
except Enough:
    assert time.monotonic() - began < 30
else:
    raise AssertionError('no end')
trace.progress = lambda now: None
assert trace.info() == tracesmith.open(sys.argv[1]).info() and trace.export('folded') and trace.diff(trace)
''', self.captured())

    def test_control_c_ends_a_replay(self):
        self.python('''
import os, signal, sys, threading, time, tracesmith
trace = tracesmith.open(sys.argv[1])
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    trace.replay('vgpu', repeat=1000000)
except KeyboardInterrupt:
    assert time.monotonic() - began < 30
else:
    raise AssertionError('no end')
''', self.captured())

    def test_pictures(self):
        path = self.trace()
        self.python('''
import sys, tracesmith
trace = tracesmith.open(sys.argv[1])
for kind in ('timeline', 'memory', 'flame'):
    picture = trace.picture(kind, kind + '.svg', width=500)
    assert picture == open(kind + '.svg', encoding='utf-8').read() == picture._repr_svg_() and ' width="500"' in picture
    assert repr(picture).startswith('<Picture of ') and isinstance(picture, tracesmith.Picture)
assert trace.picture('timeline') == trace.timeline()._repr_svg_() != trace.picture('timeline', start=0.001)
assert trace.picture('memory') == trace.memory()._repr_svg_()
assert trace.picture('flame') == trace.flame() != trace.flame(weight='bytes')
try:
    trace.picture('nonsense')
except ValueError as error:
    assert 'nonsense' in str(error)
else:
    raise AssertionError('no error')
''', path)
        self.assertEqual(harness.tsctl('memory', '--format', 'svg', path).out, self.python(
            'import sys, tracesmith; print(tracesmith.open(sys.argv[1]).picture("memory"), end="")', path).out)

    def test_control_c(self):
        """Ctrl-C ends a question at once, also one that would take long."""
        self.python('''
import os, signal, threading, time
from tracesmith import _call
def work(flag):
    while not flag.value:
        time.sleep(0.01)
    ended.append(1)
ended = []
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    _call.interruptible(work)
except KeyboardInterrupt:
    assert ended
''')
        result, path = self.record([harness.app('threads', 'driver')], '--vgpu', '-q')
        self.assertEqual(result.status, 0, result)
        self.python('''
import os, signal, sys, threading, time, tracesmith
trace = tracesmith.open(sys.argv[1])
threading.Timer(0.3, lambda: os.killpg(0, signal.SIGINT)).start()
began = time.monotonic()
try:
    while True:
        trace.analyze()
except KeyboardInterrupt:
    assert time.monotonic() - began < 30
''', path)


if __name__ == '__main__':
    harness.main()
