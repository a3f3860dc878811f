/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace units of every protocol, by its name: execution logs in, trace bytes and what a decoder has to
   know of them out.  The models have interfaces of their own (<trackway/etmv4_unit.h> and its
   kin) for what a log does not say.  Experimental. */
#ifndef TRACKWAY_UNIT_H
#define TRACKWAY_UNIT_H

#include <trackway/capture.h>
#include <trackway/image.h>
#include <trackway/log.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_sim_capture;
struct tw_unit;

/* Their protocols, one after the other; NULL behind the last. */
TW_API const char *tw_unit_protocol(size_t number);
/* What `preset` may be, as "minimal|exclude|include"; NULL: there are none, or no such protocol. */
TW_API const char *tw_unit_presets(const char *protocol);
/* Whether it traces RISC-V: then `parameters` configure it, else registers. */
TW_API bool tw_unit_is_riscv(const char *protocol);

/* Everything that it points at is copied, but for the image. */
struct tw_unit_config {
    size_t size; /* sizeof(struct tw_unit_config) */
    const char *protocol;
    /* Programming, or the form of a known encoder; NULL: everything is traced. */
    const char *preset;
    uint64_t first, last; /* presets "exclude" and "include": first and last address */
    /* Registers of Arm trace units ("TRCCONFIGR", "ETMCR", "ITMTCR" ...), upon the preset's. */
    const struct tw_register *registers;
    size_t register_count;
    /* RISC-V encoders: their parameters as text (docs/formats.md); NULL: those of the preset. */
    const char *parameters;
    /* What registers do not choose ("fifo", "return-stack" ...); RISC-V: control fields as well
       ("iFilters", "trTeInstSyncMode" ...). */
    const struct tw_register *choices;
    size_t choice_count;
    /* What faults call these; NULL: "registers", "choices". */
    const char *registers_name, *choices_name;
    struct tw_image *image; /* the program's code, borrowed until the unit is freed; or NULL */
    uint64_t repeats_most;  /* of exlog files: as in struct tw_log_options */
    const struct tw_allocator *allocator;
};

/* What is wrong with registers and choices is said when the first log comes: it tells which profile
   the processor has. */
TW_API TW_MUST_USE enum tw_status
tw_unit_new(struct tw_unit **unit, const struct tw_unit_config *config, struct tw_fault *fault);
TW_API void tw_unit_free(struct tw_unit *unit);
/* Its protocol. */
TW_API const char *tw_unit_name(const struct tw_unit *unit);
/* What was wrong with the last call that failed; nothing more is taken then. */
TW_API const char *tw_unit_fault(const struct tw_unit *unit);

/* A whole execution log through the unit; more than one, and they follow each other.  RISC-V: any form
   that <trackway/hart.h> reads. */
TW_API TW_MUST_USE enum tw_status tw_unit_log(struct tw_unit *unit, const char *path);
TW_API TW_MUST_USE enum tw_status tw_unit_log_memory(struct tw_unit *unit, const uint8_t *bytes,
                                                     size_t size);

/* The same step by step, for what executes by itself (an emulator, a simulator).  First what a log would
   say of the processor: whether it is of the M profile, and of RISC-V its xlen (else 0); registers and
   choices are checked here, and tw_unit_trace tells what a decoder needs.  Logs are not taken then. */
TW_API TW_MUST_USE enum tw_status tw_unit_begin(struct tw_unit *unit, bool is_m, unsigned xlen);
TW_API TW_MUST_USE enum tw_status tw_unit_step(struct tw_unit *unit,
                                               const struct tw_step *step);
/* The bytes so far, valid until the next call; tw_unit_take drops them. */
TW_API const uint8_t *tw_unit_output(const struct tw_unit *unit, size_t *size);
TW_API void tw_unit_take(struct tw_unit *unit);

/* Tracing ends, and all that was held back comes out.  TW_E_ARGUMENT: no log came before. */
TW_API TW_MUST_USE enum tw_status tw_unit_finish(struct tw_unit *unit);

struct tw_unit_trace {
    const uint8_t *bytes;
    size_t size;
    const uint8_t *data_bytes; /* RISC-V: data trace that is a stream of its own */
    size_t data_size;
    uint8_t id;                          /* trace ID; data trace has the next */
    const struct tw_register *registers; /* that a decoder needs */
    size_t register_count;
    const char *device_type, *data_device_type, *core_type; /* as snapshots name them */
    /* RISC-V: the configuration of each, which a decoder needs; or NULL */
    const char *text, *data_text;
    uint64_t instructions; /* that were executed, where the log tells of them one by one */
};
/* What it made, valid until it is freed; all zero before tw_unit_finish.  Step by step: what is left of the
   bytes, and all else since tw_unit_begin. */
TW_API const struct tw_unit_trace *tw_unit_trace(const struct tw_unit *unit);

/* The same as a snapshot, with the program's memory: code of the image, and code of the logs that the image
   lacks.  Set size, description and overwrite, and give it to tw_snapshot_write; what it points at is the unit's.
   Framed: as one buffer of CoreSight frames. */
TW_API TW_MUST_USE enum tw_status
tw_unit_snapshot(struct tw_unit *unit, struct tw_snapshot *snapshot, bool is_framed);

/* For a unit that a script ran (<trackway/sim.h>): notes the code of a step, which tw_unit_log does by
   itself; ... */
TW_API TW_MUST_USE enum tw_status tw_unit_note(struct tw_unit *unit,
                                               const struct tw_step *step);
/* ... and stands for the unit of this capture, as if tw_unit_finish had made its trace, which is
   borrowed.  Only before the first log, and again for the next capture. */
TW_API TW_MUST_USE enum tw_status tw_unit_adopt(struct tw_unit *unit,
                                                const struct tw_sim_capture *capture);

#ifdef __cplusplus
}
#endif

#endif
