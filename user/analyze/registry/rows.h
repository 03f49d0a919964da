/* analyze/registry/rows.h: the analyses that there are, in the order in which they get an event. */
#pragma once

#include "analyze/registry/row.h"

enum analysis_id {
	ANALYSIS_FACTS,
	ANALYSIS_NAMES,
	ANALYSIS_PARKING,
	ANALYSIS_PAUSES,
	ANALYSIS_PHASES,
	ANALYSIS_SAFEPOINTS,
	ANALYSIS_SCHED,
	ANALYSIS_WALL,
	ANALYSIS_CONTENTION,
	ANALYSIS_ID_COUNT,
};

extern const struct analysis_row analysis_rows[ANALYSIS_ID_COUNT];
