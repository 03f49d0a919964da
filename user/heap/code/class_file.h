/* heap/code/class_file.h: reads a class file: its methods, and what these call. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the file, as they are: modified UTF-8, not terminated. */
struct class_text {
	const char *bytes;
	uint32_t length;
};

enum class_access {
	CLASS_PRIVATE = 0x2,
	CLASS_STATIC = 0x8,
	CLASS_INTERFACE = 0x200,
	CLASS_ENUM = 0x4000,
};

/* Names as "java/lang/Object"; of java.lang.Object and modules super is empty. */
struct class_head {
	struct class_text name, super;
	uint32_t access;
	bool annotated; /* for whoever looks at run time */
};

struct class_method {
	struct class_text name, descriptor;
	uint32_t access;
	bool annotated;
};

enum class_call_kind { CLASS_CALL_VIRTUAL, CLASS_CALL_SPECIAL, CLASS_CALL_STATIC };

/* A bytecode that calls, or a handle by which a method can be called. */
struct class_call {
	struct class_text class, name, descriptor;
	enum class_call_kind kind; /* of interfaces: virtual */
	uint32_t bci;              /* of a handle 0 */
};

/* What is found; other than 0 ends reading. Texts are lent for the call. */
struct class_visitor {
	int (*head)(void *ctx, const struct class_head *h);
	int (*interface)(void *ctx, struct class_text name);
	int (*method)(void *ctx, const struct class_method *m);
	int (*call)(void *ctx, const struct class_call *c); /* in the method before */
	int (*handle)(void *ctx, const struct class_call *c);
	int (*string)(void *ctx, struct class_text text); /* a constant of the code */
	void *ctx;
};

/* 0; -EBADMSG: it is none, or damaged, and some of it may have been visited; -ENOMEM; what a
 * visitor returned. */
int class_file_read(const uint8_t *bytes, size_t count, const struct class_visitor *v);
