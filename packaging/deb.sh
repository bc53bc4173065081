#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh [--output FOLDER] [--revision N]: builds the Debian packages of this tree, and leaves them in FOLDER.
#
# FOLDER is build/deb by default. The tree is copied to FOLDER/tracesmith-VERSION, with packaging/debian as its debian/, and built
# there by debhelper; the copy is removed at the end. All files of the copy have the date of the newest entry in CHANGELOG.md, so the
# same tree gives the same packages.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
output=$root/build/deb
revision=1
while [ $# -gt 0 ]; do
	case $1 in
	--output) output=$2; shift 2 ;;
	--revision) revision=$2; shift 2 ;;
	*) echo "usage: deb.sh [--output FOLDER] [--revision N]" >&2; exit 2 ;;
	esac
done

. "$root/packaging/deps.sh"
ts_need $TS_DEPS_BUILD $TS_DEPS_DEB

version=$(sed -n "s/^    version: '\(.*\)',$/\1/p" "$root/meson.build")
mkdir -p "$output"
output=$(cd "$output" && pwd)
tree=$output/tracesmith-$version
rm -rf "$tree"
mkdir "$tree"

# The files that git knows or would add; without git, all but build folders. An unpacked archive of a release may lie in another
# project's work tree.
if [ "$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$root" && pwd -P)" ]; then
	(cd "$root" && git ls-files -z --cached --others --exclude-standard)
else
	(cd "$root" && find . \( -path './build*' -o -path ./.git \) -prune -o -type f -print0)
fi | tar -C "$root" --null --verbatim-files-from -T - -cf - | tar -C "$tree" -xf -
cp -R "$tree/packaging/debian" "$tree/debian"
python3 "$tree/packaging/debian/changelog.py" --revision "$revision" >"$tree/debian/changelog"
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$tree/debian/changelog" -S Timestamp)
export SOURCE_DATE_EPOCH
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# Nothing of the caller's settings may change the packages.
unset CFLAGS CPPFLAGS CXXFLAGS LDFLAGS CC CXX
if [ -d /usr/lib/ccache ]; then
	PATH=/usr/lib/ccache:$PATH
	# debhelper sets HOME to an empty folder, where ccache would begin anew.
	CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir)}
	CCACHE_CONFIGPATH=${CCACHE_CONFIGPATH:-$HOME/.config/ccache/ccache.conf}
	export CCACHE_DIR CCACHE_CONFIGPATH
	# No objects of builds in other folders: the paths in their debug information differ.
	export CCACHE_BASEDIR= CCACHE_HASHDIR=1
fi
export LC_ALL=C.UTF-8 TZ=UTC PYTHONDONTWRITEBYTECODE=1
umask 022
if ! (cd "$tree" && dpkg-buildpackage -b -us -uc) >"$output/build.log" 2>&1; then
	tail -n 40 "$output/build.log" >&2
	echo "deb.sh: dpkg-buildpackage failed in $tree; its output is in $output/build.log" >&2
	exit 1
fi
rm -rf "$tree"
for package in "$output"/*_"$version-$revision"_*.deb; do
	printf '%s: %s bytes\n' "$package" "$(stat -c %s "$package")"
done
