/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of trackway profile share. */
#ifndef PROFILE_COMMAND_H
#define PROFILE_COMMAND_H

#include <trackway/profile.h>

#include "shared/feed.h"
#include "shared/names.h"

enum profile_unit { UNIT_INSTRUCTIONS, UNIT_CYCLES, UNIT_TIME };

struct profile_command {
    struct output out;
    struct tw_profiler *profile; /* NULL: by stack */
    struct tw_calls *calls;      /* NULL: they are not followed */
    enum tw_profile_by by;
    enum profile_unit unit;
    bool with_time; /* cycles and time are told of, part by part */
    bool is_by_stack, takes_parts, with_inlined;
    struct names names;
    uint64_t limit; /* rows */
};

/* profile_text.c: a table of the rows, or of the paths of calls. */
int profile_print(struct profile_command *command);
int profile_print_stacks(struct profile_command *command);

/* profile_samples.c: where nothing was executed, but PC samples of the DWT are there.  False: there are
   none.  `before`: the captures as they were gone through; `status`: how it went. */
bool profile_samples(struct profile_command *command, const struct options *options,
                     const struct feed *before, int *status);

#endif
