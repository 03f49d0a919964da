/* An agent that has the JVM tell it of each object that is allocated (JVM TI, SampledObjectAlloc with an interval of 0),
 * and prints at the JVM's end how many of the class named in its options there were, and how many of all. */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static char counted_class[256]; /* as LName; */
static atomic_ulong counted, all;

static void JNICALL allocated(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
			      jclass class, jlong size)
{
	char *name = NULL;

	(void)env, (void)thread, (void)object, (void)size;
	atomic_fetch_add(&all, 1);
	if ((*jvmti)->GetClassSignature(jvmti, class, &name, NULL))
		return;
	if (!strcmp(name, counted_class))
		atomic_fetch_add(&counted, 1);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

static void JNICALL death(jvmtiEnv *jvmti, JNIEnv *env)
{
	(void)jvmti, (void)env;
	printf("sampled %lu of %lu\n", atomic_load(&counted), atomic_load(&all));
	fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities wanted = {.can_generate_sampled_object_alloc_events = 1};
	jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = allocated, .VMDeath = death};
	jvmtiEnv *jvmti;

	(void)reserved;
	snprintf(counted_class, sizeof(counted_class), "L%s;", options ? options : "");
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetHeapSamplingInterval(jvmti, 0) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
					       NULL) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL))
		return JNI_ERR;
	return JNI_OK;
}
