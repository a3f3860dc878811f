/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose the elements of a perf.data file are, as text: CPU, thread, program; and the file of an
   address. */
#ifndef ATTRIBUTION_H
#define ATTRIBUTION_H

#include <trackway/run.h>

/* Text to go with a line: members of a JSON object with a comma before each, or words.  "" where there
   is nothing to say. */
struct attribution {
    char who[200];   /* of a part */
    char where[500]; /* of an address in it */
    char text[700];  /* both */
};

void attribution_part(struct attribution *attribution, const struct tw_part *part,
                      bool is_json);
void attribution_where(struct attribution *attribution, struct tw_run *run,
                       const struct tw_part *part, uint64_t address, bool is_json);
/* Both, for an element of the part that attribution_part was called with. */
const char *attribution_of(struct attribution *attribution, struct tw_run *run,
                           const struct tw_part *part, const struct tw_element *element,
                           bool is_json);

#endif
