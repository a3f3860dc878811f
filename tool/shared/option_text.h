/* SPDX-License-Identifier: BSD-2-Clause */
/* Cutting the values of options: keys, lists. */
#ifndef OPTION_TEXT_H
#define OPTION_TEXT_H

#include <trackway/capture.h>

/* Without the blanks around it, cut in place. */
char *text_trim(char *text);

/* Cuts the text at the next comma that stands in no parentheses; what follows it, or NULL. */
char *text_comma(char *text);

/* Cuts the text before the next ",KEY=" with one of the keys; points at KEY, or NULL. */
char *text_cut(char *text, const char *const *keys);
/* Which key such a part has, and its value. */
int text_key(char *part, char **value, const char *const *keys);

/* "id:N,size:N)", "N)" and the like. */
bool text_register_detail(struct tw_register_detail *detail, char *text);

#endif
