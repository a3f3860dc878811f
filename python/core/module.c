/* SPDX-License-Identifier: BSD-2-Clause */
/* The module trackway._core. */
#include <string.h>

#include "core/core.h"

PyObject *core_error, *core_as_array;

PyObject *core_raise(enum tw_status status, const char *text)
{
    PyObject *error, *name;

    if (PyErr_Occurred())
        return NULL;
    if (status == TW_E_MEMORY)
        return PyErr_NoMemory();
    error =
        PyObject_CallFunction(core_error, "N", core_text(text && text[0] ? text : "failed"));
    if (!error)
        return NULL;
    name = core_text(tw_status_name(status));
    if (name && PyObject_SetAttrString(error, "status", name) == 0)
        PyErr_SetObject(core_error, error);
    Py_XDECREF(name);
    Py_DECREF(error);
    return NULL;
}

PyObject *core_text(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

PyObject *core_number(uint32_t number)
{
    if (number == TW_NONE)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(number);
}

bool core_put(PyObject *dict, const char *key, PyObject *value)
{
    const bool is_good = value && PyDict_SetItemString(dict, key, value) == 0;

    Py_XDECREF(value);
    return is_good;
}

PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromSpec(spec);

    if (type && PyModule_AddObjectRef(module, name, type) != 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

void core_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF(type);
}

static PyObject *set_array(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XDECREF(core_as_array);
    core_as_array = Py_NewRef(function);
    Py_RETURN_NONE;
}

/* The names of an enumeration, up to the one that repeats what is said of unknown numbers. */
static PyObject *names_of(const char *(*name)(unsigned), unsigned most)
{
    PyObject *list = PyList_New(0);

    for (unsigned i = 0; list && i < most; i++) {
        PyObject *text = core_text(name(i));

        if (!text || PyList_Append(list, text) != 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *names(PyObject *module, PyObject *none)
{
    PyObject *dict = PyDict_New();

    (void)module, (void)none;
    if (dict && core_put(dict, "element", names_of(tw_element_type_name, TW_ELEMENT_TYPES)) &&
        core_put(dict, "isa", names_of(tw_isa_name, TW_ISA_RV64 + 1)) &&
        core_put(dict, "last_kind", names_of(tw_last_kind_name, TW_LAST_TSTART + 1)) &&
        core_put(dict, "last_sub", names_of(tw_last_sub_name, TW_SUB_TRAP_RET + 1)) &&
        core_put(dict, "reason", names_of(tw_reason_name, TW_REASON_END + 1)) &&
        core_put(dict, "error", names_of(tw_error_code_name, TW_ERROR_CODES)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* text_of(bytes of an element, id): its line for people. */
static PyObject *text_of(PyObject *module, PyObject *arguments)
{
    struct tw_element element;
    Py_buffer bytes;
    unsigned char id = 0;
    char text[512];

    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*|b", &bytes, &id))
        return NULL;
    if (bytes.len != sizeof element) {
        PyBuffer_Release(&bytes);
        PyErr_SetString(PyExc_ValueError, "an element has 32 bytes");
        return NULL;
    }
    memcpy(&element, bytes.buf, sizeof element);
    PyBuffer_Release(&bytes);
    (void)tw_element_text(text, sizeof text, &element, id);
    return core_text(text);
}

static PyMethodDef functions[] = {
    { "set_array", set_array, METH_O,
      "set_array($module, function, /)\n--\n\nWhich function turns a part into an array." },
    { "names", names, METH_NOARGS,
      "names($module, /)\n--\n\nThe names of enumerations, by number." },
    { "text_of", text_of, METH_VARARGS,
      "text_of($module, element, id=0, /)\n--\n\nAn element (its 32 bytes) as a line." },
    { "load", core_load, METH_VARARGS, "load($module, kind, path, /)\n--\n\nA saved result." },
    { "merge", core_merge, METH_VARARGS,
      "merge($module, out, parts, /)\n--\n\nAdds saved results." },
    { "formats", core_formats, METH_NOARGS,
      "formats($module, /)\n--\n\nAll formats of results." },
    { "unframe", core_unframe, METH_VARARGS,
      "unframe($module, data, framing='memory', /)\n--\n\nThe bytes of each source, by trace "
      "ID." },
    { "identify", core_identify, METH_O,
      "identify($module, what, /)\n--\n\nWhat a file (path) or bytes are." },
    { "frame", core_frame, METH_VARARGS,
      "frame($module, streams, framing='memory', /)\n--\n\nBytes by trace ID, as frames." },
    { "protocols", core_protocols, METH_NOARGS,
      "protocols($module, /)\n--\n\nThe protocols that Unit takes, with their presets." },
    { "arrow_stream", core_arrow_stream, METH_VARARGS,
      "arrow_stream($module, columns, /)\n--\n\nColumns as an Arrow stream." },
    { NULL, NULL, 0, NULL }
};

static int execute(PyObject *module)
{
    core_error = PyErr_NewExceptionWithDoc(
        "trackway.Error", "What went wrong; `status` has the library's name of it.", NULL,
        NULL);
    if (!core_error || PyModule_AddObjectRef(module, "Error", core_error) != 0 ||
        PyModule_AddStringConstant(module, "__version__", tw_version()) != 0 ||
        PyModule_AddStringConstant(module, "features", tw_features()) != 0 ||
        !core_add_capture(module) || !core_add_run(module) || !core_add_packets(module) ||
        !core_add_results(module) || !core_add_program(module) || !core_add_units(module) ||
        !core_add_encode(module))
        return -1;
    return 0;
}

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "trackway._core",
    .m_doc = "The library, as the package trackway uses it.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && execute(module) != 0)
        Py_CLEAR(module);
    return module;
}
