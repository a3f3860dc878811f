/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command that only reads captures does not need, it cannot do: see SECURITY.md. */
#ifndef SANDBOX_H
#define SANDBOX_H

/* No other programs, no network, no look into other processes, from now on, on all threads.  Where the system
   has no such filter, nothing changes. */
void sandbox_enter(void);

#endif
