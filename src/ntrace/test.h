/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of N-Trace have in common. */
#ifndef NTRACE_TEST_H
#define NTRACE_TEST_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "ntrace/packet.h"

static inline struct tw_ntrace_config read_config(const char *text)
{
    struct tw_ntrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    tw_ntrace_config_init(&config);
    CHECK_EQ(tw_ntrace_config_read(&config, text, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    CHECK_EQ(tw_ntrace_config_check(&config, &fault), TW_OK);
    return config;
}

static inline struct tw_ntrace_reader *codec_of(const char *text)
{
    const struct tw_ntrace_config config = read_config(text);
    struct tw_ntrace_reader *codec;

    CHECK_EQ(tw_ntrace_reader_new(&codec, &config, NULL, NULL), TW_OK);
    return codec;
}

/* From an exact-size heap block, so that one byte too far is seen. */
static inline enum tw_status read_tight(struct tw_ntrace_reader *codec,
                                        struct tw_ntrace_packet *packet, const uint8_t *bytes,
                                        size_t size, bool is_last)
{
    uint8_t *copy = check_copy(bytes, size);
    const enum tw_status status = tw_ntrace_read(codec, packet, copy, size, is_last);

    free(copy);
    return status;
}

/* Bytes in hexadecimal, blanks between them or not. */
static inline size_t from_hex(uint8_t *out, const char *hex)
{
    size_t size = 0;

    for (; *hex; hex += hex[2] == ' ' ? 3 : 2) {
        const char digits[3] = { hex[0], hex[1], 0 };

        out[size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return size;
}

/* "IndirectBranch SRC=1 BTYPE=0 ICNT=5 UADDR=0x35": as the corpus lists them. */
static inline void list_message(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    char line[400];
    struct tw_text text = tw_text_in(line, sizeof line);
    char *fields;

    if (packet->base.type == TW_NTRACE_VENDOR) {
        tw_text_format(out, "tcode%u", packet->tcode);
        return;
    }
    tw_protocol_print(&text, &tw_ntrace, packet);
    tw_text_add(out, tw_ntrace_type_name(packet->base.type));
    if (packet->has & TW_NTRACE_HAS_SRC)
        tw_text_format(out, " SRC=%u", packet->src);
    fields = strchr(line + strcspn(line, " ") + 1, ' '); /* behind tcode */
    for (; fields && *fields; fields++) {
        const bool is_key = *fields >= 'a' && *fields <= 'z' && strchr(fields, '=') &&
                            !memchr(fields, ' ', (size_t)(strchr(fields, '=') - fields));

        tw_text_char(out, is_key ? (char)(*fields - 'a' + 'A') : *fields);
    }
}

#endif
