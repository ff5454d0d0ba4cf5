// Implementation of definitions.hpp.
#include "tracer/read/definitions.hpp"

#include <fmt/format.h>

namespace poe::trace {

Definitions::Definitions() {
    sites_.emplace_back();
    intern(region_of("computing", 2));
}

void Definitions::define(std::uint32_t stream, const Record& record, const std::string& text) {
    const std::uint64_t key = pair(stream, record.a);
    switch (static_cast<Defined>(record.detail)) {
        case Defined::kRegion:
            region_ids_[key] = intern(region_of(text, record.b));
            break;
        case Defined::kCounter:
            counter_ids_[key] = intern_counter(text);
            break;
        case Defined::kSite:
        case Defined::kLine: {
            const bool is_line = static_cast<Defined>(record.detail) == Defined::kLine;
            const Site site{text, record.b, is_line};
            const auto [known, is_new] =
                site_numbers_.emplace(site, static_cast<std::uint32_t>(sites_.size()));
            if (is_new) sites_.push_back(site);
            site_ids_[key] = known->second;
            break;
        }
        case Defined::kCallLine:  // read where it is used (call_parts.hpp)
            break;
        case Defined::kCommunicator:
            name_context(static_cast<std::uint32_t>(record.b), record.a != 0, text);
            break;
        case Defined::kPath:  // of interest to readers of samples only
            break;
    }
}

std::uint32_t Definitions::intern(Region region) {
    const auto number = static_cast<std::uint32_t>(regions_.size());
    const auto [known, is_new] =
        region_numbers_.emplace(std::pair{region.name, region.of_user}, number);
    if (is_new) regions_.push_back(std::move(region));
    return known->second;
}

std::uint32_t Definitions::intern_counter(const std::string& name) {
    const auto number = static_cast<std::uint32_t>(counters_.size());
    const auto [known, is_new] = counter_numbers_.emplace(name, number);
    if (is_new) counters_.push_back(name);
    return known->second;
}

std::uint32_t Definitions::region(std::uint32_t stream, std::uint32_t id) {
    const auto [known, is_new] = region_ids_.try_emplace(pair(stream, id), 0);
    if (is_new) known->second = intern(undefined_region(id));
    return known->second;
}

std::uint32_t Definitions::round_of(std::uint32_t path, std::uint32_t round, std::uint32_t rounds) {
    constexpr std::uint32_t kMostRounds = 256;
    if (round == 0 || rounds < 2 || rounds > kMostRounds) return path;
    Region region = regions_[path];
    region.name += fmt::format(" {}/{}", round, rounds);
    return intern(std::move(region));
}

std::uint32_t Definitions::counter(std::uint32_t stream, std::uint32_t id) {
    const auto [known, is_new] = counter_ids_.try_emplace(pair(stream, id), 0);
    if (is_new) known->second = intern_counter(fmt::format("counter {}", id));
    return known->second;
}

std::uint32_t Definitions::site(std::uint32_t stream, std::uint32_t id) const {
    if (id == 0) return kNoSite;
    const auto known = site_ids_.find(pair(stream, id));
    return known == site_ids_.end() ? kNoSite : known->second;
}

void Definitions::name_context(std::uint32_t context, bool begins, const std::string& text) {
    ContextName& known = context_names_[context];
    if (begins) {
        known.ended = true;
        return;
    }
    if (known.ended && text != known.name) known.several = true;
    if (!known.several) known.name = text;
    known.ended = false;
}

std::string Definitions::name_of_context(std::uint32_t context) const {
    const auto found = context_names_.find(context);
    if (found == context_names_.end()) return {};
    const ContextName& known = found->second;
    return known.name + (known.ended || known.several ? " and others" : "");
}

Definitions::Tables Definitions::tables() const {
    return {regions_, counters_, sites_, region_ids_, counter_ids_, site_ids_};
}

void Definitions::restore(Tables tables) {
    *this = Definitions();
    std::vector<std::uint32_t> regions, counters, sites;
    for (Region& region : tables.regions) regions.push_back(intern(std::move(region)));
    for (const std::string& name : tables.counters) counters.push_back(intern_counter(name));
    for (const Site& site : tables.sites) {
        if (!site.object.empty() || site.address != 0) {
            const auto [known, is_new] =
                site_numbers_.emplace(site, static_cast<std::uint32_t>(sites_.size()));
            if (is_new) sites_.push_back(site);
            sites.push_back(known->second);
        } else {
            sites.push_back(kNoSite);
        }
    }
    const auto take = [](const Names& from, const std::vector<std::uint32_t>& numbers, Names& to) {
        for (const auto& [key, number] : from)
            if (number < numbers.size()) to[key] = numbers[number];
    };
    take(tables.region_ids, regions, region_ids_);
    take(tables.counter_ids, counters, counter_ids_);
    take(tables.site_ids, sites, site_ids_);
}

}  // namespace poe::trace
