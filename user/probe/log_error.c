#include "probe/log_error.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	int err;
	const char *text;
} texts[] = {
	{ENOSPC, "the disk is full"},
	{EDQUOT, "the disk quota is used up"},
	{EROFS, "the file system is read-only"},
	{EFBIG, "the file has reached the size limit (ulimit -f, or the file system's)"},
	{EPIPE, "nobody reads the pipe any more"},
	{ESTALE, "the file has been deleted, or its file system has gone"},
	{EIO, "the disk, or the way to it, has failed (input/output error)"},
	{ENOMEM, "out of memory"},
};

const char *log_error_text(int err)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].err == -err)
			return texts[i].text;
	return strerror(-err);
}
