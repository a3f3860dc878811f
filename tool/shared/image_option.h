/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of target memory, as options name them. */
#ifndef IMAGE_OPTION_H
#define IMAGE_OPTION_H

#include <trackway/capture.h>

#include "shared/options.h"

/* Cuts "FILE[@BIAS][,space=S][,src=N]".  A file name may hold all these characters: only a number
   after the last @ is a bias.  Faults name the option. */
bool image_parse(const struct options *options, const char *option,
                 struct tw_capture_image_option *image, char *text);

#endif
