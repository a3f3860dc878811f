/* SPDX-License-Identifier: BSD-2-Clause */
/* Capture: what people have, opened. */
#include <string.h>

#include "core/core.h"

PyTypeObject *core_capture_type;

/* ---- options ---- */

static bool texts_of(struct core_arena *arena, PyObject *keywords, const char *name,
                     const char **out)
{
    PyObject *value = PyDict_GetItemString(keywords, name);

    if (!value)
        return true;
    if (value != Py_None && !(*out = core_take_text(arena, value)))
        return false;
    return PyDict_DelItemString(keywords, name) == 0;
}

static bool flag_of(PyObject *keywords, const char *name, bool *out)
{
    PyObject *value = PyDict_GetItemString(keywords, name);

    if (!value)
        return true;
    *out = PyObject_IsTrue(value) == 1;
    return !PyErr_Occurred() && PyDict_DelItemString(keywords, name) == 0;
}

/* sources=[(id, protocol, config), ...] */
static bool sources_of(struct core_arena *arena, PyObject *keywords,
                       struct tw_capture_options *options)
{
    PyObject *value = PyDict_GetItemString(keywords, "sources"), *list;
    struct tw_capture_source_option *out;

    if (!value)
        return true;
    list = value == Py_None ? PyTuple_New(0) : PySequence_Tuple(value);
    if (!list)
        return false;
    options->source_count = (size_t)PyTuple_Size(list);
    out = core_take(arena, options->source_count * sizeof *out);
    for (size_t i = 0; out && i < options->source_count; i++) {
        PyObject *protocol = NULL, *config = Py_None;
        unsigned char id = 0;
        PyObject *one = PySequence_Tuple(PyTuple_GetItem(list, (Py_ssize_t)i));

        if (!one ||
            !PyArg_ParseTuple(one, "bO|O;a source is (id, protocol, config)", &id, &protocol,
                              &config) ||
            !(out[i].protocol = core_take_text(arena, protocol)) ||
            (config != Py_None && !(out[i].config = core_take_text(arena, config)))) {
            Py_XDECREF(one);
            out = NULL;
            break;
        }
        out[i].id = id;
        Py_DECREF(one);
    }
    Py_DECREF(list);
    options->sources = out;
    return out && PyDict_DelItemString(keywords, "sources") == 0;
}

/* images=[path or (path, address), ...] */
static bool images_of(struct core_arena *arena, PyObject *keywords,
                      struct tw_capture_options *options)
{
    PyObject *value = PyDict_GetItemString(keywords, "images"), *list;
    struct tw_capture_image_option *out;

    if (!value)
        return true;
    list = value == Py_None ? PyTuple_New(0) : PySequence_Tuple(value);
    if (!list)
        return false;
    options->image_count = (size_t)PyTuple_Size(list);
    out = core_take(arena, options->image_count * sizeof *out);
    for (size_t i = 0; out && i < options->image_count; i++) {
        PyObject *item = PyTuple_GetItem(list, (Py_ssize_t)i), *path = item;
        unsigned long long address = 0;

        if (PyTuple_Check(item) &&
            !PyArg_ParseTuple(item, "OK;an image is (path, address)", &path, &address)) {
            out = NULL;
        } else if (!(out[i].path = core_take_text(arena, path))) {
            out = NULL;
        } else {
            out[i].address = address;
        }
    }
    Py_DECREF(list);
    options->images = out;
    return out && PyDict_DelItemString(keywords, "images") == 0;
}

static bool options_of(struct core_arena *arena, PyObject *keywords,
                       struct tw_capture_options *options)
{
    const char *framing = NULL;

    if (!keywords)
        return true;
    if (!texts_of(arena, keywords, "framing", &framing) ||
        !texts_of(arena, keywords, "core_type", &options->core_type) ||
        !texts_of(arena, keywords, "sysroot", &options->sysroot) ||
        !texts_of(arena, keywords, "kernel", &options->kernel) ||
        !texts_of(arena, keywords, "vdso", &options->vdso) ||
        !texts_of(arena, keywords, "build_ids", &options->build_ids) ||
        !flag_of(keywords, "allow_outside", &options->allow_outside) ||
        !flag_of(keywords, "no_barrier", &options->no_barrier) ||
        !flag_of(keywords, "strip_stop", &options->strip_stop) ||
        !flag_of(keywords, "trust_time", &options->trust_time) ||
        !sources_of(arena, keywords, options) || !images_of(arena, keywords, options))
        return false;
    options->has_framing = framing != NULL;
    if (framing && !tw_framing_by_name(&options->framing, framing)) {
        PyErr_Format(PyExc_ValueError, "there is no framing '%s'", framing);
        return false;
    }
    return core_all_known(keywords);
}

/* ---- the type ---- */

static int create(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    struct core_capture *capture = (struct core_capture *)self;
    struct tw_capture_options options = { .size = sizeof options };
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    PyObject *path, *rest = keywords ? PyDict_Copy(keywords) : NULL;
    enum tw_status status = TW_E_ARGUMENT;
    const char *name = NULL;

    if (capture->capture) {
        PyErr_SetString(PyExc_RuntimeError, "the capture is open already");
        return -1;
    }
    if (!PyErr_Occurred() && PyArg_ParseTuple(arguments, "O", &path) &&
        (name = core_take_text(&arena, path)) && options_of(&arena, rest, &options)) {
        Py_BEGIN_ALLOW_THREADS status =
            tw_capture_open(&capture->capture, name, &options, &fault);
        Py_END_ALLOW_THREADS if (status != TW_OK)(void) core_raise(status, fault.text);
    }
    core_give(&arena);
    Py_XDECREF(rest);
    if (status == TW_OK && !capture->lock && !(capture->lock = PyThread_allocate_lock()))
        (void)PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

static void destroy(PyObject *self)
{
    struct core_capture *capture = (struct core_capture *)self;

    tw_capture_free(capture->capture);
    if (capture->lock)
        PyThread_free_lock(capture->lock);
    core_free(self);
}

static struct core_capture *open_one(PyObject *self)
{
    struct core_capture *capture = (struct core_capture *)self;

    if (capture->capture && !capture->is_closed)
        return capture;
    PyErr_SetString(PyExc_ValueError, "the capture is closed");
    return NULL;
}

static PyObject *close_it(PyObject *self, PyObject *none)
{
    (void)none;
    /* What is in use stays until the last run and part are gone. */
    ((struct core_capture *)self)->is_closed = true;
    Py_RETURN_NONE;
}

static PyObject *buffers(PyObject *self, void *none)
{
    struct core_capture *capture = open_one(self);
    PyObject *list = capture ? PyList_New(0) : NULL;

    (void)none;
    for (size_t i = 0; list && i < tw_capture_buffer_count(capture->capture); i++) {
        const struct tw_buffer *buffer = tw_capture_buffer(capture->capture, i);
        PyObject *dict = PyDict_New();

        if (!dict || !core_put(dict, "name", core_text(buffer->name)) ||
            !core_put(dict, "framing", core_text(tw_framing_name(buffer->framing))) ||
            !core_put(dict, "size", PyLong_FromUnsignedLongLong(buffer->size)) ||
            PyList_Append(list, dict) != 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

static PyObject *registers_of(const struct tw_source *source)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < source->register_count; i++)
        if (!core_put(dict, source->registers[i].name,
                      PyLong_FromUnsignedLongLong(source->registers[i].value)))
            Py_CLEAR(dict);
    return dict;
}

static PyObject *sources(PyObject *self, void *none)
{
    struct core_capture *capture = open_one(self);
    PyObject *list = capture ? PyList_New(0) : NULL;

    (void)none;
    for (size_t i = 0; list && i < tw_capture_source_count(capture->capture); i++) {
        const struct tw_source *source = tw_capture_source(capture->capture, i);
        PyObject *dict = PyDict_New();

        if (!dict || !core_put(dict, "name", core_text(source->name)) ||
            !core_put(dict, "protocol", core_text(source->protocol)) ||
            !core_put(dict, "id", core_number(source->has_id ? source->id : TW_NONE)) ||
            !core_put(dict, "core", core_text(source->core)) ||
            !core_put(dict, "core_type", core_text(source->core_type)) ||
            !core_put(dict, "registers", registers_of(source)) ||
            PyList_Append(list, dict) != 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

static PyObject *warnings(PyObject *self, void *none)
{
    struct core_capture *capture = open_one(self);
    PyObject *list = capture ? PyList_New(0) : NULL;

    (void)none;
    for (size_t i = 0; list && i < tw_capture_warning_count(capture->capture); i++) {
        PyObject *text = core_text(tw_capture_warning(capture->capture, i));

        if (!text || PyList_Append(list, text) != 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *path_of(PyObject *self, void *none)
{
    const struct core_capture *capture = (const struct core_capture *)self;

    (void)none;
    return core_text(capture->capture ? tw_capture_path(capture->capture) : NULL);
}

static PyObject *kind_of(PyObject *self, void *none)
{
    static const char *const kinds[] = { "raw", "snapshot", "perf.data" };
    struct core_capture *capture = open_one(self);

    (void)none;
    return capture ? core_text(kinds[tw_capture_kind(capture->capture)]) : NULL;
}

void core_capture_enter(struct core_capture *capture)
{
    /* clang-format off */
    Py_BEGIN_ALLOW_THREADS
    (void)PyThread_acquire_lock(capture->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
    /* clang-format on */
}

/* read(buffer, offset=0, size=-1): bytes of a buffer, oldest first. */
static PyObject *read_bytes(PyObject *self, PyObject *arguments)
{
    struct core_capture *capture = open_one(self);
    unsigned long long offset = 0;
    Py_ssize_t number, wanted = -1;
    PyObject *out = NULL;

    if (!capture || !PyArg_ParseTuple(arguments, "n|Kn", &number, &offset, &wanted))
        return NULL;
    if (number < 0 || (size_t)number >= tw_capture_buffer_count(capture->capture)) {
        PyErr_SetString(PyExc_IndexError, "there is no such buffer");
        return NULL;
    }
    core_capture_enter(capture);
    out = PyByteArray_FromStringAndSize(NULL, 0);
    while (out && (wanted < 0 || PyByteArray_Size(out) < wanted)) {
        const Py_ssize_t have = PyByteArray_Size(out);
        const uint8_t *bytes;
        size_t size;

        if (tw_capture_read(capture->capture, &bytes, &size, (size_t)number,
                            offset + (uint64_t)have) != TW_OK)
            break;
        if (wanted >= 0 && size > (size_t)(wanted - have))
            size = (size_t)(wanted - have);
        if (PyByteArray_Resize(out, have + (Py_ssize_t)size) != 0)
            Py_CLEAR(out);
        else
            memcpy(PyByteArray_AsString(out) + have, bytes, size);
    }
    PyThread_release_lock(capture->lock);
    return out;
}

/* Copies the keywords and hands them on. */
static PyObject *with_keywords(PyObject *self, PyObject *arguments, PyObject *keywords,
                               PyObject *(*make)(struct core_capture *, PyObject *))
{
    struct core_capture *capture = open_one(self);
    PyObject *rest, *result;

    if (!capture || !PyArg_ParseTuple(arguments, ""))
        return NULL;
    rest = keywords ? PyDict_Copy(keywords) : PyDict_New();
    result = rest ? make(capture, rest) : NULL;
    Py_XDECREF(rest);
    return result;
}

static PyObject *run(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_run_new);
}

static PyObject *packets(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_packets_new);
}

static PyObject *analyse(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_analyse);
}

static PyObject *timeline(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_timeline);
}

static PyObject *interrupts(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_interrupts);
}

static PyObject *doctor(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_doctor);
}

static PyObject *index_it(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return with_keywords(self, arguments, keywords, core_index);
}

static PyObject *memory(PyObject *self, PyObject *arguments)
{
    struct core_capture *capture = open_one(self);

    return capture ? core_memory(capture, arguments) : NULL;
}

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    { "close", close_it, METH_NOARGS, "close($self, /)\n--\n\nNo more runs are made of it." },
    { "read", read_bytes, METH_VARARGS,
      "read($self, buffer, offset=0, size=-1, /)\n--\n\nTrace bytes of a buffer, oldest first; "
      "-1: to its end." },
    { "run", KEYWORDS(run), METH_VARARGS | METH_KEYWORDS,
      "run($self, /, **filters)\n--\n\nParts, one after the other." },
    { "packets", KEYWORDS(packets), METH_VARARGS | METH_KEYWORDS,
      "packets($self, /, **filters)\n--\n\nPackets as they lie in the trace, a dict each." },
    { "analyse", KEYWORDS(analyse), METH_VARARGS | METH_KEYWORDS,
      "analyse($self, /, *, kind, **filters)\n--\n\nThe result of an analysis: profile, calls, "
      "coverage or statistics." },
    { "timeline", KEYWORDS(timeline), METH_VARARGS | METH_KEYWORDS,
      "timeline($self, /, *, format=None, **filters)\n--\n\nEvents in the order of time, or a "
      "file of a format." },
    { "interrupts", KEYWORDS(interrupts), METH_VARARGS | METH_KEYWORDS,
      "interrupts($self, /, **filters)\n--\n\nExceptions, a dict each: how often, how long, "
      "how "
      "regularly, what they interrupted." },
    { "doctor", KEYWORDS(doctor), METH_VARARGS | METH_KEYWORDS,
      "doctor($self, /)\n--\n\nWhat is wrong with it." },
    { "index", KEYWORDS(index_it), METH_VARARGS | METH_KEYWORDS,
      "index($self, /, *, path=None, entries=False, **filters)\n--\n\nWhere things are, of "
      "each buffer; path: saved as this file." },
    { "memory", memory, METH_VARARGS,
      "memory($self, source, address, size, /)\n--\n\nBytes of the program of a source." },
    { NULL, NULL, 0, NULL }
};

static PyGetSetDef members[] = {
    { "path", path_of, NULL, "as it was opened", NULL },
    { "kind", kind_of, NULL, "raw, snapshot or perf.data", NULL },
    { "buffers", buffers, NULL, "trace data: name, framing, size", NULL },
    { "sources", sources, NULL, "trace sources: name, protocol, id, core, registers", NULL },
    { "warnings", warnings, NULL, "what was amiss but did not hinder", NULL },
    { NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "A capture: a snapshot folder, a perf.data or a raw file." },
    { Py_tp_init, create },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, methods },
    { Py_tp_getset, members },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "trackway._core.Capture",
                            .basicsize = sizeof(struct core_capture),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                            .slots = slots };

bool core_add_capture(PyObject *module)
{
    core_capture_type = core_add_type(module, &spec, "Capture");
    return core_capture_type != NULL;
}
