import { describe, expect, it } from 'vitest'
import { requireWalls } from '../src/walls.ts'

const walls = { missing: ['processes', 'network'] as const, reason: 'bubblewrap is not installed.' }

describe('a worker on a machine without a complete sandbox', () => {
  it('refuses to run jobs, with the missing parts, the reason and how to accept them', () => {
    expect(() => requireWalls(walls)).toThrowError(
      expect.objectContaining({
        code: 'sandbox_incomplete',
        message: expect.stringContaining('lacks processes, network. bubblewrap is not installed.'),
        hint: expect.stringContaining('--without-walls processes,network'),
      }),
    )
  })

  it('still refuses if only some of them are accepted', () => {
    expect(() => requireWalls(walls, 'network')).toThrowError(
      expect.objectContaining({ data: { missing: ['processes'] } }),
    )
  })

  it('runs if all of them are accepted by name, or any', () => {
    for (const accepted of ['network, processes', 'processes,network,file-system', 'any'])
      expect(() => requireWalls(walls, accepted)).not.toThrow()
    expect(() => requireWalls({ missing: [], reason: null })).not.toThrow()
  })

  it('rejects an unknown name', () => {
    expect(() => requireWalls(walls, 'netwrok')).toThrowError(
      expect.objectContaining({ code: 'config_invalid', data: { field: 'without_walls' } }),
    )
  })
})
