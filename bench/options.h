/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that bench_self and bench_peer take, and the two measured by them. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "subject.h"

enum { OPTIONS_SUBJECTS = 32 };

struct options {
    const char *subjects[OPTIONS_SUBJECTS];
    size_t subject_count;
    bool stages[BENCH_STAGES];
    size_t bytes; /* the subject again and again up to so many; 0: once */
    unsigned ids, regions, threads;
    bool is_split, is_once;
    const char *folder; /* the subject is written there, and nothing measured; or NULL */
};

/* Reads the words; says how to use the program and ends it where they make no sense.  Without a
   subject: the usual ones; without a stage: all. */
void options_read(struct options *options, int count, char **words);
/* A subject in the shape that the options ask for; false: there is no corpus. */
bool options_open(const struct options *options, struct subject *subject, const char *what);
/* Whether a stage can be of a subject. */
bool options_fits(const struct subject *subject, enum bench_stage stage);

/* What a program measures: `run` makes one pass. */
typedef void options_pass_fn(void *context, struct bench_counts *counts);
/* Passes that are timed together so that the clock's steps do not matter. */
unsigned options_repeats(options_pass_fn *run, void *context);
/* Times passes and prints a line: bytes, packets, ranges, instructions, best and median. */
void options_measure(const struct subject *subject, enum bench_stage stage,
                     options_pass_fn *run, void *context);

#endif
