/* SPDX-License-Identifier: BSD-2-Clause */
/* Sequence checker: the sequences of the architecture, and mutants of them with the rule that each
   breaks (tests/sequences). */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sequence.h>

enum { LINES = 100, WIDTH = 160, EXPECTED = 12 };

struct listing {
    char lines[LINES][WIDTH];
    size_t count;
};

static void load_listing(struct listing *listing, const char *name)
{
    char path[512];
    uint8_t *bytes;
    size_t size = 0, at = 0;

    (void)snprintf(path, sizeof path, "%s/tests/sequences/%s.seq", TW_SOURCE_DIR, name);
    bytes = check_load(&size, path);
    CHECK(bytes != NULL);
    listing->count = 0;
    while (at < size) {
        const char *start = (const char *)bytes + at;
        const char *end = memchr(start, '\n', size - at);
        const size_t length = end ? (size_t)(end - start) : size - at;

        CHECK(listing->count < LINES - 8 && length < WIDTH);
        memcpy(listing->lines[listing->count], start, length);
        listing->lines[listing->count++][length] = 0;
        at += length + 1;
    }
    free(bytes);
}

/* Index of the line that carries [tag]. */
static size_t find_tag(const struct listing *listing, const char *tag)
{
    char text[64];

    (void)snprintf(text, sizeof text, "[%s]", tag);
    for (size_t i = 0; i < listing->count; i++)
        if (strstr(listing->lines[i], text))
            return i;
    check_case("no line is tagged %s", tag);
    CHECK(false);
    return 0;
}

static void remove_line(struct listing *listing, size_t at)
{
    memmove(listing->lines[at], listing->lines[at + 1], (listing->count - at - 1) * WIDTH);
    listing->count--;
}

static void insert_line(struct listing *listing, size_t at, const char *text)
{
    CHECK(listing->count < LINES);
    memmove(listing->lines[at + 1], listing->lines[at], (listing->count - at) * WIDTH);
    (void)snprintf(listing->lines[at], WIDTH, "%s", text);
    listing->count++;
}

static void edit(struct listing *listing, const char *text)
{
    char verb[16], a[32], b[32];
    char line[WIDTH];

    while (*text == ' ')
        text++;
    if (sscanf(text, "swap %31s %31s", a, b) == 2) {
        const size_t x = find_tag(listing, a), y = find_tag(listing, b);

        memcpy(line, listing->lines[x], WIDTH);
        memcpy(listing->lines[x], listing->lines[y], WIDTH);
        memcpy(listing->lines[y], line, WIDTH);
    } else if (sscanf(text, "move %31s after %31s", a, b) == 2) {
        const size_t x = find_tag(listing, a);

        memcpy(line, listing->lines[x], WIDTH);
        remove_line(listing, x);
        insert_line(listing, find_tag(listing, b) + 1, line);
    } else if (sscanf(text, "delete %31s", a) == 1) {
        remove_line(listing, find_tag(listing, a));
    } else {
        CHECK_EQ(sscanf(text, "%15s %31[^:]", verb, a), 2);
        text = strchr(text, ':') + 1;
        if (strcmp(verb, "insert") == 0) {
            insert_line(listing, find_tag(listing, a) + 1, text);
        } else {
            CHECK_TEXT(verb, "replace");
            (void)snprintf(listing->lines[find_tag(listing, a)], WIDTH, "%s", text);
        }
    }
}

static struct tw_sequence *check_listing(const struct listing *listing, bool is_strict)
{
    const struct tw_sequence_config config = { .size = sizeof config, .is_strict = is_strict };
    static char text[LINES * WIDTH];
    struct tw_sequence *sequence = NULL;
    char *tight;
    size_t size = 0;

    for (size_t i = 0; i < listing->count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s\n", listing->lines[i]);
    tight = (char *)check_copy(text, size);
    CHECK_EQ(tw_sequence_check(&sequence, tight, size, &config, NULL), TW_OK);
    free(tight);
    return sequence;
}

static void describe(char *out, size_t room, const struct listing *listing,
                     const struct tw_sequence *sequence)
{
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < tw_sequence_count(sequence); i++) {
        const struct tw_sequence_finding *f = tw_sequence_finding(sequence, i);
        const char *line = listing->lines[f->line - 1];
        const char *tag = strchr(line, '[');
        const char *last = tag;

        /* The tag is the last bracket, behind any operand. */
        for (; tag; tag = strchr(tag + 1, '['))
            last = tag;
        used += (size_t)snprintf(out + used, room - used, "%s%s@%.*s", used ? " " : "", f->rule,
                                 last ? (int)strcspn(last + 1, "]") : 1, last ? last + 1 : "?");
        CHECK(used < room);
        CHECK(f->what[0] && f->fix[0] && f->hazard[0]);
    }
    if (!used)
        (void)snprintf(out, room, "clean");
}

/* False: said what was found instead. */
static bool expect(const struct listing *listing, const char *want)
{
    struct tw_sequence *sequence = check_listing(listing, false);
    bool is_same;
    char got[400];

    describe(got, sizeof got, listing, sequence);
    tw_sequence_free(sequence);
    is_same = strcmp(got, want) == 0;
    if (!is_same)
        printf("got %s, want %s: ", got, want);
    return is_same;
}

static const char *const files[] = {
    "enable-printed", "enable",     "disable",     "reprogram",
    "save",           "restore",    "switch-out",  "switch-exception",
    "switch-allowed", "switch-in",  "switch-both", "world",
    "debug",          "drain-ring", "filter",      "sleep",
    "sink-first",     "listing",    "log",
};

/* [K10.5.7.1.1] [K10.5.7.1.2] [K10.5.7.1.3/1] [K10.5.7.1.3/2] [K10.5.10/S_VKHHY]
   [K10.5.10/1] [K10.5.10/S_FMBCL] [K10.5.10/6]
   [D6.6.3/S_YPWVJ] */
static void the_sequences_themselves(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        struct listing listing;
        const char *want = NULL;

        CHECK_CASE(files[i]);
        load_listing(&listing, files[i]);
        for (size_t k = 0; k < listing.count && !want; k++) {
            want = strstr(listing.lines[k], "expect ");
        }
        CHECK(want != NULL);
        CHECK(expect(&listing, want + strlen("expect ")));
    }
}

/* [K10.5.9/35] [K10.5.9/42] [K10.5.7.1/1] [K10.5.7.1.1] [K10.5.7.1.2] [K10.5.7.1.3/1]
   [K10.5.7.1.3/2] [K10.5.7.1.3/S_TTPKR] [K10.5.10/S_VKHHY] [K10.5.10/1] [K10.5.10/2]
   [K10.5.10/3] [K10.5.10/4] [K10.5.10/5] [K10.5.10/S_FMBCL] [K10.5.10/6]
   [K10.5.10/S_YKCND]
   [D6.6.1/R_VWJNN] [D6.6.1/R_MRVPT] [D6.6.1/R_ZCDDS] [D6.6.1/R_CKVWP] [D6.6.3/R_BFJKD]
   [D6.6.3/R_MJQXM] [D6.6.3/R_TSPXF] [D6.6.3/R_VTNCS] [D6.6.3/R_NNRHD] */
static void each_mutant_is_caught_by_its_rule(void **state)
{
    char path[512];
    char *bytes;
    size_t size = 0, broken = 0, harmless = 0, wrong = 0;
    uint8_t *raw;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/tests/sequences/mutants.txt", TW_SOURCE_DIR);
    raw = check_load(&size, path);
    CHECK(raw != NULL);
    bytes = calloc(1, size + 1);
    memcpy(bytes, raw, size);
    free(raw);
    for (char *line = bytes, *next; line && *line; line = next) {
        struct listing listing;
        char file[40], edits[200], want[200], whole[300];

        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (line[0] == '#' || !line[0])
            continue;
        CHECK_CASE(line);
        (void)snprintf(whole, sizeof whole, "%s", line);
        CHECK_EQ(sscanf(line, "%39s | %199[^|]| %199[^\n]", file, edits, want), 3);
        load_listing(&listing, file);
        /* One edit after the other: a ';' that ends an edit has an edit's verb behind it. */
        for (char *at = edits; at;) {
            char *end = at;

            do
                end = strchr(end + 1, ';');
            while (end && strncmp(end, "; delete ", 9) != 0 &&
                   strncmp(end, "; swap ", 7) != 0 && strncmp(end, "; move ", 7) != 0);
            if (end)
                *end++ = 0;
            edit(&listing, at);
            at = end;
        }
        if (!expect(&listing, want)) {
            printf("%s\n", whole);
            wrong++;
        }
        if (strcmp(want, "clean") == 0)
            harmless++;
        else
            broken++;
    }
    printf("%zu mutants caught, %zu harmless ones clean\n", broken, harmless);
    free(bytes);
    CHECK_EQ(wrong, 0);
    CHECK(broken >= 60 && harmless >= 20);
}

/* Any line that says nothing of trace may be taken away, doubled, or put between. */
static void ordinary_instructions_change_nothing(void **state)
{
    static const char *const inserted[] = {
        "        nop",    "        add x20, x20, #1", "// a comment",
        "        dmb sy", "        msr daifset, #2",  "        .align 2"
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        struct listing base;

        if (strcmp(files[i], "enable-printed") == 0)
            continue;
        load_listing(&base, files[i]);
        for (size_t at = 0; at <= base.count; at++) {
            for (size_t k = 0; k < LENGTH(inserted); k++) {
                struct listing listing = base;

                check_case("%s, line %zu, %s", files[i], at, inserted[k]);
                insert_line(&listing, at, inserted[k]);
                CHECK(expect(&listing, "clean"));
            }
        }
    }
}

/* [K10.5.7.1.3/I_DHQGM] */
static void strict_asks_for_a_bound(void **state)
{
    struct tw_sequence *sequence;
    struct listing listing;

    (void)state;
    load_listing(&listing, "disable");
    sequence = check_listing(&listing, true);
    CHECK_EQ(tw_sequence_count(sequence), 1);
    CHECK_TEXT(tw_sequence_finding(sequence, 0)->rule, "POLL");
    CHECK(tw_sequence_finding(sequence, 1) == NULL);
    tw_sequence_free(sequence);
    insert_line(&listing, find_tag(&listing, "read") + 1, "        subs x9, x9, #1");
    insert_line(&listing, find_tag(&listing, "read") + 2, "        b.eq give_up");
    sequence = check_listing(&listing, true);
    CHECK_EQ(tw_sequence_count(sequence), 0);
    tw_sequence_free(sequence);
}

/* [D6.6.1/I_ZLDPS] [D6.6.2/R_QVGHP] */
static void rules_explain_themselves(void **state)
{
    size_t count = 0;

    (void)state;
    for (; tw_sequence_rule(count); count++) {
        const struct tw_sequence_rule *rule = tw_sequence_rule(count);

        CHECK_CASE(rule->name);
        CHECK(rule->title[0] && rule->needs[0] && rule->hazard[0] && rule->fix[0]);
        CHECK(tw_sequence_find_rule(rule->name) == rule);
    }
    CHECK(count >= 27);
    for (unsigned i = 1; i <= 19; i++) {
        char name[8];

        (void)snprintf(name, sizeof name, "ts%u", i);
        CHECK(tw_sequence_find_rule(name) != NULL);
    }
    CHECK(tw_sequence_find_rule("TS20") == NULL);
    CHECK(tw_sequence_find_rule("") == NULL);
}

/* clang-format off */
/* Forms that a line may have, each in a sequence that is right or breaks one rule. */
static const struct { const char *name, *text, *want; } forms[] = {
    { "empty", "", "" },
    { "misspelt register", "msr TRBLIMTR_EL1, x0\n", "INPUT@1 " },
    { "no operands", "msr\n", "INPUT@1 " },
    { "bad directive", ".el 7\n.assume luck\n", "INPUT@1 INPUT@2 " },
    { "no newline at the end", "msr TRCCONFIGR, x0\nmov x0, #1\nmsr TRCPRGCTLR, x0", "TS1@3 TS1@3 " },
    { "label and instruction in one line", "start: msr TRCCONFIGR, x0\nisb\nmov x0,#1\nmsr TRCPRGCTLR,x0\nwait isb\nmrs x1,TRCSTATR\ntbnz x1,#0,wait\n", "" },
    { "tarmac", "10 clk IT (10) 1000 d5033fdf O EL1h_n : ISB\n11 clk IT (11) 1004 d5110120 O EL1h_n : MSR TRCPRGCTLR,x0 = 0x1\n"
                "12 clk IT (12) 1008 d5033fdf O EL1h_n : ISB\n", "" },
    { "field of the status", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\n1: isb\nmrs x1,TRCSTATR\nubfx x1,x1,#0,#1\ncbnz x1,1b\n", "" },
    { "field of the status, wrong", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\n1: isb\nmrs x1,TRCSTATR\nubfx x1,x1,#1,#1\ncbnz x1,1b\n", "EN4@7 " },
    { "ands sets the flags", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\n1: isb\nmrs x1,TRCSTATR\nands x1,x1,#1\nb.ne 1b\n", "" },
    { "two sequences in a file", "exception EL1\ntsb csync\nisb\nmrs x0, TRBPTR_EL1\n.sequence\nmrs x0, TRBPTR_EL1\n", "TS3@6 " },
    { "a DSB by number", "exception EL1\ntsb csync\ndsb #15\nread buffer\n", "" },
    { "a DSB of reads by number", "exception EL1\ntsb csync\ndsb #13\nread buffer\n", "TS4@4 " },
    { "kernel in EL2", ".el 2\nmrs x0, TRFCR_EL1\nbic x1, x0, #3\nmsr TRFCR_EL1, x1\nisb\ntsb csync\nisb\nmrs x2, TRBPTR_EL1\n", "" },
    { "EL2's filter does not stop EL1", "msr TRFCR_EL2, xzr\nisb\ntsb csync\n", "TS6@3 " },
    { "EL0's filter does not stop EL1", "mrs x0, TRFCR_EL1\nbic x0, x0, #1\nmsr TRFCR_EL1, x0\nisb\ntsb csync\n", "TS6@5 " },
    { "EL2's tables are no concern of EL1", "exception EL1\nmsr TTBR0_EL2, x0\ntsb csync\nmsr TRBLIMITR_EL1, xzr\nisb\n", "" },
    { "... but of EL2", ".owner EL2\n.el 2\nexception EL2\ntsb csync\nmsr TTBR0_EL2, x0\nmsr TRBLIMITR_EL1, xzr\nisb\n", "TS11@5 " },
    { "higher than the owner", ".owner EL1\n.assume buffer-enabled\n.el 2\nisb\ntsb csync\nisb\nmrs x0, TRBSR_EL1\n", "" },
    { "SCR_EL3 with the state unchanged", ".el 3\nexception EL3\nmrs x0, SCR_EL3\norr x0, x0, #8\nmsr SCR_EL3, x0\n", "" },
    { "MDCR_EL3 with the owner unchanged", ".el 3\nexception EL3\nmrs x0, MDCR_EL3\norr x0, x0, #0x40000\nmsr MDCR_EL3, x0\n", "" },
    { "a store into the buffer", ".assume prohibited\n.assume buffer-disabled\nmrs x0, TRBBASER_EL1\nstr xzr, [x0]\norr x1, x1, #1\nmsr TRBLIMITR_EL1, x1\nisb\n", "TS10@6 " },
    { "a driver that unlocks an idle unit", "msr oslar_el1, xzr\nisb\nmsr trcprgctlr, xzr\nisb\n1: mrs x0, trcstatr\nisb\ntbz w0, #0, 1b\n"
                "msr trcconfigr, x1\nisb\nmov x2, #1\nmsr trcprgctlr, x2\n2: isb\nmrs x0, trcstatr\ntbnz w0, #0, 2b\n", "" },
    { "the way out of a loop is forward", "mrs x0, TRFCR_EL1\nbic x1, x0, #3\nmsr TRFCR_EL1, x1\nisb\ntsb csync\nmsr TRCPRGCTLR, xzr\nagain: isb\nmrs x2, trcstatr\nand x2, x2, #3\ncmp x2, #3\nb.eq out\nb again\nout: msr TRFCR_EL1, x0\n", "" },
    { "a count-down closes the loop", "mrs x0, TRFCR_EL1\nbic x1, x0, #3\nmsr TRFCR_EL1, x1\nisb\ntsb csync\nmsr TRCPRGCTLR, xzr\nmov w3, #100\n.L2:\nisb\nmrs x2, trcstatr\nand x2, x2, #3\ncmp x2, #3\nb.eq .L3\nsubs w3, w3, #1\nb.ne .L2\n.L3:\nmsr TRFCR_EL1, x0\n", "" },
    { "... and stands in the same condition", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\nmov w3, #100\n.L2:\nisb\nsub w3, w3, #1\nmrs x1, TRCSTATR\ntst x1, #1\nccmp w3, #0, #4, ne\nb.ne .L2\n", "" },
    { "... and waits for the wrong thing", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\nmov w3, #100\n.L2:\nisb\nsub w3, w3, #1\nmrs x1, TRCSTATR\ntst x1, #1\nccmp w3, #0, #4, eq\nb.ne .L2\n", "EN4@11 " },
    { "idle alone is not enough", "mrs x0, TRFCR_EL1\nbic x1, x0, #3\nmsr TRFCR_EL1, x1\nisb\ntsb csync\nmsr TRCPRGCTLR, xzr\nagain: isb\nmrs x2, trcstatr\ntbz x2, #0, again\nmsr TRFCR_EL1, x0\n", "DIS5@9 " },
    { "a compiler's label", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\nisb\n.L2:\nmrs x1,TRCSTATR\ntbnz x1,#0,.L2\n", "TS17@6 " },
    { "a short label alone", "isb\nmov x0,#1\nmsr TRCPRGCTLR,x0\nisb\np\nmrs x1,TRCSTATR\ntbnz x1,#0,p\n", "TS17@6 " },
    { "a call is an event", "isb\nmov x0, #1\nmsr TRCPRGCTLR, x0\nsmc #0\n", "" },
};
/* clang-format on */

static void lines_in_many_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(forms); i++) {
        const size_t size = strlen(forms[i].text);
        char *tight = (char *)check_copy(forms[i].text, size);
        struct tw_sequence *sequence = NULL;
        char got[200] = "";

        CHECK_CASE(forms[i].name);
        CHECK_EQ(tw_sequence_check(&sequence, tight, size, NULL, NULL), TW_OK);
        for (size_t k = 0; k < tw_sequence_count(sequence); k++) {
            const struct tw_sequence_finding *f = tw_sequence_finding(sequence, k);

            (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s@%u ", f->rule,
                           f->line);
        }
        CHECK_TEXT(got, forms[i].want);
        tw_sequence_free(sequence);
        free(tight);
    }
}

struct budget {
    size_t left;
};

static void *resize(void *context, void *memory, size_t size)
{
    struct budget *budget = context;

    if (size == 0) {
        free(memory);
        return NULL;
    }
    if (budget->left == 0)
        return NULL;
    budget->left--;
    return realloc(memory, size);
}

static void memory_that_runs_out(void **state)
{
    static const char text[] = "a: msr TRBLIMTR_EL1, x0\nb: msr TRBPTR, x0\ntsb csync\n";

    (void)state;
    for (size_t allowed = 0;; allowed++) {
        struct budget budget = { allowed };
        const struct tw_allocator allocator = { resize, &budget };
        const struct tw_sequence_config config = { .size = sizeof config,
                                                   .allocator = &allocator };
        struct tw_sequence *sequence = NULL;
        const enum tw_status status =
            tw_sequence_check(&sequence, text, sizeof text - 1, &config, NULL);

        if (status == TW_OK) {
            CHECK(allowed > 3);
            tw_sequence_free(sequence);
            return;
        }
        CHECK_EQ(status, TW_E_MEMORY);
        CHECK(sequence == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequences_themselves),
        cmocka_unit_test(each_mutant_is_caught_by_its_rule),
        cmocka_unit_test(ordinary_instructions_change_nothing),
        cmocka_unit_test(strict_asks_for_a_bound),
        cmocka_unit_test(rules_explain_themselves),
        cmocka_unit_test(lines_in_many_forms),
        cmocka_unit_test(memory_that_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
