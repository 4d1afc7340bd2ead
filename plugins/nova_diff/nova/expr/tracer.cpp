// SPDX-License-Identifier: Apache-2.0
// The tracer: uses of parameters become arguments while the body runs, and are put in order at the end.
#include "novaphy/nova/tracer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "nova/expr/passes.hpp"

namespace nova {

using novaphy::ErrorKind;
using novaphy::fail;

namespace {

constexpr std::uint32_t kRowOutput = kNone;  // Added::index of what is added to row e

thread_local Tracer* active_tracer = nullptr;

struct Parameter {
  Name name;
  Row row = Row::f32;
  Reach reach = Reach::row;
  bool is_static = false;
};

/// An argument of the draft: parameter, and where it is gathered the parameter of the index and its column.
struct Use {
  std::uint32_t parameter = 0, index = kNone, column = 0;
};

struct Added {
  std::uint32_t index = kRowOutput, column = 0;
  std::vector<std::uint32_t> value;
  bool subtract = false;
};

struct Declared {
  Name name;
  Row row = Row::f32;
  Write write = Write::set;
  std::vector<std::uint32_t> value;  ///< set, sum
  std::vector<Added> added;
};

struct Total {
  std::uint32_t first = 0, count = 0;  ///< reductions of the draft
};

}  // namespace

struct Tracer::State {
  explicit State(std::string_view kernel_name)
      : name(kernel_name), builder(KernelDesc{name.c_str(), {}, {}, {}}) {}

  Program& draft() { return builder.draft(); }
  template <class... Parts>
  void require(bool condition, const Parts&... parts) const {
    if (!condition) [[unlikely]]
      fail(ErrorKind::trace, novaphy::text(parts...));
  }
  std::uint32_t use(const Use& wanted);
  std::vector<std::uint32_t> inputs_of(std::uint32_t argument, std::uint8_t stage);
  std::pair<std::uint32_t, std::uint32_t> index_column(Int index, std::string_view user);
  void check_value(const Declared& output, Nodes value) const;
  Output written(Declared& output, Program& program);
  void add_outputs(TracedKernel& out);
  void order_arguments(Program& program, TracedKernel& out) const;

  Name name;
  ProgramBuilder builder;
  Tracer* outer = nullptr;
  std::vector<Parameter> parameters;
  std::vector<Use> uses;  ///< of the draft's arguments
  std::vector<Declared> outputs;
  std::vector<Total> totals;
  std::vector<std::uint32_t> results;  ///< of all totals, after the loop
  bool in_loop = false, loop_done = false;
};

Tracer::Tracer(std::string_view name) : state_(std::make_unique<State>(name)) {
  state_->outer = std::exchange(active_tracer, this);
}

Tracer::~Tracer() {
  active_tracer = state_->outer;
}

Tracer& Tracer::active(std::string_view user) {
  if (active_tracer == nullptr)
    fail(ErrorKind::trace, user,
         ": traced values exist while a @nova.kernel function runs; outside of it use "
         "tensors");
  return *active_tracer;
}

std::uint32_t Tracer::parameter(std::string_view name, Row row, Reach reach, bool is_static) {
  state_->require(reach != Reach::value || width_of(row) == 1, "'", name, "': a number has one component");
  state_->parameters.push_back({name, row, reach, is_static});
  return static_cast<std::uint32_t>(state_->parameters.size() - 1);
}

Row Tracer::row_of_parameter(std::uint32_t parameter) const {
  return state_->parameters.at(parameter).row;
}

// The draft's argument for a use; made when it is new.
std::uint32_t Tracer::State::use(const Use& wanted) {
  const auto known = std::find_if(uses.begin(), uses.end(), [&](const Use& u) {
    return u.parameter == wanted.parameter && u.index == wanted.index && u.column == wanted.column;
  });
  if (known != uses.end()) return static_cast<std::uint32_t>(known - uses.begin());
  const Parameter& p = parameters[wanted.parameter];
  require(uses.size() < Program::kMaxArguments, "the kernel reaches its arguments in more than ",
          Program::kMaxArguments, " ways");
  Argument argument{.name = p.name,
                    .row = p.row,
                    .reach = wanted.index == kNone ? p.reach : Reach::gather,
                    .differentiable = is_float(p.row) && p.reach != Reach::value,
                    .is_static = p.is_static};
  if (wanted.index != kNone) argument.index = use({wanted.index}), argument.first_column = wanted.column;
  draft().arguments.push_back(argument);
  uses.push_back(wanted);
  return static_cast<std::uint32_t>(uses.size() - 1);
}

std::vector<std::uint32_t> Tracer::State::inputs_of(std::uint32_t argument, std::uint8_t stage) {
  std::vector<std::uint32_t> out;
  const Row row = draft().arguments[argument].row;
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(width_of(row)); ++k) {
    out.push_back(static_cast<std::uint32_t>(draft().nodes.size()));
    draft().nodes.push_back({.op = Op::input, .type = type_of(row), .stage = stage, .a = argument, .b = k});
  }
  return out;
}

std::vector<std::uint32_t> Tracer::read(std::uint32_t parameter) {
  const Parameter& p = state_->parameters.at(parameter);
  const bool loop = p.reach == Reach::domain;
  state_->require(!loop || state_->in_loop, "'", p.name.view(),
                  "' is a table; read its rows in 'for s in nova.domain(", p.name.view(), "):'");
  return state_->inputs_of(state_->use({parameter}), loop ? 1 : 0);
}

// The index parameter and column that an integer was read from.
std::pair<std::uint32_t, std::uint32_t> Tracer::State::index_column(Int index, std::string_view user) {
  const Node* const node = index.node < draft().nodes.size() ? &draft().nodes[index.node] : nullptr;
  const bool is_argument = node != nullptr && node->op == Op::input && uses[node->a].index == kNone &&
                           draft().arguments[node->a].reach == Reach::row;
  require(is_argument, "'", user,
          "' is reached through an integer that is not an argument's own; give an argument nova.rows[int] or "
          "nova.rows[nova.ivec2], and use it or its components as they are");
  return {uses[node->a].parameter, node->b};
}

std::vector<std::uint32_t> Tracer::gather(Nodes value, Int index) {
  const Program& draft = state_->draft();
  const auto is_read = [&] {
    const Node& first = draft.nodes.at(value[0]);
    if (first.op != Op::input || state_->uses[first.a].index != kNone) return false;
    const Argument& argument = draft.arguments[first.a];
    if (argument.reach != Reach::row || value.size() != static_cast<std::size_t>(width_of(argument.row)))
      return false;
    for (std::uint32_t k = 0; k < value.size(); ++k)
      if (const Node& n = draft.nodes[value[k]]; n.op != Op::input || n.a != first.a || n.b != k)
        return false;
    return true;
  };
  state_->require(is_read(),
                  "[ ] with a traced integer reads another row of an argument nova.rows[T]; this value "
                  "is not an argument as it was given");
  const std::uint32_t parameter = state_->uses[draft.nodes[value[0]].a].parameter;
  const auto [index_parameter, column] =
      state_->index_column(index, state_->parameters[parameter].name.view());
  return state_->inputs_of(state_->use({parameter, index_parameter, column}), 0);
}

std::uint32_t Tracer::output(std::string_view name, Row row) {
  state_->outputs.push_back({.name = name, .row = row, .value = {}, .added = {}});
  return static_cast<std::uint32_t>(state_->outputs.size() - 1);
}

Row Tracer::row_of(std::uint32_t output) const {
  return state_->outputs.at(output).row;
}

void Tracer::State::check_value(const Declared& output, Nodes value) const {
  require(!in_loop, "output '", output.name.view(), "' is written in a domain loop; write it after the loop");
  require(value.size() == static_cast<std::size_t>(width_of(output.row)), "output '", output.name.view(),
          "' takes ", width_of(output.row), " numbers a row, ", value.size(), " were given");
}

void Tracer::set(std::uint32_t output, Nodes value) {
  Declared& o = state_->outputs.at(output);
  state_->check_value(o, value);
  o.value.assign(value.begin(), value.end());
}

void Tracer::sum(std::uint32_t output, Nodes value) {
  set(output, value);
  state_->outputs[output].write = Write::sum;
}

void Tracer::add(std::uint32_t output, Nodes value, bool subtract) {
  Declared& o = state_->outputs.at(output);
  state_->check_value(o, value);
  state_->require(o.added.empty() || o.added[0].index == kRowOutput, "output '", o.name.view(),
                  "' is added to both at row e and through an index; use two outputs");
  o.added.push_back({.value = {value.begin(), value.end()}, .subtract = subtract});
}

void Tracer::scatter(std::uint32_t output, Int index, Nodes value, bool subtract) {
  Declared& o = state_->outputs.at(output);
  state_->check_value(o, value);
  const auto [parameter, column] = state_->index_column(index, o.name.view());
  for (const Added& other : o.added) {
    state_->require(other.index != kRowOutput, "output '", o.name.view(),
                    "' is added to both at row e and through an index; use two outputs");
    state_->require(other.index == parameter, "output '", o.name.view(), "' is scattered through '",
                    state_->parameters[other.index].name.view(), "' and '",
                    state_->parameters[parameter].name.view(), "'; put both into one index argument");
  }
  o.added.push_back({parameter, column, {value.begin(), value.end()}, subtract});
}

std::uint32_t Tracer::total(Nodes init) {
  state_->require(!state_->in_loop && !state_->loop_done, "nova.total is made before the domain loop");
  Program& draft = state_->draft();
  const Total total{static_cast<std::uint32_t>(draft.reductions.size()),
                    static_cast<std::uint32_t>(init.size())};
  for (const std::uint32_t node : init) {
    state_->require(draft.nodes.at(node).type == ValueType::f32, "nova.total sums float32 values");
    draft.reductions.push_back({.init = node});
  }
  state_->totals.push_back(total);
  return static_cast<std::uint32_t>(state_->totals.size() - 1);
}

void Tracer::begin_loop() {
  state_->require(!state_->in_loop && !state_->loop_done,
                  "a kernel has one domain loop; write a second kernel, or one loop over both tables");
  state_->builder.begin_loop({});
  state_->in_loop = true;
}

void Tracer::accumulate(std::uint32_t total, Nodes term, Mask mask, bool subtract) {
  state_->require(state_->in_loop, "nova.total is added to inside 'for s in nova.domain(...):'");
  const Total& t = state_->totals.at(total);
  state_->require(term.size() == t.count, "the total has ", t.count, " numbers, ", term.size(),
                  " were added");
  for (std::uint32_t k = 0; k < t.count; ++k)
    state_->draft().steps.push_back(
        {.reduction = t.first + k, .term = term[k], .mask = mask.node, .subtract = subtract});
}

void Tracer::end_loop() {
  state_->results = state_->builder.end_loop();
  state_->in_loop = false, state_->loop_done = true;
}

std::vector<std::uint32_t> Tracer::result(std::uint32_t total) {
  state_->require(state_->loop_done, "the value of a nova.total is known after the domain loop");
  const Total& t = state_->totals.at(total);
  const auto first = state_->results.begin() + t.first;
  return {first, first + t.count};
}

// The program's output. What is added to one column is summed first; where anything else than subtractions
// occurs, all become additions: a - b and a + (-b) are the same bits.
Output Tracer::State::written(Declared& output, Program& program) {
  Output out{.name = output.name, .row = output.row, .write = output.write};
  const auto width = static_cast<std::size_t>(width_of(output.row));
  out.first_value = static_cast<std::uint32_t>(program.values.size());
  if (output.added.empty()) {
    require(!output.value.empty(), "output '", output.name.view(), "' is never written");
    if (output.write == Write::sum) out.reach = Reach::uniform;
    program.values.insert(program.values.end(), output.value.begin(), output.value.end());
    return out;
  }
  const auto is_sub = [](const Added& a) { return a.subtract; };
  const bool scattered = output.added[0].index != kRowOutput;
  const bool subtract = scattered && std::all_of(output.added.begin(), output.added.end(), is_sub);
  out.write = !scattered ? Write::add : subtract ? Write::scatter_sub : Write::scatter_add;
  const auto by_column = [](const Added& a, const Added& b) { return a.column < b.column; };
  const auto [low, high] = std::minmax_element(output.added.begin(), output.added.end(), by_column);
  out.columns = static_cast<std::uint8_t>(high->column - low->column + 1);
  if (scattered) {
    out.reach = Reach::gather, out.index = use({output.added[0].index});
    out.first_column = low->column;
  }
  std::vector<std::uint32_t> values(out.columns * width, kNone);
  for (const Added& a : output.added)
    for (std::size_t k = 0; k < width; ++k) {
      std::uint32_t& sum = values[(a.column - low->column) * width + k];
      const bool minus = a.subtract != subtract;
      if (sum == kNone)
        sum = minus ? trace(Op::neg, ValueType::f32, a.value[k]) : a.value[k];
      else
        sum = trace(minus ? Op::sub : Op::add, ValueType::f32, sum, a.value[k]);
    }
  program.values.insert(program.values.end(), values.begin(), values.end());
  return out;
}

void Tracer::State::add_outputs(TracedKernel& out) {
  for (std::uint32_t k = 0; k < outputs.size(); ++k) {
    const Output output = written(outputs[k], draft());
    draft().outputs.push_back(output);
    out.outputs.push_back(k);
  }
}

// Arguments of the draft become those of the program: in the order of the parameters, integer rows that
// others go through at the end, columns that follow each other in one argument, unused ones dropped.
void Tracer::State::order_arguments(Program& program, TracedKernel& out) const {
  std::vector<bool> read(uses.size()), through(uses.size());
  for (const Node& node : program.nodes)
    if (node.op == Op::input) read[node.a] = true;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (read[i] && uses[i].index != kNone) through[program.arguments[i].index] = true;
  for (const Output& o : program.outputs)
    if (o.reach == Reach::gather) through[o.index] = true;

  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < uses.size(); ++i)
    if (read[i] || through[i]) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(static_cast<bool>(through[i]), uses[i].parameter, uses[i].index + 1, uses[i].column);
    };
    return key(a) < key(b);
  });

  std::vector<std::uint32_t> place(uses.size(), kNone), column(uses.size(), 0);
  std::vector<Argument> arguments;
  const Use* last = nullptr;
  for (const std::uint32_t i : order) {
    const Use& u = uses[i];
    const bool follows = last != nullptr && u.index != kNone && last->parameter == u.parameter &&
                         last->index == u.index && last->column + 1 == u.column;
    if (follows) {
      column[i] = arguments.back().columns++;
    } else {
      arguments.push_back(program.arguments[i]);
      out.inputs.push_back(u.parameter);
    }
    place[i] = static_cast<std::uint32_t>(arguments.size() - 1);
    last = &u;
  }
  for (Argument& a : arguments)
    if (a.index != kNone) a.index = place[a.index];
  for (Output& o : program.outputs)
    if (o.index != kNone) o.index = place[o.index];
  for (Node& node : program.nodes) {
    if (node.op != Op::input) continue;
    node.b += column[node.a] * static_cast<std::uint32_t>(width_of(program.arguments[node.a].row));
    node.a = place[node.a];
  }
  program.arguments = std::move(arguments);
}

TracedKernel Tracer::finish() {
  TracedKernel out;
  state_->add_outputs(out);
  verify(state_->draft());
  Program program = simplify(state_->draft());
  state_->order_arguments(program, out);
  out.kernel = compile(program);
  return out;
}

}  // namespace nova
