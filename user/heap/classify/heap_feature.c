#include "heap/classify/heap_feature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/glob.h"
#include "heap/state/heap_state.h"

#define PATTERN_MAX 512
#define COLOUR_MAX 255
#define BYTECODE_MAX 65535

struct pattern {
	uint32_t at, length; /* in the text: a class, or a class and a method */
	uint32_t feature;
	bool method;
	uint32_t from, to; /* bytecodes of the method */
};

struct feature {
	char name[HEAP_FEATURE_NAME_MAX + 1];
};

struct heap_features {
	struct heap_classifier face, any;
	char *text;
	struct feature *all;
	struct pattern *patterns;
	uint32_t count, capacity, pattern_count, pattern_capacity;
};

struct feature_parser {
	struct heap_features *features;
	const char *begin, *at, *end;
	char *error;
};

static int wrong(const struct feature_parser *p, const char *what)
{
	unsigned line = 1;

	for (const char *c = p->begin; c < p->at; c++)
		line += *c == '\n';
	snprintf(p->error, HEAP_FEATURES_ERROR_MAX, "line %u: %s", line, what);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct feature_parser *p)
{
	bool comment = false;

	for (; p->at < p->end; p->at++) {
		comment = (comment && *p->at != '\n') || *p->at == '#';
		if (!comment && !is_blank(*p->at))
			return;
	}
}

static bool take(struct feature_parser *p, char c)
{
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

/* "(255 0 0)": it is there for tools that draw. */
static int parse_colour(struct feature_parser *p)
{
	for (unsigned i = 0; i < 3; i++) {
		unsigned value = 0, digits = 0;

		skip_blanks(p);
		for (; p->at < p->end && *p->at >= '0' && *p->at <= '9' && digits < 4; digits++)
			value = 10 * value + (unsigned)(*p->at++ - '0');
		if (!digits || value > COLOUR_MAX)
			return wrong(p, "a colour is three numbers from 0 to 255: (255 128 0)");
	}
	skip_blanks(p);
	return take(p, ')') ? 0 : wrong(p, "a colour ends with )");
}

static int parse_name(struct feature_parser *p)
{
	struct heap_features *f = p->features;
	const char *begin = p->at, *end;
	int err;

	while (p->at < p->end && !strchr("({}\n#", *p->at))
		p->at++;
	for (end = p->at; end > begin && is_blank(end[-1]); end--)
		;
	if (end == begin)
		return wrong(p, "the name of a feature is missing, as in Orders { com.acme.* }");
	if (end - begin > HEAP_FEATURE_NAME_MAX || memchr(begin, '\0', (size_t)(end - begin)))
		return wrong(p, "the name of a feature has 100 bytes at most, and none that is 0");
	if (f->count == HEAP_FEATURES_MAX)
		return wrong(p, "there are more than 1,000 features");
	err = array_grow(&f->all, &f->capacity, f->count, sizeof(*f->all));
	if (err)
		return err;
	memcpy(f->all[f->count].name, begin, (size_t)(end - begin));
	f->all[f->count++].name[end - begin] = '\0';
	return 0;
}

static bool parse_bytecode(const char **at, const char *end, uint32_t *ret)
{
	unsigned digits = 0;

	*ret = 0;
	for (; *at < end && **at >= '0' && **at <= '9' && digits < 6; digits++)
		*ret = 10 * *ret + (uint32_t)(*(*at)++ - '0');
	return digits && *ret <= BYTECODE_MAX;
}

/* "com.acme.A.add()", "com.acme.A.add:12", "com.acme.A.add:10-40": what comes after the name. */
static bool parse_method(struct pattern *p, const char *name, const char *end)
{
	const char *at = name + p->length;

	p->method = true;
	p->to = BYTECODE_MAX;
	if (!memrchr(name, '.', p->length))
		return false;
	if (*at == '(')
		return end - at == 2 && at[1] == ')';
	at++;
	if (!parse_bytecode(&at, end, &p->from))
		return false;
	p->to = p->from;
	if (at < end && *at == '-') {
		at++;
		if (!parse_bytecode(&at, end, &p->to))
			return false;
	}
	return at == end && p->from <= p->to;
}

static int parse_pattern(struct feature_parser *p)
{
	struct heap_features *f = p->features;
	const char *begin = p->at, *mark = NULL;
	struct pattern pattern = {.at = (uint32_t)(begin - p->begin), .feature = f->count - 1};
	int err;

	for (; p->at < p->end && !is_blank(*p->at) && !strchr("{}#;,", *p->at); p->at++)
		if (!mark && strchr("():", *p->at))
			mark = p->at;
	if (p->at == begin)
		return wrong(p, "a pattern is missing, as com.acme.*");
	if (p->at - begin > PATTERN_MAX)
		return wrong(p, "a pattern has more than 512 bytes");
	if (f->pattern_count == HEAP_FEATURE_PATTERNS_MAX)
		return wrong(p, "there are more than 4,000 patterns");
	pattern.length = (uint32_t)((mark ? mark : p->at) - begin);
	if (mark && !parse_method(&pattern, begin, p->at))
		return wrong(p, "a pattern of methods is com.acme.Table.add(), or with its "
				"bytecodes com.acme.Table.add:12 or com.acme.Table.add:10-40");
	err = array_grow(&f->patterns, &f->pattern_capacity, f->pattern_count,
			 sizeof(*f->patterns));
	if (!err)
		f->patterns[f->pattern_count++] = pattern;
	return err;
}

static int parse_feature(struct feature_parser *p)
{
	int err = parse_name(p);

	skip_blanks(p);
	if (!err && take(p, '('))
		err = parse_colour(p);
	skip_blanks(p);
	if (!err && !take(p, '{'))
		err = wrong(p, "{ is missing after the name of a feature");
	while (!err) {
		skip_blanks(p);
		if (take(p, '}'))
			break;
		if (take(p, ';') || take(p, ','))
			continue;
		if (p->at == p->end)
			err = wrong(p, "} is missing");
		else
			err = parse_pattern(p);
	}
	return err;
}

static void feature_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	strbuf_add(ret, "%s", heap_view_text_get(v, key));
}

static void add_once(struct heap_keys *k, uint32_t first, uint64_t key)
{
	for (uint32_t i = first; i < k->count; i++)
		if (k->all[i] == key)
			return;
	heap_keys_add(k, key);
}

/* A frame of a site, or a class. */
struct location {
	const char *name;
	size_t class_length, method_length; /* of the class, and with the method; 0: no method */
	uint32_t bytecode;                  /* UINT32_MAX: not known */
};

/* "a.b.Table.add:12 (inferred)": a method's name has no dot. */
static struct location location_of_frame(const char *text)
{
	struct location p = {.name = text, .bytecode = UINT32_MAX};
	size_t length = strlen(text), mark = strlen(HEAP_FRAME_INFERRED), digits = 0;
	const char *dot;

	if (length > mark && !strcmp(text + length - mark, HEAP_FRAME_INFERRED))
		length -= mark;
	while (digits < length && text[length - 1 - digits] >= '0' &&
	       text[length - 1 - digits] <= '9')
		digits++;
	if (digits && digits < length && text[length - 1 - digits] == ':') {
		p.bytecode = (uint32_t)strtoul(text + length - digits, NULL, 10);
		length -= digits + 1;
	}
	dot = memrchr(text, '.', length);
	p.method_length = length;
	p.class_length = dot ? (size_t)(dot - text) : length;
	return p;
}

static bool pattern_holds(const struct heap_features *f, const struct pattern *p,
			  const struct location *at)
{
	if (p->method && !at->method_length)
		return false;
	if (!glob_holds(f->text + p->at, p->length, at->name,
			p->method ? at->method_length : at->class_length))
		return false;
	return !p->method || (!p->from && p->to == BYTECODE_MAX) ||
	       (at->bytecode >= p->from && at->bytecode <= p->to);
}

static void add_features(const struct heap_features *f, struct heap_view *v,
			 const struct location *at, uint32_t first, struct heap_keys *ret)
{
	for (uint32_t i = 0; i < f->pattern_count; i++) {
		const struct pattern *p = &f->patterns[i];
		const char *of = f->all[p->feature].name;

		if (pattern_holds(f, p, at))
			add_once(ret, first, heap_view_text(v, of, strlen(of)));
	}
}

static void add_of_class(const struct heap_features *f, struct heap_view *v,
			 const struct heap_desc *d, struct heap_keys *ret)
{
	uint32_t type = d->of_class == HEAP_NONE ? d->type : d->of_class;
	struct location at = {.name = heap_type_name(&v->state->types, type)};

	at.class_length = strcspn(at.name, "[");
	add_features(f, v, &at, ret->count, ret);
}

/* The innermost frame that a feature has decides, or all that features have. */
static void add_of_code(const struct heap_features *f, bool any, struct heap_view *v,
			const struct heap_origin *o, struct heap_keys *ret)
{
	uint32_t first = ret->count;

	for (uint32_t i = 0; i < o->frame_count && (any || ret->count == first); i++) {
		const char *text =
			heap_types_text(&v->state->types, v->state->frames[o->first_frame + i]);
		struct location at = location_of_frame(text);

		if (*text != '(')
			add_features(f, v, &at, first, ret);
		else if (o->frame_count == 1) /* the JVM's own, or not known */
			heap_keys_add(ret, heap_view_text(v, text, strlen(text)));
	}
}

static void feature_keys(const struct heap_classifier *face, struct heap_view *v,
			 const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_features *f = face->own;
	const struct heap_desc *d = &v->state->descs[item->desc];
	uint32_t first = ret->count;

	if (!first && heap_memo_find(v, face, item->desc, ret))
		return;
	if (d->origin)
		add_of_code(f, face == &f->any, v, &v->state->origins[d->origin - 1], ret);
	else
		add_of_class(f, v, d, ret);
	if (ret->count == first)
		heap_keys_add(ret, heap_view_text(v, "Others", 6));
	if (!first && !ret->err && heap_memo_add(v, face, item->desc, ret))
		ret->err = -ENOMEM;
}

int heap_features_new(const char *text, size_t length, struct heap_features **ret,
		      char error[HEAP_FEATURES_ERROR_MAX])
{
	struct heap_features *f = calloc(1, sizeof(*f));
	struct feature_parser p = {.features = f, .error = error};
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->face = (struct heap_classifier){
		.name = "feature",
		.doc = "features by --features, of its class; of a log: of the innermost code "
		       "that has one",
		.shape = HEAP_MANY,
		.label = feature_label,
		.of_kind = true,
		.own_keys = feature_keys,
		.own = f,
	};
	f->any = f->face;
	f->any.name = "feature_any";
	f->any.doc = "the same; of a log: of all code that is known to have led to it";
	f->text = malloc(length + 1);
	if (!f->text)
		err = -ENOMEM;
	else
		memcpy(f->text, text, length);
	p.begin = p.at = f->text;
	p.end = f->text + length;
	while (!err) {
		skip_blanks(&p);
		if (p.at == p.end)
			break;
		err = parse_feature(&p);
	}
	if (!err && !f->count)
		err = wrong(&p, "there is no feature, as Orders { com.acme.order.* }");
	if (err) {
		heap_features_free(f);
		return err;
	}
	*ret = f;
	return 0;
}

void heap_features_free(struct heap_features *f)
{
	if (!f)
		return;
	free(f->text);
	free(f->all);
	free(f->patterns);
	free(f);
}

const struct heap_classifier *heap_features_classifier(const struct heap_features *f)
{
	return &f->face;
}

const struct heap_classifier *heap_features_any(const struct heap_features *f)
{
	return &f->any;
}
