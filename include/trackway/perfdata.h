/* SPDX-License-Identifier: BSD-2-Clause */
/* What a Linux perf.data file tells beside its trace: blocks, threads, mappings, time; and how one
   is written.  Experimental. */
#ifndef TRACKWAY_PERFDATA_H
#define TRACKWAY_PERFDATA_H

#include <trackway/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a block, as the kernel's AUX record has them. */
enum {
    TW_PERF_TRUNCATED = 0x01, /* trace was lost: the buffer was full */
    TW_PERF_OVERWRITE = 0x02, /* snapshot mode */
    TW_PERF_PARTIAL = 0x04,   /* there are gaps inside */
    TW_PERF_COLLISION = 0x08, /* trace behind the end may be lost */
    TW_PERF_RAW = 0x100       /* one source without frames */
};

/* An uninterrupted stretch of tracing: the buffer of the same number. */
struct tw_perf_block {
    uint64_t offset; /* in the file, of its first byte */
    uint64_t size;
    uint64_t aux_offset; /* in the ring buffer's stream */
    uint64_t time;       /* of its AUX record, in ns; 0: not known */
    uint32_t flags;
    uint32_t cpu;    /* whose ring buffer it is; TW_NONE: that of a thread */
    uint32_t tid;    /* ... of this thread; TW_NONE: that of a CPU */
    uint32_t on_cpu; /* where its AUX record was written; TW_NONE: not said */
    uint32_t stream; /* blocks of one ring buffer have the same, in time order */
};

/* A thread for some time. */
struct tw_perf_thread {
    uint32_t tid, pid;
    const char *comm;
    uint64_t from;  /* in ns: when it became so */
    uint32_t space; /* address space: view.context of its code; 0: kernel only */
};

/* A mapping for some time. */
struct tw_perf_map {
    uint64_t address, length;
    uint64_t offset; /* in the file */
    uint64_t from, until;
    uint32_t space;
    uint32_t file; /* number for tw_perf_file; TW_NONE: none, bytes came in the capture */
    bool is_executable;
};

enum tw_perf_file_state {
    TW_PERF_FILE_UNUSED, /* no executable mapping is of it */
    TW_PERF_FILE_FOUND,
    TW_PERF_FILE_MISSING, /* no such file where it was looked for */
    TW_PERF_FILE_WRONG    /* there is one, but it is another build or for another machine */
};

struct tw_perf_file {
    const char *name; /* as in the mapping */
    const char *path; /* where it was found; NULL */
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: not known */
    uint8_t state;         /* enum tw_perf_file_state */
};

/* An MMAP or MMAP2 record, as written. */
struct tw_perf_mapping {
    uint32_t pid, tid;
    uint64_t address, length, offset, time;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags; /* PROT_ and MAP_, as the kernel has them */
    uint32_t file;
    bool has_build_id, is_mmap2;
};

/* Trace that did not reach the file, or not whole. */
struct tw_perf_loss {
    uint64_t record;     /* offset in the file of the AUX record that says so */
    uint64_t aux_offset; /* place in the ring buffer's stream ... */
    uint64_t size;       /* ... and the size of the block; missing bytes if !has_data */
    uint64_t time;
    uint32_t flags;
    uint32_t cpu, tid; /* TW_NONE: not said */
    bool has_data;     /* else the file lacks the whole block */
};

struct tw_perf;

/* NULL unless it is a perf.data file. */
TW_API const struct tw_perf *tw_capture_perf(const struct tw_capture *capture);

TW_API const struct tw_perf_block *tw_perf_block(const struct tw_perf *perf, size_t buffer);
TW_API size_t tw_perf_stream_count(const struct tw_perf *perf);
TW_API size_t tw_perf_loss_count(const struct tw_perf *perf);
TW_API const struct tw_perf_loss *tw_perf_loss(const struct tw_perf *perf, size_t number);
/* The CPU that a source (a number for tw_capture_source) traces. */
TW_API uint32_t tw_perf_source_cpu(const struct tw_perf *perf, size_t source);
/* The same of one that shares its stream (tw_batch.src), as far as the recording says. */
TW_API uint32_t tw_perf_src_cpu(const struct tw_perf *perf, size_t source, uint32_t src);

/* The thread at this time, or NULL when no record speaks of it. */
TW_API const struct tw_perf_thread *tw_perf_thread(const struct tw_perf *perf, uint32_t tid,
                                                   uint64_t time);
/* The thread that a PE_CONTEXT element of the source names in a block; TW_NONE: it does not. */
TW_API uint32_t tw_perf_tid(const struct tw_perf *perf, size_t source, size_t buffer,
                            const struct tw_element *context);
/* The mapping that holds an address (kernel mappings in every space), or NULL. */
TW_API const struct tw_perf_map *tw_perf_map(const struct tw_perf *perf, uint32_t space,
                                             uint64_t address, uint64_t time);
/* Fills view->context and view->time for code of this thread at this time. */
TW_API void tw_perf_view(const struct tw_perf *perf, struct tw_view *view,
                         const struct tw_perf_thread *thread, uint64_t time);

/* Where a source is while its elements go by: whose thread, and when. */
struct tw_perf_cursor {
    const struct tw_perf *perf;
    uint32_t source, buffer; /* the caller sets these three; then tw_perf_look with NULL */
    uint32_t tid;            /* TW_NONE: not known */
    uint64_t time;           /* in ns; that of the block where the trace has no such time */
    bool has_context;
    bool has_time;                       /* `time` comes from the trace */
    struct tw_element context;           /* the last PE_CONTEXT, if has_context */
    const struct tw_perf_thread *thread; /* NULL: no record speaks of it */
};

/* A tw_view_fn for struct tw_perf_cursor.  A decoder runs ahead of those who take its elements:
   each wants a cursor of its own. */
TW_API void tw_perf_look(void *cursor, struct tw_view *view, const struct tw_element *element);

TW_API size_t tw_perf_file_count(const struct tw_perf *perf);
TW_API const struct tw_perf_file *tw_perf_file(const struct tw_perf *perf, size_t number);
TW_API size_t tw_perf_mapping_count(const struct tw_perf *perf);
TW_API const struct tw_perf_mapping *tw_perf_mapping(const struct tw_perf *perf, size_t number);

/* The address that an offset in a file has in its ELF headers; the offset itself in other files. */
TW_API uint64_t tw_perf_link_address(const struct tw_perf *perf, uint32_t file,
                                     uint64_t offset);
/* The address that an address inside a map has in the ELF file; false: it is in none.  A kernel module is not linked:
   its .text is at 0, and what else it has is placed when it is loaded. */
TW_API bool tw_perf_link(const struct tw_perf *perf, uint64_t *link,
                         const struct tw_perf_map *map, uint64_t address);
/* The address that its first loaded segment was linked at; 0 in other files. */
TW_API uint64_t tw_perf_link_base(const struct tw_perf *perf, uint32_t file);

/* A trace timestamp as time of the records.  False: the two clocks have nothing in common. */
TW_API bool tw_perf_time(const struct tw_perf *perf, uint64_t *ns, uint64_t timestamp);

/* What a feature section says, as text; NULL: not there, or no such name. */
TW_API const char *tw_perf_feature(const struct tw_perf *perf, const char *name);
/* The names: "hostname", "osrelease", "version", "arch", "cpus", "cpudesc", "cpuid", "memory",
   "cmdline", "events", "topology", "pmus", "sample_time", "clock_resolution", "compressed", "clock",
   and "meta" of simpleperf; NULL at the end. */
TW_API const char *tw_perf_feature_name(size_t number);
/* How many records of a type there are; types from 0 to 255. */
TW_API uint64_t tw_perf_record_count(const struct tw_perf *perf, unsigned type);
/* "MMAP2", "AUX" ...; NULL: a type without a name. */
TW_API const char *tw_perf_record_name(unsigned type);
/* Times of the first and last record; false: no record has a time. */
TW_API bool tw_perf_time_span(const struct tw_perf *perf, uint64_t *first, uint64_t *last);

/* ---- Writing ---- */

/* A trace unit, by what a decoder has to know of it. */
struct tw_perf_cpu {
    uint32_t number;
    const struct tw_register *registers; /* those that perf's metadata has are written */
    size_t register_count;
};

struct tw_perf_writer_config {
    size_t size;          /* sizeof(struct tw_perf_writer_config) */
    const char *protocol; /* "ete", "etmv4", "ptm" or "etmv3" */
    const struct tw_perf_cpu *cpus;
    size_t cpu_count;           /* at most 500 */
    bool is_snapshot;           /* blocks hold the end of what was traced */
    const char *machine;        /* as uname -m says: "aarch64", "armv7l" */
    const char *const *command; /* the command line, for people */
    size_t command_count;
    /* A timestamp of the trace is so many ns, once shifted: (timestamp * mult) >> shift.  0 and 0: the
       two clocks have nothing in common. */
    uint64_t time_mult;
    unsigned time_shift;
    /* Takes bytes of the file at an offset; false ends the writing. */
    bool (*write)(void *context, uint64_t offset, const void *bytes, size_t size);
    void *write_context;
    const struct tw_allocator *allocator;
    bool is_monotonic; /* times are those of CLOCK_MONOTONIC, as of run-time compilers' dumps */
};

/* When, where and by whom something happened. */
struct tw_perf_stamp {
    uint64_t time; /* in ns */
    uint32_t pid, tid, cpu;
};

struct tw_perf_writer;

/* Begins a file that perf reads.  Records are written in the order of their times. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_new(struct tw_perf_writer **writer,
                                                     const struct tw_perf_writer_config *config,
                                                     struct tw_fault *fault);
TW_API void tw_perf_writer_free(struct tw_perf_writer *writer);
/* What was wrong with the last call that failed. */
TW_API const char *tw_perf_writer_fault(const struct tw_perf_writer *writer);

/* The thread has this name; is_exec: a program was begun, whose mappings follow. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_comm(struct tw_perf_writer *writer,
                                                      const struct tw_perf_stamp *stamp,
                                                      const char *comm, bool is_exec);
/* The thread of the stamp was made by another, or ended. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_fork(struct tw_perf_writer *writer,
                                                      const struct tw_perf_stamp *stamp,
                                                      uint32_t parent_pid, uint32_t parent_tid);
TW_API TW_MUST_USE enum tw_status tw_perf_writer_exit(struct tw_perf_writer *writer,
                                                      const struct tw_perf_stamp *stamp);
/* Memory of the process is that of a file from here on: address, length, offset, major, minor, inode,
   protection and flags are taken; pid, tid and time are those of the stamp. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_map(struct tw_perf_writer *writer,
                                                     const struct tw_perf_stamp *stamp,
                                                     const struct tw_perf_mapping *mapping,
                                                     const char *name);
/* Tracing of the thread begins; it comes to the CPU, or leaves it. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_start(struct tw_perf_writer *writer,
                                                       const struct tw_perf_stamp *stamp);
TW_API TW_MUST_USE enum tw_status tw_perf_writer_switch(struct tw_perf_writer *writer,
                                                        const struct tw_perf_stamp *stamp,
                                                        bool is_out);
/* An uninterrupted stretch of trace of the stamp's CPU, without frames; flags: TW_PERF_TRUNCATED ... */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_trace(struct tw_perf_writer *writer,
                                                       const struct tw_perf_stamp *stamp,
                                                       const uint8_t *bytes, size_t size,
                                                       uint32_t flags);
/* The build ID of a file that is mapped, at most 20 bytes. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_build_id(struct tw_perf_writer *writer,
                                                          const char *name, const uint8_t *id,
                                                          size_t size);
/* The build ID in an ELF file; returns its size, 0: it has none, or cannot be read. */
TW_API size_t tw_perf_build_id(uint8_t id[20], const char *path);

/* What the headers of a program (ELF) say: of which machine it is, and where its code is loaded. */
enum { TW_PERF_SEGMENTS = 16 };
struct tw_perf_program {
    size_t size;      /* sizeof(struct tw_perf_program) */
    uint16_t machine; /* e_machine: 183 AArch64, 40 Arm, 243 RISC-V */
    uint8_t bits;     /* 32 or 64 */
    bool is_big_endian;
    bool is_m; /* Arm: built for the M profile */
    uint32_t segment_count;
    struct {
        uint64_t address, offset, length; /* in memory; in the file */
    } segments[TW_PERF_SEGMENTS];         /* that are loaded */
    uint8_t m_arch; /* is_m: Tag_CPU_arch of the ABI (16 and 17: Armv8-M, 21: Armv8.1-M) */
};
/* TW_E_INPUT: it cannot be read; TW_E_CONFIG: it is no ELF file. */
TW_API TW_MUST_USE enum tw_status tw_perf_program(struct tw_perf_program *program,
                                                  const char *path, struct tw_fault *fault);
/* Writes what stands at the end of the file and in its header. */
TW_API TW_MUST_USE enum tw_status tw_perf_writer_finish(struct tw_perf_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
