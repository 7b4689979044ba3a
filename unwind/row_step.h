// SPDX-License-Identifier: GPL-2.0-or-later
//
// The module's row step for C++: the very file that the module compiles. It is
// C, so what we ask of our own casts and conversions does not go for it.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "module/row_step.h"  // IWYU pragma: export
#pragma GCC diagnostic pop
