import { parseSync } from 'vite'

/** A phrase that reads translated, and what products say instead. */
type Phrase = { pattern: RegExp; instead: string }

const phrases: Phrase[] = [
  { pattern: /\b(whoever|whosoever)\b/i, instead: 'the user, the caller, the publisher' },
  { pattern: /\bnobody\b/i, instead: 'no one, or the passive: "not visible to others"' },
  { pattern: /\bsomebody\b/i, instead: 'someone, another user' },
  { pattern: /\bstands? here\b|\bstand here\b/i, instead: 'appears here, is stored in' },
  { pattern: /\b(is|are|was|were) told\b|\bunless told\b/i, instead: 'is notified; Default: …' },
  { pattern: /\b(hold|holds|held|holding) \w+( \w+)? against\b|\bhold against\b/i, instead: 'evaluate against' },
  { pattern: /\bupkeep\b/i, instead: 'scheduled tasks' },
  { pattern: /\b(gives?|giving|gave) way\b/i, instead: 'yield, replace' },
  { pattern: /\bplays? (it|them|the agent) again\b/i, instead: 're-run, evaluate' },
  {
    pattern: /\b(amid|amidst|lest|thereof|wherein|whereof)\b|\bsave for\b/i,
    instead: 'during, so that … not, except, its',
  },
  { pattern: /\bgo(es|ne)? with it\b|\bcame? of it\b|\bbecame of\b/i, instead: 'name what happened' },
  { pattern: /\bfrom now on\b/i, instead: 'Revoked, Disabled: the state' },
  { pattern: /\bthere is nothing (there|here)\b/i, instead: 'No … yet' },
  { pattern: /\bin the manner of\b/i, instead: 'compatible with, like' },
  { pattern: /\b(takes|needs) the scopes?\b/i, instead: 'Requires the scope' },
  { pattern: /\bleave (it|them|the \w+) out\b/i, instead: 'Omit' },
  { pattern: /\blets? us in\b|\bmend(s|ed)?\b/i, instead: 'failed to connect, fix' },
  { pattern: /\b(stays?|stay) as (it|they) (is|are)\b/i, instead: 'does not change' },
  { pattern: /\bwhat (is|was) (asked|told|given|taken|held|owed)\b/i, instead: 'a noun: the request, the input' },
  { pattern: /\bcomes? of it\b|\bcame to (a|no)\b|\bgot nowhere\b|\bgave no\b/i, instead: 'the result; had no result' },
  { pattern: /\bmoney (back|came)\b|\bby the run\b/i, instead: 'refunded, the payment arrived, per run' },
  { pattern: /\btoo easily mistaken\b|\blooks? too much like\b/i, instead: 'too similar to' },
  { pattern: /\b(one|it|that) which\b|\bof which all\b|\bnone of ours\b/i, instead: 'a plain noun' },
  { pattern: /\bsays? so\b|\bno more at once\b|\bfrom here on\b|\bas it (is|was) then\b/i, instead: 'name the state' },
  { pattern: /(?<!")\blog-ins?\b|\be-mails?\b|(?<![/{])\borganisations?\b/i, instead: 'login, email, organization' },
  { pattern: /\bthey that\b|\bhe that\b|\bthose that are yet\b/i, instead: 'a plain noun' },
]

type SyntaxNode = { type: string; start: number; end: number } & Record<string, unknown>

/** Text that people read in a source file: string literals, templates and JSX, not comments, imports or class names. */
export function shownTexts(path: string, source: string): { text: string; line: number }[] {
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0].message}`)
  const found: { text: string; line: number }[] = []
  const visit = (node: SyntaxNode): void => {
    if (/^(Import|Export(All|Named))/.test(node.type) && node.source) return
    const text = textOf(node)
    if (text !== undefined) found.push({ text, line: source.slice(0, node.start).split('\n').length })
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child)
  }
  visit(program as unknown as SyntaxNode)
  return found
}

function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'JSXText') return String(node.value).replace(/\s+/g, ' ')
  if (node.type === 'TemplateElement') return String((node.value as { cooked: string }).cooked)
  return undefined
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Every phrase to replace in a file, as `path:line: text (say …)`. */
export function findPhrases(path: string, source: string): string[] {
  return shownTexts(path, source).flatMap(({ text, line }) =>
    // A single word is a name, such as the reserved username `nobody`.
    phrases
      .filter(({ pattern }) => /\S\s\S/.test(text) && pattern.test(text))
      .map(({ instead }) => `${path}:${line}: ${text.trim().slice(0, 100)} (say: ${instead})`),
  )
}
