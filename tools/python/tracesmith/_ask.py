# SPDX-License-Identifier: Apache-2.0
"""Questions about a trace. libtracesmith answers them, and tsctl the replays; Ctrl-C ends a long one, and threads may ask at once."""
from __future__ import annotations

import html
import json
import os
import subprocess
import tempfile
import threading
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from . import _call, _library
from ._errors import CommandError, NotInstalled

Time = Union[int, float]


class Picture(str):
    """A picture: its text is SVG. Notebooks show it."""

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return '<Picture of %d bytes>' % len(self.encode())

    def save(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes the picture to a file."""
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self)


class Answer(Dict[str, Any]):
    """What tsctl prints with --json, as a dictionary whose keys are attributes, too. str() is tsctl's text."""

    _command: Sequence[str] = ()
    _picture: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __str__(self) -> str:
        return str(run(self._command)[1]) if self._command else repr(self)

    def __repr__(self) -> str:
        shown = ', '.join('%s=%s' % (key, '[%d]' % len(value) if isinstance(value, list) else '{...}' if isinstance(value, dict)
                                     else repr(value)) for key, value in self.items())
        return '<Answer %s>' % shown

    def _repr_svg_(self) -> Optional[str]:
        return str(run(self._picture)[1]) if self._picture else None

    def _repr_html_(self) -> Optional[str]:
        """The text; none if there is a picture, because notebooks prefer HTML to a picture."""
        return None if self._picture else '<pre>%s</pre>' % html.escape(str(self))


def parse(text: str) -> Any:
    return json.loads(text, object_hook=Answer)


def frames(stack: Dict[str, Any]) -> List[str]:
    """The frames of an answer's `stack` as text, innermost first: "load (data.py:31)"; an address where no name is known."""
    named: Dict[int, List[str]] = {}
    for symbol in stack.get('symbols', []):
        place = '%s:%d' % (symbol['file'], symbol.get('line', 0)) if 'file' in symbol else symbol.get('module', '?')
        named.setdefault(symbol.get('frame', 0), []).append('%s (%s)' % (symbol.get('function', '?'), place))
    return [text for i, frame in enumerate(stack.get('frames', [])) for text in named.get(i, [frame])]


def run(arguments: Sequence[str], accept: Iterable[int] = (0,)) -> Any:
    """Runs tsctl; returns its status and its output."""
    path = _library.tsctl()
    try:
        child = subprocess.run([path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding='utf-8', errors='replace')
    except OSError as why:
        raise NotInstalled('%s: %s' % (path, why.strerror)) from why
    if child.returncode not in accept or (child.returncode and not child.stdout.strip()):
        raise CommandError(child.stderr.strip() or 'tsctl %s ended with %d' % (arguments[0], child.returncode), child.returncode)
    return child.returncode, child.stdout


def ask(command: str, options: Sequence[str], paths: Sequence[str], accept: Iterable[int] = (0,)) -> Answer:
    """The answer of a command that prints one JSON object."""
    status, text = run([command, '--json', *options, '--', *paths], accept)
    answer: Answer = parse(text)
    answer['status'] = status
    answer._command = [command, *options, '--', *paths]
    return answer


class Questions:
    """The questions that a trace answers."""

    path: str

    def instant(self, time: Time) -> int:
        raise NotImplementedError

    def _again(self) -> Any:
        """Opens the trace once more, for a call of its own."""
        raise NotImplementedError

    def _lines(self, question: str, options: Dict[str, Any]) -> List[Answer]:
        return [parse(line) for line in _call.ask(self._again, self.path, question, options).splitlines()]

    def _ask(self, question: str, options: Dict[str, Any], command: Sequence[str]) -> Answer:
        """The answer to a question, and tsctl's command that prints it as text."""
        answer: Answer = parse(_call.ask(self._again, self.path, question, options))
        return self._finish(answer, command, [self.path])

    @staticmethod
    def _finish(answer: Answer, command: Sequence[str], paths: Sequence[str]) -> Answer:
        answer['status'] = 0
        answer._command = [*command, '--', *paths]
        return answer

    def _moment(self, time: Optional[Time]) -> Optional[Dict[str, int]]:
        if time is None:
            return None
        ns = self.instant(time)
        if not 0 <= ns < 1 << 64:
            raise CommandError('the time is outside the trace %s' % self.path)
        return {'ns': ns}

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
        return self._drawn(self._ask('timeline', {'from': self._moment(start), 'to': self._moment(end)},
                                     ['timeline', *self._window(start, end)]))

    def gaps(self, least: float = 1e-5, limit: int = 10) -> Answer:
        """Gaps between operations of a stream, and their causes; `least` is in seconds."""
        least_ns = round(least * 1e9)
        return self._ask('gaps', {'least_ns': least_ns, 'limit': limit}, ['gaps', '--least', '%dns' % least_ns, '--limit', str(limit)])

    def critical_path(self) -> List[Answer]:
        """The steps that the program's duration consists of; the last item is the sum."""
        return self._lines('graph', {'path': True})

    def memory(self, limit: int = 10) -> Answer:
        """The peak of live memory, what was allocated then, and what was never freed. Notebooks show the picture."""
        return self._drawn(self._ask('memory', {'limit': limit}, ['memory', '--limit', str(limit)]))

    def _drawn(self, answer: Answer) -> Answer:
        answer._picture = [answer._command[0], '--format', 'svg', *answer._command[1:]]
        return answer

    def picture(self, kind: str, path: Optional[Union[str, 'os.PathLike[str]']] = None, *, start: Optional[Time] = None,
                end: Optional[Time] = None, weight: Optional[str] = None, width: Optional[int] = None) -> Picture:
        """A "timeline", the "memory" or a "flame" graph as SVG; also written to `path`. `weight` is of a flame graph, `width` in pixels."""
        if kind not in ('timeline', 'memory', 'flame'):
            raise ValueError('%s: expected "timeline", "memory" or "flame"' % kind)
        options = ['--format', 'svg', *self._window(start, end)]
        options += ['--weight', weight] if weight is not None else []
        options += ['--width', str(width)] if width is not None else []
        drawn = Picture(run(['export' if kind == 'flame' else kind, *options, '--', self.path])[1])
        if path is not None:
            drawn.save(path)
        return drawn

    def flame(self, weight: str = 'gpu-time', start: Optional[Time] = None, end: Optional[Time] = None) -> Picture:
        """A flame graph of "gpu-time", "launches" or "bytes" by launching stack, or of threads' time ("cpu", "off-cpu", "host")."""
        return self.picture('flame', start=start, end=end, weight=weight)

    def analyze(self, limit: int = 5) -> Answer:
        """Where the time went, and what to change."""
        return self._ask('analyze', {'limit': limit}, ['analyze', '--limit', str(limit)])

    def diff(self, other: Union[str, 'Questions']) -> Answer:
        """Changes from this trace to another of the same program."""
        if isinstance(other, Questions):
            after, path = other._again, other.path
        else:
            path = os.fspath(other)
            after = lambda: type(self)(path)  # type: ignore[call-arg]
        return self._finish(parse(_call.diff(self._again, after)), ['diff'], [self.path, path])

    def replay(self, on: str = 'emulate', what_if: Sequence[str] = (), repeat: Optional[int] = None) -> Answer:
        """Runs the operations again: on "emulate" (virtual time), "vgpu" or "cuda". `status` is 1 if replays differ."""
        options = ['--on', on] + [word for edit in what_if for word in ('--what-if', edit)]
        options += ['--repeat', str(repeat)] if repeat is not None else []
        return ask('replay', options, [self.path], (0, 1, 2, 3))

    def what_if(self, *edits: str) -> Answer:
        """The duration with other kernels, copies or gaps: trace.what_if('kernel gemm*=2x')."""
        return self.replay(what_if=edits)

    def check(self, *checks: str) -> Answer:
        """Races, reads of unwritten memory, accesses out of bounds, dependence on order, in a capture for replay."""
        return ask('replay', ['--on', 'vgpu', '--check' + ('=' + ','.join(checks) if checks else '')], [self.path], (0, 1, 2, 3))

    def export(self, format: str, output: Optional[str] = None) -> Optional[str]:
        """Writes the trace for another tool: "perfetto", "json", "folded", "pprof", "svg", or "arrow" into a folder.

        Without `output` text is returned.
        """
        if output is None and format in ('perfetto', 'pprof', 'arrow'):
            raise ValueError('%s is no text: give the output a name' % format)
        number = _call.format_of(format)
        if number is None or format == 'svg':
            text = run(['export', '--format', format, *(['--output', output] if output else []), '--', self.path])[1]
            return None if output else str(text)
        if not output:
            with tempfile.TemporaryFile() as file:
                _call.export(self._again, self.path, number, file.fileno())
                file.seek(0)
                return file.read().decode(errors='replace')
        self._export_file(number, output)
        return None

    def _export_file(self, number: int, output: str) -> None:
        """Writes a file that is complete or absent; another thing than a file, such as a pipe, is written to."""
        real = os.path.realpath(output)
        is_file = os.path.isfile(real) or not os.path.exists(real)
        path = '%s.%d-%d' % (real, os.getpid(), threading.get_ident()) if is_file else real
        try:
            own = os.open(path, os.O_WRONLY | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if is_file else 0), 0o666)
        except OSError as why:
            raise CommandError('%s: %s' % (output, why.strerror)) from why
        try:
            _call.export(self._again, self.path, number, own)
            if is_file:
                os.replace(path, real)
        except BaseException:
            if is_file and os.path.exists(path):  # else Ctrl-C came after the renaming
                os.unlink(path)
            raise
        finally:
            os.close(own)
