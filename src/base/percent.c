/* SPDX-License-Identifier: BSD-2-Clause */
/* See percent.h. */
#include "base/percent.h"

#include <stdio.h>

struct tw_percent tw_percent(double part, double all, int digits)
{
    const double value = all > 0 ? 100 * part / all : 0;
    struct tw_percent percent;
    double least = 1;

    for (int i = 0; i < digits; i++)
        least /= 10;
    if (value > 0 && value < least / 2)
        (void)snprintf(percent.text, sizeof percent.text, "<%.*f", digits, least);
    else if (part < all && value >= 100 - least / 2)
        (void)snprintf(percent.text, sizeof percent.text, ">%.*f", digits, 100 - least);
    else
        (void)snprintf(percent.text, sizeof percent.text, "%.*f", digits, value);
    return percent;
}
