// SPDX-License-Identifier: Apache-2.0
// A random recording as data, the arrays that it runs on, and the same steps in float64 with derivatives.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fuzz_kernels.hpp"
#include "novaphy/nova/custom.hpp"
#include "test_kernels.hpp"

namespace nova::test::differential {

inline constexpr std::size_t kRoots = 6, kLeaves = 2;  // the leaves come first and are only read
inline constexpr std::int64_t kDomain = 2;

struct Part {
  std::size_t root = 0;
  std::int64_t begin = 0, count = 0;
};

enum class Kind {
  mixed,
  in_place,
  blended,
  pulled,
  paired,
  assigned,
  filled,
  squares,
  added_squares,
  made,
  kinds
};

struct Step {
  Kind kind = Kind::mixed;
  Part a, b, out, total, pair;
  float number = 0;
  std::vector<std::int32_t> edges{};
};

/// What is recorded, as data.
struct Scenario {
  explicit Scenario(int seed, std::int64_t most_steps = 15) : rng(static_cast<unsigned>(seed)) {
    static constexpr std::int64_t kSizes[] = {1, 7, 15, 16, 17, 40, 300, 700};
    size = kSizes[below(8)];
    for (auto& values : start) {
      values.resize(static_cast<std::size_t>(size + below(5)));
      for (float& x : values) x = std::uniform_real_distribution<float>(-1.5f, 1.5f)(rng);
    }
    const std::int64_t count = 1 + below(most_steps);
    for (std::int64_t i = 0; i < count; ++i) steps.push_back(step());
  }
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(rng); }
  std::int64_t rows(std::size_t root) const { return static_cast<std::int64_t>(start[root].size()); }
  Part part(std::int64_t count, bool written) {
    const auto root =
        static_cast<std::size_t>(written ? kLeaves + static_cast<std::size_t>(below(kRoots - kLeaves))
                                         : static_cast<std::size_t>(below(kRoots)));
    return {root, below(rows(root) - count + 1), count};
  }
  Step step() {
    Step s;
    s.kind = static_cast<Kind>(below(static_cast<std::int64_t>(Kind::kinds)));
    const std::int64_t count = below(3) == 0 ? size : 1 + below(size);
    s.a = part(count, false), s.b = part(count, false), s.out = part(count, true), s.total = part(1, true);
    if (s.kind == Kind::in_place) s.a = s.out;
    s.number = std::uniform_real_distribution<float>(-1, 1)(rng);
    if (s.kind == Kind::pulled) {
      s.a = part(1 + below(size), false), s.out = part(1 + below(size), true);
      const std::int64_t vertices = std::min(s.a.count, s.out.count), band = 1 + below(vertices);
      for (std::int64_t e = 0; e < 2 * count; ++e)
        s.edges.push_back(static_cast<std::int32_t>(
            std::min(e / 2 * vertices / count + below(band), vertices - 1) - (below(9) == 0 ? e : 0)));
    }
    if (s.kind == Kind::paired) {
      const std::int64_t half = std::max<std::int64_t>(count / kDomain, 1);
      if (size < kDomain)
        s.kind = Kind::mixed;
      else
        s.a = part(half, false), s.out = part(half, true), s.b = part(kDomain, false),
        s.pair = part(half * kDomain, false);
    }
    return s;
  }

  std::mt19937 rng;
  std::int64_t size = 0;
  std::vector<float> start[kRoots];
  std::vector<Step> steps;
};

/// y = x * x / 4 - x, or y += that; the memory of both may be the same.
class Squares final : public CustomOperation {
 public:
  Squares(std::int64_t count, bool adds) : count_(static_cast<std::size_t>(count)), adds_(adds) {}
  const char* name() const noexcept override { return "squares"; }
  template <class T>
  static T of(T x) {
    return x * x * T(0.25f) - x;
  }
  void forward(const Forward& f) const override {
    const std::vector<float> x = copy(f.inputs[0]);
    auto* const y = static_cast<float*>(f.outputs[0]);
    for (std::size_t i = 0; i < count_; ++i) y[i] = adds_ ? y[i] + of(x[i]) : of(x[i]);
  }
  void backward(const Backward& b) const override {
    if (b.output_cotangents[0] == nullptr || b.input_cotangents[0] == nullptr) return;
    const std::vector<float> x = copy(b.inputs[0]);
    for (std::size_t i = 0; i < count_; ++i)
      b.input_cotangents[0][i] += (0.5f * x[i] - 1.0f) * b.output_cotangents[0][i];
  }
  void tangent(const Tangent& t) const override {
    if (t.input_tangents[0] == nullptr) return;
    const std::vector<float> x = copy(t.inputs[0]), moves = copy(t.input_tangents[0]);
    float* const to = t.output_tangents[0];
    for (std::size_t i = 0; i < count_; ++i) {
      const float moved = (0.5f * x[i] - 1.0f) * moves[i];
      to[i] = adds_ ? to[i] + moved : moved;
    }
  }
  void backward_tangent(const BackwardTangent& b) const override {
    if (b.input_cotangent_tangents[0] == nullptr) return;
    const std::vector<float> x = copy(b.inputs[0]);
    float* const to = b.input_cotangent_tangents[0];
    for (std::size_t i = 0; i < count_; ++i) {
      if (b.input_tangents[0] != nullptr && b.output_cotangents[0] != nullptr)
        to[i] += 0.5f * b.input_tangents[0][i] * b.output_cotangents[0][i];
      if (b.output_cotangent_tangents[0] != nullptr)
        to[i] += (0.5f * x[i] - 1.0f) * b.output_cotangent_tangents[0][i];
    }
  }

 private:
  std::vector<float> copy(const void* from) const {
    const auto* const first = static_cast<const float*>(from);
    return {first, first + count_};
  }
  std::size_t count_;
  bool adds_;
};

/// How the memory of the arrays is had.
enum class Memory { own, wrapped, escaped };

/// The arrays of a scenario; runs its steps on them.
class Run {
 public:
  Run(Scenario& scenario, Memory memory) : scenario_(scenario) {
    for (std::size_t r = 0; r < kRoots; ++r) {
      arrays.push_back(array(scenario.start[r], memory));
      arrays.back().set_requires_grad(r < kLeaves);
    }
    for (const Step& s : scenario.steps)
      edges_.push_back(integers(s.edges, Shape{static_cast<std::int64_t>(s.edges.size() / 2), 2}));
  }
  /// Records all steps. Those that are refused because they would read what they write are marked.
  Tensor record() {
    refused.assign(scenario_.steps.size(), false);
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      try {
        step(scenario_.steps[i], edges_[i]);
      } catch (const Error& error) {
        REQUIRE(std::string(error.what()).find("memory") != std::string::npos);
        refused[i] = true;
      }
    }
    Tensor loss = sum(mul(arrays[0], arrays[0]));
    for (std::size_t r = 1; r < kRoots; ++r)
      loss = add(loss, sum(mul(arrays[r], 0.5f + static_cast<float>(r))));
    return loss;
  }
  void restore() {
    for (std::size_t r = 0; r < kRoots; ++r)
      arrays[r].array().assign_bytes(scenario_.start[r].data(), scenario_.start[r].size() * sizeof(float));
    for (std::size_t r = 0; r < kLeaves; ++r) arrays[r].zero_grad();
  }
  /// All bits that the run leaves.
  std::vector<std::uint32_t> bits(const Tensor& loss) const {
    std::vector<std::uint32_t> out;
    const auto append = [&](const Tensor& t) {
      for (const float x : values(t)) out.push_back(std::bit_cast<std::uint32_t>(x));
    };
    append(loss);
    for (const Tensor& t : arrays) append(t);
    for (std::size_t r = 0; r < kLeaves; ++r)
      if (const auto grad = arrays[r].grad()) append(*grad);
    return out;
  }

  std::vector<Tensor> arrays;
  std::vector<bool> refused;

 private:
  // Wrapped memory begins at an odd place and ends where its block does, so that sanitizers see reads behind
  // it.
  static Tensor array(const std::vector<float>& from, Memory memory) {
    const Shape shape{static_cast<std::int64_t>(from.size())};
    if (memory == Memory::own) return tensor(from, shape);
    const auto block = std::shared_ptr<float[]>(new float[from.size() + 1]);
    std::copy(from.begin(), from.end(), block.get() + 1);
    return Tensor(DeviceArray(novaphy::Storage::wrap(block.get() + 1, from.size() * sizeof(float), {}, block,
                                                     memory == Memory::escaped),
                              DType::f32, shape));
  }
  Tensor at(const Part& p) const { return arrays[p.root].slice_rows(p.begin, p.begin + p.count); }
  void step(const Step& s, const Tensor& edges) {
    static const Kernel mixed = make_mixed_kernel(), blended = make_blended_kernel(),
                        pull = make_pull_kernel(), paired = make_paired_kernel();
    switch (s.kind) {
      case Kind::mixed:
      case Kind::in_place:
        return launch(mixed, {at(s.a), at(s.b)}, {at(s.out)}, s.out.count);
      case Kind::blended:
        return launch(blended, {at(s.a), at(s.b), s.number}, {at(s.out), at(s.total)}, s.out.count);
      case Kind::pulled:
        return launch(pull, {at(s.a), at(s.b), edges}, {at(s.out), at(s.total)}, s.b.count);
      case Kind::paired:
        return launch(paired, {at(s.a), at(s.b), at(s.pair)}, {at(s.out)}, s.out.count, kDomain);
      case Kind::assigned:
        return at(s.out).assign(at(s.a));
      case Kind::filled:
        return at(s.out).fill(s.number);
      case Kind::squares:
        return apply(std::make_shared<Squares>(s.out.count, false), {at(s.a)}, {at(s.out)});
      case Kind::added_squares:
        return apply(std::make_shared<Squares>(s.out.count, true), {at(s.a)},
                     {CustomOutput(at(s.out).array()).add()});
      case Kind::made:
        return at(s.out).assign(mul(at(s.a), at(s.b)));
      case Kind::kinds:
        break;
    }
  }
  Scenario& scenario_;
  std::vector<Tensor> edges_;
};

/// The same steps in float64, with the derivative along one direction of the leaves.
class Reference {
 public:
  Reference(const Scenario& scenario, const std::vector<bool>& refused,
            const std::vector<std::vector<double>>& along, double moved = 0) {
    for (std::size_t r = 0; r < kRoots; ++r)
      for (std::size_t i = 0; i < scenario.start[r].size(); ++i) {
        const double slope = r < kLeaves ? along[r][i] : 0.0;
        memory_[r].push_back({scenario.start[r][i] + moved * slope, slope});
      }
    for (std::size_t i = 0; i < scenario.steps.size(); ++i)
      if (!refused[i]) step(scenario.steps[i]);
    for (const Dual& x : memory_[0]) loss = loss + x * x;
    for (std::size_t r = 1; r < kRoots; ++r)
      for (const Dual& x : memory_[r]) loss = loss + x * Dual(0.5 + static_cast<double>(r));
  }
  Dual loss;

 private:
  std::vector<Dual> read(const Part& p) const {
    const auto first = memory_[p.root].begin() + p.begin;
    return {first, first + p.count};
  }
  void step(const Step& s) {
    if (s.kind == Kind::pulled) return pulled(s);
    const std::vector<Dual> a = read(s.a), b = read(s.b), pair = read(s.pair);
    Dual* const out = memory_[s.out.root].data() + s.out.begin;
    Dual total;
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.out.count); ++i) {
      Dual& to = out[i];
      switch (s.kind) {
        case Kind::blended: {
          const Dual moved = blended(a[i], b[i], Dual(s.number));
          to = to + moved, total = total + moved;
          break;
        }
        case Kind::paired: {
          Dual all = a[i] * Dual(0.5);
          for (std::size_t d = 0; d < kDomain; ++d)
            all = all + paired(a[i], b[d], pair[d * static_cast<std::size_t>(s.out.count) + i]);
          to = all;
          break;
        }
        case Kind::assigned:
          to = a[i];
          break;
        case Kind::filled:
          to = Dual(s.number);
          break;
        case Kind::squares:
          to = Squares::of(a[i]);
          break;
        case Kind::added_squares:
          to = to + Squares::of(a[i]);
          break;
        case Kind::made:
          to = a[i] * b[i];
          break;
        default:
          to = mixed(a[i], b[i]);
      }
    }
    if (s.kind == Kind::blended) memory_[s.total.root][static_cast<std::size_t>(s.total.begin)] = total;
  }
  void pulled(const Step& s) {
    const std::vector<Dual> a = read(s.a), weight = read(s.b);
    Dual* const out = memory_[s.out.root].data() + s.out.begin;
    Dual total;
    const auto end = [&](std::size_t e, std::size_t q) { return s.edges[2 * e + q]; };
    for (std::size_t e = 0; e < weight.size(); ++e) {
      Dual x[2];
      for (std::size_t q = 0; q < 2; ++q)
        if (end(e, q) >= 0) x[q] = a[static_cast<std::size_t>(end(e, q))];
      const Dual force = pull(x[0], x[1], weight[e]);
      if (end(e, 0) >= 0) out[end(e, 0)] = out[end(e, 0)] - force;
      if (end(e, 1) >= 0) out[end(e, 1)] = out[end(e, 1)] + force;
      total = total + energy(x[0], x[1]);
    }
    memory_[s.total.root][static_cast<std::size_t>(s.total.begin)] = total;
  }
  std::vector<Dual> memory_[kRoots];
};

}  // namespace nova::test::differential
