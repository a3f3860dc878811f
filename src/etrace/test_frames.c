/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: where packets begin and end, in every encapsulation: every first byte (PULP: last byte of a record), every size
   up to more than the longest packet has, with fields of every width that a configuration may have, at the end of
   memory.  A packet has a byte at least and no more than there are, and its payload lies in it. */
#include "check.h"

#include "etrace/transport.h"
#include "guarded.h"

/* Header, timestamp of 8 bytes, source of 16 bits and 31 bytes: 42. */
enum { LONGEST = 44 };

static uint64_t inputs, packets;

static void read_one(const struct tw_etrace_transport *transport, const uint8_t *data,
                     size_t size)
{
    struct tw_etrace_frame frame;
    struct tw_payload payload;
    const enum tw_status status = tw_etrace_frame_read(transport, &frame, data, size);

    inputs++;
    if (status == TW_MORE)
        return;
    CHECK_EQ(status, TW_OK);
    CHECK(frame.size >= 1 && frame.size <= size);
    if (frame.kind > TW_ETRACE_FRAME_DATA)
        return;
    packets++;
    CHECK(frame.payload_size >= 1 && frame.header_bits < 8);
    CHECK((size_t)frame.header_size + frame.payload_size <= frame.size);
    tw_etrace_frame_payload(&payload, &frame, data, size);
    CHECK(payload.size_bits <= 8 * TW_PAYLOAD_MAX);
}

static void read_sizes(const struct tw_etrace_transport *transport, uint8_t *end, uint8_t fill)
{
    const bool is_pulp = transport->encapsulation == TW_ETRACE_ENCAP_PULP;

    check_case("encapsulation %u, source of %u bits, type of %u, timestamp of %u bytes",
               transport->encapsulation, transport->srcid_bits, transport->type_bits,
               transport->timestamp_bytes);
    memset(end - LONGEST, fill, LONGEST);
    for (size_t size = 1; size <= LONGEST; size++) {
        const size_t at = is_pulp && size >= TW_ETRACE_RECORD ? TW_ETRACE_RECORD - 1 : 0;

        for (unsigned head = 0; head < 256; head++) {
            end[-(ptrdiff_t)size + (ptrdiff_t)at] = (uint8_t)head;
            read_one(transport, end - size, size);
        }
        end[-(ptrdiff_t)size + (ptrdiff_t)at] = fill;
    }
}

static void packets_lie_in_their_bytes(void **state)
{
    const bool is_proof = getenv("TW_PROOF_BYTES") != NULL;
    uint8_t *end = guarded_new();

    (void)state;
    assert_non_null(end);
    for (uint8_t kind = 0; kind <= TW_ETRACE_ENCAP_PULP; kind++)
        for (uint8_t source = 0; source <= 16; source = (uint8_t)(source + (is_proof ? 1 : 8)))
            for (uint8_t type = 0; type <= 8; type = (uint8_t)(type + (is_proof ? 1 : 4)))
                for (uint8_t stamp = 0; stamp <= 8;
                     stamp = (uint8_t)(stamp + (is_proof ? 1 : 4))) {
                    const struct tw_etrace_transport transport = { .encapsulation = kind,
                                                                   .srcid_bits = source,
                                                                   .type_bits = type,
                                                                   .timestamp_bytes = stamp,
                                                                   .is_data = stamp & 1 };

                    read_sizes(&transport, end, stamp & 2 ? 0xff : 0x55);
                }
    CHECK(packets > inputs / 20);
    if (is_proof)
        print_message("%llu inputs, %llu packets in their bytes\n", (unsigned long long)inputs,
                      (unsigned long long)packets);
    guarded_free(end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_lie_in_their_bytes),
    };

    return cmocka_run_group_tests_name("etrace encapsulations", tests, NULL, NULL);
}
