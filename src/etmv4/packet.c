/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: bytes to packets.  One row per packet; a header's row comes from an index that
   is filled from the rows which the configuration allows. */
#include "etmv4/packet.h"

#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "etmv4/payload.h"

/* What a row needs of the trace unit. */
enum {
    ANY,
    V8M = 0x001,  /* Armv8-M, ETMv4.2 */
    V81M = 0x002, /* Armv8.1-M, ETMv4.5 */
    ETM = 0x004,  /* not ETE */
    ETE = 0x008,
    ITE = 0x010,  /* ETE 1.3 */
    DATA = 0x020, /* data trace on */
    COND = 0x040, /* conditional tracing on */
    IGN = 0x080,  /* ETMv4.3 */
    TSM = 0x100,  /* ETMv4.6, ETE */
    QEL = 0x200,  /* Q elements */
    /* Lacking one of these, a header is reserved by configuration. */
    BY_CONFIG = ETM | DATA | COND
};

enum { ROW_RESERVED, ROW_RESERVED_CFG, ROW_FIRST };

struct rule {
    uint8_t mask, match; /* applies when (head & mask) == match ... */
    uint16_t needs;      /* ... and the trace unit has these features */
    uint8_t length;      /* in bytes, of packets that an index passes over; else 0 */
    uint8_t type;
    void (*read)(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                 struct tw_etmv4_packet *out, uint8_t head);
};

static void read_head_only(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head);
static void read_forbidden(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head);
static void read_atoms(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                       struct tw_etmv4_packet *out, uint8_t head);

/* clang-format off */
static const struct rule rules[] = {
    /* The first two catch what no other row claims.  The rest: in the order of headers.  A length is
       the same under every configuration, and no such packet is bad or of interest to an index. */
    { 0x00, 0x00, ANY,  0, TW_ETMV4_RESERVED,          read_head_only },
    { 0x00, 0x00, ANY,  0, TW_ETMV4_RESERVED_CFG,      read_forbidden },
    { 0xff, 0x00, ANY,  0, TW_ETMV4_EXTENSION,         tw_etmv4_read_extension },
    { 0xff, 0x01, ANY,  0, TW_ETMV4_TRACE_INFO,        tw_etmv4_read_trace_info },
    { 0xfe, 0x02, ANY,  0, TW_ETMV4_TIMESTAMP,         tw_etmv4_read_timestamp },
    { 0xff, 0x04, ANY,  0, TW_ETMV4_TRACE_ON,          read_head_only },
    { 0xff, 0x05, V8M,  0, TW_ETMV4_FUNC_RET,          read_head_only },
    { 0xff, 0x06, ANY,  0, TW_ETMV4_EXCEPT,            tw_etmv4_read_exception },
    { 0xff, 0x07, ETM,  0, TW_ETMV4_EXCEPT_RTN,        read_head_only },
    { 0xff, 0x08, V81M, 0, TW_ETMV4_RESYNC,            tw_etmv4_read_resync },
    { 0xff, 0x09, ITE,  0, TW_ETMV4_ITE,               tw_etmv4_read_instrumentation },
    { 0xff, 0x0a, ETE,  0, TW_ETMV4_TRANS_ST,          read_head_only },
    { 0xff, 0x0b, ETE,  0, TW_ETMV4_TRANS_COMMIT,      read_head_only },
    { 0xfe, 0x0c, ANY,  2, TW_ETMV4_CCNT_F2,           tw_etmv4_read_cycles_2 },
    { 0xfe, 0x0e, ANY,  0, TW_ETMV4_CCNT_F1,           tw_etmv4_read_cycles_1 },
    { 0xf0, 0x10, ANY,  1, TW_ETMV4_CCNT_F3,           tw_etmv4_read_cycles_3 },
    { 0xf8, 0x20, DATA, 0, TW_ETMV4_NUM_DS_MKR,        tw_etmv4_read_number },
    { 0xfc, 0x28, DATA, 0, TW_ETMV4_UNNUM_DS_MKR,      tw_etmv4_read_number },
    { 0xff, 0x2c, DATA, 0, TW_ETMV4_UNNUM_DS_MKR,      tw_etmv4_read_number },
    { 0xff, 0x2d, ANY,  0, TW_ETMV4_COMMIT,            tw_etmv4_read_commit },
    { 0xff, 0x2e, ANY,  0, TW_ETMV4_CANCEL_F1,         tw_etmv4_read_cancel_1 },
    { 0xff, 0x2f, ANY,  0, TW_ETMV4_CANCEL_F1_MISPRED, tw_etmv4_read_cancel_1 },
    { 0xfc, 0x30, ANY,  1, TW_ETMV4_MISPREDICT,        tw_etmv4_read_mispredict },
    { 0xfc, 0x34, ANY,  1, TW_ETMV4_CANCEL_F2,         tw_etmv4_read_mispredict },
    { 0xf8, 0x38, ANY,  1, TW_ETMV4_CANCEL_F3,         tw_etmv4_read_cancel_3 },
    { 0xfe, 0x40, COND, 0, TW_ETMV4_COND_I_F2,         tw_etmv4_read_cond_instruction },
    { 0xff, 0x42, COND, 0, TW_ETMV4_COND_I_F2,         tw_etmv4_read_cond_instruction },
    { 0xff, 0x43, COND, 0, TW_ETMV4_COND_FLUSH,        read_head_only },
    { 0xfe, 0x44, COND, 0, TW_ETMV4_COND_RES_F4,       tw_etmv4_read_cond_result },
    { 0xff, 0x46, COND, 0, TW_ETMV4_COND_RES_F4,       tw_etmv4_read_cond_result },
    { 0xfa, 0x48, COND, 0, TW_ETMV4_COND_RES_F2,       tw_etmv4_read_cond_result },
    { 0xfb, 0x4a, COND, 0, TW_ETMV4_COND_RES_F2,       tw_etmv4_read_cond_result },
    { 0xf0, 0x50, COND, 0, TW_ETMV4_COND_RES_F3,       tw_etmv4_read_cond_result },
    { 0xfc, 0x68, COND, 0, TW_ETMV4_COND_RES_F1,       tw_etmv4_read_cond_result },
    { 0xff, 0x6c, COND, 0, TW_ETMV4_COND_I_F1,         tw_etmv4_read_cond_instruction },
    { 0xff, 0x6d, COND, 0, TW_ETMV4_COND_I_F3,         tw_etmv4_read_cond_instruction },
    { 0xfe, 0x6e, COND, 0, TW_ETMV4_COND_RES_F1,       tw_etmv4_read_cond_result },
    { 0xff, 0x70, IGN,  0, TW_ETMV4_IGNORE,            read_head_only },
    { 0xff, 0x71, ANY,  0, TW_ETMV4_EVENT,             tw_etmv4_read_number },
    { 0xfe, 0x72, ANY,  0, TW_ETMV4_EVENT,             tw_etmv4_read_number },
    { 0xfc, 0x74, ANY,  0, TW_ETMV4_EVENT,             tw_etmv4_read_number },
    { 0xf8, 0x78, ANY,  0, TW_ETMV4_EVENT,             tw_etmv4_read_number },
    { 0xfe, 0x80, ANY,  0, TW_ETMV4_CTXT,              tw_etmv4_read_context },
    { 0xff, 0x82, ANY,  0, TW_ETMV4_ADDR_CTXT_L_32IS0, tw_etmv4_read_long },
    { 0xff, 0x83, ANY,  0, TW_ETMV4_ADDR_CTXT_L_32IS1, tw_etmv4_read_long },
    { 0xff, 0x85, ANY,  0, TW_ETMV4_ADDR_CTXT_L_64IS0, tw_etmv4_read_long },
    { 0xff, 0x86, ANY,  0, TW_ETMV4_ADDR_CTXT_L_64IS1, tw_etmv4_read_long },
    { 0xff, 0x88, TSM,  0, TW_ETMV4_TS_MARKER,         read_head_only },
    { 0xfe, 0x90, ANY,  1, TW_ETMV4_ADDR_MATCH,        tw_etmv4_read_match },
    { 0xff, 0x92, ANY,  1, TW_ETMV4_ADDR_MATCH,        tw_etmv4_read_match },
    { 0xff, 0x95, ANY,  0, TW_ETMV4_ADDR_S_IS0,        tw_etmv4_read_short },
    { 0xff, 0x96, ANY,  0, TW_ETMV4_ADDR_S_IS1,        tw_etmv4_read_short },
    { 0xff, 0x9a, ANY,  5, TW_ETMV4_ADDR_L_32IS0,      tw_etmv4_read_long },
    { 0xff, 0x9b, ANY,  5, TW_ETMV4_ADDR_L_32IS1,      tw_etmv4_read_long },
    { 0xff, 0x9d, ANY,  9, TW_ETMV4_ADDR_L_64IS0,      tw_etmv4_read_long },
    { 0xff, 0x9e, ANY,  9, TW_ETMV4_ADDR_L_64IS1,      tw_etmv4_read_long },
    { 0xfe, 0xa0, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xff, 0xa2, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xff, 0xa5, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xff, 0xa6, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xfe, 0xaa, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xff, 0xac, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xff, 0xaf, QEL,  0, TW_ETMV4_Q,                 tw_etmv4_read_q },
    { 0xfe, 0xb0, ETE,  0, TW_ETMV4_SRC_ADDR_MATCH,    tw_etmv4_read_match },
    { 0xff, 0xb2, ETE,  0, TW_ETMV4_SRC_ADDR_MATCH,    tw_etmv4_read_match },
    { 0xff, 0xb4, ETE,  0, TW_ETMV4_SRC_ADDR_S_IS0,    tw_etmv4_read_short },
    { 0xff, 0xb5, ETE,  0, TW_ETMV4_SRC_ADDR_S_IS1,    tw_etmv4_read_short },
    { 0xff, 0xb6, ETE,  0, TW_ETMV4_SRC_ADDR_L_32IS0,  tw_etmv4_read_long },
    { 0xff, 0xb7, ETE,  0, TW_ETMV4_SRC_ADDR_L_32IS1,  tw_etmv4_read_long },
    { 0xff, 0xb8, ETE,  0, TW_ETMV4_SRC_ADDR_L_64IS0,  tw_etmv4_read_long },
    { 0xff, 0xb9, ETE,  0, TW_ETMV4_SRC_ADDR_L_64IS1,  tw_etmv4_read_long },
    { 0xd0, 0xc0, ANY,  1, TW_ETMV4_ATOM_F6,           read_atoms },
    { 0xdc, 0xd0, ANY,  1, TW_ETMV4_ATOM_F6,           read_atoms },
    { 0xdf, 0xd4, ANY,  1, TW_ETMV4_ATOM_F6,           read_atoms },
    { 0xdf, 0xd5, ANY,  1, TW_ETMV4_ATOM_F5,           read_atoms },
    { 0xfe, 0xd6, ANY,  1, TW_ETMV4_ATOM_F5,           read_atoms },
    { 0xfc, 0xd8, ANY,  1, TW_ETMV4_ATOM_F2,           read_atoms },
    { 0xfc, 0xdc, ANY,  1, TW_ETMV4_ATOM_F4,           read_atoms },
    { 0xfe, 0xf6, ANY,  1, TW_ETMV4_ATOM_F1,           read_atoms },
    { 0xf8, 0xf8, ANY,  1, TW_ETMV4_ATOM_F3,           read_atoms },
};

/* Each header of atoms with its bits, as struct tw_atom_packet has them. */
#define F6(USE, n) USE(0xc0 + (n), (1u << ((n) + 4)) - 1, (n) + 4, TW_ETMV4_ATOM_F6) \
                   USE(0xe0 + (n), (1u << ((n) + 3)) - 1, (n) + 4, TW_ETMV4_ATOM_F6)
#define ATOMS(USE)                                                                    \
    F6(USE, 0)  F6(USE, 1)  F6(USE, 2)  F6(USE, 3)  F6(USE, 4)  F6(USE, 5)            \
    F6(USE, 6)  F6(USE, 7)  F6(USE, 8)  F6(USE, 9)  F6(USE, 10) F6(USE, 11)           \
    F6(USE, 12) F6(USE, 13) F6(USE, 14) F6(USE, 15) F6(USE, 16) F6(USE, 17)           \
    F6(USE, 18) F6(USE, 19) F6(USE, 20)                                               \
    USE(0xd5, 0x00, 5, TW_ETMV4_ATOM_F5) USE(0xd6, 0x0a, 5, TW_ETMV4_ATOM_F5)         \
    USE(0xd7, 0x15, 5, TW_ETMV4_ATOM_F5) USE(0xf5, 0x1e, 5, TW_ETMV4_ATOM_F5)         \
    USE(0xd8, 0x00, 2, TW_ETMV4_ATOM_F2) USE(0xd9, 0x01, 2, TW_ETMV4_ATOM_F2)         \
    USE(0xda, 0x02, 2, TW_ETMV4_ATOM_F2) USE(0xdb, 0x03, 2, TW_ETMV4_ATOM_F2)         \
    USE(0xdc, 0x0e, 4, TW_ETMV4_ATOM_F4) USE(0xdd, 0x00, 4, TW_ETMV4_ATOM_F4)         \
    USE(0xde, 0x0a, 4, TW_ETMV4_ATOM_F4) USE(0xdf, 0x05, 4, TW_ETMV4_ATOM_F4)         \
    USE(0xf6, 0x00, 1, TW_ETMV4_ATOM_F1) USE(0xf7, 0x01, 1, TW_ETMV4_ATOM_F1)         \
    USE(0xf8, 0x00, 3, TW_ETMV4_ATOM_F3) USE(0xf9, 0x01, 3, TW_ETMV4_ATOM_F3)         \
    USE(0xfa, 0x02, 3, TW_ETMV4_ATOM_F3) USE(0xfb, 0x03, 3, TW_ETMV4_ATOM_F3)         \
    USE(0xfc, 0x04, 3, TW_ETMV4_ATOM_F3) USE(0xfd, 0x05, 3, TW_ETMV4_ATOM_F3)         \
    USE(0xfe, 0x06, 3, TW_ETMV4_ATOM_F3) USE(0xff, 0x07, 3, TW_ETMV4_ATOM_F3)         
#define ROW(head, bits, count, type)  [head] = { bits, count, type },
#define WORD(head, bits, count, type) [head] = (bits) | 1u << (count),
const struct tw_atom_packet tw_etmv4_atoms[256] = { ATOMS(ROW) };
const uint32_t tw_etmv4_atom_words[256] = { ATOMS(WORD) };
#undef WORD
#undef ROW
#undef ATOMS
#undef F6
/* clang-format on */

static void read_head_only(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    (void)out;
    (void)head;
}

/* A header that the configuration forbids: says which packet it would have been. */
static void read_forbidden(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head)
{
    const struct rule *rule = rules + ROW_FIRST, *const last = &rules[TW_LENGTH(rules) - 1];

    (void)reader;
    (void)in;
    while (rule != last && (head & rule->mask) != rule->match)
        rule++;
    out->cause = rule->type;
}

static void read_atoms(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                       struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    out->atoms = tw_etmv4_atoms[head].bits;
    out->atom_count = tw_etmv4_atoms[head].count;
}

static unsigned features(const struct tw_etmv4_setup *setup)
{
    unsigned has = setup->is_ete ? ETE : ETM;

    if (setup->profile == TW_PROFILE_M && setup->architecture >= 80 && !setup->is_ete) {
        if (setup->version >= 0x42)
            has |= V8M;
        if (setup->version >= 0x45 && setup->architecture >= 81)
            has |= V81M;
    }
    if (setup->version >= 0x53)
        has |= ITE;
    if (setup->data)
        has |= DATA;
    if (setup->cond)
        has |= COND;
    if (setup->version >= 0x43)
        has |= IGN;
    if (setup->version >= 0x46)
        has |= TSM;
    if (setup->has_q)
        has |= QEL;
    return has;
}

/* The row of each header, and how many rows claim it. */
static void fill_index(uint8_t index[256], uint8_t claims[256],
                       const struct tw_etmv4_setup *setup)
{
    const unsigned has = features(setup);

    memset(index, ROW_RESERVED, 256);
    memset(claims, 0, 256);
    for (unsigned i = ROW_FIRST; i < TW_LENGTH(rules); i++) {
        const unsigned free = ~rules[i].mask & 0xffu;
        const bool is_there = (rules[i].needs & ~has) == 0;
        unsigned bits = 0;

        if (!is_there && !(rules[i].needs & BY_CONFIG))
            continue;
        do { /* every header that the row matches */
            const unsigned head = rules[i].match | bits;

            if (is_there || !claims[head])
                index[head] = is_there ? (uint8_t)i : ROW_RESERVED_CFG;
            claims[head] = (uint8_t)(claims[head] + is_there);
            bits = (bits - free) & free;
        } while (bits);
    }
}

void tw_etmv4_claims(uint8_t claims[256], const struct tw_etmv4_setup *setup)
{
    uint8_t index[256];

    fill_index(index, claims, setup);
}

void tw_etmv4_header_types(uint8_t types[256], const struct tw_etmv4_setup *setup)
{
    uint8_t index[256], claims[256];

    fill_index(index, claims, setup);
    for (unsigned head = 0; head < 256; head++)
        types[head] = rules[index[head]].type;
}

/* What the configuration has: of a data stream A-sync alone is taken apart. */
static void fill_has(struct tw_etmv4_reader *reader)
{
    const struct tw_etmv4_setup *setup = &reader->setup;
    bool *has = reader->has;

    has[TW_ETMV4_ASYNC] = true;
    if (setup->is_data_stream)
        return;
    for (unsigned head = 0; head < 256; head++)
        has[rules[reader->rule[head]].type] = true;
    has[TW_ETMV4_RESERVED] = has[TW_ETMV4_RESERVED_CFG] = has[TW_ETMV4_EXTENSION] = false;
    has[TW_ETMV4_DISCARD] = has[TW_ETMV4_OVERFLOW] = true;
    has[TW_ETMV4_BF_FLUSH] = tw_etmv4_has_flush(setup);
    has[TW_ETMV4_PE_RESET] = has[TW_ETMV4_TRANS_FAIL] = setup->is_ete;
}

void tw_etmv4_reader_init(struct tw_etmv4_reader *reader, const struct tw_etmv4_config *config)
{
    uint8_t claims[256];

    *reader = (struct tw_etmv4_reader){ 0 };
    tw_etmv4_setup_from_config(&reader->setup, config);
    fill_index(reader->rule, claims, &reader->setup);
    for (unsigned head = 0; head < 256; head++)
        reader->lengths[head] = rules[reader->rule[head]].length;
    fill_has(reader);
    tw_etmv4_reader_lost(reader);
}

void tw_etmv4_reader_lost(struct tw_etmv4_reader *reader)
{
    reader->is_synced = reader->has_trace_info = reader->has_timestamp = reader->sf = false;
    reader->timestamp = 0;
    reader->threshold = 0;
    tw_etmv4_history_clear(reader->history);
}

/* Where the next A-sync of 12 bytes begins; `size` when there is none, less the zeros at the end
   that may be its beginning (unless nothing follows). */
static size_t find_async(const uint8_t *data, size_t size, bool is_last, bool *is_found)
{
    size_t zeros = 0;

    *is_found = false;
    for (size_t at = 0; at < size; at++) {
        if (data[at] == 0) {
            zeros++;
        } else if (data[at] == 0x80 && zeros >= TW_ETMV4_ASYNC_ZEROS) {
            *is_found = true;
            return at - TW_ETMV4_ASYNC_ZEROS;
        } else {
            zeros = 0;
        }
    }
    if (is_last)
        return size;
    return size - (zeros < TW_ETMV4_ASYNC_ZEROS ? zeros : TW_ETMV4_ASYNC_ZEROS);
}

/* Bytes up to the next A-sync, or that A-sync. */
static TW_NOINLINE enum tw_status hunt(struct tw_etmv4_reader *reader,
                                       struct tw_etmv4_packet *packet, const uint8_t *data,
                                       size_t size, bool is_last)
{
    bool is_found;
    size_t run;

    if (size > UINT32_MAX / 2) {
        size = UINT32_MAX / 2;
        is_last = false;
    }
    run = find_async(data, size, is_last, &is_found);
    if (run > 0) {
        packet->base.type = reader->is_synced ? TW_ETMV4_DATA : TW_ETMV4_NOT_SYNC;
        packet->value = data[0] | (run > 1 ? (uint64_t)data[1] << 8 : 0);
        packet->base.size = (uint32_t)run;
    } else if (is_found) {
        packet->base.type = TW_ETMV4_ASYNC;
        packet->base.size = TW_ETMV4_ASYNC_SIZE;
        reader->is_synced = true;
    } else {
        return TW_MORE;
    }
    reader->offset += packet->base.size;
    return TW_OK;
}

/* The packet is cut: wait for more, or report what is left of the trace. */
static TW_NOINLINE enum tw_status cut(struct tw_etmv4_reader *reader,
                                      struct tw_etmv4_packet *packet, const uint8_t *data,
                                      size_t size, bool is_last)
{
    size_t zeros = 0;

    if (!is_last)
        return TW_MORE;
    packet->cause = packet->base.type;
    while (zeros < size && data[zeros] == 0)
        zeros++;
    if (zeros == size && size >= TW_ETMV4_ASYNC_SIZE) {
        packet->base.type = TW_ETMV4_BAD_SEQUENCE;
        packet->base.size = TW_ETMV4_ASYNC_SIZE;
    } else {
        packet->base.type = TW_ETMV4_INCOMPLETE_EOT;
        packet->base.size = (uint32_t)size;
    }
    reader->offset += packet->base.size;
    return TW_OK;
}

_Static_assert(offsetof(struct tw_packet, type) == offsetof(struct tw_packet, size) + 4 &&
                   offsetof(struct tw_packet, id) == offsetof(struct tw_packet, size) + 5 &&
                   sizeof(struct tw_packet) == offsetof(struct tw_packet, size) + 8,
               "size, type and ID lie in eight bytes");

/* A packet that has one byte so far. */
TW_INLINE void begin(struct tw_etmv4_packet *packet, uint64_t offset, uint8_t id, uint8_t type)
{
#if TW_IS_LITTLE_ENDIAN
    const uint64_t rest = 1 | (uint64_t)type << 32 | (uint64_t)id << 40;

    packet->base.index = offset;
    packet->base.offset = offset;
    memcpy((uint8_t *)packet + offsetof(struct tw_packet, size), &rest, sizeof rest);
#else
    packet->base = (struct tw_packet){
        .index = offset, .offset = offset, .size = 1, .type = type, .id = id
    };
#endif
    packet->has_reserved = false;
}

enum tw_status tw_etmv4_read(struct tw_etmv4_reader *reader, struct tw_etmv4_packet *packet,
                             const uint8_t *data, size_t size, bool is_last)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    const struct rule *rule;
    uint8_t head;

    if (TW_UNLIKELY(size == 0))
        return TW_MORE;
    head = *in.at++;
    rule = &rules[reader->rule[head]];
    begin(packet, reader->offset, reader->setup.id, rule->type);
    packet->cause = 0;
    if (TW_UNLIKELY(!reader->is_synced || reader->setup.is_data_stream))
        return hunt(reader, packet, data, size, is_last);
    rule->read(reader, &in, packet, head);
    if (TW_UNLIKELY(in.short_read))
        return cut(reader, packet, data, size, is_last);
    packet->base.size = (uint32_t)(in.at - data);
    reader->offset += packet->base.size;
    return TW_OK;
}

/* Atoms and frequent addresses, but for those of IS1, for as long as they come, at most `count` of
   them, for which there are bytes enough.  Returns where the next packet goes; `in` and the reader move
   on.  A function of its own, so that all it works with stays in registers. */
static TW_NOINLINE struct tw_etmv4_packet *read_frequent(struct tw_etmv4_reader *reader,
                                                         struct tw_etmv4_packet *packet,
                                                         size_t count, struct tw_bytes *in)
{
    const uint8_t *at = in->at;
    uint64_t offset = reader->offset;
    const uint8_t id = reader->setup.id;

    for (; count > 0; count--, packet++) {
        const size_t head = *at;
        const struct tw_atom_packet *atoms = &tw_etmv4_atoms[head];
        struct tw_bytes bytes = { .at = at + 1, .end = at + TW_ETMV4_FREQUENT_LONGEST };

        if (TW_LIKELY(atoms->count)) {
            begin(packet, offset, id, atoms->type);
            packet->atoms = atoms->bits;
            packet->atom_count = atoms->count;
            at++;
            offset++;
            continue;
        }
        if (head == TW_ETMV4_HEAD_SHORT) {
            begin(packet, offset, id, TW_ETMV4_ADDR_S_IS0);
            tw_etmv4_take_entry(reader, packet, tw_etmv4_short_entry(reader, &bytes, 0));
        } else if (tw_etmv4_is_match(head)) {
            begin(packet, offset, id, TW_ETMV4_ADDR_MATCH);
            tw_etmv4_take_match(reader, packet, (unsigned)head - TW_ETMV4_HEAD_MATCH);
        } else if (head == TW_ETMV4_HEAD_LONG_32) {
            begin(packet, offset, id, TW_ETMV4_ADDR_L_32IS0);
            tw_etmv4_take_entry(
                reader, packet,
                tw_etmv4_long_entry(reader, &bytes, TW_ETMV4_FORM_LONG, &packet->has_reserved));
        } else {
            break;
        }
        packet->base.size = (uint32_t)(bytes.at - at);
        offset += packet->base.size;
        at = bytes.at;
    }
    in->at = at;
    reader->offset = offset;
    return packet;
}

size_t tw_etmv4_read_batch(struct tw_etmv4_reader *reader, struct tw_etmv4_packet *packets,
                           size_t room, size_t *used, const uint8_t *data, size_t size)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    struct tw_etmv4_packet *packet = packets, *const end = packets + room;

    while (packet != end) {
        if (TW_LIKELY(reader->is_synced && !reader->setup.is_data_stream)) {
            const size_t safe = tw_bytes_left(&in) / TW_ETMV4_FREQUENT_LONGEST;
            const size_t left = (size_t)(end - packet);
            const size_t count = safe < left ? safe : left;
            const struct tw_etmv4_packet *const first = packet;

            packet = read_frequent(reader, packet, count, &in);
            if (count > 0 && (size_t)(packet - first) == count)
                continue;
        }
        if (tw_etmv4_read(reader, packet, in.at, tw_bytes_left(&in), false) != TW_OK)
            break;
        in.at += packet->base.size;
        packet++;
    }
    *used = (size_t)(in.at - data);
    return (size_t)(packet - packets);
}

enum tw_status tw_etmv4_reader_new(struct tw_etmv4_reader **reader,
                                   const struct tw_etmv4_config *config,
                                   const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_etmv4_config copy;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etmv4_config", fault));
    *reader = tw_take(allocator, sizeof **reader);
    if (!*reader)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_etmv4_reader_init(*reader, &copy);
    (*reader)->allocator = allocator;
    return TW_OK;
}

void tw_etmv4_reader_free(struct tw_etmv4_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}
