// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module's rows for C++, a step by one and how it is kept: the very files
// that the module compiles. They are C, so what we ask of our own casts and conversions does not go
// for it.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "module/row_pack.h"  // IWYU pragma: export
#include "module/row_step.h"  // IWYU pragma: export
#pragma GCC diagnostic pop
