/**
 * Sentences in which customers write. `request` says what the customer wants, `detail` adds a circumstance. `{slot}` is
 * filled from `slots` or, for `{name}`, `{date}` and so on, from the ticket.
 *
 * `held` sentences are for evaluation only: no training ticket contains one. They are new sentences made mostly of words
 * that the training sentences teach, as a new customer's would be.
 */
export type Phrases = {
  slots: Record<string, readonly string[]>
  train: { request: readonly string[]; detail: readonly string[] }
  held: { request: readonly string[]; detail: readonly string[] }
}
