#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual GPU's refusals: each use of what it does not serve gets the vendor's error, and one line on stderr with a remedy."""
import os
import sys

import harness

SCRIPTS = os.path.join(harness.SOURCE, 'test', 'apps')

PROLOGUE = '''
import ctypes, struct, sys
sys.path.insert(0, %r)
from driver import call, cuda, made, size_t, u32, u64, void

def code(name, *arguments):
    print(getattr(cuda, name)(*arguments), flush=True)

call('cuInit', 0)
call('cuCtxSetCurrent', made('cuDevicePrimaryCtxRetain', 0))
graph = made('cuGraphCreate', 0)
out = void()
''' % SCRIPTS

CAPTURE = '''
stream = made('cuStreamCreate', 1)
for _ in range(2):
    call('cuStreamBeginCapture_v2', stream, 0)
    code('cuMemAllocAsync', ctypes.byref(out), size_t(64), stream)
    cuda.cuStreamEndCapture(stream, ctypes.byref(out))
'''

# e_flags of a 64-bit ELF file lie at 48: sm_90 as CUDA 12 and 13 write it.
CUBIN = '''
for flags in (0x005a055a, 0x06005a02):
    image = bytearray(b'\\x7fELF\\x02\\x01\\x01' + bytes(57))
    struct.pack_into('<I', image, 48, flags)
    code('cuModuleLoadData', ctypes.byref(out), (ctypes.c_char * 128).from_buffer_copy(bytes(image) + bytes(64)))
'''

# What is done twice, the codes of both times, and words of the only line.
USES = (
    (CAPTURE, [900, 900], ('memory nodes in graphs', 'allocate before the capture')),
    ('for _ in range(2): code("cuGraphAddMemAllocNode", ctypes.byref(out), graph, None, size_t(0), bytes(256))', [801, 801],
     ('cuGraphAddMemAllocNode',)),
    ('for _ in range(2): code("cuGraphConditionalHandleCreate", ctypes.byref(u64()), graph, None, u32(0), u32(0))', [801, 801],
     ('cuGraphConditionalHandleCreate',)),
    ('for _ in range(2): code("cuIpcGetMemHandle", bytes(64), u64(1))', [801, 801], ('cuIpcGetMemHandle', 'real GPU')),
    ('for _ in range(2): code("cuEventCreate", ctypes.byref(out), u32(6))', [801, 801], ('several processes',)),
)


class Refusals(harness.Case):
    def run_script(self, script):
        path = self.path('use.py')
        with open(path, 'w', encoding='ascii') as file:
            file.write(PROLOGUE + script)
        result = harness.run([sys.executable, path], env=harness.alone_environment('h200'), cwd=self.folder)
        self.assertEqual(result.status, 0, result)
        lines = [line for line in result.err.splitlines() if line.startswith('tracesmith')]
        return [int(word) for word in result.out.split()], lines

    def test_one_line_each(self):
        for script, codes, words in USES:
            found, lines = self.run_script(script)
            self.assertEqual(found, codes, (script, lines))
            self.assertEqual(len(lines), 1, (script, lines))
            for word in words:
                self.assertIn(word, lines[0])

    def test_a_cubin(self):
        codes, lines = self.run_script(CUBIN)
        self.assertEqual(codes, [209, 209])
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertIn('compile for compute_90', line)


if __name__ == '__main__':
    harness.main()
