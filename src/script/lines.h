/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that the scripts of both simulators print alike, as text or as JSON. */
#ifndef SCRIPT_LINES_H
#define SCRIPT_LINES_H

#include <trackway/sim.h>

#include "base/text.h"

/* "12: ..." or {"line":12,"t":"TYPE",...}: the beginning of a line, and its end. */
void tw_script_begin(struct tw_text *text, const struct tw_sim_config *config, size_t number,
                     const char *type);
void tw_script_end(struct tw_text *text, const struct tw_sim_config *config);

/* What stands in a line of an expectation that failed, and of bytes that were taken out: `name` is the
   file that they went to, or NULL. */
void tw_script_failed(struct tw_text *text, const struct tw_sim_config *config,
                      const char *what, uint64_t got, uint64_t want);
void tw_script_drained(struct tw_text *text, const struct tw_sim_config *config,
                       const uint8_t *bytes, size_t size, const char *name);

#endif
