/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets: vectors in both directions, every header, every cut, random packets. */
#include "check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "etmv4/packet.h"

static const uint8_t async[TW_ETMV4_ASYNC_SIZE] = { [TW_ETMV4_ASYNC_SIZE - 1] = 0x80 };

/* ---- vectors ---- */

enum { REGISTERS_MAX = 16 };

struct vector {
    char name[16], protocol[16], core[32];
    struct tw_register registers[REGISTERS_MAX];
    char register_names[REGISTERS_MAX][16];
    size_t register_count;
    uint8_t *bytes;
    size_t size;
    const char *lines; /* what is expected, up to the blank line */
    size_t lines_size;
};

static const char *line_end(const char *at)
{
    const char *end = strchr(at, '\n');

    return end ? end : at + strlen(at);
}

static unsigned hex_digit(char c)
{
    const char *digits = "0123456789abcdef";

    return (unsigned)(strchr(digits, c) - digits);
}

/* Reads the block that begins at `at`; returns where the next one begins. */
static const char *parse_vector(struct vector *vector, const char *at)
{
    const char *end = line_end(at);
    char word[64];
    int used;

    *vector = (struct vector){ 0 };
    CHECK_EQ(
        sscanf(at, "%15s %15s %31s%n", vector->name, vector->protocol, vector->core, &used), 3);
    at += used;
    while (sscanf(at, " %63s%n", word, &used) == 1 && strcmp(word, ";") != 0) {
        char *equals = strchr(word, '=');
        const size_t i = vector->register_count++;

        CHECK(equals && i < REGISTERS_MAX);
        *equals = 0;
        (void)snprintf(vector->register_names[i], sizeof vector->register_names[i], "%.15s",
                       word);
        vector->registers[i].value = strtoul(equals + 1, NULL, 0);
        at += used;
    }
    at = end + 1;
    end = line_end(at);
    vector->size = (size_t)(end - at) / 2;
    vector->bytes = malloc(vector->size + 1);
    CHECK(vector->bytes != NULL);
    for (size_t i = 0; i < vector->size; i++)
        vector->bytes[i] = (uint8_t)(hex_digit(at[2 * i]) << 4 | hex_digit(at[2 * i + 1]));
    vector->lines = end + 1;
    for (at = vector->lines; *at && *at != '\n'; at = line_end(at) + 1)
        ;
    vector->lines_size = (size_t)(at - vector->lines);
    return at;
}

static struct tw_etmv4_config vector_config(struct vector *vector)
{
    struct tw_etmv4_config config;
    struct tw_fault fault;

    for (size_t i = 0; i < vector->register_count; i++)
        vector->registers[i].name = vector->register_names[i];
    CHECK_EQ(tw_etmv4_config_from(&config, vector->registers, vector->register_count,
                                  vector->core, strcmp(vector->protocol, "ete") == 0, &fault),
             TW_OK);
    for (size_t i = 0; i < vector->register_count; i++)
        if (strcmp(vector->register_names[i], "IS_DATA") == 0)
            config.is_data_stream = true;
    return config;
}

static void add_line(struct tw_text *out, const uint8_t *bytes, size_t size,
                     const struct tw_etmv4_packet *packet)
{
    tw_text_hex_bytes(out, bytes, size);
    tw_text_format(out, " %s ", tw_etmv4_type_name(packet->base.type));
    tw_protocol_json(out, &tw_etmv4, packet);
    tw_text_char(out, '\n');
}

static bool is_run(unsigned type)
{
    return type == TW_ETMV4_NOT_SYNC || type == TW_ETMV4_DATA;
}

/* A good packet gives its own bytes again. */
static void check_written(struct tw_etmv4_reader *reader, const struct tw_etmv4_packet *packet,
                          const uint8_t *bytes)
{
    uint8_t out[TW_ETMV4_PACKET_MAX];
    size_t size = sizeof out;

    if (tw_etmv4_type_is_bad(packet->base.type) || is_run(packet->base.type)) {
        CHECK_EQ(tw_etmv4_write(reader, out, &size, packet), TW_E_ARGUMENT);
        return;
    }
    CHECK_EQ(tw_etmv4_write(reader, out, &size, packet), TW_OK);
    if (!packet->has_reserved)
        CHECK_BYTES(out, size, bytes, packet->base.size);
    size = packet->base.size - 1;
    if (!packet->has_reserved)
        CHECK_EQ(tw_etmv4_write(reader, out, &size, packet), TW_E_ROOM);
}

/* Lists the packets of `bytes`, given first `piece` bytes, then `step` more whenever the reader
   asks.  Each look at the bytes is at a tight copy. */
static void list(struct tw_text *out, const struct tw_etmv4_config *config,
                 const struct vector *vector, size_t piece, size_t step)
{
    struct tw_etmv4_reader reader;
    struct tw_etmv4_packet packet, run = { 0 };
    size_t at = 0, run_size = 0;

    tw_etmv4_reader_init(&reader, config);
    while (at < vector->size) {
        uint8_t *copy = check_copy(vector->bytes + at, piece - at);
        const enum tw_status status =
            tw_etmv4_read(&reader, &packet, copy, piece - at, piece == vector->size);

        free(copy);
        if (status == TW_MORE) {
            CHECK(piece < vector->size && piece - at < TW_ETMV4_PACKET_MAX);
            piece = piece + step < vector->size ? piece + step : vector->size;
            continue;
        }
        CHECK_EQ(status, TW_OK);
        CHECK(packet.base.size > 0 && packet.base.size <= piece - at);
        CHECK_EQ(packet.base.offset, at);
        check_written(&reader, &packet, vector->bytes + at);
        at += packet.base.size;
        if (is_run(packet.base.type)) {
            if (run_size == 0)
                run = packet;
            run_size += packet.base.size;
            continue;
        }
        if (run_size)
            add_line(out, vector->bytes + run.base.offset, run_size, &run);
        run_size = 0;
        add_line(out, vector->bytes + packet.base.offset, packet.base.size, &packet);
    }
    if (run_size)
        add_line(out, vector->bytes + run.base.offset, run_size, &run);
}

static void check_listing(const struct tw_etmv4_config *config, const struct vector *vector,
                          size_t piece, size_t step)
{
    struct tw_text got = { 0 };
    char *want = malloc(vector->lines_size + 1);

    CHECK(want != NULL);
    memcpy(want, vector->lines, vector->lines_size);
    want[vector->lines_size] = 0;
    check_case("%s, first %zu bytes, then %zu", vector->name, piece, step);
    list(&got, config, vector, piece, step);
    CHECK_TEXT(got.chars, want);
    tw_text_free(&got);
    free(want);
}

/* The stream ends at `size`: all bytes come out, and nothing is read behind them. */
static void check_truncated(const struct tw_etmv4_config *config, const struct vector *vector,
                            size_t size)
{
    struct tw_etmv4_reader reader;
    uint8_t *copy = check_copy(vector->bytes, size);
    size_t at = 0;

    check_case("%s, ends after %zu bytes", vector->name, size);
    tw_etmv4_reader_init(&reader, config);
    while (at < size) {
        struct tw_etmv4_packet packet;

        CHECK_EQ(tw_etmv4_read(&reader, &packet, copy + at, size - at, true), TW_OK);
        CHECK(packet.base.size > 0 && packet.base.size <= size - at);
        at += packet.base.size;
    }
    free(copy);
}

/* [K10.5.2.1/R_ZPQMY] [K10.5.2.8.4] [K10.5.2.8.5] [K10.5.2.8.6] [K10.5.2.9.2]
   [K10.5.2.10.2] [K10.5.2.10.3] [K10.5.2.10.4] [K10.5.2.10.5] [K10.5.2.10.6]
   [K10.5.2.10.7] [K10.5.2.10.8] [K10.5.2.11.1] [K10.5.2.12.1] [K10.5.2.14.2]
   [K10.5.2.14.4] [K10.5.2.14.7] [K10.5.6.4.2] [K10.5.6.4.3] [K10.5.2.8] [K10.5.2.9]
   [K10.5.2.10] [K10.5.2.11] [K10.5.2.13] [K10.5.2.14] [K10.5.2.16] */
static void test_vectors(void **state)
{
    size_t size, count = 0;
    uint8_t *file = check_load(&size, TW_SOURCE_DIR "/tests/vectors/etmv4/packets.txt");
    char *text;

    (void)state;
    CHECK(file != NULL);
    text = calloc(1, size + 1);
    CHECK(text != NULL);
    memcpy(text, file, size);
    free(file);
    for (const char *at = text; *at;) {
        struct vector vector;
        struct tw_etmv4_config config;

        if (*at == '#' || *at == '\n') {
            at = line_end(at) + 1;
            continue;
        }
        at = parse_vector(&vector, at);
        config = vector_config(&vector);
        check_listing(&config, &vector, vector.size, 1);
        check_listing(&config, &vector, 1, 1);
        for (size_t cut = 1; cut < vector.size; cut++) {
            check_listing(&config, &vector, cut, vector.size);
            check_truncated(&config, &vector, cut);
        }
        free(vector.bytes);
        count++;
    }
    CHECK_EQ(count, 89);
    free(text);
}

/* ---- headers ---- */

/* What each header is called in the protocol descriptions; "." is reserved. */
static const char *const grid[16] = {
    "EXT TI TS TS ON FRET EXC ERET RSYN ITE TXS TXC CC2 CC2 CC1 CC1",
    "CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3 CC3",
    "NDSM NDSM NDSM NDSM NDSM NDSM NDSM NDSM UDSM UDSM UDSM UDSM UDSM COM CAN1 CANM",
    "MIS MIS MIS MIS CAN2 CAN2 CAN2 CAN2 CAN3 CAN3 CAN3 CAN3 CAN3 CAN3 CAN3 CAN3",
    "CI2 CI2 CI2 CFL CR4 CR4 CR4 . CR2 CR2 CR2 . CR2 CR2 CR2 .",
    "CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3 CR3",
    ". . . . . . . . CR1 CR1 CR1 CR1 CI1 CI3 CR1 CR1",
    "IGN EVT EVT EVT EVT EVT EVT EVT EVT EVT EVT EVT EVT EVT EVT EVT",
    "CTX CTX AC32.0 AC32.1 . AC64.0 AC64.1 . TSM . . . . . . .",
    "AX AX AX . . AS.0 AS.1 . . . AL32.0 AL32.1 . AL64.0 AL64.1 .",
    "Q Q Q . . Q Q . . . Q Q Q . . Q",
    "SX SX SX . SS.0 SS.1 SL32.0 SL32.1 SL64.0 SL64.1 . . . . . .",
    "A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6",
    "A6 A6 A6 A6 A6 A5 A5 A5 A2 A2 A2 A2 A4 A4 A4 A4",
    "A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6 A6",
    "A6 A6 A6 A6 A6 A5 A1 A1 A3 A3 A3 A3 A3 A3 A3 A3",
};

/* ETMv4, ETE: whether it exists there; 2: its header is reserved by configuration if not. */
/* clang-format off */
static const struct code {
    const char *code;
    uint8_t type, etmv4, ete;
} codes[] = {
    { "EXT", TW_ETMV4_EXTENSION, 1, 1 },          { "TI", TW_ETMV4_TRACE_INFO, 1, 1 },
    { "TS", TW_ETMV4_TIMESTAMP, 1, 1 },           { "ON", TW_ETMV4_TRACE_ON, 1, 1 },
    { "FRET", TW_ETMV4_FUNC_RET, 1, 0 },          { "EXC", TW_ETMV4_EXCEPT, 1, 1 },
    { "ERET", TW_ETMV4_EXCEPT_RTN, 1, 2 },        { "RSYN", TW_ETMV4_RESYNC, 1, 0 },
    { "ITE", TW_ETMV4_ITE, 0, 1 },                { "TXS", TW_ETMV4_TRANS_ST, 0, 1 },
    { "TXC", TW_ETMV4_TRANS_COMMIT, 0, 1 },       { "CC2", TW_ETMV4_CCNT_F2, 1, 1 },
    { "CC1", TW_ETMV4_CCNT_F1, 1, 1 },            { "CC3", TW_ETMV4_CCNT_F3, 1, 1 },
    { "NDSM", TW_ETMV4_NUM_DS_MKR, 1, 2 },        { "UDSM", TW_ETMV4_UNNUM_DS_MKR, 1, 2 },
    { "COM", TW_ETMV4_COMMIT, 1, 1 },             { "CAN1", TW_ETMV4_CANCEL_F1, 1, 1 },
    { "CANM", TW_ETMV4_CANCEL_F1_MISPRED, 1, 1 }, { "MIS", TW_ETMV4_MISPREDICT, 1, 1 },
    { "CAN2", TW_ETMV4_CANCEL_F2, 1, 1 },         { "CAN3", TW_ETMV4_CANCEL_F3, 1, 1 },
    { "CI1", TW_ETMV4_COND_I_F1, 1, 2 },          { "CI2", TW_ETMV4_COND_I_F2, 1, 2 },
    { "CI3", TW_ETMV4_COND_I_F3, 1, 2 },          { "CFL", TW_ETMV4_COND_FLUSH, 1, 2 },
    { "CR1", TW_ETMV4_COND_RES_F1, 1, 2 },        { "CR2", TW_ETMV4_COND_RES_F2, 1, 2 },
    { "CR3", TW_ETMV4_COND_RES_F3, 1, 2 },        { "CR4", TW_ETMV4_COND_RES_F4, 1, 2 },
    { "IGN", TW_ETMV4_IGNORE, 1, 1 },             { "EVT", TW_ETMV4_EVENT, 1, 1 },
    { "CTX", TW_ETMV4_CTXT, 1, 1 },               { "TSM", TW_ETMV4_TS_MARKER, 1, 1 },
    { "AC32.0", TW_ETMV4_ADDR_CTXT_L_32IS0, 1, 1 }, { "AC32.1", TW_ETMV4_ADDR_CTXT_L_32IS1, 1, 1 },
    { "AC64.0", TW_ETMV4_ADDR_CTXT_L_64IS0, 1, 1 }, { "AC64.1", TW_ETMV4_ADDR_CTXT_L_64IS1, 1, 1 },
    { "AX", TW_ETMV4_ADDR_MATCH, 1, 1 },          { "AS.0", TW_ETMV4_ADDR_S_IS0, 1, 1 },
    { "AS.1", TW_ETMV4_ADDR_S_IS1, 1, 1 },        { "AL32.0", TW_ETMV4_ADDR_L_32IS0, 1, 1 },
    { "AL32.1", TW_ETMV4_ADDR_L_32IS1, 1, 1 },    { "AL64.0", TW_ETMV4_ADDR_L_64IS0, 1, 1 },
    { "AL64.1", TW_ETMV4_ADDR_L_64IS1, 1, 1 },    { "Q", TW_ETMV4_Q, 1, 1 },
    { "SX", TW_ETMV4_SRC_ADDR_MATCH, 0, 1 },      { "SS.0", TW_ETMV4_SRC_ADDR_S_IS0, 0, 1 },
    { "SS.1", TW_ETMV4_SRC_ADDR_S_IS1, 0, 1 },    { "SL32.0", TW_ETMV4_SRC_ADDR_L_32IS0, 0, 1 },
    { "SL32.1", TW_ETMV4_SRC_ADDR_L_32IS1, 0, 1 }, { "SL64.0", TW_ETMV4_SRC_ADDR_L_64IS0, 0, 1 },
    { "SL64.1", TW_ETMV4_SRC_ADDR_L_64IS1, 0, 1 }, { ".", TW_ETMV4_RESERVED, 1, 1 },
    { "A1", TW_ETMV4_ATOM_F1, 1, 1 },             { "A2", TW_ETMV4_ATOM_F2, 1, 1 },
    { "A3", TW_ETMV4_ATOM_F3, 1, 1 },             { "A4", TW_ETMV4_ATOM_F4, 1, 1 },
    { "A5", TW_ETMV4_ATOM_F5, 1, 1 },             { "A6", TW_ETMV4_ATOM_F6, 1, 1 },
};
/* clang-format on */

/* Everything on: a data-tracing Armv8.1-M core with ETMv4.6, or ETE 1.3. */
static struct tw_etmv4_config full_config(bool is_ete)
{
    struct tw_etmv4_config config = { .size = sizeof config, .is_ete = is_ete };

    config.trcidr[0] = 0x28c1cea1 | 0x5e;
    config.trcidr[1] = 0x4100f460;
    config.trcidr[2] = 0xd0001088;
    config.trcconfigr = is_ete ? 0x6811 : 0x36f17;
    config.trcdevarch = 0x47735a13;
    config.profile = is_ete ? TW_PROFILE_A : TW_PROFILE_M;
    config.architecture = is_ete ? 90 : 81;
    config.trctraceidr = 0x10;
    return config;
}

/* [K10.5.2.2] */
static void test_headers(void **state)
{
    (void)state;
    for (unsigned is_ete = 0; is_ete < 2; is_ete++) {
        const struct tw_etmv4_config config = full_config(is_ete);
        struct tw_etmv4_setup setup;
        uint8_t types[256];

        tw_etmv4_setup_from_config(&setup, &config);
        tw_etmv4_header_types(types, &setup);
        for (unsigned head = 0; head < 256; head++) {
            const char *word = grid[head >> 4];
            const struct code *code = codes;
            unsigned exists, want;

            check_case("header %02x, %s", head, is_ete ? "ete" : "etmv4");
            for (unsigned i = 0; i < (head & 15); i++)
                word = strchr(word, ' ') + 1;
            while (strncmp(code->code, word, strcspn(word, " ")) != 0 ||
                   code->code[strcspn(word, " ")] != 0)
                CHECK(++code < codes + LENGTH(codes));
            exists = is_ete ? code->ete : code->etmv4;
            want = exists == 1   ? code->type
                   : exists == 2 ? TW_ETMV4_RESERVED_CFG
                                 : TW_ETMV4_RESERVED;
            CHECK_EQ(types[head], want);
        }
    }
}

/* Whatever a trace unit has, no header belongs to two packets. */
static void test_claims(void **state)
{
    static const uint8_t cores[][2] = { { TW_PROFILE_A, 80 },
                                        { TW_PROFILE_R, 70 },
                                        { TW_PROFILE_M, 70 },
                                        { TW_PROFILE_M, 80 },
                                        { TW_PROFILE_M, 81 } };

    (void)state;
    for (unsigned bits = 0; bits < 0x800; bits++)
        for (unsigned core = 0; core < LENGTH(cores); core++) {
            struct tw_etmv4_config config = full_config(bits & 1);
            struct tw_etmv4_setup setup;
            uint8_t claims[256], types[256];

            check_case("feature set 0x%x, core %u", bits, core);
            config.trcidr[1] = 0xf400 | (bits >> 1 & 7) << 4;
            config.trcdevarch = 0x47705a13 | (bits >> 1 & 3) << 16;
            config.trcidr[0] ^= (bits >> 4 & 1) << 6 | (bits >> 5 & 1) << 3;
            config.trcidr[0] &= ~((bits >> 6 & 3) << 15);
            config.trcconfigr &=
                ~((bits >> 8 & 1) << 8 | (bits >> 9 & 1) * 0x700 | (bits >> 10 & 1) * 0x30000);
            config.profile = cores[core][0];
            config.architecture = cores[core][1];
            tw_etmv4_setup_from_config(&setup, &config);
            tw_etmv4_claims(claims, &setup);
            tw_etmv4_header_types(types, &setup);
            for (unsigned head = 0; head < 256; head++) {
                const bool is_reserved =
                    types[head] == TW_ETMV4_RESERVED || types[head] == TW_ETMV4_RESERVED_CFG;

                CHECK_EQ(claims[head], !is_reserved);
            }
        }
}

static void test_versions(void **state)
{
    static const struct {
        uint8_t head, type, is_ete, from; /* valid from this minor version on */
        uint8_t profile, architecture;
    } rows[] = {
        { 0x05, TW_ETMV4_FUNC_RET, 0, 2, TW_PROFILE_M, 80 },
        { 0x05, TW_ETMV4_FUNC_RET, 0, 16, TW_PROFILE_M, 70 },
        { 0x05, TW_ETMV4_FUNC_RET, 0, 16, TW_PROFILE_A, 80 },
        { 0x08, TW_ETMV4_RESYNC, 0, 5, TW_PROFILE_M, 81 },
        { 0x08, TW_ETMV4_RESYNC, 0, 16, TW_PROFILE_M, 80 },
        { 0x70, TW_ETMV4_IGNORE, 0, 3, TW_PROFILE_A, 80 },
        { 0x88, TW_ETMV4_TS_MARKER, 0, 6, TW_PROFILE_A, 80 },
        { 0x07, TW_ETMV4_EXCEPT_RTN, 0, 0, TW_PROFILE_A, 80 },
        { 0x0a, TW_ETMV4_TRANS_ST, 0, 16, TW_PROFILE_A, 80 },
        { 0xb4, TW_ETMV4_SRC_ADDR_S_IS0, 0, 16, TW_PROFILE_A, 80 },
        { 0x09, TW_ETMV4_ITE, 1, 3, TW_PROFILE_A, 90 },
        { 0x0a, TW_ETMV4_TRANS_ST, 1, 0, TW_PROFILE_A, 90 },
        { 0x70, TW_ETMV4_IGNORE, 1, 0, TW_PROFILE_A, 90 },
        { 0xb9, TW_ETMV4_SRC_ADDR_L_64IS1, 1, 0, TW_PROFILE_A, 90 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (unsigned minor = 0; minor <= (rows[i].is_ete ? 3u : 6u); minor++) {
            struct tw_etmv4_config config = full_config(rows[i].is_ete);
            struct tw_etmv4_setup setup;
            uint8_t types[256];

            check_case("row %zu, version x.%u", i, minor);
            config.trcidr[1] = 0xf400 | minor << 4;
            config.trcdevarch = 0x47705a13 | minor << 16;
            config.profile = rows[i].profile;
            config.architecture = rows[i].architecture;
            tw_etmv4_setup_from_config(&setup, &config);
            CHECK_EQ(setup.version, (rows[i].is_ete ? 0x50 : 0x40) + minor);
            tw_etmv4_header_types(types, &setup);
            CHECK_EQ(types[rows[i].head],
                     minor >= rows[i].from ? rows[i].type : TW_ETMV4_RESERVED);
        }
}

/* ---- random bytes ---- */

static void synced(struct tw_etmv4_reader *reader, const struct tw_etmv4_config *config)
{
    struct tw_etmv4_packet packet;

    tw_etmv4_reader_init(reader, config);
    CHECK_EQ(tw_etmv4_read(reader, &packet, async, sizeof async, false), TW_OK);
    CHECK_EQ(packet.base.type, TW_ETMV4_ASYNC);
}

/* Random bytes: all of them come out, good packets write themselves, batches give the same. */
static void test_random_bytes(void **state)
{
    enum { SIZE = 4096, ROOM = 7 };
    struct check_random random = check_random_start(0x6574346d);
    uint8_t *bytes = malloc(SIZE);

    (void)state;
    CHECK(bytes != NULL);
    for (size_t round = check_scale(200); round > 0; round--) {
        const struct tw_etmv4_config config = full_config(round & 1);
        struct tw_etmv4_reader one, many;
        struct tw_etmv4_packet batch[ROOM], packet;
        size_t used, at = 0;

        check_random_fill(&random, bytes, SIZE);
        for (size_t i = check_random_below(&random, SIZE / 8); i > 0; i--)
            bytes[check_random_below(&random, SIZE)] &= 0x8f; /* more of the low headers */
        synced(&one, &config);
        synced(&many, &config);
        for (;;) {
            const size_t count =
                tw_etmv4_read_batch(&many, batch, ROOM, &used, bytes + at, SIZE - at);

            for (size_t i = 0; i < count; i++) {
                CHECK_EQ(tw_etmv4_read(&one, &packet, bytes + at, SIZE - at, false), TW_OK);
                CHECK_EQ(packet.base.type, batch[i].base.type);
                CHECK_EQ(packet.base.size, batch[i].base.size);
                CHECK_EQ(packet.base.offset, batch[i].base.offset);
                CHECK_EQ(packet.base.id, 0x10);
                check_written(&one, &packet, bytes + at);
                check_written(&many, &batch[i], bytes + at);
                at += packet.base.size;
                used -= packet.base.size;
            }
            CHECK_EQ(used, 0);
            if (count < ROOM)
                break;
        }
        if (at < SIZE)
            CHECK_EQ(tw_etmv4_read(&one, &packet, bytes + at, SIZE - at, false), TW_MORE);
        CHECK(SIZE - at < TW_ETMV4_PACKET_MAX || !one.is_synced);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),      cmocka_unit_test(test_headers),
        cmocka_unit_test(test_claims),       cmocka_unit_test(test_versions),
        cmocka_unit_test(test_random_bytes),
    };

    return cmocka_run_group_tests_name("etmv4 packets", tests, NULL, NULL);
}
