# SPDX-License-Identifier: Apache-2.0
# Gets Debian's source package of an installed library. Source this file, do not run it:
#
#	. packaging/tarball/source.sh
#	ts_source libunwind-dev FOLDER
#
# ts_source unpacks the source package of the installed version into FOLDER/SOURCE-VERSION, and sets ts_source_tree to that folder. The
# source package stays in FOLDER, so that a second call needs no network.

# Gets the files of a source package, with lists of packages of its own, which also name sources.
ts_fetch()
{
	lists=$1/apt
	mkdir -p "$lists/parts" "$lists/state/partial" "$lists/cache/archives/partial"
	for file in /etc/apt/sources.list.d/debian*.sources; do
		[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$lists/parts/${file##*/}"
	done
	[ ! -f /etc/apt/sources.list ] || sed -n 's/^deb\(-src\)\{0,1\} /deb-src /p' /etc/apt/sources.list | sort -u >"$lists/parts/main.list"
	set -- "$1" "$2" -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$lists/parts" -o Dir::State::lists="$lists/state" \
		-o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root
	folder=$1 wanted=$2
	shift 2
	apt-get "$@" update >"$folder/fetch.log" 2>&1
	(cd "$folder" && apt-get "$@" source --download-only "$wanted" >>"$folder/fetch.log" 2>&1) || return 1
	rm -rf "$lists"
}

ts_source()
{
	ts_source_name=$(dpkg-query -W -f '${source:Package}' "$1")
	version=$(dpkg-query -W -f '${source:Version}' "$1")
	ts_source_tree=$2/$ts_source_name-$version
	[ ! -d "$ts_source_tree" ] || return 0
	description=$2/${ts_source_name}_${version#*:}.dsc
	[ -f "$description" ] || ts_fetch "$2" "$ts_source_name=$version" || {
		cat "$2/fetch.log" >&2
		echo "cannot get the source package $ts_source_name $version; put its files into $2" >&2
		exit 1
	}
	rm -rf "$ts_source_tree.part"
	dpkg-source --no-check -x "$description" "$ts_source_tree.part" >/dev/null
	mv "$ts_source_tree.part" "$ts_source_tree"
}
