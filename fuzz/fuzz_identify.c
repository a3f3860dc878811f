/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is: any bytes get an answer, and an answer that is certain has a command. */
#include <stdlib.h>

#include <trackway/identify.h>

/* Work that takes a few milliseconds, now more, now less: another part of the search comes last. */
enum { SIZE_MOST = 16384, WORK = 8 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_identified *identified;
    const struct tw_identity *about;
    struct tw_identify_options options = { .size = sizeof options };

    if (size > SIZE_MOST)
        return 0;
    options.work = (uint64_t)WORK << (size ? data[size - 1] % 4 : 0);
    require(tw_identify_bytes(&identified, data, size, "file", &options, NULL) == TW_OK);
    about = tw_identified_about(identified);
    require(about->what && about->confidence >= 0 && about->confidence <= 1);
    require(about->evidence_count > 0);
    if (about->has_framing)
        require(about->command && about->source_count > 0);
    tw_identified_free(identified);
    return 0;
}
