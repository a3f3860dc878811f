/* SPDX-License-Identifier: BSD-2-Clause */
/* A command run for several captures. */
#include "shared/several.h"

/* What is written for all of them has one form, and one place. */
static bool fits(const struct options *options)
{
    const char *alone = options->output  ? "output"
                        : options->split ? "split"
                        : options->save  ? "save"
                        : options->index ? "index"
                                         : NULL;

    if (!options_format_is(options, "text") && !options_format_is(options, "jsonl"))
        return options_wrong(options, "of several captures there is text and jsonl");
    return !alone || options_wrong(options, "--%s goes with one capture", alone);
}

/* False: nobody reads what would follow, or it cannot be written. */
static bool put_head(const struct options *options, const char *capture, bool is_first)
{
    struct output out;
    bool is_over;

    if (!output_open(&out, NULL, options->color))
        return false;
    if (options_format_is(options, "jsonl")) {
        output_text(&out, "{\"t\":\"CAPTURE\",\"path\":");
        output_json_text(&out, capture);
        output_text(&out, "}\n");
    } else {
        output_text(&out, is_first ? "" : "\n");
        output_color(&out, BOLD);
        output_format(&out, "==> %s <==", capture);
        output_color(&out, PLAIN);
        output_text(&out, "\n");
    }
    output_flush(&out);
    is_over = output_is_over(&out);
    return output_close(&out, true) && !is_over;
}

int several_run(const struct options *options)
{
    int worst = DONE;

    if (!fits(options))
        return BAD_USAGE;
    for (size_t i = 0; i < options->arguments.count; i++) {
        struct options one = *options;
        int status;

        one.arguments = (struct list){ &options->arguments.items[i], 1 };
        one.is_followed = i + 1 < options->arguments.count;
        if (!put_head(options, one.arguments.items[0], i == 0))
            return NOT_DONE;
        status = options->command->run(&one);
        if (status == BAD_USAGE)
            return status; /* the next would say it again */
        worst = status > worst ? status : worst;
    }
    return worst;
}
