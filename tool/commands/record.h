/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway record: what its parts share. */
#ifndef RECORD_H
#define RECORD_H

#include <trackway/perfdata.h>
#include <trackway/unit.h>

#include "qemu/spool.h"
#include "shared/arena.h"
#include "shared/options.h"

/* An event of some process, as the plug-in wrote it. */
struct record_event {
    struct spool_event head;
    const uint8_t *payload;
    size_t order; /* of arrival */
};

enum { RECORD_REGISTERS = 32 };

struct record {
    const struct options *options;
    struct arena arena;
    const char *protocol, *machine, *core_type;
    unsigned elf_machine;
    bool is_m;
    struct tw_perf_program program;
    struct record_filter {
        uint64_t first, end; /* addresses; of functions: offsets in the program's file */
        bool is_function;
    } * filters;
    size_t filter_count;
    const char *qemu, *plugin;
    char *folder; /* of the spool */
    struct spool_table *table;
    struct record_event *events; /* of all processes, in time order */
    size_t event_count, event_room;
    struct tw_register registers[RECORD_REGISTERS]; /* of the trace units, all alike */
    size_t register_count;
};

/* record_spool.c.  Each says what is wrong when it returns false. */
bool record_make_folder(struct record *record);
bool record_read(struct record *record);
void record_remove_folder(const struct record *record);
/* A file of the folder as a whole; NULL bytes: it is not there, or empty.  False: it cannot be read, and that was said. */
bool record_map_file(const struct record *record, const uint8_t **bytes, size_t *size,
                     const char *name);
/* Any file; NULL: not there, empty, or errno says why it cannot be read. */
const uint8_t *record_map_path(const char *path, size_t *size);
void record_unmap_file(const uint8_t *bytes, size_t size);

/* record_filter.c: what --filter and --range ask for. */
bool record_find_filters(struct record *record);

/* record_code.c: code that is in no file, as OUTPUT.code/jit-PID.dump of each process that ran such. */
struct record_dump {
    const struct record_event *first; /* the process's first such code */
    const char *path;
};
bool record_write_dumps(struct record *record, const char *output, struct record_dump **dumps,
                        size_t *count);

/* record_perf.c, record_snapshot.c: what was traced as a perf.data file or a snapshot folder. */
bool record_write_perf(struct record *record, const char *path);
bool record_write_snapshot(struct record *record, const char *path);

#endif
