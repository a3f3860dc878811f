/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: what the encoders of RISC-V trace share. */
#include "commands/encode_riscv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void encode_keep(struct encode_bytes *to, const uint8_t *bytes, size_t size)
{
    if (to->is_out_of_memory)
        return;
    if (to->size + size > to->room) {
        const size_t room = 2 * (to->size + size);
        uint8_t *moved = realloc(to->bytes, room);

        if (!moved) {
            to->is_out_of_memory = true;
            return;
        }
        to->bytes = moved;
        to->room = room;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

char *encode_read_text(struct encoding *encoding, const char *path)
{
    const size_t most = 1 << 20;
    FILE *file = fopen(path, "rb");
    char *text = file ? arena_room(&encoding->arena, most + 1) : NULL;
    size_t size = text ? fread(text, 1, most, file) : 0;

    if (!file || !text || ferror(file) || size == most) {
        say("encode: cannot read %s: %s", path, size == most ? "too large" : strerror(errno));
        text = NULL;
    }
    if (file)
        (void)fclose(file);
    return text;
}

unsigned encode_xlen(const struct encoding *encoding)
{
    const struct tw_log_options options = { .size = sizeof options,
                                            .image = encoding->image,
                                            .repeats_most =
                                                encoding->options->log_repeats.value };
    unsigned xlen = tw_image_xlen(encoding->image);
    struct tw_log *log;
    struct tw_step step;

    if (xlen ||
        tw_log_open(&log, encoding->options->arguments.items[0], &options, NULL) != TW_OK)
        return xlen;
    while (tw_log_is_riscv(log) && !xlen && tw_log_next(log, &step) == TW_OK)
        if (step.kind == TW_STEP_INSTRUCTIONS && step.count)
            xlen = step.instructions[0].isa == TW_ISA_RV32 ? 32 : 64;
    tw_log_free(log);
    return xlen;
}

bool encode_note_log(struct encoding *encoding, const char *path)
{
    struct tw_log_options options = { .size = sizeof options,
                                      .image = encoding->image,
                                      .repeats_most = encoding->options->log_repeats.value };
    struct tw_log *log;
    struct tw_step step;
    bool is_good = true;

    if (tw_log_open(&log, path, &options, NULL) != TW_OK)
        return true;
    if (!tw_log_is_riscv(log)) {
        say("encode: the log is of an Arm processor, which %s does not trace",
            encoding->encoder->protocol);
        is_good = false;
    }
    while (is_good && tw_log_next(log, &step) == TW_OK)
        if (step.kind == TW_STEP_INSTRUCTIONS)
            is_good = encode_note_code(encoding, &step);
    tw_log_free(log);
    return is_good;
}

void encode_say_log(const char *path, const struct tw_fault *fault)
{
    const bool is_named = strncmp(fault->text, path, strlen(path)) == 0;

    say("encode: %s%s%s", is_named ? "" : path, is_named ? "" : ": ", fault->text);
}
