# SPDX-License-Identifier: Apache-2.0
# Lists the packages of Debian 12 that the build, the tests and the demo need, and installs them. Source this file, do not run it:
#
#	. packaging/deps.sh
#	ts_need $TS_DEPS_BUILD
#
# ts_need installs the missing packages, as root or by a sudo that asks for no password. If neither is possible, it prints the
# command to run and returns 1.

TS_DEPS_BUILD="gcc libc6-dev meson ninja-build pkg-config python3 libprotobuf-c-dev
	protobuf-c-compiler libunwind-dev libzstd-dev liblz4-dev liblzma-dev zlib1g-dev libjson-c-dev
	libsystemd-dev libdw-dev libelf-dev libseccomp-dev libiberty-dev libbpf-dev clang
	libmicrohttpd-dev esbuild node-d3-hierarchy node-d3-shape"
# Further packages for the Debian packages, and to check and try them.
TS_DEPS_DEB="debhelper dh-python dpkg-dev lintian mmdebstrap"
# Further packages for tests: a compiler cache, the second compiler, the programs of comparisons and benchmarks, systemd-analyze and
# systemd-nspawn for the unit, man with groff and mandoc for the pages, shells for completion.
TS_DEPS_TEST="$TS_DEPS_BUILD $TS_DEPS_DEB abigail-tools ccache g++ clang-format-14 doxygen git mypy python3-distributed python3-pandas strace systemd librsvg2-2 chromium
	rpm rpmlint debugedit dwz ruby python3-yaml buildah
	liblttng-ust-dev lttng-tools spin elfutils debuginfod llvm systemd-container node-typescript libstdc++6-12-dbg libamdhip64-dev
	man-db groff mandoc zsh fish cargo rustc"
# Further packages for packaging/tarball.sh.
TS_DEPS_TARBALL="dpkg-dev libbz2-dev make xz-utils"
# Packages that the installed programs need, for an image (packaging/container).
TS_DEPS_RUN="libbpf1 libdw1 libelf1 libjson-c5 liblz4-1 liblzma5 libmicrohttpd12 libprotobuf-c1 libseccomp2 libsystemd0 libunwind8 libzstd1 zlib1g"
# Further packages for packaging/rpm.sh.
TS_DEPS_RPM="rpm debugedit dwz binutils"

# Prints those of the given packages that are not installed.
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
	# The package lists may be absent or older than the archive. So if the installation fails, update them and try again.
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
