// SPDX-License-Identifier: Apache-2.0
// Programs as bytes: they come back as they were, damaged ones are refused by name or harmless, and the
// numbers in them never change their meaning.
#include "novaphy/nova/program_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "random_program.hpp"
#include "test_kernels.hpp"
#include "use_program.hpp"

namespace nova::test {

namespace {

bool same(const Argument& a, const Argument& b) {
  return a.name == b.name && a.row == b.row && a.reach == b.reach && a.columns == b.columns &&
         a.differentiable == b.differentiable && a.is_static == b.is_static && a.index == b.index &&
         a.first_column == b.first_column;
}
bool same(const Output& a, const Output& b) {
  return a.name == b.name && a.row == b.row && a.write == b.write && a.reach == b.reach &&
         a.columns == b.columns && a.stage == b.stage && a.index == b.index &&
         a.first_column == b.first_column && a.first_value == b.first_value;
}
bool same(const Reduction& a, const Reduction& b) {
  return a.init == b.init && a.stage == b.stage;
}
bool same(const ReductionStep& a, const ReductionStep& b) {
  return a.reduction == b.reduction && a.term == b.term && a.mask == b.mask && a.subtract == b.subtract;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}
bool same(const Program& a, const Program& b) {
  return a.name == b.name && a.nodes == b.nodes && same(a.arguments, b.arguments) &&
         same(a.outputs, b.outputs) && a.values == b.values && same(a.reductions, b.reductions) &&
         same(a.steps, b.steps);
}

Program drag() {
  return record_rows(
      {.name = "drag", .in = {in("v", Row::vec3), in("c", Row::f32).uniform()}, .out = {out("f", Row::vec3)}},
      [](KernelScope& k) { k.write("f", k.vec3("v") * -k.f32("c")); });
}

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t k = 0; k < 4; ++k) bytes[at + k] = static_cast<std::byte>(value >> (8 * k) & 0xFF);
}

/// One to three bytes, words or lengths are others.
void damage(std::vector<std::byte>& bytes, std::mt19937& rng) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(rng); };
  const std::size_t wounds = 1 + below(3);
  for (std::size_t i = 0; i < wounds && !bytes.empty(); ++i) {
    // the name is left alone, so that messages can be looked at; now and then it is not
    const std::size_t first = below(20) == 0 ? 0 : below(4) == 0 ? 80 : ProgramLayout::kHeader;
    switch (below(8)) {
      case 0:
        bytes.resize(below(bytes.size() + 1));
        break;
      case 1:
        bytes.resize(bytes.size() + 1 + below(64));
        break;
      case 2:
      case 3:
        if (bytes.size() >= first + 4) {
          const std::size_t at = first + below((bytes.size() - first) / 4) * 4;
          put(bytes, at,
              below(2) == 0 ? static_cast<std::uint32_t>(rng()) : static_cast<std::uint32_t>(below(30)));
        }
        break;
      default:
        if (bytes.size() > first)
          bytes[first + below(bytes.size() - first)] =
              static_cast<std::byte>(below(2) == 0 ? below(256) : below(8));
    }
  }
}

}  // namespace

TEST_CASE("random programs come back from their bytes as they were") {
  std::mt19937 rng(5);
  for (int round = 0; round < 1000; ++round) {
    const Program program =
        RandomProgram(rng, std::uniform_int_distribution<int>(5, 80)(rng), Flavour::any).program;
    const std::vector<std::byte> bytes = serialize(program);
    CHECK(bytes.size() % 8 == 0);
    const Program back = deserialize(bytes);
    if (!same(program, back)) FAIL("round ", round, ": another program came back\n", listing(program));
    CHECK(serialize(back) == bytes);
  }
}

TEST_CASE("damaged byte programs are refused by name or harmless") {
  std::mt19937 rng(2027);
  const int rounds = damaged_rounds();
  int refused = 0, ran = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::byte> bytes = serialize(RandomProgram(rng, 10, Flavour::any).program);
    damage(bytes, rng);
    try {
      use(compile(deserialize(bytes)), rng);
      ++ran;
    } catch (const Error& error) {
      ++refused;
      const std::string text = error.what();
      const bool named =
          text.starts_with("program '") || text.starts_with("nova: these bytes are no program: ") ||
          text.find("random") != std::string::npos || text.find("name does not end") != std::string::npos;
      if (!named) FAIL("round ", round, ": ", text);
    }
  }
  CHECK(refused > rounds / 4);
  CHECK(ran > rounds / 20);
}

TEST_CASE("bytes that are no program, or one of another version, are told what is wrong with them") {
  const std::vector<std::byte> good = serialize(drag());
  const auto refuses = [&](ErrorKind kind, const std::string& text, auto change) {
    std::vector<std::byte> bad = good;
    change(bad);
    check_error(kind, text, [&] { compile(deserialize(bad)); });
  };
  using Bytes = std::vector<std::byte>;
  refuses(ErrorKind::value,
          "nova: these bytes are no program: there are 3, and a program begins with 104; write them with "
          "nova::serialize",
          [](Bytes& b) { b.resize(3); });
  refuses(ErrorKind::value,
          "nova: these bytes are no program: they do not begin with NVIR; write them with nova::serialize",
          [](Bytes& b) { b[0] = std::byte{'X'}; });
  refuses(ErrorKind::unsupported_feature, "program 'drag' needs Nova IR 1.3, this is 1.0",
          [](Bytes& b) { b[6] = std::byte{3}; });
  refuses(ErrorKind::unsupported_feature, "program 'drag' needs Nova IR 2.0, this is 1.0",
          [](Bytes& b) { b[4] = std::byte{2}; });
  const std::string size = std::to_string(good.size()), less = std::to_string(good.size() - 8);
  refuses(ErrorKind::value, "program 'drag': it has " + size + " bytes, " + less + " were given",
          [](Bytes& b) { b.resize(b.size() - 8); });
  refuses(ErrorKind::value,
          "program 'drag': its tables want " + std::to_string(good.size() + 16) + " bytes, it has " + size,
          [&](Bytes& b) { put(b, 84, static_cast<std::uint32_t>(drag().nodes.size()) + 1); });
  const std::size_t nodes = ProgramLayout::kHeader + 2 * ProgramLayout::kEntry[0];
  refuses(ErrorKind::value, "program 'drag': operation 0 has the unknown number 200",
          [&](Bytes& b) { b[nodes] = std::byte{200}; });
}

TEST_CASE("the numbers of the byte form keep their meaning") {
  const auto is = [](auto value, int number) { return static_cast<int>(value) == number; };
  const std::pair<Op, int> operations[] = {
      {Op::constant, 0}, {Op::input, 1},       {Op::reduced, 2},  {Op::add, 16},        {Op::sub, 17},
      {Op::mul, 18},     {Op::div, 19},        {Op::neg, 20},     {Op::fma, 21},        {Op::sqrt, 22},
      {Op::abs, 23},     {Op::min, 24},        {Op::max, 25},     {Op::zmul, 26},       {Op::zdiv, 27},
      {Op::mul_add, 28}, {Op::mul_sub, 29},    {Op::sub_mul, 30}, {Op::floor, 31},      {Op::sin, 32},
      {Op::cos, 33},     {Op::tan, 34},        {Op::asin, 35},    {Op::acos, 36},       {Op::atan2, 37},
      {Op::exp, 38},     {Op::log, 39},        {Op::pow, 40},     {Op::tanh, 41},       {Op::to_f32, 42},
      {Op::less, 48},    {Op::less_equal, 49}, {Op::equal, 50},   {Op::iless, 51},      {Op::iless_equal, 52},
      {Op::iequal, 53},  {Op::mask_and, 54},   {Op::mask_or, 55}, {Op::mask_not, 56},   {Op::select, 57},
      {Op::iadd, 80},    {Op::isub, 81},       {Op::imul, 82},    {Op::iand, 83},       {Op::ior, 84},
      {Op::ixor, 85},    {Op::idiv, 86},       {Op::imod, 87},    {Op::shift_left, 88}, {Op::shift_right, 89},
      {Op::to_i32, 90}};
  int known = 0;
  for (int number = 0; number < 256; ++number) known += name_of(static_cast<Op>(number)) != nullptr;
  CHECK(known ==
        static_cast<int>(std::size(operations)));  // a new one stands in this table too, and raises kIrMinor
  for (const auto& [op, number] : operations) CHECK_MESSAGE(is(op, number), name_of(op));
  const Row rows[] = {Row::f32,       Row::vec2,    Row::vec3,  Row::vec4,  Row::quat,
                      Row::transform, Row::spatial, Row::mat22, Row::mat33, Row::i32,
                      Row::ivec2,     Row::ivec3,   Row::ivec4, Row::flags, Row::u8,
                      Row::vec5};
  for (int k = 0; k < static_cast<int>(std::size(rows)); ++k) CHECK(is(rows[k], k));
  const Reach reaches[] = {Reach::row,    Reach::uniform, Reach::value,
                           Reach::domain, Reach::pair,    Reach::gather};
  for (int k = 0; k < static_cast<int>(std::size(reaches)); ++k) CHECK(is(reaches[k], k));
  const Write writes[] = {Write::set, Write::add, Write::scatter_add, Write::scatter_sub, Write::sum};
  for (int k = 0; k < static_cast<int>(std::size(writes)); ++k) CHECK(is(writes[k], k));
  CHECK((is(ValueType::f32, 0) && is(ValueType::i32, 1) && is(ValueType::mask, 2)));
  CHECK((kIrMajor == 1 && kIrMinor == 0));
}

}  // namespace nova::test
