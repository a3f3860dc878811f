/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading perf.data: what the files of the reader share. */
#ifndef CAPTURE_PERFDATA_H
#define CAPTURE_PERFDATA_H

#include <trackway/perfdata.h>

#include "capture/capture.h"

/* Record types that are read. */
enum {
    PERF_MMAP = 1,
    PERF_LOST = 2,
    PERF_COMM = 3,
    PERF_EXIT = 4,
    PERF_FORK = 7,
    PERF_SAMPLE = 9,
    PERF_MMAP2 = 10,
    PERF_AUX = 11,
    PERF_ITRACE_START = 12,
    PERF_SWITCH_CPU_WIDE = 15,
    PERF_KSYMBOL = 17,
    PERF_TEXT_POKE = 20,
    PERF_HW_ID = 21,
    PERF_USER_FIRST = 64,
    PERF_HEADER_ATTR = 64,
    PERF_TRACING_DATA = 66,
    PERF_BUILD_ID = 67,
    PERF_AUXTRACE_INFO = 70,
    PERF_AUXTRACE = 71,
    PERF_AUXTRACE_ERROR = 72,
    PERF_TIME_CONV = 79,
    PERF_FEATURE = 80,
    PERF_COMPRESSED = 81,
    PERF_COMPRESSED2 = 83,
    PERF_SIMPLEPERF_FIRST = 32768
};

/* A kind of trace unit: the mark of its block in the metadata, and the words behind that. */
enum { PERF_PARAMS = 9 };
struct perf_unit {
    uint64_t magic; /* 0: behind the last */
    const char *protocol, *type;
    unsigned count; /* of version 0 */
    const char *names[PERF_PARAMS];
};
extern const struct perf_unit perf_units[];

enum { PERF_FEATURES = 17 }; /* feature sections that are kept as text */

/* Bits of sample_type that the trailing id is made of, in its order. */
enum {
    PERF_HAS_TID = 1 << 1,
    PERF_HAS_TIME = 1 << 2,
    PERF_HAS_ID = 1 << 6,
    PERF_HAS_CPU = 1 << 7,
    PERF_HAS_STREAM_ID = 1 << 9,
    PERF_HAS_IDENTIFIER = 1 << 16
};

/* Bytes with the byte order of the file; a read behind the end gives 0. */
struct perf_view {
    const uint8_t *bytes;
    size_t size;
    bool is_big;
};

static inline uint64_t perf_load(const struct perf_view *view, size_t at, unsigned size)
{
    uint64_t value = 0;

    if (at > view->size || view->size - at < size)
        return 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)view->bytes[at + i] << 8 * (view->is_big ? size - 1 - i : i);
    return value;
}

static inline uint64_t perf_u64(const struct perf_view *view, size_t at)
{
    return perf_load(view, at, 8);
}

static inline uint32_t perf_u32(const struct perf_view *view, size_t at)
{
    return (uint32_t)perf_load(view, at, 4);
}

static inline uint16_t perf_u16(const struct perf_view *view, size_t at)
{
    return (uint16_t)perf_load(view, at, 2);
}

/* A file of records.  Offsets in the capture count through all of them, one after the other. */
struct perf_part {
    struct perf_view view;
    uint64_t base; /* offset in the capture of its first byte */
    const char *path;
};

/* One record.  `view` is all of it but the trailing id. */
struct perf_record {
    struct perf_view view;
    uint64_t offset; /* in its file; of what came out of a COMPRESSED record: of that */
    uint32_t type;
    uint16_t misc;
    bool has_time, has_cpu, has_tid;
    uint64_t time;
    uint32_t cpu, pid, tid;
};

struct perf_attr {
    uint64_t sample_type;
    uint32_t type;
    bool has_trailing_id; /* sample_id_all */
};

/* What changes threads and mappings, to be applied in time order. */
struct perf_event {
    uint64_t time;
    uint32_t order;
    uint32_t type; /* PERF_COMM, PERF_FORK, PERF_MMAP, PERF_TEXT_POKE */
    uint32_t pid, tid, ppid, ptid;
    uint64_t address, length, offset;
    uint32_t file;        /* TW_NONE: `bytes` */
    const uint8_t *bytes; /* of a poke */
    const uint8_t *old;   /* ... and what it wrote over; NULL: not told */
    const char *name;     /* comm */
    bool is_exec;         /* COMM by exec; MMAP: executable */
    uint64_t record;      /* offset in the file */
};

struct perf_aux {
    uint64_t offset, size, time, record;
    uint32_t flags, cpu, tid;
    bool has_data;
};

struct perf_auxtrace { /* an AUXTRACE record */
    uint64_t position, size, offset, record;
    uint32_t index, cpu, tid;
    bool is_cut; /* some AUX record speaks of it */
};

struct perf_hw_id {
    uint32_t cpu, sink;
    uint8_t id;
    bool has_sink;
};

struct perf_source { /* beside the tw_source of the same number */
    uint32_t cpu;
    uint32_t sink;
    bool has_sink;
    bool tid_is_vmid, tid_is_context;
};

struct perf_hart {
    uint32_t cpu, src; /* trTeSrcID */
};

/* What an AUXTRACE_INFO record of RISC-V trace describes. */
enum perf_riscv {
    PERF_RISCV_NONE,
    PERF_RISCV_SINK,  /* what a RAM sink wrote */
    PERF_RISCV_FRAMES /* CoreSight frames */
};

/* An address space: what is mapped now, sorted, and the times at which something gave way. */
struct perf_space {
    struct tw_perf_map *maps;
    size_t count, room;
    uint64_t *cuts;
    size_t cut_count, cut_room;
    uint32_t users; /* processes */
    bool is_full;   /* said that it has too many mappings */
};

struct perf_history; /* perfdata_past.c */

struct tw_perf {
    struct tw_capture *capture;
    struct perf_view file; /* the one with the header */
    struct perf_part *parts;
    size_t part_count, part_room;
    const struct perf_part *part; /* that is being read */
    bool is_pipe;
    const char *directory; /* of the directory form, with a slash; or NULL */
    const char *foreign;   /* kind of trace that is not decoded here; or NULL */
    unsigned complaints;   /* warnings of records; a broken file has no end of them */

    struct perf_attr *attrs;
    size_t attr_count, attr_room;
    struct tw_map attr_by_id; /* event id to attr number + 1 */
    bool layouts_differ;

    uint64_t counts[256];
    const char *features[PERF_FEATURES]; /* as perfdata_features.c lists them */
    bool has_times;
    uint64_t first_time, last_time;
    uint64_t compressed, decompressed;
    struct perf_inflate *inflate;

    struct perf_event *events;
    size_t event_count, event_room;
    struct tw_perf_mapping *mappings;
    size_t mapping_count, mapping_room;
    struct perf_aux *auxes;
    size_t aux_count, aux_room;
    struct perf_auxtrace *auxtraces;
    size_t auxtrace_count, auxtrace_room;
    struct tw_perf_loss *losses;
    size_t loss_count, loss_room;
    struct perf_hw_id *hw_ids;
    size_t hw_id_count, hw_id_room;
    struct perf_view info;   /* the AUXTRACE_INFO record */
    bool is_unframed;        /* all of the trace is one source's in each block */
    struct perf_hart *harts; /* RISC-V: that SRC tells apart */
    size_t hart_count;
    uint64_t info_offset;
    uint64_t lost_records;
    bool has_conversion, has_short;
    uint64_t shift, mult, zero, cycles, mask;
    bool clock_is_kernels; /* TS_SOURCE says that timestamps are the kernel's counter */

    struct tw_perf_file *files;
    size_t file_count, file_room;
    struct tw_map file_by_name;
    const struct capture_file **found; /* by file number, once they were looked for */
    /* memory of the running kernel, modules and all; or NULL */
    const struct capture_file *kcore;

    struct tw_perf_block *blocks;
    size_t block_count, block_room;
    size_t stream_count;
    struct perf_source *sources;
    size_t source_count;

    struct perf_space *spaces; /* 0: the kernel's */
    size_t space_count, space_room;
    struct tw_perf_map *past; /* what gave way */
    size_t past_count, past_room;
    struct perf_history *history; /* of `past`, once all of it is known; or NULL */
    size_t map_total;
    uint64_t moves; /* of maps in their lists, which hostile files have no end of */
    struct perf_thread *threads;
    size_t thread_count, thread_room;
    struct tw_map thread_by_tid; /* to its newest entry + 1 */
    struct tw_map space_by_pid;  /* to its space + 1 */
};

/* A thread's entry; `older` is the entry before it + 1.  So is `leap`, further back: any of n entries is found
   in some log n steps. */
struct perf_thread {
    struct tw_perf_thread about;
    uint32_t older, leap;
    uint32_t depth; /* entries before it */
};

bool tw_perf_is(const uint8_t *bytes, size_t size);
/* Reads a whole file: sources, buffers, threads, images.  `directory` as in struct tw_perf. */
enum tw_status tw_perf_read(struct tw_capture *capture, const struct capture_file *file,
                            const char *directory);
void tw_perf_free(struct tw_perf *perf);

/* The file of this name, entered if it is new; TW_NONE: no memory. */
uint32_t tw_perf_file_named(struct tw_perf *perf, const char *name);
/* The same, or NULL when there is none. */
const struct tw_perf_file *tw_perf_find_file(const struct tw_perf *perf, const char *name);
/* A counter value as time of the records; the caller knows that they have to do with each other. */
uint64_t tw_perf_convert(const struct tw_perf *perf, uint64_t count);
/* Whether one warning more is of use to anyone. */
bool tw_perf_may_warn(struct tw_perf *perf);
/* Text in a record that must end inside it; NULL when it does not. */
const char *tw_perf_text(const struct perf_view *view, size_t at);

/* perfdata_past.c: finds its way through `past`, of which nothing may change any more. */
enum tw_status tw_perf_history_new(struct tw_perf *perf);
void tw_perf_history_free(struct tw_perf *perf);
const struct tw_perf_map *tw_perf_past(const struct tw_perf *perf, uint32_t space,
                                       uint64_t address, uint64_t time);

/* perfdata_header.c */
enum tw_status tw_perf_read_attr(struct tw_perf *perf, const struct perf_view *attr,
                                 const struct perf_view *ids);
enum tw_status tw_perf_read_header(struct tw_perf *perf, uint64_t *data, uint64_t *end);
enum tw_status tw_perf_read_feature(struct tw_perf *perf, unsigned number,
                                    const struct perf_view *section);
enum tw_status tw_perf_read_build_id(struct tw_perf *perf, const struct perf_view *record);

/* perfdata_features.c: keeps what a section tells, if it is one of use. */
enum tw_status tw_perf_keep_feature(struct tw_perf *perf, unsigned number,
                                    const struct perf_view *section);

/* perfdata_records.c: a record from bytes; TW_END: there is no whole one.  perfdata_take.c: what
   it means. */
enum tw_status tw_perf_read_records(struct tw_perf *perf, uint64_t from,
                                    uint64_t end); /* of perf->part */
enum tw_status tw_perf_take(struct tw_perf *perf, struct perf_record *record);
void tw_perf_inflate_free(struct tw_perf *perf);

/* perfdata_etm.c */
enum perf_riscv tw_perf_riscv_form(const struct perf_view *info);
enum tw_status tw_perf_make_riscv(struct tw_perf *perf);
/* The file that holds a place of the recording. */
const struct perf_part *tw_perf_part_at(const struct tw_perf *perf, uint64_t offset);
enum tw_status tw_perf_make_sources(struct tw_perf *perf);
enum tw_status tw_perf_make_blocks(struct tw_perf *perf);
bool tw_perf_source_is_in(const struct tw_perf *perf, size_t source, size_t buffer);

/* perfdata_tasks.c */
enum tw_status tw_perf_apply_events(struct tw_perf *perf);

/* perfdata_images.c: finds files and fills the capture's only image. */
enum tw_status tw_perf_find_files(struct tw_perf *perf);
enum tw_status tw_perf_read_jitdumps(struct tw_perf *perf);
struct tw_symbols;
/* The file is such a dump, and was found. */
bool tw_perf_is_jitdump(const struct tw_perf *perf, uint32_t file);
/* The names of its code, by the address that the program had it at.  Where code was replaced the last one stays. */
enum tw_status tw_perf_jit_names(const struct tw_perf *perf, uint32_t file,
                                 struct tw_symbols *symbols);
enum tw_status tw_perf_make_image(struct tw_perf *perf);

/* perfdata_elf.c: what is asked of an ELF file; all fail softly on other files. */
struct perf_elf {
    struct perf_view view;
    bool is_elf, is_64;
    uint16_t machine, type;
    uint64_t segments, sections; /* offsets of the tables */
    uint32_t segment_count, section_count;
    uint16_t segment_size, section_size;
};
struct perf_segment {
    uint32_t type, flags;
    uint64_t offset, address, file_size;
};
void tw_perf_elf_open(struct perf_elf *elf, const uint8_t *bytes, size_t size);
bool tw_perf_elf_segment(const struct perf_elf *elf, struct perf_segment *out, uint32_t number);
/* Returns its size, 0: none. */
size_t tw_perf_elf_build_id(const struct perf_elf *elf, uint8_t out[20]);
/* Whether attributes say that the code is for an Arm processor of the M profile. */
uint8_t tw_perf_elf_m_arch(const struct perf_elf *elf);
bool tw_perf_elf_symbol(const struct perf_elf *elf, uint64_t *value, const char *name);
/* Code of a kernel module: its place in the file, and in memory from the module's start, as the
   loader lays out sections (which knows more of those that it makes itself). */
bool tw_perf_elf_module_text(const struct perf_elf *elf, uint64_t *offset, uint64_t *size,
                             uint64_t *place);

#endif
