/* SPDX-License-Identifier: BSD-2-Clause */
/* What a unit made, as a snapshot; units that a script ran. */
#include "unit/unit.h"

#include <trackway/etmv4_unit.h>
#include <trackway/frame.h>
#include <trackway/sim.h>

static enum tw_status frame(struct tw_unit *unit)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY,
                                             .allocator = unit->allocator };
    const struct tw_unit_trace *trace = &unit->trace;

    tw_framer_free(unit->framer);
    unit->framer = NULL;
    if (tw_framer_new(&unit->framer, &config, NULL) != TW_OK ||
        tw_framer_write(unit->framer, trace->id, trace->bytes, trace->size) != TW_OK ||
        (trace->data_size && tw_framer_write(unit->framer, (uint8_t)(trace->id + 1),
                                             trace->data_bytes, trace->data_size) != TW_OK) ||
        tw_framer_finish(unit->framer) != TW_OK)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "the frames could not be made");
    unit->buffers[0].format = "coresight";
    unit->buffers[0].bytes = tw_framer_output(unit->framer, &unit->buffers[0].size);
    return TW_OK;
}

static void describe(struct tw_unit *unit, bool is_framed)
{
    static const char *const names[] = { "trace", "data" };
    const struct tw_unit_trace *trace = &unit->trace;

    unit->data_id = (struct tw_register){ "TRACEID", trace->id + 1u };
    unit->buffers[0] = (struct tw_snapshot_buffer){
        .name = "trace", .format = "source_data", .bytes = trace->bytes, .size = trace->size
    };
    unit->buffers[1] = (struct tw_snapshot_buffer){ .name = "data",
                                                    .format = "source_data",
                                                    .bytes = trace->data_bytes,
                                                    .size = trace->data_size };
    unit->devices[0] = (struct tw_snapshot_device){ .name = "cpu_0",
                                                    .class_name = "core",
                                                    .type = trace->core_type };
    unit->devices[1] =
        (struct tw_snapshot_device){ .name = unit->device,
                                     .class_name = "trace_source",
                                     .type = trace->device_type,
                                     .registers = trace->registers,
                                     .register_count = trace->register_count,
                                     .core = unit->is_of_no_core ? NULL : "cpu_0",
                                     .buffers = names,
                                     .buffer_count = 1,
                                     .text = trace->text };
    unit->devices[2] =
        (struct tw_snapshot_device){ .name = "ETRACED_0",
                                     .class_name = "trace_source",
                                     .type = trace->data_device_type,
                                     .registers = &unit->data_id,
                                     .register_count = 1,
                                     .core = "cpu_0",
                                     .buffers = is_framed ? names : names + 1, /* all in one */
                                     .buffer_count = 1,
                                     .text = trace->data_text };
}

enum tw_status tw_unit_snapshot(struct tw_unit *unit, struct tw_snapshot *snapshot,
                                bool is_framed)
{
    const size_t streams = unit->trace.data_size ? 2 : 1;
    struct tw_snapshot_dump *dumps;

    if (!unit->has_finished)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "tracing has not ended");
    describe(unit, is_framed);
    TW_TRY(tw_unit_dumps(unit, &dumps, &unit->devices[0].dump_count));
    unit->devices[0].dumps = dumps;
    if (is_framed)
        TW_TRY(frame(unit));
    snapshot->devices = unit->devices;
    snapshot->device_count = 1 + streams;
    snapshot->buffers = unit->buffers;
    snapshot->buffer_count = is_framed ? 1 : streams;
    return TW_OK;
}

enum tw_status tw_unit_adopt(struct tw_unit *unit, const struct tw_sim_capture *capture)
{
    uint64_t id = 0;

    if (unit->has_begun)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "it has trace of its own");
    tw_unit_describe_arm(unit, capture->is_ete);
    unit->trace.registers = unit->registers;
    unit->trace.register_count = 0;
    while (unit->trace.register_count < TW_UNIT_REGISTERS &&
           tw_etmv4_unit_register(capture->unit, &unit->registers[unit->trace.register_count],
                                  unit->trace.register_count) == TW_OK)
        unit->trace.register_count++;
    if (tw_etmv4_unit_read_register(capture->unit, &id, "TRCTRACEIDR") == TW_OK)
        unit->trace.id = (uint8_t)(id & 0x7f);
    unit->trace.bytes = capture->bytes;
    unit->trace.size = capture->size;
    unit->has_finished = true;
    return TW_OK;
}
