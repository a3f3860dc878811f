/* SPDX-License-Identifier: BSD-2-Clause */
/* ETE beside ETMv4: configuration, random packets of both there and back, what cannot be written,
   text for people. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "etmv4/packet.h"

static const uint8_t async[TW_ETMV4_ASYNC_SIZE] = { [TW_ETMV4_ASYNC_SIZE - 1] = 0x80 };

/* ---- configuration ---- */

static const struct tw_register ete_registers[] = {
    { "TRCIDR0", 0x28c1cea1 }, { "TRCIDR1", 0x4100fff0 },    { "TRCIDR2", 0xd0001088 },
    { "TRCIDR8", 0xff },       { "trcconfigr", 0x11 },       { "TRCTRACEIDR", 0x21 },
    { "TRCAUTHSTATUS", 0xcc }, { "TRCDEVARCH", 0x47735a13 }, { "TRCIDR12", 0x20 },
};

static void test_configure(void **state)
{
    const struct tw_source_info source = { .registers = ete_registers,
                                           .register_count = LENGTH(ete_registers),
                                           .core_type = "ARM-AA64",
                                           .id = 0x55 };
    struct tw_etmv4_config config;
    struct tw_etmv4_setup setup;
    struct tw_fault fault;

    (void)state;
    CHECK_EQ(tw_ete.configure(&config, &source, &fault), TW_OK);
    CHECK_EQ(tw_ete.trace_id(&config), 0x21);
    CHECK(config.is_ete && config.is_aa64_extended);
    CHECK_EQ(config.profile, TW_PROFILE_A);
    tw_etmv4_setup_from_config(&setup, &config);
    CHECK_EQ(setup.version, 0x53);
    CHECK_EQ(setup.max_spec, 0xff);
    CHECK_EQ(setup.vmid_bytes, 4);
    CHECK_EQ(setup.cid_bytes, 4);
    CHECK_EQ(setup.timestamp_bits, 64);
    CHECK_EQ(setup.cycle_bits, 20);
    CHECK(setup.commopt && setup.has_cci && setup.cci && setup.start_is_p0 && setup.tsmark);
    CHECK(setup.has_q && setup.wfx_is_p0 && !setup.q_enabled && !setup.return_stack);
    CHECK(!setup.cond && !setup.data && !setup.loads_are_p0 && !setup.stores_are_p0);
    CHECK_EQ(tw_etmv4.configure(&config, &source, &fault), TW_OK);
    CHECK(!config.is_ete);
}

/* Without one of these there is no configuration, and the text names it. */
static void test_missing_registers(void **state)
{
    static const struct {
        const char *name;
        bool etmv4, ete; /* needed */
    } rows[] = { { "TRCIDR0", true, true },         { "TRCIDR1", true, true },
                 { "TRCIDR2", true, true },         { "TRCIDR8", false, false },
                 { "TRCCONFIGR", true, true },      { "TRCTRACEIDR", false, false },
                 { "TRCAUTHSTATUS", false, false }, { "TRCDEVARCH", false, true },
                 { "TRCIDR12", false, false } };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_register registers[LENGTH(ete_registers)];
        struct tw_source_info source = { .registers = registers,
                                         .register_count = LENGTH(registers),
                                         .id = 0x55 };
        struct tw_etmv4_config config;
        struct tw_fault fault = { 0 };

        CHECK_CASE(rows[i].name);
        memcpy(registers, ete_registers, sizeof registers);
        registers[i].name = "OTHER";
        CHECK_EQ(tw_etmv4.configure(&config, &source, &fault),
                 rows[i].etmv4 ? TW_E_CONFIG : TW_OK);
        CHECK_EQ(tw_ete.configure(&config, &source, &fault), rows[i].ete ? TW_E_CONFIG : TW_OK);
        if (rows[i].ete)
            CHECK(strstr(fault.text, rows[i].name) != NULL);
        else if (strcmp(rows[i].name, "TRCTRACEIDR") == 0)
            CHECK_EQ(tw_ete.trace_id(&config), 0x55);
    }
}

static void test_cores(void **state)
{
    static const struct {
        const char *name;
        uint8_t profile, architecture;
    } rows[] = {
        { NULL, TW_PROFILE_A, 80 },         { "Cortex-A57", TW_PROFILE_A, 80 },
        { "Cortex-A9", TW_PROFILE_A, 70 },  { "Cortex-M0+", TW_PROFILE_M, 60 },
        { "Cortex-M4", TW_PROFILE_M, 70 },  { "cortex-m33", TW_PROFILE_M, 80 },
        { "Cortex-M55", TW_PROFILE_M, 81 }, { "Cortex-R8", TW_PROFILE_R, 70 },
        { "Cortex-R82", TW_PROFILE_R, 80 }, { "ARMv6-M", TW_PROFILE_M, 60 },
        { "ARMv7-M", TW_PROFILE_M, 70 },    { "ARMv8.1-M", TW_PROFILE_M, 81 },
        { "ARMv7-R", TW_PROFILE_R, 70 },    { "ARMv8-A", TW_PROFILE_A, 80 },
        { "ARM-AA64", TW_PROFILE_A, 80 },   { "Neoverse-N2", TW_PROFILE_A, 80 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_etmv4_config config;
        struct tw_fault fault;

        CHECK_CASE(rows[i].name ? rows[i].name : "no name");
        CHECK_EQ(tw_etmv4_config_from(&config, ete_registers, LENGTH(ete_registers),
                                      rows[i].name, true, &fault),
                 TW_OK);
        CHECK_EQ(config.profile, rows[i].profile);
        CHECK_EQ(config.architecture, rows[i].architecture);
        CHECK_EQ(config.is_aa64_extended, rows[i].name && !strcmp(rows[i].name, "ARM-AA64"));
    }
}

/* ---- packets that were never bytes ---- */

/* Everything on: a data-tracing Armv8.1-M core with ETMv4.6, or ETE 1.3. */
static struct tw_etmv4_config full_config(bool is_ete, bool commopt)
{
    struct tw_etmv4_config config = { .size = sizeof config, .is_ete = is_ete };

    config.trcidr[0] = (0x28c1cea1 | 0x5e) & ~(commopt ? 0u : 1u << 29);
    config.trcidr[1] = 0x4100f460;
    config.trcidr[2] = 0xd0001088;
    config.trcidr[8] = 100;
    config.trcconfigr = is_ete ? 0x6811 : 0x36f17;
    config.trcdevarch = 0x47735a13;
    config.profile = is_ete ? TW_PROFILE_A : TW_PROFILE_M;
    config.architecture = is_ete ? 90 : 81;
    return config;
}

static uint64_t bits(struct check_random *random, unsigned count)
{
    /* Small numbers as often as large ones. */
    const unsigned used = (unsigned)check_random_below(random, count + 1);

    return used == 0 ? 0 : check_random_next(random) >> (64 - used);
}

/* A size that a number of `count` bits may take: 0, as few as possible, or more. */
static uint8_t spare(struct check_random *random, uint64_t value, uint8_t most)
{
    uint8_t size = 1;

    while (size < most && value >> (7 * size))
        size++;
    return check_random_below(random, 2)
               ? 0
               : (uint8_t)(size + check_random_below(random, most - size + 1u));
}

static void random_counts(struct check_random *random, struct tw_etmv4_packet *packet,
                          bool commopt)
{
    static const uint8_t head_of[] = { 0xf6, 0xd8, 0xf8, 0xdc, 0xd5, 0xc0 };
    static const uint8_t span_of[] = { 2, 4, 8, 4, 3, 21 };
    static const uint8_t atoms[4] = { 0, 1, 3, 0 }, counts[4] = { 0, 1, 2, 1 };
    const unsigned type = packet->base.type;
    const unsigned pick = (unsigned)check_random_below(random, 4);

    packet->has_commit = type == TW_ETMV4_COMMIT || !commopt;
    if (type >= TW_ETMV4_ATOM_F1 && type <= TW_ETMV4_ATOM_F6) {
        const unsigned format = type - (unsigned)TW_ETMV4_ATOM_F1;
        const unsigned head =
            head_of[format] + (unsigned)check_random_below(random, span_of[format]);

        packet->atoms = tw_etmv4_atoms[head].bits;
        packet->atom_count = tw_etmv4_atoms[head].count;
    } else if (type == TW_ETMV4_CANCEL_F3) {
        packet->atoms = packet->atom_count = pick & 1;
        packet->cancel = 2 + (uint32_t)check_random_below(random, 4);
    } else if (type == TW_ETMV4_MISPREDICT || type == TW_ETMV4_CANCEL_F2) {
        packet->atoms = atoms[pick];
        packet->atom_count = counts[pick];
        packet->cancel = type == TW_ETMV4_CANCEL_F2;
    } else if (type == TW_ETMV4_CCNT_F3) {
        packet->commit = pick + !commopt;
        packet->count = (uint32_t)check_random_below(random, 4);
    } else if (type == TW_ETMV4_CCNT_F2) {
        packet->is_from_maximum = pick & 1;
        packet->commit = (uint32_t)check_random_below(random, 16);
        if (!commopt)
            packet->commit += packet->is_from_maximum ? 85 : 1;
        packet->count = (uint32_t)check_random_below(random, 16);
    } else {
        packet->is_unknown = type == TW_ETMV4_CCNT_F1 && pick == 0;
        packet->commit = packet->cancel = (uint32_t)bits(random, 32);
        packet->commit_size = spare(random, packet->commit, 5);
        packet->count = packet->is_unknown ? 0 : (uint32_t)bits(random, 20);
        packet->count_size = spare(random, packet->count, 3);
    }
}

static void random_address(struct check_random *random, struct tw_etmv4_packet *packet)
{
    static const uint8_t q_types[] = { 0, 1, 2, 5, 6, 0xa, 0xb, 0xc, 0xf };
    const unsigned type = packet->base.type;
    const char *name = tw_etmv4_type_name(type);

    packet->address = check_random_next(random);
    packet->match = (uint8_t)check_random_below(random, 3);
    packet->sub_isa = strstr(name, "IS1") != NULL;
    packet->q_type = q_types[check_random_below(random, LENGTH(q_types))];
    if (type == TW_ETMV4_Q)
        packet->sub_isa = packet->q_type == 6 || packet->q_type == 0xb;
    packet->address &= packet->sub_isa ? ~(uint64_t)1 : ~(uint64_t)3;
    packet->address_bits =
        (uint8_t)(9 - packet->sub_isa + (check_random_below(random, 2) ? 8 : 0));
    packet->q_count = (uint32_t)bits(random, 32);
    packet->q_count_size = spare(random, packet->q_count, 5);
    packet->has_context = type != TW_ETMV4_CTXT || check_random_below(random, 4) != 0;
    if (!packet->has_context)
        return;
    packet->has_cid = check_random_below(random, 2);
    packet->has_vmid = check_random_below(random, 2);
    packet->cid = packet->has_cid ? (uint32_t)check_random_next(random) : 0;
    packet->vmid = packet->has_vmid ? (uint32_t)check_random_next(random) : 0;
    packet->el = (uint8_t)check_random_below(random, 4);
    packet->sf = check_random_below(random, 2);
    packet->ns = check_random_below(random, 2);
    packet->nse = check_random_below(random, 2);
}

static void random_info(struct check_random *random, struct tw_etmv4_packet *packet)
{
    packet->sections = (uint8_t)check_random_below(random, 0x20);
    packet->info = packet->sections & TW_ETMV4_INFO ? (uint32_t)bits(random, 7) : 0;
    packet->key = packet->sections & TW_ETMV4_KEY ? (uint32_t)bits(random, 32) : 0;
    packet->spec = packet->sections & TW_ETMV4_SPEC ? (uint32_t)bits(random, 32) : 0;
    packet->threshold = packet->sections & TW_ETMV4_CYCT ? (uint32_t)bits(random, 12) : 0;
    packet->window = packet->sections & TW_ETMV4_WNDW ? (uint32_t)bits(random, 32) : 0;
    packet->key_size = spare(random, packet->key, 5);
    packet->spec_size = spare(random, packet->spec, 5);
    packet->threshold_size = spare(random, packet->threshold, 2);
    packet->window_size = spare(random, packet->window, 5);
}

static void random_conditional(struct check_random *random, struct tw_etmv4_packet *packet)
{
    const unsigned pick = (unsigned)check_random_below(random, 3);

    switch (packet->base.type) {
    case TW_ETMV4_COND_I_F1:
        packet->cond_has_key = true;
        packet->cond_count = 1;
        packet->cond_key = (uint32_t)bits(random, 32);
        packet->cond_key_size = spare(random, packet->cond_key, 5);
        break;
    case TW_ETMV4_COND_I_F2:
        packet->cond_count = pick == 2 ? 2 : 1;
        packet->cond_increment = pick != 1;
        break;
    case TW_ETMV4_COND_I_F3:
        packet->cond_increment = true;
        packet->cond_final = pick & 1;
        packet->cond_count = (uint8_t)(check_random_below(random, 64) + (pick & 1));
        break;
    case TW_ETMV4_COND_RES_F1:
        packet->result_count = (uint8_t)(1 + (pick & 1));
        for (unsigned i = 0; i < packet->result_count; i++) {
            packet->result_key[i] = (uint32_t)bits(random, 32);
            packet->result[i] = (uint8_t)check_random_below(random, 16);
            packet->result_ci[i] = (uint8_t)check_random_below(random, 2);
        }
        break;
    case TW_ETMV4_COND_RES_F3:
        packet->tokens = (uint16_t)check_random_below(random, 0x1000);
        break;
    default:
        packet->token = (uint8_t)pick;
        if (packet->base.type == TW_ETMV4_COND_RES_F2)
            packet->result_increment = (uint8_t)(1 + check_random_below(random, 2));
        break;
    }
}

static void random_packet(struct check_random *random, struct tw_etmv4_packet *packet,
                          uint8_t type, bool commopt)
{
    memset(packet, 0, sizeof *packet);
    packet->base.type = type;
    switch (type) {
    case TW_ETMV4_TRACE_INFO:
        random_info(random, packet);
        return;
    case TW_ETMV4_TIMESTAMP:
        packet->timestamp_size = (uint8_t)(1 + check_random_below(random, 9));
        packet->timestamp = check_random_next(random);
        packet->timestamp_has_count = check_random_below(random, 2);
        packet->timestamp_count = packet->timestamp_has_count ? (uint32_t)bits(random, 20) : 0;
        packet->timestamp_count_size = spare(random, packet->timestamp_count, 3);
        return;
    case TW_ETMV4_EXCEPT:
        packet->interpretation = (uint8_t)check_random_below(random, 4);
        packet->exception = (uint16_t)(1 + check_random_below(random, 0x3ff));
        packet->fault_pending = check_random_below(random, 2);
        packet->is_extended = check_random_below(random, 2) || packet->exception == 0x18;
        return;
    case TW_ETMV4_PE_RESET:
    case TW_ETMV4_TRANS_FAIL:
        packet->interpretation = (uint8_t)check_random_below(random, 4);
        packet->exception = type == TW_ETMV4_PE_RESET ? 0 : 0x18;
        packet->is_unknown_address = true;
        return;
    case TW_ETMV4_ITE:
        packet->value = check_random_next(random);
        packet->value_el = (uint8_t)check_random_below(random, 4);
        return;
    case TW_ETMV4_EVENT:
        packet->number = (uint8_t)(1 + check_random_below(random, 15));
        return;
    case TW_ETMV4_NUM_DS_MKR:
    case TW_ETMV4_UNNUM_DS_MKR:
        packet->number = (uint8_t)check_random_below(random, 5);
        return;
    default:
        break;
    }
    if (type >= TW_ETMV4_COND_I_F2 && type <= TW_ETMV4_COND_I_F3 && type != TW_ETMV4_COND_FLUSH)
        random_conditional(random, packet);
    else if (type >= TW_ETMV4_CTXT && type <= TW_ETMV4_SRC_ADDR_L_64IS1 &&
             type != TW_ETMV4_TS_MARKER)
        random_address(random, packet);
    else if ((type >= TW_ETMV4_CCNT_F2 && type <= TW_ETMV4_CANCEL_F3) ||
             type >= TW_ETMV4_ATOM_F1)
        random_counts(random, packet, commopt);
}

/* What the reader alone knows. */
static void fill_in(struct tw_etmv4_packet *packet, const struct tw_etmv4_packet *got,
                    uint32_t threshold)
{
    const unsigned type = packet->base.type;

    if (type == TW_ETMV4_TRACE_INFO) {
        packet->is_initial = got->is_initial;
    } else if (type == TW_ETMV4_TIMESTAMP) {
        packet->timestamp =
            tw_replace_low(got->timestamp, packet->timestamp,
                           packet->timestamp_size * 7u < 63 ? packet->timestamp_size * 7u : 64);
        packet->timestamp_bits = got->timestamp_bits;
    } else if (type == TW_ETMV4_EXCEPT) {
        packet->is_m_profile = got->is_m_profile;
    } else if (type >= TW_ETMV4_CCNT_F2 && type <= TW_ETMV4_CCNT_F3) {
        packet->cycles = packet->is_unknown ? 0 : packet->count + threshold;
    } else if (type >= TW_ETMV4_ADDR_CTXT_L_32IS0 && type <= TW_ETMV4_SRC_ADDR_L_64IS1) {
        const bool is_match = got->base.size == 1 || (type == TW_ETMV4_Q && packet->q_type < 3);
        const uint64_t mask =
            got->address_bits < 64 ? ((uint64_t)1 << got->address_bits) - 1 : UINT64_MAX;

        if (type == TW_ETMV4_Q) {
            packet->q_has_count = packet->q_type != 0xf;
            packet->q_has_address = packet->q_type < 0xc;
            packet->q_is_match = packet->q_type < 3;
            packet->match = packet->q_is_match ? packet->q_type : 0;
        }
        if (is_match) {
            packet->address = got->address;
            packet->sub_isa = got->sub_isa;
        } else {
            packet->address = (got->address & ~mask) |
                              (packet->address & mask & ~(uint64_t)(packet->sub_isa ? 1 : 3));
        }
        packet->address_bits = got->address_bits;
        packet->address_width = got->address_width;
    }
}

static void check_there_and_back(struct tw_etmv4_reader *reader, struct tw_etmv4_packet *packet)
{
    uint8_t bytes[TW_ETMV4_PACKET_MAX], again[TW_ETMV4_PACKET_MAX];
    size_t size = sizeof bytes, again_size = sizeof again;
    struct tw_etmv4_packet got;
    struct tw_text want_text = { 0 }, got_text = { 0 };
    uint8_t *copy;

    CHECK_EQ(tw_etmv4_write(reader, bytes, &size, packet), TW_OK);
    copy = check_copy(bytes, size);
    CHECK_EQ(tw_etmv4_read(reader, &got, copy, size, true), TW_OK);
    free(copy);
    CHECK_EQ(got.base.size, size);
    CHECK_EQ(got.base.type, packet->base.type);
    CHECK(!got.has_reserved);
    CHECK_EQ(tw_etmv4_write(reader, again, &again_size, &got), TW_OK);
    CHECK_BYTES(again, again_size, bytes, size);
    fill_in(packet, &got, reader->threshold);
    tw_protocol_json(&want_text, &tw_etmv4, packet);
    tw_protocol_json(&got_text, &tw_etmv4, &got);
    CHECK_TEXT(got_text.chars ? got_text.chars : "", want_text.chars ? want_text.chars : "");
    tw_text_clear(&got_text);
    tw_protocol_print(&got_text, &tw_etmv4, &got);
    CHECK(strncmp(got_text.chars, tw_etmv4_type_name(got.base.type),
                  strlen(tw_etmv4_type_name(got.base.type))) == 0);
    tw_text_free(&want_text);
    tw_text_free(&got_text);
}

/* [K10.5.6.4.2] [K10.5.6.4.3] */
static void test_random_packets(void **state)
{
    struct check_random random = check_random_start(0x657465);
    const size_t rounds = check_scale(20000);
    bool seen[TW_ETMV4_TYPES] = { false };

    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        const struct tw_etmv4_config config = full_config(kind & 1, kind >> 1);
        struct tw_etmv4_reader reader;
        struct tw_etmv4_packet packet;
        uint8_t types[256];

        tw_etmv4_reader_init(&reader, &config);
        tw_etmv4_header_types(types, &reader.setup);
        CHECK_EQ(tw_etmv4_read(&reader, &packet, async, sizeof async, false), TW_OK);
        for (size_t i = 0; i < rounds / 4 + 1; i++) {
            uint8_t type = types[check_random_below(&random, 256)];

            if (check_random_below(&random, 2))
                type = (uint8_t)check_random_below(&random, TW_ETMV4_TYPES - 1u);
            if (type == TW_ETMV4_PE_RESET || type == TW_ETMV4_TRANS_FAIL) {
                if (!config.is_ete)
                    continue;
            } else if (type < TW_ETMV4_ASYNC || type > TW_ETMV4_BF_FLUSH) {
                if (type < TW_ETMV4_ASYNC || !memchr(types, type, sizeof types))
                    continue;
            } else if (type == TW_ETMV4_BF_FLUSH && config.is_ete) {
                continue;
            }
            check_case("round %zu, kind %u, %s", i, kind, tw_etmv4_type_name(type));
            random_packet(&random, &packet, type, reader.setup.commopt);
            check_there_and_back(&reader, &packet);
            seen[type] = true;
            reader.is_synced = true; /* also after RESYNC */
        }
    }
    for (unsigned type = TW_ETMV4_ASYNC; type < TW_ETMV4_DATA; type++) {
        CHECK_CASE(tw_etmv4_type_name(type));
        CHECK(seen[type]);
    }
}

/* Values that no bytes can say. */
/* clang-format off */
static const struct tw_etmv4_packet refused[] = {
    { .base.type = TW_ETMV4_TYPES },
    { .base.type = TW_ETMV4_NOT_SYNC },
    { .base.type = TW_ETMV4_EXTENSION },
    { .base.type = TW_ETMV4_RESERVED },
    { .base.type = TW_ETMV4_DATA },
    { .base = { .type = TW_ETMV4_ASYNC, .size = 65 } },
    { .base.type = TW_ETMV4_ATOM_F1, .atoms = 1, .atom_count = 2 },
    { .base.type = TW_ETMV4_ATOM_F4, .atoms = 3, .atom_count = 4 },
    { .base.type = TW_ETMV4_ATOM_F6, .atoms = 7, .atom_count = 3 },
    { .base.type = TW_ETMV4_ATOM_F6, .atoms = 5, .atom_count = 5 },
    { .base.type = TW_ETMV4_ATOM_F6, .atoms = 0x1ffffff, .atom_count = 25 },
    { .base.type = TW_ETMV4_EVENT, .number = 0 },
    { .base.type = TW_ETMV4_EVENT, .number = 16 },
    { .base.type = TW_ETMV4_NUM_DS_MKR, .number = 8 },
    { .base.type = TW_ETMV4_UNNUM_DS_MKR, .number = 5 },
    { .base.type = TW_ETMV4_MISPREDICT, .atoms = 1, .atom_count = 2 },
    { .base.type = TW_ETMV4_MISPREDICT, .atoms = 1, .atom_count = 0 },
    { .base.type = TW_ETMV4_MISPREDICT, .atoms = 2, .atom_count = 1 },
    { .base.type = TW_ETMV4_MISPREDICT, .cancel = 1 },
    { .base.type = TW_ETMV4_CANCEL_F2, .cancel = 2 },
    { .base.type = TW_ETMV4_CANCEL_F3, .cancel = 1 },
    { .base.type = TW_ETMV4_CANCEL_F3, .cancel = 6 },
    { .base.type = TW_ETMV4_CCNT_F1, .count = 1 << 20 },
    { .base.type = TW_ETMV4_CCNT_F1, .count = 0x80, .count_size = 1 },
    { .base.type = TW_ETMV4_CCNT_F2, .count = 16 },
    { .base.type = TW_ETMV4_CCNT_F2, .commit = 16 },
    { .base.type = TW_ETMV4_CCNT_F2, .has_commit = true, .commit = 0 },
    { .base.type = TW_ETMV4_CCNT_F3, .count = 4 },
    { .base.type = TW_ETMV4_CCNT_F3, .has_commit = true, .commit = 5 },
    { .base.type = TW_ETMV4_COMMIT, .commit = 1, .commit_size = 6 },
    { .base.type = TW_ETMV4_EXCEPT, .exception = 0x400 },
    { .base.type = TW_ETMV4_EXCEPT, .exception = 1, .interpretation = 4 },
    { .base.type = TW_ETMV4_EXCEPT, .exception = 1, .is_unknown_address = true },
    { .base.type = TW_ETMV4_PE_RESET, .exception = 1 },
    { .base.type = TW_ETMV4_PE_RESET, .is_extended = true },
    { .base.type = TW_ETMV4_TRANS_FAIL, .exception = 0 },
    { .base.type = TW_ETMV4_TRANS_FAIL, .exception = 0x18, .fault_pending = true },
    { .base.type = TW_ETMV4_TIMESTAMP, .timestamp_size = 10 },
    { .base.type = TW_ETMV4_TIMESTAMP, .timestamp_has_count = true, .timestamp_count = 1 << 20 },
    { .base.type = TW_ETMV4_TRACE_INFO, .sections = 0x20 },
    { .base.type = TW_ETMV4_TRACE_INFO, .sections = TW_ETMV4_CYCT, .threshold = 0x1000 },
    { .base.type = TW_ETMV4_ADDR_MATCH, .match = 3 },
    { .base.type = TW_ETMV4_ADDR_S_IS0, .address_bits = 16 },
    { .base.type = TW_ETMV4_ADDR_S_IS1, .address_bits = 9 },
    { .base.type = TW_ETMV4_ADDR_S_IS0, .address_bits = 9, .address = 2 },
    { .base.type = TW_ETMV4_ADDR_S_IS1, .address_bits = 8, .address = 1 },
    { .base.type = TW_ETMV4_ADDR_L_64IS0, .address = 0x1002 },
    { .base.type = TW_ETMV4_ADDR_L_32IS1, .address = 0x1001 },
    { .base.type = TW_ETMV4_ADDR_CTXT_L_32IS0, .address = 0x1001 },
    { .base.type = TW_ETMV4_Q, .q_type = 3 },
    { .base.type = TW_ETMV4_Q, .q_type = 0xa, .address = 2 },
    { .base.type = TW_ETMV4_COND_I_F1, .cond_count = 2 },
    { .base.type = TW_ETMV4_COND_I_F2, .cond_count = 2 },
    { .base.type = TW_ETMV4_COND_I_F2, .cond_count = 3, .cond_increment = true },
    { .base.type = TW_ETMV4_COND_I_F3, .cond_count = 64 },
    { .base.type = TW_ETMV4_COND_RES_F1, .result_count = 0 },
    { .base.type = TW_ETMV4_COND_RES_F1, .result_count = 1, .result = { 16 } },
    { .base.type = TW_ETMV4_COND_RES_F1, .result_count = 1, .result_ci = { 2 } },
    { .base.type = TW_ETMV4_COND_RES_F1, .result_count = 1, .result_key = { 8 }, .result_size = { 1 } },
    { .base.type = TW_ETMV4_COND_RES_F2, .result_increment = 3 },
    { .base.type = TW_ETMV4_COND_RES_F2, .result_increment = 1, .token = 3 },
    { .base.type = TW_ETMV4_COND_RES_F3, .tokens = 0x1000 },
    { .base.type = TW_ETMV4_COND_RES_F4, .token = 3 },
};
/* clang-format on */

static void test_refused(void **state)
{
    /* A configuration that has no such packets refuses any of them. */
    for (unsigned kind = 0; kind < 4; kind++) {
        const struct tw_etmv4_config config = full_config(kind & 1, kind >> 1);
        struct tw_etmv4_reader reader;

        (void)state;
        tw_etmv4_reader_init(&reader, &config);
        for (size_t i = 0; i < LENGTH(refused); i++) {
            uint8_t bytes[TW_ETMV4_PACKET_MAX];
            size_t size = sizeof bytes;

            check_case("kind %u, row %zu, %s", kind, i,
                       tw_etmv4_type_name(refused[i].base.type));
            CHECK_EQ(tw_etmv4_write(&reader, bytes, &size, &refused[i]), TW_E_ARGUMENT);
        }
    }
}

/* What the reader forgets, and the names of the data stream. */
static void test_lost(void **state)
{
    static const uint8_t bytes[] = { 0x9d, 1, 2, 3, 4, 5, 6, 7, 8, 0xf7 };
    struct tw_etmv4_config config = full_config(true, true);
    struct tw_etmv4_reader *reader;
    struct tw_etmv4_packet packet;

    (void)state;
    CHECK_EQ(tw_etmv4_reader_new(&reader, &config, NULL, NULL), TW_OK);
    CHECK_EQ(tw_etmv4_read(reader, &packet, async, sizeof async, false), TW_OK);
    CHECK_EQ(tw_etmv4_read(reader, &packet, bytes, sizeof bytes, false), TW_OK);
    CHECK_EQ(reader->history[0].address, 0x0807060504030404);
    tw_etmv4_reader_lost(reader);
    CHECK_EQ(reader->history[0].address, 0);
    CHECK_EQ(tw_etmv4_read(reader, &packet, bytes, sizeof bytes, false), TW_OK);
    CHECK_EQ(packet.base.type, TW_ETMV4_NOT_SYNC);
    CHECK_EQ(packet.base.size, sizeof bytes);
    CHECK_EQ(packet.base.offset, sizeof async + 9);
    CHECK_EQ(tw_etmv4_read(reader, &packet, bytes, 0, true), TW_MORE);
    tw_etmv4_reader_free(reader);
    tw_etmv4_reader_free(NULL);
    config.size = 0;
    CHECK_EQ(tw_etmv4_reader_new(&reader, &config, NULL, NULL), TW_E_ARGUMENT);
    CHECK(reader == NULL);
    CHECK_TEXT(tw_etmv4_data_name(0x00, 0x05), "D_OVERFLOW");
    CHECK_TEXT(tw_etmv4_data_name(0x00, 0x13), "D_NUM_DS_MKR");
    CHECK_TEXT(tw_etmv4_data_name(0x00, 0x07), "D_RESERVED");
    CHECK_TEXT(tw_etmv4_data_name(0xbf, 0x00), "D_P1_ADDR_F2");
    CHECK_TEXT(tw_etmv4_data_name(0xc0, 0x00), "D_RESERVED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configure), cmocka_unit_test(test_missing_registers),
        cmocka_unit_test(test_cores),     cmocka_unit_test(test_random_packets),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_lost),
    };

    return cmocka_run_group_tests_name("ete packets", tests, NULL, NULL);
}
