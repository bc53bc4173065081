# SPDX-License-Identifier: Apache-2.0
# Completes tsctl's command lines in bash. `tsctl complete` prints the candidates: commands, options, their words and sessions. If
# it prints `:files` or `:programs`, this script adds the names of files or programs.

# Puts the typed words up to the cursor into `words`. Readline has split them at each character of COMP_WORDBREAKS, so
# `--format=perfetto` is three words for readline, and so is `h200:2`.
_tsctl_words()
{
	local rest=${COMP_LINE:0:COMP_POINT} blanks piece i

	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		blanks=${rest%%[![:blank:]]*}
		rest=${rest#"$blanks"}
		piece=${COMP_WORDS[i]}
		# The last word ends at the cursor.
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
	# Readline replaces only the part of the word behind an open quote, or behind the last character at which readline splits. It
	# also replaces an `@` directly before that part.
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
				# Readline appends the slash of a folder only if it replaces nothing but the path.
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
	# The user continues the word, as behind `mark:`, so append no blank.
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _tsctl tsctl
