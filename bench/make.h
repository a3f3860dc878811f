/* SPDX-License-Identifier: BSD-2-Clause */
/* Subjects made by our own trace units, from a random program and a fixed seed. */
#ifndef BENCH_MAKE_H
#define BENCH_MAKE_H

#include "subject.h"

/* What may be asked for: "etmv4,mib=16,missing=10". */
struct make_wish {
    /* etmv4, ete, ptm, etmv3, etrace, etrace-jtc (jump target cache), etrace-bpred (branch predictor), ntrace
       (HTM), ntrace-btm, stm, itm */
    char protocol[16];
    size_t bytes;      /* mib=, kib=: at least so many of trace (1 MiB) */
    unsigned blocks;   /* basic blocks of the program (20,000) */
    unsigned locality; /* % of calls that go to a tenth of the functions (90) */
    unsigned indirect; /* about so many % of the branches taken are indirect (9) */
    unsigned missing;  /* % of the functions whose code is not given (0) */
    unsigned times;    /* 1: timestamps (0) */
    unsigned sync;     /* bytes from one synchronization point to the next (4,096) */
    unsigned seed;     /* (1) */
};

void make_subject(struct subject *subject, const char *wish);

/* ---- for the files that make them ---- */

enum { MAKE_RUN = 8, MAKE_CALLS = 64 };

/* Bytes that grow. */
struct make_bytes {
    uint8_t *bytes;
    size_t size, room;
};
void make_append(struct make_bytes *bytes, const uint8_t *data, size_t size);

uint64_t make_random(uint64_t *state);

enum make_end { MAKE_CONDITIONAL, MAKE_JUMP, MAKE_CALL, MAKE_RETURN, MAKE_INDIRECT };

struct make_block {
    uint32_t first; /* instruction */
    uint32_t count;
    uint32_t target; /* block; of MAKE_INDIRECT none */
    uint8_t end;     /* enum make_end, of its last instruction */
    uint8_t taken;   /* conditional: % of the times */
};

/* A program, and where it is. */
struct make_program {
    enum tw_isa isa;
    uint64_t base;
    struct make_block *blocks;
    struct tw_retired *code;
    uint8_t *bytes;
    uint32_t block_count, code_count;
    struct make_wish wish;
    uint64_t random;
    uint32_t at, calls[MAKE_CALLS], call_count;
    uint64_t executed; /* instructions */
};

void make_program(struct make_program *program, const struct make_wish *wish, enum tw_isa isa);
/* What its next block does: at most MAKE_RUN instructions; how many. */
unsigned make_run(struct make_program *program, struct tw_retired *run);
/* Gives the subject its code and its image, and frees the rest. */
void make_program_finish(struct make_program *program, struct subject *subject);

void make_arm(struct subject *subject, struct make_bytes *out, const struct make_wish *wish);
void make_riscv(struct subject *subject, struct make_bytes *out, const struct make_wish *wish);
void make_software(struct subject *subject, struct make_bytes *out,
                   const struct make_wish *wish);

#endif
