/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: what the encoders of RISC-V trace share. */
#ifndef ENCODE_RISCV_H
#define ENCODE_RISCV_H

#include <trackway/hart.h>

#include "commands/encode.h"

/* Bytes that an encoder has made. */
struct encode_bytes {
    uint8_t *bytes;
    size_t size, room;
    bool is_out_of_memory;
};

void encode_keep(struct encode_bytes *to, const uint8_t *bytes, size_t size);

/* A small file as text; NULL: said why not. */
char *encode_read_text(struct encoding *encoding, const char *path);
/* 32 or 64, as the program or the log says; 0: neither does. */
unsigned encode_xlen(const struct encoding *encoding);
/* Code that is in no program file, of logs that hold it. */
bool encode_note_log(struct encoding *encoding, const char *path);
/* What is wrong with the log. */
void encode_say_log(const char *path, const struct tw_fault *fault);

#endif
