/*
 * A chunk describes itself: the metadata event has a list of texts, and a tree of elements whose
 * names and attributes are numbers of these. Readers know fields and types by their names, as
 * JDK 17's hotspot/share/jfr/metadata/metadata.xml has them.
 */
#include "report/jfr/jfr_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tables/keymap.h"
#include "report/jfr/jfr_bytes.h"

#define FIELDS_MAX 9

struct note {
	enum jfr_type type; /* 0: none */
	const char *value;  /* NULL: it has none */
};

struct field {
	const char *name;
	enum jfr_type type;
	bool constant; /* a key of a constant */
	bool array;
	const char *label;
	struct note note;
};

struct type {
	const char *name, *super, *label; /* super, label: NULL: none */
	bool simple;                      /* its one field is all that is shown */
	bool content;                     /* an annotation that says how to show a number */
	struct field fields[FIELDS_MAX];
};

static const char an_event[] = "jdk.jfr.Event";
static const char an_annotation[] = "java.lang.annotation.Annotation";

#define VALUE                                                                                      \
	{                                                                                          \
		.name = "value", .type = JFR_STRING                                                \
	}
#define START                                                                                      \
	{                                                                                          \
		"startTime", JFR_LONG, false, false, "Start Time",                                 \
		{                                                                                  \
			JFR_TIMESTAMP, "TICKS"                                                     \
		}                                                                                  \
	}
#define DURATION                                                                                   \
	{                                                                                          \
		"duration", JFR_LONG, false, false, "Duration",                                    \
		{                                                                                  \
			JFR_TIMESPAN, "TICKS"                                                      \
		}                                                                                  \
	}
#define CONSTANT(name, type, label)                                                                \
	{                                                                                          \
		name, type, true, false, label,                                                    \
		{                                                                                  \
			JFR_METADATA, NULL                                                         \
		}                                                                                  \
	}
#define PLAIN(name, type, label)                                                                   \
	{                                                                                          \
		name, type, false, false, label,                                                   \
		{                                                                                  \
			JFR_METADATA, NULL                                                         \
		}                                                                                  \
	}
#define ADDRESS(label)                                                                             \
	{                                                                                          \
		"address", JFR_LONG, false, false, label,                                          \
		{                                                                                  \
			JFR_MEMORY_ADDRESS, NULL                                                   \
		}                                                                                  \
	}

static const struct type types[JFR_TYPE_COUNT] = {
	[JFR_BOOLEAN] = {.name = "boolean"},
	[JFR_INT] = {.name = "int"},
	[JFR_LONG] = {.name = "long"},
	[JFR_STRING] = {.name = "java.lang.String"},
	[JFR_CLASS] = {.name = "java.lang.Class",
		       .label = "Java Class",
		       .fields = {PLAIN("name", JFR_STRING, "Name")}},
	[JFR_THREAD] = {.name = "java.lang.Thread",
			.label = "Thread",
			.fields = {PLAIN("osName", JFR_STRING, "OS Thread Name"),
				   PLAIN("osThreadId", JFR_LONG, "OS Thread Id"),
				   PLAIN("javaName", JFR_STRING, "Java Thread Name"),
				   PLAIN("javaThreadId", JFR_LONG, "Java Thread Id")}},
	[JFR_METHOD] = {.name = "jdk.types.Method",
			.label = "Java Method",
			.fields = {CONSTANT("type", JFR_CLASS, "Type"),
				   PLAIN("name", JFR_STRING, "Name"),
				   PLAIN("descriptor", JFR_STRING, "Descriptor"),
				   PLAIN("modifiers", JFR_INT, "Access Modifiers"),
				   PLAIN("hidden", JFR_BOOLEAN, "Hidden")}},
	[JFR_FRAME_TYPE] = {.name = "jdk.types.FrameType",
			    .label = "Frame type",
			    .simple = true,
			    .fields = {PLAIN("description", JFR_STRING, "Description")}},
	[JFR_STACK_FRAME] = {.name = "jdk.types.StackFrame",
			     .fields = {CONSTANT("method", JFR_METHOD, "Java Method"),
					PLAIN("lineNumber", JFR_INT, "Line Number"),
					PLAIN("bytecodeIndex", JFR_INT, "Bytecode Index"),
					CONSTANT("type", JFR_FRAME_TYPE, "Frame Type")}},
	[JFR_STACK_TRACE] = {.name = "jdk.types.StackTrace",
			     .label = "Stacktrace",
			     .fields = {PLAIN("truncated", JFR_BOOLEAN, "Truncated"),
					{.name = "frames",
					 .type = JFR_STACK_FRAME,
					 .array = true,
					 .label = "Stack Frames"}}},
	[JFR_LABEL] = {.name = "jdk.jfr.Label", .super = an_annotation, .fields = {VALUE}},
	[JFR_CONTENT_TYPE] = {.name = "jdk.jfr.ContentType", .super = an_annotation},
	[JFR_TIMESTAMP] = {.name = "jdk.jfr.Timestamp",
			   .super = an_annotation,
			   .content = true,
			   .fields = {VALUE}},
	[JFR_TIMESPAN] = {.name = "jdk.jfr.Timespan",
			  .super = an_annotation,
			  .content = true,
			  .fields = {VALUE}},
	[JFR_MEMORY_ADDRESS] = {.name = "jdk.jfr.MemoryAddress",
				.super = an_annotation,
				.content = true},
	[JFR_MONITOR_ENTER] = {.name = "jdk.JavaMonitorEnter",
			       .super = an_event,
			       .label = "Java Monitor Blocked",
			       .fields = {START, DURATION,
					  CONSTANT("eventThread", JFR_THREAD, "Event Thread"),
					  CONSTANT("stackTrace", JFR_STACK_TRACE, "Stack Trace"),
					  CONSTANT("monitorClass", JFR_CLASS, "Monitor Class"),
					  CONSTANT("previousOwner", JFR_THREAD,
						   "Previous Monitor Owner"),
					  ADDRESS("Monitor Address")}},
	[JFR_THREAD_PARK] = {.name = "jdk.ThreadPark",
			     .super = an_event,
			     .label = "Java Thread Park",
			     .fields = {START,
					DURATION,
					CONSTANT("eventThread", JFR_THREAD, "Event Thread"),
					CONSTANT("stackTrace", JFR_STACK_TRACE, "Stack Trace"),
					CONSTANT("parkedClass", JFR_CLASS, "Class Parked On"),
					{"timeout",
					 JFR_LONG,
					 false,
					 false,
					 "Park Timeout",
					 {JFR_TIMESPAN, "NANOSECONDS"}},
					{"until",
					 JFR_LONG,
					 false,
					 false,
					 "Park Until",
					 {JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"}},
					ADDRESS("Address of Object Parked")}},
	[JFR_LOCK_HELD] = {.name = "spoor.LockHeld",
			   .super = an_event,
			   .label = "Lock Held While Others Were Blocked",
			   .fields = {START, DURATION, CONSTANT("eventThread", JFR_THREAD, "Owner"),
				      CONSTANT("stackTrace", JFR_STACK_TRACE, "Stack Trace"),
				      CONSTANT("waiter", JFR_THREAD, "Blocked Thread"),
				      CONSTANT("lockClass", JFR_CLASS, "Lock Class"),
				      PLAIN("ownerIs", JFR_STRING, "How the Owner Is Known"),
				      ADDRESS("Lock Address")}},
};

/* Texts by their numbers; equal ones may be there twice. */
struct metadata {
	struct strbuf texts, tree;
	uint32_t count;
};

static void put(struct metadata *m, const char *text)
{
	jfr_text(&m->texts, text);
	jfr_number(&m->tree, m->count++);
}

static void put_id(struct metadata *m, const char *name, enum jfr_type type)
{
	char text[12];

	snprintf(text, sizeof(text), "%d", (int)type);
	put(m, name);
	put(m, text);
}

/* Its attributes and its children follow. */
static void element(struct metadata *m, const char *name, unsigned attributes)
{
	put(m, name);
	jfr_number(&m->tree, attributes);
}

static void attribute(struct metadata *m, const char *name, const char *value)
{
	put(m, name);
	put(m, value);
}

static void annotation(struct metadata *m, enum jfr_type type, const char *value)
{
	element(m, "annotation", value ? 2 : 1);
	put_id(m, "class", type);
	if (value)
		attribute(m, "value", value);
	jfr_number(&m->tree, 0);
}

static void put_field(struct metadata *m, const struct field *f)
{
	element(m, "field", 2u + f->constant + f->array);
	attribute(m, "name", f->name);
	put_id(m, "class", f->type);
	if (f->constant)
		attribute(m, "constantPool", "true");
	if (f->array)
		attribute(m, "dimension", "1");
	jfr_number(&m->tree, (f->label != NULL) + (f->note.type != JFR_METADATA));
	if (f->label)
		annotation(m, JFR_LABEL, f->label);
	if (f->note.type != JFR_METADATA)
		annotation(m, f->note.type, f->note.value);
}

static void put_type(struct metadata *m, enum jfr_type id)
{
	const struct type *t = &types[id];
	unsigned count = 0;

	while (count < FIELDS_MAX && t->fields[count].name)
		count++;
	element(m, "class", 2u + (t->super != NULL) + t->simple);
	attribute(m, "name", t->name);
	put_id(m, "id", id);
	if (t->super)
		attribute(m, "superType", t->super);
	if (t->simple)
		attribute(m, "simpleType", "true");
	jfr_number(&m->tree, count + (t->label != NULL) + t->content);
	for (unsigned i = 0; i < count; i++)
		put_field(m, &t->fields[i]);
	if (t->label)
		annotation(m, JFR_LABEL, t->label);
	if (t->content)
		annotation(m, JFR_CONTENT_TYPE, NULL);
}

void jfr_metadata(struct strbuf *b, uint64_t ticks)
{
	struct metadata m = {.count = 0};
	struct strbuf event = {0};

	element(&m, "root", 0);
	jfr_number(&m.tree, 2);
	element(&m, "metadata", 0);
	jfr_number(&m.tree, JFR_TYPE_COUNT - JFR_BOOLEAN);
	for (int i = JFR_BOOLEAN; i < JFR_TYPE_COUNT; i++)
		put_type(&m, (enum jfr_type)i);
	element(&m, "region", 2);
	attribute(&m, "locale", "en_US");
	attribute(&m, "gmtOffset", "0");
	jfr_number(&m.tree, 0);

	jfr_number(&event, JFR_METADATA);
	jfr_number(&event, ticks);
	jfr_number(&event, 0); /* duration */
	jfr_number(&event, 1); /* number of this description */
	jfr_number(&event, m.count);
	strbuf_put(&event, m.texts.text, m.texts.used);
	strbuf_put(&event, m.tree.text, m.tree.used);
	if (m.texts.err || m.tree.err)
		b->err = -ENOMEM;
	jfr_event(b, &event);
	strbuf_free(&event);
	strbuf_free(&m.texts);
	strbuf_free(&m.tree);
}
