/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace that the trace unit lost: what it needed and had, and which settings would cut that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"

enum {
    WINDOW = TW_RATE_WINDOW,
    KNOWN_LEAST = 1000 /* instructions that tell how fast the program ran */
};

/* A place where the time is known, by a timestamp, or by counted cycles where there are none. */
static void count_ticks(struct tw_patient *patient, const struct tw_element *element,
                        uint64_t at)
{
    struct tw_patient_rate *rate = &patient->rate;

    if (element->type == TW_ELEMENT_TIMESTAMP) {
        const uint64_t time = element->timestamp;

        const uint64_t ticks =
            rate->has_time && time > rate->last_time ? time - rate->last_time : 0;

        rate->ticks += ticks;
        if (rate->is_in_gap) {
            rate->gap_ticks += ticks;
            rate->gap_instructions += patient->instructions - rate->timed.instructions;
        }
        rate->is_in_gap = false;
        rate->last_time = time;
        rate->has_time = true;
    } else if (element->type == TW_ELEMENT_CYCLE_COUNT && !rate->has_time) {
        rate->ticks += element->cycles;
    } else {
        return;
    }
    rate->timed = (struct tw_patient_mark){ at, patient->instructions, rate->ticks };
    if (!rate->has_mark)
        rate->older = rate->mark = rate->timed;
    rate->has_mark = true;
    if (at - rate->mark.offset >= WINDOW) {
        rate->older = rate->mark;
        rate->mark = rate->timed;
    }
}

void tw_doctor_rate(struct tw_patient *patient, const struct tw_element *element, uint64_t at,
                    bool is_overflow)
{
    struct tw_patient_rate *rate = &patient->rate;

    count_ticks(patient, element, at);
    if (is_overflow) {
        rate->full_bytes += at - rate->begin.offset;
        rate->full_instructions += patient->instructions - rate->begin.instructions;
        if (rate->has_mark) {
            rate->full_timed_bytes += rate->timed.offset - rate->older.offset;
            rate->full_ticks += rate->timed.ticks - rate->older.ticks;
        }
        rate->has_mark = false;
        rate->is_in_gap = rate->has_time;
        rate->begin = (struct tw_patient_mark){ at, patient->instructions, 0 };
    } else if (at - rate->begin.offset >= 2 * WINDOW) {
        rate->begin = (struct tw_patient_mark){ at, patient->instructions, 0 };
    }
}

/* What makes trace larger, or keeps it small when it is switched on. */
static const struct {
    const char *protocol, *name;
    uint64_t mask;
    bool is_wanted; /* bits that should be set */
    const char *words;
} settings[] = {
    { "etmv4", "TRCCONFIGR", 0x1000, true, "return stack on (TRCCONFIGR.RS)" },
    { "etmv4", "TRCCONFIGR", 0x10, false, "cycle counting off (TRCCONFIGR.CCI)" },
    { "etmv4", "TRCCONFIGR", 0x8, false, "branch broadcast off (TRCCONFIGR.BB)" },
    { "etmv4", "TRCCONFIGR", 0x6, false, "loads and stores no waypoints (TRCCONFIGR.INSTP0)" },
    { "etmv4", "TRCCONFIGR", 0x800, false, "timestamps rarer (TRCTSCTLR) or off" },
    { "ete", "TRCCONFIGR", 0x1000, true, "return stack on (TRCCONFIGR.RS)" },
    { "ete", "TRCCONFIGR", 0x10, false, "cycle counting off (TRCCONFIGR.CCI)" },
    { "ete", "TRCCONFIGR", 0x8, false, "branch broadcast off (TRCCONFIGR.BB)" },
    { "ete", "TRCCONFIGR", 0x800, false, "timestamps rarer (TRCTSCTLR) or off" },
    { "ptm", "ETMCR", 0x20000000, true, "return stack on (ETMCR bit 29)" },
    { "ptm", "ETMCR", 0x1000, false, "cycle-accurate trace off (ETMCR bit 12)" },
    { "ptm", "ETMCR", 0x100, false, "branch broadcast off (ETMCR bit 8)" },
    { "etmv3", "ETMCR", 0xc, false, "data trace off (ETMCR bits 2 and 3)" },
    { "etmv3", "ETMCR", 0x1000, false, "cycle-accurate trace off (ETMCR bit 12)" },
    { "etmv3", "ETMCR", 0x100, false, "branch broadcast off (ETMCR bit 8)" },
    { "etrace", "implicit_return", 1, true, "implicit return on" },
    { "etrace", "branch_prediction", 1, true, "branch prediction on" },
    { "etrace", "jump_target_cache", 1, true, "jump target cache on" },
    { "etrace", "full_address", 1, false, "full addresses off" },
    { "ntrace", "mode", 1, true, "branch history instead of branches (trTeInstMode=6)" },
    { "ntrace", "implicit_return_mode", 3, true,
      "implicit return on (trTeInstImplicitReturnMode)" },
    { "ntrace", "repeat_history", 1, true, "repeated history on (trTeInstEnRepeatedHistory)" },
    { "ntrace", "all_jumps", 1, false, "messages of all jumps off (trTeInstEnAllJumps)" },
    { "ntrace", "timestamps", 1, false, "timestamps off (trTsControl)" },
};

/* A setting by name, of the registers or of the lines of text; 0 if it is not given. */
static uint64_t setting_of(const struct tw_source *source, const char *name)
{
    const size_t length = strlen(name);
    const char *line = source->text;

    for (size_t i = 0; i < source->register_count; i++)
        if (strcmp(source->registers[i].name, name) == 0)
            return source->registers[i].value;
    while (line && *line) {
        if (strncmp(line, name, length) == 0 && line[length] == '=') {
            const char *value = line + length + 1;

            return strncmp(value, "htm", 3) == 0 ? 1 : strtoull(value, NULL, 0);
        }
        line = strpbrk(line, "\n,");
        line = line ? line + 1 : NULL;
    }
    return 0;
}

static const char *remedy_of(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const struct tw_source *source = tw_capture_source(doctor->capture, patient->source);
    struct tw_text text = { .allocator = doctor->allocator };
    const char *made;

    tw_text_add(&text, "make less trace: ");
    for (size_t i = 0; source->protocol && i < TW_LENGTH(settings); i++) {
        if (strcmp(settings[i].protocol, source->protocol) != 0)
            continue;
        if (settings[i].is_wanted ==
            ((setting_of(source, settings[i].name) & settings[i].mask) != 0))
            continue;
        tw_text_format(&text, "%s, ", settings[i].words);
    }
    tw_text_add(&text, source->protocol && (strcmp(source->protocol, "itm") == 0 ||
                                            strcmp(source->protocol, "stm") == 0)
                           ? "fewer channels and samples, "
                           : "filters on the code of interest; ");
    tw_text_add(&text, "or a wider, faster port, a larger sink");
    made = tw_doctor_text(doctor, "%s", text.failed ? "" : text.chars);
    tw_text_free(&text);
    return made;
}

/* "; it needed ... and had ...", as far as it can be told. */
static const char *bandwidth_of(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const struct tw_patient_rate *rate = &patient->rate;
    const double read = (double)(patient->bytes - patient->unsynced);
    const double had = rate->ticks ? read / (double)rate->ticks : 0;
    const double needed =
        rate->full_ticks ? (double)rate->full_timed_bytes / (double)rate->full_ticks : 0;
    struct tw_text text = { .allocator = doctor->allocator };
    const char *made;

    /* Timestamps are put in where trace is made: between two of them lies what was needed, and on the
       whole what the port carried. */
    if (rate->ticks)
        tw_text_format(&text, "; it had %.4f bytes per tick of its %s", had,
                       rate->has_time ? "timestamps" : "cycle counter");
    if (rate->full_ticks && needed > had)
        tw_text_format(&text, ", and needed %.4f", needed);
    /* Where code is missing nobody knows how many instructions there were. */
    if (rate->full_instructions && patient->missing * 20 < patient->ranges)
        tw_text_format(&text, "; it made %.2f bits per instruction there, %.2f on the whole",
                       8.0 * (double)rate->full_bytes / (double)rate->full_instructions,
                       8.0 * read / (double)patient->instructions);
    else
        tw_text_format(&text, "; once in %.0f bytes of trace",
                       read / (double)patient->overflows);
    made = tw_doctor_text(doctor, "%s", text.size && !text.failed ? text.chars : "");
    tw_text_free(&text);
    return made;
}

/* "; about ...": as many as there would have been at the speed of the rest. */
static const char *estimate_of(struct tw_doctor *doctor, const struct tw_patient *patient)
{
    const struct tw_patient_rate *rate = &patient->rate;
    const double known = (double)(patient->instructions - rate->gap_instructions);
    const double lost =
        (double)rate->gap_ticks * known / (double)(rate->ticks - rate->gap_ticks) -
        (double)rate->gap_instructions;

    if (!rate->gap_ticks || known < KNOWN_LEAST || !(lost >= 1) ||
        patient->missing * 20 >= patient->ranges)
        return "";
    return tw_doctor_text(doctor, "; about %.0f are, by the time that passed", lost);
}

void tw_doctor_judge_overflow(struct tw_doctor *doctor, struct tw_patient *patient)
{
    struct tw_finding *finding;

    if (!patient->overflows)
        return;
    finding = tw_doctor_find(doctor, TW_FINDING_ERROR, "overflow", 20);
    finding->text =
        tw_doctor_text(doctor,
                       "source %s: the trace unit lost trace %" PRIu64
                       " times, the first at offset 0x%" PRIx64 "%s%s%s",
                       tw_doctor_name(doctor, patient), patient->overflows,
                       patient->first_overflow, tw_doctor_lost_text(doctor, patient),
                       estimate_of(doctor, patient), bandwidth_of(doctor, patient));
    finding->remedy = remedy_of(doctor, patient);
    tw_doctor_at(finding, patient->overflows, patient->first_overflow);
}
