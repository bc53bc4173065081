#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tracesmith-preload FOLDER: copies the preloaded libraries of this image into a folder, for programs of other images (in Kubernetes, an
# init container or the service's own pod). The libraries need libc only. Each one gets its name at once, so a program that starts
# meanwhile loads the old file or the new one.

set -eu
[ $# -eq 1 ] || {
	echo "usage: tracesmith-preload FOLDER" >&2
	exit 2
}
mkdir -p "$1"
for library in /usr/lib/libtsinject*.so; do
	name=${library##*/}
	cp "$library" "$1/.$name.$$"
	chmod 644 "$1/.$name.$$"
	mv "$1/.$name.$$" "$1/$name"
done
