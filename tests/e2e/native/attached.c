/* Threads of native code for Attached.java. */
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#ifdef __x86_64__
/* Those that a JVM beside an older libc finds, too. */
__asm__(".symver pthread_create,pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join,pthread_join@GLIBC_2.2.5");
#endif

/* javac -h is not run for the tests: this stands for its header. */
JNIEXPORT void JNICALL Java_Attached_attach(JNIEnv *env, jclass self, jint threads, jint turns,
					    jint naps);

struct crew {
	JavaVM *vm;
	jclass class; /* a global reference */
	jmethodID park;
	jint turns, naps;
};

static void *work(void *arg)
{
	const struct timespec nap = {.tv_nsec = 10000};
	struct crew *c = arg;
	JNIEnv *env;

	for (jint turn = 0; turn < c->turns; turn++) {
		for (jint i = 0; i < c->naps; i++)
			nanosleep(&nap, NULL);
		if ((*c->vm)->AttachCurrentThread(c->vm, (void **)&env, NULL) != JNI_OK)
			return NULL;
		(*env)->CallStaticVoidMethod(env, c->class, c->park, turn);
		(*c->vm)->DetachCurrentThread(c->vm);
	}
	return NULL;
}

void Java_Attached_attach(JNIEnv *env, jclass self, jint threads, jint turns, jint naps)
{
	struct crew c = {.turns = turns, .naps = naps};
	pthread_t *thread = calloc((size_t)threads, sizeof(*thread));
	jint begun = 0;

	c.class = (*env)->NewGlobalRef(env, self);
	c.park = (*env)->GetStaticMethodID(env, self, "park", "(I)V");
	if (thread && c.class && c.park && (*env)->GetJavaVM(env, &c.vm) == JNI_OK)
		while (begun < threads && !pthread_create(&thread[begun], NULL, work, &c))
			begun++;
	for (jint i = 0; i < begun; i++)
		pthread_join(thread[i], NULL);
	if (begun < threads)
		(*env)->FatalError(env, "not all threads have begun");
	(*env)->DeleteGlobalRef(env, c.class);
	free(thread);
}
