/* SPDX-License-Identifier: BSD-2-Clause */
/* An open capture: what its readers fill, and what they share. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <trackway/capture.h>

#include "base/compiler.h"
#include "base/map.h"
#include "capture/ini.h"

/* Where files come from: the disk, or (tests) memory. */
struct tw_files {
    /* Bytes that stay valid until drop; TW_E_FILE with a text when they cannot be had. */
    enum tw_status (*load)(void *context, const uint8_t **bytes, size_t *size, const char *path,
                           struct tw_fault *fault);
    void (*drop)(void *context, const uint8_t *bytes, size_t size);
    void *context;
};

extern const struct tw_files tw_files_on_disk;

struct capture_part {
    const uint8_t *bytes;
    size_t size;
    uint64_t start; /* in the joined files */
};

struct capture_buffer {
    struct tw_buffer about;
    struct capture_part *parts; /* none is empty */
    size_t part_count;
    uint64_t total; /* bytes of all parts */
};

/* A file that was asked for, found or not. */
struct capture_file {
    const char *path;
    const uint8_t *bytes; /* NULL: it could not be had */
    size_t size;
    char *why;         /* in that case */
    uint8_t *unpacked; /* `bytes` are these; NULL: they are the file's own */
};

struct capture_image {
    struct tw_image *image;
    uint64_t hash;   /* of the dumps in it */
    uint32_t device; /* whose dumps they are; TW_NONE: those of all memory spaces, or none */
    uint32_t src;    /* TW_NO_SRC, or for one of the sources that share a stream */
};

struct capture_block;
struct tw_perf;

struct tw_capture {
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    struct tw_files files;
    struct tw_fault *fault; /* the caller's, during open */
    struct tw_capture_options options;
    enum tw_capture_kind kind;
    const char *path;
    const char *folder; /* of a snapshot: before each name in it; may be "" */
    const char *description;

    struct capture_block *blocks; /* memory for all that lasts as long as the capture */
    struct tw_device *devices;
    size_t device_count, device_room;
    struct tw_cluster *clusters;
    size_t cluster_count;
    struct capture_buffer *buffers;
    size_t buffer_count, buffer_room;
    struct tw_source *sources;
    size_t source_count, source_room;
    struct capture_image *images;
    size_t image_count, image_room;
    const char **warnings;
    size_t warning_count, warning_room;
    struct capture_file **loaded;
    size_t loaded_count, loaded_room;
    struct tw_map loaded_by_path;
    struct tw_perf *perf;                        /* of a perf.data file; NULL */
    struct tw_capture_image_option *image_files; /* those of the options, copied */
    size_t image_file_count;
};

/* Zeroed memory that lasts as long as the capture; NULL, with the fault written, when it is out. */
void *tw_capture_keep(struct tw_capture *capture, size_t count, size_t size);
char *tw_capture_keep_text(struct tw_capture *capture, const char *text, size_t size);
/* Written with a format; NULL as above. */
char *tw_capture_format(struct tw_capture *capture, const char *format, ...) TW_PRINTF(2, 3);
enum tw_status tw_capture_no_memory(struct tw_capture *capture);

enum tw_status tw_capture_warn(struct tw_capture *capture, const char *format, ...)
    TW_PRINTF(2, 3);

/* The file of this path, loaded once.  file->bytes is NULL when it cannot be had. */
enum tw_status tw_capture_load(struct tw_capture *capture, const struct capture_file **file,
                               const char *path);
/* Parses a loaded file; tw_ini_free in any case. */
enum tw_status tw_capture_parse(struct tw_capture *capture, struct tw_ini *ini,
                                const struct capture_file *file);

/* Numbers by name: finds the name's number, or enters it with `number`, which is then what comes
   back.  TW_NONE when memory is out.  `names` gives the text of a number. */
struct capture_names {
    struct tw_map map;
    const char *(*text)(const void *context, uint32_t number);
    const void *context;
};
uint32_t tw_names_put(struct capture_names *names, const char *name, uint32_t number);
uint32_t tw_names_find(const struct capture_names *names, const char *name);

/* Opens with a file interface of the caller's: then it is always a snapshot. */
enum tw_status tw_capture_open_files(struct tw_capture **capture, const char *path,
                                     const struct tw_capture_options *options,
                                     const struct tw_files *files, struct tw_fault *fault);

/* The readers. */
enum tw_status tw_snapshot_read(struct tw_capture *capture);
enum tw_status tw_device_read(struct tw_capture *capture, const char *name,
                              const struct capture_file *file);
/* `ini` and `metadata` say where the file is named. */
enum tw_status tw_trace_read(struct tw_capture *capture, const char *path,
                             const struct tw_ini *ini, const struct tw_ini_entry *metadata,
                             const struct capture_names *devices);
/* A source as the caller describes it. */
enum tw_status tw_raw_read_source(struct tw_capture *capture, struct tw_source *source,
                                  const struct tw_capture_source_option *option);
enum tw_status tw_raw_read(struct tw_capture *capture);

/* Behind the buffers of a list, which has room for twice as many, puts them in order, for tw_stream_is_in. */
void tw_buffers_sort(uint32_t *buffers, size_t count);
bool tw_stream_is_in(const struct tw_stream_buffers *list, uint32_t buffer);

/* A name written in a snapshot as a path; refuses what leads out of the folder.  `ini`, `entry`
   and `item` say where it stands. */
enum tw_status tw_snapshot_path(struct tw_capture *capture, const char **path,
                                const struct tw_ini *ini, const struct tw_ini_entry *entry,
                                const char *item);

/* Whether a device's type is that of a trace source. */
bool tw_type_is_known(const struct tw_capture *capture, const char *type);
/* The register that holds a protocol's trace ID; NULL: none is known. */
const char *tw_id_register(const char *protocol);
/* Protocol, trace ID and the like, once type and registers are known. */
void tw_source_identify(struct tw_source *source);
/* "NAME(id:0x80,size:64)" in place: cuts the name, fills the detail. */
enum tw_status tw_register_read(struct tw_capture *capture, struct tw_register *out,
                                struct tw_register_detail *detail, const struct tw_ini *ini,
                                const struct tw_ini_entry *entry);

/* Adds up a buffer's parts, applies wrapped_at and strip_stop. */
enum tw_status tw_buffer_finish(struct tw_capture *capture, struct capture_buffer *buffer);

/* Adds the files of the caller's to an image. */
enum tw_status tw_capture_add_images(struct tw_capture *capture, struct tw_image *image,
                                     uint32_t src);
/* Makes the images of all sources. */
enum tw_status tw_capture_make_images(struct tw_capture *capture);

#endif
