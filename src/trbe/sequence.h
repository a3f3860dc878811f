/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the sequence checker share: steps, register classes, the state. */
#ifndef TRBE_SEQUENCE_H
#define TRBE_SEQUENCE_H

#include <trackway/sequence.h>

#include "base/compiler.h"
#include "base/text.h"

/* What a line does, as far as trace is concerned. */
enum step_kind {
    STEP_OTHER, /* an ordinary instruction: may change a general register */
    STEP_MSR,
    STEP_MRS,
    STEP_CSE, /* ISB and the like */
    STEP_TSB,
    STEP_DSB, /* of reads and writes */
    STEP_EXCEPTION,
    STEP_ERET,
    STEP_CALL, /* SVC, HVC, SMC: an exception that comes back */
    STEP_HALT,
    STEP_RESUME,
    STEP_MAINTAIN, /* TLBI, DC, IC */
    STEP_READ_BUFFER,
    STEP_WRITE_BUFFER,
    STEP_TRACED,
    STEP_SAVE_UNIT, /* all of the trace unit's registers */
    STEP_RESTORE_UNIT,
    STEP_PROGRAM_UNIT,
    STEP_SAVE_BUFFER,
    STEP_RESTORE_BUFFER,
    STEP_CHANGE_TABLES,
    STEP_POWER_DOWN,
    STEP_WAIT,  /* WFI, WFE, SEV */
    STEP_VALUE, /* an instruction whose result is followed: see enum step_op */
    STEP_TEST,  /* TST, CMP */
    STEP_LOAD,
    STEP_STORE,
    STEP_BRANCH, /* conditional or not, with a target */
    STEP_LEAVE,  /* RET, BR: what follows is reached otherwise */
    STEP_ASSUME,
    STEP_BEGIN,  /* .sequence */
    STEP_UNKNOWN /* cannot be read */
};

enum step_op {
    OP_MOV,
    OP_MOVK,
    OP_AND,
    OP_ORR,
    OP_BIC,
    OP_EOR,
    OP_UBFX,
    OP_BFC,
    OP_TST,
    OP_CMP,
    OP_CCMP, /* `more`: condition (OP_BEQ, OP_BNE); `immediate`: flags when it fails */
    OP_BEQ,
    OP_BNE,
    OP_CBZ,
    OP_CBNZ,
    OP_TBZ,
    OP_TBNZ,
    OP_BANY, /* on a condition that is not followed */
    OP_JUMP
};

enum assumption {
    ASSUME_PROHIBITED,
    ASSUME_ALLOWED,
    ASSUME_DRAINED,
    ASSUME_UNIT_ENABLED,
    ASSUME_UNIT_IDLE,
    ASSUME_BUFFER_ENABLED,
    ASSUME_BUFFER_DISABLED,
    ASSUME_EL,
    ASSUME_OWNER
};

enum register_class {
    REG_OTHER,
    REG_TRC,        /* written when the unit is Idle */
    REG_TRC_STATUS, /* ... and changed by the hardware */
    REG_TRC_FREE,   /* identification and claim tags */
    REG_TRCPRGCTLR,
    REG_TRCSTATR,
    REG_TRBLIMITR,
    REG_TRBPTR,
    REG_TRBSR,
    REG_TRBTRG,
    REG_TRB, /* TRBBASER, TRBMAR, TRBMPAM */
    REG_TRBIDR,
    REG_TRFCR, /* with the Exception level it filters for */
    REG_VMSA,
    REG_SCR_EL3,
    REG_MDCR_EL3,
    REG_MDCR_EL2,
    REG_OSLAR,
    REG_BAD_NAME /* looks like a trace register, but there is none */
};

enum { NO_REGISTER = 255, ZERO_REGISTER = 31, GENERAL_REGISTERS = 31 };
#define NO_STEP UINT32_MAX

struct step {
    uint32_t line;
    uint8_t kind, op;
    uint8_t class_code; /* enum register_class */
    uint8_t el;
    uint8_t rd, rn, rm; /* general registers */
    bool has_immediate, has_value;
    uint64_t immediate; /* of the instruction; width of a bit field is in `more` */
    uint64_t value;     /* of the system register, where the log tells */
    uint8_t more;
    uint32_t target; /* step index of a branch's label */
    char name[24];   /* of a system register, as it is printed */
};

/* sequence_names.c */
uint8_t tw_seq_classify(const char *name, uint8_t *el);

/* sequence_parse.c */
struct tw_seq_steps {
    struct step *items;
    size_t count, room;
    size_t lines;
};
enum tw_status tw_seq_parse(struct tw_seq_steps *steps, const char *text, size_t size,
                            const struct tw_allocator *allocator);

/* sequence_value.c: known bits of general registers. */
struct value {
    uint64_t known, bits;
    uint64_t mask;  /* of what was read, bits that are left */
    uint8_t origin; /* register class that it was read from; 0: none */
    uint8_t shift;  /* ... and how far it was shifted down */
};

struct values {
    struct value x[GENERAL_REGISTERS];
    struct value tested; /* by TST or CMP */
    uint64_t operand;
    bool is_tst, has_test;
    /* CCMP beside the test: the branch that follows can only be taken where this one would be
       (OP_BEQ, OP_BNE), if has_gate. */
    uint8_t gate;
    bool has_gate;
};

/* What a loop waits for, of TRCSTATR: 0, 1, or -1 where it does not matter. */
struct wait {
    int idle, pmstable;
};

struct value tw_seq_get(const struct values *values, uint8_t reg);
void tw_seq_set(struct values *values, uint8_t reg, struct value value);
void tw_seq_follow(struct values *values, const struct step *step);
/* What a loop waits for that ends when the branch is taken (is_exit), or when it is not.  False: it does
   not test what was read from TRCSTATR. */
bool tw_seq_loop_wait(const struct values *values, struct wait *wait, const struct step *step,
                      bool is_exit);

/* sequence_rules.c */
enum rule_index {
    RULE_TS1,
    RULE_TS2,
    RULE_TS3,
    RULE_TS4,
    RULE_TS5,
    RULE_TS6,
    RULE_TS7,
    RULE_TS8,
    RULE_TS9,
    RULE_TS10,
    RULE_TS11,
    RULE_TS12,
    RULE_TS13,
    RULE_TS14,
    RULE_TS15,
    RULE_TS16,
    RULE_TS17,
    RULE_TS18,
    RULE_TS19,
    RULE_EN4,
    RULE_DIS5,
    RULE_DIS6,
    RULE_SAVE7,
    RULE_SAVE8,
    RULE_O4,
    RULE_I3,
    RULE_POLL,
    RULE_INPUT,
    RULE_COUNT
};
const struct tw_sequence_rule *tw_seq_rule(enum rule_index index);

/* sequence_state.c and sequence_check.c: what is known while the steps go by. */
enum unit_state {
    UNIT_UNKNOWN,
    UNIT_IDLE,
    UNIT_ENABLING,
    UNIT_RUNNING,
    UNIT_DISABLING,
    UNIT_STABLE
};
enum buffer_state { BUFFER_UNKNOWN, BUFFER_OFF, BUFFER_ON };

struct filter {
    uint64_t known, bits; /* of TRFCR_EL1 or TRFCR_EL2 */
    bool is_assumed;      /* prohibited, because an exception came from traced code */
};

struct checker {
    struct tw_sequence *out;
    bool is_strict;
    const struct step *steps;
    size_t count, at;
    uint32_t line; /* of the step at work */
    struct values values;

    uint8_t el, owner_el;                  /* owner_el 0: not said */
    struct filter direct[2], effective[2]; /* TRFCR of EL1 and of EL2 */
    bool is_forgiven;                      /* taken as prohibited, for it was reported */
    bool is_halted;

    /* Whose the buffer is (MDCR_EL3), and which state SCR_EL3 selects; bits that are known. */
    struct value owner_bits, state_bits;
    uint32_t off_line;   /* where the buffer was switched off ... */
    uint32_t moved_line; /* ... and SCR_EL3 left the state that it had there; 0: it did not */

    uint8_t unit;   /* enum unit_state */
    uint8_t buffer; /* enum buffer_state */
    bool is_locked;
    bool is_enable_guessed;   /* the OS Lock was cleared, and EN may be 0 */
    bool runs_unlocked;       /* EN is 1 under the OS Lock, as far as is known */
    bool is_disabled_by_lock; /* the last switch-off was the OS Lock */
    bool has_exit_wait;       /* a branch forward, out of a loop, tests TRCSTATR */
    struct wait exit_wait;

    /* Lines of direct writes since the last context synchronization event. */
    uint32_t trc_pending, trb_pending, vmsa_pending, filter_pending, enable_pending,
        disable_pending, buffer_on_pending, buffer_off_pending, unlock_pending;
    bool has_synchronized;    /* there was such an event at all */
    uint32_t status_pending;  /* a read of TRCSTATR, likewise */
    uint32_t status_reported; /* ... that was found wrong */
    bool has_read_status;     /* since the trace unit was last switched */
    uint32_t memory_pending;  /* maintenance without a DSB */
    uint32_t memory_unsynced; /* ... with one, but without an event after it */

    /* Trace operations. */
    bool is_active;              /* some may be outstanding */
    bool is_quiet;               /* an event made sure that no more are made */
    uint32_t tsb, dsb;           /* lines; 0: not done */
    bool is_seen, is_abort_seen; /* an event came after the TSB CSYNC; after the DSB */
    /* the unit was switched off while trace was allowed: a TSB must follow */
    uint32_t undrained;
};

void tw_seq_find(struct checker *c, uint32_t cause, enum rule_index rule, const char *also,
                 const char *format, ...) TW_PRINTF(5, 6);
void tw_seq_begin(struct checker *c);
void tw_seq_end(struct checker *c);
/* A context synchronization event. */
void tw_seq_synchronize(struct checker *c);
void tw_seq_tsb(struct checker *c);
void tw_seq_dsb(struct checker *c);
void tw_seq_exception(struct checker *c, uint8_t el);
void tw_seq_return(struct checker *c, uint8_t el);
void tw_seq_assume(struct checker *c, const struct step *step);
void tw_seq_traced(struct checker *c);
/* Whether trace is known to be prohibited where the processor executes. */
bool tw_seq_is_prohibited(const struct checker *c, const struct filter filters[2]);
bool tw_seq_unit_may_run(const struct checker *c);
bool tw_seq_is_settled(const struct checker *c);
void tw_seq_write(struct checker *c, uint8_t class_code, uint8_t el, struct value value,
                  const char *name);
void tw_seq_read(struct checker *c, uint8_t class_code, const char *name);
/* sequence_flow.c: a branch forward that goes on with its loop where it is taken, and leaves it where it is
   not. */
bool tw_seq_falls_out(const struct checker *c, const struct step *branch);
/* sequence_owner.c: a write to SCR_EL3 or MDCR_EL3, and the buffer switched on. */
void tw_seq_note_owner(struct checker *c, uint8_t class_code, struct value value);
void tw_seq_check_owner(struct checker *c);
void tw_seq_poll(struct checker *c, const struct step *branch);
void tw_seq_read_buffer(struct checker *c);
/* No trace may be outstanding when this is done; returns false and reports otherwise. */
bool tw_seq_must_be_drained(struct checker *c, enum rule_index rule, const char *what);
void tw_seq_run(struct checker *c);

struct tw_sequence {
    const struct tw_allocator *allocator;
    struct tw_sequence_finding *findings;
    size_t count, room;
    char **texts;
    size_t text_count, text_room;
    size_t lines, steps;
    bool is_out_of_memory;
};

#endif
