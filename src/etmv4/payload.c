/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: what follows the header byte of each packet. */
#include "etmv4/payload.h"

/* clang-format off */
enum {
    IS1 = TW_ETMV4_FORM_IS1,
    LONG64 = TW_ETMV4_FORM_64,
    CONTEXT = TW_ETMV4_FORM_CONTEXT,
    LONG = TW_ETMV4_FORM_LONG,
    SHORT = TW_ETMV4_FORM_SHORT
};

const uint8_t tw_etmv4_forms[TW_ETMV4_TYPES] = {
    [TW_ETMV4_ADDR_CTXT_L_32IS0] = CONTEXT | LONG,
    [TW_ETMV4_ADDR_CTXT_L_32IS1] = CONTEXT | LONG | IS1,
    [TW_ETMV4_ADDR_CTXT_L_64IS0] = CONTEXT | LONG | LONG64,
    [TW_ETMV4_ADDR_CTXT_L_64IS1] = CONTEXT | LONG | LONG64 | IS1,
    [TW_ETMV4_ADDR_S_IS0] = SHORT,
    [TW_ETMV4_ADDR_S_IS1] = SHORT | IS1,
    [TW_ETMV4_ADDR_L_32IS0] = LONG,
    [TW_ETMV4_ADDR_L_32IS1] = LONG | IS1,
    [TW_ETMV4_ADDR_L_64IS0] = LONG | LONG64,
    [TW_ETMV4_ADDR_L_64IS1] = LONG | LONG64 | IS1,
    [TW_ETMV4_SRC_ADDR_S_IS0] = SHORT,
    [TW_ETMV4_SRC_ADDR_S_IS1] = SHORT | IS1,
    [TW_ETMV4_SRC_ADDR_L_32IS0] = LONG,
    [TW_ETMV4_SRC_ADDR_L_32IS1] = LONG | IS1,
    [TW_ETMV4_SRC_ADDR_L_64IS0] = LONG | LONG64,
    [TW_ETMV4_SRC_ADDR_L_64IS1] = LONG | LONG64 | IS1,
};
/* clang-format on */

/* A number in at most `bytes` bytes, of which `bits` bits count; *taken: bytes it took. */
static uint32_t get_number(struct tw_bytes *in, uint8_t *taken, bool *reserved, unsigned bytes,
                           unsigned bits)
{
    const uint8_t *start = in->at;
    const uint64_t value = tw_bytes_uleb(in, bytes, NULL);

    *taken = (uint8_t)(in->at - start);
    if (value >> bits)
        *reserved = true;
    return (uint32_t)(value & (((uint64_t)1 << bits) - 1));
}

static uint32_t get_count32(struct tw_bytes *in, uint8_t *taken, bool *reserved)
{
    return get_number(in, taken, reserved, TW_ETMV4_COUNT32, 32);
}

static void turn_bad(struct tw_etmv4_packet *out, enum tw_etmv4_type type)
{
    out->cause = out->base.type;
    out->base.type = (uint8_t)type;
}

void tw_etmv4_read_resync(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head)
{
    (void)in;
    (void)out;
    (void)head;
    tw_etmv4_reader_lost(reader);
}

/* Zeros and what ends them.  Eleven or more, then 80: A-sync.  A run that does not end well is
   given out 12 bytes at a time, so that an A-sync at its end is still found. */
static void read_zeros(struct tw_bytes *in, struct tw_etmv4_packet *out)
{
    const uint8_t *start = in->at - 1;
    size_t zeros = 1;

    while (zeros < TW_ETMV4_ASYNC_LONGEST && in->at < in->end && *in->at == 0) {
        in->at++;
        zeros++;
    }
    if (zeros < TW_ETMV4_ASYNC_LONGEST) {
        if (in->at == in->end) {
            in->short_read = true;
            return;
        }
        if (zeros >= TW_ETMV4_ASYNC_ZEROS && *in->at == 0x80) {
            in->at++;
            out->base.type = TW_ETMV4_ASYNC;
            return;
        }
    }
    out->base.type = TW_ETMV4_ASYNC;
    turn_bad(out, TW_ETMV4_BAD_SEQUENCE);
    in->at = zeros >= TW_ETMV4_ASYNC_SIZE ? start + TW_ETMV4_ASYNC_SIZE : in->at + 1;
}

void tw_etmv4_read_extension(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head)
{
    (void)head;
    if (in->at < in->end && *in->at == 0) {
        read_zeros(in, out);
        return;
    }
    switch (tw_bytes_u8(in)) {
    case 0x03:
        out->base.type = TW_ETMV4_DISCARD;
        return;
    case 0x05:
        out->base.type = TW_ETMV4_OVERFLOW;
        return;
    case 0x07:
        if (tw_etmv4_has_flush(&reader->setup)) {
            out->base.type = TW_ETMV4_BF_FLUSH;
            return;
        }
        break;
    default:
        break;
    }
    turn_bad(out, TW_ETMV4_BAD_SEQUENCE);
}

/* Control bytes say which sections follow; what further control bytes mean is not defined. */
void tw_etmv4_read_trace_info(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                              struct tw_etmv4_packet *out, uint8_t head)
{
    enum { EXTRA_MAX = 4 };
    uint8_t control = tw_bytes_u8(in);
    bool *reserved = &out->has_reserved;

    (void)head;
    out->info = out->key = out->spec = out->threshold = out->window = 0;
    out->info_size = out->key_size = out->spec_size = out->threshold_size = 0;
    out->window_size = 0;
    out->sections = control & 0x1f;
    *reserved = (control & 0xe0) != 0;
    for (unsigned i = 0; control & 0x80; i++) {
        control = tw_bytes_u8(in);
        if (i == EXTRA_MAX - 1 && control & 0x80) {
            turn_bad(out, TW_ETMV4_BAD_SEQUENCE);
            return;
        }
    }
    if (out->sections & TW_ETMV4_INFO)
        out->info = get_count32(in, &out->info_size, reserved);
    if (out->sections & TW_ETMV4_KEY)
        out->key = get_count32(in, &out->key_size, reserved);
    if (out->sections & TW_ETMV4_SPEC)
        out->spec = get_count32(in, &out->spec_size, reserved);
    if (out->sections & TW_ETMV4_CYCT)
        out->threshold = get_number(in, &out->threshold_size, reserved, TW_ETMV4_COUNT12, 12);
    if (out->sections & TW_ETMV4_WNDW)
        out->window = get_count32(in, &out->window_size, reserved);
    if (in->short_read)
        return;
    out->is_initial = !reader->has_trace_info;
    reader->has_trace_info = true;
    reader->has_timestamp = false;
    reader->timestamp = 0;
    reader->threshold = out->threshold;
    reader->sf = false;
    tw_etmv4_history_clear(reader->history);
}

void tw_etmv4_read_timestamp(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head)
{
    const uint8_t *start = in->at;
    unsigned bits;
    const uint64_t low = tw_bytes_uleb(in, TW_ETMV4_TIMESTAMP_BYTES, &bits);

    out->timestamp_size = (uint8_t)(in->at - start);
    out->timestamp = tw_replace_low(reader->timestamp, low, bits);
    out->timestamp_has_count = head & 1;
    out->timestamp_count = 0;
    if (head & 1)
        out->timestamp_count = get_number(in, &out->timestamp_count_size, &out->has_reserved,
                                          TW_ETMV4_COUNT20, 20);
    if (in->short_read)
        return;
    /* The first one after Trace Info replaces all: what it does not carry is 0. */
    if (reader->has_trace_info && !reader->has_timestamp)
        bits = 64;
    out->timestamp_bits = (uint8_t)bits;
    reader->has_timestamp = true;
    reader->timestamp = out->timestamp;
}

/* PE Reset and Transaction Failure of ETE may have byte 70 for an address that is not known. */
static void read_unknown_address(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                 struct tw_etmv4_packet *out)
{
    out->base.type = out->exception ? TW_ETMV4_TRANS_FAIL : TW_ETMV4_PE_RESET;
    if (in->at == in->end)
        in->short_read = true;
    else if (*in->at == 0x70) {
        in->at++;
        out->is_unknown_address = true;
        tw_etmv4_push(reader->history, (struct tw_etmv4_entry){ .bits = 64, .width = 64 });
    }
}

/* Its address packet is the next packet. */
void tw_etmv4_read_exception(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head)
{
    const uint8_t info = tw_bytes_u8(in);

    (void)head;
    out->exception = (info >> 1) & 0x1f;
    out->interpretation = (uint8_t)((info & 0x40) >> 5 | (info & 1));
    out->is_m_profile = reader->setup.profile == TW_PROFILE_M;
    out->fault_pending = false;
    out->is_extended = (info & 0x80) != 0;
    out->is_unknown_address = false;
    if (out->is_extended) {
        const uint8_t more = tw_bytes_u8(in);

        out->exception = (uint16_t)(out->exception | (more & 0x1f) << 5);
        out->fault_pending = (more & 0x20) != 0;
        out->has_reserved = (more & 0xc0) != 0;
    } else if (reader->setup.is_ete && !in->short_read &&
               (out->exception == 0 || out->exception == 0x18)) {
        read_unknown_address(reader, in, out);
    }
}

void tw_etmv4_read_instrumentation(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                   struct tw_etmv4_packet *out, uint8_t head)
{
    const uint8_t el = tw_bytes_u8(in);

    (void)reader;
    (void)head;
    out->value_el = el & 3;
    out->has_reserved = (el & 0xfc) != 0;
    out->value = tw_bytes_le(in, 8);
}

static void clear_counts(struct tw_etmv4_packet *out)
{
    out->atoms = 0;
    out->atom_count = 0;
    out->mispredict = out->has_commit = out->is_unknown = out->is_from_maximum = false;
    out->commit = out->cancel = out->count = out->cycles = 0;
    out->count_size = out->commit_size = 0;
}

void tw_etmv4_read_cycles_1(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head)
{
    clear_counts(out);
    out->has_commit = !reader->setup.commopt;
    out->is_unknown = head & 1;
    if (out->has_commit)
        out->commit = get_count32(in, &out->commit_size, &out->has_reserved);
    if (out->is_unknown)
        return;
    out->count = get_number(in, &out->count_size, &out->has_reserved, TW_ETMV4_COUNT20, 20);
    out->cycles = out->count + reader->threshold;
}

void tw_etmv4_read_cycles_2(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head)
{
    const uint8_t byte = tw_bytes_u8(in);

    clear_counts(out);
    out->has_commit = !reader->setup.commopt;
    out->is_from_maximum = head & 1;
    out->commit = byte >> 4;
    if (out->has_commit)
        out->commit += out->is_from_maximum ? reader->setup.max_spec - 15 : 1;
    out->count = byte & 0xf;
    out->cycles = out->count + reader->threshold;
}

void tw_etmv4_read_cycles_3(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head)
{
    (void)in;
    clear_counts(out);
    out->has_commit = !reader->setup.commopt;
    out->commit = (head >> 2) & 3;
    if (out->has_commit)
        out->commit++;
    out->count = head & 3;
    out->cycles = out->count + reader->threshold;
}

void tw_etmv4_read_commit(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    (void)head;
    clear_counts(out);
    out->has_commit = true;
    out->commit = get_count32(in, &out->commit_size, &out->has_reserved);
}

void tw_etmv4_read_cancel_1(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    clear_counts(out);
    out->mispredict = head & 1;
    out->cancel = get_count32(in, &out->commit_size, &out->has_reserved);
}

/* Mispredict and Cancel F2: nothing, E, E E or N first. */
void tw_etmv4_read_mispredict(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                              struct tw_etmv4_packet *out, uint8_t head)
{
    static const uint8_t bits[4] = { 0, 1, 3, 0 }, counts[4] = { 0, 1, 2, 1 };

    (void)reader;
    (void)in;
    clear_counts(out);
    out->atoms = bits[head & 3];
    out->atom_count = counts[head & 3];
    out->mispredict = true;
    out->cancel = (head >> 2) & 1;
}

void tw_etmv4_read_cancel_3(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    clear_counts(out);
    out->atoms = out->atom_count = head & 1;
    out->mispredict = true;
    out->cancel = ((head >> 1) & 3) + 2u;
}

void tw_etmv4_read_number(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    out->number = out->base.type == TW_ETMV4_EVENT ? head & 0xf : head & 7;
}

void tw_etmv4_read_cond_instruction(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                    struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    out->cond_key = 0;
    out->cond_key_size = 0;
    out->cond_count = 1;
    out->cond_has_key = out->cond_final = out->cond_increment = false;
    if (head == 0x6c) {
        out->cond_has_key = true;
        out->cond_key = get_count32(in, &out->cond_key_size, &out->has_reserved);
    } else if (head == 0x6d) {
        const uint8_t byte = tw_bytes_u8(in);

        out->cond_final = byte & 1;
        out->cond_increment = true;
        out->cond_count = (uint8_t)((byte >> 1 & 0x3f) + (byte & 1));
        out->has_reserved = (byte & 0x80) != 0;
    } else {
        out->cond_increment = head != 0x41;
        out->cond_count = head == 0x42 ? 2 : 1;
    }
}

/* A result and its key: 3 key bits beside the result, then 7 in each further byte. */
static void read_cond_group(struct tw_bytes *in, struct tw_etmv4_packet *out, unsigned i)
{
    enum { FIRST = 3, EACH = 7, MOST = FIRST + 5 * EACH }; /* bits of the key */
    const uint8_t *start = in->at;
    uint8_t byte = tw_bytes_u8(in);
    uint64_t key = (byte >> 4) & 7;
    unsigned shift = FIRST;

    out->result[i] = byte & 0xf;
    while (byte & 0x80 && shift < MOST && !in->short_read) {
        byte = tw_bytes_u8(in);
        key |= (uint64_t)(byte & 0x7f) << shift;
        shift += EACH;
    }
    if (key > UINT32_MAX || byte & 0x80)
        out->has_reserved = true;
    out->result_key[i] = (uint32_t)key;
    out->result_size[i] = (uint8_t)(in->at - start);
}

void tw_etmv4_read_cond_result(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                               struct tw_etmv4_packet *out, uint8_t head)
{
    (void)reader;
    for (unsigned i = 0; i < 2; i++) {
        out->result_key[i] = 0;
        out->result[i] = out->result_ci[i] = out->result_size[i] = 0;
    }
    out->result_count = out->result_increment = out->token = 0;
    out->tokens = 0;
    switch (out->base.type) {
    case TW_ETMV4_COND_RES_F1:
        out->result_count = head < 0x6c ? 2 : 1;
        for (unsigned i = 0; i < out->result_count; i++) {
            out->result_ci[i] = (head >> i) & 1;
            read_cond_group(in, out, i);
        }
        break;
    case TW_ETMV4_COND_RES_F2:
        out->result_increment = head & 4 ? 2 : 1;
        out->token = head & 3;
        break;
    case TW_ETMV4_COND_RES_F3:
        out->tokens = (uint16_t)((head & 0xf) << 8 | tw_bytes_u8(in));
        break;
    default:
        out->token = head & 3;
        break;
    }
}

static void clear_context(struct tw_etmv4_packet *out)
{
    out->cid = out->vmid = 0;
    out->has_context = out->has_cid = out->has_vmid = false;
    out->el = 0;
    out->sf = out->ns = out->nse = false;
}

static void take_context(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out)
{
    struct tw_etmv4_context context;

    tw_etmv4_get_context(in, &context, &reader->setup);
    out->has_context = true;
    out->cid = context.cid;
    out->vmid = context.vmid;
    out->has_cid = context.has_cid;
    out->has_vmid = context.has_vmid;
    out->el = context.el;
    out->sf = context.sf;
    out->ns = context.ns;
    out->nse = context.nse;
    out->has_reserved |= context.has_reserved;
}

void tw_etmv4_read_context(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head)
{
    clear_context(out);
    if (!(head & 1))
        return;
    take_context(reader, in, out);
    if (!in->short_read)
        reader->sf = out->sf;
}

void tw_etmv4_read_match(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out, uint8_t head)
{
    (void)in;
    tw_etmv4_take_match(reader, out, head & 3);
}

void tw_etmv4_read_short(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out, uint8_t head)
{
    const struct tw_etmv4_entry entry =
        tw_etmv4_short_entry(reader, in, tw_etmv4_forms[out->base.type] & IS1);

    (void)head;
    if (!in->short_read)
        tw_etmv4_take_entry(reader, out, entry);
}

void tw_etmv4_read_long(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                        struct tw_etmv4_packet *out, uint8_t head)
{
    const unsigned form = tw_etmv4_forms[out->base.type];
    const struct tw_etmv4_entry entry =
        tw_etmv4_long_entry(reader, in, form, &out->has_reserved);

    (void)head;
    if (form & CONTEXT) {
        clear_context(out);
        take_context(reader, in, out);
    }
    if (in->short_read)
        return;
    if (form & CONTEXT)
        reader->sf = out->sf;
    tw_etmv4_take_entry(reader, out, entry);
}

void tw_etmv4_read_q(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                     struct tw_etmv4_packet *out, uint8_t head)
{
    struct tw_etmv4_entry entry = { 0 };

    out->q_type = head & 0xf;
    out->q_has_count = out->q_type != 0xf;
    out->q_has_address = out->q_type < 0xc;
    out->q_is_match = out->q_type < 3;
    out->q_count = 0;
    out->q_count_size = 0;
    out->match = 0;
    if (out->q_is_match) {
        out->match = out->q_type;
        entry = reader->history[out->match];
    } else if (out->q_type == 0x5 || out->q_type == 0x6) {
        entry = tw_etmv4_short_entry(reader, in, out->q_type - 5u);
    } else if (out->q_has_address) {
        entry = tw_etmv4_long_entry(reader, in, out->q_type - 0xau, &out->has_reserved);
    }
    if (out->q_has_count)
        out->q_count = get_count32(in, &out->q_count_size, &out->has_reserved);
    if (out->q_has_address && !in->short_read)
        tw_etmv4_take_entry(reader, out, entry);
}
