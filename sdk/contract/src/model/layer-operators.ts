import {
  BATCH,
  broadcastShapes,
  isBatched,
  type OperatorCall,
  type OperatorTable,
  rowElements,
  sameShape,
  type Value,
  wholeBlocks,
} from './operator-call.ts'

/** Layers with weights, normalizations and sums. */
export const layers: OperatorTable = {
  Gemm: {
    inputs: [2, 3],
    attributes: { alpha: 'float', beta: 'float', transA: 'int', transB: 'int' },
    infer(call) {
      const x = call.value(0)
      const { dims } = call.fixed(1)
      if (x.dims.length !== 2 || dims.length !== 2) throw call.invalid('its inputs are not matrices')
      if (call.integer('transA', 0) !== 0)
        throw isBatched(x) ? call.mixed('it transposes the batch') : call.invalid('transA is set')
      const [inner, out] = call.integer('transB', 0) === 0 ? dims : [dims[1], dims[0]]
      if (x.dims[1] !== inner) throw call.invalid(`it multiplies rows of ${x.dims[1]} by a matrix of ${inner} × ${out}`)
      const result = [x.dims[0], out]
      const bias = call.optional(2)
      if (bias !== null && !sameShape(broadcastShapes(call, [result, bias.dims]), result))
        throw call.invalid('its third input is larger than its result')
      call.work = inner * wholeBlocks(out)
      return float(result)
    },
  },
  MatMul: { inputs: [2, 2], infer: matMul },
  Conv: {
    inputs: [2, 3],
    attributes: {
      auto_pad: 'string',
      dilations: 'ints',
      group: 'int',
      kernel_shape: 'ints',
      pads: 'ints',
      strides: 'ints',
    },
    infer: convolution,
  },
  BatchNormalization: {
    inputs: [5, 5],
    attributes: { epsilon: 'float', momentum: 'float', training_mode: 'int' },
    infer(call) {
      const { dims } = call.value(0)
      if (dims.length < 2) throw call.invalid('its input has no channels')
      if (call.integer('training_mode', 0) !== 0) throw call.attribute('training_mode', 'is set')
      for (const i of [1, 2, 3, 4]) requireShape(call, call.fixed(i), [dims[1]])
      return float(dims)
    },
  },
  LayerNormalization: {
    inputs: [2, 3],
    attributes: { axis: 'int', epsilon: 'float', stash_type: 'int' },
    infer(call) {
      const { dims } = call.value(0)
      const normalized = dims.slice(call.axis(call.integer('axis', -1), dims.length, dims))
      requireShape(call, call.fixed(1), normalized)
      if (call.optional(2) !== null) requireShape(call, call.fixed(2), normalized)
      call.work = (1_024 * rowElements(dims)) / rowElements(normalized)
      return float(dims)
    },
  },
  Softmax: { inputs: [1, 1], attributes: { axis: 'int' }, infer: alongAxis },
  LogSoftmax: { inputs: [1, 1], attributes: { axis: 'int' }, infer: alongAxis },
  ReduceSum: {
    inputs: [1, 2],
    attributes: { keepdims: 'int', noop_with_empty_axes: 'int' },
    infer: (call) => reduce(call, 13),
  },
  ReduceMean: reduction(),
  ReduceMax: reduction(),
  ReduceMin: reduction(),
}

function reduction() {
  return {
    inputs: [1, 2],
    attributes: { axes: 'ints', keepdims: 'int', noop_with_empty_axes: 'int' },
    infer: (call: OperatorCall) => reduce(call, 18),
  } as const
}

/** Rows by a matrix of weights, or a matrix by a matrix within each row, as attention does it. */
function matMul(call: OperatorCall): Value {
  const a = call.value(0)
  const b = call.value(1)
  const columns = b.dims.at(-1) ?? 0
  const inner = a.dims.at(-1) ?? 0
  const within = a.dims.length === 3 && b.dims.length === 3 && isBatched(a) && isBatched(b)
  const byWeights = a.dims.length >= 2 && b.dims.length === 2 && !isBatched(b)
  if (!within && !byWeights) throw call.invalid('its inputs are neither rows and a matrix, nor two matrices per row')
  if (inner !== b.dims[b.dims.length - 2])
    throw call.invalid(`it multiplies rows of ${inner} by a matrix of ${b.dims.slice(-2).join(' × ')}`)
  const result = [...a.dims.slice(0, -1), columns]
  call.work = inner * (rowElements(result) / columns) * wholeBlocks(columns)
  return float(result)
}

/** Images are stored in blocks of channels: what comes in is put in that order, what goes out is put back, and padded. */
function convolution(call: OperatorCall): Value {
  const x = call.value(0)
  const weights = call.fixed(1)
  const [, channels, ...size] = x.dims
  const [out, channelsOfGroup, ...kernel] = weights.dims
  if (!isBatched(x) || size.length < 1 || size.length > 2 || weights.dims.length !== x.dims.length)
    throw call.invalid(
      'its input must be [batch, channels, length] or [batch, channels, height, width], with weights of the same rank',
    )
  const group = call.integer('group', 1)
  if (group < 1 || channelsOfGroup * group !== channels || out % group !== 0)
    throw call.invalid(`its ${channels} channels in ${group} groups do not fit weights of ${weights.dims.join(' × ')}`)
  if (call.optional(2) !== null) requireShape(call, call.fixed(2), [out])
  const result = [BATCH, out, ...slide(call, size, kernel)]
  call.work = (rowElements(result) / out) * group * wholeBlocks(out / group) * channelsOfGroup * rowElements(kernel)
  call.scratch = rowElements(result) + rowElements(x.dims)
  return { ...float(result), blocked: size.length === 2 }
}

/** Positions of a window that slides over each dimension of `size`. Convolutions and pools have the attributes in common. */
function slide(call: OperatorCall, size: readonly number[], kernel: readonly number[]): number[] {
  const ones = size.map(() => 1)
  const list = (name: string, otherwise: readonly number[], length: number, lowest: number) => {
    const values = call.integers(name) ?? otherwise
    if (values.length !== length || values.some((value) => value < lowest))
      throw call.attribute(name, `must be ${length} integers of at least ${lowest}`)
    return values
  }
  const autoPad = call.text('auto_pad')
  if (autoPad !== null && autoPad !== 'NOTSET') throw call.attribute('auto_pad', 'does not fix the padding')
  const declared = list('kernel_shape', kernel, size.length, 1)
  if (!sameShape(declared, kernel)) throw call.attribute('kernel_shape', 'is not the shape of the weights')
  const strides = list('strides', ones, size.length, 1)
  const dilations = list('dilations', ones, size.length, 1)
  const pads = list('pads', [...ones, ...ones].fill(0), 2 * size.length, 0)
  return size.map((length, i) => {
    const window = dilations[i] * (kernel[i] - 1) + 1
    const [before, after] = [pads[i], pads[i + size.length]]
    if (before >= window || after >= window) throw call.attribute('pads', 'is as large as the window')
    const positions = Math.floor((length + before + after - window) / strides[i]) + 1
    if (positions < 1) throw call.invalid(`its window of ${window} is larger than ${length}`)
    return positions
  })
}

function alongAxis(call: OperatorCall): Value {
  const { dims } = call.value(0)
  const axis = call.axis(call.integer('axis', -1), dims.length, dims)
  const elements = rowElements(dims)
  call.work = (512 * elements) / dims[axis]
  // Along another axis than the last it turns its input over, and its output back.
  if (axis < dims.length - 1) call.scratch = 2 * elements
  return float(dims)
}

/** Sums and their like. Axes were an attribute before operator set `axesAsInput`. */
function reduce(call: OperatorCall, axesAsInput: number): Value {
  const { dims } = call.value(0)
  const asInput = call.opset >= axesAsInput
  if (asInput ? call.integers('axes') !== null : call.count > 1)
    throw call.attribute('axes', `does not exist in operator set ${call.opset}`)
  const given = asInput ? (call.count > 1 ? call.constant(1) : []) : (call.integers('axes') ?? [])
  if (given.length === 0) throw call.unbounded('it has no axes')
  const axes = call.axes(given, dims.length, dims)
  call.work = 64 * rowElements(dims)
  call.scratch = rowElements(dims)
  if (call.integer('keepdims', 1) !== 0) return float(dims.map((dim, i) => (axes.includes(i) ? 1 : dim)))
  return float(dims.filter((_, i) => !axes.includes(i)))
}

function requireShape(call: OperatorCall, { dims }: Value, expected: readonly number[]): void {
  if (!sameShape(dims, expected))
    throw call.invalid(`a weight is ${dims.join(' × ') || 'a number'}, not ${expected.join(' × ')}`)
}

function float(dims: readonly number[]): Value {
  return { type: 'float', dims, integers: null }
}

const window = {
  auto_pad: 'string',
  ceil_mode: 'int',
  kernel_shape: 'ints',
  pads: 'ints',
  strides: 'ints',
  dilations: 'ints',
} as const

/** A large window is read number by number at every position: up to 1.6 ns. */
const numberUnderWindow = 16

/** The largest or mean number under a window. */
export const pools: OperatorTable = {
  MaxPool: { inputs: [1, 1], attributes: { ...window, storage_order: 'int' }, required: ['kernel_shape'], infer: pool },
  AveragePool: {
    inputs: [1, 1],
    attributes: { ...window, count_include_pad: 'int' },
    required: ['kernel_shape'],
    infer: pool,
  },
  GlobalAveragePool: {
    inputs: [1, 1],
    infer(call) {
      const [batch, channels, ...size] = requireImage(call).dims
      call.work = numberUnderWindow * channels * rowElements(size)
      return { type: 'float', dims: [batch, channels, ...size.map(() => 1)], integers: null }
    },
  },
}

function pool(call: OperatorCall): Value {
  const [batch, channels, ...size] = requireImage(call).dims
  const kernel = call.integers('kernel_shape') ?? []
  if (call.integer('ceil_mode', 0) !== 0) throw call.attribute('ceil_mode', 'is set')
  const dims = [batch, channels, ...slide(call, size, kernel)]
  call.work = numberUnderWindow * rowElements(dims) * rowElements(kernel)
  return { type: 'float', dims, integers: null }
}

function requireImage(call: OperatorCall): Value {
  const x = call.value(0)
  if (!isBatched(x) || x.dims.length < 3 || x.dims.length > 4)
    throw call.invalid('its input must be [batch, channels, length] or [batch, channels, height, width]')
  return x
}
