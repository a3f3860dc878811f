/* SPDX-License-Identifier: BSD-2-Clause */
/* Places as they are written. */
#include "shared/at.h"

#include <stdlib.h>
#include <string.h>

static bool wrong(const struct options *options)
{
    return options_wrong(options,
                         "--at: \"%s\" is no place; give a timestamp, SECONDSs with --clock, "
                         "+OFFSET, or trigger:N, event:N, sync:N, trace-on:N",
                         options->at);
}

/* "1.25s": seconds by --clock. */
static bool read_seconds(double *seconds, const char *text)
{
    char *end;

    *seconds = strtod(text, &end);
    return end != text && strcmp(end, "s") == 0;
}

static bool take_seconds(struct tw_run_place *place, const struct options *options,
                         double seconds)
{
    const double ticks = seconds * (double)options->clock.value;

    if (!options->clock.is_given)
        return options_wrong(options, "--at: seconds want --clock HZ with them");
    if (!(ticks >= 0) || ticks >= 18446744073709549568.0)
        return wrong(options);
    place->value = (uint64_t)ticks;
    return true;
}

bool place_parse(struct tw_run_place *place, const struct options *options)
{
    static const struct {
        const char *name;
        enum tw_place_kind kind;
        enum tw_index_kind of;
    } words[] = {
        { "time:", TW_PLACE_TIME, TW_INDEX_TIME },
        { "offset:", TW_PLACE_OFFSET, TW_INDEX_SYNC },
        { "+", TW_PLACE_OFFSET, TW_INDEX_SYNC },
        { "trigger:", TW_PLACE_NTH, TW_INDEX_TRIGGER },
        { "event:", TW_PLACE_NTH, TW_INDEX_EVENT },
        { "sync:", TW_PLACE_NTH, TW_INDEX_SYNC },
        { "trace-on:", TW_PLACE_NTH, TW_INDEX_TRACE_ON },
    };
    const char *text = options->at;
    double seconds;

    *place = (struct tw_run_place){ .kind = TW_PLACE_TIME };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i].name);

        if (strncmp(text, words[i].name, size) != 0)
            continue;
        place->kind = words[i].kind;
        place->of = words[i].of;
        text += size;
        break;
    }
    if (parse_number(&place->value, text))
        return place->kind != TW_PLACE_NTH || place->value ? true : wrong(options);
    if (place->kind == TW_PLACE_TIME && read_seconds(&seconds, text))
        return take_seconds(place, options, seconds);
    return wrong(options);
}

const char *place_hint(const struct options *options)
{
    const char *text = options->at;

    if (strncmp(text, "time:", 5) == 0 || (text[0] >= '0' && text[0] <= '9'))
        return ": a plain number is a timestamp, and the trace has none so late, or none at "
               "all; "
               "+OFFSET is a place in the file";
    return "";
}
