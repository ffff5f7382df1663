// Traces a network and its gradients on the lazy device, saves their StableHLO, and runs them.
//
//   trace FOLDER     writes forward.mlir, gradients.mlir and gradients.bytecode
#include <torchere/lazy.h>

#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <iostream>

struct Network : torch::nn::Module {
  Network()
      : first(register_module("first", torch::nn::Linear(4, 8))),
        second(register_module("second", torch::nn::Linear(8, 2))) {}
  torch::Tensor forward(const torch::Tensor &x) { return second(torch::hardtanh(first(x))); }

  torch::nn::Linear first, second;
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

  torch::manual_seed(0);
  Network network;
  torch::Tensor x = torch::linspace(-1, 1, 12).reshape({3, 4});
  torch::Tensor expected = network.forward(x).square().mean();

  torch::Device device("xla");
  network.to(device);
  torch::Tensor loss = network.forward(x.to(device)).square().mean();
  write(folder / "forward.mlir", torchere::lazy::stablehlo({loss}));
  loss.backward();
  std::vector<torch::Tensor> results = {loss};
  for (const torch::Tensor &parameter : network.parameters())
    results.push_back(parameter.grad());
  write(folder / "gradients.mlir", torchere::lazy::stablehlo(results));
  write(folder / "gradients.bytecode", torchere::lazy::stablehloBytecode(results));

  std::cout << "loss " << loss.item<float>() << ", on the CPU " << expected.item<float>() << "\n";
  for (const auto &[name, value] : torchere::lazy::counters())
    std::cout << name << " " << value << "\n";
  return torch::allclose(loss.cpu(), expected, 1e-5, 1e-6) ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
