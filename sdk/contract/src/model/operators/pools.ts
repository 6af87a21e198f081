import { slide } from './layers.ts'
import { isBatched, type OperatorCall, type OperatorTable, rowElements, type Value } from './operator-call.ts'

const window = {
  auto_pad: 'string',
  ceil_mode: 'int',
  kernel_shape: 'ints',
  pads: 'ints',
  strides: 'ints',
  dilations: 'ints',
} as const

/** The largest or mean number under a window. */
export const pools: OperatorTable = {
  MaxPool: { inputs: [1, 1], attributes: { ...window, storage_order: 'int' }, infer: pool },
  AveragePool: { inputs: [1, 1], attributes: { ...window, count_include_pad: 'int' }, infer: pool },
  GlobalAveragePool: {
    inputs: [1, 1],
    infer(call) {
      const [batch, channels, ...size] = requireImage(call).dims
      call.work = channels * rowElements(size)
      return { type: 'float', dims: [batch, channels, ...size.map(() => 1)], integers: null }
    },
  },
}

function pool(call: OperatorCall): Value {
  const [batch, channels, ...size] = requireImage(call).dims
  const kernel = call.integers('kernel_shape')
  if (kernel === null) throw call.attribute('kernel_shape', 'is missing')
  if (call.integer('ceil_mode', 0) !== 0) throw call.attribute('ceil_mode', 'is set')
  const dims = [batch, channels, ...slide(call, size, kernel)]
  call.work = rowElements(dims) * rowElements(kernel)
  return { type: 'float', dims, integers: null }
}

function requireImage(call: OperatorCall): Value {
  const x = call.value(0)
  if (!isBatched(x) || x.dims.length < 3 || x.dims.length > 4)
    throw call.invalid('it takes [batch, channels, length] or [batch, channels, height, width]')
  return x
}
