// SPDX-License-Identifier: GPL-2.0-or-later
//
// See stacks.h. The page is flamegraph.html (compiled in), in which one line is
// replaced by the data: the names of frames and reasons, and the tree, each
// node as [frame, reason, ns, sleeps, [children...]]. In a script element
// nothing but "<" can end the script, so that is written as an escape.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "lattop/export/flamegraph_page.h"
#include "lattop/export/stacks.h"
#include "lattop/model/format.h"

namespace lattop {
namespace {

using Json = nlohmann::ordered_json;

/// Parts narrower than this share of all are left out: nobody could see them,
/// and a page of a million nodes would not open.
constexpr std::uint64_t kLeastShare = 20'000;

class Texts {
public:
    std::size_t index(const std::string& text) {
        const auto [found, added] = index_.try_emplace(text, texts_.size());
        if (added) texts_.push_back(printable(text, Charset::Utf8));
        return found->second;
    }
    [[nodiscard]] const Json& json() const { return texts_; }

private:
    std::map<std::string, std::size_t> index_;
    Json texts_ = Json::array();
};

struct Node {
    std::string name;
    std::uint64_t ns = 0;
    std::uint64_t sleeps = 0;
    std::map<std::string, std::uint64_t> reasons;  // ns by reason
    std::map<std::string, std::unique_ptr<Node>> children;

    Node& child(const std::string& key, const std::string& title) {
        auto& place = children[key];
        if (!place) {
            place = std::make_unique<Node>();
            place->name = title;
        }
        return *place;
    }

    void add(const MergedStack& stack) {
        ns += stack.blocked_ns;
        sleeps += stack.sleeps;
        reasons[stack.reason] += stack.blocked_ns;
    }
};

void add(Node& root, const MergedStack& stack) {
    root.add(stack);
    Node* node = &root.child(stack.command, stack.command);
    node->add(stack);
    for (const MergedFrame& frame : stack.frames) {
        // A function of the kernel is not one of the same name elsewhere.
        node = &node->child((frame.kernel ? "k" : "u") + frame.name,
                            frame.kernel ? frame.name + " [kernel]" : frame.name);
        node->add(stack);
    }
}

Json tree(const Node& node, std::uint64_t least, Texts& names, Texts& reasons) {
    const auto main = std::ranges::max_element(node.reasons, {},
                                               [](const auto& reason) { return reason.second; });
    Json children = Json::array();
    for (const auto& [key, child] : node.children)
        if (child->ns > least) children.push_back(tree(*child, least, names, reasons));
    const std::string reason = main == node.reasons.end() ? "" : main->first;
    return Json::array(
        {names.index(node.name), reasons.index(reason), node.ns, node.sleeps, std::move(children)});
}

/// As it may stand in a script of a page: no tag begins there.
std::string without_tags(std::string_view json) {
    std::string text;
    text.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

void replace(std::string& text, std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    if (at != std::string::npos) text.replace(at, what.size(), by);
}

}  // namespace

std::string export_flamegraph(std::span<const MergedStack> stacks, const std::string& title) {
    Node root;
    root.name = "all";
    for (const MergedStack& stack : stacks)
        add(root, stack);
    Texts names;
    Texts reasons;
    Json data{{"tree", tree(root, root.ns / kLeastShare, names, reasons)}};
    data["names"] = names.json();
    data["reasons"] = reasons.json();
    data["title"] = printable(title, Charset::Utf8);
    std::string page = kFlamegraphPage;
    replace(page, "/*DATA*/", without_tags(data.dump()));
    return page;
}

}  // namespace lattop
