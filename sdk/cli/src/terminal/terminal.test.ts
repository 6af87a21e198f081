import { describe, expect, it } from 'vitest'
import { describeTerminal } from './terminal.ts'

const screen = { isTTY: true, columns: 100, rows: 30 }
const plain = { color: true }

describe('describeTerminal', () => {
  it('uses color only on a terminal by default', () => {
    expect(describeTerminal(screen, { TERM: 'xterm' }, plain).color).toBe(true)
    expect(describeTerminal({}, { TERM: 'xterm' }, plain).color).toBe(false)
    expect(describeTerminal(screen, { TERM: 'xterm', NO_COLOR: '1' }, plain).color).toBe(false)
    // An empty NO_COLOR means nothing (no-color.org).
    expect(describeTerminal(screen, { TERM: 'xterm', NO_COLOR: '' }, plain).color).toBe(true)
    expect(describeTerminal(screen, { TERM: 'dumb' }, plain).color).toBe(false)
    expect(describeTerminal(screen, { TERM: 'xterm' }, { color: false }).color).toBe(false)
    expect(describeTerminal({}, { FORCE_COLOR: '1' }, plain).color).toBe(true)
    expect(describeTerminal({}, { FORCE_COLOR: '1', NO_COLOR: '1' }, plain).color).toBe(false)
  })

  it('draws over lines on a capable terminal only', () => {
    expect(describeTerminal(screen, { TERM: 'xterm' }, plain).live).toBe(true)
    expect(describeTerminal(screen, { TERM: 'dumb' }, plain).live).toBe(false)
    expect(describeTerminal({}, {}, plain).live).toBe(false)
  })

  it.runIf(process.platform === 'linux')('falls back to ASCII without a UTF-8 locale', () => {
    expect(describeTerminal({}, { LANG: 'de_DE.UTF-8' }, plain).symbols.ok).toBe('✓')
    expect(describeTerminal({}, { LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, plain).symbols.ok).toBe('+')
    expect(describeTerminal({}, {}, plain).symbols.next).toBe('>')
  })

  it('uses the width of the stream, then of COLUMNS, then 80', () => {
    expect(describeTerminal(screen, {}, plain).columns()).toBe(100)
    expect(describeTerminal({}, { COLUMNS: '132' }, plain).columns()).toBe(132)
    expect(describeTerminal({}, { COLUMNS: 'x' }, plain).columns()).toBe(80)
    expect(describeTerminal({ isTTY: true, columns: 0 }, {}, plain).columns()).toBe(80)
  })
})
