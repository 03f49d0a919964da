/* cmd/read/heap_life.h: spoor heap grow, churn, life: what came, stayed and went. */
#pragma once

#include <stdbool.h>

/* Whether this first argument of spoor heap is one of them. */
bool heap_life_is(const char *word);
/* argv[0] is the word. An exit status. */
int heap_life_command(int argc, char **argv);
