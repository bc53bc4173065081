#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtracesmith as another program meets it: installed, found by pkg-config, compiled against, run."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

EXAMPLES = os.path.join(harness.SOURCE, 'tools', 'library', 'examples')
PREFIX = '/usr/local'
CPP_COMPILERS = [name for name in ('c++', 'clang++') if shutil.which(name)]
FUNCTION = re.compile(r'^[\w ]+?[ *](ts_\w+)\(', re.MULTILINE)


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
        for compiler, suffix, options in [('cc', '.c', ['-std=gnu11'])] + [
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

    def test_exports(self):
        """What the headers declare is exported, by version, and nothing else."""
        declared = set()
        for name in self.headers():
            if name.startswith('proto/abi') or name.endswith('.pb-c.h'):
                continue
            with open(os.path.join(self.includes, name), encoding='utf-8') as stream:
                text = re.sub(r'/\*.*?\*/', '', stream.read(), flags=re.DOTALL)
            text = re.sub(r'^#.*?[^\\]$', '', text, flags=re.MULTILINE)
            declared |= {match.group(1) for match in FUNCTION.finditer(text)
                         if 'static' not in match.group(0)}
        self.assertGreater(len(declared), 50)
        exported = set()
        for line in command('nm', '-D', '--defined-only', os.path.join(self.libdir, 'libtracesmith.so')).splitlines():
            kind, name = line.split()[-2:]
            name, _, version = name.partition('@@')
            if kind == 'A':
                continue
            self.assertTrue(version.startswith('TRACESMITH_'), line)
            if not name.startswith('ts__rpc__'):
                exported.add(name)
        self.assertEqual(exported, declared)


if __name__ == '__main__':
    harness.main()
