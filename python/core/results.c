/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of analyses: made without the GIL, saved, loaded, added, read as lists of dicts. */
#include <string.h>

#include "core/result.h"

const char *const core_kind_names[CORE_KINDS] = { "profile", "calls", "coverage",
                                                  "statistics" };

static PyTypeObject *result_type;

static void destroy(PyObject *self)
{
    struct core_result *result = (struct core_result *)self;

    if (result->kind == CORE_PROFILE)
        tw_profile_free(result->profile);
    else if (result->kind == CORE_COVERAGE)
        tw_coverage_free(result->coverage);
    else if (result->kind == CORE_STATISTICS)
        tw_statistics_free(result->statistics);
    tw_calls_free(result->calls);
    tw_run_free(result->run);
    Py_XDECREF((PyObject *)result->capture);
    core_free(self);
}

/* ---- making ---- */

static PyObject *take(PyObject *keywords, const char *name)
{
    PyObject *value = PyDict_GetItemString(keywords, name);

    Py_XINCREF(value);
    if (value && PyDict_DelItemString(keywords, name) != 0)
        Py_CLEAR(value);
    return value;
}

static bool take_flag(PyObject *keywords, const char *name, bool otherwise)
{
    PyObject *value = take(keywords, name);
    const bool truth = value ? PyObject_IsTrue(value) == 1 : otherwise;

    Py_XDECREF(value);
    return truth;
}

/* One of the names; -1: an exception is set. */
static int take_name(PyObject *keywords, const char *key, const char *const *names, int count)
{
    PyObject *value = take(keywords, key);
    int found = value ? -1 : 0;

    for (int i = 0; value && i < count; i++)
        if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, names[i]) == 0)
            found = i;
    if (found < 0)
        PyErr_Format(PyExc_ValueError, "%s: there is no '%S'", key, value);
    Py_XDECREF(value);
    return found;
}

struct wishes {
    enum tw_profile_by by;
    bool follows_calls, with_time, with_inlined, is_logical;
    bool is_part; /* calls of a part of the capture */
};

static enum tw_status make_handles(struct core_result *result, const struct wishes *wishes,
                                   struct tw_fault *fault)
{
    const struct tw_calls_config calls = { .size = sizeof calls,
                                           .is_logical = wishes->is_logical,
                                           .is_part = wishes->is_part };
    struct tw_profile_config profile = { .size = sizeof profile,
                                         .by = wishes->by,
                                         .with_time = wishes->with_time,
                                         .with_inlined = wishes->with_inlined };
    const struct tw_coverage_config coverage = { .size = sizeof coverage };
    enum tw_status status = TW_OK;

    if (result->kind == CORE_CALLS || (result->kind == CORE_PROFILE && wishes->follows_calls))
        status = tw_calls_new(&result->calls, &calls, fault);
    profile.calls = result->calls;
    if (status == TW_OK && result->kind == CORE_PROFILE)
        status = tw_profile_new(&result->profile, &profile, fault);
    if (status == TW_OK && result->kind == CORE_COVERAGE)
        status = tw_coverage_new(&result->coverage, &coverage, fault);
    if (status == TW_OK && result->kind == CORE_STATISTICS)
        status = tw_statistics_new(&result->statistics, result->capture->capture, NULL, fault);
    return status;
}

/* Counts on threads where the analysis can. */
static enum tw_status count_all(struct core_result *result, struct core_wish *wish,
                                struct tw_fault *fault)
{
    struct tw_run_counter counter;
    enum tw_status status;

    if (result->kind == CORE_PROFILE)
        counter = tw_profile_counter(result->profile);
    else if (result->kind == CORE_COVERAGE)
        counter = tw_coverage_counter(result->coverage);
    else if (result->kind == CORE_CALLS)
        counter = tw_calls_counter(result->calls);
    else
        counter = *tw_statistics_counter(result->statistics);
    status = core_cut(wish, result->capture->capture, fault);
    if (status != TW_OK)
        return status;
    wish->config.counter = &counter;
    status = tw_run_new(&result->run, result->capture->capture, &wish->config, fault);
    if (status != TW_OK)
        return status;
    if (result->kind == CORE_PROFILE)
        tw_profile_run(result->profile, result->run);
    else if (result->kind == CORE_COVERAGE)
        tw_coverage_run(result->coverage, result->run);
    else if (result->kind == CORE_CALLS)
        tw_calls_run(result->calls, result->run);
    status = tw_run_all(result->run);
    return status == TW_OK && result->calls && !tw_calls_is_complete(result->calls)
               ? TW_E_MEMORY
               : status;
}

static enum tw_status take_all(struct core_result *result, struct core_wish *wish, bool is_part,
                               struct tw_fault *fault)
{
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = TW_OK;

    /* What needs the order of time cannot be cut: all of it is in the first part. */
    if (!is_part && wish->part > 1)
        return TW_OK;
    if (is_part)
        status = core_cut(wish, result->capture->capture, fault);
    wish->config.order = is_part              ? TW_ORDER_CAPTURE
                         : wish->config.order ? wish->config.order
                                              : TW_ORDER_TIME;
    if (status == TW_OK)
        status = tw_run_new(&result->run, result->capture->capture, &wish->config, fault);
    if (status == TW_OK && is_part)
        tw_calls_run(result->calls, result->run);
    if (status == TW_OK && result->kind == CORE_CALLS)
        tw_calls_take_alone(result->calls, result->run);
    while (status == TW_OK && (status = tw_run_next(result->run, &part)) == TW_OK)
        status = result->kind == CORE_CALLS
                     ? tw_calls_take(result->calls, result->run, &part)
                     : tw_profile_take(result->profile, result->run, &part);
    return status == TW_END ? TW_OK : status;
}

enum tw_status core_finish(struct core_result *result)
{
    if (result->is_finished)
        return TW_OK;
    result->is_finished = true;
    if (result->kind == CORE_PROFILE)
        return tw_profile_finish(result->profile);
    if (result->kind == CORE_CALLS) {
        result->lacks_parts = tw_calls_is_part(result->calls);
        return tw_calls_finish(result->calls);
    }
    return result->kind == CORE_COVERAGE ? tw_coverage_finish(result->coverage) : TW_OK;
}

/* Calls are followed on all threads where they can be. */
static bool counts_calls(const struct core_result *result, const struct core_wish *wish)
{
    return result->kind == CORE_CALLS && !wish->part && wish->config.threads != 1 &&
           wish->config.order != TW_ORDER_TIME &&
           tw_calls_has_counter(result->capture->capture, &wish->config);
}

static enum tw_status work(struct core_result *result, struct core_wish *wish,
                           struct wishes *wishes, struct tw_fault *fault)
{
    enum tw_status status;

    /* Threads of perf.data move from one ring buffer to another. */
    wishes->is_part =
        result->kind == CORE_CALLS && wish->part && !tw_capture_perf(result->capture->capture);
    status = make_handles(result, wishes, fault);
    if (status != TW_OK)
        return status;
    if ((result->calls || wishes->with_time) && !counts_calls(result, wish))
        status = take_all(result, wish, wishes->is_part, fault);
    else
        status = count_all(result, wish, fault);
    /* Coverage, and calls of a part, are finished when they are read: until then they can be added to. */
    if (status == TW_OK && result->kind != CORE_COVERAGE && !wishes->is_part)
        status = core_finish(result);
    if (status != TW_OK && result->run && !fault->text[0])
        memcpy(fault->text, tw_run_fault(result->run), strlen(tw_run_fault(result->run)) + 1);
    return status;
}

PyObject *core_analyse(struct core_capture *capture, PyObject *keywords)
{
    static const char *const ways[] = { "function", "line",    "address",
                                        "thread",   "program", "source" };
    struct core_result *result;
    struct tw_fault fault = { TW_OK, "" };
    struct core_wish wish;
    struct wishes wishes;
    enum tw_status status = TW_OK;
    const int kind = take_name(keywords, "kind", core_kind_names, CORE_KINDS);
    const int by = kind < 0 ? -1 : take_name(keywords, "by", ways, 6);

    if (kind < 0 || by < 0)
        return NULL;
    wishes.by = (enum tw_profile_by)by;
    wishes.follows_calls = take_flag(keywords, "calls", by == TW_PROFILE_FUNCTION);
    wishes.with_time = take_flag(keywords, "with_time", false);
    wishes.with_inlined = take_flag(keywords, "inlined", false);
    wishes.is_logical = take_flag(keywords, "logical", false);
    result = (struct core_result *)PyType_GenericAlloc(result_type, 0);
    if (!result)
        return NULL;
    result->kind = (enum core_kind)kind;
    result->capture = (struct core_capture *)Py_NewRef((PyObject *)capture);
    if (core_wish(&wish, keywords) && core_all_known(keywords)) {
        Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(capture->lock, WAIT_LOCK);
        status = work(result, &wish, &wishes, &fault);
        PyThread_release_lock(capture->lock);
        Py_END_ALLOW_THREADS if (status != TW_OK)(void) core_raise(status, fault.text);
    }
    core_give(&wish.arena);
    if (PyErr_Occurred())
        Py_CLEAR(result);
    return (PyObject *)result;
}

/* ---- files ---- */

static const char read_already[] = "calls of a part are saved and added before they are read";

static PyObject *save(PyObject *self, PyObject *path)
{
    struct core_result *result = (struct core_result *)self;
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    const char *name = core_take_text(&arena, path);
    enum tw_status status = TW_E_ARGUMENT;

    if (name && result->lacks_parts) {
        (void)core_raise(status, read_already);
    } else if (name) {
        if (result->kind == CORE_PROFILE)
            status = tw_profile_save(result->profile, name, &fault);
        else if (result->kind == CORE_CALLS)
            status = tw_calls_save(result->calls, name, &fault);
        else if (result->kind == CORE_COVERAGE)
            status = tw_coverage_save(result->coverage, name, &fault);
        else
            status = tw_statistics_save(result->statistics, name, &fault);
        if (status != TW_OK)
            (void)core_raise(status, fault.text);
    }
    core_give(&arena);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

PyObject *core_load(PyObject *module, PyObject *arguments)
{
    struct core_result *result = NULL;
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    enum tw_status status = TW_OK;
    const char *kind, *name;
    PyObject *path;
    int found = -1;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "sO", &kind, &path) ||
        !(name = core_take_text(&arena, path)))
        return NULL;
    for (int i = 0; i < CORE_KINDS; i++)
        if (strcmp(kind, core_kind_names[i]) == 0)
            found = i;
    if (found < 0)
        PyErr_Format(PyExc_ValueError, "there is no analysis '%s'", kind);
    else
        result = (struct core_result *)PyType_GenericAlloc(result_type, 0);
    if (result) {
        result->kind = (enum core_kind)found;
        result->is_finished = found == CORE_PROFILE;
        if (found == CORE_PROFILE)
            status = tw_profile_load(&result->profile, name, NULL, &fault);
        else if (found == CORE_CALLS)
            status = tw_calls_load(&result->calls, name, NULL, &fault);
        else if (found == CORE_COVERAGE)
            status = tw_coverage_load(&result->coverage, name, NULL, &fault);
        else
            status = tw_statistics_load(&result->statistics, name, NULL, &fault);
    }
    core_give(&arena);
    if (status != TW_OK) {
        (void)core_raise(status, fault.text);
        Py_CLEAR(result);
    }
    return (PyObject *)result;
}

PyObject *core_merge(PyObject *module, PyObject *arguments)
{
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    enum tw_status status = TW_OK;
    PyObject *out, *parts, *list = NULL;
    const char *name, **paths = NULL;
    size_t count = 0;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO", &out, &parts) ||
        !(name = core_take_text(&arena, out)))
        return NULL;
    list = PySequence_Tuple(parts);
    if (list) {
        count = (size_t)PyTuple_Size(list);
        paths = core_take(&arena, count * sizeof *paths);
    }
    for (size_t i = 0; paths && i < count; i++)
        if (!(paths[i] = core_take_text(&arena, PyTuple_GetItem(list, (Py_ssize_t)i))))
            paths = NULL;
    if (paths) {
        Py_BEGIN_ALLOW_THREADS status = tw_merge(name, paths, count, NULL, &fault);
        Py_END_ALLOW_THREADS if (status != TW_OK)(void) core_raise(status, fault.text);
    }
    Py_XDECREF(list);
    core_give(&arena);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *add(PyObject *self, PyObject *other)
{
    struct core_result *result = (struct core_result *)self;
    struct core_result *more = (struct core_result *)other;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status;

    if (!PyObject_TypeCheck(other, result_type) || more->kind != result->kind ||
        more == result) {
        PyErr_SetString(PyExc_TypeError, "only another result of the same kind can be added");
        return NULL;
    }
    if (result->kind == CORE_COVERAGE && (result->is_finished || more->is_finished))
        return core_raise(TW_E_ARGUMENT, "coverage is added before it is read");
    if (result->lacks_parts || more->lacks_parts)
        return core_raise(TW_E_ARGUMENT, read_already);
    if (result->kind == CORE_PROFILE)
        status = tw_profile_add(result->profile, more->profile, &fault);
    else if (result->kind == CORE_CALLS)
        status = tw_calls_add(result->calls, more->calls, &fault), result->is_finished = false;
    else if (result->kind == CORE_COVERAGE)
        status = tw_coverage_add(result->coverage, more->coverage, &fault);
    else
        status = tw_statistics_add(result->statistics, more->statistics);
    if (status != TW_OK)
        return core_raise(status, fault.text);
    Py_RETURN_NONE;
}

static PyObject *export(PyObject *self, PyObject *format)
{
    static const enum tw_subject_kind kinds[CORE_KINDS] = { TW_SUBJECT_PROFILE,
                                                            TW_SUBJECT_CALLS,
                                                            TW_SUBJECT_COVERAGE, 0 };
    struct core_result *result = (struct core_result *)self;
    struct tw_subject subject = { .size = sizeof subject, .creator = "trackway" };
    struct core_arena arena = { NULL };
    const char *name = core_take_text(&arena, format);
    PyObject *bytes = NULL;
    enum tw_status status;

    subject.calls = result->calls;
    if (result->kind == CORE_PROFILE)
        subject.profile = result->profile;
    if (result->kind == CORE_COVERAGE)
        subject.coverage = result->coverage;
    if (name && (status = core_finish(result)) != TW_OK)
        (void)core_raise(status, NULL);
    else if (name)
        bytes = core_export(&subject, kinds[result->kind], name);
    core_give(&arena);
    return bytes;
}

static PyObject *kind_of(PyObject *self, void *none)
{
    (void)none;
    return core_text(core_kind_names[((struct core_result *)self)->kind]);
}

static PyObject *is_part(PyObject *self, void *none)
{
    const struct core_result *result = (struct core_result *)self;

    (void)none;
    return PyBool_FromLong(result->kind == CORE_CALLS &&
                           (result->lacks_parts || tw_calls_is_part(result->calls)));
}

static PyMethodDef methods[] = {
    { "save", save, METH_O,
      "save($self, path, /)\n--\n\nAs a file that can be added to others." },
    { "add", add, METH_O, "add($self, other, /)\n--\n\nThe sum stays here." },
    { "export", export, METH_O,
      "export($self, form, /)\n--\n\nThe bytes of a file of a format." },
    { NULL, NULL, 0, NULL }
};

static PyGetSetDef members[] = {
    { "kind", kind_of, NULL, "profile, calls, coverage or statistics", NULL },
    { "is_part", is_part, NULL, "calls: other parts of the capture are missing", NULL },
    { "rows", core_rows, NULL, "what was found, as dicts", NULL },
    { "totals", core_totals, NULL, "sums over all", NULL },
    { "edges", core_edges, NULL, "calls: caller and callee (numbers of rows), kind, count",
      NULL },
    { "paths", core_paths, NULL, "calls: (stack of row numbers, self, entries)", NULL },
    { "functions", core_functions_covered, NULL, "coverage: functions with their counts",
      NULL },
    { NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "The result of an analysis." },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, methods },
    { Py_tp_getset, members },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "trackway._core.Result",
                            .basicsize = sizeof(struct core_result),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

bool core_add_results(PyObject *module)
{
    result_type = core_add_type(module, &spec, "Result");
    return result_type != NULL;
}
