/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a script of register writes, trace and execution on models of what collects trace: the Trace
   Buffer Unit and the trace unit that feeds it, or the components of the RISC-V Trace Control
   Interface.  Experimental. */
#ifndef TRACKWAY_SIM_H
#define TRACKWAY_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/etmv4_unit.h>
#include <trackway/export.h>
#include <trackway/log.h>
#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the trace of the script's "source" command comes from: a file, or a model of the caller's.
   The trace unit of its "run" command needs none. */
struct tw_sim_source {
    void *context;
    /* The next bytes, room at most, 0 at the end.  *is_trigger: a Detected Trigger follows them. */
    size_t (*take)(void *context, uint8_t *bytes, size_t room, bool *is_trigger);
    /* What it holds back until it is flushed, likewise; may be NULL. */
    size_t (*flush)(void *context, uint8_t *bytes, size_t room);
};

/* Trace out of the buffer, for the script's "capture" command. */
struct tw_sim_capture {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    /* that made it: tw_etmv4_unit_register has what a decoder needs */
    const struct tw_etmv4_unit *unit;
    bool is_ete;
};

struct tw_sim_config {
    size_t size;    /* sizeof(struct tw_sim_config) */
    bool is_json;   /* lines are JSON objects */
    uint64_t limit; /* bytes of trace, and of memory, that a script may ask for; 0: 256 MiB */
    struct tw_sim_source source;
    struct tw_log *log;     /* for "run", unless the script names one; may be NULL */
    struct tw_image *image; /* for logs that the script names; may be NULL */
    void *context;
    /* Each line of output, without its end. */
    void (*line)(void *context, const char *text, size_t size);
    /* Files that the script names.  What `load` gives must last until the run is over. */
    bool (*load)(void *context, const char *name, const uint8_t **bytes, size_t *size);
    bool (*save)(void *context, const char *name, const uint8_t *bytes, size_t size);
    bool (*capture)(void *context, const struct tw_sim_capture *capture);
    /* Instructions that "run" executes, before it does; false ends the run. */
    bool (*executes)(void *context, const struct tw_step *step);
    const struct tw_allocator *allocator;
    /* RISC-V: what the hart of the first encoder does (<trackway/hart.h>), unless the script names a log;
       must last until the run is over; may be NULL. */
    const uint8_t *hart_log;
    size_t hart_log_size;
};

struct tw_sim_result {
    size_t lines;    /* read */
    size_t expected; /* "expect" lines, and how many did not hold */
    size_t failed;
    uint64_t misuses; /* by software, of the unit */
};

/* TW_E_ARGUMENT: a line of the script cannot be read, or done; `fault` says which and why.  docs/formats.md
   has the commands. */
TW_API TW_MUST_USE enum tw_status tw_sim_run(struct tw_sim_result *result, const char *script,
                                             size_t size, const struct tw_sim_config *config,
                                             struct tw_fault *fault);

/* The same on models of trace encoders, funnels, RAM and PIB sinks and ATB bridges.  Of the
   configuration it uses line, load, save, image, the limit and the hart's log.  misuses counts rules
   of <trackway/sequence.h> that the script breaks. */
TW_API TW_MUST_USE enum tw_status tw_sim_run_riscv(struct tw_sim_result *result,
                                                   const char *script, size_t size,
                                                   const struct tw_sim_config *config,
                                                   struct tw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
