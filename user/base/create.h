/* base/create.h: makes the files that spoor writes: for their owner alone, never through a link. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define CREATE_MODE 0600

/*
 * *ret is open for writing and empty. /dev/stdout, /dev/fd/N and the like are this process's own
 * descriptors; FIFOs and character devices are written to as they are.
 *
 * A file that is there already is never written to, so that nobody who has it open, or has given it
 * other names or another mode, sees what is new: another one takes its name, if overwrite is set
 * (else -EEXIST). Only where the folder forbids that, a file of one name, owned by this user, is
 * emptied, and keeps its mode.
 *
 * -ELOOP: a link; or, on the way there, a link of another user in a folder to which everybody may
 * write. -EPERM: the file is another user's. -EMLINK: it has other names. -EISDIR. -ENXIO: a block
 * device or a socket. Others as of open(2).
 */
int file_create(const char *path, bool overwrite, mode_t mode, int *ret);

/* The folder in which such a file is, for openat() and the like; *ret is the caller's to close.
 * -ELOOP as above, and others. */
int file_folder(const char *path, int *ret);

/* A file in that folder that nobody else has; *ret_name, which begins so, is freed with free(). */
int file_create_unique(int dir, const char *begin, mode_t mode, char **ret_name, int *ret);

/* The folder itself, 0700 as far as mode does not say more. 0 also if it is there. -EPERM: somebody
 * else has put another one there meanwhile. Others as file_folder(). */
int folder_create(const char *path, mode_t mode);

/* What such an error means, and what to do. */
const char *file_create_error(int err);
