// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one policy for everything that lattop remembers about other programs:
// least recently used goes first when the cost of all exceeds the budget.
// Used for images, processes and named stacks.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace lattop {

/// A map from Key to Value within a budget. Costs are in whatever unit the
/// budget is. The entry used last always stays, whatever it costs, unless another is expected.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class BoundedCache {
public:
    /// `held`: is told what all cost, as it changes, where it is not null; lives longer.
    explicit BoundedCache(std::size_t budget, std::atomic<std::size_t>* held = nullptr)
        : budget_(budget), held_(held) {
        set_total(0);
    }

    /// The value, now the most recently used; nullptr where there is none.
    /// Valid until something is dropped: the next call that is not const may do that.
    Value* find(const Key& key) {
        const auto found = index_.find(key);
        if (found == index_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, found->second);
        return &found->second->value;
    }

    /// The value without using it; nullptr where there is none.
    const Value* peek(const Key& key) const {
        const auto found = index_.find(key);
        return found == index_.end() ? nullptr : &found->second->value;
    }

    /// Puts or replaces a value and drops what no longer fits.
    Value& put(const Key& key, Value value, std::size_t cost = 1) {
        expected_ = 0;
        erase(key);
        entries_.push_front({key, std::move(value), cost});
        index_.emplace(key, entries_.begin());
        set_total(cost_ + cost);
        drop_what_does_not_fit();
        return entries_.front().value;
    }

    /// What is about to be made and put will cost so much, or nothing will be: room is made for it,
    /// and it counts as held. To make it may take for ever.
    void expect(std::size_t cost) {
        expected_ = cost;
        set_total(cost_);
        drop_what_does_not_fit();
    }

    /// What a value costs by now; others may be dropped for it.
    void set_cost(const Key& key, std::size_t cost) {
        const auto found = index_.find(key);
        if (found == index_.end()) return;
        entries_.splice(entries_.begin(), entries_, found->second);
        set_total(cost_ - found->second->cost + cost);
        found->second->cost = cost;
        drop_what_does_not_fit();
    }

    void erase(const Key& key) {
        const auto found = index_.find(key);
        if (found == index_.end()) return;
        set_total(cost_ - found->second->cost);
        entries_.erase(found->second);
        index_.erase(found);
    }

    /// Another budget from now on; what no longer fits is dropped.
    void set_budget(std::size_t budget) {
        budget_ = budget;
        drop_what_does_not_fit();
    }

    /// Drops all but the `count` used last.
    void keep_newest(std::size_t count) {
        while (entries_.size() > count)
            drop_oldest();
    }

    /// Drops those used longest ago, up to the first of which `idle(key, value)` is false.
    template <typename Idle>
    void drop_oldest_while(Idle idle) {
        while (!entries_.empty() && idle(entries_.back().key, entries_.back().value))
            drop_oldest();
    }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::size_t cost() const { return cost_; }
    [[nodiscard]] std::size_t budget() const { return budget_; }

private:
    struct Entry {
        Key key;
        Value value;
        std::size_t cost;
    };

    void set_total(std::size_t cost) {
        cost_ = cost;
        if (held_ != nullptr) *held_ = cost + expected_;
    }

    void drop_what_does_not_fit() {
        const std::size_t kept = expected_ == 0 ? 1 : 0;
        while (cost_ + expected_ > budget_ && entries_.size() > kept)
            drop_oldest();
    }

    void drop_oldest() {
        set_total(cost_ - entries_.back().cost);
        index_.erase(entries_.back().key);
        entries_.pop_back();
    }

    std::size_t budget_;
    std::size_t cost_ = 0;
    std::size_t expected_ = 0;
    std::atomic<std::size_t>* held_;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> index_;
};

}  // namespace lattop
