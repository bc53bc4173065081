#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds TraceSmith and runs every test of it, on Debian 12. No GPU is needed.
#
#	sh packaging/test.sh [STEP ...]      gcc alone clang asan tsan (default: all)
#
# Build folders are kept under build/test, so that a second run builds only what changed. With CI set in
# the environment warnings are errors. New build folders use ccache if it is installed. The end lists the ten slowest
# tests; the last line is "N passed, N failed". The exit status is 0 only where nothing failed, building included.

set -u
cd "$(dirname "$0")/.." || exit 2
. packaging/deps.sh

ts_need $TS_DEPS_BUILD || exit 2
# Without these some tests are skipped by name; that is no reason not to run the others.
ts_need $TS_DEPS_TEST || true

steps=${*:-gcc alone clang asan tsan}
folders=build/test
jobs=$(nproc)
failures=0
cache=$(command -v ccache >/dev/null && echo "ccache ")
# Sanitizers move code about until gcc warns of what is not there: those builds do not count warnings.
werror=-Dwerror=false
[ -z "${CI:-}" ] || werror=-Dwerror=true
# For the sanitizers: half of the time of -O2 to compile, and lines for their reports.
quick="-Doptimization=g -Ddebug=true"
mkdir -p "$folders"
# What an earlier run found must not be counted as this one's.
rm -f "$folders"/*/meson-logs/testlog*.json "$folders"/*/meson-logs/again*.json

say()
{
	printf '\n== %s\n' "$*"
}

fail()
{
	say "FAILED: $*"
	failures=$((failures + 1))
}

# build NAME CC TESTS [meson option ...]
# TESTS: arguments of `meson test`, for what those need; empty for all there is, as where that cannot be told.
build()
{
	name=$1 compiler=$2 needed=$3
	shift 3
	say "$name: build"
	# A folder of an older tree may not know an option.
	[ -f "$folders/$name/build.ninja" ] && meson configure "$folders/$name" "$@" >/dev/null 2>&1 || {
		rm -rf "${folders:?}/$name"
		CC=$cache$compiler meson setup "$folders/$name" "$@" >"$folders/$name.setup" 2>&1 || {
			cat "$folders/$name.setup"
			return 1
		}
	}
	# What is known of targets is of the last time that meson looked.
	ninja -C "$folders/$name" --quiet build.ninja || return 1
	[ -z "$needed" ] || needed=$(python3 packaging/test-targets.py "$folders/$name" $needed) || needed=
	ninja -C "$folders/$name" -j "$jobs" --quiet $needed
}

# tests NAME [meson test argument ...]
# Many tests wait more than they compute, so there are more of them at once than cores; limits are for hangs and may be wide.
tests()
{
	name=$1
	shift
	say "$name: test"
	meson test -C "$folders/$name" --no-rebuild --print-errorlogs --num-processes $((jobs * 2)) "$@"
	# What failed is counted from the log; only a run that made none is a failure of its own.
	log=$folders/$name/meson-logs/testlog.json
	[ -s "$log" ] || { fail "$name: the tests did not run"; return; }
	# Tests wait for other processes and for the kernel, and a full machine can keep those from running for longer than
	# any limit. Where few failed, they have one more run without company, and the end names them. A race that
	# ThreadSanitizer saw once is there.
	again=
	[ "$name" = tsan ] || again=$(python3 packaging/count-tests.py --again "$log")
	[ -z "$again" ] || {
		say "$name: again, alone:" $again
		meson test -C "$folders/$name" --no-rebuild --print-errorlogs --num-processes 1 --logbase again "$@" $again
	}
	return 0
}

# All tests, and what nvcc makes where it is.
step_gcc()
{
	build gcc gcc "" $werror -Dbuildtype=debugoptimized || return 1
	tests gcc --timeout-multiplier 4
}

# Without the virtual GPU: recorder and readers build, test and install alone. The daemon's memory (suite `bounds`) is the same in
# each build without a sanitizer, so the gcc step measures it for all.
step_alone()
{
	build alone gcc "" $werror -Dvgpu=disabled -Dnvcc=disabled -Dbuildtype=debugoptimized || return 1
	tests alone --timeout-multiplier 4 --suite unit --suite alone --no-suite bounds
}

# The other compiler and the other kind of build in one: optimised, without assertions.
step_clang()
{
	build clang clang "" $werror -Dbuildtype=release -Db_ndebug=true -Dnvcc=disabled || return 1
	tests clang --timeout-multiplier 4 --suite unit --no-suite ptx --no-suite bounds
}

# The virtual device's own tests (suite `device`) run in the other steps, being slow here; the PTX engine's (suite `ptx`), a minute
# of one core, run here too. The commands that documents show (suite `documents`) run here in the tests of those commands.
# Applications come without sanitizers and get the runtime preloaded: see test/integration/harness.py.
step_asan()
{
	suites="--suite unit --suite fuzz --suite integration --no-suite device --no-suite documents"
	# UBSan traps instead of printing: half of a process start under sanitizers was its tables and its runtime, which is not
	# linked. ASan prints the line that trapped.
	build asan gcc "$suites" -Dnvcc=disabled $quick -Db_sanitize=address,undefined -Db_lundef=false \
		'-Dc_args=-g1 -fsanitize-undefined-trap-on-error' -Dc_link_args=-fno-sanitize=undefined || return 1
	ASAN_OPTIONS=${ASAN_OPTIONS:-strict_string_checks=1:detect_stack_use_after_return=1:handle_sigill=1} \
		tests asan --timeout-multiplier 8 $suites
}

# Threads are where ThreadSanitizer has something to find: the ring, its producers, the daemon's sessions.
step_tsan()
{
	suites="--suite unit --no-suite device --no-suite ptx --no-suite single"
	build tsan gcc "$suites" -Dnvcc=disabled $quick -Db_sanitize=thread -Db_lundef=false \
		'-Dc_args=-g1 -Wno-tsan' || return 1
	TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1} \
		tests tsan --timeout-multiplier 8 $suites
}

for step in $steps; do
	case $step in
	gcc | alone | clang | asan | tsan)
		"step_$step" || fail "$step: does not build"
		;;
	*)
		echo "unknown step: $step; use gcc, alone, clang, asan or tsan" >&2
		exit 2
		;;
	esac
done

say "all: $steps"
python3 packaging/count-tests.py "$failures" "$folders"/*/meson-logs/testlog.json
