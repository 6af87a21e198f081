/** The messages of AI SDK, in any of the forms that prompts, steps and Mastra have. */
export type AiMessage = { role: string; content: unknown }

type Part = { type?: string; text?: string; toolName?: string; output?: { type?: string; value?: unknown } }

/** Of the last message from the user or a tool. */
export function lastText(messages: readonly AiMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'user' || role === 'tool')?.content ?? ''
  if (typeof content === 'string') return content
  const texts = partsOf(content).map(({ type, text = '', output }) => {
    if (type !== 'tool-result') return text
    return typeof output?.value === 'string' ? output.value : JSON.stringify(output?.value ?? '')
  })
  return texts.at(-1) ?? ''
}

/** Tools that were called since the user's last message, in order. */
export function callsIn(messages: readonly AiMessage[]): string[] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  return turn.flatMap(({ content }) => partsOf(content).flatMap(({ type, toolName }) => callOf(type, toolName)))
}

function partsOf(content: unknown): Part[] {
  return Array.isArray(content) ? content : []
}

function callOf(type: string | undefined, toolName: string | undefined): string[] {
  return type === 'tool-call' && toolName !== undefined ? [toolName] : []
}
