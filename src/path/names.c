/* SPDX-License-Identifier: BSD-2-Clause */
/* The words for types, kinds and reasons, as the output spells them. */
#include <trackway/types.h>

#include "base/compiler.h"
#include "path/print.h"

#define NAME_OF(names, value, other)                                                           \
    ((value) < TW_LENGTH(names) && (names)[value] ? (names)[value] : (other))

const struct tw_word *tw_element_type_word(unsigned type)
{
    static const struct tw_word words[] = {
        [TW_ELEMENT_UNKNOWN] = TW_WORD("UNKNOWN"),
        [TW_ELEMENT_NO_SYNC] = TW_WORD("NO_SYNC"),
        [TW_ELEMENT_TRACE_ON] = TW_WORD("TRACE_ON"),
        [TW_ELEMENT_EO_TRACE] = TW_WORD("EO_TRACE"),
        [TW_ELEMENT_PE_CONTEXT] = TW_WORD("PE_CONTEXT"),
        [TW_ELEMENT_INSTR_RANGE] = TW_WORD("INSTR_RANGE"),
        [TW_ELEMENT_I_RANGE_NOPATH] = TW_WORD("I_RANGE_NOPATH"),
        [TW_ELEMENT_ADDR_NACC] = TW_WORD("ADDR_NACC"),
        [TW_ELEMENT_ADDR_UNKNOWN] = TW_WORD("ADDR_UNKNOWN"),
        [TW_ELEMENT_EXCEPTION] = TW_WORD("EXCEPTION"),
        [TW_ELEMENT_EXCEPTION_RET] = TW_WORD("EXCEPTION_RET"),
        [TW_ELEMENT_TIMESTAMP] = TW_WORD("TIMESTAMP"),
        [TW_ELEMENT_CYCLE_COUNT] = TW_WORD("CYCLE_COUNT"),
        [TW_ELEMENT_EVENT] = TW_WORD("EVENT"),
        [TW_ELEMENT_SWTRACE] = TW_WORD("SWTRACE"),
        [TW_ELEMENT_SYNC_MARKER] = TW_WORD("SYNC_MARKER"),
        [TW_ELEMENT_MEMTRANS] = TW_WORD("MEMTRANS"),
        [TW_ELEMENT_INSTRUMENTATION] = TW_WORD("INSTRUMENTATION"),
        [TW_ELEMENT_ITMTRACE] = TW_WORD("ITMTRACE"),
        [TW_ELEMENT_DATA_ADDR] = TW_WORD("DATA_ADDR"),
        [TW_ELEMENT_DATA_VALUE] = TW_WORD("DATA_VALUE"),
        [TW_ELEMENT_BUS_TRANSFER] = TW_WORD("BUS_TRANSFER"),
        [TW_ELEMENT_CUSTOM] = TW_WORD("CUSTOM"),
        [TW_ELEMENT_ERROR] = TW_WORD("ERROR"),
        [TW_ELEMENT_REPEAT] = TW_WORD("REPEAT"),
    };

    return &words[type < TW_LENGTH(words) && words[type].size ? type : TW_ELEMENT_UNKNOWN];
}

const char *tw_element_type_name(unsigned type)
{
    return tw_element_type_word(type)->text;
}

const struct tw_word *tw_isa_word(unsigned isa)
{
    static const struct tw_word words[] = {
        TW_WORD("A32"), TW_WORD("T32"), TW_WORD("A64"),  TW_WORD("TEE"),  TW_WORD("Jaz"),
        TW_WORD("Cst"), TW_WORD("Unk"), TW_WORD("RV32"), TW_WORD("RV64"),
    };

    return &words[isa < TW_LENGTH(words) ? isa : 6];
}

const char *tw_isa_name(unsigned isa)
{
    return tw_isa_word(isa)->text;
}

const struct tw_word *tw_last_kind_word(unsigned kind)
{
    static const struct tw_word words[] = {
        TW_WORD("OTHER"),   TW_WORD("BR"),      TW_WORD("IBR"),    TW_WORD("ISB"),
        TW_WORD("DSB_DMB"), TW_WORD("WFI_WFE"), TW_WORD("TSTART"),
    };

    return &words[kind < TW_LENGTH(words) ? kind : 0];
}

const char *tw_last_kind_name(unsigned kind)
{
    return tw_last_kind_word(kind)->text;
}

const struct tw_word *tw_last_sub_word(unsigned sub)
{
    static const struct tw_word words[] = {
        TW_WORD("NONE"),           TW_WORD("LINK"), TW_WORD("V8_RET"),   TW_WORD("V8_ERET"),
        TW_WORD("V7_IMPLIED_RET"), TW_WORD("RET"),  TW_WORD("TRAP_RET"),
    };

    return &words[sub < TW_LENGTH(words) ? sub : 0];
}

const char *tw_last_sub_name(unsigned sub)
{
    return tw_last_sub_word(sub)->text;
}

const char *tw_security_name(unsigned security)
{
    static const char *const names[] = { "S", "N", "Root", "Realm" };

    return NAME_OF(names, security, "?");
}

const char *tw_reason_name(unsigned reason)
{
    static const char *const names[] = { "undefined",         "init-decoder", "reset-decoder",
                                         "overflow",          "discard",      "bad-packet",
                                         "bad-program-image", "end-of-trace" };

    return NAME_OF(names, reason, "undefined");
}

const char *tw_error_code_name(unsigned code)
{
    static const char *const names[] = {
        [TW_ERROR_NONE] = "none",
        [TW_ERROR_RESERVED_HEADER] = "reserved-header",
        [TW_ERROR_RESERVED_CONFIG] = "reserved-config",
        [TW_ERROR_BAD_SEQUENCE] = "bad-sequence",
        [TW_ERROR_TRUNCATED] = "truncated",
        [TW_ERROR_COMMIT] = "bad-commit",
        [TW_ERROR_RETURN_STACK] = "return-stack",
        [TW_ERROR_RANGE_LIMIT] = "range-limit",
        [TW_ERROR_BAD_OPCODE] = "bad-opcode",
        [TW_ERROR_BAD_ATOM] = "bad-atom",
        [TW_ERROR_NOT_CONTINUOUS] = "not-continuous",
        [TW_ERROR_IMAGE_MISMATCH] = "image-mismatch",
        [TW_ERROR_UNSUPPORTED] = "unsupported",
        [TW_ERROR_OVERFLOW] = "overflow",
        [TW_ERROR_DISCONTINUITY] = "discontinuity",
        [TW_ERROR_UNSYNCED] = "unsynced",
        [TW_ERROR_ENCODER_MODE] = "encoder-mode",
        [TW_ERROR_PACKET_LIMIT] = "packet-limit",
        [TW_ERROR_UNPLACED] = "unplaced",
        [TW_ERROR_RESERVED_BITS] = "reserved-bits",
    };

    return NAME_OF(names, code, "unknown");
}

const char *tw_packet_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [TW_PACKET_OTHER] = "other",     [TW_PACKET_NOT_SYNC] = "not-sync",
        [TW_PACKET_BAD] = "bad",         [TW_PACKET_CUT] = "cut",
        [TW_PACKET_SYNC] = "sync",       [TW_PACKET_OVERFLOW] = "overflow",
        [TW_PACKET_DISCARD] = "discard", [TW_PACKET_INFO] = "info",
        [TW_PACKET_FLOW] = "flow",       [TW_PACKET_EXCEPTION] = "exception",
        [TW_PACKET_CONTEXT] = "context", [TW_PACKET_TIME] = "time",
        [TW_PACKET_EVENT] = "event",     [TW_PACKET_DATA] = "data",
        [TW_PACKET_PADDING] = "padding",
    };

    return NAME_OF(names, kind, "other");
}

const char *tw_space_name(uint32_t space)
{
    switch (space) {
    case TW_SPACE_EL1S:
        return "EL1S";
    case TW_SPACE_EL1N:
        return "EL1N";
    case TW_SPACE_EL2:
        return "EL2N";
    case TW_SPACE_EL3:
        return "EL3";
    case TW_SPACE_EL2S:
        return "EL2S";
    case TW_SPACE_EL1R:
        return "EL1R";
    case TW_SPACE_EL2R:
        return "EL2R";
    case TW_SPACE_ROOT:
        return "Root";
    case TW_SPACE_ANY_S:
        return "Any S";
    case TW_SPACE_ANY_N:
        return "Any NS";
    case TW_SPACE_ANY_R:
        return "Any R";
    case TW_SPACE_ANY:
        return "Any";
    default:
        return "mixed";
    }
}
