import type { SyntheticPackage } from './synthetic-packages.ts'

/** A package for `loadPackages` that contains only the given words. */
export function listed(name: string, more: Partial<SyntheticPackage> = {}): SyntheticPackage {
  return {
    name,
    kind: 'scenario',
    visibility: 'public',
    price_minor: 0,
    title: 'Untitled',
    summary: '',
    category: 'control',
    difficulty: 'beginner',
    algorithm: 'ppo',
    trained_on: null,
    solved: null,
    keywords: [],
    quality: 50,
    downloads: 0,
    updated_at: '2026-01-01T00:00:00.000Z',
    readme: '',
    ...more,
  }
}
