/* SPDX-License-Identifier: BSD-2-Clause */
/* Software trace: the frame of a decoder of ITM or STM. */
#include "swtrace/decode.h"

void tw_swtrace_start(struct tw_stage *stage, struct tw_swtrace *kept)
{
    if (kept->has_begun || stage->at == stage->end)
        return;
    kept->has_begun = true;
    tw_stage_add(stage, TW_ELEMENT_NO_SYNC, tw_stage_index(stage, stage->at))->reason =
        TW_REASON_INIT;
    tw_stage_mark(stage, stage->out, stage->at + 1);
}

void tw_swtrace_lose(struct tw_stage *stage, const struct tw_packet *at)
{
    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    stage->damage->reason = TW_REASON_RESET;
}

enum tw_status
tw_swtrace_decode(void *decoder, struct tw_swtrace *kept, struct tw_output *output,
                  struct tw_input *in, bool (*decode)(struct tw_stage *stage),
                  void (*take_gap)(struct tw_stage *stage, const struct tw_packet *at))
{
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_SWTRACE_MOST)
        return TW_E_ARGUMENT;
    tw_stage_begin(&stage, decoder, &kept->damage, NULL, output);
    is_used_up = tw_stage_run(&stage, in, decode, take_gap);
    tw_stage_finish(&stage);
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_swtrace_end(void *decoder, struct tw_swtrace *kept, struct tw_output *output,
                              uint64_t offset, void (*add_last)(struct tw_stage *stage))
{
    struct tw_stage stage;

    if (kept->is_ended)
        return TW_END;
    tw_stage_begin(&stage, decoder, &kept->damage, NULL, output);
    if (!tw_swtrace_has_room(&stage))
        return TW_OK;
    kept->is_ended = true;
    tw_stage_report(&stage, offset);
    if (add_last)
        add_last(&stage);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, kept->last_index)->reason = TW_REASON_END;
    tw_stage_finish(&stage);
    return TW_END;
}

static uint64_t in_units(uint64_t offset, uint64_t base, unsigned units)
{
    return offset > UINT64_MAX / 16 ? UINT64_MAX : units * (offset - base);
}

struct tw_swtrace_place tw_swtrace_place(struct tw_stage *stage, size_t at, unsigned units)
{
    const struct tw_stretch stretch =
        tw_position_stretch(&stage->position, stage->offset + at / units);

    return (struct tw_swtrace_place){ .delta = stretch.delta + stage->offset,
                                      .stop = in_units(stretch.stop, stage->offset, units),
                                      .end = in_units(stretch.end, stage->offset, units) };
}
