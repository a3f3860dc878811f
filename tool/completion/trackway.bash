# SPDX-License-Identifier: BSD-2-Clause
# Completion of trackway for bash; a test holds it against the program's own help.

_trackway()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options=''

    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'info frames packets decode branches calls profile annotate timeline interrupts coverage merge stats channels pack index snapshot encode record check-sequence sim help --help --version' -- "$current"))
        return
    fi
    case $command in
    info) options='--buffer --source --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --allow-outside --sysroot --symfs --kernel --vdso --build-ids --format -o --output --color -q --quiet -v --verbose -h --help' ;;
    frames) options='--buffer --id --source --from --to --framing --protocol --plugin --config --no-barrier --wrapped-at --strip-stop --allow-outside --all --split --format -o --output --color -q --quiet -h --help' ;;
    packets) options='--buffer --id --source --src --from --to --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --allow-outside --opt --on-error --assume-sync --format --columns -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    decode) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --range --function --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --symbols --allow-outside --sysroot --symfs --kernel --vdso --build-ids --trust-time --perf-style --opt --check --threads --at --count --index --build-index --on-error --assume-sync --instructions --format --columns --clock --errors --stats -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    calls) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --range --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --symbols --allow-outside --sysroot --symfs --kernel --vdso --build-ids --trust-time --threads --on-error --key --tail-calls --stacks --function --events --before --last --source-root --demangle --no-demangle --instructions --format -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    profile) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --range --function --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --symbols --allow-outside --sysroot --symfs --kernel --vdso --build-ids --trust-time --threads --on-error --assume-sync --by --unit --self --limit --inline --demangle --no-demangle --format -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    timeline) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --at --index --range --function --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --on-error --assume-sync --image --symbols --sysroot --symfs --kernel --vdso --build-ids --trust-time --allow-outside --key --tail-calls --unit --min-duration --depth --limit --clock --threads --format -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    interrupts) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --on-error --assume-sync --image --symbols --sysroot --symfs --kernel --vdso --build-ids --trust-time --allow-outside --unit --events --threads --format -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    annotate) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --range --framing --protocol --plugin --config --arch --no-barrier --wrapped-at --strip-stop --image --symbols --allow-outside --sysroot --symfs --kernel --vdso --build-ids --trust-time --threads --on-error --function --source-root --demangle --no-demangle --format -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    merge) options='-o --output -h --help' ;;
    coverage) options='--save --add --each --buffer --id --source --src --cpu --pid --tid --comm --from --to --range --function --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --on-error --image --symbols --sysroot --symfs --kernel --vdso --build-ids --trust-time --allow-outside --threads --format -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    branches) options='--buffer --id --source --src --cpu --pid --tid --comm --from --to --image --sysroot --symfs --kernel --vdso --build-ids --trust-time --perf-style --brstack --period --binary --opt --threads --format --clock -o --output --color -q --quiet -v --verbose -h --help' ;;
    stats) options='--save --buffer --id --source --from --to --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --allow-outside --sysroot --symfs --kernel --vdso --build-ids --threads --on-error --assume-sync --format --clock -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    channels) options='--port --port-format --raw --follow --histogram --buffer --id --source --from --to --framing --protocol --plugin --config --no-barrier --wrapped-at --strip-stop --image --symbols --allow-outside --threads --on-error --assume-sync --format --clock -o --output --color --progress -q --quiet -v --verbose -h --help' ;;
    pack) options='--framing --stream --interleave --trigger --flush --barrier --idle --align --repeat-id --fsync -o --output -h --help' ;;
    index) options='--buffer --id --source --from --to --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --allow-outside --sysroot --at --count --index --detail --block --on-error --assume-sync --all --format --clock -o --output --color -q --quiet -v --verbose -h --help' ;;
    snapshot) options='--source --framing --protocol --plugin --config --preset --arch --no-barrier --wrapped-at --strip-stop --image --sysroot --symfs --kernel --vdso --build-ids --trace --device --reg --dump --cluster --from --description --force -o --output -q --quiet -h --help' ;;
    encode) options='--protocol --elf --config --preset --range --unit --log-repeats --framing --description --force -o --output -v --verbose -h --help' ;;
    record) options='--protocol --config --unit --range --ring --max-size --strobe-on --strobe-off --qemu --plugin --sysroot --format --force -o --output -q --quiet -h --help' ;;
    check-sequence) options='--explain --strict --format -o --output --color -q --quiet -h --help' ;;
    sim) options='--elf --force --format -o --output --color -q --quiet -h --help' ;;
    help)
        COMPREPLY=($(compgen -W 'info frames packets decode branches calls profile annotate timeline interrupts coverage merge stats channels pack index snapshot encode record check-sequence sim' -- "$current"))
        return
        ;;
    esac
    case $before in
    --format)
        COMPREPLY=($(compgen -W "$(trackway "$command" --help 2>/dev/null |
            sed -n 's/^ *--format [A-Z]* *\([^ ]*\) .*/\1/p' | tr '|' ' ')" -- "$current"))
        ;;
    --framing) COMPREPLY=($(compgen -W 'none memory tpiu tpiu-hsync dstream' -- "$current")) ;;
    --perf-style) COMPREPLY=($(compgen -W '6.1 7.2' -- "$current")) ;;
    --color) COMPREPLY=($(compgen -W 'auto always never' -- "$current")) ;;
    --preset) COMPREPLY=($(compgen -W 'minimal exclude include' -- "$current")) ;;
    --detail) COMPREPLY=($(compgen -W 'full sparse source' -- "$current")) ;;
    --on-error) COMPREPLY=($(compgen -W 'resume wait' -- "$current")) ;;
    --progress) COMPREPLY=($(compgen -W 'auto json never' -- "$current")) ;;
    --opt) COMPREPLY=($(compgen -W 'src-addr-n range-limit= repeat-limit= multi-session' -- "$current")) ;;
    --protocol)
        COMPREPLY=($(compgen -W "$(trackway --version 2>/dev/null | sed -n 's/^protocols: //p')" -- "$current"))
        ;;
    --split | --sysroot | --symfs | --build-ids) COMPREPLY=($(compgen -d -- "$current")) ;;
    *)
        case $current in
        --check=*) COMPREPLY=($(compgen -P --check= -W 'opcodes atoms continuity' -- "${current#--check=}")) ;;
        -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
        *) COMPREPLY=($(compgen -f -- "$current")) ;;
        esac
        ;;
    esac
}

complete -o filenames -F _trackway trackway
