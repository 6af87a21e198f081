import { AgentGymError } from '../agent-gym-error.ts'
import type { ErrorCode } from '../error-catalog.ts'

/** Codes of what is wrong with a model's file; those of what a model does when it runs are the runtime's. */
type ModelFault = keyof typeof hints

const exportAnew = 'Export the policy again, or publish the folder that training wrote, unchanged.'
const plainOperators = 'Export the policy as plain layers; the README of sdk/contract/src/model lists the operators.'

const hints = {
  model_too_large: 'Train a smaller network.',
  model_truncated: 'The file was cut off: copy or download it again.',
  model_malformed: exportAnew,
  model_format_forbidden: 'Publish the ONNX file that the .ort file was made from.',
  model_not_canonical:
    'Rewrite it with the onnx package, onnx.save(onnx.load("model.onnx"), "model.onnx"), and put its new SHA-256 into agent.json.',
  model_field_unknown: exportAnew,
  model_field_duplicate: exportAnew,
  model_part_forbidden: 'Export for inference, in float32, without sparse or quantized tensors.',
  model_external_data: 'Save the weights inside model.onnx (in PyTorch: external_data=False).',
  model_subgraph_forbidden: 'Export the policy without loops and branches.',
  model_function_forbidden: 'Inline the functions when exporting.',
  model_domain_forbidden: plainOperators,
  model_opset_unsupported: 'Export with opset 17.',
  model_operator_forbidden: plainOperators,
  model_attribute_invalid: plainOperators,
  model_too_many_parts: 'Train a smaller network, or let the exporter fold constants.',
  model_nesting_too_deep: 'Train a network with fewer layers.',
  model_string_too_long: 'Export without stack traces and with short names.',
  model_name_invalid: 'Give the tensor a printable UTF-8 name.',
  model_name_duplicate: 'Give every tensor a unique name.',
  model_name_undefined: 'Order the nodes so that each reads only results of earlier nodes.',
  model_type_unsupported: 'Export the policy in float32.',
  model_shape_invalid: exportAnew,
  model_shape_mismatch: 'Remove the declared shapes (value_info), or correct them.',
  model_batch_mixed: 'Keep the batch as the first dimension, and compute each row independently.',
  model_tensor_size_mismatch: exportAnew,
  model_weights_not_finite: 'Training diverged: lower the learning rate and train again.',
  model_static_size: 'Sizes must be small constants in the file: let the exporter fold them.',
  model_intermediate_too_large: 'Train a network with narrower layers.',
  model_work_too_large: 'Train a smaller network.',
  model_input_mismatch:
    'Inputs must be float32 [batch, size], one per leaf of the observation, named as in agent.json.',
  model_output_mismatch: 'Outputs must be float32: logits, or mean and log_std, [batch, n], and value [batch].',
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

/** One walk over a file: its limits, and how much of it has been read. */
export class ModelWalk {
  readonly limits: ModelLimits
  #fields = 0

  constructor(limits: ModelLimits) {
    this.limits = limits
  }

  /** Counts a field that has been read. Time goes with fields, not with bytes: two bytes can be one. */
  count(): void {
    if (++this.#fields > this.limits.fields)
      throw modelFailure('model_too_many_parts', `it has more than ${this.limits.fields} fields in total`, {
        limit: this.limits.fields,
      })
  }
}

/** Limits of a model. All have defaults, which can be raised for trusted models. */
export type ModelLimits = {
  /** Of the file. */
  bytes: number
  /** Fields of all messages together, and integers that are written one by one. */
  fields: number
  nodes: number
  /** Initializers, inputs and outputs of the graph, declared values, names in one node's list: each kind by itself. */
  parts: number
  /** Dimensions of one tensor. */
  rank: number
  /** Attributes of one node. */
  attributes: number
  /** Longest chain of nodes. */
  depth: number
  /** Of a name, in bytes of UTF-8. */
  nameBytes: number
  /** Of a documentation string or a metadata value, in bytes. */
  textBytes: number
  /**
   * Elements of one value between nodes: for each row of the batch, or in all where it does not depend on the batch. In
   * numbers of four bytes as ONNX Runtime stores them: an int64 is two, an image that a convolution makes has a multiple of
   * 16 channels.
   */
  elements: number
  /** Elements of all such values together, and of what operators hold beside them while they run. */
  elementsTotal: number
  /** Work for each row of the batch, in multiplications of a matrix product; other operators by the time that they take. */
  work: number
}

/**
 * For models that are published. At evaluation's 64 rows a single value stays below 64 MiB and all together below 512 MiB, of
 * which ONNX Runtime may hold two copies from the second run on; and one run takes below two seconds of one core.
 */
export const modelLimits: Readonly<ModelLimits> = {
  bytes: 64 * 2 ** 20,
  fields: 2 ** 18,
  nodes: 8_192,
  parts: 4_096,
  rank: 8,
  attributes: 16,
  depth: 1_024,
  nameBytes: 512,
  textBytes: 64 * 1_024,
  elements: 2 ** 18,
  elementsTotal: 2 ** 21,
  work: 2 ** 28,
}
