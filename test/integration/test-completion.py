#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion: the candidates of `tsctl complete`, and the text that TAB types in bash, zsh and fish.

Every option in every help is offered, and everything that is offered is in the help. Names of kernels and ranges come from the trace on
the line. Whatever a name holds, the shell passes it on as one word and evaluates none of it.
"""
import fcntl
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, 'tools', 'python'))
# For writing traces with any names. Not under ASan: its library is not for this interpreter.
tracesmith = None
if not harness.SANITIZER:
    os.environ['TRACESMITH_LIBRARY'] = os.path.join(harness.BUILD, 'tools', 'library', 'libtracesmith.so.0')
    import tracesmith  # noqa: E402

SCRIPTS = os.path.join(harness.SOURCE, 'packaging', 'completions')
SCRIPT = os.path.join(SCRIPTS, 'tsctl.bash')
BASH = shutil.which('bash')
# As bash has them where host names are completed, which is how it starts.
WORD_BREAKS = ' \t\n"\'@><=;|&(:'
# Options that no help has, with their commands.
HIDDEN = (('benchmark', '--launch'), ('stop', '--kernel-events'))


def environment():
    env = harness.environment(PATH='%s:%s' % (os.path.dirname(harness.TSCTL), os.environ['PATH']), TERM='dumb')
    env['INPUTRC'] = '/dev/null'
    return env


def candidates(*words):
    result = harness.tsctl('complete', *words, env=environment())
    assert (result.status, result.err) == (0, ''), result
    return result.out.splitlines()


def commands():
    """All that the overview names, minor ones too."""
    lines = harness.tsctl('help').out.splitlines()
    names = [line.split()[0] for line in lines if re.match('  [a-z]+ ', line)]
    return names + [line for line in lines if line.startswith(' also:')][0].split()[1:]


def split(line):
    """A line's words as readline splits it for COMP_WORDS: runs of `=`, `:` and `@` are words."""
    words = re.findall(r'"[^"]*"?|[=:@]+|(?:[^\s=:@"\\]|\\.)+', line)
    return words + [''] if line.endswith(' ') else words


@unittest.skipIf(not BASH, 'bash is not here')
class Script(harness.Case):
    """The script's function, called as bash calls it."""

    def complete(self, *lines, breaks=WORD_BREAKS):
        """COMPREPLY for each line, with the cursor at its end."""
        text = ['source %s' % shlex.quote(SCRIPT), 'COMP_WORDBREAKS=%s' % shlex.quote(breaks)]
        for line in lines:
            words = split(line) if '=' in breaks else line.split(' ')
            text += ['COMP_LINE=%s COMP_POINT=%d COMP_CWORD=%d' % (shlex.quote(line), len(line), len(words) - 1),
                     'COMP_WORDS=(%s)' % ' '.join(map(shlex.quote, words)),
                     '_tsctl tsctl',
                     'printf "%s\\n" "${COMPREPLY[@]}"', 'echo "$?--"']
        result = harness.run([BASH, '--noprofile', '--norc', '-c', '\n'.join(text)], env=environment(), cwd=self.folder)
        self.assertEqual((result.status, result.err), (0, ''), result)
        replies = [[]]
        for line in result.out.splitlines():
            if line == '0--':
                replies.append([])
            elif line:
                replies[-1].append(line)
        self.assertEqual(len(replies), len(lines) + 1, result)
        return replies[:-1] if len(lines) > 1 else replies[0]

    def files(self, *names):
        for name in names:
            with open(self.path(name), 'w', encoding='utf-8'):
                pass

    def test_commands(self):
        self.assertEqual(sorted(self.complete('tsctl ')), sorted(commands()))
        self.assertEqual(self.complete('tsctl re'), ['record', 'report', 'replay', 'repair'])
        self.assertEqual(self.complete('tsctl help ex'), ['export'])
        self.assertEqual(self.complete('tsctl --'), ['--help', '--version'])
        for line in ('tsctl nonsense ', 'tsctl nonsense --', 'tsctl complet', 'tsctl help complet', 'tsctl help record '):
            self.assertEqual(self.complete(line), [], line)

    def test_every_option_of_every_help(self):
        names = commands()
        self.assertGreaterEqual(len(names), 28)
        offered = dict(zip(names, self.complete(*['tsctl %s -' % name for name in names])))
        n_options = 0
        for name in names:
            if name == 'help':
                continue
            text = harness.tsctl('help', name).out
            lines = '\n'.join(line for line in text.splitlines() if line.startswith(('usage:', ' ')))
            # What is quoted is another command's.
            helped = set(re.findall(r'(?<![\w-])--?[a-zA-Z][\w-]*', re.sub('`[^`]*`', '', lines)))
            # The letters are in front of an option's description, with names that are whole.
            helped = {option for option in helped if option.startswith('--') or len(option) == 2}
            self.assertEqual(sorted(helped), sorted(set(offered[name]) - {'--help'}), name)
            self.assertEqual(len(offered[name]), len(set(offered[name])), name)
            n_options += len(helped)
        self.assertGreater(n_options, 150)

    def test_every_option_by_its_beginning(self):
        lines, wanted = [], []
        for name in commands():
            options = [option for option in candidates(name, '-') if option.startswith('--')]
            begun = set(options[::3]) | {'--'} if harness.IS_SLOW else {option[:-1] for option in options} | set(options) | {'--'}
            for beginning in sorted(begun):
                lines.append('tsctl %s %s' % (name, beginning))
                wanted.append([other for other in options if other.startswith(beginning)])
        self.assertEqual(self.complete(*lines), wanted)

    def test_options_are_the_command_s_own(self):
        """An option that is offered is one that the command knows, with a value or without."""
        for name in commands():
            # A start of tsctl is slow under a sanitizer.
            for option in candidates(name, '-')[::3 if harness.IS_SLOW else 1]:
                if name == 'help':
                    continue
                if option == '--help':
                    self.assertEqual(harness.tsctl(name, option).status, 0, name)
                    continue
                # A letter that no command has ends it, if the value does not.
                result = harness.tsctl(name, option + '=x' if option.startswith('--') else option, '-%', '-%')
                self.assertEqual(result.status, 2, (name, option, result))
                self.assertNotIn('unknown option ' + option, result.err, (name, option))

    def test_help_is_offered_where_it_is_read(self):
        for words in (('view', '--json'), ('view', '--limit=3'), ('version',)):
            self.assertIn('--help', candidates(*words, '--h'))
            self.assertEqual(harness.tsctl(*words, '--help').status, 0, words)
        for words in (('view', 'x.sbt'), ('view', '-n', '3'), ('watch', '5')):
            self.assertNotIn('--help', candidates(*words, '--h'))
            self.assertEqual(harness.tsctl(*words, '--help').status, 2, words)

    def test_hidden_options(self):
        for name, option in HIDDEN:
            result = harness.tsctl(name, option)
            self.assertEqual(result.status, 2, result)
            self.assertNotIn('unknown option', result.err)
            for n in range(1, len(option) + 1):
                self.assertNotIn(option, candidates(name, option[:n]))
            self.assertEqual(candidates(name, option + '='), [])

    def test_words_of_choices(self):
        for line, wanted in (
                ('tsctl export --format ', ['perfetto', 'json', 'folded', 'pprof', 'svg', 'html', 'chrome', 'png', 'arrow']),
                ('tsctl export --format p', ['perfetto', 'pprof', 'png']),
                ('tsctl export -w l', ['launches']),
                ('tsctl timeline x.sbt --format ', ['text', 'json', 'svg', 'png']),
                ('tsctl graph x.sbt --format d', ['dot']),
                ('tsctl view --sort ', ['time', 'duration']),
                ('tsctl view --type mem', ['memcpy', 'memset']),
                ('tsctl view --type kernel,mem', ['kernel,memcpy', 'kernel,memset']),
                ('tsctl replay --on ', ['emulate', 'vgpu', 'cuda', 'hip']),
                ('tsctl replay --mode d', ['dry-run']),
                ('tsctl replay --check ra', ['races']),
                ('tsctl record --stacks n', ['native', 'none']),
                ('tsctl record --capture w', ['window']),
                ('tsctl record --dump-on SIG', ['SIGUSR1', 'SIGUSR2', 'SIGHUP']),
                ('tsctl start --capture ', ['replay']),
                ('tsctl view -n ', []),
                ('tsctl view --limit ', [])):
            self.assertEqual(self.complete(line), wanted, line)

    def test_names_with_values(self):
        """Readline replaces what stands behind the `=`; without `=` among its breaks, the whole word."""
        for line, before, wanted in (
                ('tsctl export --format=', '--format=', ['perfetto', 'json', 'folded', 'pprof', 'svg', 'html', 'chrome', 'png', 'arrow']),
                ('tsctl export --format=p', '--format=', ['perfetto', 'pprof', 'png']),
                ('tsctl view --type=kernel,mem', '--type=', ['kernel,memcpy', 'kernel,memset']),
                ('tsctl replay --check=races,', '--check=', ['races,all', 'races,races', 'races,init', 'races,bounds',
                                                             'races,order']),
                ('tsctl record --vgpu=h2', '--vgpu=', ['h200']),
                ('tsctl view --json=', '--json=', []),
                ('tsctl view --nonsense=', '--nonsense=', [])):
            self.assertEqual(self.complete(line), wanted, line)
            self.assertEqual(self.complete(line, breaks=' \t\n"\'><;|&('), [before + word for word in wanted], line)

    def test_words_with_a_colon(self):
        self.files('a:b.sbt', 'a:c.sbt')
        for line, wanted in (
                ('tsctl record --kernel-events=sched:10us,sysc', ['10us,syscalls']),
                ('tsctl record --dump-on mark', ['mark:']),
                ('tsctl info a:', ['b.sbt', 'c.sbt']),
                ('tsctl info a:b', ['b.sbt']),
                ('tsctl info --session 3:', []),
                # What stands before a word with colons is counted right.
                ('tsctl record --vgpu=h200:2 --stacks na', ['native']),
                ('tsctl record --capture replay:1G --symb', ['--symbols']),
                ('tsctl cut --from @5 --to @7 --ra', ['--range'])):
            self.assertEqual(sorted(self.complete(line)), wanted, line)

    def test_files(self):
        self.files('run.sbt', 'rum file.sbt')
        os.mkdir(self.path('runs'))
        for line in ('tsctl info ru', 'tsctl view --json ru', 'tsctl merge -o ru', 'tsctl merge --output ru',
                     'tsctl diff x.sbt vs ru', 'tsctl dump ru', 'tsctl record -o ru', 'tsctl record -- ls ru',
                     'tsctl record ls --output=x ru', 'tsctl info -- ru'):
            self.assertEqual(sorted(self.complete(line)), ['rum file.sbt', 'run.sbt', 'runs'], line)
        self.assertEqual(sorted(self.complete('tsctl merge --output=ru')), ['rum file.sbt', 'run.sbt', 'runs/'])
        self.assertEqual(sorted(self.complete('tsctl merge -oru')), ['-orum file.sbt', '-orun.sbt', '-oruns/'])
        self.assertEqual(self.complete('tsctl info "rum'), ['rum file.sbt'])
        for line in ('tsctl version ru', 'tsctl view --limit ru', 'tsctl start ru', 'tsctl help ru'):
            self.assertEqual(self.complete(line), [], line)

    def test_programs(self):
        self.assertIn('sleep', self.complete('tsctl record slee'))
        self.assertIn('sleep', self.complete('tsctl record -q -- slee'))
        self.assertNotIn('--quiet', self.complete('tsctl record ls --'))

    def test_options_end(self):
        self.assertNotIn('--json', self.complete('tsctl info -- --'))
        # A value that looks like an option is a value.
        self.assertIn('--json', self.complete('tsctl view --name -- --j'))
        # Without options and operands the option's names are all there is.
        self.assertEqual(self.complete('tsctl version '), ['--json', '--help'])


class Sessions(harness.Case):
    def test_none(self):
        env = dict(environment(), TRACESMITH_CONTROL=self.path('nobody'))
        result = harness.tsctl('complete', 'info', '--session', '', env=env)
        self.assertEqual((result.status, result.out), (0, ''), result)

    def test_of_a_recording(self):
        """The processes that are being recorded, by pid."""
        runtime = self.path('run')
        os.mkdir(runtime, 0o700)
        process = subprocess.Popen(
            [harness.TSCTL, 'record', '--vgpu', '-q', '-o', self.path('run.sbt'), '--', sys.executable, '-c',
             harness.LIVE_PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder,
            env=harness.record_environment(XDG_RUNTIME_DIR=runtime))
        try:
            self.assertEqual(process.stdout.readline(), b'ready\n')
            env = harness.environment(XDG_RUNTIME_DIR=runtime)
            listed = json.loads(harness.tsctl('sessions', '--json', env=env).out)['sessions']
            self.assertTrue(listed)
            pid = str(listed[0]['pid'])
            for words in (('info', '--session', ''), ('info', '-s', pid[:1]), ('stop', ''), ('watch', ''), ('view', '-s', '')):
                self.assertIn(pid, harness.tsctl('complete', *words, env=env).out.splitlines(), words)
            for words, wanted in ((('info', '--session=' + pid[:1]), '--session=' + pid), (('dump', '-s' + pid[:1]), '-s' + pid)):
                self.assertIn(wanted, harness.tsctl('complete', *words, env=env).out.splitlines(), words)
            dumped = harness.tsctl('complete', 'dump', '', env=env).out.splitlines()
            self.assertIn(pid, dumped)
            self.assertIn(':files ', dumped)
            self.assertEqual(harness.tsctl('complete', 'stop', 'x', env=env).out, '')
        finally:
            process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)


@unittest.skipIf(not BASH, 'bash is not here')
class Terminal(harness.Case):
    """TAB, on a terminal."""

    def typed(self, text):
        """What the line is after TAB."""
        rc_path = self.path('.rc')
        with open(rc_path, 'w', encoding='utf-8') as rc:
            rc.write("PS1='> '\nbind 'set enable-bracketed-paste off'\nbind 'set bell-style none'\nsource %s\n" % shlex.quote(SCRIPT))
        pid, screen = pty.fork()
        if not pid:
            os.chdir(self.folder)
            os.execve(BASH, [BASH, '--noprofile', '--rcfile', rc_path, '-i'], environment())
        shown = b''
        end = time.monotonic() + harness.SECONDS

        def until(what):
            nonlocal shown
            while what not in shown:
                self.assertTrue(select.select([screen], [], [], max(0, end - time.monotonic()))[0], shown)
                shown += os.read(screen, 4096)

        try:
            until(b'> ')
            shown = b''
            # Readline takes what is typed when it is done with what was typed before.
            os.write(screen, text.encode() + b'\t|')
            until(b'|')
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(screen)
        line = ''
        for character in shown.decode().split('|')[0]:
            line = line[:-1] if character == '\b' else line + character
        return line

    def test_lines(self):
        for name in ('run.sbt', 'rum file.sbt', 'a:b.sbt', 'x@y.sbt', 'e=f.sbt'):
            with open(self.path(name), 'w', encoding='utf-8'):
                pass
        os.mkdir(self.path('folder'))
        os.mkdir(self.path('c:d'))
        for text, wanted in (
                ('tsctl rec', 'tsctl record '),
                ('tsctl export --format=perf', 'tsctl export --format=perfetto '),
                ('tsctl export --format perf', 'tsctl export --format perfetto '),
                ('tsctl view --type=kernel,mems', 'tsctl view --type=kernel,memset '),
                ('tsctl record --kernel-events=sched:10us,sysc', 'tsctl record --kernel-events=sched:10us,syscalls '),
                ('tsctl record --dump-on m', 'tsctl record --dump-on mark:'),
                ('tsctl info run', 'tsctl info run.sbt '),
                ('tsctl info rum', 'tsctl info rum\\ file.sbt '),
                ('tsctl info "rum', 'tsctl info "rum file.sbt" '),
                ('tsctl info rum\\ f', 'tsctl info rum\\ file.sbt '),
                ("tsctl info $'rum f", "tsctl info $'rum file.sbt' "),
                ('tsctl info a:', 'tsctl info a:b.sbt '),
                ('tsctl info fold', 'tsctl info folder/'),
                ('tsctl record --output=run', 'tsctl record --output=run.sbt '),
                ('tsctl record -orun', 'tsctl record -orun.sbt '),
                ('tsctl info x@', 'tsctl info x\\@y.sbt '),
                ('tsctl merge --output=x@', 'tsctl merge --output=x\\@y.sbt '),
                ('tsctl merge --output="a:', 'tsctl merge --output="a:b.sbt" '),
                ("tsctl merge --output='e=", "tsctl merge --output='e=f.sbt' "),
                ('tsctl record -ofold', 'tsctl record -ofolder/'),
                ('tsctl info c:', 'tsctl info c:d/'),
                ('tsctl info ru', 'tsctl info ru')):
            self.assertEqual(self.typed(text), wanted, text)


# Names that a shell would read as more than a word. The first character finds each one.
NAMES = ['two words', 'a"b\'c', '$(touch EXECUTED)', '`touch EXECUTED`', 'star*[x]?', 'line\nbreak', 'semi;colon & x >EXECUTED', '#hash',
         '~home', 'bang!x', '\\back\\\\slash', 'ns::f<int>(float*)', '-dash', '{a,b}', '\u00fcn\u00ef', 'tab\there', '=equal', "'quoted'"]


def tries():
    """A line is completed until its names are there, for at most a minute: a busy machine gives no try the time that names need."""
    end = time.monotonic() + 60
    yield
    while time.monotonic() < end:
        yield


def write_names(path):
    with tracesmith.SBTWriter(path) as writer:
        session = writer.session(pid=1, program='p')
        for i, name in enumerate(NAMES):
            session.emit('kernel', start_ns=1000 + i, end_ns=2000 + i, op_id=i + 1, name=name, stream=(7, 18)[i % 2], device=0)
            session.emit('range', start_ns=1000 + i, end_ns=2000 + i, name='range of ' + name)


@unittest.skipIf(not tracesmith, 'the Python package is not for a sanitized library')
class Names(harness.Case):
    """Names in the trace on the line, as the scripts get them."""

    def setUp(self):
        super().setUp()
        self.trace = self.path('names.sbt')
        write_names(self.trace)

    def records(self, cursor, *words, is_none=False):
        """The records of a call. On a busy machine its time can be over before the names are found: then it is asked again."""
        for _ in tries():
            found = self.ask(cursor, *words)
            if is_none or found:
                break
        return found

    def ask(self, cursor, *words):
        result = subprocess.run([harness.TSCTL, 'complete', '--cursor=%d' % cursor, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment(), check=False, timeout=harness.SECONDS)
        self.assertEqual((result.returncode, result.stderr), (0, b''), words)
        return result.stdout.decode().split('\0')[:-1]

    def test_kernels_and_ranges(self):
        wanted = {':name ' + prefix + name for name in NAMES for prefix in ('', 'range of ')}
        # The trace may stand before the word or behind it.
        self.assertEqual(set(self.records(3, 'view', self.trace, '--name', '')), wanted)
        self.assertEqual(set(self.records(2, 'view', '--name', '', '--json', '-n', '3', self.trace)), wanted)
        self.assertEqual(self.records(3, 'view', self.trace, '--name', '$('), [':name $(touch EXECUTED)'])
        self.assertEqual(self.records(2, 'view', self.trace, '--name=two w'), [':name --name=two words'])
        self.assertEqual(set(self.records(2, 'cut', '--range', '', self.trace)), {':name range of ' + name for name in NAMES})
        self.assertEqual(self.records(3, 'view', self.trace, '--name', 'nothing', is_none=True), [])

    def test_a_line_has_no_control_characters(self):
        """Without --cursor a record is a line, so a name with a line break is left out."""
        found = []
        for _ in tries():
            found = candidates('view', self.trace, '--name', '')
            if found:
                break
        self.assertIn('two words', found)
        self.assertEqual([name for name in found if name.startswith(('line', 'tab'))], [])
        self.assertEqual(len(found), 2 * (len(NAMES) - 2))

    def test_streams_devices_threads(self):
        self.assertEqual(sorted(self.records(3, 'view', self.trace, '--stream', '')), [':name 18', ':name 7'])
        self.assertEqual(self.records(3, 'view', self.trace, '--device', '', is_none=True), [])
        self.assertEqual(sorted(self.records(2, 'replay', '--stream', '', self.trace)), [':name 18', ':name 7'])
        golden = os.path.join(harness.SOURCE, 'test', 'integration', 'golden', 'pipeline.sbt')
        threads = self.records(3, 'view', golden, '--thread', '')
        self.assertIn(':name pipeline', threads)
        self.assertIn(':name 27471', threads)
        self.assertEqual(self.records(3, 'view', golden, '--device', ''), [':name 0'])
        calls = self.records(2, 'view', '--name', 'cuLaunch', golden)
        self.assertEqual(calls, [':name cuLaunchKernel'])
        # A kernel's name begins with the function: --name finds a part.
        mangled = os.path.join(harness.SOURCE, 'test', 'integration', 'golden', 'names.sbt')
        self.assertIn(':name at::native::reduce_kernel<512, float, 1>(float)', self.records(3, 'view', mangled, '--name', 'at::'))

    def test_edits(self):
        """The first words of all edits, then names of kernels and calls."""
        offered = self.records(3, 'replay', self.trace, '--what-if', '')
        text = harness.tsctl('replay', '--what-if', 'help').out
        first = {re.match(r'  ([\w-]+)', line).group(1) for line in text.splitlines() if re.match(r'  \S', line)}
        self.assertEqual({record.split(' ', 1)[1].rstrip(' =') for record in offered}, first)
        self.assertIn(':part kernel ', offered)
        self.assertIn(':name graph', offered)
        self.assertEqual(self.records(3, 'replay', self.trace, '--what-if', 'kernel two'), [':part kernel two words='])
        self.assertEqual(self.records(2, 'replay', self.trace, '--what-if=kernel ns'), [':part --what-if=kernel ns::f<int>(float*)='])
        self.assertEqual(self.records(2, 'replay', '--what-if', 'copy h', self.trace), [':part copy htod='])
        golden = os.path.join(harness.SOURCE, 'test', 'integration', 'golden', 'pipeline.sbt')
        self.assertEqual(self.records(2, 'replay', '--what-if', 'no-sync cuStreamS', golden), [':name no-sync cuStreamSynchronize'])
        self.assertEqual(self.records(2, 'replay', '--what-if', 'kernel', self.trace), [':part kernel '])
        self.assertEqual(self.records(2, 'replay', '--what-if', '@', self.trace, is_none=True), [])

    def test_descriptions(self):
        self.assertIn('record\trun a command and record its work on the GPU', self.records(0, 're'))
        self.assertEqual(self.records(1, 'view', '--sta'), ['--stacks\tprint the host stack of each row',
                                                           '--stats\tprint sums instead, by kernel, call, copy, range, sample'])

    def test_no_trace(self):
        os.mkfifo(self.path('fifo'))
        with open(self.path('damaged.sbt'), 'wb') as file, open(self.trace, 'rb') as whole:
            file.write(whole.read()[:700])
        for path in ('fifo', 'missing', '.', '/dev/zero', '/dev/tty', SCRIPT):
            path = os.path.join(self.folder, path)
            for option in ('--name', '--stream', '--thread'):
                self.assertEqual(self.records(3, 'view', path, option, '', is_none=True), [], path)
        self.records(3, 'view', self.path('damaged.sbt'), '--name', '', is_none=True)
        # A place that is no word of the line.
        for cursor in ('2', '-1', 'x', ''):
            self.assertEqual(harness.tsctl('complete', '--cursor=' + cursor, 'view', 'x').status, 2)

    def test_a_long_trace_is_bounded(self):
        """However long a trace is, completion needs little processor time: real time would be that of other tests, too."""
        make = os.path.join(harness.BUILD, 'test', 'unit', 'tools', 'make-many')
        n_most = 0
        for kind in ('names', 'streams'):
            path = self.path(kind + '.sbt')
            harness.run([make, path, '500000', kind])
            for option in ('--name', '--stream', '--thread'):
                process = subprocess.Popen([harness.TSCTL, 'complete', '--cursor=3', 'view', path, option, ''], stdout=subprocess.PIPE,
                                           env=environment())
                found = process.stdout.read().split(b'\0')
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = status
                process.stdout.close()
                self.assertEqual(status, 0)
                self.assertLess(usage.ru_utime + usage.ru_stime, 0.5, (kind, option))
                n_most = max(n_most, len(found))
        self.assertGreater(n_most, 100)


class Shell(harness.Case):
    """A shell on a terminal. Lines are typed, TAB completes the last word, and Return runs the line: a function keeps its words."""

    program = None

    def setUp(self):
        super().setUp()
        if not shutil.which(self.program):
            self.skipTest('%s is not here' % self.program)
        for name in ('run.sbt', 'rum file.sbt', 'a:b.sbt'):
            with open(self.path(name), 'w', encoding='utf-8'):
                pass
        os.mkdir(self.path('home'))
        os.mkdir(self.path('xdg'), 0o700)
        if tracesmith:
            write_names(self.path('n.sbt'))
        self.n_lines = 0
        env = dict(environment(), LC_ALL='C.UTF-8', HOME=self.path('home'), ZDOTDIR=self.path('home'), XDG_CONFIG_HOME=self.path('home'),
                   XDG_DATA_HOME=self.path('home'), XDG_RUNTIME_DIR=self.path('xdg'), WORDS=self.path('words'), SCRIPTS=SCRIPTS, PS1='> ', TERM='dumb',
                   PATH='%s:%s' % (os.path.dirname(harness.DAEMON), environment()['PATH']))
        self.pid, self.screen = pty.fork()
        if not self.pid:
            os.chdir(self.folder)
            os.execvpe(self.argv[0], self.argv, env)
        self.addCleanup(self.end)
        # No line is broken or asks whether to list.
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack('HHHH', 200, 500, 0, 0))
        self.shown = b''
        for line in self.begin:
            self.type(line + '\r')
        self.type(self.ready + '\r')
        self.until(b'ready-2-')

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.screen)

    def type(self, text):
        os.write(self.screen, text.encode())

    def until(self, what):
        end = time.monotonic() + harness.SECONDS
        while what not in self.shown:
            self.assertTrue(select.select([self.screen], [], [], max(0, end - time.monotonic()))[0], self.shown[-2000:])
            new = os.read(self.screen, 65536)
            # A shell may ask the terminal for its kind.
            if b'\x1b[c' in new or b'\x1b[0c' in new:
                os.write(self.screen, b'\x1b[?1;2c')
            self.shown += new
        self.shown = self.shown[self.shown.index(what) + len(what):]

    def completed(self, line):
        """The words of the line after TAB, which is typed at its end or at the first `|`."""
        self.n_lines += 1
        before, _, after = line.partition('|')
        # Ctrl-B moves back.
        self.type('%s%s\t\r' % (before + after, '\x02' * len(after)))
        self.until(b'ran-%d-' % self.n_lines)
        with open(self.path('words'), 'rb') as file:
            return [word.decode() for word in file.read().split(b'\0')[:-1]]

    def check(self, *lines):
        for line, wanted in lines:
            # On a busy machine the time for names can be over before they are found.
            for _ in tries():
                found = self.completed(line)
                if found == wanted:
                    break
            self.assertEqual(found, wanted, line)
        self.assertFalse(os.path.exists(self.path('EXECUTED')))

    def check_common(self):
        self.check(('tsctl rec', ['record']),
                   ('tsctl view --mang', ['view', '--mangled']),
                   ('tsctl export --format perf', ['export', '--format', 'perfetto']),
                   ('tsctl export --format=perf', ['export', '--format=perfetto']),
                   ('tsctl view --type kernel,mems', ['view', '--type', 'kernel,memset']),
                   ('tsctl record --dump-on m', ['record', '--dump-on', 'mark:']),
                   ('tsctl info run', ['info', 'run.sbt']),
                   ('tsctl info rum', ['info', 'rum file.sbt']),
                   ('tsctl info a:', ['info', 'a:b.sbt']),
                   ('tsctl merge --output=rum', ['merge', '--output=rum file.sbt']),
                   ('tsctl merge -orun', ['merge', '-orun.sbt']),
                   ('tsctl record slee', ['record', 'sleep']),
                   ('tsctl record -- slee', ['record', '--', 'sleep']))

    def check_sessions(self):
        """The process that is being recorded, by its pid."""
        process = subprocess.Popen(
            [harness.TSCTL, 'record', '--vgpu', '-q', '-o', self.path('recorded'), '--', sys.executable, '-c', harness.LIVE_PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder, env=harness.record_environment(XDG_RUNTIME_DIR=self.path('xdg')))
        try:
            self.assertEqual(process.stdout.readline(), b'ready\n')
            env = harness.environment(XDG_RUNTIME_DIR=self.path('xdg'))
            pid = str(json.loads(harness.tsctl('sessions', '--json', env=env).out)['sessions'][0]['pid'])
            self.check(('tsctl info --session ' + pid[:-1], ['info', '--session', pid]),
                       ('tsctl view -s ' + pid[:-1], ['view', '-s', pid]),
                       ('tsctl stop ' + pid[:-1], ['stop', pid]))
        finally:
            process.communicate(b'\n', timeout=harness.SECONDS)
        self.assertEqual(process.returncode, 0)

    def check_trace_behind(self):
        """The trace may stand behind the cursor, and the cursor in a word."""
        self.check(('tsctl view --name tw| n.sbt', ['view', '--name', 'two words', 'n.sbt']),
                   ('tsctl view --name=ns| --json n.sbt', ['view', '--name=ns::f<int>(float*)', '--json', 'n.sbt']))

    def check_names(self, begun, but=()):
        """`begun`: the text that is typed for a first character that the shell would read."""
        for name in NAMES:
            if name not in but:
                typed = begun.get(name[0], name[:2] if name[:2].isalnum() else name[0])
                self.check(('tsctl view n.sbt --name ' + typed, ['view', 'n.sbt', '--name', name]))
        self.check(('tsctl view n.sbt --name=two', ['view', 'n.sbt', '--name=two words']),
                   ('tsctl view n.sbt --name=ns::', ['view', 'n.sbt', '--name=ns::f<int>(float*)']),
                   ('tsctl view n.sbt --name two\\ w', ['view', 'n.sbt', '--name', 'two words']),
                   ("tsctl view n.sbt --name '$(", ['view', 'n.sbt', '--name', '$(touch EXECUTED)']),
                   ("tsctl view n.sbt --name 'semi;c", ['view', 'n.sbt', '--name', 'semi;colon & x >EXECUTED']),
                   ('tsctl view n.sbt --name "two w', ['view', 'n.sbt', '--name', 'two words']),
                   ('tsctl view n.sbt --name "a', ['view', 'n.sbt', '--name', 'a"b\'c']),
                   ('tsctl view n.sbt --stream 7 --name star', ['view', 'n.sbt', '--stream', '7', '--name', 'star*[x]?']),
                   ("tsctl cut n.sbt --range 'range of ~", ['cut', 'n.sbt', '--range', 'range of ~home']),
                   ('tsctl view n.sbt --stream 1', ['view', 'n.sbt', '--stream', '18']),
                   ('tsctl replay n.sbt --stream=1', ['replay', 'n.sbt', '--stream=18']),
                   ('tsctl replay n.sbt --what-if kernel\\ st', ['replay', 'n.sbt', '--what-if', 'kernel star*[x]?=']),
                   # No word of the line is evaluated either.
                   ('tsctl view "$(echo n.sbt)" --name tw', ['view', 'n.sbt', '--name', 'tw']))

    def check_daemon(self):
        self.check(('tracesmithd --hel', ['--help']),
                   ('tracesmithd --max-query-b', ['--max-query-bytes']),
                   ('tracesmithd --log deb', ['--log', 'debug']),
                   ('tracesmithd --log=deb', ['--log=debug']),
                   ('tracesmithd --stacks na', ['--stacks', 'native']))


POSIX = r'''n=0
ran() { printf '%s\0' "$@" > "$WORDS"; n=$((n + 1)); printf 'ran-%s-\n' $n; }
tsctl() { if [ "$1" = complete ]; then command tsctl "$@"; else ran "$@"; fi; }
tracesmithd() { if [ -n "$COMP_LINE$CURRENT" ]; then command tracesmithd "$@"; else ran "$@"; fi; }'''


class Bash(Shell):
    program = 'bash'
    argv = ['bash', '--noprofile', '--norc', '-i']
    begin = ["bind 'set enable-bracketed-paste off'", "bind 'set bell-style none'", *POSIX.split('\n'),
             'source "$SCRIPTS/tsctl.bash"; source "$SCRIPTS/tracesmithd.bash"']
    ready = 'echo ready-$((1 + 1))-'

    def test_lines(self):
        self.check_common()
        self.check_sessions()
        self.check_daemon()

    @unittest.skipIf(not tracesmith, 'the Python package is not for a sanitized library')
    def test_names(self):
        self.check_trace_behind()
        # History would expand a `!` between double quotes, so that such a name is offered otherwise only.
        self.check_names({'$': '\\$', '`': '\\`', '#': '\\#', '~': '\\~', '\\': '\\\\', "'": "\\'"})
        self.check(("tsctl view n.sbt --name $'line\\nb", ['view', 'n.sbt', '--name', 'line\nbreak']),
                   ("tsctl view n.sbt --name 'bang", ['view', 'n.sbt', '--name', 'bang!x']),
                   ("tsctl view n.sbt --name 'a", ['view', 'n.sbt', '--name', 'a"b\'c']),
                   ("tsctl replay n.sbt --what-if 'kernel two", ['replay', 'n.sbt', '--what-if', 'kernel two words=']),
                   ('tsctl view n.sbt --name "$', ['view', 'n.sbt', '--name', '$(touch EXECUTED)']))


class Zsh(Shell):
    program = 'zsh'
    argv = ['zsh', '-f', '-i']
    begin = ['unset zle_bracketed_paste; setopt no_beep interactive_comments', *POSIX.split('\n'),
             'fpath=("$SCRIPTS" $fpath); autoload -Uz compinit; compinit -D']
    ready = 'echo ready-$((1 + 1))-'

    def test_lines(self):
        self.check_common()
        self.check_sessions()
        self.check_daemon()

    @unittest.skipIf(not tracesmith, 'the Python package is not for a sanitized library')
    def test_names(self):
        self.check_names({'$': '\\$', '`': '\\`', '#': '\\#', '~': '\\~', '\\': '\\\\', "'": "\\'", '=': '\\=', '{': '\\{'})
        self.check_trace_behind()
        self.check(("tsctl view n.sbt --name 'bang", ['view', 'n.sbt', '--name', 'bang!x']))


class Fish(Shell):
    program = 'fish'
    argv = ['fish', '--no-config', '-i']
    begin = ['function fish_greeting; end', 'function fish_prompt; printf "> "; end', 'set -g n 0',
             "function ran; printf '%s\\0' $argv > $WORDS; set n (math $n + 1); printf 'ran-%s-\\n' $n; end",
             'function tsctl; if test "$argv[1]" = complete; command tsctl $argv; else; ran $argv; end; end',
             'function tracesmithd; ran $argv; end',
             'source $SCRIPTS/tsctl.fish; source $SCRIPTS/tracesmithd.fish']
    ready = 'echo ready-(math 1 + 1)-'

    def test_lines(self):
        self.check_common()
        self.check_sessions()
        self.check_daemon()

    @unittest.skipIf(not tracesmith, 'the Python package is not for a sanitized library')
    def test_names(self):
        # A tab would separate the candidate from its description.
        self.check_names({'$': '\\$', '#': '\\#', '~': '\\~', '\\': '\\\\', "'": "\\'", '{': '\\{'}, but=['tab\there'])
        self.check(('tsctl view n.sbt --name ta', ['view', 'n.sbt', '--name', 'ta']))

    def test_query(self):
        """`complete -C` lists what TAB offers."""
        script = 'source %s/tsctl.fish; complete -C "tsctl re"; complete -C "tsctl view --stac"' % SCRIPTS
        result = harness.run(['fish', '--no-config', '-c', script], env=dict(environment(), HOME=self.folder), cwd=self.folder)
        self.assertEqual(result.out.splitlines(), [
            'record\trun a command and record its work on the GPU', 'repair\tfinish a trace file that was cut off',
            'replay\trun a trace again: what-if edits, races, order dependence',
            'report\twrite a page for a browser: answers, tables, pictures', '--stacks\tprint the host stack of each row'], result)


class Daemon(harness.Case):
    def test_values(self):
        """The values that the scripts offer for tracesmithd are those that it accepts."""
        for name in ('tracesmithd.bash', '_tracesmithd', 'tracesmithd.fish'):
            with open(os.path.join(SCRIPTS, name), encoding='utf-8') as file:
                self.assertIn('none error warning info debug', file.read(), name)
        for value in ('none', 'error', 'warning', 'info', 'debug'):
            self.assertEqual(harness.run([harness.DAEMON, '--log', value, '--version']).status, 0)
        self.assertNotEqual(harness.run([harness.DAEMON, '--log', 'all', '--version']).status, 0)


del Shell


if __name__ == '__main__':
    harness.main()
