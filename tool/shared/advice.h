/* SPDX-License-Identifier: BSD-2-Clause */
/* What is missing, and what to give: a line on standard error each. */
#ifndef SHARED_ADVICE_H
#define SHARED_ADVICE_H

#include <stdint.h>

#include <trackway/functions.h>

/* Instructions in code without symbols, of all. */
void advise_symbols(uint64_t unknown, uint64_t all);
/* The same where instructions are not counted: functions without symbols, of all. */
void advise_functions(const struct tw_functions *functions);
/* Times that the path led to code that is not there. */
void advise_code(uint64_t times);
/* There is not one instruction in these captures; `missing`: times that code was not there. */
struct feed;
void advise_nothing(const struct feed *feed, uint64_t missing);

#endif
