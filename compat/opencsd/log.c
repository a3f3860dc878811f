/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of the whole process. */
#include "opencsd/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/settings.h"
#include "opencsd/text.h"

enum { MESSAGE_MAX = 512, ROWS_1_7 = 3 /* that 1.3.3 does not have */ };

static struct {
    pthread_mutex_t lock;
    ocsd_err_severity_t verbosity;
    struct oc_output *output; /* NULL: none */

    bool has_last;
    struct oc_error last;
    char last_message[MESSAGE_MAX];
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER, .verbosity = OCSD_ERR_SEV_ERROR };

struct oc_output *oc_log_output(void)
{
    struct oc_output *output;

    (void)pthread_mutex_lock(&journal.lock);
    output = oc_output_hold(journal.output);
    (void)pthread_mutex_unlock(&journal.lock);
    return output;
}

void oc_log_line(const char *line)
{
    struct oc_output *output = oc_log_output();

    oc_output_write(output, line);
    oc_output_drop(output);
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
    { "OCSD_ERR_DCDREG_TOOMANY", "Attempted to register too many custom decoders" },
    { "OCSD_ERR_DCD_INTERFACE_UNUSED", "Attempt to connect or use and interface not supported by this decoder." },
    /* 1.7.1 */
    { "OCSD_ERR_INVALID_OPCODE", "Illegal Opode found while decoding program memory." },
    { "OCSD_ERR_I_RANGE_LIMIT_OVERRUN", "An optional limit on consecutive instructions in range during decode has been exceeded." },
    { "OCSD_ERR_BAD_DECODE_IMAGE", "Mismatch between trace packets and decode image." },
};
/* clang-format on */

/* The table of 1.3.3 lacks a row and has two in each other's place. */
static const struct description *describe(unsigned code)
{
    static const struct description last = { "OCSD_ERR_LAST",
                                             "No error - error code end marker" };
    static const unsigned strict[][2] = { { 33, 34 }, { 34, 33 }, { 42, 43 } };
    const bool is_1_7 = oc_settings()->is_1_7;
    unsigned count = sizeof descriptions / sizeof descriptions[0] - (is_1_7 ? 0 : ROWS_1_7);

    if (oc_settings()->is_strict && !is_1_7) {
        count--;
        for (size_t i = 0; i < sizeof strict / sizeof strict[0]; i++)
            if (strict[i][0] == code)
                return &descriptions[strict[i][1]];
    }
    return code < count ? &descriptions[code] : code == count ? &last : NULL;
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
    (void)pthread_mutex_lock(&journal.lock);
    source->verbosity = journal.verbosity;
    (void)pthread_mutex_unlock(&journal.lock);
    source->is_logging = true;
}

/* What the source and the log want to know of. */
static bool is_wanted(const struct oc_source *source, ocsd_err_severity_t severity)
{
    bool is_wanted;

    (void)pthread_mutex_lock(&journal.lock);
    is_wanted =
        source->is_logging && severity <= source->verbosity && severity <= journal.verbosity;
    (void)pthread_mutex_unlock(&journal.lock);
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
    oc_log_line(text.text);
    (void)pthread_mutex_lock(&journal.lock);
    journal.has_last = true;
    journal.last = *error;
    journal.last.message = journal.last_message;
    (void)snprintf(journal.last_message, sizeof journal.last_message, "%s",
                   error->message ? error->message : "");
    (void)pthread_mutex_unlock(&journal.lock);
}

void oc_log_message(const struct oc_source *source, ocsd_err_severity_t severity,
                    const char *message)
{
    struct oc_text text;

    if (!is_wanted(source, severity))
        return;
    oc_text_start(&text);
    oc_text_add(&text, "%s : %s", source->name, message);
    oc_log_line(text.text);
}

/* ---- What clients ask for */

ocsd_err_t oc_log_init(ocsd_err_severity_t verbosity, bool has_output)
{
    struct oc_output *made = has_output ? oc_output_new() : NULL;
    struct oc_output *old = NULL;

    (void)pthread_mutex_lock(&journal.lock);
    journal.verbosity = verbosity;
    if (made) {
        old = journal.output;
        journal.output = made;
    }
    (void)pthread_mutex_unlock(&journal.lock);
    oc_output_drop(old);
    return made || !has_output ? OCSD_OK : OCSD_ERR_NOT_INIT;
}

ocsd_err_t oc_log_set_output(int flags, const char *file)
{
    struct oc_output *output = oc_log_output();

    if (!output)
        return OCSD_ERR_NOT_INIT;
    oc_output_set(output, flags, file);
    oc_output_drop(output);
    return OCSD_OK;
}

ocsd_err_t oc_log_set_callback(const void *tree, const void *context,
                               FnDefLoggerPrintStrCB print)
{
    struct oc_output *output = oc_log_output();

    if (!output)
        return OCSD_ERR_NOT_INIT;
    oc_output_set_callback(output, tree, context, print);
    oc_output_drop(output);
    return OCSD_OK;
}

ocsd_err_t oc_log_last(ocsd_trc_index_t *index, uint8_t *id, char *message, int size)
{
    struct oc_error last = { .severity = OCSD_ERR_SEV_NONE };
    char text[MESSAGE_MAX];
    bool has_last;

    (void)pthread_mutex_lock(&journal.lock);
    has_last = journal.has_last;
    if (has_last) {
        last = journal.last;
        memcpy(text, journal.last_message, sizeof text);
        last.message = text;
    }
    (void)pthread_mutex_unlock(&journal.lock);
    *index = has_last ? last.index : OCSD_BAD_TRC_INDEX;
    *id = has_last ? last.id : OCSD_BAD_CS_SRC_ID;
    if (has_last)
        oc_error_text(&last, message, size);
    else if (size > 0)
        message[0] = 0;
    return has_last ? last.code : OCSD_OK;
}
