/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM packets: what their lines say. */
#include <inttypes.h>

#include "base/members.h"
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

/* clang-format off */
enum {
    PORT, DISC, TC, SIZE, FREQ_CHANGE, WRAP, HW, BITS, VALUE, WORDS, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [PORT] = TW_LISTED("port", DECIMAL),
    [DISC] = TW_LISTED("disc", DECIMAL),
    [TC] = TW_LISTED("tc", DECIMAL),
    [SIZE] = TW_LISTED("size", DECIMAL),
    [FREQ_CHANGE] = TW_LISTED("freq_change", DECIMAL),
    [WRAP] = TW_LISTED("wrap", DECIMAL),
    [HW] = TW_LISTED("hw", DECIMAL),
    [BITS] = TW_LISTED("bits", DECIMAL),
    [VALUE] = TW_LISTED("value", HEX),
    [WORDS] = TW_TOLD(TEXT, ""),
};
/* clang-format on */

static void tell_counters(struct tw_members *out, unsigned mask)
{
    static const char *const counters[] = { "CPI", "EXC", "Sleep", "LSU", "Fold", "Cyc" };

    tw_put_text(out, WORDS, ": counters wrapped:");
    for (unsigned i = 0; i < TW_LENGTH(counters); i++)
        if (mask >> i & 1)
            tw_put_format(out, WORDS, " %s", counters[i]);
}

static void tell_exception(struct tw_members *out, const struct tw_dwt_meaning *meaning)
{
    static const char *const actions[] = { "reserved action", "entered", "exited",
                                           "returned to" };

    tw_put_format(out, WORDS, ": exception %u", meaning->number);
    if (meaning->number >= 16)
        tw_put_format(out, WORDS, " (IRQ %u)", meaning->number - 16u);
    else
        tw_put_format(out, WORDS, " (%s)", tw_exception_name_m(meaning->number));
    tw_put_format(out, WORDS, " %s", actions[meaning->action]);
}

static void tell_dwt(struct tw_members *out, const struct tw_itm_packet *from)
{
    const struct tw_dwt_meaning meaning =
        tw_dwt_meaning(from->source, from->size, (uint32_t)from->value);

    switch (meaning.kind) {
    case TW_DWT_COUNTERS:
        tell_counters(out, meaning.mask);
        break;
    case TW_DWT_EXCEPTION:
        tell_exception(out, &meaning);
        break;
    case TW_DWT_PC_SAMPLE:
        tw_put_format(out, WORDS, ": PC sample 0x%08" PRIx32, meaning.value);
        break;
    case TW_DWT_ASLEEP:
        tw_put_text(out, WORDS, ": PC sample, asleep");
        break;
    case TW_DWT_PROHIBITED:
        tw_put_text(out, WORDS, ": PC sample, prohibited");
        break;
    case TW_DWT_PMU:
        tw_put_format(out, WORDS, ": PMU overflow, counters 0x%02x", meaning.mask);
        break;
    case TW_DWT_PC:
        tw_put_format(out, WORDS, ": PC 0x%08" PRIx32 ", comparator %u", meaning.value,
                      meaning.comparator);
        break;
    case TW_DWT_ADDRESS:
        tw_put_format(out, WORDS, ": address 0x%0*" PRIx32 ", comparator %u", 2 * meaning.size,
                      meaning.value, meaning.comparator);
        break;
    case TW_DWT_VALUE:
        tw_put_format(out, WORDS, ": %s 0x%0*" PRIx32 ", comparator %u",
                      meaning.is_write ? "write" : "read", 2 * meaning.size, meaning.value,
                      meaning.comparator);
        break;
    case TW_DWT_MATCH:
        tw_put_format(out, WORDS, ": match, comparator %u", meaning.comparator);
        break;
    default:
        tw_put_format(out, WORDS, ": reserved discriminator %u, size %u, 0x%" PRIx32,
                      from->source, from->size, meaning.value);
        break;
    }
}

/* What it means, for people. */
static void tell(struct tw_members *out, const struct tw_itm_packet *from)
{
    static const char *const relations[] = { "synchronous", "delayed", "packet delayed",
                                             "packet and timestamp delayed" };

    switch (from->base.type) {
    case TW_ITM_PACKET_RESERVED:
    case TW_ITM_PACKET_BAD_SEQUENCE:
    case TW_ITM_PACKET_INCOMPLETE:
        tw_put_format(out, WORDS, " header 0x%02x", (unsigned)from->value);
        break;
    case TW_ITM_PACKET_SWIT:
        tw_put_format(out, WORDS, " port %u: 0x%0*" PRIx64, from->source, 2 * from->size,
                      from->value);
        break;
    case TW_ITM_PACKET_DWT:
        tell_dwt(out, from);
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        tw_put_format(out, WORDS, " +%" PRIu64 ", %s", from->value,
                      relations[from->source & 3]);
        break;
    case TW_ITM_PACKET_GTS_1:
        tw_put_format(out, WORDS, " bits %u:0 0x%" PRIx64 "%s%s",
                      from->size == 4 ? 25u : 7u * from->size - 1u, from->value,
                      from->wrap ? ", wrap" : "", from->freq_change ? ", clock change" : "");
        break;
    case TW_ITM_PACKET_GTS_2:
        tw_put_format(out, WORDS, " bits %u:26 0x%" PRIx64, from->size == 4 ? 47u : 63u,
                      from->value);
        break;
    case TW_ITM_PACKET_EXTENSION:
        if (from->source == 0 && from->bits == 3)
            tw_put_format(out, WORDS, " stimulus page %" PRIu64, from->value);
        else
            tw_put_format(out, WORDS, " %s 0x%" PRIx64 " (%u bits)",
                          from->source ? "DWT" : "ITM", from->value, from->bits);
        break;
    default:
        break;
    }
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *packet)
{
    const struct tw_itm_packet *from = packet;

    (void)protocol;
    if (tw_is_wanted(out, WORDS))
        tell(out, from);
    switch (from->base.type) {
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        tw_put(out, from->base.type == TW_ITM_PACKET_SWIT ? PORT : DISC, from->source);
        tw_put(out, SIZE, from->size);
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        tw_put(out, TC, from->source);
        tw_put(out, SIZE, from->size);
        break;
    case TW_ITM_PACKET_GTS_1:
        tw_put(out, FREQ_CHANGE, from->freq_change);
        tw_put(out, WRAP, from->wrap);
        tw_put(out, SIZE, from->size);
        break;
    case TW_ITM_PACKET_GTS_2:
        tw_put(out, SIZE, from->size);
        break;
    case TW_ITM_PACKET_EXTENSION:
        tw_put(out, HW, from->source);
        tw_put(out, BITS, from->bits);
        break;
    default:
        return;
    }
    tw_put(out, VALUE, from->value);
}

const struct tw_member_table tw_itm_members = { rows, MEMBERS, put_members, NULL };
