/* SPDX-License-Identifier: BSD-2-Clause */
/* Random packets of random configurations of E-Trace. */
#ifndef ETRACE_TEST_RANDOM_H
#define ETRACE_TEST_RANDOM_H

#include "check.h"

#include "etrace/packet.h"

static inline uint64_t bits(struct check_random *random, unsigned count)
{
    /* Often small or negative, as real values are. */
    const unsigned kept = (unsigned)check_random_below(random, count + 1);
    uint64_t value = check_random_next(random);

    if (kept < 64)
        value &= ((uint64_t)1 << kept) - 1;
    if (check_random_below(random, 2))
        value = ~value;
    return count < 64 ? value & (((uint64_t)1 << count) - 1) : value;
}

static inline uint8_t below(struct check_random *random, unsigned limit)
{
    return (uint8_t)check_random_below(random, limit);
}

static inline struct tw_etrace_config random_config(struct check_random *random)
{
    struct tw_etrace_config config;

    tw_etrace_config_init(&config,
                          below(random, 2) ? TW_ETRACE_LAYOUT_SEED : TW_ETRACE_LAYOUT_V2);
    config.encapsulation = below(random, TW_ETRACE_ENCAP_ESP32 + 1);
    config.iaddress_width = (uint8_t)(20 + below(random, 45));
    config.iaddress_lsb = below(random, 3);
    config.privilege_width = (uint8_t)(1 + below(random, 3));
    config.context_width = (uint8_t)(1 + below(random, 16));
    config.nocontext = below(random, 2);
    config.notime = below(random, 2);
    config.time_width = (uint8_t)(1 + below(random, 20));
    config.ecause_width = (uint8_t)(1 + below(random, 8));
    config.f0s_width = below(random, 2);
    config.cache_size = (uint8_t)(1 + below(random, 8));
    config.bpred_size = (uint8_t)(1 + below(random, 8));
    config.return_stack_size = below(random, 6);
    config.call_counter_size = below(random, 6);
    config.options = (uint32_t)check_random_below(random, 32);
    config.srcid_bits = below(random, 17);
    config.type_bits = below(random, 4);
    config.timestamp_bytes = below(random, 5);
    config.data_width = (uint8_t)(32u << below(random, 2));
    config.daddress_width = (uint8_t)(20 + below(random, 45));
    config.lrid_width = below(random, 2) ? below(random, 6) : 0;
    config.diff_bits = (uint8_t)(1 + below(random, 2));
    if (below(random, 3) == 0)
        config.options |= below(random, 2) ? TW_ETRACE_NO_ADDRESS : TW_ETRACE_NO_DATA;
    return config;
}

static inline struct tw_etrace_packet random_inst(struct check_random *random,
                                                  const struct tw_etrace_reader *codec)
{
    const struct tw_etrace_shape *shape = &codec->shape;
    struct tw_etrace_packet packet = { .base = { .type = below(random, TW_ETRACE_LOAD) } };

    packet.branches = below(random, 32);
    packet.branch_map =
        (uint32_t)bits(random, packet.branches ? tw_etrace_map_bits(packet.branches) : 31);
    packet.branch_count = (uint32_t)bits(random, 32);
    packet.branch_fmt = (uint8_t)(below(random, 3) ? 1 + below(random, 2) + 1 : 0);
    packet.index = (uint32_t)bits(random, shape->index);
    packet.field = bits(random, shape->address_bits);
    packet.notify = below(random, 4) == 0;
    packet.updiscon = below(random, 4) == 0;
    packet.irreport = below(random, 2);
    packet.irdepth = packet.irreport ? (uint32_t)bits(random, shape->irdepth) : 0;
    packet.branch = below(random, 2);
    packet.privilege = (uint8_t)bits(random, shape->privilege);
    packet.time = bits(random, shape->time);
    packet.context = bits(random, shape->context);
    packet.ecause = (uint16_t)bits(random, shape->ecause);
    packet.interrupt = below(random, 2);
    packet.thaddr = below(random, 2);
    packet.tval = bits(random, shape->address_width);
    packet.ienable = below(random, 2);
    packet.encoder_mode = (uint8_t)bits(random, shape->encoder_mode);
    packet.qual_status = below(random, 4);
    packet.ioptions = (uint32_t)bits(random, shape->ioptions);
    packet.doptions = (uint32_t)bits(random, shape->doptions);
    return packet;
}

static inline struct tw_etrace_packet random_data(struct check_random *random,
                                                  const struct tw_etrace_reader *codec)
{
    const struct tw_etraced_shape *shape = &codec->data_shape;
    const bool is_seed_atomic = shape->is_seed;
    struct tw_etrace_packet packet = { .format = below(random, shape->is_split ? 8 : 4) };
    static const uint8_t types[] = { TW_ETRACE_LOAD,
                                     TW_ETRACE_LOAD,
                                     TW_ETRACE_STORE,
                                     TW_ETRACE_STORE,
                                     TW_ETRACE_SPLIT_LOAD_DATA,
                                     TW_ETRACE_CSR,
                                     TW_ETRACE_ATOMIC,
                                     TW_ETRACE_SPLIT_ATOMIC_DATA };

    if (!shape->is_split && below(random, 2))
        packet.format = (uint8_t)(5 + below(random, 2));
    packet.base.type = types[packet.format];
    if (shape->is_split && packet.format <= 1)
        packet.base.type = TW_ETRACE_SPLIT_LOAD_ADDR;
    if (shape->is_split && packet.format == 6)
        packet.base.type = TW_ETRACE_SPLIT_ATOMIC_ADDR;
    packet.data_size = below(random, shape->data_width == 64 ? 4 : 3);
    if (packet.format == 6 && is_seed_atomic)
        packet.data_size = (uint8_t)(2 + below(random, shape->data_width == 64 ? 2 : 1));
    if (packet.format == 5)
        packet.data_size = shape->csr_size;
    if (packet.format == 7) /* the size of what was asked for */
        packet.data_size = 0;
    packet.subtype = below(random, packet.format == 5 ? 3 : 7);
    packet.lrid = packet.format == 7 ? 0 : (uint32_t)bits(random, shape->lrid);
    packet.diff = below(random, 2);
    packet.resp = below(random, 4);
    packet.data_len = (uint8_t)bits(random, packet.data_size);
    packet.op_len = (uint8_t)bits(random, packet.data_size);
    packet.data = bits(random, 8 * (packet.data_len + 1u));
    packet.operand = bits(random, 8 * (packet.op_len + 1u));
    packet.field = bits(random, packet.format == 5 ? 12 : shape->address_width);
    return packet;
}

#endif
