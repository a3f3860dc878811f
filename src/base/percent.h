/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares as people read them. */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

struct tw_percent {
    char text[16];
};

/* Of so many digits behind the point: "12.3".  What is some is never "0.0", and what is not all is never "100.0": "<0.1", ">99.9".
   Of nothing it is "0.0". */
struct tw_percent tw_percent(double part, double all, int digits);

#endif
