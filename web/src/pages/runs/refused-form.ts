import type { FormFailure } from '../../app/form-failure.ts'
import type { FormValues } from '../../app/form-values.ts'

/** Which form of a run's page the API has refused, why, and what was typed in it. */
export type RefusedForm = { form: 'act' | 'publish' | 'evaluate'; failure: FormFailure; values: FormValues }
