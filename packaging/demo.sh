#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes a first trace on a fresh Debian 12 machine: installs missing packages, builds the programs that recording needs, records a
# CUDA program, and prints the trace.
#
#	sh packaging/demo.sh
#
# The recorded program is test/apps/pipeline.c. If nvcc is present, nvcc compiles it; otherwise it uses the driver API, with its
# kernels as PTX text. It runs on a real GPU if the machine has one, otherwise on the virtual GPU. The script can be run again: it
# rebuilds changed files and records a new trace. The trace stays in build/demo.

set -eu
cd "$(dirname "$0")/.."
. packaging/deps.sh

say()
{
	printf '\n== %s\n' "$*"
}

real_gpu()
{
	[ -c /dev/nvidiactl ] && python3 -c '
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
sys.exit(bool(cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value))
' 2>/dev/null
}

ts_need $TS_DEPS_BUILD

say "build"
build=build/demo
# -O1 halves the time of the build. Warnings are off, because with -O1 gcc prints false ones.
[ -f $build/build.ninja ] || meson setup -Doptimization=1 -Ddebug=false -Dwarning_level=0 $build >demo.log 2>&1 || {
	cat demo.log
	exit 1
}
rm -f demo.log
tsctl=$build/tools/tsctl/tsctl
# Without nvcc this target does not exist.
program=test/apps/pipeline-runtime
ninja -C $build -t query $program >/dev/null 2>&1 || program=test/apps/pipeline-driver
# Build only these targets: the tests and their programs would take most of the time.
ninja -C $build --quiet tools/tsctl/tsctl daemon/tracesmithd daemon/worker/tracesmith-worker inject/libtsinject.so \
	tools/vgpu/libcuda.so.1 tools/vgpu/libcudart.so.13 tools/vgpu/libcupti.so.13 $program
program=$build/$program
trace=$build/pipeline.sbt
on=--vgpu
what="the virtual GPU (no NVIDIA GPU on this machine)"
if real_gpu; then
	on=
	what="this machine's GPU"
	# A program that nvcc built needs the toolkit's libcudart, which may be outside the loader's search path.
	LD_LIBRARY_PATH=${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi

say "record $program on $what"
rm -f "$trace"
echo "\$ tsctl record -o $trace $on -- $program"
# shellcheck disable=SC2086 # an empty $on must not become an argument
"$tsctl" record -o "$trace" $on -- "$program"

say "tsctl info $trace"
"$tsctl" info "$trace"

say "tsctl view --limit 20 $trace"
"$tsctl" view --limit 20 "$trace"

say "the trace lies at $PWD/$trace"
echo "next: $tsctl view --stats $trace, $tsctl --help, README.md"
