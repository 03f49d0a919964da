#include "record/watch/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "jvm/target/labels.h"

int rules_add(struct rules *r, enum rule_kind kind, const char *text)
{
	struct rule *rule = &r->list[r->count];
	const char *equals;

	if (r->count == RULES_MAX)
		return -E2BIG;
	*rule = (struct rule){.kind = kind, .not = *text == '!'};
	rule->pattern = text + rule->not ;
	if (kind == RULE_LABEL) {
		equals = strchr(rule->pattern, '=');
		if (!equals)
			return -EINVAL;
		rule->label = label_find(rule->pattern, (size_t)(equals - rule->pattern));
		if (rule->label == LABEL_COUNT)
			return -ENOENT;
		rule->pattern = equals + 1;
	}
	if (!*rule->pattern)
		return -EINVAL;
	r->count++;
	return 0;
}

static bool fits(const struct rule *rule, const char *command, const struct labels *l)
{
	switch (rule->kind) {
	case RULE_NAME:
		return strstr(command, rule->pattern);
	case RULE_CGROUP:
		return !fnmatch(rule->pattern, l->cgroup, 0);
	case RULE_LABEL:
		/* Who has no such label has none that is like "*", either. */
		return *l->value[rule->label] && !fnmatch(rule->pattern, l->value[rule->label], 0);
	case RULE_KIND_COUNT:
		break;
	}
	return false;
}

bool rules_match(const struct rules *r, const char *command, const struct labels *l)
{
	bool asked[RULE_KIND_COUNT] = {false}, met[RULE_KIND_COUNT] = {false};

	for (size_t i = 0; i < r->count; i++) {
		const struct rule *rule = &r->list[i];
		bool fit = fits(rule, command, l);

		if (rule->not &&fit)
			return false;
		asked[rule->kind] |= !rule->not ;
		met[rule->kind] |= !rule->not &&fit;
	}
	for (int k = 0; k < RULE_KIND_COUNT; k++)
		if (asked[k] && !met[k])
			return false;
	return true;
}
