/* SPDX-License-Identifier: BSD-2-Clause */
/* Text logs: what ITM, DWT and STM show, writes to stimulus ports and watched events. */
#include "log/words.h"

/* bits=N of data: 8 to 64, and 4 for an STM. */
static bool take_bits(uint8_t *bits, const struct tw_log_word *word, uint64_t most)
{
    uint64_t value;

    if (!tw_word_keyed_number(&value, word, "bits") || value > most ||
        (value != 4 && value != 8 && value != 16 && value != 32 && value != 64))
        return false;
    *bits = (uint8_t)value;
    return true;
}

/* What the write is: a value, a flag or a trigger. */
static bool take_what(struct tw_step *step, const struct tw_words *line)
{
    const struct tw_log_word *word = &line->words[2];

    if (tw_word_is(word, "flag")) {
        step->stimulus.flags = TW_STIMULUS_FLAG;
        step->stimulus.bits = 0;
    } else if (tw_word_keyed_number(&step->stimulus.value, word, "trigger")) {
        step->stimulus.flags = TW_STIMULUS_TRIGGER;
        step->stimulus.bits = 8;
    } else {
        return tw_words_number(&step->stimulus.value, line, 2);
    }
    return true;
}

enum tw_status tw_textlog_stimulus(struct tw_log *log, struct tw_step *step,
                                   const struct tw_words *line)
{
    uint64_t number;

    step->kind = TW_STEP_STIMULUS;
    step->stimulus.bits = 32;
    if (line->count < 3 || !tw_words_number(&number, line, 1) || number > UINT16_MAX ||
        !take_what(step, line))
        return tw_words_wrong(log, &line->words[0],
                              "wants PORT VALUE, PORT flag or PORT trigger=N");
    step->stimulus.port = (uint16_t)number;
    for (unsigned i = 3; i < line->count; i++) {
        const struct tw_log_word *word = &line->words[i];

        if (tw_word_is(word, "marked"))
            step->stimulus.flags |= TW_STIMULUS_MARKED;
        else if (tw_word_is(word, "timed"))
            step->stimulus.flags |= TW_STIMULUS_TIMED;
        else if (tw_word_keyed_number(&number, word, "master") && number <= UINT16_MAX)
            step->stimulus.master = (uint16_t)number;
        else if (!take_bits(&step->stimulus.bits, word, 64))
            return tw_words_wrong(log, word,
                                  "is none of bits=4|8|16|32|64, master=N, marked, timed");
    }
    if (step->stimulus.bits && step->stimulus.bits < 64 &&
        step->stimulus.value >> step->stimulus.bits)
        return tw_words_wrong(log, &line->words[2], "has more bits than are written");
    return TW_OK;
}

/* What the DWT sees without a comparator. */
static bool take_event(struct tw_dwt_meaning *what, const struct tw_words *line)
{
    static const char *const actions[] = { "none", "entered", "exited", "returned", NULL };
    const struct tw_log_word *words = line->words;
    uint64_t number = 0;

    if (tw_word_is(&words[1], "exception")) {
        const int action = line->count == 4 ? tw_word_choice(&words[3], actions) : 0;

        what->kind = TW_DWT_EXCEPTION;
        what->action = (uint8_t)action;
        if (action <= 0 || !tw_words_number(&number, line, 2) || number > 511)
            return false;
        what->number = (uint16_t)number;
        return true;
    }
    if (line->count != 3)
        return false;
    if (tw_word_is(&words[1], "sample")) {
        what->kind = tw_word_is(&words[2], "asleep")       ? TW_DWT_ASLEEP
                     : tw_word_is(&words[2], "prohibited") ? TW_DWT_PROHIBITED
                                                           : TW_DWT_PC_SAMPLE;
        if (what->kind != TW_DWT_PC_SAMPLE)
            return true;
        if (!tw_words_number(&number, line, 2) || number > UINT32_MAX)
            return false;
        what->value = (uint32_t)number;
        return true;
    }
    what->kind = tw_word_is(&words[1], "counters") ? TW_DWT_COUNTERS : TW_DWT_PMU;
    if ((what->kind == TW_DWT_PMU && !tw_word_is(&words[1], "pmu")) ||
        !tw_words_number(&number, line, 2) ||
        number > (what->kind == TW_DWT_PMU ? 0xffu : 0x3fu))
        return false;
    what->mask = (uint8_t)number;
    return true;
}

/* N pc|address|read|write|match [VALUE [bits=N]] */
static bool take_comparator(struct tw_dwt_meaning *what, const struct tw_words *line)
{
    static const char *const names[] = { "pc", "address", "read", "write", "match", NULL };
    static const uint8_t kinds[] = { TW_DWT_PC, TW_DWT_ADDRESS, TW_DWT_VALUE, TW_DWT_VALUE,
                                     TW_DWT_MATCH };
    static const uint8_t usual_bits[] = { 32, 16, 32, 32, 8 };
    uint64_t comparator = 4, value = 0;
    uint8_t bits;
    int found;

    if (line->count < 3 || !tw_words_number(&comparator, line, 1) || comparator > 3)
        return false;
    found = tw_word_choice(&line->words[2], names);
    if (found < 0)
        return false;
    what->kind = kinds[found];
    what->comparator = (uint8_t)comparator;
    what->is_write = tw_word_is(&line->words[2], "write");
    bits = usual_bits[found];
    if (what->kind == TW_DWT_MATCH)
        return line->count == 3;
    if (line->count > 5 || !tw_words_number(&value, line, 3) ||
        (line->count == 5 && (!take_bits(&bits, &line->words[4], 32) || bits < 8)) ||
        value >> bits)
        return false;
    what->size = bits / 8;
    what->value = (uint32_t)value;
    return true;
}

enum tw_status tw_textlog_watch(struct tw_log *log, struct tw_step *step,
                                const struct tw_words *line)
{
    step->kind = TW_STEP_WATCH;
    if (line->count >= 3 &&
        (take_comparator(&step->watched, line) || take_event(&step->watched, line)))
        return TW_OK;
    return tw_words_wrong(log, &line->words[0],
                          "wants exception N entered|exited|returned, sample "
                          "ADDRESS|asleep|prohibited, counters MASK, pmu MASK, or a "
                          "comparator 0 to 3 and pc|address|read|write VALUE [bits=N]|match");
}
