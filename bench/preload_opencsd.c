/* SPDX-License-Identifier: BSD-2-Clause */
/* Loaded before a program that decodes by the OpenCSD interface: how long it is in the library, and how
   much of that in callbacks of its own.  One line to the file $BENCH_PARTS at the end. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned data_fn(void *tree, unsigned op, uint32_t index, uint32_t size,
                         const uint8_t *data, uint32_t *used);
typedef unsigned element_fn(const void *context, uint32_t index, uint8_t id,
                            const void *element);
typedef uint32_t memory_fn(const void *context, uint64_t address, unsigned space, uint8_t id,
                           uint32_t size, uint8_t *out);
typedef unsigned set_element_fn(void *tree, element_fn *function, const void *context);
typedef unsigned add_memory_fn(void *tree, uint64_t first, uint64_t last, unsigned space,
                               memory_fn *function, const void *context);

/* What is put between: one of each is enough for a program that has few decode trees. */
enum { BETWEEN_MOST = 4096 };
static struct {
    element_fn *element;
    memory_fn *memory;
    const void *context;
} between[BETWEEN_MOST];
static unsigned between_count;

static uint64_t inside, in_callbacks, elements, reads;

static uint64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort();
    return found;
}

static unsigned take_element(const void *context, uint32_t index, uint8_t id,
                             const void *element)
{
    const unsigned number = (unsigned)(uintptr_t)context;
    const uint64_t start = now();
    const unsigned said = between[number].element(between[number].context, index, id, element);

    in_callbacks += now() - start;
    elements++;
    return said;
}

static uint32_t read_memory(const void *context, uint64_t address, unsigned space, uint8_t id,
                            uint32_t size, uint8_t *out)
{
    const unsigned number = (unsigned)(uintptr_t)context;
    const uint64_t start = now();
    const uint32_t given =
        between[number].memory(between[number].context, address, space, id, size, out);

    in_callbacks += now() - start;
    reads++;
    return given;
}

__attribute__((visibility("default"))) unsigned
ocsd_dt_process_data(void *tree, unsigned op, uint32_t index, uint32_t size,
                     const uint8_t *data, uint32_t *used)
{
    static data_fn *function;
    uint64_t start;
    unsigned said;

    if (!function)
        *(void **)&function = real("ocsd_dt_process_data");
    start = now();
    said = function(tree, op, index, size, data, used);
    inside += now() - start;
    return said;
}

__attribute__((visibility("default"))) unsigned
ocsd_dt_set_gen_elem_outfn(void *tree, element_fn *function, const void *context)
{
    set_element_fn *next;

    *(void **)&next = real("ocsd_dt_set_gen_elem_outfn");
    if (between_count == BETWEEN_MOST)
        return next(tree, function, context);
    between[between_count].element = function;
    between[between_count].context = context;
    return next(tree, take_element, (const void *)(uintptr_t)between_count++);
}

__attribute__((visibility("default"))) unsigned
ocsd_dt_add_callback_trcid_mem_acc(void *tree, uint64_t first, uint64_t last, unsigned space,
                                   memory_fn *function, const void *context)
{
    add_memory_fn *next;

    *(void **)&next = real("ocsd_dt_add_callback_trcid_mem_acc");
    if (between_count == BETWEEN_MOST)
        return next(tree, first, last, space, function, context);
    between[between_count].memory = function;
    between[between_count].context = context;
    return next(tree, first, last, space, read_memory,
                (const void *)(uintptr_t)between_count++);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("BENCH_PARTS");
    FILE *file = path && inside ? fopen(path, "w") : NULL;

    if (!file)
        return;
    (void)fprintf(file, "%llu %llu %llu %llu\n", (unsigned long long)inside,
                  (unsigned long long)in_callbacks, (unsigned long long)elements,
                  (unsigned long long)reads);
    (void)fclose(file);
}
