/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests of the encoder: one whose packets and bytes are kept.  Include check.h before. */
#ifndef HART_TEST_KEPT_H
#define HART_TEST_KEPT_H

#include <stdlib.h>
#include <string.h>

#include <trackway/etrace_unit.h>

struct kept {
    struct tw_etrace_packet packets[4096];
    size_t count;
    uint8_t bytes[2][1 << 17];
    size_t size[2];
};

static void add_packet(void *context, const struct tw_etrace_packet *packet)
{
    struct kept *kept = context;

    CHECK(kept->count < LENGTH(kept->packets));
    kept->packets[kept->count++] = *packet;
}

static void add_bytes(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct kept *kept = context;

    CHECK(stream < 2 && kept->size[stream] + size <= sizeof kept->bytes[0]);
    memcpy(kept->bytes[stream] + kept->size[stream], bytes, size);
    kept->size[stream] += size;
}

static struct kept *new_kept(void)
{
    struct kept *kept = calloc(1, sizeof *kept);

    CHECK(kept != NULL);
    return kept;
}

static struct tw_etrace_config make_config(enum tw_etrace_layout layout)
{
    struct tw_etrace_config config;

    tw_etrace_config_init(&config, layout);
    config.iaddress_width = 64;
    config.itype_width = 4;
    config.ctype_width = 2;
    config.privilege_width = 2;
    config.retires = 100;
    config.context_width = 16;
    config.nocontext = false;
    return config;
}

static struct tw_etrace_unit *make_unit(struct kept *kept,
                                        const struct tw_etrace_config *config)
{
    const struct tw_etrace_unit_config choices = { .size = sizeof choices,
                                                   .trace = config,
                                                   .write = add_bytes,
                                                   .write_context = kept,
                                                   .on_packet = add_packet,
                                                   .packet_context = kept };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_etrace_unit *unit;

    if (tw_etrace_unit_new(&unit, &choices, &fault) != TW_OK)
        check_true(false, fault.text, __FILE__, __LINE__);
    return unit;
}

static void write_field(struct tw_etrace_unit *unit, const char *name, uint64_t value)
{
    CHECK_EQ(tw_etrace_unit_write_field(unit, name, value), TW_OK);
}

#endif
