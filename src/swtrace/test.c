/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of software trace, as every decoder of it tells it. */
#include "check.h"

#include <stdlib.h>

#include "protocol.h"

static void the_end_is_told_once(void **state)
{
    static const char *const names[] = { "itm", "stm" };

    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++) {
        const struct tw_protocol *protocol = tw_protocol_by_name(names[i]);
        const struct tw_source_info source = { .register_count = 0 };
        struct tw_fault fault = { TW_OK, "" };
        struct tw_element elements[16];
        void *config = calloc(1, protocol->config_size);
        void *decoder = calloc(1, protocol->decoder_size);

        CHECK_CASE(names[i]);
        CHECK(config && decoder);
        CHECK_EQ(protocol->configure(config, &source, &fault), TW_OK);
        protocol->decoder_init(decoder, config);
        for (unsigned round = 0; round < 3; round++) {
            struct tw_batch batch = { .size = sizeof batch,
                                      .elements = elements,
                                      .room = LENGTH(elements) };
            struct tw_output output = { .batch = &batch };

            CHECK_EQ(protocol->end(decoder, NULL, &output), TW_END);
            CHECK_EQ(batch.count, round == 0);
            CHECK(round || elements[0].type == TW_ELEMENT_EO_TRACE);
            CHECK(round || elements[0].reason == TW_REASON_END);
        }
        free(decoder);
        free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
