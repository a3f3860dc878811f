/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of calls that no one should make. */
#ifndef OPENCSD_TESTS_CALLS_H
#define OPENCSD_TESTS_CALLS_H

#include "library.h"

struct call_case {
    const char *name;
    void (*run)(void);
};

/* Each ends with a name that is NULL. */
extern const struct call_case tree_cases[], memory_cases[], packet_cases[], log_cases[],
    custom_cases[];

extern const struct library *lib;

enum { SMALL_TRACE = 64 };
extern const uint8_t small_trace[SMALL_TRACE], small_code[16];
ocsd_etmv4_cfg small_config(uint8_t id);

/* With a decoder that these flags ask for; 0: none. */
dcd_tree_handle_t raw_tree(int flags);
dcd_tree_handle_t framed_tree(int flags);

/* Prints what a call answers, at once. */
void say(const char *what, long long result);
ocsd_datapath_resp_t feed(dcd_tree_handle_t tree, size_t from, size_t size);

#endif
