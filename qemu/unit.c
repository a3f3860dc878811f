/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit of one thread: what recordings set, then what was asked for. */
#include "qemu/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    V7_TIMESTAMPS = 1 << 28,
    V7_RETURN_STACK = 1 << 29,
    V7_CONTEXT_ID = 3 << 14, /* four bytes */
    V7_FEATURES = 0x344008f2,
    V4_CONTEXT_ID = 1 << 6,
    V4_TIMESTAMPS = 1 << 11,
    V4_RETURN_STACK = 1 << 12,
    SYNC_BYTES = 1 << 12,
    DEFAULTS = 2,
    NAME = 64
};

/* Blocks of code are what retires at a time. */
static const char etrace_defaults[] = "privilege_width_p=3\necause_width_p=6\nretires_p=200\n";

struct setting_list {
    struct tw_register *items;
    char (*names)[NAME];
    size_t count;
};

static bool is_named(const struct unit_options *options, const char *protocol)
{
    return strcmp(options->protocol, protocol) == 0;
}

static bool new_list(struct setting_list *list, size_t most)
{
    list->items = calloc(most + 1, sizeof *list->items);
    list->names = calloc(most + 1, sizeof *list->names);
    return list->items && list->names;
}

static void free_list(struct setting_list *list)
{
    free(list->items);
    free(list->names);
}

static void add(struct setting_list *list, const char *name, size_t size, uint64_t value)
{
    memcpy(list->names[list->count], name, size);
    list->items[list->count] = (struct tw_register){ list->names[list->count], value };
    list->count++;
}

/* Each "NAME=VALUE". */
static bool add_all(struct setting_list *list, const char *const *texts, size_t count,
                    struct tw_fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        const size_t size = strcspn(texts[i], "=");
        char *end = NULL;
        const uint64_t value = texts[i][size] ? strtoull(texts[i] + size + 1, &end, 0) : 0;

        if (size >= NAME || !end || end == texts[i] + size + 1 || *end) {
            fault->status = TW_E_CONFIG;
            (void)snprintf(fault->text, sizeof fault->text, "\"%.200s\" is not understood",
                           texts[i]);
            return false;
        }
        add(list, texts[i], size, value);
    }
    return true;
}

/* Return stack, timestamps and context IDs. */
static void add_defaults(struct setting_list *registers, struct setting_list *choices,
                         const struct unit_options *options)
{
    static const char config[] = "TRCCONFIGR", control[] = "ETMCR", features[] = "ETMCCER",
                      sync[] = "sync";
    const bool is_ptm = is_named(options, "ptm");

    if (is_ptm || is_named(options, "etmv3")) {
        add(registers, control, sizeof control - 1,
            (uint32_t)V7_CONTEXT_ID | V7_TIMESTAMPS | (is_ptm ? V7_RETURN_STACK : 0u));
        if (options->is_m)
            add(registers, features, sizeof features - 1, V7_FEATURES);
        add(choices, sync, sizeof sync - 1, SYNC_BYTES);
    } else if (is_named(options, "ete") || is_named(options, "etmv4")) {
        add(registers, config, sizeof config - 1,
            (options->is_system ? 0u : V4_CONTEXT_ID) | V4_TIMESTAMPS |
                (options->is_m ? 0u : V4_RETURN_STACK) | 1);
    }
}

/* The settings of a RISC-V encoder as one text.  To be freed. */
static char *join(const struct unit_options *options)
{
    const char *first = is_named(options, "etrace") ? etrace_defaults : "";
    size_t size = strlen(first) + 1, used;
    char *text;

    for (size_t i = 0; i < options->register_count; i++)
        size += strlen(options->registers[i]) + 1;
    text = malloc(size);
    if (!text)
        return NULL;
    used = (size_t)snprintf(text, size, "%s", first);
    for (size_t i = 0; i < options->register_count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s\n", options->registers[i]);
    return text;
}

static struct tw_unit *make(const struct unit_options *options,
                            const struct tw_unit_config *config, struct tw_fault *fault)
{
    struct tw_unit *unit;
    enum tw_status status;

    if (tw_unit_new(&unit, config, fault) != TW_OK)
        return NULL;
    status = tw_unit_begin(unit, options->is_m, options->is_64bit ? 64 : 32);
    if (status == TW_OK)
        return unit;
    fault->status = status;
    (void)snprintf(fault->text, sizeof fault->text, "%s", tw_unit_fault(unit));
    tw_unit_free(unit);
    return NULL;
}

struct tw_unit *unit_new(const struct unit_options *options, struct tw_fault *fault)
{
    const bool is_riscv = tw_unit_is_riscv(options->protocol);
    struct setting_list registers = { 0 }, choices = { 0 };
    char *parameters = is_riscv ? join(options) : NULL;
    struct tw_unit *unit = NULL;

    *fault = (struct tw_fault){ TW_E_MEMORY, "no memory" };
    if ((parameters || !is_riscv) && new_list(&registers, DEFAULTS + options->register_count) &&
        new_list(&choices, DEFAULTS + options->choice_count)) {
        add_defaults(&registers, &choices, options);
        if ((is_riscv ||
             add_all(&registers, options->registers, options->register_count, fault)) &&
            add_all(&choices, options->choices, options->choice_count, fault))
            unit = make(options,
                        &(struct tw_unit_config){ .size = sizeof(struct tw_unit_config),
                                                  .protocol = options->protocol,
                                                  .registers = registers.items,
                                                  .register_count = registers.count,
                                                  .parameters = parameters,
                                                  .choices = choices.items,
                                                  .choice_count = choices.count,
                                                  .registers_name = "--config",
                                                  .choices_name = "--unit" },
                        fault);
    }
    free(parameters);
    free_list(&registers);
    free_list(&choices);
    return unit;
}
