/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes in front of the first synchronization, in the pieces in which OpenCSD shows them. */
#ifndef OPENCSD_UNSYNCED_H
#define OPENCSD_UNSYNCED_H

#include "opencsd/protocol.h"

struct oc_unsynced oc_unsynced_etmv4(const uint8_t *bytes, size_t size);
struct oc_unsynced oc_unsynced_ptm(const uint8_t *bytes, size_t size);
struct oc_unsynced oc_unsynced_etmv3(const uint8_t *bytes, size_t size);

#endif
