/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and names of exceptions. */
#include "analysis/exceptions.h"

#include <stdio.h>
#include <string.h>

#include <trackway/itm.h>

#include "armv7/exceptions.h"
#include "base/compiler.h"
#include "base/core.h"
#include "base/m_profile.h"

enum tw_exception_form tw_exception_form(const struct tw_source *source, const char *core_type)
{
    const char *protocol = source && source->protocol ? source->protocol : "";
    const bool is_m = tw_core_profile(core_type) == TW_PROFILE_M;

    if (strcmp(protocol, "etrace") == 0 || strcmp(protocol, "ntrace") == 0)
        return TW_FORM_RISCV;
    if (strcmp(protocol, "etmv3") == 0 || strcmp(protocol, "ptm") == 0)
        return is_m ? TW_FORM_ARMV7_M : TW_FORM_ARMV7;
    return is_m ? TW_FORM_ARMV8_M : TW_FORM_ARMV8;
}

bool tw_exception_form_is_m(enum tw_exception_form form)
{
    return form == TW_FORM_ARMV8_M || form == TW_FORM_ARMV7_M;
}

uint32_t tw_exception_number(enum tw_exception_form form, const struct tw_element *exception)
{
    const uint32_t number = exception->number;

    if (form == TW_FORM_ARMV7_M)
        return tw_m_from_etmv3(number);
    if (form == TW_FORM_ARMV8_M && number >= TW_M_ETMV4_IRQ)
        return tw_m_from_etmv4(number);
    if (form == TW_FORM_RISCV && number != TW_CAUSE_UNKNOWN &&
        exception->flags & TW_EXCEPTION_INTERRUPT)
        return number | TW_EXCEPTION_IS_INTERRUPT;
    return number;
}

static const char *armv8_name(uint32_t number)
{
    static const char *const names[16] = {
        "PE reset",   "debug halt", "call", "trap", "system error", NULL,
        "inst debug", "data debug", NULL,   NULL,   "alignment",    "inst fault",
        "data fault", NULL,         "IRQ",  "FIQ",
    };

    return number < TW_LENGTH(names) ? names[number] : NULL;
}

static const char *riscv_name(uint32_t number)
{
    static const char *const traps[] = {
        "instruction misaligned",
        "instruction access",
        "illegal instruction",
        "breakpoint",
        "load misaligned",
        "load access",
        "store misaligned",
        "store access",
        "ecall from U",
        "ecall from S",
        "ecall from VS",
        "ecall from M",
        "instruction page fault",
        "load page fault",
        NULL,
        "store page fault",
    };
    static const char *const interrupts[] = {
        NULL, "supervisor software", "VS software", "machine software",
        NULL, "supervisor timer",    "VS timer",    "machine timer",
        NULL, "supervisor external", "VS external", "machine external",
    };

    if (number & TW_EXCEPTION_IS_INTERRUPT) {
        number &= ~TW_EXCEPTION_IS_INTERRUPT;
        return number < TW_LENGTH(interrupts) ? interrupts[number] : NULL;
    }
    return number < TW_LENGTH(traps) ? traps[number] : NULL;
}

void tw_exception_name(char *text, size_t room, enum tw_exception_form form, uint32_t number)
{
    const char *name = NULL;

    switch (form) {
    case TW_FORM_RISCV:
        name = number == TW_CAUSE_UNKNOWN ? "trap" : riscv_name(number);
        break;
    case TW_FORM_ARMV7:
        name = number < 16 ? tw_armv7_exception_name(number) : NULL;
        break;
    case TW_FORM_ARMV8:
        name = armv8_name(number);
        break;
    default:
        if (number >= TW_M_FIRST_IRQ) {
            (void)snprintf(text, room, "IRQ %u", number - TW_M_FIRST_IRQ);
            return;
        }
        name = tw_exception_name_m(number);
        break;
    }
    if (name)
        (void)snprintf(text, room, "%s", name);
    else if (form == TW_FORM_RISCV)
        (void)snprintf(text, room, "%s %u",
                       number & TW_EXCEPTION_IS_INTERRUPT ? "interrupt" : "trap",
                       number & ~TW_EXCEPTION_IS_INTERRUPT);
    else
        (void)snprintf(text, room, "exception %u", number);
}
