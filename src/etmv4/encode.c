/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: packets to bytes, the exact inverse of packet.c. */
#include "base/compiler.h"
#include "etmv4/packet.h"
#include "etmv4/payload.h"

/* Where a packet's header comes from: the first header of its type, to which fields are added. */
/* clang-format off */
static const uint8_t heads[TW_ETMV4_TYPES] = {
    [TW_ETMV4_TRACE_INFO] = 0x01,        [TW_ETMV4_TIMESTAMP] = 0x02,
    [TW_ETMV4_TRACE_ON] = 0x04,          [TW_ETMV4_FUNC_RET] = 0x05,
    [TW_ETMV4_EXCEPT] = 0x06,            [TW_ETMV4_TRANS_FAIL] = 0x06,
    [TW_ETMV4_PE_RESET] = 0x06,          [TW_ETMV4_EXCEPT_RTN] = 0x07,
    [TW_ETMV4_RESYNC] = 0x08,            [TW_ETMV4_ITE] = 0x09,
    [TW_ETMV4_TRANS_ST] = 0x0a,          [TW_ETMV4_TRANS_COMMIT] = 0x0b,
    [TW_ETMV4_CCNT_F2] = 0x0c,           [TW_ETMV4_CCNT_F1] = 0x0e,
    [TW_ETMV4_CCNT_F3] = 0x10,           [TW_ETMV4_NUM_DS_MKR] = 0x20,
    [TW_ETMV4_UNNUM_DS_MKR] = 0x28,      [TW_ETMV4_COMMIT] = 0x2d,
    [TW_ETMV4_CANCEL_F1] = 0x2e,         [TW_ETMV4_CANCEL_F1_MISPRED] = 0x2f,
    [TW_ETMV4_MISPREDICT] = 0x30,        [TW_ETMV4_CANCEL_F2] = 0x34,
    [TW_ETMV4_CANCEL_F3] = 0x38,         [TW_ETMV4_COND_I_F2] = 0x40,
    [TW_ETMV4_COND_FLUSH] = 0x43,        [TW_ETMV4_COND_RES_F4] = 0x44,
    [TW_ETMV4_COND_RES_F2] = 0x48,       [TW_ETMV4_COND_RES_F3] = 0x50,
    [TW_ETMV4_COND_RES_F1] = 0x68,       [TW_ETMV4_COND_I_F1] = 0x6c,
    [TW_ETMV4_COND_I_F3] = 0x6d,         [TW_ETMV4_IGNORE] = 0x70,
    [TW_ETMV4_EVENT] = 0x70,             [TW_ETMV4_CTXT] = 0x80,
    [TW_ETMV4_ADDR_CTXT_L_32IS0] = 0x82, [TW_ETMV4_ADDR_CTXT_L_32IS1] = 0x83,
    [TW_ETMV4_ADDR_CTXT_L_64IS0] = 0x85, [TW_ETMV4_ADDR_CTXT_L_64IS1] = 0x86,
    [TW_ETMV4_TS_MARKER] = 0x88,         [TW_ETMV4_ADDR_MATCH] = 0x90,
    [TW_ETMV4_ADDR_S_IS0] = 0x95,        [TW_ETMV4_ADDR_S_IS1] = 0x96,
    [TW_ETMV4_ADDR_L_32IS0] = 0x9a,      [TW_ETMV4_ADDR_L_32IS1] = 0x9b,
    [TW_ETMV4_ADDR_L_64IS0] = 0x9d,      [TW_ETMV4_ADDR_L_64IS1] = 0x9e,
    [TW_ETMV4_Q] = 0xa0,                 [TW_ETMV4_SRC_ADDR_MATCH] = 0xb0,
    [TW_ETMV4_SRC_ADDR_S_IS0] = 0xb4,    [TW_ETMV4_SRC_ADDR_S_IS1] = 0xb5,
    [TW_ETMV4_SRC_ADDR_L_32IS0] = 0xb6,  [TW_ETMV4_SRC_ADDR_L_32IS1] = 0xb7,
    [TW_ETMV4_SRC_ADDR_L_64IS0] = 0xb8,  [TW_ETMV4_SRC_ADDR_L_64IS1] = 0xb9,
};
/* clang-format on */

/* A number in `size` bytes (0: as few as possible) of at most `bytes_max`.  False: too large. */
static bool put_number(struct tw_writer *out, uint64_t value, unsigned size, unsigned bits,
                       unsigned bytes_max)
{
    if (value >> bits || size > bytes_max)
        return false;
    if (size == 0) {
        tw_write_uleb(out, value, bytes_max);
        return true;
    }
    if (size < bytes_max && value >> (7 * size))
        return false;
    tw_write_uleb_bits(out, value, 7 * size, bytes_max);
    return true;
}

static bool put_count32(struct tw_writer *out, uint32_t value, unsigned size)
{
    return put_number(out, value, size, 32, TW_ETMV4_COUNT32);
}

static bool put_trace_info(struct tw_writer *out, const struct tw_etmv4_packet *packet)
{
    const uint8_t sections = packet->sections;
    bool fits = sections <= 0x1f;

    tw_write_u8(out, sections);
    if (sections & TW_ETMV4_INFO)
        fits &= put_count32(out, packet->info, packet->info_size);
    if (sections & TW_ETMV4_KEY)
        fits &= put_count32(out, packet->key, packet->key_size);
    if (sections & TW_ETMV4_SPEC)
        fits &= put_count32(out, packet->spec, packet->spec_size);
    if (sections & TW_ETMV4_CYCT)
        fits &=
            put_number(out, packet->threshold, packet->threshold_size, 12, TW_ETMV4_COUNT12);
    if (sections & TW_ETMV4_WNDW)
        fits &= put_count32(out, packet->window, packet->window_size);
    return fits;
}

/* The low bytes of the timestamp; the reader has the rest.  Size 0: all of it, without the zeros
   at the top if it is the first one (all bits replaced). */
static bool put_timestamp(struct tw_writer *out, const struct tw_etmv4_packet *packet)
{
    unsigned bits = packet->timestamp_size * 7u;

    if (packet->timestamp_size > TW_ETMV4_TIMESTAMP_BYTES)
        return false;
    if (packet->timestamp_size == 0)
        bits = packet->timestamp_bits ? packet->timestamp_bits : 64;
    if (packet->timestamp_size == 0 && bits >= 64)
        tw_write_uleb(out, packet->timestamp, TW_ETMV4_TIMESTAMP_BYTES);
    else
        tw_write_uleb_bits(out, packet->timestamp, bits, TW_ETMV4_TIMESTAMP_BYTES);
    return !packet->timestamp_has_count ||
           put_number(out, packet->timestamp_count, packet->timestamp_count_size, 20,
                      TW_ETMV4_COUNT20);
}

/* ETE tells some exceptions apart by their number, in the short form alone, and may have a byte for their address. */
static bool is_exception(const struct tw_etmv4_reader *reader,
                         const struct tw_etmv4_packet *packet, bool is_extended)
{
    const bool is_named = reader->setup.is_ete && !is_extended;

    switch (packet->base.type) {
    case TW_ETMV4_PE_RESET:
        return is_named && packet->exception == 0;
    case TW_ETMV4_TRANS_FAIL:
        return is_named && packet->exception == 0x18;
    default:
        return !packet->is_unknown_address &&
               !(is_named && (packet->exception == 0 || packet->exception == 0x18));
    }
}

static bool put_exception(const struct tw_etmv4_reader *reader, struct tw_writer *out,
                          const struct tw_etmv4_packet *packet)
{
    const bool is_extended =
        packet->is_extended || packet->exception > 0x1f || packet->fault_pending;

    tw_write_u8(out, (uint8_t)((packet->exception & 0x1f) << 1 | (packet->interpretation & 1) |
                               (packet->interpretation & 2) << 5 | is_extended << 7));
    if (is_extended)
        tw_write_u8(out, (uint8_t)(packet->exception >> 5 | packet->fault_pending << 5));
    if (packet->is_unknown_address)
        tw_write_u8(out, 0x70);
    return packet->exception <= 0x3ff && packet->interpretation <= 3 &&
           is_exception(reader, packet, is_extended);
}

/* The configuration alone says whether counts carry a commit. */
static bool has_its_commit(const struct tw_etmv4_reader *reader,
                           const struct tw_etmv4_packet *packet)
{
    return packet->has_commit != reader->setup.commopt;
}

static bool put_cycles_1(struct tw_writer *out, const struct tw_etmv4_packet *packet)
{
    if (packet->has_commit && !put_count32(out, packet->commit, packet->commit_size))
        return false;
    return packet->is_unknown ||
           put_number(out, packet->count, packet->count_size, 20, TW_ETMV4_COUNT20);
}

/* The commit field of formats 2 and 3, as sent. */
static uint32_t commit_field(const struct tw_etmv4_reader *reader,
                             const struct tw_etmv4_packet *packet)
{
    if (!packet->has_commit)
        return packet->commit;
    return packet->is_from_maximum && packet->base.type == TW_ETMV4_CCNT_F2
               ? packet->commit - reader->setup.max_spec + 15
               : packet->commit - 1;
}

static bool put_cond_groups(struct tw_writer *out, const struct tw_etmv4_packet *packet)
{
    for (unsigned i = 0; i < packet->result_count; i++) {
        uint64_t rest = packet->result_key[i] >> 3;
        unsigned left = packet->result_size[i];

        if (packet->result[i] > 0xf || packet->result_ci[i] > 1 || left > 6)
            return false;
        if (left == 0)
            for (left = 1; rest >> (7 * (left - 1)); left++)
                ;
        if (rest >> (7 * (left - 1)))
            return false;
        tw_write_u8(out, (uint8_t)(packet->result[i] | (packet->result_key[i] & 7) << 4 |
                                   (left > 1 ? 0x80u : 0)));
        for (; left > 1; left--, rest >>= 7)
            tw_write_u8(out, (uint8_t)((rest & 0x7f) | (left > 2 ? 0x80u : 0)));
    }
    return true;
}

static bool put_short(struct tw_writer *out, const struct tw_etmv4_packet *packet,
                      unsigned sub_isa)
{
    const unsigned shift = 2 - sub_isa;
    const unsigned bits = packet->address_bits;
    const uint64_t low = packet->address >> shift;

    if ((bits != 7 + shift && bits != 15 + shift) || low << shift != packet->address)
        return false;
    if (bits == 7 + shift) {
        tw_write_u8(out, low & 0x7f);
        return true;
    }
    tw_write_u8(out, (low & 0x7f) | 0x80);
    tw_write_u8(out, (uint8_t)(low >> 7));
    return true;
}

static bool put_long(struct tw_writer *out, const struct tw_etmv4_packet *packet, unsigned form)
{
    const uint64_t address = packet->address;

    if (form & TW_ETMV4_FORM_IS1) {
        tw_write_u8(out, address >> 1 & 0x7f);
        tw_write_u8(out, (uint8_t)(address >> 8));
    } else {
        tw_write_u8(out, address >> 2 & 0x7f);
        tw_write_u8(out, address >> 9 & 0x7f);
    }
    tw_write_le(out, address >> 16, form & TW_ETMV4_FORM_64 ? 6 : 2);
    return (address & (form & TW_ETMV4_FORM_IS1 ? 1 : 3)) == 0;
}

/* Whether an identifier that a packet has needs no more than so many bytes. */
static bool fits(bool is_there, uint32_t value, unsigned bytes)
{
    return !is_there || bytes >= 4 || !(value >> 8 * bytes);
}

static bool put_context(const struct tw_etmv4_reader *reader, struct tw_writer *out,
                        const struct tw_etmv4_packet *packet)
{
    tw_write_u8(out, (uint8_t)((packet->el & 3) | packet->nse << 3 | packet->sf << 4 |
                               packet->ns << 5 | packet->has_vmid << 6 | packet->has_cid << 7));
    if (packet->has_vmid)
        tw_write_le(out, packet->vmid, reader->setup.vmid_bytes);
    if (packet->has_cid)
        tw_write_le(out, packet->cid, reader->setup.cid_bytes);
    return packet->el <= 3 && fits(packet->has_vmid, packet->vmid, reader->setup.vmid_bytes) &&
           fits(packet->has_cid, packet->cid, reader->setup.cid_bytes);
}

static bool put_address(const struct tw_etmv4_reader *reader, struct tw_writer *out,
                        const struct tw_etmv4_packet *packet)
{
    const unsigned form = tw_etmv4_forms[packet->base.type];

    tw_write_u8(out, heads[packet->base.type]);
    if (form & TW_ETMV4_FORM_SHORT)
        return put_short(out, packet, form & TW_ETMV4_FORM_IS1);
    return put_long(out, packet, form) &&
           (!(form & TW_ETMV4_FORM_CONTEXT) || put_context(reader, out, packet));
}

static bool put_q(struct tw_writer *out, const struct tw_etmv4_packet *packet)
{
    switch (packet->q_type) {
    case 0x5:
    case 0x6:
        if (!put_short(out, packet, packet->q_type - 5u))
            return false;
        break;
    case 0xa:
    case 0xb:
        if (!put_long(out, packet, packet->q_type - 0xau))
            return false;
        break;
    case 0x0:
    case 0x1:
    case 0x2:
    case 0xc:
        break;
    case 0xf:
        return true;
    default:
        return false;
    }
    return put_count32(out, packet->q_count, packet->q_count_size);
}

/* 0xff: no such pattern.  Each of the two types cancels as much as its name says. */
static unsigned mispredict_code(const struct tw_etmv4_packet *packet)
{
    if (packet->cancel != (packet->base.type == TW_ETMV4_CANCEL_F2))
        return 0xff;
    switch (packet->atom_count) {
    case 0:
        return packet->atoms == 0 ? 0 : 0xff;
    case 1:
        return packet->atoms == 1 ? 1 : packet->atoms == 0 ? 3 : 0xff;
    case 2:
        return packet->atoms == 3 ? 2 : 0xff;
    default:
        return 0xff;
    }
}

/* The header of atoms; formats overlap, so the type decides.  0: there is none. */
static unsigned atom_head(const struct tw_etmv4_packet *packet)
{
    static const struct {
        uint8_t first, last;
    } ranges[] = {
        { 0xf6, 0xf7 }, { 0xd8, 0xdb }, { 0xf8, 0xff }, { 0xdc, 0xdf }, { 0xd5, 0xd7 }
    };
    const unsigned format = packet->base.type - (unsigned)TW_ETMV4_ATOM_F1;

    if (format == 5) {
        const unsigned count = packet->atom_count;
        const uint32_t ones = (uint32_t)(((uint64_t)1 << (count & 31)) - 1);

        if (count < 4 || count > 24)
            return 0;
        return packet->atoms == ones        ? 0xc0 + count - 4
               : packet->atoms == ones >> 1 ? 0xe0 + count - 4
                                            : 0;
    }
    if (format == 4 && packet->atoms == tw_etmv4_atoms[0xf5].bits && packet->atom_count == 5)
        return 0xf5;
    for (unsigned head = ranges[format].first; head <= ranges[format].last; head++)
        if (tw_etmv4_atoms[head].bits == packet->atoms &&
            tw_etmv4_atoms[head].count == packet->atom_count)
            return head;
    return 0;
}

/* Packets that are one byte: the header with its fields; 0: it cannot be written. */
static unsigned single_head(const struct tw_etmv4_reader *reader,
                            const struct tw_etmv4_packet *packet)
{
    const uint8_t type = packet->base.type;
    const unsigned head = heads[type];
    unsigned code;

    switch (type) {
    case TW_ETMV4_CCNT_F3:
        code = commit_field(reader, packet);
        return code <= 3 && packet->count <= 3 && has_its_commit(reader, packet)
                   ? head | code << 2 | packet->count
                   : 0;
    case TW_ETMV4_NUM_DS_MKR:
        return packet->number <= 7 ? head | packet->number : 0;
    case TW_ETMV4_UNNUM_DS_MKR:
        return packet->number <= 4 ? head | packet->number : 0;
    case TW_ETMV4_EVENT:
        return packet->number >= 1 && packet->number <= 15 ? head | packet->number : 0;
    case TW_ETMV4_MISPREDICT:
    case TW_ETMV4_CANCEL_F2:
        code = mispredict_code(packet);
        return code <= 3 ? head | code : 0;
    case TW_ETMV4_CANCEL_F3:
        code = packet->cancel - 2;
        if (code > 3 || packet->atom_count > 1 || packet->atoms != packet->atom_count)
            return 0;
        return head | code << 1 | packet->atom_count;
    case TW_ETMV4_COND_I_F2:
        if (packet->cond_count == 2)
            return packet->cond_increment ? 0x42 : 0;
        return packet->cond_count != 1 ? 0 : packet->cond_increment ? 0x40 : 0x41;
    case TW_ETMV4_COND_RES_F4:
        return packet->token <= 2 ? head | packet->token : 0;
    case TW_ETMV4_COND_RES_F2:
        return packet->token <= 2 && packet->result_increment - 1u <= 1
                   ? head | packet->token | (packet->result_increment - 1u) << 2
                   : 0;
    case TW_ETMV4_ADDR_MATCH:
    case TW_ETMV4_SRC_ADDR_MATCH:
        return packet->match < TW_ETMV4_HISTORY ? head | packet->match : 0;
    default:
        return head;
    }
}

/* Header and payload of the packets that are neither addresses nor single bytes. */
static bool put_counted(const struct tw_etmv4_reader *reader, struct tw_writer *out,
                        const struct tw_etmv4_packet *packet)
{
    const uint8_t head = heads[packet->base.type];
    uint32_t field;

    switch (packet->base.type) {
    case TW_ETMV4_TIMESTAMP:
        tw_write_u8(out, head | packet->timestamp_has_count);
        return put_timestamp(out, packet);
    case TW_ETMV4_CCNT_F1:
        tw_write_u8(out, head | packet->is_unknown);
        return has_its_commit(reader, packet) && put_cycles_1(out, packet);
    case TW_ETMV4_CCNT_F2:
        field = commit_field(reader, packet);
        tw_write_u8(out, head | packet->is_from_maximum);
        tw_write_u8(out, (uint8_t)(field << 4 | packet->count));
        return field <= 0xf && packet->count <= 0xf && has_its_commit(reader, packet);
    case TW_ETMV4_COMMIT:
        tw_write_u8(out, head);
        return put_count32(out, packet->commit, packet->commit_size);
    case TW_ETMV4_CANCEL_F1:
    case TW_ETMV4_CANCEL_F1_MISPRED:
        tw_write_u8(out, head);
        return put_count32(out, packet->cancel, packet->commit_size);
    case TW_ETMV4_COND_I_F1:
        tw_write_u8(out, head);
        return packet->cond_count == 1 &&
               put_count32(out, packet->cond_key, packet->cond_key_size);
    case TW_ETMV4_COND_I_F3:
        field = (uint32_t)packet->cond_count - packet->cond_final;
        tw_write_u8(out, head);
        tw_write_u8(out, (uint8_t)(field << 1 | packet->cond_final));
        return field <= 0x3f;
    case TW_ETMV4_COND_RES_F3:
        tw_write_u8(out, (uint8_t)(head | packet->tokens >> 8));
        tw_write_u8(out, (uint8_t)packet->tokens);
        return packet->tokens <= 0xfff;
    case TW_ETMV4_COND_RES_F1:
        if (packet->result_count - 1u > 1)
            return false;
        tw_write_u8(out,
                    (uint8_t)((packet->result_count == 2 ? 0x68 : 0x6e) | packet->result_ci[0] |
                              (packet->result_count == 2 ? packet->result_ci[1] << 1 : 0)));
        return put_cond_groups(out, packet);
    case TW_ETMV4_Q:
        tw_write_u8(out, head | (packet->q_type & 0xf));
        return put_q(out, packet);
    default:
        return false;
    }
}

static bool put_extension(const struct tw_etmv4_reader *reader, struct tw_writer *out,
                          const struct tw_etmv4_packet *packet)
{
    size_t zeros = TW_ETMV4_ASYNC_ZEROS;

    switch (packet->base.type) {
    case TW_ETMV4_ASYNC:
        if (packet->base.size > TW_ETMV4_ASYNC_SIZE)
            zeros = packet->base.size - 1;
        if (zeros >= TW_ETMV4_ASYNC_LONGEST ||
            (reader->setup.is_data_stream && zeros > TW_ETMV4_ASYNC_ZEROS))
            return false; /* in a data stream more zeros are data */
        while (zeros--)
            tw_write_u8(out, 0);
        tw_write_u8(out, 0x80);
        return true;
    case TW_ETMV4_DISCARD:
        tw_write_le(out, 0x0300, 2);
        return true;
    case TW_ETMV4_OVERFLOW:
        tw_write_le(out, 0x0500, 2);
        return true;
    default:
        tw_write_le(out, 0x0700, 2);
        return true;
    }
}

static bool put_packet(const struct tw_etmv4_reader *reader, struct tw_writer *out,
                       const struct tw_etmv4_packet *packet)
{
    const uint8_t type = packet->base.type;
    unsigned head;

    if (type >= TW_ETMV4_TYPES || !reader->has[type])
        return false;
    if (tw_etmv4_forms[type])
        return put_address(reader, out, packet);
    switch (type) {
    case TW_ETMV4_ASYNC:
    case TW_ETMV4_DISCARD:
    case TW_ETMV4_OVERFLOW:
    case TW_ETMV4_BF_FLUSH:
        return put_extension(reader, out, packet);
    case TW_ETMV4_TRACE_INFO:
        tw_write_u8(out, heads[type]);
        return put_trace_info(out, packet);
    case TW_ETMV4_EXCEPT:
    case TW_ETMV4_PE_RESET:
    case TW_ETMV4_TRANS_FAIL:
        tw_write_u8(out, heads[type]);
        return put_exception(reader, out, packet);
    case TW_ETMV4_ITE:
        tw_write_u8(out, heads[type]);
        tw_write_u8(out, packet->value_el & 3);
        tw_write_le(out, packet->value, 8);
        return packet->value_el <= 3;
    case TW_ETMV4_CTXT:
        tw_write_u8(out, heads[type] | packet->has_context);
        return !packet->has_context || put_context(reader, out, packet);
    case TW_ETMV4_TIMESTAMP:
    case TW_ETMV4_CCNT_F1:
    case TW_ETMV4_CCNT_F2:
    case TW_ETMV4_COMMIT:
    case TW_ETMV4_CANCEL_F1:
    case TW_ETMV4_CANCEL_F1_MISPRED:
    case TW_ETMV4_COND_I_F1:
    case TW_ETMV4_COND_I_F3:
    case TW_ETMV4_COND_RES_F1:
    case TW_ETMV4_COND_RES_F3:
    case TW_ETMV4_Q:
        return put_counted(reader, out, packet);
    case TW_ETMV4_ATOM_F1:
    case TW_ETMV4_ATOM_F2:
    case TW_ETMV4_ATOM_F3:
    case TW_ETMV4_ATOM_F4:
    case TW_ETMV4_ATOM_F5:
    case TW_ETMV4_ATOM_F6:
        head = atom_head(packet);
        break;
    default:
        head = single_head(reader, packet);
        break;
    }
    tw_write_u8(out, (uint8_t)head);
    return head != 0;
}

enum tw_status tw_etmv4_write(struct tw_etmv4_reader *writer, uint8_t *out, size_t *size,
                              const struct tw_etmv4_packet *packet)
{
    struct tw_writer to = { .at = out, .end = out + *size };

    if (!put_packet(writer, &to, packet))
        return TW_E_ARGUMENT;
    *size = (size_t)(to.at - out) + to.missing;
    return to.missing ? TW_E_ROOM : TW_OK;
}
