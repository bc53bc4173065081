#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the image localhost/tracesmith:VERSION (packaging/packages.txt has the name) by buildah, podman or docker.
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
image=$(PYTHONDONTWRITEBYTECODE=1 python3 packaging/project.py get Image)
address=$(PYTHONDONTWRITEBYTECODE=1 python3 packaging/project.py get Address)
revision=unknown
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
# An unpacked archive of a release may lie in another project's work tree.
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
	revision=$(git rev-parse HEAD)
	git ls-files -z | grep -zv '^test/' >"$context.files"
else
	find . \( -path './build*' -o -path ./test -o -path ./.git \) -prune -o \( -type f -o -type l \) -print0 >"$context.files"
fi
tar --null -T "$context.files" -cf - | tar -xf - -C "$context"
rm "$context.files"
# shellcheck disable=SC2086
$tool build --build-arg VERSION="$version" --build-arg REVISION="$revision" -t "$image:$version" \
	${address:+--label "org.opencontainers.image.url=$address"} \
	-f packaging/container/Dockerfile "$@" "$context"
