/* report/json/json_wall.h: the JSON report's threads, with their states. */
#pragma once

#include <jansson.h>

struct report_input;

/* An array; NULL: no memory. */
json_t *wall_json(const struct report_input *in);
