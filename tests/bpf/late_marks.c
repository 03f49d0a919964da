/* tests/bpf/late_marks.c: a library with the probes of jvm-hooks/mark/mark.c, for a fake JVM that loads it late. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#undef _SDT_NOP
#define _SDT_NOP                                                                                   \
	nop;                                                                                       \
	.nops 5;                                                                                   \
	.nops 10

#include <string.h>

#define SEMAPHORE(name)                                                                            \
	extern volatile unsigned short spoor_mark_##name##_semaphore;                              \
	volatile unsigned short spoor_mark_##name##_semaphore __attribute__((section(".probes"), used));
SEMAPHORE(begin)
SEMAPHORE(end)

int late_span(const char *name);

/* 1: fired; 0: nobody is attached. */
int late_span(const char *name)
{
	if (!spoor_mark_begin_semaphore || !spoor_mark_end_semaphore)
		return 0;
	STAP_PROBE2(spoor_mark, begin, name, (int)strlen(name));
	STAP_PROBE(spoor_mark, end);
	return 1;
}
