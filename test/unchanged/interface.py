# SPDX-License-Identifier: Apache-2.0
"""What a build offers to other programs, as text: exported symbols, layouts of structs, messages, installed files.

Each function returns a dict of lines by name. Two builds offer the same if the dicts are equal. Source trees and files are found by
meson's introspection, so that files may move. Needs nm and readelf (binutils), and the compiler that made the build.
"""
import glob
import json
import os
import re
import subprocess
import tempfile


class Build:
    def __init__(self, path):
        self.path = os.path.realpath(path)
        self.source = self.introspect('meson-info')['directories']['source']
        with open(os.path.join(self.path, 'compile_commands.json'), encoding='utf-8') as stream:
            self.commands = json.load(stream)
        self.compiler = self._compiler()

    def introspect(self, name):
        with open(os.path.join(self.path, 'meson-info', name + '.json'), encoding='utf-8') as stream:
            return json.load(stream)

    def _compiler(self):
        """The words before the first option of a compilation of C."""
        for entry in self.commands:
            if entry['file'].endswith('.c'):
                words = entry['command'].split()
                return words[:next(i for i, word in enumerate(words) if word.startswith('-'))]
        raise SystemExit('%s: a build without C' % self.path)

    def installed(self):
        """Destination by path of each installed file of this build."""
        return self.introspect('intro-installed')

    def file(self, *words):
        return os.path.join(self.path, *words)

    def program(self, name):
        """The path of an installed program."""
        for path, destination in self.installed().items():
            if os.path.basename(destination) == name and os.path.isabs(path):
                return path
        raise SystemExit('%s: installs no %s' % (self.path, name))


def run(argv, **options):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', errors='replace', check=False, **options)
    if result.returncode:
        raise SystemExit('%s: exit status %d\n%s' % (' '.join(argv), result.returncode, result.stderr))
    return result.stdout


# Files and symbols

def destinations(build):
    return {'installed files': sorted(build.installed().values())}


def elf_files(build):
    for path in sorted(build.installed()):
        if os.path.isfile(path):
            with open(path, 'rb') as stream:
                if stream.read(4) == b'\x7fELF':
                    yield path


def exports(build):
    """Exported symbols with versions, kind and size of data; and what the loader is asked for."""
    found = {}
    for path in elf_files(build):
        name = os.path.basename(path)
        lines = []
        for line in run(['nm', '-D', '-P', '--defined-only', path]).splitlines():
            symbol, kind, _, *size = line.split()
            lines.append('%s %s%s' % (symbol, kind, ' %d bytes' % int(size[0], 16) if kind in 'BDRVu' and size else ''))
        found['exported symbols of ' + name] = sorted(lines)
        dynamic = re.findall(r'\((NEEDED|SONAME|FLAGS|FLAGS_1|TEXTREL)\)\s*(.*)', run(['readelf', '-d', '-W', path]))
        found['dynamic section of ' + name] = sorted('%s %s' % pair for pair in dynamic)
    return found


# Layouts

TAG = re.compile(r'<([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)')
# Newer versions of readelf print the form of a value, `(strp)`; all print where an indirect string lies.
ATTRIBUTE = re.compile(r'<[0-9a-f]+>\s+DW_AT_(\w+)\s*: (?:\([a-z]\w*\) ?)?(?:\([^)]*offset: (?:0x)?[0-9a-f]+\): )?(.*)')


WORDS = {'structure_type': 'struct', 'union_type': 'union', 'enumeration_type': 'enum'}


class Entry:
    """An entry of the debug information, with its children."""

    def __init__(self, tag):
        self.tag, self.attributes, self.children = tag, {}, []

    def name(self):
        return self.attributes.get('name', '').strip()

    def number(self, key, default=0):
        match = re.match(r'\s*(-?(?:0x[0-9a-f]+|\d+))', self.attributes.get(key, ''))
        return int(match.group(1), 0) if match else default


class Types:
    """The types of an object, spelled."""

    def __init__(self, path):
        self.entries, self.top, stack = {}, [], []
        for line in run(['readelf', '--debug-dump=info', '-W', path]).splitlines():
            tag = TAG.search(line)
            if tag:
                depth = int(tag.group(1), 16)
                entry = self.entries[int(tag.group(2), 16)] = Entry(tag.group(3))
                del stack[depth:]
                (stack[-1].children if stack else self.top).append(entry)
                stack.append(entry)
                continue
            attribute = ATTRIBUTE.search(line)
            if attribute and stack:
                stack[-1].attributes[attribute.group(1)] = attribute.group(2)

    def of(self, entry):
        match = re.match(r'<0x([0-9a-f]+)>', entry.attributes.get('type', ''))
        return self.entries.get(int(match.group(1), 16)) if match else None

    def spell(self, entry):
        """A type as a member has it: its name, or its members if it has no name."""
        if entry is None:
            return 'void'
        target = self.of(entry)
        if entry.tag in ('base_type', 'typedef'):
            return entry.name()
        if entry.tag == 'pointer_type':
            return self.spell(target) + ' *'
        if entry.tag in ('const_type', 'volatile_type', 'atomic_type', 'restrict_type'):
            return '%s %s' % (entry.tag[:-5], self.spell(target))
        if entry.tag == 'array_type':
            return self.spell(target) + ''.join('[%s]' % self.bound(child) for child in entry.children if child.tag == 'subrange_type')
        if entry.tag == 'subroutine_type':
            return '%s (*)(%s)' % (self.spell(target), ', '.join(
                self.spell(self.of(child)) if child.tag == 'formal_parameter' else '...' for child in entry.children))
        if entry.name():
            return '%s %s' % (WORDS.get(entry.tag, entry.tag), entry.name())
        return '{ %s }' % ' '.join(self.members(entry))

    def bound(self, entry):
        if 'count' in entry.attributes:
            return entry.number('count')
        return entry.number('upper_bound', -1) + 1 if 'upper_bound' in entry.attributes else ''

    def members(self, entry):
        """Lines of a struct or union with the offset of each member; of an enumeration, its values."""
        if entry.tag == 'enumeration_type':
            return ['%s = %d;' % (child.name(), child.number('const_value')) for child in entry.children if child.tag == 'enumerator']
        lines = []
        for child in entry.children:
            if child.tag != 'member':
                continue
            where = str(child.number('data_member_location'))
            if 'bit_size' in child.attributes:
                # DWARF has had two ways to write the first bit.
                first = next(('%s %d' % (key, child.number(key)) for key in ('data_bit_offset', 'bit_offset') if key in child.attributes), '')
                where += ' %s, %d bits' % (first, child.number('bit_size'))
            lines.append(('%s: %s %s' % (where, self.spell(self.of(child)), child.name())).rstrip() + ';')
        return lines

    def named(self):
        """(tag and name, lines) of each complete type with a name, and of each typedef."""
        for unit in self.top:
            for entry in unit.children:
                if entry.tag == 'typedef':
                    yield 'typedef ' + entry.name(), [self.spell(self.of(entry))]
                elif entry.tag in ('structure_type', 'union_type', 'enumeration_type') and entry.name() and 'declaration' not in entry.attributes:
                    yield self.spell(entry), ['%d bytes' % entry.number('byte_size')] + self.members(entry)
                elif entry.tag == 'variable' and entry.name().startswith('alignment_of_'):
                    array = self.of(entry)
                    yield entry.name(), [str(self.bound(child)) for child in array.children]


def public_headers(build):
    """The headers that are installed, and those of proto/abi, also where the build makes them. generated-*.h are parts of others; the
    examples' header is a document."""
    found = {path for path, destination in build.installed().items()
             if destination.endswith('.h') and '/examples/' not in destination and os.path.isfile(path)}
    for top in (build.source, build.path):
        found |= set(glob.glob(os.path.join(top, 'proto', 'abi', '**', '*.h'), recursive=True))
    return sorted({os.path.realpath(path) for path in found if not os.path.basename(path).startswith('generated-')})


def own_text(build, preprocessed):
    """The lines of preprocessed text that come from the tree or the build."""
    lines, own = [], False
    for line in preprocessed.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = os.path.isabs(marker.group(1)) and os.path.realpath(marker.group(1)).startswith(
                (build.source + os.sep, build.path + os.sep))
        elif own:
            lines.append(line)
    return '\n'.join(lines)


def prototypes(text):
    """Declarations of functions, a line each."""
    text = re.sub(r'#[^\n]*|__attribute__\s*\(\(.*?\)\)', '', text)
    depth, piece = 0, ''
    for character in text:
        if character == '{':
            depth += 1
        elif character == '}':
            depth -= 1
            piece = '' if not depth and '(' in piece else piece
        elif not depth and character == ';':
            words = ' '.join(piece.split())
            if '(' in words and not words.startswith(('typedef', '_Static_assert', 'struct {', 'extern "C"')):
                yield words
            piece = ''
        elif not depth:
            piece += character


def header_facts(build, header, flags, folder):
    """(name, text) of what a header declares itself or by what it includes from the tree."""
    compiler = build.compiler[-1:]
    text = own_text(build, run(compiler + flags + ['-E', '-dD', '-include', header, '-x', 'c', os.devnull]))
    for name, value in re.findall(r'^#define (\w+) (\(?-?(?:0x[0-9a-fA-F]+|\d+)[uUlL]*\)?|"[^"]*")$', text, re.M):
        number = re.match(r'\(?(-?\w+?)[uUlL]*\)?$', value)
        yield 'macro ' + name, value if value.startswith('"') else str(int(number.group(1), 0))
    for prototype in prototypes(text):
        yield 'function ' + re.sub(r'.*?(\w+)\s*\(.*', r'\1', prototype), prototype
    names = {'%s %s' % pair for pair in re.findall(r'\b(struct|union|enum)\s+(\w+)\s*\{', text)}
    # Only tags of the outermost level can be named in another file.
    outer = {'%s %s' % pair for pair in re.findall(r'^(?:typedef\s+)?(struct|union)\s+(\w+)\s*\{', text, re.M)}
    names |= {'typedef ' + name for name in re.findall(r'[\s*}(](\w+)\s*(?:\)\s*\([^;]*)?;', text)}
    source, output = os.path.join(folder, 'layout.c'), os.path.join(folder, 'layout.o')
    with open(source, 'w', encoding='utf-8') as stream:
        stream.write('#include "%s"\n' % header)
        for name in sorted(outer):
            stream.write('char alignment_of_%s[_Alignof(%s)];\n' % (name.replace(' ', '_'), name))
    run(compiler + flags + ['-g', '-gdwarf-4', '-fno-eliminate-unused-debug-types', '-w', '-c', '-o', output, source])
    for name, lines in Types(output).named():
        if name in names:
            yield name, '\n'.join(lines)
        elif name.startswith('alignment_of_'):
            yield name.replace('_', ' ', 3), lines[0]


def layouts(build):
    """All that the public headers declare: sizes, offsets, alignments, values of enumerations and plain macros, prototypes."""
    flags = ['-std=gnu11', '-D_GNU_SOURCE', '-I' + build.source, '-I' + build.path]
    flags += run(['pkg-config', '--cflags', 'libprotobuf-c']).split()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for header in public_headers(build):
            for name, text in header_facts(build, header, flags, folder):
                found.setdefault(name, set()).add(text)
    return {name: '\n--- or, in another header:\n'.join(sorted(texts)).split('\n') for name, texts in found.items()}


# Messages

DESCRIPTORS = r'''
#include <stdint.h>
#include <stdio.h>
#include <protobuf-c/protobuf-c.h>

static void message(const ProtobufCMessageDescriptor *d)
{
	printf("message %s: %zu bytes\n", d->name, d->sizeof_message);
	for (unsigned i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		const char *of = "";

		if (f->type == PROTOBUF_C_TYPE_MESSAGE)
			of = ((const ProtobufCMessageDescriptor *)f->descriptor)->name;
		else if (f->type == PROTOBUF_C_TYPE_ENUM)
			of = ((const ProtobufCEnumDescriptor *)f->descriptor)->name;
		printf("  %u %s: label %d, type %d %s, at %u and %u, flags %u\n", f->id, f->name, (int)f->label, (int)f->type, of,
		       f->offset, f->quantifier_offset, (unsigned)f->flags);
	}
}

static void enumeration(const ProtobufCEnumDescriptor *d)
{
	printf("enum %s\n", d->name);
	for (unsigned i = 0; i < d->n_values; i++)
		printf("  %s = %d\n", d->values[i].name, d->values[i].value);
}

static void show(const uint32_t *descriptor)
{
	if (*descriptor == PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC)
		message((const void *)descriptor);
	else if (*descriptor == PROTOBUF_C__ENUM_DESCRIPTOR_MAGIC)
		enumeration((const void *)descriptor);
}
'''


def descriptors(build):
    """The descriptors of all messages as the build compiled them: what goes over sockets and what JSON is printed from."""
    objects = {}
    for entry in build.commands:
        if entry['file'].endswith('.pb-c.c') and not entry['output'].startswith('test/'):
            objects.setdefault(os.path.basename(entry['file']), build.file(entry['output']))
    found = {}
    for name, path in sorted(objects.items()):
        symbols = sorted({line.split()[0] for line in run(['nm', '-P', '--defined-only', path]).splitlines()
                          if re.match(r'\w+__descriptor [DRB] ', line)})
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, 'descriptors')
            with open(program + '.c', 'w', encoding='utf-8') as stream:
                stream.write(DESCRIPTORS + ''.join('extern const uint32_t %s[];\n' % symbol for symbol in symbols))
                stream.write('int main(void)\n{\n%s\treturn 0;\n}\n' % ''.join('\tshow(%s);\n' % symbol for symbol in symbols))
            flags = run(['pkg-config', '--cflags', '--libs', 'libprotobuf-c']).split()
            run(build.compiler[-1:] + ['-w', '-o', program, program + '.c', path] + flags)
            text = run([program])
        for part in re.split(r'\n(?=\S)', text.rstrip('\n')):
            lines = part.split('\n')
            found['%s: %s' % (name[:-len('.pb-c.c')], lines[0].split(':')[0])] = lines
    return found


FACTS = (destinations, exports, layouts, descriptors)


def facts(build):
    """All of it."""
    found = {}
    for collect in FACTS:
        found.update(collect(build))
    return found
