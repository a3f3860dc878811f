/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are something else, known by their first bytes or by the words in them. */
#include <string.h>

#include "base/compiler.h"
#include "identify/identify.h"

enum { TEXT_SEEN = 4096, FILL_PLACES = 512 };

/* clang-format off */
static const struct {
    const char *bytes;
    uint16_t size, at;
    struct tw_look look;
} marks[] = {
#define MARK(bytes, at, ...) { bytes, sizeof(bytes) - 1, at, { __VA_ARGS__ } }
    MARK("\x7f" "ELF", 0, "ELF", "a program or library (ELF), no trace", "begins with 7f 45 4c 46",
         "trackway decode CAPTURE --image %s"),
    MARK("BZh", 0, "bzip2", "packed with bzip2", "begins with \"BZh\"", "bunzip2 %s"),
    MARK("PK\x03\x04", 0, "zip", "a zip archive", "begins with \"PK\"", "unzip %s"),
    MARK("7z\xbc\xaf\x27\x1c", 0, "7z", "a 7z archive", "begins with \"7z\"", "7z x %s"),
    MARK("\x04\x22\x4d\x18", 0, "lz4", "packed with lz4", "begins with 04 22 4d 18", "unlz4 %s"),
    MARK("ustar", 257, "tar", "a tar archive", "\"ustar\" at offset 257", "tar xf %s"),
    MARK("!<arch>\n", 0, "ar", "an archive of object files", "begins with \"!<arch>\"", NULL),
    MARK("TWINDEX", 0, "index", "an index of Trackway", "begins with \"TWINDEX\"", "trackway index find CAPTURE --index %s"),
    MARK("TWRESULT", 0, "result", "a result that Trackway saved", "begins with \"TWRESULT\"", "trackway profile --add %s"),
    MARK("MZ", 0, "PE", "a Windows program", "begins with \"MZ\"", NULL),
    MARK("\xca\xfe\xba\xbe", 0, "Mach-O", "a Mach-O program or a Java class", "begins with ca fe ba be", NULL),
    MARK("\xcf\xfa\xed\xfe", 0, "Mach-O", "a Mach-O program", "begins with cf fa ed fe", NULL),
    MARK("\0asm", 0, "WebAssembly", "a WebAssembly module", "begins with 00 61 73 6d", NULL),
    MARK("\x89PNG", 0, "PNG", "a picture", "begins with 89 50 4e 47", NULL),
    MARK("\xff\xd8\xff", 0, "JPEG", "a picture", "begins with ff d8 ff", NULL),
    MARK("GIF8", 0, "GIF", "a picture", "begins with \"GIF8\"", NULL),
    MARK("%PDF", 0, "PDF", "a document", "begins with \"%PDF\"", NULL),
    MARK("RIFF", 0, "RIFF", "sound or video", "begins with \"RIFF\"", NULL),
    MARK("SQLite format 3", 0, "SQLite", "a database", "begins with \"SQLite format 3\"", NULL),
    MARK("\xd4\xc3\xb2\xa1", 0, "pcap", "captured network packets", "begins with d4 c3 b2 a1", NULL),
    MARK("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 0, "Intel PT",
         "Intel PT trace, which Trackway does not decode", "begins with a PSB packet", NULL),
    MARK("\xc1\x1f\xfc\xc1", 0, "CTF", "a stream of the Common Trace Format", "begins with c1 1f fc c1", "babeltrace2 ."),
#undef MARK
};

/* Text by what stands in its first lines. */
static const struct {
    const char *word;
    struct tw_look look;
} words[] = {
    { "exlog 1", { "log", "an execution log", "its first line is \"exlog 1\"", "trackway encode etmv4 %s --elf PROGRAM -o trace.bin" } },
    { "[snapshot]", { "snapshot", "the description of a snapshot", "has a section [snapshot]", "trackway decode %s" } },
    { "[trace_buffers]", { "trace.ini", "the list of buffers of a snapshot, not its beginning", "has a section [trace_buffers]",
      "trackway decode FOLDER  # the folder that holds snapshot.ini" } },
    { "[device]", { "device.ini", "a device of a snapshot, not its beginning", "has a section [device]",
      "trackway decode FOLDER  # the folder that holds snapshot.ini" } },
    { "[device_list]", { "snapshot", "the description of a snapshot", "has a section [device_list]", "trackway decode %s" } },
    { "\"t\":\"INSTR_RANGE\"", { "jsonl", "a listing of elements", "has lines of \"t\":\"INSTR_RANGE\"", NULL } },
    { "encapsulation=", { "etrace config", "the configuration of an E-Trace encoder", "has a line encapsulation=",
      "trackway decode TRACE --protocol etrace --config %s" } },
};
/* clang-format on */

static bool is_text(const uint8_t *bytes, size_t size)
{
    size_t strange = 0;

    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == 0)
            return false;
        strange += bytes[i] < ' ' && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t' &&
                   bytes[i] != '\f' && bytes[i] != 0x1b;
        strange += bytes[i] == 0x7f;
    }
    return size >= 4 && strange * 100 <= size;
}

/* Bytes above 0x7f are letters only as UTF-8 has them. */
static bool is_utf8(const uint8_t *bytes, size_t size)
{
    size_t at = 0;

    while (at < size) {
        const uint8_t first = bytes[at];
        const size_t more = first < 0x80   ? 0
                            : first < 0xc2 ? 4
                            : first < 0xe0 ? 1
                            : first < 0xf0 ? 2
                            : first < 0xf5 ? 3
                                           : 4;

        if (more == 4)
            return false;
        for (size_t i = 1; i <= more && at + i < size; i++)
            if ((bytes[at + i] & 0xc0) != 0x80)
                return false;
        at += more + 1;
    }
    return true;
}

static bool holds(const uint8_t *bytes, size_t size, const char *word)
{
    const size_t length = strlen(word);

    for (size_t i = 0; i + length <= size; i++)
        if (bytes[i] == (uint8_t)word[0] && memcmp(bytes + i, word, length) == 0)
            return true;
    return false;
}

static bool is_constant(const uint8_t *bytes, size_t size)
{
    for (size_t i = 1; i < size; i++)
        if (bytes[i] != bytes[0])
            return false;
    return true;
}

/* One value in all of a small file, and in many places of a large one. */
static bool is_fill(const uint8_t *bytes, size_t size)
{
    const size_t step = size / FILL_PLACES / 3 * 3 + 1; /* at no round distance */

    for (size_t at = 0; at < size; at += step) {
        const size_t left = size - at;
        size_t seen = left < TEXT_SEEN ? left : TEXT_SEEN;

        seen = seen < step ? seen : step;
        if (bytes[at] != bytes[0] || !is_constant(bytes + at, seen))
            return false;
    }
    return true;
}

bool tw_look_at(struct tw_look *look, const uint8_t *bytes, size_t size)
{
    const size_t seen = size < TEXT_SEEN ? size : TEXT_SEEN;

    if (!size) {
        *look = (struct tw_look){ "empty", "an empty file", "has no bytes", NULL };
        return true;
    }
    for (size_t i = 0; i < TW_LENGTH(marks); i++)
        if (size >= (size_t)marks[i].at + marks[i].size &&
            memcmp(bytes + marks[i].at, marks[i].bytes, marks[i].size) == 0) {
            *look = marks[i].look;
            return true;
        }
    if (size >= 16 && is_fill(bytes, size)) {
        *look =
            (struct tw_look){ "fill",
                              "one byte over and over: an erased or unused buffer, no trace",
                              "all bytes that were looked at are the same", NULL };
        return true;
    }
    if (!is_text(bytes, seen) || !is_utf8(bytes, seen))
        return false;
    for (size_t i = 0; i < TW_LENGTH(words); i++)
        if (holds(bytes, seen, words[i].word)) {
            *look = words[i].look;
            return true;
        }
    *look =
        (struct tw_look){ "text", "text, no trace", "its first bytes are all printable", NULL };
    return true;
}
