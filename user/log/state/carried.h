/* log/state/carried.h: what a part of a log needs of those before it, so that it can be read
 * alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct event;
struct carried_definitions;

/* 0 or negative errno, which ends the call that emits. e is lent until it returns. */
typedef int (*carried_emit)(void *ctx, const struct event *e);

/* The budget is that of classes and methods, lent until carried_free; NULL: without bound.
 * -ENOMEM. */
int carried_new(struct budget *budget, struct carried_definitions **ret);
void carried_free(struct carried_definitions *c); /* accepts NULL */

/*
 * Every event, before it is written. A definition is kept, and emitted: the caller writes those
 * that are emitted, and all other events itself. Before an event, the definitions that it needs and
 * this part has not are emitted: callers before the called, all with the time of the event.
 * Follows what is open. 0, -ENOMEM, or what emit said.
 */
int carried_event(struct carried_definitions *c, const struct event *e, carried_emit emit,
		  void *ctx);

/* The number that this event (EVENT_LOCK, ...) has defined is in no event from now on. */
void carried_forget(struct carried_definitions *c, uint16_t event, uint64_t number);

/* What has defined the number, without its time; texts are lent until the next call of another
 * function. False: it is forgotten, or was never defined. */
bool carried_find(struct carried_definitions *c, uint16_t event, uint64_t number,
		  struct event *ret);

/* A new part: nothing is defined in it yet. */
void carried_cut(struct carried_definitions *c);

/*
 * The events of a block of synchronization: what is open now, outer ones before inner ones. Their
 * definitions come out first, as those of other events: by their ids the caller distinguishes them.
 */
int carried_open(struct carried_definitions *c, carried_emit emit, void *ctx);
