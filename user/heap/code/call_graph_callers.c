/*
 * "If there is only one caller to a method, the trace of each site in it can be extended by that
 * caller" (Lengauer 2017, section 5.5.1). One caller of those in class files is the only one if
 * nobody else can call. So a method has no known caller if
 *   - the JVM or a library may call it by its name: class initializers, main, methods of
 *     java.lang.Object and of serialization, of annotated methods and classes, and methods whose
 *     name, or constructors whose class's name, is a constant in the code, for reflection;
 *   - a handle of it exists, as of each lambda's body;
 *   - it may stand for a method of a class of which there is no file: code that is not there may
 *     call that one;
 *   - somebody has seen another caller;
 *   - code is missing, unless the method is private.
 * A virtual call reaches a method if an object can be of both classes: if one of these is below the
 * other, or a class is below both. What is above a class without a file is not known: it may be
 * anything. Reflection that makes up a name, and native code, are not seen: that is why frames that
 * come from here are shown as inferred.
 */
#include "heap/code/call_graph_internal.h"

#include <errno.h>
#include <string.h>

#define JAVA_OBJECT "java/lang/Object"

static bool is_named(const struct call_graph *g, uint32_t text, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(graph_text(g, text), *names))
			return true;
	return false;
}

/* Interfaces that have no methods. */
static bool is_empty(const struct call_graph *g, uint32_t class)
{
	static const char *const names[] = {JAVA_OBJECT,
					    "java/io/Serializable",
					    "java/lang/Cloneable",
					    "java/util/RandomAccess",
					    "java/lang/Record",
					    "java/lang/Enum",
					    NULL};

	return is_named(g, g->classes[class].name, names);
}

#define DEPTH_MAX 200 /* of superclasses and of subclasses; what is deeper may be anything */

static bool above(struct call_graph *g, uint32_t class, uint32_t wanted, unsigned depth)
{
	struct graph_class *c = &g->classes[class];

	if (class == wanted || depth == DEPTH_MAX)
		return true;
	if (c->round == g->round)
		return false;
	c->round = g->round;
	if (!c->known)
		return !is_empty(g, class);
	for (uint32_t l = c->supers; l; l = g->links[l - 1].next)
		if (above(g, g->links[l - 1].class, wanted, depth + 1))
			return true;
	return false;
}

/* May the class be below the wanted one, or be that? */
static bool is_below(struct call_graph *g, uint32_t class, uint32_t wanted)
{
	g->round++;
	return above(g, class, wanted, 0);
}

/* May a class be below both? */
static bool any_below(struct call_graph *g, uint32_t class, uint32_t wanted, unsigned depth)
{
	if (depth == DEPTH_MAX)
		return true;
	if (g->classes[class].down_round == g->down_round)
		return false;
	g->classes[class].down_round = g->down_round;
	if (is_below(g, class, wanted))
		return true;
	for (uint32_t l = g->classes[class].subs; l; l = g->links[l - 1].next)
		if (any_below(g, g->links[l - 1].class, wanted, depth + 1))
			return true;
	return false;
}

/* The method that is run if a class has no other of its name; CALL_GRAPH_NONE: it is not in a
 * superclass that has a file. */
static uint32_t resolve(const struct call_graph *g, uint32_t class, const struct graph_method *m)
{
	for (unsigned depth = 0; class != CALL_GRAPH_NONE && depth < DEPTH_MAX; depth++) {
		uint32_t found = graph_method_find(g, class, m->name, m->descriptor);

		if (found != INDEX_NONE)
			return found;
		class = g->classes[class].super;
	}
	return CALL_GRAPH_NONE;
}

static bool is_direct(const struct call_graph *g, const struct graph_method *m)
{
	return (m->access & (CLASS_PRIVATE | CLASS_STATIC)) || *graph_text(g, m->name) == '<';
}

/* May the call run this method? */
static bool reaches(struct call_graph *g, const struct graph_call *c, uint32_t method)
{
	const struct graph_method *m = &g->methods[method];
	uint32_t resolved = resolve(g, c->class, m);

	if (resolved == method)
		return true;
	if (is_direct(g, m))
		return resolved == CALL_GRAPH_NONE && !(m->access & CLASS_PRIVATE) &&
		       *graph_text(g, m->name) != '<' && is_below(g, c->class, m->class);
	if (c->kind != CLASS_CALL_VIRTUAL && resolved != CALL_GRAPH_NONE)
		return false;
	if (is_below(g, c->class, m->class))
		return true;
	g->down_round++;
	return any_below(g, m->class, c->class, 0);
}

/* --- who else may call -------------------------------------------------------------------- */

/* Methods that are called by their names only. */
static bool called_by_name(const struct call_graph *g, const struct graph_method *m)
{
	static const char *const names[] = {"<clinit>",    "main",         "toString",
					    "hashCode",    "equals",       "clone",
					    "finalize",    "readObject",   "writeObject",
					    "readResolve", "writeReplace", "readObjectNoData",
					    "premain",     "agentmain",    NULL};
	static const char *const of_enums[] = {"values", "valueOf", NULL};

	return is_named(g, m->name, names) ||
	       (g->classes[m->class].access & CLASS_ENUM && is_named(g, m->name, of_enums));
}

/* Is the text, with '/' as '.', a constant in the code? */
static bool is_constant(const struct call_graph *g, uint32_t text)
{
	const char *name = graph_text(g, text);
	size_t length = strlen(name);
	char dotted[512];

	if (length >= sizeof(dotted))
		return true;
	memcpy(dotted, name, length + 1);
	for (char *c = dotted; *c; c++)
		if (*c == '/')
			*c = '.';
	return keymap_find(&g->string_keys, (struct keymap_key){.a = hash_bytes(dotted, length),
								.b = length + 1}) != INDEX_NONE;
}

/* Is a class above this one in no file, or does one of the JVM's own declare the method? */
static bool declared_outside(struct call_graph *g, uint32_t class, const struct graph_method *m,
			     unsigned depth)
{
	struct graph_class *c = &g->classes[class];

	if (depth == DEPTH_MAX)
		return true;
	if (c->round == g->round)
		return false;
	c->round = g->round;
	if (!c->known)
		return !is_empty(g, class);
	if (!strncmp(graph_text(g, c->name), "java/", 5) &&
	    graph_method_find(g, class, m->name, m->descriptor) != INDEX_NONE)
		return true;
	for (uint32_t l = c->supers; l; l = g->links[l - 1].next)
		if (declared_outside(g, g->links[l - 1].class, m, depth + 1))
			return true;
	return false;
}

/* The same of all classes that have the method from this one. */
static bool stands_for_others(struct call_graph *g, uint32_t class, const struct graph_method *m,
			      unsigned depth)
{
	if (depth == DEPTH_MAX)
		return true;
	if (g->classes[class].down_round == g->down_round)
		return false;
	g->classes[class].down_round = g->down_round;
	if (declared_outside(g, class, m, 0))
		return true;
	for (uint32_t l = g->classes[class].subs; l; l = g->links[l - 1].next)
		if (stands_for_others(g, g->links[l - 1].class, m, depth + 1))
			return true;
	return false;
}

static bool others_may_call(struct call_graph *g, uint32_t method)
{
	const struct graph_method *m = &g->methods[method];
	bool is_init = !strcmp(graph_text(g, m->name), "<init>");

	if (g->incomplete && !(m->access & CLASS_PRIVATE))
		return true;
	if (m->annotated || called_by_name(g, m) || m->seen == GRAPH_SEEN_OTHER ||
	    !strncmp(graph_text(g, g->classes[m->class].name), "java/", 5))
		return true;
	if (is_init)
		return g->classes[m->class].annotated || is_constant(g, g->classes[m->class].name);
	if (is_constant(g, m->name))
		return true;
	g->round++;
	g->down_round++;
	return !is_direct(g, m) && stands_for_others(g, m->class, m, 0);
}

/* --- callers ------------------------------------------------------------------------------ */

static void find_caller(struct call_graph *g, uint32_t method, struct call_graph_caller *ret)
{
	const struct graph_method *m = &g->methods[method];
	uint32_t at = keymap_find(
		&g->call_keys, (struct keymap_key){.a = m->name, .b = 1 + (uint64_t)m->descriptor});
	struct call_graph_caller found = {CALL_GRAPH_NONE, CALL_GRAPH_BCI_NONE};

	*ret = found;
	if (at == INDEX_NONE || others_may_call(g, method))
		return;
	for (uint32_t i = g->first_call[at]; i; i = g->calls[i - 1].next) {
		const struct graph_call *c = &g->calls[i - 1];

		if (found.method != CALL_GRAPH_NONE && c->caller == found.method &&
		    c->bci == found.bci)
			continue;
		if (!reaches(g, c, method))
			continue;
		if (c->caller == CALL_GRAPH_NONE ||
		    (found.method != CALL_GRAPH_NONE && c->caller != found.method))
			return;
		found.bci = found.method == CALL_GRAPH_NONE ? c->bci : CALL_GRAPH_BCI_NONE;
		found.method = c->caller;
	}
	/* A method that only calls itself is not called, as far as anybody knows. */
	if (found.method != method && (!m->seen || m->seen == found.method + 1))
		*ret = found;
}

int call_graph_caller(struct call_graph *g, uint32_t method, struct call_graph_caller *ret)
{
	struct graph_method *m = &g->methods[method];

	if (!m->asked)
		find_caller(g, method, &m->caller);
	m->asked = true;
	if (m->caller.method == CALL_GRAPH_NONE)
		return -ENOENT;
	*ret = m->caller;
	return 0;
}

void call_graph_seen(struct call_graph *g, uint32_t method, uint32_t caller)
{
	struct graph_method *m = &g->methods[method];

	m->asked = false;
	if (caller == CALL_GRAPH_NONE || (m->seen && m->seen != caller + 1))
		m->seen = GRAPH_SEEN_OTHER;
	else
		m->seen = caller + 1;
}
