"""Checks the structure of a model.onnx from anyone before ONNX Runtime sees it.

The same walk as the registry's and the TypeScript library's (sdk/contract/src/model in the project's repository, whose README
has the rules and their reasons): every field of the file is known and bounded, operators are on a list, all data is inside the
file, and the size of every value is known before anything runs. ONNX Runtime loads only the bytes that the walk has written.
"""

from .check import check_model_structure

__all__ = ["check_model_structure"]
