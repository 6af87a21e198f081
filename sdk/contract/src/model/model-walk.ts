import { modelFailure } from './model-failure.ts'
import type { ModelLimits } from './model-limits.ts'

/** One walk over a file: its limits, and how much of it has been read. */
export class ModelWalk {
  readonly limits: ModelLimits
  #fields = 0

  constructor(limits: ModelLimits) {
    this.limits = limits
  }

  /** Counts a field that has been read. Time goes with fields, not with bytes: two bytes can be one. */
  count(): void {
    if (++this.#fields > this.limits.fields)
      throw modelFailure('model_too_many_parts', `it has more than ${this.limits.fields} fields in all`, {
        limit: this.limits.fields,
      })
  }
}
