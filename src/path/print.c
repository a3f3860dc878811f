/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements: what their lines say. */
/* size: table */
#include "path/print.h"

#include <inttypes.h>

#include <trackway/etmv3.h>

#include "base/armv8.h"
#include "base/m_profile.h"
#include "base/members.h"

/* clang-format off */
enum {
    I, ID, STREAM_SRC, T,
    ST, EN, N, ISA, LT, LS, LS_NONE, EX, SZ, COND, TAKEN, EN_TO, PATH_UNKNOWN, ISA_LISTED,
    CONTEXT_ISA, BITS, PRIV, V, FORMAT, SEC, CONTEXT_EL, LEVEL, SECURITY, SECURITY_ALONE, MODE, VMID, CID, VIRTUAL,
    NUM, NUMBER, INTERRUPT_NUMBER, EXCEPTION_NAME, TRAP, HAS_RET, INTERRUPT, RET, TVAL, RET_IS_BR_TGT, DATA_MARKER, M_TAIL, EXC, ARCHITECTURAL, CHAINED,
    ID_VALID, MASTER, CHAN, NPKT, MARKER, HAS_TS, TRIG, FREQ, MERR, GERR, DATA, SW_TS, SOFTWARE,
    KIND, OVERFLOW, SRC, ITM_SIZE, ITM_VALUE, ITM_TS, DELTA, PLUS, CLOCK_CHANGE, AFTER_OVERFLOW,
    VALUE, ADDR, SIZE, DIR, PC, KEY, OPERAND, BE, DATA_WORD, DATA_SIZE, DATA_AT, DATA_VALUE,
    CODE, MSG, SKIPPED, SKIPPED_BYTES, REASON, SYNC, SPACE, SPACE_NAME, NOT_IN_IMAGE, TS, FREQ_CHANGE,
    EVENT_NUM, EVENT_MASK, EVENT_LIST, EVENT_ADDR, ECODE, MARKER_KIND, MARKER_VALUE, BUS_DIR, BUS_SIZE, BUS_BYTES, BUS_ADDR, BUS_VALUE,
    CUSTOM_NUM, NEXT_VALUE, EL, K, TIMES, MORE_TIMES, CC, CC_LISTED, UNKNOWN, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [I] = TW_LISTED("i", DECIMAL),
    [ID] = TW_LISTED("id", DECIMAL),
    [STREAM_SRC] = TW_LISTED("src", DECIMAL),
    [T] = TW_LISTED("t", NAME),
    /* INSTR_RANGE, I_RANGE_NOPATH */
    [ST] = TW_SHOWN("st", HEX, ""),
    [EN] = TW_SHOWN("en", HEX, "-"),
    [N] = TW_SHOWN("n", DECIMAL, " n="),
    [ISA] = TW_SHOWN("isa", NAME, " "),
    [LT] = TW_SHOWN("lt", NAME, " "),
    [LS] = TW_SHOWN("ls", NAME, "."),
    [LS_NONE] = TW_LISTED("ls", NAME),
    [EX] = TW_LISTED("ex", DECIMAL),
    [SZ] = TW_LISTED("sz", DECIMAL),
    [COND] = TW_SHOWN("cond", FLAG, " cond"),
    [TAKEN] = TW_TOLD(NAME, " "),
    [EN_TO] = TW_SHOWN("en", HEX, " to "),
    [PATH_UNKNOWN] = TW_TOLD(FLAG, ", path unknown"),
    [ISA_LISTED] = TW_LISTED("isa", NAME),
    /* PE_CONTEXT */
    [CONTEXT_ISA] = TW_SHOWN("isa", NAME, ""),
    [BITS] = TW_LISTED("bits", DECIMAL),
    [PRIV] = TW_SHOWN("priv", DECIMAL, " priv "),
    [V] = TW_LISTED("v", DECIMAL),
    [FORMAT] = TW_LISTED("format", DECIMAL),
    [SEC] = TW_LISTED("sec", NAME),
    [CONTEXT_EL] = TW_LISTED("el", DECIMAL),
    [LEVEL] = TW_TOLD(DECIMAL, " EL"),
    [SECURITY] = TW_TOLD(NAME, ""),
    [SECURITY_ALONE] = TW_TOLD(NAME, " "),
    [MODE] = TW_SHOWN("mode", NAME, " "),
    [VMID] = TW_SHOWN("vmid", HEX, " vmid="),
    [CID] = TW_SHOWN("cid", HEX, " cid="),
    [VIRTUAL] = TW_TOLD(FLAG, " virtual"),
    /* EXCEPTION */
    [NUM] = TW_LISTED("num", DECIMAL),
    [NUMBER] = TW_TOLD(HEX, "number "),
    [INTERRUPT_NUMBER] = TW_TOLD(HEX, "interrupt "),
    [EXCEPTION_NAME] = TW_TOLD(NAME, " "),
    [TRAP] = TW_TOLD(NAME, ""),
    [HAS_RET] = TW_LISTED("has_ret", DECIMAL),
    [INTERRUPT] = TW_LISTED("interrupt", DECIMAL),
    [RET] = TW_SHOWN("ret", HEX, " return "),
    [TVAL] = TW_SHOWN("tval", HEX, " tval "),
    [RET_IS_BR_TGT] = TW_LISTED("ret_is_br_tgt", DECIMAL),
    [DATA_MARKER] = TW_LISTED("data_marker", DECIMAL),
    [M_TAIL] = TW_LISTED("m_tail", DECIMAL),
    [EXC] = TW_LISTED("exc", DECIMAL),
    [ARCHITECTURAL] = TW_TOLD(DECIMAL, ", exception "),
    [CHAINED] = TW_TOLD(FLAG, " chained"),
    /* SWTRACE */
    [ID_VALID] = TW_LISTED("id_valid", DECIMAL),
    [MASTER] = TW_LISTED("master", DECIMAL),
    [CHAN] = TW_LISTED("chan", DECIMAL),
    [NPKT] = TW_LISTED("npkt", DECIMAL),
    [MARKER] = TW_LISTED("marker", DECIMAL),
    [HAS_TS] = TW_LISTED("has_ts", DECIMAL),
    [TRIG] = TW_LISTED("trig", DECIMAL),
    [FREQ] = TW_LISTED("freq", DECIMAL),
    [MERR] = TW_LISTED("merr", DECIMAL),
    [GERR] = TW_LISTED("gerr", DECIMAL),
    [DATA] = TW_LISTED("data", HEX),
    [SW_TS] = TW_LISTED("ts", HEX),
    [SOFTWARE] = TW_TOLD(TEXT, ""),
    /* ITMTRACE, EVENT, MEMTRANS */
    [KIND] = TW_SHOWN("kind", NAME, ""),
    [OVERFLOW] = TW_LISTED("overflow", DECIMAL),
    [SRC] = TW_SHOWN("src", DECIMAL, " source "),
    [ITM_SIZE] = TW_SHOWN("size", DECIMAL, ", "),
    [ITM_VALUE] = TW_SHOWN("value", HEX, " bytes "),
    [ITM_TS] = TW_SHOWN("ts", HEX, " time "),
    [DELTA] = TW_LISTED("delta", HEX),
    [PLUS] = TW_TOLD(DECIMAL, " +"),
    [CLOCK_CHANGE] = TW_TOLD(FLAG, " clock-change"),
    [AFTER_OVERFLOW] = TW_TOLD(FLAG, " after-overflow"),
    /* DATA_ADDR, DATA_VALUE */
    [VALUE] = TW_LISTED("value", HEX),
    [ADDR] = TW_LISTED("addr", HEX),
    [SIZE] = TW_LISTED("size", DECIMAL),
    [DIR] = TW_LISTED("dir", NAME),
    [PC] = TW_LISTED("pc", HEX),
    [KEY] = TW_LISTED("key", DECIMAL),
    [OPERAND] = TW_SHOWN("operand", FLAG, " (operand)"),
    [BE] = TW_LISTED("be", DECIMAL),
    [DATA_WORD] = TW_TOLD(NAME, ""),
    [DATA_SIZE] = TW_TOLD(DECIMAL, " "),
    [DATA_AT] = TW_TOLD(HEX, " bytes at "),
    [DATA_VALUE] = TW_TOLD(HEX, ""),
    /* the rest */
    [CODE] = TW_LISTED("code", NAME),
    [MSG] = TW_SHOWN("msg", TEXT, ""),
    [SKIPPED] = TW_SHOWN("skipped", DECIMAL, "; skipped "),
    [SKIPPED_BYTES] = TW_TOLD(FLAG, " bytes"),
    [REASON] = TW_SHOWN("reason", NAME, ""),
    [SYNC] = TW_LISTED("sync", DECIMAL),
    [SPACE] = TW_LISTED("space", HEX),
    [SPACE_NAME] = TW_SHOWN("space_name", NAME, " ("),
    [NOT_IN_IMAGE] = TW_TOLD(NAME, ")"),
    [TS] = TW_SHOWN("ts", HEX, ""),
    [FREQ_CHANGE] = TW_LISTED("freq_change", DECIMAL),
    [EVENT_NUM] = TW_SHOWN("num", DECIMAL, " "),
    [EVENT_MASK] = TW_LISTED("num", DECIMAL),
    [EVENT_LIST] = TW_TOLD(NAME, " "),
    [EVENT_ADDR] = TW_LISTED("addr", HEX),
    [ECODE] = TW_LISTED("ecode", HEX),
    [MARKER_KIND] = TW_LISTED("kind", NAME),
    [MARKER_VALUE] = TW_LISTED("value", DECIMAL),
    [BUS_DIR] = TW_SHOWN("dir", NAME, ""),
    [BUS_SIZE] = TW_SHOWN("size", DECIMAL, " "),
    [BUS_BYTES] = TW_TOLD(FLAG, " bytes"),
    [BUS_ADDR] = TW_SHOWN("addr", HEX, " at "),
    [BUS_VALUE] = TW_SHOWN("value", HEX, " value "),
    [CUSTOM_NUM] = TW_SHOWN("num", DECIMAL, ""),
    [NEXT_VALUE] = TW_SHOWN("value", HEX, " "),
    [EL] = TW_SHOWN("el", DECIMAL, "EL"),
    [K] = TW_SHOWN("k", DECIMAL, "the last "),
    [TIMES] = TW_SHOWN("n", DECIMAL, " elements, "),
    [MORE_TIMES] = TW_TOLD(FLAG, " more times"),
    [CC] = TW_SHOWN("cc", DECIMAL, " cc="),
    [CC_LISTED] = TW_LISTED("cc", DECIMAL),
    [UNKNOWN] = TW_SHOWN("unknown", FLAG, " cc unknown"),
};
/* clang-format on */

const struct tw_member_type *tw_element_member_type(size_t number)
{
    return number < MEMBERS ? &rows[number] : NULL;
}

static unsigned flag(const struct tw_element *element, unsigned mask)
{
    return (element->flags & mask) != 0;
}

/* What the line of a range says, in order.  Most lines are ranges: text of them is written straight, not from a list of
   members, and with rows that are known when this is compiled. */
#define RANGE_SAYS(NUMBER, WORD)                                                               \
    NUMBER(ST, e->start)                                                                       \
    NUMBER(EN, tw_element_end(e))                                                              \
    NUMBER(N, e->count)                                                                        \
    WORD(ISA, tw_isa_word(e->isa))                                                             \
    WORD(LT, tw_last_kind_word(e->last_kind))                                                  \
    if (e->last_sub)                                                                           \
        WORD(LS, tw_last_sub_word(e->last_sub))                                                \
    else                                                                                       \
        WORD(LS_NONE, tw_last_sub_word(e->last_sub))                                           \
    NUMBER(EX, flag(e, TW_RANGE_EXECUTED))                                                     \
    NUMBER(SZ, 2u * e->last_size)                                                              \
    NUMBER(COND, flag(e, TW_RANGE_CONDITIONAL))                                                \
    WORD(TAKEN, &outcomes[flag(e, TW_RANGE_EXECUTED)])

static const struct tw_word outcomes[] = { TW_WORD("not-taken"), TW_WORD("taken") };

static void put_range(struct tw_members *out, const struct tw_element *e)
{
#define PUT_NUMBER(row, value) tw_put(out, row, value);
#define PUT_WORD(row, word)    tw_put_text(out, row, (word)->text);
    RANGE_SAYS(PUT_NUMBER, PUT_WORD)
}

static char *tell_range(char *at, const struct tw_element *e)
{
#define TELL_NUMBER(row, value) at = tw_tell(at, &rows[row], value);
#define TELL_WORD(row, word)    at = tw_tell_word(at, &rows[row], word);
    RANGE_SAYS(TELL_NUMBER, TELL_WORD)
    return e->flags & TW_FLAG_HAS_CYCLES ? tw_tell(at, &rows[CC], e->cycles) : at;
}

/* A context of RISC-V: hcontext or scontext. */
static uint64_t wide_context(const struct tw_element *e, unsigned format, uint32_t low)
{
    const bool is_sent = (e->flags & TW_CONTEXT_OWNERSHIP) && e->ownership == format;

    return is_sent ? (uint64_t)e->context_high << 32 | low : low;
}

static void put_context(struct tw_members *out, const struct tw_element *e)
{
    tw_put_text(out, CONTEXT_ISA, tw_isa_name(e->isa));
    tw_put(out, BITS, e->flags & TW_CONTEXT_64BIT ? 64 : 32);
    if (e->flags & TW_CONTEXT_HAS_PRIV) {
        tw_put(out, PRIV, e->el);
        if (e->flags & TW_CONTEXT_OWNERSHIP) {
            tw_put(out, V, e->is_virtual);
            tw_put(out, FORMAT, e->ownership);
        }
    } else {
        const bool is_m = e->flags & TW_CONTEXT_M;
        const bool has_level = e->flags & TW_CONTEXT_HAS_EL && !is_m;

        tw_put_text(out, SEC, tw_security_name(e->security));
        if (e->flags & TW_CONTEXT_HAS_EL)
            tw_put(out, CONTEXT_EL, e->el);
        if (is_m)
            tw_put_text(out, MODE, e->el ? "Handler" : "Thread");
        if (has_level)
            tw_put(out, LEVEL, e->el);
        tw_put_text(out, has_level ? SECURITY : SECURITY_ALONE, tw_security_name(e->security));
    }
    if (e->flags & TW_CONTEXT_HAS_VMID)
        tw_put(out, VMID, wide_context(e, 3, e->vmid));
    if (e->flags & TW_CONTEXT_HAS_CID)
        tw_put(out, CID, wide_context(e, 2, e->context_id));
    tw_put(out, VIRTUAL, (e->flags & TW_CONTEXT_OWNERSHIP) && e->is_virtual);
}

/* What it is called, as in the listing of packets. */
static void put_exception_name(struct tw_members *out, const struct tw_element *e)
{
    const bool is_m = e->kind == TW_NUMBERS_ARMV8_M || e->kind == TW_NUMBERS_ARMV7_M;
    const unsigned number = is_m && e->architectural ? e->architectural : e->number;
    const char *name = NULL;

    if (e->kind == TW_NUMBERS_ARMV8)
        name = tw_armv8_exception_name(number);
    else if (e->kind == TW_NUMBERS_ARMV7)
        name = tw_etmv3_exception_name(number, false);
    else if (is_m && (number < TW_M_FIRST_IRQ || !e->architectural))
        name = tw_armv8_m_exception_name(number);
    if (is_m && e->architectural >= TW_M_FIRST_IRQ)
        tw_put_format(out, EXCEPTION_NAME, "IRQ%u", number - TW_M_FIRST_IRQ);
    else if (name)
        tw_put_text(out, EXCEPTION_NAME, name);
    if (e->architectural && e->architectural != e->number)
        tw_put(out, ARCHITECTURAL, e->architectural);
}

static void put_exception(struct tw_members *out, const struct tw_element *e)
{
    const bool is_riscv = e->flags & TW_EXCEPTION_RISCV;
    const bool is_interrupt = e->flags & TW_EXCEPTION_INTERRUPT;

    if (!is_riscv || e->number != TW_CAUSE_UNKNOWN) {
        tw_put(out, NUM, e->number);
        tw_put(out, is_interrupt ? INTERRUPT_NUMBER : NUMBER, e->number);
        if (!is_riscv)
            put_exception_name(out, e);
    } else {
        tw_put_text(out, TRAP,
                    e->kind == TW_TRAP_ANY ? "trap"
                    : is_interrupt         ? "interrupt"
                                           : "exception");
    }
    if (!is_riscv)
        tw_put(out, HAS_RET, flag(e, TW_EXCEPTION_HAS_RETURN));
    else if (e->kind == TW_TRAP_KNOWN)
        tw_put(out, INTERRUPT, flag(e, TW_EXCEPTION_INTERRUPT));
    if (e->flags & TW_EXCEPTION_HAS_RETURN)
        tw_put(out, RET, e->return_address);
    if (is_riscv) {
        if (e->flags & TW_EXCEPTION_HAS_TVAL)
            tw_put(out, TVAL, e->tval);
        return;
    }
    tw_put(out, RET_IS_BR_TGT, flag(e, TW_EXCEPTION_RETURN_IS_TARGET));
    tw_put(out, DATA_MARKER, flag(e, TW_EXCEPTION_DATA_MARKER));
    tw_put(out, M_TAIL, flag(e, TW_EXCEPTION_TAIL_CHAIN));
    if (e->architectural)
        tw_put(out, EXC, e->architectural);
    tw_put(out, CHAINED, flag(e, TW_EXCEPTION_TAIL_CHAIN));
}

static void tell_software(struct tw_members *out, const struct tw_element *e)
{
    tw_put_format(out, SOFTWARE, "master 0x%02x channel 0x%04x%s", (unsigned)e->master,
                  (unsigned)e->channel, e->flags & TW_SW_HAS_ID ? "" : "?");
    tw_put_format(out, SOFTWARE, "%s%s%s%s%s", e->flags & TW_SW_MARKER ? " marker" : "",
                  e->flags & TW_SW_TRIGGER ? " trigger" : "",
                  e->flags & TW_SW_FREQ ? " frequency" : "",
                  e->flags & TW_SW_MASTER_ERROR ? " master-error" : "",
                  e->flags & TW_SW_GLOBAL_ERROR ? " global-error" : "");
    if (e->width)
        tw_put_format(out, SOFTWARE, " %u bits 0x%" PRIx64, (unsigned)e->width, e->payload);
    if (e->flags & TW_SW_HAS_TIME)
        tw_put_format(out, SOFTWARE, " at 0x%" PRIx64, e->sw_time);
}

static void put_software(struct tw_members *out, const struct tw_element *e)
{
    tw_put(out, ID_VALID, flag(e, TW_SW_HAS_ID));
    tw_put(out, MASTER, e->master);
    tw_put(out, CHAN, e->channel);
    tw_put(out, BITS, e->width);
    tw_put(out, NPKT, e->packets);
    tw_put(out, MARKER, flag(e, TW_SW_MARKER));
    tw_put(out, HAS_TS, flag(e, TW_SW_HAS_TIME));
    tw_put(out, TRIG, flag(e, TW_SW_TRIGGER));
    tw_put(out, FREQ, flag(e, TW_SW_FREQ));
    tw_put(out, MERR, flag(e, TW_SW_MASTER_ERROR));
    tw_put(out, GERR, flag(e, TW_SW_GLOBAL_ERROR));
    if (e->width)
        tw_put(out, DATA, e->payload);
    if (e->flags & TW_SW_HAS_TIME)
        tw_put(out, SW_TS, e->sw_time);
    if (tw_is_wanted(out, SOFTWARE))
        tell_software(out, e);
}

static void put_itm(struct tw_members *out, const struct tw_element *e)
{
    tw_put_text(out, KIND, tw_itm_word(e->kind));
    tw_put(out, OVERFLOW, flag(e, TW_ITM_OVERFLOW));
    if (e->kind == TW_ITM_SWIT || e->kind == TW_ITM_DWT) {
        tw_put(out, SRC, e->source);
        tw_put(out, ITM_SIZE, e->size);
        tw_put(out, ITM_VALUE, e->itm_value);
    } else if (e->kind == TW_ITM_TS_GLOBAL) {
        tw_put(out, ITM_TS, e->itm_time);
        tw_put(out, FREQ_CHANGE, flag(e, TW_ITM_FREQ_CHANGE));
    } else if (e->kind != TW_ITM_LOST) {
        tw_put(out, DELTA, e->itm_value);
        tw_put(out, PLUS, e->itm_value);
        tw_put(out, ITM_TS, e->itm_time);
    }
    tw_put(out, CLOCK_CHANGE, flag(e, TW_ITM_FREQ_CHANGE));
    tw_put(out, AFTER_OVERFLOW, flag(e, TW_ITM_OVERFLOW));
}

static void put_data_address(struct tw_members *out, const struct tw_element *e)
{
    if (e->flags & TW_DATA_HAS_ADDRESS)
        tw_put(out, ADDR, e->data_address);
    tw_put(out, SIZE, e->size);
    tw_put_text(out, DIR, tw_data_word(e->kind));
    tw_put_text(out, DATA_WORD, tw_data_word(e->kind));
    tw_put(out, DATA_SIZE, e->size);
    if (e->flags & TW_DATA_HAS_ADDRESS)
        tw_put(out, DATA_AT, e->data_address);
}

static void put_data_value(struct tw_members *out, const struct tw_element *e)
{
    if (e->flags & TW_DATA_HAS_VALUE) {
        tw_put(out, VALUE, e->data_value);
        tw_put(out, DATA_VALUE, e->data_value);
    }
    tw_put(out, SIZE, e->size);
    if (e->flags & TW_DATA_HAS_ADDRESS)
        tw_put(out, ADDR, e->data_address);
}

static void put_data(struct tw_members *out, const struct tw_element *e)
{
    const bool is_value = e->type == TW_ELEMENT_DATA_VALUE;

    if (is_value)
        put_data_value(out, e);
    else
        put_data_address(out, e);
    if (e->flags & TW_DATA_HAS_PC)
        tw_put(out, PC,
               !(e->flags & TW_DATA_WIDE_PC) ? e->pc
               : is_value                    ? e->data_address
                                             : e->data_value);
    if (e->flags & TW_DATA_HAS_KEY)
        tw_put(out, KEY, e->pc);
    if (is_value && e->kind == TW_DATA_SC_FAIL)
        tw_put_text(out, DIR, tw_data_word(e->kind));
    if (is_value && (e->flags & TW_DATA_OPERAND))
        tw_put(out, OPERAND, 1);
    if (e->flags & TW_DATA_BIG_ENDIAN)
        tw_put(out, BE, 1);
}

enum { MESSAGE_ROOM = 160 };

static void put_error(struct tw_members *out, const struct tw_element *e)
{
    char *message;

    tw_put_text(out, CODE, tw_error_code_name(e->error));
    message = tw_put_room(out, MSG, MESSAGE_ROOM);
    if (message) {
        struct tw_text text = tw_text_in(message, MESSAGE_ROOM);

        tw_element_message(&text, e);
    }
    tw_put(out, SKIPPED, e->skipped);
    tw_put(out, SKIPPED_BYTES, 1);
}

static void put_event(struct tw_members *out, const struct tw_element *e)
{
    tw_put_text(out, KIND, tw_event_word(e->kind));
    if (e->flags & TW_EVENT_IS_MASK) {
        tw_put(out, EVENT_MASK, e->count);
        tw_put_text(out, EVENT_LIST, tw_armv8_events(e->count));
    } else {
        tw_put(out, EVENT_NUM, e->count);
    }
    /* RISC-V: what else is known. */
    if (e->kind == TW_EVENT_NOTIFY || (e->kind == TW_EVENT_TRIGGER && e->value))
        tw_put(out, EVENT_ADDR, e->value); /* the instruction that was reported */
    if (e->kind == TW_EVENT_LOST)
        tw_put(out, ECODE, e->value);
    if (e->kind == TW_EVENT_CIRCUIT) {
        tw_put(out, EVENT_ADDR, e->value);
        tw_put(out, VALUE, e->value_more);
    }
}

static void put_transfer(struct tw_members *out, const struct tw_element *e)
{
    tw_put_text(out, BUS_DIR, tw_data_word(e->kind));
    tw_put(out, BUS_SIZE, e->size);
    tw_put(out, BUS_BYTES, 1);
    if (e->flags & TW_DATA_HAS_ADDRESS)
        tw_put(out, BUS_ADDR, e->data_address);
    if (e->flags & TW_DATA_HAS_VALUE)
        tw_put(out, BUS_VALUE, e->data_value);
}

static void put_rest(struct tw_members *out, const struct tw_element *e)
{
    switch (e->type) {
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
        tw_put_text(out, REASON, tw_reason_name(e->reason));
        break;
    case TW_ELEMENT_TRACE_ON:
        tw_put_text(out, REASON, tw_trace_on_word(e->reason));
        if (e->count) /* N-Trace */
            tw_put(out, SYNC, e->count - 1);
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        tw_put(out, ST, e->first);
        tw_put(out, EN_TO, e->next);
        if (e->count) /* else it is not known */
            tw_put(out, N, e->count);
        tw_put_text(out, ISA_LISTED, tw_isa_name(e->isa));
        tw_put(out, PATH_UNKNOWN, 1);
        break;
    case TW_ELEMENT_ADDR_NACC:
        tw_put(out, ST, e->address);
        tw_put(out, SPACE, e->space);
        tw_put_text(out, SPACE_NAME, tw_space_name(e->space));
        tw_put_text(out, NOT_IN_IMAGE, " is not in the image");
        break;
    case TW_ELEMENT_TIMESTAMP:
        tw_put(out, TS, e->timestamp);
        tw_put(out, FREQ_CHANGE, flag(e, TW_TIME_FREQ_CHANGE));
        break;
    case TW_ELEMENT_SYNC_MARKER:
        tw_put_text(out, MARKER_KIND, "ts");
        tw_put(out, MARKER_VALUE, e->value);
        break;
    case TW_ELEMENT_MEMTRANS:
        tw_put_text(out, KIND, tw_transaction_word(e->kind));
        break;
    case TW_ELEMENT_CUSTOM:
        tw_put(out, CUSTOM_NUM, e->number);
        tw_put(out, NEXT_VALUE, e->value);
        break;
    case TW_ELEMENT_INSTRUMENTATION:
        tw_put(out, EL, e->instrumentation_el);
        tw_put(out, NEXT_VALUE, e->value);
        break;
    case TW_ELEMENT_REPEAT:
        tw_put(out, K, e->count);
        tw_put(out, TIMES, e->times);
        tw_put(out, MORE_TIMES, 1);
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

/* What follows the type. */
static void put_body(struct tw_members *out, const struct tw_element *e)
{
    const bool is_unknown = e->type == TW_ELEMENT_CYCLE_COUNT && (e->flags & TW_CYCLES_UNKNOWN);

    switch (e->type) {
    case TW_ELEMENT_INSTR_RANGE:
        put_range(out, e);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        put_context(out, e);
        break;
    case TW_ELEMENT_EXCEPTION:
        put_exception(out, e);
        break;
    case TW_ELEMENT_SWTRACE:
        put_software(out, e);
        break;
    case TW_ELEMENT_ITMTRACE:
        put_itm(out, e);
        break;
    case TW_ELEMENT_DATA_ADDR:
    case TW_ELEMENT_DATA_VALUE:
        put_data(out, e);
        break;
    case TW_ELEMENT_EVENT:
        put_event(out, e);
        break;
    case TW_ELEMENT_BUS_TRANSFER:
        put_transfer(out, e);
        break;
    case TW_ELEMENT_ERROR:
        put_error(out, e);
        break;
    default:
        put_rest(out, e);
    }
    if (has_cycles(e))
        tw_put(out, is_unknown ? CC_LISTED : CC, e->cycles);
    if (is_unknown)
        tw_put(out, UNKNOWN, 1);
}

static void put_all(struct tw_members *out, const struct tw_element *e, uint32_t id,
                    uint32_t src)
{
    out->types = rows;
    tw_put(out, I, e->index);
    tw_put(out, ID, id);
    if (src != TW_NO_SRC)
        tw_put(out, STREAM_SRC, src);
    tw_put_text(out, T, tw_element_type_name(e->type));
    put_body(out, e);
}

void tw_element_members(struct tw_members *out, const struct tw_element *element,
                        const struct tw_batch *of)
{
    out->count = out->text_size = 0;
    put_all(out, element, of->src_is_id ? of->src : of->id, of->src);
}

/* Blanks up to a column, one at least; sixteen are written. */
static char *put_blanks(char *at, char *column)
{
    memset(at, ' ', 16);
    return at + 1 > column ? at + 1 : column;
}

/* The columns of a line of text: "0x123     0x10 INSTR_RANGE    ". */
static char *put_columns(char *at, const struct tw_element *e, uint8_t id)
{
    at = tw_write_hex(tw_write_index(at, e->index), id);
    *at++ = ' ';
    return put_blanks(tw_write_word(at, tw_element_type_word(e->type)), at + 15);
}

/* More than any line takes, with what is copied behind it. */
enum { LINE_MOST = 2048 };

size_t tw_element_json(char *out, size_t room, const struct tw_element *element, uint8_t id)
{
    struct tw_members_here here;
    struct tw_members *list = tw_members_start(&here, TW_MEMBER_LISTED);
    char line[LINE_MOST];
    char *to = room > LINE_MOST ? out : line;

    put_all(list, element, id, TW_NO_SRC);
    return tw_line_give(out, room, to, tw_members_json(to, list));
}

static TW_NOINLINE char *tell_any(char *out, const struct tw_element *element)
{
    struct tw_members_here here;
    struct tw_members *list = tw_members_start(&here, TW_MEMBER_TOLD);

    list->types = rows;
    put_body(list, element);
    return tw_members_text(out, list);
}

size_t tw_element_text(char *out, size_t room, const struct tw_element *element, uint8_t id)
{
    char line[LINE_MOST];
    char *to = room > LINE_MOST ? out : line;
    char *end = put_columns(to, element, id);

    if (TW_LIKELY(element->type == TW_ELEMENT_INSTR_RANGE))
        end = tell_range(end, element);
    else
        end = tell_any(end, element);
    return tw_line_give(out, room, to, end);
}
