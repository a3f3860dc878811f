/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python extension: what its files share.  Only public headers of the library, and only the stable
   ABI of Python, so that one build serves all later versions. */
#ifndef PYTHON_CORE_H
#define PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <sys/types.h>

#include <trackway/analysis.h>
#include <trackway/experimental.h>
#include <trackway/formats.h>
#include <trackway/trackway.h>

/* ---- module.c ---- */

extern PyObject *core_error;    /* trackway.Error */
extern PyObject *core_as_array; /* turns a part into an array of elements */

/* Raises what a fault tells; returns NULL. */
PyObject *core_raise(enum tw_status status, const char *text);
/* A text of any origin: what is no UTF-8 stays as surrogates; NULL is None. */
PyObject *core_text(const char *text);
/* None for TW_NONE. */
PyObject *core_number(uint32_t number);
/* Adds to a dict, and gives up the value; false: an exception is set. */
bool core_put(PyObject *dict, const char *key, PyObject *value);
/* Makes a type and adds it to the module; NULL: an exception is set. */
PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec, const char *name);
/* The end of every dealloc: as the type, or one that is derived from it, wants it. */
void core_free(PyObject *self);

/* ---- memory.c: what options point at while a call lasts ---- */

struct core_arena {
    struct core_block *last;
};

void *core_take(struct core_arena *arena, size_t size); /* zeroed; NULL: an exception is set */
char *core_take_text(struct core_arena *arena, PyObject *text);
void core_give(struct core_arena *arena);

/* ---- capture.c ---- */

struct core_capture {
    PyObject_HEAD struct tw_capture *capture;
    PyThread_type_lock lock; /* one run at a time decodes */
    bool is_closed;
};

extern PyTypeObject *core_capture_type;
/* Waits for its lock; give it back with PyThread_release_lock. */
void core_capture_enter(struct core_capture *capture);
bool core_add_capture(PyObject *module);

/* ---- filter.c ---- */

/* What run() and the analyses were asked for. */
struct core_wish {
    struct core_arena arena;
    struct tw_filter filter;
    struct tw_run_config config;
    uint64_t part, part_count; /* the first is 1; 0: all of the capture */
    struct tw_run_extent extent;
};

/* From keywords; those that it knows are taken out.  False: an exception is set. */
bool core_wish(struct core_wish *wish, PyObject *keywords);
/* Sets the stretch of the capture that its part is; without the GIL. */
enum tw_status core_cut(struct core_wish *wish, struct tw_capture *capture,
                        struct tw_fault *fault);
/* Raises TypeError where keywords are left. */
bool core_all_known(PyObject *keywords);

/* ---- run.c, packets.c: what goes through a capture ---- */

struct core_run {
    PyObject_HEAD struct core_capture *capture;
    struct tw_run *run;
    pid_t owner;  /* threads do not survive a fork */
    bool is_busy; /* in a call on some thread */
    bool is_done;
};

/* Of either type, from keywords; NULL: an exception is set. */
PyObject *core_run_start(PyTypeObject *type, struct core_capture *capture, PyObject *keywords,
                         bool packets_only);
void core_run_destroy(PyObject *self);
/* False: an exception is set. */
bool core_run_is_usable(const struct core_run *run);
/* After the last: NULL, with an exception where it ended badly. */
PyObject *core_run_end(struct core_run *run, enum tw_status status);

bool core_add_run(PyObject *module);
PyObject *core_run_new(struct core_capture *capture, PyObject *keywords);
PyObject *core_packets_new(struct core_capture *capture, PyObject *keywords);
bool core_add_packets(PyObject *module);

/* The elements of a part, for arrow.c. */
struct core_part {
    PyObject_HEAD struct core_capture *capture; /* its texts lie there */
    struct tw_part part;
    struct tw_retained *retained;
};

/* ---- arrow.c ---- */

PyObject *core_part_arrow(PyObject *self, PyObject *arguments, PyObject *keywords);
/* arrow_stream(names, formats, columns): a capsule with one batch of columns that are not copied. */
PyObject *core_arrow_stream(PyObject *module, PyObject *arguments);

/* ---- analyses ---- */

bool core_add_results(PyObject *module);
PyObject *core_analyse(struct core_capture *capture, PyObject *keywords);
PyObject *core_load(PyObject *module, PyObject *arguments);
PyObject *core_merge(PyObject *module, PyObject *arguments);
PyObject *core_timeline(struct core_capture *capture, PyObject *keywords);
PyObject *core_interrupts(struct core_capture *capture, PyObject *keywords);

/* look.c: what a file is, what is wrong, where things are. */
PyObject *core_identify(PyObject *module, PyObject *what);
PyObject *core_doctor(struct core_capture *capture, PyObject *keywords);
PyObject *core_index(struct core_capture *capture, PyObject *keywords);

/* program.c: Symbols and Image. */
bool core_add_program(PyObject *module);
PyObject *core_memory(struct core_capture *capture, PyObject *arguments);
/* One call at a time is in an Image: until it is left.  False: an exception is set. */
bool core_image_enter(PyObject *self);
void core_image_leave(PyObject *self);
/* The image in an Image; false: it is none, an exception is set. */
bool core_image_of(PyObject *self, struct tw_image **image);

/* units.c: frames and models of units of software trace. */
bool core_add_units(PyObject *module);
PyObject *core_frame(PyObject *module, PyObject *arguments);

/* encode.c: trace units of all protocols, execution logs through them. */
bool core_add_encode(PyObject *module);
PyObject *core_protocols(PyObject *module, PyObject *none);

/* Bytes that grow; free() them. */
struct core_bytes {
    char *bytes;
    size_t size, room;
};

/* Adds to such bytes: as writers want it.  False: no memory. */
bool core_write(void *context, const void *bytes, size_t size);
/* Files of formats, as bytes. */
PyObject *core_export(const struct tw_subject *subject, enum tw_subject_kind kind,
                      const char *format);
PyObject *core_formats(PyObject *module, PyObject *none);

/* frames.c */
PyObject *core_unframe(PyObject *module, PyObject *arguments);

#endif
