/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds up saved results, one part at a time. */
#include <trackway/merge.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <trackway/autofdo.h>
#include <trackway/calls.h>
#include <trackway/coverage.h>
#include <trackway/pc_samples.h>
#include <trackway/profile.h>
#include <trackway/statistics.h>

#include "analysis/saved.h"
#include "base/fault.h"

/* A result of any kind. */
union tw_any_result {
    struct tw_coverage *coverage;
    struct tw_statistics *statistics;
    struct tw_pc_samples *samples;
    struct tw_autofdo *autofdo;
    struct tw_calls *calls;
    struct tw_profiler *profile;
};

struct tw_merged_kind {
    char name[TW_SAVED_KIND + 1];
    enum tw_status (*load)(union tw_any_result *result, const char *path,
                           const struct tw_allocator *allocator, struct tw_fault *fault);
    enum tw_status (*add)(union tw_any_result *to, union tw_any_result *from,
                          struct tw_fault *fault);
    enum tw_status (*save)(union tw_any_result *result, const char *path,
                           struct tw_fault *fault);
    void (*free)(union tw_any_result *result);
};

static enum tw_status coverage_load(union tw_any_result *result, const char *path,
                                    const struct tw_allocator *allocator,
                                    struct tw_fault *fault)
{
    return tw_coverage_load(&result->coverage, path, allocator, fault);
}

static enum tw_status coverage_add(union tw_any_result *to, union tw_any_result *from,
                                   struct tw_fault *fault)
{
    return tw_coverage_add(to->coverage, from->coverage, fault);
}

static enum tw_status coverage_save(union tw_any_result *result, const char *path,
                                    struct tw_fault *fault)
{
    return tw_coverage_save(result->coverage, path, fault);
}

static void coverage_free(union tw_any_result *result)
{
    tw_coverage_free(result->coverage);
}

static enum tw_status statistics_load(union tw_any_result *result, const char *path,
                                      const struct tw_allocator *allocator,
                                      struct tw_fault *fault)
{
    return tw_statistics_load(&result->statistics, path, allocator, fault);
}

static enum tw_status statistics_add(union tw_any_result *to, union tw_any_result *from,
                                     struct tw_fault *fault)
{
    const enum tw_status status = tw_statistics_add(to->statistics, from->statistics);

    return status == TW_OK ? TW_OK : tw_fail(fault, status, "no memory for the statistics");
}

static enum tw_status statistics_save(union tw_any_result *result, const char *path,
                                      struct tw_fault *fault)
{
    return tw_statistics_save(result->statistics, path, fault);
}

static void statistics_free(union tw_any_result *result)
{
    tw_statistics_free(result->statistics);
}

static enum tw_status samples_load(union tw_any_result *result, const char *path,
                                   const struct tw_allocator *allocator, struct tw_fault *fault)
{
    return tw_pc_samples_load(&result->samples, path, allocator, fault);
}

static enum tw_status samples_add(union tw_any_result *to, union tw_any_result *from,
                                  struct tw_fault *fault)
{
    const enum tw_status status = tw_pc_samples_add(to->samples, from->samples);

    return status == TW_OK ? TW_OK : tw_fail(fault, status, "no memory for the samples");
}

static enum tw_status samples_save(union tw_any_result *result, const char *path,
                                   struct tw_fault *fault)
{
    return tw_pc_samples_save(result->samples, path, fault);
}

static void samples_free(union tw_any_result *result)
{
    tw_pc_samples_free(result->samples);
}

static enum tw_status autofdo_load(union tw_any_result *result, const char *path,
                                   const struct tw_allocator *allocator, struct tw_fault *fault)
{
    return tw_autofdo_load(&result->autofdo, path, allocator, fault);
}

static enum tw_status autofdo_add(union tw_any_result *to, union tw_any_result *from,
                                  struct tw_fault *fault)
{
    const enum tw_status status = tw_autofdo_add(to->autofdo, from->autofdo);

    return status == TW_OK ? TW_OK : tw_fail(fault, status, "the profiles cannot be added");
}

static enum tw_status autofdo_save(union tw_any_result *result, const char *path,
                                   struct tw_fault *fault)
{
    return tw_autofdo_save(result->autofdo, path, fault);
}

static void autofdo_free(union tw_any_result *result)
{
    tw_autofdo_free(result->autofdo);
}

static enum tw_status calls_load(union tw_any_result *result, const char *path,
                                 const struct tw_allocator *allocator, struct tw_fault *fault)
{
    return tw_calls_load(&result->calls, path, allocator, fault);
}

static enum tw_status calls_add(union tw_any_result *to, union tw_any_result *from,
                                struct tw_fault *fault)
{
    return tw_calls_add(to->calls, from->calls, fault);
}

static enum tw_status calls_save(union tw_any_result *result, const char *path,
                                 struct tw_fault *fault)
{
    return tw_calls_save(result->calls, path, fault);
}

static void calls_free(union tw_any_result *result)
{
    tw_calls_free(result->calls);
}

static enum tw_status profile_load(union tw_any_result *result, const char *path,
                                   const struct tw_allocator *allocator, struct tw_fault *fault)
{
    return tw_profile_load(&result->profile, path, allocator, fault);
}

static enum tw_status profile_add(union tw_any_result *to, union tw_any_result *from,
                                  struct tw_fault *fault)
{
    return tw_profile_add(to->profile, from->profile, fault);
}

static enum tw_status profile_save(union tw_any_result *result, const char *path,
                                   struct tw_fault *fault)
{
    return tw_profile_save(result->profile, path, fault);
}

static void profile_free(union tw_any_result *result)
{
    tw_profile_free(result->profile);
}

/* By the name that is in the file. */
static const struct tw_merged_kind kinds[] = {
    { "coverage", coverage_load, coverage_add, coverage_save, coverage_free },
    { "stats", statistics_load, statistics_add, statistics_save, statistics_free },
    { "pcs", samples_load, samples_add, samples_save, samples_free },
    { "autofdo", autofdo_load, autofdo_add, autofdo_save, autofdo_free },
    { "calls", calls_load, calls_add, calls_save, calls_free },
    { "profile", profile_load, profile_add, profile_save, profile_free },
};

static enum tw_status find_kind(const struct tw_merged_kind **kind, const char *path,
                                struct tw_fault *fault)
{
    char head[16] = "", name[TW_SAVED_KIND + 1] = "";
    FILE *file = fopen(path, "rb");
    const size_t got = file ? fread(head, 1, sizeof head, file) : 0;

    *kind = NULL;
    if (!file)
        return tw_fail(fault, TW_E_FILE, "cannot read %s: %s", path, strerror(errno));
    (void)fclose(file);
    if (got == sizeof head && memcmp(head, "TWRESULT", 8) == 0)
        memcpy(name, head + 8, TW_SAVED_KIND);
    for (size_t i = 0; name[0] && i < TW_LENGTH(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            *kind = &kinds[i];
    return *kind ? TW_OK : tw_fail(fault, TW_E_FILE, "%s: no saved result", path);
}

/* Adds one more. */
static enum tw_status add_part(const struct tw_merged_kind *kind, union tw_any_result *sum,
                               const char *path, const struct tw_allocator *allocator,
                               struct tw_fault *fault)
{
    union tw_any_result part;
    struct tw_fault why = { TW_OK, "" };
    enum tw_status status;

    TW_TRY(kind->load(&part, path, allocator, fault));
    status = kind->add(sum, &part, &why);
    if (status != TW_OK)
        (void)tw_fail(fault, status, "%s: %s", path, why.text);
    kind->free(&part);
    return status;
}

enum tw_status tw_merge(const char *out, const char *const *parts, size_t part_count,
                        const struct tw_allocator *allocator, struct tw_fault *fault)
{
    const struct tw_merged_kind *kind;
    union tw_any_result sum;
    enum tw_status status;

    if (!out || !parts || !part_count)
        return tw_fail(fault, TW_E_ARGUMENT, "nothing is to be merged");
    TW_TRY(find_kind(&kind, parts[0], fault));
    TW_TRY(kind->load(&sum, parts[0], allocator, fault));
    status = TW_OK;
    for (size_t i = 1; i < part_count && status == TW_OK; i++)
        status = add_part(kind, &sum, parts[i], allocator, fault);
    if (status == TW_OK)
        status = kind->save(&sum, out, fault);
    kind->free(&sum);
    return status;
}
