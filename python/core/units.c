/* SPDX-License-Identifier: BSD-2-Clause */
/* The way back: bytes of sources as frames; models of units of software trace, which make the bytes. */
#include "core/core.h"

/* ---- frames ---- */

static enum tw_status frame_all(struct tw_framer *framer, PyObject *streams)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    enum tw_status status = TW_OK;

    while (status == TW_OK && PyDict_Next(streams, &at, &key, &value)) {
        const unsigned long id = PyLong_AsUnsignedLong(key);
        Py_buffer bytes;

        if (PyErr_Occurred() || PyObject_GetBuffer(value, &bytes, PyBUF_SIMPLE) != 0)
            return TW_E_ARGUMENT;
        status = id > UINT8_MAX
                     ? TW_E_ARGUMENT
                     : tw_framer_write(framer, (uint8_t)id, bytes.buf, (size_t)bytes.len);
        PyBuffer_Release(&bytes);
        if (status == TW_E_ARGUMENT)
            PyErr_Format(PyExc_ValueError, "there is no trace ID %lu for data", id);
    }
    return status == TW_OK ? tw_framer_finish(framer) : status;
}

/* frame({id: bytes}, framing="memory"). */
PyObject *core_frame(PyObject *module, PyObject *arguments)
{
    struct tw_framer_config config = { .size = sizeof config };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_framer *framer = NULL;
    const char *framing = "memory";
    PyObject *streams, *result = NULL;
    enum tw_status status;

    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!|s", (PyObject *)&PyDict_Type, &streams, &framing))
        return NULL;
    if (!tw_framing_by_name(&config.framing, framing))
        return PyErr_Format(PyExc_ValueError, "there is no framing '%s'", framing);
    status = tw_framer_new(&framer, &config, &fault);
    if (status == TW_OK)
        status = frame_all(framer, streams);
    if (status == TW_OK) {
        size_t size;
        const uint8_t *bytes = tw_framer_output(framer, &size);

        result = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
    } else {
        (void)core_raise(status, fault.text);
    }
    tw_framer_free(framer);
    return result;
}

/* ---- software trace ---- */

struct core_unit {
    PyObject_HEAD struct tw_itm_unit *itm;
    struct tw_stm_unit *stm;
};

static PyTypeObject *itm_type;

static void destroy(PyObject *self)
{
    struct core_unit *unit = (struct core_unit *)self;

    tw_itm_unit_free(unit->itm);
    tw_stm_unit_free(unit->stm);
    core_free(self);
}

static int create_unit(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    char first[] = "tcr", second[] = "sync_cycles", third[] = "timestamps",
         fourth[] = "frequency";
    char *itm_names[] = { first, second, NULL }, *stm_names[] = { third, fourth, NULL };
    struct core_unit *unit = (struct core_unit *)self;
    const bool is_itm = PyObject_TypeCheck(self, itm_type);
    struct tw_itm_unit_config itm = { .size = sizeof itm };
    struct tw_stm_unit_config stm = { .size = sizeof stm, .version = 3, .timestamp_bits = 64 };
    unsigned tcr = 0xd, frequency = 0;
    unsigned long long sync = 0;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status;
    int timestamps = 1;

    if (is_itm
            ? !PyArg_ParseTupleAndKeywords(arguments, keywords, "|IK", itm_names, &tcr, &sync)
            : !PyArg_ParseTupleAndKeywords(arguments, keywords, "|pI", stm_names, &timestamps,
                                           &frequency))
        return -1;
    itm.tcr = tcr;
    itm.sync_cycles = sync;
    stm.has_timestamps = timestamps;
    stm.frequency = frequency;
    tw_itm_unit_free(unit->itm);
    tw_stm_unit_free(unit->stm);
    unit->itm = NULL;
    unit->stm = NULL;
    status = is_itm ? tw_itm_unit_new(&unit->itm, &itm, &fault)
                    : tw_stm_unit_new(&unit->stm, &stm, &fault);
    if (status != TW_OK)
        (void)core_raise(status, fault.text);
    return status == TW_OK ? 0 : -1;
}

/* None, or what went wrong. */
static PyObject *answer(enum tw_status status)
{
    if (status == TW_OK)
        Py_RETURN_NONE;
    if (status == TW_E_ARGUMENT)
        return PyErr_Format(PyExc_ValueError, "there is no such write");
    return core_raise(status, NULL);
}

static bool is_made(const struct core_unit *unit)
{
    if (!unit->itm && !unit->stm)
        PyErr_SetString(PyExc_ValueError, "the unit was not made");
    return unit->itm || unit->stm;
}

static PyObject *itm_write(PyObject *self, PyObject *arguments)
{
    const struct core_unit *unit = (const struct core_unit *)self;
    unsigned port, value, size = 4;

    if (!is_made(unit) || !PyArg_ParseTuple(arguments, "II|I", &port, &value, &size))
        return NULL;
    return answer(tw_itm_unit_write(unit->itm, port, value, size));
}

static PyObject *itm_advance(PyObject *self, PyObject *cycles)
{
    const struct core_unit *unit = (const struct core_unit *)self;
    const unsigned long long count = PyLong_AsUnsignedLongLong(cycles);

    if (PyErr_Occurred() || !is_made(unit))
        return NULL;
    return answer(tw_itm_unit_advance(unit->itm, count));
}

static PyObject *stm_write(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    char n1[] = "value", n2[] = "bits", n3[] = "master", n4[] = "channel", n5[] = "marked",
         n6[] = "time";
    char *names[] = { n1, n2, n3, n4, n5, n6, NULL };
    const struct core_unit *unit = (const struct core_unit *)self;
    unsigned long long value;
    unsigned bits = 32;
    unsigned short master = 0, channel = 0;
    PyObject *time = Py_None;
    unsigned flags;
    int marked = 0;

    if (!is_made(unit) ||
        !PyArg_ParseTupleAndKeywords(arguments, keywords, "K|IHHpO", names, &value, &bits,
                                     &master, &channel, &marked, &time))
        return NULL;
    flags = (marked ? TW_STM_MARKED : 0u) | (time != Py_None ? TW_STM_TIMED : 0u);
    tw_stm_unit_select(unit->stm, master, channel);
    if (time != Py_None) {
        const unsigned long long now = PyLong_AsUnsignedLongLong(time);

        if (PyErr_Occurred())
            return NULL;
        tw_stm_unit_set_time(unit->stm, now);
    }
    return answer(tw_stm_unit_write(unit->stm, value, bits, flags));
}

/* The bytes so far, which are the caller's from now on. */
static PyObject *take_bytes(PyObject *self, PyObject *none)
{
    const struct core_unit *unit = (const struct core_unit *)self;
    const uint8_t *bytes;
    enum tw_status status;
    PyObject *result;
    size_t size;

    (void)none;
    if (!is_made(unit))
        return NULL;
    status = unit->itm ? tw_itm_unit_flush(unit->itm) : tw_stm_unit_flush(unit->stm);
    if (status != TW_OK)
        return core_raise(status, NULL);
    bytes =
        unit->itm ? tw_itm_unit_output(unit->itm, &size) : tw_stm_unit_output(unit->stm, &size);
    result = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
    if (unit->itm)
        tw_itm_unit_take(unit->itm);
    else
        tw_stm_unit_take(unit->stm);
    return result;
}

static PyMethodDef itm_methods[] = {
    { "write", itm_write, METH_VARARGS,
      "write($self, port, value, size=4, /)\n--\n\n1, 2 or 4 bytes to a stimulus port." },
    { "advance", itm_advance, METH_O, "advance($self, cycles, /)\n--\n\nTime passes." },
    { "take", take_bytes, METH_NOARGS,
      "take($self, /)\n--\n\nThe trace bytes since the last call." },
    { NULL, NULL, 0, NULL }
};

static PyMethodDef stm_methods[] = {
    { "write", (PyCFunction)(void (*)(void))stm_write, METH_VARARGS | METH_KEYWORDS,
      "write($self, /, value, bits=32, master=0, channel=0, marked=False, "
      "time=None)\n--\n\nData of 4, 8, 16, 32 or 64 bits; time: with a timestamp." },
    { "take", take_bytes, METH_NOARGS,
      "take($self, /)\n--\n\nThe trace bytes since the last call." },
    { NULL, NULL, 0, NULL }
};

static PyType_Slot itm_slots[] = {
    { Py_tp_doc, "ItmUnit(tcr=13, sync_cycles=0)\n--\n\nThe model of an ITM: stimulus writes "
                 "in, trace bytes out." },
    { Py_tp_init, create_unit },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, itm_methods },
    { 0, NULL },
};

static PyType_Slot stm_slots[] = {
    { Py_tp_doc, "StmUnit(timestamps=True, frequency=0)\n--\n\nThe model of an STM: stimulus "
                 "writes in, trace bytes out." },
    { Py_tp_init, create_unit },
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_dealloc, destroy },
    { Py_tp_methods, stm_methods },
    { 0, NULL },
};

static PyType_Spec itm_spec = { .name = "trackway.ItmUnit",
                                .basicsize = sizeof(struct core_unit),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = itm_slots };
static PyType_Spec stm_spec = { .name = "trackway.StmUnit",
                                .basicsize = sizeof(struct core_unit),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = stm_slots };

bool core_add_units(PyObject *module)
{
    itm_type = core_add_type(module, &itm_spec, "ItmUnit");
    return itm_type && core_add_type(module, &stm_spec, "StmUnit");
}
