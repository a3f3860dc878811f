/* SPDX-License-Identifier: BSD-2-Clause */
/* Loadable segments of ELF files, read with libelf. */
#include <inttypes.h>

#include "base/fault.h"
#include "image/store.h"

#ifdef TW_WITH_ELF

#include <fcntl.h>
#include <unistd.h>

#include "image/libelf.h"

TW_LIBRARY_HERE(tw_libelf, TW_LIBELF_CALLS, "libelf.so.1")

/* One program header.  The zero-filled end of a segment is left out: no code stands there. */
static enum tw_status add_segment(struct tw_image *image, const struct tw_region *about,
                                  struct backing *backing, const GElf_Phdr *header,
                                  size_t number)
{
    struct tw_region region = *about;

    if (header->p_type != PT_LOAD || header->p_filesz == 0)
        return TW_OK;
    if (header->p_offset > backing->file.size ||
        header->p_filesz > backing->file.size - header->p_offset)
        return tw_fail(&image->fault, TW_E_FILE, "%s: segment %zu lies outside the file",
                       backing->path, number);
    region.address += header->p_vaddr;
    region.length = header->p_filesz;
    return tw_image_take(image, &region, backing->file.bytes + header->p_offset, backing);
}

static enum tw_status add_segments(struct tw_image *image, const struct tw_region *about,
                                   struct backing *backing, Elf *elf)
{
    const size_t before = image->count;
    size_t count;

    if (tw_libelf.elf_kind(elf) != ELF_K_ELF || tw_libelf.elf_getphdrnum(elf, &count) != 0)
        return tw_fail(&image->fault, TW_E_FILE, "%s: not an ELF file", backing->path);
    /* A header is 32 bytes at least: a count that cannot be true must not keep us busy. */
    if (count > backing->file.size / 32)
        return tw_fail(&image->fault, TW_E_FILE, "%s: its program headers lie outside the file",
                       backing->path);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (!tw_libelf.gelf_getphdr(elf, (int)i, &header))
            return tw_fail(&image->fault, TW_E_FILE,
                           "%s: program header %zu cannot be read: %s", backing->path, i,
                           tw_libelf.elf_errmsg(-1));
        TW_TRY(add_segment(image, about, backing, &header, i));
    }
    /* An image that had all of them already is as good. */
    if (image->count == before && backing->uses == 1)
        return tw_fail(&image->fault, TW_E_FILE, "%s: has no loadable segments", backing->path);
    return TW_OK;
}

static enum tw_status add_elf(struct tw_image *image, const struct tw_region *about,
                              struct backing *backing)
{
    enum tw_status status;
    Elf *elf;
    int fd;

    if (!tw_libelf_load() || tw_libelf.elf_version(EV_CURRENT) == EV_NONE)
        return tw_fail(&image->fault, TW_E_UNSUPPORTED, TW_LIBELF_MISSING, backing->path);
    fd = open(backing->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return tw_fail(&image->fault, TW_E_FILE, "%s: cannot be opened", backing->path);
    elf = tw_libelf.elf_begin(fd, ELF_C_READ, NULL);
    if (elf)
        status = add_segments(image, about, backing, elf);
    else
        status = tw_fail(&image->fault, TW_E_FILE, "%s: %s", backing->path,
                         tw_libelf.elf_errmsg(-1));
    (void)tw_libelf.elf_end(elf);
    (void)close(fd);
    return status;
}

/* Of a RISC-V program; 0: it is of another architecture. */
static uint8_t xlen_of(const struct tw_file *file)
{
    const uint8_t *bytes = file->bytes;
    const bool is_big = bytes[EI_DATA] == ELFDATA2MSB;
    const unsigned machine = (unsigned)(bytes[18 + is_big] | bytes[18 + !is_big] << 8);

    if (machine != EM_RISCV)
        return 0;
    return bytes[EI_CLASS] == ELFCLASS32 ? 32 : 64;
}

enum tw_status tw_image_add_elf(struct tw_image *image, const struct tw_region *region,
                                const char *path)
{
    const size_t count = image->count;
    struct tw_region about;
    struct backing *backing;
    enum tw_status status;

    TW_TRY(tw_image_region_from(image, &about, region, path));
    TW_TRY(tw_image_back(image, &backing, path));
    backing->uses++;
    status = add_elf(image, &about, backing);
    if (status != TW_OK)
        tw_image_cut(image, count);
    else if (!image->xlen)
        image->xlen = xlen_of(&backing->file);
    backing->uses--;
    tw_image_settle(image, backing);
    return status;
}

#else

enum tw_status tw_image_add_elf(struct tw_image *image, const struct tw_region *region,
                                const char *path)
{
    (void)region;
    return tw_fail(&image->fault, TW_E_UNSUPPORTED,
                   "%s: this build reads no ELF files; it needs libelf (Debian: libelf-dev)",
                   path);
}

#endif
