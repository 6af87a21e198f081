import type { SampleEpisode } from '../../sdk/contract/src/index.ts'

/** A short valid episode of two numbers and two actions, with these differences. */
export function sampleEpisode(changes: Partial<SampleEpisode> = {}): SampleEpisode {
  return {
    format: 1,
    policy: 'random',
    view: null,
    observation: [{ name: '', kind: 'box', size: 2, shape: [2] }],
    action: [{ name: '', kind: 'discrete', size: 1, shape: [1], labels: ['left', 'right'] }],
    steps: [
      { observation: [0, 0.5], texts: [], action: [1], reward: 1 },
      { observation: [0.1, 0.25], texts: [], action: [0], reward: -0.5 },
    ],
    last: { observation: [0.2, 0], texts: [] },
    end: 'terminated',
    ...changes,
  }
}
