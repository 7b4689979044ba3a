// SPDX-License-Identifier: GPL-2.0-or-later
//
// See percentile.h.
#include "lattop/model/percentile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lattop {

std::uint64_t percentile_bound(const Histogram& hist, double share, std::uint64_t max_ns) {
    const std::uint64_t total = std::accumulate(hist.begin(), hist.end(), std::uint64_t{0});
    if (total == 0) return 0;
    const double wanted = std::max(1.0, std::ceil(share * static_cast<double>(total)));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket + 1 < hist.size(); ++bucket) {
        seen += hist[bucket];
        if (static_cast<double>(seen) >= wanted) break;
    }
    // The last bucket has no upper end.
    if (bucket + 1 == hist.size()) return max_ns;
    return std::min(std::uint64_t{2} << bucket, max_ns);
}

void add_histogram(Histogram& to, const Histogram& from) {
    std::ranges::transform(to, from, to.begin(), std::plus{});
}

}  // namespace lattop
