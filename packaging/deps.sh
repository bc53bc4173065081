# SPDX-License-Identifier: Apache-2.0
# What building, testing and the demo need of Debian 12. Sourced, not run:
#
#	. packaging/deps.sh
#	ts_need $TS_DEPS_BUILD
#
# ts_need installs what is missing where it may (root, or sudo that asks no password), else says the line
# to run and returns 1.

TS_DEPS_BUILD="gcc libc6-dev meson ninja-build pkg-config python3 libprotobuf-c-dev
	protobuf-c-compiler libunwind-dev libzstd-dev liblz4-dev liblzma-dev zlib1g-dev
	libsystemd-dev libdw-dev libelf-dev libseccomp-dev libiberty-dev libbpf-dev clang"
# Tests also need these: the second compiler, what the comparisons and benchmarks look at, systemd-analyze for the unit.
TS_DEPS_TEST="$TS_DEPS_BUILD g++ clang-format-14 doxygen git mypy python3-pandas strace systemd
	liblttng-ust-dev lttng-tools spin elfutils debuginfod dwz llvm libstdc++6-12-dbg libamdhip64-dev"

# Names of the given packages that are not installed.
ts_missing()
{
	for package in "$@"; do
		status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) || status=
		[ "$status" = "install ok installed" ] || printf '%s ' "$package"
	done
}

ts_need()
{
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		echo "not a Debian system: this script installs none of these Debian packages: $*" >&2
		return 0
	fi
	missing=$(ts_missing "$@")
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" = 0 ]; then
		as_root=env
	elif sudo -n true 2>/dev/null; then
		as_root="sudo -n env"
	else
		echo "missing packages; as root run: apt-get install $missing" >&2
		return 1
	fi
	echo "installing: $missing" >&2
	# The lists may be older than the archive, or absent: fetch them where they do not serve.
	# shellcheck disable=SC2086
	$as_root DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing \
		>/dev/null 2>&1 || {
		$as_root apt-get update -qq &&
			$as_root DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
				--no-install-recommends $missing >/dev/null
	} || {
		echo "could not install: $missing; see apt-get's lines above, then run this again" >&2
		return 1
	}
}
