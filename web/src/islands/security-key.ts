// Security keys and passkeys: [data-add-key] adds one to the account, [data-use-key] confirms the session with one.
// Both stay hidden in browsers without WebAuthn's JSON; codes from the app work without scripts.

type Failure = { error?: { code?: string; message?: string; hint?: string } }

async function post(path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const { code, message = 'The server did not answer as expected.', hint = '' } = (answer as Failure).error ?? {}
  if (code === 'second_factor_required') location.assign('/settings/security/confirm?next=/settings/security')
  throw new Error(`${message} ${hint}`.trim())
}

async function add(box: HTMLElement): Promise<void> {
  const name = box.querySelector('input')?.value.trim() || 'Security key'
  const path = '/v1/account/security-keys'
  const options = (await post(`${path}/options`, {})) as PublicKeyCredentialCreationOptionsJSON
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  await post(path, { name, credential: credential.toJSON() })
  location.assign('/settings/security')
}

async function use(box: HTMLElement): Promise<void> {
  const path = '/v1/sessions/current/security-key'
  const options = (await post(`${path}/options`, {})) as PublicKeyCredentialRequestOptionsJSON
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  await post(path, { credential: credential.toJSON() })
  location.assign(box.dataset.useKey ?? '/')
}

function attach(box: HTMLElement, work: (box: HTMLElement) => Promise<void>): void {
  const button = box.querySelector('button')
  const message = box.querySelector<HTMLElement>('[role="alert"]')
  if (button === null || message === null) return
  box.hidden = false
  button.addEventListener('click', async () => {
    button.disabled = true
    message.textContent = ''
    try {
      await work(box)
    } catch (error) {
      message.textContent = reason(error)
      button.disabled = false
    }
  })
}

function reason(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError') return 'The browser got no answer from a key. Try again.'
  if (name === 'InvalidStateError') return 'This key is already registered.'
  return error instanceof Error ? error.message : String(error)
}

if (
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'
) {
  for (const box of document.querySelectorAll<HTMLElement>('[data-add-key]')) attach(box, add)
  for (const box of document.querySelectorAll<HTMLElement>('[data-use-key]')) attach(box, use)
}

export {}
