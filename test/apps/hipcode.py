# SPDX-License-Identifier: Apache-2.0
"""Device code of HIP, for tests: ELF files with the metadata of AMD's compiler, bundles, compressed bundles.

    hipcode.py OUTPUT [--compress] PTX NAME=KEY:NUMBER,... ...
    hipcode.py OUTPUT --header NAME FILE

writes a bundle with an entry of PTX, and an entry of gfx942 whose metadata has the named kernels; or a header with a file's bytes. The keys are those of
AMD's metadata without the dot: vgpr_count, group_segment_fixed_size. Code of the ELF file is empty: the virtual GPU runs PTX.
"""
import struct
import sys
import zlib

TARGET = 'hipv4-amdgcn-amd-amdhsa--gfx942'
PTX = 'hip-ptx64-tracesmith--ptx'
HOST = 'host-x86_64-unknown-linux-gnu-'


def pack(value):
    """MessagePack, the forms that LLVM writes."""
    if isinstance(value, bool):
        return b'\xc3' if value else b'\xc2'
    if isinstance(value, int):
        for limit, head, form in ((0x80, b'', '>B'), (1 << 8, b'\xcc', '>B'), (1 << 16, b'\xcd', '>H'), (1 << 32, b'\xce', '>I')):
            if value < limit:
                return head + struct.pack(form, value)
        return b'\xcf' + struct.pack('>Q', value)
    if isinstance(value, str):
        text = value.encode()
        head = bytes([0xa0 | len(text)]) if len(text) < 32 else struct.pack('>BB', 0xd9, len(text)) if len(text) < 256 \
            else struct.pack('>BH', 0xda, len(text))
        return head + text
    short, long = (0x90, 0xdc) if isinstance(value, list) else (0x80, 0xde)
    head = bytes([short | len(value)]) if len(value) < 16 else struct.pack('>BH', long, len(value))
    items = value if isinstance(value, list) else [part for pair in value.items() for part in pair]
    return head + b''.join(pack(item) for item in items)


def kernel(name, **numbers):
    return {'.name': name, '.symbol': name + '.kd', **{'.' + key: number for key, number in numbers.items()}}


def metadata(kernels):
    return pack({'amdhsa.kernels': kernels, 'amdhsa.target': 'amdgcn-amd-amdhsa--gfx942', 'amdhsa.version': [1, 2]})


def elf(content, machine=224):
    """An ELF file with one segment: the note with the content."""
    note = struct.pack('<III', 7, len(content), 32) + b'AMDGPU\0\0' + content + bytes(-len(content) % 4)
    head = b'\x7fELF\x02\x01\x01\x40\x03' + bytes(7) + struct.pack('<HHIQQQIHHHHHH', 3, machine, 1, 0, 64, 0, 0x54c, 64, 56, 1, 0, 0, 0)
    return head + struct.pack('<IIQQQQQQ', 4, 4, 120, 120, 120, len(note), len(note), 4) + note


def bundle(entries):
    """Entries are (id, bytes). Clang aligns the contents to 4096 bytes."""
    heads, contents = b'', b''
    start = 32 + sum(24 + len(name) for name, _ in entries)
    for name, content in entries:
        contents += bytes(-(start + len(contents)) % 64)
        heads += struct.pack('<QQQ', start + len(contents), len(content), len(name)) + name.encode()
        contents += content
    return b'__CLANG_OFFLOAD_BUNDLE__' + struct.pack('<Q', len(entries)) + heads + contents


def compressed(content, version=2, method=0, packed=None):
    """A compressed bundle; `packed` is the content by another method than zlib."""
    packed = zlib.compress(content) if packed is None else packed
    size = 'Q' if version == 3 else 'I'
    n_head = 16 + struct.calcsize('<' + size) * (1 if version == 1 else 2)
    sizes = ([] if version == 1 else [n_head + len(packed)]) + [len(content)]
    return b'CCOB' + struct.pack('<HH' + size * len(sizes) + 'Q', version, method, *sizes, 0) + packed


def main(arguments):
    output, arguments = arguments[0], arguments[1:]
    if arguments[0] == '--header':
        with open(arguments[2], 'rb') as file:
            words = ['0x%02x,' % byte for byte in file.read()]
        with open(output, 'w', encoding='ascii') as header:
            header.write('static const unsigned char %s[] __attribute__((section(".hip_fatbin"), aligned(4096))) = {\n' % arguments[1])
            header.write('\n'.join(' '.join(words[i:i + 16]) for i in range(0, len(words), 16)) + '\n};\n')
        return
    is_compressed = arguments[0] == '--compress'
    arguments = arguments[is_compressed:]
    kernels = []
    for text in arguments[1:]:
        name, _, numbers = text.partition('=')
        kernels.append(kernel(name, **{key: int(number) for key, _, number in (n.partition(':') for n in numbers.split(','))}))
    with open(arguments[0], 'rb') as file:
        code = bundle([(HOST, b''), (TARGET, elf(metadata(kernels))), (PTX, file.read())])
    with open(output, 'wb') as file:
        file.write(compressed(code) if is_compressed else code)


if __name__ == '__main__':
    main(sys.argv[1:])
