/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor says of captures that a trace unit made: the summary, and the finding that is looked for, word by word. */
#include "check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <trackway/doctor.h>
#include <trackway/frame.h>
#include <trackway/unit.h>

#include "base/platform.h"

enum { LOG_ROOM = 4096, PATH_ROOM = 600 };

static const char folder[] = "test_doctor_capture";

static void remove_folder(void)
{
    DIR *opened = opendir(folder);
    struct dirent *entry;
    char path[PATH_ROOM];

    while (opened && (entry = readdir(opened))) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)remove(path);
    }
    if (opened)
        (void)closedir(opened);
    (void)rmdir(folder);
}

/* The trace of a log, as a snapshot that was opened. */
static struct tw_capture *capture_of(const char *protocol, const char *log)
{
    /* Contexts and timestamps. */
    static const struct tw_register registers[] = { { "TRCCONFIGR", 0x8c1 } };
    const struct tw_unit_config config = { .size = sizeof config,
                                           .protocol = protocol,
                                           .registers = registers,
                                           .register_count = strcmp(protocol, "etmv4") == 0 };
    struct tw_snapshot snapshot = { .size = sizeof snapshot };
    struct tw_capture *capture;
    struct tw_unit *unit;

    CHECK_EQ(tw_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_unit_log_memory(unit, (const uint8_t *)log, strlen(log)), TW_OK);
    CHECK_EQ(tw_unit_finish(unit), TW_OK);
    CHECK_EQ(tw_unit_snapshot(unit, &snapshot, false), TW_OK);
    snapshot.overwrite = true;
    CHECK_EQ(tw_snapshot_write(folder, &snapshot, NULL), TW_OK);
    tw_unit_free(unit);
    CHECK_EQ(tw_capture_open(&capture, folder, NULL, NULL), TW_OK);
    return capture;
}

static const struct tw_finding *find(const struct tw_doctor *doctor, const char *code)
{
    const struct tw_finding *finding;

    for (size_t i = 0; (finding = tw_doctor_finding(doctor, i)); i++)
        if (strcmp(finding->code, code) == 0)
            return finding;
    return NULL;
}

/* `code` and `text` NULL: nothing but notes. */
static void says(const char *protocol, const char *log, const char *summary, const char *code,
                 const char *text)
{
    struct tw_capture *capture = capture_of(protocol, log);
    const struct tw_finding *finding;
    struct tw_doctor *doctor;

    CHECK_EQ(tw_doctor_new(&doctor, capture, NULL, NULL), TW_OK);
    CHECK_TEXT(tw_doctor_summary(doctor), summary);
    finding = code ? find(doctor, code) : NULL;
    CHECK_EQ(finding != NULL, code != NULL);
    if (finding)
        CHECK_TEXT(finding->text, text);
    else
        CHECK(tw_doctor_finding(doctor, 0)->severity == TW_FINDING_NOTE);
    tw_doctor_free(doctor);
    tw_capture_free(capture);
    remove_folder();
}

/* A log of some lines, many times. */
static const char *repeated(const char *head, const char *const *lines, unsigned count,
                            unsigned times)
{
    static char log[LOG_ROOM];
    size_t used = (size_t)snprintf(log, sizeof log, "trackway-log 1\n%s", head);

    for (unsigned i = 0; i < times; i++)
        used += (size_t)snprintf(log + used, sizeof log - used, "%s", lines[i % count]);
    CHECK(used < sizeof log);
    return log;
}

#define STEP "i 0x1000 d503201f\ni 0x1004 17ffffff taken\n"

static void a_good_capture_is_whole(void **state)
{
    static const char *const lines[] = { "time 0x5000\n" STEP, "time 0x5100\n" STEP,
                                         "time 0x5200\n" STEP, "time 0x5300\n" STEP };

    (void)state;
    says("etmv4", repeated("context el=0\n", lines, 4, 4),
         "nothing is wrong: 34 bytes of 1 source, 8 instructions", NULL, NULL);
}

static void two_harts_in_one_stream_are_told_apart(void **state)
{
    static const char *const times[] = { "time 20480\n" STEP "sync\n",
                                         "time 20224\n" STEP "sync\n" };
    static const char *const contexts[] = { "context el=0 cid=1\n" STEP,
                                            "context el=0 cid=2\n" STEP };
    static const char *const levels[] = { "context el=0 cid=1\n" STEP,
                                          "context el=1 cid=2\n" STEP };

    (void)state;
    says("etmv4", repeated("context el=0\n", times, 2, 24),
         "not whole: 1 error, 0 warnings; 48 instructions are known", "two-harts",
         "source ETM_0: time goes back 12 times in 24 timestamps: two cores or harts are in "
         "one stream");
    says("etmv4", repeated("", contexts, 2, 12),
         "not whole: 1 error, 0 warnings; 24 instructions are known", "two-harts",
         "source ETM_0: 10 times the context changes back and forth between 0x2 and 0x1 with "
         "nothing between: two cores or harts are in one stream");
    /* Who has more rights may change it. */
    says("etmv4", repeated("", levels, 2, 12),
         "nothing is wrong: 108 bytes of 1 source, 24 instructions", NULL, NULL);
}

#define FAULT(kind, next)                                                                      \
    "i 0x1000 d503201f\nexception " kind " return=0x1004\n"                                    \
    "context el=1 cid=7\ni 0x8000 d503201f\ni 0x8004 d69f03e0 taken " next                     \
    "\ncontext el=0 cid=7\n"
#define AFTER "i 0x3000 d503201f\ni 0x3004 17ffffff taken\n"

static void faults_that_are_not_come_back_from_are_told(void **state)
{
    static const char *const once[] = { FAULT("data-fault", "0x3000"), AFTER, AFTER, AFTER },
                             *const again[] = { FAULT("data-fault", "0x1000"),
                                                FAULT("data-fault", "0x1000"),
                                                FAULT("data-fault", "0x3000"), AFTER, AFTER },
                             *const error[] = { FAULT("system-error", "0x3000"), AFTER },
                             *const back[] = { FAULT("data-fault", "0x1004"),
                                               "i 0x1004 17ffffff taken\n" };

    (void)state;
    says(
        "etmv4", repeated("context el=0 cid=7\n", once, 4, 4),
        "nothing is wrong: 49 bytes of 1 source, 9 instructions", "faults",
        "source ETM_0: 1 exception of a kind that hints at a fault of the program; the last is "
        "data fault at 0x1004 (offset 0x1c): the program went on elsewhere, not where it was "
        "(a "
        "signal?)");
    says("etmv4", repeated("context el=0 cid=7\n", again, 5, 5),
         "nothing is wrong: 79 bytes of 1 source, 13 instructions", "faults",
         "source ETM_0: 3 exceptions of a kind that hints at a fault of the program; the last "
         "is "
         "data fault at 0x1004 (offset 0x3d): the program went on elsewhere, not where it was "
         "(a "
         "signal?)");
    says(
        "etmv4", repeated("context el=0 cid=7\n", error, 2, 2),
        "nothing is wrong: 49 bytes of 1 source, 5 instructions", "faults",
        "source ETM_0: 1 exception of a kind that hints at a fault of the program; the last is "
        "system error at 0x1004 (offset 0x1c)");
    says("etmv4", repeated("context el=0 cid=7\n", back, 2, 2),
         "nothing is wrong: 47 bytes of 1 source, 4 instructions", NULL, NULL);
    says(
        "etrace",
        "trackway-log 1\nisa rv64\ncontext el=3\ni 0x1000 00000013\n"
        "exception 5 return=0x1004\ni 0x2000 00000013\ni 0x2004 ffdff06f taken\n",
        "nothing is wrong: 15 bytes of 1 source, 3 instructions", "faults",
        "source ETRACE_0: 1 exception of a kind that hints at a fault of the program; the last "
        "is load access at 0x1004 (offset 0x6): nothing goes on there in the 2 instructions "
        "that "
        "follow");
}

#define OTHERS "ETMIDR=0x411cf301,ETMCCER=0xc19a2"

/* The same trace under settings of any kind: what is advised against overflows goes by these. */
static void advice_goes_by_the_settings(void **state)
{
    static const char *const ptm = "trackway-log 1\nisa a32\ni 0x1000 e1a00000\noverflow\n"
                                   "recover\ni 0x1004 eafffffd taken\ni 0x1000 e1a00000\n";
    static const struct {
        const char *config, *words;
    } rows[] = {
        { "ETMCR=0," OTHERS, "return stack on (ETMCR bit 29), " },
        { "ETMCR=0x400," OTHERS, "return stack on (ETMCR bit 29), " },
        { "ETMCR=0x20000000," OTHERS, "" },
        { "ETMCR=0x100," OTHERS,
          "return stack on (ETMCR bit 29), branch broadcast off (ETMCR bit 8), " },
    };
    char path[PATH_ROOM];

    (void)state;
    tw_capture_free(capture_of("ptm", ptm));
    (void)snprintf(path, sizeof path, "%s/trace.bin", folder);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tw_capture_source_option source = { .protocol = "ptm",
                                                         .config = rows[i].config };
        const struct tw_capture_options options = { .size = sizeof options,
                                                    .sources = &source,
                                                    .source_count = 1,
                                                    .core_type = "Cortex-A15" };
        struct tw_capture *capture;
        struct tw_doctor *doctor;
        char remedy[PATH_ROOM];

        check_case("%s", rows[i].config);
        (void)snprintf(remedy, sizeof remedy,
                       "make less trace: %sfilters on the code of interest; or a wider, faster "
                       "port, a larger sink",
                       rows[i].words);
        CHECK_EQ(tw_capture_open(&capture, path, &options, NULL), TW_OK);
        CHECK_EQ(tw_doctor_new(&doctor, capture, NULL, NULL), TW_OK);
        CHECK(find(doctor, "overflow"));
        CHECK_TEXT(find(doctor, "overflow")->remedy, remedy);
        tw_doctor_free(doctor);
        tw_capture_free(capture);
    }
    remove_folder();
}

struct stream {
    uint8_t bytes[LOG_ROOM];
    size_t size;
    char config[PATH_ROOM];
};

/* One that has so many timestamps, and how it was made. */
static void make_stream(struct stream *stream, uint64_t first, unsigned count)
{
    static const struct tw_register registers[] = { { "TRCCONFIGR", 0x8c1 } };
    const struct tw_unit_config about = {
        .size = sizeof about, .protocol = "etmv4", .registers = registers, .register_count = 1
    };
    char log[LOG_ROOM] = "trackway-log 1\ncontext el=0\n";
    const struct tw_unit_trace *trace;
    struct tw_unit *unit;
    size_t used = strlen(log);

    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(log + used, sizeof log - used,
                                 "time 0x%" PRIx64 "\n" STEP "sync\n", first + 16 * i);
    CHECK_EQ(tw_unit_new(&unit, &about, NULL), TW_OK);
    CHECK_EQ(tw_unit_log_memory(unit, (const uint8_t *)log, used), TW_OK);
    CHECK_EQ(tw_unit_finish(unit), TW_OK);
    trace = tw_unit_trace(unit);
    CHECK(trace->size <= sizeof stream->bytes);
    memcpy(stream->bytes, trace->bytes, trace->size);
    stream->size = trace->size;
    used = 0;
    for (size_t i = 0; i < trace->register_count; i++)
        if (strcmp(trace->registers[i].name, "TRCTRACEIDR") != 0) /* each has its own */
            used += (size_t)snprintf(
                stream->config + used, sizeof stream->config - used, "%s%s=0x%" PRIx64,
                used ? "," : "", trace->registers[i].name, (uint64_t)trace->registers[i].value);
    CHECK(used < sizeof stream->config);
    tw_unit_free(unit);
}

/* Three streams in one buffer; the second has too few timestamps to say anything of its clock. */
static void clocks_of_any_two_streams_are_compared(void **state)
{
    static const char name[] = "test_doctor_frames.bin";
    static const uint64_t starts[] = { 0x5000, 0x5000, 0x500000000 };
    static const unsigned counts[] = { 8, 1, 8 };
    const struct tw_framer_config about = { .size = sizeof about,
                                            .framing = TW_FRAMING_MEMORY };
    struct tw_capture_source_option sources[3] = { { .id = 0 } };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .has_framing = true,
                                                .framing = TW_FRAMING_MEMORY,
                                                .sources = sources,
                                                .source_count = 3,
                                                .core_type = "Cortex-A57" };
    static struct stream streams[3];
    struct tw_framer *framer;
    struct tw_capture *capture;
    struct tw_doctor *doctor;
    const uint8_t *bytes;
    size_t size;
    FILE *file;

    (void)state;
    CHECK_EQ(tw_framer_new(&framer, &about, NULL), TW_OK);
    for (unsigned i = 0; i < 3; i++) {
        sources[i] = (struct tw_capture_source_option){ .id = (uint8_t)(0x10 + i),
                                                        .protocol = "etmv4",
                                                        .config = streams[i].config };
        make_stream(&streams[i], starts[i], counts[i]);
    }
    for (size_t at = 0; at < sizeof streams[0].bytes; at += 8)
        for (unsigned i = 0; i < 3; i++)
            if (at < streams[i].size)
                CHECK_EQ(tw_framer_write(framer, sources[i].id, streams[i].bytes + at,
                                         streams[i].size - at < 8 ? streams[i].size - at : 8),
                         TW_OK);
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    bytes = tw_framer_output(framer, &size);
    file = fopen(name, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    CHECK_EQ(fclose(file), 0);
    tw_framer_free(framer);
    CHECK_EQ(tw_capture_open(&capture, name, &options, NULL), TW_OK);
    CHECK_EQ(tw_doctor_new(&doctor, capture, NULL, NULL), TW_OK);
    CHECK(find(doctor, "foreign-clocks"));
    CHECK_TEXT(
        find(doctor, "foreign-clocks")->text,
        "the timestamps of etmv4-0x10 (20482 to 20594) and etmv4-0x12 (21474836482 to "
        "21474836594) are of different clocks, though both were traced together: what ran "
        "at the same time is not known");
    tw_doctor_free(doctor);
    tw_capture_free(capture);
    (void)remove(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_capture_is_whole),
        cmocka_unit_test(two_harts_in_one_stream_are_told_apart),
        cmocka_unit_test(faults_that_are_not_come_back_from_are_told),
        cmocka_unit_test(advice_goes_by_the_settings),
        cmocka_unit_test(clocks_of_any_two_streams_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
