/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line, as scripts and pages of others write it: every option with any value.  What is taken is taken again to the
   same; what is refused has a reason; formats of ports print what printf prints.
   Input: each line is a word; behind a line "@@" stands a file of settings. */

#include "bundle.h"
#include "commands/channels.h"
#include "shared/at.h"
#include "shared/image_option.h"
#include "shared/settings.h"

enum { WORDS_MOST = 40, TEXT_MOST = 4096, LINE = 400 };

/* ---- in place of the tool's own, which write to standard error ---- */

static unsigned said;

void say_list(const char *format, va_list arguments)
{
    char line[LINE];

    require(vsnprintf(line, sizeof line, format, arguments) > 0);
    said++;
}

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
}

/* ---- */

static const struct command *every_option(void)
{
    static uint8_t keys[OPTION_COUNT];
    static const struct command command = { .name = "fuzz",
                                            .arguments = "CAPTURE",
                                            .summary = "takes every option",
                                            .formats = "text|jsonl|csv|raw",
                                            .options = keys,
                                            .most = WORDS_MOST };

    for (unsigned i = 1; i < OPTION_COUNT; i++)
        keys[i - 1] = (uint8_t)i;
    return &command;
}

static bool same_list(const struct list *a, const struct list *b)
{
    for (size_t i = 0; i < a->count && a->count == b->count; i++)
        if (a->items[i] != b->items[i])
            return false;
    return a->count == b->count;
}

static void compare(const struct options *a, const struct options *b)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const void *one = (const char *)a + option_rows[i].offset;
        const void *other = (const char *)b + option_rows[i].offset;

        if (option_rows[i].kind == KIND_LIST)
            require(same_list(one, other));
        else if (option_rows[i].kind == KIND_NUMBER)
            require(((const struct number *)one)->value ==
                    ((const struct number *)other)->value);
        else if (option_rows[i].kind == KIND_TEXT || option_rows[i].kind == KIND_CHOICE)
            require(*(const char *const *)one == *(const char *const *)other);
    }
    require(same_list(&a->arguments, &b->arguments) && same_list(&a->sources, &b->sources));
    require(a->ids[0] == b->ids[0] && a->ids[1] == b->ids[1] && a->checks == b->checks);
    require(a->range.first == b->range.first && a->range.end == b->range.end);
}

/* ---- --port-format ---- */

/* What printf makes of all of a format. */
static int print_whole(char *text, size_t size, const struct port_format *port,
                       const struct tw_channel_event *event)
{
    const char *letter = port->text + strlen(port->text);
    const unsigned bits = 8u * event->value_size;
    const int64_t sign = (int64_t)1 << (bits - 1);
    char format[80] = "";
    float number;

    for (const char *at = port->text; (at = strchr(at, '%'));) {
        if (at[1] != '%') {
            letter = at + 1 + strcspn(at + 1, "diuxXocfeg");
            break;
        }
        at += 2;
    }
    memcpy(&number, &event->value, sizeof number);
    (void)snprintf(format, sizeof format, "%.*s%s%s", (int)(letter - port->text), port->text,
                   *letter && strchr("diuxXo", *letter) ? "ll" : "", letter);
    if (!*letter)
        return snprintf(text, size, format, 0);
    if (strchr("feg", *letter))
        return snprintf(text, size, format, (double)number);
    if (*letter == 'c')
        return snprintf(text, size, format, (int)(event->value & 0x7f));
    if (strchr("di", *letter))
        return snprintf(text, size, format, (long long)(((int64_t)event->value ^ sign) - sign));
    return snprintf(text, size, format, (unsigned long long)event->value);
}

static bool is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

static void do_ports(const struct options *options)
{
    static const struct tw_channel_event events[] = {
        { .value = 0, .value_size = 1 },          { .value = 0xfe, .value_size = 1 },
        { .value = 0x8001, .value_size = 2 },     { .value = 0x41, .value_size = 4 },
        { .value = 0xdeadbeef, .value_size = 4 }, { .value = 0x7f7fffff, .value_size = 4 }
    };
    struct channels channels = { .options = options };
    char whole[600];

    if (!ports_open(&channels))
        require(said > 0);
    for (size_t i = 0; i < channels.format_count; i++) {
        const struct port_format *port = &channels.formats[i];

        require(ports_find(&channels, port->port) != NULL);
        for (size_t k = 0; k < sizeof events / sizeof events[0]; k++) {
            const int size = print_whole(whole, sizeof whole, port, &events[k]);
            struct output out;

            output_in_memory(&out, &channels.out);
            ports_print(&out, port, &events[k]);
            require(size >= 0 && (size_t)size < sizeof whole);
            if (is_plain(whole, (size_t)size))
                require(out.used == (size_t)size &&
                        (size == 0 || memcmp(out.buffer, whole, out.used) == 0));
            free(out.buffer);
        }
    }
    free(channels.formats);
}

/* ---- --config, --image, --at ---- */

static void check_settings(const struct settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *name = settings->items[i].name, *value = settings->items[i].value;

        require(!strchr(name, '=') && *name != ' ' && *value != ' ' && *value != '\t');
        require(!*value || value[strlen(value) - 1] != ' ');
    }
}

static void do_settings(const char *given)
{
    struct settings settings = { NULL, 0 };
    struct arena arena = { NULL };

    if (!settings_read(&settings, &arena, "fuzz", given))
        require(said > 0);
    check_settings(&settings);
    arena_free(&arena);
}

static void do_file(const char *text, size_t size)
{
    char path[2 * BUNDLE_PATH];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/settings", bundle_make_folder());
    file = fopen(path, "wb");
    require(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
    do_settings(path);
    (void)unlink(path);
}

static void do_values(const struct options *options)
{
    struct tw_run_place place;

    if (options->port_format)
        do_ports(options);
    if (options->config && strchr(options->config, '='))
        do_settings(options->config);
    if (options->at && !place_parse(&place, options))
        require(said > 0);
    for (size_t i = 0; i < options->images.count; i++) {
        struct tw_capture_image_option image;
        char copy[TEXT_MOST];

        (void)snprintf(copy, sizeof copy, "%s", options->images.items[i]);
        require(image_parse(options, "--image", &image, copy) ? *image.path != 0 : said > 0);
    }
}

static void do_words(char *text)
{
    char *words[WORDS_MOST + 1];
    struct options options, again;
    size_t count = 0;

    for (char *line = text; line && count < WORDS_MOST;) {
        char *feed = strchr(line, '\n');

        if (feed)
            *feed++ = 0;
        words[count++] = line;
        line = feed;
    }
    words[count] = NULL;
    said = 0;
    if (options_parse(&options, every_option(), words)) {
        require(options_parse(&again, every_option(), words));
        compare(&options, &again);
        options_free(&again);
        do_values(&options);
    } else
        require(said == 1);
    options_free(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MOST];
    char *file;

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    file = strstr(text, "@@\n");
    if (file) {
        do_file((const char *)data + (file - text) + 3, size - (size_t)(file - text) - 3);
        *file = 0;
    }
    do_words(text);
    return 0;
}
