/** A route's path with something in every parameter; accounts are `acme`. */
export function samplePath(pattern: string): string {
  return pattern.replace(/:(\w+)(\{[^}]*\})?\??/g, (_, name) => samples[name] ?? 'sample')
}

const samples: Record<string, string> = {
  scope: '@acme',
  account: 'acme',
  organisation: 'acme',
  username: 'acme',
  id: '00000000-0000-4000-8000-000000000000',
  version: '1.0.0',
  slug: 'install',
  group: 'packages',
  iteration: '1',
}
