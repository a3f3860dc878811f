/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions as the architecture numbers and names them, whatever the trace sends for them. */
#ifndef ANALYSIS_EXCEPTIONS_H
#define ANALYSIS_EXCEPTIONS_H

#include <trackway/capture.h>
#include <trackway/types.h>

/* How a source numbers exceptions. */
enum tw_exception_form {
    TW_FORM_ARMV8,   /* ETMv4, ETE of A and R profile: types of exceptions */
    TW_FORM_ARMV8_M, /* ETMv4 of M profile */
    TW_FORM_ARMV7,   /* ETMv3, PTM of A and R profile */
    TW_FORM_ARMV7_M, /* ETMv3 of M profile */
    TW_FORM_RISCV
};

/* RISC-V: this bit of a number tells an interrupt from a trap. */
#define TW_EXCEPTION_IS_INTERRUPT 0x80000000u

enum tw_exception_form tw_exception_form(const struct tw_source *source, const char *core_type);
bool tw_exception_form_is_m(enum tw_exception_form form);
/* M profile: the number in IPSR, as DWT packets carry it; else as traced. */
uint32_t tw_exception_number(enum tw_exception_form form, const struct tw_element *exception);
/* Writes what it is called; never more than `room` bytes. */
void tw_exception_name(char *text, size_t room, enum tw_exception_form form, uint32_t number);

#endif
