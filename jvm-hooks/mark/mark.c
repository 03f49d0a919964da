/*
 * The native half of spoor.Mark: two USDT probes, and where their semaphores are.
 *
 * While nobody is attached nothing here is called: Mark.java reads the two semaphores, which lie
 * side by side in one word, through a direct ByteBuffer. The kernel raises one of them in this
 * process before a breakpoint is set on its probe.
 *
 * The library needs no other one, not even libc, so that one file does for glibc and for musl:
 * nothing in it may be turned into a call to memset or memcpy. On x86-64 a probe is three nops, of
 * which the recorder takes the one that its kernel makes a call of; on 6.18 that pushes below the
 * stack pointer, where nothing may live (docs/decisions/017-nops-of-probes.md).
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#if defined(__x86_64__)
#undef _SDT_NOP
#define _SDT_NOP                                                                                   \
	nop;                                                                                       \
	.nops 5;                                                                                   \
	.nops 10
#endif

#include <jni.h>

#define NAME_MAX 127 /* bytes; spoor keeps no more of a name */

/* In the file, not in .bss: the kernel finds a semaphore by its offset there. */
__asm__(".pushsection .probes, \"aw\", @progbits\n"
	"	.balign 4\n"
	"	.hidden spoor_mark_begin_semaphore\n"
	"	.hidden spoor_mark_end_semaphore\n"
	"	.globl spoor_mark_begin_semaphore\n"
	"	.globl spoor_mark_end_semaphore\n"
	"spoor_mark_begin_semaphore: .2byte 0\n"
	"spoor_mark_end_semaphore: .2byte 0\n"
	".popsection\n");

extern __attribute__((visibility("hidden"))) volatile unsigned short spoor_mark_begin_semaphore;
extern __attribute__((visibility("hidden"))) volatile unsigned short spoor_mark_end_semaphore;

JNIEXPORT jobject JNICALL Java_spoor_Mark_semaphores(JNIEnv *env, jclass mark);
JNIEXPORT void JNICALL Java_spoor_Mark_fireBegin(JNIEnv *env, jclass mark, jbyteArray name,
						 jint length);
JNIEXPORT void JNICALL Java_spoor_Mark_fireEnd(JNIEnv *env, jclass mark);

/* Of 4 bytes: that of begin, and that of end. */
JNIEXPORT jobject JNICALL Java_spoor_Mark_semaphores(JNIEnv *env, jclass mark)
{
	(void)mark;
	return (*env)->NewDirectByteBuffer(env, (void *)&spoor_mark_begin_semaphore, 4);
}

JNIEXPORT void JNICALL Java_spoor_Mark_fireBegin(JNIEnv *env, jclass mark, jbyteArray name,
						 jint length)
{
	jbyte text[NAME_MAX];

	(void)mark;
	if (length < 0 || length > NAME_MAX)
		return;
	(*env)->GetByteArrayRegion(env, name, 0, length, text);
	STAP_PROBE2(spoor_mark, begin, &text[0], length);
}

JNIEXPORT void JNICALL Java_spoor_Mark_fireEnd(JNIEnv *env, jclass mark)
{
	(void)env;
	(void)mark;
	STAP_PROBE(spoor_mark, end);
}
