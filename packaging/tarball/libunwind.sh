#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes libunwind.so.8 for the archive: libunwind.sh FOLDER GLIBC. GLIBC is the build's folder packaging/glibc. FOLDER keeps the
# sources and the library, so that a second call needs neither network nor time. CC names the compiler, and TS_HOST its machine if it is
# a cross compiler.
#
# The shim loads libunwind by dlopen, so it has to be a shared library. Debian's shared one needs glibc 2.34, and Debian's static one
# has code that cannot become part of a shared library. So this script compiles the source package of the installed libunwind-dev.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/source.sh"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
glibc=$(cd "$2" && pwd)
cc=${CC:-gcc}
ts_source libunwind-dev "$folder"

# The folder's name must not get into the library.
compile()
{
	(cd "$ts_source_tree" && ./configure --quiet ${TS_HOST:+--host="$TS_HOST"} --disable-shared --enable-static --with-pic --disable-tests \
		--disable-documentation --disable-coredump --disable-ptrace --disable-setjmp --disable-cxx-exceptions --disable-minidebuginfo \
		--disable-zlibdebuginfo CC="$cc" CFLAGS="-O2 -g0 -fPIC -w -ffile-prefix-map=$ts_source_tree=." &&
		make --quiet -C src) >"$folder/make.log" 2>&1 || {
		cat "$folder/make.log" >&2
		exit 1
	}
}

[ -f "$ts_source_tree/src/.libs/libunwind.a" ] || compile
# --no-as-needed: the references to libpthread are weak, and need its old versions all the same.
# shellcheck disable=SC2086 # a compiler with its options
$cc -shared -s -o "$folder/libunwind.so.8" -Wl,-soname,libunwind.so.8 -Wl,--version-script="$here/libunwind.map" -Wl,-z,now -Wl,-z,defs \
	-Wl,--whole-archive "$ts_source_tree/src/.libs/libunwind.a" -Wl,--no-whole-archive "$glibc/libglibc-own.a" \
	-Wl,--no-as-needed "$glibc/stubs/libpthread.so.0"
