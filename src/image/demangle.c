/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as they were written: by the C++ library and LLVM's, which are loaded when they are needed. */
#include <trackway/demangle.h>

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/map.h"
#include "base/memory.h"

#ifdef TW_WITH_LLVM

#include "base/library.h"
#include "base/platform.h"

enum { NAME_MOST = 1 << 16 }; /* beyond, a name stays as it is */

/* A name that was asked for. */
struct demangled {
    char *from, *to;
    uint32_t next; /* another with the same hash; 0: none */
};

/* As C++ hands over a std::string_view. */
struct text_view {
    size_t size;
    const char *chars;
};

struct tw_demangler {
    struct demangled *names; /* from 1 on */
    size_t count, room;
    struct tw_map by_hash;
    void *cxx, *llvm;
    bool has_tried_cxx, has_tried_llvm;
    char *(*cxx_demangle)(const char *name, char *out, size_t *size, int *status);
    char *(*rust_demangle)(struct text_view name);
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
};

enum tw_status tw_demangler_new(struct tw_demangler **demangler,
                                const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_demangler *made = tw_take(allocator, sizeof *made);

    *demangler = made;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for names");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    made->by_hash.allocator = made->allocator;
    made->count = 1;
    return TW_OK;
}

void tw_demangler_free(struct tw_demangler *demangler)
{
    struct tw_allocator allocator;

    if (!demangler)
        return;
    for (size_t i = 1; i < demangler->count; i++) {
        tw_give(demangler->allocator, demangler->names[i].from);
        tw_give(demangler->allocator, demangler->names[i].to);
    }
    tw_give(demangler->allocator, demangler->names);
    tw_map_free(&demangler->by_hash);
    if (demangler->cxx)
        (void)dlclose(demangler->cxx);
    if (demangler->llvm)
        (void)dlclose(demangler->llvm);
    allocator = demangler->allocator_copy; /* the handle itself holds it */
    tw_give(demangler->allocator ? &allocator : NULL, demangler);
}

static void load_cxx(struct tw_demangler *demangler)
{
    static const char *const file = "libstdc++.so.6";

    if (demangler->has_tried_cxx)
        return;
    demangler->has_tried_cxx = true;
    demangler->cxx = tw_library_open(&file, 1);
    (void)tw_library_take(demangler->cxx, &demangler->cxx_demangle, "__cxa_demangle");
}

static void load_llvm(struct tw_demangler *demangler)
{
    static const char *const files[] = { TW_LLVM_SONAME, TW_LLVM_LIBRARY };

    if (demangler->has_tried_llvm)
        return;
    demangler->has_tried_llvm = true;
    demangler->llvm = tw_library_open(files, TW_LENGTH(files));
    (void)tw_library_take(demangler->llvm, &demangler->rust_demangle,
                          "_ZN4llvm12rustDemangleESt17basic_string_viewIcSt11char_traitsIcEE");
}

/* ---- Rust's older form: that of C++, with a hash behind and words for other characters ---- */

static bool ends_with_hash(const char *name, size_t size)
{
    enum { HASH = 16 };

    if (size < HASH + 3 || memcmp(name + size - HASH - 3, "::h", 3) != 0)
        return false;
    return strspn(name + size - HASH, "0123456789abcdef") == HASH;
}

/* The character that a word between two dollars stands for; 0: none. */
static char character_of(const char *word, size_t size)
{
    static const struct {
        const char *word;
        char character;
    } words[] = { { "SP", '@' }, { "BP", '*' }, { "RF", '&' }, { "LT", '<' },
                  { "GT", '>' }, { "LP", '(' }, { "RP", ')' }, { "C", ',' } };
    unsigned long code;

    for (size_t i = 0; i < TW_LENGTH(words); i++)
        if (strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0)
            return words[i].character;
    if (size < 2 || size > 3 || word[0] != 'u')
        return 0;
    code = strtoul(word + 1, NULL, 16);
    return (char)(code >= 0x20 && code < 0x7f ? code : 0);
}

/* In place: no form is longer than what it stands for. */
static void rewrite_rust(char *name)
{
    const size_t size = strlen(name);
    char *out = name;

    if (!ends_with_hash(name, size))
        return;
    name[size - 19] = 0;
    for (const char *at = name; *at;) {
        const char *end = *at == '$' ? strchr(at + 1, '$') : NULL;
        const char character = end ? character_of(at + 1, (size_t)(end - at - 1)) : 0;

        if (character) {
            *out++ = character;
            at = end + 1;
        } else if (at[0] == '.' && at[1] == '.') {
            *out++ = ':';
            *out++ = ':';
            at += 2;
        } else if (at[0] == '_' && at[1] == '$' && (at == name || at[-1] == ':')) {
            at++; /* an identifier may not begin with a dollar */
        } else {
            *out++ = *at++;
        }
    }
    *out = 0;
}

/* The C library's memory; NULL: it is no such name. */
static char *ask(struct tw_demangler *demangler, const char *name)
{
    int status = 0;
    char *text;

    if (strncmp(name, "_R", 2) == 0) {
        load_llvm(demangler);
        return demangler->rust_demangle
                   ? demangler->rust_demangle((struct text_view){ strlen(name), name })
                   : NULL;
    }
    load_cxx(demangler);
    text = demangler->cxx_demangle ? demangler->cxx_demangle(name, NULL, NULL, &status) : NULL;
    if (text)
        rewrite_rust(text);
    return text;
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 1099511628211u;
    return hash;
}

static const char *keep(struct tw_demangler *demangler, const char *name, uint64_t *head)
{
    char *text = ask(demangler, name);
    char *from = tw_copy_text(demangler->allocator, name);
    char *to = text ? tw_copy_text(demangler->allocator, text) : NULL;

    free(text);
    if (!from || !TW_GROW(demangler->allocator, &demangler->names, &demangler->room,
                          demangler->count + 1)) {
        tw_give(demangler->allocator, from);
        tw_give(demangler->allocator, to);
        return name;
    }
    demangler->names[demangler->count] = (struct demangled){ from, to, (uint32_t)*head };
    *head = demangler->count++;
    return to ? to : name;
}

const char *tw_demangle(struct tw_demangler *demangler, const char *name)
{
    uint64_t *head;

    if (!demangler || (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0) ||
        strlen(name) > NAME_MOST)
        return name;
    head = tw_map_put(&demangler->by_hash, hash_of(name));
    if (!head)
        return name;
    for (uint32_t i = (uint32_t)*head; i; i = demangler->names[i].next)
        if (strcmp(demangler->names[i].from, name) == 0)
            return demangler->names[i].to ? demangler->names[i].to : name;
    return keep(demangler, name, head);
}

#else

enum tw_status tw_demangler_new(struct tw_demangler **demangler,
                                const struct tw_allocator *allocator, struct tw_fault *fault)
{
    (void)allocator;
    *demangler = NULL;
    return tw_fail(fault, TW_E_UNSUPPORTED, "this build does not demangle names");
}

void tw_demangler_free(struct tw_demangler *demangler)
{
    (void)demangler;
}

const char *tw_demangle(struct tw_demangler *demangler, const char *name)
{
    (void)demangler;
    return name;
}

#endif
