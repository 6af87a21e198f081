/** What `encoder-bench.ts` writes anew for every run. */
export const variant: { encoder: 'minilm' | null; trainingTickets: number } = {
  encoder: 'minilm',
  trainingTickets: 200,
}
