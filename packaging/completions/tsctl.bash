# SPDX-License-Identifier: Apache-2.0
# Completes tsctl's command lines in bash. `tsctl complete` prints the candidates: commands, options, their words, sessions, and names
# in the trace on the line. If it prints `:files` or `:programs`, this script adds the names of files or programs. No text of the line
# or of a trace is evaluated. `tracesmith`, the console script of the Python package, has the same commands.

# Puts the words of the line into `raw`, and the place of the word that is being typed into `cursor`. That word ends at the cursor.
# Readline has split the words at each character of COMP_WORDBREAKS, so `--format=perfetto` is three words for readline, and so is
# `h200:2`.
_tsctl_words()
{
	local rest=${COMP_LINE:0:COMP_POINT} blanks piece i

	raw=()
	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
		blanks=${rest%%[![:blank:]]*}
		rest=${rest#"$blanks"}
		piece=${COMP_WORDS[i]}
		((i == COMP_CWORD)) && piece=$rest
		rest=${rest#"$piece"}
		if ((i == 0 || i == COMP_CWORD + 1)) || [[ $blanks ]]; then
			raw+=("$piece")
		else
			raw[-1]+=$piece
		fi
		if ((i == COMP_CWORD)); then
			cursor=$((${#raw[@]} - 1))
			# The cursor may stand in a word, whose rest is dropped.
			rest=${COMP_LINE:COMP_POINT}
			rest=${rest#"${rest%%[[:blank:]]*}"}
		fi
	done
}

# Takes the quotes of a word away and puts the text into `text`. If a quote is open at the end, `quote` is its kind (', ", or $ for
# $'...') and `start` the place in the word behind it. Otherwise `start` is the place behind the last character at which readline splits.
_tsctl_unquote()
{
	local word=$1 breaks=$2 c i part= begin=0

	text= quote= start=0
	for ((i = 0; i < ${#word}; i++)); do
		c=${word:i:1}
		case $quote$c in
		\'\' | \"\") quote= ;;
		\'?) text+=$c ;;
		\$\')
			printf -v part %b "$part"
			text+=$part quote=
			;;
		\$\\)
			((i++))
			[[ ${word:i:1} == [\"\'?] ]] || part+=\\
			part+=${word:i:1}
			;;
		\$?) part+=$c ;;
		\"\\)
			[[ ${word:i+1:1} == [\"\\\$\`] ]] || text+=\\
			((i++))
			text+=${word:i:1}
			;;
		\"?) text+=$c ;;
		\\)
			((i++))
			text+=${word:i:1}
			;;
		\' | \")
			quote=$c begin=$((i + 1))
			if [[ $c == \' && ${word:0:i} == *\$ && ${word:0:i} != *\\\$ ]]; then
				quote=\$ part= text=${text%\$}
			fi
			;;
		*)
			text+=$c
			[[ $breaks && $c == ["$breaks"] ]] && start=$((i + 1))
			;;
		esac
	done
	[[ $quote ]] && start=$begin
	if [[ $quote == \$ ]]; then
		printf -v part %b "${part%\\}"
		text+=$part
	fi
	return 0
}

# Puts a name into `quoted`, as text that continues the open quote, if any. Returns 1 if that is impossible.
_tsctl_quote()
{
	local name=$1 open=$2

	case $open in
	\") # A `!` would be expanded.
		[[ $name == *[[:cntrl:]!]* ]] && return 1
		quoted=${name//\\/\\\\}
		quoted=${quoted//\"/\\\"}
		quoted=${quoted//\$/\\\$}
		quoted=${quoted//\`/\\\`}
		;;
	\')
		[[ $name == *[[:cntrl:]]* ]] && return 1
		quoted=${name//\'/\'\\\'\'}
		;;
	\$)
		printf -v quoted %q "$name"
		if [[ $quoted == \$\'*\' ]]; then
			quoted=${quoted:2:-1}
		else
			quoted=${name//\\/\\\\}
			quoted=${quoted//\'/\\\'}
		fi
		;;
	*) printf -v quoted %q "$name" ;;
	esac
}

_tsctl()
{
	local -a raw words=() found=()
	local cursor=0 word before open line path prefix text quote start quoted breaks i is_part=

	_tsctl_words
	for ((i = 0; i < ${#raw[@]}; i++)); do
		_tsctl_unquote "${raw[i]}" ''
		[[ ${raw[i]} == \~/* ]] && text=${HOME-}${text:1}
		words+=("$text")
	done
	word=${raw[cursor]}
	# Readline replaces only the part of the word behind an open quote, or behind the last character at which readline splits. It
	# also replaces an `@` directly before that part.
	breaks=${COMP_WORDBREAKS//[!:=@]/}
	_tsctl_unquote "$word" "$breaks"
	before=${word:0:start} word=$text open=$quote
	case $open in
	\$) before=${before%\$\'} ;;
	?) before=${before%?} ;;
	*) before=${before%@} ;;
	esac
	_tsctl_unquote "$before" ''
	before=$text
	COMPREPLY=()
	while IFS= read -r -d '' line; do
		case $line in
		:files*)
			prefix=${line#* }
			path=${word#"$prefix"}
			while IFS= read -r path; do
				# Readline appends the slash of a folder only if it replaces nothing but the path.
				if [[ $before$prefix && -d $path ]]; then
					path+=/
					compopt -o nospace 2>/dev/null
				fi
				path=$prefix$path
				found+=("${path#"$before"}")
			done < <(compgen -f -- "$path")
			compopt -o filenames 2>/dev/null
			;;
		:programs)
			while IFS= read -r path; do
				found+=("${path#"$before"}")
			done < <(compgen -c -- "$word")
			compopt -o filenames 2>/dev/null
			;;
		:name* | :part*)
			[[ $line == :part* ]] && is_part=yes
			line=${line:6}
			[[ $line == "$before"?* ]] && _tsctl_quote "${line#"$before"}" "$open" && found+=("$quoted")
			;;
		*)
			line=${line%%$'\t'*}
			found+=("${line#"$before"}")
			;;
		esac
	done < <("${words[0]}" complete "--cursor=$((cursor - 1))" "${words[@]:1}" 2>/dev/null)
	COMPREPLY=("${found[@]}")
	# The user continues the word, as behind `mark:`, so append no blank.
	[[ ${#COMPREPLY[@]} -eq 1 && ($is_part || ${COMPREPLY[0]} == *[:=]) ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _tsctl tsctl tracesmith
