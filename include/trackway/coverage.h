/* SPDX-License-Identifier: BSD-2-Clause */
/* What was executed and what was not: instructions, branches each way, lines, functions.
   Experimental. */
#ifndef TRACKWAY_COVERAGE_H
#define TRACKWAY_COVERAGE_H

#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_coverage;

struct tw_coverage_config {
    size_t size; /* sizeof(struct tw_coverage_config) */
    const struct tw_allocator *allocator;
};

TW_API TW_MUST_USE enum tw_status tw_coverage_new(struct tw_coverage **coverage,
                                                  const struct tw_coverage_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_coverage_free(struct tw_coverage *coverage);

/* What a run that is to be counted gets as its config's counter.  After tw_run_new tell which run it
   is; then tw_run_all.  Several runs may follow each other; captures and runs must outlive the
   results. */
TW_API struct tw_run_counter tw_coverage_counter(struct tw_coverage *coverage);
TW_API void tw_coverage_run(struct tw_coverage *coverage, struct tw_run *run);
/* No more comes: works out the results.  Call it before they are read. */
TW_API TW_MUST_USE enum tw_status tw_coverage_finish(struct tw_coverage *coverage);

/* What was counted, as a file: of each file with code its name, its build ID and its counts.  Equal counts
   give equal bytes.  A coverage that was loaded has no run and no names of code: it is there to be added
   to others, or saved, or shown with tw_coverage_program. */
TW_API TW_MUST_USE enum tw_status tw_coverage_save(const struct tw_coverage *coverage,
                                                   const char *path, struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_coverage_load(struct tw_coverage **coverage,
                                                   const char *path,
                                                   const struct tw_allocator *allocator,
                                                   struct tw_fault *fault);
/* The code and names of a file that no run told of, as of counts that were added: from an ELF file, by
   its build ID, or by its name where one has none.  Before tw_coverage_finish.  TW_E_ARGUMENT: nothing that
   was counted is of it. */
TW_API TW_MUST_USE enum tw_status tw_coverage_program(struct tw_coverage *coverage,
                                                      const char *path, struct tw_fault *fault);
/* Adds what `other` counted, file by file; before tw_coverage_finish.  TW_E_ARGUMENT, with nothing added:
   a file has another build ID there. */
TW_API TW_MUST_USE enum tw_status tw_coverage_add(struct tw_coverage *coverage,
                                                  const struct tw_coverage *other,
                                                  struct tw_fault *fault);

/* A program, library or other file with code; addresses below are as it was linked. */
struct tw_coverage_object {
    const char *name;               /* NULL: the capture does not say */
    uint64_t instructions, covered; /* instructions in it, and those that were executed */
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: not known */
};

/* Instructions from `first` to before `end` were each executed so often. */
struct tw_code_count {
    uint64_t first, end;
    uint64_t count;
    uint8_t isa; /* enum tw_isa */
};

/* A conditional branch, reached or not. */
struct tw_branch_count {
    uint64_t address;
    uint64_t taken, not_taken;
};

/* Where an indirect jump or call led. */
struct tw_target_count {
    uint64_t from, to;
    uint64_t count;
    bool is_call;
};

/* A stretch of code as it was executed: from where a branch led, or the one before went on, to a branch or
   to where execution was interrupted. */
struct tw_block_count {
    uint64_t first, last, end; /* first and last instruction, and what is behind that */
    uint64_t taken;            /* times; of those that end with a branch, that it was taken */
    uint64_t not_taken;
    uint8_t isa; /* enum tw_isa */
    bool is_branch;
};

/* A branch that was taken, direct or indirect, and where it led.  UINT64_MAX: out of the object, or from
   there. */
struct tw_jump_count {
    uint64_t from, to;
    uint64_t count;
    bool is_indirect, is_call, is_return;
};

/* A source line that has code: the greatest count of its instructions in each copy of the code, summed
   over the copies. */
struct tw_line_count {
    const char *file;
    uint32_t line;
    uint64_t count;
    uint32_t instructions, covered;
};

struct tw_function_count {
    const char *name;
    uint64_t address;
    uint64_t entries; /* executions of its first instruction */
    uint64_t self;
    uint32_t instructions, covered;
    const char *file; /* of its first instruction; NULL: not known */
    uint32_t line;
};

struct tw_coverage_totals {
    size_t size;       /* sizeof(struct tw_coverage_totals), set by the caller */
    uint64_t executed; /* instructions executed, each time */
    uint64_t instructions, covered;
    uint64_t branches, both; /* conditional branches, and those that went both ways */
    uint64_t lines, lines_covered;
    uint64_t functions, functions_covered;
    uint64_t unexplained; /* instructions that no line is known of */
    uint64_t missing;     /* times that code was not there */
};

TW_API size_t tw_coverage_object_count(const struct tw_coverage *coverage);
/* Each gives NULL when there is no such number. */
TW_API const struct tw_coverage_object *tw_coverage_object(const struct tw_coverage *coverage,
                                                           size_t object);
TW_API const struct tw_code_count *tw_coverage_code(const struct tw_coverage *coverage,
                                                    size_t object, size_t number);
TW_API const struct tw_branch_count *tw_coverage_branch(const struct tw_coverage *coverage,
                                                        size_t object, size_t number);
TW_API const struct tw_target_count *tw_coverage_target(const struct tw_coverage *coverage,
                                                        size_t object, size_t number);
/* By address. */
TW_API const struct tw_block_count *tw_coverage_block(const struct tw_coverage *coverage,
                                                      size_t object, size_t number);
TW_API const struct tw_jump_count *tw_coverage_jump(const struct tw_coverage *coverage,
                                                    size_t object, size_t number);
TW_API const struct tw_function_count *tw_coverage_function(const struct tw_coverage *coverage,
                                                            size_t object, size_t number);
/* Of all objects, by file and line. */
TW_API const struct tw_line_count *tw_coverage_line(const struct tw_coverage *coverage,
                                                    size_t number);
/* The source line that an address of an object comes from; false: it is not known. */
TW_API bool tw_coverage_source(const struct tw_coverage *coverage, size_t object,
                               struct tw_source_line *line, uint64_t address);
/* Bytes of an object's code; how many are there. */
TW_API size_t tw_coverage_read(const struct tw_coverage *coverage, size_t object, void *bytes,
                               uint64_t address, size_t size);
/* The symbols of an object; NULL: it has none. */
TW_API struct tw_symbols *tw_coverage_symbols(const struct tw_coverage *coverage,
                                              size_t object);
/* False: the size cannot be. */
TW_API TW_MUST_USE bool tw_coverage_totals(const struct tw_coverage *coverage,
                                           struct tw_coverage_totals *totals);

#ifdef __cplusplus
}
#endif

#endif
