import { createHmac, randomBytes } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { type CountryCode, findPhoneNumbersInText } from 'libphonenumber-js/min'

export const maskedKinds = [
  ...([
    'private_key',
    'jwt',
    'api_key',
    'password',
    'email',
    'iban',
    'card',
    'ip',
    'phone',
    'secret',
    'field',
  ] as const),
]
export type MaskedKind = (typeof maskedKinds)[number]

/** A stand-in; its first group is the kind. */
export const standInPattern = new RegExp(`\\b(${maskedKinds.join('|').toUpperCase()})_[a-z]{8}\\b`, 'g')

export type MaskReport = Record<MaskedKind, number>

export type MaskOptions = {
  /** Names of fields whose values are masked whatever they are, beside the usual ones. */
  fields?: readonly string[]
  /** Country of phone numbers without a country code. */
  country?: CountryCode
}

/** Fields that hold a name, an address or a secret, as their words joined in lower case. */
const usualFields = [
  ...['name', 'fullname', 'firstname', 'lastname', 'givenname', 'familyname', 'surname', 'customername', 'username'],
  ...['address', 'street', 'streetaddress', 'birthdate', 'dateofbirth', 'dob', 'ssn', 'passport', 'passportnumber'],
  ...[
    'password',
    'passwd',
    'secret',
    'clientsecret',
    'token',
    'accesstoken',
    'refreshtoken',
    'apikey',
    'authorization',
    'cookie',
  ],
]

type Rule = {
  kind: MaskedKind
  /** Global. A group named `value` is what is masked, else the whole match. */
  pattern: RegExp
  isReal?(match: string): boolean
  /** The form in which two spellings of a value are the same. */
  normal?(match: string): string
}

const compact = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '').toUpperCase()

/** In this order: what an earlier rule has masked, a later one does not see. */
const rules: readonly Rule[] = [
  { kind: 'private_key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g },
  { kind: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g },
  {
    // By the prefixes that providers give their keys.
    kind: 'api_key',
    pattern:
      /\b(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA|AGPA|AIDA)[A-Z0-9]{12,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{20,}|hf_[A-Za-z0-9]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|lsv2_[a-z]{2}_[a-f0-9]{16,}\w*|(?:pk|sk)-lf-[\w-]{16,}|dop_v1_[a-f0-9]{32,}|agentgym_[A-Za-z0-9]{16,})/g,
  },
  { kind: 'password', pattern: /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:(?<value>[^\s/@]+)@/gi },
  {
    kind: 'password',
    pattern:
      /\b(?:pass(?:word|wd|code)?|pwd|secret|api[_-]?key|access[_-]?token|bearer|authorization)\b["']?\s*(?:[:=]|\bis\b)\s*["']?(?:bearer |basic )?(?<value>[^\s"',;]{4,})/gi,
  },
  { kind: 'password', pattern: /\bbearer (?<value>[\w.~+/-]{16,}=*)/gi },
  {
    kind: 'email',
    pattern: /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}\.)+\p{L}{2,24}/gu,
    // A password before the name of a server has been masked.
    isReal: (match) => !/^PASSWORD_[a-z]{8}@/.test(match),
    normal: (match) => match.toLowerCase(),
  },
  {
    kind: 'iban',
    pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/gi,
    isReal: isIban,
    normal: compact,
  },
  { kind: 'card', pattern: /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.]?\d)/g, isReal: isCard, normal: compact },
  { kind: 'ip', pattern: /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g, isReal: isIPv4 },
  {
    kind: 'ip',
    pattern: /(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi,
    isReal: (match) => match.length > 5 && isIPv6(match),
    normal: (match) => match.toLowerCase(),
  },
]
const secretRule: Rule = {
  kind: 'secret',
  pattern: /(?<![\w/+=-])[A-Za-z0-9_+/=-]{24,}(?![\w/+=-])/g,
  isReal: isRandom,
}

/**
 * Masks secrets and personal data. A value has the same stand-in wherever it occurs, such as `EMAIL_kqzvbnta`, so that arguments
 * still match messages. Stand-ins come from a key that is thrown away: the value cannot be computed from them.
 */
export class PersonalData {
  readonly report: MaskReport = Object.fromEntries(maskedKinds.map((kind) => [kind, 0])) as MaskReport
  readonly #key = randomBytes(32)
  readonly #fields: ReadonlySet<string>
  readonly #country: CountryCode | undefined

  constructor({ fields = [], country }: MaskOptions = {}) {
    this.#fields = new Set([...usualFields, ...fields.map(fieldWords)])
    this.#country = country
  }

  /** A text, masked. */
  text(text: string): string {
    let masked = text
    for (const rule of rules) masked = this.#apply(rule, masked)
    return this.#apply(secretRule, this.#phones(masked))
  }

  /** Any JSON, masked: texts, long numbers, the names of fields, and whatever a field of a masked name holds. */
  json(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return this.#number(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > 8) return null
    if (Array.isArray(value)) return value.map((item) => this.json(item, depth + 1))
    const masked: Record<string, unknown> = Object.create(null)
    for (const [name, item] of Object.entries(value)) {
      masked[this.text(name)] = this.#fields.has(fieldWords(name)) ? this.#field(item) : this.json(item, depth + 1)
    }
    return { ...masked }
  }

  /** Values of fields that are masked whatever they are, so that they can be masked in texts as well. */
  fieldValues(value: unknown, found: Set<string> = new Set()): Set<string> {
    if (typeof value !== 'object' || value === null) return found
    for (const [name, item] of Object.entries(value)) {
      // A short one would be masked within other words.
      if (this.#fields.has(fieldWords(name)) && typeof item === 'string' && item.trim().length >= 4)
        found.add(item.trim())
      else this.fieldValues(item, found)
    }
    return found
  }

  /** A text in which the values of fields are masked first, then everything else. */
  textWith(text: string, values: ReadonlySet<string>): string {
    let masked = text
    for (const value of [...values].sort((a, b) => b.length - a.length)) {
      if (masked.includes(value)) masked = masked.replaceAll(value, () => this.#standIn('field', value))
    }
    return this.text(masked)
  }

  #apply({ kind, pattern, isReal, normal }: Rule, text: string): string {
    return text.replace(pattern, (match, ...rest) => {
      const groups = rest.at(-1) as { value?: string } | string
      const value = (typeof groups === 'object' ? groups.value : undefined) ?? match
      if (isReal !== undefined && !isReal(value)) return match
      return match.replace(value, () => this.#standIn(kind, normal?.(value) ?? value))
    })
  }

  #phones(text: string): string {
    if (!/\d\D{0,3}\d\D{0,3}\d\D{0,3}\d\D{0,3}\d\D{0,3}\d\D{0,3}\d/.test(text)) return text
    let masked = ''
    let from = 0
    for (const { startsAt, endsAt, number } of findPhoneNumbersInText(text, { defaultCountry: this.#country })) {
      masked += text.slice(from, startsAt) + this.#standIn('phone', number.number)
      from = endsAt
    }
    return masked + text.slice(from)
  }

  #number(value: number): unknown {
    const text = String(value)
    if (!/^\d{7,}$/.test(text)) return value
    const masked = this.text(text)
    return masked === text ? value : masked
  }

  #field(value: unknown): unknown {
    if (value === null || typeof value === 'boolean' || value === '') return value
    return this.#standIn('field', typeof value === 'string' ? value.trim() : JSON.stringify(value))
  }

  #standIn(kind: MaskedKind, value: string): string {
    this.report[kind] += 1
    const digest = createHmac('sha256', this.#key).update(`${kind} ${value}`).digest()
    let letters = ''
    for (let i = 0; i < 8; i += 1) letters += String.fromCharCode(97 + (digest[i] % 26))
    return `${kind.toUpperCase()}_${letters}`
  }
}

function fieldWords(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** ISO 13616: the number modulo 97 is 1, with letters as 10 to 35 and the first four characters last. */
function isIban(match: string): boolean {
  const text = compact(match)
  if (text.length < 15 || text.length > 34) return false
  let rest = 0
  for (const character of `${text.slice(4)}${text.slice(0, 4)}`) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** ISO/IEC 7812: Luhn's check digit. A row of one digit is no card. */
function isCard(match: string): boolean {
  const digits = match.replace(/\D/g, '')
  if (/^(\d)\1+$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i += 1) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Whether a word looks drawn at random: hexadecimal of 32 digits or more, or letters of both cases and digits without a pattern. */
function isRandom(word: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(word)) return entropy(word) > 3
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word) && entropy(word) > 3.8
}

/** Shannon's entropy of the characters, in bits each. */
function entropy(word: string): number {
  const counts = new Map<string, number>()
  for (const character of word) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / word.length) * Math.log2(count / word.length)
  return bits
}
