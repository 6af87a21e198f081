/** What a model's file can be refused for, before anything runs it: part of the error catalogue. */
export const modelFileErrors = {
  model_too_large: { exit: 2, status: 422, summary: 'The model has more bytes than are taken.' },
  model_truncated: { exit: 2, status: 422, summary: 'The model ends within a field.' },
  model_malformed: { exit: 2, status: 422, summary: 'The model is not a serialised ONNX model.' },
  model_field_unknown: { exit: 2, status: 422, summary: 'The model has a field that ONNX does not have.' },
  model_field_duplicate: { exit: 2, status: 422, summary: 'A field of the model that may stand once stands twice.' },
  model_part_forbidden: {
    exit: 2,
    status: 422,
    summary:
      'The model has a part that no policy needs, such as sparse or quantised tensors or instructions for training.',
  },
  model_external_data: { exit: 2, status: 422, summary: "A tensor's numbers lie in another file or in memory." },
  model_subgraph_forbidden: {
    exit: 2,
    status: 422,
    summary: 'A node holds a graph of its own, as loops and branches do.',
  },
  model_function_forbidden: { exit: 2, status: 422, summary: 'The model defines or uses functions.' },
  model_domain_forbidden: { exit: 2, status: 422, summary: "The model uses operators that are not ONNX's own." },
  model_opset_unsupported: {
    exit: 2,
    status: 422,
    summary: "The version of the model's operators or of its format is not taken.",
  },
  model_operator_forbidden: { exit: 2, status: 422, summary: 'The model uses an operator that is not on the list.' },
  model_attribute_invalid: {
    exit: 2,
    status: 422,
    summary: 'An attribute of a node is unknown, of the wrong kind, or has a value that is not taken.',
  },
  model_too_many_parts: {
    exit: 2,
    status: 422,
    summary: 'The model has more nodes, tensors, dimensions or names in a list than are taken.',
  },
  model_nesting_too_deep: { exit: 2, status: 422, summary: 'The model has a longer chain of nodes than is taken.' },
  model_string_too_long: { exit: 2, status: 422, summary: 'A text in the model is longer than is taken.' },
  model_name_invalid: {
    exit: 2,
    status: 422,
    summary: 'A name in the model is empty, not UTF-8 or has control characters.',
  },
  model_name_duplicate: { exit: 2, status: 422, summary: 'A name in the model is given twice.' },
  model_name_undefined: { exit: 2, status: 422, summary: 'A node reads what nothing before it gives.' },
  model_type_unsupported: {
    exit: 2,
    status: 422,
    summary: 'A tensor has an element type that policies do not use there.',
  },
  model_shape_invalid: {
    exit: 2,
    status: 422,
    summary: 'A dimension is not above zero, or shapes do not fit an operator.',
  },
  model_shape_mismatch: {
    exit: 2,
    status: 422,
    summary: 'A shape that the model declares is not the one that its nodes make.',
  },
  model_batch_mixed: { exit: 2, status: 422, summary: 'The rows of a batch are not kept apart.' },
  model_tensor_size_mismatch: {
    exit: 2,
    status: 422,
    summary: 'A tensor has not the numbers that its dimensions say.',
  },
  model_weights_not_finite: { exit: 2, status: 422, summary: 'A weight is infinite or not a number.' },
  model_static_size: { exit: 2, status: 422, summary: 'A size is not a constant of the file, or not small.' },
  model_intermediate_too_large: { exit: 2, status: 422, summary: 'A value between two nodes is larger than is taken.' },
  model_work_too_large: { exit: 2, status: 422, summary: 'The model takes more work a row than is taken.' },
  model_input_mismatch: { exit: 2, status: 422, summary: "The model's inputs are not those of its policy." },
  model_output_mismatch: { exit: 2, status: 422, summary: "The model's outputs are not those of its policy." },
} as const

/** How a model can fail where it is loaded and run. */
export const modelRunErrors = {
  model_load_failed: { exit: 1, status: 422, summary: 'ONNX Runtime refuses the model.' },
  model_run_failed: { exit: 1, status: 422, summary: 'ONNX Runtime could not run the model.' },
  model_output_invalid: {
    exit: 1,
    status: 422,
    summary: 'The model gave numbers that are not finite, or others for the same observations.',
  },
  model_timeout: { exit: 1, status: 422, summary: 'The model did not answer within its limit.' },
  model_out_of_memory: { exit: 1, status: 422, summary: 'The model used more memory than it may.' },
  model_crashed: { exit: 1, status: 422, summary: 'The model ended the process that ran it.' },
} as const
