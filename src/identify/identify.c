/* SPDX-License-Identifier: BSD-2-Clause */
/* From a file to the answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "capture/hex.h"
#include "capture/perfdata.h"
#include "capture/unpack.h"
#include "identify/identify.h"
#include "image/file.h"

enum {
    UNPACKED_SEEN = 4 << 20, /* of a packed file */
    /* Work for all ways to look at it: tiny files take no time, large ones a limited one. */
    BUDGET_LEAST = 768 << 10,
    BUDGET_PER_BYTE = 2048,
    BUDGET_MOST = 64 << 20,
    WAYS = 48 /* that are sure to come to their turn */
};

/* Fields of which the packets tell are set as these say. */
static void set_seen(struct tw_trial *trial)
{
    struct tw_settings *settings = &trial->settings;
    const struct tw_setting *control = tw_settings_find(settings, "TRCCONFIGR");

    if (control) {
        uint64_t value = control->value & ~(uint64_t)0x8d0;

        value |= trial->cycles ? 0x10 : 0;
        value |= trial->cids ? 0x40 : 0;
        value |= trial->vmids ? 0x80 : 0;
        value |= trial->times ? 0x800 : 0;
        tw_settings_put(settings, "TRCCONFIGR", value);
        tw_settings_put(settings, "TRCIDR8", trial->depth);
    }
    control = tw_settings_find(settings, "ETMCR");
    if (control)
        tw_settings_put(settings, "ETMCR",
                        (control->value & ~(uint64_t)0x10000000) |
                            (trial->times ? 0x10000000 : 0));
}

static const char *framing_words(enum tw_framing framing)
{
    switch (framing) {
    case TW_FRAMING_MEMORY:
        return "in memory-aligned frames";
    case TW_FRAMING_TPIU:
        return "in TPIU frames with FSYNC";
    case TW_FRAMING_TPIU_HSYNC:
        return "in TPIU frames with FSYNC and HSYNC";
    case TW_FRAMING_DSTREAM:
        return "in TPIU frames inside DSTREAM blocks";
    default:
        return "without frames";
    }
}

/* "12 of them", for people. */
static void tell_trial(struct tw_identified *answer, const struct tw_trial *trial, uint8_t id,
                       bool is_framed)
{
    char whose[16] = "";

    if (is_framed)
        (void)snprintf(whose, sizeof whose, "ID 0x%02x: ", id);
    tw_answer_evidence(answer,
                       "%s%" PRIu64 " packets of %s in the sample, %" PRIu64 " bad; %" PRIu64
                       " of %" PRIu64 " bytes read in synchronization",
                       whose, trial->packets, trial->suspect->protocol, trial->bad,
                       trial->bytes - trial->head - trial->unsynced, trial->bytes);
    if (trial->suspect->has_sync && trial->suspect->greeting > 0.5)
        tw_answer_evidence(answer,
                           "%s%" PRIu64 " synchronization packets, %" PRIu64
                           " followed by the packet that belongs there",
                           whose, trial->syncs, trial->greeted);
    else if (trial->syncs)
        tw_answer_evidence(answer, "%s%" PRIu64 " synchronization packets", whose,
                           trial->syncs);
    if (trial->addresses)
        tw_answer_evidence(answer, "%s%" PRIu64 " addresses in %s%" PRIu64 " MiB of memory",
                           whose, trial->addresses,
                           trial->pages > TW_TRIAL_PAGES / 2 ? "more than " : "", trial->pages);
    if (trial->inside)
        tw_answer_evidence(answer, "%s%" PRIu64 " of %" PRIu64 " addresses are in the image",
                           whose, trial->inside, trial->addresses);
    if (trial->is_alike)
        tw_answer_evidence(
            answer, "%sno packet that only one of ETMv4 and ETE has: it may be either", whose);
}

/* Fields of which the packets do not tell what they are. */
static void tell_open(struct tw_identified *answer, const struct tw_trial *trial)
{
    struct tw_text text = { .allocator = answer->allocator };
    const struct tw_dial *dial;

    for (size_t i = 0;
         i < TW_TRIAL_DIALS && (dial = tw_suspect_dial(trial->suspect, i)) != NULL; i++) {
        if (!trial->open[i])
            continue;
        tw_text_format(&text, "%s%s=", text.size ? ", " : "", dial->name);
        for (unsigned choice = 0, count = 0; choice < dial->count; choice++) {
            if (!(trial->open[i] >> choice & 1))
                continue;
            if (dial->words[choice])
                tw_text_format(&text, "%s%s", count++ ? "|" : "", dial->words[choice]);
            else
                tw_text_format(&text, "%s%" PRIu64, count++ ? "|" : "", dial->values[choice]);
        }
    }
    if (text.failed)
        answer->no_memory = true;
    else
        tw_answer_evidence(answer,
                           "these fit as well, and read other packets: %s; the program tells "
                           "them apart (--image)",
                           text.chars);
    tw_text_free(&text);
}

/* Options of an E-Trace encoder, which its support packets tell (table 6.8, in the usual order). */
static void set_options(struct tw_trial *trial)
{
    static const char *const names[] = { "implicit_return", "implicit_exception",
                                         "full_address", "jump_target_cache",
                                         "branch_prediction" };

    if (!tw_settings_find(&trial->settings, "ioptions_bits"))
        return;
    for (size_t i = 0; i < TW_LENGTH(names); i++)
        if (trial->options >> i & 1)
            tw_settings_put(&trial->settings, names[i], 1);
}

/* A source that told of no context is set as the others of its kind in the same file are. */
static void set_alike(struct tw_verdict *best, size_t n)
{
    struct tw_trial *trial = &best->trials[n];
    const struct tw_setting *own = tw_settings_find(&trial->settings, "TRCCONFIGR");

    if (!own || trial->cids || trial->vmids)
        return;
    for (size_t i = 0; i < best->count; i++) {
        const struct tw_trial *other = &best->trials[i];

        if (other->suspect == trial->suspect && (other->cids || other->vmids)) {
            tw_settings_put(&trial->settings, "TRCCONFIGR",
                            own->value | (other->cids ? 0x40 : 0) | (other->vmids ? 0x80 : 0));
            return;
        }
    }
}

static enum tw_status tune_sources(struct tw_inquiry *inquiry)
{
    struct tw_verdict *best = &inquiry->best;
    struct tw_excerpts samples = { .file = inquiry->file,
                                   .size = inquiry->size,
                                   .allocator = inquiry->allocator };
    enum tw_status status = TW_OK;

    for (size_t i = 0; i < best->count; i++)
        if (best->trials[i].suspect)
            set_seen(&best->trials[i]);
    for (size_t i = 0; i < best->count; i++)
        if (best->trials[i].suspect) {
            set_alike(best, i);
            set_options(&best->trials[i]);
        }
    if (!inquiry->options->image)
        return TW_OK;
    status = tw_excerpts_take(&samples, &best->way);
    for (size_t i = 0; status == TW_OK && i < best->count; i++)
        if (best->trials[i].suspect)
            tw_follow_tune(&best->trials[i], &samples.streams[best->ids[i]],
                           inquiry->options->image, inquiry->allocator);
    tw_excerpts_free(&samples);
    return status;
}

static void fill_source(struct tw_inquiry *inquiry, size_t n)
{
    struct tw_identified *answer = inquiry->answer;
    const struct tw_verdict *best = &inquiry->best;
    const struct tw_trial *trial = &best->trials[n];
    struct tw_text text = { .allocator = inquiry->allocator };
    struct tw_identified_source *source = &answer->sources[answer->about.source_count++];

    *source = (struct tw_identified_source){ .id = best->ids[n],
                                             .bytes = best->bytes[n],
                                             .confidence = best->confidences[n] };
    if (!trial->suspect || source->confidence < 0.05)
        return;
    source->protocol = trial->suspect->protocol;
    tw_settings_print(&text, &trial->settings, ",");
    source->config = text.failed || !text.chars ? "" : tw_answer_text(answer, "%s", text.chars);
    answer->no_memory = answer->no_memory || text.failed;
    tw_text_free(&text);
    tell_trial(answer, trial, source->id, best->way.framing != TW_FRAMING_NONE);
    if (trial->is_open)
        tell_open(answer, trial);
}

static const char *title(const struct tw_identity *about)
{
    const char *found = NULL;

    for (size_t i = 0; i < about->source_count; i++) {
        const char *protocol = about->sources[i].protocol;

        if (protocol && found && strcmp(found, protocol) != 0)
            return "trace of several kinds";
        if (protocol)
            found = protocol;
    }
    return found ? tw_protocol_title(found) : "trace";
}

/* Not certain. */
#define LIKELY 0.94

static void tell_wrap(struct tw_inquiry *inquiry)
{
    struct tw_identity *about = &inquiry->answer->about;
    enum tw_wrap_sign sign;

    if ((about->container && inquiry->size >= UNPACKED_SEEN) ||
        about->framing > TW_FRAMING_MEMORY || !tw_wrap_find(inquiry, &about->wrapped_at, &sign))
        return;
    about->has_wrapped = true;
    tw_answer_evidence(inquiry->answer,
                       "a ring buffer whose oldest byte lies at about 0x%" PRIx64
                       ": %s there, and the beginning goes on from the end",
                       about->wrapped_at,
                       sign == TW_WRAP_TIME    ? "time goes back"
                       : sign == TW_WRAP_START ? "tracing begins"
                                               : "packets break off");
    /* Tracing may have been switched off and on there, too; and where packets have no synchronization, a
       break may be none. */
    if ((sign == TW_WRAP_START ||
         (sign == TW_WRAP_BREAK && inquiry->best.trials[0].suspect->is_chained)) &&
        about->confidence > LIKELY)
        about->confidence = LIKELY;
}

static void fill_answer(struct tw_inquiry *inquiry, const char *name)
{
    struct tw_identified *answer = inquiry->answer;
    struct tw_identity *about = &answer->about;
    const struct tw_verdict *best = &inquiry->best;

    about->sources = answer->sources;
    about->confidence = best->confidence;
    if (best->confidence < 0.05) {
        about->confidence = 0;
        about->what = "not known: no protocol that Trackway reads fits";
        tw_answer_evidence(answer,
                           "no framing and no byte order gives packets that make sense");
        return;
    }
    about->format = "trace";
    about->has_framing = true;
    about->framing = best->way.framing;
    about->swap = best->way.swap > 1 ? best->way.swap : 0;
    about->skip = best->way.offset;
    if (about->framing != TW_FRAMING_NONE)
        tw_answer_evidence(answer, "%" PRIu64 " frames in the sample, which name %zu ID%s",
                           best->frames, best->count, best->count == 1 ? "" : "s");
    if (best->way.limit)
        tw_answer_evidence(answer,
                           "only about the first %zu bytes are trace: what follows is "
                           "what was in the buffer before",
                           best->way.limit);
    for (size_t i = 0; i < best->count; i++)
        fill_source(inquiry, i);
    if (!best->way.limit && !best->way.offset && best->way.swap == 1 && best->confidence >= 0.5)
        tell_wrap(inquiry);
    about->what = tw_answer_text(answer, "%s %s%s", title(about), framing_words(about->framing),
                                 about->swap == 2   ? ", bytes swapped in groups of 2"
                                 : about->swap == 4 ? ", bytes swapped in groups of 4"
                                 : about->swap      ? ", bytes swapped"
                                                    : "");
    tw_answer_command(answer, name);
}

static enum tw_status identify_trace(struct tw_inquiry *inquiry, const char *name)
{
    struct tw_verdict other = { .confidence = 0 };
    enum tw_status status = TW_E_MEMORY;

    inquiry->budget.left = BUDGET_LEAST + (uint64_t)BUDGET_PER_BYTE * inquiry->size;
    if (inquiry->size > BUDGET_MOST / BUDGET_PER_BYTE)
        inquiry->budget.left = BUDGET_MOST;
    if (inquiry->options->work)
        inquiry->budget.left = inquiry->options->work;
    inquiry->least_share = inquiry->budget.left / WAYS;
    /* Each is cleared when it is its turn. */
    inquiry->best.trials =
        tw_take_raw(inquiry->allocator, TW_SOURCES_MOST * sizeof(struct tw_trial));
    other.trials = tw_take_raw(inquiry->allocator, TW_SOURCES_MOST * sizeof(struct tw_trial));
    if (inquiry->best.trials && other.trials)
        status = tw_ways_try(inquiry, &other);
    if (status == TW_OK && inquiry->best.confidence >= 0.05)
        status = tune_sources(inquiry);
    if (status == TW_OK)
        fill_answer(inquiry, name);
    tw_give(inquiry->allocator, inquiry->best.trials);
    tw_give(inquiry->allocator, other.trials);
    tw_give(inquiry->allocator, inquiry->bench.memory);
    return status == TW_OK && inquiry->bench.is_out ? TW_E_MEMORY : status;
}

static enum tw_status look_inside(struct tw_inquiry *inquiry, const char *name);

/* Packed: what is in it, as far as it is looked at. */
static enum tw_status unpack_and_look(struct tw_inquiry *inquiry, enum tw_packing packing,
                                      const char *name)
{
    const struct tw_unpacking how = { .most = UNPACKED_SEEN,
                                      .may_cut = true,
                                      .allocator = inquiry->allocator };
    struct tw_identity *about = &inquiry->answer->about;
    struct tw_fault fault = { TW_OK, "" };
    uint8_t *bytes;
    size_t size;
    enum tw_status status =
        tw_packing_open(&bytes, &size, packing, inquiry->file, inquiry->size, &how, &fault);

    about->container = tw_packing_name(packing);
    if (packing == TW_PACKING_HEX)
        tw_answer_evidence(inquiry->answer, "text: %s",
                           tw_hex_form_name(tw_hex_form(inquiry->file, inquiry->size)));
    else
        tw_answer_evidence(inquiry->answer, "begins as %s does", about->container);
    if (status == TW_E_MEMORY)
        return status;
    if (status != TW_OK) {
        about->what = tw_answer_text(inquiry->answer, "%s: %s", about->container, fault.text);
        return TW_OK;
    }
    inquiry->file = bytes;
    inquiry->size = size;
    status = look_inside(inquiry, name);
    tw_give(inquiry->allocator, bytes);
    return status;
}

static enum tw_status look_inside(struct tw_inquiry *inquiry, const char *name)
{
    struct tw_identity *about = &inquiry->answer->about;
    const enum tw_packing packing =
        about->container ? TW_PACKING_NONE : tw_packing_of(inquiry->file, inquiry->size);
    struct tw_look look;

    if (packing != TW_PACKING_NONE)
        return unpack_and_look(inquiry, packing, name);
    if (tw_perf_is(inquiry->file, inquiry->size)) {
        about->format = "perf.data";
        about->what = "a perf.data file";
        about->confidence = 1;
        tw_answer_evidence(inquiry->answer, "begins with \"%.8s\"",
                           (const char *)inquiry->file);
        tw_answer_command(inquiry->answer, name);
        return TW_OK;
    }
    if (tw_look_at(&look, inquiry->file, inquiry->size)) {
        about->format = look.format;
        about->what = look.what;
        about->confidence = 1;
        tw_answer_evidence(inquiry->answer, "%s", look.why);
        if (look.advice) {
            const char *hole = strstr(look.advice, "%s");

            about->command =
                hole ? tw_answer_text(inquiry->answer, "%.*s%s%s", (int)(hole - look.advice),
                                      look.advice, name, hole + 2)
                     : look.advice;
        }
        return TW_OK;
    }
    return identify_trace(inquiry, name);
}

static enum tw_status take(struct tw_identify_options *copy,
                           const struct tw_identify_options *options, struct tw_fault *fault)
{
    *copy = (struct tw_identify_options){ .size = sizeof *copy };
    return options ? TW_SIZED_TAKE(copy, options, "tw_identify_options", fault) : TW_OK;
}

static enum tw_status start(struct tw_identified **identified, struct tw_identify_options *copy,
                            const struct tw_identify_options *options, struct tw_fault *fault)
{
    struct tw_identified *answer;

    *identified = NULL;
    TW_TRY(take(copy, options, fault));
    answer = tw_take(copy->allocator, sizeof *answer);
    if (!answer)
        return tw_fail(fault, TW_E_MEMORY, "no memory to identify a file");
    if (copy->allocator) {
        answer->allocator_copy = *copy->allocator;
        answer->allocator = &answer->allocator_copy;
    }
    answer->stays_outside = copy->stays_outside;
    *identified = answer;
    return TW_OK;
}

static enum tw_status finish(struct tw_identified **identified, enum tw_status status,
                             struct tw_fault *fault)
{
    if (status == TW_OK && (*identified)->no_memory)
        status = TW_E_MEMORY;
    if (status == TW_E_MEMORY)
        (void)tw_fail(fault, status, "no memory to identify a file");
    if (status != TW_OK) {
        tw_identified_free(*identified);
        *identified = NULL;
    }
    return status;
}

enum tw_status tw_identify_bytes(struct tw_identified **identified, const uint8_t *bytes,
                                 size_t size, const char *name,
                                 const struct tw_identify_options *options,
                                 struct tw_fault *fault)
{
    struct tw_identify_options copy;
    struct tw_inquiry inquiry = { .file = bytes, .size = size, .options = &copy };

    TW_TRY(start(identified, &copy, options, fault));
    inquiry.answer = *identified;
    inquiry.allocator = (*identified)->allocator;
    return finish(identified, look_inside(&inquiry, name), fault);
}

/* What says itself what it is. */
static enum tw_status ask_capture(struct tw_identified *answer, const char *path,
                                  const char *kind)
{
    struct tw_identity *about = &answer->about;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_capture *capture;

    about->format = kind;
    about->confidence = 1;
    if (answer->stays_outside) {
        about->what = tw_answer_text(answer, "a %s", kind);
        tw_answer_command(answer, path);
        return TW_OK;
    }
    if (tw_capture_open(&capture, path, NULL, &fault) != TW_OK) {
        about->what = tw_answer_text(answer, "%s that cannot be opened: %s", kind, fault.text);
        about->command = NULL;
        return TW_OK;
    }
    about->what =
        tw_answer_text(answer, "%s with %zu buffers and %zu sources", kind,
                       tw_capture_buffer_count(capture), tw_capture_source_count(capture));
    if (tw_capture_buffer_count(capture)) {
        about->has_framing = true;
        about->framing = tw_capture_buffer(capture, 0)->framing;
    }
    about->sources = answer->sources;
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);

        if (about->source_count == TW_ID_COUNT)
            break;
        answer->sources[about->source_count++] = (struct tw_identified_source){
            .id = source->has_id ? source->id : 0,
            .protocol =
                source->protocol ? tw_answer_text(answer, "%s", source->protocol) : NULL,
            .confidence = 1,
        };
    }
    tw_capture_free(capture);
    tw_answer_command(answer, path);
    return TW_OK;
}

enum tw_status tw_identify(struct tw_identified **identified, const char *path,
                           const struct tw_identify_options *options, struct tw_fault *fault)
{
    struct tw_identify_options copy;
    struct stat about;
    struct tw_file file;
    enum tw_status status;

    *identified = NULL;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        TW_TRY(start(identified, &copy, options, fault));
        tw_answer_evidence(*identified, "a folder");
        return finish(identified, ask_capture(*identified, path, "snapshot"), fault);
    }
    TW_TRY(take(&copy, options, fault));
    TW_TRY(tw_file_map(&file, copy.allocator, path, fault));
    status = tw_identify_bytes(identified, file.bytes, file.size, path, options, fault);
    tw_file_unmap(&file);
    if (status == TW_OK && !(*identified)->stays_outside && (*identified)->about.format &&
        (strcmp((*identified)->about.format, "perf.data") == 0 ||
         strcmp((*identified)->about.format, "snapshot") == 0))
        status = finish(identified, ask_capture(*identified, path, (*identified)->about.format),
                        fault);
    return status;
}
