/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format csv of RISC-V data trace. */
#include "formats/accesses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/etrace.h>

/* The row being put together: the elements of one packet. */
struct row {
    bool is_open, has_address, has_data;
    uint64_t index;
    unsigned kind; /* enum tw_data_kind */
    unsigned size; /* bytes */
    uint64_t address;
    uint64_t data[2], operand[2]; /* the low 8 bytes, and those above */
    unsigned parts, operand_parts;
};

struct accesses {
    struct session *session;
    struct row row;
};

static bool is_data_trace(const struct tw_source *source)
{
    struct tw_etrace_config config;

    if (!source->protocol)
        return false;
    if (!strcmp(source->protocol, "etraced"))
        return true;
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_NONE);
    return !strcmp(source->protocol, "etrace") && source->text &&
           tw_etrace_config_read(&config, source->text, NULL) == TW_OK && config.is_data;
}

bool accesses_fit(const struct session *session)
{
    const size_t count = tw_capture_source_count(session->capture);

    for (size_t i = 0; i < count; i++)
        if (!is_data_trace(tw_capture_source(session->capture, i)))
            return false;
    return count > 0;
}

/* Atomics and CSRs have two values, which stand side by side in one of twice the size. */
static bool has_two(unsigned kind)
{
    return kind >= TW_DATA_CSR_RW && kind <= TW_DATA_MIN;
}

static void print_data(const struct row *row, struct output *out)
{
    uint64_t words[4] = { row->data[0], row->data[1], row->operand[0], row->operand[1] };
    unsigned count = 4;

    if (row->size < 8) {
        words[0] |= row->operand[0] << 8 * row->size;
        words[2] = 0;
    } else if (row->size == 8) {
        words[1] = row->operand[0];
        words[2] = 0;
    }
    while (count > 1 && !words[count - 1])
        count--;
    output_format(out, "%" PRIx64, words[--count]);
    while (count)
        output_format(out, "%016" PRIx64, words[--count]);
}

static void end_row(struct row *row, struct output *out)
{
    /* The specification's dtype, by enum tw_data_kind. */
    static const uint8_t types[] = { 0, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    unsigned log = has_two(row->kind) ? 1 : 0;

    if (!row->is_open)
        return;
    for (unsigned bytes = row->size; bytes > 1; bytes /= 2)
        log++;
    output_format(out, "1,%u,", row->kind < sizeof types ? types[row->kind] : 0);
    if (row->has_address)
        output_format(out, "%" PRIx64, row->address);
    output_format(out, ",%u,", log);
    if (row->has_data)
        print_data(row, out);
    output_text(out, "\n");
    *row = (struct row){ .is_open = false };
}

static void take(struct row *row, const struct tw_element *element)
{
    row->is_open = true;
    row->index = element->index;
    row->kind = element->kind;
    if (!row->size)
        row->size = element->size;
    if (element->flags & TW_DATA_HAS_ADDRESS && !row->has_address) {
        row->has_address = true;
        row->address = element->data_address;
    }
    if (element->type != TW_ELEMENT_DATA_VALUE || !(element->flags & TW_DATA_HAS_VALUE))
        return;
    row->has_data = true;
    if (element->flags & TW_DATA_OPERAND)
        row->operand[row->operand_parts++ & 1] = element->data_value;
    else
        row->data[row->parts++ & 1] = element->data_value;
    if (row->parts > 1 || row->operand_parts > 1) /* no address came before, with the size */
        row->size = 16;
}

struct accesses *accesses_new(struct session *session)
{
    struct accesses *made = calloc(1, sizeof *made);

    if (!made) {
        say("out of memory");
        return NULL;
    }
    made->session = session;
    output_text(session->out, "DRETIRE,DTYPE,DADDR,DSIZE,DATA\n");
    return made;
}

void accesses_free(struct accesses *accesses)
{
    if (accesses && !output_is_over(accesses->session->out))
        end_row(&accesses->row, accesses->session->out);
    free(accesses);
}

void accesses_take(struct accesses *accesses, const struct tw_part *part)
{
    struct row *row = &accesses->row;

    if (part->kind == TW_PART_END)
        end_row(row, accesses->session->out);
    for (size_t i = 0; part->kind == TW_PART_ELEMENTS && i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        /* There is no row for them: they are said even with --errors. */
        if (element->type == TW_ELEMENT_ERROR && accesses->session->options->errors)
            session_say_error(accesses->session, element, part->batch.id);
        if (element->type != TW_ELEMENT_DATA_ADDR && element->type != TW_ELEMENT_DATA_VALUE)
            continue;
        if (row->is_open && row->index != element->index)
            end_row(row, accesses->session->out);
        take(row, element);
    }
}
