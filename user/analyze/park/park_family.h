/* analyze/park/park_family.h: what the class of a park blocker says about who keeps a thread
 * waiting. */
#pragma once

enum park_family {
	PARK_FAMILY_OTHER,      /* nothing is known of it */
	PARK_FAMILY_EXCLUSIVE,  /* a lock with one owner */
	PARK_FAMILY_READ_WRITE, /* a lock that can be shared */
	PARK_FAMILY_OWNED,      /* of a class of its own, but it has an owner field */
	PARK_FAMILY_CONDITION,  /* waiting for a signal, and then, unseen, for the lock */
	PARK_FAMILY_EVENT,      /* waiting for somebody to do something: nobody holds it */
};

/* class: a name, NULL: not known. */
enum park_family park_family_of(const char *class);
