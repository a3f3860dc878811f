/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as files of the formats that other programs read; and frames taken apart. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

bool core_write(void *context, const void *bytes, size_t size)
{
    struct core_bytes *out = context;

    if (out->room - out->size < size) {
        const size_t room = 2 * (out->size + size) + 4096;
        char *more = realloc(out->bytes, room);

        if (!more)
            return false;
        out->bytes = more;
        out->room = room;
    }
    if (size)
        memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
    return true;
}

PyObject *core_export(const struct tw_subject *subject, enum tw_subject_kind kind,
                      const char *name)
{
    const struct tw_format *format = tw_format_by_name(name, kind);
    struct core_bytes out = { NULL, 0, 0 };
    enum tw_status status;
    PyObject *result = NULL;

    if (!format || !format->extension) {
        PyErr_Format(PyExc_ValueError, "there is no format '%s' for this result", name);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = tw_format_write(format, subject, core_write, &out);
    Py_END_ALLOW_THREADS if (status == TW_OK) result =
        PyBytes_FromStringAndSize(out.bytes, (Py_ssize_t)out.size);
    else(void)
        core_raise(status == TW_E_CANCELLED ? TW_E_MEMORY : status, "could not be written");
    free(out.bytes);
    return result;
}

PyObject *core_formats(PyObject *module, PyObject *none)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)none;
    for (size_t i = 0; list && tw_format_get(i); i++) {
        const struct tw_format *format = tw_format_get(i);
        PyObject *dict = PyDict_New();

        if (!dict || !core_put(dict, "name", core_text(format->name)) ||
            !core_put(dict, "extension", core_text(format->extension)) ||
            !core_put(dict, "title", core_text(format->title)) ||
            !core_put(dict, "calls", PyBool_FromLong(format->subjects & TW_SUBJECT_CALLS)) ||
            !core_put(dict, "profile",
                      PyBool_FromLong(format->subjects & TW_SUBJECT_PROFILE)) ||
            !core_put(dict, "coverage",
                      PyBool_FromLong(format->subjects & TW_SUBJECT_COVERAGE)) ||
            !core_put(dict, "timeline",
                      PyBool_FromLong(format->subjects & TW_SUBJECT_TIMELINE)) ||
            PyList_Append(list, dict) != 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

/* ---- frames ---- */

struct core_split {
    struct core_bytes by_id[128];
    bool has_failed;
};

static void take_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    struct core_split *split = context;

    (void)capture_offset, (void)stream_offset;
    if (id < 128 && !core_write(&split->by_id[id], bytes, size))
        split->has_failed = true;
}

PyObject *core_unframe(PyObject *module, PyObject *arguments)
{
    struct tw_unframer_config config = { .size = sizeof config, .on_run = take_run };
    struct core_split *split = calloc(1, sizeof *split);
    struct tw_unframer *unframer = NULL;
    struct tw_fault fault = { TW_OK, "" };
    const char *framing = "memory";
    enum tw_status status;
    PyObject *dict = NULL;
    Py_buffer data;

    (void)module;
    if (!split)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(arguments, "y*|s", &data, &framing)) {
        free(split);
        return NULL;
    }
    config.on_run_context = split;
    if (!tw_framing_by_name(&config.framing, framing)) {
        PyErr_Format(PyExc_ValueError, "there is no framing '%s'", framing);
    } else {
        Py_BEGIN_ALLOW_THREADS status = tw_unframer_new(&unframer, &config, &fault);
        if (status == TW_OK)
            status = tw_unframer_feed(unframer, data.buf, (size_t)data.len);
        if (status == TW_OK)
            status = tw_unframer_finish(unframer);
        tw_unframer_free(unframer);
        Py_END_ALLOW_THREADS if (status < 0 || split->has_failed)(void)
            core_raise(split->has_failed ? TW_E_MEMORY : status, fault.text);
        else dict = PyDict_New();
    }
    for (int i = 0; i < 128; i++) {
        const struct core_bytes *bytes = &split->by_id[i];
        PyObject *key = NULL, *value = NULL;

        if (dict && bytes->size &&
            (!(key = PyLong_FromLong(i)) ||
             !(value = PyBytes_FromStringAndSize(bytes->bytes, (Py_ssize_t)bytes->size)) ||
             PyDict_SetItem(dict, key, value) != 0))
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
        free(bytes->bytes);
    }
    PyBuffer_Release(&data);
    free(split);
    return dict;
}
