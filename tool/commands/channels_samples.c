/* SPDX-License-Identifier: BSD-2-Clause */
/* PC samples of the DWT, counted by function. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/channels.h"

struct sample {
    uint32_t pc; /* or the function's address */
    uint64_t count;
};

struct histogram {
    struct tw_symbols *symbols; /* NULL: no ELF file was given */
    struct sample *samples;     /* a hash table by PC; count 0: free */
    size_t used, room;
    uint64_t total, asleep, prohibited;
};

/* Every image that is an ELF file, and every file of --symbols. */
static bool add_files(struct histogram *histogram, const struct list *files, bool is_needed)
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
        status = tw_symbols_add_elf(histogram->symbols, path, bias);
        free(path);
        if (status != TW_OK && is_needed) {
            say("%s", tw_symbols_fault(histogram->symbols));
            return false;
        }
    }
    return true;
}

struct histogram *histogram_new(const struct options *options)
{
    struct histogram *histogram = calloc(1, sizeof *histogram);

    if (!histogram) {
        say("out of memory");
        return NULL;
    }
    if (options->images.count + options->symbols.count == 0)
        return histogram;
    if (tw_symbols_new(&histogram->symbols, NULL, NULL) != TW_OK ||
        !add_files(histogram, &options->images, false) ||
        !add_files(histogram, &options->symbols, true)) {
        histogram_free(histogram);
        return NULL;
    }
    return histogram;
}

void histogram_free(struct histogram *histogram)
{
    if (!histogram)
        return;
    tw_symbols_free(histogram->symbols);
    free(histogram->samples);
    free(histogram);
}

static void count_in(struct sample *samples, size_t room, uint32_t pc, uint64_t count,
                     size_t *used)
{
    size_t at = (size_t)(pc * 2654435761u) & (room - 1);

    while (samples[at].count && samples[at].pc != pc)
        at = (at + 1) & (room - 1);
    *used += samples[at].count == 0;
    samples[at].pc = pc;
    samples[at].count += count;
}

static bool grow(struct histogram *histogram)
{
    const size_t room = histogram->room ? 2 * histogram->room : 1024;
    struct sample *samples = calloc(room, sizeof *samples);
    size_t used = 0;

    if (!samples)
        return false;
    for (size_t i = 0; i < histogram->room; i++)
        if (histogram->samples[i].count)
            count_in(samples, room, histogram->samples[i].pc, histogram->samples[i].count,
                     &used);
    free(histogram->samples);
    histogram->samples = samples;
    histogram->room = room;
    return true;
}

bool histogram_add(struct histogram *histogram, const struct tw_dwt_meaning *sample)
{
    if (!histogram->symbols)
        return true;
    histogram->total++;
    histogram->asleep += sample->kind == TW_DWT_ASLEEP;
    histogram->prohibited += sample->kind == TW_DWT_PROHIBITED;
    if (sample->kind != TW_DWT_PC_SAMPLE)
        return true;
    if (2 * histogram->used >= histogram->room && !grow(histogram))
        return false;
    count_in(histogram->samples, histogram->room, sample->value, 1, &histogram->used);
    return true;
}

static int by_count(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

static int by_pc(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->pc > y->pc) - (x->pc < y->pc);
}

/* One entry for each function, the PC its address; PCs of none stay as they are. */
static size_t by_function(const struct histogram *histogram, struct sample *out)
{
    struct tw_symbol symbol;
    size_t count = 0, joined = 0;

    for (size_t i = 0; i < histogram->room; i++)
        if (histogram->samples[i].count)
            out[count++] = histogram->samples[i];
    for (size_t i = 0; i < count; i++)
        if (tw_symbols_find(histogram->symbols, &symbol, out[i].pc))
            out[i].pc = (uint32_t)symbol.address;
    qsort(out, count, sizeof *out, by_pc);
    for (size_t i = 0; i < count; i++) {
        if (joined && out[joined - 1].pc == out[i].pc)
            out[joined - 1].count += out[i].count;
        else
            out[joined++] = out[i];
    }
    qsort(out, joined, sizeof *out, by_count);
    return joined;
}

static void print_share(struct output *out, uint64_t count, uint64_t total, const char *name)
{
    output_format(out, "%6.2f%% %8" PRIu64 "  %s\n", 100.0 * (double)count / (double)total,
                  count, name);
}

void histogram_print(const struct histogram *histogram, struct output *out)
{
    struct sample *samples;
    size_t count;

    if (histogram->total == 0)
        return;
    samples = calloc(histogram->used + 1, sizeof *samples);
    if (!samples) {
        say("out of memory");
        return;
    }
    output_format(out, "%" PRIu64 " PC samples\n", histogram->total);
    count = by_function(histogram, samples);
    for (size_t i = 0; i < count; i++) {
        struct tw_symbol symbol;
        char address[16];

        (void)snprintf(address, sizeof address, "0x%08" PRIx32, samples[i].pc);
        print_share(out, samples[i].count, histogram->total,
                    tw_symbols_find(histogram->symbols, &symbol, samples[i].pc) ? symbol.name
                                                                                : address);
    }
    if (histogram->asleep)
        print_share(out, histogram->asleep, histogram->total, "(asleep)");
    if (histogram->prohibited)
        print_share(out, histogram->prohibited, histogram->total, "(prohibited)");
    free(samples);
}
