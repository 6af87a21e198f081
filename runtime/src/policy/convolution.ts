import type { ObservationLeaf, PolicySpec } from '@agentgym/contract'

/** A box leaf of shape [channels, height, width]. */
export type ImageSize = { channels: number; height: number; width: number }

/**
 * One convolution. All but an image's first read max(0, x) of the tensor before them; the last tensor's max(0, x) enters
 * the dense layers. Pads are zeros, the same on all sides.
 */
export type ConvolutionLayer = {
  from: ImageSize
  to: ImageSize
  kernel: number
  stride: number
  padding: number
  /** Adds the tensor that the layer before it read, so that the two are a residual unit. */
  residual: boolean
}

/** Boards smaller than this gain nothing from sharing weights between positions; dense layers learn them faster. */
const SMALLEST_IMAGE = 7
/** `small` and `residual` halve an image until it is no larger than this. */
const LARGEST_BOARD = 16

/** Whether a convolution suits this leaf, if the policy has any. */
export function isImage(leaf: Pick<ObservationLeaf, 'kind' | 'shape'>): boolean {
  return leaf.kind === 'box' && leaf.shape.length === 3 && Math.min(leaf.shape[1], leaf.shape[2]) >= SMALLEST_IMAGE
}

/** The convolutions that a leaf goes through; none where it enters as a row of numbers. */
export function convolutionLayers(
  { convolution }: Pick<PolicySpec, 'convolution'>,
  leaf: Pick<ObservationLeaf, 'kind' | 'shape'>,
): ConvolutionLayer[] {
  if (convolution === undefined || !isImage(leaf)) return []
  const [channels, height, width] = leaf.shape
  const { kind, filters } = convolution
  const layers: ConvolutionLayer[] = []
  let size: ImageSize = { channels, height, width }
  const add = (filters: number, stride: number, padding: number, residual = false) => {
    const kernel = 3
    const positions = (length: number) => Math.floor((length + 2 * padding - kernel) / stride) + 1
    const to = { channels: filters, height: positions(size.height), width: positions(size.width) }
    layers.push({ from: size, to, kernel, stride, padding, residual })
    size = to
  }
  /** Two convolutions around a shortcut (He et al. 2016, with the activations first). */
  const addUnit = (filters: number) => {
    add(filters, 1, 1)
    add(filters, 1, 1, true)
  }
  let growth = 1
  while (Math.max(size.height, size.width) > LARGEST_BOARD && Math.min(size.height, size.width) >= 5) {
    add(filters * growth, 2, 1)
    if (kind === 'residual') {
      addUnit(filters * growth)
      addUnit(filters * growth)
    }
    growth = Math.min(4, growth * 2)
  }
  add(filters * growth, 1, 0)
  if (kind === 'residual') addUnit(filters * growth)
  return layers
}

/** Numbers that a leaf's last convolution gives to the dense layers: filters at each position, position by position. */
export function imageFeatures(layers: ConvolutionLayer[]): number {
  const { channels, height, width } = layers[layers.length - 1].to
  return channels * height * width
}
