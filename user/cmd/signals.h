/* cmd/signals.h: signals as reads from a descriptor, of commands that run until one comes. */
#pragma once

#include <stdbool.h>

/* Blocks these signals, of which 0 is the last, and ignores SIGPIPE. A signalfd that does not
 * block, to be closed; or -1 and errno. */
int signals_open(const int *which);

/*
 * deadly: those that end a command end the process at once; else they are blocked. While a recorder
 * attaches, nothing is written that would have to be undone: the kernel takes back all that the
 * process has. So it ends like any other program then, whatever its target makes it wait for.
 */
void signals_deadly(bool deadly);
