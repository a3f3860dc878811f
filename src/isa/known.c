/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of A64 opcodes that were asked for before. */
#include "isa/known.h"

#include <string.h>

#include "isa/isa.h"
#include "isa/row.h"

/* The bits of the number in ADR and ADRP, and in what has an offset of 12 bits without sign. */
#define DISTANCE_BITS UINT32_C(0x60ffffe0)
#define OFFSET_BITS   UINT32_C(0x003ffc00)
enum { NUMBER_MOST = 48 };

/* Whether the text of an instruction depends on where it is: loads of literals, AUTIASPPC and the like, and what else is among
   direct branches. */
static bool depends_on_address(uint32_t opcode)
{
    return (tw_a64_is_of_interest(opcode) && !tw_a64_is_system(opcode)) ||
           (opcode & 0x3b000000) == 0x18000000 || (opcode & 0xff800000) == 0xf3800000;
}

static void branch_key(struct tw_known_key *key, uint32_t distance, uint64_t address)
{
    static const struct tw_isa_options options = { .wfx_is_p0 = false };
    struct tw_instruction branch;

    tw_a64_classify(&branch, key->opcode, address, &options);
    key->opcode &= ~distance;
    key->hole = TW_HOLE_TARGET;
    key->address = branch.target;
}

static void distance_key(struct tw_known_key *key, uint64_t address)
{
    const uint64_t number =
        4 * (uint64_t)tw_isa_signed(key->opcode, 23, 5) + (key->opcode >> 29 & 3);
    const bool is_pages = key->opcode >> 31;

    key->address = is_pages ? (address & ~UINT64_C(0xfff)) + (number << 12) : address + number;
    key->number = number;
    key->opcode &= ~DISTANCE_BITS;
    key->hole = is_pages ? TW_HOLE_PAGES : TW_HOLE_DISTANCE;
}

/* With an offset of 0 an instruction may have another text: it has its own opcode as a key, the others of its kind that of the
   largest offset. */
static void offset_key(struct tw_known_key *key, unsigned scale)
{
    const uint64_t offset = (key->opcode & OFFSET_BITS) >> 10;

    if (!offset)
        return;
    key->number = offset << scale;
    key->opcode |= OFFSET_BITS;
    key->hole = TW_HOLE_OFFSET;
}

bool tw_known_key(struct tw_known_key *key, uint32_t opcode, uint64_t address)
{
    const uint32_t distance = tw_a64_distance_bits(opcode);

    *key = (struct tw_known_key){ .opcode = opcode };
    if (distance)
        branch_key(key, distance, address);
    else if (depends_on_address(opcode))
        return false;
    else if ((opcode & 0x1f000000) == 0x10000000)
        distance_key(key, address);
    else if ((opcode & 0x3b000000) == 0x39000000) /* of 16 bytes: bit 23 of vector registers */
        offset_key(key, (opcode & 0x04800000) == 0x04800000 ? 4 : opcode >> 30);
    else if ((opcode & 0x1f800000) == 0x11000000)
        offset_key(key, 0);
    return true;
}

static void put_signed(struct tw_text *out, uint64_t number)
{
    if (number >> 63)
        tw_text_char(out, '-');
    tw_text_decimal(out, number >> 63 ? -number : number);
}

/* The number with what stands before it, so that it is found in one place alone; returns how long that is. */
static size_t number_text(char out[NUMBER_MOST], const struct tw_known_key *key)
{
    static const char before[][8] = { [TW_HOLE_TARGET] = " ",
                                      [TW_HOLE_DISTANCE] = ", #",
                                      [TW_HOLE_PAGES] = ", ",
                                      [TW_HOLE_OFFSET] = ", #" };
    struct tw_text text = tw_text_in(out, NUMBER_MOST);

    tw_text_add(&text, before[key->hole]);
    if (key->hole == TW_HOLE_TARGET)
        tw_text_hex(&text, key->address);
    else if (key->hole == TW_HOLE_OFFSET)
        tw_text_hex(&text, key->number);
    else
        put_signed(&text, key->number);
    if (key->hole == TW_HOLE_PAGES) {
        tw_text_add(&text, " // ");
        tw_text_hex(&text, key->address);
    }
    return text.size;
}

void tw_known_keep(struct tw_known *known, const struct tw_known_key *key,
                   const struct tw_text *text)
{
    char number[NUMBER_MOST];
    size_t size = 0, before = 0, after;

    if (text->failed)
        return;
    if (key->hole != TW_HOLE_NONE) {
        const char *at;

        size = number_text(number, key);
        at = strstr(text->chars, number);
        if (!at || !strchr("],", at[size])) /* ends there, or the text does */
            return;
        before = (size_t)(at - text->chars);
    }
    after = text->size - before - size;
    if (before + after >= sizeof known->text)
        return;
    known->opcode = key->opcode;
    known->hole = (uint8_t)before;
    memcpy(known->text, text->chars, before);
    memcpy(known->text + before, text->chars + before + size, after + 1);
}

void tw_known_put(struct tw_text *out, const struct tw_known *known,
                  const struct tw_known_key *key)
{
    char number[NUMBER_MOST];

    if (key->hole != TW_HOLE_NONE) {
        const size_t size = number_text(number, key);

        tw_text_add_size(out, known->text, known->hole);
        if (!out->failed)
            tw_text_add_size(out, number, size);
    }
    if (!out->failed)
        tw_text_add(out, known->text + known->hole);
}
