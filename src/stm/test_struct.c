/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: packets as structs, written and read. */
#include "check.h"

#include "every_struct.h"
#include "stm/packet.h"

#define SAME(member, most)     STRUCT_SAME(struct tw_stm_packet, member, most)
#define IF(member, most, told) STRUCT_IF(struct tw_stm_packet, member, most, told)

/* What is not sent of a time is that of the packet before: here 0.  A packet with a time says so. */
static void settle(void *any)
{
    struct tw_stm_packet *packet = any;
    const struct tw_stm_rule *rule = tw_stm_rule_of(packet->base.type);

    packet->has_timestamp = rule->has_timestamp;
    if (packet->timestamp_bits < 64)
        packet->timestamp &= ((uint64_t)1 << packet->timestamp_bits) - 1;
}

static enum tw_status flush(void *writer, uint8_t *out, size_t *size)
{
    return tw_stm_write_flush(writer, out, size);
}

static void structs_are_refused_or_read_as_they_were(void **state)
{
#define ROW .protocol = "stm", .registers = "STMTCSR=0x100001"
    static const struct every_setup setups[] = {
        { "version 3", ROW, .start = "ff ff ff ff ff ff ff ff ff ff 0f 0f 30" },
    };
    static struct struct_type types[TW_STM_TYPES];
    size_t count = 0;

    (void)state;
    for (uint8_t type = 0; type < TW_STM_TYPES; type++) {
        if (!tw_stm_rule_of(type) || type == TW_STM_RESERVED)
            continue;
        types[count++] = (struct struct_type){
            type,
            settle,
            { SAME(value, UINT64_MAX), IF(timestamp, UINT64_MAX, has_timestamp),
              IF(timestamp_bits, 64, has_timestamp), SAME(has_timestamp, 1) },
            0
        };
        if (type == TW_STM_ASYNC)
            types[count - 1].fields[0].bytes = 0;
    }
    struct_check_all(setups, LENGTH(setups), types, count, flush);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_refused_or_read_as_they_were),
    };

    return cmocka_run_group_tests_name("stm structs", tests, NULL, NULL);
}
