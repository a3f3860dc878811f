/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: what follows the header of each packet. */
#include "etmv3/payload.h"

const uint8_t tw_etmv3_deprecated[8] = { 8, 14, 6, 7, 5, 15, 4, 1 };

void tw_etmv3_read_bad(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                       struct tw_etmv3_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    (void)out;
    (void)head; /* the caller keeps it */
}

void tw_etmv3_read_head_only(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                             struct tw_etmv3_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    (void)out;
    (void)head;
}

void tw_etmv3_read_async(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                         struct tw_etmv3_packet *out, uint8_t head)
{
    (void)reader;
    if (!tw_armv7_get_async(in, head))
        out->base.type = TW_ETMV3_BAD_SEQUENCE;
}

static uint32_t get_count(struct tw_bytes *in, struct tw_etmv3_packet *out, uint8_t *size)
{
    const uint8_t *first = in->at;
    const uint64_t value = tw_bytes_uleb(in, TW_ETMV3_COUNT_BYTES, NULL);

    *size = (uint8_t)(in->at - first);
    out->has_reserved |= value > UINT32_MAX; /* the fifth byte has four bits */
    return (uint32_t)value;
}

/* The packet is whole: what it says goes for the next ones. */
static void keep(struct tw_etmv3_reader *reader, const struct tw_etmv3_packet *packet)
{
    reader->address = packet->is_in_progress ? packet->next_address : packet->address;
    reader->address_valid = packet->address_valid;
    reader->isa = packet->isa;
    reader->alt_isa = packet->alt_isa;
    reader->ns = packet->ns;
    reader->hyp = packet->hyp;
}

static void set_isync_address(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                              struct tw_etmv3_packet *out, uint8_t info)
{
    const uint32_t address = (uint32_t)tw_bytes_le(in, 4);
    const bool is_jazelle = (info & 0x10) != 0;
    struct tw_armv7_address next;

    out->has_address = true;
    out->address_bits = out->address_valid = 32;
    out->address = is_jazelle ? address : address & ~1u;
    out->isa = is_jazelle ? TW_ISA_JAZELLE
                          : tw_etmv3_isa(&reader->setup, address & 1 ? TW_ISA_T32 : TW_ISA_A32,
                                         out->alt_isa);
    out->isa_changed = out->isa != reader->isa;
    if (!(info & 0x80))
        return;
    out->is_in_progress = true;
    out->has_reserved |= in->at < in->end && !(*in->at & 1);
    tw_armv7_get_address(in, &next, out->address, out->isa, reader->setup.alternative);
    out->next_address = next.address;
    out->address_size = next.size;
    /* The instruction set cannot change between the two, and there is no exception. */
    if (next.is_bad ||
        (next.size == TW_ARMV7_ADDRESS_MAX &&
         (next.last & 0xc0 ||
          tw_etmv3_isa(&reader->setup, next.isa, out->alt_isa) != out->isa)) ||
        (reader->setup.alternative && next.size > 1 && next.last & 0x40))
        out->base.type = TW_ETMV3_BAD_SEQUENCE;
}

void tw_etmv3_read_isync(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                         struct tw_etmv3_packet *out, uint8_t head)
{
    uint8_t info;

    if (head == TW_ETMV3_HEAD_I_SYNC_CYCLE)
        out->cycles = get_count(in, out, &out->cycle_size);
    out->has_context_id = reader->setup.context_bytes != 0;
    out->context_id = (uint32_t)tw_bytes_le(in, reader->setup.context_bytes);
    info = tw_bytes_u8(in);
    out->reason = info >> 5 & 3;
    out->ns = (info & 0x08) != 0;
    out->alt_isa = (info & 0x04) != 0;
    out->hyp = (info & 0x02) != 0;
    out->has_reserved |= !(info & 1) || (reader->setup.data_only && (info & 0x90));
    out->isa = reader->isa;
    if (!reader->setup.data_only)
        set_isync_address(reader, in, out, info);
    if (in->short_read || out->base.type == TW_ETMV3_BAD_SEQUENCE)
        return;
    if (out->has_address)
        keep(reader, out);
    /* Tracing (re)starts: the data address is compressed against nothing known any more. */
    if (out->reason != TW_ETMV3_PERIODIC)
        reader->data_valid = 0;
}

/* Exception information: 1 to 3 bytes. */
static void get_info(struct tw_bytes *in, struct tw_etmv3_packet *out)
{
    uint8_t byte = tw_bytes_u8(in);

    out->has_state = true;
    out->info_size = 1;
    out->alt_isa = (byte & 0x40) != 0;
    out->cancels = (byte & 0x20) != 0;
    out->exception = byte >> 1 & 0xf;
    out->ns = byte & 1;
    if (!(byte & 0x80))
        return;
    byte = tw_bytes_u8(in);
    out->info_size++;
    if (!(byte & 0x40)) {
        out->has_second = true;
        out->hyp = (byte & 0x20) != 0;
        out->exception |= (uint16_t)((byte & 0x1f) << 4);
        if (!(byte & 0x80))
            return;
        byte = tw_bytes_u8(in);
        out->info_size++;
    }
    out->has_resume = true;
    out->resume = byte & 0xf;
    out->has_reserved |= (byte & 0x30) != 0;
    if ((byte & 0xc0) != 0x40) /* more than there can be */
        out->base.type = TW_ETMV3_BAD_SEQUENCE;
}

void tw_etmv3_read_branch(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                          struct tw_etmv3_packet *out, uint8_t head)
{
    const bool alternative = reader->setup.alternative;
    struct tw_armv7_address address;

    (void)head;
    in->at--; /* the header is the first byte of the address */
    tw_armv7_get_address(in, &address, reader->address, reader->isa, alternative);
    out->is_m_profile = reader->setup.profile == TW_PROFILE_M;
    out->address = address.address;
    out->address_bits = address.bits;
    out->address_size = address.size;
    out->address_valid =
        reader->address_valid > address.bits ? reader->address_valid : address.bits;
    out->ns = reader->ns;
    out->hyp = reader->hyp;
    out->alt_isa = reader->alt_isa;
    if (address.size == TW_ARMV7_ADDRESS_MAX && (address.last & 0x80)) {
        out->has_info = out->is_deprecated = true;
        out->exception = tw_etmv3_deprecated[address.last >> 3 & 7];
        out->cancels = (address.last & 0x40) != 0;
        if (alternative)
            address.is_bad = true;
    } else {
        out->has_info = (address.last & 0x40) && (address.size == TW_ARMV7_ADDRESS_MAX ||
                                                  (alternative && address.size > 1));
        if (out->has_info)
            get_info(in, out);
    }
    out->isa = tw_etmv3_isa(&reader->setup, address.isa, out->alt_isa);
    out->isa_changed = out->isa != reader->isa;
    if (in->short_read)
        return;
    if (address.is_bad)
        out->base.type = TW_ETMV3_BAD_SEQUENCE;
    if (out->base.type == TW_ETMV3_BRANCH_ADDRESS)
        keep(reader, out);
}

void tw_etmv3_read_p_header(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                            struct tw_etmv3_packet *out, uint8_t head)
{
    const struct tw_etmv3_atoms *atoms = &reader->atoms[head];

    (void)in;
    if (!atoms->is_legal) {
        out->base.type = TW_ETMV3_RESERVED;
        return;
    }
    out->atoms = atoms->bits;
    out->atom_count = atoms->count;
    out->format = atoms->format;
    out->header_cycles = atoms->cycles;
    out->header = head;
}

void tw_etmv3_read_count(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                         struct tw_etmv3_packet *out, uint8_t head)
{
    (void)reader;
    (void)head;
    out->count = get_count(in, out, &out->count_size);
}

void tw_etmv3_read_vmid(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                        struct tw_etmv3_packet *out, uint8_t head)
{
    (void)reader;
    (void)head;
    out->value = tw_bytes_u8(in);
}

void tw_etmv3_read_context(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                           struct tw_etmv3_packet *out, uint8_t head)
{
    (void)head;
    out->value = (uint32_t)tw_bytes_le(in, reader->setup.context_bytes);
}

void tw_etmv3_read_timestamp(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                             struct tw_etmv3_packet *out, uint8_t head)
{
    unsigned bits = 0;

    out->freq_changed = (head & 4) != 0;
    out->timestamp = tw_armv7_get_time(in, reader->timestamp, reader->setup.time_width, &bits);
    out->timestamp_bits = (uint8_t)bits;
    out->time = reader->setup.time_is_gray ? tw_gray_to_binary(out->timestamp) : out->timestamp;
    out->has_reserved = bits == 48 && (in->at[-1] & 0xc0);
    if (!in->short_read)
        reader->timestamp = out->timestamp;
}

/* Seven bits a byte; the fifth has four, and says whether the transfer is big-endian. */
static void get_data_address(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                             struct tw_etmv3_packet *out)
{
    uint32_t value = 0;
    unsigned bits = 0;
    uint8_t byte;

    out->has_data_address = true;
    do {
        byte = tw_bytes_u8(in);
        out->data_size++;
        if (out->data_size == TW_ETMV3_COUNT_BYTES) {
            value |= (uint32_t)(byte & 0xf) << 28;
            bits = 32;
            out->is_big_endian = (byte & 0x10) != 0;
            out->has_reserved |= (byte & 0xe0) != 0;
            break;
        }
        value |= (uint32_t)(byte & 0x7f) << bits;
        bits += 7;
    } while (byte & 0x80);
    out->data_address = (uint32_t)tw_replace_low(reader->data_address, value, bits);
    out->data_bits = (uint8_t)bits;
    out->data_valid = reader->data_valid > bits ? reader->data_valid : (uint8_t)bits;
}

void tw_etmv3_read_data(struct tw_etmv3_reader *reader, struct tw_bytes *in,
                        struct tw_etmv3_packet *out, uint8_t head)
{
    static const uint8_t sizes[4] = { 0, 1, 2, 4 };
    const uint8_t type = out->base.type;

    out->is_big_endian = reader->is_big_endian;
    out->data_valid = reader->data_valid;
    if (type == TW_ETMV3_OOO_DATA)
        out->tag = head >> 5 & 3;
    else if (type == TW_ETMV3_OOO_ADDR_PLC)
        out->tag = head >> 2 & 3;
    if (type != TW_ETMV3_OOO_DATA)
        out->is_first = (head & (type == TW_ETMV3_VAL_NOT_TRACED ? 0x10 : 0x20)) != 0;
    if (out->is_first && reader->setup.data_address)
        get_data_address(reader, in, out);
    if (type == TW_ETMV3_OOO_DATA || type == TW_ETMV3_NORM_DATA) {
        out->has_value = reader->setup.data_value;
        if (out->has_value) {
            out->value_size = sizes[head >> 2 & 3];
            out->data_value = (uint32_t)tw_bytes_le(in, out->value_size);
        } else {
            out->has_reserved |= (head & 0x0c) != 0; /* a size, but no values are traced */
        }
    }
    if (in->short_read || !out->has_data_address)
        return;
    reader->data_address = out->data_address;
    reader->data_valid = out->data_valid;
    reader->is_big_endian = out->is_big_endian;
}
