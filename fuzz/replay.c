/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a fuzz target once on each file named on the command line, without libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly as large as the file, so that ASan sees a read of one byte too far. */
static uint8_t *load(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long length;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)length;
        data = malloc(*size ? *size : 1);
        if (data && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load(&size, argv[i]);

        if (!data) {
            (void)fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        (void)LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    printf("[  PASSED  ] %d test(s).\n", argc - 1);
    return 0;
}
