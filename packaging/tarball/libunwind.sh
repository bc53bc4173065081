#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes libunwind.so.8 for the archive: libunwind.sh FOLDER GLIBC. GLIBC is the build's folder packaging/glibc. FOLDER keeps the
# sources and the library, so that a second call needs neither network nor time.
#
# The shim loads libunwind by dlopen, so it has to be a shared library. Debian's shared one needs glibc 2.34, and Debian's static one
# has code that cannot become part of a shared library. So this script compiles the source package of the installed libunwind-dev.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
glibc=$(cd "$2" && pwd)
version=$(dpkg-query -W -f '${source:Version}' libunwind-dev)
source=$folder/libunwind-$version

# Gets the source package, with lists of packages of its own, which also name sources.
fetch()
{
	lists=$folder/apt
	mkdir -p "$lists/parts" "$lists/state/partial" "$lists/cache/archives/partial"
	for file in /etc/apt/sources.list.d/debian*.sources; do
		[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$lists/parts/${file##*/}"
	done
	[ ! -f /etc/apt/sources.list ] || sed -n 's/^deb\(-src\)\{0,1\} /deb-src /p' /etc/apt/sources.list | sort -u >"$lists/parts/main.list"
	set -- -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$lists/parts" -o Dir::State::lists="$lists/state" \
		-o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root
	apt-get "$@" update >"$folder/fetch.log" 2>&1
	(cd "$folder" && apt-get "$@" source --download-only "libunwind=$version" >>"$folder/fetch.log" 2>&1)
	rm -rf "$lists"
}

compile()
{
	[ -n "$(ls "$folder/libunwind_$version.dsc" 2>/dev/null)" ] || fetch || {
		cat "$folder/fetch.log" >&2
		echo "libunwind.sh: cannot get the source package libunwind $version; put its files into $folder" >&2
		exit 1
	}
	rm -rf "$source" "$source.part"
	dpkg-source --no-check -x "$folder/libunwind_$version.dsc" "$source.part" >/dev/null
	# The folder's name must not get into the library.
	(cd "$source.part" && ./configure --quiet --disable-shared --enable-static --with-pic --disable-tests --disable-documentation \
		--disable-coredump --disable-ptrace --disable-setjmp --disable-cxx-exceptions --disable-minidebuginfo \
		--disable-zlibdebuginfo CFLAGS="-O2 -g0 -fPIC -w -ffile-prefix-map=$source.part=." &&
		make --quiet -C src) >"$folder/make.log" 2>&1 || {
		cat "$folder/make.log" >&2
		exit 1
	}
	mv "$source.part" "$source"
}

[ -f "$source/src/.libs/libunwind.a" ] || compile
# --no-as-needed: the references to libpthread are weak, and need its old versions all the same.
gcc -shared -s -o "$folder/libunwind.so.8" -Wl,-soname,libunwind.so.8 -Wl,--version-script="$here/libunwind.map" -Wl,-z,now -Wl,-z,defs \
	-Wl,--whole-archive "$source/src/.libs/libunwind.a" -Wl,--no-whole-archive "$glibc/libglibc-own.a" \
	-Wl,--no-as-needed "$glibc/stubs/libpthread.so.0"
