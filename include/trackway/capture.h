/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens what people have, a snapshot folder, a perf.data or a raw file, and writes
   snapshots.  Stable. */
#ifndef TRACKWAY_CAPTURE_H
#define TRACKWAY_CAPTURE_H

#include <trackway/frame.h>
#include <trackway/image.h>
#include <trackway/tree.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_NONE UINT32_MAX /* a number that names nothing */

struct tw_custom_protocol;

/* A source of a raw file. */
struct tw_capture_source_option {
    uint8_t id;           /* trace ID; 0: as its registers say */
    const char *protocol; /* "etmv4" ... */
    /* holds '=': "NAME=VALUE,NAME=VALUE", else the path of a file; or NULL */
    const char *config;
    /* an encoder whose settings come first, see tw_etrace_preset; or NULL */
    const char *preset;
};

/* More program memory, beside what the capture brings.  What the file is, is seen from its first
   bytes: ELF, a segment list, else flat. */
struct tw_capture_image_option {
    const char *path;
    uint64_t address; /* ELF and segment lists: added to their addresses; flat: where it lies */
    uint32_t spaces;  /* bits of enum tw_space; 0: all */
    bool has_src;     /* only for this one of the sources that share a stream: */
    uint32_t src;
};

struct tw_capture_options {
    size_t size;        /* sizeof(struct tw_capture_options) */
    bool allow_outside; /* snapshots: names and links may lead out of the folder */

    /* Raw files only. */
    bool has_framing; /* else: none with one source, memory with several */
    enum tw_framing framing;
    const char *core_type; /* of the traced core, "Cortex-A57"; or NULL */
    const struct tw_capture_source_option *sources;
    size_t source_count;

    /* All captures. */
    bool no_barrier;
    bool strip_stop;  /* unframed: drop the stop marker (one byte 01, then zeros) at the end */
    bool has_wrapped; /* the oldest byte of each buffer lies at offset wrapped_at */
    uint64_t wrapped_at;
    const struct tw_capture_image_option *images;
    size_t image_count;

    /* Optional: told of each warning when it arises; the list is kept in any case. */
    void (*warn)(void *context, const char *text);
    void *warn_context;
    const struct tw_allocator *allocator;

    /* perf.data only; each may be NULL.  Without a sysroot files are taken from where they are
       said to be on this machine. */
    const char *sysroot;   /* folder with the traced machine's files */
    const char *kernel;    /* its kernel: vmlinux with symbols, or kcore */
    const char *vdso;      /* its [vdso] */
    const char *build_ids; /* folder with a .build-id folder, as perf keeps in ~/.debug */
    bool trust_time;       /* timestamps count the kernel's clock, though no one says so */

    /* Protocols of the caller's own (<trackway/protocol.h>), borrowed as long as the capture: sources
       of raw files may name them, and in snapshots they are types. */
    const struct tw_custom_protocol *const *protocols;
    size_t protocol_count;

    /* Raw files only: the order of the bytes is reversed in each group of so many (2, 4, 8 or 16; 0 or
       1: it is not); then so many at the beginning do not belong to it. */
    uint32_t swap;
    uint64_t skip;

    /* All captures: files are read into memory instead of mapped.  It costs memory and time, but a file that
       someone makes shorter meanwhile does not end the process (with SIGBUS). */
    bool copies;
};

enum tw_capture_kind { TW_CAPTURE_RAW, TW_CAPTURE_SNAPSHOT, TW_CAPTURE_PERF };

/* How a register was written: "NAME(id:0x80,size:64)". */
struct tw_register_detail {
    uint32_t id; /* TW_NONE: not given */
    uint32_t bits;
};

enum tw_dump_state {
    TW_DUMP_WHOLE,
    TW_DUMP_SHORT,  /* the file ends early: only `length` bytes are there */
    TW_DUMP_MISSING /* no such file, or nothing of it */
};

/* A stretch of a device's memory. */
struct tw_dump {
    const char *file; /* as written in the capture */
    uint64_t address;
    uint64_t offset;      /* in the file */
    uint64_t length;      /* of what is there */
    uint64_t claimed;     /* as written; 0: to the end of the file */
    uint32_t spaces;      /* bits of enum tw_space */
    const char *space;    /* as written; NULL: none was */
    uint8_t state;        /* enum tw_dump_state */
    const uint8_t *bytes; /* `length` of them */
};

struct tw_device {
    const char *name;
    const char *file;       /* where it is described */
    const char *class_name; /* "core", "trace_source", "memory_space" ...; NULL: not said */
    const char *type;       /* "Cortex-A53", "ETM4.2" ...; NULL: not said */
    const char *location;   /* NULL: not said */
    const char *cluster;    /* NULL: in none */
    const struct tw_register *registers;
    const struct tw_register_detail *details; /* one for each register */
    size_t register_count;
    const struct tw_dump *dumps;
    size_t dump_count;
    const char *text; /* [etrace]: the lines of that section; NULL: it has none */
};

/* Trace data: one or more files joined in order. */
struct tw_buffer {
    const char *name;
    const char *format; /* as written: "coresight", "source_data" ...; NULL for raw files */
    enum tw_framing framing;
    uint64_t size;            /* what tw_capture_read gives: after strip_stop */
    uint64_t offset;          /* of its first byte in the file; not 0 only in perf.data */
    const char *const *files; /* as written */
    size_t file_count;
};

/* The buffers of a source's stream: N of "NAME(stream:N)", or TW_NONE for the plain name. */
struct tw_stream_buffers {
    uint32_t stream;
    const uint32_t *buffers; /* numbers for tw_capture_buffer; the first is the usual choice */
    size_t buffer_count;
};

/* A trace source.  The strings and arrays belong to the capture. */
struct tw_source {
    const char *name;
    const char *type;     /* as the capture says it; NULL: not said */
    const char *protocol; /* the library's name for it; NULL: no such protocol is known */
    bool has_id;          /* the registers or options name the trace ID */
    uint8_t id;
    const char *core;      /* NULL: it belongs to none */
    const char *core_type; /* NULL: not known */
    const struct tw_register *registers;
    size_t register_count;
    const char *text; /* configuration that is no list of numbers; NULL: none */
    uint32_t device;  /* number for tw_capture_device; TW_NONE in raw captures */
    uint32_t image;   /* number for tw_capture_image; TW_NONE: no program memory */
    const struct tw_stream_buffers *streams; /* the plain name first, if it was given */
    size_t stream_count; /* 0: it is in no buffer; perf.data: ask tw_capture_source_is_in */
};

struct tw_cluster {
    const char *name;
    const char *const *devices; /* names as written */
    size_t device_count;
};

struct tw_capture;

/* Opens a folder with snapshot.ini, that file itself, a perf.data file (see perfdata.h) or folder,
   or a raw file.  Options may be NULL.  On
   failure *capture is NULL and `fault`, if not NULL, says why. */
TW_API TW_MUST_USE enum tw_status tw_capture_open(struct tw_capture **capture, const char *path,
                                                  const struct tw_capture_options *options,
                                                  struct tw_fault *fault);
TW_API void tw_capture_free(struct tw_capture *capture);

TW_API enum tw_capture_kind tw_capture_kind(const struct tw_capture *capture);
TW_API const char *tw_capture_path(const struct tw_capture *capture);
/* Of a snapshot; NULL: none. */
TW_API const char *tw_capture_description(const struct tw_capture *capture);
/* The options that a tree needs to know. */
TW_API bool tw_capture_no_barrier(const struct tw_capture *capture);

TW_API size_t tw_capture_device_count(const struct tw_capture *capture);
TW_API const struct tw_device *tw_capture_device(const struct tw_capture *capture,
                                                 size_t number);
TW_API size_t tw_capture_cluster_count(const struct tw_capture *capture);
TW_API const struct tw_cluster *tw_capture_cluster(const struct tw_capture *capture,
                                                   size_t number);
TW_API size_t tw_capture_buffer_count(const struct tw_capture *capture);
TW_API const struct tw_buffer *tw_capture_buffer(const struct tw_capture *capture,
                                                 size_t number);
/* The number of the buffer of this name, TW_NONE if there is none. */
TW_API uint32_t tw_capture_buffer_by_name(const struct tw_capture *capture, const char *name);

/* Points `bytes` at the buffer's bytes from `offset` on, oldest first, and tells how many lie
   together (the bytes stay valid as long as the capture); TW_END at the end of the buffer. */
TW_API TW_MUST_USE enum tw_status tw_capture_read(const struct tw_capture *capture,
                                                  const uint8_t **bytes, size_t *size,
                                                  size_t buffer, uint64_t offset);

/* These bytes of the buffer were read and are not needed soon: a mapped file gives their memory back,
   so that the capture's length does not count.  They can be read again. */
TW_API void tw_capture_forget(const struct tw_capture *capture, size_t buffer, uint64_t offset,
                              uint64_t size);

TW_API size_t tw_capture_source_count(const struct tw_capture *capture);
TW_API const struct tw_source *tw_capture_source(const struct tw_capture *capture,
                                                 size_t number);
/* The buffer that holds a stream of the source (0: instructions or the only one): the first of
   those named.  TW_NONE: in none. */
TW_API uint32_t tw_capture_source_buffer(const struct tw_capture *capture, size_t source,
                                         uint32_t stream);
/* Whether that stream may be in this buffer. */
TW_API bool tw_capture_source_is_in(const struct tw_capture *capture, size_t source,
                                    uint32_t stream, uint32_t buffer);

/* Cores that see the same memory share an image.  It belongs to the capture. */
TW_API size_t tw_capture_image_count(const struct tw_capture *capture);
TW_API struct tw_image *tw_capture_image(const struct tw_capture *capture, size_t number);
/* The number of a source's image; `src`: which of those that share its stream, or TW_NO_SRC.
   TW_NONE: it has none. */
TW_API uint32_t tw_capture_image_of(const struct tw_capture *capture, size_t source,
                                    uint32_t src);

/* A tree for a buffer, with every source that is in it and can be decoded; what is left out goes to
   config->errors.  Of `config` (NULL: all zero) framing, base and no_barrier are the capture's.
   Feed it what tw_capture_read gives; the capture must outlive it. */
TW_API TW_MUST_USE enum tw_status
tw_capture_tree(struct tw_tree **tree, const struct tw_capture *capture, size_t buffer,
                const struct tw_tree_config *config, struct tw_fault *fault);

/* What was amiss but did not hinder: one line each. */
TW_API size_t tw_capture_warning_count(const struct tw_capture *capture);
TW_API const char *tw_capture_warning(const struct tw_capture *capture, size_t number);

/* "EL1N", "S", "H" ... as bits of enum tw_space; false: there is no such space. */
TW_API bool tw_space_by_name(uint32_t *spaces, const char *name);
/* "none", "memory", "tpiu", "tpiu-hsync", "dstream". */
TW_API bool tw_framing_by_name(enum tw_framing *framing, const char *name);
TW_API const char *tw_framing_name(enum tw_framing framing);

/* What a snapshot is made of.  Bytes are borrowed during the call; `path` is a file whose bytes
   are copied instead when `bytes` is NULL. */
struct tw_snapshot_dump {
    const char *file; /* name in the snapshot; dumps of one name share its bytes */
    const uint8_t *bytes;
    size_t size;
    const char *path;
    uint64_t address;
    uint64_t offset;   /* in the file */
    uint64_t length;   /* 0: to its end */
    const char *space; /* NULL: none */
};

struct tw_snapshot_device {
    const char *name;
    const char *class_name, *type, *location; /* NULL: left out */
    const struct tw_register *registers;
    const struct tw_register_detail *details; /* NULL: no register has any */
    size_t register_count;
    const struct tw_snapshot_dump *dumps;
    size_t dump_count;
    const char *core; /* a trace source: the name of the core that it belongs to; or NULL */
    const char *const *buffers; /* a trace source: names of the buffers that hold it */
    size_t buffer_count;
    const char *text; /* RISC-V: the lines of the section [etrace]; or NULL */
};

struct tw_snapshot_buffer {
    const char *name;
    const char *format; /* "coresight", "source_data", "dstream_coresight" */
    const char *file;   /* name in the snapshot; NULL: NAME.bin */
    const uint8_t *bytes;
    size_t size;
    const char *path;
};

/* More files of a buffer, after its first, in order; named as that is. */
struct tw_snapshot_file {
    const char *buffer; /* whose */
    const char *file;   /* name in the snapshot */
    const uint8_t *bytes;
    size_t size;
    const char *path;
};

/* The buffers of one stream of a trace source: "DEVICE(stream:N)". */
struct tw_snapshot_stream {
    const char *device;
    uint32_t stream;
    const char *const *buffers;
    size_t buffer_count;
};

struct tw_snapshot {
    size_t size;             /* sizeof(struct tw_snapshot) */
    const char *description; /* NULL: none */
    const struct tw_snapshot_device *devices;
    size_t device_count;
    const struct tw_snapshot_buffer *buffers;
    size_t buffer_count;
    const struct tw_cluster *clusters;
    size_t cluster_count;
    bool overwrite; /* an existing snapshot folder is replaced */
    const struct tw_snapshot_file *files;
    size_t file_count;
    const struct tw_snapshot_stream *streams;
    size_t stream_count;
};

/* Writes a snapshot folder: all of it, or nothing. */
TW_API TW_MUST_USE enum tw_status
tw_snapshot_write(const char *path, const struct tw_snapshot *snapshot, struct tw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
