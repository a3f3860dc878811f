/* SPDX-License-Identifier: BSD-2-Clause */
/* A script for the components of the RISC-V Trace Control Interface: lines, words, the run. */
#include "trsim/sim.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/sized.h"

enum tw_status tw_trsim_wrong(struct tw_trsim *sim, const char *format, ...)
{
    char text[300];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tw_fail(sim->fault, TW_E_ARGUMENT, "line %zu: %s", sim->number, text);
}

enum tw_status tw_trsim_no_memory(struct tw_trsim *sim)
{
    return tw_fail(sim->fault, TW_E_MEMORY, "out of memory");
}

bool tw_trsim_spend(struct tw_trsim *sim, uint64_t size)
{
    const uint64_t limit = sim->config->limit ? sim->config->limit : (uint64_t)256 << 20;

    if (size > limit - sim->spent) {
        (void)tw_trsim_wrong(sim, "the script asks for more than %llu bytes and cycles in all",
                             (unsigned long long)limit);
        return false;
    }
    sim->spent += size;
    return true;
}

bool tw_trsim_is_word(const char *word, const char *name)
{
    for (; *word && *name; word++, name++)
        if (tolower((unsigned char)*word) != tolower((unsigned char)*name))
            return false;
    return *word == *name;
}

enum tw_status tw_trsim_number_at(struct tw_trsim *sim, size_t index, uint64_t *value)
{
    if (index >= sim->words)
        return tw_trsim_wrong(sim, "%s wants a number", sim->word[0]);
    if (!tw_setting_number(sim->word[index], strlen(sim->word[index]), 10, value))
        return tw_trsim_wrong(sim, "\"%s\" is no number", sim->word[index]);
    return TW_OK;
}

struct tw_trsim_part *tw_trsim_find(struct tw_trsim *sim, const char *name)
{
    for (size_t i = 0; i < sim->count; i++)
        if (strcmp(sim->checker.parts[i].name, name) == 0)
            return sim->parts[i];
    (void)tw_trsim_wrong(sim, "there is no component \"%s\"", name);
    return NULL;
}

size_t tw_trsim_number_of(const struct tw_trsim *sim, const struct tw_trsim_part *part)
{
    size_t number = 0;

    while (sim->parts[number] != part)
        number++;
    return number;
}

const struct tw_trctl_part *tw_trsim_known(const struct tw_trsim *sim,
                                           const struct tw_trsim_part *part)
{
    return &sim->checker.parts[tw_trsim_number_of(sim, part)];
}

struct tw_trsim_part *tw_trsim_behind(const struct tw_trsim *sim,
                                      const struct tw_trsim_part *part)
{
    const struct tw_trctl_part *to = tw_trctl_behind(&sim->checker, tw_trsim_known(sim, part));

    return to ? sim->parts[to - sim->checker.parts] : NULL;
}

/* ---- lines ---- */

/* Words are parted by white space; '=' stands inside them, or alone. */
static enum tw_status split(struct tw_trsim *sim, char *line)
{
    sim->words = 0;
    for (char *at = line; *at && *at != '#';) {
        if (*at == ' ' || *at == '\t' || *at == '\r') {
            *at++ = 0;
            continue;
        }
        if (sim->words == TW_TRSIM_WORDS)
            return tw_trsim_wrong(sim, "too many words");
        sim->word[sim->words++] = at;
        while (*at && !strchr(" \t\r#", *at))
            at++;
        if (*at == '#')
            *at = 0;
    }
    return TW_OK;
}

/* Components that the line names for the first time get their models. */
static enum tw_status add_parts(struct tw_trsim *sim)
{
    while (sim->count < sim->checker.count)
        TW_TRY(tw_trsim_add(sim));
    return TW_OK;
}

static enum tw_status run_line(struct tw_trsim *sim, const char *raw, size_t size)
{
    char line[TW_TRSIM_LINE];
    struct tw_trctl_step step;
    bool is_done = false;

    if (size >= sizeof line)
        return tw_trsim_wrong(sim, "longer than %u characters", TW_TRSIM_LINE - 1);
    for (size_t i = 0; i < size; i++)
        line[i] = raw[i] ? raw[i] : ' ';
    line[size] = 0;
    TW_TRY(split(sim, line));
    if (!sim->words)
        return TW_OK;
    TW_TRY(tw_trsim_command(sim, &is_done));
    if (is_done)
        return TW_OK;
    switch (tw_trctl_read_line(&sim->checker, &step, raw, size)) {
    case TW_TRCTL_LINE_STEP:
        TW_TRY(add_parts(sim));
        return tw_trsim_step(sim, &step);
    case TW_TRCTL_LINE_PART:
        return add_parts(sim);
    case TW_TRCTL_LINE_NEW:
        return tw_trsim_wrong(sim, "a script is one sequence");
    case TW_TRCTL_LINE_WRONG:
        return tw_trsim_wrong(sim, "\"%s\" is no command and no register", sim->word[0]);
    default:
        return TW_OK;
    }
}

/* ---- the run ---- */

static void end(struct tw_trsim *sim)
{
    const struct tw_allocator *allocator = sim->config->allocator;

    for (size_t i = 0; i < sim->region_count; i++)
        tw_give(allocator, sim->regions[i].bytes);
    for (size_t i = 0; i < sim->count; i++)
        tw_trsim_remove(sim, sim->parts[i]);
    tw_framer_free(sim->framer);
    tw_text_free(&sim->text);
    tw_give(allocator, sim);
}

static enum tw_status run(struct tw_trsim *sim, const char *script, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *stop = memchr(script + at, '\n', size - at);
        const size_t length = stop ? (size_t)(stop - (script + at)) : size - at;

        sim->number++;
        sim->result->lines++;
        sim->checker.line = (uint32_t)sim->number;
        TW_TRY(run_line(sim, script + at, length));
        TW_TRY(sim->status);
        if (sim->text.failed)
            return tw_trsim_no_memory(sim);
        at += length + 1;
    }
    tw_trctl_end(&sim->checker);
    return TW_OK;
}

enum tw_status tw_sim_run_riscv(struct tw_sim_result *result, const char *script, size_t size,
                                const struct tw_sim_config *config, struct tw_fault *fault)
{
    struct tw_sim_config copy;
    struct tw_trsim *sim;
    enum tw_status status;

    *result = (struct tw_sim_result){ 0 };
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_sim_config", fault));
    if (!copy.line)
        return tw_fail(fault, TW_E_ARGUMENT, "tw_sim_config has no function for lines");
    sim = tw_take(copy.allocator, sizeof *sim);
    if (!sim)
        return tw_fail(fault, TW_E_MEMORY, "out of memory");
    sim->config = &copy;
    sim->result = result;
    sim->fault = fault;
    sim->text.allocator = copy.allocator;
    sim->checking = (struct tw_trctl_checking){ .find = tw_trsim_misuse, .context = sim };
    sim->checker.out = &sim->checking;
    status = run(sim, script, size);
    end(sim);
    return status;
}
