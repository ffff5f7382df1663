"""torchvision's ResNet-18: the program of PyTorch/XLA's guide as it stands, state, evaluation mode."""

import pytest
import torch
from warm_process import run_python

import torchere

pytestmark = pytest.mark.slow

# Loads and runs a saved program where the model's code was never imported.
IN_A_NEW_PROCESS = """
import sys
import torch
import torchere
directory, given, results = sys.argv[1:]
program = torchere.load(directory)
outputs = [program(x) for x in torch.load(given)]
assert "torchvision" not in sys.modules
torch.save((outputs, program.state_dict()), results)
"""


def run_in_a_new_process(program, inputs, folder):
    """(outputs, state) of a saved and loaded program, called with each input in turn."""
    program.save(folder / "program")
    torch.save(inputs, folder / "inputs.pt")
    arguments = [folder / "program", folder / "inputs.pt", folder / "results.pt"]
    run_python("-c", IN_A_NEW_PROCESS, *arguments).check_returncode()
    return torch.load(folder / "results.pt")


def assert_same_state(state, model):
    """All parameters and buffers, with the running statistics."""
    expected = model.state_dict()
    assert set(state) == set(expected)
    for name, value in expected.items():
        assert torch.allclose(torch.as_tensor(state[name]), value, atol=1e-5), name


def test_the_guides_program(torchvision, tmp_path):
    """In training mode, as a new module is."""
    import torchere.torch_xla_compat  # noqa: F401

    # isort: split
    import torch_xla.core.xla_model as xm
    from torch.export import export
    from torch_xla.stablehlo import StableHLOGraphModule, exported_program_to_stablehlo

    xla_device = xm.xla_device()

    resnet18 = torchvision.models.resnet18()
    # Sample input is a tuple
    sample_input = (torch.randn(4, 3, 224, 224),)
    output = resnet18(*sample_input)
    exported = export(resnet18, sample_input)
    stablehlo_program = exported_program_to_stablehlo(exported)
    assert "stablehlo.convolution" in stablehlo_program.get_stablehlo_text("forward")
    assert b"vhlo\0" in stablehlo_program.get_stablehlo_bytecode("forward")

    sample_input_xla = tuple(s.to(xla_device) for s in sample_input)
    stablehlo_program.save(str(tmp_path / "before"))
    output2 = stablehlo_program(*sample_input_xla)
    assert torch.allclose(output, output2.cpu(), atol=1e-5)

    stablehlo_program2 = StableHLOGraphModule.load(str(tmp_path / "before"))
    output3 = stablehlo_program2(*sample_input_xla)
    assert torch.allclose(output, output3.cpu(), atol=1e-5)


def test_running_statistics_are_updated_as_eagers(torchvision, tmp_path):
    """From call to call, and again from the saved values in a new process; the module stays as it is."""
    model = torchvision.models.resnet18()
    untouched = {name: value.clone() for name, value in model.state_dict().items()}
    inputs = [torch.randn(2, 3, 64, 64) for _ in range(3)]
    program = torchere.export(model, (inputs[0],))
    outputs, state = run_in_a_new_process(program, inputs, tmp_path)
    outputs2 = [program(x) for x in inputs]
    for name, value in model.state_dict().items():
        assert torch.equal(value, untouched[name]), name
    expected = [model(x).detach() for x in inputs]
    for got, got2, wanted in zip(outputs, outputs2, expected, strict=True):
        assert torch.allclose(got, wanted, atol=1e-4)
        assert torch.allclose(got2, wanted, atol=1e-4)
    assert model.bn1.num_batches_tracked == 3
    assert_same_state(state, model)
    assert_same_state(program.state_dict(), model)


def test_evaluation_mode(torchvision, tmp_path):
    model = torchvision.models.resnet18().eval()
    x = torch.randn(4, 3, 224, 224)
    with torch.no_grad():
        expected = model(x)
    program = torchere.export(model, (torch.zeros(4, 3, 224, 224),))
    assert torch.allclose(program(x), expected, atol=1e-5)
    (output,), state = run_in_a_new_process(program, [x], tmp_path)
    assert torch.allclose(output, expected, atol=1e-5)
    assert_same_state(state, model)
