#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the image localhost/tracesmith:VERSION by buildah, podman or docker.
#
#	sh packaging/container/build.sh [OPTION ...]
#
# The options go to the tool, for example `--build-arg BASE=IMAGE`. TOOL names the tool with its own options: TOOL="buildah
# --storage-driver vfs". The image has the files that git knows, changed or not.

set -eu
cd "$(dirname "$0")/../.."
tool=${TOOL:-}
for name in buildah podman docker; do
	[ -n "$tool" ] || ! command -v $name >/dev/null || tool=$name
done
[ -n "$tool" ] || {
	echo "packaging/container/build.sh needs buildah, podman or docker" >&2
	exit 2
}
version=$(sed -n "s/^    version: '\(.*\)',$/\1/p" meson.build)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	git ls-files -z | grep -zv '^test/'
else
	find . \( -path ./build -o -path ./test \) -prune -o \( -type f -o -type l \) -print0
fi >"$context.files"
tar --null -T "$context.files" -cf - | tar -xf - -C "$context"
rm "$context.files"
# shellcheck disable=SC2086
$tool build --build-arg VERSION="$version" --build-arg REVISION="$revision" -t "localhost/tracesmith:$version" \
	-f packaging/container/Dockerfile "$@" "$context"
