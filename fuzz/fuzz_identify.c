/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is: any bytes get an answer, and an answer that is certain has a command. */
#include <stdlib.h>

#include <trackway/identify.h>

/* Little work, seldom more: another part of the search comes last.  A thousand inputs a second find more than a few
   long ones: only the first bytes count, and mostly one framing. */
enum { SIZE_MOST = 320, WORK = 1 << 10, MORE = 1 << 17, FRAMINGS = 5 };

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

    if (size) {
        const unsigned choice = data[size - 1];

        options.work = choice % 32 == 21 ? MORE : WORK;
        options.has_framing = choice / 32 != 5;
        options.framing = (enum tw_framing)(choice / 32 % FRAMINGS);
    }
    size = size < SIZE_MOST ? size : SIZE_MOST;
    require(tw_identify_bytes(&identified, data, size, "file", &options, NULL) == TW_OK);
    about = tw_identified_about(identified);
    require(about->what && about->confidence >= 0 && about->confidence <= 1);
    require(about->evidence_count > 0);
    if (about->has_framing)
        require(about->command && about->source_count > 0);
    tw_identified_free(identified);
    return 0;
}
