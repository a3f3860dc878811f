/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of channels: writes to ports become lines with the time that follows them; PC samples are a
   sum. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <trackway/channels.h>
#include <trackway/pc_samples.h>

#include "failing.h"

enum { PC_SAMPLE = 2 }; /* discriminator of the DWT */

static struct tw_element write_to(unsigned port, const char *text)
{
    struct tw_element element = { .type = TW_ELEMENT_ITMTRACE, .kind = TW_ITM_SWIT };

    element.source = port;
    element.size = (uint8_t)strlen(text);
    for (size_t i = 0; text[i]; i++)
        element.itm_value |= (uint32_t)(uint8_t)text[i] << 8 * i;
    return element;
}

static struct tw_element time_is(uint64_t time)
{
    return (struct tw_element){ .type = TW_ELEMENT_ITMTRACE,
                                .kind = TW_ITM_TS_SYNC,
                                .itm_time = time };
}

static struct tw_element sample_of(uint32_t pc, uint8_t size)
{
    struct tw_element element = { .type = TW_ELEMENT_ITMTRACE, .kind = TW_ITM_DWT };

    element.source = PC_SAMPLE;
    element.size = size;
    element.itm_value = pc;
    return element;
}

struct told {
    char text[1000];
    size_t size;
};

static void note(struct told *told, const char *what, const struct tw_channel_time *when,
                 unsigned number, const char *text, size_t size)
{
    told->size += (size_t)snprintf(
        told->text + told->size, sizeof told->text - told->size, "%s %u @%lld %.*s\n", what,
        number, when->is_known ? (long long)when->time : -1, (int)size, text);
}

static void take_line(void *context, const struct tw_channel_line *line)
{
    note(context, "line", &line->when, line->number, line->text, line->text_size);
}

static void take_event(void *context, const struct tw_channel_event *event)
{
    note(context, event->type, &event->when, (unsigned)event->source & 0xff,
         event->note ? event->note : "", event->note ? strlen(event->note) : 0);
}

static void run_all(struct told *told, const struct tw_channels_config *wish,
                    struct tw_element *elements, size_t count)
{
    struct tw_channels_config config = *wish;
    struct tw_channels *channels;

    *told = (struct told){ .size = 0 };
    config.size = sizeof config;
    config.context = told;
    CHECK_EQ(tw_channels_new(&channels, &config, NULL), TW_OK);
    for (size_t i = 0; i < count; i++) { /* however they are cut */
        const struct tw_batch batch = {
            .size = sizeof batch, .elements = &elements[i], .count = 1, .id = 3
        };

        CHECK_EQ(tw_channels_take(channels, &batch), TW_OK);
    }
    CHECK_EQ(tw_channels_finish(channels), TW_OK);
    tw_channels_free(channels);
}

static void writes_become_lines(void **state)
{
    struct tw_element elements[] = {
        write_to(0, "he"),   write_to(1, "x\n"), time_is(100),        write_to(0, "llo\n"),
        write_to(0, "on\r"), time_is(150),       write_to(0, "\nno"),
    };
    const struct tw_channels_config lines = { .on_line = take_line };
    const struct tw_channels_config one = { .on_line = take_line, .has_port = true, .port = 1 };
    const struct tw_channels_config values = { .on_event = take_event, .with_values = true };
    struct told told;

    (void)state;
    run_all(&told, &lines, elements, LENGTH(elements));
    CHECK_TEXT(told.text, "line 1 @100 x\nline 0 @100 hello\nline 0 @150 on\nline 0 @150 no\n");
    run_all(&told, &one, elements, LENGTH(elements));
    CHECK_TEXT(told.text, "line 1 @100 x\n");
    run_all(&told, &values, elements, 3);
    CHECK_TEXT(told.text, "itm 0 @100 \nitm 1 @100 \n");
}

static void losses_are_told_where_they_are(void **state)
{
    struct tw_element elements[] = {
        write_to(0, "a"),
        time_is(10),
        { .type = TW_ELEMENT_ERROR, .error = TW_ERROR_BAD_SEQUENCE, .index = 77, .skipped = 5 },
        write_to(0, "b"),
    };
    const struct tw_channels_config config = { .on_event = take_event };
    struct told told;

    (void)state;
    elements[3].flags = TW_ITM_OVERFLOW;
    run_all(&told, &config, elements, LENGTH(elements));
    CHECK_TEXT(told.text, "error 255 @10 bad-sequence at offset 77, 5 bytes passed over\n"
                          "overflow 255 @10 packets were lost before this\n");
}

static void pc_samples_are_a_sum(void **state)
{
    struct tw_element elements[] = { sample_of(0x1000, 4), sample_of(0x2000, 4),
                                     time_is(5),           sample_of(0x1000, 4),
                                     sample_of(0, 1),      sample_of(0xff, 1) };
    const struct tw_batch batch = { .size = sizeof batch,
                                    .elements = elements,
                                    .count = LENGTH(elements) };
    struct tw_pc_totals totals = { .size = sizeof totals };
    struct tw_pc_samples *samples, *loaded;
    const struct tw_pc_count *counts;
    char path[64];
    size_t count;

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/trackway-pcs-%ld", (long)getpid());
    CHECK_EQ(tw_pc_samples_new(&samples, NULL, NULL), TW_OK);
    CHECK_EQ(tw_pc_samples_take(samples, &batch), TW_OK);
    CHECK_EQ(tw_pc_samples_save(samples, path, NULL), TW_OK);
    CHECK_EQ(tw_pc_samples_load(&loaded, path, NULL, NULL), TW_OK);
    CHECK_EQ(tw_pc_samples_add(loaded, samples), TW_OK);
    CHECK_EQ(tw_pc_samples_add(loaded, loaded), TW_E_ARGUMENT);
    CHECK(tw_pc_samples_totals(loaded, &totals));
    CHECK_EQ(totals.samples, 10);
    CHECK_EQ(totals.asleep, 2);
    CHECK_EQ(totals.prohibited, 2);
    CHECK_EQ(tw_pc_samples_counts(loaded, &counts, &count, NULL), TW_OK);
    CHECK_EQ(count, 2);
    CHECK_EQ(counts[0].pc, 0x1000);
    CHECK_EQ(counts[0].count, 4);
    CHECK_EQ(counts[1].pc, 0x2000);
    CHECK_EQ(counts[1].count, 2);
    tw_pc_samples_free(samples);
    tw_pc_samples_free(loaded);
    (void)remove(path);
}

static void memory_may_run_out_at_any_time(void **state)
{
    struct tw_element elements[] = { write_to(0, "abc\n"), sample_of(1, 4), time_is(5) };
    const struct tw_batch batch = { .size = sizeof batch,
                                    .elements = elements,
                                    .count = LENGTH(elements) };
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    for (size_t limit = 0; status != TW_OK; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct told told = { .size = 0 };
        const struct tw_channels_config config = { .size = sizeof config,
                                                   .on_line = take_line,
                                                   .context = &told,
                                                   .allocator = &allocator };
        struct tw_channels *channels;

        check_case("%zu requests", limit);
        status = tw_channels_new(&channels, &config, NULL);
        if (status == TW_OK)
            status = tw_channels_take(channels, &batch);
        if (status == TW_OK)
            status = tw_channels_finish(channels);
        tw_channels_free(channels);
        CHECK_EQ(failing.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_become_lines),
        cmocka_unit_test(losses_are_told_where_they_are),
        cmocka_unit_test(pc_samples_are_a_sum),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests_name("analysis: channels", tests, NULL, NULL);
}
