# SPDX-License-Identifier: Apache-2.0
# Completes tsctl's command lines in fish. `tsctl complete` prints the candidates; tsctl.bash describes them. fish quotes a candidate
# when it inserts it: no text of the line or of a trace is evaluated. fish shows a completion only the line up to the cursor, so names
# come from a trace that stands before the cursor.

# Prints the text of the word that is being typed, which may have an open quote.
function __tsctl_typed
    set -l typed (commandline -ct | string collect)
    set -l text (string unescape -- $typed | string collect)
    or set text (string unescape -- $typed'"' | string collect)
    or set text (string unescape -- $typed"'" | string collect)
    or set text $typed
    printf '%s' $text
end

# Prints candidates, each with a NUL behind it.
function __tsctl_complete
    set -l typed (__tsctl_typed | string collect -a)
    set -l before (commandline -opc)
    set -l program (string replace -r '^~/' $HOME/ -- $before[1])
    set -l line
    # Without a text, string would read stdin.
    set -q before[2]
    and set line (string replace -r '^~/' $HOME/ -- $before[2..-1])
    set -a line "$typed"
    for record in ($program complete --cursor=(math (count $before) - 1) $line 2>/dev/null | string split0)
        switch $record
            case ':files*'
                set -l prefix (string replace -r '^:files ' '' -- $record)
                set -l path (string sub -s (math (string length -- "$prefix") + 1) -- $typed)
                set -l found
                if string match -qr '[:=]' -- $path
                    # For fish a path would begin behind these.
                    for file in $path*
                        test -d $file
                        and set -a found $file/
                        or set -a found $file
                    end
                else
                    set found (complete -C "'' "(string escape -- $path))
                end
                for file in $found
                    printf '%s%s\0' $prefix $file
                end
            case ':programs'
                for found in (complete -C (string escape -- $typed))
                    printf '%s\0' $found
                end
            case ':name *' ':part *'
                # Behind a tab fish would see a description.
                string match -q "*"\t"*" -- $record
                or printf '%s\0' (string sub -s 7 -- $record | string collect)
            case '*'
                printf '%s\0' $record
        end
    end
end

complete -c tsctl -c tracesmith -f -a '(__tsctl_complete | string split0)'
