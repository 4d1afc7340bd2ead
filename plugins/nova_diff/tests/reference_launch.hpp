// SPDX-License-Identifier: Apache-2.0
// A whole launch as the definition says, row by row and operation by operation, and the ways of running that
// must give the same bits.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "nova/backend/dispatch.hpp"
#include "nova/expr/evaluate.hpp"
#include "nova/kernel/execute.hpp"
#include "novaphy/array.hpp"
#include "random_program.hpp"

namespace nova::test {

/// Leaves of 256 rows over 16 lanes, lanes folded in halves, leaves folded in pairs.
template <class T>
T ordered_sum(const std::vector<T>& values) {
  std::vector<T> leaves;
  for (std::size_t at = 0; at < values.size(); at += 256) {
    std::array<T, 16> lane{};
    for (std::size_t i = at; i < std::min(values.size(), at + 256); ++i) lane[(i - at) % 16] += values[i];
    for (std::size_t width = 8; width > 0; width /= 2)
      for (std::size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
    leaves.push_back(values.size() == 1 ? values[0] : lane[0]);
  }
  for (; leaves.size() > 1;) {
    std::vector<T> next;
    for (std::size_t i = 0; i < leaves.size(); i += 2)
      next.push_back(i + 1 < leaves.size() ? leaves[i] + leaves[i + 1] : leaves[i]);
    leaves = next;
  }
  return leaves.empty() ? T(0) : leaves[0];
}

template <class T>
void reference_launch(const Program& p, const Arrays<T>& inputs, Arrays<T>& outputs, std::int64_t rows,
                      std::int64_t domain) {
  const std::vector<const void*> arguments = inputs.arguments();
  // what each output writes, by (number, s, row)
  struct Written {
    std::uint32_t output, k;
    std::int64_t s, row;
    Number<T> value;
  };
  std::vector<Written> written;
  for (std::int64_t row = 0; row < rows; ++row)
    evaluate_row<T>(
        p, {arguments.data(), rows, domain}, row, [](std::uint32_t, const Number<T>&, std::int64_t) {},
        [&](std::uint32_t output, std::uint32_t k, const Number<T>& value, std::int64_t s) {
          written.push_back({output, k, std::max<std::int64_t>(s, 0), row, value});
        });
  // scatters go in the order of the index rows, and there in the order of the numbers
  std::stable_sort(written.begin(), written.end(), [](const Written& a, const Written& b) {
    return std::tie(a.output, a.s, a.row) < std::tie(b.output, b.s, b.row);
  });
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::vector<T>> sums;  // output, number, s
  for (const Written& w : written) {
    const Output& o = p.outputs[w.output];
    const auto width = static_cast<std::int64_t>(width_of(o.row));
    std::int64_t at = o.reach == Reach::pair ? w.s * rows + w.row : w.row;
    if (o.reach == Reach::gather) {
      const Argument& index = p.arguments[o.index];
      const std::int64_t element = index.reach == Reach::pair ? w.s * rows + w.row : w.row;
      at = inputs.words[o.index][static_cast<std::size_t>(element * width_of(index.row) + o.first_column +
                                                          w.k / width)];
      if (at < 0) continue;
    }
    const auto place = static_cast<std::size_t>(at * width + w.k % width);
    if (o.reach == Reach::uniform || o.reach == Reach::domain)
      sums[{w.output, w.k, w.s}].push_back(w.value.real);
    else if (!is_float(o.row))
      outputs.words[w.output][place] = w.value.word;
    else if (o.write == Write::set)
      outputs.reals[w.output][place] = w.value.real;
    else if (o.write == Write::scatter_sub)
      outputs.reals[w.output][place] -= w.value.real;
    else
      outputs.reals[w.output][place] += w.value.real;
  }
  for (const auto& [key, values] : sums) {
    const auto& [output, k, s] = key;
    const Output& o = p.outputs[output];
    T& to = outputs.reals[output][static_cast<std::size_t>(s * width_of(o.row) + k)];
    to = o.write == Write::sum ? ordered_sum(values) : to + ordered_sum(values);
  }
}

/// One way of running a program.
struct Tier {
  std::string name;
  std::function<void(const Program& simplified, const void* const* arguments, void* const* outputs,
                     std::int64_t rows, std::int64_t domain)>
      run;
};

/// All that must give the bits of the reference on this machine.
inline std::vector<Tier> tiers() {
  std::vector<Tier> out;
  for (const machine::Build& build : machine::builds())
    for (const int lanes : {1, 16, 128})
      out.push_back({std::string("interpreter ") + build.name + ", " + std::to_string(lanes) + " lanes",
                     [=](const Program& p, const void* const* arguments, void* const* outputs,
                         std::int64_t rows, std::int64_t domain) {
                       execute_with(build.run, lanes, lower(p), arguments, outputs, rows, domain);
                     }});
  out.push_back({"patches", [](const Program& p, const void* const* arguments, void* const* outputs,
                               std::int64_t rows, std::int64_t domain) {
                   const Code code = lower(p);
                   std::shared_ptr<novaphy::Storage> index;
                   if (code.patch_index != kNone) {
                     const int width = width_of(p.arguments[code.patch_index].row);
                     const auto* const first = static_cast<const std::int32_t*>(arguments[code.patch_index]);
                     index =
                         novaphy::DeviceArray::from(std::span(first, static_cast<std::size_t>(rows * width)),
                                                    novaphy::Shape{rows, width})
                             .storage();
                   }
                   set_patches(Patches::always);
                   execute(code, arguments, outputs, rows, domain, index.get());
                   set_patches(Patches::where_they_pay);
                 }});
  return out;
}

}  // namespace nova::test
