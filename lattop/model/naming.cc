// SPDX-License-Identifier: GPL-2.0-or-later
//
// See naming.h.
#include "lattop/model/naming.h"

#include <algorithm>

namespace lattop {

void NamingWeight::add(const TableContext& context, const RowOptions& options, const Entry& entry) {
    blocked_ns += entry.blocked_ns;
    if (options.sort == Column::Ongoing)
        first = std::max(first, entry.ongoing_ns);
    else if (!options.interval)
        return;
    else if (const auto& delta = context.model.delta(entry))
        first += delta->blocked_ns;
    else  // the snapshot before did not hold it: what is sure is the sleep under way
        first += std::min(entry.ongoing_ns, context.model.interval_ns());
}

}  // namespace lattop
