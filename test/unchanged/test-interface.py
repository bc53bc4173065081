#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interface.py and unchanged.py see a change: two small builds, of which one has it."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import commands
import interface
import unchanged

COMPILER = ['cc']

HEADER = '''#pragma once
#include <stddef.h>
#include <stdint.h>
#define TS_LIMIT 0x10u
enum ts_kind { TS_KIND_A, TS_KIND_B = 7 };
typedef struct ts_inner_st {
	uint8_t bytes[4];
} ts_inner;
struct ts_outer {
	uint64_t id;
	union {
		uint32_t n;
		float x;
	};
	ts_inner inner[2];
	unsigned flag : 3;
	int (*call)(const char *name, size_t n);
};
int ts_get(const struct ts_outer *outer, uint32_t n);
'''
LIBRARY = '__attribute__((visibility("default"))) int ts_get(void) { return 0; }\n__attribute__((visibility("default"))) int ts_data[4];\n'
STRUCT = ['32 bytes', '0: uint64_t id;', '8: { 0: uint32_t n; 0: float x; };', '12: ts_inner[2] inner;',
          '24: int (*)(const char *, size_t) * call;']


class Interface(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def build(self, name, header=HEADER, library=LIBRARY, place='sbt'):
        """A source tree and a build of it, as far as interface.py looks at it."""
        source, build = os.path.join(self.folder, name), os.path.join(self.folder, name, 'build')
        library_path = os.path.join(build, 'libx.so')
        files = {
            os.path.join(source, place, 'x.h'): header,
            os.path.join(build, 'x.c'): library,
            # Examples are compiled against an installation.
            os.path.join(source, 'examples', 'example.h'): '#include <nowhere.h>\n',
            os.path.join(build, 'meson-info', 'meson-info.json'): json.dumps({'directories': {'source': source}}),
            os.path.join(build, 'meson-info', 'intro-installed.json'): json.dumps(
                {os.path.join(source, place, 'x.h'): '/usr/include/x.h', library_path: '/usr/lib/libx.so',
                 os.path.join(source, 'examples', 'example.h'): '/usr/share/doc/x/examples/example.h'}),
            os.path.join(build, 'compile_commands.json'): json.dumps(
                [{'directory': build, 'command': ' '.join(COMPILER + ['-c', 'x.c']), 'file': 'x.c', 'output': 'sbt/x.o'}]),
        }
        for path, text in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as stream:
                stream.write(text)
        subprocess.run(COMPILER + ['-shared', '-fPIC', '-fvisibility=hidden', '-o', library_path, 'x.c'], cwd=build, check=True)
        return interface.Build(build)

    def facts(self, *arguments, **options):
        build = self.build(*arguments, **options)
        return {key: lines for collect in (interface.destinations, interface.exports, interface.layouts) for key, lines in collect(build).items()}

    def changed(self, **options):
        """The names of what differs from the build without a change."""
        before, after = self.facts('before'), self.facts('after', **options)
        return sorted(name for name in set(before) | set(after) if before.get(name) != after.get(name))

    def test_what_a_header_declares(self):
        facts = self.facts('before')
        self.assertEqual([line for line in facts['struct ts_outer'] if 'flag' not in line], STRUCT)
        self.assertTrue(any('3 bits: unsigned int flag;' in line for line in facts['struct ts_outer']), facts['struct ts_outer'])
        self.assertEqual(facts['alignment of struct ts_outer'], ['8'])
        self.assertEqual(facts['enum ts_kind'], ['4 bytes', 'TS_KIND_A = 0;', 'TS_KIND_B = 7;'])
        self.assertEqual(facts['typedef ts_inner'], ['struct ts_inner_st'])
        self.assertEqual(facts['macro TS_LIMIT'], ['16'])
        self.assertEqual(facts['function ts_get'], ['int ts_get(const struct ts_outer *outer, uint32_t n)'])
        self.assertEqual(facts['exported symbols of libx.so'], ['ts_data B 16 bytes', 'ts_get T'])

    def test_a_move_changes_nothing(self):
        self.assertEqual(self.changed(place='sbt/read'), [])

    def test_each_change_of_a_header_is_found(self):
        for old, new, names in (
                ('\tuint64_t id;', '\tuint64_t id, more;', ['struct ts_outer']),
                ('uint32_t n;\n\t\tfloat x;', 'float x;\n\t\tuint32_t n;', ['struct ts_outer']),
                ('bytes[4]', 'bytes[5]', ['struct ts_inner_st', 'struct ts_outer']),
                ('flag : 3', 'flag : 4', ['struct ts_outer']),
                ('const char *name, size_t n)', 'const char *name, int n)', ['struct ts_outer']),
                ('struct ts_outer {', 'struct __attribute__((aligned(16))) ts_outer {', ['alignment of struct ts_outer', 'struct ts_outer']),
                ('TS_KIND_B = 7', 'TS_KIND_B = 8', ['enum ts_kind']),
                ('0x10u', '17', ['macro TS_LIMIT']),
                ('uint32_t n);', 'uint64_t n);', ['function ts_get'])):
            with self.subTest(new):
                self.assertIn(old, HEADER)
                found = self.changed(header=HEADER.replace(old, new))
                self.assertTrue(set(names) & set(found), found)

    def test_the_same_number_written_otherwise_is_no_change(self):
        self.assertEqual(self.changed(header=HEADER.replace('0x10u', '16')), [])

    def test_each_change_of_a_library_is_found(self):
        for library in (LIBRARY.replace('ts_get', 'ts_take'), LIBRARY.replace('ts_data[4]', 'ts_data[5]'), LIBRARY.split('\n')[0]):
            self.assertEqual(self.changed(library=library), ['exported symbols of libx.so'])


class Fixed:
    """Gives one answer after the other, again and again."""

    def __init__(self, *answers):
        self.answers, self.n = answers, 0

    def __call__(self):
        self.n += 1
        return self.answers[self.n % len(self.answers)]


class Commands(unittest.TestCase):
    def differs(self, before, after):
        comparison = unchanged.Comparison(Fixed(*before), Fixed(*after))
        comparison.report = lambda *_: setattr(comparison, 'findings', comparison.findings + 1)
        comparison.compare('text', 'a command', lambda asker: asker())
        return comparison.findings

    def test_answers(self):
        self.assertEqual(self.differs(['a'], ['a']), 0)
        self.assertEqual(self.differs(['a'], ['b']), 1)
        self.assertEqual(self.differs(['a', 'b', 'c'], ['c']), 0)
        self.assertEqual(self.differs(['a', 'b'], ['c', 'd']), 1)

    def test_a_difference_of_json_is_by_value(self):
        self.assertIn('+ "n": 2,', unchanged.difference('{"n": 1, "m": 1}', '{"n": 2, "m": 1}'))

    def test_words(self):
        facts = {'FILE': 'a.sbt', 'OP': '7', 'KERNEL': 'two words', 'RANGE': None}
        self.assertEqual(commands.fill('gaps --op OP FILE', facts), ['gaps', '--op', '7', 'a.sbt'])
        self.assertEqual(commands.fill('replay --what-if "kernel KERNEL=2x" FILE', facts), ['replay', '--what-if', 'kernel two words=2x', 'a.sbt'])
        self.assertIsNone(commands.fill('cut --range RANGE FILE', facts))


if __name__ == '__main__':
    if '--' in sys.argv:
        COMPILER = sys.argv[sys.argv.index('--') + 1:]
        del sys.argv[sys.argv.index('--'):]
    unittest.main()
