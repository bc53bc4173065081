#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the RPM packages by Debian's rpmbuild, or by that of an RPM system.
#
#	sh packaging/rpm.sh [--spec]
#
# The packages are in build/rpm afterwards, with those of debug symbols and the source package. --spec makes the spec file only,
# build/rpm/SPECS/tracesmith.spec. CC names the compiler, for example "ccache gcc", and TS_JOBS the options of ninja, for example "-j 2".
# The packages' times are those of the last commit, or $SOURCE_DATE_EPOCH, so that two builds are the same byte for byte.

set -eu
cd "$(dirname "$0")/.."
. packaging/deps.sh
top=$PWD/build/rpm
version=$(sed -n "s/^    version: '\(.*\)',$/\1/p" meson.build)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y meson.build)}
export SOURCE_DATE_EPOCH

mkdir -p "$top/SPECS" "$top/SOURCES"
python3 packaging/packages.py spec "$version" "$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')" \
	>"$top/SPECS/tracesmith.spec"
[ "${1:-}" != --spec ] || exit 0
[ $# -eq 0 ] || {
	echo "usage: sh packaging/rpm.sh [--spec]" >&2
	exit 2
}
ts_need $TS_DEPS_BUILD $TS_DEPS_RPM || exit 2

# The files that git knows, changed or not. An unpacked archive of a release has no others, and may lie in another project's work tree.
list=$top/files
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
	git ls-files -z >"$list"
	# RPM systems have no packages of the modules of Studio's page: the source package has those of `npm ci`.
	modules=tools/studio/page/node_modules
	[ ! -d $modules ] || find $modules -type f -print0 >>"$list"
else
	find . \( -path './build*' -o -path ./.git \) -prune -o \( -type f -o -type l \) -print0 >"$list"
fi
name=tracesmith-$version
tar --null -T "$list" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w \
	--transform "s,^\(\./\)\?,$name/," -cf - | gzip -n -9 >"$top/SOURCES/$name.tar.gz"

# Debian's rpm knows no installed packages, so the build's needs are those of deps.sh. On an RPM system rpmbuild checks them.
nodeps=
[ ! -e /etc/debian_version ] || nodeps=--nodeps
rm -rf "$top/BUILD" "$top/BUILDROOT" "$top/RPMS" "$top/SRPMS"
rm -f "$top"/*.rpm
rpmbuild -ba --quiet $nodeps --define "_topdir $top" --define "_buildhost localhost" --define "_smp_mflags ${TS_JOBS:--j$(nproc)}" \
	--define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
	"$top/SPECS/tracesmith.spec" >"$top/build.log" 2>&1 || {
	tail -n 30 "$top/build.log" >&2
	echo "rpmbuild failed: $top/build.log has its output" >&2
	exit 1
}
find "$top/RPMS" "$top/SRPMS" -name '*.rpm' -exec mv {} "$top" \;
rm -rf "$top/BUILD" "$top/BUILDROOT" "$top/RPMS" "$top/SRPMS"
ls -l "$top"/*.rpm
