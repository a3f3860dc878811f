/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing perf.data: header, attributes, metadata of the trace units, feature sections. */
#include "capture/perfdata_write.h"

#include <string.h>

#include "base/sized.h"
#include "image/file.h"

enum {
    CPUS_MAX = 500,     /* a record of metadata has room for so many blocks */
    INFO_WORDS_MAX = 3, /* before the first block */
    BLOCK_WORDS_MAX = 3 + PERF_PARAMS,
    HEADER_SIZE = 104,
    ATTR_SIZE = 128,
    ATTR_CLOCKID = 92, /* where in it */
    CLOCKID_MONOTONIC = 1,
    PMU_TYPE = 8, /* of cs_etm; the file says so itself */
    EVENTS = 2,
    TS_SOURCE_VIRTUAL = 1,
    STRING_ALIGN = 64
};

enum { FLAG_DISABLED = 0, FLAG_NO_KERNEL = 5, FLAG_NO_HYP = 6, FLAG_SAMPLE_ID_ALL = 18 };
enum { FLAG_MMAP = 8, FLAG_COMM = 9, FLAG_TASK = 13, FLAG_NO_GUEST = 20, FLAG_MMAP2 = 23 };
enum { FLAG_COMM_EXEC = 24, FLAG_USE_CLOCKID = 25, FLAG_CONTEXT_SWITCH = 26 };

/* The options of `perf record` that say what TRCCONFIGR or ETMCR says. */
enum {
    OPTION_CYCLES = 1 << 12,
    OPTION_CONTEXT = 1 << 14,
    OPTION_TIME = 1 << 28,
    OPTION_STACK = 1 << 29
};

/* ---- bytes ---- */

static enum tw_status flush(struct tw_perf_writer *writer)
{
    const size_t size = writer->buffered;

    if (!size)
        return TW_OK;
    writer->buffered = 0;
    if (!writer->config.write(writer->config.write_context, writer->position - size,
                              writer->buffer, size))
        return tw_fail(&writer->fault, TW_E_FILE, "perf.data could not be written");
    return TW_OK;
}

enum tw_status perf_put_bytes(struct tw_perf_writer *writer, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    while (size) {
        const size_t room = sizeof writer->buffer - writer->buffered;
        const size_t part = size < room ? size : room;

        memcpy(writer->buffer + writer->buffered, at, part);
        writer->buffered += part;
        writer->position += part;
        at += part;
        size -= part;
        if (writer->buffered == sizeof writer->buffer)
            TW_TRY(flush(writer));
    }
    return TW_OK;
}

enum tw_status perf_put(struct tw_perf_writer *writer, uint64_t value, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    return perf_put_bytes(writer, bytes, size);
}

enum tw_status perf_put_zeros(struct tw_perf_writer *writer, size_t size)
{
    static const uint8_t zeros[STRING_ALIGN];

    for (; size > sizeof zeros; size -= sizeof zeros)
        TW_TRY(perf_put_bytes(writer, zeros, sizeof zeros));
    return perf_put_bytes(writer, zeros, size);
}

static enum tw_status put_string(struct tw_perf_writer *writer, const char *text)
{
    const size_t size = strlen(text) + 1;
    const size_t padded = (size + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

    TW_TRY(perf_put(writer, padded, 4));
    TW_TRY(perf_put_bytes(writer, text, size));
    return perf_put_zeros(writer, padded - size);
}

/* ---- events ---- */

uint64_t perf_event_id(unsigned event, uint32_t cpu)
{
    return (event + 1) * (uint64_t)1000 + cpu + 1;
}

static const struct tw_register *find_register(const struct tw_perf_cpu *cpu, const char *name)
{
    for (size_t i = 0; i < cpu->register_count; i++)
        if (strcmp(cpu->registers[i].name, name) == 0)
            return &cpu->registers[i];
    return NULL;
}

/* What `perf record -e cs_etm/.../` would have been given. */
static uint64_t options_of(const struct tw_perf_writer *writer)
{
    const struct tw_perf_cpu *cpu = writer->config.cpus;
    const struct tw_register *config = find_register(cpu, writer->unit->names[0]);
    uint64_t options = 0;

    if (!config)
        return 0;
    if (strcmp(config->name, "ETMCR") == 0)
        return config->value &
               (OPTION_CYCLES | OPTION_CONTEXT | OPTION_TIME | (uint64_t)OPTION_STACK);
    options |= config->value & 1 << 4 ? OPTION_CYCLES : 0;
    options |= config->value & 1 << 6 ? OPTION_CONTEXT : 0;
    options |= config->value & 1 << 11 ? OPTION_TIME : 0;
    options |= config->value & 1 << 12 ? OPTION_STACK : 0;
    return options;
}

static enum tw_status put_attr(struct tw_perf_writer *writer, unsigned event)
{
    const uint64_t common = (uint64_t)1 << FLAG_DISABLED | 1 << FLAG_NO_KERNEL |
                            1 << FLAG_NO_HYP | 1 << FLAG_SAMPLE_ID_ALL | 1 << FLAG_NO_GUEST;
    const uint64_t tasks = (uint64_t)1 << FLAG_MMAP | 1 << FLAG_COMM | 1 << FLAG_TASK |
                           1 << FLAG_MMAP2 | 1 << FLAG_COMM_EXEC | 1 << FLAG_CONTEXT_SWITCH;
    const uint64_t clock = writer->config.is_monotonic;
    const bool is_trace = event == 0;
    const uint64_t words[] = {
        (is_trace ? PMU_TYPE : 1) | (uint64_t)ATTR_SIZE << 32,
        is_trace ? options_of(writer) : 9, /* the software event "dummy" */
        1,
        PERF_SAMPLE_TYPE,
        4, /* read_format: ID */
        (is_trace ? common : common | tasks) | clock << FLAG_USE_CLOCKID,
    };

    for (size_t i = 0; i < TW_LENGTH(words); i++)
        TW_TRY(perf_put(writer, words[i], 8));
    TW_TRY(perf_put_zeros(writer, ATTR_CLOCKID - sizeof words));
    TW_TRY(perf_put(writer, clock ? CLOCKID_MONOTONIC : 0, 4));
    return perf_put_zeros(writer, ATTR_SIZE - ATTR_CLOCKID - 4);
}

static enum tw_status put_ids(struct tw_perf_writer *writer, unsigned event)
{
    for (size_t i = 0; i < writer->config.cpu_count; i++)
        TW_TRY(perf_put(writer, perf_event_id(event, writer->config.cpus[i].number), 8));
    return TW_OK;
}

static enum tw_status put_section(struct tw_perf_writer *writer, uint64_t offset, uint64_t size)
{
    TW_TRY(perf_put(writer, offset, 8));
    return perf_put(writer, size, 8);
}

/* The header, with the data section as far as it is known. */
static enum tw_status put_header(struct tw_perf_writer *writer, uint64_t features)
{
    const uint64_t ids = EVENTS * 8 * (uint64_t)writer->config.cpu_count;

    TW_TRY(perf_put_bytes(writer, "PERFILE2", 8));
    TW_TRY(perf_put(writer, HEADER_SIZE, 8));
    TW_TRY(perf_put(writer, ATTR_SIZE + 16, 8));
    TW_TRY(put_section(writer, HEADER_SIZE + ids, EVENTS * (uint64_t)(ATTR_SIZE + 16)));
    TW_TRY(put_section(writer, writer->data, writer->data_end - writer->data));
    TW_TRY(put_section(writer, 0, 0));
    TW_TRY(perf_put(writer, features, 8));
    return perf_put_zeros(writer, 24);
}

static enum tw_status put_events(struct tw_perf_writer *writer)
{
    const uint64_t ids = 8 * (uint64_t)writer->config.cpu_count;

    for (unsigned event = 0; event < EVENTS; event++)
        TW_TRY(put_ids(writer, event));
    for (unsigned event = 0; event < EVENTS; event++) {
        TW_TRY(put_attr(writer, event));
        TW_TRY(put_section(writer, HEADER_SIZE + event * ids, ids));
    }
    return TW_OK;
}

/* ---- metadata ---- */

static enum tw_status put_time_conversion(struct tw_perf_writer *writer)
{
    if (!writer->config.time_mult)
        return TW_OK;
    TW_TRY(perf_begin(writer, PERF_TIME_CONV, 0, 56));
    TW_TRY(perf_put(writer, writer->config.time_shift, 8));
    TW_TRY(perf_put(writer, writer->config.time_mult, 8));
    TW_TRY(perf_put_zeros(writer, 16)); /* the zero of both clocks is the same */
    TW_TRY(perf_put(writer, UINT64_MAX, 8));
    return perf_put(writer, 1, 8); /* cap_user_time_zero */
}

/* The words of a block: as many as the unit has registers, in the order of the metadata. */
static size_t block_words(const struct tw_perf_writer *writer, const struct tw_perf_cpu *cpu,
                          uint64_t *words)
{
    size_t count = 0;

    for (; count < PERF_PARAMS && writer->unit->names[count]; count++) {
        const char *name = writer->unit->names[count];
        const struct tw_register *found = find_register(cpu, name);

        if (found)
            words[count] = found->value;
        else if (strcmp(name, "TS_SOURCE") != 0)
            words[count] = 0;
        else if (writer->config.time_mult)
            words[count] = TS_SOURCE_VIRTUAL; /* timestamps are the kernel's clock */
        else
            break;
    }
    return count;
}

static enum tw_status put_metadata(struct tw_perf_writer *writer)
{
    const struct tw_perf_writer_config *config = &writer->config;
    uint64_t words[PERF_PARAMS];
    const size_t count = block_words(writer, config->cpus, words);

    TW_TRY(perf_begin(writer, PERF_AUXTRACE_INFO, 0,
                      16 + 8 * (INFO_WORDS_MAX + config->cpu_count * (3 + count))));
    TW_TRY(perf_put(writer, 3, 8)); /* CoreSight */
    TW_TRY(perf_put(writer, 1, 8)); /* version */
    TW_TRY(perf_put(writer, config->cpu_count | (uint64_t)PMU_TYPE << 32, 8));
    TW_TRY(perf_put(writer, config->is_snapshot, 8));
    for (size_t i = 0; i < config->cpu_count; i++) {
        (void)block_words(writer, &config->cpus[i], words);
        TW_TRY(perf_put(writer, writer->unit->magic, 8));
        TW_TRY(perf_put(writer, config->cpus[i].number, 8));
        TW_TRY(perf_put(writer, count, 8));
        for (size_t j = 0; j < count; j++)
            TW_TRY(perf_put(writer, words[j], 8));
    }
    return TW_OK;
}

/* ---- feature sections ---- */

static enum tw_status put_build_ids(struct tw_perf_writer *writer)
{
    return perf_put_bytes(writer, writer->build_ids, writer->build_id_size);
}

static enum tw_status put_machine(struct tw_perf_writer *writer)
{
    return put_string(writer, writer->config.machine);
}

static enum tw_status put_cpus(struct tw_perf_writer *writer)
{
    TW_TRY(perf_put(writer, writer->config.cpu_count, 4));
    return perf_put(writer, writer->config.cpu_count, 4);
}

static enum tw_status put_command(struct tw_perf_writer *writer)
{
    TW_TRY(perf_put(writer, writer->config.command_count, 4));
    for (size_t i = 0; i < writer->config.command_count; i++)
        TW_TRY(put_string(writer, writer->config.command[i]));
    return TW_OK;
}

static enum tw_status put_descriptions(struct tw_perf_writer *writer)
{
    static const char *const names[EVENTS] = { "cs_etm//u", "dummy:u" };

    TW_TRY(perf_put(writer, EVENTS, 4));
    TW_TRY(perf_put(writer, ATTR_SIZE, 4));
    for (unsigned event = 0; event < EVENTS; event++) {
        TW_TRY(put_attr(writer, event));
        TW_TRY(perf_put(writer, writer->config.cpu_count, 4));
        TW_TRY(put_string(writer, names[event]));
        TW_TRY(put_ids(writer, event));
    }
    return TW_OK;
}

static enum tw_status put_pmus(struct tw_perf_writer *writer)
{
    TW_TRY(perf_put(writer, 2, 4));
    TW_TRY(perf_put(writer, 1, 4));
    TW_TRY(put_string(writer, "software"));
    TW_TRY(perf_put(writer, PMU_TYPE, 4));
    return put_string(writer, "cs_etm");
}

/* Where each AUXTRACE record stands: perf looks for trace nowhere else. */
static enum tw_status put_trace_index(struct tw_perf_writer *writer)
{
    TW_TRY(perf_put(writer, writer->trace_count, 8));
    for (size_t i = 0; i < writer->trace_count; i++)
        TW_TRY(put_section(writer, writer->traces[i], PERF_AUXTRACE_SIZE));
    return TW_OK;
}

/* In ascending order of their bits. */
static const struct feature {
    unsigned bit;
    enum tw_status (*put)(struct tw_perf_writer *writer);
} features[] = {
    { 2, put_build_ids },     { 6, put_machine }, { 7, put_cpus },         { 11, put_command },
    { 12, put_descriptions }, { 16, put_pmus },   { 18, put_trace_index },
};

static bool has_feature(const struct tw_perf_writer *writer, unsigned bit)
{
    return (bit != 2 || writer->build_id_size) && (bit != 6 || writer->config.machine);
}

static enum tw_status put_features(struct tw_perf_writer *writer, uint64_t *map)
{
    uint64_t places[TW_LENGTH(features)][2], table = writer->position;

    *map = 0;
    for (size_t i = 0; i < TW_LENGTH(features); i++) {
        *map |= (uint64_t)has_feature(writer, features[i].bit) << features[i].bit;
        TW_TRY(perf_put_zeros(writer, has_feature(writer, features[i].bit) ? 16 : 0));
    }
    for (size_t i = 0; i < TW_LENGTH(features); i++) {
        places[i][0] = writer->position;
        if (has_feature(writer, features[i].bit))
            TW_TRY(features[i].put(writer));
        places[i][1] = writer->position - places[i][0];
    }
    TW_TRY(flush(writer));
    writer->position = table;
    for (size_t i = 0; i < TW_LENGTH(features); i++)
        if (has_feature(writer, features[i].bit))
            TW_TRY(put_section(writer, places[i][0], places[i][1]));
    return flush(writer);
}

/* ---- the file ---- */

static enum tw_status check(struct tw_perf_writer_config *ours,
                            const struct tw_perf_writer_config *config, struct tw_fault *fault)
{
    TW_TRY(TW_SIZED_TAKE(ours, config, "struct tw_perf_writer_config", fault));
    if (!ours->write || !ours->protocol || !ours->cpus || !ours->cpu_count)
        return tw_fail(fault, TW_E_ARGUMENT, "perf.data: no %s",
                       !ours->write      ? "function to write with"
                       : !ours->protocol ? "protocol"
                                         : "CPUs");
    if (ours->cpu_count > CPUS_MAX)
        return tw_fail(fault, TW_E_ARGUMENT, "perf.data: %zu CPUs; there is room for %d",
                       ours->cpu_count, CPUS_MAX);
    return TW_OK;
}

static const struct perf_unit *find_unit(const char *protocol)
{
    const char *const name = strcmp(protocol, "ptm") == 0 ? "etmv3" : protocol;

    for (const struct perf_unit *unit = perf_units; unit->magic; unit++)
        if (strcmp(unit->protocol, name) == 0)
            return unit;
    return NULL;
}

enum tw_status tw_perf_writer_new(struct tw_perf_writer **out,
                                  const struct tw_perf_writer_config *config,
                                  struct tw_fault *fault)
{
    struct tw_perf_writer_config ours;
    struct tw_perf_writer *writer;
    enum tw_status status;

    *out = NULL;
    TW_TRY(check(&ours, config, fault));
    writer = tw_take(ours.allocator, sizeof *writer);
    if (!writer)
        return tw_fail(fault, TW_E_MEMORY, "no memory");
    writer->config = ours;
    writer->unit = find_unit(ours.protocol);
    writer->data = writer->data_end =
        HEADER_SIZE + EVENTS * (8 * (uint64_t)ours.cpu_count + ATTR_SIZE + 16);
    status = writer->unit ? TW_OK
                          : tw_fail(&writer->fault, TW_E_UNSUPPORTED,
                                    "perf.data has no form for %s", ours.protocol);
    writer->lengths = tw_take(ours.allocator, ours.cpu_count * sizeof *writer->lengths);
    if (status == TW_OK && !writer->lengths)
        status = tw_fail(&writer->fault, TW_E_MEMORY, "no memory");
    if (status == TW_OK)
        status = put_header(writer, 0);
    if (status == TW_OK)
        status = put_events(writer);
    if (status == TW_OK)
        status = put_time_conversion(writer);
    if (status == TW_OK)
        status = put_metadata(writer);
    if (status != TW_OK) {
        if (fault)
            *fault = writer->fault;
        tw_perf_writer_free(writer);
        return status;
    }
    *out = writer;
    return TW_OK;
}

void tw_perf_writer_free(struct tw_perf_writer *writer)
{
    const struct tw_allocator *allocator;

    if (!writer)
        return;
    allocator = writer->config.allocator;
    tw_give(allocator, writer->lengths);
    tw_give(allocator, writer->traces);
    tw_give(allocator, writer->build_ids);
    tw_give(allocator, writer);
}

const char *tw_perf_writer_fault(const struct tw_perf_writer *writer)
{
    return writer->fault.text;
}

size_t tw_perf_build_id(uint8_t id[20], const char *path)
{
    struct tw_file file;
    struct perf_elf elf;
    size_t size;

    if (tw_file_map(&file, NULL, path, NULL) != TW_OK)
        return 0;
    tw_perf_elf_open(&elf, file.bytes, file.size);
    size = tw_perf_elf_build_id(&elf, id);
    tw_file_unmap(&file);
    return size;
}

enum tw_status tw_perf_writer_finish(struct tw_perf_writer *writer)
{
    uint64_t map;

    TW_TRY(perf_begin(writer, PERF_FINISHED_ROUND, 0, 8));
    writer->data_end = writer->position;
    TW_TRY(put_features(writer, &map));
    writer->position = 0;
    TW_TRY(put_header(writer, map));
    return flush(writer);
}
