import type { CallAnswer } from '@agentgym/contract'

/** The server takes a mebibyte a request; one answer never takes more. */
const partBytes = 512 * 1_024

/** Answers in as few parts as their size allows: probabilities of many choices are long. */
export function answerParts(answers: CallAnswer[], limit = partBytes): CallAnswer[][] {
  const parts: CallAnswer[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const answer of answers) {
    const size = Buffer.byteLength(JSON.stringify(answer))
    if (bytes + size > limit) {
      parts.push([])
      bytes = 0
    }
    parts[parts.length - 1].push(answer)
    bytes += size
  }
  return parts
}
