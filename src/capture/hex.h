/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory as text: what xxd, hexdump, od, debuggers and programmers of flash memory write. */
#ifndef CAPTURE_HEX_H
#define CAPTURE_HEX_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

enum tw_hex_form {
    TW_HEX_NONE,
    TW_HEX_DUMP, /* "00000010: 0a1b 2c3d  text", "00000010  0a 1b |text|", "0x10 <name>: 0x0a ..." */
    TW_HEX_PLAIN,  /* "0a1b2c", "0a 1b 2c", "0x0a, 0x1b," */
    TW_HEX_IHEX,   /* Intel HEX, as the debugger's "dump ihex" */
    TW_HEX_SREC,   /* Motorola S-records, "dump srec" */
    TW_HEX_VERILOG /* "@00000010" and bytes, "dump verilog" */
};

/* By its first lines. */
enum tw_hex_form tw_hex_form(const uint8_t *text, size_t size);
/* For people. */
const char *tw_hex_form_name(enum tw_hex_form form);
/* The bytes in it, in the order of the text; addresses only tell how often a line marked "*" was there
   before, and of records where they lie.  At most `most`; the caller's to give back. */
enum tw_status tw_hex_read(uint8_t **out, size_t *out_size, enum tw_hex_form form,
                           const uint8_t *text, size_t size, size_t most,
                           const struct tw_allocator *allocator);

#endif
