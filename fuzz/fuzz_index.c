/* SPDX-License-Identifier: BSD-2-Clause */
/* Index files whose checksums are right and all else is not, and indexes of any bytes.
   Input: 16 bytes of choices and a seed; then the capture, or changes to its index and the
   capture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "index/file.h"
#include "kept.h"

enum { LOOKS = 500, SOURCES = 3, FILE_MAX = 1 << 20 };

struct subject {
    const uint8_t *data;
    size_t size;
    struct tw_index_capture about;
};

static volatile uint64_t sink; /* so that nothing is left out as useless */

static enum tw_status read_subject(void *context, const uint8_t **bytes, size_t *size,
                                   uint64_t offset)
{
    const struct subject *subject = context;

    if (offset - subject->about.base >= subject->size)
        return TW_END;
    *bytes = subject->data + (offset - subject->about.base);
    *size = subject->size - (size_t)(offset - subject->about.base);
    return TW_OK;
}

static const struct tw_register stm_registers[] = { { "STMTCSR", 0x100000 } };
static const struct tw_register itm_registers[] = { { "ITM_TCR", 0x120000 } };
static const struct tw_register etm_registers[] = {
    { "TRCIDR0", 0x28000ea1 }, { "TRCIDR1", 0x4100f403 }, { "TRCIDR2", 0x488 },
    { "TRCCONFIGR", 0xc1 },    { "TRCTRACEIDR", 0x10 },   { "TRCIDR8", 0 },
};
static const struct tw_register ptm_registers[] = {
    { "ETMCR", 0x10001000 },
    { "ETMIDR", 0x411cf312 },
    { "ETMCCER", 0x34c01ac2 },
    { "ETMTRACEIDR", 0x14 },
};

static const struct tw_register etmv3_registers[] = {
    { "ETMCR", 0x10001000 },
    { "ETMIDR", 0x410cf250 },
    { "ETMCCER", 0x34c01ac2 },
    { "ETMTRACEIDR", 0x15 },
};

static const struct tw_tree_source all_sources[] = {
    { .size = sizeof(struct tw_tree_source),
      .protocol = "etmv4",
      .registers = etm_registers,
      .register_count = 6 },
    { .size = sizeof(struct tw_tree_source),
      .protocol = "ptm",
      .registers = ptm_registers,
      .register_count = 4 },
    { .size = sizeof(struct tw_tree_source),
      .protocol = "itm",
      .registers = itm_registers,
      .register_count = 1 },
    { .size = sizeof(struct tw_tree_source),
      .protocol = "etrace",
      .text = "layout=v2",
      .id = 0x30 },
    { .size = sizeof(struct tw_tree_source),
      .protocol = "stm",
      .registers = stm_registers,
      .register_count = 1 },
    { .size = sizeof(struct tw_tree_source),
      .protocol = "etmv3",
      .registers = etmv3_registers,
      .register_count = 4 },
};

/* Everything that can be asked, as far as it goes. */
static void look(const struct tw_index *index, uint64_t seed)
{
    struct tw_index_stream_block stream_block = { .size = sizeof stream_block };
    struct tw_index_stream stream = { .size = sizeof stream };
    struct tw_index_block block = { .size = sizeof block };
    struct tw_index_entry entry;
    struct tw_frame_event event;
    uint64_t from, to, number;

    for (uint64_t i = 0; i < LOOKS && tw_index_block(index, &block, i) == TW_OK; i++)
        sink += block.offset;
    for (uint64_t i = 0; i < LOOKS && tw_index_event(index, &event, i) == TW_OK; i++)
        sink += event.offset;
    for (uint64_t i = 0; i < LOOKS && tw_index_part(index, &from, &to, i) == TW_OK; i++)
        sink += to;
    sink += (uint64_t)tw_index_find_trigger(index, &entry, seed & 7);
    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++) {
        sink += strlen(stream.protocol);
        for (uint64_t n = 0;
             n < LOOKS && tw_index_stream_block(index, &stream_block, i, n) == TW_OK; n++)
            sink += stream_block.first_sync;
        for (uint64_t n = 0; n < LOOKS && tw_index_entry(index, &entry, i, n) == TW_OK; n++)
            sink += entry.value;
        for (unsigned kind = 0; kind < TW_INDEX_KINDS; kind++) {
            const enum tw_index_kind of = (enum tw_index_kind)kind;

            sink += (uint64_t)tw_index_find_nth(index, &entry, i, of, seed & 0xff);
            sink += (uint64_t)tw_index_find_before(index, &entry, i, of, seed);
            sink += (uint64_t)tw_index_find_next(index, &entry, i, of, seed & 0xffff);
        }
        sink += (uint64_t)tw_index_find_time(index, &entry, i, seed);
        sink += (uint64_t)tw_index_find_offset(index, &number, i, seed & 0xffff);
    }
}

/* Decoding a little from where the index says. */
static void begin(const struct subject *subject, const struct tw_index *index, uint64_t seed)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = subject->about.framing,
                                           .base = subject->about.base };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;
    uint64_t from = 0, offset = 0;

    if (tw_tree_new(&tree, &config, NULL) != TW_OK)
        return;
    for (size_t i = 0; i < subject->about.source_count; i++)
        if (tw_tree_add_source(tree, NULL, &subject->about.sources[i]) != TW_OK)
            abort();
    if (tw_index_locate(&subject->about, index, &offset, NULL, seed) != TW_OK)
        offset = subject->about.base + seed % (subject->size + 1);
    if (tw_index_seek(&subject->about, index, tree, &from, offset, 1 + (seed & 3)) == TW_OK) {
        if (from < subject->about.base || from - subject->about.base > subject->size)
            abort();
        if (tw_tree_feed(tree, subject->data + (from - subject->about.base),
                         subject->size - (size_t)(from - subject->about.base)) == TW_OK)
            while (tw_tree_next(tree, &batch) == TW_OK)
                sink += batch.count;
    }
    tw_tree_free(tree);
}

/* What the checksums have to be. */
static void sign(uint8_t *bytes, size_t size)
{
    const size_t sums = (size_t)tw_load_le64(bytes + HEADER_SUMS);

    for (size_t page = 1; page < sums / TW_INDEX_PAGE; page++)
        tw_store_le64(bytes + sums + 8 * (page - 1),
                      tw_hash_of(bytes + page * TW_INDEX_PAGE, TW_INDEX_PAGE));
    tw_store_le64(bytes + HEADER_SUM_OF_SUMS, tw_hash_of(bytes + sums, size - sums));
    tw_store_le64(bytes + HEADER_SUM, tw_hash_of(bytes, HEADER_SUM));
}

/* Four bytes each: where, in the pages behind the header; what is put there; and how. */
static void spoil(uint8_t *bytes, const uint8_t *data, size_t data_size)
{
    const size_t sums = (size_t)tw_load_le64(bytes + HEADER_SUMS);
    const size_t count = data_size ? data[0] % 16 : 0;
    size_t at = 1;

    for (size_t i = 0; i < count && data_size - at >= 4; i++, at += 4) {
        const size_t place =
            TW_INDEX_PAGE + tw_load_le16(data + at) * 4u % (sums - TW_INDEX_PAGE);

        if (data[at + 3] & 1)
            bytes[place] = data[at + 2];
        else if (place + 8 <= sums)
            tw_store_le64(bytes + place, data[at + 3] & 2
                                             ? (uint64_t)data[at + 2] << (data[at + 3] >> 2)
                                             : UINT64_MAX - data[at + 2]);
    }
}

static void try_index(const struct subject *subject, const struct tw_index *index,
                      uint64_t seed)
{
    look(index, seed);
    sink += (uint64_t)tw_index_matches(index, &subject->about, true, NULL);
    /* Nobody may use an index that does not match, but if one does nothing breaks. */
    if (tw_index_about(index)->base == subject->about.base &&
        tw_index_about(index)->bytes == subject->about.bytes &&
        tw_index_about(index)->framing == subject->about.framing)
        begin(subject, index, seed);
}

/* An index of the bytes, spoilt where the input says, and signed. */
static void try_file(struct subject *subject, uint64_t seed)
{
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .block_bytes = 512 };
    const size_t changes = subject->size ? 1 + 4u * (subject->data[0] % 16) : 0;
    const uint8_t *input = subject->data;
    const size_t input_size = subject->size;
    struct tw_index_file *file;
    const struct tw_index *index;
    struct tw_index *made;
    static uint8_t bytes[FILE_MAX];
    static size_t size; /* of them that are not zero: what was written before */
    FILE *stream;
    bool is_put;

    memset(bytes, 0, size);
    stream = fmemopen(bytes, FILE_MAX, "w+");
    size = FILE_MAX;
    subject->data += changes < input_size ? changes : input_size;
    subject->size -= changes < input_size ? changes : input_size;
    subject->about.bytes = subject->size;
    if (!stream || tw_index_build(&made, &subject->about, &config, NULL) != TW_OK)
        abort();
    index = made;
    is_put = tw_index_put(stream, &index, 1);
    if (fclose(stream) == 0 && is_put) {
        size = (size_t)tw_load_le64(bytes + HEADER_SIZE);
        spoil(bytes, input, input_size);
        sign(bytes, size);
        if (tw_index_open_bytes(&file, bytes, size, NULL, NULL) == TW_OK) {
            for (size_t i = 0; i < tw_index_file_count(file); i++)
                try_index(subject, tw_index_file_get(file, i), seed);
            tw_index_close(file);
        }
    }
    tw_index_free(made);
}

static void try_capture(const struct subject *subject, uint64_t seed)
{
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = (enum tw_index_detail)(seed % 3),
                                            .block_bytes = 512u << (seed >> 3 & 3) };
    struct tw_index *index;

    if (tw_index_build(&index, &subject->about, &config, NULL) != TW_OK)
        return;
    if (tw_index_matches(index, &subject->about, true, NULL) != TW_OK)
        abort();
    look(index, seed);
    if (goes_through(0, 2, seed >> 5 & 1))
        begin(subject, index, seed);
    if (goes_through(1, 2, seed >> 5 & 1))
        begin(subject, NULL, seed);
    tw_index_free(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct subject subject = { .data = data, .size = size };
    uint64_t seed;

    if (size < 16)
        return 0;
    seed = tw_load_le64(data + 8);
    subject.about = (struct tw_index_capture){ .size = sizeof subject.about,
                                               .framing = (enum tw_framing)(data[1] % 5),
                                               .base = data[2],
                                               .read = read_subject,
                                               .read_context = &subject,
                                               .sources = all_sources + data[3] % 4,
                                               .source_count = SOURCES };
    if (subject.about.framing == TW_FRAMING_NONE) {
        subject.about.sources = all_sources + data[3] % 6;
        subject.about.source_count = 1;
    }
    subject.data += 16;
    subject.size -= 16;
    subject.about.bytes = subject.size;
    if (data[0] & 1)
        try_capture(&subject, seed);
    else
        try_file(&subject, seed);
    return 0;
}
