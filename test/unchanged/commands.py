# SPDX-License-Identifier: Apache-2.0
"""What is recorded, and what is asked about each trace.

A command is a line for tsctl. Words in capitals are filled in from the trace: FILE, OTHER (another trace of the set), T0 to T10
(instants from the start to the end), STREAM, THREAD, OP and OPS (op_ids), KERNEL (a name), ADDRESS, RANGE.
"""
import re
import shlex

PLACEHOLDER = re.compile(r'\b(FILE|OTHER|T\d+|STREAM|THREAD|OP|OPS|KERNEL|ADDRESS|RANGE)\b')

# name: program of test/apps with arguments, options of `tsctl record`, variables.
RECORDINGS = {
    'saxpy': (['saxpy-driver'], ['--vgpu'], {}),
    'pipeline': (['pipeline-driver', '2'], ['--vgpu'], {}),
    'longer': (['pipeline-driver', '3'], ['--vgpu'], {}),
    'threads': (['threads-driver', '4', '5'], ['--vgpu'], {}),
    'devices': (['devices-driver'], ['--vgpu=h200:2'], {}),
    'graph': (['graph-driver', '3'], ['--vgpu'], {}),
    'annotates': (['annotates-driver', 'gpu'], ['--vgpu'], {'TS_SAID': 'said'}),
    'crashes': (['crashes-driver', 'abort', '0'], ['--vgpu'], {}),
    'forks': (['forks-driver', 'fork', '3', 'before'], ['--vgpu'], {}),
    'native': (['pipeline-driver', '1'], ['--vgpu', '--stacks', 'native', '--symbols', 'none'], {}),
    'captured': (['pipeline-driver', '1'], ['--vgpu', '--capture', 'replay'], {}),
    'captured-graph': (['graph-driver', '2'], ['--vgpu', '--capture', 'replay'], {}),
    'race': (['faults-driver', 'race'], ['--vgpu', '--capture', 'replay'], {}),
    'bounds': (['faults-driver', 'bounds'], ['--vgpu', '--capture', 'replay'], {}),
    'rotated': (['pipeline-driver', '4'], ['--vgpu', '--rotate-size', '64K'], {}),
}
# A process that dies leaves more rows or fewer.
UNSTEADY = ('crashes', )
KERNEL_EVENTS = {'events': (['delays-driver', 'batch', '16'], ['--vgpu', '--kernel-events'], {})}

# Answers: as text on a terminal of 80 and of 160 columns, and as JSON.
READING = (
    'info FILE', 'info --wide FILE', 'info --mangled FILE', 'info --columns FILE', 'verify FILE',
    'view FILE', 'view --wide -n 200 FILE', 'view --mangled -n 50 FILE', 'view --stacks -n 20 FILE', 'view --sort duration -n 20 FILE',
    'view --errors FILE', 'view --errors --stacks FILE', 'view --type kernel,memcpy,memset FILE', 'view --type api -n 100 FILE',
    'view --type alloc,free,sync,event,stream_wait,stream,context FILE', 'view --type range,mark,counter,clock,overhead,access FILE',
    'view --type off_cpu,page_fault,syscall,block_io,sample -n 50 FILE', 'view --type graph_launch,gpu_module,yield,loss,pause FILE',
    'view --from T2 --to T4 FILE', 'view --stream STREAM FILE', 'view --device 0 -n 20 FILE', 'view --thread THREAD -n 20 FILE',
    'view --ops OPS FILE', 'view --name KERNEL -n 20 FILE', 'view --name c* -n 20 FILE', 'view --stats FILE', 'view --stats -n 2 FILE',
    'view --stats --type kernel,memcpy --from T1 --to T8 FILE', 'view --stats --mangled FILE',
    'analyze FILE', 'analyze --all FILE', 'analyze --no-stacks -n 2 FILE',
    'timeline FILE', 'timeline --ascii FILE', 'timeline --from T3 --to T5 FILE', 'timeline --width 40 FILE',
    'state --at T0 FILE', 'state --at T1 FILE', 'state --at T3 FILE', 'state --at T5 --stacks FILE', 'state --at T6 --all --mangled FILE',
    'state --at T7 --wide FILE', 'state --at T8 FILE', 'state --at T10 FILE', 'state --at 1000s FILE',
    'gaps FILE', 'gaps --least 1us --all FILE', 'gaps --stacks -n 3 FILE', 'gaps --op OP FILE', 'gaps --mangled FILE',
    'graph --critical-path FILE', 'graph --critical-path -n 3 FILE', 'graph --critical-path --from T2 --to T6 FILE',
    'memory FILE', 'memory --stacks FILE', 'memory --wide -n 3 FILE', 'memory --kernels ADDRESS FILE',
    'diff FILE OTHER', 'diff --check --calls FILE OTHER', 'diff --mangled -n 2 FILE OTHER', 'diff FILE OTHER vs OTHER FILE', 'diff FILE FILE',
    'replay FILE', 'replay -n 3 --what-if "kernel *=2x" FILE', 'replay --what-if copies=0.5x FILE', 'replay --what-if "kernel KERNEL=2x" FILE',
    'replay --mode dry-run FILE', 'replay --mode dry-run --on vgpu FILE', 'replay --mode dry-run --on cuda FILE',
    'replay --stream STREAM FILE', 'replay --ops OPS FILE', 'replay --from T2 --to T6 FILE',
)
# These run kernels, so only traces that kept what a replay needs are asked.
REPLAYING = (
    'replay --on vgpu FILE', 'replay --on vgpu --repeat 2 --compare-every 10 FILE', 'replay --on vgpu --check FILE',
    'replay --on vgpu --check=race FILE', 'replay --on vgpu --schedules 3 --seed 1 FILE', 'replay --on vgpu --ops OPS FILE',
    'replay --on vgpu --stream STREAM FILE', 'replay --on vgpu --unordered-blocks --repeat 2 FILE',
)
# Written to standard output, which is no terminal.
WRITING = (
    'graph FILE', 'graph --format json FILE', 'graph --format json --critical-path --from T1 --to T9 FILE',
    'export --format perfetto FILE', 'export --format perfetto --from T2 --to T6 FILE', 'export --format json FILE',
    'export --format json --mangled FILE', 'export --format pprof FILE', 'export --format pprof -w host FILE', 'export --format folded FILE',
    'export --format folded -w launches --thread --lines FILE', 'export --format folded -w bytes --process --no-leaf FILE',
    'export --format folded -w cpu FILE', 'export --format folded -w off-cpu --thread FILE', 'export --format folded --type memcpy FILE',
)
# Files are written or changed: each in a folder of its own, whose files are compared.
CHANGING = (
    'cut --from T2 --to T6 -o out.sbt FILE', 'cut --from T9 --to T10 -o out.sbt FILE', 'cut --range RANGE -o out.sbt FILE',
    'cut --from T2 --to T6 -o out.sbt --json FILE', 'merge -o out.sbt FILE OTHER', 'merge -o out.sbt --json FILE FILE', 'dump -o out.sbt FILE',
    'dump --last 1ms -o out.sbt FILE', 'index FILE', 'index --every 50 --json FILE', 'symbolize FILE', 'symbolize --again --json FILE',
    'repair FILE', 'repair --json FILE', 'export --format perfetto -o out FILE', 'export --format json -o out FILE',
    'export --format pprof -o out FILE', 'export --format folded -o out FILE', 'graph -o out FILE',
)
# The daemon answers.
SERVED = (
    'state --at T3 FILE', 'state --at T5 --json --stacks FILE', 'timeline FILE', 'timeline --json FILE', 'view --json FILE',
    'view --json --stacks --type api,kernel -n 50 FILE', 'view --json --stats FILE', 'memory FILE', 'memory --json --stacks FILE',
    'graph --format json FILE', 'graph --format json --critical-path FILE', 'replay FILE', 'replay --json --what-if "kernel *=2x" FILE',
    'replay --mode dry-run --on vgpu --json FILE', 'status', 'status --json', 'sessions', 'sessions --json',
)
# Answers to wrong questions, about no trace.
COMMANDS = ('record', 'info', 'view', 'analyze', 'timeline', 'state', 'gaps', 'graph', 'diff', 'memory', 'replay', 'export', 'verify', 'cut',
            'merge', 'dump', 'start', 'stop', 'watch', 'symbolize', 'repair', 'devices', 'status', 'sessions', 'benchmark', 'index', 'version')
REFUSED = ('%s --nonsense', '%s missing.sbt', '%s text.sbt', '%s empty.sbt')
ALONE = ('', 'help', '--help', '--version', 'version', 'version --json', 'help help', 'help nothing', 'nothing', 'status', 'status --json',
         'sessions', 'sessions --json', 'state missing.sbt', 'state --at soon text.sbt', 'view --from 1parsec text.sbt', 'view --type nothing text.sbt',
         'export text.sbt', 'export --format nothing text.sbt', 'replay --on nothing text.sbt', 'replay --what-if help', 'diff text.sbt',
         'cut -o out.sbt text.sbt', 'graph --format nothing text.sbt', 'devices', 'devices --json')
# Runs a command without an argument would begin something.
NOT_ALONE = ('benchmark', 'watch')


def fill(line, facts):
    """The words of a line with all that stands for something of the trace, or None if the trace has nothing of that kind."""
    needed = {word for word in PLACEHOLDER.findall(line)}
    if any(facts.get(word) is None for word in needed):
        return None
    return [PLACEHOLDER.sub(lambda match: facts[match.group()], word) for word in shlex.split(line)]
