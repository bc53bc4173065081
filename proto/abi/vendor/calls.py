#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes C from the tables of a vendor's calls, *.calls beside this file.

usage: calls.py check TABLE ...               reports the first bad line as FILE:LINE: TEXT
       calls.py ids TABLE ...                 the lists of callback ids
       calls.py params TABLE                  the structures of arguments
       calls.py types TABLE                   the type of each function: NAME_fn
       calls.py functions TABLE               prototypes of the exported functions
       calls.py facade TABLE SECTION          the exported functions of one section
       calls.py refused TABLE                 the names that the facade refuses
       calls.py effects|accesses TABLE ...    what the shim knows of a call by its id
       calls.py call-names TABLE ...          the names by which the shim knows like calls of other vendors
       calls.py capture TABLE                 how the capture treats a call
       calls.py hip-capture DRIVER TABLE      HIP: the same, and the driver calls that the capture takes its calls for
       calls.py hip-calls TABLE               HIP: the list of calls by TraceSmith's numbers
       calls.py wrappers TABLE                HIP: the shim's functions for the dispatch table
       calls.py wrapper-checks TABLE          HIP: calls of these functions, for a test
       calls.py symbols TABLE                 HIP: the shim's functions that stand before libamdhip64's
       calls.py symbol-nodes TABLE            HIP: their version script
       calls.py hip-arguments TABLE           HIP: where the arguments are that device rows need
       calls.py slots TABLE                   HIP: the places of the dispatch tables
       calls.py coverage TABLE ...            what the shim does with each entry point
       calls.py nodes TABLE RELEASE           HIP: the version script of the facade of a release, as 6.2 or 6.2-untraced
Everything goes to standard output.

A table starts with `interface NAME` and has one call an entry; indented lines continue an entry, # starts a comment:

    cuMemcpyHtoDAsync_v2 id=277 ptsz=421 MEMCPY certain capture=ordered
        memory=copy(dst_device,src_host,byte_count)
        (uint64_t dst_device, const void *src_host, size_t byte_count, void *stream)
        = copy_htod_async

    NAME             the exported function
    id=N             the callback id; id=N@VERSION where callback names end in _vVERSION
    ptsz=N, ptds=N   the id of the form NAME_ptsz or NAME_ptds, for programs with per-thread default streams
    LAUNCH ...       the class, enum ts_cupti_class; every call with an id has one
    untraced         the id has no place in the list of traced calls
    quiet            the shim asks for no callback: the call is frequent and changes nothing that it records
    certain          a successful call makes device rows, if its amount is not 0 and the direction of a copy is known
    launches, waits  what a capture's window counts as a launch, and as an order between streams
    capture=MODE     ordered, before, after: captured, and when; harmless: a replay does without; lacked: a replay misses it
    effect=EFFECT    record, wait, graph, host: put into a stream; create-stream, begin-capture, end-capture
    memory=ACCESS    copy(DST,SRC,BYTES) copy2d(DST,DPITCH,SRC,SPITCH,WIDTH,HEIGHT) set(DST,N*ELEMENT)
                     set2d(DST,PITCH,WIDTH,HEIGHT) free(AT) alloc(AT,BYTES) pinned(AT,BYTES) managed(AT,BYTES)
    anytime          the facade serves it before the driver is initialised
    kernel=ARGUMENT  the argument that names the kernel of a launch
    local            its arguments have no structure in the header of structures: a newer form of the call has the
                     structure's name, or a type is the facade's own
    (ARGUMENTS)      the arguments in C, in the vendor's order
    = WORK           the facade: a function that takes all arguments in order, or an expression; `...` stands for all
                     arguments, @name for "NAME". In the per-thread form `stream` is per_thread(stream), @own is true
                     and not false, @stream is TS_CU_STREAM_PER_THREAD and not NULL, @form is _ptsz and not empty
    = hand           the facade's function is written by hand
    = refused        the facade has it, and refuses it by the vendor's code

In a table of `interface hip` an entry is a function of libamdhip64. It has these words instead of the forms' ones:

    hipMemcpyAsync id=32 slot=269 node=4.2 MEMCPY certain memory=copy(dst,src,size_bytes)
        (void *dst, const void *src, size_t size_bytes, int32_t kind, void *stream)

    id=N             TraceSmith's own number. Files contain it: it never changes and is never used again
    slot=N@STEP      the place in HipDispatchTable, counted in pointers (0 is its size), and the step of the table's version
                     that added it, if not 0; known slots have no gap
    compiler=N@STEP  the same in HipCompilerDispatchTable
    node=V           the version node that exported the function first; without it, it has a slot only, which the facade
                     refuses or has not
    since=V          the release that exported it first, if its node is older: AMD adds functions to old nodes
    until=V          the release that exports it no more
    returns=TYPE     void, bool, pointer (void **) or string (const char *); else int32_t
    spt              the default stream is the thread's
    capture=CALL(ARGUMENTS)
                     captured as this call of cuda_driver.calls, with these arguments of its own, or numbers; other modes
                     mean that the shim has a function for it
    = WORK           the function impl_NAME calls it; @stream and @own as above, by spt
    = hand           the facade's impl_NAME is written by hand; what is exported calls it by the table in both cases

A call without arguments is known, and the shim does not wrap it. The structure of its arguments is NAME_params.

[SECTION] is the facade's file that has the functions of WORK and includes the functions made of them. A call without `=` is
known by its id and not exported.
"""
import re
import sys

COLUMNS = 100
CLASSES = ('LAUNCH', 'GRAPH_LAUNCH', 'MEMCPY', 'MEMSET', 'ALLOC', 'FREE', 'SYNC', 'EVENT', 'STREAM',
           'MODULE', 'GRAPH', 'CONTEXT', 'QUERY', 'OTHER')
FLAGS = ('untraced', 'quiet', 'certain', 'launches', 'waits', 'anytime', 'local')
HIP_FLAGS = ('quiet', 'certain', 'spt')
FORMS = ('ptsz', 'ptds')
TABLES = {'slot': 'HipDispatchTable', 'compiler': 'HipCompilerDispatchTable'}
# The facade's functions that return what a place of its tables holds.
PLACES = {'slot': 'runtime_slot', 'compiler': 'compiler_slot'}
RESULTS = {'void': 'void ', 'bool': 'bool ', 'pointer': 'void **', 'string': 'const char *', None: 'int32_t '}
LOCALS = ('params', 'next', 'frame', 'result')
# The shim records no call of these classes.
UNWATCHED = ('QUERY', 'OTHER')
CAPTURES = ('ordered', 'before', 'after', 'harmless', 'lacked')
# The arguments that an effect looks for by their names. Where it looks for none, the stream is the first argument.
EFFECTS = {'record': ('stream', 'event'), 'wait': ('stream', 'event'), 'graph': ('stream', 'graph_exec'),
           'host': (), 'create-stream': ('stream',), 'begin-capture': (), 'end-capture': ()}
# HIP's wrappers: letters of arguments that are no pointers, and each letter's size and alignment.
ARGUMENTS = {'size_t': 'p', 'uint64_t': 'p', 'int32_t': 'w', 'uint32_t': 'w', 'uint16_t': 'h', 'uint8_t': 'b',
             'struct ts_hip_dim3': 'd', 'struct ts_hip_extent': 'e', 'struct ts_hip_pitched_ptr': 'r',
             'struct ts_hip_ipc_event_handle': 'i', 'struct ts_hip_ipc_mem_handle': 'i'}
LETTERS = {'b': (1, 1), 'h': (2, 2), 'w': (4, 4), 'p': (8, 8), 'd': (12, 4), 'e': (24, 8), 'r': (32, 8), 'i': (64, 1)}
# Launches with wrappers in C, which pack no arguments by a table: the usual ones.
DIRECT = ('hipLaunchKernel', 'hipModuleLaunchKernel')
# By processor: registers with arguments; the first word on the stack, counted from the first register (inject/calls/call-thunks.h).
CONVENTIONS = {'__x86_64__': (6, 8), '__aarch64__': (8, 10)}
# How many arguments an access names.
ACCESSES = {'copy': 3, 'copy2d': 6, 'set': 2, 'set2d': 4, 'free': 1, 'alloc': 2, 'pinned': 2, 'managed': 2}


class Interface:
    """How an interface's names are made."""

    def __init__(self, word, ids, enum, header, library):
        self.word = word        # what a comment calls it
        self.ids = ids          # the prefix of the macros of its list of ids
        self.enum = enum        # the prefix of its ids
        self.header = header    # what the structures of arguments need
        self.library = library  # the prefix of the facade's macro
        self.hip = word == 'hip'

    def size(self):
        return self.ids + ('_SIZE' if self.hip else '_CBID_SIZE')


INTERFACES = {
    'cuda-driver': Interface('driver', 'TS_CUPTI_DRIVER', 'TS_CUPTI_DRIVER_CBID_', 'cuda_driver.h', 'CU'),
    'cuda-runtime': Interface('runtime', 'TS_CUPTI_RUNTIME', 'TS_CUPTI_RUNTIME_CBID_', 'cuda_runtime.h', 'CUDA'),
    'hip': Interface('hip', 'TS_HIP_CALL', 'TS_HIP_CALL_', 'hip.h', 'HIP'),
}


class Bad(Exception):
    """A line of a table that cannot be what its author meant."""


class Form:
    """One exported form of a call: the plain one, or that for per-thread default streams."""

    def __init__(self, call, suffix, number, version):
        self.suffix = suffix
        self.number = number
        self.symbol = call.name + suffix
        self.callback = self.symbol + ('_v' + version if version else '')


class Call:
    """An entry of a table."""

    def __init__(self, place, interface, section, name):
        self.place = place
        self.hip = interface.hip
        self.section = section
        self.name = name
        self.slots = {}  # of HIP's tables: (place, step)
        self.kind = None
        self.forms = []
        self.flags = set()
        self.values = {}
        self.arguments = None  # [(declaration, name)]
        self.work = None

    @property
    def ids(self):
        return [form for form in self.forms if form.number is not None]

    def names(self):
        return [name for _, name in self.arguments or []]

    def declaration(self, name):
        return dict((known, text) for text, known in self.arguments)[name]

    def structure(self):
        if self.hip:
            return 'struct %s_params' % self.name
        return 'struct %s_params' % structure_word(self.name)

    def served(self):
        return self.work not in (None, 'hand', 'refused')

    def refused_in_place(self):
        """The facade's function takes the arguments, so that it can call by the dispatch table, and refuses there."""
        return self.hip and self.work == 'refused' and self.arguments is not None

    def per_thread(self):
        return self.forms[1] if len(self.forms) > 1 else None

    def result(self):
        return RESULTS[self.values.get('returns')] if self.hip else 'int '

    def types(self):
        return ', '.join(re.sub(r' ?\b\w+$', '', text) for text, _ in self.arguments) or 'void'

    def wrapped(self):
        """The shim sees the call: it records the call, or captures it for a replay."""
        return self.recorded() or 'slot' in self.slots and self.values.get('capture', 'harmless') != 'harmless'

    def recorded(self):
        return 'slot' in self.slots and self.arguments is not None and 'returns' not in self.values and \
            self.kind not in UNWATCHED and 'quiet' not in self.flags


def structure_word(name):
    """cuMemcpyHtoDAsync_v2: ts_cu_memcpy_htod_async."""
    name = re.sub(r'_v\d+$', '', re.sub(r'_pt[sd][sz]$', '', name))
    name = re.sub(r'([HD])to([HD])', lambda match: '_%sto%s' % (match[1].lower(), match[2].lower()), name)
    name = re.sub(r'(\d)D', r'\1d', name)
    name = re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', name)
    return 'ts_' + re.sub(r'([A-Z]+)([A-Z][a-z])', r'\1_\2', name).lower()


def split_arguments(text):
    """The declarations of a parameter list; no argument has a comma of its own."""
    out = []
    for declaration in (part.strip() for part in text.split(',')):
        match = re.fullmatch(r'[\w *]*?(\w+)', declaration)
        if not match or declaration == match[1]:
            raise ValueError('not an argument: "%s"' % declaration)
        out.append((declaration, match[1]))
    return out


def parse_head(call, text):
    for word in text.split():
        key, equals, value = word.partition('=')
        if not equals:
            if word in CLASSES and call.kind is None:
                call.kind = word
            elif word in (HIP_FLAGS if call.hip else FLAGS):
                call.flags.add(word)
            else:
                raise ValueError('unknown word "%s"' % word)
        elif call.hip and key in TABLES and key not in call.slots:
            match = re.fullmatch(r'([1-9]\d*)(?:@([1-9]\d*))?', value)
            if not match:
                raise ValueError('%s is no place: "%s"' % (key, value))
            call.slots[key] = (int(match[1]), int(match[2] or 0))
        elif call.hip and key in ('node', 'since', 'until') and key not in call.values and re.fullmatch(r'\d+\.\d+', value) or \
                call.hip and key == 'returns' and key not in call.values and value in RESULTS:
            call.values[key] = value
        elif key == 'id' or key in FORMS and not call.hip:
            match = re.fullmatch(r'(\d+)(?:@(\d+))?', value)
            if not match or call.hip and match[2]:
                raise ValueError('%s is no id: "%s"' % (key, value))
            if (key == 'id') != (not call.forms) or len(call.forms) > 1:
                raise ValueError('one id, then at most one of another form')
            call.forms.append(Form(call, '' if key == 'id' else '_' + key, int(match[1]), match[2]))
        elif key in ('capture', 'effect', 'memory', 'kernel') and key not in call.values:
            call.values[key] = value
        else:
            raise ValueError('unknown word "%s"' % word)


def parse_entry(call, text):
    text, _, work = re.sub(r'\s+', ' ', text).partition(' = ')
    call.work = work.strip() or None
    match = re.fullmatch(r'((?:[^() ]+(?:\([^()]*\))?(?: |$))*)(?:\(([^()]*)\))?', text.strip())
    if not match:
        raise ValueError('cannot be read: "%s"' % text.strip())
    parse_head(call, match[1])
    if match[2] is not None:
        call.arguments = split_arguments(match[2]) if match[2].strip() else []
    if not call.forms:
        if call.work not in ('refused', 'hand') and (not call.hip or call.slots):
            raise ValueError('no id')
        call.forms.append(Form(call, '', None, None))


def check_access(call):
    match = re.fullmatch(r'(\w+)\(([^()]*)\)', call.values['memory'])
    if not match or match[1] not in ACCESSES:
        raise ValueError('unknown access "%s"' % call.values['memory'])
    names = match[2].split(',')
    if len(names) != ACCESSES[match[1]]:
        raise ValueError('%s takes %d arguments' % (match[1], ACCESSES[match[1]]))
    for name in names:
        name = re.sub(r'\*\d+$', '', name)
        if name != 'NULL' and name not in call.names():
            raise ValueError('no argument "%s"' % name)


def check_entry(call):
    values = call.values
    if call.ids and call.kind is None:
        raise ValueError('no class')
    if values.get('capture', 'ordered') not in CAPTURES:
        match = re.fullmatch(r'\w+\(([^()]*)\)', values['capture'])
        if not call.hip or not match:
            raise ValueError('unknown capture mode "%s"' % values['capture'])
        for name in match[1].split(',') if match[1] else []:
            if not name.isdigit() and name not in call.names():
                raise ValueError('no argument "%s"' % name)
    if values.get('effect', 'host') not in EFFECTS:
        raise ValueError('unknown effect "%s"' % values['effect'])
    for name in EFFECTS[values.get('effect', 'host')] + ((values['kernel'],) if 'kernel' in values else ()):
        if name not in call.names():
            raise ValueError('no argument "%s"' % name)
    if call.hip and set(call.names()) & set(LOCALS):
        raise ValueError('a wrapper has a variable of that name: "%s"' % (set(call.names()) & set(LOCALS)).pop())
    if call.hip and 'node' not in values and (call.work not in (None, 'refused') or not call.slots):
        raise ValueError('no node')
    if 'memory' in values:
        check_access(call)
    elif 'certain' in call.flags:
        raise ValueError('certain without memory=')
    if (call.served() or call.hip and call.work == 'hand') and call.arguments is None:
        raise ValueError('no arguments')
    if 'local' in call.flags and not call.arguments:
        raise ValueError('local without arguments')
    if 'local' in call.flags and ('memory' in values or EFFECTS.get(values.get('effect'))):
        raise ValueError('local, though its arguments are read')


def check_unique(calls):
    seen = {}
    for call in calls:
        for form in call.forms:
            keys = [('callback', form.callback)]
            if form.number is not None:
                keys.append(('id', form.number))
            if call.work:
                keys.append(('function', form.symbol))
            keys += [(word, place) for word, (place, _) in call.slots.items()]
            for key in keys:
                if key in seen:
                    raise Bad('%s: %s %s is at %s, too' % (call.place, key[0], key[1], seen[key]))
                seen[key] = call.place
    for call in structures(calls):
        first = seen.setdefault(('structure', call.structure()), call)
        if first.arguments != call.arguments:
            raise Bad('%s: %s has other arguments at %s' % (call.place, call.structure(), first.place))


def check_slots(path, calls):
    for word, table in TABLES.items():
        places = sorted(call.slots[word] for call in calls if word in call.slots)
        for wanted, (place, _) in enumerate(places, 1):
            if place != wanted:
                raise Bad('%s:1: no call has place %d of %s' % (path, wanted, table))
        if [step for _, step in places] != sorted(step for _, step in places):
            raise Bad('%s:1: the steps of %s do not ascend with its places' % (path, table))


def read_entries(path):
    """Yields (line number, text) with continuation lines joined."""
    number, text = 0, ''
    with open(path, encoding='utf-8') as stream:
        for at, line in enumerate(stream, 1):
            line = line.split('#')[0].rstrip()
            if line[:1] in (' ', '\t') and text:
                text += ' ' + line.strip()
            elif line:
                if text:
                    yield number, text
                number, text = at, line
    if text:
        yield number, text


def read_table(path):
    """The interface and the calls of a table; raises Bad."""
    interface, section, calls = None, '', []
    for number, text in read_entries(path):
        place = '%s:%d' % (path, number)
        try:
            if text.startswith('interface '):
                interface = INTERFACES[text.split()[1]]
            elif text.startswith('['):
                section = re.fullmatch(r'\[([a-z0-9-]*)\]', text)[1]
            else:
                name, _, rest = text.partition(' ')
                if not re.fullmatch(r'[A-Za-z_]\w*', name):
                    raise ValueError('no name of a function: "%s"' % name)
                call = Call(place, interface, section, name)
                parse_entry(call, ' ' + rest)
                check_entry(call)
                calls.append(call)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Bad('%s: %s' % (place, error if isinstance(error, ValueError) else 'cannot be read')) from error
    if interface is None:
        raise Bad('%s:1: no interface' % path)
    check_unique(calls)
    check_slots(path, calls)
    return interface, calls


def structures(calls):
    return [call for call in calls if call.arguments and call.ids and 'local' not in call.flags]


def by_slot(calls, word='slot'):
    return sorted((call for call in calls if word in call.slots), key=lambda call: call.slots[word])


def split_statement(text):
    """The pieces of a statement between which a line may end: after a comma, before ? and :."""
    pieces = re.findall(r'(?:"[^"]*"|[^,"])+(?:, |,$)?', text)
    return [part for piece in pieces for part in re.split(r'(?<= )(?=[?:] )', piece) if part]


def unit(pieces, at):
    """The piece and, where it opens a bracket, all up to the one that closes it."""
    text, depth = '', 0
    for piece in pieces[at:]:
        text += piece
        depth += sum(piece.count(letter) for letter in '({') - sum(piece.count(letter) for letter in ')}')
        if depth <= 0:
            break
    return text.rstrip()


def fill(text, indent):
    """Breaks a statement so that it fits, aligned below the innermost open bracket."""
    lines, line, column, brackets = [], '', indent * 8, []
    pieces = split_statement(text)
    for at, piece in enumerate(pieces):
        room = COLUMNS - column
        opens = piece.count('(') > piece.count(')')
        if line and (len(piece.rstrip()) > room or (opens and len(unit(pieces, at)) > room)):
            lines.append(line.rstrip())
            column = brackets[-1] if brackets else indent * 8 + 8
            if column + len(piece.rstrip()) > COLUMNS:
                column = brackets[-1] = indent * 8 + 8
            line = '\t' * (column // 8) + ' ' * (column % 8)
        elif not line:
            line = '\t' * indent
        for letter in piece:
            column += 1
            if letter in '({':
                brackets.append(column)
            elif letter in ')}' and brackets:
                brackets.pop()
        line += piece
    return '\n'.join(lines + [line.rstrip()])


def fill_initializer(head, items, tail, indent):
    """The same for `head {items} tail`, with the items on lines of their own where they are too long for the bracket."""
    aligned = fill('%s {%s}%s' % (head, ', '.join(items), tail), indent)
    if all(len(line.expandtabs()) <= COLUMNS for line in aligned.split('\n')) and \
            indent * 8 + len(head) + 2 + max(len(item) for item in items) <= COLUMNS - 4:
        return aligned
    return '%s%s {\n%s}%s' % ('\t' * indent, head, fill(', '.join(items), indent + 1), tail)


def banner(text):
    return '/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by proto/abi/vendor/calls.py: %s */' % text


def prototype(call, form, before='', after=''):
    arguments = ', '.join(declaration for declaration, _ in call.arguments) or 'void'
    return fill('%s%s%s(%s)%s' % (before, call.result(), form.symbol, arguments, after), 0)


def print_list(name, rows):
    print('#define %s(X) \\\n%s' % (name, ' \\\n'.join('\t' + row for row in rows)))


def print_ids(tables):
    print(banner('callback ids by name, number and class.'))
    print('#pragma once')
    for interface, calls in tables:
        for untraced in (False, True):
            entries = sorted((form.number, form.callback, call.kind) for call in calls for form in call.ids
                             if ('untraced' in call.flags) == untraced)
            if not entries:
                continue
            print('\n#define %s_%sCBIDS(X) \\' % (interface.ids, 'UNTRACED_' if untraced else ''))
            print(' \\\n'.join('\tX(%s, %d, %s)' % (name, number, kind) for number, name, kind in entries))


CUDA_PARAMS = """/*
 * What function_params of a %s callback points to, for the calls whose arguments somebody
 * reads or makes: the arguments in order, as the vendor lays them out. Each structure names the
 * callback ids (cupti_cbid.h) that hand it out; older ids of the same call have other layouts and
 * are not read. Pointers are the caller's: read what they point to inside the callback only. Names
 * and types follow cuda_driver.h's reading rules.
 */"""

HIP_PARAMS = """/*
 * The arguments of HIP's functions, in order. The shim's wrappers make such a structure of what the
 * application passes. Pointers are the application's: read them inside the call only. Names and
 * types follow hip.h's reading rules.
 */"""


def print_params(tables):
    (interface, calls), = tables
    print(banner('arguments of the %s\'s calls.' % interface.word))
    print(HIP_PARAMS if interface.hip else CUDA_PARAMS % interface.word)
    print('#pragma once\n\n#include <stddef.h>\n#include <stdint.h>\n\n#include "proto/abi/vendor/%s"' % interface.header)
    named = {}
    for call in structures(calls):
        named.setdefault(call.structure(), []).append(call)
    for name, users in named.items():
        print('\n/* %s. */' % ', '.join(form.callback for call in users for form in call.ids))
        print('%s {\n%s\n};' % (name, '\n'.join('\t%s;' % text for text, _ in users[0].arguments)))


def print_opening(interface, calls, what):
    """The opening of a header that declares these calls; it declares the facade's own structures."""
    print(banner('%s of the %s.' % (what, interface.word)))
    print('#pragma once\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n')
    print('#include "proto/abi/vendor/%s"\n' % interface.header)
    known = set()
    for call in calls:
        for text, _ in call.arguments:
            match = re.search(r'struct (?!ts_)\w+', text)
            if match:
                known.add(match[0])
    for name in sorted(known):
        print('%s;\n' % name)


def print_types(tables):
    (interface, calls), = tables
    known = [call for call in calls if call.arguments is not None]
    print_opening(interface, known, 'types of functions')
    for call in known:
        arguments = ', '.join(declaration for declaration, _ in call.arguments) or 'void'
        print(fill('typedef %s%s_fn(%s);' % (call.result(), call.name, arguments), 0))


def print_functions(tables):
    (interface, calls), = tables
    served = [call for call in calls if call.served() or interface.hip and call.work and call.arguments is not None]
    print_opening(interface, served, 'functions')
    for call in served:
        for form in call.forms:
            print(prototype(call, form, after=';'))


def print_refused(tables):
    (interface, calls), = tables
    print(banner('refused by the %s\'s facade, in strcmp() order.' % interface.word))
    print('#pragma once\n')
    names = sorted(form.symbol for call in calls if call.work == 'refused' and not call.refused_in_place()
                   for form in call.forms)
    print_list('TS_%s_REFUSED' % interface.library, ['X(%s)' % name for name in names])


def work_of(call, form):
    """The expression that serves a form of a call."""
    work, names = call.work, call.names()
    if re.fullmatch(r'\w+', work):
        work += '(...)'
    own = form.suffix != '' or 'spt' in call.flags
    if own and 'stream' in names and '@' not in work:
        names = ['per_thread(stream)' if name == 'stream' else name for name in names]
    for word, other, usual in (('@own', 'true', 'false'), ('@stream', 'TS_CU_STREAM_PER_THREAD', 'NULL'),
                               ('@form', form.suffix, '')):
        work = re.sub(word + r'\b', other if own else usual, work)
    work = work.replace('@name', '"%s"' % form.symbol)
    return re.sub(r'\.\.\.(, )?', lambda match: ', '.join(names) + (match[1] or '' if names else ''), work)


def print_facade_function(interface, call, form):
    print('\n%s\n{' % prototype(call, form, 'API '))
    params = '&params' if call.arguments else 'NULL'
    if call.arguments and 'local' in call.flags:
        print('\tstruct {\n%s' % '\n'.join('\t\t%s;' % text for text, _ in call.arguments))
        print('%s\n' % fill_initializer('} params =', call.names(), ';', 1))
    elif call.arguments:
        print('%s\n' % fill_initializer('%s params =' % call.structure(), call.names(), ';', 1))
    kernel = call.values.get('kernel')
    if interface.library == 'CU':
        macro = 'CALL_ANYTIME' if 'anytime' in call.flags else 'CALL_NAMED' if kernel else 'CALL'
        parts = [form.callback, params] + (['function_name(%s)' % kernel] if kernel else [])
    else:
        macro = 'RT_NAMED' if kernel else 'RT'
        parts = [form.callback, '"%s"' % form.symbol, params] + (['symbol_name(%s)' % kernel] if kernel else [])
    print('%s\n}' % fill('return %s(%s, %s);' % (macro, ', '.join(parts), work_of(call, form)), 1))


def print_hip_function(call):
    """What the table's place holds, unless it is written by hand, and the exported function, which calls by the table."""
    form, names, result = call.forms[0], ', '.join(call.names()), call.result()
    arguments = ', '.join(text for text, _ in call.arguments) or 'void'
    if call.served() or call.refused_in_place():
        work = 'REFUSED("%s")' % call.name if call.refused_in_place() else work_of(call, form)
        if form.number is not None and 'returns' not in call.values:
            work = 'HIP(%s, %d, %s)' % (call.name, form.number, work)
        print('\n%s\n{' % fill('%simpl_%s(%s)' % (result, call.name, arguments), 0))
        print('%s\n}' % fill('%s%s;' % ('' if result == 'void ' else 'return ', work), 1))
    print('\n%s\n{' % prototype(call, form, 'API '))
    called = 'impl_' + call.name
    for word, (place, _) in call.slots.items():
        called = 'next'
        print(fill('%s(*next)(%s) = %s(%d);' % (result, call.types(), PLACES[word], place), 1) + '\n')
    print('\t%s%s(%s);\n}' % ('' if result == 'void ' else 'return ', called, names))


def print_facade(tables, section):
    (interface, calls), = tables
    served = [call for call in calls if call.section == section and
              (call.served() or call.refused_in_place() or interface.hip and call.work == 'hand')]
    if not served:
        raise Bad('no call is served in section [%s]' % section)
    print(banner('for the file with the functions that these call.'))
    for call in served:
        if interface.hip:
            print_hip_function(call)
            continue
        for form in call.forms:
            print_facade_function(interface, call, form)


def amounts(call):
    """The arguments that are 0 where a call has nothing to do on the device."""
    kind, names = access(call)
    return names[4:6] if kind == 'copy2d' else names[2:4] if kind == 'set2d' else names[-1:]


def effect_fields(call, form):
    """The initializers of struct effect, inject/cuda/call-table.c."""
    at = 'AT(%s, ' % call.structure()[len('struct '):]
    fields, effect = [], call.values.get('effect')
    if effect:
        fields.append('.kind = EFFECT_' + effect.replace('-', '_').upper())
        objects = {'stream': 'stream', 'event': 'object', 'graph_exec': 'object'}
        fields += ['.%s = %s%s)' % (objects[name], at, name) for name in EFFECTS[effect]]
        if not EFFECTS[effect]:
            fields.append('.stream = 1')
        if effect in ('record', 'wait', 'create-stream'):
            fields += ['.%s = %s%s)' % (name, at, name) for name in ('flags', 'priority') if name in call.names()]
        if form.suffix or 'spt' in call.flags:
            fields.append('.per_thread = true')
    if 'certain' in call.flags:
        fields.append('.amounts = {%s}' % ', '.join('%s%s)' % (at, name.split('*')[0]) for name in amounts(call)))
        if 'kind' in call.names():
            fields.append('.direction = %skind)' % at)
    if 'quiet' in call.flags:
        fields.append('.quiet = true')
    return fields


def print_effects(tables):
    print(banner('what calls do, for inject/calls/call-table.c.'))
    for interface, calls in tables:
        print_sparse(interface, calls, 'effect', interface.word + '_effects', effect_fields)


def print_sparse(interface, calls, structure, name, fields_of):
    """A table of the calls that have such fields, and the place in it by id. The first entry is of all other calls."""
    rows = [(form, fields) for call in calls for form in call.ids for fields in [fields_of(call, form)] if fields]
    if len(rows) > 255:
        raise Bad('%s: too many calls for a byte' % name)
    print('\nstatic const struct %s %s[] = {\n\t{0},' % (structure, name))
    for form, fields in rows:
        print('\t/* %s */\n\t{\n%s\n\t},' % (form.callback, fill(', '.join(fields) + ',', 2)))
    print('};\n\nstatic const uint8_t %s_of[%s] = {' % (name, interface.size()))
    print('\n'.join('\t[%s%s] = %d,' % (interface.enum, form.callback, index + 1) for index, (form, _) in enumerate(rows)) + '\n};')


PREFIXES = {'driver': 'cu', 'runtime': 'cuda', 'hip': 'hip'}


def known_names(interface, calls):
    """(id, name) of the calls that the shim watches, by id, then (0, name) of the functions that it stands before and does not watch."""
    watched = sorted((form.number, form.symbol) for call in calls for form in call.ids
                     if call.kind not in UNWATCHED and 'quiet' not in call.flags)
    known = {name for _, name in watched}
    others = [(0, call.name) for call in symbols(calls) if call.name not in known] if interface.hip else []
    return [(number, name[len(PREFIXES[interface.word]):]) for number, name in watched + others]


def print_call_names(tables):
    print(banner('names of the calls that the shim watches, for inject/calls/call-names.c.'))
    for interface, calls in tables:
        rows = known_names(interface, calls)
        print('\nstatic const char %s_names[] =\n%s;' % (interface.word, '\n'.join('\t"%s\\0"' % name for _, name in rows)))
        print('\nstatic const uint16_t %s_ids[] = {\n%s\n};' % (
            interface.word, fill(', '.join(str(number) for number, _ in rows if number), 1)))


def access(call):
    kind, names = re.fullmatch(r'(\w+)\(([^()]*)\)', call.values['memory']).groups()
    return kind, names.split(',')


def access_result(call):
    """The expression of inject/cuda/access.c that makes an access of a call's arguments p."""
    kind, names = access(call)

    def value(name):
        return name if name == 'NULL' else 'p->' + name

    def at(name):
        return 'address(p->%s)' % name if '*' in call.declaration(name) else 'p->' + name

    def extent(pitch, width, height):
        return 'extent(p->%s, p->%s, p->%s)' % (pitch, width, height)

    if kind == 'copy':
        dst, src, n = names
        return 'copy(ret, %s, p->%s, %s, p->%s)' % (at(dst), n, at(src), n)
    if kind == 'copy2d':
        dst, dpitch, src, spitch, width, height = names
        return 'copy(ret, %s, %s, %s, %s)' % (at(dst), extent(dpitch, width, height), at(src),
                                              extent(spitch, width, height))
    if kind == 'set':
        n, _, element = names[1].partition('*')
        return 'set(ret, %s, %s)' % (at(names[0]), 'elements(p->%s, %s)' % (n, element) if element else 'p->' + n)
    if kind == 'set2d':
        return 'set(ret, %s, %s)' % (at(names[0]), extent(*names[1:]))
    if kind == 'free':
        return 'freed(ret, %s)' % at(names[0])
    return 'asked(ret, TS_ACCESS_ALLOCATED%s, %s, p->%s)' % (
        '' if kind == 'alloc' else '_' + kind.upper(), value(names[0]), names[1])


def print_accesses(tables):
    print(banner('the memory of calls, for inject/cuda/access.c.'))
    for interface, calls in tables:
        for name, allocates in (('access', False), ('alloc', True)):
            print('\nstatic bool %s_%s(uint32_t cbid, const void *params, struct ts_access *ret)\n{\n\tswitch (cbid) {' %
                  (interface.word, name))
            for call in calls:
                if 'memory' not in call.values or (access(call)[0] in ('alloc', 'pinned', 'managed')) != allocates:
                    continue
                print('\n'.join('\tcase %s%s:' % (interface.enum, form.callback) for form in call.ids) + ' {')
                print('\t\tconst %s *p = params;\n' % call.structure())
                print(fill('return %s;' % access_result(call), 2) + '\n\t}')
            print('\tdefault:\n\t\treturn false;\n\t}\n}')


def print_capture(tables):
    (_, calls), = tables
    print(banner('how the capture treats calls, by name.'))
    print('#pragma once')
    lists = [('%s_CALLS' % mode.upper(), [call for call in calls if call.values.get('capture') == mode])
             for mode in CAPTURES]
    lists += [(flag.upper(), [call for call in calls if flag in call.flags]) for flag in ('launches', 'waits')]
    for name, chosen in lists:
        print('\n#define TS_CAPTURE_%s(X) \\' % name)
        print(' \\\n'.join('\tX(%s)' % form.callback for call in chosen for form in call.ids))


def argument_type(declaration):
    return re.sub(r' ?\b\w+$', '', declaration)


def converted(wanted, call, name):
    """An argument of a HIP call, or a number, as an argument of the driver's type."""
    if name.isdigit():
        return name
    if wanted == argument_type(call.declaration(name)):
        return 'p->' + name
    return '(%s)%sp->%s' % (wanted, '(uintptr_t)' if '*' in wanted + call.declaration(name) else '', name)


def print_hip_capture(tables):
    (driver, driver_calls), (interface, calls) = tables
    forms = {form.callback: (call, form) for call in driver_calls for form in call.ids}
    print(banner('how the capture treats calls of HIP.'))
    print('#pragma once')
    taken = [call for call in calls if '(' in call.values.get('capture', '')]
    for mode in CAPTURES:
        chosen = [call.name for call in calls if call.values.get('capture') == mode]
        print('\n#define TS_HIP_CAPTURE_%s_CALLS(X) \\' % mode.upper())
        print(' \\\n'.join('\tX(%s)' % name for name in chosen))
    print("""
/* Returns the driver call that a call of HIP is captured as; 0: none. */
static uint32_t driver_call_of(uint32_t id)
{
	switch (id) {""")
    for call in taken:
        print('\tcase %s%s:\n\t\treturn %s%s;' % (interface.enum, call.name, driver.enum, call.values['capture'].partition('(')[0]))
    print("""\tdefault:
		return 0;
	}
}

/* Calls `use` with that driver call and its arguments. Returns false if there is none. */
static bool as_driver_call(uint32_t id, const void *params,
			   void (*use)(void *userdata, uint32_t cbid, const void *as),
			   void *userdata)
{
	switch (id) {""")
    for call in taken:
        name, _, names = call.values['capture'][:-1].partition('(')
        other, form = forms[name]
        names = names.split(',') if names else []
        if len(names) != len(other.arguments):
            raise Bad('%s: %s takes %d arguments' % (call.place, name, len(other.arguments)))
        print('\tcase %s%s: {' % (interface.enum, call.name))
        if names:
            items = [converted(argument_type(text), call, value) for (text, _), value in zip(other.arguments, names)]
            print('\t\tconst %s *p = params;' % call.structure())
            print(fill_initializer('const %s as =' % other.structure(), items, ';', 2) + '\n')
        print('\t\tuse(userdata, %s%s, %s);\n\t\treturn true;\n\t}' % (driver.enum, form.callback, '&as' if names else 'NULL'))
    print('\tdefault:\n\t\treturn false;\n\t}\n}')


def print_hip_calls(tables):
    (interface, calls), = tables
    print(banner('the calls of HIP that TraceSmith knows, by name, number and class.'))
    print("""/*
 * X(name, id, kind of call): the classes are those of cupti_cbid.h. The numbers are TraceSmith's
 * own and never change; HIP's headers renumber their calls with each version.
 */
#pragma once

#include "proto/abi/vendor/cupti_cbid.h"
""")
    rows = sorted((form.number, call.name, call.kind) for call in calls for form in call.ids)
    print_list('TS_HIP_CALLS', ['X(%s, %d, %s)' % (name, number, kind) for number, name, kind in rows])
    print("""
enum ts_hip_call {
	TS_HIP_CALL_INVALID = 0,
#define TS_HIP_CALL_OF_(name, id, kind) TS_HIP_CALL_##name = id,
	TS_HIP_CALLS(TS_HIP_CALL_OF_)
#undef TS_HIP_CALL_OF_
};

/* One past the highest id, for tables indexed by id. */
#define %s %d""" % (interface.size(), rows[-1][0] + 1))


def letter(declaration):
    """The kind of an argument for inject/hip/hip-wrappers.c."""
    kind = argument_type(declaration).strip()
    if '*' in kind:
        return 'p'
    if kind not in ARGUMENTS:
        raise Bad('%s: the wrappers pass no argument of this type' % declaration)
    return ARGUMENTS[kind]


def moves(signature, processor):
    """The moves of words that put arguments into their structure, by the processor's calling convention; the words on the stack; the
    structure's bytes. A move has the word, its place, and 0, or the number of the word where an address in the first word points."""
    n_registers, stack_at = CONVENTIONS[processor]
    result, registers, stack, at = [], 0, 0, 0
    for text in signature:
        n_bytes, align = LETTERS[text]
        n = (n_bytes + 7) // 8
        # A larger one lies elsewhere: its word is the address.
        elsewhere = processor == '__aarch64__' and n > 2
        n_words = 1 if elsewhere else n
        if n_words <= 2 and registers + n_words <= n_registers:
            word = registers
            registers += n_words
        else:
            word = stack_at + stack
            stack += n_words
            if processor == '__aarch64__':
                # No later argument gets a register.
                registers = n_registers
        at = (at + align - 1) // align * align
        result += [(word, at + 8 * i, i + 1) if elsewhere else (word + i, at + 8 * i, 0) for i in range(n)]
        at += n_bytes
    return result, stack, at


def print_wrappers(tables):
    (_, calls), = tables
    wrapped = [call for call in by_slot(calls) if call.wrapped()]
    signature_of = {call.name: ''.join(letter(text) for text, _ in call.arguments) for call in wrapped}
    signatures = list(dict.fromkeys(signature_of.values()))
    print(banner('the wrappers of the dispatch table\'s functions, for inject/hip/hip-wrappers.c.'))
    print('\n#define N_WRAPPERS %d' % len(wrapped))
    for processor in CONVENTIONS:
        made = [moves(signature, processor) for signature in signatures]
        print('\n#if defined(%s)\nstatic const struct move moves[] = {' % processor)
        for signature, (words, _, _) in zip(signatures, made):
            if words:
                print('\t%s /* %s */' % (' '.join('{%d, %d, %d},' % move for move in words), signature))
        print('};\n\nstatic const struct signature signatures[] = {')
        at = 0
        for words, stack, _ in made:
            print('\t{%d, %d, %d},' % (at, len(words), stack))
            at += len(words)
        print('};\n#endif')
    print('\n/* By index of the wrapper. */\nstatic const struct wrapped wrappers[N_WRAPPERS] = {')
    for call in wrapped:
        print('\t{%d, %d, %d}, /* %s */' % (call.slots['slot'][0], call.ids[0].number, signatures.index(signature_of[call.name]), call.name))
    print('};\n\n/* X(name, bytes of its arguments) */')
    print_list('WRAPPED_CALLS', ['X(%s, %d)' % (call.name, moves(signature_of[call.name], '__x86_64__')[2]) for call in wrapped
                                 if call.arguments])
    direct = [call for call in wrapped if call.name in DIRECT]
    for call in direct:
        print('\n%s\n{' % fill('static int32_t direct_%s(%s)' % (call.name, ', '.join(text for text, _ in call.arguments)), 0))
        print('%s' % fill('struct %s params = {%s};' % (call.structure().split()[-1], ', '.join(call.names())), 1))
        print(fill('int32_t (*next)(%s);' % call.types(), 1))
        print('\tstruct ts_hip_frame frame;\n\tint32_t result;\n\tbool entered;\n')
        print('\t*(void **)&next = ts_loaded.hip.next[%d];' % call.slots['slot'][0])
        print('\tentered = ts_hip_enter(&frame, %d, &params);' % call.ids[0].number)
        print(fill('result = next(%s);' % ', '.join('params.' + name for name in call.names()), 1))
        print('\tif (entered)\n\t\tts_hip_leave(&frame, result);\n\treturn result;\n}')
    print('\n/* X(name, id) */')
    print_list('DIRECT_CALLS', ['X(%s, %d)' % (call.name, call.ids[0].number) for call in direct])


def print_wrapper_checks(tables):
    """Calls each wrapper with arguments that it and the runtime's function must get."""
    (_, calls), = tables
    wrapped = [call for call in by_slot(calls) if call.wrapped()]
    print(banner('calls of all wrappers, for test/unit/inject/hip/test-hip-wrappers.c.'))
    for call in wrapped:
        names, head = call.names(), ', '.join(text for text, _ in call.arguments) or 'void'
        print('\n%s\n{' % fill('static int32_t next_%s(%s)' % (call.name, head), 0))
        if names:
            print('\tconst %s *wanted = expected();\n' % call.structure())
        for name in names:
            print('\tsame(&%s, &wanted->%s, sizeof(wanted->%s));' % (name, name, name))
        print('\treturn %d;\n}' % call.ids[0].number)
        print('\nstatic int32_t call_%s(void *wrapper)\n{' % call.name)
        if names:
            print('\tconst %s *wanted = expected();' % call.structure())
        print(fill('int32_t (*function)(%s) = wrapper;' % call.types(), 1))
        print('\n%s\n}' % fill('return function(%s);' % ', '.join('wanted->' + name for name in names), 1))
        print('\nstatic void params_%s(const void *params)\n{' % call.name)
        if names:
            print('\tconst %s *wanted = expected(), *got = params;\n' % call.structure())
        for name in names:
            print('\tsame(&got->%s, &wanted->%s, sizeof(wanted->%s));' % (name, name, name))
        print('%s}' % ('' if names else '\tsame(&params, &(const void *){NULL}, sizeof(params));\n'))
    print('\nstatic const struct checked checked[] = {')
    print('\n'.join('\t{"%s", %d, %d, (void *)next_%s, call_%s, params_%s},' % (
        call.name, call.slots['slot'][0], call.ids[0].number, call.name, call.name, call.name) for call in wrapped) + '\n};')


def symbols(calls):
    """The wrapped calls that libamdhip64 exports."""
    return [call for call in by_slot(calls) if call.wrapped() and 'node' in call.values]


def print_symbols(tables):
    (interface, calls), = tables
    chosen = symbols(calls)
    nodes = sorted({call.values['node'] for call in chosen}, key=release_key)
    places, at = {}, 0
    for _, name in known_names(interface, calls):
        places[PREFIXES['hip'] + name] = at
        at += len(name) + 1
    print(banner('the functions that stand before those of libamdhip64, for inject/hip/hip-symbols.c.'))
    print('\nstatic const char symbol_nodes[][8] = {%s};' % ', '.join('"hip_%s"' % node for node in nodes))
    print('\nstatic const struct symbol symbols[] = {')
    for call in chosen:
        print('\t{%d, %d, %d}, /* %s */' % (places[call.name], call.slots['slot'][0], nodes.index(call.values['node']), call.name))
    print('};\n\n/* X(name, node, index) */')
    print_list('TS_HIP_SYMBOLS', ['X(%s, %s, %d)' % (call.name, call.values['node'], index) for index, call in enumerate(chosen)])


def print_symbol_nodes(tables):
    """The functions get their nodes by .symver. The first node has no function: see hip-symbols.c."""
    (_, calls), = tables
    print('# Made by proto/abi/vendor/calls.py: version nodes of the functions that stand before libamdhip64\'s.')
    print('tsinject {\nlocal:\n\tts_hip_symbol_*;\n};')
    for node in sorted({call.values['node'] for call in symbols(calls)}, key=release_key):
        print('hip_%s {\n};' % node)


def print_hip_arguments(tables):
    """Where a call's arguments are that its device rows need."""
    (interface, calls), = tables
    print(banner('places of arguments of HIP\'s calls, for inject/hip/hip-arguments.c.'))

    def fields_of(call, form):
        names, fields = call.names(), []
        at = 'AT(%s, ' % call.structure()[len('struct '):]
        if 'stream' in names and call.declaration('stream').count('*') == 1:
            fields.append('.stream = %sstream)' % at)
            if call.kind in ('LAUNCH', 'GRAPH_LAUNCH') or 'Async' in call.name or 'WithStream' in call.name:
                fields.append('.is_async = true')
        if call.kind == 'MEMCPY' and 'kind' in names:
            fields.append('.kind = %skind)' % at)
        if call.kind == 'MEMSET' and 'value' in names:
            width = re.match(r'u?int(\d+)_t', call.declaration('value')).group(1)
            fields += ['.value = %svalue)' % at, '.value_bytes = %d' % (int(width) // 8)]
        if 'spt' in call.flags:
            fields.append('.per_thread = true')
        return fields
    print_sparse(interface, calls, 'arguments', 'hip_arguments', fields_of)


def print_slots(tables):
    (_, calls), = tables
    print(banner('the places of HIP\'s dispatch tables.'))
    print("""/*
 * X(place, name, kind): kind is SERVED, REFUSED or NONE: what the virtual GPU does with the call. In
 * the lists of steps X(step, end): a table of this step's version has the places below end.
 */
#pragma once""")
    for word, name in (('slot', 'TS_HIP_SLOT'), ('compiler', 'TS_HIP_COMPILER_SLOT')):
        placed = by_slot(calls, word)
        print()
        print_list(name + 'S', ['X(%d, %s, %s)' % (call.slots[word][0], call.name,
                                                   {None: 'NONE', 'refused': 'REFUSED'}.get(call.work, 'SERVED'))
                                for call in placed])
        ends = {step: place + 1 for place, step in (call.slots[word] for call in placed)}
        print()
        print_list(name + '_STEPS', ['X(%d, %d)' % item for item in sorted(ends.items())])


def coverage_of(interface, calls):
    """(name, state, release that has it first) of each entry point. The release is known of HIP alone."""
    if interface.hip:
        return [(call.name, 'INTERCEPTED' if call.recorded() else 'PASSED', call.values.get('node', '')) for call in calls]
    rows = [(form.number, form.callback, 'PASSED' if call.kind in UNWATCHED or 'quiet' in call.flags else 'INTERCEPTED')
            for call in calls for form in call.ids]
    known = {number for number, _, _ in rows}
    rows += [(number, 'callback id %d' % number, 'UNKNOWN') for number in range(1, max(known)) if number not in known]
    return [(name, state, '') for _, name, state in sorted(rows)]


def print_coverage(tables):
    print(banner('the entry points of the vendors\' interfaces, for `tsctl devices --coverage`.'))
    print("""/*
 * X(name, state, release): state is INTERCEPTED (recorded), PASSED (known, and not recorded) or
 * UNKNOWN (a callback id below the highest one that the table has no name for). release: the first with the
 * entry point; \"\": not known.
 */
#pragma once""")
    for interface, calls in tables:
        print()
        print_list('TS_COVERAGE_' + {'driver': 'CUDA_DRIVER', 'runtime': 'CUDA_RUNTIME', 'hip': 'HIP'}[interface.word],
                   ['X("%s", %s, "%s")' % row for row in coverage_of(interface, calls)])


def release_key(release):
    return [int(part) for part in release.split('.')]


def exported_calls(calls, release):
    """The calls that the facade of a release exports."""
    def has(call, key, default):
        return release_key(call.values.get(key, default)) <= release_key(release)
    return [call for call in calls if call.work and 'node' in call.values and has(call, 'node', '') and
            has(call, 'since', '0.0') and not has(call, 'until', '99.0')]


def print_nodes(tables, release):
    """The release may end with `-untraced`: without the function by which it reports the GPU's work."""
    (_, calls), = tables
    print('# Made by proto/abi/vendor/calls.py: what the facade of libamdhip64 %s exports, by version node.' % release)
    number, _, untraced = release.partition('-')
    exported = [call for call in exported_calls(calls, number) if not untraced or call.name != 'hipRegisterTracerCallback']
    last = ''
    for node in sorted({call.values['node'] for call in exported}, key=release_key):
        print('hip_%s {\nglobal:' % node)
        print('\n'.join('\t%s;' % call.name for call in exported if call.values['node'] == node))
        print('%s}%s;\n' % ('' if last else 'local:\n\t*;\n', last and ' hip_' + last))
        last = node


def main():
    command, paths = sys.argv[1], sys.argv[2:]
    section = [paths.pop()] if command in ('facade', 'nodes') else []
    tables = [read_table(path) for path in paths]
    if command != 'check':
        {'ids': print_ids, 'params': print_params, 'types': print_types, 'functions': print_functions, 'facade': print_facade,
         'refused': print_refused, 'effects': print_effects, 'call-names': print_call_names, 'accesses': print_accesses,
         'capture': print_capture, 'hip-capture': print_hip_capture, 'hip-calls': print_hip_calls, 'wrappers': print_wrappers,
         'wrapper-checks': print_wrapper_checks, 'slots': print_slots,
         'coverage': print_coverage,
         'nodes': print_nodes, 'symbols': print_symbols, 'symbol-nodes': print_symbol_nodes,
         'hip-arguments': print_hip_arguments}[command](tables, *section)
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Bad as bad:
        print(bad, file=sys.stderr)
        sys.exit(2)
