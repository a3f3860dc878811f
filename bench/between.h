/* SPDX-License-Identifier: BSD-2-Clause */
/* What it costs that one core reads what another has written. */
#ifndef BENCH_BETWEEN_H
#define BENCH_BETWEEN_H

/* ns of wall-clock time for each line of 64 bytes, written by one thread and read by another in batches as
   decoding on two threads hands them over.  It depends on how near the cores are to each other, which where
   the machine is virtual may be another from minute to minute. */
double bench_line_ns(void);

#endif
