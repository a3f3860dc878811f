/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of runs (R, P, E and I lines) and of single addresses. */
#include "hart/hart.h"

#include <inttypes.h>

enum { WORDS = 4 };

struct word {
    const char *at;
    size_t size;
};

static unsigned split(struct word words[WORDS + 1], const char *line, size_t size)
{
    const char *const end = line + size;
    unsigned count = 0;

    while (count <= WORDS) {
        while (line != end && (*line == ' ' || *line == '\t'))
            line++;
        if (line == end || *line == '#')
            break;
        words[count].at = line;
        while (line != end && *line != ' ' && *line != '\t')
            line++;
        words[count].size = (size_t)(line - words[count].at);
        count++;
    }
    return count;
}

static bool hex(uint64_t *value, const struct word *word)
{
    const bool has_prefix = word->size > 2 && word->at[0] == '0' && (word->at[1] | 32) == 'x';
    const size_t skip = has_prefix ? 2 : 0;

    return tw_hart_number(value, word->at + skip, word->size - skip, 16);
}

/* The next instruction of a run. */
static enum tw_status step_run(struct tw_hart *hart)
{
    const uint64_t at = hart->run_at;

    TW_TRY(tw_hart_step(hart, at));
    hart->run_at += hart->last->flow.size;
    hart->run_left--;
    if (hart->run_left ? at == hart->run_last : at != hart->run_last)
        return tw_hart_wrong(hart, "the run does not end at 0x%" PRIx64, hart->run_last);
    return TW_OK;
}

static enum tw_status take_run(struct tw_hart *hart, const struct word *words)
{
    if (!hex(&hart->run_at, &words[1]) || !hex(&hart->run_last, &words[2]) ||
        !tw_hart_number(&hart->run_left, words[3].at, words[3].size, 10) || hart->run_left == 0)
        return tw_hart_wrong(hart, "R wants FIRST LAST COUNT");
    return TW_OK;
}

static enum tw_status take_trap(struct tw_hart *hart, const struct word *words,
                                bool is_interrupt)
{
    struct tw_hart_trap trap = { .is_interrupt = is_interrupt };

    if (!tw_hart_number(&trap.cause, words[1].at, words[1].size, 10) ||
        !hex(&trap.epc, &words[2]) || (!is_interrupt && !hex(&trap.tval, &words[3])))
        return tw_hart_wrong(hart,
                             is_interrupt ? "I wants CAUSE EPC" : "E wants CAUSE EPC TVAL");
    return tw_hart_trap(hart, &trap);
}

static enum tw_status take_line(struct tw_hart *hart, const char *line, size_t size)
{
    struct word words[WORDS + 1];
    const unsigned count = split(words, line, size);
    const char kind = count && words[0].size == 1 ? *words[0].at : 0;
    uint64_t value;

    if (count == 0)
        return TW_OK;
    if (kind == 'R' && count == 4)
        return take_run(hart, words);
    if (kind == 'P' && count == 2 && tw_hart_number(&value, words[1].at, words[1].size, 10))
        return tw_hart_set_priv(hart, value);
    if (kind == 'E' && count == 4)
        return take_trap(hart, words, false);
    if (kind == 'I' && count == 3)
        return take_trap(hart, words, true);
    if (kind == 'G' && count == 1) {
        tw_hart_gap(hart);
        return TW_OK;
    }
    if (count == 1 && hex(&value, &words[0]))
        return tw_hart_step(hart, value);
    return tw_hart_wrong(hart, "neither an address nor R, P, E, I or G");
}

static enum tw_status next(struct tw_hart *hart)
{
    const char *line;
    size_t size;

    if (hart->run_left)
        return step_run(hart);
    if (tw_hart_line(hart, &line, &size))
        return take_line(hart, line, size);
    tw_hart_finish(hart);
    return TW_END;
}

enum tw_status tw_hart_runs_begin(struct tw_hart *hart, bool *is_mine)
{
    const char *at = hart->at;
    uint64_t value;
    struct word words[WORDS + 1];
    unsigned count = 0;

    /* The first line that says something tells. */
    while (at != hart->end && count == 0) {
        const char *stop = memchr(at, '\n', (size_t)(hart->end - at));
        const char *line_end = stop ? stop : hart->end;

        count = split(words, at,
                      (size_t)(line_end - at) - (line_end != at && line_end[-1] == '\r'));
        at = stop ? stop + 1 : hart->end;
    }
    *is_mine = count && ((words[0].size == 1 && memchr("RPEIG", *words[0].at, 5)) ||
                         (count == 1 && hex(&value, &words[0])));
    if (*is_mine && !hart->options.image)
        return tw_fail(&hart->fault, TW_E_CONFIG, "addresses alone need the program");
    hart->next = next;
    return TW_OK;
}
