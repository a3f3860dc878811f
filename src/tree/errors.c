/* SPDX-License-Identifier: BSD-2-Clause */
/* The error log, and what elements have to say to it. */
#include <trackway/errors.h>

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "path/print.h"

enum { DEFAULT_MOST = 65536, LINE_ROOM = 4600 };

struct tw_errors {
    struct tw_errors_config config; /* `name` is our own copy */
    struct tw_error last;
    uint64_t counts[TW_SEVERITY_INFO + 1]; /* [0]: all */
    struct tw_error *kept;
    size_t kept_count, kept_room;
};

enum tw_status tw_errors_new(struct tw_errors **errors, const struct tw_errors_config *config,
                             struct tw_fault *fault)
{
    struct tw_errors_config copy;
    struct tw_errors *made;

    *errors = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_errors_config", fault));
    config = &copy;
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an error log");
    made->config = *config;
    made->config.name = NULL;
    if (!made->config.most)
        made->config.most = DEFAULT_MOST;
    if (config->name && !tw_errors_set_name(made, config->name)) {
        tw_errors_free(made);
        return tw_fail(fault, TW_E_MEMORY, "no memory for an error log");
    }
    *errors = made;
    return TW_OK;
}

/* Our own copy is only const for those who look at the config. */
static void free_name(struct tw_errors *errors)
{
    union {
        const char *there;
        void *ours;
    } name = { .there = errors->config.name };

    tw_give(errors->config.allocator, name.ours);
    errors->config.name = NULL;
}

void tw_errors_free(struct tw_errors *errors)
{
    if (!errors)
        return;
    free_name(errors);
    tw_give(errors->config.allocator, errors->kept);
    tw_give(errors->config.allocator, errors);
}

bool tw_errors_set_name(struct tw_errors *errors, const char *name)
{
    char *copy = name ? tw_copy_text(errors->config.allocator, name) : NULL;

    if (name && !copy)
        return false;
    free_name(errors);
    errors->config.name = copy;
    return true;
}

void tw_errors_add(struct tw_errors *errors, const struct tw_error *error)
{
    const struct tw_errors_config *config = &errors->config;

    errors->last = *error;
    errors->last.text[sizeof error->text - 1] = 0;
    errors->counts[0]++;
    if (error->severity > TW_SEVERITY_DEFAULT && error->severity <= TW_SEVERITY_INFO)
        errors->counts[error->severity]++;
    if (config->keeps_all && errors->kept_count < config->most &&
        TW_GROW(config->allocator, &errors->kept, &errors->kept_room, errors->kept_count + 1))
        errors->kept[errors->kept_count++] = errors->last;
    if (config->file) {
        char line[LINE_ROOM];

        (void)tw_error_text(line, sizeof line, &errors->last, config->name);
        (void)fprintf(config->file, "%s\n", line);
    }
    if (config->on_error)
        config->on_error(config->on_error_context, &errors->last);
}

void tw_errors_clear(struct tw_errors *errors)
{
    memset(errors->counts, 0, sizeof errors->counts);
    errors->kept_count = 0;
}

const struct tw_error *tw_errors_last(const struct tw_errors *errors)
{
    return errors->counts[0] ? &errors->last : NULL;
}

uint64_t tw_errors_count(const struct tw_errors *errors, enum tw_severity severity)
{
    return (unsigned)severity <= TW_SEVERITY_INFO ? errors->counts[severity] : 0;
}

size_t tw_errors_kept(const struct tw_errors *errors)
{
    return errors->kept_count;
}

const struct tw_error *tw_errors_get(const struct tw_errors *errors, size_t number)
{
    return number < errors->kept_count ? &errors->kept[number] : NULL;
}

const char *tw_severity_name(unsigned severity)
{
    static const char *const names[] = { "unknown", "error", "warning", "info" };

    return severity < TW_LENGTH(names) ? names[severity] : names[0];
}

static void no_sync(struct tw_error *error, struct tw_text *text, uint8_t reason)
{
    error->severity = TW_SEVERITY_WARNING;
    error->code = TW_ERROR_OVERFLOW;
    tw_text_add(text, reason == TW_REASON_OVERFLOW
                          ? "the trace unit overflowed: trace is missing"
                          : "the trace unit discarded what it held: trace is missing");
}

bool tw_error_from_element(struct tw_error *error, const struct tw_element *element, uint8_t id)
{
    struct tw_text text = tw_text_in(error->text, sizeof error->text);

    *error = (struct tw_error){ .index = element->index, .id = id };
    switch (element->type) {
    case TW_ELEMENT_ERROR:
        error->skipped = element->skipped;
        error->is_resumed = element->flags & TW_SKIP_RESUMED;
        error->code = element->error;
        error->severity = element->error == TW_ERROR_OVERFLOW ||
                                  element->error == TW_ERROR_DISCONTINUITY ||
                                  element->error == TW_ERROR_UNSYNCED ||
                                  element->error == TW_ERROR_UNPLACED ||
                                  element->error == TW_ERROR_RESERVED_BITS
                              ? TW_SEVERITY_WARNING
                              : TW_SEVERITY_ERROR;
        tw_element_message(&text, element);
        return true;
    case TW_ELEMENT_NO_SYNC:
        if (element->reason != TW_REASON_OVERFLOW && element->reason != TW_REASON_DISCARD)
            return false;
        no_sync(error, &text, element->reason);
        return true;
    case TW_ELEMENT_ADDR_NACC:
        error->severity = TW_SEVERITY_INFO;
        tw_text_add(&text, "no image holds code at ");
        tw_text_hex(&text, element->address);
        return true;
    default:
        return false;
    }
}

size_t tw_error_text(char *out, size_t room, const struct tw_error *error, const char *name)
{
    struct tw_text text = tw_text_in(out, room);

    if (name)
        tw_text_escaped(&text, name);
    if (error->index != TW_NO_INDEX) {
        if (name)
            tw_text_char(&text, '+');
        tw_text_hex(&text, error->index);
    }
    if (error->id < TW_ID_UNKNOWN)
        tw_text_format(&text, "%sid 0x%02x", text.size ? " " : "", (unsigned)error->id);
    if (text.size)
        tw_text_add(&text, ": ");
    tw_text_escaped(&text, error->text);
    if (error->skipped)
        tw_text_format(&text, "; skipped %llu byte%s%s", (unsigned long long)error->skipped,
                       error->skipped == 1 ? "" : "s",
                       error->is_resumed ? ", resumed at the next byte" : " to the next sync");
    return text.size;
}
