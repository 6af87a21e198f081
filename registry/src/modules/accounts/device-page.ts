import { tokenScopes } from '@agentgym/contract'
import { html } from 'hono/html'
import type { Scope } from '../../core/access/actor.ts'
import { type Html, page } from '../../core/http/pages/page.ts'

type Failure = { failure?: string }

/** Asks for the code that the terminal shows. */
export function codePage({ userCode, failure }: { userCode: string } & Failure): Html {
  return framed(
    'Log in on a device',
    html`
<p class="lead">Enter the code that your terminal shows.</p>
<form method="get" action="/device">
<label>Code<input name="user_code" value="${userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus></label>
${failed(failure)}
<button>Continue</button>
</form>`,
  )
}

/** Asks who is there, before anything about the code is told. */
export function logInPage(
  form: { userCode: string; username: string; formToken: string; providers: string[] } & Failure,
): Html {
  const back = encodeURIComponent(`/device?user_code=${encodeURIComponent(form.userCode)}`)
  return framed(
    'Log in',
    html`
<p class="lead">Log in to decide about the code of your terminal.</p>
<form method="post" action="/device">
<input type="hidden" name="step" value="log-in">
<input type="hidden" name="form_token" value="${form.formToken}">
<input type="hidden" name="user_code" value="${form.userCode}">
<label>Username<input name="username" value="${form.username}" autocomplete="username" autocapitalize="none" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
${failed(form.failure)}
<button>Log in</button>
</form>
${form.providers.map((provider) => html`<p><a href="/v1/oauth/${provider}?return_to=${back}">Log in with ${titles[provider] ?? provider}</a></p>`)}`,
  )
}
const titles: Record<string, string> = { github: 'GitHub', google: 'Google' }

/** Asks for the decision. Shows the code again: whoever was sent a link by somebody else must be able to notice. */
export function approvePage(code: {
  userCode: string
  name: string
  scopes: Scope[]
  username: string
  formToken: string
}): Html {
  return framed(
    'Approve this log-in?',
    html`
<p><b>${code.name}</b> asks to act as <b>${code.username}</b>. It will be able to:</p>
<ul>${code.scopes.map((scope) => html`<li>${tokenScopes[scope]}</li>`)}</ul>
<p>Does your terminal show this code? If you did not just start a log-in there, deny it.</p>
<pre><code>${code.userCode}</code></pre>
<form method="post" action="/device">
<input type="hidden" name="form_token" value="${code.formToken}">
<input type="hidden" name="user_code" value="${code.userCode}">
<button name="step" value="approve">Approve</button>
<button name="step" value="deny" class="quiet">Deny</button>
</form>`,
  )
}

export function decidedPage(state: 'approved' | 'denied'): Html {
  return framed(
    state === 'approved' ? 'Approved' : 'Denied',
    html`<p class="lead">${
      state === 'approved'
        ? 'Your terminal is logged in. Close this page.'
        : 'The terminal gets no token. Close this page.'
    }</p>`,
  )
}

export function framed(title: string, body: Html): Html {
  return page({ title: `${title} · AgentGym`, body: [html`<h1>${title}</h1>`, body] })
}

export function failed(message: string | undefined): Html | '' {
  return message === undefined ? '' : html`<p class="failure" role="alert">${message}</p>`
}
