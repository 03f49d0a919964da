/* Native methods of StacksShapes: Java code that is called from native code that is called from Java code. */
#include <jni.h>

JNIEXPORT void JNICALL Java_StacksShapes_callBack(JNIEnv *env, jclass self, jobject act, jint turn,
						  jint depth);
JNIEXPORT void JNICALL Java_StacksShapes_callShape(JNIEnv *env, jclass self, jobject shape,
						   jobject act);

static __attribute__((noinline)) void call_below(JNIEnv *env, jobject act, jint turn, jint depth)
{
	volatile char room[512]; /* so that there is native stack between the Java frames */
	jclass class;
	jmethodID method;

	room[depth] = (char)depth;
	if (depth) {
		call_below(env, act, turn, depth - 1);
		room[0] = room[depth];
		return;
	}
	class = (*env)->GetObjectClass(env, act);
	if (turn) {
		method = (*env)->GetStaticMethodID(env, class, "act", "(LStacksAct;)V");
		if (method)
			(*env)->CallStaticVoidMethod(env, class, method, act);
	} else {
		method = (*env)->GetMethodID(env, class, "actHere", "()V");
		if (method)
			(*env)->CallVoidMethod(env, act, method);
	}
}

void Java_StacksShapes_callBack(JNIEnv *env, jclass self, jobject act, jint turn, jint depth)
{
	(void)self;
	call_below(env, act, turn, depth);
}

void Java_StacksShapes_callShape(JNIEnv *env, jclass self, jobject shape, jobject act)
{
	jmethodID method = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, shape), "run",
					       "(LStacksAct;)V");

	(void)self;
	if (method)
		(*env)->CallVoidMethod(env, shape, method, act);
}
