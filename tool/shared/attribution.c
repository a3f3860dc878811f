/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribution of elements as text. */
#include "shared/attribution.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A name as part of a JSON string. */
static void copy_json(char *out, size_t room, const char *text)
{
    size_t at = 0;

    for (; *text && at + 8 < room; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '"' || byte == '\\')
            out[at++] = '\\';
        if (byte < 0x20 || byte == 0x7f)
            at += (size_t)snprintf(out + at, 8, "\\u%04x", byte);
        else
            out[at++] = *text;
    }
    out[at] = 0;
}

void attribution_part(struct attribution *attribution, const struct tw_part *part, bool is_json)
{
    const struct tw_who *who = &part->who;
    const uint32_t pid = who->thread ? who->pid : who->tid;
    char comm[100] = "";
    int size;

    attribution->who[0] = attribution->where[0] = 0;
    if (who->cpu == TW_NONE)
        return;
    copy_json(comm, sizeof comm, who->comm);
    size = snprintf(attribution->who, sizeof attribution->who,
                    is_json ? ",\"cpu\":%" PRIu32 ",\"pid\":%" PRId32 ",\"tid\":%" PRId32
                              ",\"comm\":\"%s\""
                            : "  [%03" PRIu32 "] %" PRId32 "/%" PRId32 " %s",
                    who->cpu, (int32_t)pid, (int32_t)who->tid, comm);
    if (is_json && part->when.clock == TW_CLOCK_RECORD && part->when.not_before)
        (void)snprintf(attribution->who + size, sizeof attribution->who - (size_t)size,
                       ",\"time\":%" PRIu64, part->when.not_before);
}

void attribution_where(struct attribution *attribution, struct tw_run *run,
                       const struct tw_part *part, uint64_t address, bool is_json)
{
    uint64_t offset;
    const char *object = tw_run_object(run, &offset, part, address);
    char file[400] = "";

    attribution->where[0] = 0;
    if (!object)
        return;
    copy_json(file, sizeof file, object);
    (void)snprintf(attribution->where, sizeof attribution->where,
                   is_json ? ",\"dso\":\"%s\",\"off\":\"0x%" PRIx64 "\"" : " %s+0x%" PRIx64,
                   file, offset);
}

const char *attribution_of(struct attribution *attribution, struct tw_run *run,
                           const struct tw_part *part, const struct tw_element *element,
                           bool is_json)
{
    if (element->type != TW_ELEMENT_INSTR_RANGE && element->type != TW_ELEMENT_ADDR_NACC)
        return attribution->who;
    attribution_where(attribution, run, part, element->start, is_json);
    (void)snprintf(attribution->text, sizeof attribution->text, "%s%s", attribution->who,
                   attribution->where);
    return attribution->text;
}
