/* SPDX-License-Identifier: BSD-2-Clause */
/* Single messages and runs of bytes: fields and damage equal what the corpus says, and messages
   written again are the same bytes. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

#include "ntrace/test.h"

enum { PATH_ROOM = 700 };

/* ---- lines of JSON ---- */

/* What follows `"key":` in a line; NULL: it is not there. */
static const char *value_at(const char *line, const char *key)
{
    char pattern[40];
    const char *at;

    (void)snprintf(pattern, sizeof pattern, "\"%s\":", key);
    at = strstr(line, pattern);
    return at ? at + strlen(pattern) : NULL;
}

static uint64_t number_at(const char *line, const char *key)
{
    const char *at = value_at(line, key);

    return at ? strtoull(at, NULL, 10) : 0;
}

static void text_at(char *out, size_t room, const char *line, const char *key)
{
    const char *at = value_at(line, key);

    (void)snprintf(out, room, "%.*s", at ? (int)strcspn(at + 1, "\"") : 0, at ? at + 1 : "");
}

/* The lines of a file, one after the other. */
struct lines {
    char *text, *at;
};

static struct lines open_lines(const char *name)
{
    char path[PATH_ROOM];
    struct lines lines;
    uint8_t *bytes;
    size_t size;

    check_corpus(path, sizeof path, name);
    bytes = check_load(&size, path);
    CHECK(bytes != NULL);
    lines.text = lines.at = malloc(size + 1);
    CHECK(lines.text != NULL);
    memcpy(lines.text, bytes, size);
    lines.text[size] = 0;
    free(bytes);
    return lines;
}

static char *next_line(struct lines *lines)
{
    char *line = lines->at, *end = strchr(line, '\n');

    if (!*line)
        return NULL;
    lines->at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = 0;
    return line;
}

/* ---- messages ---- */

/* The same of a line of JSON: hexadecimal are addresses, histories and what is wide. */
static void list_expected(struct tw_text *out, const char *object, const char *name)
{
    static const char *const keys[] = { "SRC",   "SYNC",  "BTYPE",   "EVCODE", "CDF",   "ETYPE",
                                        "RCODE", "ICNT",  "PROCESS", "ECODE",  "RDATA", "BCNT",
                                        "UADDR", "FADDR", "HREPEAT", "HIST",   "TSTAMP" };
    static const char *const hex[] = { "PROCESS", "ECODE", "UADDR", "FADDR", "HIST" };
    const uint64_t rcode = number_at(object, "RCODE");

    tw_text_add(out, name);
    for (size_t i = 0; i < LENGTH(keys); i++) {
        bool is_hex = !strcmp(keys[i], "RDATA") && (rcode == 1 || rcode == 2);

        if (!value_at(object, keys[i]))
            continue;
        for (size_t k = 0; k < LENGTH(hex); k++)
            is_hex |= !strcmp(keys[i], hex[k]);
        tw_text_format(out, is_hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64, keys[i],
                       number_at(object, keys[i]));
    }
}

static struct tw_ntrace_reader *codec_for(const char *line)
{
    char text[100];

    (void)snprintf(text, sizeof text, "src_bits=%u,extend_addr_msb=%u",
                   (unsigned)number_at(line, "src_bits"),
                   (unsigned)number_at(line, "extend_addr_msb"));
    return codec_of(text);
}

static void vectors_agree(void **state)
{
    struct lines lines = open_lines("ntrace/vectors.jsonl");
    size_t count = 0;
    char *line;

    (void)state;
    for (; (line = next_line(&lines)); count++) {
        struct tw_ntrace_reader *codec = codec_for(line);
        struct tw_ntrace_packet packet;
        char hex[200], id[20], name[60], got[400], want[400];
        struct tw_text got_text = tw_text_in(got, sizeof got);
        struct tw_text want_text = tw_text_in(want, sizeof want);
        uint8_t bytes[100], back[100];
        size_t size, written = sizeof back;

        text_at(id, sizeof id, line, "id");
        text_at(hex, sizeof hex, line, "bytes");
        text_at(name, sizeof name, line, "message");
        CHECK_CASE(id);
        size = from_hex(bytes, hex);
        for (size_t cut = 0; cut < size; cut++)
            CHECK_EQ(read_tight(codec, &packet, bytes, cut, false), TW_MORE);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, false), TW_OK);
        list_message(&got_text, &packet);
        list_expected(&want_text, value_at(line, "fields"), name);
        CHECK_TEXT(got, want);
        CHECK_EQ(packet.tcode, number_at(line, "TCODE"));
        CHECK_EQ(tw_ntrace_write(codec, back, &written, &packet), TW_OK);
        CHECK_BYTES(back, written, bytes, size);
        tw_ntrace_reader_free(codec);
    }
    CHECK(count >= 94);
    free(lines.text);
}

/* What the corpus says of damage, in its words. */
static void list_damage(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    static const char *const names[] = {
        [TW_NTRACE_FAULT_MSEO] = "mseo",
        [TW_NTRACE_FAULT_START] = "start",
        [TW_NTRACE_FAULT_ADDRESS] = "missing F-ADDR",
        [TW_NTRACE_FAULT_HIST] = "HIST 0",
        [TW_NTRACE_FAULT_WIDE] = "field too wide",
    };
    const bool is_cut = packet->base.type == TW_NTRACE_INCOMPLETE;
    const bool is_named = packet->fault < LENGTH(names) && names[packet->fault];
    /* Only a reserved MSEO is said where it stands; other damage where its message begins. */
    const uint64_t into = packet->fault == TW_NTRACE_FAULT_MSEO ? packet->fault_at : 0;

    CHECK(is_cut || is_named);
    tw_text_format(out, "%" PRIu64 " error %s\n", packet->base.offset + into,
                   is_cut ? "cut" : names[packet->fault]);
}

static void list_stream(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    const unsigned type = packet->base.type;

    if (type == TW_NTRACE_IDLE)
        return;
    if (type == TW_NTRACE_BAD || type == TW_NTRACE_INCOMPLETE) {
        list_damage(out, packet);
        return;
    }
    tw_text_format(out, "%" PRIu64 " ", packet->base.offset);
    if (type == TW_NTRACE_VENDOR || type == TW_NTRACE_RESERVED) {
        tw_text_format(out, "%s %u\n", type == TW_NTRACE_VENDOR ? "vendor" : "reserved",
                       packet->tcode);
        return;
    }
    list_message(out, packet);
    tw_text_char(out, '\n');
}

/* One object of `expect`; returns where the next begins. */
static const char *list_expectation(struct tw_text *out, const char *object)
{
    const char *end = strchr(object, '}');
    char copy[400], name[60], warning[60];

    (void)snprintf(copy, sizeof copy, "%.*s", (int)(end - object), object);
    tw_text_format(out, "%" PRIu64 " ", number_at(copy, "offset"));
    text_at(name, sizeof name, copy, "message");
    text_at(warning, sizeof warning, copy, "warning");
    if (value_at(copy, "error")) {
        text_at(name, sizeof name, copy, "error");
        tw_text_format(out, "error %s", name);
    } else if (!strcmp(name, "vendor") || !strcmp(name, "reserved")) {
        tw_text_format(out, "%s %" PRIu64, name, number_at(copy, "TCODE"));
    } else {
        list_expected(out, copy, name);
    }
    if (*warning)
        tw_text_format(out, " WARNING=%s", warning);
    tw_text_char(out, '\n');
    return end[1] == ',' ? end + 2 : NULL;
}

static void byte_runs_agree(void **state)
{
    struct lines lines = open_lines("ntrace/streams.jsonl");
    size_t count = 0;
    char *line;

    (void)state;
    for (; (line = next_line(&lines)); count++) {
        struct tw_ntrace_reader *codec = codec_for(line);
        struct tw_ntrace_packet packet;
        char hex[400], id[20], got[800], want[800];
        struct tw_text got_text = tw_text_in(got, sizeof got);
        struct tw_text want_text = tw_text_in(want, sizeof want);
        uint8_t bytes[200];
        size_t size, at = 0;

        text_at(id, sizeof id, line, "id");
        text_at(hex, sizeof hex, line, "bytes");
        CHECK_CASE(id);
        size = from_hex(bytes, hex);
        while (read_tight(codec, &packet, bytes + at, size - at, true) == TW_OK) {
            list_stream(&got_text, &packet);
            at += packet.base.size;
        }
        CHECK_EQ(at, size);
        for (const char *object = strchr(value_at(line, "expect"), '{'); object;)
            object = list_expectation(&want_text, object);
        CHECK_TEXT(got, want);
        tw_ntrace_reader_free(codec);
    }
    CHECK(count >= 18);
    free(lines.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_agree),
        cmocka_unit_test(byte_runs_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
