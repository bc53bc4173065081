#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints Homebrew's formula for a release.
#
#	sh packaging/homebrew/formula.sh ADDRESS ARCHIVE >tracesmith.rb
#
# ADDRESS is the archive's address, and ARCHIVE the same file here (`meson dist` makes it), for its checksum. The homepage is that of
# packaging/packages.txt. Without one the formula has none, and `brew audit` reports it.

set -eu
[ $# -eq 2 ] && [ -f "$2" ] || {
	echo "usage: sh packaging/homebrew/formula.sh ADDRESS ARCHIVE" >&2
	exit 2
}
sum=$(sha256sum "$2")
address=$(PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/../project.py" get Address)
sed -e "s|^  url .*|  url \"$1\"|" ${address:+-e "s|^  url |  homepage \"$address\"\n&|"} -e "s|^  sha256 .*|  sha256 \"${sum%% *}\"|" \
	-e "/^# Homebrew's formula/s/\. packaging.*/./" -e '/^# checksum of a release/d' "$(dirname "$0")/tracesmith.rb"
