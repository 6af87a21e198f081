import type { DecisionRequest, SystemOneRequest } from '../api/hosting.ts'
import {
  type AgentAnswer,
  type AskedAgent,
  jsonOf,
  maskOfWords,
  observationOf,
  textOf,
  tokensIn,
  wordsOf,
} from './asked-agent.ts'
import { inputText } from './responses.ts'

/** One question in either form: the words to choose from, or null for a question that a policy cannot answer. */
export type Question = { name: string; words: readonly string[] | null }

/** What the agent is asked for one question; null where it refuses. */
export type QuestionCall = { observation: unknown; mask: unknown } | null

/**
 * What to ask the agent for each question. A choice is legal as the question offers it; an agent that does not know one of the
 * choices refuses, and does not guess. Predicates and scores are refused: a policy's value is not calibrated as a probability.
 */
export function questionCalls(
  observation: unknown,
  questions: readonly Question[],
  { action }: AskedAgent,
): QuestionCall[] {
  const known = new Set(wordsOf(action) ?? [])
  return questions.map(({ words }) => {
    if (words === null || words.length < 2 || !words.every((each) => known.has(each))) return null
    return { observation, mask: maskOfWords(action, new Set(words)) }
  })
}

/**
 * The choice with the probability of each word; null for a refusal, also of an agent that knows no probabilities. `confidence` is
 * the calibrated chance of success; of an agent that is not calibrated, the probability of the choice, as clients need a number.
 */
export type Chosen = {
  choice: string
  confidence: number
  probabilities: { value: string; probability: number }[]
} | null

/** Reads the answer to a question. `answer` is null where the question was refused. */
export function chosen({ words }: Question, answer: AgentAnswer | null, { action }: AskedAgent): Chosen {
  if (answer === null || words === null || answer.label === null || answer.probabilities === null) return null
  const all = wordsOf(action) ?? []
  const probabilities = words.map((value) => ({ value, probability: answer.probabilities?.[all.indexOf(value)] ?? 0 }))
  // They were rounded to float32's digits; clients check that the sum is 1 and the choice the largest.
  const sum = probabilities.reduce((total, { probability }) => total + probability, 0)
  const shares = probabilities.map(({ value, probability }) => ({ value, probability: probability / sum }))
  const own = shares.find(({ value }) => value === answer.label)?.probability ?? 0
  return { choice: answer.label, confidence: answer.confidence ?? own, probabilities: shares }
}

/** The observation and the questions of a request of OpenAI's form. Throws `request_invalid`. */
export function readDecision({ input, questions }: DecisionRequest, { observation }: AskedAgent) {
  return {
    observation: observationOf(inputText(input), observation, 'input'),
    questions: questions.map(({ name = '', choices }): Question => {
      const words = choices?.map(({ value }) => value) ?? null
      return { name, words: words?.every((each) => typeof each === 'string') ? words : null }
    }),
  }
}

export function decisionOf({ input, questions }: DecisionRequest, model: string, answers: readonly Chosen[]) {
  const tokens = tokensIn(inputText(input))
  return {
    model,
    answers: questions.map(({ name = null }, i) => {
      const answer = answers[i]
      if (answer === null) return { type: 'refusal' as const, name }
      const { choice, confidence, probabilities } = answer
      return { type: 'choice' as const, name, choice, confidence, probabilities }
    }),
    usage: {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens,
    },
  }
}

/** The observation and the questions of a request of System One. A text that is JSON is read as JSON, as in messages. */
export function readSystemOne({ state, questions }: SystemOneRequest, { observation }: AskedAgent) {
  return {
    observation:
      typeof state === 'string' ? observationOf(textOf(state, 'state'), observation, 'state') : jsonOf(state, 'state'),
    questions: Object.entries(questions).map(([name, { type, criteria }]): Question => {
      return { name, words: type === 'choice' && criteria !== undefined ? Object.keys(criteria) : null }
    }),
  }
}

export function systemOneOf({ state, questions }: SystemOneRequest, model: string, answers: readonly Chosen[]) {
  return {
    model,
    answers: Object.fromEntries(
      Object.keys(questions).map((name, i) => {
        const answer = answers[i]
        if (answer === null) return [name, { type: 'refusal' as const }]
        const probabilities = Object.fromEntries(
          answer.probabilities.map(({ value, probability }) => [value, probability]),
        )
        const { choice, confidence } = answer
        return [name, { type: 'choice' as const, choice, confidence, probabilities }]
      }),
    ),
    usage: { input_tokens: tokensIn(typeof state === 'string' ? state : JSON.stringify(state)), output_tokens: 0 },
  }
}
