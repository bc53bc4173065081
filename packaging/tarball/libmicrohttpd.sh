#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes a static libmicrohttpd for the archive's tracesmith-studio: libmicrohttpd.sh FOLDER. Its pkg-config file is in
# FOLDER/lib/pkgconfig. FOLDER keeps sources and library, so that a second call needs neither network nor time. CC names the
# compiler, and TS_HOST its machine if it is a cross compiler.
#
# Debian's static library needs GnuTLS, and Debian has no static library of all that GnuTLS needs. Studio serves the loopback interface
# without TLS. So this script compiles the source package of the installed libmicrohttpd-dev, without TLS and without passwords.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/source.sh"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
ts_source libmicrohttpd-dev "$folder"

# The folder's name must not get into the library.
compile()
{
	(cd "$ts_source_tree" && ./configure --quiet ${TS_HOST:+--host="$TS_HOST"} --prefix="$folder" --libdir="$folder/lib" --disable-shared --enable-static --with-pic \
		--disable-https --disable-bauth --disable-dauth --disable-httpupgrade --disable-postprocessor --disable-curl --disable-doc \
		--disable-examples CC="${CC:-gcc}" CFLAGS="-O2 -g0 -fPIC -w -ffile-prefix-map=$ts_source_tree=." &&
		make --quiet -C src/microhttpd install && make --quiet -C src/include install && make --quiet install-pkgconfigDATA) >"$folder/make.log" 2>&1 || {
		cat "$folder/make.log" >&2
		exit 1
	}
}

[ -f "$folder/lib/pkgconfig/libmicrohttpd.pc" ] || compile
