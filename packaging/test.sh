#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds TraceSmith and runs all of its tests, on Debian 12. No GPU is needed.
#
#	sh packaging/test.sh [STEP ...]      gcc alone clang asan tsan (default: all)
#
# The build folders stay under build/test, so a second run rebuilds only changed files. If CI is set in the environment, warnings
# are errors. New build folders use ccache, which is among the packages for tests. The script lists the ten slowest tests at its
# end; the last line is "N passed, N failed". The exit status is 0 only if no test and no build failed.

set -u
cd "$(dirname "$0")/.." || exit 2
. packaging/deps.sh

# This script starts itself with --build: see ahead().
is_ahead=
[ "${1:-}" != --build ] || { is_ahead=1; shift; }
[ -n "$is_ahead" ] || {
	ts_need $TS_DEPS_BUILD || exit 2
	# If these packages are missing, the tests that need them are skipped and listed; all other tests run.
	ts_need $TS_DEPS_TEST || true
}

steps=${*:-gcc alone clang asan tsan}
folders=build/test
jobs=${is_ahead:-$(nproc)}
failures=0
cache=$(command -v ccache >/dev/null && echo "ccache ")
# If python3 is a script of a version manager, the interpreter itself starts in half of the processor time; builds and tests start
# it a thousand times.
python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))') || exit 2
[ "$python/python3" = "$(command -v python3)" ] || PATH=$python:$PATH
# With sanitizers gcc prints false warnings, so warnings are no errors in their builds.
werror=-Dwerror=false
[ -z "${CI:-}" ] || werror=-Dwerror=true
# For the sanitizers' builds: they compile in half of the time of -O2, and reports have line numbers.
quick="-Doptimization=g -Ddebug=true"
# The same arguments in both, so that the cache has the objects without sanitizers (programs under test, the worker) of the other one.
# UBSan traps instead of printing, so its tables and its runtime are not linked: they took half of the time of a process start. ASan
# prints the line that trapped.
quick_args="-g1 -Wno-tsan -fsanitize-undefined-trap-on-error"
mkdir -p "$folders"
# Remove the logs of earlier runs, so that their results are not counted.
[ -n "$is_ahead" ] || rm -f "$folders"/*/meson-logs/testlog*.json "$folders"/*/meson-logs/again*.json "$folders"/*.built

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
# TESTS: arguments of `meson test`; only the targets that these tests need are built. Empty: all targets are built, as they are if
# test-targets.py fails.
build()
{
	name=$1 compiler=$2 needed=$3
	shift 3
	say "$name: build"
	# If the folder was made from an older source tree, an option may be unknown there. Then make the folder again.
	[ -f "$folders/$name/build.ninja" ] && meson configure "$folders/$name" "$@" >/dev/null 2>&1 || {
		rm -rf "${folders:?}/$name"
		CC=$cache$compiler meson setup "$folders/$name" "$@" >"$folders/$name.setup" 2>&1 || {
			cat "$folders/$name.setup"
			return 1
		}
	}
	# Update build.ninja first: test-targets.py reads the targets that meson wrote at its last run.
	ninja -C "$folders/$name" --quiet build.ninja || return 1
	[ -z "$needed" ] || needed=$(python3 packaging/test-targets.py "$folders/$name" $needed) || needed=
	# For the cache a folder makes no difference: the step alone compiles what the step gcc has compiled. Only here, because tests
	# compare builds in two folders.
	CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 ninja -C "$folders/$name" -j "$jobs" --quiet $needed
}

# tests NAME [meson test argument ...]
# Many tests wait more than they compute, so more tests than cores run at a time. Time limits only detect hangs, so they are long.
tests()
{
	name=$1
	shift
	say "$name: test"
	meson test -C "$folders/$name" --no-rebuild --print-errorlogs --num-processes $((jobs * 2)) "$@"
	# count-tests.py counts failed tests from the log. If there is no log, the step counts as one failure.
	log=$folders/$name/meson-logs/testlog.json
	[ -s "$log" ] || { fail "$name: the tests did not run"; return; }
	# Tests wait for other processes and for the kernel, which a busy machine can delay beyond any limit. So if few tests
	# failed, they run once more, alone, and are named at the end. A race that ThreadSanitizer found once is an error.
	again=$(python3 packaging/count-tests.py --again "$log")
	[ -z "$again" ] || {
		say "$name: again, alone:" $again
		meson test -C "$folders/$name" --no-rebuild --print-errorlogs --num-processes 1 --logbase again "$@" $again
	}
	return 0
}

# ahead STEP ...: builds these steps in the background, with one job and the lowest priority. The tests of a step leave a tenth of the
# processors idle, because they wait and because the last ones run alone. A step that is not built when it begins is built by all jobs.
builder=
ahead()
{
	[ $# != 0 ] || return 0
	# The process group that setsid makes has the builder's process id.
	setsid nice -n 19 sh packaging/test.sh --build "$@" >/dev/null 2>&1 &
	builder=$!
}

end_ahead()
{
	[ -n "$builder" ] || return 0
	kill -s TERM -- "-$builder" 2>/dev/null
	wait "$builder" 2>/dev/null
	# Its ninja may not have ended yet.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -s 0 -- "-$builder" 2>/dev/null || break
		sleep 1
	done
	builder=
}
trap end_ahead EXIT
trap 'exit 1' HUP INT TERM

# All tests. If nvcc is present, also the programs that it compiles.
build_gcc()
{
	build gcc gcc "" $werror -Dbuildtype=debugoptimized
}

tests_gcc()
{
	tests gcc --timeout-multiplier 4
}

# Tests that recorder and readers build, work and install without the virtual GPU.
# The daemon's memory (suite `bounds`) and confinement (suite `confined`) are the same in each build without a sanitizer, so only the
# gcc step tests them. The same holds here for the suites `single` (tests of one thread) and `same`: the compiler and the code are those
# of that step.
suites_alone="--suite unit --suite alone --no-suite bounds --no-suite confined --no-suite single --no-suite same"
build_alone()
{
	build alone gcc "$suites_alone" $werror -Dvgpu=disabled -Dnvcc=disabled -Dbuildtype=debugoptimized
}

tests_alone()
{
	tests alone --timeout-multiplier 4 $suites_alone
}

# The second compiler, and at the same time a release build: optimised, without assertions.
build_clang()
{
	build clang clang "" $werror -Dbuildtype=release -Db_ndebug=true -Dnvcc=disabled
}

tests_clang()
{
	tests clang --timeout-multiplier 4 --suite unit --no-suite ptx --no-suite bounds --no-suite confined
}

# The virtual device's own tests (suite `device`) are slow under sanitizers, so only the other steps run them. The PTX engine's tests
# (suite `ptx`, one minute of one core) also run here. Applications are built without sanitizers and get the sanitizers' runtime
# preloaded (test/integration/harness.py). The commands of documents (suite `documents`) run in the tests of those commands.
suites_asan="--suite unit --suite fuzz --suite integration --no-suite device --no-suite documents"
build_asan()
{
	build asan gcc "$suites_asan" -Dnvcc=disabled $quick -Db_sanitize=address,undefined -Db_lundef=false \
		"-Dc_args=$quick_args" -Dc_link_args=-fno-sanitize=undefined
}

tests_asan()
{
	ASAN_OPTIONS=${ASAN_OPTIONS:-strict_string_checks=1:detect_stack_use_after_return=1:handle_sigill=1} \
		tests asan --timeout-multiplier 8 $suites_asan
}

# Only unit tests with several threads: the ring, its producers, the daemon's sessions.
suites_tsan="--suite unit --no-suite device --no-suite ptx --no-suite single --no-suite tools"
build_tsan()
{
	build tsan gcc "$suites_tsan" -Dnvcc=disabled $quick -Db_sanitize=thread -Db_lundef=false "-Dc_args=$quick_args"
}

tests_tsan()
{
	TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1} \
		tests tsan --timeout-multiplier 8 $suites_tsan
}

for step in $steps; do
	case $step in
	gcc | alone | clang | asan | tsan) ;;
	*)
		echo "unknown step: $step; use gcc, alone, clang, asan or tsan" >&2
		exit 2
		;;
	esac
done

if [ -n "$is_ahead" ]; then
	for step in $steps; do
		"build_$step" && : >"$folders/$step.built"
	done
	exit
fi

set -- $steps
while [ $# != 0 ]; do
	step=$1
	shift
	if [ ! -f "$folders/$step.built" ]; then
		end_ahead
		"build_$step" || { fail "$step: does not build"; continue; }
		ahead "$@"
	fi
	"tests_$step"
done

say "all: $steps"
python3 packaging/count-tests.py "$failures" "$folders"/*/meson-logs/testlog.json
