/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer: its texts, and the command that opens the file. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "identify/identify.h"

static char *keep(struct tw_identified *answer, const char *format, va_list arguments)
{
    va_list again;
    char *text = NULL;
    int size;

    va_copy(again, arguments);
    size = vsnprintf(NULL, 0, format, arguments);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    if (size >= 0 &&
        TW_GROW(answer->allocator, &answer->texts, &answer->text_room, answer->text_count + 1))
        text = tw_take_raw(answer->allocator, (size_t)size + 1);
    if (text) {
        (void)vsnprintf(text, (size_t)size + 1, format, again);
        answer->texts[answer->text_count++] = text;
    } else {
        answer->no_memory = true;
    }
    va_end(again);
    return text;
}

const char *tw_answer_text(struct tw_identified *answer, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = keep(answer, format, arguments);
    va_end(arguments);
    return text ? text : "";
}

void tw_answer_evidence(struct tw_identified *answer, const char *format, ...)
{
    const size_t count = answer->about.evidence_count;
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = keep(answer, format, arguments);
    va_end(arguments);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    if (!text ||
        !TW_GROW(answer->allocator, &answer->evidence, &answer->evidence_room, count + 1)) {
        answer->no_memory = true;
        return;
    }
    answer->evidence[count] = text;
    answer->about.evidence = answer->evidence;
    answer->about.evidence_count = count + 1;
}

static bool is_plain(const char *text)
{
    return text[0] && text[0] != '-' &&
           strspn(text,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,:=@%") ==
               strlen(text);
}

/* As a shell takes it for one word. */
static void add_word(struct tw_text *out, const char *word)
{
    if (is_plain(word)) {
        tw_text_add(out, word);
        return;
    }
    if (word[0] == '-')
        tw_text_add(out, "./");
    tw_text_char(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            tw_text_add(out, "'\\''");
        else
            tw_text_char(out, *word);
    tw_text_char(out, '\'');
}

static void add_sources(struct tw_text *out, const struct tw_identity *about)
{
    for (size_t i = 0; i < about->source_count; i++) {
        const struct tw_identified_source *source = &about->sources[i];

        if (!source->protocol)
            continue;
        if (about->framing == TW_FRAMING_NONE) {
            tw_text_format(out, " --protocol %s", source->protocol);
            if (source->config && *source->config)
                tw_text_format(out, " --config %s", source->config);
            continue;
        }
        tw_text_format(out, " --source 0x%02x:%s", source->id, source->protocol);
        if (source->config && *source->config)
            tw_text_format(out, ":%s", source->config);
    }
}

void tw_answer_command(struct tw_identified *answer, const char *name)
{
    const struct tw_identity *about = &answer->about;
    struct tw_text out = { .allocator = answer->allocator };

    tw_text_add(&out, "trackway decode ");
    add_word(&out, name);
    if (about->has_framing && about->framing != TW_FRAMING_NONE)
        tw_text_format(&out, " --framing %s", tw_framing_name(about->framing));
    add_sources(&out, about);
    if (about->swap)
        tw_text_format(&out, " --swap %u", about->swap);
    if (about->skip)
        tw_text_format(&out, " --offset %" PRIu64, about->skip);
    if (about->has_wrapped)
        tw_text_format(&out, " --wrapped-at 0x%" PRIx64, about->wrapped_at);
    answer->no_memory = answer->no_memory || out.failed;
    answer->about.command = out.failed ? NULL : tw_answer_text(answer, "%s", out.chars);
    tw_text_free(&out);
}

const struct tw_identity *tw_identified_about(const struct tw_identified *identified)
{
    return &identified->about;
}

void tw_identified_free(struct tw_identified *identified)
{
    struct tw_allocator allocator;
    bool has_allocator;

    if (!identified)
        return;
    for (size_t i = 0; i < identified->text_count; i++)
        tw_give(identified->allocator, identified->texts[i]);
    tw_give(identified->allocator, identified->texts);
    tw_give(identified->allocator, (void *)identified->evidence);
    has_allocator = identified->allocator != NULL;
    allocator = identified->allocator_copy;
    tw_give(has_allocator ? &allocator : NULL, identified);
}
