#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-circles.py, check-rooms.py, check-once.py and check_names() of check-files.py find planted faults: small trees, compiled here, with
and without a circle, and lines of C."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, 'check-circles.py')
COMPILER = ['cc']

# a uses b, b uses c; LINK closes the circle or does not.
CHAIN = {
    'sbt/a.c': 'int b(void); int a(void); int a(void) { return b(); }',
    'sbt/read/b.c': 'extern int (*c)(void); int b(void); int b(void) { return c(); }',
    'sbt/c.c': 'int one(void) { return 1; } int (*c)(void) = one;',
    'sbt/d.c': 'int a(void); int d(void); int d(void) { return a(); }',
}
CIRCLE = {**CHAIN, 'sbt/c.c': 'int a(void); int (*c)(void) = a;'}
TEXT = 'a.c -> read/b.c: b\n    c.c -> a.c: a\n    read/b.c -> c.c: c'


class Circles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        self.build = os.path.join(self.top, 'build')
        self.write('modules.txt', '')

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write(text)

    def compile(self, sources, flags=()):
        entries = []
        for name, text in sources.items():
            self.write(name, text)
            output = '%s/lib.a.p/%s.o' % (name.split('/')[0], os.path.basename(name))
            os.makedirs(os.path.join(self.build, os.path.dirname(output)), exist_ok=True)
            argv = COMPILER + list(flags) + ['-O1', '-fPIC', '-c', '-o', output, os.path.join('..', name)]
            subprocess.run(argv, cwd=self.build, check=True)
            entries.append({'directory': self.build, 'command': ' '.join(argv), 'file': os.path.join('..', name), 'output': output})
        self.write('build/compile_commands.json', json.dumps(entries))

    def check(self):
        result = subprocess.run([sys.executable, CHECK, self.build, '--tree', self.top,
                                 '--modules', os.path.join(self.top, 'modules.txt')],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return result.returncode, result.stdout.decode()

    def test_a_chain_passes(self):
        self.compile(CHAIN)
        self.assertEqual(self.check(), (0, ''))

    def test_a_circle_of_calls_and_data_fails_with_its_symbols(self):
        self.compile(CIRCLE)
        self.assertEqual(self.check(), (1, 'sbt: a circle of 3 files: a.c c.c read/b.c\n    %s\n' % TEXT))

    def test_a_circle_over_two_folders_fails(self):
        self.compile({'sbt/a.c': 'int b(void); int a(void) { return b(); }', 'replay/b.c': 'int a(void); int b(void) { return a(); }'})
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn('.: a circle of 2 files: replay/b.c sbt/a.c', text)

    def test_a_symbol_is_that_of_its_own_library(self):
        self.compile({'sbt/a.c': 'int b(void); int a(void) { return b(); }', 'sbt/b.c': 'int b(void) { return 0; }',
                      'replay/b.c': 'int a(void); int b(void) { return a(); }'})
        self.assertEqual(self.check(), (0, ''))

    def test_a_listed_module_may_be_a_circle(self):
        self.compile(CIRCLE)
        self.write('modules.txt', 'sbt/a.c sbt/read/b.c sbt/c.c: for this test\n')
        self.assertEqual(self.check(), (0, ''))
        self.write('modules.txt', 'sbt/a.c sbt/read/b.c: for this test\n')
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn('a circle of 3 files', text)

    def test_a_listed_module_needs_a_reason_and_a_circle(self):
        self.compile(CHAIN)
        self.write('modules.txt', 'sbt/a.c sbt/read/b.c\n')
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn('the reason', text)
        self.assertIn('are no circle: remove the line', text)

    def test_a_build_that_cannot_answer_is_skipped(self):
        self.compile(CHAIN, ['-flto'])
        status, text = self.check()
        self.assertEqual(status, 77)
        self.assertIn('skipped: ', text)


class Rooms(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, HERE)
        self.rooms = __import__('check-rooms')

    def test_a_room_of_more_than_25_files_is_found(self):
        names = ['sbt/read/%d.c' % i for i in range(25)] + ['sbt/read/README.md', 'sbt/read/meson.build']
        self.assertEqual(self.rooms.rooms(names), {})
        self.assertEqual(self.rooms.rooms(names + ['sbt/read/more.h']), {'sbt/read': 26})
        self.assertEqual(self.rooms.rooms(['test/unit/%d.c' % i for i in range(30)]), {})


class Names(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, HERE)
        self.files = __import__('check-files')

    def check(self, *names):
        return list(self.files.check_names(names))

    def test_two_modules_of_one_name_are_found(self):
        self.assertEqual(self.check('daemon/a/one.c', 'daemon/a/one.h', 'replay/b/one.c'), [
            'daemon/a/one.c daemon/a/one.h replay/b/one.c: modules that share the name "one": rename all but one'])
        self.assertEqual(len(self.check('inject/one.h', 'replay/one.h')), 1)
        self.assertEqual(len(self.check('tools/one.h', 'tools/a/one.c', 'tools/b/one.c')), 1)

    def test_one_module_of_several_files_passes(self):
        self.assertEqual(self.check('daemon/a/one.c', 'daemon/a/one.h', 'sbt/two.h', 'sbt/a/two.c'), [])

    def test_programs_and_tests_may_share_names(self):
        self.assertEqual(self.check('daemon/main.c', 'tools/tsctl/main.c', 'test/fuzz/two.c', 'tools/library/examples/two.c', 'sbt/two.h'), [])


class Once(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, HERE)
        self.once = __import__('check-once')

    def check(self, text, name='daemon/a.c'):
        return [finding.split(': ', 1)[1] for finding in self.once.check(name, text)]

    def test_an_array_that_grows_by_itself_is_found(self):
        self.assertEqual(self.check('p = realloc(p, 2 * n);\np = reallocarray(p, n + 1, 8);'),
                         ['realloc(): use TS_GROW() of proto/abi/grow.h'] * 2)
        self.assertEqual(self.check('p = realloc(p, 2 * n);', 'proto/abi/grow.h'), [])

    def test_a_hash_function_of_its_own_is_found(self):
        for constant in ('0x9e3779b97f4a7c15u', 'UINT64_C(0x9E3779B97F4A7C15)', '0x100000001b3ull', '0xcbf29ce484222325'):
            self.assertEqual(self.check('h *= %s;' % constant), ['a hash function: use proto/abi/tablehash.h'])

    def test_arguments_of_a_call_are_found(self):
        for text in ('X(init, cuInit, (uint32_t flags))', 'X(cuptiActivityEnable, (uint32_t kind))', 'X(hipGetLastError, (void))'):
            self.assertEqual(self.check(text), ['arguments of a vendor\'s function: use its type, NAME_fn'])
        for text in ('int32_t (*query)(void *) = ts_hip_next(hipEventQuery);', 'int (*ask)(int *) =\n\tcuDriverGetVersion;'):
            self.assertEqual(self.check(text), ['the type of a vendor\'s function: use NAME_fn'])
        self.assertEqual(self.check('X(init, cuInit)\nhipEventQuery_fn *query = ts_hip_next(hipEventQuery);'), [])
        self.assertEqual(self.check('X(cuptiActivityEnable, (uint32_t kind))', 'proto/abi/vendor/cupti_functions.h'), [])

    def test_names_that_say_nothing_are_found(self):
        self.assertEqual(self.check('n_born = told(called, called_ns);'),
                         ['%s: a word of the field instead' % name for name in ('n_born', 'told', 'called')])
        self.assertEqual(self.check('static int ts_gaps_read(int n)\n{'), ['a static function with a prefix'])
        self.assertEqual(self.check('/* called during */ puts("told"); int x = \'"\'; // born'), [])

    def test_an_exception_that_nothing_needs_is_found(self):
        texts = {name: 'realloc(p, n); 0x9e3779b9;' for name in list(self.once.GROWTH) + list(self.once.HASHES)}
        self.assertEqual(list(self.once.unused(texts)), [])
        texts['daemon/ingest/arena.c'] = '/* realloc() */'
        self.assertEqual(list(self.once.unused(texts)), ['check-once.py: daemon/ingest/arena.c needs no exception: remove the line'])


if __name__ == '__main__':
    if '--' in sys.argv:
        COMPILER = sys.argv[sys.argv.index('--') + 1:]
        del sys.argv[sys.argv.index('--'):]
    unittest.main()
