/* cmd/read/heap/heap_life.h: spoor heap grow, churn, life, diff --from --to: what came, stayed,
 * went. */
#pragma once

#include <stdbool.h>

/* Whether the first argument of spoor heap is one of them; diff only with --from or --to. */
bool heap_life_is(int argc, char **argv);
/* argv[0] is the word. An exit status. */
int heap_life_command(int argc, char **argv);
