#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of rows: FORMAT.md, COLUMNS.md and the Rust crate agree with it; make.py refuses each bad line by its number; one added line adds a field to every
output, and the field goes from a record through a file.

test-rows.py SOURCE CC...
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, CC = sys.argv[1], sys.argv[2:]
TABLE = os.path.join(SOURCE, 'proto/abi/rows/rows.table')
MAKE = os.path.join(SOURCE, 'proto/abi/rows/make.py')

# Outputs, by their paths in the build folder.
OUTPUTS = {
    'records': 'proto/abi/generated-records.h',
    'rows': 'sbt/generated-rows.h',
    'columns': 'sbt/generated-columns.h',
    'convert': 'daemon/generated-convert.h',
    'definitions': 'daemon/generated-definitions.h',
    'steps': 'replay/report/generated-steps.h',
    'messages': 'proto/rpc/tracesmith.proto',
    'format': 'sbt/FORMAT.md',
    'arrow': 'tools/export/arrow/COLUMNS.md',
    'rust': 'tools/rust/src/rows.rs',
}
INPUTS = {'messages': 'proto/rpc/tracesmith.proto', 'format': 'sbt/FORMAT.md'}

ADDED = '  28 probed_bytes u64 SIZE @136 /34 none since=1.8 ;/ bytes that were probed'
# The last column of `kernel`.
BEHIND = re.compile(r'^row kernel:.*?^  27 [^\n]*\n', re.M | re.S)
FOUND = {
    'records': r'struct ts_record_kernel \{[^}]*\tuint64_t probed_bytes; /\* bytes that were probed; since 1\.8 \*/\n\};\n'
               r'(?s:.*)TS_ASSERT_FIELD\(struct ts_record_kernel, probed_bytes, 136\);',
    'rows': r'struct ts_row_kernel \{[^}]*\tuint64_t probed_bytes; /\* bytes that were probed; since 1\.8 \*/',
    'columns': r'U\(ts_row_kernel, 28, probed_bytes, SIZE\),',
    'convert': r'to->probed_bytes = from->probed_bytes;',
    'steps': r'\{\.field = 33, \.source = FROM_COLUMN, \.column = 27, \.has_nothing = true\},',
    'messages': r'message KernelRow \{[^}]*  optional uint64 probed_bytes = 34;  // bytes that were probed\n',
    'format': r'\| 2 \| `kernel` \| [^\n]*, 27 `channel_type` u8 enum, 28 `probed_bytes` u64 size \|\n',
    'arrow': r'## `kernel`\n[^#]*\| `probed_bytes` \| uint64 \| bytes that were probed \|\n',
    'rust': r'probed_bytes: u64 = PROBED_BYTES "probed_bytes" 28 128 Size;',
}

# Bad replacements of one line, and the message of each.
API_OP = re.compile(r'^   3 op_id .*$', re.M)
BAD = [
    ('   3 op_id u64', 'bad column'),
    ('   3 op_id u63 OP @24 /8', 'unknown type u63'),
    ('   3 op_id u64 OPERATION @24 /8', 'unknown role OPERATION'),
    ('   3 Op u64 OP @24 /8', 'bad name Op'),
    ('   3 op_id u64 OP @24', '`op_id` has no field in ApiRow; add /NUMBER'),
    ('   3 op_id u64 OP @24 /3', 'message field 3 is `end_ns` in every row'),
    ('   3 op_id u64 OP @24 /8=:', 'bad message field /8=:'),
    ('   3 op_id u64 OP @20 /8', 'op_id at 20 to 28 overlaps end at 16; next free offset: 24'),
    ('   3 op_id u64 OP @8 /8', 'op_id at 8 overlaps the header'),
    ('   3 op_id u64 OP @28 /8', 'op_id at 28 is not aligned'),
    ('   3 op_id u64 OP @operation /8', '@operation: struct ts_record_api has no operation'),
    ('   3 op_id u64 OP @24 /8 =hours', 'unknown word =hours'),
    ('   2 op_id u64 OP @24 /8', 'duplicate column 2 `op_id`: 2 `end_ns` exists'),
    ('   3 end_ns u64 OP @24 /8', 'duplicate column 3 `end_ns`: 2 `end_ns` exists'),
    ('   op_id u64 OP @24 /8', 'bad field'),
    ('   - op_id u64', 'bad record member'),
    ('  /8 op_id u64', 'bad message field'),
    ('  /8 kind string =api_domain:kind', 'the row has no column `kind` above'),
    ('row api, span', 'bad row'),
    ('row nothing: span', 'type NOTHING is not in the types block'),
    ('row api: span, colour blue', 'unknown row option colour'),
]


def make(what, table, *rest):
    return subprocess.run([sys.executable, MAKE, what, table] + list(rest), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def read(name):
    with open(name, encoding='utf-8') as stream:
        return stream.read()


def check(holds, text, *args):
    if not holds:
        sys.exit(text % args if args else text)


def document():
    made = make('format', TABLE, os.path.join(SOURCE, 'sbt/FORMAT.md'))
    check(made.returncode == 0, made.stderr)
    check(made.stdout == read(os.path.join(SOURCE, 'sbt/FORMAT.md')),
          'sbt/FORMAT.md differs from the table; to update it:\n'
          'python3 proto/abi/rows/make.py format proto/abi/rows/rows.table sbt/FORMAT.md > new && cat new > sbt/FORMAT.md')
    check(make('arrow', TABLE).stdout == read(os.path.join(SOURCE, OUTPUTS['arrow'])),
          'tools/export/arrow/COLUMNS.md differs from the table; to update it:\n'
          'python3 proto/abi/rows/make.py arrow proto/abi/rows/rows.table > tools/export/arrow/COLUMNS.md')
    check(make('rust', TABLE).stdout == read(os.path.join(SOURCE, OUTPUTS['rust'])),
          'tools/rust/src/rows.rs differs from the table; to update it: python3 tools/rust/generate.py')


def bad_lines(folder):
    text = read(TABLE)
    at = API_OP.search(text)
    number = text.count('\n', 0, at.start()) + 1
    path = os.path.join(folder, 'bad.table')
    for line, said in BAD:
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write(text[:at.start()] + line + text[at.end():])
        made = make('rows', path)
        check(made.returncode == 1, 'not refused: %s', line)
        check(made.stderr.startswith('%s:%d: %s' % (path, number, said)), '%s\nrefused with: %s', line, made.stderr)
        check(made.stdout == '', 'printed beside the error: %s', made.stdout)


def add_field(folder):
    """Makes every output from a table with one more field."""
    text = read(TABLE)
    at = BEHIND.search(text).end()
    path = os.path.join(folder, 'rows.table')
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(text[:at] + ADDED + '\n' + text[at:])
    for what, name in OUTPUTS.items():
        rest = [os.path.join(SOURCE, INPUTS[what])] if what in INPUTS else []
        before, made = make(what, TABLE, *rest), make(what, path, *rest)
        check(made.returncode == 0, made.stderr)
        if what in FOUND:
            check(re.search(FOUND[what], made.stdout), '%s: the field is not in it', name)
            check(not re.search(FOUND[what], before.stdout), '%s: the field is in it before it is added', name)
        else:
            check(made.stdout == before.stdout, '%s: changed', name)
        os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as stream:
            stream.write(made.stdout)


def write_dictionary(folder):
    """The other header of sbt/ that the build generates."""
    made = subprocess.run([sys.executable, os.path.join(SOURCE, 'sbt/format/short-dictionary.py'), os.path.join(SOURCE, 'sbt/FORMAT.md')],
                          stdout=subprocess.PIPE, text=True, check=True)
    with open(os.path.join(folder, 'sbt/generated-dictionary.h'), 'w', encoding='utf-8') as stream:
        stream.write(made.stdout)


def in_folder(folder, name):
    return glob.glob(os.path.join(SOURCE, folder, '**', name), recursive=True)


def compile_with(folder, arguments):
    done = subprocess.run(CC + ['-std=gnu11', '-D_GNU_SOURCE', '-I', SOURCE, '-I', folder, '-Wall', '-Wextra', '-Werror',
                                '-Wno-unused-parameter', '-Wno-missing-field-initializers'] + arguments,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == 0, done.stdout)


def run_added(folder):
    """Compiles and runs added-field.c."""
    program = os.path.join(folder, 'added-field')
    sources = [os.path.join(SOURCE, 'test/unit/sbt/added-field.c')]
    sources += in_folder('daemon/merge', 'clock-table.c') + in_folder('daemon/merge', 'halves.c') + in_folder('daemon/merge', 'convert-rows.c')
    sources += in_folder('sbt', '*.c')
    compile_with(folder, sources + ['-O0', '-o', program, '-lzstd', '-pthread'])
    done = subprocess.run([program], stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == 0, 'the field does not come back: %s', done.stderr)


def compile_messages(folder):
    protoc = shutil.which('protoc-c')
    subprocess.run([protoc, '--c_out=.', '-I.', 'proto/rpc/tracesmith.proto'], cwd=folder, check=True)
    check('uint64_t probed_bytes;' in read(os.path.join(folder, 'proto/rpc/tracesmith.pb-c.h')), 'not in the message')
    compile_with(folder, ['-fsyntax-only'] + in_folder('replay/report', 'rowjson.c'))


def main():
    document()
    with tempfile.TemporaryDirectory() as folder:
        bad_lines(folder)
        add_field(folder)
        write_dictionary(folder)
        run_added(folder)
        compile_messages(folder)


if __name__ == '__main__':
    main()
