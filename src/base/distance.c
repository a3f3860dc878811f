/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a misspelt name is from the one that was meant. */
#include "base/distance.h"

#include <ctype.h>
#include <string.h>

size_t tw_name_distance(const char *a, const char *b)
{
    enum { MOST = 31 };
    const size_t width = strlen(b);
    size_t row[MOST + 1];

    if (width > MOST || strlen(a) > MOST)
        return MOST;
    for (size_t i = 0; i <= width; i++)
        row[i] = i;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            const size_t change =
                diagonal + (toupper((unsigned char)a[i]) != toupper((unsigned char)b[j]));
            size_t least = row[j + 1] < row[j] ? row[j + 1] : row[j];

            least = least + 1 < change ? least + 1 : change;
            diagonal = row[j + 1];
            row[j + 1] = least;
        }
    }
    return row[width];
}
