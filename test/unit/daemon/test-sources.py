#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-sources.py NAME-ADDRESSES WORKER: what addresses are called, by files and debug files of every kind.

Every answer, at random addresses, must be one that eu-addr2line or addr2line gives for that address: as many
frames, each at the same file and line, and each of the same name as far as the two tell names. Debug information that
lies elsewhere must say the same, wherever it lies, and what is no part of a file must say nothing.
"""
import collections
import http.server
import lzma
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

NAME_ADDRESSES, WORKER = sys.argv[1:3]
LIBRARY = '/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6'
SKIPPED = 77
SECONDS = 60

C_SOURCE = r'''
#include <stdlib.h>
static volatile int sink;
static inline __attribute__((always_inline)) int twice(int x)
{
	if (x > sink)
		sink += x;
	return x * 2;
}
static inline int thrice(int x)
{
	for (int i = 0; i < x; i++)
		sink += twice(i);
	return x * 3;
}
__attribute__((noinline)) int outer(int x)
{
#ifdef NESTED
	int __attribute__((noinline)) nested(int y)
	{
		sink += twice(y) + x;
		return sink;
	}
	return thrice(x) + nested(x);
#else
	return thrice(x) + twice(x);
#endif
}
static int compare(const void *a, const void *b)
{
	sink++;
	return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
	int list[] = {3, 1, 2};
	(void)argv;
	qsort(list, 3, sizeof(*list), compare);
	return outer(argc) & thrice(list[0]) & 1;
}
'''

CPP_SOURCE = r'''
#include <algorithm>
#include <map>
#include <string>
#include <vector>
static volatile int sink;
namespace shapes {
struct Base {
	virtual ~Base() {}
	virtual int area(int x) const { sink++; return x; }
};
namespace inner {
template <typename T> struct Box : Base {
	std::vector<T> items;
	int area(int x) const override { int n = 0; for (auto &i : items) n += (int)i * x; return n; }
	__attribute__((noinline)) static T stretch(T t) { sink += (int)t; return t + t; }
};
}
__attribute__((noinline)) int in_namespace(int x)
{
	struct Local {
		__attribute__((noinline)) static int method(int y) { sink += y; return y * sink; }
	};
	auto lambda = [x](int y) __attribute__((noinline)) { sink += x; return Local::method(x + y); };
	return lambda(1) + lambda(x);
}
}
namespace {
struct Hidden {
	std::map<std::string, int> names;
	__attribute__((noinline)) int add(const std::string &name) { return ++names[name]; }
};
}
extern "C" __attribute__((noinline)) int plain(int x)
{
	struct Within {
		int n;
		__attribute__((noinline)) int go() { sink += n; return n; }
	};
	return Within{x}.go();
}
int main(int argc, char **argv)
{
	shapes::inner::Box<int> ints;
	shapes::inner::Box<double> doubles;
	Hidden hidden;
	for (int i = 0; i < argc + 5; i++) {
		ints.items.push_back(ints.stretch(i));
		doubles.items.push_back(doubles.stretch(i));
		hidden.add(argv[0]);
	}
	std::sort(ints.items.begin(), ints.items.end(), [](int a, int b) { sink++; return a > b; });
	const shapes::Base *base = &ints;
	try {
		if (base->area(argc) == 12345)
			throw std::string("x");
	} catch (std::string &s) {
		return (int)s.size();
	}
	return (shapes::in_namespace(argc) + plain(argc) + doubles.area(2)) & 1;
}
'''

Frame = collections.namedtuple('Frame', 'function file line')


def tool(*names):
    for name in names:
        if not shutil.which(name):
            raise unittest.SkipTest('no %s' % name)
    return names[0]


def run(argv, **kwargs):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=120,
                          **kwargs).stdout.decode(errors='replace')


def sections(path):
    """Name: (address, size)."""
    return {match[0]: (int(match[1], 16), int(match[2], 16)) for match in
            re.findall(r'\] (\.\S+) +\S+ +([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+)', run(['readelf', '-SW', path]))}


def build_id(path):
    match = re.search(r'Build ID: ([0-9a-f]+)', run(['readelf', '-n', path]))
    return match.group(1) if match else ''


def some_addresses(path, n):
    start, size = sections(path)['.text']
    choose = random.Random(size)
    return sorted({start + choose.randrange(size) for _ in range(n)})


def text_of(addresses):
    return ''.join('0x%x\n' % address for address in addresses).encode()


def place(text):
    """FILE:LINE as the tools say it, to what can be compared."""
    match = re.match(r'(.*?):(\d+|\?)(?::\d+)?(?: \(.*)?$', text)
    file, line = match.groups() if match else (text, '?')
    line = 0 if line == '?' else int(line)
    return (os.path.normpath(file) if line else '', line)


def theirs(argv, addresses):
    # eu-addr2line ends with 1 where one of the addresses lies in nothing.
    lines = subprocess.run(argv, input=text_of(addresses), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           check=False, timeout=120).stdout.decode(errors='replace').splitlines()
    answers, at = {}, 0
    while at < len(lines):
        if re.match(r'0x[0-9a-f]+$', lines[at]):
            frames = answers[int(lines[at], 16)] = []
            at += 1
        else:
            function = re.sub(r' inlined at .*', '', lines[at])
            frames.append(Frame('' if function == '??' else function, *place(lines[at + 1])))
            at += 2
    return answers


class Answer:
    def __init__(self, path, addresses, wanted=None, pid=None, env=None):
        argv = [NAME_ADDRESSES, WORKER, path, build_id(path) if wanted is None else wanted]
        lines = run(argv + ([str(pid)] if pid else []), input=text_of(addresses), env=env).splitlines()
        self.result, self.why = lines[0].split('\t')
        self.frames = {}
        for line in lines[1:]:
            if line[0] != '\t':
                frames = self.frames[int(line, 16)] = []
                continue
            function, file, number = line[1:].split('\t')
            frames.append(Frame(function, os.path.normpath(file) if int(number) else '', int(number)))

    def functions(self):
        return {frame.function for frames in self.frames.values() for frame in frames}

    def n_inlined(self):
        return sum(len(frames) > 1 for frames in self.frames.values())


def bare(function):
    """Without parameters, template arguments and scopes, of which the tools leave out one or the other."""
    function = re.sub(r' \[clone .*|\.(cold|part|constprop|isra|lto_priv)\b.*', '', function)
    function = re.sub(r'\[abi:[^]]*\]', '', function)
    last = None
    while last != function:
        last, function = function, re.sub(r'<[^<>]*>|\([^()]*\)', '', function)
    return re.sub(r'( const| volatile|&)*$', '', function).strip().split('::')[-1].split(' ')[-1]


def same(ours, their):
    ours = ours or [Frame('', '', 0)]
    # Beyond the end of a function and its line the tools still tell the symbol before.
    if not ours[0].line and not their[0].line:
        return not ours[0].function or bare(ours[0].function) == bare(their[0].function)
    return [frame[1:] for frame in ours] == [frame[1:] for frame in their]


def same_names(ours, *others):
    for i, frame in enumerate(ours):
        names = {bare(other[i].function) for other in others if i < len(other)}
        # What has no linkage name, addr2line calls by the symbol that it is inlined into.
        if bare(frame.function) not in names and frame.function and '<lambda' not in frame.function and \
                not any(name.startswith(('{lambda', '_FUN', 'operator')) for name in names):
            return False
    return True


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='tracesmith-sources-')
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, compiler, source, *flags):
        """A program; skips where there is no such compiler."""
        tool(compiler)
        name = self.path('source.' + ('cc' if '+' in compiler else 'c'))
        with open(name, 'w', encoding='utf-8') as stream:
            stream.write(source)
        run([compiler, '-o', self.path('program'), name, '-Wl,--build-id', *flags], cwd=self.folder)
        return self.path('program')


class Same(Case):
    def check_same(self, path, n, tools=('eu-addr2line', 'addr2line')):
        tool(*tools)
        addresses = some_addresses(path, n)
        ours = Answer(path, addresses)
        self.assertEqual((ours.result, ours.why), ('0', ''))
        others = [theirs([name, '-a', '-f', '-i', '-C', '-e', path], addresses) for name in tools]
        wrong = []
        for address in addresses:
            mine, other = ours.frames.get(address, []), [answers[address] for answers in others]
            if not any(same(mine, one) for one in other) or not same_names(mine, *other):
                wrong.append('\n  '.join(map(str, [hex(address), mine] + other)))
        self.assertFalse(wrong, '%d of %d\n%s' % (len(wrong), len(addresses), '\n'.join(wrong[:5])))
        return ours

    def test_large_library(self):
        if not os.path.exists(LIBRARY):
            self.skipTest('no %s (Debian: libstdc++6-12-dbg)' % LIBRARY)
        ours = self.check_same(os.path.realpath(LIBRARY), 200)
        self.assertGreater(ours.n_inlined(), 3)

    def test_compilers(self):
        tried = 0
        for compiler, source, flags, *tools in (
                ('gcc', C_SOURCE, ['-O2', '-g', '-DNESTED']), ('gcc', C_SOURCE, ['-O0', '-g', '-DNESTED']),
                ('gcc', C_SOURCE, ['-O2', '-gdwarf-4', '-ffunction-sections']),
                ('gcc', C_SOURCE, ['-O2', '-g', '-gz']),
                ('g++', CPP_SOURCE, ['-O2', '-g']), ('g++', CPP_SOURCE, ['-O0', '-gdwarf-4']),
                ('clang', C_SOURCE, ['-O1', '-gdwarf-4', '-ffunction-sections']),
                ('clang++', CPP_SOURCE, ['-O2', '-gdwarf-4']), ('clang++', CPP_SOURCE, ['-O0', '-g']),
                # Of inlined functions in its DWARF 5 the two know nothing.
                ('clang', C_SOURCE, ['-O2', '-gdwarf-5'], 'llvm-addr2line'),
                ('clang++', CPP_SOURCE, ['-O2', '-gdwarf-5'], 'llvm-addr2line')):
            if not all(map(shutil.which, [compiler, *tools])):
                continue
            with self.subTest(compiler=compiler, flags=flags):
                ours = self.check_same(self.compile(compiler, source, *flags), 200,
                                       tools or ('eu-addr2line', 'addr2line'))
                self.assertTrue(ours.n_inlined() or '-O0' in flags)
                tried += 1
        if not tried:
            self.skipTest('no compiler')


class Sources(Case):
    """The same program, with its debug information elsewhere."""

    def setUp(self):
        super().setUp()
        tool('objcopy')
        self.whole = self.compile('gcc', C_SOURCE, '-O2', '-g')
        self.addresses = some_addresses(self.whole, 200)
        self.want = Answer(self.whole, self.addresses)
        self.assertGreater(self.want.n_inlined(), 0)
        self.stripped, self.debug = self.path('stripped'), self.path('stripped.debug')

    def strip(self, *flags, source=None):
        run(['objcopy', '--only-keep-debug', *flags, source or self.whole, self.debug])
        run(['objcopy', '--strip-all', *flags, source or self.whole, self.stripped])

    def check_whole(self, answer, want=None):
        self.assertEqual((answer.result, answer.why), ('0', ''))
        self.assertEqual(answer.frames, (want or self.want).frames)

    def check_stripped(self, answer, why=''):
        """No debug information, and neither names nor lines that would need it."""
        self.assertEqual((answer.result, answer.why), ('1', why))
        self.assertFalse(answer.functions() & {'outer', 'thrice', 'twice', 'compare'})
        self.assertFalse([frame for frames in answer.frames.values() for frame in frames if frame.line])

    def link(self):
        run(['objcopy', '--add-gnu-debuglink=' + self.debug, self.stripped])

    def test_debug_link(self):
        self.strip()
        self.check_stripped(Answer(self.stripped, self.addresses))
        self.link()
        self.check_whole(Answer(self.stripped, self.addresses))
        os.mkdir(self.path('.debug'))
        os.rename(self.debug, self.path('.debug/stripped.debug'))
        self.check_whole(Answer(self.stripped, self.addresses))
        # Another file of that name comes first: it is passed over.
        shutil.copy('/bin/sh', self.debug)
        self.check_whole(Answer(self.stripped, self.addresses))
        os.remove(self.path('.debug/stripped.debug'))
        self.check_stripped(Answer(self.stripped, self.addresses), 'its debug file belongs to another file')

    def test_debug_link_without_build_id(self):
        self.strip('--remove-section=.note.gnu.build-id')
        self.link()
        self.assertEqual(build_id(self.stripped), '')
        self.check_whole(Answer(self.stripped, self.addresses))
        # One byte that no address depends on.
        with open(self.debug, 'r+b') as stream:
            stream.seek(-1, os.SEEK_END)
            last = stream.read(1)
            stream.seek(-1, os.SEEK_END)
            stream.write(bytes([last[0] ^ 1]))
        self.check_stripped(Answer(self.stripped, self.addresses), 'its debug file belongs to another file')

    def test_split_debug_information(self):
        """What stays in the file: functions by its symbols, and lines; and it is told that there is more."""
        for flags in ['-gdwarf-5'], ['-gdwarf-4']:
            path = self.compile('gcc', C_SOURCE, '-O2', '-g', '-gsplit-dwarf', *flags)
            answer = Answer(path, self.addresses)
            self.assertEqual((answer.result, answer.why),
                             ('0', 'its inlined functions are in .dwo files, which are not read'))
            self.assertFalse(answer.n_inlined())
            for address, frames in self.want.frames.items():
                if frames and frames[0].line:
                    self.assertEqual(answer.frames[address][0],
                                     Frame(frames[-1].function, frames[0].file, frames[0].line))

    def test_rust(self):
        tool('rustc')
        with open(self.path('rust.rs'), 'w', encoding='utf-8') as stream:
            stream.write('mod inner { pub struct Shape(pub u64); impl Shape {\n'
                         '#[inline(never)] pub fn area<T: Into<u64>>(&self, t: T) -> u64 { self.0 * t.into() } } }\n'
                         'fn main() { println!("{}", inner::Shape(std::env::args().count() as u64).area(7u32)); }\n')
        tried = 0
        for mangling in 'v0', 'legacy':
            # Each is the only one to some versions of the compiler.
            if subprocess.run(['rustc', '-g', '-O', '-C', 'symbol-mangling-version=' + mangling, '-o', self.path('rust'),
                               '-C', 'link-arg=-Wl,--build-id', self.path('rust.rs')], cwd=self.folder, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                continue
            tried += 1
            for path in self.path('rust'), self.path('rust-stripped'):
                # Of a file without debug information the symbols alone.
                if path != self.path('rust'):
                    run(['objcopy', '--strip-debug', self.path('rust'), path])
                symbols = re.findall(r'^([0-9a-f]+) [tT] (\S*Shape\S*area\S*)', run(['nm', path]), re.M)
                self.assertTrue(symbols)
                names = Answer(path, [int(symbols[0][0], 16)]).functions()
                self.assertTrue([name for name in names if re.match(r'<?rust::inner::Shape>?::area', name)], names)
        if not tried:
            self.skipTest('rustc compiles nothing here')

    def test_truncated_debug_file(self):
        self.strip()
        self.link()
        size = os.path.getsize(self.debug)
        for part in range(8):
            os.truncate(self.debug, size - size * part // 8 - 1)
            answer = Answer(self.stripped, self.addresses)
            self.assertIn(answer.result, '014')
            # What is named in spite of that is named right.
            known = self.want.functions() | {''}
            self.assertLessEqual({name for name in answer.functions() if name in ('outer', 'thrice', 'twice')}, known)
            self.strip()
            self.link()

    def mini(self, data):
        with open(self.path('mini.xz'), 'wb') as stream:
            stream.write(lzma.compress(data, lzma.FORMAT_XZ))
        run(['objcopy', '--add-section', '.gnu_debugdata=' + self.path('mini.xz'), self.stripped])

    def test_mini_debug_information(self):
        self.strip()
        run(['objcopy', '--strip-debug', self.debug, self.path('mini')])
        with open(self.path('mini'), 'rb') as stream:
            self.mini(stream.read())
        answer = Answer(self.stripped, self.addresses)
        self.assertEqual((answer.result, answer.why), ('1', ''))
        self.assertLessEqual({'outer', 'compare', 'main'}, answer.functions())
        # What an address lies in is the outermost of the functions that the whole file tells.
        for address, frames in answer.frames.items():
            if frames and self.want.frames[address][-1].line:
                self.assertEqual(frames[0].function, self.want.frames[address][-1].function)

    def test_mini_debug_information_without_end(self):
        self.strip()
        self.mini(bytes(80 << 20))
        self.check_stripped(Answer(self.stripped, self.addresses), 'its mini debug information cannot be unpacked')

    def cached(self, path):
        """As if debuginfod's client had fetched it."""
        folder = self.path('fetched/' + build_id(path))
        os.makedirs(folder)
        shutil.copy(path, os.path.join(folder, 'debuginfo'))

    def environment(self, **more):
        return dict(os.environ, DEBUGINFOD_CACHE_PATH=self.path('fetched'), **more)

    def test_by_build_id(self):
        self.strip()
        self.cached(self.debug)
        self.check_whole(Answer(self.stripped, self.addresses, env=self.environment()))
        # The file itself is gone.
        self.check_whole(Answer('/nonexistent/file', self.addresses, build_id(self.whole), env=self.environment()))

    def test_lying_build_id(self):
        self.strip()
        self.cached(self.debug)
        shutil.copy('/bin/sh', self.path('fetched/%s/debuginfo' % build_id(self.whole)))
        self.check_stripped(Answer(self.stripped, self.addresses, env=self.environment()),
                            'its debug file belongs to another file')

    def test_file_for_several(self):
        """dwz moves what two files have in common into a third."""
        tool('dwz')
        other = self.path('other')
        run(['gcc', '-o', other, '-O2', '-g', '-DNESTED', self.path('source.c'), '-Wl,--build-id'], cwd=self.folder)
        want = Answer(self.whole, self.addresses)
        run(['dwz', '-m', self.path('common'), '-M', self.path('common'), self.whole, other])
        missing = Answer(self.whole, self.addresses)
        self.assertEqual(missing.result, '0')
        self.cached(self.path('common'))
        self.check_whole(Answer(self.whole, self.addresses, env=self.environment()), want)

    def serve(self, answer):
        """A debug file server; `answer` is what a request is met with. Returns its address and what was asked for."""
        asked = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.put(self.path)
                answer(self)

            def log_message(self, *unused):
                pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return 'http://127.0.0.1:%d' % server.server_port, asked

    def test_debuginfod(self):
        tool('debuginfod-find')
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def answer(request):
            go_on.wait(SECONDS)
            with open(self.debug, 'rb') as stream:
                data = stream.read()
            request.send_response(200)
            request.send_header('Content-Length', str(len(data)))
            request.end_headers()
            request.wfile.write(data)
        self.strip()
        address, asked = self.serve(answer)
        # Not unless it is wished.
        self.check_stripped(Answer(self.stripped, self.addresses, env=self.environment(DEBUGINFOD_URLS=address)))
        self.assertTrue(asked.empty())
        env = self.environment(DEBUGINFOD_URLS=address, TRACESMITH_DEBUGINFOD='1')
        # Not waited for: the server does not answer before this is over.
        self.check_stripped(Answer(self.stripped, self.addresses, env=env))
        self.assertEqual(asked.get(timeout=SECONDS), '/buildid/%s/debuginfo' % build_id(self.whole))
        go_on.set()
        end = time.monotonic() + SECONDS
        fetched = self.path('fetched/%s/debuginfo' % build_id(self.whole))
        while not os.path.exists(fetched) or os.path.getsize(fetched) != os.path.getsize(self.debug):
            self.assertLess(time.monotonic(), end, 'debuginfod-find brought nothing')
            time.sleep(0.05)
        self.check_whole(Answer(self.stripped, self.addresses, env=env))

    def test_gone_with_a_namespace(self):
        """A process that sees another file at that path: its own is read while it lives, and nothing wrong is said after."""
        tool('unshare')
        place, inside = self.path('place'), self.path('inside')
        for folder in place, inside:
            os.mkdir(folder)
        shutil.copy(self.whole, os.path.join(inside, 'program'))
        shutil.copy('/bin/sh', os.path.join(place, 'program'))
        process = subprocess.Popen(
            ['unshare', '-m' if os.geteuid() == 0 else '-rm', 'sh', '-c',
             'mount --bind "$1" "$2" && echo mounted && exec cat', 'sh', inside, place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            if process.stdout.readline() != b'mounted\n':
                self.skipTest('no mount namespace can be made here')
            path, wanted = os.path.join(place, 'program'), build_id(self.whole)
            self.check_whole(Answer(path, self.addresses, wanted, process.pid))
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(60)
        gone = Answer(path, self.addresses, wanted, process.pid)
        self.assertEqual((gone.result, gone.why), ('3', 'the file at this path has another build id now'))
        self.assertFalse(gone.functions())


if __name__ == '__main__':
    program = unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False)
    result = program.result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if len(result.skipped) == result.testsRun else 0)
