/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of snapshots that are wrong, incomplete or damaged. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/test.h"

/* Each is refused with a line that names all of `says`. */
static const struct {
    const char *name;
    struct file changes[4];
    enum tw_status want;
    const char *says[3];
} refused[] = {
    { "no snapshot.ini", { { "snapshot.ini", NULL } }, TW_E_FILE, { "snap/snapshot.ini" } },
    { "no trace.ini",
      { { "trace.ini", NULL } },
      TW_E_FILE,
      { "snap/snapshot.ini:7", "metadata=trace.ini" } },
    { "no trace file",
      { { "trace.bin", NULL } },
      TW_E_FILE,
      { "snap/trace.ini:5", "file=trace.bin" } },
    { "empty", { { "snapshot.ini", "" } }, TW_E_CONFIG, { "snap/snapshot.ini", "[snapshot]" } },
    { "no version",
      { { "snapshot.ini", "[snapshot]\n[device_list]\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:1", "version" } },
    { "wrong version",
      { { "snapshot.ini", "[snapshot]\nversion=2.0\n[device_list]\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:2", "version=2.0" } },
    { "no device list",
      { { "snapshot.ini", "[snapshot]\nversion=1.0\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini", "device_list" } },
    { "absolute device",
      { { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\nx=/etc/passwd\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:4", "x=/etc/passwd", "absolute" } },
    { "drive",
      { { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\nx=C:\\a.ini\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:4", "absolute" } },
    { "outside",
      { { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\nx=../../etc/passwd\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:4", "../../etc/passwd" } },
    { "outside with detours",
      { { "cpu.ini", "[device]\nname=c\n[dump]\nfile=a/./../..\\x\naddress=0\n" } },
      TW_E_CONFIG,
      { "snap/cpu.ini:4", "file=a/./../..\\x" } },
    { "absolute trace file",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=n\nformat=coresight\n"
                       "file=trace.bin,/dev/zero\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:6", "/dev/zero" } },
    { "equal keys",
      { { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\na=etm.ini\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:5", "key a", "line 4" } },
    { "two devices of one name",
      { { "etm.ini", CORE } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:5", "name=cpu_0", "cpu.ini" } },
    { "two buffers of one name",
      { { "trace.ini", "[trace_buffers]\nbuffers=b,c\n"
                       "[b]\nname=n\nformat=coresight\nfile=trace.bin\n"
                       "[c]\nname=n\nformat=coresight\nfile=trace.bin\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:8", "name=n" } },
    { "one buffer twice",
      { { "trace.ini", "[trace_buffers]\nbuffers=b,b\n[b]\nname=n\n"
                       "format=coresight\nfile=trace.bin\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:4", "name=n" } },
    { "register is no number",
      { { "etm.ini", "[device]\nname=e\n[regs]\nTRCIDR0=abc\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:4", "TRCIDR0=abc", "number" } },
    { "register too large",
      { { "etm.ini", "[device]\nname=e\n[regs]\nA=0x10000000000000000\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:4", "A=0x1" } },
    { "register without value",
      { { "etm.ini", "[device]\nname=e\n[regs]\nTRCIDR0=\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:4", "TRCIDR0" } },
    { "register without =",
      { { "etm.ini", "[device]\nname=e\n[regs]\nTRCIDR0\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:4", "TRCIDR0" } },
    { "register with odd detail",
      { { "etm.ini", "[device]\nname=e\n[regs]\nA(x)=1\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:4", "A(x)" } },
    { "register of no bits",
      { { "etm.ini", "[device]\nname=e\n[regs]\nA(size:0)=1\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:4", "size:0" } },
    { "no device section",
      { { "etm.ini", "[regs]\nA=1\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini", "[device]" } },
    { "no device name",
      { { "etm.ini", "\n[device]\nclass=core\n" } },
      TW_E_CONFIG,
      { "snap/etm.ini:2", "name" } },
    { "dump without address",
      { { "cpu.ini", "[device]\nname=c\n[dump1]\nfile=code.bin\n" } },
      TW_E_CONFIG,
      { "snap/cpu.ini:3", "[dump1]", "address" } },
    { "dump without file",
      { { "cpu.ini", "[device]\nname=c\n[dump]\naddress=1\n" } },
      TW_E_CONFIG,
      { "snap/cpu.ini:3", "file" } },
    { "dump at no number",
      { { "cpu.ini", "[device]\nname=c\n[dump]\nfile=code.bin\naddress=here\n" } },
      TW_E_CONFIG,
      { "snap/cpu.ini:5", "address=here" } },
    { "dump past the end of memory",
      { { "cpu.ini",
          "[device]\nname=c\n[dump]\nfile=code.bin\naddress=0xfffffffffffffffe\n" } },
      TW_E_CONFIG,
      { "snap/cpu.ini:4", "code.bin" } },
    { "dumps that overlap",
      { { "cpu.ini", CORE "[dump]\nfile=trace.bin\naddress=0x1004\n" } },
      TW_E_CONFIG,
      { "cpu.ini", "code.bin", "trace.bin" } },
    { "no buffers",
      { { "trace.ini", "[x]\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini", "trace_buffers" } },
    { "no buffer list",
      { { "trace.ini", "[trace_buffers]\nx=y\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:1", "buffers" } },
    { "no buffer section",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:2", "[b]" } },
    { "buffer without format",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=n\nfile=trace.bin\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:3", "format" } },
    { "unknown format",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=n\n"
                       "file=trace.bin\nformat=usb\n" } },
      TW_E_UNSUPPORTED,
      { "snap/trace.ini:6", "format=usb" } },
    { "buffer of no file",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=n\n"
                       "file=,\nformat=coresight\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:5", "file" } },
    { "no metadata",
      { { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\n[trace]\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:4", "metadata" } },
    { "odd stream",
      { { "trace.ini", TRACE "ETM_0(stream:x)=ETB_0\n" } },
      TW_E_CONFIG,
      { "snap/trace.ini:11", "stream" } },
    { "cut section name",
      { { "snapshot.ini", "[snapshot\nversion=1.0\n" } },
      TW_E_CONFIG,
      { "snap/snapshot.ini:1" } },
};

/* [CSD 4.2.1/1] [CSD 4.2.1.1/1] [CSD 4.2.1.2] [CSD 4.2.1.4] [CSD 4.2.2.1/1]
   [CSD 4.2.2.3/1] [CSD 4.2.3] [CSD 4.2.3.1] [CSD 4.2.3.2/1] [CSD 4.2.3.2/3] */
static void refuses_bad_input_with_file_line_and_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(refused); i++) {
        struct tw_capture *capture;
        struct tw_fault fault = { .text = "" };

        CHECK_CASE(refused[i].name);
        CHECK_EQ(open_changed(&capture, refused[i].changes, NULL, &fault), refused[i].want);
        CHECK(!capture);
        CHECK(!strchr(fault.text, '\n'));
        for (size_t k = 0; k < 3 && refused[i].says[k]; k++)
            if (!strstr(fault.text, refused[i].says[k]))
                CHECK_TEXT(fault.text, refused[i].says[k]);
        CHECK_EQ(open_changed(&capture, refused[i].changes, NULL, NULL), refused[i].want);
    }
}

/* Each opens, with one warning that says this. */
static const struct {
    const char *name;
    struct file changes[4];
    const char *says[2];
    unsigned devices, sources;
} warned[] = {
    { "device file missing",
      { { "cpu.ini", NULL } },
      { "snap/snapshot.ini:4", "cpu.ini" },
      1,
      1 },
    { "dump missing", { { "code.bin", NULL } }, { "snap/cpu.ini:6", "code.bin" }, 2, 1 },
    { "dump empty", { { "code.bin", "" } }, { "snap/cpu.ini:6", "code.bin" }, 2, 1 },
    { "dump short",
      { { "cpu.ini", CORE "length=11\n" } },
      { "snap/cpu.ini:6", "10 of 11" },
      2,
      1 },
    { "dump beyond the file",
      { { "cpu.ini", CORE "length=2\noffset=10\n" } },
      { "snap/cpu.ini:6", "0 of 2" },
      2,
      1 },
    { "unknown space",
      { { "cpu.ini", CORE "space=Q\n" } },
      { "snap/cpu.ini:8", "space=Q" },
      2,
      1 },
    { "source without device",
      { { "trace.ini", TRACE "ETM_1=ETB_0\n" } },
      { "snap/trace.ini:11", "ETM_1" },
      2,
      1 },
    { "source in no buffer",
      { { "trace.ini", TRACE "ETM_0(stream:1)=ETB_9\n" } },
      { "snap/trace.ini:11", "ETB_9" },
      2,
      1 },
    { "core's source without device",
      { { "trace.ini", "[core_trace_sources]\ncpu_0=ETM_9\n[trace_buffers]\nbuffers=b\n[b]\n"
                       "name=n\nformat=coresight\nfile=trace.bin\n" } },
      { "snap/trace.ini:2", "cpu_0=ETM_9" },
      2,
      1 },
    { "a core is no source",
      { { "trace.ini", "[core_trace_sources]\ncpu_0=cpu_0\n[trace_buffers]\nbuffers=b\n[b]\n"
                       "name=n\nformat=coresight\nfile=trace.bin\n" } },
      { "snap/trace.ini:2", "is of class core" },
      2,
      1 },
    { "a source that no buffer holds",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=n\nformat=coresight\n"
                       "file=trace.bin\n[source_buffers]\n" } },
      { "snap/trace.ini", "in no buffer: ETM_0" },
      2,
      1 },
    { "a source of whose streams the first is in no buffer",
      { { "trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=n\nformat=coresight\n"
                       "file=trace.bin\n[source_buffers]\nETM_0(stream:1)=n\n" } },
      { "snap/trace.ini", "in no buffer: the first stream of ETM_0" },
      2,
      1 },
    { "one location twice",
      { { "cpu.ini", "[device]\nname=cpu_0\nclass=core\nlocation=address:0x100\n" } },
      { "snap/etm.ini: location=address:0x100", "cpu_0 (cpu.ini)" },
      2,
      1 },
    { "no associations of several",
      { { "trace.ini", "[trace_buffers]\nbuffers=b,c\n"
                       "[b]\nname=m\nformat=coresight\nfile=trace.bin\n"
                       "[c]\nname=n\nformat=coresight\nfile=trace.bin\n" } },
      { "snap/trace.ini", "source_buffers" },
      2,
      1 },
};

static void count_warning(void *context, const char *text)
{
    CHECK(*text);
    ++*(unsigned *)context;
}

/* [CSD 4.2.2.1/5] [CSD 4.2.2.3/3] [CSD 4.2.3] */
static void opens_what_is_incomplete_with_a_warning(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(warned); i++) {
        unsigned told = 0;
        const struct tw_capture_options options = { .size = sizeof options,
                                                    .warn = count_warning,
                                                    .warn_context = &told };
        struct tw_capture *capture;
        bool is_core_missing = strstr(warned[i].name, "device file") != NULL;

        CHECK_CASE(warned[i].name);
        CHECK_EQ(open_changed(&capture, warned[i].changes, &options, NULL), TW_OK);
        /* A source whose core is missing is told as well: it has no memory. */
        CHECK_EQ(tw_capture_warning_count(capture), is_core_missing ? 2 : 1);
        CHECK_EQ(told, tw_capture_warning_count(capture));
        CHECK(strstr(tw_capture_warning(capture, 0), warned[i].says[0]));
        CHECK(strstr(tw_capture_warning(capture, 0), warned[i].says[1]));
        CHECK_EQ(tw_capture_device_count(capture), warned[i].devices);
        CHECK_EQ(tw_capture_source_count(capture), warned[i].sources);
        tw_capture_free(capture);
    }
}

/* [CSD 4.2.2.1/2]
   A class is optional. */
static void takes_for_a_source_what_its_type_or_its_core_says(void **state)
{
    static const struct {
        const char *name, *device, *cores;
        unsigned sources;
    } cases[] = {
        { "no class", "type=ETM4.2\n", "", 1 },
        { "a class for people", "class=macrocell\ntype=ETM4.2\n", "", 1 },
        { "a core", "class=core\ntype=ETM4.2\n", "", 0 },
        { "memory", "class=memory_space\ntype=ETM4.2\n", "", 0 },
        { "a type that is no trace's", "type=ETB\n", "", 0 },
        { "named by its core", "type=ETM\n", "[core_trace_sources]\ncpu_0=ETM_0\n", 1 },
        { "named by its core, without a type", "", "[core_trace_sources]\ncpu_0=@x:1\n", 1 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char device[200], trace[200];
        const struct file changes[4] = { { "etm.ini", device }, { "trace.ini", trace } };
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        (void)snprintf(device, sizeof device, "[device]\nname=ETM_0\nlocation=x:1\n%s",
                       cases[i].device);
        (void)snprintf(trace, sizeof trace,
                       "[trace_buffers]\nbuffers=b\n[b]\nname=n\nformat=coresight\n"
                       "file=trace.bin\n%s",
                       cases[i].cores);
        CHECK_EQ(open_changed(&capture, changes, NULL, NULL), TW_OK);
        CHECK_EQ(tw_capture_source_count(capture), cases[i].sources);
        CHECK_EQ(tw_capture_warning_count(capture), 0);
        if (cases[i].sources)
            CHECK_EQ(tw_capture_source_buffer(capture, 0, 0), 0);
        tw_capture_free(capture);
    }
}

/* Every byte of each file changed in several ways, and every cut. */
static void survives_every_flip_and_cut(void **state)
{
    static const uint8_t flips[] = { 0x01, 0x20, 0x80, 0xff, '=', '[', '\n', ',' };
    struct file files[FILES_MAX];
    const struct served served = { .files = files };

    (void)state;
    for (size_t f = 0; f < 4; f++) {
        const size_t size = strlen(good[f].text);

        for (size_t place = 0; place < size; place++)
            for (size_t i = 0; i <= LENGTH(flips); i++) {
                char text[512];
                struct tw_capture *capture;

                memcpy(text, good[f].text, size + 1);
                if (i < LENGTH(flips))
                    text[place] = (char)(text[place] ^ flips[i]);
                else
                    text[place] = 0; /* the cut */
                memcpy(files, good, sizeof files);
                files[f].text = text;
                if (open_served(&capture, &served, NULL, NULL) == TW_OK)
                    look_at_all(capture);
                tw_capture_free(capture);
            }
    }
}

static void refuses_bytes_that_are_no_text(void **state)
{
    const struct served served = { .files = good,
                                   .replacement = (const uint8_t *)"[a\0b]",
                                   .size = 5 };
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(open_served(&capture, &served, NULL, NULL), TW_E_CONFIG);
}

static void *fail_later(void *context, void *old, size_t size)
{
    unsigned *left = context;

    if (!size) {
        free(old);
        return NULL;
    }
    if (!*left)
        return NULL;
    --*left;
    return realloc(old, size);
}

static void survives_each_failed_allocation(void **state)
{
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    for (unsigned tries = 0; status != TW_OK; tries++) {
        unsigned left = tries;
        const struct tw_allocator allocator = { fail_later, &left };
        const struct tw_capture_options options = { .size = sizeof options,
                                                    .allocator = &allocator };
        const struct served served = { .files = good };
        struct tw_capture *capture;

        CHECK(tries < 1000);
        status = open_served(&capture, &served, &options, NULL);
        CHECK(status == TW_OK || (status == TW_E_MEMORY && !capture));
        tw_capture_free(capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_input_with_file_line_and_key),
        cmocka_unit_test(opens_what_is_incomplete_with_a_warning),
        cmocka_unit_test(takes_for_a_source_what_its_type_or_its_core_says),
        cmocka_unit_test(survives_every_flip_and_cut),
        cmocka_unit_test(refuses_bytes_that_are_no_text),
        cmocka_unit_test(survives_each_failed_allocation),
    };

    return cmocka_run_group_tests_name("bad captures", tests, NULL, NULL);
}
