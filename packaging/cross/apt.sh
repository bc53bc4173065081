# SPDX-License-Identifier: Apache-2.0
# apt-get for Debian's packages for aarch64. Source this file, do not run it:
#
#	. packaging/cross/apt.sh
#	ts_arm_begin FOLDER
#	ts_arm_apt install --download-only libzstd-dev
#
# ts_arm_begin reads the lists of packages of the machine's own apt sources into FOLDER. ts_arm_apt calls apt-get with them: it knows no
# installed packages and takes no lock of the machine's apt, so the machine's packages and their architectures stay untouched.

ts_arm_begin()
{
	ts_arm=$1
	mkdir -p "$ts_arm/lists/partial" "$ts_arm/archives/partial"
	APT_CONFIG=$ts_arm/apt.conf
	export APT_CONFIG
	printf '#clear APT::Architectures;\n#clear APT::Update;\n#clear DPkg;\n' >"$APT_CONFIG"
	ts_arm_apt update
}

ts_arm_apt()
{
	apt-get -qq -y --no-install-recommends -oAPT::Architecture=arm64 -oAPT::Architectures::=arm64 -oAPT::Sandbox::User= \
		-oAcquire::Languages=none -oDebug::NoLocking=true -oDir::State="$ts_arm" -oDir::State::lists="$ts_arm/lists" \
		-oDir::State::status=/dev/null -oDir::State::extended_states="$ts_arm/extended" -oDir::Cache="$ts_arm" \
		-oDir::Cache::archives="$ts_arm/archives" -oAPT::Update::Post-Invoke-Success= -oAPT::Update::Post-Invoke= "$@"
}
