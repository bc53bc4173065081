#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtracesmith as tsctl and other programs meet it: installed, found by pkg-config, compiled against, run; and which names it exports."""
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

EXAMPLES = os.path.join(harness.SOURCE, 'tools', 'library', 'examples')
PREFIX = '/usr/local'
CPP_COMPILERS = [name for name in ('c++', 'clang++') if shutil.which(name)]
FUNCTION = re.compile(r'^[\w ]+?[ *](ts_\w+)\(', re.MULTILINE)
# Functions and descriptors that protoc-c makes.
GENERATED = re.compile(r'\b(ts__rpc__\w+)\s*[(;]')
PUBLIC = 'TRACESMITH_0.1'
TRACES = os.path.join(harness.SOURCE, 'test', 'integration', 'golden')
GOLDEN = os.path.join(TRACES, 'pipeline.sbt')
KERNELS = 2  # the type of the blocks of kernels in sbt/FORMAT.md
USE = os.path.join(harness.SOURCE, 'test', 'integration', 'use-library.c')
# A question, its options, and the command with the same answer.
QUESTIONS = (
    ('info', {}, ('info',)),
    ('info', {'columns': True, 'mangled': True}, ('info', '--columns', '--mangled')),
    ('analyze', {}, ('analyze',)),
    ('analyze', {'limit': 2}, ('analyze', '--limit', '2')),
    ('gaps', {}, ('gaps',)),
    ('gaps', {'least_ns': 1000, 'limit': 3, 'mangled': True}, ('gaps', '--least', '1us', '--limit', '3', '--mangled')),
    ('state', {'at': {'ns': 9000000, 'from_start': True}}, ('state', '--at', '9ms')),
    ('timeline', {'parts': 50, 'to': {'ns': 9000000, 'from_start': True}}, ('timeline', '--width', '50', '--to', '9ms')),
    ('rows', {'types': ['kernel', 'api'], 'limit': 9, 'stacks': True}, ('view', '--type', 'kernel,api', '--limit', '9', '--stacks')),
    ('rows', {'filter': {'name': 'saxpy'}}, ('view', '--name', 'saxpy')),
    ('stats', {}, ('view', '--stats')),
    ('memory', {'limit': 2}, ('memory', '--limit', '2')),
    ('graph', {'path': True}, ('graph', '--critical-path')),
    ('graph', {}, ('graph',)),
)


def command(*argv, **more):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=harness.SECONDS * 4, **more)
    if result.returncode:
        raise AssertionError('%s:\n%s' % (' '.join(argv), result.stdout))
    return result.stdout


class Library(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.root)
        meson = shutil.which('meson')
        command(meson, 'install', '-C', harness.BUILD, '--no-rebuild', '--quiet', '--destdir', cls.root)
        [cls.pc] = [os.path.join(path, 'tracesmith.pc') for path, _, names in os.walk(cls.root)
                    if 'tracesmith.pc' in names]
        cls.libdir = os.path.dirname(os.path.dirname(cls.pc))
        cls.includes = cls.root + PREFIX + '/include/tracesmith'
        cls.library = os.path.join(cls.libdir, 'libtracesmith.so')
        cls.tsctl = cls.root + PREFIX + '/bin/tsctl'

    def flags(self, what):
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(self.pc), PKG_CONFIG_SYSROOT_DIR=self.root)
        words = command('pkg-config', what, 'tracesmith', env=env).split()
        # The system's own libraries are not under the root.
        return [word for word in words if not word.startswith('-I') or os.path.isdir(word[2:])]

    def build(self, source, *more, compiler='cc'):
        program = self.path(os.path.basename(source) + '.out')
        command(compiler, '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', *self.flags('--cflags'), source,
                *more, '-L' + self.libdir, *self.flags('--libs'), '-o', program,
                *(['-Wl,--allow-shlib-undefined'] if harness.SANITIZER else []))
        return program

    def run_built(self, program, *argv):
        env = harness.record_environment(LD_LIBRARY_PATH=self.libdir)
        return harness.run([program, *argv], env=env)

    def test_examples(self):
        """What the example writes, tsctl reads; what tsctl recorded, the example reads."""
        trace = self.path('written.sbt')
        result = self.run_built(self.build(os.path.join(EXAMPLES, 'write.c')), trace)
        self.assertEqual((result.status, result.err), (0, ''), result)
        result = harness.tsctl('verify', trace)
        self.assertEqual(result.status, 0, result)
        kernels = self.build(os.path.join(EXAMPLES, 'kernels.c'))
        result = self.run_built(kernels, trace)
        self.assertEqual((result.status, result.out), (0, '6000\t3\tsaxpy\n'), result)

        trace = self.path('recorded.sbt')
        result = harness.run([harness.TSCTL, 'record', '-o', trace, '--vgpu', '--',
                              harness.app('pipeline', 'driver')], env=harness.record_environment())
        self.assertEqual(result.status, 0, result)
        rows = [json.loads(line) for line in
                harness.tsctl('view', '--json', '--type', 'kernel', trace).out.splitlines()]
        self.assertGreater(len(rows), 0)
        expected = {}
        for row in rows:
            n, total = expected.get(row['name'], (0, 0))
            expected[row['name']] = (n + 1, total + row['end_ns'] - row['start_ns'])
        programs = [kernels, self.build(os.path.join(EXAMPLES, 'columns.c'))]
        programs += [self.build(os.path.join(EXAMPLES, 'totals.cc'), '-std=c++17', '-Wpedantic', compiler=compiler)
                     for compiler in CPP_COMPILERS]
        for program in programs:
            result = self.run_built(program, trace)
            self.assertEqual((result.status, result.err), (0, ''), result)
            lines = [line.split('\t') for line in result.out.splitlines()]
            self.assertEqual({name: (int(n), int(ns)) for ns, n, name in lines}, expected)
            self.assertEqual([int(line[0]) for line in lines], sorted((int(line[0]) for line in lines), reverse=True))

    def test_examples_build(self):
        """Every example, with the installed headers and library. test-examples.py runs those that answer questions."""
        for name in sorted(os.listdir(EXAMPLES)):
            if name.endswith('.c'):
                self.build(os.path.join(EXAMPLES, name))

    def test_state(self):
        """The example answers as `tsctl state` does."""
        state = self.build(os.path.join(EXAMPLES, 'state.c'))
        kernel = json.loads(harness.tsctl('view', '--json', '--type', 'kernel', '--limit', '1', GOLDEN).out)
        at = kernel['start_ns'] - json.loads(harness.tsctl('info', '--json', GOLDEN).out)['start_ns']
        result = self.run_built(state, GOLDEN, str(at), '--json')
        expected = harness.tsctl('state', '--json', '--at', '%dns' % at, GOLDEN)
        self.assertEqual((result.status, result.out), (0, expected.out), result)
        result = self.run_built(state, GOLDEN, str(at))
        self.assertEqual((result.status, result.err), (0, ''), result)
        self.assertIn('operation\t%d\trunning\t%s\n' % (kernel['op_id'], kernel['name']), result.out)
        result = self.run_built(state, GOLDEN, str(10**15))
        self.assertEqual((result.status, result.out), (2, ''), result)
        self.assertIn('outside the trace', result.err)

    def test_questions(self):
        """Each question, asked from C as JSON, has the answer that tsctl prints."""
        use = self.build(USE)
        for trace in (os.path.join(TRACES, 'names.sbt'), GOLDEN):
            for question, options, words in QUESTIONS:
                with self.subTest(trace=trace, words=words):
                    result = self.run_built(use, 'ask', trace, question, json.dumps(options))
                    self.assertEqual((result.status, result.err), (0, ''), result)
                    self.assertEqual(result.out, harness.tsctl(words[0], '--json', *words[1:], trace).out)
                    self.assertTrue(trace != GOLDEN or result.out.count('{') > 2, result)
        replay = json.loads(self.run_built(use, 'ask', GOLDEN, 'replay', '{"executor": "emulate", "points": true}').out)
        self.assertEqual(replay['emulated'], json.loads(harness.tsctl('replay', '--json', GOLDEN).out))

    def test_bad_questions(self):
        """Errors are a number and one line; a cancelled question ends."""
        use = self.build(USE)
        for question, options, line in (
                ('nothing', '', r'110 there is no question of this name'),
                ('session', '{}', r'110 there is no question of this name'),
                ('gaps', '{"limit": -1}', r'110 bad options: limit: the number is out of range'),
                ('gaps', '{"limit": 1', r'110 bad options: expected , or }'),
                ('gaps', '{"limits": 1}', r'110 bad options: unknown key "limits"'),
                ('gaps', '{"limit": 99999999}', r'103 the query exceeds a limit.*'),
                ('rows', '{"types": ["kernal"]}', r'101 no type of row has this name'),
                ('state', '{}', r'102 this version does not know the query'),
                ('state', '{"at": {"ns": 1}}', r'104 the time is outside the trace .*')):
            result = self.run_built(use, 'ask', GOLDEN, question, options)
            self.assertEqual((result.status, result.out), (3, ''), result)
            self.assertRegex(result.err, '^%s\n$' % line)
        for question in ('analyze', 'gaps', 'graph', 'memory', 'rows', 'timeline'):
            result = self.run_built(use, 'cancelled', GOLDEN, question)
            self.assertEqual((result.status, result.out, result.err), (3, '', '%d cancelled\n' % -errno.ECANCELED), result)
        result = self.run_built(use, 'long', GOLDEN, 'analyze')
        self.assertRegex(result.err, '^112 the answer is longer than 10 bytes; .*\n$')
        damaged = self.path('damaged.sbt')
        with open(GOLDEN, 'rb') as stream:
            data = harness.damage_blocks(stream.read(), KERNELS)
        with open(damaged, 'wb') as stream:
            stream.write(data)
        result = self.run_built(use, 'ask', damaged, 'rows', '')
        self.assertEqual(result.status, 3)
        self.assertEqual(result.out, harness.tsctl('view', '--json', damaged).out)
        self.assertRegex(result.err, r'^111 .* is damaged at byte [0-9]+: .*\n$')

    def test_diff_and_export(self):
        use = self.build(USE)
        other = os.path.join(TRACES, 'pipeline-longer.sbt')
        for options, words in (({}, ()), ({'least_percent': 50, 'limit': 2, 'mangled': True}, ('--least', '50', '--limit', '2', '--mangled'))):
            result = self.run_built(use, 'diff', GOLDEN, other, json.dumps(options))
            self.assertEqual((result.status, result.err), (0, ''), result)
            self.assertEqual(result.out, harness.tsctl('diff', '--json', *words, GOLDEN, other).out)
        env = harness.record_environment(LD_LIBRARY_PATH=self.libdir)
        for form in ('json', 'folded', 'perfetto', 'pprof'):
            outputs = []
            for argv in ([use, 'export', GOLDEN, form], [harness.TSCTL, 'export', '--format', form, GOLDEN]):
                result = subprocess.run(argv, env=env, stdout=subprocess.PIPE, timeout=harness.SECONDS, check=True)
                outputs.append(result.stdout)
            self.assertGreater(len(outputs[0]), 100)
            self.assertEqual(*outputs)
        self.assertEqual(self.run_built(use, 'export', GOLDEN, 'svgz').err, '%d\n' % -errno.EINVAL)

    def test_pictures_and_arrow(self):
        """From C: pictures and files of Arrow are those of tsctl."""
        use = self.build(USE)
        for question in ('timeline', 'memory'):
            result = self.run_built(use, 'picture', GOLDEN, question)
            self.assertEqual((result.status, result.err), (0, ''), result)
            self.assertEqual(result.out, harness.tsctl(question, '--format', 'svg', GOLDEN).out)
        self.assertEqual(self.run_built(use, 'picture', GOLDEN, 'gaps').err, '110 there is no picture of this question\n')
        result = self.run_built(use, 'arrow', GOLDEN)
        self.assertEqual((result.status, result.err), (0, ''), result)
        self.assertEqual(harness.tsctl('export', '--format', 'arrow', '-o', self.path('data'), GOLDEN).status, 0)
        files = {os.path.relpath(os.path.join(folder, name), self.path('data')): os.path.getsize(os.path.join(folder, name))
                 for folder, _, names in os.walk(self.path('data')) for name in names}
        self.assertEqual(dict(line.split() for line in result.out.splitlines()), {path: str(size) for path, size in files.items()})

    def test_example_refuses(self):
        kernels = self.build(os.path.join(EXAMPLES, 'kernels.c'))
        with open(self.path('not'), 'w', encoding='utf-8') as stream:
            stream.write('no trace at all, but long enough to have had a header of the right size in it')
        result = self.run_built(kernels, self.path('not'))
        self.assertEqual((result.status, result.out), (2, ''))
        self.assertIn('not', result.err)

    def headers(self):
        for folder, _, names in os.walk(self.includes):
            for name in sorted(names):
                if name.endswith('.h'):
                    yield os.path.relpath(os.path.join(folder, name), self.includes)

    def test_headers_alone(self):
        """Each installed header compiles by itself, in C and in C++, from the installed tree alone."""
        self.assertIn('tracesmith.h', list(self.headers()))
        for compiler, suffix, options in [('cc', '.c', ['-std=gnu11']), ('cc', '.c', ['-std=c11', '-Wpedantic'])] + [
                (name, '.cc', ['-std=c++17', '-Wpedantic']) for name in CPP_COMPILERS]:
            source = self.path('all' + suffix)
            for name in self.headers():
                with open(source, 'w', encoding='utf-8') as stream:
                    stream.write('#include <%s>\nint main(void);\nint main(void)\n{\n\treturn 0;\n}\n' % name)
                self.build(source, *options, '-fsyntax-only', '-Wno-unused-command-line-argument', compiler=compiler)

    def test_from_cpp(self):
        """Linked from C++: the functions have C's names there."""
        if not shutil.which('c++'):
            self.skipTest('no C++ compiler')
        source = self.path('use.cc')
        with open(source, 'w', encoding='utf-8') as stream:
            stream.write('#include <tracesmith.h>\n'
                         'int main() { ts_sbt_reader_free(nullptr); return ts_row_schema(TS_ROW_API) ? 0 : 1; }\n')
        result = self.run_built(self.build(source, compiler='c++'))
        self.assertEqual(result.status, 0, result)

    def declared(self):
        """Names that the installed headers declare: written by hand, and made by protoc-c."""
        written, generated = set(), set()
        for name in self.headers():
            with open(os.path.join(self.includes, name), encoding='utf-8') as stream:
                text = re.sub(r'/\*.*?\*/', '', stream.read(), flags=re.DOTALL)
            if name.endswith('.pb-c.h'):
                generated |= set(GENERATED.findall(text))
            elif not name.startswith('proto/abi'):
                text = re.sub(r'^#.*?[^\\]$', '', text, flags=re.MULTILINE)
                written |= {match.group(1) for match in FUNCTION.finditer(text) if 'static' not in match.group(0)}
        self.assertGreater(len(written), 50)
        self.assertGreater(len(generated), 50)
        return written | generated

    def versioned(self, path, *options):
        """Names of the dynamic symbols of a file that belong to a node of the library, by node."""
        nodes = {}
        for line in command('nm', '-D', *options, path).splitlines():
            kind, name = line.split()[-2:]
            name, _, version = name.partition('@')
            if kind != 'A' and version.lstrip('@').startswith('TRACESMITH_'):
                nodes.setdefault(version.lstrip('@'), set()).add(name)
        return nodes

    def compare(self, found, expected, what):
        lines = ['\t%s;\tsuperfluous' % name for name in sorted(found - expected)]
        lines += ['\t%s;\tmissing' % name for name in sorted(expected - found)]
        self.assertFalse(lines, '%s of tools/library/libtracesmith.map.in:\n%s\ntools/library/map.py --write makes the private node' % (
            what, '\n'.join(lines)))

    def test_exports(self):
        """The library exports the names that headers declare, the names that tsctl uses besides, and no others."""
        private = 'TRACESMITH_PRIVATE_' + self.flags('--modversion')[0]
        exported = self.versioned(self.library, '--defined-only')
        every = {line.split()[-1].partition('@')[0] for line in command('nm', '-D', '--defined-only', self.library).splitlines()
                 if line.split()[-2] != 'A'}
        self.assertEqual(every, set().union(*exported.values()))
        self.assertEqual(set(exported), {PUBLIC, private})
        self.compare(exported[PUBLIC], self.declared(), 'public node')
        imported = self.versioned(self.tsctl)
        self.assertLessEqual(set(imported), set(exported))
        self.compare(exported[private], imported[private], 'private node')

    def test_map_script(self):
        """map.py finds what is in the map, from objects alone."""
        command(sys.executable, os.path.join(harness.SOURCE, 'tools', 'library', 'map.py'), harness.BUILD)

    def test_one_copy(self):
        """tsctl has no copy of its own of the library's functions, and calls within the library are direct."""
        defined = {line.split()[-1] for line in command('nm', '--defined-only', harness.TSCTL).splitlines()
                   if line.split()[-2] == 'T'}
        self.assertIn('main', defined)
        exported = set().union(*self.versioned(self.library, '--defined-only').values())
        self.assertEqual(defined & exported, set())
        slots = [line for line in command('readelf', '--relocs', '--wide', self.library).splitlines() if 'JUMP_SLO' in line]
        self.assertTrue(slots)
        self.assertEqual([line for line in slots if re.search(r'\bts_\w+@', line)], [])

    def test_moved(self):
        """A prefix that is moved as a whole works: tsctl takes the library of that prefix."""
        moved = self.path('moved')
        shutil.copytree(self.root + PREFIX, moved, symlinks=True)
        tsctl = os.path.join(moved, 'bin', 'tsctl')
        result = harness.run([tsctl, 'info', GOLDEN])
        self.assertEqual((result.status, result.out), (0, harness.tsctl('info', GOLDEN).out), result)
        loaded = harness.run(['ldd', tsctl]).out
        path = re.search(r'libtracesmith\.so\.0 => (\S+)', loaded).group(1)
        self.assertTrue(os.path.realpath(path).startswith(os.path.realpath(moved) + os.sep), loaded)

    def test_another_version(self):
        """With a library of another version tsctl does not start, and the loader says why."""
        with open(self.path('other.c'), 'w', encoding='utf-8') as stream:
            stream.write('int other;\n')
        with open(self.path('other.map'), 'w', encoding='utf-8') as stream:
            stream.write('%s { global: other; local: *; };\nTRACESMITH_PRIVATE_0 { };\n' % PUBLIC)
        command('cc', '-shared', '-fPIC', '-Wl,-soname,libtracesmith.so.0', '-Wl,--version-script=' + self.path('other.map'),
                self.path('other.c'), '-o', self.path('libtracesmith.so.0'))
        result = harness.run([self.tsctl, 'version'], harness.environment(LD_LIBRARY_PATH=self.folder))
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, "libtracesmith\\.so\\.0: version .TRACESMITH_PRIVATE_[0-9.]+' not found \\(required by .*tsctl\\)")


if __name__ == '__main__':
    harness.main()
