/* cmd/read/replay/class_path.h: --classpath: code by which call chains of a log are extended. */
#pragma once

struct object_replay;

/* A row of a command's table of options. */
#define CLASS_PATH_OPTION(key)                                                                     \
	{                                                                                          \
		"classpath", key, "PATH[:PATH...]", 0,                                             \
			"Of a log: jars, folders of class files, .jmod files: call chains are "    \
			"extended by callers that are the only ones in this code, marked "         \
			"(inferred)",                                                              \
			0                                                                          \
	}

/* The replay is finished. Says what goes wrong. 0, and *ret is a sentence, to be freed; negative:
 * something cannot be read. */
int class_path_extend(const char *path, struct object_replay *r, char **ret);
