import { AgentGymError, currencyDigits, parseAmount } from '@agentgym/contract'

export type AmountWord = {
  /** As it is typed: `--budget`, `AMOUNT`. */
  name: string
  /** What it means: `the most that the run may cost`. */
  meaning: string
}

/** `--budget` of a training run. */
export const budgetWord: AmountWord = { name: '--budget', meaning: 'the most that the run may cost' }

/**
 * An amount as people write it (`12.50`), in minor units of the server's currency. Throws `config_invalid`, which names
 * the option and shows how to write it.
 */
export function readAmount(text: string, currency: string, { name, meaning }: AmountWord): number {
  const parsed = parseAmount(text, currency)
  if ('minor' in parsed) return parsed.minor
  const digits = currencyDigits(currency)
  const example = digits === 0 ? '250' : `2.${'5'.padEnd(digits, '0')}`
  const shown = text.slice(0, 100)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${name} is ${JSON.stringify(shown)}, which ${parsed.problem}`,
    hint: `Give ${meaning}, in ${currency}: ${name.startsWith('--') ? `${name} ` : ''}${example}.`,
    data: { field: name.replace(/^--/, '').toLowerCase(), value: shown, currency },
  })
}
