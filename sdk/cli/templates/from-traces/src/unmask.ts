/** Values in place of what `from-traces` masked. */
import type { Rng } from '@agentgym/scenario'

/** Made-up values of an episode by their stand-ins: a value is the same in a request and in the results of its calls. */
export type MadeUpValues = { [standIn: string]: string }

/**
 * The text as a user wrote it, with made-up values. They differ in every episode, so the agent learns to read past names and addresses,
 * and those of real users, which it has never seen, do not mislead it.
 */
export function unmask(text: string, values: MadeUpValues, rng: Rng): string {
  return text.replace(standIns, (standIn, kind: keyof typeof forms) => {
    values[standIn] ??= forms[kind](rng)
    return values[standIn]
  })
}

const forms = {
  PRIVATE_KEY: word,
  JWT: word,
  API_KEY: word,
  PASSWORD: word,
  EMAIL: (rng: Rng) => `${word(rng)}@${word(rng)}.${rng.pick(['com', 'org', 'net', 'de', 'io'])}`,
  IBAN: (rng: Rng) => `DE${digits(rng, 20)}`,
  CARD: (rng: Rng) => `${digits(rng, 4)} ${digits(rng, 4)} ${digits(rng, 4)} ${digits(rng, 4)}`,
  IP: (rng: Rng) => `10.${rng.int(256)}.${rng.int(256)}.${rng.int(256)}`,
  PHONE: (rng: Rng) => `+${digits(rng, 2)} ${digits(rng, 3)} ${digits(rng, 7)}`,
  SECRET: word,
  // Names and addresses, of one or two words.
  FIELD: (rng: Rng) => (rng() < 0.5 ? word(rng) : `${word(rng)} ${word(rng)}`),
}
const standIns = new RegExp(`\\b(${Object.keys(forms).join('|')})_[a-z]{8}\\b`, 'g')

function word(rng: Rng): string {
  return characters(rng, 4 + rng.int(6), 'abcdefghijklmnopqrstuvwxyz')
}

function digits(rng: Rng, length: number): string {
  return characters(rng, length, '0123456789')
}

function characters(rng: Rng, length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[rng.int(alphabet.length)]).join('')
}
