import type { SpaceDescription } from '@agentgym/contract'

/** Says why a sample does not fit; never returns. */
export type Refuse = (message: string) => never

/**
 * Boxes that are written nested, as their shape has it, become the flat lists that the encoder takes. What is not nested, or
 * is no box, stays as it is: the encoder judges it.
 */
export function flattenBoxes(space: SpaceDescription, sample: unknown, refuse: Refuse, name = ''): unknown {
  if (space.type === 'box') {
    if (space.shape.length < 2 || !Array.isArray(sample) || !sample.some(Array.isArray)) return sample
    const flat: unknown[] = []
    collect(sample, space.shape, 0, name === '' ? 'observation' : `observation "${name}"`, flat, refuse)
    return flat
  }
  if (space.type !== 'dict' || typeof sample !== 'object' || sample === null || Array.isArray(sample)) return sample
  const flattened: Record<string, unknown> = { ...sample }
  for (const { name: key, space: inner } of space.entries) {
    if (!Object.hasOwn(flattened, key)) continue
    flattened[key] = flattenBoxes(inner, flattened[key], refuse, name === '' ? key : `${name}.${key}`)
  }
  return flattened
}

function collect(value: unknown, shape: number[], depth: number, at: string, flat: unknown[], refuse: Refuse): void {
  if (depth === shape.length) {
    flat.push(value)
    return
  }
  if (!Array.isArray(value)) {
    refuse(`${at} is ${value === null ? 'null' : `a ${typeof value}`} where a list of ${shape[depth]} belongs`)
  } else if (value.length !== shape[depth]) {
    refuse(`${at} has ${value.length} entries where the box [${shape.join(', ')}] has ${shape[depth]}`)
  } else {
    for (const [i, inner] of value.entries()) collect(inner, shape, depth + 1, `${at}[${i}]`, flat, refuse)
  }
}
