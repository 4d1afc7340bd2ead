// SPDX-License-Identifier: Apache-2.0
// The command line of novaphy-host: flags that every verb understands, and what is said about a wrong one.
#pragma once

#include "verbs.hpp"

namespace novaphy::host {

/// Adds the flags that every verb understands.
void add_common(CLI::App& app, Common& common);

/// Sets the log's levels from --log. `is_quiet`: the verb itself prints what is wrong with the plugins.
/// Throws Exit(kUsage) for a level that does not exist.
void set_levels(const Common& common, bool is_quiet);
/// Gives the modules of plugins that --log names their level. Throws Exit(kUsage) for a name that is unknown.
void set_module_levels(const Common& common, const Runtime& runtime);

/// "no verb 'lst'; did you mean 'list'?": what is wrong with a command line that CLI11 refuses.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

/// Verbs that stand in the help.
std::vector<const CLI::App*> visible_verbs(const CLI::App& app);
/// "--json" and its like, of one app.
std::vector<std::string> flags_of(const CLI::App& app);

}  // namespace novaphy::host
