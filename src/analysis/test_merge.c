/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of results that add up: whatever the order and the grouping, the same bytes. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/merge.h>

#include "analysis/coverage.h"
#include "base/platform.h"

enum { PARTS = 12, ROOM = 200 };

static char folder[] = "/tmp/trackway-merge-XXXXXX";

static const char *path_of(char *path, const char *stem, unsigned number)
{
    (void)snprintf(path, ROOM, "%s/%s%u.twr", folder, stem, number);
    return path;
}

static void add_random_file(struct tw_coverage *coverage, struct check_random *random,
                            unsigned number)
{
    char name[30];
    struct tw_counted_file like = { .name = name, .build_id_size = 4 };
    struct tw_counted_file *file;

    (void)snprintf(name, sizeof name, "/bin/program%u", number);
    like.build_id[0] = (uint8_t)number;
    if (number == 3)
        like.name = NULL;
    file = tw_counted_code_file(&coverage->counted, &like);
    assert_non_null(file);
    for (unsigned i = 0; i < 40; i++) {
        const struct tw_range_count range = { .start = check_random_below(random, 30) * 4,
                                              .length = 4,
                                              .instructions = 1,
                                              .isa = TW_ISA_A64 };
        const struct tw_edge_count edge = { .from = check_random_below(random, 9) * 4,
                                            .to = check_random_below(random, 9) * 4,
                                            .kind = TW_EDGE_CALL };

        tw_range_counts_range(&file->counts, &range)->taken += check_random_below(random, 99);
        tw_range_counts_edge(&file->counts, &edge)->count += check_random_below(random, 9);
    }
    coverage->counted.executed += check_random_below(random, 1000);
}

static void make_part(struct check_random *random, unsigned number)
{
    const struct tw_coverage_config config = { .size = sizeof config };
    struct tw_coverage *coverage;
    char path[ROOM];

    CHECK_EQ(tw_coverage_new(&coverage, &config, NULL), TW_OK);
    for (uint64_t left = check_random_below(random, 4); left; left--)
        add_random_file(coverage, random, (unsigned)check_random_below(random, 5));
    CHECK_EQ(tw_coverage_save(coverage, path_of(path, "part", number), NULL), TW_OK);
    tw_coverage_free(coverage);
}

static void check_same_files(const char *one, const char *other)
{
    static uint8_t bytes[2][1 << 17];
    size_t sizes[2];
    const char *const paths[2] = { one, other };

    for (unsigned i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "rb");

        assert_non_null(file);
        sizes[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        (void)fclose(file);
    }
    CHECK(sizes[0] > 40);
    CHECK_BYTES(bytes[0], sizes[0], bytes[1], sizes[1]);
}

/* Merges two of those that are left, until one is: any order, any grouping. */
static void any_order_and_grouping_gives_the_same(void **state)
{
    struct check_random random = check_random_start(31);
    char paths[PARTS][ROOM], whole[ROOM], made[ROOM];
    const char *parts[PARTS];

    (void)state;
    for (unsigned i = 0; i < PARTS; i++) {
        make_part(&random, i);
        parts[i] = path_of(paths[i], "part", i);
    }
    CHECK_EQ(tw_merge(path_of(whole, "whole", 0), parts, PARTS, NULL, NULL), TW_OK);
    for (unsigned round = 0; round < check_scale(100); round++) {
        char left[PARTS][ROOM];
        unsigned count = PARTS, number = 0;

        memcpy(left, paths, sizeof left);
        while (count > 1) {
            const unsigned one = (unsigned)check_random_below(&random, count);
            unsigned other = (unsigned)check_random_below(&random, count - 1);
            const char *pair[2];

            other += other >= one;
            pair[0] = left[one];
            pair[1] = left[other];
            path_of(made, "made", number++);
            CHECK_EQ(tw_merge(made, pair, 2, NULL, NULL), TW_OK);
            memcpy(left[one], made, sizeof made);
            memmove(left[other], left[count - 1], ROOM);
            count--;
        }
        check_same_files(left[0], whole);
    }
}

static void other_builds_and_kinds_are_refused(void **state)
{
    const struct tw_coverage_config config = { .size = sizeof config };
    struct tw_coverage *coverage;
    struct tw_counted_file like = { .name = "/bin/a", .build_id_size = 4 };
    char one[ROOM], other[ROOM], out[ROOM];
    const char *parts[2] = { path_of(one, "build", 1), path_of(other, "build", 2) };
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQ(tw_coverage_new(&coverage, &config, NULL), TW_OK);
        like.build_id[0] = (uint8_t)i;
        assert_non_null(tw_counted_code_file(&coverage->counted, &like));
        CHECK_EQ(tw_coverage_save(coverage, parts[i], NULL), TW_OK);
        tw_coverage_free(coverage);
    }
    path_of(out, "refused", 0);
    CHECK_EQ(tw_merge(out, parts, 2, NULL, &fault), TW_E_ARGUMENT);
    CHECK(strstr(fault.text, "/bin/a is of another build") != NULL);
    CHECK(access(out, F_OK) != 0);
    CHECK_EQ(tw_merge(out, parts, 0, NULL, &fault), TW_E_ARGUMENT);
    parts[0] = "/dev/null";
    CHECK_EQ(tw_merge(out, parts, 1, NULL, &fault), TW_E_FILE);
}

static void a_damaged_part_is_refused(void **state)
{
    static uint8_t bytes[1 << 16];
    char path[ROOM], bad[ROOM];
    struct tw_coverage *coverage;
    size_t size;
    FILE *file = fopen(path_of(path, "part", 1), "rb");

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    for (size_t cut = 0; cut < size; cut += 1 + size / 50) {
        file = fopen(path_of(bad, "bad", 0), "wb");
        assert_non_null(file);
        CHECK_EQ(fwrite(bytes, 1, cut, file), cut);
        (void)fclose(file);
        CHECK(tw_coverage_load(&coverage, bad, NULL, NULL) != TW_OK);
        CHECK(coverage == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_and_grouping_gives_the_same),
        cmocka_unit_test(other_builds_and_kinds_are_refused),
        cmocka_unit_test(a_damaged_part_is_refused),
    };
    char command[ROOM];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests_name("merge", tests, NULL, NULL);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) < 0 ? 1 : failed;
}
