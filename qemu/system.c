/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole machine.  The plug-in interface tells neither of exceptions nor of registers.  But QEMU lists
   exceptions (-d int) before their handlers run, and has a function that prints a processor's registers, which
   is found by name in QEMUs that show it. */
#define _GNU_SOURCE
#include "qemu/system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu/spool.h"

enum { ROOM = 1 << 14, MRET = 0x30200073, SRET = 0x10200073, LEVEL_M = 3 };
/* M profile: PendSV, and what comes behind it, are of no instruction. */
enum { FIRST_INTERRUPT = 14 };

static struct {
    int file;
    uint64_t at; /* bytes of the list that were read */
    bool is_m;
    void *(*get_cpu)(int index);
    void (*dump)(void *cpu, FILE *file, int flags);
    int (*memory)(void *cpu, uint64_t address, void *bytes, size_t size, bool is_write);
} machine = { .file = -1 };

void system_begin(const char *folder, bool is_m)
{
    char path[SPOOL_PATH + 16];
    void *self = dlopen(NULL, RTLD_LAZY);

    (void)snprintf(path, sizeof path, "%s/" SPOOL_EXCEPTIONS, folder);
    machine.file = open(path, O_RDONLY | O_CLOEXEC | O_CREAT, 0600);
    machine.is_m = is_m;
    if (!self)
        return;
    *(void **)&machine.get_cpu = dlsym(self, "qemu_get_cpu");
    *(void **)&machine.dump = dlsym(self, "cpu_dump_state");
    *(void **)&machine.memory = dlsym(self, "cpu_memory_rw_debug");
}

/* ---- what a processor is at ---- */

/* Its registers as text; NULL: this QEMU does not show them.  To be freed. */
static char *dump(unsigned vcpu)
{
    void *cpu = machine.get_cpu && machine.dump ? machine.get_cpu((int)vcpu) : NULL;
    char *text = NULL;
    size_t size;
    FILE *file = cpu ? open_memstream(&text, &size) : NULL;

    if (!file)
        return NULL;
    machine.dump(cpu, file, 0);
    (void)fclose(file);
    return text;
}

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = text ? strstr(text, name) : NULL;

    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* "PSR=600001d3 -ZC- A NS svc32": the level of the mode. */
static uint8_t level_of_mode(uint64_t state)
{
    switch (state & 0x1f) {
    case 0x10: /* User */
        return 0;
    case 0x16: /* Monitor */
        return 3;
    case 0x1a: /* Hyp */
        return 2;
    default:
        return 1;
    }
}

static void read_arm(struct tw_step_context *context, const char *text)
{
    const char *wide = strstr(text, "PSTATE="), *state = wide ? wide : strstr(text, "PSR=");
    const size_t size = state ? strcspn(state, "\n") : 0;
    const char *secure = state ? strstr(state, " S ") : NULL;

    if (!state)
        return;
    if (machine.is_m) {
        const char *plain = strstr(state, " NS ");

        context->el = strtoul(state + 4, NULL, 16) & 0x1ff ? LEVEL_M : 0;
        context->security = plain && plain < state + size ? TW_NONSECURE : TW_SECURE;
        return;
    }
    context->is_64bit = wide != NULL;
    context->el = wide ? (uint8_t)(strtoul(state + 7, NULL, 16) >> 2 & 3)
                       : level_of_mode(strtoul(state + 4, NULL, 16));
    context->security =
        context->el == 3 || (secure && secure < state + size) ? TW_SECURE : TW_NONSECURE;
}

struct tw_step_context system_context(unsigned vcpu)
{
    struct tw_step_context context = { .el = machine.is_m ? 0 : 1,
                                       .security = machine.is_m ? TW_SECURE : TW_NONSECURE,
                                       .is_64bit = blocks_is_64bit() };
    char *text = dump(vcpu);

    if (blocks_target() == TARGET_RISCV)
        context.el = LEVEL_M;
    else if (text)
        read_arm(&context, text);
    free(text);
    return context;
}

/* The privilege before is in a field of mstatus: MPP, SPP. */
uint8_t system_return_level(unsigned vcpu, const struct block *block, uint8_t now)
{
    const uint32_t opcode = block->count ? block->instructions[block->count - 1].opcode : 0;
    uint64_t status;
    char *text;

    if (blocks_target() != TARGET_RISCV || (opcode != MRET && opcode != SRET))
        return now;
    text = dump(vcpu);
    status = number_after(text, " mstatus ");
    free(text);
    return (uint8_t)(opcode == MRET ? status >> 11 & 3 : status >> 8 & 1);
}

/* BXNS, BLXNS: from Secure to Non-secure code. */
static bool leaves_secure(const struct block *block)
{
    return machine.is_m && block->count &&
           (block->instructions[block->count - 1].opcode & 0xffffff07) == 0x4704;
}

bool system_may_hide(const struct block *before, const struct tw_step_context *context)
{
    const struct tw_retired *last = &before->instructions[before->count - 1];

    /* M profile: any branch may be the return from a handler, or from Non-secure to Secure code. */
    return before->count &&
           (last->flags & TW_RETIRED_EXCEPTION_RETURN || leaves_secure(before) ||
            (machine.is_m && last->kind == TW_RETIRED_INDIRECT &&
             (context->el == LEVEL_M || context->security == TW_NONSECURE)));
}

/* ---- where an exception returns to, if the list does not tell ---- */

/* LR is so far behind it. */
static uint64_t a32_return(const char *text, uint8_t type)
{
    const uint64_t lr = number_after(text, "R14=");

    switch (type) {
    case TW_EXCEPTION_CALL:
        return lr;
    case TW_EXCEPTION_DATA_FAULT:
        return lr - 8;
    default:
        return lr - 4;
    }
}

/* On the main stack the address is in the frame; where the process stack is, or one of the other security state, no one
   tells. */
static uint64_t m_return(const char *text, unsigned vcpu, bool is_secure)
{
    const uint64_t sp = number_after(text, "R13="), lr = number_after(text, "R14=");
    uint8_t bytes[4];

    if (!machine.memory || lr & 4 || (lr >> 6 & 1) != is_secure ||
        machine.memory(machine.get_cpu((int)vcpu), sp + 24, bytes, sizeof bytes, false) != 0)
        return SYSTEM_UNTOLD;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* ---- QEMU's list ---- */

/* QEMU's number of an Arm exception as trace has it; 0: none that trace knows. */
static uint8_t type_of(unsigned number)
{
    static const uint8_t types[] = {
        [1] = TW_EXCEPTION_TRAP,         [2] = TW_EXCEPTION_CALL,
        [3] = TW_EXCEPTION_INST_FAULT,   [4] = TW_EXCEPTION_DATA_FAULT,
        [5] = TW_EXCEPTION_IRQ,          [6] = TW_EXCEPTION_FIQ,
        [7] = TW_EXCEPTION_INST_DEBUG,   [11] = TW_EXCEPTION_CALL,
        [12] = TW_EXCEPTION_TRAP,        [13] = TW_EXCEPTION_CALL,
        [14] = TW_EXCEPTION_IRQ,         [15] = TW_EXCEPTION_FIQ,
        [24] = TW_EXCEPTION_SYSTEM_ERROR
    };

    return number < sizeof types ? types[number] : 0;
}

static struct system_trap *add_trap(struct system_events *events)
{
    struct system_trap *trap =
        &events->traps[events->trap_count < SYSTEM_TRAPS ? events->trap_count++
                                                         : SYSTEM_TRAPS - 1];

    *trap = (struct system_trap){ .return_address = SYSTEM_UNTOLD };
    return trap;
}

/* "riscv_cpu_do_interrupt: hart:0, async:1, cause:0000000000000007, epc:0x00000000800000ac, ..." */
static void take_riscv(struct system_events *events, const char *line)
{
    struct system_trap *trap = add_trap(events);

    trap->is_interrupt = strstr(line, "async:1") != NULL;
    trap->type = trap->is_interrupt ? TW_EXCEPTION_IRQ : TW_EXCEPTION_TRAP;
    trap->cause = number_after(line, "cause:");
    trap->return_address = number_after(line, "epc:");
}

/* "...taking pending nonsecure exception 15", "Exception return: magic PC ...", "...successful exception
   return", "...really v7M secure function return", "...really an SG instruction at 0x10001000, executing it". */
static void take_m(struct system_events *events, const char *line)
{
    const char *at =
        strncmp(line, "...taking pending", 17) == 0 ? strstr(line, "exception ") : NULL;

    if (at) {
        struct system_trap *trap = add_trap(events);

        trap->cause = strtoull(at + 10, NULL, 10);
        trap->is_interrupt = trap->cause >= FIRST_INTERRUPT;
        trap->is_chained = events->is_return && !events->is_returned;
    } else if (strncmp(line, "Exception return", 16) == 0) {
        events->is_return = true;
        events->is_returned = false;
    } else if (strncmp(line, "...successful exception return", 30) == 0) {
        events->is_returned = true;
    } else if (strncmp(line, "...really v7M secure function return", 36) == 0) {
        events->is_function_return = true;
    } else if (strncmp(line, "...really an SG instruction at ", 31) == 0) {
        events->gateway = strtoull(line + 31, NULL, 16);
    }
}

static void take_line(struct system_events *events, const char *line)
{
    const uint8_t type = strncmp(line, "Taking exception ", 17) == 0
                             ? type_of((unsigned)strtoul(line + 17, NULL, 10))
                             : 0;

    if (strncmp(line, "riscv_cpu_do_interrupt:", 23) == 0) {
        take_riscv(events, line);
    } else if (machine.is_m) {
        take_m(events, line);
    } else if (strncmp(line, "Exception return", 16) == 0) {
        events->is_return = events->is_returned = true;
    } else if (type) {
        struct system_trap *trap = add_trap(events);

        trap->type = type;
        trap->cause = type;
        trap->is_interrupt = type == TW_EXCEPTION_IRQ || type == TW_EXCEPTION_FIQ;
    } else if (strncmp(line, "...with ELR 0x", 14) == 0 && events->trap_count) {
        events->traps[events->trap_count - 1].return_address = strtoull(line + 14, NULL, 16);
    }
}

static void read_list(struct system_events *events)
{
    static char text[ROOM + 1];
    ssize_t size;

    while (machine.file >= 0 &&
           (size = pread(machine.file, text, ROOM, (off_t)machine.at)) > 0) {
        char *line = text, *end;

        text[size] = 0;
        while ((end = strchr(line, '\n')) != NULL) {
            *end = 0;
            take_line(events, line);
            line = end + 1;
        }
        if (line == text)
            break;
        machine.at += (uint64_t)(line - text);
    }
}

/* A trap goes to S from there or below, if it is delegated. */
static uint8_t riscv_level(const char *text, const struct system_trap *trap, uint8_t before)
{
    const uint64_t delegated =
        number_after(text, trap->is_interrupt ? " mideleg " : " medeleg ");

    return before <= 1 && delegated >> (trap->cause & 63) & 1 ? 1 : LEVEL_M;
}

bool system_read(struct system_events *events, unsigned vcpu,
                 const struct tw_step_context *before, const struct block *block)
{
    struct system_trap *last;
    char *text;

    *events = (struct system_events){ .context = *before, .gateway = SYSTEM_UNTOLD };
    read_list(events);
    if (!events->is_return && !events->trap_count && !events->is_function_return &&
        events->gateway == SYSTEM_UNTOLD && !leaves_secure(block))
        return false;
    text = dump(vcpu);
    last = events->trap_count ? &events->traps[events->trap_count - 1] : NULL;
    if (blocks_target() == TARGET_RISCV) {
        for (unsigned i = 0; i < events->trap_count; i++)
            events->context.el = text ? riscv_level(text, &events->traps[i], events->context.el)
                                      : (uint8_t)LEVEL_M;
    } else if (text) {
        read_arm(&events->context, text);
    }
    if (last && last->return_address == SYSTEM_UNTOLD && text && machine.is_m)
        last->return_address = m_return(text, vcpu, events->context.security == TW_SECURE);
    else if (last && last->return_address == SYSTEM_UNTOLD && text &&
             !events->context.is_64bit && blocks_target() == TARGET_ARM)
        last->return_address = a32_return(text, last->type);
    free(text);
    return true;
}
