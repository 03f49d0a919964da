#include "report/json/findings_json.h"

#include <stdint.h>
#include <string.h>

#include "base/text/json_put.h"
#include "report/model/findings.h"

static json_t *cell_json(const struct findings_column *c, const struct findings_cell *cell)
{
	if (!cell->known)
		return json_null();
	switch (c->unit) {
	case FINDINGS_TEXT:
		return json_string(cell->text);
	case FINDINGS_ROWS:
		return findings_to_json(cell->rows);
	case FINDINGS_BOOL:
		return json_boolean(cell->number);
	case FINDINGS_INTEGER:
	case FINDINGS_MORE_NS:
		return json_integer((json_int_t)cell->number);
	default:
		return json_integer(cell->number > INT64_MAX ? INT64_MAX
							     : (json_int_t)cell->number);
	}
}

/* The object "a" of o, or "b" of that for "a.b"; it is made where it is missing, also in the place
 * of a null. Borrowed; NULL: no memory. */
static json_t *group_json(json_t *o, const char *group)
{
	size_t length = strcspn(group, ".");
	json_t *member = json_object_getn(o, group, length);

	if (!json_is_object(member)) {
		member = json_object();
		if (json_object_setn_new(o, group, length, member))
			return NULL;
	}
	return group[length] ? group_json(member, group + length + 1) : member;
}

static int cell_put(json_t *o, const struct findings_column *c, const struct findings_cell *cell)
{
	if (!c->key || c->flags & FINDINGS_NO_JSON || !(cell->known || c->flags & FINDINGS_NULL))
		return 0;
	if (!c->group)
		return json_object_set_new(o, c->key, cell_json(c, cell));
	if (!cell->known)
		return json_object_get(o, c->group) ? 0
						    : json_object_set_new(o, c->group, json_null());
	o = group_json(o, c->group);
	return o ? json_object_set_new(o, c->key, cell_json(c, cell)) : -1;
}

json_t *findings_row_json(const struct findings *f, uint32_t row)
{
	json_t *o;

	if (f->column_count == 1 && !f->columns[0].key)
		return cell_json(&f->columns[0], findings_cell(f, row, 0));
	o = json_object();
	for (unsigned i = 0; i < f->column_count && o; i++) {
		if (cell_put(o, &f->columns[i], findings_cell(f, row, i))) {
			json_decref(o);
			o = NULL;
		}
	}
	return o;
}

json_t *findings_to_json(const struct findings *f)
{
	json_t *array = f && !f->err ? json_array() : NULL;

	for (uint32_t i = 0; array && i < f->row_count; i++) {
		if (f->readers[i] != FINDINGS_PEOPLE)
			json_add(&array, findings_row_json(f, i));
	}
	return array;
}

json_t *findings_take_json(struct findings *f)
{
	json_t *array = findings_to_json(f);

	findings_free(f);
	return array;
}
