/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened when: functions, exceptions, gaps and messages of each thread in one clock.
   Experimental. */
#ifndef TRACKWAY_TIMELINE_H
#define TRACKWAY_TIMELINE_H

#include <trackway/calls.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_TIME_UNKNOWN UINT64_MAX

/* When something happened: not before `low`, not after `high`; `estimate` lies between them, by the
   cycles or instructions executed since `low`.  TW_TIME_UNKNOWN: not known. */
struct tw_times {
    uint64_t low, high, estimate;
};

struct tw_timed_event {
    struct tw_call_event event;
    struct tw_times times;
};

#ifdef __cplusplus
}
#endif

#endif
