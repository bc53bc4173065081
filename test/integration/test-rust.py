#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Rust crate: its own tests pass with this tree's library, headers and tsctl; its examples print what tsctl prints; it annotates and reads
programs while they run; its generated files, its declarations of C and its unsafe code are as its README describes.

Cargo builds in the build folder, without a network and without other crates.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import harness

CRATE = os.path.join(harness.SOURCE, 'tools', 'rust')
GOLDEN = os.path.join(harness.SOURCE, 'test', 'integration', 'golden')
TARGET = os.path.join(harness.BUILD, 'rust')
# Debian's cargo is the oldest that the crate is for.
CARGO = '/usr/bin/cargo' if os.path.exists('/usr/bin/cargo') else shutil.which('cargo')
INCLUDES = [harness.SOURCE, harness.BUILD, os.path.join(harness.SOURCE, 'tools', 'library'), os.path.join(harness.BUILD, 'proto', 'rpc')]
# C's types by those of declare.rs. A pointer to the row of any type is `*const c_void`.
TYPES = {'c_int': {'int', 'enum ts_sbt_file_state'}, 'c_uint': {'unsigned', 'enum ts_export_format'}, 'u32': {'uint32_t'}, 'u64': {'uint64_t'}, 'usize': {'size_t'}, 'bool': {'bool'},
         'c_char': {'char'}, 'ProtobufCMessage': {'ProtobufCMessage', 'Ts__Rpc__Answer'}}


def text_of(path):
    with open(path, encoding='utf-8') as stream:
        return stream.read()


def environment(**changes):
    folder = os.path.dirname(harness.LIBRARY)
    flags = subprocess.run(['pkg-config', '--cflags', 'libprotobuf-c'], stdout=subprocess.PIPE, check=False).stdout.decode().strip()
    tools = {name.upper(): os.path.join(os.path.dirname(CARGO), name) for name in ('rustc', 'rustdoc')} if CARGO else {}
    return harness.record_environment(
        CARGO_TARGET_DIR=TARGET, CARGO_HOME=os.path.join(TARGET, 'home'), TRACESMITH_LIB_DIR=folder, LD_LIBRARY_PATH=folder,
        TRACESMITH_TSCTL=harness.TSCTL, TRACESMITH_CFLAGS=' '.join(['-I' + include for include in INCLUDES] + [flags]), **tools, **changes)


@unittest.skipIf(harness.SANITIZER, 'reads sources only')
class Sources(unittest.TestCase):
    """Needs no cargo."""

    def test_generated_files_are_up_to_date(self):
        result = harness.run([sys.executable, os.path.join(CRATE, 'generate.py'), '--check'])
        self.assertEqual((result.status, result.out), (0, ''), result)

    def test_version_is_the_projects(self):
        project = re.search(r"version: '([\d.]+)'", text_of(os.path.join(harness.SOURCE, 'meson.build'))).group(1)
        for name in ('Cargo.toml', 'Cargo.lock'):
            self.assertIn('name = "tracesmith"\nversion = "%s"' % project, text_of(os.path.join(CRATE, name)), name)

    def test_unsafe_code_is_in_ffi_with_its_reason(self):
        n = 0
        for path in glob.glob(os.path.join(CRATE, '**', '*.rs'), recursive=True):
            lines = text_of(path).split('\n')
            for i, line in enumerate(lines):
                code = line.split('//')[0]
                if not re.search(r'\bunsafe\s*(\{|impl|fn)', code) or 'extern "C" fn(' in code:
                    continue
                n += 1
                self.assertIn(os.sep + 'ffi' + os.sep, path, line)
                above = lines[max(0, i - 4):i + 1]
                self.assertTrue(any('SAFETY:' in each or '# Safety' in each for each in above), '%s:%d: unsafe without a reason' % (path, i + 1))
        self.assertGreater(n, 50)

    def test_values_are_those_of_the_headers(self):
        values = re.findall(r'/// (TS_\w+)[.:][^\n]*\n(?:    ///[^\n]*\n)*    pub const \w+: u32 = (\d+);', text_of(os.path.join(CRATE, 'src', 'values.rs')))
        self.assertGreater(len(values), 150)
        program = '#include "sbt/schema.h"\n#include "proto/abi/session.h"\n' + ''.join('_Static_assert(%s == %su, "");\n' % pair for pair in values)
        result = subprocess.run([*os.environ.get('CC', 'cc').split(), '-fsyntax-only', '-x', 'c', *['-I' + include for include in INCLUDES], '-'],
                                input=program.encode(), stderr=subprocess.PIPE, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, b''))

    def test_declarations_are_those_of_the_headers(self):
        ours = re.findall(r'pub fn (ts_\w+)\(([^)]*)\)(?:\s*-> ([^;]+))?;', text_of(os.path.join(CRATE, 'src', 'ffi', 'declare.rs')))
        self.assertGreater(len(ours), 60)
        headers = [path for folder in ('sbt', 'replay/report', 'replay/report/names', 'proto/client', 'proto/rpc', 'tools/export')
                   for path in glob.glob(os.path.join(harness.SOURCE, folder, '*.h'))] + [os.path.join(harness.BUILD, 'proto/rpc/tracesmith.pb-c.h')]
        text = re.sub(r'/\*.*?\*/', ' ', '\n'.join(map(text_of, headers)), flags=re.S)
        text = re.sub(r'^#.*(\\\n.*)*$', ' ', text, flags=re.M)
        theirs = {name: (result, arguments) for result, name, arguments in re.findall(r'(\w[\w ]*[ *]\s*?)\n?\s*\b(ts_\w+)\s*\n?\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\);', text)}
        for name, arguments, result in ours:
            self.assertTrue(name in theirs, '%s is in no header' % name)
            c_result, c_arguments = theirs[name]
            rust = [each.split(':', 1)[1].strip() for each in arguments.split(',') if each.strip()] + [result.strip() or 'void']
            c = [re.sub(r'\w+(\[[^\]]*\])?$', lambda match: '*' if match.group(1) else '', each.strip()) for each in c_arguments.split(',')]
            self.assertEqual(len(rust), len(c) + 1, name)
            for one, other in zip(rust, c + [c_result]):
                self.assertTrue(is_same(one, other), '%s: %s is not %s' % (name, one, other))


def is_same(rust, c):
    """Whether types agree: the base, the number of stars, and const."""
    c = ' '.join(c.replace('*', ' * ').replace('volatile', '').split())
    stars, is_const = c.count('*'), c.startswith('const ')
    base = c.replace('*', '').replace('const', '').strip()
    pointers = re.findall(r'\*(const|mut)', rust)
    own = rust.split()[-1]
    if len(pointers) != stars:
        return False
    if stars and (pointers[-1] == 'const') != is_const:
        return False
    if own == 'c_void':
        return bool(stars)
    return base in TYPES.get(own, {'void'} if own == 'void' else {'struct ' + own})


@unittest.skipUnless(CARGO, 'no cargo (Debian: cargo, rustc)')
@unittest.skipIf(harness.SANITIZER, 'a Rust program does not load a library with a sanitizer')
class Rust(harness.Case):
    def cargo(self, *arguments):
        result = harness.run([CARGO, *arguments, '--offline', '--locked', '--quiet', '--manifest-path', os.path.join(CRATE, 'Cargo.toml')],
                             environment(), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        return result

    def example(self, name, *arguments, status=0):
        path = os.path.join(TARGET, 'debug', 'examples', name)
        result = harness.run([path, *arguments], environment(), cwd=self.folder)
        self.assertEqual(result.status, status, result)
        return result

    def check_tests(self):
        result = self.cargo('test')
        passed = re.findall(r'test result: ok\. (\d+) passed; 0 failed; 0 ignored', result.out)
        # The tests of tests/all, and the documentation's.
        self.assertTrue(sum(map(int, passed)) >= 30 and min(map(int, passed[-2:])) >= 13, result)
        self.assertNotIn('warning', result.err)

    def check_examples(self):
        for name in ('pipeline', 'train', 'delays'):
            path = os.path.join(GOLDEN, name + '.sbt')
            gap = json.loads(harness.tsctl('gaps', '--json', '--limit', '1', path).out)['longest'][0]
            lines = self.example('longest_gap', path).out.splitlines()
            self.assertEqual(lines[0], 'longest gap: %d ns on stream %d' % (gap['end_ns'] - gap['start_ns'], gap['stream']))
            self.assertEqual([line for line in lines if line.startswith('cause: ')],
                             ['cause: %s %d ns' % (part['cause'], part['ns']) for part in gap['parts']])
            self.assertIn('ended by: %s %s' % (gap['type'], gap['name']), lines)
            rows = [line.split('\t') for line in self.example('slowest_kernels', path, '3').out.splitlines()[1:]]
            kernels = json.loads(harness.tsctl('view', '--stats', '--mangled', '--json', path).out)['kernels'][:3]
            self.assertTrue(rows)
            self.assertEqual(sorted((row[4], int(row[0]), int(row[1]), int(row[2])) for row in rows),
                             sorted((kernel['name'], kernel['total_ns'], kernel['count'], kernel['max_ns']) for kernel in kernels))
        self.assertEqual(self.example('longest_gap', self.path('none.sbt'), status=2).err,
                         'longest_gap: %s: No such file or directory (os error 2)\n' % self.path('none.sbt'))

    def check_annotations(self):
        """
        A recorded program's ranges, read by another program while it runs, and afterwards. The program has no library: without the
        feature, the crate finds and links none.
        """
        self.cargo('build', '--no-default-features', '--example', 'annotated')
        self.assertEqual(self.example('annotated').out, 'not recorded\n')
        program = os.path.join(TARGET, 'debug', 'examples', 'annotated')
        needed = harness.run(['ldd', program]).out
        self.assertTrue('libc.so' in needed and 'tracesmith' not in needed, needed)
        path = self.path('own.sbt')
        with subprocess.Popen([harness.TSCTL, 'record', '-q', '-o', path, '--', program, 'wait'], env=environment(), cwd=self.folder,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b'recorded\n')
            sessions = json.loads(harness.tsctl('sessions', '--json').out)['sessions']
            pid = next(session['pid'] for session in sessions if session.get('path') == path)
            ended = ['\tstep'] * 3 + ['library\tepoch', '\tepoch']
            self.assertEqual(sorted(self.example('live', str(pid)).out.splitlines()), sorted(ended + ['Growing']))
            self.assertIn('record\t%d\tannotated\trecording' % pid, self.example('live').out.splitlines())
            process.stdin.close()
            self.assertEqual(process.wait(harness.SECONDS), 0)
        rows = harness.Trace(path).rows
        ranges = {(row.get('domain', ''), row['name']): row for row in rows if row['type'] == 'range'}
        self.assertEqual(sorted(ranges), sorted([('', 'step'), ('', 'epoch'), ('', 'whole'), ('library', 'epoch')]))
        self.assertEqual([ranges['', name]['level'] for name in ('epoch', 'step')], [0, 1])
        whole = ranges['', 'whole']
        self.assertEqual((whole['action'], whole['tid'] == whole['end_tid']), ('start', False))
        marks = [(row.get('domain', ''), row['name']) for row in rows if row['type'] == 'mark' and row.get('domain') != 'tracesmith']
        self.assertEqual(marks, [('library', 'checkpoint'), ('', 'done')])
        counters = [row for row in rows if row['type'] == 'counter' and row.get('domain') != 'tracesmith']
        self.assertEqual(sorted({row['name'] for row in counters}), ['loss', 'sum'])
        self.assertEqual(sum('integer' in row for row in counters), 3)

    def test_crate(self):
        """In this order: cargo test builds the examples."""
        self.check_tests()
        self.check_examples()
        self.check_annotations()


if __name__ == '__main__':
    harness.main()
