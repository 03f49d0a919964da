/*
 * A JVMTI agent: -agentpath:LIB=FILE. On SIGPROF it asks HotSpot's AsyncGetCallTrace where the thread is, and traps. For a
 * thread that is blocked or in native code a thread of its own asks JVMTI's GetStackTrace.
 */
#include "agct.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <jvmti.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct call_frame {
	jint bci;
	jmethodID method;
};

struct call_trace {
	JNIEnv *env;
	jint count;
	struct call_frame *frames;
};

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options, void *reserved);

static JavaVM *vm;
static struct agct *shared;
static void (*get_call_trace)(struct call_trace *trace, jint depth, void *context);
static void on_signal(int signal, siginfo_t *info, void *context);

#if defined(__aarch64__)
#include "agent_arm64.h"
#else
static void stop(void *context)
{
	(void)context;
	__asm__ volatile("int3");
}

static int stops_begin(void)
{
	return 0;
}

static void stops_end(void)
{
}
#endif

/* One thread at a time is asked: on x86-64 walkimage has stopped it before. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	static struct call_frame frames[AGCT_FRAMES_MAX];
	struct call_trace trace = {.frames = frames};

	(void)info;
#if defined(__aarch64__)
	if (signal == SIGTRAP && !trap_is_own(context))
		return;
#endif
	(void)signal;
	if (shared->tid != syscall(SYS_gettid))
		return;
	if ((*vm)->GetEnv(vm, (void **)&trace.env, JNI_VERSION_1_6) == JNI_OK)
		get_call_trace(&trace, AGCT_FRAMES_MAX, context);
	for (jint i = 0; i < trace.count; i++) {
		/* In JDK 17 a jmethodID points to where the Method's address is. */
		void **method = (void **)frames[i].method;

		shared->frames[i] =
			(struct agct_frame){method ? (uint64_t)*method : 0, frames[i].bci};
	}
	shared->count = trace.count;
	stop(context);
}

/* A Java thread's JavaThread is in its field eetop. */
static void stack_find(jvmtiEnv *jvmti, JNIEnv *env, jfieldID eetop)
{
	static jvmtiFrameInfo frames[AGCT_FRAMES_MAX];
	jint threads_count, count = 0;
	jthread *threads, found = NULL;

	if ((*jvmti)->GetAllThreads(jvmti, &threads_count, &threads))
		return;
	for (jint i = 0; i < threads_count; i++)
		if ((uint64_t)(*env)->GetLongField(env, threads[i], eetop) == shared->java_thread)
			found = threads[i];
	if (!found || (*jvmti)->GetStackTrace(jvmti, found, 0, AGCT_FRAMES_MAX, frames, &count))
		count = 0;
	for (jint i = 0; i < count; i++)
		shared->frames[i] = (struct agct_frame){(uint64_t) * (void **)frames[i].method,
							frames[i].location};
	shared->count = count;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

static void JNICALL on_thread(jvmtiEnv *jvmti, JNIEnv *env, void *arg)
{
	jfieldID eetop =
		(*env)->GetFieldID(env, (*env)->FindClass(env, "java/lang/Thread"), "eetop", "J");

	(void)arg;
	while (eetop) {
		stops_end();
		if (__atomic_load_n(&shared->java_thread, __ATOMIC_ACQUIRE) &&
		    !(*env)->PushLocalFrame(env, 64)) {
			stack_find(jvmti, env, eetop);
			(*env)->PopLocalFrame(env, NULL);
			__atomic_store_n(&shared->java_thread, 0, __ATOMIC_RELEASE);
		}
		usleep(100);
	}
}

/* AsyncGetCallTrace makes no jmethodIDs: they must be there. */
static void methods_number(jvmtiEnv *jvmti, jclass class)
{
	jmethodID *methods;
	jint count;

	if (!(*jvmti)->GetClassMethods(jvmti, class, &count, &methods))
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)jvmti;
	(void)env;
	(void)thread;
	(void)class;
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)env;
	(void)thread;
	methods_number(jvmti, class);
}

static void JNICALL on_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jclass *classes, type = (*env)->FindClass(env, "java/lang/Thread");
	jobject own = (*env)->NewObject(env, type, (*env)->GetMethodID(env, type, "<init>", "()V"));
	jint count;

	(void)thread;
	if (own)
		(*jvmti)->RunAgentThread(jvmti, own, on_thread, NULL, JVMTI_THREAD_NORM_PRIORITY);
	if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes))
		return;
	for (jint i = 0; i < count; i++)
		methods_number(jvmti, classes[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options, void *reserved)
{
	/* No mask and SA_NODEFER: walkimage leaves the handler without a sigreturn. */
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
	jvmtiEventCallbacks callbacks = {
		.VMInit = on_start, .ClassLoad = on_class_load, .ClassPrepare = on_class_prepare};
	jvmtiEnv *jvmti;
	int fd = open(options, O_RDWR | O_CLOEXEC);

	(void)reserved;
	vm = jvm;
	if (fd < 0 || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	*(void **)&get_call_trace = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
	if (shared == MAP_FAILED || !get_call_trace)
		return JNI_ERR;
	(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
	return sigaction(SIGPROF, &action, NULL) || stops_begin() ? JNI_ERR : JNI_OK;
}
