/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what is wished for and frames what comes of it. */
#include "make.h"

void make_append(struct make_bytes *bytes, const uint8_t *data, size_t size)
{
    if (size > bytes->room - bytes->size) {
        bytes->room = 2 * (bytes->size + size) + 4096;
        bytes->bytes = realloc(bytes->bytes, bytes->room);
        if (!bytes->bytes)
            bench_stop("no memory");
    }
    if (size)
        memcpy(bytes->bytes + bytes->size, data, size);
    bytes->size += size;
}

uint64_t make_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

static void set_wish(struct make_wish *wish, const char *key, unsigned value)
{
    const struct {
        const char *key;
        unsigned *member;
    } rows[] = { { "blocks", &wish->blocks },     { "locality", &wish->locality },
                 { "indirect", &wish->indirect }, { "missing", &wish->missing },
                 { "times", &wish->times },       { "sync", &wish->sync },
                 { "seed", &wish->seed } };

    if (strcmp(key, "mib") == 0 || strcmp(key, "kib") == 0) {
        wish->bytes = (size_t)value << (key[0] == 'm' ? 20 : 10);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].key, key) == 0) {
            *rows[i].member = value;
            return;
        }
    bench_stop("a made subject has no %s", key);
}

static void read_wish(struct make_wish *wish, const char *text)
{
    char copy[200], *word, *rest = copy;

    *wish = (struct make_wish){ .bytes = 1 << 20,
                                .blocks = 20000,
                                .locality = 90,
                                .indirect = 9,
                                .sync = 4096,
                                .seed = 1 };
    (void)snprintf(copy, sizeof copy, "%s", text);
    word = strtok_r(copy, ",", &rest);
    (void)snprintf(wish->protocol, sizeof wish->protocol, "%s", word ? word : "");
    while ((word = strtok_r(NULL, ",", &rest)) != NULL) {
        char *value = strchr(word, '=');

        if (!value)
            bench_stop("%s wants a value", word);
        *value = 0;
        set_wish(wish, word, (unsigned)strtoul(value + 1, NULL, 0));
    }
}

/* Bytes of one ID in frames. */
static void put_in_frames(struct subject *subject, struct make_bytes *out)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    struct make_bytes frames = { 0 };
    struct tw_framer *framer;
    const uint8_t *bytes;
    size_t size;

    bench_need(tw_framer_new(&framer, &config, NULL), "framer");
    for (size_t at = 0; at < out->size; at += 1 << 20) {
        const size_t left = out->size - at;

        bench_need(tw_framer_write(framer, SUBJECT_ID, out->bytes + at,
                                   left < 1 << 20 ? left : 1 << 20),
                   "framer");
        bytes = tw_framer_output(framer, &size);
        make_append(&frames, bytes, size);
        tw_framer_take(framer);
    }
    bench_need(tw_framer_finish(framer), "framer");
    bytes = tw_framer_output(framer, &size);
    make_append(&frames, bytes, size);
    tw_framer_free(framer);
    free(out->bytes);
    *out = frames;
    subject->framing = TW_FRAMING_MEMORY;
}

void make_subject(struct subject *subject, const char *text)
{
    struct make_bytes out = { 0 };
    struct make_wish wish;

    read_wish(&wish, text);
    (void)snprintf(subject->name, sizeof subject->name, "made");
    if (strncmp(wish.protocol, "etrace", 6) == 0 || strncmp(wish.protocol, "ntrace", 6) == 0)
        make_riscv(subject, &out, &wish);
    else if (strcmp(wish.protocol, "stm") == 0 || strcmp(wish.protocol, "itm") == 0)
        make_software(subject, &out, &wish);
    else
        make_arm(subject, &out, &wish);
    subject->protocol = subject->sources[0].protocol;
    if (!strstr(wish.protocol, "trace") && strcmp(wish.protocol, "itm") != 0)
        put_in_frames(subject, &out);
    subject->data = subject_own(subject, out.bytes);
    subject->size = out.size;
}
