/* cmd/read/heap/heap_callers.h: spoor heap callers: who has called for objects, by samples. */
#pragma once

/* argv[0] is the word. An exit status. */
int heap_callers_command(int argc, char **argv);
