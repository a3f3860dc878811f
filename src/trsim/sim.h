/* SPDX-License-Identifier: BSD-2-Clause */
/* A script at work on models of the components of the RISC-V Trace Control Interface. */
#ifndef TRSIM_SIM_H
#define TRSIM_SIM_H

#include <trackway/frame.h>
#include <trackway/hart.h>
#include <trackway/sim.h>

#include "base/text.h"
#include "trctl/sequence.h"

enum {
    TW_TRSIM_WORDS = 24,
    TW_TRSIM_REGIONS = 16,
    TW_TRSIM_LINE = 4096,
    TW_TRSIM_REGISTERS = TW_TRCTL_SIZE / 4,
    TW_TRSIM_WORD_MOST = 64, /* bytes of a RAM sink's word */
    TW_TRSIM_WAITING = 4096  /* bytes that wait in a component before one that is disabled */
};

/* Bits of every tr??Control. */
enum { TW_TRSIM_ACTIVE = 1 << 0, TW_TRSIM_ENABLE = 1 << 1, TW_TRSIM_EMPTY = 1 << 3 };

enum { TW_TRSIM_ETRACE = 0, TW_TRSIM_NTRACE = 1 }; /* trTeFormat */

/* Whole messages, each behind its length. */
struct tw_trsim_queue {
    uint8_t *bytes;
    size_t used, at, room;
};

struct tw_trsim_region {
    uint64_t base, size;
    uint8_t *bytes;
};

/* A level that follows what was written, after a while. */
struct tw_trsim_level {
    bool is, goal;
    uint64_t when; /* it is reached */
};

/* A trace encoder, and the hart before it. */
struct tw_trsim_encoder {
    uint8_t formats; /* bit n: trTeFormat n is there */
    bool has_btm, has_htm, has_data;
    uint8_t time_width;
    uint32_t fifo, cycles_per_byte;
    struct tw_text settings;       /* of the encoder, as its configuration has them */
    struct tw_ntrace_unit *ntrace; /* one of them, since the encoder was enabled */
    struct tw_etrace_unit *etrace;
    struct tw_text sizes; /* of messages whose bytes are still to come: 4 bytes each */

    const uint8_t *log;
    size_t log_size;
    struct tw_hart *hart;
    uint8_t trigger;                        /* for the next block */
    bool was_tracing;                       /* after the last block */
    bool is_halted, is_reset, is_asleep;    /* as the script says, */
    bool logged_halt, logged_reset;         /* and the log; */
    bool told_halt, told_reset, told_sleep; /* what the unit was told */
    bool is_at_end;
    uint64_t lost; /* messages, as the unit counts them */
};

struct tw_trsim_part {
    uint32_t registers[TW_TRSIM_REGISTERS];
    uint32_t legal[TW_TRSIM_REGISTERS]; /* bits that can be written */
    struct tw_trsim_level active, enable;
    uint32_t latency; /* accesses or cycles until a level is what was written */
    uint32_t unknown; /* what registers hold after release */
    struct tw_trsim_queue queue;
    uint64_t bytes, lost; /* that came, and that were dropped */
    uint64_t messages;
    uint64_t time, time_rest; /* trTsCounter */
    bool is_told;             /* that messages are dropped */

    /* RAM sink */
    uint8_t *sram;
    size_t sram_size;
    uint8_t word[TW_TRSIM_WORD_MOST];
    uint32_t word_size, word_used;
    uint64_t wraps;
    bool is_stopped; /* at the end of the buffer: what comes is dropped */

    /* PIB sink: the pins, as a probe sees them. */
    struct tw_text pins;
    uint8_t pin_bits, pin_count; /* that do not fill a byte yet */
    uint32_t idle;               /* edges between two messages */
    uint8_t idle_byte;           /* of the protocol */
    uint64_t credit;             /* cycles since the last byte */

    uint64_t since_align; /* messages since the last alignment */
    struct tw_trsim_encoder *encoder;
};

struct tw_trsim {
    const struct tw_sim_config *config;
    struct tw_sim_result *result;
    struct tw_fault *fault;
    struct tw_trctl_checking checking;
    struct tw_trctl_checker checker; /* reads the lines, knows the components and the rules */
    struct tw_trsim_part *parts[TW_TRCTL_PARTS];
    size_t count;
    struct tw_trsim_region regions[TW_TRSIM_REGIONS];
    size_t region_count;
    struct tw_trsim_part *at_work; /* whose unit gives bytes */
    struct tw_framer *framer;      /* behind the ATB bridges */
    bool has_probe;
    uint64_t now;      /* accesses and cycles so far */
    uint64_t executed; /* instructions */
    uint64_t spent;    /* of the limit */
    size_t number;     /* of the line */
    struct tw_text text;
    enum tw_status status; /* of what callbacks met */
    char *word[TW_TRSIM_WORDS];
    size_t words;
};

/* sim.c */
enum tw_status tw_trsim_wrong(struct tw_trsim *sim, const char *format, ...) TW_PRINTF(2, 3);
enum tw_status tw_trsim_no_memory(struct tw_trsim *sim);
bool tw_trsim_spend(struct tw_trsim *sim, uint64_t size);
bool tw_trsim_is_word(const char *word, const char *name); /* in any case */
enum tw_status tw_trsim_number_at(struct tw_trsim *sim, size_t index, uint64_t *value);
/* A component by its name; NULL: there is none, and that is said. */
struct tw_trsim_part *tw_trsim_find(struct tw_trsim *sim, const char *name);
size_t tw_trsim_number_of(const struct tw_trsim *sim, const struct tw_trsim_part *part);
const struct tw_trctl_part *tw_trsim_known(const struct tw_trsim *sim,
                                           const struct tw_trsim_part *part);
/* The component behind one; NULL: there is none. */
struct tw_trsim_part *tw_trsim_behind(const struct tw_trsim *sim,
                                      const struct tw_trsim_part *part);

/* print.c */
void tw_trsim_begin(struct tw_trsim *sim, const char *type);
void tw_trsim_end(struct tw_trsim *sim);
void tw_trsim_event(struct tw_trsim *sim, const struct tw_trsim_part *part, const char *name,
                    const char *text);
void tw_trsim_misuse(void *context, uint32_t line, uint32_t cause,
                     const struct tw_sequence_rule *rule, const char *what);
void tw_trsim_register(struct tw_trsim *sim, const struct tw_trsim_part *part, uint32_t offset,
                       uint32_t value);
void tw_trsim_show(struct tw_trsim *sim, const struct tw_trsim_part *part);
void tw_trsim_expected(struct tw_trsim *sim, const char *what, uint64_t got, uint64_t want);
void tw_trsim_drained(struct tw_trsim *sim, const uint8_t *bytes, size_t size,
                      const char *name);
void tw_trsim_ran(struct tw_trsim *sim, uint64_t instructions, uint64_t cycles, bool is_end);

/* registers.c */
enum tw_status tw_trsim_add(struct tw_trsim *sim); /* the component that was declared last */
void tw_trsim_remove(struct tw_trsim *sim, struct tw_trsim_part *part);
enum tw_status tw_trsim_write(struct tw_trsim *sim, struct tw_trsim_part *part, uint32_t offset,
                              uint32_t value);
uint32_t tw_trsim_read(struct tw_trsim *sim, struct tw_trsim_part *part, uint32_t offset);
/* The same without what reading does (trRamData). */
uint32_t tw_trsim_peek(const struct tw_trsim *sim, const struct tw_trsim_part *part,
                       uint32_t offset);
/* Levels that are due change. */
enum tw_status tw_trsim_settle(struct tw_trsim *sim, struct tw_trsim_part *part);
bool tw_trsim_is_empty(const struct tw_trsim *sim, const struct tw_trsim_part *part);
/* A component's registers as lines of a dump. */
void tw_trsim_dump(const struct tw_trsim *sim, const struct tw_trsim_part *part,
                   struct tw_text *text);
static inline uint64_t tw_trsim_pair(const struct tw_trsim_part *part, uint32_t offset)
{
    return part->registers[offset / 4] | (uint64_t)part->registers[offset / 4 + 1] << 32;
}

/* encoder.c */
enum tw_status tw_trsim_start(struct tw_trsim *sim, struct tw_trsim_part *part);
enum tw_status tw_trsim_stop(struct tw_trsim *sim, struct tw_trsim_part *part);
/* trTeControl was written while the encoder is enabled. */
enum tw_status tw_trsim_control(struct tw_trsim *sim, struct tw_trsim_part *part,
                                uint32_t value);
/* What of trTeControl the unit keeps. */
uint32_t tw_trsim_unit_bits(const struct tw_trsim_part *part);
void tw_trsim_drop_unit(struct tw_trsim_part *part);
/* One cycle of the hart; TW_END: its log is at its end. */
enum tw_status tw_trsim_cycle(struct tw_trsim *sim, struct tw_trsim_part *part);
enum tw_status tw_trsim_signals(struct tw_trsim *sim, struct tw_trsim_part *part);

/* flow.c */
bool tw_trsim_push(struct tw_trsim *sim, struct tw_trsim_queue *queue, const uint8_t *bytes,
                   size_t size);
/* A cycle, or the time that an access takes. */
enum tw_status tw_trsim_tick(struct tw_trsim *sim);
/* How many cycles the sink behind an encoder takes for a byte of its trace. */
uint32_t tw_trsim_pace(const struct tw_trsim *sim, const struct tw_trsim_part *part);
/* A sink is disabled: what it holds goes out. */
enum tw_status tw_trsim_finish(struct tw_trsim *sim, struct tw_trsim_part *part);
uint8_t *tw_trsim_memory(struct tw_trsim *sim, uint64_t address, size_t *room);
/* The bytes of a RAM sink's buffer: oldest first, or as they lie in memory. */
enum tw_status tw_trsim_buffer(struct tw_trsim *sim, struct tw_trsim_part *part, bool in_order,
                               struct tw_text *bytes);

/* pins.c */
void tw_trsim_pins(struct tw_trsim_part *part, const uint8_t *bytes, size_t size);
void tw_trsim_pins_idle(struct tw_trsim_part *part);
void tw_trsim_pins_calibrate(struct tw_trsim_part *part);
void tw_trsim_pins_end(struct tw_trsim_part *part);
/* Cycles for a byte in the mode that is set; 0: it has no pins. */
uint32_t tw_trsim_pins_pace(const struct tw_trsim_part *part);

/* command.c */
enum tw_status tw_trsim_command(struct tw_trsim *sim, bool *is_done);
enum tw_status tw_trsim_step(struct tw_trsim *sim, struct tw_trctl_step *step);

#endif
