# SPDX-License-Identifier: Apache-2.0
"""Questions about a trace. libtracesmith answers them; Ctrl-C ends a long one, and threads may ask at once."""
from __future__ import annotations

import functools
import html
import json
import os
import subprocess
import tempfile
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from . import _call, _library
from ._call import Progress
from ._errors import CommandError, NotInstalled

Time = Union[int, float]
WEIGHTS = ('launches', 'gpu-time', 'bytes', 'cpu', 'off-cpu', 'host')  # enum ts_export_weight
CHECKS = ('all', 'races', 'init', 'bounds', 'order')
DEVICES = ('cuda', 'hip')
MAX_THREADS = 256  # TS_VGPU_MAX_THREADS


class Picture(str):
    """A picture: its text is SVG. Notebooks show it."""

    def png(self) -> bytes:
        """The picture as PNG, by librsvg."""
        return _call.png(self)

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return '<Picture of %d bytes>' % len(self.encode())

    def save(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes the picture to a file: PNG if the name ends in .png, else SVG."""
        data = self.png() if os.fspath(path).endswith('.png') else self.encode()
        with open(path, 'wb') as file:
            file.write(data)


class Page(str):
    """A page: its text is HTML, complete and without scripts. Notebooks show it in a frame."""

    def _repr_html_(self) -> str:
        return '<iframe sandbox style="width:100%%;height:45em;border:0" srcdoc="%s"></iframe>' % html.escape(self)

    def __repr__(self) -> str:
        return '<Page of %d bytes>' % len(self.encode())

    def save(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes the page to a file."""
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self)


class Answer(Dict[str, Any]):
    """What tsctl prints with --json, as a dictionary whose keys are attributes, too. str() is tsctl's text if tsctl is installed."""

    _command: Sequence[str] = ()
    _folder: Optional[str] = None  # of the command's relative paths
    _picture: Tuple[Any, ...] = ()  # arguments of draw()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __str__(self) -> str:
        if not self._command:
            return repr(self)
        try:
            return str(run(self._command, range(4), self._folder)[1])
        except NotInstalled:
            return '\n'.join(plain(self))

    def __repr__(self) -> str:
        shown = ', '.join('%s=%s' % (key, '[%d]' % len(value) if isinstance(value, list) else '{...}' if isinstance(value, dict)
                                     else repr(value)) for key, value in self.items())
        return '<Answer %s>' % shown

    def _repr_svg_(self) -> Optional[str]:
        return str(draw(*self._picture)) if self._picture else None

    def _repr_html_(self) -> Optional[str]:
        """The text; none if there is a picture, because notebooks prefer HTML to a picture."""
        return None if self._picture else '<pre>%s</pre>' % html.escape(str(self))


def plain(value: Any, margin: str = '') -> Iterator[str]:
    """The lines of an answer without tsctl: its keys and values."""
    pairs = value.items() if isinstance(value, dict) else (('-', item) for item in value)
    for key, item in pairs:
        if isinstance(item, (dict, list)):
            yield '%s%s' % (margin, key)
            yield from plain(item, margin + '  ')
        else:
            yield '%s%s %s' % (margin, key, item)


def parse(text: str) -> Any:
    return json.loads(text, object_hook=Answer)


def frames(stack: Dict[str, Any]) -> List[str]:
    """The frames of an answer's `stack` as text, innermost first: "load (data.py:31)"; an address where no name is known."""
    named: Dict[int, List[str]] = {}
    for symbol in stack.get('symbols', []):
        place = '%s:%d' % (symbol['file'], symbol.get('line', 0)) if 'file' in symbol else symbol.get('module', '?')
        named.setdefault(symbol.get('frame', 0), []).append('%s (%s)' % (symbol.get('function', '?'), place))
    return [text for i, frame in enumerate(stack.get('frames', [])) for text in named.get(i, [frame])]


def run(arguments: Sequence[str], accept: Iterable[int] = (0,), folder: Optional[str] = None) -> Any:
    """Runs tsctl; returns its status and its output."""
    path = _library.tsctl()
    try:
        child = subprocess.run([path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding='utf-8', errors='replace', cwd=folder)
    except OSError as why:
        raise NotInstalled('%s: %s' % (path, why.strerror)) from why
    if child.returncode not in accept or (child.returncode and not child.stdout.strip()):
        raise CommandError(child.stderr.strip() or 'tsctl %s ended with %d' % (arguments[0], child.returncode), child.returncode)
    return child.returncode, child.stdout


def again(path: str, place: str) -> Any:
    """Opens a trace once more, for a call of its own."""
    from ._trace import Trace
    return Trace(path, place)


def weight_of(name: str) -> int:
    if name not in WEIGHTS:
        raise CommandError('weight %s: expected one of %s' % (name, ', '.join(WEIGHTS)))
    return WEIGHTS.index(name)


def draw(path: str, place: str, kind: str, window: Dict[str, Any], weight: Optional[str] = None, width: Optional[int] = None,
         report: _call.Report = None) -> Picture:
    """A picture of a trace; `window` has times as a question has them."""
    reopen = functools.partial(again, path, place)
    if kind == 'memory' and window:
        raise CommandError('the picture of memory has no window')
    if kind != 'flame':
        if weight is not None:
            raise CommandError('weight is for flame graphs')
        return Picture(_call.picture(reopen, kind, window, width or 0, report))
    ends = {key: window[key]['ns'] for key in window}
    # 0 would be no limit.
    options = _library.ExportOptions(from_ns=ends.get('from', 0), to_ns=max(ends['to'], 1) if 'to' in ends else 0,
                                     weight=weight_of(weight or 'gpu-time'), width=width or 0)
    return Picture(exported(reopen, 'svg', options, report))


def exported(reopen: Callable[[], Any], form: str, options: _library.ExportOptions, report: _call.Report) -> str:
    """The text of an export."""
    with tempfile.TemporaryFile() as file:
        _call.export(reopen, format_of(form), options, file.fileno(), report)
        file.seek(0)
        return file.read().decode(errors='replace')


def format_of(form: str) -> int:
    number = _call.format_of(form)
    if number is None:
        raise CommandError('%s: no such format; expected arrow, folded, json, perfetto, pprof or svg' % form)
    return number


def vgpu_threads() -> int:
    """How many threads a virtual GPU has: the variable that tsctl reads, too; 0: the default."""
    text = os.environ.get('TRACESMITH_VGPU_THREADS')
    if not text:
        return 0
    if not text.isdecimal() or not 1 <= int(text) <= MAX_THREADS:
        raise CommandError("TRACESMITH_VGPU_THREADS: '%s' is not a number from 1 to %d" % (text, MAX_THREADS))
    return int(text)


def check_replay(question: Dict[str, Any]) -> None:
    """Raises an error if the options of a replay exclude each other, as tsctl does."""
    on, is_full = question['executor'], not question['dry_run']
    if question['what_if'] and (on != 'emulate' or not is_full):
        raise CommandError('what_if requires a full replay on "emulate"')
    if (question['repeat'] or question['time_limit_ns']) and on == 'emulate':
        raise CommandError('repeat and time_limit require "vgpu", "cuda" or "hip": virtual time is the same in each replay')
    if (question['check'] or question['schedules']) and (on != 'vgpu' or not is_full):
        raise CommandError('checks and schedules require a full replay on "vgpu"')
    for name in question['check']:
        if name not in CHECKS:
            raise CommandError('check %s: expected one of %s' % (name, ', '.join(CHECKS)))


def replayed(text: str) -> Tuple[int, List[Answer]]:
    """The status of tsctl, and the answers, of a replay's parts: a ReplayAnswer of proto/rpc/tracesmith.proto per line."""
    status, answers, warnings = 0, [], []
    for line in text.splitlines():
        part = parse(line)
        if part.get('failed'):
            raise CommandError(part['complaint'])
        if 'complaint' in part:
            warnings.append(part['complaint'])
        answers += [part[key] for key in ('emulated', 'plan', 'result', 'capture_plan') if key in part]
        if 'result' in part:
            verdict = part['result']['verdict']
            found = verdict == 'nondeterministic' or part['result'].get('findings')
            status = max(status, 1 if found else {'unfinished': 2, 'differs': 3}.get(verdict, 0))
    if not answers:
        raise CommandError(warnings[0] if warnings else 'the replay has no result')
    if warnings:
        answers[0]['warnings'] = warnings
    return status, answers


class Questions:
    """
    The questions that a trace answers. If `progress` is set, the thread that asks calls it a few times per second with a Progress; an
    exception of it ends the question.
    """

    path: str
    place: str  # where the file lies, whatever folder is current
    folder: str  # the folder that `path` is relative to
    progress: Optional[Callable[[Progress], Any]] = None

    def instant(self, time: Time) -> int:
        raise NotImplementedError

    def _again(self) -> Any:
        """Opens the trace once more, for a call of its own."""
        return again(self.path, self.place)

    def _lines(self, question: str, options: Dict[str, Any]) -> List[Answer]:
        return [parse(line) for line in _call.ask(self._again, question, options, self.progress).splitlines()]

    def _ask(self, question: str, options: Dict[str, Any], command: Sequence[str]) -> Answer:
        """The answer to a question, and tsctl's command that prints it as text."""
        answer: Answer = parse(_call.ask(self._again, question, options, self.progress))
        return self._finish(answer, command, [self.path])

    def _finish(self, answer: Answer, command: Sequence[str], paths: Sequence[str], status: int = 0) -> Answer:
        answer['status'] = status
        answer._command = [*command, '--', *paths]
        answer._folder = self.folder if os.path.isdir(self.folder) else None
        return answer

    def _moment(self, time: Optional[Time]) -> Optional[Dict[str, int]]:
        if time is None:
            return None
        ns = self.instant(time)
        if not 0 <= ns < 1 << 64:
            raise CommandError('the time is outside the trace %s' % self.path)
        return {'ns': ns}

    def _moments(self, start: Optional[Time], end: Optional[Time]) -> Dict[str, Any]:
        """A window, as a question has it."""
        return {key: self._moment(time) for key, time in (('from', start), ('to', end)) if time is not None}

    def _at(self, time: Time) -> str:
        return '@%d' % self.instant(time)

    def _window(self, start: Optional[Time], end: Optional[Time]) -> List[str]:
        return ([] if start is None else ['--from', self._at(start)]) + ([] if end is None else ['--to', self._at(end)])

    def info(self) -> Answer:
        """The trace's content: sessions, kernels, copies, losses."""
        return self._ask('info', {}, ['info'])

    def rows(self, *types: str, start: Optional[Time] = None, end: Optional[Time] = None, limit: Optional[int] = None,
             stacks: bool = False) -> List[Answer]:
        """Rows in order of time with all names as text, as `tsctl view --json` prints them; `stacks` adds the host stacks."""
        return self._lines('rows', {'from': self._moment(start), 'to': self._moment(end), 'types': types, 'limit': limit, 'stacks': stacks})

    def state(self, at: Time, stacks: bool = False) -> Answer:
        """What ran, waited and was allocated at an instant (a float: seconds since the trace's start)."""
        return self._ask('state', {'at': self._moment(at)}, ['state', '--at', self._at(at)] + (['--stacks'] if stacks else []))

    def timeline(self, start: Optional[Time] = None, end: Optional[Time] = None) -> Answer:
        """How busy devices and streams were, over time. Notebooks show the picture."""
        window = self._moments(start, end)
        answer = self._ask('timeline', window, ['timeline', *self._window(start, end)])
        answer._picture = self.path, self.place, 'timeline', window
        return answer

    def gaps(self, least: float = 1e-5, limit: int = 10, start: Optional[Time] = None, end: Optional[Time] = None) -> Answer:
        """Gaps between operations of a stream, and their causes; `least` is in seconds. `start` and `end`: only gaps that overlap this window."""
        least_ns = round(least * 1e9)
        return self._ask('gaps', {'least_ns': least_ns, 'limit': limit, **self._moments(start, end)},
                         ['gaps', '--least', '%dns' % least_ns, '--limit', str(limit), *self._window(start, end)])

    def critical_path(self) -> List[Answer]:
        """The steps that the program's duration consists of; the last item is the sum."""
        return self._lines('graph', {'path': True})

    def memory(self, limit: int = 10) -> Answer:
        """The peak of live memory, what was allocated then, and what was never freed. Notebooks show the picture."""
        answer = self._ask('memory', {'limit': limit}, ['memory', '--limit', str(limit)])
        answer._picture = self.path, self.place, 'memory', {}
        return answer

    def picture(self, kind: str, path: Optional[Union[str, 'os.PathLike[str]']] = None, *, start: Optional[Time] = None,
                end: Optional[Time] = None, weight: Optional[str] = None, width: Optional[int] = None) -> Picture:
        """A "timeline", the "memory" or a "flame" graph as SVG; also written to `path`, as PNG if that ends in .png.

        `weight` is for flame graphs. `width` is in pixels, from 320 to 8192.
        """
        if kind not in ('timeline', 'memory', 'flame'):
            raise ValueError('%s: expected "timeline", "memory" or "flame"' % kind)
        drawn = draw(self.path, self.place, kind, self._moments(start, end), weight, width, self.progress)
        if path is not None:
            drawn.save(path)
        return drawn

    def flame(self, weight: str = 'gpu-time', start: Optional[Time] = None, end: Optional[Time] = None) -> Picture:
        """A flame graph of "gpu-time", "launches" or "bytes" by launching stack, or of threads' time ("cpu", "off-cpu", "host")."""
        return self.picture('flame', start=start, end=end, weight=weight)

    def report(self, path: Optional[Union[str, 'os.PathLike[str]']] = None, *, width: Optional[int] = None) -> Page:
        """A page with the answers of analyze(), gaps(), memory() and info(), and pictures `width` pixels wide; also written to `path`."""
        page = Page(exported(self._again, 'html', _library.ExportOptions(weight=weight_of('gpu-time'), width=width or 0), self.progress))
        if path is not None:
            page.save(path)
        return page

    def analyze(self, limit: int = 5) -> Answer:
        """Where the time went, and what to change."""
        return self._ask('analyze', {'limit': limit}, ['analyze', '--limit', str(limit)])

    def diff(self, other: Union[str, 'Questions']) -> Answer:
        """Changes from this trace to another of the same program."""
        if isinstance(other, Questions):
            # tsctl has one current folder, and the other trace's path may be relative to another one.
            after, path = other._again, other.path if other.folder == self.folder else other.place
        else:
            path, place = os.fspath(other), os.path.abspath(other)
            after = functools.partial(again, path, place)
            path = path if os.path.join(self.folder, path) == place else place
        return self._finish(parse(_call.diff(self._again, after, self.progress)), ['diff'], [self.path, path])

    def replay(self, on: str = 'emulate', what_if: Sequence[str] = (), repeat: Optional[int] = None, *, checks: Sequence[str] = (),
               stream: Optional[int] = None, start: Optional[Time] = None, end: Optional[Time] = None, dry_run: bool = False,
               schedules: Optional[int] = None, time_limit: Optional[int] = None, limit: Optional[int] = None) -> Answer:
        """Runs the operations again: on "emulate" (virtual time), "vgpu", "cuda" or "hip". `status` is 1 if replays differ.

        what_if: edits. The others are options of `tsctl replay`: stream, start and end select operations; repeat and schedules are
        numbers of replays; checks are those of check(); time_limit is in seconds; limit is the number of listed steps. If the trace
        has several captures, the answer is that of the first one, and its `sessions` are all answers. libtracesmith replays on the
        CPU. "cuda" and "hip" run the trace's own code, in a process of tsctl.
        """
        question = {'executor': on, 'what_if': list(what_if), 'repeat': repeat, 'check': list(checks), 'stream': stream,
                    'dry_run': dry_run, 'schedules': schedules, 'limit': limit, 'points': True, **self._moments(start, end),
                    'time_limit_ns': None if time_limit is None else time_limit * 10**9}
        check_replay(question)
        numbers = {'repeat': repeat, 'stream': stream, 'schedules': schedules, 'time-limit': time_limit, 'limit': limit}
        command = ['replay', '--on', on] + [word for edit in what_if for word in ('--what-if', edit)]
        command += (['--mode', 'dry-run'] if dry_run else []) + self._window(start, end)
        command += ['--check=' + ','.join(checks)] if checks else []
        command += [word for name, number in numbers.items() if number is not None for word in ('--' + name, str(number))]
        if on in DEVICES:
            status, text = run(['replay', '--json', *command[1:], '--', self.place], range(4))
            answers = [parse(line) for line in text.splitlines()]
        else:
            status, answers = replayed(_call.ask(self._again, 'replay', question, self.progress, vgpu_threads()))
        answer: Answer = answers[0]
        if len(answers) > 1:
            answer['sessions'] = [Answer(one) for one in answers]
        return self._finish(answer, command, [self.path], status)

    def what_if(self, *edits: str) -> Answer:
        """The duration with other kernels, copies or gaps: trace.what_if('kernel gemm*=2x')."""
        return self.replay(what_if=edits)

    def check(self, *checks: str) -> Answer:
        """Races, reads of unwritten memory, accesses out of bounds, dependence on order, in a capture for replay."""
        return self.replay('vgpu', checks=checks or ('all',))

    def export(self, format: str, output: Optional[str] = None, *, job: Optional[str] = None,
               rank: Union[str, int, None] = None) -> Optional[str]:
        """Writes the trace for another tool: "perfetto", "json", "folded", "pprof", "svg", "html", or "arrow" into a folder.

        Without `output` text is returned. job and rank name folders of "arrow", if not those of the trace.
        """
        if output is None and format in ('perfetto', 'pprof', 'arrow'):
            raise ValueError('%s is no text: give the output a name' % format)
        options = _library.ExportOptions(weight=weight_of('gpu-time'))
        if format == 'arrow':
            arrow = _library.ArrowOptions(job=None if job is None else job.encode(), rank=None if rank is None else str(rank).encode())
            _call.export_arrow(self._again, options, arrow, str(output), self.progress)
        elif not output:
            return exported(self._again, format, options, self.progress)
        else:
            self._export_file(format_of(format), options, output)
        return None

    def _export_file(self, number: int, options: _library.ExportOptions, output: str) -> None:
        """Writes a file that is complete or absent; another thing than a file, such as a pipe, is written to."""
        real = os.path.realpath(output)
        is_file = os.path.isfile(real) or not os.path.exists(real)
        path = '%s.%d-%d' % (real, os.getpid(), threading.get_ident()) if is_file else real
        try:
            own = os.open(path, os.O_WRONLY | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if is_file else 0), 0o666)
        except OSError as why:
            raise CommandError('%s: %s' % (output, why.strerror)) from why
        try:
            _call.export(self._again, number, options, own, self.progress)
            if is_file:
                os.replace(path, real)
        except BaseException:
            if is_file and os.path.exists(path):  # else Ctrl-C came after the renaming
                os.unlink(path)
            raise
        finally:
            os.close(own)
