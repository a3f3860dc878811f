/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace data trace: the tables of chapter 7, and values behind differences. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "etraced/packet.h"

struct setting {
    struct tw_etraced_shape shape;
    struct tw_etraced_history history;
    uint32_t options;
};

static struct setting setting_of(enum tw_etrace_layout layout, unsigned width, unsigned lrid,
                                 uint32_t options)
{
    struct tw_etrace_config config = { .layout = (uint8_t)layout,
                                       .data_width = (uint8_t)width,
                                       .daddress_width = (uint8_t)width,
                                       .format_bits = 3,
                                       .diff_bits = 2,
                                       .csr_diff_bits = 1,
                                       .lrid_width = (uint8_t)lrid,
                                       .data_compress = 1 };
    struct setting setting = { .options = options };

    tw_etraced_shape_init(&setting.shape, &config);
    return setting;
}

/* "value:bits value:bits ...", in the order of the specification's tables, least significant bit
   first; then what sign extension restores is left away.  Returns the size in bytes. */
static size_t pack(uint8_t bytes[64], const char *fields)
{
    uint8_t bits[512] = { 0 };
    size_t count = 0, used;
    char *end;

    while (*fields) {
        const uint64_t value = strtoull(fields, &end, 0);
        const unsigned long width = strtoul(end + 1, &end, 10);

        for (unsigned long i = 0; i < width; i++)
            bits[count++] = (uint8_t)(i < 64 ? value >> i & 1 : 0);
        fields = end + strspn(end, " ");
    }
    for (used = count; used > 1 && bits[used - 1] == bits[used - 2];)
        used--;
    memset(bytes, 0, 64);
    for (size_t i = 0; i < (used + 7) / 8 * 8; i++)
        bytes[i / 8] = (uint8_t)(bytes[i / 8] | bits[i < used ? i : used - 1] << i % 8);
    return (used + 7) / 8;
}

/* There and back; the packet that was read, resolved. */
static struct tw_etrace_packet pass(struct setting *setting, const char *fields,
                                    struct tw_etrace_packet packet)
{
    struct tw_payload payload;
    struct tw_etrace_packet out = { .base = { .type = TW_ETRACE_BAD } };
    uint8_t bytes[64], *copy;
    const size_t size = pack(bytes, fields);

    CHECK_CASE(fields);
    CHECK(tw_etraced_build(&setting->shape, setting->options, &payload, &packet));
    CHECK_BYTES(payload.bytes, tw_payload_finish(&payload), bytes, size);
    copy = check_copy(bytes, size);
    tw_payload_load(&payload, copy, (unsigned)size, size);
    free(copy);
    CHECK_EQ(
        tw_etraced_parse(&setting->shape, setting->options, &setting->history, &out, &payload),
        TW_ERROR_NONE);
    CHECK_EQ(out.base.type, packet.base.type);
    tw_etraced_resolve(&setting->shape, &setting->history, &out);
    return out;
}

#define PASS(setting, fields, ...)                                                             \
    pass(setting, fields, (struct tw_etrace_packet){ __VA_ARGS__ })
#define TYPE(name) .base = { .type = TW_ETRACE_##name }

/* [RVT 7.1.2/1] */
static void size_fields(void **state)
{
    static const struct {
        enum tw_etrace_layout layout;
        unsigned width, bits;
    } sizes[] = {
        { TW_ETRACE_LAYOUT_V2, 8, 1 },    { TW_ETRACE_LAYOUT_V2, 16, 1 },
        { TW_ETRACE_LAYOUT_V2, 32, 2 },   { TW_ETRACE_LAYOUT_V2, 64, 2 },
        { TW_ETRACE_LAYOUT_SEED, 32, 2 }, { TW_ETRACE_LAYOUT_SEED, 64, 2 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(sizes); i++)
        CHECK_EQ(setting_of(sizes[i].layout, sizes[i].width, 0, 0).shape.size, sizes[i].bits);
}

/* [RVT 7.1.1/2] [RVT 7.1.3/3] [RVT 7.1.3/4] [RVT T7.1/1] [RVT T7.2/1] [RVT T7.3/1] */
static void loads_and_stores(void **state)
{
    struct setting setting = setting_of(TW_ETRACE_LAYOUT_V2, 32, 0, 0);
    struct tw_etrace_packet got;

    (void)state;
    /* format, size, diff, data_len, data, address.  Full: aligned, so the address goes without its
       two low bits. */
    got = PASS(&setting, "2:3 2:2 0:2 3:2 0x0eca8642:32 0x800:32", TYPE(STORE), .format = 2,
               .data_size = 2, .data_len = 3, .data = 0x0eca8642, .field = 0x800);
    CHECK_EQ(got.address, 0x2000);
    CHECK_EQ(got.value, 0x0eca8642);
    /* XOR, cut to one byte; the address four further. */
    got = PASS(&setting, "0:3 2:2 1:2 0:2 0x7f:8 1:32", TYPE(LOAD), .data_size = 2, .diff = 1,
               .data = 0x7f, .field = 1);
    CHECK_EQ(got.address, 0x2004);
    CHECK_EQ(got.value, 0x0eca8642 ^ 0x7f);
    /* A difference of -1, sent as one byte. */
    got = PASS(&setting, "0:3 2:2 3:2 0:2 0xff:8 0xffffffff:32", TYPE(LOAD), .data_size = 2,
               .diff = 3, .data = 0xff, .field = 0xffffffff);
    CHECK_EQ(got.address, 0x2000);
    CHECK_EQ(got.value, (0x0eca8642 ^ 0x7f) - 1);
    /* Other sizes have histories of their own; full data, address as a difference from nothing. */
    got = PASS(&setting, "1:3 0:2 2:2 0x21:8 1:32", TYPE(LOAD), .format = 1, .diff = 2,
               .data = 0x21, .field = 1);
    CHECK_EQ(got.address, 1);
    CHECK_EQ(got.value, 0x21);
    setting.options = TW_ETRACE_NO_ADDRESS; /* format, size, diff, data */
    got = PASS(&setting, "2:3 1:2 3:2 0x1234:32", TYPE(STORE), .format = 2, .data_size = 1,
               .diff = 3, .data = 0x1234);
    CHECK_EQ(got.value, 0x1234);
    CHECK(!(got.has & TW_ETRACE_HAS_ADDRESS));
}

/* [RVT 7.1.3/1] [RVT 7.1.3/2] */
static void after_synchronization_all_is_full(void **state)
{
    struct setting setting = setting_of(TW_ETRACE_LAYOUT_V2, 32, 0, TW_ETRACE_NO_DATA);
    struct setting quirky =
        setting_of(TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS, 32, 0, TW_ETRACE_NO_DATA);
    struct tw_etrace_packet got;

    (void)state;
    /* format, size, diff, address */
    got = PASS(&setting, "0:3 2:2 0:1 0x10:32", TYPE(LOAD), .data_size = 2, .field = 0x10);
    CHECK_EQ(got.address, 0x40);
    tw_etraced_sync(&setting.shape, &setting.history);
    got = PASS(&setting, "0:3 2:2 1:1 1:32", TYPE(LOAD), .data_size = 2, .diff = 1, .field = 1);
    CHECK_EQ(got.address, 4);
    got = PASS(&quirky, "0:3 2:2 0:1 0x10:32", TYPE(LOAD), .data_size = 2, .field = 0x10);
    tw_etraced_sync(&quirky.shape, &quirky.history);
    got = PASS(&quirky, "0:3 2:2 1:1 1:32", TYPE(LOAD), .data_size = 2, .diff = 1, .field = 1);
    CHECK_EQ(got.address, 0x44);
}

/* [RVT 7.2.1/1] [RVT T7.6/1] [RVT T7.7/1] [RVT T7.8/1] */
static void atomics(void **state)
{
    struct setting seed = setting_of(TW_ETRACE_LAYOUT_SEED, 64, 0, 0);
    struct setting v2 = setting_of(TW_ETRACE_LAYOUT_V2, 64, 0, 0);
    struct setting quirky = setting_of(TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS, 64, 0, 0);
    struct tw_etrace_packet got;

    (void)state;
    /* format, subtype, size, diff, op_len, operand, data_len, data, address; in the draft one bit of
       size, 4 or 8 bytes. */
    got = PASS(&seed, "6:3 1:3 0:1 0:2 0:2 5:8 0:2 2:8 2:64", TYPE(ATOMIC), .format = 6,
               .subtype = 1, .data_size = 2, .operand = 5, .data = 2, .field = 2);
    CHECK_EQ(tw_etraced_kind(&seed.shape, &got), TW_DATA_ADD);
    CHECK_EQ(got.operand_value, 5);
    CHECK_EQ(got.value, 2);
    CHECK_EQ(got.address, 8);
    got = PASS(&seed, "6:3 1:3 1:1 0:2 0:3 5:8 7:3 0x123456789:64 2:64", TYPE(ATOMIC),
               .format = 6, .subtype = 1, .data_size = 3, .operand = 5, .data_len = 7,
               .data = 0x123456789, .field = 2);
    CHECK_EQ(got.address, 16);
    got = PASS(&v2, "6:3 4:3 2:2 0:2 0:2 5:8 0:2 2:8 2:64", TYPE(ATOMIC), .format = 6,
               .subtype = 4, .data_size = 2, .operand = 5, .data = 2, .field = 2);
    CHECK_EQ(tw_etraced_kind(&v2.shape, &got), TW_DATA_XOR);
    /* The reference data model leaves code 4 out, and calls a difference XOR. */
    got = PASS(&quirky, "6:3 5:3 2:2 1:2 0:2 5:8 0:2 2:8 2:64", TYPE(ATOMIC), .format = 6,
               .subtype = 5, .data_size = 2, .diff = 1, .operand = 5, .data = 2, .field = 2);
    CHECK_EQ(tw_etraced_kind(&quirky.shape, &got), TW_DATA_XOR);
    CHECK_EQ(got.value, 5 + 2);
    v2.options = TW_ETRACE_NO_DATA;
    got = PASS(&v2, "6:3 7:3 2:2 0:1 2:64", TYPE(ATOMIC), .format = 6, .subtype = 7,
               .data_size = 2, .field = 2);
    CHECK_EQ(tw_etraced_kind(&v2.shape, &got), TW_DATA_SC_FAIL);
    v2.options = TW_ETRACE_NO_ADDRESS;
    got = PASS(&v2, "6:3 6:3 2:2 0:2 0:2 5:8 9:64", TYPE(ATOMIC), .format = 6, .subtype = 6,
               .data_size = 2, .operand = 5, .data = 9);
    CHECK_EQ(got.value, 9);
}

/* [RVT T7.11/1] [RVT T7.12/1] [RVT T7.13/1] [RVT 7.3.2/1] [RVT 7.3.3/1] */
static void csrs(void **state)
{
    struct setting setting = setting_of(TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS, 64, 0, 0);
    struct setting bare = setting_of(TW_ETRACE_LAYOUT_SEED, 32, 0, TW_ETRACE_NO_DATA);
    struct tw_etrace_packet got;

    (void)state;
    /* format, subtype, diff, data_len, data, addr[11:6], (op_len, operand,) addr[5:0]; a read-only
       one has no operand. */
    got = PASS(&setting, "5:3 1:2 1:2 7:3 0:64 0x3c:6 0x14:6", TYPE(CSR), .format = 5,
               .subtype = 1, .diff = 1, .data_len = 7, .field = 0xf14);
    CHECK_EQ(got.address, 0xf14);
    CHECK(!(got.has & TW_ETRACE_HAS_OPERAND));
    CHECK_EQ(tw_etraced_kind(&setting.shape, &got), TW_DATA_CSR_RS);
    got = PASS(&setting, "5:3 2:2 1:2 0:3 5:8 0x0d:6 0:3 0x0f:8 0:6", TYPE(CSR), .format = 5,
               .subtype = 2, .diff = 1, .data = 5, .operand = 0xf, .field = 0x340);
    CHECK_EQ(got.address, 0x340);
    CHECK_EQ(got.value, 5);
    CHECK_EQ(got.operand_value, 5 + 0xf); /* a difference from the data before it */
    /* The draft prints three bits of subtype where there is no data. */
    got = PASS(&bare, "5:3 2:3 0:1 0x0d:6 5:6", TYPE(CSR), .format = 5, .subtype = 2,
               .field = 0x345);
    CHECK_EQ(got.address, 0x345);
}

/* [RVT T7.4/1] [RVT T7.5/1] [RVT T7.9/1] [RVT T7.10/1] */
static void split_accesses(void **state)
{
    struct setting setting = setting_of(TW_ETRACE_LAYOUT_V2, 32, 3, 0);
    struct tw_etrace_packet got;

    (void)state;
    got = PASS(&setting, "0:3 2:2 5:3 0:1 0x10:32", TYPE(SPLIT_LOAD_ADDR), .data_size = 2,
               .lrid = 5, .field = 0x10);
    CHECK_EQ(got.address, 0x40);
    got = PASS(&setting, "4:3 2:2 5:3 2:2 0x1c:32", TYPE(SPLIT_LOAD_DATA), .format = 4,
               .data_size = 2, .lrid = 5, .resp = 2, .data = 0x1c);
    CHECK_EQ(got.value, 0x1c);
    CHECK_EQ(got.address, 0x40); /* of the request with this number */
    got = PASS(&setting, "4:3 2:2 5:3 0:2", TYPE(SPLIT_LOAD_DATA), .format = 4, .data_size = 2,
               .lrid = 5, .resp = 0);
    CHECK(!(got.has & TW_ETRACE_HAS_DATA));
    got =
        PASS(&setting, "6:3 3:3 2:2 6:3 0:2 0:2 9:8 0x20:32", TYPE(SPLIT_ATOMIC_ADDR),
             .format = 6, .subtype = 3, .data_size = 2, .lrid = 6, .operand = 9, .field = 0x20);
    CHECK_EQ(got.operand_value, 9);
    /* lrid, resp, data_len, data: as a difference from the operand; the size is the request's. */
    got = PASS(&setting, "7:3 6:3 3:2 1:2 0x0102:16", TYPE(SPLIT_ATOMIC_DATA), .format = 7,
               .lrid = 6, .resp = 3, .data_len = 1, .data = 0x0102, .data_size = 2);
    CHECK_EQ(got.address, 0x80);
    CHECK_EQ(got.value, 9 + 0x0102);
    CHECK_EQ(tw_etraced_kind(&setting.shape, &got), TW_DATA_OR);
}

static void what_no_encoder_sends(void **state)
{
    static const struct {
        enum tw_etrace_layout layout;
        const char *bytes;
        size_t size;
    } bad[] = {
        { TW_ETRACE_LAYOUT_V2, "\x04", 1 },             /* split data, of no split encoder */
        { TW_ETRACE_LAYOUT_V2, "\x18\x00", 2 },         /* 8 bytes on a 32-bit hart */
        { TW_ETRACE_LAYOUT_V2, "\x1d\x00", 2 },         /* CSR subtype 3 */
        { TW_ETRACE_LAYOUT_V2, "\xbe\x00\x00\x01", 4 }, /* reserved atomic, with data */
        { TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS, "\xa6\x00\x00\x01", 4 },
        { TW_ETRACE_LAYOUT_V2, "\x00\x00\x00\x00\x00\x00\x00\x01\x01", 9 }, /* too long */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct setting setting = setting_of(bad[i].layout, 32, 0, 0);
        struct tw_etrace_packet out = { .base = { .type = TW_ETRACE_LOAD } };
        struct tw_payload payload;
        uint8_t *copy = check_copy(bad[i].bytes, bad[i].size);

        tw_payload_load(&payload, copy, (unsigned)bad[i].size, bad[i].size);
        free(copy);
        CHECK_EQ(tw_etraced_parse(&setting.shape, 0, &setting.history, &out, &payload),
                 TW_ERROR_BAD_SEQUENCE);
        CHECK_EQ(out.base.type, TW_ETRACE_BAD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_fields),
        cmocka_unit_test(loads_and_stores),
        cmocka_unit_test(after_synchronization_all_is_full),
        cmocka_unit_test(atomics),
        cmocka_unit_test(csrs),
        cmocka_unit_test(split_accesses),
        cmocka_unit_test(what_no_encoder_sends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
