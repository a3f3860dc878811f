/* SPDX-License-Identifier: BSD-2-Clause */
/* Timelines: events as dicts and the picture of them, or a file of a format, written while they are made. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

struct job {
    struct tw_timeline *timeline;
    struct tw_timeline_writer *writer;
    struct core_bytes out;
    PyObject *list; /* events; NULL: only the file is wanted */
    bool has_failed;
};

static PyObject *time_of(uint64_t time)
{
    if (time == TW_TIME_UNKNOWN)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(time);
}

/* With the GIL. */
static PyObject *as_dict(struct job *job, const struct tw_timeline_event *event)
{
    static const char *const kinds[] = { "begin", "end", "mark", "value" };
    static const char *const spans[] = { "function", "exception", "thread", "gap", "short" };
    const bool is_span = event->kind <= TW_TIMELINE_END;
    const struct tw_track *track = tw_timeline_track(job->timeline, event->track);
    PyObject *dict = PyDict_New();

    if (dict && core_put(dict, "kind", core_text(kinds[event->kind])) &&
        core_put(dict, "track", core_text(track ? track->name : NULL)) &&
        core_put(dict, "span", core_text(is_span ? spans[event->span] : NULL)) &&
        core_put(dict, "name",
                 core_text(is_span ? tw_timeline_span_name(job->timeline, event) : NULL)) &&
        core_put(dict, "low", time_of(event->times.low)) &&
        core_put(dict, "high", time_of(event->times.high)) &&
        core_put(dict, "estimate", time_of(event->times.estimate)) &&
        core_put(dict, "index", PyLong_FromUnsignedLongLong(event->index)) &&
        core_put(dict, "value",
                 event->value_size || event->span == TW_SPAN_GAP
                     ? PyLong_FromUnsignedLongLong(event->value)
                     : Py_NewRef(Py_None)) &&
        core_put(dict, "text",
                 event->text ? PyUnicode_DecodeUTF8(event->text, (Py_ssize_t)event->text_size,
                                                    "surrogateescape")
                             : Py_NewRef(Py_None)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static void take_event(void *context, const struct tw_timeline_event *event)
{
    struct job *job = context;
    PyGILState_STATE state;
    PyObject *dict;

    tw_timeline_writer_take(job->writer, event);
    if (!job->list || job->has_failed)
        return;
    state = PyGILState_Ensure();
    dict = as_dict(job, event);
    job->has_failed = !dict || PyList_Append(job->list, dict) != 0;
    Py_XDECREF(dict);
    PyGILState_Release(state);
}

static enum tw_status work(struct job *job, struct core_capture *capture,
                           const struct core_wish *wish, const char *name,
                           struct tw_fault *fault)
{
    const struct tw_timeline_config config = { .size = sizeof config,
                                               .event = take_event,
                                               .context = job };
    const struct tw_format *format = tw_format_by_name(name, TW_SUBJECT_TIMELINE);
    struct tw_subject subject = { .size = sizeof subject, .creator = "trackway" };
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run = NULL;
    enum tw_status status = tw_timeline_new(&job->timeline, &config, fault);

    subject.timeline = job->timeline;
    if (status == TW_OK)
        status = tw_timeline_writer_new(&job->writer, format, &subject, core_write, &job->out,
                                        fault);
    if (status == TW_OK)
        status = tw_run_new(&run, capture->capture, &wish->config, fault);
    while (status == TW_OK && !job->has_failed && (status = tw_run_next(run, &part)) == TW_OK)
        status = tw_timeline_take(job->timeline, run, &part);
    if (status == TW_END)
        status = tw_timeline_finish(job->timeline);
    if (status == TW_OK && !job->has_failed)
        status = tw_timeline_writer_end(job->writer);
    tw_timeline_writer_free(job->writer);
    tw_timeline_free(job->timeline);
    tw_run_free(run);
    return status;
}

/* timeline(format=None, **filters): the file of a format; None: events, and their picture. */
PyObject *core_timeline(struct core_capture *capture, PyObject *keywords)
{
    PyObject *value = PyDict_GetItemString(keywords, "format"), *result = NULL;
    const bool is_file = value && value != Py_None;
    struct core_arena arena = { NULL };
    const char *name = is_file ? core_take_text(&arena, value) : "svg";
    struct job job = { .list = is_file ? NULL : PyList_New(0) };
    struct tw_fault fault = { TW_OK, "" };
    struct core_wish wish = { .arena = { NULL } };
    enum tw_status status = TW_OK;

    if (value && !PyErr_Occurred())
        (void)PyDict_DelItemString(keywords, "format");
    if (name && (!tw_format_by_name(name, TW_SUBJECT_TIMELINE) ||
                 !tw_format_by_name(name, TW_SUBJECT_TIMELINE)->extension))
        PyErr_Format(PyExc_ValueError, "there is no format '%s' for timelines", name);
    if (!PyErr_Occurred() && core_wish(&wish, keywords) && core_all_known(keywords) &&
        wish.part)
        PyErr_SetString(PyExc_ValueError, "a timeline has no parts");
    else if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(capture->lock, WAIT_LOCK);
        status = work(&job, capture, &wish, name, &fault);
        PyThread_release_lock(capture->lock);
        Py_END_ALLOW_THREADS if (status != TW_OK)(void) core_raise(status, fault.text);
        else if (is_file) result =
            PyBytes_FromStringAndSize(job.out.bytes, (Py_ssize_t)job.out.size);
        else if (!job.has_failed) result =
            Py_BuildValue("(Os#)", job.list, job.out.bytes, (Py_ssize_t)job.out.size);
    }
    core_give(&wish.arena);
    core_give(&arena);
    Py_XDECREF(job.list);
    free(job.out.bytes);
    return result;
}
