#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program for aarch64 by qemu-user: run.sh FOLDER PROGRAM [ARG ...]. FOLDER is the one that setup.sh makes. The program is in
# namespaces of its own, with a binfmt_misc (Linux 6.7) and an /etc/ld.so.preload. So the programs that it starts run, too, and the
# machine's settings stay untouched. On a machine without that, it runs alone: what it starts is not found. Tests read TS_EMULATED.
folder=$1
shift
case "${TS_EMULATED-}" in
'')
	TS_EMULATED=alone
	QEMU_LD_PREFIX=$folder/sysroot
	export TS_EMULATED QEMU_LD_PREFIX
	exec unshare --user --map-root-user --mount sh "$0" "$folder" "$@"
	;;
alone)
	magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	if {
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
			mount -t overlay none -o "lowerdir=$folder/etc:/etc" /etc &&
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
