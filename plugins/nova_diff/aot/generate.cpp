// SPDX-License-Identifier: Apache-2.0
// The generator: records a plugin's stock kernels and writes them as C++, a source for each instruction set
// and a table. Arguments: "programs" or "rows", a folder, the name of the table, then instruction sets
// ("base", "v3", "v4"). Programs are found by Nova at a launch; rows are plain functions, which need no Nova
// to run.
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <set>
#include <vector>

#include "aot/write_source.hpp"
#include "nova/kernel/compiled.hpp"
#include "nova/kernel/program_hash.hpp"
#include "novaphy/nova/stock_kernels.hpp"

namespace nova::aot {
namespace {

constexpr const char* kNotice =
    "// SPDX-License-Identifier: Apache-2.0\n// Written by the build; see plugin nova_diff, aot/.\n";

struct Function {
  std::vector<std::uint32_t> program;
  std::string name, text;
};

std::vector<Function> functions_of(const std::vector<StockKernel>& kernels) {
  std::vector<Function> out;
  std::set<std::vector<std::uint32_t>> known;
  const auto add = [&](const Program& program, const Code& code) {
    std::vector<std::uint32_t> identity = identity_of(program);
    if (!known.insert(identity).second) return;
    const std::string name = "kernel_" + std::to_string(out.size());
    out.push_back({std::move(identity), name, function_text(code, program.name.c_str(), name)});
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

Function row_function_of(const StockKernel& stock) {
  const Kernel::Compiled& kernel = *stock.kernel.compiled();
  return {identity_of(kernel.program), stock.row_kernel,
          row_function_text(kernel.code, kernel.program.name.c_str(), stock.row_kernel)};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  NOVAPHY_REQUIRE(file.good(), novaphy::ErrorKind::generic, "novaphy_generate_kernels: could not write '",
                  path, "'");
}

/// How the functions of a table are called.
struct Form {
  const char *signature, *header, *type;
};
constexpr Form kPrograms{"const Binding&, const PatchView&, std::int64_t, std::int64_t",
                         "novaphy/nova/compiled_kernels.hpp", "nova::CompiledRun"};
constexpr Form kRows{"const void* const*, void* const*, std::int64_t, std::int64_t", "novaphy/row_kernel.hpp",
                     "novaphy::RowFunction"};

std::string source_of(const std::vector<Function>& functions, const Form& form, const std::string& table,
                      const std::string& set) {
  std::string text = kNotice;
  text += "#include \"nova/backend/block.hpp\"\n\nnamespace nova::machine {\nnamespace {\n\n";
  for (const Function& f : functions) text += f.text + "\n";
  text += "}  // namespace\n\nusing Compiled = void (*)(" + std::string(form.signature) + ");\n";
  text +=
      "extern const Compiled " + table + "_" + set + "[];\nconst Compiled " + table + "_" + set + "[] = {";
  for (const Function& f : functions) text += f.name + ", ";
  return text + "};\n\n}  // namespace nova::machine\n";
}

// Declares the functions; the table itself follows.
std::string table_begin(const Form& form, const std::string& table, std::span<const std::string> sets) {
  std::string text = kNotice;
  text += "#include \"" + std::string(form.header) + "\"\n\nnamespace nova::machine {\n";
  for (const std::string& set : sets)
    text += "extern const " + std::string(form.type) + " " + table + "_" + set + "[];\n";
  return text + "}  // namespace nova::machine\n\n";
}

// ".base = ..., .v3 = ..." of function k.
std::string entries_of(std::size_t k, const std::string& table, std::span<const std::string> sets) {
  std::string text;
  for (const std::string& set : sets)
    text += ", ." + set + " = nova::machine::" + table + "_" + set + "[" + std::to_string(k) + "]";
  return text;
}

std::string words_of(const Function& function, std::size_t k) {
  std::string text = "constexpr std::uint32_t program_" + std::to_string(k) + "[] = {";
  for (const std::uint32_t word : function.program) text += std::to_string(word) + "u,";
  return text + "};\n";
}

std::string table_of_programs(const std::vector<Function>& functions, const std::string& table,
                              std::span<const std::string> sets) {
  std::string text = table_begin(kPrograms, table, sets);
  text += "namespace {\n\n";
  for (std::size_t k = 0; k < functions.size(); ++k) text += words_of(functions[k], k);
  text += "\nconst nova::CompiledKernel kernels[] = {\n";
  for (std::size_t k = 0; k < functions.size(); ++k)
    text += "    {.program = program_" + std::to_string(k) + entries_of(k, table, sets) + "},\n";
  return text +
         "};\n\n[[maybe_unused]] const bool added = (nova::add_compiled_kernels(kernels), true);\n\n}  // "
         "namespace\n";
}

std::string table_of_rows(const std::vector<Function>& functions, const std::string& table,
                          std::span<const std::string> sets) {
  std::string text = table_begin(kRows, table, sets);
  text += "namespace novaphy {\n\nstd::span<const RowKernel> " + table + "();\nstd::span<const RowKernel> " +
          table + "() {\n  static const RowKernel kernels[] = {\n";
  for (std::size_t k = 0; k < functions.size(); ++k)
    text += "      {.name = \"" + functions[k].name + "\"" + entries_of(k, table, sets) + "},\n";
  return text + "  };\n  return kernels;\n}\n\n}  // namespace novaphy\n";
}

int run(std::span<const std::string> arguments) {
  const bool rows = arguments[0] == "rows";
  const std::string &folder = arguments[1], &table = arguments[2];
  const std::span<const std::string> sets = arguments.subspan(3);
  std::vector<Function> functions;
  if (!rows) functions = functions_of(stock_kernels());
  if (rows)
    for (const StockKernel& stock : stock_kernels()) functions.push_back(row_function_of(stock));
  for (const std::string& set : sets)
    write(folder + "/" + table + "_" + set + ".cpp",
          source_of(functions, rows ? kRows : kPrograms, table, set));
  write(folder + "/" + table + "_table.cpp",
        rows ? table_of_rows(functions, table, sets) : table_of_programs(functions, table, sets));
  return 0;
}

}  // namespace
}  // namespace nova::aot

int main(int argc, char** argv) {
  try {
    if (argc < 5) {
      std::cerr << "usage: generate programs|rows FOLDER TABLE SET...\n";
      return 2;
    }
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return nova::aot::run(arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
