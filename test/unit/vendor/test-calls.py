#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of calls: those of the tree are good, and a bad line is refused by its place.

usage: test-calls.py CALLS_PY TABLE ...
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

GOOD = """interface cuda-driver
[memory]
cuFoo id=1 ptsz=2 MEMCPY certain capture=ordered memory=copy(dst,src,n) effect=wait
	(void *dst, const void *src, size_t n, void *event,
	void *stream) = foo(..., @own)
cuBar_v2 id=3 QUERY () = bar
cuBaz = refused
"""

# A line that is appended, and what is said about it.
BAD = (
    ('cuNew id=3 ptsz=4 MEMCPY certain capture=ordered effect=expect (uint64_t dst_device, const void *src_host, size_t byte_count', None),
    ('cuNew id=3 QUERY', 'id 3 is at %s:6, too'),
    ('cuNew id=9 ptds=1 QUERY', 'id 1 is at %s:3, too'),
    ('cuFoo id=9 QUERY', 'callback cuFoo is at %s:3, too'),
    ('cuFoo_ptsz id=9 QUERY () = foo', 'callback cuFoo_ptsz is at %s:3, too'),
    ('cuBaz = refused', 'callback cuBaz is at %s:7, too'),
    ('cuBar_v3 id=9 QUERY (int32_t x) = bar\ncuBar_v4 id=10 QUERY (int32_t y) = bar',
     'struct ts_cu_bar_params has other arguments at %s:8'),
    ('cuNew QUERY () = foo', 'no id'),
    ('cuNew id=9 () = foo', 'no class'),
    ('cuNew id=x QUERY', 'id is no id: "x"'),
    ('cuNew ptsz=9 id=10 QUERY', 'one id, then at most one of another form'),
    ('cuNew id=9 QUARRY', 'unknown word "QUARRY"'),
    ('cuNew id=9 QUERY colour=red', 'unknown word "colour=red"'),
    ('cuNew id=9 QUERY capture=sometimes', 'unknown capture mode "sometimes"'),
    ('cuNew id=9 EVENT effect=boom', 'unknown effect "boom"'),
    ('cuNew id=9 EVENT effect=record (void *event)', 'no argument "stream"'),
    ('cuNew id=9 MEMCPY memory=copy(dst,src)', 'copy takes 3 arguments'),
    ('cuNew id=9 FREE memory=free(at)  (void *it)', 'no argument "at"'),
    ('cuNew id=9 FREE memory=lose(it)  (void *it)', 'unknown access "lose(it)"'),
    ('cuNew id=9 MEMSET certain', 'certain without memory='),
    ('cuNew id=9 QUERY (int) = foo', 'not an argument: "int"'),
    ('cuNew id=9 QUERY (int x = foo', None),
    ('cuNew id=9 QUERY = foo', 'no arguments'),
    ('[Memory]', 'cannot be read'),
    ('?', 'no name of a function: "?"'),
)

HIP = """interface hip
[memory]
hipFoo id=1 slot=1 node=4.2 MEMCPY certain memory=copy(dst,src,n)
	(void *dst, const void *src, size_t n, void *stream) = foo(..., @own)
hipFoo_spt id=5 slot=3@2 node=5.2 STREAM spt effect=host (void *dst, void *stream) = foo
hipBar id=2 slot=2 QUERY
__hipBaz id=4 compiler=1 node=4.2 MODULE returns=pointer (const void *data) = hand
hipTool node=5.3 OTHER returns=bool (uint32_t op, bool enable) = tool
"""

BAD_HIP = (
    ('hipNew id=9 slot=3 QUERY', 'slot 3 is at %s:5, too'),
    ('hipNew id=4 slot=4@2 QUERY', 'id 4 is at %s:7, too'),
    ('hipNew id=9 slot=5@2 QUERY', 'no call has place 4 of HipDispatchTable'),
    ('hipNew id=9 slot=4@1 QUERY', 'the steps of HipDispatchTable do not ascend with its places'),
    ('hipNew id=9 compiler=3 QUERY', 'no call has place 2 of HipCompilerDispatchTable'),
    ('hipNew id=9 slot=0 QUERY', 'slot is no place: "0"'),
    ('hipNew id=9 slot=x QUERY', 'slot is no place: "x"'),
    ('hipNew id=9@1 slot=4@2 QUERY', 'id is no id: "9@1"'),
    ('hipNew slot=4@2 QUERY', 'no id'),
    ('hipNew id=9 QUERY', 'no node'),
    ('hipNew id=9 slot=4@2 QUERY () = foo', 'no node'),
    ('hipNew id=9 slot=4@2 node=6.2 QUERY = hand', 'no arguments'),
    ('hipNew id=9 slot=4@2 node=six QUERY', 'unknown word "node=six"'),
    ('hipNew id=9 slot=4@2 node=6.2 since=7 QUERY', 'unknown word "since=7"'),
    ('hipNew id=9 slot=4@2 QUERY returns=float', 'unknown word "returns=float"'),
    ('hipNew id=9 slot=4@2 QUERY launches', 'unknown word "launches"'),
    ('hipNew id=9 ptsz=10 slot=4@2 QUERY', 'unknown word "ptsz=10"'),
    ('hipNew id=9 slot=4@2 STREAM (void *next)', 'a wrapper has a variable of that name: "next"'),
)

# Commands, and a line that each makes of HIP.
MADE_HIP = (
    ('hip-calls', '\tX(hipBar, 2, QUERY) \\'),
    ('hip-calls', '#define TS_HIP_CALL_SIZE 6'),
    ('params', 'struct hipFoo_params {'),
    ('wrappers', '\t{0, 0, 0}, {1, 8, 0}, {2, 16, 0}, {3, 24, 0}, /* pppp */'),
    ('wrappers', '\t{3, 5, 1}, /* hipFoo_spt */'),
    ('wrappers', '\tX(hipFoo_spt, 16)'),
    ('effects', '\t\t.kind = EFFECT_HOST, .stream = 1, .per_thread = true,'),
    ('accesses', '\tcase TS_HIP_CALL_hipFoo: {'),
    ('slots', '\tX(2, hipBar, NONE) \\'),
    ('slots', '\tX(2, 4)'),
    ('slots', '\tX(1, __hipBaz, SERVED)'),
    ('nodes', 'hip_5.2 {'),
    ('types', 'typedef int32_t hipFoo_spt_fn(void *dst, void *stream);'),
    ('types', 'typedef void **__hipBaz_fn(const void *data);'),
    ('types', 'typedef bool hipTool_fn(uint32_t op, bool enable);'),
    ('types', '#include <stdbool.h>'),
    ('functions', 'int32_t hipFoo_spt(void *dst, void *stream);'),
    ('facade', '\treturn HIP(hipFoo, 1, foo(dst, src, n, stream, false));'),
    ('facade', '\treturn HIP(hipFoo_spt, 5, foo(dst, per_thread(stream)));'),
    ('facade', '\tint32_t (*next)(void *, void *) = runtime_slot(3);'),
    ('facade', '\tvoid **(*next)(const void *) = compiler_slot(1);'),
    ('facade', 'bool impl_hipTool(uint32_t op, bool enable)'),
)


def load(path):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location('calls', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def complaint(calls, path):
    try:
        calls.read_table(path)
    except calls.Bad as bad:
        return str(bad)
    return ''


def exit_code_and_line(script, path):
    result = subprocess.run([sys.executable, script, 'check', path], stderr=subprocess.PIPE, check=False,
                            encoding='utf-8')
    return result.returncode, result.stderr


def check_bad_lines(calls, path, table, lines):
    for line, wanted in (('', ''),) + lines:
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write(table + line + '\n')
        said = complaint(calls, path)
        number = 1 if wanted and 'DispatchTable' in wanted else 1 + table.count('\n') + line.count('\n')
        at = '%s:%d: ' % (path, number) if line else ''
        if wanted is None:
            good = said.startswith(at)
        else:
            good = said == at + (wanted % path if '%s' in wanted else wanted)
        if not good:
            yield '"%s": "%s", not "%s"' % (line, said, wanted)


def check_made(script, path):
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(HIP)
    for command, line in MADE_HIP:
        arguments = [path] + {'facade': ['memory'], 'nodes': ['5.2']}.get(command, [])
        made = subprocess.run([sys.executable, script, command] + arguments, stdout=subprocess.PIPE, check=False,
                              encoding='utf-8').stdout
        if line not in made.split('\n'):
            yield '%s: no line "%s" in "%s"' % (command, line, made)
        if command == 'wrappers' and 'hipBar' in made:
            yield 'a query is wrapped'


def main():
    script, tables = sys.argv[1], sys.argv[2:]
    calls = load(script)
    failures = [said for said in (complaint(calls, path) for path in tables) if said]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'a.calls')
        failures += check_bad_lines(calls, path, GOOD, BAD)
        failures += check_bad_lines(calls, path, HIP, BAD_HIP)
        failures += check_made(script, path)
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write(GOOD + 'cuNew id=3 QUERY\n')
        if exit_code_and_line(script, path) != (2, '%s:8: id 3 is at %s:6, too\n' % (path, path)):
            failures.append('the script does not report a bad line and exit with 2')
        if exit_code_and_line(script, tables[0]) != (0, ''):
            failures.append('the script does not accept %s' % tables[0])
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures or len(BAD) < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
