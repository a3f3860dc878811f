/* SPDX-License-Identifier: BSD-2-Clause */
/* Unit: the model of a trace unit of any protocol.  Execution logs in, trace out. */
#include <string.h>

#include "core/core.h"

struct core_encoder {
    PyObject_HEAD struct tw_unit *unit;
    PyObject *image; /* which the unit borrows */
    PyThread_type_lock lock;
};

/* {name: number} as settings of the library. */
static bool settings_of(struct core_arena *arena, PyObject *dict,
                        const struct tw_register **settings, size_t *count)
{
    PyObject *key, *value;
    struct tw_register *out;
    Py_ssize_t at = 0;

    if (dict == Py_None)
        return true;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "settings are a dict of numbers");
        return false;
    }
    out = core_take(arena, (size_t)PyDict_Size(dict) * sizeof *out);
    while (out && PyDict_Next(dict, &at, &key, &value)) {
        out[*count].name = core_take_text(arena, key);
        out[*count].value = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred())
            return false;
        ++*count;
    }
    *settings = out;
    return out != NULL;
}

static bool text_of(struct core_arena *arena, PyObject *text, const char **out)
{
    return text == Py_None || (*out = core_take_text(arena, text));
}

/* Unit(protocol, image=None, registers=None, parameters=None, choices=None, preset=None, range=None). */
static int create(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    char n1[] = "protocol", n2[] = "image", n3[] = "registers", n4[] = "parameters",
         n5[] = "choices", n6[] = "preset", n7[] = "range";
    char *names[] = { n1, n2, n3, n4, n5, n6, n7, NULL };
    PyObject *image = Py_None, *registers = Py_None, *parameters = Py_None, *choices = Py_None,
             *preset = Py_None;
    struct core_encoder *encoder = (struct core_encoder *)self;
    struct tw_unit_config config = { .size = sizeof config };
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    unsigned long long first = 0, last = 0;
    enum tw_status status;

    if (encoder->unit) {
        PyErr_SetString(PyExc_RuntimeError, "the unit is there already");
        return -1;
    }
    if (PyArg_ParseTupleAndKeywords(arguments, keywords, "s|OOOOO(KK)", names, &config.protocol,
                                    &image, &registers, &parameters, &choices, &preset, &first,
                                    &last) &&
        (image == Py_None || core_image_of(image, &config.image)) &&
        settings_of(&arena, registers, &config.registers, &config.register_count) &&
        settings_of(&arena, choices, &config.choices, &config.choice_count) &&
        text_of(&arena, parameters, &config.parameters) &&
        text_of(&arena, preset, &config.preset)) {
        config.first = first;
        config.last = last;
        status = tw_unit_new(&encoder->unit, &config, &fault);
        if (status == TW_E_ARGUMENT)
            PyErr_SetString(PyExc_ValueError, fault.text);
        else if (status != TW_OK)
            (void)core_raise(status, fault.text);
    }
    core_give(&arena);
    if (!PyErr_Occurred() && !(encoder->lock = PyThread_allocate_lock()))
        (void)PyErr_NoMemory();
    if (!PyErr_Occurred())
        encoder->image = Py_NewRef(image);
    return PyErr_Occurred() ? -1 : 0;
}

static void destroy(PyObject *self)
{
    struct core_encoder *encoder = (struct core_encoder *)self;

    tw_unit_free(encoder->unit);
    if (encoder->lock)
        PyThread_free_lock(encoder->lock);
    Py_XDECREF(encoder->image);
    core_free(self);
}

/* One thread at a time is in the unit; false: an exception is set. */
static bool enter(struct core_encoder *encoder)
{
    if (!encoder->unit || !encoder->lock) {
        PyErr_SetString(PyExc_ValueError, "the unit was not made");
        return false;
    }
    if (PyThread_acquire_lock(encoder->lock, NOWAIT_LOCK))
        return true;
    PyErr_SetString(PyExc_RuntimeError, "the unit is in use on another thread");
    return false;
}

static PyObject *leave(struct core_encoder *encoder, enum tw_status status)
{
    if (status != TW_OK)
        (void)core_raise(status, tw_unit_fault(encoder->unit));
    PyThread_release_lock(encoder->lock);
    return status == TW_OK ? Py_NewRef(Py_None) : NULL;
}

/* The same with its image. */
static bool enter_both(struct core_encoder *encoder)
{
    if (!enter(encoder))
        return false;
    if (encoder->image == Py_None || core_image_enter(encoder->image))
        return true;
    PyThread_release_lock(encoder->lock);
    return false;
}

static PyObject *leave_both(struct core_encoder *encoder, enum tw_status status)
{
    if (encoder->image != Py_None)
        core_image_leave(encoder->image);
    return leave(encoder, status);
}

/* log(what): a path, or the log itself as bytes. */
static PyObject *take_log(PyObject *self, PyObject *what)
{
    struct core_encoder *encoder = (struct core_encoder *)self;
    const bool is_bytes = PyBytes_Check(what) || PyByteArray_Check(what);
    struct core_arena arena = { NULL };
    const char *path = NULL;
    enum tw_status status;
    PyObject *result;
    Py_buffer bytes;

    if (is_bytes ? PyObject_GetBuffer(what, &bytes, PyBUF_SIMPLE) != 0
                 : !(path = core_take_text(&arena, what)))
        return NULL;
    if (!enter_both(encoder)) {
        result = NULL;
    } else {
        Py_BEGIN_ALLOW_THREADS status =
            is_bytes ? tw_unit_log_memory(encoder->unit, bytes.buf, (size_t)bytes.len)
                     : tw_unit_log(encoder->unit, path);
        Py_END_ALLOW_THREADS result = leave_both(encoder, status);
    }
    if (is_bytes)
        PyBuffer_Release(&bytes);
    core_give(&arena);
    return result;
}

static PyObject *registers_of(const struct tw_unit_trace *trace)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < trace->register_count; i++)
        if (!core_put(dict, trace->registers[i].name,
                      PyLong_FromUnsignedLongLong(trace->registers[i].value)))
            Py_CLEAR(dict);
    return dict;
}

static PyObject *bytes_of(const uint8_t *bytes, size_t size)
{
    return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
}

static PyObject *describe(const struct tw_unit_trace *trace, const char *protocol)
{
    PyObject *dict = PyDict_New();

    if (dict && core_put(dict, "protocol", core_text(protocol)) &&
        core_put(dict, "id", PyLong_FromLong(trace->id)) &&
        core_put(dict, "data", bytes_of(trace->bytes, trace->size)) &&
        core_put(dict, "data_trace", bytes_of(trace->data_bytes, trace->data_size)) &&
        core_put(dict, "registers", registers_of(trace)) &&
        core_put(dict, "parameters", core_text(trace->text)) &&
        core_put(dict, "data_parameters", core_text(trace->data_text)) &&
        core_put(dict, "device_type", core_text(trace->device_type)) &&
        core_put(dict, "core_type", core_text(trace->core_type)) &&
        core_put(dict, "instructions", PyLong_FromUnsignedLongLong(trace->instructions)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* finish(): what it made. */
static PyObject *finish(PyObject *self, PyObject *none)
{
    struct core_encoder *encoder = (struct core_encoder *)self;
    PyObject *result;

    (void)none;
    if (!enter(encoder))
        return NULL;
    result = leave(encoder, tw_unit_finish(encoder->unit));
    if (!result)
        return NULL;
    Py_DECREF(result);
    return describe(tw_unit_trace(encoder->unit), tw_unit_name(encoder->unit));
}

/* save(folder, framed=False, description=None, overwrite=False): as a snapshot. */
static PyObject *save(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    char n1[] = "folder", n2[] = "framed", n3[] = "description", n4[] = "overwrite";
    char *names[] = { n1, n2, n3, n4, NULL };
    struct core_encoder *encoder = (struct core_encoder *)self;
    struct tw_snapshot snapshot = { .size = sizeof snapshot };
    PyObject *folder, *description = Py_None, *result = NULL;
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    int framed = 0, overwrite = 0;
    enum tw_status status;
    const char *path;

    if (PyArg_ParseTupleAndKeywords(arguments, keywords, "O|pOp", names, &folder, &framed,
                                    &description, &overwrite) &&
        (path = core_take_text(&arena, folder)) &&
        text_of(&arena, description, &snapshot.description) && enter_both(encoder)) {
        snapshot.overwrite = overwrite;
        Py_BEGIN_ALLOW_THREADS status = tw_unit_finish(encoder->unit);
        if (status == TW_OK)
            status = tw_unit_snapshot(encoder->unit, &snapshot, framed);
        if (status == TW_OK && tw_snapshot_write(path, &snapshot, &fault) != TW_OK)
            status = TW_E_FILE;
        Py_END_ALLOW_THREADS if (*fault.text)(void) core_raise(status, fault.text);
        result = leave_both(encoder, status);
    }
    core_give(&arena);
    return result;
}

/* protocols(): {name: (presets)}. */
PyObject *core_protocols(PyObject *module, PyObject *none)
{
    PyObject *dict = PyDict_New();
    const char *name;

    (void)module, (void)none;
    for (size_t i = 0; dict && (name = tw_unit_protocol(i)); i++) {
        const char *presets = tw_unit_presets(name);
        PyObject *text = core_text(presets ? presets : "");
        PyObject *list =
            text && presets ? PyObject_CallMethod(text, "split", "s", "|") : PyList_New(0);

        Py_XDECREF(text);
        if (!core_put(dict, name, list))
            Py_CLEAR(dict);
    }
    return dict;
}

static PyMethodDef methods[] = {
    { "log", take_log, METH_O,
      "log($self, what, /)\n--\n\nAn execution log through the unit: a path, or the log itself "
      "as bytes.\nMore than one follow each other." },
    { "finish", finish, METH_NOARGS,
      "finish($self, /)\n--\n\nTracing ends. What was made: data (trace bytes), registers and "
      "parameters that\na decoder needs, id, data_trace (RISC-V), device_type, core_type, "
      "instructions." },
    { "save", (PyCFunction)(void (*)(void))save, METH_VARARGS | METH_KEYWORDS,
      "save($self, /, folder, framed=False, description=None, overwrite=False)\n--\n\n"
      "What was made, with the program's code, as a snapshot that trackway.open takes." },
    { NULL, NULL, 0, NULL }
};

static PyType_Slot slots[] = {
    { Py_tp_doc,
      "Unit(protocol, image=None, registers=None, parameters=None, choices=None, preset=None, "
      "range=(0, 0))\n--\n\n"
      "The model of a trace unit; trackway.protocols() lists which there are, with their "
      "presets.\n\n"
      "registers: of Arm units, a dict of numbers (TRCCONFIGR, ETMCR, ITMTCR ...); parameters: "
      "of "
      "RISC-V\nencoders, text such as 'mode=btm'; choices: what neither says, a dict (fifo, "
      "return-stack ...;\nRISC-V: control fields); preset, and range=(first, last) for those "
      "that want one. What is wrong with\nthem is raised by the first log. image: the program, "
      "for logs without opcodes and for save()." },
    { Py_tp_init, create },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "trackway.Unit",
                            .basicsize = sizeof(struct core_encoder),
                            .flags = Py_TPFLAGS_DEFAULT,
                            .slots = slots };

bool core_add_encode(PyObject *module)
{
    return core_add_type(module, &spec, "Unit") != NULL;
}
