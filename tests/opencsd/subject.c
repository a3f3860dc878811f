/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer of a capture as a client of OpenCSD sees it. */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint32_t get(const struct tw_source *source, const char *name)
{
    for (size_t i = 0; i < source->register_count; i++)
        if (strcasecmp(source->registers[i].name, name) == 0)
            return (uint32_t)source->registers[i].value;
    return 0;
}

static ocsd_arch_version_t arch_of(const char *core)
{
    static const char *const v7[] = { "Cortex-A15", "Cortex-A7", "Cortex-A9", "Cortex-A5" };

    for (size_t i = 0; i < sizeof v7 / sizeof v7[0]; i++)
        if (strcmp(core, v7[i]) == 0)
            return ARCH_V7;
    return strcmp(core, "ARM-AA64") == 0 ? ARCH_AA64 : ARCH_V8;
}

static ocsd_core_profile_t profile_of(const char *core)
{
    return strncmp(core, "Cortex-M", 8) == 0   ? profile_CortexM
           : strncmp(core, "Cortex-R", 8) == 0 ? profile_CortexR
                                               : profile_CortexA;
}

static void set_etmv4(struct subject_decoder *decoder, const struct tw_source *from,
                      const char *core)
{
    decoder->name = OCSD_BUILTIN_DCD_ETMV4I;
    decoder->protocol = OCSD_PROTOCOL_ETMV4I;
    decoder->config.etmv4 = (ocsd_etmv4_cfg){ .reg_idr0 = get(from, "TRCIDR0"),
                                              .reg_idr1 = get(from, "TRCIDR1"),
                                              .reg_idr2 = get(from, "TRCIDR2"),
                                              .reg_idr8 = get(from, "TRCIDR8"),
                                              .reg_idr9 = get(from, "TRCIDR9"),
                                              .reg_idr10 = get(from, "TRCIDR10"),
                                              .reg_idr11 = get(from, "TRCIDR11"),
                                              .reg_idr12 = get(from, "TRCIDR12"),
                                              .reg_idr13 = get(from, "TRCIDR13"),
                                              .reg_configr = get(from, "TRCCONFIGR"),
                                              .reg_traceidr = get(from, "TRCTRACEIDR"),
                                              .arch_ver = arch_of(core),
                                              .core_prof = profile_of(core) };
}

static void set_ete(struct subject_decoder *decoder, const struct tw_source *from,
                    const char *core)
{
    decoder->name = OCSD_BUILTIN_DCD_ETE;
    decoder->protocol = OCSD_PROTOCOL_ETE;
    decoder->config.ete = (ocsd_ete_cfg){ .reg_idr0 = get(from, "TRCIDR0"),
                                          .reg_idr1 = get(from, "TRCIDR1"),
                                          .reg_idr2 = get(from, "TRCIDR2"),
                                          .reg_idr8 = get(from, "TRCIDR8"),
                                          .reg_devarch = get(from, "TRCDEVARCH"),
                                          .reg_configr = get(from, "TRCCONFIGR"),
                                          .reg_traceidr = get(from, "TRCTRACEIDR"),
                                          .arch_ver = arch_of(core),
                                          .core_prof = profile_of(core) };
}

static void set_v7(struct subject_decoder *decoder, const struct tw_source *from,
                   const char *core, bool is_ptm)
{
    decoder->name = is_ptm ? OCSD_BUILTIN_DCD_PTM : OCSD_BUILTIN_DCD_ETMV3;
    decoder->protocol = is_ptm ? OCSD_PROTOCOL_PTM : OCSD_PROTOCOL_ETMV3;
    /* Both structs are alike. */
    decoder->config.ptm = (ocsd_ptm_cfg){ .reg_idr = get(from, "ETMIDR"),
                                          .reg_ctrl = get(from, "ETMCR"),
                                          .reg_ccer = get(from, "ETMCCER"),
                                          .reg_trc_id = get(from, "ETMTRACEIDR"),
                                          .arch_ver = arch_of(core),
                                          .core_prof = profile_of(core) };
}

static bool set_decoder(struct subject_decoder *decoder, const struct tw_source *from,
                        bool has_itm)
{
    const char *core = from->core_type ? from->core_type : "";

    if (!from->protocol)
        return false;
    if (strcmp(from->protocol, "etmv4") == 0) {
        set_etmv4(decoder, from, core);
    } else if (strcmp(from->protocol, "ete") == 0) {
        set_ete(decoder, from, core);
    } else if (strcmp(from->protocol, "ptm") == 0 || strcmp(from->protocol, "etmv3") == 0) {
        set_v7(decoder, from, core, from->protocol[0] == 'p');
    } else if (strcmp(from->protocol, "stm") == 0) {
        decoder->name = OCSD_BUILTIN_DCD_STM;
        decoder->protocol = OCSD_PROTOCOL_STM;
        decoder->config.stm = (ocsd_stm_cfg){ .reg_tcsr = get(from, "STMTCSR") };
    } else if (strcmp(from->protocol, "itm") == 0 && has_itm) {
        decoder->name = "ITM";
        decoder->config.itm = get(from, "ITMTCR");
    } else {
        return false;
    }
    return true;
}

static void add_dumps(struct subject *subject)
{
    for (size_t i = 0; i < tw_capture_device_count(subject->capture); i++) {
        const struct tw_device *device = tw_capture_device(subject->capture, i);

        for (size_t j = 0; j < device->dump_count; j++)
            if (device->dumps[j].length && subject->dump_count < SUBJECT_DUMPS)
                subject->dumps[subject->dump_count++] = &device->dumps[j];
    }
}

/* ---- Frames */

static void set_align(struct subject *subject)
{
    static const unsigned aligns[] = { [TW_FRAMING_NONE] = 1,
                                       [TW_FRAMING_MEMORY] = 16,
                                       [TW_FRAMING_TPIU] = 4,
                                       [TW_FRAMING_TPIU_HSYNC] = 2 };

    subject->align = aligns[subject->framing];
    subject->size -= subject->size % subject->align;
}

/* OpenCSD takes what is in the blocks of a DSTREAM. */
static bool unpack_blocks(struct subject *subject)
{
    enum { BLOCK = 512, DATA = 504 };
    size_t size = 0;

    subject->made = malloc(subject->size + 1);
    if (!subject->made)
        return false;
    for (size_t at = 0; at + BLOCK <= subject->size; at += BLOCK, size += DATA)
        memcpy(subject->made + size, subject->data + at, DATA);
    subject->data = subject->made;
    subject->size = size;
    subject->framing = TW_FRAMING_TPIU;
    return true;
}

uint32_t subject_flags(const struct subject *subject)
{
    switch (subject->framing) {
    case TW_FRAMING_TPIU:
        return OCSD_DFRMTR_HAS_FSYNCS;
    case TW_FRAMING_TPIU_HSYNC:
        return OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS;
    default:
        return OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC;
    }
}

/* A framer, and how many runs it was given. */
struct reframing {
    struct tw_framer *framer;
    unsigned runs;
    bool is_idle; /* the port is, now and then */
    enum tw_status status;
};

static void take_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    struct reframing *to = context;

    (void)capture_offset;
    (void)stream_offset;
    if (id == 0 || id > 0x6f || to->status != TW_OK)
        return;
    to->status = tw_framer_write(to->framer, id, bytes, size);
    if (to->status == TW_OK && to->is_idle && ++to->runs % 8 == 0)
        to->status = tw_framer_idle(to->framer);
}

bool subject_reframe(struct subject *subject, const struct subject *from,
                     enum tw_framing framing)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = framing,
                                             .align = 4 };
    struct reframing to = { .is_idle = framing == TW_FRAMING_TPIU_HSYNC };
    const struct tw_unframer_config unframing = { .size = sizeof unframing,
                                                  .framing = from->framing,
                                                  .on_run = take_run,
                                                  .on_run_context = &to };
    struct tw_unframer *unframer = NULL;
    const uint8_t *output = NULL;
    size_t size = 0;

    *subject = *from;
    subject->capture = NULL;
    subject->made = NULL;
    if (from->framing == TW_FRAMING_NONE || tw_framer_new(&to.framer, &config, NULL) != TW_OK)
        return false;
    if (tw_unframer_new(&unframer, &unframing, NULL) == TW_OK &&
        tw_unframer_feed(unframer, from->data, from->size) == TW_OK && to.status == TW_OK &&
        tw_framer_finish(to.framer) == TW_OK)
        output = tw_framer_output(to.framer, &size);
    if (output)
        subject->made = malloc(size + 1);
    if (subject->made)
        memcpy(subject->made, output, size);
    tw_unframer_free(unframer);
    tw_framer_free(to.framer);
    subject->data = subject->made;
    subject->size = size;
    subject->framing = framing;
    set_align(subject);
    return subject->made != NULL;
}

bool subject_open(struct subject *subject, const char *path, size_t buffer, bool has_itm)
{
    struct tw_fault fault;

    memset(subject, 0, sizeof *subject);
    if (tw_capture_open(&subject->capture, path, NULL, &fault) != TW_OK) {
        (void)fprintf(stderr, "%s\n", fault.text);
        return false;
    }
    if (buffer >= tw_capture_buffer_count(subject->capture))
        return false;
    subject->framing = tw_capture_buffer(subject->capture, buffer)->framing;
    if (tw_capture_read(subject->capture, &subject->data, &subject->size, buffer, 0) != TW_OK)
        return false;
    if (subject->framing == TW_FRAMING_DSTREAM && !unpack_blocks(subject))
        return false;
    set_align(subject);
    for (size_t i = 0; i < tw_capture_source_count(subject->capture) &&
                       subject->decoder_count < SUBJECT_DECODERS;
         i++)
        if (tw_capture_source_is_in(subject->capture, i, 0, (uint32_t)buffer) &&
            set_decoder(&subject->decoders[subject->decoder_count],
                        tw_capture_source(subject->capture, i), has_itm))
            subject->decoder_count++;
    add_dumps(subject);
    return subject->decoder_count > 0;
}

void subject_free(struct subject *subject)
{
    tw_capture_free(subject->capture);
    free(subject->made);
}
