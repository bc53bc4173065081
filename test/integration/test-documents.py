#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command line of the README and the guides runs, and prints what the document shows for it.

documents.py finds the command lines, shapes.py compares. The commands of a document run in its order, in a folder that has what the text
presumes: programs of test/apps, STANDINS, and traces by MAKERS. The GPU of the documents is the virtual one. A command that cannot run
here stands in NOT_RUN with the reason; the test checks the words that files need to have for it.
`test-documents.py --list` prints the commands that were found.
"""
import functools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import documents
import harness
import service
import shapes

GUIDES = 'tools/tsctl/guides/'
TEST_APPS = os.path.join(harness.SOURCE, 'test', 'apps')
EXAMPLES = os.path.join(harness.SOURCE, 'tools', 'library', 'examples')
GOLDEN = os.path.join(harness.SOURCE, 'test', 'integration', 'golden')

# ---- what documents presume -----------------------------------------------------------------------

# For `python train.py`: golden/train.py, which goes on for the seconds that the documents ask about.
TRAIN = '''import sys, time
sys.argv[1:] = ['8']
exec(compile(open('steps.py').read(), 'train.py', 'exec'))
time.sleep(1.5)
call('cuCtxSynchronize')
'''
# For tools that are on no machine of ours, or that would serve or change something. Each refuses what its part of the command line names
# and is not there. test-readers.py runs the real `go tool pprof`, test-unit.py the unit.
PROFILE = '''import gzip, os, sys
assert len(gzip.open([word for word in sys.argv if word.endswith('.pb.gz')][0]).read()) > 100
'''
STANDINS = {
    'go': 'import sys\nassert sys.argv[1:3] == ["tool", "pprof"], sys.argv\n' + PROFILE,
    'parca-push': PROFILE,
    'profilecli': 'import sys\nassert sys.argv[1] == "upload", sys.argv\n' + PROFILE,
    'flamegraph.pl': '''import re, sys
lines = sys.stdin.read().splitlines()
assert sys.argv[1] == '--countname' and lines and all(re.fullmatch(r'.+ \\d+', line) for line in lines), lines
print('<svg>')
''',
    'sudo': '''import os, sys
assert all(not word.startswith('/') or word.startswith(%(root)r + '/') for word in sys.argv[1:]), sys.argv
os.execvp(sys.argv[1], sys.argv[1:])
''',
    'meson': '''import os, re, subprocess, sys
real, build, source, root = %(meson)r, %(build)r, %(source)r, %(root)r
words = sys.argv[1:]
known = open(source + '/meson_options.txt').read()
for word in words:
    if word.startswith('-D'):
        assert "option('%%s'" %% word[2:].split('=')[0] in known, word
if words[0] == 'install':
    assert words in (['install'], ['install', '-C', 'build']) and os.path.isdir(root), words
elif words[0] == 'test':
    words[words.index('-C') + 1] = build
    assert subprocess.check_output([real, 'test', '--no-rebuild', '--list', *words[1:]]).strip(), words
else:
    assert words[0] == 'setup' and all(re.match(r'build$|--prefix=/|-D', word) for word in words[1:]), words
''',
    'ninja': '''import os, sys
words = [word for word in sys.argv[1:] if word not in ('-C', 'build')]
os.execv(%(ninja)r, [%(ninja)r, '-n', '-C', %(build)r, '--quiet', *words])
''',
    'systemd-sysusers': '''import glob
assert 'tracesmith' in open(glob.glob(%(root)r + '/usr/lib/sysusers.d/*.conf')[0]).read()
''',
    'systemctl': '''import os, sys
words = [word for word in sys.argv[1:] if word != '--now']
assert words[0] in ('enable', 'restart', 'daemon-reload'), words
for unit in words[1:]:
    unit = unit if '.' in unit else unit + '.service'
    text = open(%(root)r + '/usr/lib/systemd/system/' + unit).read()
    assert words[0] != 'enable' or '[Install]' in text, unit
''',
}
# First words of command lines that run here. A line with another one needs a decision: a stand-in, a place here, or an entry in NOT_RUN.
RUNS = (*STANDINS, 'tsctl', 'python', 'python3', 'cc', 'cat', 'install', './app', './kernels')
# By (document or None, file): the command line that makes a trace which the document only reads.
MAKERS = {
    (None, 'train.sbt'): 'tsctl record -o train.sbt -- python train.py',
    (GUIDES + 'launched.md', 'train.sbt'): 'tsctl record -o train.sbt --kernel-events=samples -- python train.py',
    (None, 'before.sbt'): 'tsctl record -o before.sbt --vgpu -- python3 changes.py rounds=20',
    (None, 'after.sbt'): 'tsctl record -o after.sbt --vgpu -- python3 changes.py rounds=20 second=600 third=100',
    (None, 'a1.sbt'): 'tsctl record -o a1.sbt --vgpu -- python3 changes.py rounds=20',
    (None, 'a2.sbt'): 'tsctl record -o a2.sbt --vgpu -- python3 changes.py rounds=20',
    (None, 'b1.sbt'): 'tsctl record -o b1.sbt --vgpu -- python3 changes.py rounds=20 third=100',
    (None, 'b2.sbt'): 'tsctl record -o b2.sbt --vgpu -- python3 changes.py rounds=20 third=100',
    (None, 'demo.sbt'): 'tsctl record -o demo.sbt --vgpu -- pipeline-driver',
    (GUIDES + 'idle.md', 'demo.sbt'): 'tsctl record -o demo.sbt --vgpu=h200,clock=host -- pipeline-runtime',
    ('README.md', 'run.sbt'): 'tsctl record -o run.sbt --capture replay --vgpu -- pipeline-driver',
    (GUIDES + 'launched.md', 'run.sbt'): 'LD_PRELOAD=$PWD/build/inject/libtsinject.so TRACESMITH_OUTPUT=run.sbt saxpy-driver',
    (None, 'run.sbt'): 'tsctl record -o run.sbt --capture replay --vgpu -- verdict streams',
    (None, 'ordered.sbt'): 'tsctl record -o ordered.sbt --capture replay --vgpu -- verdict ordered',
    (None, 'misuse.sbt'): 'tsctl record -o misuse.sbt --vgpu -- python3 misuse.py',
    (None, 'pools.sbt'): 'tsctl record -o pools.sbt --vgpu -- python3 pools.py',
    (None, 'says.sbt'): 'tsctl record -o says.sbt -- says',
    (None, 'late/run.sbt'): 'mkdir late; tsctl record -o late/run.sbt --capture replay --vgpu=small -- python3 typed.py 4 float; sleep 4',
}
# Parts of documents that are neither commands nor their output, by a pattern of their beginning: the command whose output they quote.
TEXTS = {
    (GUIDES + 'deterministic.md', 'ordered.sbt: session 1 on vgpu: the results are the same'): 'tsctl replay --on vgpu --schedules 20 ordered.sbt',
    (GUIDES + 'memory.md', 'Pools: '): 'tsctl memory pools.sbt',
    (GUIDES + 'memory.md', 'Use after free'): 'tsctl memory misuse.sbt',
    (GUIDES + 'replay.md', 'run.sbt: session 1 on vgpu: the replay differs'): 'cd late && tsctl replay --on vgpu run.sbt',
    (GUIDES + 'record.md', '#include <tracesmith/annotate.h>'): 'cc -Wall -Werror -I$ROOT/usr/include text.c -o text && tsctl record -o text.sbt -- ./text',
}
# In place of words of a command line: (pattern, a method of Document or a function, reason).
ADDRESS, TIME = r'0x[0-9a-f]{8,}', r'@\d{9,}'
REPLACED = (
    (r'\b(?:20753|20465|PID)\b', 'session_pid', 'the recording that runs'),
    (ADDRESS, 'device_address', 'an address of the trace'),
    (TIME, 'kernel_start', 'a time of the trace'),
    (r'--from 10ms --to 11ms', 'busy_window', 'a time of the trace with much work'),
    (r'(?<=--at )10ms(?= demo)', 'busy_time', 'the same'),
    (r'\bFILE\b', lambda test: 'demo.sbt', 'a trace'),
    (r'\bCOMMAND\b', lambda test: 'record', 'a command'),
    (r'\bBUILD\b', lambda test: harness.BUILD, 'the build tree'),
    (r'\btsctl watch\b', lambda test: 'tsctl watch -n 2 -i 0.1', 'it goes on until the recording ends'),
    (r'^sudo tsctl record --system -d 10 ', lambda test: '(for i in $(seq 20); do ./app; sleep 0.2; done) & '
     'sudo tsctl record --system -d 3 ', 'a shorter time, in which programs run'),
    (r"'kernel gemm\*=2x'", lambda test: "'kernel f*=2x'", 'a name of the trace'),
    (r'(?<= )/(?=(?:etc|usr)/)', lambda test: '$ROOT/', 'an installed tree, not this machine'),
    (r'(?<=LD_PRELOAD=)', lambda test: harness.SANITIZER + ':' if harness.SANITIZER else '', 'its runtime comes first'),
    (r'^cc(?= )', lambda test: 'cc -Wl,--allow-shlib-undefined' if harness.SANITIZER else 'cc', 'its runtime is not linked'),
)
# Exit statuses other than 0.
STATUS = {
    'tsctl diff --check before.sbt after.sbt': 1,
    'tsctl replay --on vgpu --schedules 20 run.sbt': 1,
    'tsctl replay --on vgpu --check all run.sbt': 1,
    # Threads of a device run a program whose results depend on the order.
    'tsctl replay --on cuda --repeat 3 run.sbt': (0, 1),
    'cd late && tsctl replay --on vgpu run.sbt': 3,
    # `tsctl record` exits as the program does.
    'tsctl record -o plain.sbt --vgpu -- plain': 4,
}
# What the document says that is so after the command.
AFTERWARDS = {
    'LD_PRELOAD=libtsinject.so ./app': 'ls traces/*/tracesmith-saxpy-driver-*.sbt',
    'LD_PRELOAD=$PWD/build/inject/libtsinject.so python train.py': 'ls tracesmith-python3*-*.sbt',
    'python3 proto/abi/rows/make.py format proto/abi/rows/rows.table sbt/FORMAT.md > new && cat new > sbt/FORMAT.md':
        'cmp sbt/FORMAT.md %s' % os.path.join(harness.SOURCE, 'sbt', 'FORMAT.md'),
    'tsctl view --stats all.sbt': 'tsctl info all.sbt | grep saxpy-driver',
    'sudo install -D -m 644 -t /etc/systemd/system/tracesmithd.service.d /usr/share/tracesmith/system.conf':
        'grep CapabilityBoundingSet $ROOT/etc/systemd/system/tracesmithd.service.d/system.conf',
}
# By the command line: why it does not run, and words that files have to have for it.
NOT_RUN = {
    'sh packaging/demo.sh': ('installs packages and builds', (('packaging/demo.sh', 'tsctl'),)),
    'sh packaging/deb.sh': ('installs packages and builds: the soak of test-deb.py', (('packaging/deb.sh', 'build/deb'),)),
    'sudo apt install ./build/deb/libtracesmith0_*.deb ./build/deb/tracesmith_*.deb ./build/deb/tracesmith-vgpu_*.deb': (
        'the soak of test-deb.py installs the packages', (('packaging/debian/control', 'Package: libtracesmith0'),
                                                          ('packaging/debian/control', 'Package: tracesmith-vgpu'))),
    'tsctl studio train.sbt': ('opens a browser and runs until Ctrl-C: test/studio', (('test/studio/meson.build', 'chromium'),)),
    'tsctl studio before.sbt after.sbt': ('the same', ()),
    'tsctl studio --session 1': ('the same', ()),
    'ssh -L 8080:127.0.0.1:8080 node tsctl studio --no-browser --port 8080 train.sbt': ('needs another machine', ()),
    'python3 packaging/project.py --release': ('refuses until the project has addresses', (('packaging/project.py', "'--release'"),)),
    'meson dist': ('needs a clone without changes', (('packaging/meson.build', 'add_dist_script'),)),
    'meson dist -C build --no-tests': ('needs a clone without changes', (('packaging/meson.build', 'add_dist_script'),)),
    '--no-tests': ('an option of meson dist', ()),
    'sh packaging/tarball.sh': ('builds the archive: the soak of test-tarball.py', (('packaging/tarball.sh', 'build/tarball'),)),
    'sh packaging/tarball.sh --cross': ('builds the archive: the soak of test-aarch64.py', (('packaging/tarball.sh', '--cross'),)),
    'sh packaging/cross/setup.sh': ('downloads a sysroot: the soak of test-aarch64.py', (('packaging/cross/setup.sh', 'build/aarch64'),)),
    'ninja -C build/aarch64/tree': ('the soak of test-aarch64.py', (('packaging/cross/setup.sh', '/tree'),)),
    'sh packaging/cross/run.sh "$PWD/build/aarch64" build/aarch64/tree/tools/tsctl/tsctl version': (
        'the soak of test-aarch64.py', (('packaging/cross/run.sh', 'qemu'),)),
    'python3 test/soak/run.py aarch64': ('builds for aarch64', (('test/soak/run.py', "'aarch64'"),)),
    '--revision 2': ('an option of deb.sh', (('packaging/deb.sh', '--revision'),)),
    'sh packaging/test.sh': ('runs this test', (('packaging/test.sh', 'passed'),)),
    'sh packaging/test.sh gcc': ('runs this test', (('packaging/test.sh', '\tgcc'),)),
    'test-golden.py --update': ('changes the source tree', (('test/integration/test-golden.py', "'--update'"),)),
    'python3 tools/library/abi/abi.py BUILD --write': ('changes the source tree; unit-library-abi compares', (
        ('tools/library/abi/abi.py', "'--write'"),)),
    'python3 tools/rust/generate.py': ('changes the source tree; test-rust.py compares', (
        ('tools/rust/generate.py', "'--check'"),)),
    'nvcc -cudart shared': ('two words of a command line of nvcc', (('test/apps/meson.build', "'-cudart', 'shared'"),)),
    'journalctl -u tracesmithd': ('needs the journal of an installed service', (
        ('packaging/systemd/tracesmithd.socket', 'ListenSequentialPacket'),)),
    'pip install ./tools/python': ('test-package.py does it', (('test/integration/test-package.py', "'install', source"),)),
    'systemd-analyze security': ('test-unit.py runs it', (('test/integration/test-unit.py', 'systemd-analyze'),)),
    'sudo gpasswd -a ADA tracesmith': ('changes the groups of this machine', (('packaging/systemd/tracesmith.conf', 'tracesmith'),)),
}
# Commands that need no operand. All others in the text, without one, name a command and options of it.
ALONE = ('devices', 'sessions', 'status', 'watch', 'version', 'benchmark')
# Options of other programs.
FOREIGN = {'tools/library/README.md: --write': 'tools/library/map.py', 'packaging/README.md: --write': 'packaging/project.py'}

# ---- what differs from run to run -----------------------------------------------------------------

CAUSE = r'(?:host|call|dispatch|dependency|end|off_cpu|memory|page_fault|syscall)'
VARY = (
    # Which causes have a share follows from what else this machine does.
    (r'\b%s [\d.]+ %%(?:, %s [\d.]+ %%)*' % (CAUSE, CAUSE), '<causes>'),
    # Of lists of causes: how often, which call, which operation.
    (r', \d+ times$', ''),
    (r' \(then [\d.,]+ [mun]?s waiting for a CPU\)', ''),
    (r'(?<=%  )in cu(?:da)?[A-Z]\w+', 'in <call>'),
    (r'(?<=: running )\S.*$', '<function>'),
    # The stack of one launch in a hundred is another one at times.
    (r'\bby (?:\d+ places, mostly )?(?=\w+ \()', 'by '),
    (r'before op \d+ .*: \w+ by thread', 'before <operation> by thread'),
)
UNORDERED = ('tsctl gaps', 'tsctl analyze')
# Documents with commands that every program of this machine notices. meson.build runs their tests alone.
MACHINE_WIDE = ('tools/tsctl/guides/service.md',)
# Documents whose demo.sbt is of pipeline-runtime.
RUNTIME = ('README.md', GUIDES + 'idle.md')
# Lines that depend on how busy the machine is. Where they are missing, the text of a recorded trace has such a line, or tsctl's source.
MAYBE = (r'^Other processes had the CPU', r'off CPU: preempted', r'^Launch-bound: ', r'^fewer and larger kernels', r' in cu\w+Synchronize, ',
         r': running \w+\(\)$')


@functools.lru_cache(None)
def golden_shapes():
    """Shapes of all lines that tsctl printed about recorded traces."""
    lines = set()
    for name in os.listdir(GOLDEN):
        if name.endswith(('-80.txt', '-160.txt')):
            with open(os.path.join(GOLDEN, name), encoding='utf-8') as stream:
                lines |= {any_call(shapes.normal(line, VARY)) for line in stream}
    return lines


def any_call(shape):
    """The shape without the names of the thread, of the call or of the program's function."""
    return re.sub(r'in (?:cu\w+|<call>)|running <function>', 'in CALL', re.sub(r'<thread [^>]*>', '<thread>', shape))


@functools.lru_cache(None)
def sources():
    """What tsctl's commands and its reports can print."""
    texts = []
    for folder in (('tools', 'tsctl', 'commands'), ('replay', 'report', 'answers')):
        folder = os.path.join(harness.SOURCE, *folder)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding='utf-8') as stream:
                texts.append(stream.read())
    return '\n'.join(texts)


@functools.lru_cache(None)
def installed():
    """An installed tree, under /usr as the documents have it."""
    root = tempfile.mkdtemp(prefix='ts-root-')
    harness.atexit.register(shutil.rmtree, root, ignore_errors=True)
    subprocess.run([shutil.which('meson'), 'install', '--no-rebuild', '--quiet', '-C', harness.BUILD, '--destdir', root], check=True,
                   stdout=subprocess.DEVNULL, timeout=harness.SECONDS)
    with open(os.path.join(harness.BUILD, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as stream:
        prefix = next(option['value'] for option in json.load(stream) if option['name'] == 'prefix')
    if prefix != '/usr':
        shutil.copytree(root + prefix, root + '/usr', symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(root + prefix)
    return root


@functools.lru_cache(None)
def pkg_config():
    """The folder of tracesmith.pc, which names the prefix of the build at first."""
    [path] = [os.path.join(folder, name) for folder, _, names in os.walk(installed()) for name in names if name == 'tracesmith.pc']
    with open(path, encoding='utf-8') as stream:
        text = stream.read()
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(re.sub(r'(?m)^prefix=.*', 'prefix=/usr', text))
    return os.path.dirname(path)


def has_runtime():
    return os.path.exists(os.path.join(harness.APPS, 'pipeline-runtime'))


@functools.lru_cache(None)
def devices():
    return harness.tsctl('devices').out


@functools.lru_cache(None)
def options(command):
    """The options that help names; command: of tsctl, or tracesmithd."""
    argv = [harness.DAEMON] if command == 'tracesmithd' else [harness.TSCTL, command]
    result = harness.run([*argv, '--help'])
    return frozenset(re.findall(r'--[a-z][a-z-]*', result.out)) if result.status == 0 else frozenset()


def first_words(line):
    """The programs of a command line."""
    found = []
    for part in re.split(r'&&|\|\||[;|]', re.sub(r"'[^']*'", "''", line)):
        words = [word for word in part.split() if not re.match(r'[A-Z][A-Z0-9_]*=', word)]
        found += words[:2] if words[:1] == ['sudo'] else words[:1]
    return found


class Skip(Exception):
    pass


class Document(service.Service):
    document = None

    def setUp(self):
        super().setUp()
        self.faults, self.live, self.daemon, self.skips, self.unmade = [], None, None, [], {}
        os.mkdir(self.path('bin'))
        facts = {'meson': shutil.which('meson'), 'ninja': shutil.which('ninja'), 'build': harness.BUILD, 'source': harness.SOURCE,
                 'root': installed()}
        for name, text in STANDINS.items():
            self.program(name, text % facts if '%(' in text else text)
        for name in ('python', 'python3'):
            os.symlink(sys.executable, self.path('bin', name))
        for name in os.listdir(harness.APPS):
            path = os.path.join(harness.APPS, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                os.symlink(path, self.path('bin', name))
        if not has_runtime():
            # The same work by the driver's calls.
            os.symlink(harness.app('pipeline', 'driver'), self.path('bin', 'pipeline-runtime'))
        for name in ('changes.py', 'driver.py', 'misuse.py', 'pools.py', 'typed.py', 'truth.py'):
            shutil.copy(os.path.join(TEST_APPS, name), self.folder)
        shutil.copy(os.path.join(GOLDEN, 'train.py'), self.path('steps.py'))
        self.write('train.py', TRAIN)
        os.symlink(harness.app('saxpy', 'driver'), self.path('app'))
        shutil.copy(os.path.join(EXAMPLES, 'kernels.c'), self.folder)
        shutil.copy(os.path.join(EXAMPLES, 'kernels.c'), self.path('program.c'))
        os.symlink(harness.BUILD, self.path('build'))
        for name in ('proto', 'tools', 'packaging'):
            os.symlink(os.path.join(harness.SOURCE, name), self.path(name))
        os.mkdir(self.path('sbt'))
        shutil.copy(os.path.join(harness.SOURCE, 'sbt', 'FORMAT.md'), self.path('sbt'))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as stream:
            stream.write(text)

    def program(self, name, text):
        self.write(os.path.join('bin', name), '#!%s\n%s' % (sys.executable, text))
        os.chmod(self.path('bin', name), 0o755)

    # ---- running ----------------------------------------------------------------------------------

    def surroundings(self, line):
        """The machine of the documents has a GPU, which is the virtual one, and an installed library."""
        libraries = [harness.VGPU, os.path.dirname(harness.LIBRARY), os.path.join(harness.BUILD, 'inject')]
        env = harness.record_environment(
            LD_LIBRARY_PATH=':'.join(libraries), ROOT=installed(), TZ='UTC', LC_ALL='C.UTF-8', TERM='dumb',
            PKG_CONFIG_PATH=pkg_config(), PKG_CONFIG_SYSROOT_DIR=installed(), PATH=':'.join((
                self.path('bin'), os.path.dirname(harness.TSCTL), os.path.dirname(harness.DAEMON), os.environ['PATH'])))
        if self.uses_service(line):
            if not self.daemon:
                self.start_daemon()
            env.update(TRACESMITH_CONTROL=self.control, TRACESMITH_SOCKET=self.inject)
        return env

    def uses_service(self, line):
        return '--served' in line or 'tsctl status' in line or self.document in (GUIDES + 'service.md', 'packaging/README.md')

    def run_line(self, line):
        """(status, lines of output and errors as a terminal shows them)"""
        for program in ('verdict', 'compute'):
            if re.search(r'-- %s\b' % program, line) and not os.path.exists(os.path.join(harness.APPS, program)):
                raise Skip('%s was not built (no nvcc)' % program)
        for option, given in (('--system', r'^System: .*: yes$'), ('--kernel-events=samples', r'^  samples +yes'),
                              ('--kernel-events ', r'^  sched +yes')):
            if option in line and not re.search(given, devices(), re.M):
                raise Skip('this machine gives no %s' % option)
        result = harness.run(['bash', '-o', 'pipefail', '-c', 'exec 2>&1\n' + line], env=self.surroundings(line), cwd=self.folder)
        return result.status, result.out.splitlines()

    def make(self, line):
        """The traces that the line reads and that no earlier command of the document made."""
        made = re.search(r'-o (\S+\.sbt)', line)
        folder = 'late' if line.startswith('cd late') else ''
        for name in re.findall(r'(?<![\w/*])[\w-]+\.sbt', line):
            name = os.path.join(folder, name)
            if made and name == made.group(1) or os.path.exists(self.path(name)):
                continue
            if name in self.unmade:
                raise Skip(self.unmade[name])
            maker = MAKERS.get((self.document, name)) or MAKERS.get((None, name))
            if not maker:
                raise AssertionError('nothing makes %s' % name)
            status, lines = self.run_line(self.replaced(maker))
            if status or not os.path.exists(self.path(name)):
                raise AssertionError('%s: status %d: %s' % (maker, status, '\n'.join(lines)))

    def replaced(self, line):
        for pattern, value, _ in REPLACED:
            if re.search(pattern, line):
                value = getattr(self, value)() if isinstance(value, str) else value(self)
                line = re.sub(pattern, lambda match, value=value: str(value), line)
        return line

    # ---- what is replaced -------------------------------------------------------------------------

    def rows(self, kind):
        self.make('demo.sbt')
        result = harness.tsctl('view', '--json', '--type', kind, self.path('demo.sbt'))
        return [json.loads(line) for line in result.out.splitlines()]

    def device_address(self):
        return hex(next(row['address'] for row in self.rows('alloc') if row.get('memory_kind') == 3))

    def kernel_start(self):
        return '@%d' % self.rows('kernel')[0]['start_ns']

    def busy_ms(self):
        """The millisecond of the trace in which the most streams work, and of these the one with the most work."""
        rows, info = self.rows('kernel,memcpy,memset'), json.loads(harness.tsctl('info', '--json', self.path('demo.sbt')).out)
        streams = {}
        for row in rows:
            streams.setdefault((row['start_ns'] - info['start_ns']) // 1000000, []).append(row['stream'])
        return max(streams, key=lambda ms: (len(set(streams[ms])), len(streams[ms])))

    def busy_window(self):
        return '--from {0}ms --to {1}ms'.format(self.busy_ms(), self.busy_ms() + 1)

    def busy_time(self):
        return '%d.5ms' % self.busy_ms()

    def session_pid(self):
        """A program that is recorded while the commands run: by the service, or by tsctl record."""
        if not self.live:
            bursts = harness.app('bursts', 'driver')
            argv = [bursts] if self.uses_service('') else [
                harness.TSCTL, 'record', '-o', self.path('live.sbt'), '--vgpu',
                *(['--capture', 'window'] if self.document.endswith('replay.md') else []), '--', bursts]
            env = self.surroundings('')
            if self.uses_service(''):
                env['LD_PRELOAD'] = ':'.join(filter(None, [env.get('LD_PRELOAD'), harness.SHIM]))
            self.live = subprocess.Popen(argv, env=env, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True)
            self.addCleanup(self.end_live)
            self.live.stdin.write('go 100\n')
            self.live.stdin.flush()
            self.assertTrue(self.live.stdout.readline().startswith('done'))
            self.pid = self.find_session()
        return self.pid

    def find_session(self):
        end = time.monotonic() + harness.SECONDS
        while time.monotonic() < end:
            result = harness.tsctl('sessions', '--json', env=self.surroundings(''))
            found = [json.loads(line) for line in result.out.splitlines()]
            pids = [row['pid'] for group in found for row in group.get('sessions', [group]) if row.get('rows')]
            if pids:
                return pids[0]
            time.sleep(0.05)
        raise AssertionError('no session: %s' % result)

    def end_live(self):
        self.live.stdin.close()
        self.live.wait(harness.SECONDS)
        self.live.stdout.close()

    # ---- checks -----------------------------------------------------------------------------------

    def fault(self, command, text, line=None):
        self.faults.append('%s:%d: %s\n    %s' % (command.document, line or command.line, command.text, text))

    def check_words(self, command):
        reason, files = NOT_RUN[command.text]
        for name, word in files:
            with open(os.path.join(harness.SOURCE, name), encoding='utf-8') as stream:
                if word not in stream.read():
                    self.fault(command, '%s has no %s any more' % (name, word))
        self.skips.append('%s: %s' % (command, reason))

    def check_option(self, command):
        """A command of tsctl with options, or options alone, which some command has."""
        words = command.text.split()
        first = words.pop(0) if words[0] in documents.TSCTL else None
        foreign = FOREIGN.get('%s: %s' % (command.document, command.text))
        if foreign:
            with open(os.path.join(harness.SOURCE, foreign), encoding='utf-8') as stream:
                if command.text not in stream.read():
                    self.fault(command, '%s has no such option' % foreign)
            return
        names = {word.split('=')[0] for word in words if word.startswith('--')}
        has = [name for name in ([first] if first else [*sorted(documents.TSCTL), 'tracesmithd']) if names <= options(name)]
        if not has:
            self.fault(command, 'no command has %s' % ' '.join(sorted(names)))
        elif 'tracesmithd' not in has and len(words) > len(names) or '=' in command.text:
            self.check_accepted(command, has, words)

    def check_accepted(self, command, has, words):
        """Values of options, where they are not placeholders: the parser comes to the last option if it accepts the others."""
        if has == ['tracesmithd'] or any(re.fullmatch(r'(?:\S*=)?(?:[A-Z]+|.*\.\.\.)', word) for word in words):
            return
        results = [harness.tsctl(name, *words, '--not-an-option') for name in has if name != 'tracesmithd']
        if not any('unknown option --not-an-option' in result.err for result in results):
            self.fault(command, results[0].err.strip())

    def is_mention(self, command):
        words = command.text.split()
        return (command.kind == 'inline' and words[0] == 'tsctl' and words[1] not in (*ALONE, 'help', 'complete') and
                not re.search(r'\.sbt|\bFILE\b|\bPID\b|\bCOMMAND\b| -- ', command.text))

    def check_mention(self, command):
        words = [re.sub(r'^T$', '1ms', word) for word in command.text.split()[1:]]
        names = {word.split('=')[0] for word in words if word.startswith('--')}
        result = harness.tsctl(*words, '--not-an-option')
        if 'unknown option --not-an-option' not in result.err or not names <= options(words[0]):
            self.fault(command, 'no such command or option: %s' % result.err.strip())

    def check_files(self, command):
        folder = os.path.dirname(os.path.join(harness.SOURCE, command.document))
        there = {name for _, folders, names in os.walk(folder) for name in (*names, *(name + '/' for name in folders))}
        for number, line in command.lines:
            for name in re.split(r',? +', documents.FILES.match(line).group(1)):
                if name not in there:
                    self.fault(command, 'no file %s' % name, number)

    def c_program(self, command):
        lines = [text for _, text in command.lines if text.strip()]
        self.write('text.c', '%s\nstatic void warm_up(void)\n{\n}\nint main(void)\n{\n\tdouble loss = 1;\n%s\n\treturn 0;\n}\n' % (
            '\n'.join(line for line in lines if line.startswith('#')), '\n'.join(line for line in lines if not line.startswith('#'))))

    def check_text(self, command):
        """Output that the document quotes without the command, or C."""
        for (document, first), line in TEXTS.items():
            if document == command.document and re.match(first, command.text):
                if command.text.startswith('#include'):
                    self.c_program(command)
                    return self.execute(command, line, None)
                return self.execute(command, line, [(0, '...'), *command.lines, (0, '...')])
        return self.fault(command, 'neither a command nor a text that TEXTS knows')

    def check_maybe(self, lines, got):
        """Without the lines that a busy or idle machine does not print, if other traces' texts have them."""
        printed = {shapes.normal(line, VARY) for line in got}
        kept = []
        for number, text in lines:
            shape = shapes.normal(text, VARY)
            if not any(re.search(pattern, text) for pattern in MAYBE) or shape in printed or not (
                    any_call(shape) in golden_shapes() or text.strip() in sources()):
                kept.append((number, text))
        return kept

    def execute(self, command, line, shown):
        """shown: (number, text) of the expected output, or None."""
        if command.kind != 'text':
            unknown = [word for word in first_words(line) if word not in RUNS and not os.path.exists(os.path.join(harness.APPS, word))]
            if unknown:
                return self.fault(command, 'the test does not know how to run %s: see RUNS, STANDINS and NOT_RUN' % ' '.join(unknown))
        line = self.replaced(line)
        self.make(line)
        if re.match(r'tsctl (?:watch|sessions|status)\b', line):
            self.session_pid()
        made = re.match(r'tsctl record .*?-o (\S+)', line)
        if made and os.path.exists(self.path(made.group(1))):
            os.remove(self.path(made.group(1)))
        status, got = self.run_line(line)
        if os.environ.get('TS_SHOW'):
            print('$ %s\n%s\n[%d]' % (line, '\n'.join(got), status), file=sys.stderr)
        expected = STATUS.get(command.text, STATUS.get(line, 0))
        if status not in (expected if isinstance(expected, tuple) else (expected,)):
            return self.fault(command, 'exit status %s, not %s: %s' % (status, expected, '\n    '.join(got[-5:])))
        after = AFTERWARDS.get(command.text)
        if after:
            status, lines = self.run_line(after)
            if status:
                self.fault(command, 'afterwards, %s: %s' % (after, '\n    '.join(lines)))
        if shown and 'demo.sbt' in line and self.document in RUNTIME and not has_runtime():
            self.skips.append('%s: ran, and was not compared: pipeline-runtime was not built (no nvcc)' % command)
            shown = None
        if not shown:
            return None
        shown = self.check_maybe(shown, got)
        match = shapes.mismatch_unordered if line.startswith(UNORDERED) else shapes.mismatch
        found = match([text for _, text in shown], got, VARY)
        if found:
            at, printed = found
            number, text = shown[at] if at < len(shown) else (shown[-1][0], '(the end)')
            self.fault(command, 'expected: %s\n    printed:  %s' % (text.strip(), '(the end)' if printed is None else printed), number)
        return None

    def check(self, command):
        if command.text in NOT_RUN:
            self.check_words(command)
        elif command.text.startswith('tracesmithd '):
            if not set(documents.OPTION.findall(command.text)) <= options('tracesmithd'):
                self.fault(command, 'tracesmithd has no such option')
        elif command.kind == 'option':
            self.check_option(command)
        elif command.kind == 'files':
            self.check_files(command)
        elif command.kind == 'text':
            self.check_text(command)
        elif self.is_mention(command):
            self.check_mention(command)
        else:
            self.execute(command, command.text, command.lines)

    def check_document(self, document):
        self.document = document
        for command in documents.commands(document):
            begun = time.monotonic()
            try:
                self.check(command)
            except Skip as reason:
                self.unmade.update({name: str(reason) for name in re.findall(r'-o (\S+\.sbt)', command.text)})
                self.skips.append('%s: %s' % (command, reason))
            except AssertionError as error:
                self.fault(command, str(error))
            if os.environ.get('TS_SHOW'):
                print('    %.2f s' % (time.monotonic() - begun), file=sys.stderr)
        for line in self.skips:
            print('not run: %s' % line)
        if self.faults:
            self.fail('\n' + '\n'.join(self.faults))


class Documents(Document):
    """A test for each document, by add_test()."""


class MachineWide(Document):
    """The documents of MACHINE_WIDE."""


class Shapes(unittest.TestCase):
    """What the comparison must find, and what it must not."""
    SHOWN = ['  KERNEL  COUNT      MEAN', '  saxpy     100  1.363 us', '...', 'in all: 2 kernels, 64.00 KiB at 0x7f00', '  GPU 0 |█  ▁ ░| 3 %']
    PRINTED = ['  KERNEL   COUNT    MEAN', '  saxpy   1,000  21.36 ms', 'more', 'more', 'in all: 1 kernel, 2.00 MiB at 0x5e20', '',
               '  GPU 0 | ▄ | 17.5 %']

    def test_same(self):
        self.assertIsNone(shapes.mismatch(self.SHOWN, self.PRINTED))
        self.assertIsNone(shapes.mismatch_unordered(self.SHOWN, self.PRINTED[::-1]))

    def changed(self, line, old, new):
        printed = list(self.PRINTED)
        self.assertIn(old, printed[line])
        printed[line] = printed[line].replace(old, new)
        return printed

    def check_both(self, printed, at, line):
        self.assertEqual(shapes.mismatch(self.SHOWN, printed), (at, line))
        self.assertEqual(shapes.mismatch_unordered(self.SHOWN, printed)[0], at)

    def test_word(self):
        self.check_both(self.changed(4, 'in all', 'in total'), 3, 'in total: 1 kernel, 2.00 MiB at 0x5e20')
        self.check_both(self.changed(1, 'saxpy', 'scale'), 1, '  scale   1,000  21.36 ms')
        self.check_both(self.changed(6, '%', ''), 4, '  GPU 0 | ▄ | 17.5 ')

    def test_column(self):
        self.check_both(self.changed(0, 'COUNT', ''), 0, '  KERNEL       MEAN')
        self.check_both(self.changed(1, '21.36 ms', ''), 1, '  saxpy   1,000  ')
        self.check_both(self.changed(0, 'MEAN', 'MEAN  P99'), 0, '  KERNEL   COUNT    MEAN  P99')

    def test_unit_of_another_kind(self):
        self.check_both(self.changed(1, '21.36 ms', '21.36 KiB'), 1, '  saxpy   1,000  21.36 KiB')
        self.check_both(self.changed(4, '0x5e20', '17'), 3, 'in all: 1 kernel, 2.00 MiB at 17')

    def test_line(self):
        for i in (0, 1, 4, 6):
            printed = self.PRINTED[:i] + self.PRINTED[i + 1:]
            self.assertIsNotNone(shapes.mismatch(self.SHOWN, printed), i)
            self.assertIsNotNone(shapes.mismatch_unordered(self.SHOWN, printed), i)
        self.assertEqual(shapes.mismatch(self.SHOWN, [*self.PRINTED, 'one more']), (5, 'one more'))
        self.assertEqual(shapes.mismatch(self.SHOWN, ['before', *self.PRINTED]), (0, 'before'))
        self.assertEqual(shapes.mismatch(self.SHOWN, []), (0, None))
        self.assertEqual(shapes.mismatch_unordered(['a', 'b'], ['b', 'a', 'c']), (2, 'c'))

    def test_order(self):
        self.assertIsNotNone(shapes.mismatch(['a', 'b'], ['b', 'a']))
        self.assertIsNone(shapes.mismatch(['...', 'a', '...', 'b', '...'], ['b', 'a', 'a', 'c', 'b', 'a']))

    def test_cut_line_and_folded_line(self):
        self.assertIsNone(shapes.mismatch(['a ... z'], ['a b c z']))
        self.assertIsNotNone(shapes.mismatch(['a ... z'], ['a b c y']))
        self.assertIsNone(shapes.mismatch(['/tmp/x.sbt: 3'], ['.../y/x.sbt: 4']))
        long = 'word ' * 30
        self.assertIsNone(shapes.mismatch([long, '  and the rest', 'end'], [long + 'and the rest', 'end']))
        self.assertIsNotNone(shapes.mismatch(['short', '  and the rest'], ['short and the rest']))


class Extraction(unittest.TestCase):
    """A line of a document is found as what it is; what is no command is left to a decision."""

    def found(self, *lines):
        return [(command.line, command.kind, command.text, [text for _, text in command.lines])
                for command in documents.commands_of('x.md', '\n'.join(lines))]

    def test_blocks(self):
        self.assertEqual(self.found('Text', '', '    $ tsctl info x     # why', '    out', '', '      more', '', '    tsctl view x  # so',
                                    '    LD_PRELOAD=y ./app', '', 'Text', '', '    brand-new-tool x'),
                         [(3, 'shown', 'tsctl info x', ['out', '  more']), (8, 'block', 'tsctl view x', []),
                          (9, 'block', 'LD_PRELOAD=y ./app', []), (13, 'text', 'brand-new-tool x', ['brand-new-tool x'])])
        self.assertEqual(self.found('```', '$ tsctl info', 'out', '```', '`tsctl x`'), [(2, 'shown', 'tsctl info', ['out']), (5, 'inline', 'tsctl x', [])])
        self.assertEqual(self.found('    main.c out.h    text'), [(1, 'files', 'main.c out.h    text', ['main.c out.h    text'])])

    def test_programs(self):
        self.assertEqual(first_words("A=1 LD_PRELOAD=$PWD/x.so ./app && sudo apt-get x | tsctl 'a;b=2x' > y; go z"),
                         ['./app', 'sudo', 'apt-get', 'tsctl', 'go'])
        self.assertNotIn('apt-get', RUNS)

    def test_code_in_text(self):
        self.assertEqual(self.found('`tsctl` and `tsctl info x`; `--json`, `replay --on vgpu`, `the words`.', '| a | `python x.py` |'),
                         [(1, 'inline', 'tsctl info x', []), (1, 'option', '--json', []), (1, 'option', 'replay --on vgpu', []),
                          (2, 'inline', 'python x.py', [])])

    def test_entries_are_used(self):
        """What stands in a list of this test is in a document."""
        commands = [command for document in documents.DOCUMENTS for command in documents.commands(document)]
        texts = {command.text for command in commands}
        shown = [line for command in commands for _, line in command.lines]
        stale = [text for text in NOT_RUN if text not in texts]
        stale += [text for text in AFTERWARDS if text not in texts]
        stale += [text for text in STATUS if text not in texts and text not in TEXTS.values()]
        stale += [first for document, first in TEXTS if not any(
            command.kind == 'text' and command.document == document and re.match(first, command.text) for command in commands)]
        stale += [name for document, name in MAKERS if not any(
            os.path.basename(name) in text for command in commands for text in (command.text, *TEXTS.values())
            if document in (None, command.document))]
        stale += [pattern for pattern, _, _ in REPLACED if not any(re.search(pattern, text) for text in texts)]
        stale += [pattern for pattern in MAYBE if not any(re.search(pattern, line.strip()) for line in shown)]
        stale += [pattern for pattern, _ in VARY if not any(re.search(pattern, line) for line in shown)]
        stale += [place for place in FOREIGN if place not in {'%s: %s' % (command.document, command.text) for command in commands}]
        stale += [name for name in STANDINS if not any(re.search(r'\b%s\b' % re.escape(name), text) for text in texts)]
        self.assertEqual(stale, [], 'no document has these any more')
        self.assertEqual(len({command.document for command in commands}), len(documents.DOCUMENTS), 'a document without a command')


def add_test(document):
    name = re.sub(r'\W+', '_', document[:-len('.md')].replace('tools/tsctl/guides/', ''))
    case = MachineWide if document in MACHINE_WIDE else Documents
    setattr(case, 'test_' + name, lambda self: self.check_document(document))


for path in documents.DOCUMENTS:
    add_test(path)


if __name__ == '__main__':
    if sys.argv[1:] == ['--list']:
        for path in documents.DOCUMENTS:
            for found in documents.commands(path):
                print('%-6s  %s' % ('not' if found.text in NOT_RUN else found.kind, found))
        sys.exit(0)
    harness.main()
