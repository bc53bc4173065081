#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of the crate that repeat facts of the tree: generate.py [--check].

src/rows.rs     from proto/abi/rows/rows.table, by proto/abi/rows/make.py
src/answers.rs, src/questions.rs
                from proto/rpc/tracesmith.proto: the messages of answers and questions
src/values.rs   from the headers: the enums and flags of the rows' columns

The files are committed, because users of the crate have neither Python nor the tree. With --check, prints the names of the files
that differ, and returns 1 if there is one.
"""
import os
import re
import subprocess
import sys
import textwrap

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
LINE = 100
# The messages that the crate returns; the messages that they contain follow.
ANSWERS = ('TraceInfo', 'AnalysisReport', 'GapsReport', 'StateReport', 'TimelineReport', 'TraceStats', 'MemoryReport', 'GraphList', 'DiffReport',
           'ReplayAnswer', 'SessionList', 'Status')
# Questions by the member of Query's oneof, with the type of the answer. "rows" has an object per line, of any row's message.
QUESTIONS = {'State': 'StateReport', 'Timeline': 'TimelineReport', 'Rows': 'Vec<Value>', 'Stats': 'TraceStats', 'Memory': 'MemoryReport',
             'Graph': 'GraphList', 'Replay': 'Vec<ReplayAnswer>', 'Gaps': 'GapsReport', 'Analyze': 'AnalysisReport', 'Info': 'TraceInfo'}
HEADERS = ('proto/abi/clock.h', 'proto/abi/record.h', 'proto/abi/session.h', 'sbt/schema.h')
SCALARS = {'bool': 'bool', 'uint32': 'u32', 'uint64': 'u64', 'sint32': 'i32', 'sint64': 'i64', 'double': 'f64', 'string': 'String',
           'bytes': 'String'}
KEYWORDS = {'as', 'async', 'box', 'break', 'const', 'crate', 'do', 'dyn', 'else', 'enum', 'extern', 'final', 'fn', 'for', 'if', 'impl', 'in', 'let',
            'loop', 'macro', 'match', 'mod', 'move', 'mut', 'override', 'priv', 'pub', 'ref', 'return', 'self', 'static', 'struct', 'super',
            'trait', 'try', 'type', 'typeof', 'unsafe', 'use', 'virtual', 'where', 'while', 'yield'}

ANSWERS_HEAD = '''// SPDX-License-Identifier: Apache-2.0
//! Answers: the messages of `proto/rpc/tracesmith.proto`.
//!
//! The fields are the keys of `tsctl COMMAND --json`. A field that is not set is None. Times are in
//! nanoseconds, of CLOCK_MONOTONIC. `tools/rust/generate.py` makes this file, and a test compares.

use std::collections::BTreeMap;

use crate::ask::answer;
'''
QUESTIONS_HEAD = '''// SPDX-License-Identifier: Apache-2.0
//! Questions: the members of message `Query` in `proto/rpc/tracesmith.proto`.
//!
//! A field that is not set has its default. [`Trace::ask`](crate::Trace::ask) asks a question.
//! `tools/rust/generate.py` makes this file, and a test compares.

use crate::answers::*;
use crate::ask::{diff_question, part, question};
use crate::json::Value;
'''
VALUES_HEAD = '''// SPDX-License-Identifier: Apache-2.0
//! Values of columns: the enums and the flags that `proto/abi/rows/rows.table` names. A module is an enum or a
//! set of flags, its constants have the names of C without the common prefix.
//!
//! `tools/rust/generate.py` makes this file, and a test compares.
'''


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as stream:
        return stream.read()


def escaped(text):
    """Text that rustdoc shows as it is."""
    return ''.join('\\' + c if c in '[]<>' else c for c in text)


def doc_lines(text, indent):
    lines = textwrap.wrap(text, LINE - len(indent) - 4, break_on_hyphens=False, break_long_words=False)
    return [indent + '/// ' + line for line in lines]


def sentence(comment, name):
    """A comment as a sentence; without a comment the name in words."""
    text = escaped(comment.strip())
    if not text:
        return 'The key `%s`.' % name
    # The word before a colon is a value of a key.
    if text[0].islower() and not re.match(r'\w*(_\w+|\w:)', text.split()[0]):
        text = text[0].upper() + text[1:]
    return text if text[-1] in '.?!:' else text + '.'


class Message:
    def __init__(self, name, comment):
        self.name, self.comment, self.fields, self.nested = name, comment, [], []


def parse_proto(text):
    """{name: Message}, nested ones by OUTER.INNER; names of enums."""
    messages, enums, stack, pending = {}, set(), [], []
    for line in text.split('\n'):
        code, _, comment = line.partition('//')
        code, comment = code.strip(), comment.strip()
        if not code:
            pending = pending + [comment] if comment else []
            continue
        opened = re.match(r'(message|enum|oneof) (\w+) \{$', code)
        field = re.match(r'(?:(optional|repeated) )?(?:map<string, (\w+)>|([\w.]+)) (\w+) = \d+;$', code)
        if opened:
            kind, name = opened.groups()
            if kind == 'message':
                path = '.'.join([each for each in stack if each[0].isupper()] + [name])
                messages[path] = Message(path, ' '.join(pending))
                stack.append(name)
            else:
                enums.add(name)
                stack.append(kind)
        elif code == '}':
            stack.pop()
        elif field and stack and stack[-1][0].isupper():
            label, mapped, kind, name = field.groups()
            shown = ' '.join(pending + [comment]).strip()
            messages['.'.join(stack)].fields.append((label, mapped, kind, name, shown))
        pending = []
    return messages, enums


def rust_type(kind, enums):
    return SCALARS.get(kind) or ('String' if kind in enums else kind.split('.')[-1])


def field_lines(fields, enums):
    lines = []
    for label, mapped, kind, name, comment in fields:
        if mapped:
            whole = 'BTreeMap<String, %s>' % rust_type(mapped, enums)
        else:
            whole = ('Vec<%s>' if label == 'repeated' else 'Option<%s>') % rust_type(kind, enums)
        lines += doc_lines(sentence(comment, name), '        ')
        lines.append('        %s: %s,' % (name + '_' * (name in KEYWORDS), whole))
    return lines


def reachable(messages, names):
    """The messages that these contain, in the file's order."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if name in messages and name not in found:
            found.add(name)
            left += [kind for _, _, kind, _, _ in messages[name].fields if kind]
    return [name for name in messages if name in found]


def answers():
    messages, enums = parse_proto(read('proto/rpc/tracesmith.proto'))
    lines = ANSWERS_HEAD.rstrip('\n').split('\n')
    for name in reachable(messages, ANSWERS):
        lines += ['', 'answer! {'] + doc_lines(sentence(messages[name].comment or 'The message `%s`.' % name, name), '    ')
        lines += ['    %s {' % name] + field_lines(messages[name].fields, enums) + ['    }', '}']
    return lines


def questions():
    messages, enums = parse_proto(read('proto/rpc/tracesmith.proto'))
    lines = QUESTIONS_HEAD.rstrip('\n').split('\n')
    for name in ('Moment', 'RowFilter', 'Query.Decisions'):
        used = name.split('.')[-1]
        lines += ['', 'part! {'] + doc_lines(sentence(messages[name].comment or 'The message `%s`.' % used, name), '    ')
        lines += ['    %s {' % used] + field_lines(messages[name].fields, enums) + ['    }', '}']
    for name, answer in QUESTIONS.items():
        message = messages['Query.' + name]
        kind = 'graph' if name == 'Graph' else 'lines' if answer.startswith('Vec<') else 'one'
        # The comment of Timeline is about the messages behind it.
        comment = '' if name == 'Timeline' else message.comment
        if {'from', 'to'} <= {field[3] for field in message.fields}:
            comment += ' Without `from` and `to`, it is about the whole trace.'
        lines += ['', 'question! {'] + doc_lines(('The question `%s`. %s' % (name.lower(), escaped(comment))).strip(), '    ')
        lines += ['    %s "%s" %s %s {' % (name, name.lower(), kind, answer)] + field_lines(message.fields, enums) + ['    }', '}']
    message = messages['DiffQuery']
    lines += ['', 'diff_question! {'] + doc_lines(sentence(message.comment, 'diff'), '    ')
    return lines + ['    Diff {'] + field_lines(message.fields, enums) + ['    }', '}']


def without_comments(text):
    return re.sub(r'/\*.*?\*/', lambda match: '\0' + ' '.join(re.sub(r'^\s*\*+', '', line).strip() for line in match.group(0)[2:-2].split('\n')).strip() + '\0',
                  text, flags=re.S)


def enum_lines(name, body, comment):
    """An enum's module: a constant for each value."""
    prefix, lines, number, before = None, [], -1, ''
    items = re.findall(r'\0([^\0]*)\0|(\w+)(?:\s*=\s*(\w+))?\s*,?', body)
    names = [item[1] for item in items if item[1] and not item[1].endswith('_COUNT')]
    prefix = os.path.commonprefix(names)
    prefix = prefix[:prefix.rfind('_') + 1] if len(names) > 1 else 'TS_'
    entries = []
    for text, item, value in items:
        if text:
            # A comment on the line of a value belongs to it, one on a line of its own to the next value.
            if entries and re.search(re.escape(entries[-1][0]) + r'[^\n\0]*,?[ \t]*\0' + re.escape(text), body):
                entries[-1][2] = text
            else:
                before = text
            continue
        number = int(value, 0) if value else number + 1
        if not item.endswith('_COUNT'):
            entries.append([item, number, before])
        before = ''
    module = name[len('ts_'):]
    lines += [''] + doc_lines(sentence(comment or 'Values of enum %s.' % name, name), '') + ['pub mod %s {' % module]
    for item, number, text in entries:
        lines += doc_lines(item + ': ' + escaped(text) + '.' * (text[-1] != '.') if text else item + '.', '    ')
        short = item[len(prefix):]
        lines.append('    pub const %s: u32 = %d;' % (short if not short[0].isdigit() else '_' + short, number))
    return lines + ['}']


def flag_lines():
    """The flags that the columns of rows.table refer to, as TS_JOB_*: a module for each prefix."""
    lines, headers = [], without_comments('\n'.join(map(read, HEADERS)))
    for prefix in sorted(set(re.findall(r'\b(TS_[A-Z_]+_)\*', read('proto/abi/rows/rows.table')))):
        found = re.findall(r'(?:\0([^\0]*)\0\n)?#define[ \t]+%s(\w+)[ \t\\\n]+\(?(\d+)u(?: << (\d+))?\)?[ \t]*(?:\0([^\0]*)\0)?\n' % prefix, headers)
        # The names of streams are values of another column.
        found = [each for each in found if not (prefix == 'TS_OPERATION_' and each[1].startswith('STREAM_'))]
        if not found:
            sys.exit('no header has flags %s*' % prefix)
        # A comment before the first flag is about all of them, unless it is "flags: the first one's", or only introduces them.
        is_own, shared = found[0][0].startswith('flags: '), found[0][0]
        shared = '' if is_own or re.search(r'flags:?$', shared) else shared
        lines += [''] + doc_lines('Flags %s\\*%s.' % (prefix, (': ' + escaped(shared).rstrip('.')) if shared else ''), '')
        lines.append('pub mod %s {' % (prefix[len('TS_'):].lower() + 'flags'))
        for i, (above, name, number, shift, beside) in enumerate(found):
            comment = re.sub('^flags: ', '', beside or (above if i or is_own else ''))
            lines += doc_lines('%s%s: %s' % (prefix, name, escaped(comment).rstrip('.') + '.') if comment else '%s%s.' % (prefix, name), '    ')
            lines.append('    pub const %s: u32 = %d;' % (name, int(number) << int(shift or 0)))
        lines.append('}')
    return lines


def values():
    lines = VALUES_HEAD.rstrip('\n').split('\n')
    # The enums that the columns of rows.table refer to.
    wanted = set(re.findall(r'enum (ts_\w+)', read('proto/abi/rows/rows.table'))) - {'ts_record_type', 'ts_role', 'ts_loss_reason'}
    for header in HEADERS:
        text = without_comments(read(header))
        for match in re.finditer(r'(?:\0([^\0]*)\0\n)?enum (ts_\w+) \{(.*?)\n\};', text, re.S):
            comment, name, body = match.groups()
            if name not in wanted:
                continue
            wanted.remove(name)
            lines += enum_lines(name, body, comment)
    lines += flag_lines()
    if wanted:
        sys.exit('no header has %s' % ', '.join(sorted(wanted)))
    return lines


def rows():
    make = os.path.join(ROOT, 'proto/abi/rows/make.py')
    made = subprocess.run([sys.executable, make, 'rust', os.path.join(ROOT, 'proto/abi/rows/rows.table')], stdout=subprocess.PIPE, check=True)
    return made.stdout.decode().rstrip('\n').split('\n')


def main():
    is_check, differs = sys.argv[1:] == ['--check'], []
    for name, maker in (('rows', rows), ('answers', answers), ('questions', questions), ('values', values)):
        path = os.path.join('tools/rust/src', name + '.rs')
        text = '\n'.join(maker()) + '\n'
        if is_check:
            if not os.path.exists(os.path.join(ROOT, path)) or read(path) != text:
                differs.append(path)
        else:
            with open(os.path.join(ROOT, path), 'w', encoding='utf-8') as stream:
                stream.write(text)
    for path in differs:
        print('%s differs from its source; to update it: python3 tools/rust/generate.py' % path)
    sys.exit(1 if differs else 0)


main()
