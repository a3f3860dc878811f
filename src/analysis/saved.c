/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with results: "TWRESULT", kind, version, size, the values, a hash of all that. */
#include "analysis/saved.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/beside.h"
#include "base/fault.h"
#include "base/memory.h"
#include "index/hash.h"

static const char magic[8] = { 'T', 'W', 'R', 'E', 'S', 'U', 'L', 'T' };

enum { KIND_AT = 8, VERSION_AT = 16, SIZE_AT = 24, HEAD = 32, SUM = 8 };

/* ---- writing ---- */

void tw_save_bytes(struct tw_save *save, const void *bytes, size_t size)
{
    if (save->size == 0 && !save->has_failed) { /* room for the head */
        save->has_failed = !TW_GROW(save->allocator, &save->bytes, &save->room, HEAD);
        save->size = save->has_failed ? 0 : HEAD;
    }
    if (save->has_failed ||
        !TW_GROW(save->allocator, &save->bytes, &save->room, save->size + size + SUM)) {
        save->has_failed = true;
        return;
    }
    if (size)
        memcpy(save->bytes + save->size, bytes, size);
    save->size += size;
}

void tw_save_u64(struct tw_save *save, uint64_t value)
{
    uint8_t bytes[8];

    tw_store_le64(bytes, value);
    tw_save_bytes(save, bytes, sizeof bytes);
}

void tw_save_text(struct tw_save *save, const char *text)
{
    const size_t size = text ? strlen(text) : 0;

    tw_save_u64(save, text ? size + 1 : 0);
    tw_save_bytes(save, text, size);
}

static enum tw_status write_file(const struct tw_save *save, const char *path,
                                 struct tw_fault *fault)
{
    char *name = tw_take(save->allocator, strlen(path) + TW_BESIDE_SIZE);
    FILE *file;
    bool is_good;

    if (!name)
        return tw_fail(fault, TW_E_MEMORY, "no memory to write %s", path);
    file = tw_beside_open(name, path);
    is_good = file && fwrite(save->bytes, 1, save->size, file) == save->size;
    if (is_good)
        is_good = tw_beside_keep(file, name, path);
    else if (file)
        tw_beside_drop(file, name);
    if (!is_good)
        (void)tw_fail(fault, TW_E_FILE, "cannot write %s: %s", path, strerror(errno));
    tw_give(save->allocator, name);
    return is_good ? TW_OK : TW_E_FILE;
}

enum tw_status tw_save_end(struct tw_save *save, const struct tw_saved_kind *kind,
                           const char *path, struct tw_fault *fault)
{
    enum tw_status status;

    tw_save_bytes(save, NULL, 0);
    if (save->has_failed) {
        status = tw_fail(fault, TW_E_MEMORY, "no memory to write %s", path);
    } else {
        memset(save->bytes, 0, HEAD);
        memcpy(save->bytes, magic, sizeof magic);
        memcpy(save->bytes + KIND_AT, kind->name, strlen(kind->name));
        save->bytes[VERSION_AT] = (uint8_t)kind->version;
        save->bytes[VERSION_AT + 1] = (uint8_t)(kind->version >> 8);
        tw_store_le64(save->bytes + SIZE_AT, save->size - HEAD);
        tw_store_le64(save->bytes + save->size, tw_hash_of(save->bytes, save->size));
        save->size += SUM;
        status = write_file(save, path, fault);
    }
    tw_give(save->allocator, save->bytes);
    *save = (struct tw_save){ .allocator = save->allocator };
    return status;
}

/* ---- reading ---- */

enum tw_status tw_load_begin_bytes(struct tw_load *load, const struct tw_saved_kind *kind,
                                   const uint8_t *bytes, size_t size, struct tw_fault *fault)
{
    char name[TW_SAVED_KIND + 1] = "";

    *load = (struct tw_load){ .allocator = load->allocator, .bytes = load->bytes };
    if (size < HEAD + SUM || memcmp(bytes, magic, sizeof magic) != 0)
        return tw_fail(fault, TW_E_FILE, "no saved result");
    memcpy(name, bytes + KIND_AT, TW_SAVED_KIND);
    load->version = tw_load_le16(bytes + VERSION_AT);
    if (strcmp(name, kind->name) != 0)
        return tw_fail(fault, TW_E_FILE, "holds another kind of result (\"%.8s\", not \"%s\")",
                       name, kind->name);
    if (!load->version || load->version > kind->version)
        return tw_fail(fault, TW_E_UNSUPPORTED, "is of version %u; up to %u are known",
                       (unsigned)load->version, (unsigned)kind->version);
    if (tw_load_le64(bytes + SIZE_AT) != size - HEAD - SUM ||
        tw_load_le64(bytes + size - SUM) != tw_hash_of(bytes, size - SUM))
        return tw_fail(fault, TW_E_FILE, "is cut or damaged");
    load->in = (struct tw_bytes){ .at = bytes + HEAD, .end = bytes + size - SUM };
    return TW_OK;
}

static enum tw_status read_file(struct tw_load *load, size_t *size, const char *path,
                                struct tw_fault *fault)
{
    FILE *file = fopen(path, "rb");
    size_t room = 0, got = 0;
    enum tw_status status = TW_OK;

    *size = 0;
    if (!file)
        return tw_fail(fault, TW_E_FILE, "cannot read %s: %s", path, strerror(errno));
    do {
        *size += got;
        if (!TW_GROW(load->allocator, &load->bytes, &room, *size + 65536)) {
            status = tw_fail(fault, TW_E_MEMORY, "no memory to read %s", path);
            break;
        }
        got = fread(load->bytes + *size, 1, room - *size, file);
    } while (got);
    if (status == TW_OK && ferror(file))
        status = tw_fail(fault, TW_E_FILE, "cannot read %s: %s", path, strerror(errno));
    (void)fclose(file);
    return status;
}

enum tw_status tw_load_begin(struct tw_load *load, const struct tw_saved_kind *kind,
                             const char *path, const struct tw_allocator *allocator,
                             struct tw_fault *fault)
{
    struct tw_fault why = { TW_OK, "" };
    enum tw_status status;
    size_t size;

    *load = (struct tw_load){ .allocator = allocator };
    status = read_file(load, &size, path, fault);
    if (status == TW_OK) {
        status = tw_load_begin_bytes(load, kind, load->bytes, size, &why);
        if (status != TW_OK)
            (void)tw_fail(fault, status, "%s: %s", path, why.text);
    }
    if (status != TW_OK) {
        tw_give(allocator, load->bytes);
        load->bytes = NULL;
    }
    return status;
}

uint64_t tw_load_u64(struct tw_load *load)
{
    return tw_bytes_le(&load->in, 8);
}

const uint8_t *tw_load_bytes(struct tw_load *load, size_t size)
{
    const uint8_t *at = load->in.at;

    if (size > tw_bytes_left(&load->in)) {
        load->in.short_read = true;
        return NULL;
    }
    load->in.at += size;
    return at;
}

char *tw_load_text(struct tw_load *load, bool *is_there)
{
    const uint64_t size = tw_load_u64(load);
    const uint8_t *bytes = NULL;
    char *text;

    *is_there = size != 0;
    if (size > tw_bytes_left(&load->in) + (uint64_t)1)
        load->in.short_read = true;
    else if (size)
        bytes = tw_load_bytes(load, (size_t)size - 1);
    if (!bytes)
        return NULL;
    if (memchr(bytes, 0, (size_t)size - 1))
        load->is_wrong = true;
    text = tw_take(load->allocator, (size_t)size);
    if (text)
        memcpy(text, bytes, (size_t)size - 1);
    tw_load_need(load, text);
    return text;
}

size_t tw_load_count(struct tw_load *load, size_t least_size)
{
    const uint64_t count = tw_load_u64(load);

    if (count > tw_bytes_left(&load->in) / least_size) {
        load->is_wrong = true;
        return 0;
    }
    return (size_t)count;
}

void tw_load_need(struct tw_load *load, bool is_there)
{
    if (!is_there)
        load->is_wrong = load->no_memory = true;
}

enum tw_status tw_load_end(struct tw_load *load, const char *path, struct tw_fault *fault)
{
    const bool is_good =
        !load->in.short_read && !load->is_wrong && tw_bytes_left(&load->in) == 0;

    tw_give(load->allocator, load->bytes);
    load->bytes = NULL;
    if (load->no_memory)
        return tw_fail(fault, TW_E_MEMORY, "no memory to read %s", path ? path : "a result");
    return is_good
               ? TW_OK
               : tw_fail(fault, TW_E_FILE, "%s: holds what cannot be", path ? path : "result");
}
