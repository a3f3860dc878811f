/* SPDX-License-Identifier: BSD-2-Clause */
/* How a buffer is described against what it is found to be: wrong framing, protocols, IDs, registers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/identify.h>

#include "base/memory.h"
#include "doctor/doctor.h"
#include "identify/identify.h"

enum { LOOKED_AT = 4 << 20, FIT_SEEN = 64 << 10, LEAST_BYTES = 600 };

static bool is_twin(const char *a, const char *b)
{
    return (!strcmp(a, "etmv4") && !strcmp(b, "ete")) ||
           (!strcmp(a, "ete") && !strcmp(b, "etmv4"));
}

/* Whether anything speaks for a wrong description. */
static bool is_suspicious(const struct tw_doctor *doctor)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < doctor->patient_count; i++) {
        const struct tw_patient *patient = &doctor->patients[i];
        uint64_t bad = 0;

        bytes += patient->bytes;
        for (unsigned code = 0; code < TW_ERROR_CODES; code++)
            if (code != TW_ERROR_TRUNCATED && code != TW_ERROR_UNSYNCED &&
                code != TW_ERROR_UNPLACED && code != TW_ERROR_OVERFLOW)
                bad += patient->errors[code];
        if (patient->is_left_out || bad || patient->unsynced * 4 > patient->bytes)
            return true;
    }
    /* Frames hold a quarter of other things at most. */
    return bytes * 4 < doctor->total * 3 && doctor->total;
}

static const char *value_of(const char *config, const char *name, size_t *size)
{
    const size_t length = strlen(name);

    while (config && *config) {
        if (strncmp(config, name, length) == 0 && config[length] == '=') {
            *size = strcspn(config + length + 1, ",");
            return config + length + 1;
        }
        config = strchr(config, ',');
        config = config ? config + 1 : NULL;
    }
    return NULL;
}

/* A field whose given value is not the one under which the packets make sense. */
static bool compare_dial(struct tw_doctor *doctor, const struct tw_source *source,
                         const struct tw_identified_source *found, const struct tw_dial *dial)
{
    uint64_t given = 0, fits;
    bool is_given = false;
    size_t size;
    const char *text = value_of(found->config, dial->name, &size);
    struct tw_finding *finding;

    for (size_t i = 0; i < source->register_count; i++)
        if (strcmp(source->registers[i].name, dial->name) == 0) {
            given = source->registers[i].value;
            is_given = true;
        }
    if (!text || !is_given || dial->words[0] || !dial->mask)
        return false;
    fits = strtoull(text, NULL, 0);
    if ((fits & dial->mask) == (given & dial->mask))
        return false;
    finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "wrong-registers", 85);
    finding->count = 1;
    finding->text = tw_doctor_text(
        doctor,
        "source %s: %s is 0x%" PRIx64 ", but the packets only make sense with bits 0x%" PRIx64
        " as 0x%" PRIx64,
        source->name, dial->name, given, dial->mask, fits & dial->mask);
    finding->remedy = tw_doctor_text(doctor, "use %s=0x%" PRIx64, dial->name,
                                     (given & ~dial->mask) | (fits & dial->mask));
    return true;
}

/* How well the bytes of a source are read under its own registers: 0 to 1; < 0: it cannot be told. */
static double fit_as_given(const struct tw_doctor *doctor, uint32_t buffer,
                           const struct tw_source *source, uint8_t id)
{
    const struct tw_aspect aspect = { tw_capture_buffer(doctor->capture, buffer)->framing, 1, 0,
                                      0 };
    struct tw_excerpts excerpts = { .allocator = doctor->allocator };
    struct tw_trial *trial = tw_take(doctor->allocator, sizeof *trial);
    struct tw_budget budget = { UINT64_MAX };
    struct tw_bench bench = { NULL, 0 };
    const struct tw_search search = {
        .sampled = &excerpts.streams[aspect.framing == TW_FRAMING_NONE ? 0 : id],
        .allocator = doctor->allocator,
        .most = FIT_SEEN,
        .budget = &budget,
        .bench = &bench
    };
    double fit = -1;

    for (size_t i = 0; trial && !trial->suspect && i < tw_suspect_count; i++)
        if (strcmp(tw_suspects[i].protocol, source->protocol) == 0)
            trial->suspect = &tw_suspects[i];
    if (trial && trial->suspect && !trial->suspect->is_text &&
        tw_capture_read(doctor->capture, &excerpts.file, &excerpts.size, buffer, 0) == TW_OK &&
        tw_excerpts_take(&excerpts, &aspect) == TW_OK) {
        trial->protocol = tw_protocol_by_name(source->protocol);
        for (size_t i = 0; i < source->register_count && i < TW_SETTINGS_MOST; i++)
            tw_settings_put(&trial->settings, source->registers[i].name,
                            source->registers[i].value);
        if (trial->protocol && tw_trial_run(trial, &search) == TW_OK) {
            tw_trial_judge(trial);
            fit = trial->fit;
        }
    }
    tw_excerpts_free(&excerpts);
    tw_give(doctor->allocator, bench.memory);
    tw_give(doctor->allocator, trial);
    return fit;
}

static void compare_source(struct tw_doctor *doctor, uint32_t buffer, uint32_t number,
                           const struct tw_identified_source *found)
{
    const struct tw_source *source = tw_capture_source(doctor->capture, number);
    struct tw_finding *finding;
    double fit;

    if (!source->protocol || !found->protocol || found->confidence < 0.5 ||
        found->bytes < LEAST_BYTES)
        return;
    fit = fit_as_given(doctor, buffer, source, found->id);
    if (fit > found->confidence - 0.08)
        return;
    if (strcmp(source->protocol, found->protocol) != 0) {
        if ((is_twin(source->protocol, found->protocol) && found->confidence < 0.95) ||
            fit > 0.5 || found->confidence < 0.85)
            return;
        finding = tw_doctor_find(doctor, TW_FINDING_FATAL, "wrong-protocol", 97);
        finding->count = 1;
        finding->text =
            tw_doctor_text(doctor, "source %s is described as %s, but its bytes are %s",
                           source->name, source->protocol, found->protocol);
        finding->remedy = tw_doctor_text(
            doctor, "use --protocol %s, or correct the type of the device", found->protocol);
        return;
    }
    for (size_t i = 0; i < tw_suspect_count; i++) {
        if (strcmp(tw_suspects[i].protocol, source->protocol) != 0)
            continue;
        for (unsigned k = 0; k < tw_suspects[i].dial_count; k++)
            (void)compare_dial(doctor, source, found, &tw_suspects[i].dials[k]);
    }
}

/* The source of an ID in this buffer; TW_NONE: there is none. */
static uint32_t source_of(const struct tw_doctor *doctor, uint32_t buffer, uint8_t id,
                          bool is_framed)
{
    for (uint32_t i = 0; i < tw_capture_source_count(doctor->capture); i++) {
        const struct tw_source *source = tw_capture_source(doctor->capture, i);

        if (tw_capture_source_is_in(doctor->capture, i, 0, buffer) &&
            (!is_framed || !source->has_id || source->id == id))
            return i;
    }
    return TW_NONE;
}

static void compare_framing(struct tw_doctor *doctor, uint32_t buffer,
                            const struct tw_identity *about)
{
    const struct tw_buffer *given = tw_capture_buffer(doctor->capture, buffer);
    struct tw_finding *finding;

    if (about->swap || about->skip) {
        finding = tw_doctor_find(doctor, TW_FINDING_FATAL,
                                 about->swap ? "swapped-bytes" : "offset", 88);
        finding->text =
            about->swap
                ? tw_doctor_text(
                      doctor, "buffer %s: the order of its bytes is reversed in groups of %u",
                      given->name, about->swap)
                : tw_doctor_text(doctor, "buffer %s: its frames begin %" PRIu64 " bytes later",
                                 given->name, about->skip);
        finding->remedy =
            about->swap
                ? tw_doctor_text(doctor,
                                 "--swap %u, or read the sink in the byte order of the machine",
                                 about->swap)
                : tw_doctor_text(doctor, "--offset %" PRIu64, about->skip);
        return;
    }
    finding = tw_doctor_find(doctor, TW_FINDING_FATAL, "wrong-framing", 87);
    finding->text =
        tw_doctor_text(doctor, "buffer %s is described as %s, but it is %s", given->name,
                       tw_framing_name(given->framing), tw_framing_name(about->framing));
    finding->remedy =
        tw_doctor_text(doctor, "--framing %s, or correct the buffer's format in trace.ini",
                       tw_framing_name(about->framing));
}

static void compare_ids(struct tw_doctor *doctor, uint32_t buffer,
                        const struct tw_identity *about)
{
    const bool is_framed = about->framing != TW_FRAMING_NONE;

    for (size_t i = 0; i < about->source_count; i++) {
        const struct tw_identified_source *found = &about->sources[i];
        const uint32_t source = source_of(doctor, buffer, found->id, is_framed);
        struct tw_finding *finding;

        if (source != TW_NONE) {
            compare_source(doctor, buffer, source, found);
            continue;
        }
        if (!found->protocol || found->confidence < 0.7)
            continue;
        finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "id-without-source", 75);
        finding->count = found->bytes;
        finding->text = tw_doctor_text(
            doctor, "trace ID 0x%02x holds %s, and no source is described for it", found->id,
            found->protocol);
        finding->remedy = tw_doctor_text(
            doctor,
            "correct the trace ID of the source (TRCTRACEIDR, ETMTRACEIDR), or add one: "
            "--source 0x%02x:%s:...",
            found->id, found->protocol);
    }
}

static void compare_buffer(struct tw_doctor *doctor, uint32_t buffer)
{
    const struct tw_identify_options options = { .size = sizeof options,
                                                 .allocator = doctor->allocator };
    const struct tw_buffer *given = tw_capture_buffer(doctor->capture, buffer);
    const struct tw_identity *about;
    struct tw_identified *identified;
    const uint8_t *bytes;
    size_t size;

    if (tw_capture_read(doctor->capture, &bytes, &size, buffer, 0) != TW_OK || size < 64 ||
        tw_identify_bytes(&identified, bytes, size < LOOKED_AT ? size : LOOKED_AT, "", &options,
                          NULL) != TW_OK)
        return;
    about = tw_identified_about(identified);
    if (about->container && strcmp(about->container, "hex") != 0) {
        struct tw_finding *finding = tw_doctor_find(doctor, TW_FINDING_FATAL, "packed", 93);

        finding->text = tw_doctor_text(doctor, "buffer %s is packed with %s", given->name,
                                       about->container);
        finding->remedy = tw_doctor_text(doctor, "unpack it: %s",
                                         strcmp(about->container, "xz") == 0     ? "unxz"
                                         : strcmp(about->container, "zstd") == 0 ? "unzstd"
                                                                                 : "gunzip");
    } else if (about->has_framing && about->confidence > 0.6) {
        const bool is_alike =
            given->framing == about->framing ||
            (given->framing == TW_FRAMING_TPIU_HSYNC && about->framing == TW_FRAMING_TPIU);

        if (!is_alike || about->swap || about->skip)
            compare_framing(doctor, buffer, about);
        else
            compare_ids(doctor, buffer, about);
    } else if (about->format && strcmp(about->format, "trace") != 0 && size > 256) {
        struct tw_finding *finding = tw_doctor_find(doctor, TW_FINDING_FATAL, "no-trace", 89);

        finding->text = tw_doctor_text(doctor, "buffer %s is %s", given->name, about->what);
        finding->remedy = "give the file that holds the trace; look whether the sink was read "
                          "from the right address";
    }
    tw_identified_free(identified);
}

void tw_doctor_compare(struct tw_doctor *doctor)
{
    if (tw_capture_perf(doctor->capture) || !is_suspicious(doctor))
        return;
    for (uint32_t i = 0; i < tw_capture_buffer_count(doctor->capture); i++)
        compare_buffer(doctor, i);
}
