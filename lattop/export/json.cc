// SPDX-License-Identifier: GPL-2.0-or-later
//
// See json.h.
#include "lattop/export/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lattop/export/text.h"
#include "lattop/model/wakers.h"
#include "lattop/model/wanted_waits.h"
#include "lattop/version.h"

namespace lattop {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDocumentVersion = 1;

/// Hist of the promise: index i counts sleeps of 2^i <= ns < 2^(i+1); without
/// the empty buckets at its end.
Json histogram(const Histogram& hist) {
    std::size_t n = hist.size();
    while (n > 0 && hist[n - 1] == 0)
        --n;
    Json result = Json::array();
    for (std::size_t i = 0; i < n; ++i)
        result.push_back(hist[i]);
    return result;
}

Json lost(const Header& header) {
    const auto& n = header.lost;
    Json causes = Json::object();
    for (std::size_t i = 0; i < n.size(); ++i) {
        if (i < kLostCauses.size())
            causes[std::string(kLostCauses[i].name)] = n[i];
        else if (n[i] != 0)
            causes[fmt::format("cause_{}", i)] = n[i];
    }
    return {{"tasks", n[LT_LOST_task_limit] + n[LT_LOST_task_pool] + n[LT_LOST_task_user]},
            {"traces", n[LT_LOST_entry_limit] + n[LT_LOST_entry_pool] + n[LT_LOST_entry_user] +
                           n[LT_LOST_trace_limit] + n[LT_LOST_trace_pool] + n[LT_LOST_trace_user]},
            {"misses", n[LT_LOST_user_miss]},
            {"causes", std::move(causes)}};
}

Json limits(const Header& header) {
    Json result = Json::object();
    for (std::size_t i = 0; i < header.limit.size(); ++i)
        if (header.limit[i] != 0)
            result[limit_name(i)] = {{"used", header.used[i]}, {"limit", header.limit[i]}};
    result["memory_bytes"] = header.memory_bytes;
    return result;
}

/// What each user holds of what he may hold; an object a user.
Json users(const Header& header, Users& names) {
    Json result = Json::array();
    for (const UserHoldings& user : header.users) {
        Json holdings = Json::object();
        for (std::size_t i = 0; i < kHeldNames.size(); ++i)
            holdings[std::string(kHeldNames[i])] = {{"used", user.held[i]},
                                                    {"limit", header.share[i]}};
        result.push_back({{"uid", user.uid}, {"user", names.name(user.uid)}, {"limits", holdings}});
    }
    return result;
}

Json learning_object(const LearningState& learning) {
    return {{"running", learning.kind == LearningState::Kind::Runs},
            {"why", learning.why},
            {"misses", learning.misses},
            {"rows", learning.rows},
            {"cpu_ns", learning.cpu_ns}};
}

/// Escaped beyond ASCII: names may hold what terminals obey.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json kernel_frame(const KernelFrame& frame) {
    Json result{{"sym", frame.symbol.name}, {"off", frame.offset}};
    if (!frame.symbol.module.empty()) result["module"] = frame.symbol.module;
    return result;
}

Json user_frame(std::uint64_t address, const UserFrame* frame) {
    static const UserFrame nameless;
    const UserFrame& named = frame == nullptr ? nameless : *frame;
    return {{"sym", named.symbol},    {"off", frame == nullptr ? address : named.offset},
            {"module", named.module}, {"file", named.file},
            {"line", named.line},     {"inlined", false},
            {"addr", address},        {"path", named.path}};
}

/// One that the compiler merged into `around`: it has no offset of its own.
Json inlined_frame(std::uint64_t address, const InlinedFrame& frame, const UserFrame& around) {
    return {{"sym", frame.symbol}, {"off", 0},           {"module", around.module},
            {"file", frame.file},  {"line", frame.line}, {"inlined", true},
            {"addr", address},     {"path", around.path}};
}

Json entry_delta(const std::optional<EntryDelta>& delta) {
    if (!delta) return nullptr;
    return {{"blocked_ns", delta->blocked_ns},
            {"sleeps", delta->sleeps},
            {"hist_log2_ns", histogram(delta->hist)}};
}

Json task_delta(const Row& row, const Model& model) {
    const auto& of_all = model.delta(*row.task);
    if (!row.delta || !of_all) return nullptr;
    return {{"blocked_ns", row.delta->blocked_ns},
            {"sleeps", row.delta->sleeps},
            {"runq_ns", row.delta->runq_ns},
            {"runs", of_all->runs}};
}

Json kernel_stack(const Snapshot& snapshot, const Trace* trace) {
    Json result = Json::array();
    if (trace != nullptr)
        for (const KernelFrame& frame : snapshot.kernel_frames(*trace))
            result.push_back(kernel_frame(frame));
    return result;
}

Json user_stack(const TableContext& context, const StackId& id, const Trace* trace) {
    Json result = Json::array();
    if (trace == nullptr || trace->nr_user == 0) return result;
    const Snapshot& snapshot = context.model.snapshot();
    const UserStack* names = context.stacks.find(id);
    const auto addresses = snapshot.user_frames(*trace);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const bool named = names != nullptr && i < names->frames.size();
        const UserFrame* frame = named ? names->frames[i].get() : nullptr;
        if (frame != nullptr)
            for (const InlinedFrame& inlined : frame->inlined)
                result.push_back(inlined_frame(addresses[i], inlined, *frame));
        result.push_back(user_frame(addresses[i], frame));
    }
    return result;
}

Json waker_object(const TableContext& context, const Waker& waker) {
    const Snapshot& snapshot = context.model.snapshot();
    const Trace* trace = snapshot.trace_at(waker.trace);
    const Trace* waited = snapshot.trace_at(waker.waited_trace);
    const auto user = [&](TraceIndex of) {
        return user_stack(context, stack_id(snapshot, waker, of), snapshot.trace_at(of));
    };
    return {{"kind", waker_kind(waker)},
            {"pid", waker.pid},
            {"tgid", waker.tgid},
            {"start_ns", waker.start_ns},
            {"comm", waker.comm},
            {"blocked_ns", waker.blocked_ns},
            {"sleeps", waker.sleeps},
            {"max_ns", waker.max_ns},
            {"kernel", kernel_stack(snapshot, trace)},
            {"user", user(waker.trace)},
            {"waited_ns", waker.waited_ns},
            {"waited_id", waited == nullptr ? Json(nullptr) : Json(waited->id)},
            {"waited_kernel", kernel_stack(snapshot, waited)},
            {"waited_user", user(waker.waited_trace)}};
}

/// Those who ended sleeps of an entry, most blocked time first.
Json wakers(const TableContext& context, const Entry& entry) {
    Json result = Json::array();
    for (const Waker* waker : by_blocked(context.model.snapshot().wakers_of(entry)))
        result.push_back(waker_object(context, *waker));
    return result;
}

Json trace_object(const TableContext& context, const Task& task, const Entry& entry,
                  const Reason& reason) {
    const Snapshot& snapshot = context.model.snapshot();
    const Trace* trace = snapshot.trace_of(entry);
    Json result{{"blocked_ns", entry.blocked_ns},
                {"sleeps", entry.sleeps},
                {"max_ns", entry.max_ns},
                {"hist_log2_ns", histogram(entry.hist)},
                {"reason", reason.name},
                {"idle", reason.idle},
                {"complete", trace != nullptr && trace->complete()},
                {"kernel", kernel_stack(snapshot, trace)},
                {"user", user_stack(context, stack_id(snapshot, task, entry), trace)},
                {"ongoing_ns", entry.ongoing_ns},
                {"kind", trace == nullptr ? "other" : "trace"},
                {"earlier_program", entry.exec_id != task.exec_id},
                {"delta", entry_delta(context.model.delta(entry))}};
    if (accounts_wakers(snapshot.header)) result["wakers"] = wakers(context, entry);
    if (trace != nullptr) {
        result["id"] = trace->id;
        result["syscall"] = trace->syscall;
        result["completeness"] = completeness(*trace);
    }
    return result;
}

const char* kind_name(const Task& task) {
    switch (task.kind) {
        case LT_KIND_TASK: return "task";
        case LT_KIND_EXITED: return "exited";
        case LT_KIND_EXITED_ALL: return "exited_all";
        case LT_KIND_OTHER: return "other";
        default: return "unknown";
    }
}

Json task_object(const TableContext& context, const Row& row, const WantedWaits& wanted,
                 const std::optional<WaitObjects>& objects) {
    const Task& task = *row.task;
    Json traces = Json::array();
    const Snapshot& snapshot = context.model.snapshot();
    const KnownBy known = known_by(context);
    for (const Entry& entry : snapshot.entries_of(task)) {
        const Reason& reason = context.reasons.of(snapshot, task, entry, context.stacks);
        if (wanted.all() || is_wanted(wanted, known, task, &entry, reason))
            traces.push_back(trace_object(context, task, entry, reason));
    }
    // Of some of its sleeps a row is not all of its task
    const std::size_t traces_total = wanted.all() ? task.traces_total : traces.size();
    Json result{
        {"pid", task.pid},
        {"tgid", task.tgid},
        {"comm", task.comm},
        {"uid", task.uid},
        {"state", std::string(1, task.state)},
        {"iowait", task.waits_for_io()},
        {"exited", task.exited() || task.kind == LT_KIND_EXITED || task.kind == LT_KIND_EXITED_ALL},
        {"blocked_ns", row.total.blocked_ns},
        {"ongoing_ns", row.ongoing_ns},
        {"sleeps", row.total.sleeps},
        {"max_ns", row.max_ns},
        {"runq_ns", task.runq_ns},
        {"runs", task.runs},
        {"kind", kind_name(task)},
        {"start_ns", task.start_ns},
        {"kernel_thread", task.kernel_thread()},
        {"asleep", row.asleep != 0},
        {"exec_id", task.exec_id},
        {"traces_total", traces_total},
        {"cgroup", task.cgroup()},
        {"cgroup_name", task.cgroup().empty() ? "" : context.cgroups.name(task.cgroup())},
        {"delta", task_delta(row, context.model)},
        {"traces", std::move(traces)}};
    if (const std::string* line = context.stacks.command_line(task)) result["cmdline"] = *line;
    if (objects) {
        const auto found = objects->find(id_of(task));
        result["waits_for"] = found == objects->end() ? "" : found->second;
    }
    return result;
}

}  // namespace

bool write_refresh_json(const TableContext& context, const RowOptions& options, std::uint32_t limit,
                        std::uint64_t realtime_ns, const LearningState& learning,
                        const FindObjects& find_objects, const Output& output) {
    constexpr std::size_t kPiece = 65536;
    std::vector<Row> rows = make_rows(context, options);
    const Header& header = context.model.snapshot().header;
    const WantedWaits& wanted = options.waits;
    const std::size_t matched = wanted.all() ? header.tasks_matched : rows.size();
    if (limit != 0 && rows.size() > limit) rows.resize(limit);
    std::vector<const Task*> shown;
    for (const Row& row : rows)
        if (row.asleep != 0) shown.push_back(row.task);
    const auto objects = find_objects ? std::optional(find_objects(shown)) : std::nullopt;
    Json document{{"version", kDocumentVersion},
                  {"time_ns", header.time_ns},
                  {"interval_ns", context.model.interval_ns()},
                  {"hook", header.hook.substr(0, header.hook.find(':'))},
                  {"lost", lost(header)},
                  {"since_ns", header.since_ns},
                  {"hook_probes", header.hook},
                  {"realtime_ns", realtime_ns},
                  {"release", kVersion},
                  {"module_release", header.release},
                  {"tasks_total", header.tasks_total},
                  {"tasks_matched", matched},
                  {"filter", header.filter},
                  {"hooks_ns", header.hooks_ns},
                  {"limits", limits(header)},
                  {"users", users(header, context.users)}};
    if (learning.kind != LearningState::Kind::None)
        document["learning"] = learning_object(learning);
    if (!wanted.all())
        document["selection"] = {{"filter", wanted.filter}, {"no_idle", wanted.hide_idle}};
    // As text task by task: what a document of all would hold besides is several times its text
    std::string text = text_of(document);
    text.back() = ',';
    text += "\"tasks\":[";
    for (const Row& row : rows) {
        if (&row != &rows.front()) text += ',';
        text += text_of(task_object(context, row, wanted, objects));
        if (text.size() < kPiece) continue;
        if (!output(text)) return false;
        text.clear();
    }
    text += "]}\n";
    return output(text);
}

}  // namespace lattop
