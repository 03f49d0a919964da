/* report/json/json_out.h: writes a JSON value as one line. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* One line. -ENOMEM; what out says of writing is the caller's. */
int json_dump_write(const json_t *o, FILE *out);
/* The members of an object without its braces; takes o, which may be NULL: no memory. The same. */
int json_members_write(json_t *o, FILE *out);
