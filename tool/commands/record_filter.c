/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: which code is traced. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <trackway/symbols.h>

#include "commands/record.h"

/* "FIRST-END"; false: it is none. */
static bool is_range(struct record_filter *filter, const char *text)
{
    char *at;

    filter->first = strtoull(text, &at, 0);
    if (at == text || *at != '-')
        return false;
    text = at + 1;
    filter->end = strtoull(text, &at, 0);
    return at != text && !*at && filter->end > filter->first;
}

/* A program may be loaded anywhere, but the bytes of a function stay where they are in its file. */
static bool to_file(struct record *record, struct record_filter *filter,
                    const struct tw_symbol *symbol)
{
    const struct tw_perf_program *program = &record->program;

    *filter = (struct record_filter){ symbol->address, symbol->address + symbol->size, false };
    if (record->options->is_system)
        return true; /* there is no one to move it */
    for (uint32_t i = 0; i < program->segment_count; i++) {
        const uint64_t inside = symbol->address - program->segments[i].address;

        if (inside >= program->segments[i].length)
            continue;
        filter->first = program->segments[i].offset + inside;
        filter->end = filter->first + symbol->size;
        filter->is_function = true;
        return true;
    }
    return false;
}

static bool add_range(struct record *record, const struct record_filter *filter)
{
    struct record_filter *more =
        realloc(record->filters, (record->filter_count + 1) * sizeof *record->filters);

    if (!more) {
        say("record: out of memory");
        return false;
    }
    record->filters = more;
    more[record->filter_count++] = *filter;
    return true;
}

static bool add_function(struct record *record, struct tw_symbols *symbols, const char *name)
{
    struct tw_symbol symbol;
    bool is_found = false;

    for (size_t i = 0; tw_symbols_by_name(symbols, &symbol, name, i); i++) {
        struct record_filter filter;

        if (!to_file(record, &filter, &symbol))
            continue;
        if (!add_range(record, &filter))
            return false;
        is_found = true;
    }
    if (!is_found)
        say("record: --filter: %s has no function \"%s\"%s",
            record->options->arguments.items[0], name,
            tw_symbols_count(symbols) ? "" : "; it has no symbols at all: give addresses");
    return is_found;
}

/* --range: this, or with --preset exclude all but this. */
static bool add_option_range(struct record *record)
{
    const struct options *options = record->options;
    const uint64_t first = options->range.first, end = options->range.end;

    if (!options->preset || strcmp(options->preset, "exclude") != 0)
        return add_range(record, &(struct record_filter){ first, end, false });
    return (first == 0 || add_range(record, &(struct record_filter){ 0, first, false })) &&
           add_range(record, &(struct record_filter){ end, UINT64_MAX, false });
}

bool record_find_filters(struct record *record)
{
    const struct options *options = record->options;
    const char *path = options->arguments.items[0];
    struct tw_symbols *symbols = NULL;
    struct tw_fault fault = { TW_OK, "" };
    bool is_good = true;

    record->program.size = sizeof record->program;
    if (tw_perf_program(&record->program, path, &fault) != TW_OK) {
        say("record: cannot read %s", fault.text);
        return false;
    }
    if (options->range.is_given)
        is_good = add_option_range(record);
    if (is_good && options->filters.count && tw_symbols_new(&symbols, NULL, &fault) != TW_OK) {
        say("record: %s", fault.text);
        is_good = false;
    }
    if (symbols && tw_symbols_add_elf(symbols, path, 0) != TW_OK) {
        say("record: %s", tw_symbols_fault(symbols));
        is_good = false;
    }
    for (size_t i = 0; is_good && i < options->filters.count; i++) {
        struct record_filter filter = { 0, 0, false };

        is_good = is_range(&filter, options->filters.items[i])
                      ? add_range(record, &filter)
                      : add_function(record, symbols, options->filters.items[i]);
    }
    tw_symbols_free(symbols);
    return is_good;
}
