/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: packets to text. */
#include <inttypes.h>

#include "itm/packet.h"

const struct tw_packet_type tw_itm_types[TW_ITM_PACKET_TYPES] = {
    [TW_ITM_PACKET_NOT_SYNC] = { "ITM_NOTSYNC", TW_PACKET_NOT_SYNC },
    [TW_ITM_PACKET_RESERVED] = { "ITM_RESERVED", TW_PACKET_BAD },
    [TW_ITM_PACKET_BAD_SEQUENCE] = { "ITM_BAD_SEQUENCE", TW_PACKET_BAD },
    [TW_ITM_PACKET_INCOMPLETE] = { "ITM_INCOMPLETE_EOT", TW_PACKET_CUT },
    [TW_ITM_PACKET_ASYNC] = { "ITM_ASYNC", TW_PACKET_SYNC },
    [TW_ITM_PACKET_OVERFLOW] = { "ITM_OVERFLOW", TW_PACKET_OVERFLOW },
    [TW_ITM_PACKET_SWIT] = { "ITM_SWIT", TW_PACKET_DATA },
    [TW_ITM_PACKET_DWT] = { "ITM_DWT", TW_PACKET_DATA },
    [TW_ITM_PACKET_TS_LOCAL] = { "ITM_TS_LOCAL", TW_PACKET_TIME },
    [TW_ITM_PACKET_GTS_1] = { "ITM_GTS_1", TW_PACKET_TIME },
    [TW_ITM_PACKET_GTS_2] = { "ITM_GTS_2", TW_PACKET_TIME },
    [TW_ITM_PACKET_EXTENSION] = { "ITM_EXTENSION", TW_PACKET_CONTEXT },
};

const char *tw_itm_type_name(unsigned type)
{
    return type < TW_ITM_PACKET_TYPES ? tw_itm_types[type].name : "UNKNOWN";
}

const char *tw_exception_name_m(unsigned number)
{
    static const char *const system[16] = {
        [0] = "thread",    [1] = "Reset",     [2] = "NMI",        [3] = "HardFault",
        [4] = "MemManage", [5] = "BusFault",  [6] = "UsageFault", [7] = "SecureFault",
        [11] = "SVCall",   [12] = "DebugMon", [14] = "PendSV",    [15] = "SysTick",
    };

    if (number >= 16)
        return "IRQ";
    return system[number] ? system[number] : "reserved";
}

static void print_counters(struct tw_text *out, unsigned mask)
{
    static const char *const counters[] = { "CPI", "EXC", "Sleep", "LSU", "Fold", "Cyc" };

    tw_text_add(out, ": counters wrapped:");
    for (unsigned i = 0; i < TW_LENGTH(counters); i++)
        if (mask >> i & 1)
            tw_text_format(out, " %s", counters[i]);
}

static void print_exception(struct tw_text *out, const struct tw_dwt_meaning *meaning)
{
    static const char *const actions[] = { "reserved action", "entered", "exited",
                                           "returned to" };

    tw_text_format(out, ": exception %u", meaning->number);
    if (meaning->number >= 16)
        tw_text_format(out, " (IRQ %u)", meaning->number - 16u);
    else
        tw_text_format(out, " (%s)", tw_exception_name_m(meaning->number));
    tw_text_format(out, " %s", actions[meaning->action]);
}

static void print_dwt(struct tw_text *out, const struct tw_itm_packet *from)
{
    const struct tw_dwt_meaning meaning =
        tw_dwt_meaning(from->source, from->size, (uint32_t)from->value);

    switch (meaning.kind) {
    case TW_DWT_COUNTERS:
        print_counters(out, meaning.mask);
        break;
    case TW_DWT_EXCEPTION:
        print_exception(out, &meaning);
        break;
    case TW_DWT_PC_SAMPLE:
        tw_text_format(out, ": PC sample 0x%08" PRIx32, meaning.value);
        break;
    case TW_DWT_ASLEEP:
        tw_text_add(out, ": PC sample, asleep");
        break;
    case TW_DWT_PROHIBITED:
        tw_text_add(out, ": PC sample, prohibited");
        break;
    case TW_DWT_PMU:
        tw_text_format(out, ": PMU overflow, counters 0x%02x", meaning.mask);
        break;
    case TW_DWT_PC:
        tw_text_format(out, ": PC 0x%08" PRIx32 ", comparator %u", meaning.value,
                       meaning.comparator);
        break;
    case TW_DWT_ADDRESS:
        tw_text_format(out, ": address 0x%0*" PRIx32 ", comparator %u", 2 * meaning.size,
                       meaning.value, meaning.comparator);
        break;
    case TW_DWT_VALUE:
        tw_text_format(out, ": %s 0x%0*" PRIx32 ", comparator %u",
                       meaning.is_write ? "write" : "read", 2 * meaning.size, meaning.value,
                       meaning.comparator);
        break;
    case TW_DWT_MATCH:
        tw_text_format(out, ": match, comparator %u", meaning.comparator);
        break;
    default:
        tw_text_format(out, ": reserved discriminator %u, size %u, 0x%" PRIx32, from->source,
                       from->size, meaning.value);
        break;
    }
}

void tw_itm_print(struct tw_text *out, const void *packet)
{
    static const char *const relations[] = { "synchronous", "delayed", "packet delayed",
                                             "packet and timestamp delayed" };
    const struct tw_itm_packet *from = packet;

    tw_text_add(out, tw_itm_type_name(from->base.type));
    switch (from->base.type) {
    case TW_ITM_PACKET_RESERVED:
    case TW_ITM_PACKET_BAD_SEQUENCE:
    case TW_ITM_PACKET_INCOMPLETE:
        tw_text_format(out, " header 0x%02x", (unsigned)from->value);
        break;
    case TW_ITM_PACKET_SWIT:
        tw_text_format(out, " port %u: 0x%0*" PRIx64, from->source, 2 * from->size,
                       from->value);
        break;
    case TW_ITM_PACKET_DWT:
        print_dwt(out, from);
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        tw_text_format(out, " +%" PRIu64 ", %s", from->value, relations[from->source & 3]);
        break;
    case TW_ITM_PACKET_GTS_1:
        tw_text_format(out, " bits %u:0 0x%" PRIx64 "%s%s",
                       from->size == 4 ? 25u : 7u * from->size - 1u, from->value,
                       from->wrap ? ", wrap" : "", from->freq_change ? ", clock change" : "");
        break;
    case TW_ITM_PACKET_GTS_2:
        tw_text_format(out, " bits %u:26 0x%" PRIx64, from->size == 4 ? 47u : 63u, from->value);
        break;
    case TW_ITM_PACKET_EXTENSION:
        if (from->source == 0 && from->bits == 3)
            tw_text_format(out, " stimulus page %" PRIu64, from->value);
        else
            tw_text_format(out, " %s 0x%" PRIx64 " (%u bits)", from->source ? "DWT" : "ITM",
                           from->value, from->bits);
        break;
    default:
        break;
    }
}

void tw_itm_json(struct tw_text *out, const void *packet)
{
    const struct tw_itm_packet *from = packet;

    switch (from->base.type) {
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        tw_json_u64(out, from->base.type == TW_ITM_PACKET_SWIT ? "port" : "disc", from->source);
        tw_json_u64(out, "size", from->size);
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        tw_json_u64(out, "tc", from->source);
        tw_json_u64(out, "size", from->size);
        break;
    case TW_ITM_PACKET_GTS_1:
        tw_json_u64(out, "freq_change", from->freq_change);
        tw_json_u64(out, "wrap", from->wrap);
        tw_json_u64(out, "size", from->size);
        break;
    case TW_ITM_PACKET_GTS_2:
        tw_json_u64(out, "size", from->size);
        break;
    case TW_ITM_PACKET_EXTENSION:
        tw_json_u64(out, "hw", from->source);
        tw_json_u64(out, "bits", from->bits);
        break;
    default:
        return;
    }
    tw_json_hex(out, "value", from->value);
}
