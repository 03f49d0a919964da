/* Native methods of StaysNative: monitors of the JVM in the hands of native code. */
#include <jni.h>
#include <pthread.h>

/* javac -h is not run for the tests: these stand for its header. */
JNIEXPORT void JNICALL Java_StaysNative_00024Cell_within(JNIEnv *env, jobject cell,
							 jboolean throwing);
JNIEXPORT void JNICALL Java_StaysNative_enter(JNIEnv *env, jclass self, jobject cell, jint depth,
					      jboolean throwing);
JNIEXPORT jint JNICALL Java_StaysNative_leave(JNIEnv *env, jclass self, jobject cell);
JNIEXPORT jboolean JNICALL Java_StaysNative_detach(JNIEnv *env, jclass self, jobject cell);
JNIEXPORT void JNICALL Java_StaysNative_classWithin(JNIEnv *env, jclass self, jobject cell);

struct visitor {
	JavaVM *vm;
	jobject cell; /* a global reference */
	int entered;
};

static void call_bottom(JNIEnv *env, jobject cell, jboolean throwing)
{
	jclass class = (*env)->GetObjectClass(env, cell);
	jmethodID method = (*env)->GetMethodID(env, class, "bottom", "()V");

	if (method)
		(*env)->CallVoidMethod(env, cell, method);
	if (throwing && !(*env)->ExceptionCheck(env)) {
		class = (*env)->FindClass(env, "java/lang/IllegalStateException");
		if (class)
			(*env)->ThrowNew(env, class, "thrown with the monitor");
	}
}

void Java_StaysNative_00024Cell_within(JNIEnv *env, jobject cell, jboolean throwing)
{
	call_bottom(env, cell, throwing);
}

void Java_StaysNative_enter(JNIEnv *env, jclass self, jobject cell, jint depth, jboolean throwing)
{
	jint entered = 0;

	(void)self;
	while (entered < depth && (*env)->MonitorEnter(env, cell) == JNI_OK)
		entered++;
	if (entered == depth)
		call_bottom(env, cell, throwing);
	/* May be called with an exception pending. */
	for (; entered; entered--)
		if ((*env)->MonitorExit(env, cell) != JNI_OK)
			(*env)->FatalError(env, "a monitor that was entered cannot be left");
}

jint Java_StaysNative_leave(JNIEnv *env, jclass self, jobject cell)
{
	(void)self;
	return (*env)->MonitorExit(env, cell);
}

static void *visit(void *arg)
{
	struct visitor *v = arg;
	JNIEnv *env;

	if ((*v->vm)->AttachCurrentThread(v->vm, (void **)&env, NULL) != JNI_OK)
		return NULL;
	v->entered = (*env)->MonitorEnter(env, v->cell) == JNI_OK &&
		     (*env)->MonitorEnter(env, v->cell) == JNI_OK;
	/* Which leaves what it has entered. */
	(*v->vm)->DetachCurrentThread(v->vm);
	return NULL;
}

jboolean Java_StaysNative_detach(JNIEnv *env, jclass self, jobject cell)
{
	struct visitor v = {.cell = (*env)->NewGlobalRef(env, cell)};
	pthread_t thread;

	(void)self;
	if (!v.cell || (*env)->GetJavaVM(env, &v.vm) != JNI_OK)
		return JNI_FALSE;
	if (!pthread_create(&thread, NULL, visit, &v))
		pthread_join(thread, NULL);
	(*env)->DeleteGlobalRef(env, v.cell);
	return v.entered ? JNI_TRUE : JNI_FALSE;
}

void Java_StaysNative_classWithin(JNIEnv *env, jclass self, jobject cell)
{
	Java_StaysNative_enter(env, self, cell, 1, JNI_FALSE);
}
