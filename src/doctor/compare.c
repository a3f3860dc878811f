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
        if (patient->is_left_out || bad || patient->unsynced * 4 > patient->bytes ||
            patient->missing > patient->ranges)
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
            *size = strcspn(config + length + 1, ",\n");
            return config + length + 1;
        }
        config = strpbrk(config, ",\n");
        config = config ? config + 1 : NULL;
    }
    return NULL;
}

/* Where the bytes of a source lie. */
struct place {
    uint32_t buffer;
    const struct tw_source *source;
    uint8_t id;
    struct tw_image *image; /* or NULL */
};

static const struct tw_suspect *suspect_of(const char *protocol)
{
    for (size_t i = 0; i < tw_suspect_count; i++)
        if (strcmp(tw_suspects[i].protocol, protocol) == 0)
            return &tw_suspects[i];
    return NULL;
}

/* A setting of which the text tells takes its value from there. */
static void put_given(struct tw_doctor *doctor, struct tw_settings *settings, const char *text,
                      const char *name)
{
    size_t size;
    const char *value = value_of(text, name, &size);

    if (!value)
        return;
    if (*value >= '0' && *value <= '9' && strncmp(value, "1.0", 3) != 0)
        tw_settings_put(settings, name, strtoull(value, NULL, 0));
    else
        tw_settings_put_word(settings, name, tw_doctor_text(doctor, "%.*s", (int)size, value));
}

/* The settings of a source as they are given, those that decide how its packets are read. */
static void put_settings(struct tw_doctor *doctor, struct tw_trial *trial,
                         const struct tw_source *source)
{
    const struct tw_suspect *suspect = trial->suspect;
    const struct tw_register_use *use = trial->protocol->registers;

    if (!suspect->is_text) {
        for (; use && use->name; use++)
            for (size_t i = 0; i < source->register_count; i++)
                if (strcmp(source->registers[i].name, use->name) == 0)
                    tw_settings_put(&trial->settings, use->name, source->registers[i].value);
        return;
    }
    trial->settings.is_text = true;
    for (size_t i = 0; i < suspect->base_count; i++) {
        tw_settings_put_item(&trial->settings, &suspect->base[i]);
        put_given(doctor, &trial->settings, source->text, suspect->base[i].name);
    }
    for (unsigned i = 0; i < suspect->dial_count; i++)
        put_given(doctor, &trial->settings, source->text, suspect->dials[i].name);
    for (unsigned i = 0; i < suspect->more_count; i++)
        put_given(doctor, &trial->settings, source->text, suspect->more[i].name);
}

/* How well the bytes of a source are read under its own settings, but for one, which may be NULL: 0 to 1;
   < 0: it cannot be told. */
static double fit_with(struct tw_doctor *doctor, const struct place *place,
                       const struct tw_register *other)
{
    const struct tw_aspect aspect = {
        tw_capture_buffer(doctor->capture, place->buffer)->framing, 1, 0, 0
    };
    struct tw_excerpts excerpts = { .allocator = doctor->allocator };
    struct tw_trial *trial = tw_take(doctor->allocator, sizeof *trial);
    struct tw_budget budget = { UINT64_MAX };
    struct tw_bench bench = { .size = 0 };
    const struct tw_search search = {
        .sampled = &excerpts.streams[aspect.framing == TW_FRAMING_NONE ? 0 : place->id],
        .image = place->image,
        .allocator = doctor->allocator,
        .most = FIT_SEEN,
        .budget = &budget,
        .bench = &bench
    };
    double fit = -1;

    if (trial) {
        trial->suspect = suspect_of(place->source->protocol);
        trial->protocol = tw_protocol_by_name(place->source->protocol);
    }
    if (trial && trial->suspect && trial->protocol &&
        tw_capture_read(doctor->capture, &excerpts.file, &excerpts.size, place->buffer, 0) ==
            TW_OK &&
        tw_excerpts_take(&excerpts, &aspect) == TW_OK) {
        put_settings(doctor, trial, place->source);
        if (other)
            tw_settings_put(&trial->settings, other->name, other->value);
        if (tw_trial_run(trial, &search) == TW_OK) {
            tw_trial_judge(trial);
            fit = trial->fit;
            /* Addresses that are nowhere in the program speak against it. */
            if (place->image && trial->addresses)
                fit *= 0.2 + 0.8 * (double)trial->inside / (double)trial->addresses;
        }
    }
    tw_excerpts_free(&excerpts);
    tw_give(doctor->allocator, bench.memory);
    tw_give(doctor->allocator, trial);
    return fit;
}

/* The value that is given for a setting; false: none is. */
static bool given_of(const struct tw_source *source, const char *name, uint64_t *value)
{
    size_t size;
    const char *text = value_of(source->text, name, &size);

    for (size_t i = 0; i < source->register_count; i++)
        if (strcmp(source->registers[i].name, name) == 0) {
            *value = source->registers[i].value;
            return true;
        }
    if (text)
        *value = strtoull(text, NULL, 0);
    return text != NULL;
}

/* Whether anything of the source was read. */
static bool is_read(const struct tw_doctor *doctor, const struct tw_source *source)
{
    for (size_t i = 0; i < doctor->patient_count; i++)
        if (tw_capture_source(doctor->capture, doctor->patients[i].source) == source)
            return doctor->patients[i].elements > 0;
    return false;
}

/* N-Trace tells itself how wide its source numbers are; other widths read it as well. */
static bool is_self_told(const struct tw_dial *dial)
{
    return strcmp(dial->name, "src_bits") == 0;
}

/* A field whose given value is not the one under which the packets make sense. */
static void compare_dial(struct tw_doctor *doctor, const struct place *place, double fit,
                         const struct tw_identified_source *found, const struct tw_dial *dial)
{
    const struct tw_source *source = place->source;
    const uint64_t mask = dial->mask ? dial->mask : UINT64_MAX;
    uint64_t given = dial->values[0], fits;
    const bool is_given = given_of(source, dial->name, &given);
    size_t size;
    const char *text = value_of(found->config, dial->name, &size);
    struct tw_finding *finding;

    if (!text || (dial->mask && !is_given) || dial->words[0])
        return;
    fits = (given & ~mask) | (strtoull(text, NULL, 0) & mask);
    /* What is found may as well be the usual value of a field of which the trace shows nothing. */
    if (fits == given ||
        (!is_self_told(dial) &&
         fit_with(doctor, place, &(struct tw_register){ dial->name, fits }) < fit + 0.08))
        return;
    finding =
        tw_doctor_find(doctor, is_read(doctor, source) ? TW_FINDING_ERROR : TW_FINDING_FATAL,
                       "wrong-registers", 85);
    finding->count = 1;
    if (dial->mask)
        finding->text = tw_doctor_text(
            doctor,
            "source %s: %s is 0x%" PRIx64
            ", but the packets only make sense with bits 0x%" PRIx64 " as 0x%" PRIx64,
            source->name, dial->name, given, dial->mask, fits & dial->mask);
    else
        finding->text = tw_doctor_text(
            doctor,
            "source %s: %s is %s%" PRIu64 ", but the packets only make sense with %" PRIu64,
            source->name, dial->name, is_given ? "" : "not given, which means ", given, fits);
    finding->remedy = tw_doctor_text(
        doctor, dial->mask ? "use %s=0x%" PRIx64 : "use %s=%" PRIu64, dial->name, fits);
}

static void compare_source(struct tw_doctor *doctor, uint32_t buffer, uint32_t number,
                           const struct tw_identified_source *found)
{
    const struct tw_source *source = tw_capture_source(doctor->capture, number);
    struct place place = { buffer, source, found->id, NULL };
    const struct tw_suspect *suspect;
    struct tw_finding *finding;
    double fit;

    if (!source->protocol || !found->protocol || found->confidence < 0.5 ||
        found->bytes < LEAST_BYTES)
        return;
    fit = fit_with(doctor, &place, NULL);
    if (strcmp(source->protocol, found->protocol) != 0) {
        if ((is_twin(source->protocol, found->protocol) && found->confidence < 0.95) ||
            fit > 0.5 || fit > found->confidence - 0.08 || found->confidence < 0.85)
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
    if (source->image != TW_NONE)
        place.image = tw_capture_image(doctor->capture, source->image);
    fit = fit_with(doctor, &place, NULL);
    suspect = suspect_of(source->protocol);
    for (unsigned k = 0; suspect && k < suspect->dial_count; k++)
        compare_dial(doctor, &place, fit, found, &suspect->dials[k]);
    /* Of E-Trace and N-Trace more is given as it is. */
    for (unsigned k = 0; suspect && suspect->is_text && k < suspect->more_count; k++)
        if (!is_self_told(&suspect->more[k]))
            compare_dial(doctor, &place, fit, found, &suspect->more[k]);
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

/* The program of the first source in a buffer that has one; or NULL. */
static struct tw_image *image_of(const struct tw_doctor *doctor, uint32_t buffer)
{
    for (uint32_t i = 0; i < tw_capture_source_count(doctor->capture); i++) {
        const uint32_t image = tw_capture_source(doctor->capture, i)->image;

        if (image != TW_NONE && tw_capture_source_is_in(doctor->capture, i, 0, buffer))
            return tw_capture_image(doctor->capture, image);
    }
    return NULL;
}

static void compare_buffer(struct tw_doctor *doctor, uint32_t buffer)
{
    const struct tw_identify_options options = { .size = sizeof options,
                                                 .image = image_of(doctor, buffer),
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
