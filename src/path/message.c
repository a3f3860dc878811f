/* SPDX-License-Identifier: BSD-2-Clause */
/* What error elements have to say. */
#include "path/print.h"

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
    case TW_ERROR_UNPLACED:
        tw_text_add(out, "branches are left out until their address is known");
        break;
    case TW_ERROR_RESERVED_BITS:
        tw_text_format(out, "bits that should be zero are set in packet 0x%02x",
                       (unsigned)(e->error_detail & 0xff));
        break;
    case TW_ERROR_PACKET_LIMIT:
        tw_text_add(out, "one packet leads through too much code, past ");
        tw_text_hex(out, e->error_detail);
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
