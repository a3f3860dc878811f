/* SPDX-License-Identifier: BSD-2-Clause */
/* Cutting the values of options: copies that are freed together, keys, lists. */
#ifndef PIECES_H
#define PIECES_H

#include <trackway/capture.h>

#include "shared/output.h"

/* Blocks of memory that live until pieces_free. */
struct pieces {
    struct piece *last;
};

/* Zeroed; NULL: out of memory, said so. */
void *pieces_room(struct pieces *pieces, size_t size);
char *pieces_copy(struct pieces *pieces, const char *text);
void pieces_free(struct pieces *pieces);

/* Without the blanks around it, cut in place. */
char *pieces_trim(char *text);

/* Cuts the text at the next comma that stands in no parentheses; what follows it, or NULL. */
char *pieces_comma(char *text);

/* Cuts the text before the next ",KEY=" with one of the keys; points at KEY, or NULL. */
char *pieces_cut(char *text, const char *const *keys);
/* Which key such a piece has, and its value. */
int pieces_key(char *piece, char **value, const char *const *keys);

/* "id:N,size:N)", "N)" and the like. */
bool pieces_register_detail(struct tw_register_detail *detail, char *text);

#endif
