# SPDX-License-Identifier: MIT
"""The peers. Needs nothing but the standard library, since run.py lives outside of environments."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """Where a peer's code and packages are, and which variables its processes need."""

    module: str
    kind: str  # the class in it
    environment: str  # folder in build/deps/peers, and name of its requirements
    variables: dict = field(default_factory=dict)


# oneDNN and TensorFlow are two peers each. oneDNN chooses its kernels by what the CPU has: once it
# is held to what every x86 machine of today has, so that results can be repeated, once it may use
# all that this one has. TensorFlow has kernels of its own and oneDNN's.
PEERS = {
    "onednn": Entry("peer_onednn", "OneDnn", "onednn", {"ONEDNN_MAX_CPU_ISA": "AVX2"}),
    "onednn-native": Entry("peer_onednn", "OneDnnNative", "onednn"),
    "onnxruntime": Entry("peer_onnxruntime", "OnnxRuntime", "onnxruntime"),
    "tensorflow": Entry("peer_tensorflow", "TensorFlow", "tensorflow",
                        {"TF_ENABLE_ONEDNN_OPTS": "0"}),
    "tensorflow-onednn": Entry("peer_tensorflow", "TensorFlowOneDnn", "tensorflow",
                               {"TF_ENABLE_ONEDNN_OPTS": "1"}),
    "torch": Entry("peer_torch", "Torch", "torch"),
}

# What an environment takes on the disk.
SIZES = {"onednn": "0.3 GB", "onnxruntime": "1.1 GB", "tensorflow": "1.6 GB", "torch": "5.4 GB"}
