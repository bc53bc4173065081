# SPDX-License-Identifier: Apache-2.0
"""The steps of one program: build, run, record, capture, replay, check, schedules. Each compares what it sees with the list.

run() returns a result, which table.py stores and prints: a dict with a word for each step that was done, figures, and `unexpected`, a
list of sentences, empty if all is as the list expects.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

NVCC = 'nvcc -cudart shared -O2 -gencode arch=compute_90,code=compute_90 -Wno-deprecated-gpu-targets -diag-suppress 550,177'
BUILD_LIMIT = 900
REPLAY_LIMIT = 300


class Tools:
    """The build of TraceSmith under test and the folder for what the steps leave."""

    def __init__(self, build, work, rebuild, patience):
        self.tsctl = os.path.join(build, 'tools', 'tsctl', 'tsctl')
        self.vgpu = os.path.join(build, 'tools', 'vgpu')
        self.daemon = os.path.join(build, 'daemon', 'tracesmithd')
        self.build = build
        self.work = work
        self.rebuild = rebuild
        self.patience = patience
        self.prepared = set()


def execute(command, folder, environment, limit):
    """(status, output, seconds); the status is None if the command was not over in the limit. Its whole process group is killed then."""
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, shell=isinstance(command, str), start_new_session=True) as child:
        try:
            output, _ = child.communicate(timeout=limit)
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            status = None
    return status, output.decode('utf-8', 'replace'), time.monotonic() - begin


class Run:
    """One program's way through the steps."""

    def __init__(self, program, checkout, tools):
        self.program = program
        self.tools = tools
        self.source = os.path.join(checkout, program.folder)
        self.place = os.path.join(tools.work, program.name)
        self.folder = os.path.join(self.place, 'smaller') if program.smaller else self.source
        os.makedirs(self.place, exist_ok=True)
        self.limit = program.limit * tools.patience
        self.replay_limit = REPLAY_LIMIT * tools.patience
        self.result = {'unexpected': []}
        self.environment = {
            **os.environ, 'NVCC': os.environ.get('TS_NVCC', NVCC), 'CHECKOUT': checkout, 'WORK': os.path.join(tools.work, program.project.name),
            'OUT': os.path.join(self.place, 'program'), 'TRACESMITHD': tools.daemon, 'VGPU': tools.vgpu,
            'TSBUILD': tools.build, 'PEERS': os.path.dirname(os.path.abspath(__file__)), **program.environment,
        }

    def trace(self, step):
        return os.path.join(self.place, step + '.sbt')

    def unexpected(self, sentence, *arguments):
        self.result['unexpected'].append(sentence % arguments)

    def log(self, step, output):
        with open(os.path.join(self.place, step + '.log'), 'w', encoding='utf-8') as stream:
            stream.write(output)

    def make_smaller(self):
        """Copies the folder and makes the list's changes to its sources. True if each change had a place."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.source, self.folder, symlinks=True)
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names
                 if name.endswith(('.c', '.cc', '.cpp', '.cu', '.cuh', '.h', '.hpp'))]
        for old, new in self.program.smaller:
            found = False
            for path in paths:
                with open(path, encoding='utf-8', errors='surrogateescape', newline='') as stream:
                    text = stream.read()
                if old in text:
                    found = True
                    with open(path, 'w', encoding='utf-8', errors='surrogateescape', newline='') as stream:
                        stream.write(text.replace(old, new))
            if not found:
                self.unexpected('no source has "%s"', old)
        return not self.result['unexpected']

    def build(self):
        """True if there is a program to run."""
        project = self.program.project
        if project.prepare and project.name not in self.tools.prepared:
            status, output, _ = execute(project.prepare, self.environment['CHECKOUT'], self.environment, BUILD_LIMIT)
            self.log('prepare', output)
            if status != 0:
                self.unexpected('%s is not prepared: %s', project.name, output.strip().splitlines()[-1:])
                return False
            self.tools.prepared.add(project.name)
        if not self.program.build or (os.path.exists(self.environment['OUT']) and not self.tools.rebuild):
            return True
        if self.program.smaller and not self.make_smaller():
            return False
        status, output, _ = execute(self.program.build, self.folder, self.environment, BUILD_LIMIT)
        self.log('build', output)
        if status == 0:
            return True
        errors = [line for line in output.splitlines() if re.search('error|not found', line)] or output.splitlines()[-1:]
        self.unexpected('does not build: %s', errors[0] if errors else '')
        return False

    def judge(self, step, status, output):
        """True if the program computed what is right."""
        program = self.program
        if status is None:
            self.unexpected('%s: not over in %d s', step, self.limit)
        elif program.refused:
            if not re.search(program.refused, output, re.M):
                self.unexpected('%s: not refused as expected', step)
        elif status != program.status:
            lines = [line for line in output.splitlines() if 'tracesmith' in line] or output.strip().splitlines()[-1:]
            self.unexpected('%s: status %d: %s', step, status, lines[0] if lines else '')
        elif program.right and not re.search(program.right, output, re.M):
            self.unexpected('%s: its output has no "%s"', step, program.right)
        elif program.wrong and re.search(program.wrong, output, re.M):
            self.unexpected('%s: its output has "%s"', step, re.search(program.wrong, output, re.M).group())
        return not self.result['unexpected']

    def run(self):
        """The program alone on the virtual GPU."""
        program, environment = self.program, dict(self.environment)
        environment['LD_LIBRARY_PATH'] = self.tools.vgpu + ':' + environment.get('LD_LIBRARY_PATH', '')
        if program.vgpu:
            environment['TRACESMITH_VGPU'] = program.vgpu
        status, output, seconds = execute(program.command, self.folder, environment, self.limit)
        self.log('run', output)
        self.result['run_s'] = round(seconds, 1)
        if not self.judge('run', status, output):
            return False
        self.result['run'] = 'refused' if program.refused else 'right' if program.right else 'ends'
        if program.refused:
            self.result['said'] = re.search('.*(?:%s).*' % program.refused, output, re.M).group().strip()
        return not program.refused

    def recorded(self, step, *options):
        """The program under `tsctl record`; its info, or None."""
        trace = self.trace(step)
        command = [self.tools.tsctl, 'record', '--force', '--quiet', '--vgpu' + ('=' + self.program.vgpu if self.program.vgpu else ''),
                   '-o', trace, *options, '--', 'sh', '-c', self.program.command]
        status, output, seconds = execute(command, self.folder, self.environment, self.limit * 2)
        self.log(step, output)
        self.result[step + '_s'] = round(seconds, 1)
        if not self.judge(step, status, output):
            return None
        status, output, _ = execute([self.tools.tsctl, 'verify', trace], self.place, self.environment, REPLAY_LIMIT)
        if status != 0:
            self.unexpected('%s: the trace does not verify: %s', step, output.strip())
            return None
        status, output, _ = execute([self.tools.tsctl, 'info', '--json', trace], self.place, self.environment, REPLAY_LIMIT)
        info = json.loads(output)
        if info['lost']:
            self.unexpected('%s: lost %s', step, info['lost'])
        return info

    def record(self):
        info = self.recorded('record')
        if info:
            self.result['record'] = 'whole' if not info['lost'] else 'lost'
            self.result['counts'] = {name: count for name, count in info['counts'].items() if count}
        return info is not None

    def capture(self):
        info = self.recorded('capture', '--capture', 'replay')
        if not info:
            return False
        captures = [session['capture'] for session in info['sessions'] if 'capture' in session]
        self.result['capture'] = 'whole'
        self.result['captured_bytes'] = sum(capture['bytes'] for capture in captures)
        self.result['not_captured'] = sorted({json.dumps(what) for capture in captures for what in capture['unsupported']})
        return True

    def replayed(self, step, *options):
        """The JSON of a replay, or None."""
        command = [self.tools.tsctl, 'replay', '--on', 'vgpu', '--json', *options, self.trace('capture')]
        status, output, seconds = execute(command, self.place, self.environment, self.replay_limit)
        self.log(step, output)
        self.result[step + '_s'] = round(seconds, 1)
        if status is None or not output.startswith('{'):
            self.unexpected('%s: %s', step, 'not over in %d s' % self.replay_limit if status is None else output.strip()[:200])
            return None
        return json.loads(output.splitlines()[0])

    def replay(self):
        said = self.replayed('replay')
        if said is None:
            return False
        self.result['replay'] = said['verdict']
        self.result['unsupported'] = sorted({json.dumps(what) for what in said.get('unsupported', [])})
        refusal = said.get('refusal', {}).get('why')
        if refusal and not said.get('faulted_as_captured'):
            self.result['replay_said'] = refusal
        if said['verdict'] != 'same' and not self.program.differs:
            self.unexpected('replay: %s', refusal or said['verdict'])
        return True

    def check(self):
        said = self.replayed('check', '--check', 'all')
        if said is None:
            return False
        found = sorted({(finding['kind'], finding.get('kernel', finding.get('access', {}).get('name', ''))) for finding in said['findings']})
        self.result['check'] = said['verdict']
        self.result['findings'] = found
        # A check that ends early is clean or not as far as it came, and the table says so.
        self.result['time_is_up'] = said.get('time_is_up', False)
        ended_early = self.result['time_is_up'] or said['verdict'] == 'unfinished'
        self.result['unlooked'] = said.get('unlooked', 0)
        for kind, kernel in found:
            if not any(kind == expected and re.search(pattern, kernel) for expected, pattern, _ in self.program.finds):
                self.unexpected('check: %s in %s', kind, kernel)
        for expected, pattern, _ in self.program.finds:
            if not ended_early and not any(kind == expected and re.search(pattern, kernel) for kind, kernel in found):
                self.unexpected('check: no %s in %s', expected, pattern)
        return True

    def schedules(self):
        said = self.replayed('schedules', '--schedules', str(self.program.schedules), '--time-limit', str(self.replay_limit - 60))
        if said is None:
            return False
        self.result['schedules'] = said['verdict']
        self.result['schedules_done'] = self.program.schedules
        if said.get('time_is_up'):
            self.result['schedules_done'] = said.get('schedules', 0)
            self.unexpected('schedules: %d of %d done in the time limit', said.get('schedules', 0), self.program.schedules)
        if said['verdict'] != 'same' and not self.program.differs:
            self.unexpected('schedules: %s', said['verdict'])
        return True


def run(program, checkout, tools):
    """All steps of a program, up to the first that leaves nothing for the next."""
    one = Run(program, checkout, tools)
    if program.skip:
        one.result['skip'] = program.skip
        return one.result
    wanted = ['build', *program.steps] + (['schedules'] if program.schedules else [])
    for step in wanted:
        if not getattr(one, step)():
            break
    return one.result
