/* SPDX-License-Identifier: BSD-2-Clause */
/* Small text logs through a trace unit: the elements that it makes as text, and its bytes. */
#ifndef ETMV4_TEST_EXAMPLE_H
#define ETMV4_TEST_EXAMPLE_H

#include "etmv4/test_unit.h"

#include "etmv4/unit.h"

enum { TEXT_MOST = 1 << 16 };

#define EL0    "context(el0 N 64-bit cid=0x0 vmid=0x0)"
#define EL0_32 "context(el0 N 32-bit cid=0x0 vmid=0x0)"
#define EL1(x) "context(el1 N 64-bit cid=" x " vmid=0x0)"
#define BEGIN  "trace_info trace_on " EL0 " address(0x1000) "
#define SPEC   "TRCIDR8=16 TRCIDR0=0x08c1cea1 "

/* A text log; "nops FIRST LAST" stands for so many. */
static inline void expand(char *out, const char *text)
{
    size_t used = (size_t)snprintf(out, TEXT_MOST, "trackway-log 1\n");

    while (*text) {
        const size_t size = strcspn(text, "\n");
        unsigned first, last;

        if (sscanf(text, "nops %x %x", &first, &last) == 2)
            for (; first <= last; first += 4)
                used +=
                    (size_t)snprintf(out + used, TEXT_MOST - used, "i 0x%x d503201f\n", first);
        else
            used += (size_t)snprintf(out + used, TEXT_MOST - used, "%.*s\n", (int)size, text);
        CHECK(used < TEXT_MOST);
        text += size + (text[size] == '\n');
    }
}

struct shown {
    const char *registers; /* in, or NULL */
    char text[4096];
    size_t size;
};

static inline void show(void *context, const struct tw_etmv4_unit_element *element)
{
    struct shown *shown = context;

    if (shown->size)
        shown->text[shown->size++] = ' ';
    shown->size += tw_etmv4_unit_element_text(shown->text + shown->size,
                                              sizeof shown->text - shown->size, element);
}

/* "NAME=VALUE NAME=VALUE" */
static inline void set_registers(struct tw_etmv4_unit *unit, const char *text)
{
    char name[32];
    int64_t value;
    int used;

    while (sscanf(text, " %31[^=]=%" SCNi64 "%n", name, &value, &used) == 2) {
        set_register(unit, name, (uint64_t)value);
        text += used;
    }
}

/* The registers must hold these values: "NAME=VALUE NAME=VALUE". */
static inline void check_registers(const struct tw_etmv4_unit *unit, const char *text)
{
    char name[32];
    int64_t want;
    uint64_t value;
    int used;

    while (text && sscanf(text, " %31[^=]=%" SCNi64 "%n", name, &want, &used) == 2) {
        CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, name), TW_OK);
        if (value != (uint64_t)want)
            printf("%s\n", name);
        CHECK_EQ(value, want);
        text += used;
    }
}

/* Runs a log; what the unit made is in `shown` and *bytes (to be freed).  The registers must hold
   what shown->registers says then, before the unit is disabled. */
static inline enum tw_status run_example(struct tw_etmv4_unit_config config,
                                         const char *registers, const char *text,
                                         struct shown *shown, uint8_t **bytes, size_t *size)
{
    static char log_text[TEXT_MOST];
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status = TW_OK;
    struct tw_etmv4_unit *unit;
    struct tw_log *log;
    struct tw_step step;
    const uint8_t *made;

    expand(log_text, text);
    if (tw_log_open_memory(&log, (const uint8_t *)log_text, strlen(log_text), NULL, &fault) !=
        TW_OK)
        printf("%s\n", fault.text);
    CHECK(log != NULL);
    *shown = (struct shown){ .registers = shown->registers };
    config.size = sizeof config;
    config.on_element = show;
    config.element_context = shown;
    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    set_registers(unit, "TRCTRACEIDR=0x10 TRCVICTLR=0x201 TRCCONFIGR=1");
    set_registers(unit, registers);
    set_register(unit, "TRCPRGCTLR", 1);
    while (status == TW_OK && tw_log_next(log, &step) == TW_OK)
        status = tw_etmv4_unit_step(unit, &step);
    CHECK_TEXT(tw_log_fault(log), "");
    check_registers(unit, shown->registers);
    if (status == TW_OK)
        set_register(unit, "TRCPRGCTLR", 0);
    made = tw_etmv4_unit_output(unit, size);
    *bytes = check_copy(made, *size);
    tw_etmv4_unit_free(unit);
    tw_log_free(log);
    return status;
}

/* The bytes of "01 00 04". */
static inline size_t parse_bytes(uint8_t *out, const char *text)
{
    size_t count = 0;
    unsigned value;
    int used;

    while (sscanf(text, " %x%n", &value, &used) == 1) {
        out[count++] = (uint8_t)value;
        text += used;
    }
    return count;
}

/* The elements and, behind an A-Sync, the bytes that an example makes.  Returns them all, to be
   freed. */
static inline uint8_t *check_example(struct tw_etmv4_unit_config config, const char *registers,
                                     const char *log, const char *elements, const char *bytes,
                                     size_t *size)
{
    static const uint8_t async[TW_ETMV4_ASYNC_SIZE] = { [TW_ETMV4_ASYNC_SIZE - 1] = 0x80 };
    struct shown shown = { 0 };
    uint8_t want[128];
    uint8_t *made;

    CHECK_EQ(run_example(config, registers, log, &shown, &made, size), TW_OK);
    CHECK_TEXT(shown.text, elements);
    CHECK(*size >= sizeof async);
    CHECK_BYTES(made, sizeof async, async, sizeof async);
    CHECK_BYTES(made + sizeof async, *size - sizeof async, want, parse_bytes(want, bytes));
    return made;
}

#endif
