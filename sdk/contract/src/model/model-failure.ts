import { AgentGymError } from '../agent-gym-error.ts'
import type { ErrorCode } from '../error-catalogue.ts'

/** Codes of what is wrong with a model's file; those of what a model does when it runs are the runtime's. */
export type ModelFault = keyof typeof hints

const exportAnew = 'Export the policy again, or publish the folder that training wrote, unchanged.'
const plainOperators = 'Export the policy as plain layers; the README of sdk/contract/src/model lists the operators.'

const hints = {
  model_too_large: 'Train a smaller network.',
  model_truncated: 'The file was cut off: copy or download it again.',
  model_malformed: exportAnew,
  model_field_unknown: exportAnew,
  model_field_duplicate: exportAnew,
  model_part_forbidden: 'Export for inference, in float32, without sparse or quantised tensors.',
  model_external_data: 'Save the weights inside model.onnx (in PyTorch: external_data=False).',
  model_subgraph_forbidden: 'Export the policy without loops and branches.',
  model_function_forbidden: 'Inline the functions when exporting.',
  model_domain_forbidden: plainOperators,
  model_opset_unsupported: 'Export with opset 17.',
  model_operator_forbidden: plainOperators,
  model_attribute_invalid: plainOperators,
  model_too_many_parts: 'Train a smaller network, or let the exporter fold constants.',
  model_nesting_too_deep: 'Train a network of fewer layers.',
  model_string_too_long: 'Export without stack traces and with short names.',
  model_name_invalid: 'Give the tensor a name of printable UTF-8.',
  model_name_duplicate: 'Every tensor needs a name of its own.',
  model_name_undefined: 'Nodes must stand after those whose results they read.',
  model_type_unsupported: 'Export the policy in float32.',
  model_shape_invalid: exportAnew,
  model_shape_mismatch: 'Remove the declared shapes (value_info), or correct them.',
  model_batch_mixed: 'Keep the batch as the first dimension, and every row by itself.',
  model_tensor_size_mismatch: exportAnew,
  model_weights_not_finite: 'Training diverged: lower the learning rate and train again.',
  model_static_size: 'Sizes must be constants of the file, and small: let the exporter fold them.',
  model_intermediate_too_large: 'Train a network of narrower layers.',
  model_work_too_large: 'Train a smaller network.',
  model_input_mismatch:
    'Inputs are float32 [batch, size], one for each leaf of the observation, named as in agent.json.',
  model_output_mismatch: 'Outputs are float32: logits, or mean and log_std, [batch, n], and value [batch].',
} as const satisfies Partial<Record<ErrorCode, string>>

/** Refuses a model. `what` is a clause that says what is wrong and where. */
export function modelFailure(code: ModelFault, what: string, data: Record<string, unknown> = {}): AgentGymError {
  return new AgentGymError({
    code,
    message: `model.onnx: ${what}.`,
    hint: hints[code],
    data: { file: 'model.onnx', ...data },
  })
}

/** A stranger's text, fit for a message: quoted, short, and without what a terminal or page would obey. */
export function shown(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return JSON.stringify(short).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\ufffd')
}
