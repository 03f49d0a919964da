/* base/privilege.h: gives up capabilities; docs/security.md says which command keeps which. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

/*
 * Keeps, of the capabilities that this process has, only the count ones in keep; empties the
 * inheritable, ambient and bounding sets, and sets no_new_privs, so that no exec brings anything
 * back. A set-user-ID or set-group-ID program becomes its caller for good. Affects the calling
 * thread: to be called before any other thread exists. 0 or a negative errno.
 */
int privilege_keep(const cap_value_t *keep, size_t count);

/* Keeps none: what is left of root is the owner of root's files. */
int privilege_drop_all(void);

/* Of a thread that somebody with capabilities has started: keeps none but, if it is there,
 * CAP_DAC_OVERRIDE, by which files can be made in folders of others. */
void privilege_writer_thread(void);

/* access(2) of the effective user without any capability: 0 or a negative errno. */
int privilege_access_without(const char *path, int mode);

/* Whether the calling thread has the capability in its effective set. */
bool privilege_have(cap_value_t which);
