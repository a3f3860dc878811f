/* SPDX-License-Identifier: BSD-2-Clause */
/* What part of a capture is wanted, from keywords: the filters of a run under their own names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* Takes a keyword out; NULL: it is not there, or None, or an exception is set. */
static PyObject *take(PyObject *keywords, const char *name)
{
    PyObject *value = keywords ? PyDict_GetItemString(keywords, name) : NULL;

    if (!value)
        return NULL;
    Py_INCREF(value);
    if (PyDict_DelItemString(keywords, name) != 0 || value == Py_None)
        Py_CLEAR(value);
    return value;
}

/* Something that is iterated: one text stands for a list of one. */
static PyObject *as_list(PyObject *value)
{
    const bool is_one = PyUnicode_Check(value) || PyBytes_Check(value) || PyLong_Check(value);
    PyObject *list = is_one ? PyTuple_Pack(1, value) : PySequence_Tuple(value);

    Py_DECREF(value);
    return list;
}

static bool texts(struct core_wish *wish, PyObject *keywords, const char *name,
                  const char *const **items, size_t *count)
{
    PyObject *list = take(keywords, name);
    const char **out;

    if (!list)
        return !PyErr_Occurred();
    list = as_list(list);
    if (!list)
        return false;
    *count = (size_t)PyTuple_Size(list);
    out = core_take(&wish->arena, *count * sizeof *out);
    for (size_t i = 0; out && i < *count; i++)
        if (!(out[i] = core_take_text(&wish->arena, PyTuple_GetItem(list, (Py_ssize_t)i))))
            out = NULL;
    Py_DECREF(list);
    *items = out;
    return out != NULL;
}

static bool numbers(struct core_wish *wish, PyObject *keywords, const char *name,
                    const uint32_t **items, size_t *count)
{
    PyObject *list = take(keywords, name);
    uint32_t *out;

    if (!list)
        return !PyErr_Occurred();
    list = as_list(list);
    if (!list)
        return false;
    *count = (size_t)PyTuple_Size(list);
    out = core_take(&wish->arena, *count * sizeof *out);
    for (size_t i = 0; out && i < *count; i++) {
        const unsigned long number =
            PyLong_AsUnsignedLong(PyTuple_GetItem(list, (Py_ssize_t)i));

        if (PyErr_Occurred() || number > UINT32_MAX) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_OverflowError, "%s: %lu is too large", name, number);
            out = NULL;
        } else {
            out[i] = (uint32_t)number;
        }
    }
    Py_DECREF(list);
    *items = out;
    return out != NULL;
}

/* A pair of numbers, of which either may be None. */
static bool pair(PyObject *value, const char *name, bool has[2], uint64_t out[2])
{
    PyObject *both = PySequence_Tuple(value);
    bool is_good = both && PyTuple_Size(both) == 2;

    if (both && !is_good)
        PyErr_Format(PyExc_ValueError, "%s wants a pair (first, end)", name);
    for (int i = 0; is_good && i < 2; i++) {
        PyObject *item = PyTuple_GetItem(both, i);

        has[i] = item != Py_None;
        if (has[i])
            out[i] = PyLong_AsUnsignedLongLong(item);
        is_good = !PyErr_Occurred();
    }
    Py_XDECREF(both);
    return is_good;
}

static bool window(PyObject *keywords, const char *name, bool *has_from, bool *has_to,
                   uint64_t *from, uint64_t *to)
{
    PyObject *value = take(keywords, name);
    bool has[2] = { false, false }, is_good;
    uint64_t out[2] = { 0, 0 };

    if (!value)
        return !PyErr_Occurred();
    is_good = pair(value, name, has, out);
    Py_DECREF(value);
    *has_from = has[0];
    *has_to = has[1];
    *from = out[0];
    *to = out[1];
    return is_good;
}

static bool ranges(struct core_wish *wish, PyObject *keywords)
{
    PyObject *list = take(keywords, "ranges");
    struct tw_address_range *out;
    size_t count;

    if (!list)
        return !PyErr_Occurred();
    list = as_list(list);
    if (!list)
        return false;
    count = (size_t)PyTuple_Size(list);
    out = core_take(&wish->arena, count * sizeof *out);
    for (size_t i = 0; out && i < count; i++) {
        bool has[2];
        uint64_t both[2] = { 0, 0 };

        if (!pair(PyTuple_GetItem(list, (Py_ssize_t)i), "ranges", has, both))
            out = NULL;
        else
            out[i] = (struct tw_address_range){ both[0], has[1] ? both[1] : 0 };
    }
    Py_DECREF(list);
    wish->filter.ranges = out;
    wish->filter.range_count = count;
    return out != NULL;
}

static bool ids(struct core_wish *wish, PyObject *keywords)
{
    const uint32_t *list = NULL;
    size_t count = 0;

    if (!numbers(wish, keywords, "ids", &list, &count))
        return false;
    wish->filter.has_ids = list != NULL;
    for (size_t i = 0; i < count; i++) {
        if (list[i] > 127) {
            PyErr_Format(PyExc_ValueError, "there is no trace ID %u", (unsigned)list[i]);
            return false;
        }
        wish->filter.ids[list[i] / 64] |= (uint64_t)1 << list[i] % 64;
    }
    return true;
}

static bool levels(struct core_wish *wish, PyObject *keywords)
{
    const uint32_t *list = NULL;
    size_t count = 0;

    if (!numbers(wish, keywords, "levels", &list, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (list[i] > 7) {
            PyErr_Format(PyExc_ValueError, "there is no level %u", (unsigned)list[i]);
            return false;
        }
        wish->filter.levels |= (uint8_t)(1u << list[i]);
    }
    return true;
}

static bool flag(PyObject *keywords, const char *name, bool *out)
{
    PyObject *value = take(keywords, name);
    int truth;

    if (!value)
        return !PyErr_Occurred();
    truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    *out = truth > 0;
    return truth >= 0;
}

static bool number(PyObject *keywords, const char *name, uint64_t most, uint64_t *out)
{
    PyObject *value = take(keywords, name);

    if (!value)
        return !PyErr_Occurred();
    *out = PyLong_AsUnsignedLongLong(value);
    Py_DECREF(value);
    if (!PyErr_Occurred() && *out > most)
        PyErr_Format(PyExc_OverflowError, "%s is too large", name);
    return !PyErr_Occurred();
}

static bool text(struct core_wish *wish, PyObject *keywords, const char *name, const char **out)
{
    PyObject *value = take(keywords, name);

    if (!value)
        return !PyErr_Occurred();
    *out = core_take_text(&wish->arena, value);
    Py_DECREF(value);
    return *out != NULL;
}

static bool order(struct core_wish *wish, PyObject *keywords)
{
    const char *name = NULL;

    if (!text(wish, keywords, "order", &name))
        return false;
    if (name && strcmp(name, "time") == 0)
        wish->config.order = TW_ORDER_TIME;
    else if (name && strcmp(name, "capture") != 0) {
        PyErr_Format(PyExc_ValueError, "there is no order '%s': capture, time", name);
        return false;
    }
    return true;
}

static bool symbols(struct core_wish *wish, PyObject *keywords)
{
    const char *const *paths = NULL;
    struct tw_symbol_file *files;
    size_t count = 0;

    if (!texts(wish, keywords, "symbols", &paths, &count))
        return false;
    files = core_take(&wish->arena, count * sizeof *files);
    if (!files)
        return false;
    for (size_t i = 0; i < count; i++)
        files[i].path = paths[i];
    wish->config.symbols = files;
    wish->config.symbol_count = count;
    return true;
}

/* part=(number, count), the first is 1. */
static bool part_of(struct core_wish *wish, PyObject *keywords)
{
    enum { MOST = 1 << 20 }; /* as the tool has it */
    bool has_number = true, has_count = true;

    if (!window(keywords, "part", &has_number, &has_count, &wish->part, &wish->part_count))
        return false;
    if (!wish->part && !wish->part_count)
        return true;
    if (has_number && has_count && wish->part && wish->part <= wish->part_count &&
        wish->part_count <= MOST)
        return true;
    PyErr_SetString(PyExc_ValueError,
                    "part wants (number, count), from (1, count) to (count, count)");
    return false;
}

enum tw_status core_cut(struct core_wish *wish, struct tw_capture *capture,
                        struct tw_fault *fault)
{
    struct tw_run_config config = wish->config;
    struct tw_run_extent *extents;
    struct tw_run *run = NULL;
    enum tw_status status;

    if (!wish->part_count)
        return TW_OK;
    extents = calloc(wish->part_count, sizeof *extents);
    if (!extents)
        return TW_E_MEMORY;
    config.counter = NULL;
    status = tw_run_new(&run, capture, &config, fault);
    if (status == TW_OK && (status = tw_run_cut(run, extents, wish->part_count)) != TW_OK)
        (void)snprintf(fault->text, sizeof fault->text, "%s", tw_run_fault(run));
    if (status == TW_OK) {
        wish->extent = extents[wish->part - 1];
        wish->config.extent = &wish->extent;
    }
    tw_run_free(run);
    free(extents);
    return status;
}

static bool how(struct core_wish *wish, PyObject *keywords)
{
    struct tw_run_config *config = &wish->config;
    uint64_t threads = 0, room = 8192, limit = 0;

    if (!order(wish, keywords) || !symbols(wish, keywords) ||
        !flag(keywords, "keep_failed", &config->keeps_failed) ||
        !flag(keywords, "not_after", &config->with_not_after) ||
        !flag(keywords, "check", &config->check_continuity) ||
        !number(keywords, "threads", UINT32_MAX, &threads) ||
        !number(keywords, "batch", 1 << 20, &room) ||
        !number(keywords, "range_limit", UINT32_MAX, &limit) ||
        !text(wish, keywords, "core_type", &config->core_type) ||
        !text(wish, keywords, "index", &config->index))
        return false;
    config->threads = (uint32_t)threads;
    config->batch_room = (size_t)room;
    config->range_limit = (uint32_t)limit;
    return true;
}

bool core_wish(struct core_wish *wish, PyObject *keywords)
{
    struct tw_filter *filter = &wish->filter;

    *wish = (struct core_wish){ .filter = { .size = sizeof wish->filter },
                                .config = { .size = sizeof wish->config } };
    wish->config.filter = filter;
    return texts(wish, keywords, "buffers", &filter->buffers, &filter->buffer_count) &&
           texts(wish, keywords, "sources", &filter->sources, &filter->source_count) &&
           texts(wish, keywords, "comms", &filter->comms, &filter->comm_count) &&
           texts(wish, keywords, "functions", &filter->functions, &filter->function_count) &&
           numbers(wish, keywords, "srcs", &filter->srcs, &filter->src_count) &&
           numbers(wish, keywords, "cpus", &filter->cpus, &filter->cpu_count) &&
           numbers(wish, keywords, "pids", &filter->pids, &filter->pid_count) &&
           numbers(wish, keywords, "tids", &filter->tids, &filter->tid_count) &&
           ids(wish, keywords) && levels(wish, keywords) && ranges(wish, keywords) &&
           window(keywords, "offsets", &filter->has_from, &filter->has_to, &filter->from,
                  &filter->to) &&
           window(keywords, "time", &filter->has_from_time, &filter->has_to_time,
                  &filter->from_time, &filter->to_time) &&
           window(keywords, "instructions", &filter->has_from_instruction,
                  &filter->has_to_instruction, &filter->from_instruction,
                  &filter->to_instruction) &&
           part_of(wish, keywords) && how(wish, keywords);
}

bool core_all_known(PyObject *keywords)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    if (keywords && PyDict_Next(keywords, &at, &key, &value)) {
        PyErr_Format(PyExc_TypeError, "there is no option '%U'", key);
        return false;
    }
    return true;
}
