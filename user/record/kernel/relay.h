/* record/kernel/relay.h: one set of the scheduler's programs for many recorders (bpf/relay). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RELAY_WHY_MAX 512
#define RELAY_SLOTS_MAX 255

struct relay;

/* Loads and attaches. -ENOMEM and what bpf(2) says: why is filled. */
int relay_open(struct relay **ret, char why[RELAY_WHY_MAX]);
/* Detaches; for whoever has opened it, when there are no recorders any more. Accepts NULL. */
void relay_close(struct relay *r);

/* Readable when JVMs have begun. */
int relay_fd(const struct relay *r);
/* Calls begun with each process in which a HotSpot VM has begun since the last call. Any thread can
 * call itself as the VM's does: what it is has to be looked at. */
void relay_starts(struct relay *r, void (*begun)(void *ctx, pid_t pid), void *ctx);
/* Whether beginnings were not reported since the last call, for want of room. */
bool relay_starts_lost(struct relay *r);
/* Frees the slot of a recorder that has ended, however that was. */
void relay_clear(struct relay *r, unsigned slot);

/* --- in a recorder, which has been forked from whoever has opened it ------------------------- */

/* A map of the relay that each recorder uses in place of its own. */
int relay_cpus_fd(const struct relay *r);
/*
 * From now on events of the process tgid (in the initial pid namespace) call these programs:
 * descriptors by enum wire_relay_hook, -1 for none. slot is from 1 to RELAY_SLOTS_MAX, and the
 * recorder's own. -ENOSPC: there are too many with such numbers.
 */
int relay_join(struct relay *r, unsigned slot, uint32_t tgid, const int *programs);
/* No event calls them any more that is not there yet. */
void relay_leave(struct relay *r, unsigned slot);
