/* probe/ids_parts.h: what the files of ids share. */
#pragma once

#include "probe/ids.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct class_id {
	uint64_t klass;
	uint32_t number;
	uint32_t flags;
	uint32_t blockers; /* of a patched JVM: objects of it that have a number */
	char *name;
	UT_hash_handle hh;
};

struct lock_key {
	uint64_t address;
	uint64_t klass; /* blockers; 0 for monitors */
};

struct lock_info {
	uint32_t number, class, hash, group, identity;
	uint64_t address;
};

struct lock_id {
	struct lock_key key;
	uint64_t handle; /* monitors: the weak handle's slot */
	uint64_t klass;
	bool gone; /* deflated */
	bool used; /* by more than its inflation */
	struct lock_info info;
	UT_hash_handle hh;
};

struct hash_key {
	uint32_t class, hash;
};

struct hash_id {
	struct hash_key key;
	bool used; /* likewise, now or in an earlier inflation */
	struct lock_info info;
	UT_hash_handle hh;
};

struct ids {
	struct log_writer *w;
	struct thread_id *threads;
	struct class_id *classes;
	struct lock_id *locks;
	struct hash_id *hashes;
	struct string_id *strings;
	uint32_t thread_count, class_count, lock_count, string_count;
	int err;
};

/* NULL: it is not known, or was never told. */
struct class_id *ids_class_find(struct ids *ids, uint64_t klass);
/* A class is unloaded, and its address used again: what is known of a lock of it is of another. */
bool ids_class_is_still(const struct lock_id *l, const struct class_id *c);
/* Makes it if there is none; NULL: no memory. */
struct lock_id *ids_lock_get(struct ids *ids, struct lock_key key);
struct hash_id *ids_hash_find(struct ids *ids, uint32_t class, uint32_t hash);
/* Brings what is known of a lock up to date with a record, and writes it when it changed; its
 * number. */
uint32_t ids_lock_update(struct ids *ids, struct lock_id *l, const struct wire_lock *r,
			 uint32_t class, uint32_t group, uint32_t identity);
/* LOCK_GROUP_JUC or LOCK_GROUP_OTHER. */
uint32_t ids_blocker_group(const struct class_id *c, const struct wire_lock *r);
