/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes in front of the first synchronization. */
#include "opencsd/unsynced.h"

static struct oc_unsynced skip(size_t size, enum oc_unsynced_next next)
{
    return (struct oc_unsynced){ OC_UNSYNCED_SKIP, size, next };
}

/* Eight bytes or more, or what comes before a zero.  They are shown when one more byte is there than
   it takes to know. */
struct oc_unsynced oc_unsynced_etmv4(const uint8_t *bytes, size_t size)
{
    enum { MOST = 8, SYNC_SIZE = 12 };
    enum { OTHER, ZERO, ZEROS } at = OTHER;
    const struct oc_unsynced wait = { .kind = OC_UNSYNCED_WAIT };

    for (size_t i = 0; i < size; i++) {
        const size_t count = i + 1;
        const bool is_known = size > count;

        if (at == OTHER) {
            if (bytes[i] == 0 && i)
                return is_known ? skip(i, OC_NEXT_BYTE) : wait;
            if (bytes[i] != 0 && count >= MOST)
                return is_known ? skip(count, OC_NEXT_BEHIND) : wait;
            at = bytes[i] == 0 ? ZERO : OTHER;
        } else if (bytes[i] == 0) {
            if (count == SYNC_SIZE) /* too many zeros */
                return is_known ? skip(1, OC_NEXT_SAME) : wait;
            at = ZEROS;
        } else if (count == SYNC_SIZE) {
            return (struct oc_unsynced){ bytes[i] == 0x80 ? OC_UNSYNCED_SYNC : OC_UNSYNCED_BAD,
                                         SYNC_SIZE, OC_NEXT_BYTE };
        } else {
            at = OTHER;
        }
    }
    return wait;
}

/* Sixteen bytes, what comes before a zero, or all there is. */
struct oc_unsynced oc_unsynced_etmv3(const uint8_t *bytes, size_t size)
{
    enum { MOST = 16, SYNC_SIZE = 6, ZEROS_MOST = 13, ZEROS_SKIPPED = 8 };
    bool is_zeros = size && bytes[0] == 0;

    for (size_t i = 0; i < size; i++) {
        const size_t count = i + 1;

        if (is_zeros) {
            if (bytes[i] == 0x80 && count == SYNC_SIZE)
                return (struct oc_unsynced){ OC_UNSYNCED_SYNC, SYNC_SIZE, OC_NEXT_BYTE };
            if (bytes[i] == 0x80 && count > SYNC_SIZE)
                return skip(count - SYNC_SIZE, OC_NEXT_COUNTED);
            if (bytes[i] == 0 && count >= ZEROS_MOST)
                return skip(ZEROS_SKIPPED, OC_NEXT_COUNTED);
            is_zeros = bytes[i] == 0;
        } else if (bytes[i] == 0) {
            return skip(i, OC_NEXT_BYTE);
        } else if (count == size || count == MOST) {
            return skip(count, OC_NEXT_BYTE);
        }
    }
    return (struct oc_unsynced){ .kind = OC_UNSYNCED_WAIT };
}

/* Sixteen bytes or some more, what comes before a synchronization or what may become one, or all there
   is. */
struct oc_unsynced oc_unsynced_ptm(const uint8_t *bytes, size_t size)
{
    enum { MOST = 16, ZEROS_LEAST = 5, ZEROS_MOST = 16, ZEROS_SKIPPED = 11 };
    size_t count = 0;

    while (count < size && count < MOST) {
        size_t zeros = 0;

        while (count + zeros < size && zeros < ZEROS_MOST && bytes[count + zeros] == 0)
            zeros++;
        if (zeros == ZEROS_MOST) {
            count += ZEROS_SKIPPED;
        } else if (count + zeros == size) {
            break;
        } else if (zeros >= ZEROS_LEAST && bytes[count + zeros] == 0x80) {
            if (!count)
                return (struct oc_unsynced){ OC_UNSYNCED_SYNC, zeros + 1, OC_NEXT_BYTE };
            break;
        } else {
            count += zeros + 1;
        }
    }
    return count ? skip(count, OC_NEXT_BYTE) : (struct oc_unsynced){ .kind = OC_UNSYNCED_WAIT };
}
