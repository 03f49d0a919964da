/* base/text/cxx_name.h: names of C++ functions as people write them. */
#pragma once

#include <stddef.h>

/*
 * "PhaseIdealLoop::build_loop_tree" for "_ZN14PhaseIdealLoop15build_loop_treeEv": the name without
 * its arguments, and template arguments as "<>". Whatever this knows nothing of, operators and
 * names of compilers among them, and what is no such name stays as it is. ret has size bytes, 1 or
 * more; what there is no room for is cut.
 */
void cxx_name(const char *symbol, char *ret, size_t size);
