#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-python.py LIBRARY: Python stacks against what Python says of itself, in every interpreter that is found.

Each is started on this same file with --inside; there a library takes the stack as the shim does, and the functions in
it must be those of traceback.extract_stack() at that very call, with the interpreter's own frames gone.
"""
import asyncio
import ctypes
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback

# A bound for what hangs.
SECONDS = 400
VERSIONS = [(3, minor) for minor in range(8, 14)]


def is_evaluator(address):
    class Info(ctypes.Structure):
        _fields_ = [('file', ctypes.c_char_p), ('base', ctypes.c_void_p), ('name', ctypes.c_char_p),
                    ('address', ctypes.c_void_p)]
    info = Info()
    ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(info))
    return info.name == b'_PyEval_EvalFrameDefault'


class Inside:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        # Keeps the GIL during the call, which frames of extension modules do; CDLL gives it up, as ctypes bindings do.
        self.holding = ctypes.PyDLL(library)
        for one in (self.library, self.holding):
            one.stacks_text.restype = one.stacks_why.restype = ctypes.c_char_p
            one.stacks_take.restype = ctypes.c_uint32
            one.stacks_time.restype = one.stacks_count.restype = ctypes.c_uint64
        self.n = 0

    def check(self, holding=True):
        flags = ctypes.c_uint32()
        take = (self.holding if holding else self.library).stacks_take
        # One line, so that both see the same number for this function.
        stack, want = take(ctypes.byref(flags)), traceback.extract_stack()
        assert stack, 'no stack'
        assert not flags.value, 'flags %d: %s' % (flags.value, self.library.stacks_why())
        got = [line.split('\t') for line in self.library.stacks_text(stack).decode().splitlines()]
        functions = [(name, file, int(line)) for kind, line, name, file in
                     [frame for frame in got if frame[0] == 'python']]
        expected = [(frame.name, frame.filename, frame.lineno) for frame in reversed(want)]
        assert functions == expected, 'got %s\nwant %s' % (functions, expected)
        native = [int(frame[1], 16) for frame in got if frame[0] == 'native']
        assert native, 'no native frames'
        assert not any(map(is_evaluator, native)), 'an evaluator was not replaced'
        # The process's root is native, and the call into the library as well.
        assert got[0][0] == 'native' and got[-1][0] == 'native', got
        self.n += 1
        return got

    def recurse(self, depth, holding=True):
        if depth:
            return self.recurse(depth - 1, holding)
        return self.check(holding)

    # ---- what is tried ----------------------------------------------------------------------

    def plain(self):
        for i in range(3):
            self.check()
            self.check(False)
            self.recurse(20)
            self.recurse(20 + i, False)

    def through_c(self):
        """The evaluator is entered anew by C code in between: sorted(), map(), a class's __call__ and __init__."""
        class Made:
            def __init__(self, inside):
                inside.check()

            def __call__(self, inside):
                return inside.check()

        sorted([2, 1], key=lambda _: self.recurse(3) and 0)
        list(map(lambda _: self.recurse(2), [1, 2]))
        Made(self)(self)
        sorted([1], key=lambda _: sorted([1], key=lambda _: len(self.recurse(4))))
        got = self.check()
        assert [frame[0] for frame in got].count('python') >= 3

    def many_shapes(self):
        def generator():
            self.check()
            yield self.recurse(2)
            yield from inner()

        def inner():
            yield self.check()

        async def coroutine(depth):
            if depth:
                await coroutine(depth - 1)
            else:
                self.check()
                await asyncio.sleep(0)
                self.check()

        async def several():
            await asyncio.gather(coroutine(3), coroutine(1))

        for _ in range(3):
            list(generator())
            asyncio.new_event_loop().run_until_complete(several())
            [self.check() for _ in range(2)]
            (lambda: self.check())()
            with tempfile.TemporaryDirectory():
                try:
                    raise ValueError
                except ValueError:
                    self.check()
                finally:
                    self.recurse(1)

    def names(self):
        """Names beyond ASCII, and code that takes the place of other code."""
        scope = {'inside': self}
        exec(compile('def größe():\n\n  return inside.check()\n', '/tmp/ß.py', 'exec'), scope)
        scope['größe']()
        exec(compile('def 漢字():\n  return inside.check()\n', '/tmp/\U0001f600.py', 'exec'), scope)
        scope['漢字']()
        for i in range(300):
            source = '%sdef f():\n  inside.check()\nf()\n' % ('\n' * (i % 7))
            exec(compile(source, '<made %03d>' % (i // 3), 'exec'), {'inside': self})

    def threads(self):
        failures = []

        def run():
            try:
                for _ in range(20):
                    self.recurse(7)
            except BaseException as failure:
                failures.append(failure)
        for _ in range(4):
            # One after the other: the library's text is one for all.
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        if failures:
            raise failures[0]

    def deep(self):
        flags = ctypes.c_uint32()

        def down(depth):
            return down(depth - 1) if depth else self.holding.stacks_take(ctypes.byref(flags))
        sys.setrecursionlimit(5000)
        for _ in range(3):
            assert down(1500)
            assert flags.value == 1, 'a stack that deep was not marked: %d' % flags.value
        self.check()


def inside(library):
    run = Inside(library)
    failed = run.library.stacks_init(1)
    if failed:
        print('skipped: %s' % {1: 'no libunwind', 2: 'libraries cannot be watched'}.get(failed, failed))
        return 77
    why = run.library.stacks_why().decode()
    if 'free-threaded' in why or 'are not read' in why:
        print('refused by name: %s' % why)
        return 0
    assert not why, why
    for name in ('plain', 'through_c', 'many_shapes', 'names', 'threads', 'deep'):
        getattr(run, name)()
    counts = [run.library.stacks_count(i) for i in range(4)]
    assert counts[2] >= run.n and not counts[3], counts
    print('%d stacks were right; walked %d, unwound %d' % (run.n, counts[0], counts[1]))
    return 0


def interpreters():
    """One of each version that is installed, wherever its name or a version manager's folder leads."""
    found = {}
    candidates = [shutil.which('python%d.%d' % version) for version in VERSIONS]
    candidates += sorted(glob.glob(os.path.expanduser('~/.pyenv/versions/*/bin/python3')))
    candidates += ['/usr/bin/python3', sys.executable]
    for candidate in filter(None, candidates):
        try:
            text = subprocess.run([candidate, '-c', 'import sys; print(sys.version_info[:2])'], timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
        except (OSError, subprocess.SubprocessError):
            continue
        version = tuple(int(part) for part in text.strip(' ()\n').split(','))
        if version in VERSIONS:
            found.setdefault((version, os.path.realpath(candidate)), candidate)
    return found


def main():
    if sys.argv[1] == '--inside':
        return inside(sys.argv[2])
    failed = tried = 0
    for (version, _), interpreter in sorted(interpreters().items()):
        result = subprocess.run([interpreter, os.path.abspath(__file__), '--inside', sys.argv[1]], timeout=SECONDS,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = result.stdout.decode().strip()
        print('%d.%d %s: %s' % (version + (interpreter, text)), flush=True)
        tried += result.returncode != 77
        failed += result.returncode not in (0, 77)
    if not tried:
        print('skipped: no Python from 3.8 to 3.13 that could be tried')
        return 77
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
