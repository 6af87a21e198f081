import { AgentGymError } from '@agentgym/contract'

/** What a form holds, as text; what is not in it is empty. */
export type FormValues = {
  get(name: string): string
  /** Of boxes and lists that share a name. */
  all(name: string): string[]
}

export const noForm: FormValues = { get: () => '', all: () => [] }

const mostFields = 200

/** Reads a form of this site. Throws `request_invalid` for a body that none of them sends. */
export async function readForm(request: Request): Promise<FormValues> {
  const type = request.headers.get('content-type')?.split(';')[0].trim().toLowerCase()
  const text = await request.text()
  if (type !== 'application/x-www-form-urlencoded' && text !== '') throw notAForm()
  const fields = new URLSearchParams(text)
  if (fields.size > mostFields) throw notAForm()
  return {
    // Browsers write line ends of a text area as CR LF.
    get: (name) => (fields.get(name) ?? '').replaceAll('\r\n', '\n'),
    all: (name) => fields.getAll(name),
  }
}

function notAForm(): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'This is no form of this site.',
    hint: 'Programs use the API under /v1, which takes JSON.',
  })
}
