/** How a cell of a terminal is drawn. Colours are names of the palette, or `#rrggbb`. */
export type Style = { color?: string; bold?: boolean; dim?: boolean; inverse?: boolean }
export type Cell = Style & { text: string }

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

/** Reads what `tmux capture-pane -e -p` prints: rows of characters, styled by SGR sequences (ECMA-48, 8.3.117). */
export function readTerminalCells(captured: string): Cell[][] {
  let style: Style = {}
  return captured.split('\n').map((row) => {
    const [before, ...sequences] = row.split('\u001b[')
    const cells = plainCells(before, style)
    for (const sequence of sequences) {
      const [head, parameters, final] = /^([\d;]*)([A-Za-z])/.exec(sequence) ?? ['', '', '']
      if (final === 'm') style = applySgr(style, parameters)
      cells.push(...plainCells(sequence.slice(head.length), style))
    }
    return cells
  })
}

function plainCells(text: string, style: Style): Cell[] {
  return [...text].map((character) => ({ ...style, text: character }))
}

function applySgr(before: Style, sequence: string): Style {
  const codes = sequence === '' ? [0] : sequence.split(';').map(Number)
  let style = { ...before }
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]
    if (code === 0) style = {}
    else if (code === 1) style.bold = true
    else if (code === 2) style.dim = true
    else if (code === 7) style.inverse = true
    else if (code === 22) style = { ...style, bold: false, dim: false }
    else if (code === 27) style.inverse = false
    else if (code === 39) style.color = undefined
    else if (code >= 30 && code <= 37) style.color = names[code - 30]
    else if (code >= 90 && code <= 97) style.color = `bright-${names[code - 90]}`
    else if (code === 38 && codes[i + 1] === 2) {
      style.color = `#${codes
        .slice(i + 2, i + 5)
        .map((part) => part.toString(16).padStart(2, '0'))
        .join('')}`
      i += 4
    }
  }
  return style
}
