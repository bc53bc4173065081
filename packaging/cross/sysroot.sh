#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a folder with Debian's libraries for aarch64, for a build by the cross compiler and for qemu-user. Needs no root. It
# downloads from the machine's own apt sources, by a configuration of its own, so the machine's packages and their architectures
# stay untouched. If the folder is complete and was made by this same script, nothing happens.
#
#	sh packaging/cross/sysroot.sh [FOLDER]		(default: build/aarch64/sysroot)
set -eu

packages="libc6-dev libgcc-s1 libstdc++6 libzstd-dev liblz4-dev liblzma-dev zlib1g-dev libjson-c-dev libprotobuf-c-dev libsystemd-dev
	libbpf-dev libelf-dev libdw-dev libunwind-dev libseccomp-dev libiberty-dev libbz2-dev"

here=$(cd "$(dirname "$0")" && pwd)
root=${1:-$here/../../build/aarch64/sysroot}
mark=$(cat "$0" "$here/apt.sh" | cksum)
if [ -f "$root/.complete" ] && [ "$(cat "$root/.complete")" = "$mark" ]; then
	exit 0
fi
for tool in apt-get dpkg-deb; do
	command -v $tool >/dev/null || {
		echo "$0: needs $tool: the libraries come from Debian's packages" >&2
		exit 1
	}
done

mkdir -p "$root"
root=$(cd "$root" && pwd)
rm -rf "${root:?}"/* "$root/.complete" "$root.apt"
. "$here/apt.sh"
ts_arm_begin "$root.apt"
# shellcheck disable=SC2086
ts_arm_apt install --download-only $packages >/dev/null

# As on an installed Debian 12, /lib is a link; without the folder /lib, the linker and qemu-user find each library once.
mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root.apt/one"
ln -s usr/lib "$root/lib"
for package in "$root.apt"/archives/*.deb; do
	rm -rf "$root.apt/one"
	dpkg-deb -x "$package" "$root.apt/one"
	if [ -d "$root.apt/one/lib" ]; then
		mkdir -p "$root.apt/one/usr/lib"
		cp -a "$root.apt/one/lib/." "$root.apt/one/usr/lib/"
	fi
	[ ! -d "$root.apt/one/usr" ] || cp -a "$root.apt/one/usr/." "$root/usr/"
done
# Links to absolute paths would lead out of the folder.
find "$root/usr" -type l -lname '/*' | while read -r link; do
	ln -sfn "$root$(readlink "$link")" "$link"
done
rm -rf "${root:?}/usr/share" "$root.apt"
echo "$mark" >"$root/.complete"
