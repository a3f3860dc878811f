/* SPDX-License-Identifier: BSD-2-Clause */
/* The words for types, kinds and reasons, as the output spells them. */
#include <trackway/types.h>

#include "base/compiler.h"

#define NAME_OF(names, value, other)                                                           \
    ((value) < TW_LENGTH(names) && (names)[value] ? (names)[value] : (other))

const char *tw_element_type_name(unsigned type)
{
    static const char *const names[] = {
        [TW_ELEMENT_UNKNOWN] = "UNKNOWN",
        [TW_ELEMENT_NO_SYNC] = "NO_SYNC",
        [TW_ELEMENT_TRACE_ON] = "TRACE_ON",
        [TW_ELEMENT_EO_TRACE] = "EO_TRACE",
        [TW_ELEMENT_PE_CONTEXT] = "PE_CONTEXT",
        [TW_ELEMENT_INSTR_RANGE] = "INSTR_RANGE",
        [TW_ELEMENT_I_RANGE_NOPATH] = "I_RANGE_NOPATH",
        [TW_ELEMENT_ADDR_NACC] = "ADDR_NACC",
        [TW_ELEMENT_ADDR_UNKNOWN] = "ADDR_UNKNOWN",
        [TW_ELEMENT_EXCEPTION] = "EXCEPTION",
        [TW_ELEMENT_EXCEPTION_RET] = "EXCEPTION_RET",
        [TW_ELEMENT_TIMESTAMP] = "TIMESTAMP",
        [TW_ELEMENT_CYCLE_COUNT] = "CYCLE_COUNT",
        [TW_ELEMENT_EVENT] = "EVENT",
        [TW_ELEMENT_SWTRACE] = "SWTRACE",
        [TW_ELEMENT_SYNC_MARKER] = "SYNC_MARKER",
        [TW_ELEMENT_MEMTRANS] = "MEMTRANS",
        [TW_ELEMENT_INSTRUMENTATION] = "INSTRUMENTATION",
        [TW_ELEMENT_ITMTRACE] = "ITMTRACE",
        [TW_ELEMENT_DATA_ADDR] = "DATA_ADDR",
        [TW_ELEMENT_DATA_VALUE] = "DATA_VALUE",
        [TW_ELEMENT_BUS_TRANSFER] = "BUS_TRANSFER",
        [TW_ELEMENT_CUSTOM] = "CUSTOM",
        [TW_ELEMENT_ERROR] = "ERROR",
        [TW_ELEMENT_REPEAT] = "REPEAT",
    };

    return NAME_OF(names, type, "UNKNOWN");
}

const char *tw_isa_name(unsigned isa)
{
    static const char *const names[] = { "A32", "T32", "A64",  "TEE", "Jaz",
                                         "Cst", "Unk", "RV32", "RV64" };

    return NAME_OF(names, isa, "Unk");
}

const char *tw_last_kind_name(unsigned kind)
{
    static const char *const names[] = { "OTHER",   "BR",      "IBR",   "ISB",
                                         "DSB_DMB", "WFI_WFE", "TSTART" };

    return NAME_OF(names, kind, "OTHER");
}

const char *tw_last_sub_name(unsigned sub)
{
    static const char *const names[] = { "NONE",           "LINK", "V8_RET",  "V8_ERET",
                                         "V7_IMPLIED_RET", "RET",  "TRAP_RET" };

    return NAME_OF(names, sub, "NONE");
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
