// SPDX-License-Identifier: Apache-2.0
// The generator: records a plugin's stock kernels and writes them as C++, a source for each instruction set
// and a table. Arguments: a folder, the name of the table, then instruction sets ("base", "v3", "v4").
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "aot/write_source.hpp"
#include "nova/kernel/compiled.hpp"
#include "nova/kernel/program_hash.hpp"
#include "novaphy/nova/stock_kernels.hpp"

namespace nova::aot {
namespace {

constexpr const char* kNotice =
    "// SPDX-License-Identifier: Apache-2.0\n// Written by the build; see "
    "novaphy/nova/compiled_kernels.hpp.\n";

struct Function {
  std::uint64_t program = 0;
  std::string name, text;
};

std::vector<Function> functions_of(const std::vector<StockKernel>& kernels) {
  std::vector<Function> out;
  std::unordered_set<std::uint64_t> known;
  const auto add = [&](const Program& program, const Code& code) {
    const std::uint64_t hash = hash_of(program);
    if (!known.insert(hash).second) return;
    const std::string name = "kernel_" + std::to_string(out.size());
    out.push_back({hash, name, function_text(code, program.name.c_str(), name)});
  };
  for (const StockKernel& stock : kernels) {
    const Kernel::Compiled& kernel = *stock.kernel.compiled();
    add(kernel.program, kernel.code);
    for (const Masks& masks : stock.adjoints) {
      const Adjoint& adjoint = kernel.adjoint(masks.wanted, masks.seeded);
      add(adjoint.program, adjoint.code);
    }
  }
  return out;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  NOVAPHY_REQUIRE(file.good(), novaphy::ErrorKind::generic, "novaphy_generate_kernels: could not write '",
                  path, "'");
}

std::string source_of(const std::vector<Function>& functions, const std::string& table,
                      const std::string& set) {
  std::string text = kNotice;
  text += "#include \"nova/backend/block.hpp\"\n\nnamespace nova::machine {\nnamespace {\n\n";
  for (const Function& f : functions) text += f.text + "\n";
  text +=
      "}  // namespace\n\nusing Compiled = void (*)(const Binding&, const PatchView&, std::int64_t, "
      "std::int64_t);\n";
  text +=
      "extern const Compiled " + table + "_" + set + "[];\nconst Compiled " + table + "_" + set + "[] = {";
  for (const Function& f : functions) text += f.name + ", ";
  return text + "};\n\n}  // namespace nova::machine\n";
}

std::string table_of(const std::vector<Function>& functions, const std::string& table,
                     std::span<const std::string> sets) {
  std::string text = kNotice;
  text += "#include \"novaphy/nova/compiled_kernels.hpp\"\n\nnamespace nova::machine {\n";
  for (const std::string& set : sets) text += "extern const CompiledRun " + table + "_" + set + "[];\n";
  text += "}  // namespace nova::machine\n\nnamespace {\n\nconst nova::CompiledKernel kernels[] = {\n";
  for (std::size_t k = 0; k < functions.size(); ++k) {
    text += "    {.program = " + std::to_string(functions[k].program) + "u";
    for (const std::string& set : sets)
      text += ", ." + set + " = nova::machine::" + table + "_" + set + "[" + std::to_string(k) + "]";
    text += "},\n";
  }
  return text +
         "};\n\n[[maybe_unused]] const bool added = (nova::add_compiled_kernels(kernels), true);\n\n}  // "
         "namespace\n";
}

int run(std::span<const std::string> arguments) {
  const std::string &folder = arguments[0], &table = arguments[1];
  const std::span<const std::string> sets = arguments.subspan(2);
  const std::vector<Function> functions = functions_of(stock_kernels());
  for (const std::string& set : sets)
    write(folder + "/" + table + "_" + set + ".cpp", source_of(functions, table, set));
  write(folder + "/" + table + "_table.cpp", table_of(functions, table, sets));
  return 0;
}

}  // namespace
}  // namespace nova::aot

int main(int argc, char** argv) {
  try {
    if (argc < 4) {
      std::cerr << "usage: generate FOLDER TABLE SET...\n";
      return 2;
    }
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return nova::aot::run(arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
