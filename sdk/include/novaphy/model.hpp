// SPDX-License-Identifier: Apache-2.0
// The data that every solver reads: Model (fixed topology), SimState, Control, Contacts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/array.hpp"
#include "novaphy/export.hpp"
#include "novaphy/math.hpp"
#include "novaphy/types.hpp"

namespace novaphy {

class SimState;
class Control;
class Contacts;

/// A row of the tables in *_arrays.inc, or of a custom array.
struct ArrayInfo {
  std::string name;
  DType dtype = DType::f32;
  Frequency frequency = Frequency::once;
  int width = 1;
  std::string doc{};
};

/// Which object a custom array belongs to.
enum class ArrayOwner : int { model = 0, state, control, contacts };

/// An array that a user or a plugin adds beside ours. Rows follow `info.frequency`.
struct CustomArray {
  ArrayInfo info;
  ArrayOwner owner = ArrayOwner::model;
  std::vector<float> default_row{};  ///< `info.width` values
};

/// The arrays of the tables in *_arrays.inc that belong to `owner`, in order.
NOVAPHY_API std::span<const ArrayInfo> built_in_arrays(ArrayOwner owner);

/// A named set of arrays: what Model, SimState, Control and Contacts have in common. Views, dump, clone, pickling and
/// bindings walk it; custom arrays come after the built-in ones.
class NOVAPHY_API ArraySet {
 public:
  virtual ~ArraySet();
  using Visitor = std::function<void(const ArrayInfo& info, DeviceArray& array)>;
  using ConstVisitor = std::function<void(const ArrayInfo& info, const DeviceArray& array)>;
  virtual void visit(const Visitor& visitor) = 0;
  void visit(const ConstVisitor& visitor) const;
  /// The array of that name, null when there is none.
  DeviceArray* find(std::string_view name);
  const DeviceArray* find(std::string_view name) const;

  struct Custom { CustomArray spec; DeviceArray array; };
  std::vector<Custom> custom_arrays;
};

/// Everything that does not change during a rollout: topology and parameters. Made by ModelBuilder::finalize(); always held
/// by a shared_ptr. Numbers may be assigned after finalize, counts may not.
class NOVAPHY_API Model : public ArraySet, public std::enable_shared_from_this<Model> {
 public:
  Model();
  ~Model() override;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

#define X(name, dtype, frequency, width, doc) DeviceArray name;
#include "novaphy/model_arrays.inc"

  int particle_count = 0, spring_count = 0, tri_count = 0, edge_count = 0, tet_count = 0, muscle_count = 0;
  int body_count = 0, shape_count = 0, joint_count = 0, joint_coord_count = 0, joint_dof_count = 0, articulation_count = 0;
  int world_count = 1;
  Axis up_axis = Axis::Z;
  Device device;
  bool requires_grad = false;      ///< states and parameters keep their gradients
  float particle_max_velocity = 1e5f;  ///< m/s
  float particle_max_radius = 0.0f;    ///< m
  /// Particles act on each other where they touch (particle_contact_material). `particle_grid` in Python.
  bool particles_collide = false;

  std::vector<std::string> body_label, shape_label, joint_label, articulation_label, world_label;
  std::vector<CustomArray> custom_array_specs;  ///< of all owners, in order of creation

  using ArraySet::visit;
  void visit(const Visitor& visitor) override;

  /// Rows of an array with this frequency (soft_contact, rigid_contact and particle_shape belong to Contacts: 0 here).
  std::int64_t rows_of(Frequency frequency) const;
  /// Changes whenever an array of the model is written: the sum of the arrays' versions.
  std::uint64_t version() const;

  /// A state with the model's start values. `requires_grad` empty = the model's own flag. States are numbered in messages.
  std::shared_ptr<SimState> state(std::optional<bool> requires_grad = {}) const;
  std::shared_ptr<Control> control(std::optional<bool> requires_grad = {}) const;
  /// Buffers for at most this many contacts.
  std::shared_ptr<Contacts> contacts(int soft_contact_max, int rigid_contact_max) const;
  /// gravity for one world, or for all. Throws Error(index).
  void set_gravity(const Vec3f& gravity, std::optional<int> world = {});
  /// Adds an array to this model (owner model) and to objects that are made from now on (other owners). Throws
  /// Error(value) when the name exists, is not an identifier, or the default row does not fit.
  void add_custom_array(const CustomArray& spec);
  std::shared_ptr<Model> clone() const;

 private:
  friend class ModelBuilder;
  friend class SimState;
  std::shared_ptr<int> states_made_ = std::make_shared<int>(0);  // shared with the states, whose clones are numbered too
};

/// What changes in every step.
class NOVAPHY_API SimState : public ArraySet {
 public:
  SimState();
  ~SimState() override;
#define X(name, dtype, frequency, width, doc) DeviceArray name;
#include "novaphy/state_arrays.inc"
  int index = -1;               ///< number in messages: "state #3"
  bool requires_grad = false;

  using ArraySet::visit;
  void visit(const Visitor& visitor) override;
  int particle_count() const { return static_cast<int>(particle_q.rows()); }
  int body_count() const { return static_cast<int>(body_q.rows()); }
  /// Zeroes particle_f and body_f.
  void clear_forces();
  /// Copies all arrays of `other`; same counts. Throws Error(shape_mismatch).
  void assign(const SimState& other);
  std::shared_ptr<SimState> clone() const;
  /// Whether another model than this one made the state, or that of which it is a clone. Pickled states know none: false.
  bool is_of_another_model(const Model& model) const noexcept;
  /// Throws Error naming the first array, row and value that is not finite.
  void check_finite() const;

 private:
  friend class Model;
  std::shared_ptr<int> states_made_;  // of the model
};

/// What a controller sets.
class NOVAPHY_API Control : public ArraySet {
 public:
  Control();
  ~Control() override;
#define X(name, dtype, frequency, width, doc) DeviceArray name;
#include "novaphy/control_arrays.inc"
  using ArraySet::visit;
  void visit(const Visitor& visitor) override;
  void clear();
  std::shared_ptr<Control> clone() const;
};

/// Contact records. Made by a collision pipeline, or by Model::contacts().
class NOVAPHY_API Contacts : public ArraySet {
 public:
  Contacts();
  ~Contacts() override;
#define X(name, dtype, frequency, width, doc) DeviceArray name;
#include "novaphy/contacts_arrays.inc"
  int soft_contact_max = 0, rigid_contact_max = 0;
  int particle_count = 0, shape_count = 0;  ///< of the model that they belong to
  bool soft_contact_overflow = false, rigid_contact_overflow = false;
  /// Raised by every collide() and clear(): a recording keeps one copy of the records per value.
  std::uint64_t generation = 0;
  /// That copy; the runtime never looks inside.
  mutable std::shared_ptr<void> recorded_copy;

  /// What the last collide() computed the records from, noted while a recording was open: a recorded step can
  /// then differentiate through the records. `recording` 0 = none was open: the records are constants.
  struct Origin {
    DeviceArray particle_q, body_q, shape_transform, shape_scale;
    std::uint64_t versions = 0;  ///< sum of theirs and of the records', when collide() returned
    std::uint64_t recording = 0;
  };
  Origin origin;
  /// The sum of the versions of what `origin` holds and of the records.
  std::uint64_t origin_versions() const;

  using ArraySet::visit;
  void visit(const Visitor& visitor) override;
  /// Records in use: min(count, max).
  int soft_contacts_used() const;
  int rigid_contacts_used() const;
  /// No contacts; tids = -1.
  void clear();
  std::shared_ptr<Contacts> clone() const;
};

}  // namespace novaphy
