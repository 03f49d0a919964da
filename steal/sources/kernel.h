/* steal/sources/kernel.h: what this kernel's accounting does with stolen time. */
#pragma once

#include <stdbool.h>

/* As steal_kernel_cpu_has_steal, of a system whose files are below root; "": this one. */
bool steal_kernel_cpu_has_steal_at(const char *root, const char **how);
