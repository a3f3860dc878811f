/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of the whole process.  One lock guards it; callbacks are called without the lock. */
#include "opencsd/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/settings.h"
#include "opencsd/text.h"

enum { OUT_CALLBACK = 0x8, MESSAGE_MAX = 512 };

static const char default_file[] = "ocsd_trace_decode.log";

static struct {
    pthread_mutex_t lock;
    ocsd_err_severity_t verbosity;
    bool has_output;
    int flags; /* C_API_MSGLOGOUT_FLG_..., OUT_CALLBACK */
    char *file_name;
    FILE *file;
    const void *tree; /* whose callback it is */
    const void *context;
    FnDefLoggerPrintStrCB print;

    bool has_last;
    struct oc_error last;
    char last_message[MESSAGE_MAX];
} output = { .lock = PTHREAD_MUTEX_INITIALIZER, .verbosity = OCSD_ERR_SEV_ERROR };

/* ---- Lines */

static void write_file(const char *line)
{
    if (!output.file)
        output.file = fopen(output.file_name ? output.file_name : default_file, "a");
    if (!output.file)
        return;
    (void)fputs(line, output.file);
    (void)fflush(output.file);
}

static void write_line(const char *line)
{
    FnDefLoggerPrintStrCB print = NULL;
    const void *context = NULL;

    (void)pthread_mutex_lock(&output.lock);
    if (output.has_output) {
        if (output.flags & C_API_MSGLOGOUT_FLG_STDOUT) {
            (void)fputs(line, stdout);
            (void)fflush(stdout);
        }
        if (output.flags & C_API_MSGLOGOUT_FLG_STDERR)
            (void)fputs(line, stderr);
        if (output.flags & C_API_MSGLOGOUT_FLG_FILE)
            write_file(line);
        if (output.flags & OUT_CALLBACK) {
            print = output.print;
            context = output.context;
        }
    }
    (void)pthread_mutex_unlock(&output.lock);
    if (print)
        print(context, line, (int)strlen(line));
}

void oc_log_line(const char *line)
{
    write_line(line);
}

bool oc_log_is_open(void)
{
    bool is_open;

    (void)pthread_mutex_lock(&output.lock);
    is_open = output.has_output && output.flags;
    (void)pthread_mutex_unlock(&output.lock);
    return is_open;
}

/* ---- Errors as text */

struct description {
    const char *name, *text;
};

/* clang-format off */
static const struct description descriptions[] = {
    { "OCSD_OK", "No Error." },
    { "OCSD_ERR_FAIL", "General failure." },
    { "OCSD_ERR_MEM", "Internal memory allocation error." },
    { "OCSD_ERR_NOT_INIT", "Component not initialised." },
    { "OCSD_ERR_INVALID_ID", "Invalid CoreSight Trace Source ID." },
    { "OCSD_ERR_BAD_HANDLE", "Invalid handle passed to component." },
    { "OCSD_ERR_INVALID_PARAM_VAL", "Invalid value parameter passed to component." },
    { "OCSD_ERR_INVALID_PARAM_TYPE", "Type mismatch on abstract interface." },
    { "OCSD_ERR_FILE_ERROR", "File access error" },
    { "OCSD_ERR_NO_PROTOCOL", "Trace protocol unsupported" },
    { "OCSD_ERR_ATTACH_TOO_MANY", "Cannot attach - attach device limit reached." },
    { "OCSD_ERR_ATTACH_INVALID_PARAM", " Cannot attach - invalid parameter." },
    { "OCSD_ERR_ATTACH_COMP_NOT_FOUND", "Cannot detach - component not found." },
    { "OCSD_ERR_RDR_FILE_NOT_FOUND", "source reader - file not found." },
    { "OCSD_ERR_RDR_INVALID_INIT", "source reader - invalid initialisation parameter." },
    { "OCSD_ERR_RDR_NO_DECODER", "source reader - not trace decoder set." },
    { "OCSD_ERR_DATA_DECODE_FATAL", "A decoder in the data path has returned a fatal error." },
    { "OCSD_ERR_DFMTR_NOTCONTTRACE", "Trace input to deformatter none-continuous" },
    { "OCSD_ERR_DFMTR_BAD_FHSYNC", "Bad frame or half frame sync in trace deformatter" },
    { "OCSD_ERR_BAD_PACKET_SEQ", "Bad packet sequence" },
    { "OCSD_ERR_INVALID_PCKT_HDR", "Invalid packet header" },
    { "OCSD_ERR_PKT_INTERP_FAIL", "Interpreter failed - cannot recover - bad data or sequence" },
    { "OCSD_ERR_UNSUPPORTED_ISA", "ISA not supported in decoder" },
    { "OCSD_ERR_HW_CFG_UNSUPP", "Programmed trace configuration not supported by decodUer." },
    { "OCSD_ERR_UNSUPP_DECODE_PKT", "Packet not supported in decoder" },
    { "OCSD_ERR_BAD_DECODE_PKT", "Reserved or unknown packet in decoder." },
    { "OCSD_ERR_COMMIT_PKT_OVERRUN", "Overrun in commit packet stack - tried to commit more than available" },
    { "OCSD_ERR_MEM_NACC", "Unable to access required memory address." },
    { "OCSD_ERR_RET_STACK_OVERFLOW", "Internal return stack overflow checks failed - popped more than we pushed." },
    { "OCSD_ERR_DCDT_NO_FORMATTER", "No formatter in use - operation not valid." },
    { "OCSD_ERR_MEM_ACC_OVERLAP", "Attempted to set an overlapping range in memory access map." },
    { "OCSD_ERR_MEM_ACC_FILE_NOT_FOUND", "Memory access file could not be opened." },
    { "OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE", "Attempt to re-use the same memory access file for a different address range." },
    { "OCSD_ERR_MEM_ACC_RANGE_INVALID", "Address range in accessor set to invalid values." },
    { "OCSD_ERR_MEM_ACC_BAD_LEN", "Memory accessor returned a bad read length value (larger than requested." },
    { "OCSD_ERR_TEST_SNAPSHOT_PARSE", "Test snapshot file parse error" },
    { "OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO", "Test snapshot file parse information" },
    { "OCSD_ERR_TEST_SNAPSHOT_READ", "test snapshot reader error" },
    { "OCSD_ERR_TEST_SS_TO_DECODER", "test snapshot to decode tree conversion error" },
    { "OCSD_ERR_DCDREG_NAME_REPEAT", "Attempted to register a decoder with the same name as another one." },
    { "OCSD_ERR_DCDREG_NAME_UNKNOWN", "Attempted to find a decoder with a name that is not known in the library." },
    { "OCSD_ERR_DCDREG_TYPE_UNKNOWN", "Attempted to find a decoder with a type that is not known in the library." },
    { "OCSD_ERR_DCDREG_TOOMANY", "Attempted to register too many custom decoders." },
    { "OCSD_ERR_DCD_INTERFACE_UNUSED", "Attempt to connect or use and interface not supported by this decoder." },
};
/* clang-format on */

/* The original's table lacks a row and has two in each other's place. */
static const struct description *describe(unsigned code)
{
    static const struct description last = { "OCSD_ERR_LAST",
                                             "No error - error code end marker" };
    static const unsigned strict[][2] = { { 33, 34 }, { 34, 33 }, { 42, 43 } };

    if (oc_settings()->is_strict && !oc_settings()->is_1_7) {
        if (code == 43)
            return &last;
        if (code > 43)
            return NULL;
        for (size_t i = 0; i < sizeof strict / sizeof strict[0]; i++)
            if (strict[i][0] == code)
                return &descriptions[strict[i][1]];
    }
    if (code == sizeof descriptions / sizeof descriptions[0])
        return &last;
    return code < sizeof descriptions / sizeof descriptions[0] ? &descriptions[code] : NULL;
}

static void describe_error(struct oc_text *text, const struct oc_error *error)
{
    const struct description *about = describe((unsigned)error->code);

    if (error->severity < OCSD_ERR_SEV_ERROR || error->severity > OCSD_ERR_SEV_INFO) {
        oc_text_add(text, "LIBRARY INTERNAL ERROR: Invalid Error Object");
        return;
    }
    oc_text_add(text, "0x%04x", (unsigned)error->code);
    if (about)
        oc_text_add(text, " (%s) [%s]; ", about->name, about->text);
    else
        oc_text_add(text, " (unknown); ");
    if (error->index != OCSD_BAD_TRC_INDEX)
        oc_text_add(text, "TrcIdx=%" OCSD_TRC_IDX_STR "; ", error->index);
    if (error->id != OCSD_BAD_CS_SRC_ID)
        oc_text_add(text, "CS ID=%02x; ", error->id);
    if (error->message)
        oc_text_add(text, "%s", error->message);
}

void oc_error_text(const struct oc_error *error, char *out, int size)
{
    struct oc_text text;

    oc_text_start(&text);
    describe_error(&text, error);
    oc_text_copy(&text, out, size);
}

/* ---- Who logs */

void oc_source_start(struct oc_source *source, const char *name, int number)
{
    if (number < 0)
        (void)snprintf(source->name, sizeof source->name, "%s", name);
    else
        (void)snprintf(source->name, sizeof source->name, "%s_%04d", name, number);
    (void)pthread_mutex_lock(&output.lock);
    source->verbosity = output.verbosity;
    (void)pthread_mutex_unlock(&output.lock);
    source->is_logging = true;
}

/* What the source and the log want to know of. */
static bool is_wanted(const struct oc_source *source, ocsd_err_severity_t severity)
{
    bool is_wanted;

    (void)pthread_mutex_lock(&output.lock);
    is_wanted =
        source->is_logging && severity <= source->verbosity && severity <= output.verbosity;
    (void)pthread_mutex_unlock(&output.lock);
    return is_wanted;
}

void oc_log_error(const struct oc_source *source, const struct oc_error *error)
{
    struct oc_text text;

    if (!is_wanted(source, error->severity))
        return;
    oc_text_start(&text);
    oc_text_add(&text, "%s : ", source->name);
    describe_error(&text, error);
    write_line(text.text);
    (void)pthread_mutex_lock(&output.lock);
    output.has_last = true;
    output.last = *error;
    output.last.message = output.last_message;
    (void)snprintf(output.last_message, sizeof output.last_message, "%s",
                   error->message ? error->message : "");
    (void)pthread_mutex_unlock(&output.lock);
}

void oc_log_message(const struct oc_source *source, ocsd_err_severity_t severity,
                    const char *message)
{
    struct oc_text text;

    if (!is_wanted(source, severity))
        return;
    oc_text_start(&text);
    oc_text_add(&text, "%s : %s", source->name, message);
    write_line(text.text);
}

/* ---- What clients ask for */

ocsd_err_t oc_log_init(ocsd_err_severity_t verbosity, bool has_output)
{
    (void)pthread_mutex_lock(&output.lock);
    output.verbosity = verbosity;
    if (has_output) { /* a new one */
        if (output.file)
            (void)fclose(output.file);
        free(output.file_name);
        output.file = NULL;
        output.file_name = NULL;
        output.has_output = true;
        output.flags = C_API_MSGLOGOUT_FLG_STDERR;
        output.tree = output.context = NULL;
        output.print = NULL;
    }
    (void)pthread_mutex_unlock(&output.lock);
    return OCSD_OK;
}

ocsd_err_t oc_log_set_output(int flags, const char *file)
{
    ocsd_err_t result = OCSD_ERR_NOT_INIT;

    (void)pthread_mutex_lock(&output.lock);
    if (output.has_output) {
        result = OCSD_OK;
        output.flags = flags & C_API_MSGLOGOUT_MASK;
        if (file) {
            if (output.file)
                (void)fclose(output.file);
            free(output.file_name);
            output.file = NULL;
            output.file_name = *file ? malloc(strlen(file) + 1) : NULL;
            if (output.file_name)
                memcpy(output.file_name, file, strlen(file) + 1);
            if (*file)
                output.flags |= C_API_MSGLOGOUT_FLG_FILE;
            else
                output.flags &= ~C_API_MSGLOGOUT_FLG_FILE;
        }
    }
    (void)pthread_mutex_unlock(&output.lock);
    return result;
}

ocsd_err_t oc_log_set_callback(const void *tree, const void *context,
                               FnDefLoggerPrintStrCB print)
{
    ocsd_err_t result = OCSD_ERR_NOT_INIT;

    (void)pthread_mutex_lock(&output.lock);
    if (output.has_output) {
        result = OCSD_OK;
        output.tree = tree;
        output.context = context;
        output.print = print;
        output.flags |= OUT_CALLBACK;
    }
    (void)pthread_mutex_unlock(&output.lock);
    return result;
}

void oc_log_forget(const void *tree)
{
    (void)pthread_mutex_lock(&output.lock);
    if (output.tree == tree) {
        output.tree = output.context = NULL;
        output.print = NULL;
        output.flags &= ~OUT_CALLBACK;
    }
    (void)pthread_mutex_unlock(&output.lock);
}

ocsd_err_t oc_log_last(ocsd_trc_index_t *index, uint8_t *id, char *message, int size)
{
    struct oc_error last = { .severity = OCSD_ERR_SEV_NONE };
    char text[MESSAGE_MAX];
    bool has_last;

    (void)pthread_mutex_lock(&output.lock);
    has_last = output.has_last;
    if (has_last) {
        last = output.last;
        memcpy(text, output.last_message, sizeof text);
        last.message = text;
    }
    (void)pthread_mutex_unlock(&output.lock);
    *index = has_last ? last.index : OCSD_BAD_TRC_INDEX;
    *id = has_last ? last.id : OCSD_BAD_CS_SRC_ID;
    if (has_last)
        oc_error_text(&last, message, size);
    else if (size > 0)
        message[0] = 0;
    return has_last ? last.code : OCSD_OK;
}
