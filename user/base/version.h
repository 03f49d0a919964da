/* base/version.h: the version of spoor. */
#pragma once

#define SPOOR_VERSION "0.1.0"
