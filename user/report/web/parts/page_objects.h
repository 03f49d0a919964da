/* report/web/parts/page_objects.h: the page's part about objects, of a log that has their
 * events. */
#pragma once

#include <stdio.h>

struct section_input;

/* Reads the files of the log once more, which takes as long as spoor objects. ,"objects":{...}, or
 * null if there are none. 0 or -ENOMEM. */
int page_objects_write(const struct section_input *in, FILE *out);
