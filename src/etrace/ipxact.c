/* SPDX-License-Identifier: BSD-2-Clause */
/* Discovery registers in ipxact form (E-Trace 9.2): a reader for just that, and a printer. */
#include "etrace/config.h"

#include <inttypes.h>
#include <string.h>

#include "base/fault.h"

enum { DEPTH_MAX = 32, FIELDS_MAX = 64, TEXT_MAX = 200 };

/* The elements that matter; all others are passed over. */
enum tag {
    TAG_OTHER,
    TAG_REGISTER,
    TAG_FIELD,
    TAG_PARAMETER,
    TAG_RESET,
    TAG_NAME,
    TAG_OFFSET,
    TAG_WIDTH,
    TAG_VALUE
};

static const char *const tag_names[] = {
    [TAG_REGISTER] = "register", [TAG_FIELD] = "field", [TAG_PARAMETER] = "parameter",
    [TAG_RESET] = "reset",       [TAG_NAME] = "name",   [TAG_OFFSET] = "bitOffset",
    [TAG_WIDTH] = "bitWidth",    [TAG_VALUE] = "value",
};

struct word {
    char chars[TEXT_MAX];
    size_t size;
};

struct field {
    struct word name, value;
    uint64_t offset, width;
};

struct reader {
    struct tw_etrace_config *config;
    struct tw_fault *fault;
    const char *at;
    unsigned line;
    uint8_t tags[DEPTH_MAX];
    const char *open[DEPTH_MAX]; /* names of the open elements, with their prefix */
    size_t open_size[DEPTH_MAX];
    unsigned depth, register_depth; /* register_depth: 0 outside of a register */
    struct word text;               /* of the element read last */
    struct word parameter_name, parameter_value;
    struct word register_value;
    struct field fields[FIELDS_MAX];
    unsigned field_count;
};

static enum tw_status wrong(struct reader *in, const char *what)
{
    return tw_fail(in->fault, TW_E_CONFIG, "ipxact, line %u: %s", in->line, what);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.' || c == ':';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void step(struct reader *in)
{
    if (*in->at == '\n')
        in->line++;
    in->at++;
}

static bool starts(const struct reader *in, const char *what)
{
    return !strncmp(in->at, what, strlen(what));
}

/* Goes on behind the next `end`; false: there is none. */
static bool pass(struct reader *in, const char *end)
{
    while (*in->at && !starts(in, end))
        step(in);
    if (!*in->at)
        return false;
    in->at += strlen(end);
    return true;
}

static enum tag tag_of(const char *name, size_t size)
{
    const char *colon = memchr(name, ':', size);

    if (colon) {
        size -= (size_t)(colon + 1 - name);
        name = colon + 1;
    }
    for (unsigned i = TAG_REGISTER; i <= TAG_VALUE; i++)
        if (strlen(tag_names[i]) == size && !memcmp(tag_names[i], name, size))
            return (enum tag)i;
    return TAG_OTHER;
}

static bool read_word(const struct word *word, uint64_t *value)
{
    const char *at = word->chars;
    unsigned base = 10, digits = 0;
    uint64_t sum = 0;

    if (!strncmp(at, "'h", 2) || !strncmp(at, "0x", 2)) {
        base = 16;
        at += 2;
    } else if (!strncmp(at, "'b", 2)) {
        base = 2;
        at += 2;
    } else if (!strncmp(at, "'d", 2)) {
        at += 2;
    }
    for (; *at; at++, digits++) {
        const char c = *at;
        unsigned digit = 99;

        if (c == '_')
            continue;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (unsigned)((c | 0x20) - 'a') + 10;
        if (digit >= base || sum > (UINT64_MAX - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = sum;
    return digits > 0;
}

static bool is_inside(const struct reader *in, enum tag tag)
{
    for (unsigned i = 0; i < in->depth; i++)
        if (in->tags[i] == tag)
            return true;
    return false;
}

static enum tw_status set_key(struct reader *in, const char *name, size_t size,
                              const char *value)
{
    struct tw_fault inner = { TW_OK, "" };
    const enum tw_status status =
        tw_etrace_key_set_named(in->config, name, size, value, strlen(value), &inner);

    if (status != TW_OK)
        return tw_fail(in->fault, status, "ipxact, line %u: %.400s", in->line, inner.text);
    return TW_OK;
}

static enum tw_status set_attribute(struct reader *in, const char *name, uint64_t value)
{
    for (size_t i = 0; i < tw_etrace_key_count; i++) {
        const struct tw_etrace_key *key = &tw_etrace_keys[i];
        char number[24];
        struct tw_text text = tw_text_in(number, sizeof number);

        if (!key->attribute.name || strcmp(key->attribute.name, name) != 0)
            continue;
        if (value > UINT32_MAX)
            return wrong(in, "an attribute's value is out of range");
        tw_text_decimal(&text, value + key->attribute.minus);
        return set_key(in, key->name, strlen(key->name), number);
    }
    return TW_OK; /* fields of other registers are not ours */
}

/* A register ends: its fields have values of their own, or bits of its value. */
static enum tw_status end_register(struct reader *in)
{
    uint64_t whole = 0, value;
    const bool has_whole = in->register_value.size && read_word(&in->register_value, &whole);

    if (in->register_value.size && !has_whole)
        return wrong(in, "the register's value is no number");
    for (unsigned i = 0; i < in->field_count; i++) {
        const struct field *field = &in->fields[i];

        if (field->value.size) {
            if (!read_word(&field->value, &value))
                return wrong(in, "a field's value is no number");
        } else if (has_whole) {
            if (field->offset > 63 || field->width < 1 || field->width > 64 - field->offset)
                return wrong(in, "a field does not lie in its register");
            value = whole >> field->offset;
            if (field->width < 64)
                value &= ((uint64_t)1 << field->width) - 1;
        } else {
            continue; /* only described: the default stays */
        }
        TW_TRY(set_attribute(in, field->name.chars, value));
    }
    return TW_OK;
}

/* The component's own parameters are keys; a generator may add others of its own. */
static enum tw_status end_parameter(struct reader *in)
{
    if (is_inside(in, TAG_REGISTER) ||
        !tw_etrace_key_find(in->parameter_name.chars, in->parameter_name.size))
        return TW_OK;
    return set_key(in, in->parameter_name.chars, in->parameter_name.size,
                   in->parameter_value.chars);
}

/* A leaf ends: its text belongs to what is around it. */
static enum tw_status end_leaf(struct reader *in, enum tag tag)
{
    const enum tag around = in->depth >= 1 ? (enum tag)in->tags[in->depth - 1] : TAG_OTHER;
    struct field *field = in->field_count ? &in->fields[in->field_count - 1] : NULL;

    if (tag == TAG_NAME && around == TAG_PARAMETER)
        in->parameter_name = in->text;
    else if (tag == TAG_VALUE && around == TAG_PARAMETER)
        in->parameter_value = in->text;
    else if (tag == TAG_NAME && around == TAG_FIELD)
        field->name = in->text;
    else if (tag == TAG_OFFSET && around == TAG_FIELD && !read_word(&in->text, &field->offset))
        return wrong(in, "bitOffset is no number");
    else if (tag == TAG_WIDTH && around == TAG_FIELD && !read_word(&in->text, &field->width))
        return wrong(in, "bitWidth is no number");
    else if (tag == TAG_VALUE && around == TAG_RESET) {
        if (is_inside(in, TAG_FIELD))
            field->value = in->text;
        else
            in->register_value = in->text;
    }
    return TW_OK;
}

static enum tw_status end_element(struct reader *in, const char *name, size_t size)
{
    enum tag tag;

    if (in->depth == 0 || in->open_size[in->depth - 1] != size ||
        memcmp(in->open[in->depth - 1], name, size) != 0)
        return wrong(in, "an element ends that did not begin");
    tag = (enum tag)in->tags[--in->depth];
    switch (tag) {
    case TAG_REGISTER:
        in->register_depth = 0;
        return end_register(in);
    case TAG_PARAMETER:
        return end_parameter(in);
    case TAG_OTHER:
    case TAG_FIELD:
    case TAG_RESET:
        return TW_OK;
    default:
        return end_leaf(in, tag);
    }
}

static enum tw_status begin_element(struct reader *in, const char *name, size_t size)
{
    const enum tag tag = tag_of(name, size);

    if (in->depth == DEPTH_MAX)
        return wrong(in, "elements lie too deep in each other");
    in->open[in->depth] = name;
    in->open_size[in->depth] = size;
    in->tags[in->depth++] = (uint8_t)tag;
    in->text = (struct word){ "", 0 };
    if (tag == TAG_REGISTER) {
        if (in->register_depth)
            return wrong(in, "a register inside a register");
        in->register_depth = in->depth;
        in->field_count = 0;
        in->register_value = (struct word){ "", 0 };
    } else if (tag == TAG_PARAMETER) {
        in->parameter_name = in->parameter_value = (struct word){ "", 0 };
    } else if (tag == TAG_FIELD) {
        if (!in->register_depth)
            return wrong(in, "a field outside of a register");
        if (in->field_count == FIELDS_MAX)
            return wrong(in, "a register with too many fields");
        in->fields[in->field_count++] = (struct field){ .width = 1 };
    }
    return TW_OK;
}

/* At '<'. */
static enum tw_status read_tag(struct reader *in)
{
    const bool is_end = in->at[1] == '/';
    const char *name = in->at + 1 + is_end;
    size_t size = 0;
    bool is_empty = false;

    while (is_name_char(name[size]))
        size++;
    if (!size)
        return wrong(in, "a tag without a name");
    in->at = name + size;
    for (char quote = 0; *in->at && (quote || *in->at != '>'); step(in)) {
        if (quote)
            quote = *in->at == quote ? 0 : quote;
        else if (*in->at == '"' || *in->at == '\'')
            quote = *in->at;
        is_empty = !quote && *in->at == '/';
    }
    if (!*in->at)
        return wrong(in, "a tag without an end");
    step(in);
    if (is_end)
        return end_element(in, name, size);
    TW_TRY(begin_element(in, name, size));
    return is_empty ? end_element(in, name, size) : TW_OK;
}

static void read_text(struct reader *in)
{
    struct word *word = &in->text;

    while (*in->at && *in->at != '<') {
        const bool leads = is_blank(*in->at) && word->size == 0;

        if (!leads && word->size < TEXT_MAX - 1)
            word->chars[word->size++] = *in->at;
        step(in);
    }
    while (word->size && is_blank(word->chars[word->size - 1]))
        word->size--;
    word->chars[word->size] = 0;
}

enum tw_status tw_etrace_ipxact_read(struct tw_etrace_config *config, const char *text,
                                     struct tw_fault *fault)
{
    struct reader in = { .config = config, .fault = fault, .at = text, .line = 1 };

    while (*in.at) {
        bool is_whole = true;

        if (*in.at != '<')
            read_text(&in);
        else if (starts(&in, "<!--"))
            is_whole = pass(&in, "-->");
        else if (starts(&in, "<?"))
            is_whole = pass(&in, "?>");
        else if (starts(&in, "<!"))
            is_whole = pass(&in, ">");
        else
            TW_TRY(read_tag(&in));
        if (!is_whole)
            return wrong(&in, "the text ends inside a comment or declaration");
    }
    if (in.depth)
        return wrong(&in, "the text ends inside an element");
    return TW_OK;
}

/* Printing. */

static bool is_in_register(const struct tw_etrace_config *config,
                           const struct tw_etrace_key *key)
{
    const struct tw_etrace_attribute *attribute = &key->attribute;
    const uint64_t value = tw_etrace_key_value(config, key);

    return attribute->name && attribute->reg < 2 && value >= attribute->minus &&
           (value - attribute->minus) >> attribute->width == 0;
}

static void print_leaf(struct tw_text *out, unsigned indent, const char *tag, const char *value)
{
    tw_text_format(out, "%*s<ipxact:%s>%s</ipxact:%s>\n", (int)indent, "", tag, value, tag);
}

static void print_number(struct tw_text *out, unsigned indent, const char *tag, uint64_t value)
{
    tw_text_format(out, "%*s<ipxact:%s>%" PRIu64 "</ipxact:%s>\n", (int)indent, "", tag, value,
                   tag);
}

static void print_field(struct tw_text *out, const struct tw_etrace_attribute *attribute,
                        uint64_t value)
{
    tw_text_add(out, "               <ipxact:field>\n");
    print_leaf(out, 18, "name", attribute->name);
    print_number(out, 18, "bitOffset", attribute->offset);
    tw_text_add(out,
                "                  <ipxact:resets>\n                     <ipxact:reset>\n");
    print_number(out, 24, "value", value);
    tw_text_add(out,
                "                     </ipxact:reset>\n                  </ipxact:resets>\n");
    print_number(out, 18, "bitWidth", attribute->width);
    tw_text_add(out, "               </ipxact:field>\n");
}

static void print_register(struct tw_text *out, const struct tw_etrace_config *config,
                           unsigned number)
{
    tw_text_add(out, "            <ipxact:register>\n");
    tw_text_format(out, "               <ipxact:name>discovery_info_%u</ipxact:name>\n",
                   number);
    print_leaf(out, 15, "addressOffset", number ? "'h8" : "'h0");
    print_number(out, 15, "size", 64);
    print_leaf(out, 15, "access", "read-only");
    for (size_t i = 0; i < tw_etrace_key_count; i++) {
        const struct tw_etrace_key *key = &tw_etrace_keys[i];

        if (key->attribute.reg == number && is_in_register(config, key))
            print_field(out, &key->attribute,
                        tw_etrace_key_value(config, key) - key->attribute.minus);
    }
    tw_text_add(out, "            </ipxact:register>\n");
}

static void print_parameters(struct tw_text *out, const struct tw_etrace_config *config)
{
    tw_text_add(out, "   <ipxact:parameters>\n");
    for (size_t i = 0; i < tw_etrace_key_count; i++) {
        const struct tw_etrace_key *key = &tw_etrace_keys[i];
        char buffer[400];
        struct tw_text value = tw_text_in(buffer, sizeof buffer);

        if (is_in_register(config, key) || !tw_etrace_key_print(&value, config, key))
            continue;
        tw_text_add(out, "      <ipxact:parameter>\n");
        print_leaf(out, 9, "name", key->name);
        print_leaf(out, 9, "value", buffer);
        tw_text_add(out, "      </ipxact:parameter>\n");
    }
    tw_text_add(out, "   </ipxact:parameters>\n");
}

size_t tw_etrace_config_ipxact(char *out, size_t room, const struct tw_etrace_config *config)
{
    struct tw_text text = tw_text_in(out, room);

    tw_text_add(&text,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<ipxact:component\n"
                "  xmlns:ipxact=\"http://www.accellera.org/XMLSchema/IPXACT/1685-2014\">\n"
                "   <ipxact:vendor>trackway</ipxact:vendor>\n"
                "   <ipxact:library>TraceEncoder</ipxact:library>\n"
                "   <ipxact:name>TraceEncoder</ipxact:name>\n"
                "   <ipxact:version>1.0</ipxact:version>\n"
                "   <ipxact:memoryMaps>\n"
                "      <ipxact:memoryMap>\n"
                "         <ipxact:name>Trace Encoder Register Map</ipxact:name>\n"
                "         <ipxact:addressBlock>\n"
                "            <ipxact:name>Trace Encoder Registers</ipxact:name>\n"
                "            <ipxact:baseAddress>0</ipxact:baseAddress>\n"
                "            <ipxact:range>128</ipxact:range>\n"
                "            <ipxact:width>64</ipxact:width>\n");
    print_register(&text, config, 0);
    print_register(&text, config, 1);
    tw_text_add(&text, "         </ipxact:addressBlock>\n"
                       "         <ipxact:addressUnitBits>8</ipxact:addressUnitBits>\n"
                       "      </ipxact:memoryMap>\n"
                       "   </ipxact:memoryMaps>\n");
    print_parameters(&text, config);
    tw_text_add(&text, "</ipxact:component>\n");
    return text.size;
}
