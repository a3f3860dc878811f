/* SPDX-License-Identifier: BSD-2-Clause */
/* The ETMv4 data trace stream: its layout is not public.  It is found, listed from one A-sync to
   the next, counted, and named as not decodable. */
#include "etmv4/decode.h"

struct data_decoder {
    uint64_t first_index, bytes;
    bool has_bytes, is_reported, is_ended;
};

static enum tw_status configure(void *config, const struct tw_source_info *source,
                                struct tw_fault *fault)
{
    const enum tw_status status = tw_etmv4_configure(config, source, false, fault);

    if (status == TW_OK)
        ((struct tw_etmv4_config *)config)->is_data_stream = true;
    return status;
}

static void init(void *state, const void *config)
{
    (void)config;
    *(struct data_decoder *)state = (struct data_decoder){ .bytes = 0 };
}

static void reset(void *state)
{
    init(state, NULL);
}

static enum tw_status decode(void *state, struct tw_follow *follow, struct tw_output *output,
                             struct tw_input *in)
{
    struct data_decoder *decoder = state;

    (void)follow;
    (void)output;
    if (!decoder->has_bytes && in->used < in->size) {
        decoder->has_bytes = true;
        decoder->first_index = in->place_count ? in->places[0].capture : in->offset;
    }
    decoder->bytes += in->size - in->used;
    in->used = in->size;
    return TW_MORE;
}

static enum tw_status end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct data_decoder *decoder = state;
    struct tw_batch *batch = output->batch;
    const struct tw_element error = { .index = decoder->first_index,
                                      .type = TW_ELEMENT_ERROR,
                                      .error = TW_ERROR_UNSUPPORTED,
                                      .skipped = decoder->bytes };
    const struct tw_element last = { .index = decoder->first_index + decoder->bytes,
                                     .type = TW_ELEMENT_EO_TRACE,
                                     .reason = TW_REASON_END };

    (void)follow;
    if (decoder->is_ended)
        return TW_END;
    if (batch->room - batch->count < 2)
        return TW_OK;
    if (decoder->has_bytes)
        batch->elements[batch->count++] = error;
    batch->elements[batch->count++] = last;
    decoder->is_ended = true;
    return TW_END;
}

bool tw_etmv4_has_data_stream(const void *config)
{
    struct tw_etmv4_setup setup;

    tw_etmv4_setup_from_config(&setup, config);
    return setup.data && !setup.is_data_stream;
}

const struct tw_protocol tw_etmv4d = {
    .name = "etmv4d",
    .title = "Arm ETMv4 data trace (listed, not decoded)",
    .config_size = sizeof(struct tw_etmv4_config),
    .reader_size = sizeof(struct tw_etmv4_reader),
    .packet_size = sizeof(struct tw_etmv4_packet),
    .packet_max = TW_ETMV4_PACKET_MAX,
    .registers = tw_etmv4_registers,
    .configure = configure,
    .trace_id = tw_etmv4_config_id,
    .reader_init = tw_etmv4_any_init,
    .read = tw_etmv4_any_read,
    .reader_lost = tw_etmv4_any_lost,
    .write = tw_etmv4_any_write,
    .members = &tw_etmv4_members,
    .types = tw_etmv4_types,
    .type_count = TW_ETMV4_TYPES,
    .decoder_size = sizeof(struct data_decoder),
    .decoder_init = init,
    .decode = decode,
    .end = end,
    .decoder_reset = reset,
    .notes = tw_etmv4_notes,
};
