/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribution of elements as text. */
#include "shared/attribution.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

enum { COMM_MOST = 90, FILE_MOST = 390 }; /* longer names are cut */

/* A name as part of a JSON string, or for people: at most `most` bytes. */
static void copy_name(char *out, const char *name, size_t most, bool is_json)
{
    char shown[FILE_MOST * TW_ESCAPE_JSON_MOST];
    const size_t all = strlen(name);
    size_t size = all < most ? all : most, used;

    for (;; size /= 2) {
        used = is_json ? tw_escape_json(shown, name, size) : tw_escape_text(shown, name, size);
        if (used <= most)
            break;
    }
    memcpy(out, shown, used);
    out[used] = 0;
}

void attribution_part(struct attribution *attribution, const struct tw_part *part, bool is_json)
{
    const struct tw_who *who = &part->who;
    const uint32_t pid = who->thread ? who->pid : who->tid;
    char comm[COMM_MOST + 1];
    int size;

    attribution->who[0] = attribution->where[0] = 0;
    if (who->cpu == TW_NONE)
        return;
    copy_name(comm, who->comm, COMM_MOST, is_json);
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
    char file[FILE_MOST + 1];

    attribution->where[0] = 0;
    if (!object)
        return;
    copy_name(file, object, FILE_MOST, is_json);
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
