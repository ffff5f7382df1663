// Traces a network and its gradients on the lazy device, saves their StableHLO, and runs them.
//
//   trace FOLDER     writes forward.mlir, gradients.mlir and gradients.bytecode
#include <torchere/lazy.h>

#include <ATen/ATen.h>

#include <filesystem>
#include <fstream>
#include <iostream>

/// Its parameters are tensors of one device. (Module::to() of libtorch cannot change the device to one whose
/// tensors are of another kind; made on the device, they need no such change.)
struct Network {
  explicit Network(at::Device device) {
    for (at::IntArrayRef sizes : {at::IntArrayRef{8, 4}, {8}, {2, 8}, {2}})
      parameters.push_back((at::randn(sizes) * 0.5).to(device).requires_grad_(true));
  }
  at::Tensor loss(const at::Tensor &x) const {
    at::Tensor hidden = at::hardtanh(at::linear(x, parameters[0], parameters[1]));
    return at::linear(hidden, parameters[2], parameters[3]).square().mean();
  }

  std::vector<at::Tensor> parameters;
};

static void write(const std::filesystem::path &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
  std::cout << path.string() << ": " << content.size() << " bytes\n";
}

int main(int count, char **arguments) try {
  if (count != 2)
    throw std::invalid_argument("expected one argument: the folder to write to");
  std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);

  at::Tensor x = at::linspace(-1, 1, 12).reshape({3, 4});
  at::manual_seed(0);
  at::Tensor expected = Network(at::kCPU).loss(x);

  at::Device device("xla:0");
  at::manual_seed(0);
  Network network(device);
  at::Tensor loss = network.loss(x.to(device));
  write(folder / "forward.mlir", torchere::lazy::stablehlo({loss}));
  loss.backward();
  std::vector<at::Tensor> results = {loss};
  for (const at::Tensor &parameter : network.parameters)
    results.push_back(parameter.grad());
  write(folder / "gradients.mlir", torchere::lazy::stablehlo(results));
  write(folder / "gradients.bytecode", torchere::lazy::stablehloBytecode(results));

  std::cout << "loss " << loss.item<float>() << ", on the CPU " << expected.item<float>() << "\n";
  for (const auto &[name, value] : torchere::lazy::counters())
    std::cout << name << " " << value << "\n";
  return at::allclose(loss.cpu(), expected, 1e-5, 1e-6) ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
