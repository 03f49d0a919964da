/* tests/walk/agct.h: what the JVM itself says of a thread's stack: from agent.c to walkimage, in a shared file. */
#pragma once

#include <stdint.h>

#define AGCT_FRAMES_MAX 2048

struct agct_frame {
	uint64_t method; /* address of the Method; 0: it has no jmethodID */
	int64_t bci;     /* less than 0: a native method */
};

struct agct {
	int32_t tid;   /* of the thread that is asked by a signal */
	int32_t count; /* frames; 0 or less: the JVM does not know */
	uint64_t
		java_thread; /* whose stack the agent's thread is to find; set to 0 when it is done */
	/* Of a thread that is stopped by the agent itself: until tid is another one, or step is set. */
	int32_t stopped, step;
	uint64_t code_low, code_high; /* where it may be stepped */
	uint64_t pc, sp, fp, bcp, method, link; /* as struct hs_start has them */
	struct agct_frame frames[AGCT_FRAMES_MAX];
};
