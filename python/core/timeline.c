/* SPDX-License-Identifier: BSD-2-Clause */
/* Timelines: events as dicts and the picture of them, or a file of a format, written while they are made; and interrupts,
   which are sums over a timeline. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

struct job {
    struct tw_timeline *timeline;
    struct tw_timeline_writer *writer;
    struct tw_interrupts *interrupts; /* instead of a writer */
    struct tw_run *run;
    struct core_bytes out;
    PyObject *list; /* events, or interrupts; NULL: only the file is wanted */
    bool has_failed, lacks_memory;
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

    if (job->interrupts) {
        if (tw_interrupts_take(job->interrupts, event) != TW_OK)
            job->lacks_memory = true;
        return;
    }
    tw_timeline_writer_take(job->writer, event);
    if (!job->list || job->has_failed)
        return;
    state = PyGILState_Ensure();
    dict = as_dict(job, event);
    job->has_failed = !dict || PyList_Append(job->list, dict) != 0;
    Py_XDECREF(dict);
    PyGILState_Release(state);
}

/* All parts go through the timeline, in the order of time unless it is asked for otherwise. */
static enum tw_status work(struct job *job, struct core_capture *capture,
                           struct core_wish *wish, const char *name, struct tw_fault *fault)
{
    const struct tw_timeline_config config = { .size = sizeof config,
                                               .event = take_event,
                                               .context = job };
    struct tw_subject subject = { .size = sizeof subject, .creator = "trackway" };
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = tw_timeline_new(&job->timeline, &config, fault);
    const struct tw_interrupts_config interrupts = { .size = sizeof interrupts,
                                                     .timeline = job->timeline };

    if (!wish->config.order)
        wish->config.order = TW_ORDER_TIME;
    subject.timeline = job->timeline;
    if (status == TW_OK && name)
        status =
            tw_timeline_writer_new(&job->writer, tw_format_by_name(name, TW_SUBJECT_TIMELINE),
                                   &subject, core_write, &job->out, fault);
    else if (status == TW_OK)
        status = tw_interrupts_new(&job->interrupts, &interrupts, fault);
    if (status == TW_OK)
        status = tw_run_new(&job->run, capture->capture, &wish->config, fault);
    while (status == TW_OK && !job->has_failed &&
           (status = tw_run_next(job->run, &part)) == TW_OK)
        status = tw_timeline_take(job->timeline, job->run, &part);
    if (status == TW_END)
        status = tw_timeline_finish(job->timeline);
    if (status == TW_OK && job->writer && !job->has_failed)
        status = tw_timeline_writer_end(job->writer);
    return status == TW_OK && job->lacks_memory ? TW_E_MEMORY : status;
}

static void end_job(struct job *job)
{
    tw_timeline_writer_free(job->writer);
    tw_interrupts_free(job->interrupts);
    tw_timeline_free(job->timeline);
    tw_run_free(job->run);
    Py_XDECREF(job->list);
    free(job->out.bytes);
}

/* Without the GIL; false: an exception is set.  `name` is a format; NULL: interrupts. */
static bool do_job(struct job *job, struct core_capture *capture, PyObject *keywords,
                   const char *name)
{
    struct tw_fault fault = { TW_OK, "" };
    struct core_wish wish = { .arena = { NULL } };
    enum tw_status status;

    if (!core_wish(&wish, keywords) || !core_all_known(keywords)) {
        core_give(&wish.arena);
        return false;
    }
    if (wish.part) {
        PyErr_SetString(PyExc_ValueError, "a timeline has no parts");
    } else {
        Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(capture->lock, WAIT_LOCK);
        status = work(job, capture, &wish, name, &fault);
        PyThread_release_lock(capture->lock);
        Py_END_ALLOW_THREADS if (status != TW_OK)(void) core_raise(status, fault.text);
    }
    core_give(&wish.arena);
    return !PyErr_Occurred();
}

/* timeline(format=None, **filters): the file of a format; None: events, and their picture. */
PyObject *core_timeline(struct core_capture *capture, PyObject *keywords)
{
    PyObject *value = PyDict_GetItemString(keywords, "format"), *result = NULL;
    const bool is_file = value && value != Py_None;
    struct core_arena arena = { NULL };
    const char *name = is_file ? core_take_text(&arena, value) : "svg";
    struct job job = { .list = is_file ? NULL : PyList_New(0) };

    if (value && !PyErr_Occurred())
        (void)PyDict_DelItemString(keywords, "format");
    if (name && (!tw_format_by_name(name, TW_SUBJECT_TIMELINE) ||
                 !tw_format_by_name(name, TW_SUBJECT_TIMELINE)->extension))
        PyErr_Format(PyExc_ValueError, "there is no format '%s' for timelines", name);
    if (!PyErr_Occurred() && do_job(&job, capture, keywords, name))
        result =
            is_file ? PyBytes_FromStringAndSize(job.out.bytes, (Py_ssize_t)job.out.size)
                    : Py_BuildValue("(Os#)", job.list, job.out.bytes, (Py_ssize_t)job.out.size);
    core_give(&arena);
    end_job(&job);
    return result;
}

/* ---- interrupts ---- */

static PyObject *lengths_of(const struct tw_interrupt_lengths *lengths)
{
    PyObject *dict = PyDict_New();

    if (!dict || !lengths->count ||
        (core_put(dict, "min", PyLong_FromUnsignedLongLong(lengths->least)) &&
         core_put(dict, "mean",
                  PyFloat_FromDouble((double)lengths->sum / (double)lengths->count)) &&
         core_put(dict, "max", PyLong_FromUnsignedLongLong(lengths->most)) &&
         core_put(dict, "sum", PyLong_FromUnsignedLongLong(lengths->sum))))
        return dict;
    Py_DECREF(dict);
    return NULL;
}

static PyObject *interrupted_by(const struct job *job, const struct tw_interrupt *interrupt)
{
    const struct tw_functions *functions = tw_timeline_functions(job->timeline);
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < interrupt->interrupted_count; i++) {
        const struct tw_interrupted *one = &interrupt->interrupted[i];
        const struct tw_function *function =
            one->function == TW_NONE ? NULL : tw_functions_get(functions, one->function);
        PyObject *row =
            Py_BuildValue("(NK)", core_text(function ? function->name : NULL), one->count);

        if (!row || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *interrupt_row(const struct job *job, const struct tw_interrupt *interrupt)
{
    const struct tw_track *track = tw_timeline_track(job->timeline, interrupt->track);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { "number", interrupt->number },
        { "count", interrupt->count },
        { "chained", interrupt->chained },
        { "nested", interrupt->nested },
        { "preempted", interrupt->preempted },
        { "open", interrupt->open },
        { "depth", interrupt->depth },
        { "estimated", interrupt->estimated },
        { "id", track->id },
    };
    PyObject *dict = PyDict_New();
    bool is_good =
        dict && core_put(dict, "name", core_text(track->name)) &&
        core_put(dict, "source", core_text(track->source)) &&
        core_put(dict, "unit", core_text(tw_time_unit_name(tw_timeline_unit(job->timeline)))) &&
        core_put(dict, "gross", lengths_of(&interrupt->gross)) &&
        core_put(dict, "net", lengths_of(&interrupt->net)) &&
        core_put(dict, "period", lengths_of(&interrupt->period)) &&
        core_put(dict, "instructions", lengths_of(&interrupt->instructions)) &&
        core_put(dict, "interrupted", interrupted_by(job, interrupt));

    for (size_t i = 0; is_good && i < sizeof numbers / sizeof numbers[0]; i++)
        is_good =
            core_put(dict, numbers[i].name, PyLong_FromUnsignedLongLong(numbers[i].value));
    if (!is_good)
        Py_CLEAR(dict);
    return dict;
}

/* interrupts(**filters): a dict each, by source and number. */
PyObject *core_interrupts(struct core_capture *capture, PyObject *keywords)
{
    struct job job = { .list = PyList_New(0) };
    const struct tw_interrupt *interrupt;
    PyObject *result = NULL;

    if (job.list && do_job(&job, capture, keywords, NULL)) {
        bool is_good = true;

        for (size_t i = 0; is_good && (interrupt = tw_interrupts_get(job.interrupts, i)); i++) {
            PyObject *row = interrupt_row(&job, interrupt);

            is_good = row && PyList_Append(job.list, row) == 0;
            Py_XDECREF(row);
        }
        result = is_good ? Py_NewRef(job.list) : NULL;
    }
    end_job(&job);
    return result;
}
