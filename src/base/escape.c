/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of any origin made fit for output. */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

size_t tw_utf8_size(const char *text, size_t size)
{
    const unsigned first = (unsigned char)text[0];
    const size_t wanted = first < 0x80                     ? 1
                          : first >= 0xc2 && first <= 0xdf ? 2
                          : first >= 0xe0 && first <= 0xef ? 3
                          : first >= 0xf0 && first <= 0xf4 ? 4
                                                           : 0;
    unsigned second;

    if (!wanted || wanted > size)
        return 0;
    for (size_t i = 1; i < wanted; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    if (wanted < 3)
        return wanted;
    second = (unsigned char)text[1];
    /* Too long a form, surrogates, beyond the last plane. */
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)
               ? 0
               : wanted;
}

/* C0, DEL, and C1 (U+0080 to U+009F): some terminals obey those too. */
static int is_control(const char *text, size_t size)
{
    const unsigned first = (unsigned char)text[0];

    return first < 0x20 || first == 0x7f ||
           (size == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

static size_t put_unicode(char *out, unsigned value)
{
    memcpy(out, "\\u", 2);
    for (unsigned i = 0; i < 4; i++)
        out[2 + i] = digits[value >> (12 - 4 * i) & 15];
    return 6;
}

/* Whether each of eight characters stands for itself in any form: none is a control character, a quote, a backslash or beyond ASCII. */
static int are_plain(uint64_t eight)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;
    const uint64_t quotes = eight ^ ones * '"', slashes = eight ^ ones * '\\',
                   deletes = eight ^ ones * 0x7f;

    /* What is less than 1, or than a space, borrows its top bit. */
    return !(
        ((eight - ones * ' ') | (quotes - ones) | (slashes - ones) | (deletes - ones) | eight) &
        tops);
}

/* Copies what needs no escape in any form, as far as that goes; nearly every name is nothing else. */
static size_t copy_plain(char *out, const char *text, size_t size)
{
    size_t i = 0;

    for (uint64_t eight; i + sizeof eight <= size; i += sizeof eight) {
        memcpy(&eight, text + i, sizeof eight);
        if (!are_plain(eight))
            break;
        memcpy(out + i, &eight, sizeof eight);
    }
    for (; i < size && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\';
         i++)
        out[i] = text[i];
    return i;
}

size_t tw_escape_json(char *out, const char *text, size_t size)
{
    const size_t plain = copy_plain(out, text, size);
    char *at = out + plain;

    for (size_t i = plain, step; i < size; i += step ? step : 1) {
        step = tw_utf8_size(text + i, size - i);
        if (!step) {
            at += put_unicode(at, 0xfffd);
        } else if (is_control(text + i, step)) {
            at += put_unicode(at, (unsigned char)text[i + step - 1]);
        } else {
            if (text[i] == '"' || text[i] == '\\')
                *at++ = '\\';
            memcpy(at, text + i, step);
            at += step;
        }
    }
    return (size_t)(at - out);
}

size_t tw_escape_text(char *out, const char *text, size_t size)
{
    const size_t plain = copy_plain(out, text, size);
    char *at = out + plain;

    for (size_t i = plain; i < size;) {
        const size_t step = tw_utf8_size(text + i, size - i);
        const size_t next = i + (step ? step : 1);

        if (step && !is_control(text + i, step)) {
            memcpy(at, text + i, step);
            at += step;
            i = next;
            continue;
        }
        for (; i < next; i++) {
            memcpy(at, "\\x", 2);
            at[2] = digits[(unsigned char)text[i] >> 4];
            at[3] = digits[(unsigned char)text[i] & 15];
            at += 4;
        }
    }
    return (size_t)(at - out);
}
