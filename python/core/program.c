/* SPDX-License-Identifier: BSD-2-Clause */
/* The program that was traced: names of its code (Symbols) and its bytes (Image). */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

struct core_program {
    PyObject_HEAD struct tw_symbols *symbols;
    struct tw_image *image;
    PyThread_type_lock lock; /* one call at a time reads an image */
};

static void destroy(PyObject *self)
{
    struct core_program *program = (struct core_program *)self;

    tw_symbols_free(program->symbols);
    tw_image_free(program->image);
    if (program->lock)
        PyThread_free_lock(program->lock);
    core_free(self);
}

/* ---- symbols ---- */

/* Symbols(path, ...), or Symbols((path, bias), ...). */
static int create_symbols(PyObject *self, PyObject *files, PyObject *keywords)
{
    struct core_program *program = (struct core_program *)self;
    struct tw_fault fault = { TW_OK, "" };
    struct core_arena arena = { NULL };
    enum tw_status status = TW_OK;

    if (!core_all_known(keywords))
        return -1;
    tw_symbols_free(program->symbols);
    program->symbols = NULL;
    status = tw_symbols_new(&program->symbols, NULL, &fault);
    for (Py_ssize_t i = 0; status == TW_OK && !PyErr_Occurred() && i < PyTuple_Size(files);
         i++) {
        PyObject *file = PyTuple_GetItem(files, i);
        unsigned long long bias = 0;
        const char *path;

        if (PyTuple_Check(file) && !PyArg_ParseTuple(file, "OK", &file, &bias))
            break;
        path = core_take_text(&arena, file);
        if (path)
            status = tw_symbols_add_elf(program->symbols, path, bias);
    }
    if (status != TW_OK)
        (void)core_raise(status,
                         program->symbols ? tw_symbols_fault(program->symbols) : fault.text);
    core_give(&arena);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *symbol_dict(const struct tw_symbol *symbol)
{
    return Py_BuildValue("{s:N,s:K,s:K}", "name", core_text(symbol->name), "address",
                         (unsigned long long)symbol->address, "size",
                         (unsigned long long)symbol->size);
}

static PyObject *find(PyObject *self, PyObject *address)
{
    const struct core_program *program = (const struct core_program *)self;
    const unsigned long long at = PyLong_AsUnsignedLongLong(address);
    struct tw_symbol symbol;

    if (PyErr_Occurred())
        return NULL;
    if (!program->symbols || !tw_symbols_find(program->symbols, &symbol, at))
        Py_RETURN_NONE;
    return symbol_dict(&symbol);
}

static PyObject *by_name(PyObject *self, PyObject *arguments)
{
    const struct core_program *program = (const struct core_program *)self;
    struct tw_symbol symbol;
    const char *name;
    Py_ssize_t number = 0;

    if (!PyArg_ParseTuple(arguments, "s|n", &name, &number))
        return NULL;
    if (!program->symbols || number < 0 ||
        !tw_symbols_by_name(program->symbols, &symbol, name, (size_t)number))
        Py_RETURN_NONE;
    return symbol_dict(&symbol);
}

static PyObject *line(PyObject *self, PyObject *address)
{
    const struct core_program *program = (const struct core_program *)self;
    const unsigned long long at = PyLong_AsUnsignedLongLong(address);
    struct tw_source_line found;

    if (PyErr_Occurred())
        return NULL;
    if (!program->symbols || !tw_symbols_line(program->symbols, &found, at))
        Py_RETURN_NONE;
    return Py_BuildValue("(NI)", core_text(found.file), (unsigned)found.line);
}

static PyObject *frames(PyObject *self, PyObject *address)
{
    enum { MOST = 64 };
    const struct core_program *program = (const struct core_program *)self;
    const unsigned long long at = PyLong_AsUnsignedLongLong(address);
    struct tw_source_frame found[MOST];
    PyObject *list = PyErr_Occurred() ? NULL : PyList_New(0);
    size_t count = 0;

    if (list && program->symbols)
        count = tw_symbols_frames(program->symbols, found, MOST, at);
    for (size_t i = 0; list && i < count && i < MOST; i++) {
        PyObject *frame =
            Py_BuildValue("{s:N,s:N,s:I}", "function", core_text(found[i].function), "file",
                          core_text(found[i].line.file), "line", (unsigned)found[i].line.line);

        if (!frame || PyList_Append(list, frame) != 0)
            Py_CLEAR(list);
        Py_XDECREF(frame);
    }
    return list;
}

static Py_ssize_t symbol_count(PyObject *self)
{
    const struct core_program *program = (const struct core_program *)self;

    return program->symbols ? (Py_ssize_t)tw_symbols_count(program->symbols) : 0;
}

static PyMethodDef symbol_methods[] = {
    { "find", find, METH_O,
      "find($self, address, /)\n--\n\nName, address and size of its symbol, or None." },
    { "by_name", by_name, METH_VARARGS,
      "by_name($self, name, number=0, /)\n--\n\nThe symbol of this name (the first is 0), or "
      "None." },
    { "line", line, METH_O, "line($self, address, /)\n--\n\n(file, line), or None." },
    { "frames", frames, METH_O,
      "frames($self, address, /)\n--\n\nInlined functions, the innermost first." },
    { NULL, NULL, 0, NULL }
};

static PyType_Slot symbol_slots[] = {
    { Py_tp_doc, "Symbols(*files)\n--\n\nNames of code in ELF files: paths, or (path, bias)." },
    { Py_tp_init, create_symbols },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, symbol_methods },
    { Py_sq_length, symbol_count },
    { 0, NULL },
};

static PyType_Spec symbol_spec = { .name = "trackway.Symbols",
                                   .basicsize = sizeof(struct core_program),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = symbol_slots };

/* ---- images ---- */

bool core_image_enter(PyObject *self)
{
    struct core_program *program = (struct core_program *)self;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status = TW_OK;

    if (!program->lock && !(program->lock = PyThread_allocate_lock())) {
        (void)PyErr_NoMemory();
        return false;
    }
    /* clang-format off */
    Py_BEGIN_ALLOW_THREADS
    (void)PyThread_acquire_lock(program->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
        /* clang-format on */
        if (!program->image) status = tw_image_new(&program->image, NULL, &fault);
    if (status == TW_OK)
        return true;
    PyThread_release_lock(program->lock);
    (void)core_raise(status, fault.text);
    return false;
}

void core_image_leave(PyObject *self)
{
    PyThread_release_lock(((struct core_program *)self)->lock);
}

/* add(path, address=0): ELF, a segment list, or else flat. */
static PyObject *add(PyObject *self, PyObject *arguments)
{
    struct core_program *program = (struct core_program *)self;
    struct tw_region region = { .size = sizeof region };
    struct core_arena arena = { NULL };
    unsigned long long address = 0;
    enum tw_status status;
    const char *name;
    PyObject *path;

    if (!PyArg_ParseTuple(arguments, "O|K", &path, &address))
        return NULL;
    name = core_take_text(&arena, path);
    region.address = address;
    if (name && core_image_enter(self)) {
        status = tw_image_add_any(program->image, &region, name);
        if (status != TW_OK)
            (void)core_raise(status, tw_image_fault(program->image));
        core_image_leave(self);
    }
    core_give(&arena);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *read_image(struct tw_image *image, unsigned long long address, Py_ssize_t size)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    uint8_t *bytes = size < 0 ? NULL : malloc((size_t)size + 1);
    PyObject *result;
    size_t got = 0;

    if (!bytes)
        return size < 0 ? PyErr_Format(PyExc_ValueError, "a size is not negative")
                        : PyErr_NoMemory();
    if (image)
        got = tw_image_read(image, bytes, &view, address, (size_t)size);
    result = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)got);
    free(bytes);
    return result;
}

static PyObject *read_bytes(PyObject *self, PyObject *arguments)
{
    unsigned long long address;
    PyObject *result;
    Py_ssize_t size;

    if (!PyArg_ParseTuple(arguments, "Kn", &address, &size) || !core_image_enter(self))
        return NULL;
    result = read_image(((struct core_program *)self)->image, address, size);
    core_image_leave(self);
    return result;
}

static PyObject *regions_of(const struct tw_image *image)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && image && i < tw_image_region_count(image); i++) {
        const struct tw_region *region = tw_image_region(image, i);
        PyObject *dict =
            Py_BuildValue("{s:K,s:K,s:I,s:N}", "address", (unsigned long long)region->address,
                          "length", (unsigned long long)region->length, "context",
                          (unsigned)region->context, "name", core_text(region->name));

        if (!dict || PyList_Append(list, dict) != 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

static PyObject *regions(PyObject *self, void *none)
{
    PyObject *result;

    (void)none;
    if (!core_image_enter(self))
        return NULL;
    result = regions_of(((struct core_program *)self)->image);
    core_image_leave(self);
    return result;
}

/* memory(source, address, size) of a capture: what its own images hold for a source. */
PyObject *core_memory(struct core_capture *capture, PyObject *arguments)
{
    unsigned long long address;
    Py_ssize_t source, size;
    PyObject *result;
    uint32_t number;

    if (!PyArg_ParseTuple(arguments, "nKn", &source, &address, &size))
        return NULL;
    if (source < 0 || (size_t)source >= tw_capture_source_count(capture->capture))
        return PyErr_Format(PyExc_IndexError, "there is no such source");
    core_capture_enter(capture);
    number = tw_capture_image_of(capture->capture, (size_t)source, TW_NO_SRC);
    result = read_image(number == TW_NONE ? NULL : tw_capture_image(capture->capture, number),
                        address, size);
    PyThread_release_lock(capture->lock);
    return result;
}

static PyMethodDef image_methods[] = {
    { "add", add, METH_VARARGS,
      "add($self, path, address=0, /)\n--\n\nAn ELF file, a segment list, or flat bytes at an "
      "address." },
    { "read", read_bytes, METH_VARARGS,
      "read($self, address, size, /)\n--\n\nAs many bytes as there are." },
    { NULL, NULL, 0, NULL }
};

static PyGetSetDef image_members[] = { { "regions", regions, NULL,
                                         "address, length, context and name of each", NULL },
                                       { NULL, NULL, NULL, NULL, NULL } };

static PyType_Slot image_slots[] = {
    { Py_tp_doc, "Image()\n--\n\nThe target's memory, out of files." },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, image_methods },
    { Py_tp_getset, image_members },
    { 0, NULL },
};

static PyType_Spec image_spec = { .name = "trackway.Image",
                                  .basicsize = sizeof(struct core_program),
                                  .flags = Py_TPFLAGS_DEFAULT,
                                  .slots = image_slots };

static PyTypeObject *image_type;

bool core_image_of(PyObject *self, struct tw_image **image)
{
    if (!PyObject_TypeCheck(self, image_type)) {
        PyErr_SetString(PyExc_TypeError, "an image is a trackway.Image");
        return false;
    }
    if (!core_image_enter(self))
        return false;
    core_image_leave(self);
    *image = ((struct core_program *)self)->image;
    return true;
}

bool core_add_program(PyObject *module)
{
    image_type = core_add_type(module, &image_spec, "Image");
    return image_type && core_add_type(module, &symbol_spec, "Symbols");
}
