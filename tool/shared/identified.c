/* SPDX-License-Identifier: BSD-2-Clause */
/* What a raw file is, where nobody says. */
#include "shared/identified.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Whether the file says itself how it is opened. */
static bool is_capture(const struct tw_identity *about)
{
    return about->format &&
           (strcmp(about->format, "perf.data") == 0 || strcmp(about->format, "snapshot") == 0);
}

static bool take(struct identified *identified, struct tw_capture_options *to,
                 const struct tw_identity *about)
{
    identified->sources = calloc(about->source_count + 1, sizeof *identified->sources);
    if (!identified->sources) {
        say("out of memory");
        return false;
    }
    to->sources = identified->sources;
    for (size_t i = 0; i < about->source_count; i++)
        if (about->sources[i].protocol)
            identified->sources[to->source_count++] = (struct tw_capture_source_option){
                .id = about->sources[i].id,
                .protocol = about->sources[i].protocol,
                .config = about->sources[i].config && *about->sources[i].config
                              ? about->sources[i].config
                              : NULL,
            };
    to->has_framing = true;
    to->framing = about->framing;
    to->swap = to->swap ? to->swap : about->swap;
    to->skip = to->skip ? to->skip : about->skip;
    if (about->has_wrapped && !to->has_wrapped) {
        to->has_wrapped = true;
        to->wrapped_at = about->wrapped_at;
    }
    return true;
}

bool identified_fill(struct identified *identified, struct tw_capture_options *to,
                     const struct options *options, const char *path)
{
    const struct tw_identify_options how = { .size = sizeof how,
                                             .has_framing = to->has_framing,
                                             .framing = to->framing,
                                             .stays_outside = true };
    const struct tw_identity *about;
    enum tw_status status;

    if (to->source_count || to->swap || to->skip || !is_file(path))
        return true;
    status = tw_identify(&identified->found, path, &how, NULL);
    if (status == TW_E_MEMORY)
        out_of_memory();
    if (status != TW_OK)
        return true; /* opening it says what is wrong */
    about = tw_identified_about(identified->found);
    if (is_capture(about))
        return true;
    if (about->format && strcmp(about->format, "trace") != 0 && !to->has_framing &&
        strcmp(options->command->name, "info") != 0) {
        say("%s is %s%s%s", path, about->what, about->command ? "; try: " : "",
            about->command ? about->command : "");
        return false;
    }
    if (about->confidence < TW_IDENTITY_CERTAIN || !about->has_framing)
        return true;
    if (!options->quiet)
        say("%s: %s (%.2f), opened as that; \"trackway identify\" says why", path, about->what,
            about->confidence);
    return take(identified, to, about);
}

void identified_guess(char *out, size_t room, const struct identified *identified)
{
    const struct tw_identity *about =
        identified->found ? tw_identified_about(identified->found) : NULL;

    if (about && about->has_framing && about->command)
        (void)snprintf(out, room, "; most likely (%.2f) it is %s: %s", about->confidence,
                       about->what, about->command);
    else
        out[0] = 0;
}

void identified_free(struct identified *identified)
{
    tw_identified_free(identified->found);
    free(identified->sources);
    *identified = (struct identified){ 0 };
}
