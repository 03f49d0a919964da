/* record/identity/ids_locks.h: what the files of ids that are about locks share. */
#pragma once

#include "record/identity/ids_internal.h"

struct lock_key {
	uint64_t address;
	uint64_t klass; /* blockers; 0 for monitors */
};

/* A lock as the log has it: one for all the keys that lead to it. */
struct lock_info {
	uint32_t number;
	uint32_t refs;
	uint32_t class, hash;
	uint32_t group, identity;
	uint64_t address;
};

struct lock_id {
	struct lock_key key;
	uint64_t handle; /* monitors: the weak handle's slot */
	uint64_t klass;
	struct lock_info *info; /* NULL: not known (any more) */
	uint32_t blocked;       /* threads that block on it, or wait */
	bool gone;              /* deflated */
	bool used;              /* by more than its inflation */
};

struct hash_key {
	uint32_t class, hash;
};

struct hash_id {
	struct hash_key key;
	struct lock_info *info;
	bool used; /* likewise, now or in an earlier inflation */
};

/* A class is unloaded, and its address used again: what is known of a lock of it is of another. */
bool ids_class_is_still(const struct lock_id *l, const struct class_id *c);

struct lock_id *ids_lock_find(struct ids *ids, struct lock_key key);
/* Makes it if there is none; NULL: no room, or no memory. */
struct lock_id *ids_lock_get(struct ids *ids, struct lock_key key);
/* It stands for another object from now on. */
void ids_lock_clear(struct ids *ids, struct lock_id *l);
void ids_lock_remove(struct ids *ids, struct lock_id *l);
/* The number of all that have none of their own. */
uint32_t ids_lock_shared(struct ids *ids, uint64_t time_ns);
struct hash_id *ids_hash_find(struct ids *ids, uint32_t class, uint32_t hash);
void ids_hash_remove(struct ids *ids, struct hash_id *h);

struct lock_facts {
	uint32_t class, group, identity;
};
/* Brings what is known of a lock up to date with a record, and writes it when it changed; its
 * number. */
uint32_t ids_lock_update(struct ids *ids, struct lock_id *l, const struct wire_lock *r,
			 const struct lock_facts *f);
/* LOCK_GROUP_JUC or LOCK_GROUP_OTHER. */
uint32_t ids_blocker_group(const struct class_id *c, const struct wire_lock *r);
