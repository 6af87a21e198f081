/** A tensor as ONNX Runtime's binding reads one. It has no use for methods, so a plain object does. */
export type Tensor =
  | { type: 'float32'; location: 'cpu'; dims: number[]; data: Float32Array }
  | { type: 'int64'; location: 'cpu'; dims: number[]; data: BigInt64Array }

export type Tensors = Record<string, Tensor>

export type FloatTensor = Extract<Tensor, { type: 'float32' }>

export function tensor(
  dims: number[],
  data: Float32Array = new Float32Array(dims.reduce((a, b) => a * b, 1)),
): FloatTensor {
  return { type: 'float32', location: 'cpu', dims, data }
}
