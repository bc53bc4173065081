# SPDX-License-Identifier: Apache-2.0
# Completion of tsctl's command lines in bash. Commands, options, their words and sessions are known to
# `tsctl complete`; files and programs are listed here where it asks for them.

# The words up to the cursor, as they were typed. Readline has split them at each character of
# COMP_WORDBREAKS: `--format=perfetto` is three of its words, `h200:2` as well.
_tsctl_words()
{
	local rest=${COMP_LINE:0:COMP_POINT} blanks piece i

	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		blanks=${rest%%[![:blank:]]*}
		rest=${rest#"$blanks"}
		piece=${COMP_WORDS[i]}
		# The last one ends at the cursor.
		((i == COMP_CWORD)) && piece=$rest
		rest=${rest#"$piece"}
		if ((i == 0)) || [[ $blanks ]]; then
			words+=("$piece")
		else
			words[-1]+=$piece
		fi
	done
}

_tsctl()
{
	local -a words found=()
	local word before breaks line prefix path

	_tsctl_words
	word=${words[-1]}
	# Readline replaces what follows an open quote, or the last character at which it splits; an `@` too.
	breaks=${COMP_WORDBREAKS//[!:=@]/}
	before=
	if [[ ${word//\\?/} == *[\"\']* ]]; then
		before=${word%%[\"\']*}
	elif [[ $breaks && $word == *["$breaks"]* ]]; then
		before=${word%"${word##*["$breaks"]}"}
		before=${before%@}
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files*)
			prefix=${line#* }
			path=${word#"$prefix"}
			path=${path#[\"\']}
			while IFS= read -r path; do
				# Readline marks a folder itself only where the path is all that it replaces.
				if [[ $before$prefix && -d $path ]]; then
					path+=/
					compopt -o nospace 2>/dev/null
				fi
				found+=("$prefix$path")
			done < <(compgen -f -- "$path")
			compopt -o filenames 2>/dev/null
			;;
		:programs)
			while IFS= read -r path; do
				found+=("$path")
			done < <(compgen -c -- "$word")
			compopt -o filenames 2>/dev/null
			;;
		*)
			found+=("$line")
			;;
		esac
	done < <("${words[0]/#\~\//${HOME-}/}" complete "${words[@]:1}" 2>/dev/null)
	for line in "${found[@]}"; do
		COMPREPLY+=("${line#"$before"}")
	done
	# More follows, as behind `mark:`.
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _tsctl tsctl
