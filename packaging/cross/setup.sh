#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Configures a build for aarch64 by Debian's cross compiler, with programs under qemu-user:
#
#	sh packaging/cross/setup.sh [MESON OPTION ...]
#	ninja -C build/aarch64/tree
#
# Everything lies below build/aarch64: sysroot/ (sysroot.sh), lib/ (emulated.c), etc/, machine.txt, tree/. With --no-tree alone, the
# script makes all but tree/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$root/build/aarch64
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64-static; do
	command -v $tool >/dev/null || {
		echo "no $tool; as root run: apt-get install --no-install-recommends gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static" >&2
		exit 77
	}
done
mkdir -p "$folder"
sh "$here/sysroot.sh" "$folder/sysroot"
# Programs for both machines load it (run.sh), so there is one without content for the machine's own.
mkdir -p "$folder/etc" "$folder/lib/aarch64-linux-gnu" "$folder/lib/$(cc -print-multiarch)"
aarch64-linux-gnu-gcc --sysroot="$folder/sysroot" -D_GNU_SOURCE -O2 -Wall -Wextra -shared -fPIC \
	-o "$folder/lib/aarch64-linux-gnu/libemulated.so" "$here/emulated.c"
echo "extern int ts_no_emulation;" | cc -shared -fPIC -x c - -o "$folder/lib/$(cc -print-multiarch)/libemulated.so"
echo "$folder/\$LIB/libemulated.so" >"$folder/etc/ld.so.preload"
# A new file would make meson configure the tree again.
printf "[constants]\nfolder = '%s'\ncross = '%s'\n" "$folder" "$here" >"$folder/machine.new"
cmp -s "$folder/machine.new" "$folder/machine.txt" || cp "$folder/machine.new" "$folder/machine.txt"
rm "$folder/machine.new"
[ "${1:-}" != --no-tree ] || exit 0
if [ -f "$folder/tree/build.ninja" ]; then
	[ $# = 0 ] || meson configure "$folder/tree" "$@"
else
	meson setup "$folder/tree" "$root" --cross-file "$folder/machine.txt" --cross-file "$here/aarch64.txt" \
		-Dbuildtype=debugoptimized -Dnvcc=disabled "$@"
fi
