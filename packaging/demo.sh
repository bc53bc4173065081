#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh Debian 12 machine to a trace: installs what is missing, builds what recording needs, records a CUDA program, shows it.
#
#	sh packaging/demo.sh
#
# The program is test/apps/pipeline.c: compiled by nvcc where nvcc is present, else over the driver API
# with its kernels as PTX text. It runs on a real GPU where there is one and on the virtual one
# otherwise. Can be run again: it builds what changed and records anew. Leaves build/demo with the trace in it.

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
# Half of the usual build's time; without warnings, since -O1 makes gcc warn of what is not there.
[ -f $build/build.ninja ] || meson setup -Doptimization=1 -Ddebug=false -Dwarning_level=0 $build >demo.log 2>&1 || {
	cat demo.log
	exit 1
}
rm -f demo.log
tsctl=$build/tools/tsctl/tsctl
# Where there is no nvcc, ninja knows no such target.
program=test/apps/pipeline-runtime
ninja -C $build -t query $program >/dev/null 2>&1 || program=test/apps/pipeline-driver
# The tests, and the programs that only they need, take most of the whole build's time.
ninja -C $build --quiet tools/tsctl/tsctl daemon/tracesmithd daemon/worker/tracesmith-worker inject/libtsinject.so \
	tools/vgpu/libcuda.so.1 tools/vgpu/libcudart.so.13 tools/vgpu/libcupti.so.13 $program
program=$build/$program
trace=$build/pipeline.sbt
on=--vgpu
what="the virtual GPU (no NVIDIA GPU on this machine)"
if real_gpu; then
	on=
	what="this machine's GPU"
	# nvcc's programs need the toolkit's libcudart, which the loader may not know of.
	LD_LIBRARY_PATH=${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi

say "record $program on $what"
rm -f "$trace"
echo "\$ tsctl record -o $trace $on -- $program"
# shellcheck disable=SC2086 # no GPU option is no argument
"$tsctl" record -o "$trace" $on -- "$program"

say "tsctl info $trace"
"$tsctl" info "$trace"

say "tsctl view --limit 20 $trace"
"$tsctl" view --limit 20 "$trace"

say "the trace lies at $PWD/$trace"
echo "next: $tsctl view --stats $trace, $tsctl --help, README.md"
