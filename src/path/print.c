/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements as lines: JSON for programs, text for people. */
#include "path/print.h"

static const char *word(const char *const *words, size_t count, unsigned value)
{
    return value < count ? words[value] : "?";
}

static const char *trace_on_word(unsigned value)
{
    static const char *const words[] = { "normal", "overflow", "debug_exit" };

    return word(words, TW_LENGTH(words), value);
}

static const char *event_word(unsigned value)
{
    static const char *const words[] = { "trigger",   "numbered", "notify", "flush",
                                         "trace_off", "lost",     "circuit" };

    return word(words, TW_LENGTH(words), value);
}

static const char *transaction_word(unsigned value)
{
    static const char *const words[] = { "init", "start", "commit", "fail" };

    return word(words, TW_LENGTH(words), value);
}

static const char *itm_word(unsigned value)
{
    static const char *const words[] = { "SWIT",      "DWT",          "TS_SYNC",
                                         "TS_DELAY",  "TS_PKT_DELAY", "TS_PKT_TS_DELAY",
                                         "TS_GLOBAL", "LOST" };

    return word(words, TW_LENGTH(words), value);
}

static const char *data_word(unsigned value)
{
    static const char *const words[] = { "load", "store", "csr_rw",  "csr_rs", "csr_rc",
                                         "swap", "add",   "and",     "or",     "xor",
                                         "max",  "min",   "sc_fail", "unknown" };

    return word(words, TW_LENGTH(words), value);
}

static unsigned flag(const struct tw_element *element, unsigned mask)
{
    return (element->flags & mask) != 0;
}

static void json_range(struct tw_text *out, const struct tw_element *e)
{
    tw_json_hex(out, "st", e->start);
    tw_json_hex(out, "en", tw_element_end(e));
    tw_json_u64(out, "n", e->count);
    tw_json_text(out, "isa", tw_isa_name(e->isa));
    tw_json_text(out, "lt", tw_last_kind_name(e->last_kind));
    tw_json_text(out, "ls", tw_last_sub_name(e->last_sub));
    tw_json_u64(out, "ex", flag(e, TW_RANGE_EXECUTED));
    tw_json_u64(out, "sz", 2u * e->last_size);
    tw_json_u64(out, "cond", flag(e, TW_RANGE_CONDITIONAL));
}

/* A context of RISC-V: hcontext or scontext. */
static uint64_t wide_context(const struct tw_element *e, unsigned format, uint32_t low)
{
    const bool is_sent = (e->flags & TW_CONTEXT_OWNERSHIP) && e->ownership == format;

    return is_sent ? (uint64_t)e->context_high << 32 | low : low;
}

static void json_context(struct tw_text *out, const struct tw_element *e)
{
    tw_json_text(out, "isa", tw_isa_name(e->isa));
    tw_json_u64(out, "bits", e->flags & TW_CONTEXT_64BIT ? 64 : 32);
    if (e->flags & TW_CONTEXT_HAS_PRIV) {
        tw_json_u64(out, "priv", e->el);
        if (e->flags & TW_CONTEXT_OWNERSHIP) {
            tw_json_u64(out, "v", e->is_virtual);
            tw_json_u64(out, "format", e->ownership);
        }
    } else {
        tw_json_text(out, "sec", tw_security_name(e->security));
        if (e->flags & TW_CONTEXT_HAS_EL)
            tw_json_u64(out, "el", e->el);
    }
    if (e->flags & TW_CONTEXT_HAS_VMID)
        tw_json_hex(out, "vmid", wide_context(e, 3, e->vmid));
    if (e->flags & TW_CONTEXT_HAS_CID)
        tw_json_hex(out, "cid", wide_context(e, 2, e->context_id));
}

static void json_exception(struct tw_text *out, const struct tw_element *e)
{
    const bool is_riscv = e->flags & TW_EXCEPTION_RISCV;

    if (!is_riscv || e->number != TW_CAUSE_UNKNOWN)
        tw_json_u64(out, "num", e->number);
    if (!is_riscv)
        tw_json_u64(out, "has_ret", flag(e, TW_EXCEPTION_HAS_RETURN));
    else if (e->kind == TW_TRAP_KNOWN)
        tw_json_u64(out, "interrupt", flag(e, TW_EXCEPTION_INTERRUPT));
    if (e->flags & TW_EXCEPTION_HAS_RETURN)
        tw_json_hex(out, "ret", e->return_address);
    if (is_riscv) {
        if (e->flags & TW_EXCEPTION_HAS_TVAL)
            tw_json_hex(out, "tval", e->tval);
        return;
    }
    tw_json_u64(out, "ret_is_br_tgt", flag(e, TW_EXCEPTION_RETURN_IS_TARGET));
    tw_json_u64(out, "data_marker", flag(e, TW_EXCEPTION_DATA_MARKER));
    tw_json_u64(out, "m_tail", flag(e, TW_EXCEPTION_TAIL_CHAIN));
}

static void json_software(struct tw_text *out, const struct tw_element *e)
{
    tw_json_u64(out, "id_valid", flag(e, TW_SW_HAS_ID));
    tw_json_u64(out, "master", e->master);
    tw_json_u64(out, "chan", e->channel);
    tw_json_u64(out, "bits", e->width);
    tw_json_u64(out, "npkt", e->packets);
    tw_json_u64(out, "marker", flag(e, TW_SW_MARKER));
    tw_json_u64(out, "has_ts", flag(e, TW_SW_HAS_TIME));
    tw_json_u64(out, "trig", flag(e, TW_SW_TRIGGER));
    tw_json_u64(out, "freq", flag(e, TW_SW_FREQ));
    tw_json_u64(out, "merr", flag(e, TW_SW_MASTER_ERROR));
    tw_json_u64(out, "gerr", flag(e, TW_SW_GLOBAL_ERROR));
    if (e->width)
        tw_json_hex(out, "data", e->payload);
    if (e->flags & TW_SW_HAS_TIME)
        tw_json_hex(out, "ts", e->sw_time);
}

static void json_itm(struct tw_text *out, const struct tw_element *e)
{
    tw_json_text(out, "kind", itm_word(e->kind));
    tw_json_u64(out, "overflow", flag(e, TW_ITM_OVERFLOW));
    if (e->kind == TW_ITM_SWIT || e->kind == TW_ITM_DWT) {
        tw_json_u64(out, "src", e->source);
        tw_json_u64(out, "size", e->size);
        tw_json_hex(out, "value", e->itm_value);
    } else if (e->kind == TW_ITM_TS_GLOBAL) {
        tw_json_hex(out, "ts", e->itm_time);
        tw_json_u64(out, "freq_change", flag(e, TW_ITM_FREQ_CHANGE));
    } else if (e->kind != TW_ITM_LOST) {
        tw_json_hex(out, "delta", e->itm_value);
        tw_json_hex(out, "ts", e->itm_time);
    }
}

static void json_data(struct tw_text *out, const struct tw_element *e)
{
    const bool is_value = e->type == TW_ELEMENT_DATA_VALUE;

    if (is_value && (e->flags & TW_DATA_HAS_VALUE))
        tw_json_hex(out, "value", e->data_value);
    else if (!is_value && (e->flags & TW_DATA_HAS_ADDRESS))
        tw_json_hex(out, "addr", e->data_address);
    tw_json_u64(out, "size", e->size);
    if (!is_value)
        tw_json_text(out, "dir", data_word(e->kind));
    else if (e->flags & TW_DATA_HAS_ADDRESS)
        tw_json_hex(out, "addr", e->data_address);
    if (e->flags & TW_DATA_HAS_PC)
        tw_json_hex(out, "pc", e->pc);
    if (e->flags & TW_DATA_HAS_KEY)
        tw_json_u64(out, "key", e->pc);
    if (is_value && e->kind == TW_DATA_SC_FAIL)
        tw_json_text(out, "dir", data_word(e->kind));
    if (is_value && (e->flags & TW_DATA_OPERAND))
        tw_json_u64(out, "operand", 1);
    if (e->flags & TW_DATA_BIG_ENDIAN)
        tw_json_u64(out, "be", 1);
}

void tw_element_message(struct tw_text *out, const struct tw_element *e)
{
    switch (e->error) {
    case TW_ERROR_RESERVED_HEADER:
    case TW_ERROR_RESERVED_CONFIG:
    case TW_ERROR_BAD_SEQUENCE:
    case TW_ERROR_TRUNCATED:
        tw_text_format(out, "%s 0x%02x",
                       e->error == TW_ERROR_RESERVED_HEADER   ? "reserved header"
                       : e->error == TW_ERROR_RESERVED_CONFIG ? "header not legal in this "
                                                                "configuration:"
                       : e->error == TW_ERROR_TRUNCATED       ? "the trace ends inside packet"
                                                              : "bad bytes in packet",
                       (unsigned)(e->error_detail & 0xff));
        break;
    case TW_ERROR_COMMIT:
        tw_text_add(out, "commit or cancel of more elements than there are");
        break;
    case TW_ERROR_RETURN_STACK:
        tw_text_add(out, "an address was left out, but the return stack is empty");
        break;
    case TW_ERROR_RANGE_LIMIT:
        tw_text_add(out, "no branch within the range limit up to ");
        tw_text_hex(out, e->error_detail);
        break;
    case TW_ERROR_BAD_OPCODE:
    case TW_ERROR_BAD_ATOM:
    case TW_ERROR_NOT_CONTINUOUS:
    case TW_ERROR_IMAGE_MISMATCH:
        tw_text_add(out, e->error == TW_ERROR_BAD_OPCODE ? "the image holds no code at "
                         : e->error == TW_ERROR_BAD_ATOM
                             ? "unconditional branch not taken before "
                         : e->error == TW_ERROR_NOT_CONTINUOUS
                             ? "the path does not lead to "
                             : "trace and image contradict each other at ");
        tw_text_hex(out, e->error_detail);
        break;
    case TW_ERROR_DISCONTINUITY:
        tw_text_add(out, "bytes are missing here");
        break;
    case TW_ERROR_UNSUPPORTED:
        tw_text_add(out, "trace of a kind that cannot be decoded");
        break;
    case TW_ERROR_UNSYNCED:
        tw_text_add(out, "packets before the first synchronization");
        break;
    case TW_ERROR_ENCODER_MODE:
        tw_text_add(out, "encoder mode ");
        tw_text_decimal(out, e->error_detail);
        tw_text_add(out, " is not branch trace: its packets are passed over");
        break;
    default:
        tw_text_add(out, tw_error_code_name(e->error));
    }
}

static void json_error(struct tw_text *out, const struct tw_element *e)
{
    char message[160];
    struct tw_text text = tw_text_in(message, sizeof message);

    tw_element_message(&text, e);
    tw_json_text(out, "code", tw_error_code_name(e->error));
    tw_json_text(out, "msg", message);
    tw_json_u64(out, "skipped", e->skipped);
}

/* RISC-V: what else is known of an event. */
static void json_event(struct tw_text *out, const struct tw_element *e)
{
    if (e->kind == TW_EVENT_NOTIFY || (e->kind == TW_EVENT_TRIGGER && e->value))
        tw_json_hex(out, "addr", e->value); /* the instruction that was reported */
    if (e->kind == TW_EVENT_LOST)
        tw_json_hex(out, "ecode", e->value);
    if (e->kind == TW_EVENT_CIRCUIT) {
        tw_json_hex(out, "addr", e->value);
        tw_json_hex(out, "value", e->value_more);
    }
}

static void json_rest(struct tw_text *out, const struct tw_element *e)
{
    switch (e->type) {
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
        tw_json_text(out, "reason", tw_reason_name(e->reason));
        break;
    case TW_ELEMENT_TRACE_ON:
        tw_json_text(out, "reason", trace_on_word(e->reason));
        if (e->count) /* N-Trace */
            tw_json_u64(out, "sync", e->count - 1);
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        tw_json_hex(out, "st", e->first);
        tw_json_hex(out, "en", e->next);
        tw_json_u64(out, "n", e->count);
        tw_json_text(out, "isa", tw_isa_name(e->isa));
        break;
    case TW_ELEMENT_ADDR_NACC:
        tw_json_hex(out, "st", e->address);
        tw_json_hex(out, "space", e->space);
        tw_json_text(out, "space_name", tw_space_name(e->space));
        break;
    case TW_ELEMENT_TIMESTAMP:
        tw_json_hex(out, "ts", e->timestamp);
        tw_json_u64(out, "freq_change", flag(e, TW_TIME_FREQ_CHANGE));
        break;
    case TW_ELEMENT_EVENT:
        tw_json_text(out, "kind", event_word(e->kind));
        tw_json_u64(out, "num", e->count);
        json_event(out, e);
        break;
    case TW_ELEMENT_SYNC_MARKER:
        tw_json_text(out, "kind", "ts");
        tw_json_u64(out, "value", e->value);
        break;
    case TW_ELEMENT_MEMTRANS:
        tw_json_text(out, "kind", transaction_word(e->kind));
        break;
    case TW_ELEMENT_BUS_TRANSFER:
        tw_json_text(out, "dir", data_word(e->kind));
        tw_json_u64(out, "size", e->size);
        if (e->flags & TW_DATA_HAS_ADDRESS)
            tw_json_hex(out, "addr", e->data_address);
        if (e->flags & TW_DATA_HAS_VALUE)
            tw_json_hex(out, "value", e->data_value);
        break;
    case TW_ELEMENT_CUSTOM:
        tw_json_u64(out, "num", e->number);
        tw_json_hex(out, "value", e->value);
        break;
    case TW_ELEMENT_INSTRUMENTATION:
        tw_json_u64(out, "el", e->instrumentation_el);
        tw_json_hex(out, "value", e->value);
        break;
    case TW_ELEMENT_ERROR:
        json_error(out, e);
        break;
    case TW_ELEMENT_REPEAT:
        tw_json_u64(out, "k", e->count);
        tw_json_u64(out, "n", e->times);
        break;
    default:
        break;
    }
}

static bool has_cycles(const struct tw_element *e)
{
    switch (e->type) {
    case TW_ELEMENT_INSTR_RANGE:
    case TW_ELEMENT_PE_CONTEXT:
    case TW_ELEMENT_EXCEPTION:
    case TW_ELEMENT_TIMESTAMP:
    case TW_ELEMENT_CYCLE_COUNT:
    case TW_ELEMENT_TRACE_ON:
        return (e->flags & TW_FLAG_HAS_CYCLES) != 0;
    default:
        return false;
    }
}

size_t tw_element_json(char *out, size_t room, const struct tw_element *e, uint8_t id)
{
    struct tw_text text = tw_text_in(out, room);

    tw_text_char(&text, '{');
    tw_json_u64(&text, "i", e->index);
    tw_json_u64(&text, "id", id);
    tw_json_text(&text, "t", tw_element_type_name(e->type));
    switch (e->type) {
    case TW_ELEMENT_INSTR_RANGE:
        json_range(&text, e);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        json_context(&text, e);
        break;
    case TW_ELEMENT_EXCEPTION:
        json_exception(&text, e);
        break;
    case TW_ELEMENT_SWTRACE:
        json_software(&text, e);
        break;
    case TW_ELEMENT_ITMTRACE:
        json_itm(&text, e);
        break;
    case TW_ELEMENT_DATA_ADDR:
    case TW_ELEMENT_DATA_VALUE:
        json_data(&text, e);
        break;
    default:
        json_rest(&text, e);
    }
    if (has_cycles(e))
        tw_json_u64(&text, "cc", e->cycles);
    if (e->type == TW_ELEMENT_CYCLE_COUNT && (e->flags & TW_CYCLES_UNKNOWN))
        tw_json_u64(&text, "unknown", 1);
    tw_text_char(&text, '}');
    return text.size;
}

static void text_exception(struct tw_text *out, const struct tw_element *e)
{
    if (!(e->flags & TW_EXCEPTION_RISCV) || e->number != TW_CAUSE_UNKNOWN)
        tw_text_format(out, "%s 0x%x",
                       e->flags & TW_EXCEPTION_INTERRUPT ? "interrupt" : "number",
                       (unsigned)e->number);
    else
        tw_text_add(out, e->kind == TW_TRAP_ANY              ? "trap"
                         : e->flags & TW_EXCEPTION_INTERRUPT ? "interrupt"
                                                             : "exception");
    if (e->flags & TW_EXCEPTION_HAS_RETURN) {
        tw_text_add(out, " return ");
        tw_text_hex(out, e->return_address);
    }
    if (e->flags & TW_EXCEPTION_HAS_TVAL) {
        tw_text_add(out, " tval ");
        tw_text_hex(out, e->tval);
    }
}

/* A few words for people: what the JSON says, without keys. */
static void text_body(struct tw_text *out, const struct tw_element *e)
{
    switch (e->type) {
    case TW_ELEMENT_INSTR_RANGE:
        tw_text_hex(out, e->start);
        tw_text_add_size(out, "-", 1);
        tw_text_hex(out, tw_element_end(e));
        tw_text_add_size(out, " n=", 3);
        tw_text_decimal(out, e->count);
        tw_text_char(out, ' ');
        tw_text_add(out, tw_isa_name(e->isa));
        tw_text_char(out, ' ');
        tw_text_add(out, tw_last_kind_name(e->last_kind));
        if (e->last_sub) {
            tw_text_char(out, '.');
            tw_text_add(out, tw_last_sub_name(e->last_sub));
        }
        if (e->flags & TW_RANGE_CONDITIONAL)
            tw_text_add_size(out, " cond", 5);
        tw_text_add(out, e->flags & TW_RANGE_EXECUTED ? " taken" : " not-taken");
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        tw_text_hex(out, e->first);
        tw_text_add(out, " to ");
        tw_text_hex(out, e->next);
        tw_text_format(out, " n=%u, path unknown", (unsigned)e->count);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        tw_text_add(out, tw_isa_name(e->isa));
        if (e->flags & TW_CONTEXT_HAS_PRIV)
            tw_text_format(out, " priv %u", (unsigned)e->el);
        else if (e->flags & TW_CONTEXT_HAS_EL)
            tw_text_format(out, " EL%u%s", (unsigned)e->el, tw_security_name(e->security));
        else
            tw_text_format(out, " %s", tw_security_name(e->security));
        if (e->flags & TW_CONTEXT_HAS_VMID)
            tw_text_format(out, " vmid=0x%x", (unsigned)e->vmid);
        if (e->flags & TW_CONTEXT_HAS_CID)
            tw_text_format(out, " cid=0x%x", (unsigned)e->context_id);
        if (e->flags & TW_CONTEXT_OWNERSHIP)
            tw_text_add(out, e->is_virtual ? " virtual" : "");
        break;
    case TW_ELEMENT_EXCEPTION:
        text_exception(out, e);
        break;
    case TW_ELEMENT_ADDR_NACC:
        tw_text_hex(out, e->address);
        tw_text_format(out, " (%s) is not in the image", tw_space_name(e->space));
        break;
    case TW_ELEMENT_ERROR:
        tw_element_message(out, e);
        tw_text_format(out, "; skipped %llu bytes", (unsigned long long)e->skipped);
        break;
    default:
        break;
    }
}

static void text_software(struct tw_text *out, const struct tw_element *e)
{
    tw_text_format(out, "master 0x%02x channel 0x%04x%s", (unsigned)e->master,
                   (unsigned)e->channel, e->flags & TW_SW_HAS_ID ? "" : "?");
    tw_text_format(out, "%s%s%s%s%s", e->flags & TW_SW_MARKER ? " marker" : "",
                   e->flags & TW_SW_TRIGGER ? " trigger" : "",
                   e->flags & TW_SW_FREQ ? " frequency" : "",
                   e->flags & TW_SW_MASTER_ERROR ? " master-error" : "",
                   e->flags & TW_SW_GLOBAL_ERROR ? " global-error" : "");
    if (e->width) {
        tw_text_format(out, " %u bits ", (unsigned)e->width);
        tw_text_hex(out, e->payload);
    }
    if (e->flags & TW_SW_HAS_TIME) {
        tw_text_add(out, " at ");
        tw_text_hex(out, e->sw_time);
    }
}

static void text_itm(struct tw_text *out, const struct tw_element *e)
{
    tw_text_add(out, itm_word(e->kind));
    if (e->kind == TW_ITM_SWIT || e->kind == TW_ITM_DWT) {
        tw_text_format(out, " source %u, %u bytes ", (unsigned)e->source, (unsigned)e->size);
        tw_text_hex(out, e->itm_value);
    } else if (e->kind != TW_ITM_LOST) {
        if (e->kind != TW_ITM_TS_GLOBAL)
            tw_text_format(out, " +%u", (unsigned)e->itm_value);
        tw_text_add(out, " time ");
        tw_text_hex(out, e->itm_time);
    }
    if (e->flags & TW_ITM_FREQ_CHANGE)
        tw_text_add(out, " clock-change");
    if (e->flags & TW_ITM_OVERFLOW)
        tw_text_add(out, " after-overflow");
}

static void text_transfer(struct tw_text *out, const struct tw_element *e)
{
    tw_text_format(out, "%s %u bytes", data_word(e->kind), (unsigned)e->size);
    if (e->flags & TW_DATA_HAS_ADDRESS) {
        tw_text_add(out, " at ");
        tw_text_hex(out, e->data_address);
    }
    if (e->flags & TW_DATA_HAS_VALUE) {
        tw_text_add(out, " value ");
        tw_text_hex(out, e->data_value);
    }
}

static void text_rest(struct tw_text *out, const struct tw_element *e)
{
    switch (e->type) {
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
        tw_text_add(out, tw_reason_name(e->reason));
        break;
    case TW_ELEMENT_TRACE_ON:
        tw_text_add(out, trace_on_word(e->reason));
        break;
    case TW_ELEMENT_TIMESTAMP:
        tw_text_hex(out, e->timestamp);
        break;
    case TW_ELEMENT_EVENT:
        tw_text_format(out, "%s %u", event_word(e->kind), (unsigned)e->count);
        break;
    case TW_ELEMENT_MEMTRANS:
        tw_text_add(out, transaction_word(e->kind));
        break;
    case TW_ELEMENT_INSTRUMENTATION:
        tw_text_format(out, "EL%u ", (unsigned)e->instrumentation_el);
        tw_text_hex(out, e->value);
        break;
    case TW_ELEMENT_SWTRACE:
        text_software(out, e);
        break;
    case TW_ELEMENT_ITMTRACE:
        text_itm(out, e);
        break;
    case TW_ELEMENT_DATA_ADDR:
        tw_text_format(out, "%s %u bytes at ", data_word(e->kind), (unsigned)e->size);
        tw_text_hex(out, e->data_address);
        break;
    case TW_ELEMENT_DATA_VALUE:
        tw_text_hex(out, e->data_value);
        if (e->flags & TW_DATA_OPERAND)
            tw_text_add(out, " (operand)");
        break;
    case TW_ELEMENT_BUS_TRANSFER:
        text_transfer(out, e);
        break;
    case TW_ELEMENT_CUSTOM:
        tw_text_format(out, "%u ", (unsigned)e->number);
        tw_text_hex(out, e->value);
        break;
    case TW_ELEMENT_REPEAT:
        tw_text_format(out, "the last %u elements, %llu more times", (unsigned)e->count,
                       (unsigned long long)e->times);
        break;
    default:
        text_body(out, e);
    }
}

size_t tw_element_text(char *out, size_t room, const struct tw_element *e, uint8_t id)
{
    static const char blanks[] = "                    ";
    struct tw_text text = tw_text_in(out, room);
    const char *name = tw_element_type_name(e->type);
    size_t column;

    tw_text_hex(&text, e->index);
    column = text.size < 10 ? 10 - text.size : 1;
    tw_text_add_size(&text, blanks, column);
    tw_text_hex(&text, id);
    tw_text_char(&text, ' ');
    column = text.size;
    tw_text_add(&text, name);
    column = text.size - column;
    tw_text_add_size(&text, blanks, column < 15 ? 15 - column : 1);
    text_rest(&text, e);
    if (e->type == TW_ELEMENT_CYCLE_COUNT && (e->flags & TW_CYCLES_UNKNOWN)) {
        tw_text_add(&text, " cc unknown");
    } else if (has_cycles(e)) {
        tw_text_add_size(&text, " cc=", 4);
        tw_text_decimal(&text, e->cycles);
    }
    return text.size;
}
