/* SPDX-License-Identifier: BSD-2-Clause */
/* Any sequence of calls that write a perf.data file: it is written, and what was written is read again.
   Input: a byte of choices, then calls: a byte that says which, one of size, and so many bytes for it. */
#include <stdlib.h>
#include <string.h>

#include <trackway/perfdata.h>

#include "base/bytes.h"
#include "capture/capture.h"

enum { ROOM = 1 << 20, HEAD = 2, NAME = 40 };

struct memory_file {
    uint8_t *bytes;
    size_t size;
};

/* What was written, to be found again. */
struct said {
    uint64_t maps, trace_bytes;
};

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static bool put(void *context, uint64_t offset, const void *bytes, size_t size)
{
    struct memory_file *file = context;

    if (offset > ROOM || size > ROOM - offset)
        return false;
    memcpy(file->bytes + offset, bytes, size);
    if (offset + size > file->size)
        file->size = (size_t)offset + size;
    return true;
}

static enum tw_status load(void *context, const uint8_t **bytes, size_t *size, const char *path,
                           struct tw_fault *fault)
{
    const struct memory_file *file = context;

    (void)memcpy(fault->text, "not there", sizeof "not there");
    if (strcmp(path, "in/data") != 0)
        return TW_E_FILE;
    *bytes = file->bytes;
    *size = file->size;
    return TW_OK;
}

static void drop(void *context, const uint8_t *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
}

static const struct tw_register etm[] = {
    { "TRCCONFIGR", 0xc1 },    { "TRCTRACEIDR", 0x10 }, { "TRCIDR0", 0x28000ea1 },
    { "TRCIDR1", 0x4100f403 }, { "TRCIDR2", 0x488 },
};
static const struct tw_register ptm[] = {
    { "ETMCR", 0x10001000 },
    { "ETMIDR", 0x411cf312 },
    { "ETMCCER", 0x34c01ac2 },
    { "ETMTRACEIDR", 0x11 },
};

/* One call, by bytes of the input. */
static enum tw_status call(struct tw_perf_writer *writer, struct said *said, unsigned which,
                           const uint8_t *bytes, size_t size)
{
    uint8_t padded[64] = { 0 };
    char name[NAME] = "/";
    struct tw_perf_stamp stamp;
    struct tw_perf_mapping mapping = { .protection = 5 };
    enum tw_status status;

    memcpy(padded, bytes, size < sizeof padded ? size : sizeof padded);
    stamp = (struct tw_perf_stamp){
        .time = tw_load_le32(padded), .pid = padded[4], .tid = padded[5], .cpu = padded[6] & 1
    };
    for (size_t i = 0; i < NAME - 2 && padded[20 + i % 40]; i++)
        name[i + 1] = (char)padded[20 + i % 40];
    mapping.address = tw_load_le64(padded + 7);
    mapping.length = tw_load_le32(padded + 15);
    mapping.offset = (uint64_t)padded[19] << 12;
    switch (which % 8) {
    case 0:
        return tw_perf_writer_comm(writer, &stamp, name + 1, padded[7] & 1);
    case 1:
        return tw_perf_writer_fork(writer, &stamp, padded[7], padded[8]);
    case 2:
        return tw_perf_writer_exit(writer, &stamp);
    case 3:
        status = tw_perf_writer_map(writer, &stamp, &mapping, name);
        said->maps += status == TW_OK;
        return status;
    case 4:
        return tw_perf_writer_start(writer, &stamp);
    case 5:
        return tw_perf_writer_switch(writer, &stamp, padded[7] & 1);
    case 6:
        return tw_perf_writer_build_id(writer, name, padded, size % 24);
    default:
        size = size > 8 ? size - 8 : 0;
        status = tw_perf_writer_trace(writer, &stamp, bytes + 8, size, padded[7] & 3);
        said->trace_bytes += status == TW_OK ? size : 0;
        return status;
    }
}

static void read_again(struct memory_file *file, const struct said *said)
{
    const struct tw_files files = { load, drop, file };
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = "root" };
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;
    uint64_t bytes = 0;

    if (tw_capture_open_files(&capture, "in", &options, &files, &fault) == TW_OK) {
        for (size_t i = 0; i < tw_capture_buffer_count(capture); i++)
            bytes += tw_capture_buffer(capture, i)->size;
        require(bytes >= said->trace_bytes);
        require(tw_perf_mapping_count(tw_capture_perf(capture)) <=
                said->maps); /* empty ones say nothing */
    } else {
        require(fault.text[0] != 0 && said->trace_bytes == 0);
    }
    tw_capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const protocols[] = { "etmv4", "ete", "ptm", "etmv3" };
    static const char *const command[] = { "prog", "-x" };
    const unsigned choice = size ? data[0] : 0;
    const bool is_v7 = (choice & 3) > 1;
    const struct tw_perf_cpu cpus[] = { { 0, is_v7 ? ptm : etm, is_v7 ? 4 : 5 },
                                        { 1, is_v7 ? ptm : etm, is_v7 ? 4 : 5 } };
    static uint8_t bytes[ROOM];
    struct memory_file file = { bytes, 0 };
    const struct tw_perf_writer_config config = { .size = sizeof config,
                                                  .protocol = protocols[choice & 3],
                                                  .cpus = cpus,
                                                  .cpu_count = 1 + (choice >> 2 & 1),
                                                  .is_snapshot = choice & 8,
                                                  .is_monotonic = choice & 16,
                                                  .machine = is_v7 ? "armv7l" : "aarch64",
                                                  .command = command,
                                                  .command_count = 2,
                                                  .time_mult = choice >> 5,
                                                  .write = put,
                                                  .write_context = &file };
    struct tw_perf_writer *writer;
    struct said said = { 0, 0 };

    require(tw_perf_writer_new(&writer, &config, NULL) == TW_OK);
    for (size_t at = 1; at + HEAD <= size; at += HEAD + data[at + 1]) {
        const size_t left = size - at - HEAD;
        const size_t length = data[at + 1] < left ? data[at + 1] : left;

        if (call(writer, &said, data[at], data + at + HEAD, length) != TW_OK)
            require(tw_perf_writer_fault(writer)[0] != 0);
        if (length != data[at + 1])
            break;
    }
    if (tw_perf_writer_finish(writer) == TW_OK)
        read_again(&file, &said);
    tw_perf_writer_free(writer);
    memset(bytes, 0, file.size);
    return 0;
}
