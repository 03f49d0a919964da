/* base/tables/hash_table.h: uthash with keyed hashes, and without exits where there is no memory.
 */
#pragma once

#include "base/tables/hash.h"

/* uthash leaves out an element that it has no memory for, and clears its hh.tbl. */
#define HASH_NONFATAL_OOM 1
#ifndef uthash_nonfatal_oom
#define uthash_nonfatal_oom(added) ((void)(added))
#endif
/* A file whose keys are numbers defines another one before this line, also of hash.h. */
#ifndef HASH_FUNCTION
#define HASH_FUNCTION(key, length, hash) ((hash) = (unsigned)hash_bytes(key, length))
#endif
#include <uthash.h>
