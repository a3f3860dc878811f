/* SPDX-License-Identifier: BSD-2-Clause */
/* size: table */
/* Every option of every command: its name, value, help, and where it is kept. */
#include "shared/options.h"

#include <stdlib.h>
#include <string.h>

static bool set_ids(struct options *options, const char *value)
{
    for (const char *at = value;; at++) {
        const size_t size = strcspn(at, ",");
        uint64_t id;

        if (!parse_number_size(&id, at, size) || id > 0x7f)
            return options_wrong(options,
                                 "--id: \"%.*s\" is no trace ID; give numbers from 0 to 0x7f, "
                                 "such as 0x10,0x11",
                                 (int)size, at);
        options->ids[id / 64] |= (uint64_t)1 << id % 64;
        options->has_ids = true;
        at += size;
        if (!*at)
            return true;
    }
}

static bool set_numbers(struct options *options, struct numbers *numbers, const char *name,
                        const char *value)
{
    for (const char *at = value;; at++) {
        const size_t size = strcspn(at, ",");
        uint32_t *more = realloc(numbers->items, (numbers->count + 1) * sizeof *more);
        uint64_t number;

        if (more)
            numbers->items = more;
        if (!parse_number_size(&number, at, size) || number > UINT32_MAX)
            return options_wrong(options, "--%s: \"%.*s\" is no number", name, (int)size, at);
        if (!more)
            out_of_memory();
        numbers->items[numbers->count++] = (uint32_t)number;
        at += size;
        if (!*at)
            return true;
    }
}

static bool set_srcs(struct options *options, const char *value)
{
    return set_numbers(options, &options->srcs, "src", value);
}

static bool set_cpus(struct options *options, const char *value)
{
    return set_numbers(options, &options->cpus, "cpu", value);
}

static bool set_pids(struct options *options, const char *value)
{
    return set_numbers(options, &options->pids, "pid", value);
}

static bool set_tids(struct options *options, const char *value)
{
    return set_numbers(options, &options->tids, "tid", value);
}

/* OFFSET, t:TIMESTAMP, SECONDSs or n:INSTRUCTIONS. */
static bool set_bound(struct options *options, struct bound *bound, const char *name,
                      const char *value)
{
    char *end;

    *bound = (struct bound){ .is_given = true };
    if (value[0] && value[1] == ':' && (value[0] == 't' || value[0] == 'n')) {
        bound->kind = value[0] == 't' ? BOUND_TIME : BOUND_INSTRUCTIONS;
        if (parse_number(&bound->value, value + 2))
            return true;
    } else if (parse_number(&bound->value, value)) {
        return true;
    } else {
        bound->kind = BOUND_SECONDS;
        bound->seconds = strtod(value, &end);
        if (end > value && strcmp(end, "s") == 0 && bound->seconds >= 0)
            return true;
    }
    return options_wrong(options,
                         "--%s: \"%s\" is no place; give an offset in the capture, "
                         "t:TIMESTAMP, SECONDSs or n:INSTRUCTIONS",
                         name, value);
}

static bool set_from(struct options *options, const char *value)
{
    return set_bound(options, &options->from, "from", value);
}

static bool set_to(struct options *options, const char *value)
{
    return set_bound(options, &options->to, "to", value);
}

/* A value with a colon declares a source, one without selects by name. */
static bool set_source(struct options *options, const char *value)
{
    const char *colon = strchr(value, ':');
    uint64_t id;

    if (!colon)
        return list_add(&options->source_names, value);
    if (!parse_number_size(&id, value, (size_t)(colon - value)) || id > 0x7f || !colon[1])
        return options_wrong(options,
                             "--source: \"%s\" is neither the name of a source nor "
                             "ID:PROTOCOL[:CONFIG], such as 0x10:etmv4:regs.ini",
                             value);
    return list_add(&options->sources, value);
}

static bool set_range(struct options *options, const char *value)
{
    const char *dash = strchr(value, '-');
    struct address_range *range = &options->range;

    if (!dash || !parse_number_size(&range->first, value, (size_t)(dash - value)) ||
        !parse_number(&range->end, dash + 1) || range->end <= range->first)
        return options_wrong(options,
                             "--range: \"%s\" is no range of addresses; write FIRST-END, "
                             "such as 0x8000-0x9000",
                             value);
    range->is_given = true;
    return true;
}

static bool set_opt(struct options *options, const char *value)
{
    static const char limit[] = "range-limit=", repeats[] = "repeat-limit=";

    if (strcmp(value, "src-addr-n") == 0) {
        options->source_address_n = true;
        return true;
    }
    if (strcmp(value, "multi-session") == 0) {
        options->multi_session = true;
        return true;
    }
    if (strncmp(value, limit, sizeof limit - 1) == 0) {
        struct number *number = &options->range_limit;

        number->is_given = parse_number(&number->value, value + sizeof limit - 1);
        if (number->is_given && number->value > 0 && number->value <= UINT32_MAX)
            return true;
        return options_wrong(options, "--opt: range-limit wants a number from 1 to 4294967295");
    }
    if (strncmp(value, repeats, sizeof repeats - 1) == 0) {
        struct number *number = &options->repeat_limit;

        number->is_given = parse_number(&number->value, value + sizeof repeats - 1);
        return number->is_given || options_wrong(options, "--opt: repeat-limit wants a number");
    }
    return options_wrong(options,
                         "--opt: there is no \"%s\"; there are src-addr-n, range-limit=N, "
                         "repeat-limit=N, multi-session",
                         value);
}

static bool set_check(struct options *options, const char *value)
{
    static const char *const names[] = { "opcodes", "atoms", "continuity" };

    if (!value) {
        options->checks = CHECK_ALL;
        return true;
    }
    for (const char *at = value;; at++) {
        const size_t size = strcspn(at, ",");
        unsigned bit = 0;

        while (bit < 3 && !is_choice(names[bit], at, size))
            bit++;
        if (bit == 3)
            return options_wrong(options,
                                 "--check: there is no \"%.*s\"; there are opcodes, atoms, "
                                 "continuity",
                                 (int)size, at);
        options->checks |= 1u << bit;
        at += size;
        if (!*at)
            return true;
    }
}

static bool set_color(struct options *options, const char *value)
{
    static const char *const names[] = { "auto", "always", "never" };

    for (unsigned wish = COLOR_AUTO; wish <= COLOR_NEVER; wish++) {
        if (strcmp(names[wish], value) == 0) {
            options->color = (enum color_wish)wish;
            return true;
        }
    }
    return options_wrong(options, "--color: there is no \"%s\"; there is auto|always|never",
                         value);
}

/* Markers of all kinds keep their order in one list: the kind is told by the text before. */
static bool add_marker(struct options *options, const char *kind, const char *value)
{
    return list_add(&options->markers, kind) && list_add(&options->markers, value);
}

static bool set_trigger(struct options *options, const char *value)
{
    return add_marker(options, "trigger", value);
}

static bool set_flush(struct options *options, const char *value)
{
    return add_marker(options, "flush", value);
}

static bool set_barrier(struct options *options, const char *value)
{
    return add_marker(options, "barrier", value);
}

static bool set_idle(struct options *options, const char *value)
{
    return add_marker(options, "idle", value);
}

#define AT(member) offsetof(struct options, member)

/* clang-format off */
const struct option_row option_rows[OPTION_COUNT] = {
    [O_BUFFER] = { "buffer", "NAME", NULL, "only this trace buffer", .offset = AT(buffer), .kind = KIND_TEXT },
    [O_ID] = { "id", "ID[,ID...]", NULL, "only these trace IDs", .kind = KIND_OTHER, .set = set_ids },
    [O_SOURCE] = { "source", "NAME|ID:PROTOCOL[:CONFIG]", NULL,
        "NAME: only this source, may be repeated; with colons:\n"
        "declares a source of a raw file, may be repeated", .kind = KIND_OTHER, .set = set_source },
    [O_SRC] = { "src", "N[,N...]", NULL, "only these of the sources that share a stream", .kind = KIND_OTHER, .set = set_srcs },
    [O_CPU] = { "cpu", "N[,N...]", NULL, "perf.data: only what these CPUs executed", .kind = KIND_OTHER, .set = set_cpus },
    [O_PID] = { "pid", "N[,N...]", NULL, "perf.data: only these processes", .kind = KIND_OTHER, .set = set_pids },
    [O_TID] = { "tid", "N[,N...]", NULL, "perf.data: only these threads", .kind = KIND_OTHER, .set = set_tids },
    [O_COMM] = { "comm", "NAME", NULL, "perf.data: only threads of this name; may be repeated", .offset = AT(comms), .kind = KIND_LIST },
    [O_FROM] = { "from", "PLACE", NULL,
        "only what is there or later: a capture offset, t:TIMESTAMP,\nSECONDSs, or n:N (instructions from the start)",
        .kind = KIND_OTHER, .set = set_from },
    [O_TO] = { "to", "PLACE", NULL, "only what is before that", .kind = KIND_OTHER, .set = set_to },
    [O_PART] = { "part", "K/N", NULL,
        "only part K of N, cut as \"trackway shard\" does: results that --save\nkept of all of them merge to that of the whole; with --parts: K", .offset = AT(part), .kind = KIND_TEXT },
    [O_PARTS] = { "parts", "FILE", NULL, "the parts that \"trackway shard\" wrote there", .offset = AT(parts), .kind = KIND_TEXT },
    [O_RANGE] = { "range", "FIRST-END", NULL,
        "only what executed from address FIRST up to, not including, END",
        .kind = KIND_OTHER, .set = set_range },
    [O_FUNCTION] = { "function", "NAME", NULL,
        "only what executed in this function; may be repeated", .offset = AT(functions), .kind = KIND_LIST },

    [O_FRAMING] = { "framing", "KIND", "none|memory|tpiu|tpiu-hsync|dstream",
        "raw file: how the sources are mixed (default: none with one\n"
        "source, memory with several)", .offset = AT(framing), .kind = KIND_CHOICE },
    [O_PROTOCOL] = { "protocol", "NAME", NULL,
        "of a raw file with one source (see --version), or to encode", .offset = AT(protocol), .kind = KIND_TEXT },
    [O_PLUGIN] = { "plugin", "FILE", NULL,
        "load protocols from a shared object (docs/api.md); may be\nrepeated", .offset = AT(plugins), .kind = KIND_LIST },
    [O_CONFIG] = { "config", "K=V,K=V...|FILE", NULL,
        "registers: of a raw file with one source, or to encode with", .offset = AT(config), .kind = KIND_TEXT },
    [O_ARCH] = { "arch", "NAME", NULL,
        "the traced cores are of this kind (Cortex-A57, ARM-AA64,\nARMv7-M ...), whatever the capture says",
        .offset = AT(arch), .kind = KIND_TEXT },
    [O_NO_BARRIER] = { "no-barrier", NULL, NULL,
        "frames: four frame syncs in a row are data, not a reset", .offset = AT(no_barrier), .kind = KIND_FLAG },
    [O_WRAPPED_AT] = { "wrapped-at", "OFFSET", NULL,
        "the buffer wrapped: its oldest byte lies at OFFSET", .offset = AT(wrapped_at), .kind = KIND_NUMBER },
    [O_SWAP] = { "swap", "N", NULL, "reverse the order of bytes in groups of N: 2, 4, 8, 16",
                 .offset = AT(swap), .kind = KIND_NUMBER },
    [O_SKIP] = { "offset", "N", NULL, "the first frame begins N bytes into the file",
                 .offset = AT(skip), .kind = KIND_NUMBER },
    [O_STRIP_STOP] = { "strip-stop", NULL, NULL,
        "unframed: drop the stop marker (01, then zeros) at the end", .offset = AT(strip_stop), .kind = KIND_FLAG },
    [O_IMAGE] = { "image", "FILE[@BIAS][,space=S][,src=N]", NULL,
        "more program memory: ELF, segment list or flat; BIAS is\n"
        "added to its addresses, or is where a flat file lies; src:\nfor one of the sources that share a stream; may be repeated", .offset = AT(images), .kind = KIND_LIST },
    [O_SYMBOLS] = { "symbols", "FILE[@BIAS]", NULL,
        "ELF file with the names and source lines of the code; BIAS\nis added to its addresses; may be repeated", .offset = AT(symbols), .kind = KIND_LIST },
    [O_ALLOW_OUTSIDE] = { "allow-outside", NULL, NULL,
        "a snapshot or script may name files outside its folder", .offset = AT(allow_outside), .kind = KIND_FLAG },

    [O_NO_SANDBOX] = { "no-sandbox", NULL, NULL,
        "keep what the command does not need: other programs, the\nnetwork (Linux; SECURITY.md)", .offset = AT(no_sandbox), .kind = KIND_FLAG },
    [O_SYSROOT] = { "sysroot", "DIR", NULL,
        "perf.data: folder with the traced machine's files", .offset = AT(sysroot), .kind = KIND_TEXT },
    [O_SYMFS] = { "symfs", "DIR", NULL, "the same, as perf calls it", .offset = AT(sysroot), .kind = KIND_TEXT },
    [O_KERNEL] = { "kernel", "FILE", NULL,
        "perf.data: the traced kernel, vmlinux or kcore", .offset = AT(kernel), .kind = KIND_TEXT },
    [O_VDSO] = { "vdso", "FILE", NULL, "perf.data: the traced machine's [vdso]", .offset = AT(vdso), .kind = KIND_TEXT },
    [O_BUILD_IDS] = { "build-ids", "DIR", NULL,
        "perf.data: files by build ID (default ~/.debug)", .offset = AT(build_ids), .kind = KIND_TEXT },
    [O_TRUST_TIME] = { "trust-time", NULL, NULL,
        "perf.data: timestamps in the trace count the kernel's clock,\neven where the recording does not say so", .offset = AT(trust_time), .kind = KIND_FLAG },
    [O_PERF_STYLE] = { "perf-style", "VERSION", "6.1|7.2",
        "how perf of this version names begin and end of trace\n(default 7.2)", .offset = AT(perf_style), .kind = KIND_CHOICE },
    [O_BRSTACK] = { "brstack", "N", NULL,
        "samples with the last N branches, not each branch", .offset = AT(brstack), .kind = KIND_NUMBER },
    [O_PERIOD] = { "period", "N", NULL,
        "a sample after each N instructions (default 1000)", .offset = AT(period), .kind = KIND_NUMBER },
    [O_BINARY] = { "binary", "NAME", NULL,
        "autofdo: this program or library, by path, last name or\nbuild ID (default: the one that most branches are in)", .offset = AT(binary), .kind = KIND_TEXT },

    [O_OPT] = { "opt", "NAME[=VALUE]", "src-addr-n|range-limit=|repeat-limit=|multi-session",
        "src-addr-n: split source-address ranges at waypoints that\nwere not taken; "
        "range-limit=N: instructions without a\nwaypoint that count as runaway code (default 1048576);\n"
        "repeat-limit=N: ranges that path, pcs, runs and\n--instructions list again where the trace says that they\n"
        "repeat (default 4194304, and 1024 for each byte of trace);\n"
        "multi-session: all buffers through the decoders of the first",
        .kind = KIND_OTHER, .set = set_opt },
    [O_CHECK] = { "check", "LIST", "opcodes|atoms|continuity",
        "consistency checks: opcodes, atoms, continuity; alone: all", .kind = KIND_OTHER,
        .is_optional = true, .set = set_check },

    [O_THREADS] = { "threads", "N", NULL,
        "decode on N threads (default: all cores, where the capture is\nlarge); the result is the same", .offset = AT(threads), .kind = KIND_NUMBER },
    [O_AT] = { "at", "PLACE", NULL,
        "begin there: TIMESTAMP, SECONDSs (with --clock), +OFFSET,\ntrigger:N, event:N, sync:N or trace-on:N, counted from 1",
        .offset = AT(at), .kind = KIND_TEXT },
    [O_COUNT] = { "count", "N", NULL, "no more than N elements, or entries of an index", .offset = AT(count), .kind = KIND_NUMBER },
    [O_INDEX] = { "index", "FILE", NULL, "the capture's index (default: CAPTURE.twx, if it is there)", .offset = AT(index), .kind = KIND_TEXT },
    [O_BUILD_INDEX] = { "build-index", NULL, NULL, "write the capture's index too, made while all is decoded", .offset = AT(build_index), .kind = KIND_FLAG },
    [O_DETAIL] = { "detail", "KIND", "full|sparse|source",
        "full: each entry (default); sparse: counts and times of\neach block; source: the capture's blocks alone", .offset = AT(detail), .kind = KIND_CHOICE },
    [O_BLOCK] = { "block", "BYTES", NULL, "of a block: a power of two, 512 or more (default 64k)", .offset = AT(block), .kind = KIND_NUMBER },
    [O_ON_ERROR] = { "on-error", "WHAT", "resume|wait",
        "ITM, after bad bytes: resume at the next byte, or wait for\nthe next sync (default: resume when unframed)",
        .offset = AT(on_error), .kind = KIND_CHOICE },
    [O_ASSUME_SYNC] = { "assume-sync", NULL, NULL,
        "ITM: the first byte begins a packet, do not wait for sync", .offset = AT(assume_sync), .kind = KIND_FLAG },

    [O_PORT] = { "port", "N", NULL, "only what was written to this ITM port or STM channel", .offset = AT(port), .kind = KIND_NUMBER },
    [O_PORT_FORMAT] = { "port-format", "N=F,N=F...", NULL,
        "text: values written to port N, printed by F: %d, %u, %08x, %c, %f ...", .offset = AT(port_format), .kind = KIND_TEXT },
    [O_HISTOGRAM] = { "histogram", NULL, NULL,
        "live, with --image or --symbols: once a second, how the PC samples so\nfar spread over functions", .offset = AT(histogram), .kind = KIND_FLAG },
    [O_RAW] = { "raw", NULL, NULL, "the bytes written, nothing else", .offset = AT(raw), .kind = KIND_FLAG },
    [O_FOLLOW] = { "follow", "FILE", NULL, "read FILE and go on as it grows; - is standard input; tcp:HOST:PORT\nand serial:PATH[:BAUD] are what they say", .offset = AT(follow), .kind = KIND_TEXT },

    [O_ALL] = { "all", NULL, NULL, "also triggers, flushes, syncs, barriers and losses", .offset = AT(all), .kind = KIND_FLAG },
    [O_SPLIT] = { "split", "DIR", NULL, "write the bytes of each ID to a file in DIR", .offset = AT(split), .kind = KIND_TEXT },

    [O_STREAM] = { "stream", "ID:FILE", NULL, "the bytes of one trace ID; may be repeated", .offset = AT(streams), .kind = KIND_LIST },
    [O_INTERLEAVE] = { "interleave", "N", NULL,
        "bytes of each stream in turn (default 64; 0: one stream\nafter the other)", .offset = AT(interleave), .kind = KIND_NUMBER },
    [O_TRIGGER] = { "trigger", "AT[:VALUE]", NULL,
        "a trigger marker when AT bytes of the streams are written;\nmay be repeated", .kind = KIND_OTHER, .set = set_trigger },
    [O_FLUSH] = { "flush", "AT[:VALUE]", NULL, "a flush marker, likewise", .kind = KIND_OTHER, .set = set_flush },
    [O_BARRIER] = { "barrier", "AT", NULL, "a barrier frame (memory framing), likewise", .kind = KIND_OTHER, .set = set_barrier },
    [O_IDLE] = { "idle", "AT", NULL, "an idle port, so an HSYNC (tpiu-hsync framing), likewise", .kind = KIND_OTHER, .set = set_idle },
    [O_ALIGN] = { "align", "N", NULL, "pad the end to a multiple of N bytes (default 16)", .offset = AT(align), .kind = KIND_NUMBER },
    [O_REPEAT] = { "repeat-id", "N", NULL, "name the current ID again after N frames (default 8)", .offset = AT(repeat), .kind = KIND_NUMBER },
    [O_FSYNC] = { "fsync", "N", NULL, "TPIU: a frame sync after N frames (default 64)", .offset = AT(fsync), .kind = KIND_NUMBER },

    [O_TRACE] = { "trace", "NAME=FILE[,file=FILE...][,format=F]", NULL,
        "a trace buffer, of one file or several; F: coresight\n(default), source_data, dstream_coresight; may be repeated", .offset = AT(traces), .kind = KIND_LIST },
    [O_DEVICE] = { "device", "NAME[,KEY=VALUE...]", NULL,
        "a core, trace source or memory; keys: class (core,\ntrace_source, memory_space), type, location; of a trace\n"
        "source also core and buffer, or buffer=B(stream:N); may be\nrepeated", .offset = AT(devices), .kind = KIND_LIST },
    [O_REG] = { "reg", "DEVICE:K=V,K=V...|DEVICE:FILE", NULL,
        "registers of a device, K may carry (id:N,size:N); or a file\nwith one K=V a line; may be repeated", .offset = AT(registers), .kind = KIND_LIST },
    [O_DUMP] = { "dump", "DEVICE:FILE@ADDRESS[,KEY=VALUE...]", NULL,
        "memory of a device; keys: space, length, offset, name; may\nbe repeated", .offset = AT(dumps), .kind = KIND_LIST },
    [O_CLUSTER] = { "cluster", "NAME=DEVICE[,DEVICE...]", NULL, "a cluster of cores; may be repeated", .offset = AT(clusters), .kind = KIND_LIST },
    [O_FROM_CAPTURE] = { "from", "CAPTURE", NULL, "a perf.data or raw file that the snapshot is made of", .offset = AT(from_capture), .kind = KIND_TEXT },
    [O_DESCRIPTION] = { "description", "TEXT", NULL, "what the snapshot holds", .offset = AT(description), .kind = KIND_TEXT },
    [O_FORCE] = { "force", NULL, NULL, "replace what is there already", .offset = AT(force), .kind = KIND_FLAG },

    [O_INSTRUCTIONS] = { "instructions", NULL, NULL,
        "each executed instruction: address, opcode, disassembly,\nsymbol, source line", .offset = AT(instructions), .kind = KIND_FLAG },
    [O_SYMBOLS_IN_LINES] = { "symbols-in-lines", NULL, NULL, "ranges, and addresses that no image holds, with symbol and offset", .offset = AT(symbols_in_lines), .kind = KIND_FLAG },
    [O_ELF] = { "elf", "FILE[@BIAS]", NULL,
        "program: ELF, segment list or flat file, as --image takes\nthem; what the log runs besides it comes from the\nlog; may be repeated", .offset = AT(elfs), .kind = KIND_LIST },
    [O_PRESET] = { "preset", "NAME", "minimal|exclude|include|reference|reference-data|te_codec|siemens|pulp|esp32",
        "encode, record: programming of an Arm trace unit for one process at\nEL0, all of it, all but --range, or only --range (default:\n"
        "everything at all levels); of a RISC-V trace unit, and of\na raw file with one source: an encoder whose form is known",
        .offset = AT(preset), .kind = KIND_CHOICE },
    [O_UNIT] = { "unit", "K=V,K=V...|FILE", NULL,
        "choices of the trace unit: cycles (of an instruction),\nreturn-stack, source-addresses, q, q-uncounted, fifo,\n"
        "cycles-per-byte, self-hosted, at-once, late-places,\nrestored-returns; of etrace: its control fields\n(iFilters, filter0.comp1 ...), fifo, cycles-per-byte; of ntrace:\ntrTeInstSyncMode ..., fifo, cycles-per-byte, short-messages",
        .offset = AT(unit), .kind = KIND_TEXT },
    [O_LOG_REPEATS] = { "log-repeats", "N", NULL,
        "instructions that repetitions in an exlog file may add\n(default: 16777216 and 4096 for each of its bytes)", .offset = AT(log_repeats), .kind = KIND_NUMBER },

    [O_SYSTEM] = { "system", NULL, NULL,
        "PROGRAM is for a machine without operating system; what\nfollows it are options of QEMU", .offset = AT(is_system), .kind = KIND_FLAG },
    [O_FILTER] = { "filter", "NAME|FIRST-END", NULL,
        "trace only this function of the program, or these addresses;\nmay be repeated", .offset = AT(filters), .kind = KIND_LIST },
    [O_SNAPSHOT] = { "snapshot", "SIZE", NULL,
        "the same as --ring: the end of the program, or what came\nbefore its crash", .offset = AT(ring), .kind = KIND_NUMBER },
    [O_RING] = { "ring", "SIZE", NULL,
        "keep only so many last bytes of each thread's trace", .offset = AT(ring), .kind = KIND_NUMBER },
    [O_MAX_SIZE] = { "max-size", "SIZE", NULL,
        "stop tracing after so many bytes; the program runs on", .offset = AT(max_size), .kind = KIND_NUMBER },
    [O_STROBE_ON] = { "strobe-on", "N", NULL,
        "trace N instructions, then leave out those of --strobe-off,\nand so on", .offset = AT(strobe_on), .kind = KIND_NUMBER },
    [O_STROBE_OFF] = { "strobe-off", "N", NULL,
        "instructions between two stretches that are traced", .offset = AT(strobe_off), .kind = KIND_NUMBER },
    [O_QEMU] = { "qemu", "FILE", NULL,
        "the QEMU to run the program with (default: qemu-aarch64 or\nqemu-arm, from the PATH)", .offset = AT(qemu), .kind = KIND_TEXT },

    [O_KEY] = { "key", "KIND", "tid|core|context",
        "what makes a stack of its own (default: the thread where it is\nknown, else the context where one is traced, else the core)", .offset = AT(key), .kind = KIND_CHOICE },
    [O_TAIL_CALLS] = { "tail-calls", "FORM", "physical|logical",
        "physical: a tail call takes the place of its caller; logical: it\nstands on it (default: physical; logical for callgrind, pprof, dot)", .offset = AT(tail_calls), .kind = KIND_CHOICE },
    [O_STACKS] = { "stacks", NULL, NULL, "jsonl: every path of calls too", .offset = AT(stacks), .kind = KIND_FLAG },
    [O_TIME_UNIT] = { "unit", "WHAT", "time|cycles|instructions",
        "what times count (default: time where there are timestamps, else\ncycles where they are counted, else instructions)", .offset = AT(time_unit), .kind = KIND_CHOICE },
    [O_EACH_EVENT] = { "events", NULL, NULL, "each of them, not their sums", .offset = AT(events), .kind = KIND_FLAG },
    [O_MIN_DURATION] = { "min-duration", "N", NULL,
        "spans shorter than N, in what times count, are merged and counted", .offset = AT(min_duration), .kind = KIND_NUMBER },
    [O_DEPTH] = { "depth", "N", NULL, "no functions deeper than N calls", .offset = AT(depth), .kind = KIND_NUMBER },
    [O_SPAN_LIMIT] = { "limit", "N", NULL,
        "no more than N spans and marks (default: none; 5000000 for perfetto,\n2000000 for chrome, which their readers can open)", .offset = AT(limit), .kind = KIND_NUMBER },

    [O_BUDGET] = { "budget", "BYTES", NULL, "how large the file may become, more or less (default: 20000000)", .offset = AT(budget), .kind = KIND_NUMBER },
    [O_SERVE_PORT] = { "port", "N", NULL, "listen on this port of this machine (default: one that is free)", .offset = AT(listen), .kind = KIND_NUMBER },
    [O_SERVE_PERFETTO] = { "perfetto", "FILE", NULL, "keep the window that is looked at in FILE, too, as a trace for\nui.perfetto.dev: each takes the place of the one before", .offset = AT(perfetto), .kind = KIND_TEXT },
    [O_EMBED_SOURCES] = { "embed-sources", NULL, NULL, "lines of the program's sources go into the file", .offset = AT(embed_sources), .kind = KIND_FLAG },

    [O_OF_FUNCTION] = { "function", "NAME", NULL, "who calls this function, and whom it calls", .offset = AT(of_function), .kind = KIND_TEXT },
    [O_SHOW_FUNCTION] = { "function", "NAME", NULL, "only this function, executed or not", .offset = AT(of_function), .kind = KIND_TEXT },
    [O_EVENTS] = { "events", NULL, NULL, "jsonl, csv: every call and return, in order", .offset = AT(events), .kind = KIND_FLAG },
    [O_BEFORE] = { "before", "PLACE", NULL,
        "how did I get there: the stack at a place, and the last calls\nbefore it, the newest first. PLACE: end, an offset in the\ncapture, t:TIMESTAMP, n:INSTRUCTIONS, exception:N, trigger:N,\npc:ADDRESS[:N], function:NAME[:N]", .offset = AT(before), .kind = KIND_TEXT },
    [O_LAST] = { "last", "N", NULL, "so many calls, or with --instructions instructions (default: 20)", .offset = AT(last), .kind = KIND_NUMBER },
    [O_SOURCE_ROOT] = { "source-root", "DIR", NULL, "folder with the program's sources (default: they are at the\npaths that the compiler wrote)", .offset = AT(source_root), .kind = KIND_TEXT },

    [O_BY] = { "by", "KIND", "function|line|address|thread|program|source|stack",
        "what a row is (default: function); stack: a path of calls", .offset = AT(by), .kind = KIND_CHOICE },
    [O_SHOW_UNIT] = { "unit", "UNIT", "instructions|cycles|time",
        "cycles, time: show these too, as far as the trace tells", .offset = AT(unit), .kind = KIND_CHOICE },
    [O_SELF] = { "self", NULL, NULL,
        "functions: do not follow calls. No totals, but several times as\nfast, on all threads; \"first\" counts their first instruction", .offset = AT(self), .kind = KIND_FLAG },
    [O_INLINE] = { "inline", NULL, NULL,
        "functions that were inlined, as the debug information has them:\nprofile counts for them, and follows no calls; for calls they are\nframes", .offset = AT(with_inlined), .kind = KIND_FLAG },
    [O_DEMANGLE] = { "demangle", NULL, NULL, "names of C++ and Rust as they were written, in every format\n(default: in text and svg)", .offset = AT(demangle), .kind = KIND_FLAG },
    [O_NO_DEMANGLE] = { "no-demangle", NULL, NULL, "names as the symbols have them, in every format", .offset = AT(no_demangle), .kind = KIND_FLAG },
    [O_LIMIT] = { "limit", "N", NULL, "text: no more than N rows", .offset = AT(limit), .kind = KIND_NUMBER },

    [O_SAVE] = { "save", "FILE", NULL, "keep what was counted there, for \"trackway merge\"", .offset = AT(save), .kind = KIND_TEXT },
    [O_ADD] = { "add", "FILE", NULL, "add what was kept there; may be repeated", .offset = AT(add), .kind = KIND_LIST },

    [O_SERVE] = { "serve", NULL, NULL, "the server alone, on standard input and output: for\n\"target remote | trackway gdb --serve CAPTURE\" and front ends", .offset = AT(serve), .kind = KIND_FLAG },
    [O_LISTEN] = { "port", "N", NULL, "the server alone, on this port of this machine (of the loopback\ninterface); 0: any that is free", .offset = AT(listen), .kind = KIND_NUMBER },
    [O_PLACE] = { "at", "PLACE", NULL,
        "begin there: TIMESTAMP, +OFFSET, n:INSTRUCTION, pc:ADDRESS[:N],\nfunction:NAME[:N], trigger:N, event:N, sync:N or trace-on:N\n(default: the last instruction)", .offset = AT(at), .kind = KIND_TEXT },
    [O_FIRST] = { "first", NULL, NULL, "begin at the first instruction", .offset = AT(first), .kind = KIND_FLAG },
    [O_EACH] = { "each", NULL, NULL, "afl: a map for each capture, not their sum; -o names a folder", .offset = AT(each), .kind = KIND_FLAG },

    [O_BITS] = { "bits", NULL, NULL, "text, jsonl: each packet bit by bit, with the fields that they are", .offset = AT(bits), .kind = KIND_FLAG },

    [O_PACKETS] = { "packets", NULL, NULL, "compare packets, bit by bit: the first bit that differs", .offset = AT(packets), .kind = KIND_FLAG },
    [O_IGNORE] = { "ignore", "WHAT", NULL, "leave out on both sides: interrupts, function:NAME or range:FIRST-END;\nmay be repeated", .offset = AT(ignore), .kind = KIND_LIST },

    [O_SHARD_PARTS] = { "parts", "N", NULL, "how many", .offset = AT(parts), .kind = KIND_TEXT },

    [O_EXPLAIN] = { "explain", "RULE|all", NULL, "what a rule asks for and why, instead of a check", .offset = AT(explain), .kind = KIND_TEXT },
    [O_STRICT] = { "strict", NULL, NULL, "also loops without a bound", .offset = AT(strict), .kind = KIND_FLAG },

    [O_FORMAT] = { "format", "FORMAT", NULL, NULL, .offset = AT(format), .kind = KIND_TEXT },
    [O_COLUMNS] = { "columns", "NAME[,NAME...]", NULL, "csv: these columns, in this order", .offset = AT(columns), .kind = KIND_TEXT },
    [O_CLOCK] = { "clock", "HZ", NULL, "timestamps count at this rate: show seconds too", .offset = AT(clock), .kind = KIND_NUMBER },
    [O_ERRORS] = { "errors", NULL, NULL, "bad trace as lines of the output, not on standard error", .offset = AT(errors), .kind = KIND_FLAG },
    [O_STATS] = { "stats", NULL, NULL, "counts on standard error at the end", .offset = AT(stats), .kind = KIND_FLAG },
    [O_OUTPUT] = { "output", "FILE", NULL, "write there; it appears when it is complete", .offset = AT(output), .kind = KIND_TEXT, .letter = 'o' },
    [O_COLOR] = { "color", "WHEN", "auto|always|never", "colours: auto (default; on a terminal), always, never", .kind = KIND_OTHER, .set = set_color },
    [O_PROGRESS] = { "progress", "HOW", "auto|json|never",
        "on standard error: auto (default; a bar, on a terminal, for\nwhat takes longer than a second), json, never", .offset = AT(progress), .kind = KIND_CHOICE },
    [O_QUIET] = { "quiet", NULL, NULL, "no warnings and no summary", .offset = AT(quiet), .kind = KIND_FLAG, .letter = 'q' },
    [O_VERBOSE] = { "verbose", NULL, NULL, "say more on standard error", .offset = AT(verbose), .kind = KIND_COUNT, .letter = 'v' },
    [O_HELP] = { "help", NULL, NULL, "this text", .offset = AT(help), .kind = KIND_FLAG, .letter = 'h' },
};

static const uint8_t capture_options[] = {
    O_SOURCE, O_FRAMING, O_PROTOCOL, O_PLUGIN, O_CONFIG, O_PRESET, O_ARCH, O_NO_BARRIER, O_WRAPPED_AT,
    O_SWAP, O_SKIP,
    O_STRIP_STOP, O_IMAGE, O_ALLOW_OUTSIDE, O_NO_SANDBOX, O_SYSROOT, O_SYMFS, O_KERNEL, O_VDSO, O_BUILD_IDS, O_END,
};
static const uint8_t part_options[] = { O_BUFFER, O_ID, O_FROM, O_TO, O_END };
static const uint8_t decoder_options[] = { O_ON_ERROR, O_ASSUME_SYNC, O_PROGRESS, O_END };
static const uint8_t executed_options[] = {
    O_SRC, O_CPU, O_PID, O_TID, O_COMM, O_SYMBOLS, O_TRUST_TIME, O_OPT, O_CLOCK, O_THREADS, O_END,
};
static const uint8_t output_options[] = { O_OUTPUT, O_COLOR, O_QUIET, O_VERBOSE, O_END };

const uint8_t *const option_groups[GROUP_END - OPTION_COUNT] = {
    [G_CAPTURE - OPTION_COUNT] = capture_options,
    [G_PART - OPTION_COUNT] = part_options,
    [G_DECODER - OPTION_COUNT] = decoder_options,
    [G_EXECUTED - OPTION_COUNT] = executed_options,
    [G_OUTPUT - OPTION_COUNT] = output_options,
};
/* clang-format on */
