/* SPDX-License-Identifier: BSD-2-Clause */
/* PC samples of the DWT, counted by function. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/channels.h"

#include "base/percent.h"

/* Every image that is an ELF file, and every file of --symbols. */
static bool add_files(struct tw_symbols *symbols, const struct list *files, bool is_needed)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *text = files->items[i];
        const char *comma = strstr(text, ",space=");
        const size_t size = comma ? (size_t)(comma - text) : strlen(text);
        char *path = malloc(size + 1), *at;
        uint64_t bias = 0;
        enum tw_status status;

        if (!path) {
            say("out of memory");
            return false;
        }
        memcpy(path, text, size);
        path[size] = 0;
        at = strrchr(path, '@');
        if (at && parse_number(&bias, at + 1))
            *at = 0;
        status = tw_symbols_add_elf(symbols, path, bias);
        free(path);
        if (status != TW_OK && is_needed) {
            say("%s", tw_symbols_fault(symbols));
            return false;
        }
    }
    return true;
}

bool samples_open(struct channels *channels)
{
    const struct options *options = channels->options;

    if (options->images.count + options->symbols.count == 0)
        return true;
    if (tw_pc_samples_new(&channels->samples, NULL, NULL) != TW_OK ||
        tw_symbols_new(&channels->symbols, NULL, NULL) != TW_OK) {
        say("out of memory");
        return false;
    }
    return add_files(channels->symbols, &options->images, false) &&
           add_files(channels->symbols, &options->symbols, true);
}

static void print_share(struct output *out, uint64_t count, uint64_t total, const char *name)
{
    output_format(out, "%6s%% %8" PRIu64 "  %s\n",
                  tw_percent((double)count, (double)total, 2).text, count, name);
}

void samples_print(struct channels *channels)
{
    struct output *out = &channels->out;
    struct tw_pc_totals totals = { .size = sizeof totals };
    const struct tw_pc_count *counts;
    size_t count;

    if (!channels->samples || !tw_pc_samples_totals(channels->samples, &totals) ||
        !totals.samples)
        return;
    if (tw_pc_samples_counts(channels->samples, &counts, &count, channels->symbols) != TW_OK) {
        say("out of memory");
        return;
    }
    output_format(out, "%" PRIu64 " PC samples\n", totals.samples);
    for (size_t i = 0; i < count; i++) {
        struct tw_symbol symbol;
        char address[16];

        (void)snprintf(address, sizeof address, "0x%08" PRIx32, counts[i].pc);
        print_share(out, counts[i].count, totals.samples,
                    tw_symbols_find(channels->symbols, &symbol, counts[i].pc) ? symbol.name
                                                                              : address);
    }
    if (totals.asleep)
        print_share(out, totals.asleep, totals.samples, "(asleep)");
    if (totals.prohibited)
        print_share(out, totals.prohibited, totals.samples, "(prohibited)");
}

void samples_show(struct channels *channels)
{
    struct tw_pc_totals totals = { .size = sizeof totals };
    struct output real, picture;

    if (!channels->samples || !tw_pc_samples_totals(channels->samples, &totals) ||
        totals.samples == channels->shown)
        return;
    channels->shown = totals.samples;
    real = channels->out;
    output_in_memory(&channels->out, &real);
    samples_print(channels);
    picture = channels->out;
    channels->out = real;
    if (channels->out.has_color && channels->lines) /* over the last one */
        output_format(&channels->out, "\x1b[%zuA\x1b[J", channels->lines);
    channels->lines = 0;
    for (size_t i = 0; i < picture.used; i++)
        channels->lines += picture.buffer[i] == '\n';
    output_bytes(&channels->out, picture.buffer, picture.used);
    free(picture.buffer);
}
