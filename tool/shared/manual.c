/* SPDX-License-Identifier: BSD-2-Clause */
#include "shared/manual.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

enum { PATH_ROOM = 4096 };

/* Text that troff shall not obey. */
static void put(struct output *out, const char *text, size_t size, bool *is_begin)
{
    for (size_t i = 0; i < size; i++) {
        if (*is_begin && (text[i] == '.' || text[i] == '\''))
            output_text(out, "\\&");
        if (text[i] == '-')
            output_text(out, "\\-");
        else if (text[i] == '\\')
            output_text(out, "\\e");
        else
            output_bytes(out, &text[i], 1);
        *is_begin = text[i] == '\n';
    }
}

static void put_text(struct output *out, const char *text)
{
    bool is_begin = true;

    put(out, text, strlen(text), &is_begin);
}

/* One line, or as many as the text has. */
static void put_lines(struct output *out, const char *text, size_t size)
{
    bool is_begin = true;

    put(out, text, size, &is_begin);
    output_text(out, "\n");
}

static void put_option(struct output *out, const struct command *command, unsigned key)
{
    const struct option_row *row = &option_rows[key];
    const char *formats = key == O_FORMAT ? options_formats(command) : NULL;

    output_text(out, ".TP\n\\fB");
    if (row->letter)
        output_format(out, "\\-%c\\fR, \\fB", row->letter);
    output_text(out, "\\-\\-");
    put_text(out, row->name);
    output_text(out, "\\fR");
    if (row->value) {
        output_text(out, row->is_optional ? "[=\\fI" : " \\fI");
        put_text(out, row->value);
        output_text(out, row->is_optional ? "\\fR]" : "\\fR");
    }
    output_text(out, "\n");
    if (row->choices && !formats) {
        put_lines(out, row->choices, strlen(row->choices));
        output_text(out, ".br\n");
    }
    if (formats) {
        put_text(out, formats);
        output_format(out, " (default: %.*s)\n", (int)strcspn(formats, "|"), formats);
    } else if (row->help) {
        put_lines(out, row->help, strlen(row->help));
    }
}

static bool is_examples(const char *line)
{
    return strncmp(line, "examples:", 9) == 0;
}

/* The details of the help: paragraphs at the margin, and what is indented as it stands. */
static void put_details(struct output *out, const char *text)
{
    bool is_verbatim = false;

    for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n')) {
        const size_t size = strcspn(text, "\n");

        if (is_verbatim != (size && text[0] == ' ')) {
            is_verbatim = !is_verbatim;
            output_text(out, is_verbatim ? ".nf\n" : ".fi\n");
        }
        if (is_examples(text))
            output_text(out, ".SH EXAMPLES\n");
        else if (!size)
            output_text(out, ".PP\n");
        else
            put_lines(out, text, size);
    }
    if (is_verbatim)
        output_text(out, ".fi\n");
}

/* Details up to the examples, and these: where the second begin; or NULL. */
static const char *examples_of(const char *details)
{
    const char *at = details;

    while (at && !is_examples(at)) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at;
}

static void put_more(struct output *out, const char *folder, const char *name)
{
    char path[PATH_ROOM], bytes[4096];
    FILE *file;
    size_t size;

    if (!folder || snprintf(path, sizeof path, "%s/%s.man", folder, name) >= (int)sizeof path)
        return;
    file = fopen(path, "rb");
    if (!file)
        return;
    while ((size = fread(bytes, 1, sizeof bytes, file)) > 0)
        output_bytes(out, bytes, size);
    (void)fclose(file);
}

static void put_title(struct output *out, const char *name)
{
    output_text(out, ".TH TRACKWAY\\-");
    for (; *name; name++)
        output_format(out, *name == '-' ? "\\-" : "%c", toupper((unsigned char)*name));
    output_format(out, " 1 \"\" \"trackway %s\" \"Trackway\"\n", tw_version());
}

static void put_page(struct output *out, const struct command *command, const char *more)
{
    const char *examples = examples_of(command->details);

    put_title(out, command->name);
    output_text(out, ".SH NAME\ntrackway\\-");
    put_text(out, command->name);
    output_text(out, " \\- ");
    put_text(out, command->summary);
    output_text(out, "\n.SH SYNOPSIS\n.B trackway ");
    put_text(out, command->name);
    output_text(out, "\n");
    put_text(out, command->arguments);
    output_text(out, "\n.SH DESCRIPTION\n");
    if (command->details) {
        char *first = strdup(command->details);

        if (!first)
            out_of_memory();
        if (examples)
            first[examples - command->details] = 0;
        put_details(out, first);
        free(first);
    }
    put_more(out, more, command->name);
    output_text(out, ".SH OPTIONS\n");
    for (unsigned key = 1; key < OPTION_COUNT; key++)
        if (options_takes(command, key))
            put_option(out, command, key);
    if (examples)
        put_details(out, examples);
    output_text(out, ".SH SEE ALSO\n.BR trackway (1)\n");
}

bool manual_write(const struct command *const *commands, size_t count, const char *folder,
                  const char *more)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_ROOM];
        struct output out;

        if (snprintf(path, sizeof path, "%s/trackway-%s.1", folder, commands[i]->name) >=
            (int)sizeof path) {
            say("the name of folder %.60s... is too long", folder);
            return false;
        }
        if (!output_open(&out, path, COLOR_NEVER))
            return false;
        put_page(&out, commands[i], more);
        if (!output_close(&out, true))
            return false;
    }
    return true;
}
