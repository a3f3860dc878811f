/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution logs: what a processor did, step by step, for the models of trace units.
   Experimental. */
#ifndef TRACKWAY_LOG_H
#define TRACKWAY_LOG_H

#include <trackway/itm.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_image;

/* What an instruction is to the flow of control. */
enum tw_retired_kind {
    TW_RETIRED_OTHER,
    TW_RETIRED_BRANCH,   /* direct: the target stands in the opcode */
    TW_RETIRED_INDIRECT, /* returns and exception returns too */
    TW_RETIRED_ISB,
    TW_RETIRED_WFX,  /* WFI, WFE */
    TW_RETIRED_WFXT, /* WFIT, WFET */
    TW_RETIRED_TSTART,
    TW_RETIRED_TSB /* TSB CSYNC: no branch, but ETE tells the time */
};

enum {
    TW_RETIRED_TAKEN = 0x01, /* a branch that was taken; ISB, WFx and TSTART: executed */
    TW_RETIRED_LINK = 0x02,  /* a call */
    TW_RETIRED_RETURN = 0x04,
    TW_RETIRED_EXCEPTION_RETURN = 0x08,
    TW_RETIRED_CONDITIONAL = 0x10,
    TW_RETIRED_FUNCTION_RETURN = 0x20, /* M profile: to FNC_RETURN, into Secure code */
    TW_RETIRED_FAILED = 0x40,          /* its condition was false: it did nothing */
    TW_RETIRED_EXECUTED =
        0x80 /* of a run: no condition of the others was; without it each is asked */
};

/* One executed instruction. */
struct tw_retired {
    uint64_t address;
    uint64_t target; /* of a taken branch; 0: not known, what comes next tells */
    uint32_t opcode; /* T32 of 4 bytes: the first halfword in bits 31:16 */
    uint8_t isa;     /* enum tw_isa */
    uint8_t size;    /* in bytes */
    uint8_t kind;    /* enum tw_retired_kind */
    uint8_t flags;   /* TW_RETIRED_... */
};

/* Instructions that were executed one behind the other.  None but the last is anything to the flow of
   control: they are of kind TW_RETIRED_OTHER.  So code that runs again and again is looked at once. */
struct tw_retired_run {
    const struct tw_retired *instructions;
    uint64_t target;  /* of the last one, and its flags: they stand for its own */
    uint32_t count;   /* 0: nothing ran */
    uint32_t repeats; /* it ran so many times more, each time to the same target */
    uint8_t flags;
};

/* Fills size, kind, flags and the target of a direct branch from address, isa and opcode.  A
   conditional branch comes out as not taken.  T32: *it_open is how many conditions of an IT block
   are open before the instruction, and becomes what is open after it; begin with 0 after a taken
   branch or an exception.  May be NULL for the others. */
TW_API void tw_retired_classify(struct tw_retired *instruction, uint8_t *it_open);
/* The same for the M profile, where some encodings are other instructions. */
TW_API void tw_retired_classify_m(struct tw_retired *instruction, uint8_t *it_open);

/* What the processor is working on. */
struct tw_step_context {
    uint8_t el;       /* M profile: 0 Thread mode, 3 Handler mode */
    uint8_t security; /* enum tw_security */
    bool is_64bit;
    uint32_t context_id; /* CONTEXTIDR_EL1 */
    uint32_t vmid;       /* virtual context identifier: CONTEXTIDR_EL2, or VTTBR_EL2.VMID */
};

/* Exception types of the A and R profile in trace (ETMv4, ETE). */
enum tw_exception_type {
    TW_EXCEPTION_PE_RESET = 0,
    TW_EXCEPTION_DEBUG_HALT = 1,
    TW_EXCEPTION_CALL = 2,
    TW_EXCEPTION_TRAP = 3,
    TW_EXCEPTION_SYSTEM_ERROR = 4,
    TW_EXCEPTION_INST_DEBUG = 6,
    TW_EXCEPTION_DATA_DEBUG = 7,
    TW_EXCEPTION_ALIGNMENT = 10,
    TW_EXCEPTION_INST_FAULT = 11,
    TW_EXCEPTION_DATA_FAULT = 12,
    TW_EXCEPTION_IRQ = 14,
    TW_EXCEPTION_FIQ = 15
};

/* What a cancelled speculation says of the newest instruction that stays. */
enum tw_cancel {
    TW_CANCEL_ONLY,      /* nothing: the program goes on behind it */
    TW_CANCEL_DIRECTION, /* it is a branch that went the other way */
    TW_CANCEL_TARGET     /* it is an indirect branch that went elsewhere */
};

enum tw_step_kind {
    TW_STEP_INSTRUCTIONS,
    TW_STEP_CONTEXT,   /* in force from here on */
    TW_STEP_EXCEPTION, /* taken; the context that it brings follows as a step of its own */
    TW_STEP_GAP,       /* instructions ran that the log does not show: an operating system's */
    TW_STEP_TRANSACTION,
    TW_STEP_TIME,   /* the timestamp counter has this value now; it counts cycles from there */
    TW_STEP_CYCLES, /* so many have passed */
    TW_STEP_CLOCK,  /* each instruction takes so many cycles from now on */
    TW_STEP_EXTERNAL,        /* a PMU-style event of this number happens in this cycle */
    TW_STEP_INPUTS,          /* the PE comparator inputs, one bit each */
    TW_STEP_INSTRUMENTATION, /* TRCIT with this value */
    TW_STEP_SPECULATE,       /* value: instructions are speculative from here on, or not */
    TW_STEP_COMMIT,          /* all but the youngest `value` instructions are certain */
    TW_STEP_CANCEL,          /* the youngest `value` instructions never happened */
    TW_STEP_OVERFLOW,        /* the trace unit loses what it makes from here on ... */
    TW_STEP_RECOVER,         /* ... to here */
    TW_STEP_FLUSH,
    TW_STEP_SYNC,      /* whatever takes the trace wants a synchronization point */
    TW_STEP_DEBUG,     /* value: in Debug state, or out of it */
    TW_STEP_LOW_POWER, /* value: in a low-power state, or out of it */
    TW_STEP_REGISTER,  /* a write to a register of the trace unit or one that governs it */
    TW_STEP_STIMULUS,  /* software writes to a stimulus port of an ITM or STM */
    TW_STEP_WATCH,     /* the DWT sees something */
    TW_STEP_RUNS       /* instructions as straight runs: traced as if they stood one by one */
};

/* What is written to a stimulus port. */
enum {
    TW_STIMULUS_MARKED = 1, /* STM */
    TW_STIMULUS_TIMED = 2,  /* STM: with a timestamp */
    TW_STIMULUS_FLAG = 4,   /* STM: a flag, no data */
    TW_STIMULUS_TRIGGER = 8 /* STM: a trigger of this value */
};

struct tw_stimulus {
    uint64_t value;
    uint16_t port;   /* STM: channel */
    uint16_t master; /* STM */
    uint8_t bits;    /* of data: 4 (STM), 8, 16, 32 or 64 (STM) */
    uint8_t flags;   /* TW_STIMULUS_... */
};

/* One thing that happened.  Pointers stay valid until the next call for the log. */
struct tw_step {
    uint8_t kind; /* enum tw_step_kind */
    TW_EXTENSION union {
        struct {
            const struct tw_retired *instructions;
            size_t count;
        };
        struct {
            const struct tw_retired_run *runs;
            size_t run_count;
        };
        struct tw_step_context context;
        struct {
            uint64_t return_address;
            uint64_t cause;    /* RISC-V: its cause register; M profile: its number, as in IPSR;
                                  else the type again */
            uint8_t exception; /* enum tw_exception_type, or 0x10 to 0x17; M profile: 0 */
            uint8_t return_isa;
            bool is_interrupt;
            /* M profile: right behind another's end, there is no return address */
            bool is_chained;
        };
        struct {
            uint64_t value;
            uint8_t how; /* enum tw_transaction or enum tw_cancel */
        };
        struct tw_register reg;
        struct tw_stimulus stimulus;
        struct tw_dwt_meaning watched;
    };
};

struct tw_log_options {
    size_t size;            /* sizeof(struct tw_log_options) */
    struct tw_image *image; /* for instructions given without their opcode; may be NULL */
    const struct tw_allocator *allocator;
    /* exlog: instructions that records of repetition may add.  0: 16,777,216 and 4,096 for each byte
       of the log, so that a few bytes do not mean hours of work; UINT64_MAX: as many as they say. */
    uint64_t repeats_most;
};

struct tw_log;

/* Opens an exlog file or a text log (docs/formats.md), either of them compressed with gzip or
   not.  Options may be NULL.  On failure *log is NULL and `fault`, if not NULL, says why. */
TW_API TW_MUST_USE enum tw_status tw_log_open(struct tw_log **log, const char *path,
                                              const struct tw_log_options *options,
                                              struct tw_fault *fault);
/* The same from memory; the bytes are borrowed until the log is freed. */
TW_API TW_MUST_USE enum tw_status tw_log_open_memory(struct tw_log **log, const uint8_t *bytes,
                                                     size_t size,
                                                     const struct tw_log_options *options,
                                                     struct tw_fault *fault);
TW_API void tw_log_free(struct tw_log *log);
/* Whether the log is of a RISC-V processor. */
TW_API bool tw_log_is_riscv(const struct tw_log *log);
/* Whether it is of an Arm processor of the M profile. */
TW_API bool tw_log_is_m(const struct tw_log *log);
/* Which processor it was, as the log says ("cortex-m3"); NULL: it does not. */
TW_API const char *tw_log_cpu(const struct tw_log *log);

/* The next step; TW_END: there are no more; TW_E_CONFIG: the log is damaged there, see
   tw_log_fault. */
TW_API TW_MUST_USE enum tw_status tw_log_next(struct tw_log *log, struct tw_step *step);
TW_API const char *tw_log_fault(const struct tw_log *log);
/* The line that the last step of a text log came from (the last line, where it is of several); 0 for
   the other forms. */
TW_API unsigned tw_log_line(const struct tw_log *log);

#ifdef __cplusplus
}
#endif

#endif
