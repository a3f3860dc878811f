/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for people has names as they were written; what programs read has them as the symbols do. */
#include "shared/names.h"

bool names_are_for_people(const struct options *options)
{
    return !options->format || options_format_is(options, "text") ||
           options_format_is(options, "svg");
}

void names_open(struct names *names, const struct options *options, bool is_for_people)
{
    names->demangler = NULL;
    if (options->no_demangle || (!is_for_people && !options->demangle))
        return;
    if (tw_demangler_new(&names->demangler, NULL, NULL) != TW_OK) {
        names->demangler = NULL;
        if (options->demangle)
            say("--demangle: this build cannot; names stay as they are");
    }
}

void names_close(struct names *names)
{
    tw_demangler_free(names->demangler);
    names->demangler = NULL;
}

const char *names_show(void *context, const char *name)
{
    struct names *names = context;

    return tw_demangle(names->demangler, name);
}
