/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets, as dicts of what their lines of JSON have. */
#include "core/core.h"

static PyTypeObject *packets_type;

PyObject *core_packets_new(struct core_capture *capture, PyObject *keywords)
{
    return core_run_start(packets_type, capture, keywords, true);
}

static PyObject *nibbles(const struct tw_member *member)
{
    PyObject *list = PyList_New(0);

    for (uint64_t i = 0; list && i < member->number; i++) {
        const uint64_t at = member->high + i;
        PyObject *nibble = PyLong_FromLong(member->bytes[at / 2] >> (at % 2 * 4) & 15);

        if (!nibble || PyList_Append(list, nibble) != 0)
            Py_CLEAR(list);
        Py_XDECREF(nibble);
    }
    return list;
}

static PyObject *wide(const struct tw_member *member)
{
    PyObject *high = PyLong_FromUnsignedLongLong(member->high);
    PyObject *bits = PyLong_FromLong(64);
    PyObject *low = PyLong_FromUnsignedLongLong(member->number);
    PyObject *shifted = high && bits ? PyNumber_Lshift(high, bits) : NULL;
    PyObject *both = shifted && low ? PyNumber_Or(shifted, low) : NULL;

    Py_XDECREF(high);
    Py_XDECREF(bits);
    Py_XDECREF(low);
    Py_XDECREF(shifted);
    return both;
}

static PyObject *value_of(const struct tw_member *member)
{
    switch (member->type->kind) {
    case TW_MEMBER_SIGNED:
        return PyLong_FromLongLong((int64_t)member->number);
    case TW_MEMBER_WIDE:
        return wide(member);
    case TW_MEMBER_FLAG:
        return PyBool_FromLong(member->number != 0);
    case TW_MEMBER_SECONDS:
        return PyFloat_FromDouble((double)member->number + (double)member->high / 1e9);
    case TW_MEMBER_NAME:
    case TW_MEMBER_TEXT:
        return core_text(member->text);
    case TW_MEMBER_BYTES:
        return PyBytes_FromStringAndSize((const char *)member->bytes,
                                         (Py_ssize_t)member->number);
    case TW_MEMBER_NIBBLES:
        return nibbles(member);
    default:
        return PyLong_FromUnsignedLongLong(member->number);
    }
}

static PyObject *as_dict(const struct tw_packet_view *view)
{
    struct tw_member items[TW_MEMBERS_ENOUGH];
    char texts[TW_MEMBERS_TEXT_ENOUGH];
    struct tw_members members = { .items = items,
                                  .room = TW_MEMBERS_ENOUGH,
                                  .texts = texts,
                                  .text_room = sizeof texts,
                                  .wanted = TW_MEMBER_LISTED };
    PyObject *dict = PyDict_New();

    tw_packet_members(&members, view);
    for (size_t i = 0; dict && i < members.count; i++)
        if (!core_put(dict, items[i].type->key, value_of(&items[i])))
            Py_CLEAR(dict);
    return dict;
}

/* A packet costs less than giving the GIL away: it is kept. */
static PyObject *next_packet(PyObject *self)
{
    struct core_run *packets = (struct core_run *)self;
    struct tw_part part = { .size = sizeof part };
    struct tw_packet_view view = { .size = sizeof view };
    enum tw_status status;

    if (!core_run_is_usable(packets) || packets->is_done)
        return NULL;
    do
        status = tw_run_next_packet(packets->run, &part, &view);
    while (status == TW_OK && part.kind != TW_PART_ELEMENTS);
    return status == TW_OK ? as_dict(&view) : core_run_end(packets, status);
}

static PyType_Slot slots[] = {
    { Py_tp_doc, "Packets of a capture, as dicts." },
    { Py_tp_dealloc, core_run_destroy },
    { Py_tp_iter, PyObject_SelfIter },
    { Py_tp_iternext, next_packet },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "trackway.Packets",
                            .basicsize = sizeof(struct core_run),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

bool core_add_packets(PyObject *module)
{
    packets_type = core_add_type(module, &spec, "Packets");
    return packets_type != NULL;
}
