/* SPDX-License-Identifier: BSD-2-Clause */
/* What the packet readers of ETMv3 and PTM share. */
#include "armv7/packet.h"

#include "base/compiler.h"
#include "base/fault.h"

const struct tw_register_use tw_armv7_register_uses[] = {
    { "ETMCR", NULL },   { "ETMIDR", NULL },
    { "ETMCCER", NULL }, { "ETMTRACEIDR", "the source's trace ID" },
    { NULL, NULL },
};

enum tw_status tw_armv7_registers(struct tw_armv7_registers *out,
                                  const struct tw_source_info *source, unsigned major,
                                  const char *name, struct tw_fault *fault)
{
    uint64_t control, identity, features, id = source->id;

    TW_TRY(tw_source_need_all(source, tw_armv7_register_uses, fault));
    TW_TRY(tw_source_need(source, &control, "ETMCR", fault));
    TW_TRY(tw_source_need(source, &identity, "ETMIDR", fault));
    TW_TRY(tw_source_need(source, &features, "ETMCCER", fault));
    (void)tw_source_register(source, &id, "ETMTRACEIDR");
    if ((identity >> 8 & 0xf) != major)
        return tw_fail(fault, TW_E_CONFIG, "ETMIDR 0x%x is not that of %s", (unsigned)identity,
                       name);
    *out = (struct tw_armv7_registers){ .etmcr = (uint32_t)control,
                                        .etmidr = (uint32_t)identity,
                                        .etmccer = (uint32_t)features,
                                        .etmtraceidr = (uint32_t)id };
    return TW_OK;
}

enum tw_status tw_armv7_hunt(struct tw_packet *packet, const struct tw_armv7_hunted *types,
                             const uint8_t *data, size_t size, bool is_last)
{
    size_t found, run;

    if (size > UINT32_MAX / 2) {
        size = UINT32_MAX / 2;
        is_last = false;
    }
    run = tw_armv7_find_async(data, size, is_last, &found);
    if (!run && !found)
        return TW_MORE;
    packet->type = run ? types->not_sync : types->async;
    packet->size = (uint32_t)(run ? run : found);
    return TW_OK;
}
