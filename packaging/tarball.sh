#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the archive for other Linux systems (glibc 2.28 and later) on a Debian 12 machine:
#
#	sh packaging/tarball.sh [--cross]
#
# It leaves build/tarball/tracesmith-VERSION-linux-MACHINE.tar.xz and beside it the unpacked folder, from which tools/python makes
# its wheel. The same sources and packages give the same bytes. packaging/README.md (The archive) has the contents. --cross makes the
# archive for aarch64 by the cross compiler (packaging/cross); without it, MACHINE is this machine.
#
# SOURCE_DATE_EPOCH is the date of the archive's files (default: the date of the last commit).

set -eu
umask 022
cd "$(dirname "$0")/.."
root=$PWD
. packaging/deps.sh

out=$root/build/tarball
prefix=/opt/tracesmith
case "$*" in
'')
	machine=$(uname -m)
	build=$out/build
	libraries=$out
	;;
--cross)
	machine=aarch64
	build=$out/build-$machine
	cross=$root/build/aarch64
	# Below the root of the compiler, because pkg-config puts it before other paths.
	libraries=$cross/sysroot/opt
	;;
*)
	echo "usage: sh packaging/tarball.sh [--cross]" >&2
	exit 2
	;;
esac
# Flags from the environment would change the bytes.
unset CFLAGS CPPFLAGS LDFLAGS
LC_ALL=C TZ=UTC
export LC_ALL TZ

# The Debian packages whose static libraries become part of the programs, with the package that has their licence.
static_packages="libbpf-dev libbz2-dev libdw-dev libelf-dev libiberty-dev libjson-c-dev liblz4-dev liblzma-dev libmicrohttpd-dev
	libprotobuf-c-dev libseccomp-dev libzstd-dev zlib1g-dev"
# The Debian packages whose JavaScript modules become part of Studio's page.
page_packages="node-d3-hierarchy node-d3-path node-d3-shape"

# The project, without the tests. Static libraries instead of shared ones; libsystemd has no static one.
build_project()
{
	[ -f "$build/build.ninja" ] || meson setup "$build" -Dbuildtype=release -Doptimization=2 -Db_ndebug=true -Dtests=false -Dstudio=enabled \
		-Dpkg_config_path="$libraries/libmicrohttpd/lib/pkgconfig" -Dprefer_static=true -Dsystemd=disabled -Dpkgconfig.relocatable=true \
		--prefix=$prefix --libdir=lib ${cross:+--cross-file "$cross/machine.txt" --cross-file packaging/cross/aarch64.txt} \
		>"$out/setup.log" 2>&1 || {
		cat "$out/setup.log" >&2
		exit 1
	}
	ninja -C "$build" --quiet
	rm -rf "$out/root"
	DESTDIR=$out/root meson install -C "$build" --no-rebuild --quiet --strip >/dev/null
}

# The licences and exact versions of all code from other projects.
copy_licences()
{
	mkdir -p "$1"
	cp LICENSE "$1/tracesmith"
	for licence in GPL-2 GPL-3 LGPL-2 LGPL-2.1 LGPL-3; do
		cp "/usr/share/common-licenses/$licence" "$1"
	done
	for package in $static_packages $page_packages libunwind-dev libgcc-12-dev; do
		cp "/usr/share/doc/$package/copyright" "$1/${package%-dev}"
		dpkg-query -W -f '${source:Package} ${source:Version}\n' "$package"
	done | sort -u >"$1/SOURCES"
}

ts_need $TS_DEPS_BUILD $TS_DEPS_TARBALL
mkdir -p "$out"
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
name=tracesmith-$version-linux-$machine
[ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=315532800
export SOURCE_DATE_EPOCH

# tools/python packs no tree of older sources.
rm -f "$out/$name.sources"
sources=$(python3 packaging/sources.py)
if [ -n "${cross:-}" ]; then
	sh packaging/cross/setup.sh --no-tree
fi
# For a library of another project, which is compiled here.
library_cc=${cross:+aarch64-linux-gnu-gcc --sysroot=$cross/sysroot}
library_host=${cross:+aarch64-linux-gnu}
CC=${library_cc:-gcc} TS_HOST=$library_host sh packaging/tarball/libmicrohttpd.sh "$libraries/libmicrohttpd"
build_project
CC=${library_cc:-gcc} TS_HOST=$library_host sh packaging/tarball/libunwind.sh "$libraries/libunwind" "$build/packaging/glibc"
tree=$out/$name
rm -rf "$tree"
mv "$out/root$prefix" "$tree"
rm -rf "$out/root"
install -D -m 644 "$libraries/libunwind/libunwind.so.8" "$tree/lib/tracesmith/libunwind.so.8"
install -m 644 packaging/tarball/ARCHIVE.md "$tree/README.md"
copy_licences "$tree/licenses"
python3 test/unit/glibc/check-symbols.py packaging/glibc/moved.txt --tree "$tree"

rm -f "$out/$name.tar.xz"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --format=gnu -C "$out" -c "$name" |
	xz -9 -T1 >"$out/$name.tar.xz"
echo "$sources" >"$out/$name.sources"
echo "$out/$name.tar.xz"
