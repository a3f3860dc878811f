/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is, what is wrong with a capture, and where things are in it: as dicts. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* Adds to a list, and gives up the value; false: an exception is set. */
static bool append(PyObject *list, PyObject *value)
{
    const bool is_good = value && PyList_Append(list, value) == 0;

    Py_XDECREF(value);
    return is_good;
}

static PyObject *number_or_none(bool is_known, uint64_t number)
{
    return is_known ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

/* ---- identify ---- */

static PyObject *sources_of(const struct tw_identity *about)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < about->source_count; i++) {
        const struct tw_identified_source *source = &about->sources[i];

        if (!append(list, Py_BuildValue("{s:B,s:s,s:s,s:d,s:K}", "id", source->id, "protocol",
                                        source->protocol, "config", source->config,
                                        "confidence", source->confidence, "bytes",
                                        (unsigned long long)source->bytes)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *evidence_of(const struct tw_identity *about)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < about->evidence_count; i++)
        if (!append(list, core_text(about->evidence[i])))
            Py_CLEAR(list);
    return list;
}

static PyObject *identity(const struct tw_identity *about)
{
    PyObject *dict = PyDict_New();

    if (dict && core_put(dict, "what", core_text(about->what)) &&
        core_put(dict, "container", core_text(about->container)) &&
        core_put(dict, "format", core_text(about->format)) &&
        core_put(dict, "framing",
                 core_text(about->has_framing ? tw_framing_name(about->framing) : NULL)) &&
        core_put(dict, "swap", PyLong_FromUnsignedLong(about->swap)) &&
        core_put(dict, "skip", PyLong_FromUnsignedLongLong(about->skip)) &&
        core_put(dict, "wrapped_at", number_or_none(about->has_wrapped, about->wrapped_at)) &&
        core_put(dict, "sources", sources_of(about)) &&
        core_put(dict, "confidence", PyFloat_FromDouble(about->confidence)) &&
        core_put(dict, "evidence", evidence_of(about)) &&
        core_put(dict, "command", core_text(about->command)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* identify(path), or of bytes. */
PyObject *core_identify(PyObject *module, PyObject *what)
{
    const struct tw_identify_options options = { .size = sizeof options };
    struct tw_identified *identified = NULL;
    struct core_arena arena = { NULL };
    struct tw_fault fault = { TW_OK, "" };
    const bool is_bytes = PyBytes_Check(what) || PyByteArray_Check(what);
    const char *path = is_bytes ? "data" : core_take_text(&arena, what);
    enum tw_status status = TW_OK;
    PyObject *result = NULL;
    Py_buffer bytes;

    (void)module;
    if (path && (!is_bytes || PyObject_GetBuffer(what, &bytes, PyBUF_SIMPLE) == 0)) {
        Py_BEGIN_ALLOW_THREADS status =
            is_bytes ? tw_identify_bytes(&identified, bytes.buf, (size_t)bytes.len, path,
                                         &options, &fault)
                     : tw_identify(&identified, path, &options, &fault);
        Py_END_ALLOW_THREADS result = status == TW_OK
                                          ? identity(tw_identified_about(identified))
                                          : core_raise(status, fault.text);
        if (is_bytes)
            PyBuffer_Release(&bytes);
    }
    tw_identified_free(identified);
    core_give(&arena);
    return result;
}

/* ---- doctor ---- */

static PyObject *findings_of(const struct tw_doctor *doctor)
{
    PyObject *list = PyList_New(0);
    const struct tw_finding *finding;

    for (size_t i = 0; list && (finding = tw_doctor_finding(doctor, i)); i++)
        if (!append(list, Py_BuildValue("{s:s,s:s,s:K,s:N,s:N,s:N}", "severity",
                                        tw_finding_severity_name(finding->severity), "code",
                                        finding->code, "count",
                                        (unsigned long long)finding->count, "offset",
                                        number_or_none(finding->has_offset, finding->offset),
                                        "text", core_text(finding->text), "remedy",
                                        core_text(finding->remedy))))
            Py_CLEAR(list);
    return list;
}

static PyObject *strips_of(const struct tw_doctor *doctor)
{
    PyObject *list = PyList_New(0);
    const struct tw_strip *strip;

    for (size_t i = 0; list && (strip = tw_doctor_strip(doctor, i)); i++)
        if (!append(list, Py_BuildValue(
                              "{s:N,s:B,s:K,s:y#}", "name", core_text(strip->name), "id",
                              strip->id, "bytes", (unsigned long long)strip->bytes, "states",
                              (const char *)strip->states, (Py_ssize_t)TW_STRIP_COLUMNS)))
            Py_CLEAR(list);
    return list;
}

static PyObject *svg_of(const struct tw_doctor *doctor)
{
    const size_t size = tw_doctor_svg(NULL, 0, doctor);
    char *text = malloc(size + 1);
    PyObject *result;

    if (!text)
        return PyErr_NoMemory();
    (void)tw_doctor_svg(text, size + 1, doctor);
    result = core_text(text);
    free(text);
    return result;
}

PyObject *core_doctor(struct core_capture *capture, PyObject *keywords)
{
    const struct tw_doctor_options options = { .size = sizeof options };
    struct tw_doctor *doctor = NULL;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status;
    PyObject *dict = NULL;

    if (!core_all_known(keywords))
        return NULL;
    Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(capture->lock, WAIT_LOCK);
    status = tw_doctor_new(&doctor, capture->capture, &options, &fault);
    PyThread_release_lock(capture->lock);
    Py_END_ALLOW_THREADS if (status != TW_OK) return core_raise(status, fault.text);
    dict = PyDict_New();
    if (dict && (!core_put(dict, "is_whole", PyBool_FromLong(tw_doctor_is_whole(doctor))) ||
                 !core_put(dict, "summary", core_text(tw_doctor_summary(doctor))) ||
                 !core_put(dict, "findings", findings_of(doctor)) ||
                 !core_put(dict, "strips", strips_of(doctor)) ||
                 !core_put(dict, "svg", svg_of(doctor))))
        Py_CLEAR(dict);
    tw_doctor_free(doctor);
    return dict;
}

/* ---- index ---- */

static PyObject *entries_of(const struct tw_index *index, size_t stream)
{
    PyObject *list = PyList_New(0);
    struct tw_index_entry entry;

    for (uint64_t i = 0; list && tw_index_entry(index, &entry, stream, i) == TW_OK; i++)
        if (!append(list, Py_BuildValue("(KsK)", (unsigned long long)entry.offset,
                                        tw_index_kind_name(entry.kind),
                                        (unsigned long long)entry.value)))
            Py_CLEAR(list);
    return list;
}

static PyObject *streams_of(const struct tw_index *index, bool with_entries)
{
    PyObject *list = PyList_New(0);
    struct tw_index_stream stream = { .size = sizeof stream };

    for (size_t i = 0; list && tw_index_stream(index, &stream, i) == TW_OK; i++) {
        const bool has_time = stream.counts[TW_INDEX_TIME] != 0;
        PyObject *counts = PyDict_New();
        PyObject *entries = with_entries ? entries_of(index, i) : Py_NewRef(Py_None);
        bool is_good = counts && entries;

        for (unsigned kind = 0; is_good && kind < TW_INDEX_KINDS; kind++)
            is_good = !stream.counts[kind] ||
                      core_put(counts, tw_index_kind_name(kind),
                               PyLong_FromUnsignedLongLong(stream.counts[kind]));
        if (!is_good ||
            !append(list, Py_BuildValue(
                              "{s:B,s:s,s:O,s:N,s:N,s:O}", "id", stream.id, "protocol",
                              stream.protocol, "counts", counts, "first_time",
                              number_or_none(has_time, stream.first_time), "last_time",
                              number_or_none(has_time, stream.last_time), "entries", entries)))
            Py_CLEAR(list);
        Py_XDECREF(counts);
        Py_XDECREF(entries);
    }
    return list;
}

static PyObject *index_of(const struct tw_index *index, bool with_entries)
{
    const struct tw_index_about *about = tw_index_about(index);
    PyObject *dict = PyDict_New();

    if (dict && core_put(dict, "name", core_text(about->name)) &&
        core_put(dict, "framing", core_text(tw_framing_name(about->framing))) &&
        core_put(dict, "base", PyLong_FromUnsignedLongLong(about->base)) &&
        core_put(dict, "bytes", PyLong_FromUnsignedLongLong(about->bytes)) &&
        core_put(dict, "blocks", PyLong_FromUnsignedLongLong(about->blocks)) &&
        core_put(dict, "streams", streams_of(index, with_entries)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *indexes_of(struct core_capture *capture, struct tw_run *run, bool with_entries,
                            const char *path)
{
    const size_t count = tw_capture_buffer_count(capture->capture);
    const struct tw_index **indexes = calloc(count + 1, sizeof *indexes);
    PyObject *list = indexes ? PyList_New(0) : PyErr_NoMemory();
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status = TW_OK;
    size_t made = 0;

    for (size_t i = 0; list && i < count; i++) {
        Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(capture->lock, WAIT_LOCK);
        indexes[made] = tw_run_index_need(run, (uint32_t)i, false);
        PyThread_release_lock(capture->lock);
        Py_END_ALLOW_THREADS if (!indexes[made])(void)
            core_raise(TW_E_CONFIG, tw_run_fault(run));
        if (!indexes[made] || !append(list, index_of(indexes[made], with_entries)))
            Py_CLEAR(list);
        made++;
    }
    if (list && path && (status = tw_index_write(path, indexes, made, &fault)) != TW_OK) {
        Py_CLEAR(list);
        (void)core_raise(status, fault.text);
    }
    free(indexes);
    return list;
}

/* index(path=None, entries=False, **filters): of each buffer. */
PyObject *core_index(struct core_capture *capture, PyObject *keywords)
{
    PyObject *entries = PyDict_GetItemString(keywords, "entries");
    PyObject *path = PyDict_GetItemString(keywords, "path"), *result = NULL;
    const int with_entries = entries ? PyObject_IsTrue(entries) : 0;
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    struct core_wish wish = { .arena = { NULL } };
    struct tw_run *run = NULL;
    const char *name = path && path != Py_None ? core_take_text(&arena, path) : NULL;

    if (entries && !PyErr_Occurred())
        (void)PyDict_DelItemString(keywords, "entries");
    if (path && !PyErr_Occurred())
        (void)PyDict_DelItemString(keywords, "path");
    if (!PyErr_Occurred() && core_wish(&wish, keywords) && core_all_known(keywords)) {
        const enum tw_status status = tw_run_new(&run, capture->capture, &wish.config, &fault);

        result = status == TW_OK ? indexes_of(capture, run, with_entries > 0, name)
                                 : core_raise(status, fault.text);
    }
    tw_run_free(run);
    core_give(&wish.arena);
    core_give(&arena);
    return result;
}
