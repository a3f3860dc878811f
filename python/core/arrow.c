/* SPDX-License-Identifier: BSD-2-Clause */
/* The Arrow C data interface: two structs that say where columns lie, so that other programs take them
   without a copy. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* As the interface has them. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];

        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(schema->children);
    free(schema->private_data); /* the texts */
    schema->release = NULL;
}

/* Texts are copied: a schema may outlive everything. */
static bool make_schema(struct ArrowSchema *schema, const char *format, const char *name,
                        size_t children)
{
    const size_t first = strlen(format) + 1, second = strlen(name) + 1;
    char *texts = malloc(first + second);

    *schema = (struct ArrowSchema){ .release = release_schema, .private_data = texts };
    if (children)
        schema->children = calloc(children, sizeof(void *));
    if (!texts || (children && !schema->children)) {
        release_schema(schema);
        return false;
    }
    memcpy(texts, format, first);
    memcpy(texts + first, name, second);
    schema->format = texts;
    schema->name = texts + first;
    schema->n_children = (int64_t)children;
    for (size_t i = 0; i < children; i++)
        if (!(schema->children[i] = calloc(1, sizeof **schema->children))) {
            release_schema(schema);
            return false;
        }
    return true;
}

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

    if (schema && schema->release)
        schema->release(schema);
    free(schema);
}

/* ---- arrays ---- */

/* What an array of bytes keeps: a view of somebody's memory. */
struct kept {
    Py_buffer view;
    const void *buffers[2]; /* no validity bits; the values */
};

static void release_values(struct ArrowArray *array)
{
    struct kept *kept = array->private_data;
    const PyGILState_STATE state = PyGILState_Ensure();

    PyBuffer_Release(&kept->view);
    PyGILState_Release(state);
    free(kept);
    array->release = NULL;
}

/* Takes a reference to `owner`; false: an exception is set. */
static bool make_values(struct ArrowArray *array, PyObject *owner, size_t item)
{
    struct kept *kept = calloc(1, sizeof *kept);

    if (!kept || PyObject_GetBuffer(owner, &kept->view, PyBUF_SIMPLE) != 0) {
        free(kept);
        if (!PyErr_Occurred())
            (void)PyErr_NoMemory();
        return false;
    }
    kept->buffers[1] = kept->view.buf;
    *array = (struct ArrowArray){ .length = kept->view.len / (Py_ssize_t)item,
                                  .n_buffers = 2,
                                  .buffers = kept->buffers,
                                  .release = release_values,
                                  .private_data = kept };
    return true;
}

static void free_array(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");

    if (array && array->release)
        array->release(array);
    free(array);
}

PyObject *core_part_arrow(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    struct ArrowArray *array = calloc(1, sizeof *array);
    PyObject *first = NULL, *second = NULL, *both = NULL;

    (void)arguments, (void)keywords; /* a schema that is asked for cannot be followed */
    if (!schema || !array) {
        (void)PyErr_NoMemory();
    } else if (make_values(array, self, sizeof(struct tw_element)) &&
               make_schema(schema, "w:32", "element", 0)) {
        first = PyCapsule_New(schema, "arrow_schema", free_schema);
        if (first)
            schema = NULL;
        second = PyCapsule_New(array, "arrow_array", free_array);
        if (second)
            array = NULL;
    }
    if (first && second)
        both = PyTuple_Pack(2, first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    if (schema && schema->release)
        schema->release(schema);
    if (array && array->release)
        array->release(array);
    free(schema);
    free(array);
    return both;
}

/* ---- streams of columns ---- */

enum { COLUMNS_MOST = 64, NAME_MOST = 32 };

struct stream {
    size_t count;
    char names[COLUMNS_MOST][NAME_MOST], formats[COLUMNS_MOST][8];
    size_t items[COLUMNS_MOST];
    PyObject *columns[COLUMNS_MOST];
    bool is_done;
};

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    const struct stream *stream = self->private_data;

    if (!make_schema(out, "+s", "", stream->count))
        return 12; /* ENOMEM */
    for (size_t i = 0; i < stream->count; i++)
        if (!make_schema(out->children[i], stream->formats[i], stream->names[i], 0)) {
            release_schema(out);
            return 12;
        }
    return 0;
}

static void release_struct(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] && array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free(array->private_data);
    array->release = NULL;
}

static bool make_struct(struct ArrowArray *out, const struct stream *stream)
{
    *out = (struct ArrowArray){ .n_buffers = 1, .release = release_struct };
    out->private_data = calloc(1, sizeof(void *));
    out->buffers = out->private_data;
    out->children = calloc(stream->count + 1, sizeof(void *));
    if (!out->private_data || !out->children)
        return false;
    for (size_t i = 0; i < stream->count; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        out->n_children = (int64_t)i + 1;
        if (!out->children[i] ||
            !make_values(out->children[i], stream->columns[i], stream->items[i]))
            return false;
        out->length = out->children[i]->length;
    }
    return true;
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    struct stream *stream = self->private_data;
    PyGILState_STATE state;
    bool is_good;

    *out = (struct ArrowArray){ .release = NULL };
    if (stream->is_done)
        return 0;
    stream->is_done = true;
    state = PyGILState_Ensure();
    is_good = make_struct(out, stream);
    if (!is_good) {
        PyErr_Clear();
        release_struct(out);
    }
    PyGILState_Release(state);
    return is_good ? 0 : 12;
}

static const char *get_last_error(struct ArrowArrayStream *self)
{
    (void)self;
    return "no memory";
}

static void release_stream(struct ArrowArrayStream *self)
{
    struct stream *stream = self->private_data;
    const PyGILState_STATE state = PyGILState_Ensure();

    for (size_t i = 0; i < stream->count; i++)
        Py_XDECREF(stream->columns[i]);
    PyGILState_Release(state);
    free(stream);
    self->release = NULL;
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *self = PyCapsule_GetPointer(capsule, "arrow_array_stream");

    if (self && self->release)
        self->release(self);
    free(self);
}

/* A column is (name, format, bytes of an item, buffer). */
static bool add_column(struct stream *stream, PyObject *column)
{
    const char *name, *format;
    Py_ssize_t item;
    PyObject *values;

    if (stream->count == COLUMNS_MOST) {
        PyErr_SetString(PyExc_ValueError, "too many columns");
        return false;
    }
    if (!PyArg_ParseTuple(column, "ssnO", &name, &format, &item, &values))
        return false;
    if (item <= 0 || strlen(name) >= NAME_MOST || strlen(format) >= sizeof stream->formats[0]) {
        PyErr_SetString(PyExc_ValueError, "a column's name or format is too long");
        return false;
    }
    memcpy(stream->names[stream->count], name, strlen(name) + 1);
    memcpy(stream->formats[stream->count], format, strlen(format) + 1);
    stream->items[stream->count] = (size_t)item;
    stream->columns[stream->count++] = Py_NewRef(values);
    return true;
}

PyObject *core_arrow_stream(PyObject *module, PyObject *arguments)
{
    struct ArrowArrayStream *self = calloc(1, sizeof *self);
    struct stream *stream = calloc(1, sizeof *stream);
    PyObject *columns, *capsule = NULL;
    bool is_good = self && stream && PyArg_ParseTuple(arguments, "O", &columns);

    (void)module;
    if (!self || !stream)
        (void)PyErr_NoMemory();
    for (Py_ssize_t i = 0; is_good && i < PySequence_Size(columns); i++) {
        PyObject *column = PySequence_GetItem(columns, i);

        is_good = column && add_column(stream, column);
        Py_XDECREF(column);
    }
    if (is_good) {
        *self = (struct ArrowArrayStream){ .get_schema = get_schema,
                                           .get_next = get_next,
                                           .get_last_error = get_last_error,
                                           .release = release_stream,
                                           .private_data = stream };
        capsule = PyCapsule_New(self, "arrow_array_stream", free_stream);
    }
    if (!capsule) {
        for (size_t i = 0; stream && i < stream->count; i++)
            Py_DECREF(stream->columns[i]);
        free(stream);
        free(self);
    }
    return capsule;
}
