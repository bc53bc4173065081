# SPDX-License-Identifier: Apache-2.0
# Completes tracesmithd's command lines in bash: options from `tracesmithd --help`, and their values.

_tracesmithd()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values= line

	# Readline splits `--log=debug` at the `=`.
	[[ $word == = ]] && word=
	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	COMPREPLY=()
	case $before in
	--directory | --inject-socket | --control-socket)
		while IFS= read -r line; do
			COMPREPLY+=("$line")
		done < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	--stacks) values='native none' ;;
	--log) values='none error warning info debug' ;;
	--kernel-events) values='all sched faults syscalls stacks block memory driver samples' ;;
	*)
		[[ $word == -* ]] || return
		values=$("${COMP_WORDS[0]/#\~\//${HOME-}/}" --help 2>/dev/null |
			sed -n 's/^  \(--[a-z-]*\)\(, \(--[a-z-]*\)\)\{0,1\}.*/\1 \3/p')
		;;
	esac
	while IFS= read -r line; do
		COMPREPLY+=("$line")
	done < <(compgen -W "$values" -- "$word")
}

complete -F _tracesmithd tracesmithd
