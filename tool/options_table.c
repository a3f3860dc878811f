/* SPDX-License-Identifier: BSD-2-Clause */
/* size: table */
/* Every option of every command: its name, value, help, and where it is kept. */
#include "options.h"

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
    static const char limit[] = "range-limit=";

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
    return options_wrong(options,
                         "--opt: there is no \"%s\"; there are src-addr-n, range-limit=N, "
                         "multi-session",
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
    [O_BUFFER] = { "buffer", "NAME", NULL, "only this trace buffer", AT(buffer), KIND_TEXT },
    [O_ID] = { "id", "ID[,ID...]", NULL, "only these trace IDs", 0, KIND_OTHER, .set = set_ids },
    [O_SOURCE] = { "source", "NAME|ID:PROTOCOL[:CONFIG]", NULL,
        "NAME: only this source, may be repeated; with colons:\n"
        "declares a source of a raw file, may be repeated", 0, KIND_OTHER, .set = set_source },
    [O_FROM] = { "from", "OFFSET", NULL, "only what begins at this capture offset or after",
        AT(from), KIND_NUMBER },
    [O_TO] = { "to", "OFFSET", NULL, "only what begins before this capture offset",
        AT(to), KIND_NUMBER },
    [O_RANGE] = { "range", "FIRST-END", NULL,
        "only what executed from address FIRST up to, not including, END",
        0, KIND_OTHER, .set = set_range },

    [O_FRAMING] = { "framing", "KIND", "none|memory|tpiu|tpiu-hsync|dstream",
        "raw file: how the sources are mixed (default: none with one\n"
        "source, memory with several)", AT(framing), KIND_CHOICE },
    [O_PROTOCOL] = { "protocol", "NAME", NULL,
        "raw file with one source: its protocol (see --version)", AT(protocol), KIND_TEXT },
    [O_CONFIG] = { "config", "K=V,K=V...|FILE", NULL,
        "raw file with one source: its registers", AT(config), KIND_TEXT },
    [O_ARCH] = { "arch", "NAME", NULL,
        "the traced cores are of this kind (Cortex-A57, ARM-AA64,\nARMv7-M ...), whatever the capture says",
        AT(arch), KIND_TEXT },
    [O_NO_BARRIER] = { "no-barrier", NULL, NULL,
        "frames: four frame syncs in a row are data, not a reset", AT(no_barrier), KIND_FLAG },
    [O_WRAPPED_AT] = { "wrapped-at", "OFFSET", NULL,
        "the buffer wrapped: its oldest byte lies at OFFSET", AT(wrapped_at), KIND_NUMBER },
    [O_STRIP_STOP] = { "strip-stop", NULL, NULL,
        "unframed: drop the stop marker (01, then zeros) at the end", AT(strip_stop), KIND_FLAG },
    [O_IMAGE] = { "image", "FILE[@BIAS][,space=S]", NULL,
        "more program memory: ELF, segment list or flat; BIAS is\n"
        "added to its addresses, or is where a flat file lies;\nmay be repeated", AT(images), KIND_LIST },
    [O_ALLOW_OUTSIDE] = { "allow-outside", NULL, NULL,
        "a snapshot may name files outside its folder", AT(allow_outside), KIND_FLAG },

    [O_OPT] = { "opt", "NAME[=VALUE]", "src-addr-n|range-limit=|multi-session",
        "src-addr-n: split source-address ranges at waypoints that\nwere not taken; "
        "range-limit=N: instructions without a\nwaypoint that count as runaway code (default 1048576);\n"
        "multi-session: all buffers through the decoders of the first",
        0, KIND_OTHER, .set = set_opt },
    [O_CHECK] = { "check", "LIST", "opcodes|atoms|continuity",
        "consistency checks: opcodes, atoms, continuity; alone: all", 0, KIND_OTHER,
        .is_optional = true, .set = set_check },

    [O_ALL] = { "all", NULL, NULL, "also triggers, flushes, syncs, barriers and losses", AT(all), KIND_FLAG },
    [O_SPLIT] = { "split", "DIR", NULL, "write the bytes of each ID to a file in DIR", AT(split), KIND_TEXT },

    [O_STREAM] = { "stream", "ID:FILE", NULL, "the bytes of one trace ID; may be repeated", AT(streams), KIND_LIST },
    [O_INTERLEAVE] = { "interleave", "N", NULL,
        "bytes of each stream in turn (default 64; 0: one stream\nafter the other)", AT(interleave), KIND_NUMBER },
    [O_TRIGGER] = { "trigger", "AT[:VALUE]", NULL,
        "a trigger marker when AT bytes of the streams are written;\nmay be repeated", 0, KIND_OTHER, .set = set_trigger },
    [O_FLUSH] = { "flush", "AT[:VALUE]", NULL, "a flush marker, likewise", 0, KIND_OTHER, .set = set_flush },
    [O_BARRIER] = { "barrier", "AT", NULL, "a barrier frame (memory framing), likewise", 0, KIND_OTHER, .set = set_barrier },
    [O_IDLE] = { "idle", "AT", NULL, "an idle port, so an HSYNC (tpiu-hsync framing), likewise", 0, KIND_OTHER, .set = set_idle },
    [O_ALIGN] = { "align", "N", NULL, "pad the end to a multiple of N bytes (default 16)", AT(align), KIND_NUMBER },
    [O_REPEAT] = { "repeat-id", "N", NULL, "name the current ID again after N frames (default 8)", AT(repeat), KIND_NUMBER },
    [O_FSYNC] = { "fsync", "N", NULL, "TPIU: a frame sync after N frames (default 64)", AT(fsync), KIND_NUMBER },

    [O_TRACE] = { "trace", "NAME=FILE[,format=F]", NULL,
        "a trace buffer; F: coresight (default), source_data,\ndstream_coresight; may be repeated", AT(traces), KIND_LIST },
    [O_DEVICE] = { "device", "NAME[,KEY=VALUE...]", NULL,
        "a core, trace source or memory; keys: class (core,\ntrace_source, memory_space), type, location; of a trace\n"
        "source also core and buffer; may be repeated", AT(devices), KIND_LIST },
    [O_REG] = { "reg", "DEVICE:K=V,K=V...|DEVICE:FILE", NULL,
        "registers of a device, K may carry (id:N,size:N); or a file\nwith one K=V a line; may be repeated", AT(registers), KIND_LIST },
    [O_DUMP] = { "dump", "DEVICE:FILE@ADDRESS[,KEY=VALUE...]", NULL,
        "memory of a device; keys: space, length, offset, name; may\nbe repeated", AT(dumps), KIND_LIST },
    [O_CLUSTER] = { "cluster", "NAME=DEVICE[,DEVICE...]", NULL, "a cluster of cores; may be repeated", AT(clusters), KIND_LIST },
    [O_DESCRIPTION] = { "description", "TEXT", NULL, "what the snapshot holds", AT(description), KIND_TEXT },
    [O_FORCE] = { "force", NULL, NULL, "replace a snapshot that is there", AT(force), KIND_FLAG },

    [O_FORMAT] = { "format", "FORMAT", NULL, NULL, AT(format), KIND_TEXT },
    [O_COLUMNS] = { "columns", "NAME[,NAME...]", NULL, "csv: these columns, in this order", AT(columns), KIND_TEXT },
    [O_CLOCK] = { "clock", "HZ", NULL, "timestamps count at this rate: show seconds too", AT(clock), KIND_NUMBER },
    [O_ERRORS] = { "errors", NULL, NULL, "bad trace as lines of the output, not on standard error", AT(errors), KIND_FLAG },
    [O_STATS] = { "stats", NULL, NULL, "counts on standard error at the end", AT(stats), KIND_FLAG },
    [O_OUTPUT] = { "output", "FILE", NULL, "write there; it appears when it is complete", AT(output), KIND_TEXT, .letter = 'o' },
    [O_COLOR] = { "color", "WHEN", "auto|always|never", "colours: auto (default; on a terminal), always, never", 0, KIND_OTHER, .set = set_color },
    [O_QUIET] = { "quiet", NULL, NULL, "no warnings and no summary", AT(quiet), KIND_FLAG, .letter = 'q' },
    [O_VERBOSE] = { "verbose", NULL, NULL, "say more on standard error", AT(verbose), KIND_COUNT, .letter = 'v' },
    [O_HELP] = { "help", NULL, NULL, "this text", AT(help), KIND_FLAG, .letter = 'h' },
};
/* clang-format on */
