/* heap/code/jar_file.h: reads the class files of a jar, which is a zip file. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define JAR_MEMBER_BYTES_MAX (256u << 20)

struct jar_visitor {
	/* A member whose name ends in .class or .jar; its bytes are lent for the call. Other than 0
	 * ends it. */
	int (*member)(void *ctx, const char *name, uint32_t name_length, const uint8_t *bytes,
		      size_t count);
	void *ctx;
	uint64_t damaged; /* members that cannot be read, and are left out: added to */
};

/* 0; -EBADMSG: it is no zip file, or its directory is damaged; -ENOMEM; what member returned. */
int jar_file_each(const uint8_t *bytes, size_t count, struct jar_visitor *v);
