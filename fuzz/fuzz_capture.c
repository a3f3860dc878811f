/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture of any kind with its files, opened by path as people do, and everything that can be asked of it.
   Input: lines "open NAME", "source ID PROTOCOL CONFIG", "image NAME ADDRESS", "framing NAME", "core NAME", "kernel NAME",
   "vdso NAME", "flags BITS", "do BITS" (which analyses; 0: all), "at N"; then the files. */
#include "analyses.h"
#include "edges.h"
#include "kept.h"
#include "pyramid.h"
#include "views.h"

enum { SOURCES = 8, IMAGES = 4, WORDS = 2048, INPUT_MOST = 1 << 16 };

struct choices {
    struct tw_capture_source_option sources[SOURCES];
    struct tw_capture_image_option images[IMAGES];
    char words[SOURCES][WORDS];
    char paths[IMAGES + 4][BUNDLE_PATH];
    struct tw_capture_options options;
};

/* "0x10 etmv4 TRCCONFIGR=1,..." */
static void read_source(struct choices *choices, const char *line)
{
    const size_t number = choices->options.source_count;
    char *end, *config, *protocol = choices->words[number];

    if (number == SOURCES || strlen(line) >= WORDS)
        return;
    choices->sources[number].id = (uint8_t)strtoul(line, &end, 0);
    (void)strcpy(protocol, *end == ' ' ? end + 1 : end);
    config = strchr(protocol, ' ');
    if (config)
        *config++ = 0;
    choices->sources[number].protocol = protocol;
    choices->sources[number].config = config;
    choices->options.source_count++;
}

/* A file of the bundle that is named in a line; NULL: it is not, or the name is none. */
static const char *path_of(char *path, const struct bundle *bundle, const char *name)
{
    const size_t length = name ? strcspn(name, " ") : 0;
    char copy[BUNDLE_NAME];

    if (!name || !bundle_is_name(name, length))
        return NULL;
    memcpy(copy, name, length);
    copy[length] = 0;
    bundle_path(path, bundle, copy);
    return path;
}

static void read_choices(struct choices *choices, const struct bundle *bundle)
{
    struct tw_capture_options *options = &choices->options;
    const unsigned long flags = bundle_number(bundle, "flags");
    const char *line;
    size_t from = 0;

    memset(choices, 0, sizeof *choices);
    *options = (struct tw_capture_options){ .size = sizeof *options,
                                            .sources = choices->sources,
                                            .images = choices->images,
                                            .no_barrier = flags & 1,
                                            .strip_stop = flags & 2,
                                            .has_wrapped = flags & 4,
                                            .wrapped_at = flags >> 16 & 0xfff,
                                            .trust_time = flags & 8,
                                            .copies = flags & 16,
                                            .swap = flags & 32 ? 4 : 0,
                                            .skip = flags >> 28,
                                            .core_type = bundle_word(bundle, "core"),
                                            .sysroot = bundle->folder,
                                            .build_ids = bundle->folder };
    options->kernel = path_of(choices->paths[0], bundle, bundle_word(bundle, "kernel"));
    options->vdso = path_of(choices->paths[1], bundle, bundle_word(bundle, "vdso"));
    line = bundle_word(bundle, "framing");
    options->has_framing = line && tw_framing_by_name(&options->framing, line);
    while ((line = bundle_says(bundle, "source", &from)))
        read_source(choices, line);
    from = 0;
    while (options->image_count < IMAGES && (line = bundle_says(bundle, "image", &from))) {
        const char *space = strchr(line, ' ');
        const char *path = path_of(choices->paths[2 + options->image_count], bundle, line);

        if (!path)
            continue;
        choices->images[options->image_count].path = path;
        choices->images[options->image_count++].address = space ? strtoull(space, NULL, 0) : 0;
    }
}

static void (*const analyses[])(const struct subject *) = {
    do_elements, do_packets,  do_statistics, do_calls,        do_call_parts,
    do_profile,  do_coverage, do_timelines,  do_report,       do_doctor,
    do_pyramid,  do_replay,   do_samples,    do_channels,     do_index,
    do_symbols,  do_filters,  do_tree,       do_call_threads, do_edges
};

enum { ANALYSES = sizeof analyses / sizeof analyses[0], SELDOM = 16 };

/* do_report, do_doctor and do_identify, which is behind the last: they try every protocol on the bytes, and take a hundred
   times as long as others do. */
static const unsigned long long_ones = 1ul << 8 | 1ul << 9 | 1ul << ANALYSES;

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3;
    return hash;
}

/* Which of them: all that are asked for when stored inputs are run again; one, by the bytes of the input, where millions of
   others wait. */
static unsigned long choose(unsigned long wanted, uint64_t hash)
{
    const unsigned long one = 1ul << (hash >> 20) % (ANALYSES + 1);

    if (!is_fuzzed())
        return wanted ? wanted : ~0ul;
    return one & long_ones && (hash >> 40) % SELDOM ? 1ul << (hash >> 50) % 8 : one;
}

static void do_identify(const char *path)
{
    const struct tw_identify_options options = { .size = sizeof options, .work = 1 << 16 };
    struct tw_identified *identified;

    if (tw_identify(&identified, path, &options, NULL) == TW_OK)
        require(tw_identified_about(identified)->what != NULL);
    tw_identified_free(identified);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle bundle;
    struct choices choices;
    struct subject subject = { .config = { .size = sizeof subject.config,
                                           .range_limit = RANGE_LIMIT } };
    struct tw_fault fault = { .text = "" };
    char path[BUNDLE_PATH];
    unsigned long wanted;
    uint64_t hash;

    if (size > INPUT_MOST)
        return 0;
    bundle_open(&bundle, data, size);
    read_choices(&choices, &bundle);
    if (!path_of(path, &bundle, bundle_word(&bundle, "open")))
        (void)strcpy(path, bundle.folder);
    hash = hash_of(data, size);
    wanted = choose(bundle_number(&bundle, "do"), hash);
    subject.bundle = &bundle;
    subject.path = path;
    subject.options = &choices.options;
    subject.at = bundle_number(&bundle, "at");
    subject.choice = (unsigned)(hash >> 52);
    if (wanted >> ANALYSES & 1)
        do_identify(path);
    if (tw_capture_open(&subject.capture, path, &choices.options, &fault) == TW_OK)
        for (size_t i = 0; i < ANALYSES; i++) {
            if (wanted >> i & 1)
                analyses[i](&subject);
        }
    else
        require(fault.text[0] != 0);
    tw_capture_free(subject.capture);
    bundle_close(&bundle);
    return 0;
}
