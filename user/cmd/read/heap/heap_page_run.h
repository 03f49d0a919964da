/* cmd/read/heap/heap_page_run.h: spoor heap page: a heap or a log's objects, as a page for a
 * browser. */
#pragma once

/* argv[0] is the word. An exit status. */
int heap_page_command(int argc, char **argv);
