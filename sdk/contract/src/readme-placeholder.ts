export type ReadmePlaceholder = { /** From 1. */ line: number; text: string }

/**
 * The first line of a README that the author has yet to write, such as `[REPLACE: what does the agent learn?]`. Templates of
 * `agentgym scenario init` have some, and publishing refuses them. Code does not count.
 */
export function findReadmePlaceholder(readme: string): ReadmePlaceholder | undefined {
  let fence: string | undefined
  for (const [index, line] of readme.split(/\r?\n/).entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined
      continue
    }
    if (mark !== undefined) fence = mark
    const found = /\[REPLACE:[^\]]*\]?/.exec(line.replaceAll(/`[^`]*`/g, ''))
    if (found !== null) return { line: index + 1, text: found[0].slice(0, 120) }
  }
  return undefined
}

/** What a user is shown of it. */
export function placeholderMessage({ line, text }: ReadmePlaceholder): { message: string; hint: string } {
  return {
    message: `README.md line ${line} is a placeholder: ${text}.`,
    hint: 'Write what the line asks for, or remove it. The page of the package shows the README.',
  }
}
