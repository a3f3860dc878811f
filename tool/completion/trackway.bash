# SPDX-License-Identifier: BSD-2-Clause
# Completion of trackway for bash: the program itself says what may come, from its tables.

_trackway()
{
    local current=${COMP_WORDS[COMP_CWORD]} is_joined='' line word
    local -a words=()

    # bash makes three words of --format=jsonl, and replaces the last.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [ "$word" = = ] || [ "$is_joined" ]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        [ "$word" = = ] && is_joined=yes || is_joined=''
    done
    [ "$current" = = ] && current=''
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current") ;;
        :folders) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current") ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"${words[-1]%"$current"}"}")
            ;;
        esac
    done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
}

complete -o filenames -F _trackway trackway
