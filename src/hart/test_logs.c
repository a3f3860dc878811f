/* SPDX-License-Identifier: BSD-2-Clause */
/* Every execution of a RISC-V program in the corpus through the encoder and back, in every mode alone
   and in every pair of modes. */
#include "check.h"

#include <dirent.h>
#include <inttypes.h>

#include <trackway/hart.h>
#include <trackway/version.h>

#include "hart/test_setup.h"

enum { PATH_ROOM = 700, WORD = 64 };

/* An execution, as blocks of single instructions and as long ones. */
struct log {
    char name[256];
    struct tw_image *image;
    struct tw_etrace_config config; /* what the program needs */
    struct tw_etrace_block *blocks[2];
    bool *halts[2]; /* the hart stood still before the block */
    size_t count[2], room[2];
    bool is_well_behaved; /* returns lead to where the call was */
    bool has_handlers;    /* one for each privilege */
};

static bool is_trap(const struct tw_etrace_block *block)
{
    return block->itype == TW_ETRACE_ITYPE_EXCEPTION ||
           block->itype == TW_ETRACE_ITYPE_INTERRUPT;
}

static void add_block(struct log *log, unsigned form, const struct tw_etrace_block *block,
                      bool halts)
{
    if (log->count[form] == log->room[form]) {
        log->room[form] = log->room[form] ? 2 * log->room[form] : 4096;
        log->blocks[form] =
            realloc(log->blocks[form], log->room[form] * sizeof *log->blocks[form]);
        log->halts[form] =
            realloc(log->halts[form], log->room[form] * sizeof *log->halts[form]);
        CHECK(log->blocks[form] && log->halts[form]);
    }
    log->halts[form][log->count[form]] = halts;
    log->blocks[form][log->count[form]++] = *block;
}

static void read_blocks(struct log *log, unsigned form, const char *path)
{
    struct tw_etrace_config config = log->config;
    const struct tw_hart_options options = { .size = sizeof options,
                                             .trace = &config,
                                             .image = log->image };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_hart_event event;
    struct tw_hart *hart;
    enum tw_status status;
    bool halts = false;

    config.retires = form ? 200 : 1;
    if (tw_hart_open(&hart, path, &options, &fault) != TW_OK)
        check_true(false, fault.text, __FILE__, __LINE__);
    while ((status = tw_hart_next(hart, &event)) == TW_OK) {
        for (size_t i = 0; i < event.cycle.block_count; i++)
            add_block(log, form, &event.cycle.blocks[i], halts && i == 0);
        halts = event.is_halted;
    }
    if (status != TW_END)
        check_true(false, tw_hart_fault(hart), __FILE__, __LINE__);
    tw_hart_free(hart);
}

/* What the program does that some modes cannot follow. */
static void look_through(struct log *log)
{
    uint64_t links[256];
    unsigned depth = 0;

    log->is_well_behaved = log->has_handlers = true;
    for (size_t i = 0; i < log->count[0]; i++) {
        const struct tw_etrace_block *block = &log->blocks[0][i];
        const struct tw_etrace_block *next = i + 1 < log->count[0] ? block + 1 : NULL;
        const uint64_t half_words = (uint64_t)block->iretire << block->ilastsize;

        if (!next)
            break;
        if (block->itype == TW_ETRACE_ITYPE_CALL ||
            block->itype == TW_ETRACE_ITYPE_INFERABLE_CALL)
            links[depth++ & 255] = block->iaddr + 2 * half_words;
        else if (block->itype == TW_ETRACE_ITYPE_RETURN && depth &&
                 links[--depth & 255] != next->iaddr)
            log->is_well_behaved = false;
        if (is_trap(block) || next->priv != block->priv)
            depth = 0;
        if (is_trap(block) && next->iretire) {
            const unsigned bit = 1u << next->priv;

            if (log->config.tvec_mask & bit && log->config.tvec[next->priv] != next->iaddr)
                log->has_handlers = false;
            log->config.tvec_mask |= (uint8_t)bit;
            log->config.tvec[next->priv] = next->iaddr;
            log->has_handlers &= !(next->iaddr & 3);
        }
    }
}

/* Where in the log the decoded path is. */
struct path {
    const struct log *log;
    /* the draft reports a jump's target that trapped as if it had retired */
    bool may_have_phantoms;
    size_t at;        /* the block of one instruction */
    uint64_t done;    /* half-words of it */
    uint64_t phantom; /* half-words to come of one that did not retire */
    uint64_t errors;
};

static unsigned size_at(const struct log *log, uint64_t address)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    uint8_t first = 3;

    CHECK_EQ(tw_image_read(log->image, &first, &view, address, 1), 1);
    return (first & 3) == 3 ? 2 : 1;
}

/* The path goes through a half-word. */
static void match(struct path *path, uint64_t address)
{
    const struct log *log = path->log;
    size_t next;

    if (path->phantom) {
        path->phantom--;
        return;
    }
    next = path->at;
    while (next < log->count[0] && !log->blocks[0][next].iretire)
        next++;
    for (; path->at < next; path->at++)
        if (path->may_have_phantoms && log->blocks[0][path->at].iaddr == address &&
            (next == log->count[0] || log->blocks[0][next].iaddr != address)) {
            path->phantom = size_at(log, address) - 1u;
            path->at++;
            return;
        }
    CHECK(path->at < log->count[0]);
    CHECK_EQ(address, log->blocks[0][path->at].iaddr + 2 * path->done);
    if (++path->done == (uint64_t)1 << log->blocks[0][path->at].ilastsize) {
        path->at++;
        path->done = 0;
    }
}

static void match_range(struct path *path, const struct tw_element *range)
{
    for (uint32_t k = 0; k < range->length; k += 2)
        match(path, range->start + k);
}

static void take(void *context, const struct tw_batch *batch)
{
    struct path *path = context;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            match_range(path, element);
        for (uint64_t n = 0; element->type == TW_ELEMENT_REPEAT && n < element->times; n++)
            for (uint32_t k = 0; k < element->count; k++)
                match_range(path, &batch->elements[i - element->count + k]);
        path->errors +=
            element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_ADDR_NACC;
    }
}

/* All of the log was met, but for traps at its end. */
static void check_end(const struct path *path)
{
    size_t at = path->at;

    while (at < path->log->count[0] && !path->log->blocks[0][at].iretire)
        at++;
    CHECK_EQ(at, path->log->count[0]);
    CHECK_EQ(path->errors, 0);
}

struct trial {
    struct log *log;
    struct bytes trace;
    size_t number, step, tried;
};

static void try_setup(void *context, struct setup *setup)
{
    struct trial *trial = context;
    struct log *log = trial->log;
    struct tw_etrace_config *config = &setup->config;
    const uint32_t options = config->options;
    const unsigned form = config->retires > 1;
    struct path path = { .log = log,
                         .may_have_phantoms = config->layout == TW_ETRACE_LAYOUT_SEED };
    struct tw_etrace_unit *unit;

    if (trial->number++ % trial->step)
        return;
    if ((config->call_counter_size && !log->is_well_behaved) ||
        (options & TW_ETRACE_IMPLICIT_EXCEPTION && !log->has_handlers))
        return;
    check_case("%s, %s", log->name, setup->name);
    config->xlen = log->config.xlen;
    config->iaddress_width = log->config.iaddress_width;
    config->privilege_width = 3;
    config->itype_width = 4; /* of the blocks */
    config->has_zcmp_zcmt = log->config.has_zcmp_zcmt;
    config->jvt = log->config.jvt;
    config->ecall_retires = true;
    config->tvec_mask = log->config.tvec_mask;
    memcpy(config->tvec, log->config.tvec, sizeof config->tvec);
    setup->resync_max = 4;
    unit = make_unit(setup, &trial->trace);
    write_field(unit, "iEnable", 1);
    for (size_t i = 0; i < log->count[form]; i++) {
        if (log->halts[form][i]) {
            tw_etrace_unit_halted(unit, true);
            tw_etrace_unit_halted(unit, false);
        }
        if (tw_etrace_unit_retire(unit, &log->blocks[form][i], 1) != TW_OK)
            check_true(false, tw_etrace_unit_fault(unit), __FILE__, __LINE__);
    }
    write_field(unit, "iEnable", 0);
    tw_etrace_unit_free(unit);
    decode_with(config, log->image, &trial->trace, take, &path);
    check_end(&path);
    trial->tried++;
}

static size_t run_log(struct log *log, const char *path, unsigned turn)
{
    struct trial trial = { .log = log, .step = check_scale(10) == 10 ? 1 : 11 };

    trial.number = turn % 11;
    read_blocks(log, 0, path);
    read_blocks(log, 1, path);
    look_through(log);
    (void)each_setup(turn, try_setup, &trial);
    free(trial.trace.bytes);
    for (unsigned i = 0; i < 2; i++) {
        free(log->blocks[i]);
        free(log->halts[i]);
    }
    tw_image_free(log->image);
    return trial.tried;
}

static void init_log(struct log *log, const char *name, unsigned xlen)
{
    *log = (struct log){ .halts = { NULL, NULL } };
    (void)snprintf(log->name, sizeof log->name, "%s", name);
    tw_etrace_config_init(&log->config, TW_ETRACE_LAYOUT_V2);
    log->config.xlen = (uint8_t)xlen;
    log->config.iaddress_width = (uint8_t)xlen;
    log->config.privilege_width = 3;
    log->config.itype_width = 4;
    CHECK_EQ(tw_image_new(&log->image, NULL, NULL), TW_OK);
}

static void run_program_log(const char *name, unsigned turn, size_t *tried)
{
    const struct tw_region region = { .size = sizeof region };
    char path[PATH_ROOM], relative[PATH_ROOM];
    struct log log;
    uint8_t *text;
    size_t size;

    (void)snprintf(relative, sizeof relative, "riscv/programs/%s/image.txt", name);
    check_corpus(path, sizeof path, relative);
    text = check_load(&size, path);
    CHECK(text && size > 7);
    text[size - 1] = 0;
    init_log(&log, name, strstr((const char *)text, "xlen 32") ? 32 : 64);
    free(text);
    CHECK_EQ(tw_image_add_segments(log.image, &region, path), TW_OK);
    if (strncmp(name, "zc", 2) == 0) {
        char word[WORD];
        const char *at;

        check_corpus(path, sizeof path, "riscv/cases/zc32-m-all/case.txt");
        text = check_load(&size, path);
        CHECK(text != NULL);
        text[size - 1] = 0;
        at = strstr((const char *)text, "jvt=");
        CHECK(at != NULL);
        (void)snprintf(word, sizeof word, "%.20s", at + 4);
        log.config.jvt = strtoull(word, NULL, 16);
        log.config.has_zcmp_zcmt = true;
        free(text);
    }
    (void)snprintf(relative, sizeof relative, "riscv/programs/%s/pcs.txt.gz", name);
    check_corpus(path, sizeof path, relative);
    *tried += run_log(&log, path, turn);
}

static void test_programs(void **state)
{
    char path[PATH_ROOM];
    struct dirent **entries;
    size_t tried = 0, programs = 0;
    int count;

    (void)state;
    check_corpus(path, sizeof path, "riscv/programs");
    count = scandir(path, &entries, NULL, alphasort);
    CHECK(count > 2);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            run_program_log(entries[i]->d_name, (unsigned)i, &tried);
            programs++;
        }
        free(entries[i]);
    }
    free(entries);
    print_message("%zu programs, %zu round trips\n", programs, tried);
    CHECK(tried >= programs);
}

static void test_execution_logs(void **state)
{
    static const char *const names[] = { "rv64-recur", "rv64-sorts", "rv64-interp" };
    size_t tried = 0;

    (void)state;
    if (!strstr(tw_features(), "elf"))
        skip();
    for (size_t i = 0; i < LENGTH(names); i++) {
        const struct tw_region region = { .size = sizeof region };
        char path[PATH_ROOM], relative[PATH_ROOM];
        struct log log;

        (void)snprintf(relative, sizeof relative, "exec/logs/%s.elf", names[i]);
        check_corpus(path, sizeof path, relative);
        init_log(&log, names[i], 64);
        CHECK_EQ(tw_image_add_elf(log.image, &region, path), TW_OK);
        (void)snprintf(relative, sizeof relative, "exec/logs/%s.exlog.gz", names[i]);
        check_corpus(path, sizeof path, relative);
        tried += run_log(&log, path, (unsigned)i);
    }
    print_message("%zu logs, %zu round trips\n", LENGTH(names), tried);
    CHECK(tried >= LENGTH(names));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_programs),
                                        cmocka_unit_test(test_execution_logs) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
