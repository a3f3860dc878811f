/* SPDX-License-Identifier: BSD-2-Clause */
/* What the headers of a program say. */
#include "base/fault.h"
#include "base/sized.h"
#include "capture/perfdata.h"
#include "image/file.h"

static void take(struct tw_perf_program *program, const struct perf_elf *elf)
{
    enum { LOADED = 1 };
    struct perf_segment segment;

    program->machine = elf->machine;
    program->bits = elf->is_64 ? 64 : 32;
    program->is_big_endian = elf->view.is_big;
    program->m_arch = tw_perf_elf_m_arch(elf);
    program->is_m = program->m_arch != 0;
    for (uint32_t i = 0; tw_perf_elf_segment(elf, &segment, i); i++) {
        if (segment.type != LOADED || !segment.file_size ||
            program->segment_count == TW_PERF_SEGMENTS)
            continue;
        program->segments[program->segment_count].address = segment.address;
        program->segments[program->segment_count].offset = segment.offset;
        program->segments[program->segment_count++].length = segment.file_size;
    }
}

enum tw_status tw_perf_program(struct tw_perf_program *program, const char *path,
                               struct tw_fault *fault)
{
    struct tw_perf_program made = { .size = sizeof made };
    struct tw_file file;
    struct perf_elf elf;

    TW_TRY(tw_file_map(&file, NULL, path, fault));
    tw_perf_elf_open(&elf, file.bytes, file.size);
    if (elf.is_elf)
        take(&made, &elf);
    tw_file_unmap(&file);
    if (!elf.is_elf)
        return tw_fail(fault, TW_E_CONFIG, "%s is no ELF program", path);
    return TW_SIZED_GIVE(program, &made) ? TW_OK : TW_E_ARGUMENT;
}
