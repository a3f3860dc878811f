/* SPDX-License-Identifier: BSD-2-Clause */
/* Run and Part.  A part's elements are the library's own memory: the part keeps it, and so does whoever looks at
   it through the part's buffer; the run takes other memory meanwhile. */
#include <unistd.h>

#include "core/core.h"

static PyTypeObject *run_type, *part_type;

/* ---- parts ---- */

static void destroy_part(PyObject *self)
{
    struct core_part *part = (struct core_part *)self;

    tw_retained_free(part->retained);
    Py_XDECREF((PyObject *)part->capture);
    core_free(self);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct core_part *part = (struct core_part *)self;
    static const struct tw_element none;

    return PyBuffer_FillInfo(
        view, self,
        part->retained ? (void *)part->part.batch.elements : (void *)(uintptr_t)&none,
        (Py_ssize_t)(part->part.batch.count * sizeof(struct tw_element)), 1, flags);
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((struct core_part *)self)->part.batch.count;
}

/* Which member a getter is for. */
enum member {
    KIND,
    SOURCE,
    SOURCE_NUMBER,
    BUFFER,
    STREAM,
    RING,
    ID,
    SRC,
    CPU,
    PID,
    TID,
    COMM,
    CORE,
    LEVEL,
    CONTEXT_ID,
    VMID,
    NOT_BEFORE,
    NOT_AFTER,
    CLOCK,
    IS_RESUMED
};

static PyObject *time_or_none(uint64_t value, uint64_t none)
{
    if (value == none)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(value);
}

static PyObject *get_who(const struct tw_who *who, enum member which)
{
    switch (which) {
    case CPU:
        return core_number(who->cpu);
    case PID:
        return core_number(who->pid);
    case TID:
        return core_number(who->tid);
    case COMM:
        return core_text(who->comm);
    case CORE:
        return core_text(who->core);
    case LEVEL:
        return core_number(who->known & TW_WHO_LEVEL ? who->level : TW_NONE);
    case CONTEXT_ID:
        return who->known & TW_WHO_CONTEXT
                   ? PyLong_FromUnsignedLongLong((uint64_t)who->context_high << 32 |
                                                 who->context_id)
                   : Py_NewRef(Py_None);
    default:
        return core_number(who->known & TW_WHO_VMID ? who->vmid : TW_NONE);
    }
}

static PyObject *get_member(PyObject *self, void *closure)
{
    static const char *const kinds[] = { "elements", "begin", "end", "nothing", "loss" };
    static const char *const clocks[] = { "none", "trace", "record" };
    const struct tw_part *part = &((struct core_part *)self)->part;
    const enum member which = (enum member)(uintptr_t)closure;

    switch (which) {
    case KIND:
        return core_text(kinds[part->kind]);
    case SOURCE:
        return core_text(part->source ? part->source->name : NULL);
    case SOURCE_NUMBER:
        return core_number(part->source_number);
    case BUFFER:
        return core_number(part->buffer);
    case STREAM:
        return core_number(part->stream);
    case RING:
        return core_number(part->ring);
    case ID:
        return PyLong_FromLong(part->batch.id);
    case SRC:
        return core_number(part->batch.src);
    case NOT_BEFORE:
        return time_or_none(part->when.not_before, 0);
    case NOT_AFTER:
        return time_or_none(part->when.not_after, UINT64_MAX);
    case CLOCK:
        return core_text(clocks[part->when.clock]);
    case IS_RESUMED:
        return PyBool_FromLong(part->is_resumed);
    default:
        return get_who(&part->who, which);
    }
}

static PyObject *get_elements(PyObject *self, void *none)
{
    (void)none;
    if (!core_as_array) {
        PyErr_SetString(PyExc_RuntimeError, "NumPy is not there: use memoryview(part)");
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(core_as_array, self, NULL);
}

#define MEMBER(name, which, text)                                                              \
    {                                                                                          \
        name, get_member, NULL, text, (void *)(uintptr_t)(which)                               \
    }

static PyGetSetDef part_members[] = {
    { "elements", get_elements, NULL, "a NumPy array over the library's memory", NULL },
    MEMBER("kind", KIND, "elements, begin, end, nothing or loss"),
    MEMBER("source", SOURCE, "name of the trace source"),
    MEMBER("source_number", SOURCE_NUMBER, "its number in capture.sources"),
    MEMBER("buffer", BUFFER, "number in capture.buffers"),
    MEMBER("stream", STREAM, "a source in a ring of buffers"),
    MEMBER("ring", RING, "buffers that follow each other have the same"),
    MEMBER("id", ID, "trace ID"),
    MEMBER("src", SRC, "which of the sources that share a stream, or None"),
    MEMBER("cpu", CPU, "or None"),
    MEMBER("pid", PID, "or None"),
    MEMBER("tid", TID, "or None"),
    MEMBER("comm", COMM, "name of the thread, '' if not known"),
    MEMBER("core", CORE, "as the capture names it, or None"),
    MEMBER("level", LEVEL, "Exception level or privilege, or None"),
    MEMBER("context_id", CONTEXT_ID, "as traced, or None"),
    MEMBER("vmid", VMID, "as traced, or None"),
    MEMBER("not_before", NOT_BEFORE, "the last timestamp, or None"),
    MEMBER("not_after", NOT_AFTER, "the next one, or None (see run(not_after=True))"),
    MEMBER("clock", CLOCK, "what times count: none, trace (ticks) or record (ns)"),
    MEMBER("is_resumed", IS_RESUMED, "elements of its stream were left out before it"),
    { NULL, NULL, NULL, NULL, NULL }
};

static PyMethodDef part_methods[] = {
    { "__arrow_c_array__", (PyCFunction)(void (*)(void))core_part_arrow,
      METH_VARARGS | METH_KEYWORDS, "The elements as Arrow fixed-size binary, not copied." },
    { NULL, NULL, 0, NULL }
};

static PyType_Slot part_slots[] = {
    { Py_tp_doc, "Elements of one source, thread, context and time; or an event of the run." },
    { Py_tp_dealloc, destroy_part },
    { Py_tp_getset, part_members },
    { Py_tp_methods, part_methods },
    { Py_bf_getbuffer, get_buffer },
    { Py_sq_length, length },
    { 0, NULL },
};

static PyType_Spec part_spec = { .name = "trackway.Part",
                                 .basicsize = sizeof(struct core_part),
                                 .flags =
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = part_slots };

/* ---- runs ---- */

PyObject *core_run_start(PyTypeObject *type, struct core_capture *capture, PyObject *keywords,
                         bool packets_only)
{
    struct core_run *self = NULL;
    struct tw_fault fault = { TW_OK, "" };
    struct core_wish wish;
    enum tw_status status;

    if (core_wish(&wish, keywords) && core_all_known(keywords))
        self = (struct core_run *)PyType_GenericAlloc(type, 0);
    if (self) {
        wish.config.packets_only = packets_only;
        self->capture = (struct core_capture *)Py_NewRef((PyObject *)capture);
        self->owner = getpid();
        Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(capture->lock, WAIT_LOCK);
        status = core_cut(&wish, capture->capture, &fault);
        if (status == TW_OK)
            status = tw_run_new(&self->run, capture->capture, &wish.config, &fault);
        PyThread_release_lock(capture->lock);
        Py_END_ALLOW_THREADS if (status != TW_OK)
        {
            (void)core_raise(status, fault.text);
            Py_CLEAR(self);
        }
    }
    core_give(&wish.arena);
    return (PyObject *)self;
}

void core_run_destroy(PyObject *self)
{
    struct core_run *run = (struct core_run *)self;

    if (run->owner == getpid()) /* in a child the threads are gone, and what they held */
        tw_run_free(run->run);
    Py_XDECREF((PyObject *)run->capture);
    core_free(self);
}

PyObject *core_run_new(struct core_capture *capture, PyObject *keywords)
{
    return core_run_start(run_type, capture, keywords, false);
}

static PyObject *close_run(PyObject *self, PyObject *none)
{
    struct core_run *run = (struct core_run *)self;

    (void)none;
    if (run->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "the run is in use by another thread");
        return NULL;
    }
    if (run->owner == getpid())
        tw_run_free(run->run);
    run->run = NULL;
    Py_RETURN_NONE;
}

bool core_run_is_usable(const struct core_run *run)
{
    if (!run->run)
        PyErr_SetString(PyExc_ValueError, "the run is closed");
    else if (run->is_busy)
        PyErr_SetString(PyExc_RuntimeError, "the run is in use by another thread");
    else if (run->owner != getpid())
        PyErr_SetString(PyExc_RuntimeError,
                        "the run was made before a fork: open the capture in this process");
    else
        return true;
    return false;
}

PyObject *core_run_end(struct core_run *run, enum tw_status status)
{
    run->is_done = true;
    return status == TW_END ? NULL : core_raise(status, tw_run_fault(run->run));
}

static PyObject *next_part(PyObject *self)
{
    struct core_run *run = (struct core_run *)self;
    struct core_part *part;
    enum tw_status status;

    if (!core_run_is_usable(run) || run->is_done)
        return NULL;
    part = (struct core_part *)PyType_GenericAlloc(part_type, 0);
    if (!part)
        return NULL;
    part->capture = (struct core_capture *)Py_NewRef((PyObject *)run->capture);
    part->part.size = sizeof part->part;
    run->is_busy = true;
    Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(run->capture->lock, WAIT_LOCK);
    status = tw_run_next(run->run, &part->part);
    if (status == TW_OK && part->part.kind == TW_PART_ELEMENTS)
        status = tw_run_retain(&part->retained, run->run, &part->part);
    PyThread_release_lock(run->capture->lock);
    Py_END_ALLOW_THREADS run->is_busy = false;
    if (status == TW_OK)
        return (PyObject *)part;
    part->part.batch.count = 0;
    Py_DECREF((PyObject *)part);
    return core_run_end(run, status);
}

/* seek(time=T) or seek(offset=N), before the first part. */
static PyObject *seek(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    char first[] = "offset", second[] = "time"; /* what is never written to wants to be so */
    char *names[] = { first, second, NULL };
    struct core_run *run = (struct core_run *)self;
    PyObject *offset = Py_None, *time = Py_None;
    struct tw_run_place place = { .kind = TW_PLACE_OFFSET };
    enum tw_status status;

    if (!core_run_is_usable(run) ||
        !PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OO", names, &offset, &time))
        return NULL;
    if ((offset == Py_None) == (time == Py_None)) {
        PyErr_SetString(PyExc_TypeError, "seek wants offset=N or time=T");
        return NULL;
    }
    if (time != Py_None)
        place.kind = TW_PLACE_TIME;
    place.value = PyLong_AsUnsignedLongLong(time != Py_None ? time : offset);
    if (PyErr_Occurred())
        return NULL;
    run->is_busy = true;
    Py_BEGIN_ALLOW_THREADS(void) PyThread_acquire_lock(run->capture->lock, WAIT_LOCK);
    status = tw_run_seek(run->run, &place);
    PyThread_release_lock(run->capture->lock);
    Py_END_ALLOW_THREADS run->is_busy = false;
    if (status == TW_END)
        return core_raise(TW_E_ARGUMENT, "the capture has no such place");
    if (status != TW_OK)
        return core_raise(status, tw_run_fault(run->run));
    Py_RETURN_NONE;
}

static bool put_line(PyObject *dict, const struct tw_name *name)
{
    return core_put(dict, "file", core_text(name->has_line ? name->line.file : NULL)) &&
           core_put(dict, "line", core_number(name->has_line ? name->line.line : TW_NONE)) &&
           core_put(dict, "object", core_text(name->object));
}

/* name(part, address): what is known of it there and then; None: nothing. */
static PyObject *name_of(PyObject *self, PyObject *arguments)
{
    struct core_run *run = (struct core_run *)self;
    struct tw_name name = { .size = sizeof name };
    unsigned long long address;
    PyObject *part, *dict;

    if (!core_run_is_usable(run) ||
        !PyArg_ParseTuple(arguments, "O!K", (PyObject *)part_type, &part, &address))
        return NULL;
    if (!tw_run_name(run->run, &name, &((struct core_part *)part)->part, address))
        Py_RETURN_NONE;
    dict = PyDict_New();
    if (dict &&
        core_put(dict, "symbol", core_text(name.has_symbol ? name.symbol.name : NULL)) &&
        core_put(
            dict, "offset",
            PyLong_FromUnsignedLongLong(name.has_symbol ? address - name.symbol.address : 0)) &&
        put_line(dict, &name))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *losses(PyObject *self, void *none)
{
    struct core_run *run = (struct core_run *)self;
    struct tw_run_losses losses = { .size = sizeof losses };
    PyObject *dict;

    (void)none;
    if (!core_run_is_usable(run))
        return NULL;
    dict = PyDict_New();
    if (dict && tw_run_losses(run->run, &losses) &&
        core_put(dict, "recorder", PyLong_FromUnsignedLongLong(losses.recorder)) &&
        core_put(dict, "errors", PyLong_FromUnsignedLongLong(losses.errors)) &&
        core_put(dict, "truncated", PyLong_FromUnsignedLongLong(losses.truncated)) &&
        core_put(dict, "overflows", PyLong_FromUnsignedLongLong(losses.overflows)) &&
        core_put(dict, "discards", PyLong_FromUnsignedLongLong(losses.discards)) &&
        core_put(dict, "gaps", PyLong_FromUnsignedLongLong(losses.gaps)) &&
        core_put(dict, "unsynced_bytes", PyLong_FromUnsignedLongLong(losses.unsynced_bytes)) &&
        core_put(dict, "missing_code", PyLong_FromUnsignedLongLong(losses.missing_code)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyMethodDef run_methods[] = {
    { "close", close_run, METH_NOARGS, "close($self, /)\n--\n\nParts that are kept stay." },
    { "seek", (PyCFunction)(void (*)(void))seek, METH_VARARGS | METH_KEYWORDS,
      "seek($self, /, *, offset=None, time=None)\n--\n\nseek(offset=N) or seek(time=T): parts "
      "begin there." },
    { "name", name_of, METH_VARARGS,
      "name($self, part, address, /)\n--\n\nSymbol, file, line and object of an address, or "
      "None." },
    { NULL, NULL, 0, NULL }
};

static PyGetSetDef run_members[] = {
    { "losses", losses, NULL, "what was lost, of the buffers that are at their end", NULL },
    { NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot run_slots[] = {
    { Py_tp_doc, "A capture as one sequence of parts: iterate over it." },
    { Py_tp_dealloc, core_run_destroy },
    { Py_tp_methods, run_methods },
    { Py_tp_getset, run_members },
    { Py_tp_iter, PyObject_SelfIter },
    { Py_tp_iternext, next_part },
    { 0, NULL },
};

static PyType_Spec run_spec = { .name = "trackway.Run",
                                .basicsize = sizeof(struct core_run),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = run_slots };

bool core_add_run(PyObject *module)
{
    run_type = core_add_type(module, &run_spec, "Run");
    part_type = core_add_type(module, &part_spec, "Part");
    return run_type && part_type;
}
