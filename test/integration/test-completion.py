#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion in bash: what `tsctl complete` prints, what the script makes of it, and what TAB types on a terminal.

Every option in every help is offered, and everything that is offered is in the help.
"""
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness

SCRIPT = os.path.join(harness.SOURCE, 'packaging', 'completions', 'tsctl.bash')
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
        self.assertEqual(self.complete('tsctl re'), ['record', 'replay', 'repair'])
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
            # A start of tsctl is slow under a sanitizer.
            begun = {option[:-1] for option in options if not harness.SANITIZER} | set(options) | {'--'}
            for beginning in sorted(begun):
                lines.append('tsctl %s %s' % (name, beginning))
                wanted.append([other for other in options if other.startswith(beginning)])
        self.assertEqual(self.complete(*lines), wanted)

    def test_options_are_the_command_s_own(self):
        """An option that is offered is one that the command knows, with a value or without."""
        for name in commands():
            for option in candidates(name, '-'):
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
                ('tsctl export --format ', ['perfetto', 'json', 'folded', 'pprof', 'svg', 'chrome', 'arrow']),
                ('tsctl export --format p', ['perfetto', 'pprof']),
                ('tsctl export -w l', ['launches']),
                ('tsctl timeline x.sbt --format ', ['text', 'json', 'svg']),
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
                ('tsctl export --format=', '--format=', ['perfetto', 'json', 'folded', 'pprof', 'svg', 'chrome', 'arrow']),
                ('tsctl export --format=p', '--format=', ['perfetto', 'pprof']),
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


if __name__ == '__main__':
    harness.main()
