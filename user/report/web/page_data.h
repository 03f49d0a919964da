/* report/web/page_data.h: what the page's code is given. */
#pragma once

#include <stdio.h>

struct page_input;

/* docs/html.md describes it. 0 or -ENOMEM. */
int page_data_write(const struct page_input *in, FILE *out);
