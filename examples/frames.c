/* SPDX-License-Identifier: BSD-2-Clause */
/* How many bytes each trace source has in a file of CoreSight frames: frames FILE. */
#include <inttypes.h>
#include <stdio.h>

#include <trackway/frame.h>

static enum tw_status feed_file(struct tw_unframer *unframer, FILE *file)
{
    uint8_t piece[4096];
    size_t size;

    while ((size = fread(piece, 1, sizeof piece, file)) > 0) {
        const enum tw_status status = tw_unframer_feed(unframer, piece, size);

        if (status != TW_OK)
            return status;
    }
    return tw_unframer_finish(unframer);
}

int main(int argc, char **argv)
{
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = TW_FRAMING_MEMORY };
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    struct tw_unframer *unframer;
    enum tw_status status;

    if (!file) {
        (void)fprintf(stderr, "usage: frames FILE\n");
        return 2;
    }
    status = tw_unframer_new(&unframer, &config, NULL);
    if (status == TW_OK)
        status = feed_file(unframer, file);
    if (status == TW_OK) {
        const struct tw_frame_stats *stats = tw_unframer_stats(unframer);

        for (unsigned id = 0; id < TW_ID_UNKNOWN; id++)
            if (stats->bytes_by_id[id])
                printf("ID 0x%02x: %" PRIu64 " bytes\n", id, stats->bytes_by_id[id]);
    } else {
        (void)fprintf(stderr, "frames: %s\n", tw_status_name(status));
    }
    tw_unframer_free(unframer);
    (void)fclose(file);
    return status == TW_OK ? 0 : 3;
}
