# SPDX-License-Identifier: Apache-2.0
"""Results of programs: kept as JSON in the work folder, a file for each program, printed as the table RESULTS.md."""
import json
import os
import re

COLUMNS = ('program', 'result', 's', 'GPU rows', 'captured', 'replay', 'check', 'remarks')


def place(work, program):
    return os.path.join(work, program.name, 'result.json')


def load(work, program):
    """A program's result, or None if it never ran."""
    try:
        with open(place(work, program), encoding='utf-8') as stream:
            return json.load(stream)
    except FileNotFoundError:
        return None


def save(work, program, result):
    os.makedirs(os.path.dirname(place(work, program)), exist_ok=True)
    with open(place(work, program), 'w', encoding='utf-8') as stream:
        json.dump(result, stream, indent=1, sort_keys=True)


def size(n_bytes):
    for unit in ('B', 'KiB', 'MiB'):
        if n_bytes < 1024:
            return '%.0f %s' % (n_bytes, unit)
        n_bytes /= 1024
    return '%.1f GiB' % n_bytes


def device_rows(result):
    counts = result.get('counts', {})
    return sum(counts.get(name, 0) for name in ('kernel', 'memcpy', 'memset'))


def outcome(result):
    """The word for the program's own result."""
    return 'not run' if 'skip' in result else result.get('run', 'UNEXPECTED')


def checked(result):
    if 'check' not in result:
        return ''
    found = '%d found' % len(result['findings']) if result['findings'] else 'clean'
    if result.get('unlooked'):
        found += ', %d accesses not looked at' % result['unlooked']
    if result.get('time_is_up'):
        return found + ', time limit'
    return found + (', unfinished' if result['check'] == 'unfinished' else '')


def summary(result):
    """One line for the terminal."""
    said = [outcome(result)]
    if 'record' in result:
        said.append('%d GPU rows' % device_rows(result))
    if 'replay' in result:
        said.append('replay ' + result['replay'])
    said.extend(filter(None, [checked(result)]))
    if 'schedules' in result:
        said.append('schedules ' + result['schedules'])
    if 'run_s' in result:
        said.append('%.1f s' % result['run_s'])
    return ', '.join(said)


def remarks(program, result):
    said = ['**%s**' % sentence for sentence in result['unexpected']]
    said.extend(filter(None, [result.get('skip'), result.get('said'), program.note]))
    if program.smaller:
        said.append('smaller: ' + ', '.join('`%s`' % new.strip() for _, new in program.smaller))
    if program.differs:
        said.append('replay: ' + program.differs)
    if 'replay_said' in result and program.differs:
        said.append('it said: ' + result['replay_said'])
    said.extend('%s in `%s`: %s' % (kind, kernel, judgement) for kind, kernel, judgement in program.finds)
    if 'schedules' in result:
        said.append('%d schedules: %s' % (result['schedules_done'], result['schedules']))
    # Paths of the machine that ran the programs are of no use to others.
    return re.sub(r'/(?:[\w.+-]+/)+([\w.+-]+)', r'\1', '; '.join(said)).replace('|', '\\|').replace('\n', ' ')


def row(program, result):
    return (program.short, outcome(result), str(result.get('run_s', '')), str(device_rows(result) or ''),
            size(result['captured_bytes']) if 'captured_bytes' in result else '', result.get('replay', ''), checked(result),
            remarks(program, result))


def write(path, work, projects):
    """Writes the table of every program that has a result."""
    lines = ['# Results of test/peers', '', '`run.py --table` writes this file; README.md explains the columns.']
    for project in projects:
        results = {program: load(work, program) for program in project.programs}
        results = {program: result for program, result in results.items() if result}
        if not results:
            continue
        words = [outcome(result) for result in results.values()]
        counts = ', '.join('%d %s' % (words.count(word), word) for word in sorted(set(words)))
        lines += ['', '## %s' % project.name, '', '%s at `%s` (%s): %s.' % (project.url, project.revision[:12], project.licence, counts), '',
                  '| ' + ' | '.join(COLUMNS) + ' |', '|' + '---|' * len(COLUMNS)]
        lines += ['| ' + ' | '.join(row(program, result)) + ' |' for program, result in results.items()]
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write('\n'.join(lines) + '\n')
