// Implementation of search.hpp.
#include "tracer/playback/search.hpp"

#include <algorithm>
#include <cmath>

#include "base/parse.hpp"
#include "base/suggest.hpp"
#include "tracer/analysis/trace_words.hpp"

namespace poe::trace {
namespace {

std::optional<double> amount_of(std::string_view text) {
    double unit = 1;
    constexpr std::string_view kUnits = "KMG";
    if (!text.empty()) {
        const std::size_t found =
            kUnits.find(text.back() >= 'a' ? static_cast<char>(text.back() - 32) : text.back());
        if (found != std::string_view::npos) {
            for (std::size_t i = 0; i <= found; ++i) unit *= 1024;
            text.remove_suffix(1);
        }
    }
    const auto number = parse_number<double>(text);
    return number ? std::optional(*number * unit) : std::nullopt;
}

UserError mistake(std::string_view word) {
    return UserError{"",
                     0,
                     0,
                     "cannot search for " + in_quotes(word),
                     "as in task=3 call=brecv dur>1ms, msg 3->7 bytes>1M, msg 3<>7, or marker",
                     0};
}

}  // namespace

Result<Search> Search::parse(std::string_view text) {
    Search search;
    bool any = false;
    while (true) {
        const std::size_t start = text.find_first_not_of(' ');
        if (start == std::string_view::npos) break;
        text.remove_prefix(start);
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        any = true;
        const std::size_t sign = word.find_first_of("=<>-");
        const std::string_view name = word.substr(0, sign);
        const std::string_view value = sign == std::string_view::npos ? "" : word.substr(sign + 1);
        const char how = sign == std::string_view::npos ? ' ' : word[sign];
        if (word == "msg") {
            search.what_ = What::kMessage;
        } else if (word == "marker") {
            search.what_ = What::kMarker;
        } else if (name == "task" && how == '=') {
            if (!(search.task_ = parse_number<TaskId>(value))) return mistake(word);
        } else if (name == "type" && how == '=') {
            if (!(search.type_ = parse_number<std::uint32_t>(value))) return mistake(word);
        } else if (name == "call" && how == '=' && !value.empty()) {
            search.call_ = value;
        } else if (name == "dur" && (how == '<' || how == '>')) {
            const auto time = read_time(value, Time{0}, Time{0});
            if (!time) return mistake(word);
            (how == '>' ? search.longer_ : search.shorter_) = *time;
        } else if (name == "bytes" && (how == '<' || how == '>')) {
            const auto amount = amount_of(value);
            if (!amount) return mistake(word);
            search.what_ = What::kMessage;
            (how == '>' ? search.more_ : search.less_) = *amount;
        } else if (how == '-' && value.starts_with('>')) {
            search.what_ = What::kMessage;
            const std::string_view to = value.substr(1);
            if (!name.empty() && !(search.from_ = parse_number<TaskId>(name))) return mistake(word);
            if (!to.empty() && !(search.to_ = parse_number<TaskId>(to))) return mistake(word);
        } else if (how == '<' && value.starts_with('>')) {
            search.what_ = What::kMessage;
            search.both_ways_ = true;
            search.from_ = parse_number<TaskId>(name);
            search.to_ = parse_number<TaskId>(value.substr(1));
            if (!search.from_ || !search.to_) return mistake(word);
        } else {
            return mistake(word);
        }
    }
    if (!any) return mistake(text);
    return search;
}

// Keeps the nearest hit on the wanted side.
class Search::Watch : public Listener {
  public:
    Watch(const Search& search, const Definitions& definitions, Time from, bool forward)
        : search_(search), definitions_(definitions), from_(from), forward_(forward) {}

    void on_interval(const Interval& interval) override {
        if (search_.what_ != What::kCall) return;
        const Time took = interval.to - interval.frame.since;
        const bool fits = (!search_.task_ || *search_.task_ == interval.task) &&
                          definitions_.region(interval.frame.region).name.find(search_.call_) !=
                              std::string::npos &&
                          took > search_.longer_ && took < search_.shorter_;
        if (fits) offer({interval.frame.since, interval.task});
    }
    void on_message(const Message& message) override {
        if (search_.what_ != What::kMessage || message.context != kUserMessages) return;
        const auto bytes = static_cast<double>(message.bytes);
        const Time took = message.received - message.sent;
        const bool fits =
            (!search_.task_ || *search_.task_ == message.from || *search_.task_ == message.to) &&
            search_.is_between(message.from, message.to) &&
            (!search_.type_ || *search_.type_ == message.type) && bytes > search_.more_ &&
            bytes < search_.less_ && took > search_.longer_ && took < search_.shorter_;
        if (fits) offer({message.sent, message.from});
    }
    void on_event(const Event& event, TaskId task) override {
        if (search_.what_ == What::kMarker && event.record.kind == Kind::kMarker &&
            (!search_.task_ || *search_.task_ == task))
            offer({event.time, task});
    }

    std::optional<Hit> hit;

  private:
    void offer(Hit candidate) {
        if (forward_ ? candidate.at <= from_ : candidate.at >= from_) return;
        if (!hit || (forward_ ? candidate.at < hit->at : candidate.at > hit->at)) hit = candidate;
    }

    const Search& search_;
    const Definitions& definitions_;
    Time from_;
    bool forward_;
};

bool Search::is_between(TaskId from, TaskId to) const {
    const auto goes = [this](TaskId one, TaskId other) {
        return (!from_ || *from_ == one) && (!to_ || *to_ == other);
    };
    return goes(from, to) || (both_ways_ && goes(to, from));
}

bool Search::may_be_in(const Ended& sums, const Definitions& definitions) const {
    if (what_ == What::kMarker)
        return std::any_of(sums.events.begin(), sums.events.end(), [this](const auto& each) {
            return each.second.markers > 0 && (!task_ || *task_ == each.first);
        });
    if (what_ == What::kCall)
        return std::any_of(sums.calls.begin(), sums.calls.end(), [&](const auto& each) {
            return each.second.longest > longer_ &&
                   definitions.region(each.first).name.find(call_) != std::string::npos;
        });
    // Only the number of bits of the sizes is known, so the largest size with so many bits is used.
    double largest = -1;
    for (std::size_t bits = 0; bits < sums.sizes.size(); ++bits)
        if (sums.sizes[bits] > 0) largest = std::ldexp(1.0, static_cast<int>(bits));
    return largest > more_ &&
           std::any_of(sums.pairs.begin(), sums.pairs.end(), [this](const auto& each) {
               const PairSum& pair = each.second;
               return (!task_ || *task_ == pair.from || *task_ == pair.to) &&
                      is_between(pair.from, pair.to);
           });
}

std::optional<Search::Hit> Search::find(Session& session, Time from, bool forward) const {
    // A call or message that begins in one section may end in a later one. After a section with a
    // hit, the hits that end in the next section may still be nearer.
    const Index& index = session.index();
    auto at = static_cast<std::ptrdiff_t>(index.before(from));
    const auto count = static_cast<std::ptrdiff_t>(index.size());
    std::optional<Hit> best;
    int more = 1;
    for (; at >= 0 && at < count; at += forward ? 1 : -1) {
        const auto keyframe = static_cast<std::size_t>(at);
        const bool may_be =
            at + 1 >= count || may_be_in(index.ended(keyframe + 1), session.definitions());
        if (!may_be && !best) continue;
        Watch watch(*this, session.definitions(), from, forward);
        if (may_be) session.listen_from(keyframe, watch);
        const bool nearer =
            watch.hit && (!best || (forward ? watch.hit->at < best->at : watch.hit->at > best->at));
        if (nearer) best = watch.hit;
        if (best && --more < 0) break;
    }
    return best;
}

}  // namespace poe::trace
