# SPDX-License-Identifier: MIT
"""ONNX Runtime (training): models of one node, with inputs and outputs bound to memory."""
import onnxruntime
from onnx import TensorProto, helper

from timing import STORAGE, Memory, Unsupported, set_count

_TYPES = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "i64": TensorProto.INT64}


class System:
    refusals = ()

    def __init__(self, threads):
        self._threads = threads

    @staticmethod
    def version():
        return onnxruntime.__version__

    def _session(self, operator, attributes, inputs, outputs, opset):
        """inputs, outputs: [(name, element type, shape)]"""
        def infos(values):
            return [helper.make_tensor_value_info(name, _TYPES[dtype], shape)
                    for name, dtype, shape in values]

        node = helper.make_node(operator, [i[0] for i in inputs], [o[0] for o in outputs],
                                **attributes)
        graph = helper.make_graph([node], "graph", infos(inputs), infos(outputs))
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self._threads
        try:
            return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                providers=["CPUExecutionProvider"])
        except Exception as error:
            raise Unsupported(str(error).splitlines()[0][-200:]) from error

    @staticmethod
    def _bind(session, inputs, outputs, arrays):
        binding = session.io_binding()
        for values, bind in ((inputs, binding.bind_input), (outputs, binding.bind_output)):
            for name, dtype, shape in values:
                bind(name, "cpu", 0, STORAGE[dtype], shape, arrays[name].ctypes.data)
        return binding

    def prepare(self, problem):
        # Other types have no kernels; asking for them ends the process in some versions.
        if problem.dtype != "f32" and not (problem.dtype == "f64" and problem.op == "maxpool"):
            raise Unsupported(f"no kernel for {problem.dtype}")
        if problem.layout != "ncx":
            raise Unsupported("channels come first")
        if problem.op == "max" and problem.winner == "x":
            raise Unsupported("there is no gradient of max from x")
        small, large = problem.shape(problem.output), problem.shape(problem.input)
        window = dict(kernel_shape=list(problem.kernel), strides=list(problem.stride),
                      pads=list(problem.pad) * 2)
        counts = dict(window, count_include_pad=int(problem.divisor != "exclude"))
        dtype, memory = problem.dtype, Memory()
        pooled = (("X", dtype, large),), (("Y", dtype, small), ("Indices", "i64", small))
        operator, attributes, inputs, outputs, opset = {
            "avg": ("AveragePoolGrad", counts, (("dY", dtype, small),), (("dX", dtype, large),), 9),
            "avgpool": ("AveragePool", counts, pooled[0], pooled[1][:1], 11),
            "max": ("MaxPoolGrad", {}, (("dY", dtype, small), ("Indices", "i64", small)),
                    (("dX", dtype, large),), 9),
            "maxpool": ("MaxPool", window, *pooled, 12)}[problem.op]
        won = None
        if problem.op == "max":
            forward = self._session("MaxPool", window, *pooled, 12)
            won = forward.run(None, {"X": memory.random(dtype, large)})[1]
        session = self._session(operator, attributes, inputs, outputs, opset)
        keep, bindings = [], []
        for _ in range(set_count(problem.operand_bytes())):
            arrays = {name: memory.like(won) if kind == "i64" else memory.random(kind, shape)
                      for name, kind, shape in inputs}
            arrays.update({name: memory.array(kind, shape) for name, kind, shape in outputs})
            keep.append(arrays)
            bindings.append(self._bind(session, inputs, outputs, arrays))
        note = "a wrong result" if problem.op == "avg" and problem.rank == 3 else None
        return [lambda b=b, keep=keep: session.run_with_iobinding(b) for b in bindings], note
