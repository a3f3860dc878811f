/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of target memory, as options name them. */
#include "shared/image_option.h"

#include <string.h>

static bool set_key(const struct options *options, const char *option,
                    struct tw_capture_image_option *image, const char *key)
{
    uint64_t number;

    if (strncmp(key, "src=", 4) == 0) {
        if (!parse_number(&number, key + 4) || number >= TW_NO_SRC)
            return options_wrong(options, "%s: src wants a number, not \"%s\"", option,
                                 key + 4);
        image->has_src = true;
        image->src = (uint32_t)number;
        return true;
    }
    if (tw_space_by_name(&image->spaces, key + 6))
        return true;
    return options_wrong(options,
                         "%s: there is no space \"%s\"; there are S, N, H, EL1S, EL1N, "
                         "EL2, EL3 and others, see trackway(1)",
                         option, key + 6);
}

bool image_parse(const struct options *options, const char *option,
                 struct tw_capture_image_option *image, char *text)
{
    char *at;

    *image = (struct tw_capture_image_option){ .path = text };
    while ((at = strrchr(text, ',')) != NULL &&
           (strncmp(at + 1, "space=", 6) == 0 || strncmp(at + 1, "src=", 4) == 0)) {
        *at = 0;
        if (!set_key(options, option, image, at + 1))
            return false;
    }
    at = strrchr(text, '@');
    if (at && parse_number(&image->address, at + 1))
        *at = 0;
    if (!*text)
        return options_wrong(options, "%s wants a file: %s FILE[@BIAS][,space=S][,src=N]",
                             option, option);
    return true;
}
