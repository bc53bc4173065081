#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program for aarch64 by qemu-user: run.sh FOLDER PROGRAM [ARG ...]. FOLDER is the one that setup.sh makes. The program is in
# namespaces of its own, with a binfmt_misc (Linux 6.7), an /etc/ld.so.preload and the sysroot's libraries. So the programs that it
# starts run, too, and the machine's settings stay untouched. On a machine without that, it runs alone: what it starts is not found.
# Tests read TS_EMULATED.
folder=$1
shift

# Gives process $1 all users, after it has entered its user namespace. Only root outside may do this.
map_users()
{
	for _ in 0 1 2 3 4 5 6 7 8 9; do
		if [ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]; then
			for map in gid_map uid_map; do
				echo "0 0 4294967295" >"/proc/$1/$map" || echo "0 0 65536" >"/proc/$1/$map"
			done
			return
		fi
		sleep 0.1
	done
}

case "${TS_EMULATED-}" in
'')
	TS_EMULATED=alone
	QEMU_LD_PREFIX=$folder/sysroot
	export TS_EMULATED QEMU_LD_PREFIX
	[ "$(id -u)" = 0 ] || exec unshare --user --map-root-user --mount sh "$0" "$folder" "$@"
	# A child of a child, because the program must not have a child that it did not start.
	(map_users $$ </dev/null >/dev/null 2>&1 &)
	TS_EMULATED=entered exec unshare --user --mount sh "$0" "$folder" "$@"
	;;
entered)
	for _ in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		[ -z "$(cat /proc/self/uid_map)" ] || break
		sleep 0.1
	done
	# The next program has the rights of this namespace's root.
	TS_EMULATED=alone exec sh "$0" "$folder" "$@"
	;;
alone)
	magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	if {
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
			mount -t overlay none -o "lowerdir=$folder/etc:/etc" /etc &&
			mount -t overlay none -o "lowerdir=$folder/sysroot/usr/lib:/usr/lib" /usr/lib &&
			echo ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):PF" >/proc/sys/fs/binfmt_misc/register
	} 2>/dev/null; then
		TS_EMULATED=all
		exec "$@"
	fi
	LD_PRELOAD=$folder/\$LIB/libemulated.so exec qemu-aarch64-static "$@"
	;;
*)
	exec "$@"
	;;
esac
