type Json = Record<string, unknown>

/** What the catalogue takes from the package.json of a published version. It has passed vetting, but rules change. */
export type ManifestFacts = {
  title: string
  summary: string
  category: string | null
  difficulty: string | null
  algorithm: string | null
  keywords: string[]
  license: string | null
  homepage: string | null
  repository: string | null
  successCriteria: number
  agentgym: Json
}

export function manifestFacts(name: string, manifest: Json): ManifestFacts {
  const agentgym = object(manifest.agentgym)
  const repository = text(manifest.repository) ?? text(object(manifest.repository).url)
  return {
    title: text(agentgym.title) ?? name.slice(name.indexOf('/') + 1),
    summary: text(agentgym.summary) ?? text(manifest.description)?.slice(0, 280) ?? '',
    category: text(agentgym.category),
    difficulty: text(agentgym.difficulty),
    algorithm: (text(agentgym.algorithm) ?? text(object(agentgym.training).algorithm))?.slice(0, 40) ?? null,
    keywords: keywords(manifest.keywords),
    license: text(manifest.license),
    homepage: webAddress(text(manifest.homepage)),
    repository: webAddress(repository),
    successCriteria: Object.keys(object(agentgym.success)).length,
    agentgym,
  }
}

function keywords(value: unknown): string[] {
  const list = Array.isArray(value) ? value.filter((word) => typeof word === 'string' && word !== '') : []
  return [...new Set<string>(list)].slice(0, 50)
}

/** As npm writes repositories (`git+https://…/x.git`, `git@host:x`) and people write pages; only http(s) leads anywhere. */
function webAddress(value: string | null): string | null {
  const address =
    value
      ?.replace(/^git\+/, '')
      .replace(/^git:/, 'https:')
      .replace(/\.git$/, '') ?? ''
  const url = URL.parse(address)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}
