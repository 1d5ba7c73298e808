//===- Native.cpp - fuseops._native: a program's call without ctypes -----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Call.run` reads tensors through DLPack's C exchange API, makes the outputs
// as a plan says, and runs the entry. It knows no framework: which types it may
// read and how outputs are made comes from Python (`fuseops.arrays`). Built for
// the limited API of Python 3.10, so that one file serves all later versions.
//
//===----------------------------------------------------------------------===//

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "Exchange.h"
#include "FuseOps-c/Runtime.h"

#include <dlfcn.h>
#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace fuseops::python;

namespace {

/// A counted reference.
class Ref {
public:
  Ref() = default;
  /// Takes over a new reference, or NULL.
  explicit Ref(PyObject *owned) : object(owned) {}
  Ref(Ref &&other) noexcept : object(other.release()) {}
  Ref &operator=(Ref &&other) noexcept {
    // Whatever the old object's end calls sees this one complete.
    PyObject *old = object;
    object = other.release();
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(object); }
  static Ref borrow(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject *get() const { return object; }
  explicit operator bool() const { return object != nullptr; }
  PyObject *release() {
    PyObject *released = object;
    object = nullptr;
    return released;
  }

private:
  PyObject *object = nullptr;
};

/// The functions of libfuseops_runtime, which Python has loaded.
struct Runtime {
  decltype(&fuseopsLastError) lastError;
  decltype(&fuseopsEntryInferSymbol) inferSymbol;
  decltype(&fuseopsEntryWorkspaceBytesFor) workspaceBytes;
  decltype(&fuseopsRun) run;
};

/// How tensors of one type are read.
struct TensorType {
  Ref type;
  /// NULL where they cannot be read here.
  const ExchangeAPI *api = nullptr;
  /// Says of a tensor whether its memory is not its values.
  Ref isLazy;

  /// What a thread works with: another one may change the list.
  TensorType copy() const {
    return {Ref::borrow(type.get()), api, Ref::borrow(isLazy.get())};
  }
};

/// How one output is made.
struct Output {
  enum Kind { None, Alias, New } kind = None;
  /// Of an alias: index among the inputs, then the outputs, and the arguments
  /// of `reshape`, NULL where it is the same object.
  Py_ssize_t source = 0;
  /// Of a new one: what to call.
  Ref function, arguments, keywords;
};

/// How the outputs are made for one symbol and device.
struct Plan {
  int64_t symbol;
  DLDevice device;
  std::vector<Output> outputs;
  /// Makes the workspace from its size.
  Ref workspace;
};

/// What a `Call` holds.
struct CallState {
  Runtime runtime;
  Ref owner, exchange, makePlan, error;
  fuseopsProgram *program = nullptr;
  int32_t entry = 0;
  /// The types that inputs must have.
  std::vector<DLDataType> dtypes;
  std::vector<std::string> names;
  std::vector<TensorType> types;
  /// Shared, because a thread may change the list while another one, that makes
  /// its outputs, uses a plan.
  std::vector<std::shared_ptr<const Plan>> plans;
};

struct CallObject {
  PyObject_HEAD CallState *state;
};

/// One run: what is read and what is made.
class Run {
public:
  Run(CallState &state, PyObject *tensors, Py_ssize_t numInputs)
      : state(state), tensors(tensors), numInputs(numInputs) {}

  /// The outputs; None where an input cannot be read here; NULL after an
  /// exception.
  PyObject *operator()();

private:
  enum class Reading { Done, Impossible, Failed };

  Reading readInputs();
  std::shared_ptr<const Plan> findPlan(int64_t symbol);
  PyObject *makeOutput(const Output &output, DLTensor *view);
  bool check(fuseopsStatus status);
  PyObject *getSource(Py_ssize_t index) {
    return index < numInputs
               ? PyTuple_GetItem(tensors, index)
               : PyTuple_GetItem(outputs.get(), index - numInputs);
  }

  CallState &state;
  PyObject *tensors;
  Py_ssize_t numInputs;
  /// Of the first input, for the outputs and the stream.
  const ExchangeAPI *api = nullptr;
  std::vector<DLTensor> views;
  std::vector<const DLTensor *> pointers;
  Ref outputs;
};

} // namespace

// The plans that a call keeps; a batch size of its own for each is rare.
static constexpr size_t kMaxPlans = 64;
static constexpr size_t kMaxTypes = 16;

/// Makes the current exception a sentence about an input.
static void explainFailure(CallState &state, const std::string &name,
                           PyObject *tensor) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  Ref refs[] = {Ref(type), Ref(value), Ref(traceback)};
  Ref kind(PyObject_GetAttrString(reinterpret_cast<PyObject *>(Py_TYPE(tensor)),
                                  "__name__"));
  Ref text(PyObject_Str(value ? value : Py_None));
  // A stack of C++ functions may follow the first line.
  Ref lines(text ? PyUnicode_Splitlines(text.get(), 0) : nullptr);
  Ref line(lines ? PySequence_GetItem(lines.get(), 0) : nullptr);
  if (kind && line)
    PyErr_Format(state.error.get(),
                 "expected `%s` to be a tensor with memory, but got %S: %S",
                 name.c_str(), kind.get(), line.get());
}

/// Asks Python once how tensors of a type are read. Without a type after an
/// exception.
static TensorType findType(CallState &state, PyObject *tensor) {
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(tensor));
  for (const TensorType &known : state.types)
    if (known.type.get() == type)
      return known.copy();
  Ref answer(PyObject_CallFunctionObjArgs(state.exchange.get(), type, nullptr));
  if (!answer)
    return {};
  TensorType added;
  added.type = Ref::borrow(type);
  if (answer.get() != Py_None) {
    PyObject *capsule, *isLazy;
    if (!PyArg_ParseTuple(answer.get(), "OO", &capsule, &isLazy))
      return {};
    auto *api = static_cast<const ExchangeAPI *>(
        PyCapsule_GetPointer(capsule, kExchangeName));
    if (!api)
      return {};
    while (api && api->major != kExchangeMajor)
      api = api->previous;
    if (api && api->viewOfPyObject && api->currentStream)
      added.api = api;
    added.isLazy = Ref::borrow(isLazy);
  }
  if (state.types.size() == kMaxTypes)
    state.types.clear();
  state.types.push_back(added.copy());
  return added;
}

bool Run::check(fuseopsStatus status) {
  if (status == FUSEOPS_OK)
    return true;
  PyErr_SetString(state.error.get(), state.runtime.lastError());
  return false;
}

Run::Reading Run::readInputs() {
  for (Py_ssize_t i = 0; i < numInputs; ++i) {
    PyObject *tensor = PyTuple_GetItem(tensors, i);
    TensorType type = findType(state, tensor);
    if (!type.type)
      return Reading::Failed;
    // Outputs are of the framework that all inputs are of.
    if (!type.api || (api && type.api != api))
      return Reading::Impossible;
    api = type.api;
    Ref isLazy(
        PyObject_CallFunctionObjArgs(type.isLazy.get(), tensor, nullptr));
    if (!isLazy)
      return Reading::Failed;
    if (isLazy.get() != Py_False)
      return Reading::Impossible;
    DLTensor &view = views[i];
    if (api->viewOfPyObject(tensor, &view)) {
      explainFailure(state, state.names[i], tensor);
      return Reading::Failed;
    }
    const DLDataType &dtype = state.dtypes[i];
    const DLDevice &device = views[0].device;
    if (view.dtype.code != dtype.code || view.dtype.bits != dtype.bits ||
        view.dtype.lanes != dtype.lanes ||
        view.device.device_type != device.device_type ||
        view.device.device_id != device.device_id)
      return Reading::Impossible;
    pointers[i] = &view;
  }
  return api ? Reading::Done : Reading::Impossible;
}

/// Reads what `makePlan` says of one output.
static bool readOutput(PyObject *said, Output &output) {
  if (said == Py_None)
    return true;
  PyObject *first, *arguments, *keywords;
  if (!PyArg_ParseTuple(said, "OOO", &first, &arguments, &keywords))
    return false;
  output.arguments = Ref::borrow(arguments);
  if (PyLong_Check(first)) {
    output.kind = Output::Alias;
    output.source = PyLong_AsSsize_t(first);
    return !PyErr_Occurred();
  }
  output.kind = Output::New;
  output.function = Ref::borrow(first);
  output.keywords = Ref::borrow(keywords);
  return true;
}

std::shared_ptr<const Plan> Run::findPlan(int64_t symbol) {
  const DLDevice &device = views[0].device;
  for (const std::shared_ptr<const Plan> &plan : state.plans)
    if (plan->symbol == symbol &&
        plan->device.device_type == device.device_type &&
        plan->device.device_id == device.device_id)
      return plan;
  Ref said(PyObject_CallFunction(state.makePlan.get(), "OL", tensors,
                                 static_cast<long long>(symbol)));
  if (!said)
    return nullptr;
  auto plan = std::make_shared<Plan>();
  plan->symbol = symbol;
  plan->device = device;
  PyObject *all, *workspace;
  if (!PyArg_ParseTuple(said.get(), "O!O", &PyTuple_Type, &all, &workspace))
    return nullptr;
  plan->workspace = Ref::borrow(workspace);
  plan->outputs.resize(PyTuple_Size(all));
  for (size_t i = 0; i < plan->outputs.size(); ++i)
    if (!readOutput(PyTuple_GetItem(all, i), plan->outputs[i]))
      return nullptr;
  if (state.plans.size() == kMaxPlans)
    state.plans.clear();
  state.plans.push_back(plan);
  return plan;
}

PyObject *Run::makeOutput(const Output &output, DLTensor *view) {
  switch (output.kind) {
  case Output::None:
    Py_RETURN_NONE;
  case Output::Alias: {
    PyObject *source = getSource(output.source);
    if (output.arguments.get() == Py_None)
      return Ref::borrow(source).release();
    return PyObject_CallMethod(source, "reshape", "(O)",
                               output.arguments.get());
  }
  case Output::New:
    break;
  }
  Ref made(PyObject_Call(output.function.get(), output.arguments.get(),
                         output.keywords.get()));
  if (made && api->viewOfPyObject(made.get(), view))
    return nullptr;
  return made.release();
}

PyObject *Run::operator()() {
  views.resize(numInputs);
  pointers.resize(numInputs);
  Reading reading = readInputs();
  if (reading == Reading::Failed)
    return nullptr;
  if (reading == Reading::Impossible)
    Py_RETURN_NONE;
  int32_t count = static_cast<int32_t>(numInputs);
  int64_t symbol;
  if (!check(state.runtime.inferSymbol(state.program, state.entry,
                                       pointers.data(), count, &symbol)))
    return nullptr;
  size_t bytes;
  if (!check(state.runtime.workspaceBytes(state.program, state.entry, symbol,
                                          pointers.data(), count, &bytes)))
    return nullptr;

  std::shared_ptr<const Plan> plan = findPlan(symbol);
  if (!plan)
    return nullptr;
  size_t numOutputs = plan->outputs.size();
  std::vector<DLTensor> made(numOutputs);
  std::vector<const DLTensor *> places(numOutputs);
  outputs = Ref(PyTuple_New(numOutputs));
  if (!outputs)
    return nullptr;
  for (size_t i = 0; i < numOutputs; ++i) {
    PyObject *output = makeOutput(plan->outputs[i], &made[i]);
    if (!output || PyTuple_SetItem(outputs.get(), i, output))
      return nullptr;
    if (plan->outputs[i].kind == Output::New)
      places[i] = &made[i];
  }
  Ref workspace;
  DLTensor memory = {};
  if (bytes != 0) {
    workspace = Ref(PyObject_CallFunction(plan->workspace.get(), "n",
                                          static_cast<Py_ssize_t>(bytes)));
    if (!workspace || api->viewOfPyObject(workspace.get(), &memory))
      return nullptr;
  }
  void *stream = nullptr;
  if (plan->device.device_type == kDLCUDA &&
      api->currentStream(kDLCUDA, plan->device.device_id, &stream))
    return nullptr;

  fuseopsStatus status;
  // The sentence is the thread's own, and this thread takes it.
  Py_BEGIN_ALLOW_THREADS status = state.runtime.run(
      state.program, state.entry, pointers.data(), count, places.data(),
      static_cast<int32_t>(numOutputs),
      static_cast<char *>(memory.data) + memory.byte_offset, bytes, stream);
  Py_END_ALLOW_THREADS return check(status) ? outputs.release() : nullptr;
}

static PyObject *runCall(PyObject *self, PyObject *given) {
  CallState &state = *reinterpret_cast<CallObject *>(self)->state;
  // Of a tuple it is the tuple, which nobody can change meanwhile.
  Ref tensors(PySequence_Tuple(given));
  if (!tensors)
    return nullptr;
  Py_ssize_t numInputs = PyTuple_Size(tensors.get());
  if (static_cast<size_t>(numInputs) != state.names.size())
    return PyErr_Format(state.error.get(),
                        "expected %zu arguments, but got %zd",
                        state.names.size(), numInputs);
  try {
    return Run(state, tensors.get(), numInputs)();
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  }
}

template <typename Function>
static bool findFunction(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    PyErr_Format(PyExc_ImportError, "the runtime has no function `%s`", name);
  return function != nullptr;
}

static bool readRuntime(void *library, Runtime &runtime) {
  return findFunction(library, "fuseopsLastError", runtime.lastError) &&
         findFunction(library, "fuseopsEntryInferSymbol",
                      runtime.inferSymbol) &&
         findFunction(library, "fuseopsEntryWorkspaceBytesFor",
                      runtime.workspaceBytes) &&
         findFunction(library, "fuseopsRun", runtime.run);
}

static bool readInputInfos(PyObject *infos, CallState &state) {
  for (Py_ssize_t i = 0, size = PyTuple_Size(infos); i < size; ++i) {
    const char *name;
    DLDataType dtype;
    if (!PyArg_ParseTuple(PyTuple_GetItem(infos, i), "s(bbH)", &name,
                          &dtype.code, &dtype.bits, &dtype.lanes))
      return false;
    state.names.emplace_back(name);
    state.dtypes.push_back(dtype);
  }
  return true;
}

/// Call(library, error, owner, program, entry, inputs, exchange, make_plan)
static PyObject *createCall(PyTypeObject *type, PyObject *arguments,
                            PyObject *) {
  unsigned long long library, program;
  PyObject *error, *owner, *infos, *exchange, *makePlan;
  int entry;
  if (!PyArg_ParseTuple(arguments, "KOOKiO!OO", &library, &error, &owner,
                        &program, &entry, &PyTuple_Type, &infos, &exchange,
                        &makePlan))
    return nullptr;
  try {
    auto state = std::make_unique<CallState>();
    if (!readRuntime(reinterpret_cast<void *>(library), state->runtime) ||
        !readInputInfos(infos, *state))
      return nullptr;
    state->error = Ref::borrow(error);
    state->owner = Ref::borrow(owner);
    state->exchange = Ref::borrow(exchange);
    state->makePlan = Ref::borrow(makePlan);
    state->program = reinterpret_cast<fuseopsProgram *>(program);
    state->entry = entry;
    auto allocate =
        reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    PyObject *self = allocate(type, 0);
    if (self)
      reinterpret_cast<CallObject *>(self)->state = state.release();
    return self;
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  }
}

static void destroyCall(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  delete reinterpret_cast<CallObject *>(self)->state;
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(reinterpret_cast<PyObject *>(type));
}

static PyMethodDef callMethods[] = {
    {"run", runCall, METH_O,
     "run(tensors) -> tuple | None\n\n"
     "The outputs of a run; None where an input cannot be read through the C "
     "exchange API\nor has another dtype."},
    {nullptr, nullptr, 0, nullptr}};

static PyType_Slot callSlots[] = {
    {Py_tp_new, reinterpret_cast<void *>(createCall)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyCall)},
    {Py_tp_methods, callMethods},
    {0, nullptr}};

static PyType_Spec callSpec = {"fuseops._native.Call", sizeof(CallObject), 0,
                               Py_TPFLAGS_DEFAULT, callSlots};

static int fillModule(PyObject *module) {
  Ref type(PyType_FromSpec(&callSpec));
  if (!type || PyModule_AddObject(module, "Call", type.get()))
    return -1;
  type.release(); // The module has it now.
  return 0;
}

static PyModuleDef_Slot moduleSlots[] = {
    {Py_mod_exec, reinterpret_cast<void *>(fillModule)}, {0, nullptr}};

static PyModuleDef moduleDef = {
    PyModuleDef_HEAD_INIT, "_native", nullptr, 0,      nullptr,
    moduleSlots,           nullptr,   nullptr, nullptr};

// Python's loader gives the name.
// NOLINTNEXTLINE(readability-identifier-naming)
PyMODINIT_FUNC PyInit__native() { return PyModuleDef_Init(&moduleDef); }
