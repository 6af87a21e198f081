import { listed } from '@agentgym/registry/testing'

/** As long as npm allows, and without a place to break it. */
const longName = `@${'organization'.repeat(3)}/${'reinforcement-learning-'.repeat(7)}maze`
const longWord = 'Unbreakable'.repeat(12)

/** Packages with the longest names, and the largest and smallest values: none of them may break a page. */
export const extremePackages = [
  listed(longName, {
    title: longWord,
    summary: `${longWord} `.repeat(3),
    downloads: 1_234_567_890,
    price_minor: 99_999_999,
    quality: 100,
    difficulty: 'expert',
  }),
  listed('@zero/nothing', { title: 'Nothing', summary: '', downloads: 0, quality: 0 }),
]
