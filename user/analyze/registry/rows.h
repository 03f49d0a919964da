/* analyze/registry/rows.h: the analyses that there are, in the order in which they get an event. */
#pragma once

#include "analyze/row.h"

enum analysis_id {
#define ANALYSIS(id, name) ANALYSIS_##id,
#define OTHER(id, name) ANALYSIS_##id,
#include "analyze/registry/rows.def"
	ANALYSIS_ID_COUNT,
};

extern const struct analysis_row *const analysis_rows[ANALYSIS_ID_COUNT];
