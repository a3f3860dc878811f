/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of a call: status and one line of text. */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

enum tw_status tw_fail(struct tw_fault *fault, enum tw_status status, const char *format, ...)
{
    va_list arguments;

    if (!fault)
        return status;
    fault->status = status;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return status;
}

const char *tw_status_name(enum tw_status status)
{
    switch (status) {
    case TW_OK:
        return "TW_OK";
    case TW_MORE:
        return "TW_MORE";
    case TW_END:
        return "TW_END";
    case TW_E_ARGUMENT:
        return "TW_E_ARGUMENT";
    case TW_E_CONFIG:
        return "TW_E_CONFIG";
    case TW_E_MEMORY:
        return "TW_E_MEMORY";
    case TW_E_FILE:
        return "TW_E_FILE";
    case TW_E_UNSUPPORTED:
        return "TW_E_UNSUPPORTED";
    case TW_E_CANCELLED:
        return "TW_E_CANCELLED";
    case TW_E_ROOM:
        return "TW_E_ROOM";
    }
    return "unknown status";
}
