/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip files, unpacked in memory. */
#ifndef BASE_GUNZIP_H
#define BASE_GUNZIP_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

enum { TW_GUNZIP_LOG_MOST = 256 << 20 }; /* a log that is larger is not given compressed */

/* Bytes of a gzip file, all members of it; TW_E_CONFIG: it is damaged, or holds more than `most`.  What
   was unpacked until then is in *out, which is the caller's in any case. */
enum tw_status tw_gunzip(uint8_t **out, size_t *out_size, const uint8_t *data, size_t size,
                         size_t most, const struct tw_allocator *allocator);

#endif
