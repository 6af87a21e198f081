import type { SpaceDescription } from '@agentgym/contract'

/** A space in a few words: `box [4]`, `discrete 2`, `dict { camera: box [8, 8], speed: box [1] }`. */
export function describeSpace(space: SpaceDescription): string {
  switch (space.type) {
    case 'box':
      return `box [${space.shape.join(', ')}]`
    case 'discrete':
      return `discrete ${space.n}`
    case 'multiDiscrete':
      return `multiDiscrete [${space.nvec.join(', ')}]`
    case 'text':
      return `text of ${space.maxTokens} tokens`
    case 'dict':
      return `dict { ${space.entries.map(({ name, space: inner }) => `${name}: ${describeSpace(inner)}`).join(', ')} }`
  }
}
