# SPDX-License-Identifier: Apache-2.0
# Completes tracesmithd's command lines in fish: options from `tracesmithd --help`, and their values.

function __tracesmithd_options
    for line in (command tracesmithd --help 2>/dev/null)
        set -l found (string match -r '^  (--[a-z-]+)(?:, (--[a-z-]+))?[^ ]*(?: [^ ]+)? +(.*)$' -- $line)
        and for option in $found[2..-2]
            test -n "$option"
            and printf '%s\t%s\n' $option $found[-1]
        end
    end
end

complete -c tracesmithd -f -n 'string match -q -- "-*" (commandline -ct)' -a '(__tracesmithd_options)'
complete -c tracesmithd -f
complete -c tracesmithd -l directory -x -a '(__fish_complete_directories (commandline -ct))'
complete -c tracesmithd -l inject-socket -r -F
complete -c tracesmithd -l control-socket -r -F
complete -c tracesmithd -l stacks -x -a 'native none'
complete -c tracesmithd -l log -x -a 'none error warning info debug'
