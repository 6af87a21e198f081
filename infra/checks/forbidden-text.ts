/** What must not stand in a file, and why; `in` limits a rule to some files. */
export type ForbiddenText = { name: string; pattern: RegExp; reason: string; in?: RegExp }

// Words are put together from pieces so that this file does not find itself.
const piece = (...parts: string[]) => parts.join('')

export const forbiddenText: ForbiddenText[] = [
  {
    name: 'path of one machine',
    pattern: new RegExp(`(?<![\\w.}/~*-])/(${['work', 'farm', 'home/\\w+', 'Users/\\w+', 'mnt'].join('|')})/`),
    reason: 'nobody else has it',
  },
  {
    name: 'registry host',
    pattern: new RegExp(
      [
        piece('registry', '\\.npmjs'),
        piece('registry', '\\.yarnpkg'),
        piece('deb', '\\.debian\\.org'),
        piece('py', 'pi\\.org'),
        piece('files\\.python', 'hosted'),
        piece('download\\.py', 'torch'),
        piece('artifact', 'registry'),
        piece('\\.pkg', '\\.dev'),
      ].join('|'),
    ),
    reason: 'packages come from where the user’s own npm and apt are configured to look',
  },
  {
    name: 'any',
    pattern: /\bas any\b|:\s*any\b(?!\s*[a-z])|<any[,>]/,
    reason: 'say what it is, or `unknown`',
    in: /\.tsx?$/,
  },
  {
    name: 'silenced checker',
    pattern: new RegExp(piece('@ts-', '(ignore|expect-error|nocheck)|', 'biome-', 'ignore|', 'eslint-', 'disable')),
    reason: 'mend the cause',
    in: /\.tsx?$|\.mjs$/,
  },
  {
    name: 'test that does not run',
    pattern:
      /\b(it|test|describe|suite)(\.\w+)*\.(skip|only|todo|fails|skipIf|runIf)\b(?!\(process\.platform)|\bctx\.skip\(/,
    reason:
      'it tests nothing; only the platform may decide, and long variants have their own switch, AGENTGYM_TEST_LONG',
    in: /\.test\.tsx?$/,
  },
  {
    name: 'unfinished word',
    pattern: new RegExp(
      `\\b(${['TO', 'FIX'].map((start, i) => start + ['DO', 'ME'][i]).join('|')}|${piece('X', 'XX')}|${piece('HA', 'CK')})\\b`,
    ),
    reason: 'finish it, or file an issue',
  },
]

/** Every place where a file breaks a rule, as `path:line: rule (reason)`. */
export function findForbiddenText(path: string, text: string): string[] {
  const rules = forbiddenText.filter((rule) => rule.in === undefined || rule.in.test(path))
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ name, reason }) => `${path}:${index + 1}: ${name} (${reason})`),
    )
}
