/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as lists of dicts. */
#include "core/result.h"

/* ---- reading ---- */

static PyObject *u64(uint64_t value)
{
    return PyLong_FromUnsignedLongLong(value);
}

static bool put_spent(PyObject *dict, const char *name, bool is_known, bool has_bounds,
                      const struct tw_spent *spent)
{
    char key[32];

    if (!is_known)
        return true;
    if (!core_put(dict, name, u64(spent->estimate)))
        return false;
    if (!has_bounds)
        return true;
    (void)PyOS_snprintf(key, sizeof key, "%s_least", name);
    if (!core_put(dict, key, u64(spent->least)))
        return false;
    (void)PyOS_snprintf(key, sizeof key, "%s_most", name);
    return core_put(dict, key, u64(spent->most));
}

static PyObject *profile_row(const struct core_result *result, size_t number)
{
    const struct tw_profile_row *row = tw_profile_row(result->profile, number);
    const bool has_bounds = row && (row->known & TW_PROFILE_HAS_BOUNDS);
    PyObject *dict = row ? PyDict_New() : NULL;

    if (dict && core_put(dict, "name", core_text(row->name)) &&
        core_put(dict, "object", core_text(row->object)) &&
        core_put(dict, "file", core_text(row->file)) &&
        core_put(dict, "line", core_number(row->line ? row->line : TW_NONE)) &&
        core_put(dict, "pid", core_number(row->pid)) &&
        core_put(dict, "tid", core_number(row->tid)) &&
        core_put(dict, "address", u64(row->address)) &&
        core_put(dict, "entries", u64(row->entries)) &&
        core_put(dict, "self", u64(row->self)) &&
        core_put(dict, "total",
                 row->known & (TW_PROFILE_HAS_CALLS | TW_PROFILE_HAS_TOTAL)
                     ? u64(row->total)
                     : Py_NewRef(Py_None)) &&
        put_spent(dict, "cycles", row->known & TW_PROFILE_HAS_CYCLES, has_bounds,
                  &row->cycles) &&
        put_spent(dict, "time", row->known & TW_PROFILE_HAS_TIME, has_bounds, &row->time))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *function_row(const struct core_result *result, size_t number)
{
    const struct tw_functions *functions = tw_calls_functions(result->calls);
    const struct tw_function *function = tw_functions_get(functions, (uint32_t)number);
    struct tw_call_totals totals;
    PyObject *dict = function ? PyDict_New() : NULL;

    if (!dict)
        return NULL;
    totals = tw_calls_totals(result->calls, (uint32_t)number);
    if (core_put(dict, "name", core_text(function->name)) &&
        core_put(dict, "object", core_text(function->object)) &&
        core_put(dict, "address", u64(function->address)) &&
        core_put(dict, "entries", u64(totals.entries)) &&
        core_put(dict, "self", u64(totals.self)) &&
        core_put(dict, "total", u64(totals.inclusive)))
        return dict;
    Py_DECREF(dict);
    return NULL;
}

static PyObject *line_row(const struct core_result *result, size_t number)
{
    const struct tw_line_count *line = tw_coverage_line(result->coverage, number);
    PyObject *dict = line ? PyDict_New() : NULL;

    if (dict && core_put(dict, "file", core_text(line->file)) &&
        core_put(dict, "line", core_number(line->line)) &&
        core_put(dict, "count", u64(line->count)) &&
        core_put(dict, "instructions", u64(line->instructions)) &&
        core_put(dict, "covered", u64(line->covered)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *source_row(const struct core_result *result, size_t number)
{
    struct tw_source_statistics source = { .size = sizeof source };
    PyObject *dict;

    if (!tw_statistics_source(result->statistics, &source, number))
        return NULL;
    dict = PyDict_New();
    if (dict && core_put(dict, "buffer", core_text(source.buffer)) &&
        core_put(dict, "id", core_number(source.id)) &&
        core_put(dict, "protocol", core_text(source.protocol)) &&
        core_put(dict, "instructions", u64(source.instructions)) &&
        core_put(dict, "exceptions", u64(source.exceptions)) &&
        core_put(dict, "errors", u64(source.errors)) &&
        core_put(dict, "missing", u64(source.missing)) &&
        core_put(dict, "overflows", u64(source.overflows)) &&
        core_put(dict, "discards", u64(source.discards)) &&
        core_put(dict, "cycles", u64(source.cycles)) &&
        core_put(dict, "timestamps", u64(source.timestamps)) &&
        core_put(dict, "first_time", u64(source.first_time)) &&
        core_put(dict, "last_time", u64(source.last_time)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

typedef PyObject *row_fn(const struct core_result *result, size_t number);

static PyObject *list_of(struct core_result *result, row_fn *row)
{
    const enum tw_status status = core_finish(result);
    PyObject *list = status == TW_OK ? PyList_New(0) : core_raise(status, NULL);

    for (size_t i = 0; list; i++) {
        PyObject *one = row(result, i);

        if (!one && !PyErr_Occurred())
            return list;
        if (!one || PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

PyObject *core_rows(PyObject *self, void *none)
{
    static row_fn *const by_kind[CORE_KINDS] = { profile_row, function_row, line_row,
                                                 source_row };
    struct core_result *result = (struct core_result *)self;

    (void)none;
    return list_of(result, by_kind[result->kind]);
}

/* ---- calls ---- */

static PyObject *edge_row(const struct core_result *result, size_t number)
{
    const struct tw_call_edge *edge = NULL;
    PyObject *dict;

    if (result->calls && number < tw_calls_edge_count(result->calls))
        edge = tw_calls_edge(result->calls, number);
    dict = edge ? PyDict_New() : NULL;
    if (dict && core_put(dict, "caller", core_number(edge->from)) &&
        core_put(dict, "callee", core_number(edge->to)) &&
        core_put(dict, "kind", core_text(tw_call_kind_name(edge->kind))) &&
        core_put(dict, "count", u64(edge->count)) &&
        core_put(dict, "total", u64(edge->inclusive)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

PyObject *core_edges(PyObject *self, void *none)
{
    (void)none;
    return list_of((struct core_result *)self, edge_row);
}

static PyObject *path_as_tuple(const struct tw_call_path *path)
{
    PyObject *stack = PyTuple_New((Py_ssize_t)path->depth);
    PyObject *all = NULL;

    for (size_t i = 0; stack && i < path->depth; i++) {
        PyObject *number = PyLong_FromUnsignedLong(path->functions[i]);

        if (!number || PyTuple_SetItem(stack, (Py_ssize_t)i, number) != 0)
            Py_CLEAR(stack);
    }
    if (stack)
        all = Py_BuildValue("(OKK)", stack, (unsigned long long)path->self,
                            (unsigned long long)path->entries);
    Py_XDECREF(stack);
    return all;
}

static void add_path(void *context, const struct tw_call_path *path)
{
    PyObject **list = context;
    PyObject *one = *list ? path_as_tuple(path) : NULL;

    if (*list && (!one || PyList_Append(*list, one) != 0))
        Py_CLEAR(*list);
    Py_XDECREF(one);
}

PyObject *core_paths(PyObject *self, void *none)
{
    struct core_result *result = (struct core_result *)self;
    PyObject *list = PyList_New(0);
    enum tw_status status = TW_OK;

    (void)none;
    if (list && result->calls && core_finish(result) == TW_OK)
        status = tw_calls_paths(result->calls, add_path, &list);
    if (status != TW_OK) {
        Py_CLEAR(list);
        (void)core_raise(status, NULL);
    }
    return list;
}

/* ---- coverage ---- */

PyObject *core_functions_covered(PyObject *self, void *none)
{
    struct core_result *result = (struct core_result *)self;
    PyObject *list = PyList_New(0);

    (void)none;
    if (!list || result->kind != CORE_COVERAGE || core_finish(result) != TW_OK)
        return list;
    for (size_t object = 0; object < tw_coverage_object_count(result->coverage); object++) {
        const struct tw_function_count *row;

        for (size_t i = 0; list && (row = tw_coverage_function(result->coverage, object, i));
             i++) {
            PyObject *dict = PyDict_New();

            if (!dict || !core_put(dict, "name", core_text(row->name)) ||
                !core_put(dict, "address", u64(row->address)) ||
                !core_put(dict, "entries", u64(row->entries)) ||
                !core_put(dict, "self", u64(row->self)) ||
                !core_put(dict, "instructions", u64(row->instructions)) ||
                !core_put(dict, "covered", u64(row->covered)) ||
                !core_put(dict, "file", core_text(row->file)) ||
                !core_put(dict, "line", core_number(row->line ? row->line : TW_NONE)) ||
                PyList_Append(list, dict) != 0)
                Py_CLEAR(list);
            Py_XDECREF(dict);
        }
    }
    return list;
}

static bool put_profile_totals(PyObject *dict, const struct core_result *result)
{
    struct tw_profile_totals totals = { .size = sizeof totals };

    return tw_profile_totals(result->profile, &totals) &&
           core_put(dict, "instructions", u64(totals.instructions)) &&
           core_put(dict, "unknown", u64(totals.unknown)) &&
           core_put(dict, "missing", u64(totals.missing)) &&
           core_put(dict, "cycles", u64(totals.cycles)) &&
           core_put(dict, "time", u64(totals.time));
}

static bool put_coverage_totals(PyObject *dict, const struct core_result *result)
{
    struct tw_coverage_totals totals = { .size = sizeof totals };

    return tw_coverage_totals(result->coverage, &totals) &&
           core_put(dict, "executed", u64(totals.executed)) &&
           core_put(dict, "instructions", u64(totals.instructions)) &&
           core_put(dict, "covered", u64(totals.covered)) &&
           core_put(dict, "branches", u64(totals.branches)) &&
           core_put(dict, "both", u64(totals.both)) &&
           core_put(dict, "lines", u64(totals.lines)) &&
           core_put(dict, "lines_covered", u64(totals.lines_covered)) &&
           core_put(dict, "functions", u64(totals.functions)) &&
           core_put(dict, "functions_covered", u64(totals.functions_covered)) &&
           core_put(dict, "missing", u64(totals.missing));
}

static bool put_call_totals(PyObject *dict, const struct core_result *result)
{
    const struct tw_calls_stats stats = tw_calls_stats(result->calls);

    return core_put(dict, "instructions", u64(stats.instructions)) &&
           core_put(dict, "calls", u64(stats.calls)) &&
           core_put(dict, "returns", u64(stats.returns)) &&
           core_put(dict, "tails", u64(stats.tails)) &&
           core_put(dict, "gaps", u64(stats.gaps)) &&
           core_put(dict, "missing", u64(stats.missing));
}

PyObject *core_totals(PyObject *self, void *none)
{
    struct core_result *result = (struct core_result *)self;
    const enum tw_status status = core_finish(result);
    PyObject *dict = status == TW_OK ? PyDict_New() : core_raise(status, NULL);
    bool is_good = dict != NULL;

    (void)none;
    if (is_good && result->kind == CORE_PROFILE)
        is_good = put_profile_totals(dict, result);
    else if (is_good && result->kind == CORE_COVERAGE)
        is_good = put_coverage_totals(dict, result);
    else if (is_good && result->kind == CORE_CALLS)
        is_good = put_call_totals(dict, result);
    if (!is_good)
        Py_CLEAR(dict);
    return dict;
}
