/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions by address: every analysis speaks of code by these small numbers. */
#ifndef ANALYSIS_FUNCTIONS_H
#define ANALYSIS_FUNCTIONS_H

#include <trackway/functions.h>

#include "base/map.h"

/* Number 0 stands for callers that are not known. */
enum { TW_FUNCTION_NONE = 0 };

struct tw_functions {
    struct tw_function *items; /* by number */
    size_t count, room;
    struct tw_map by_place; /* hash of a place to the newest number there */
    uint32_t *older;        /* by number: another with the same hash; 0: none */
    size_t older_room;
    char **names; /* those that were made here */
    size_t name_count, name_room;
    bool is_out; /* memory was out: results are not complete */
    const struct tw_allocator *allocator;
};

bool tw_functions_init(struct tw_functions *functions, const struct tw_allocator *allocator);
void tw_functions_release(struct tw_functions *functions);

/* The number of the function at this place (file, address, kind), made when it is new; its name is
   borrowed.  TW_FUNCTION_NONE when memory is out. */
uint32_t tw_functions_number(struct tw_functions *functions, const struct tw_function *about);
/* The same for what has no symbol; the name is made here. */
uint32_t tw_functions_made(struct tw_functions *functions, enum tw_function_kind kind,
                           uint32_t file, uint64_t address);
/* Functions were moved: finds them by place again.  False: no memory. */
bool tw_functions_index(struct tw_functions *functions);
/* Memory sufficed for them, and for the source lines that were asked for. */
bool tw_functions_are_whole(const struct tw_functions *functions);
/* A copy of a text that lasts as long as they do; NULL: no memory. */
char *tw_functions_keep(struct tw_functions *functions, const char *text);

#endif
