import type { PackagePage } from '@agentgym/contract'
import { html, raw } from 'hono/html'
import { type Html, page } from '../../core/http/pages/page.ts'

/** A package as a plain page, at the address that `agentgym scenario publish` prints. */
export function packageDocument(shown: PackagePage, publicUrl: string): Html {
  const { name, latest, readme, quality } = shown
  const facts: [string, string][] = [
    ['Version', latest === null ? 'none is published yet' : latest.version],
    ['Kind', shown.kind],
    ['Publisher', shown.owner.username],
    ['Licence', latest?.license ?? 'not stated'],
    ['Quality', `${quality.score} of 100`],
    ['Downloads', String(shown.downloads)],
    ['Integrity', latest?.integrity ?? 'none'],
  ]
  const body = html`
<h1>${name}</h1>
<p class="lead">${shown.summary ?? ''}</p>
<pre><code>export AGENTGYM_SERVER=${publicUrl}
agentgym train ${name}</code></pre>
<div class="scroll"><table>
${facts.map(([label, value]) => html`<tr><td>${label}</td><td><code>${value}</code></td></tr>`)}
</table></div>
${readme === null ? '' : html`<h2>README</h2><div>${raw(readme.html)}</div>`}`
  return page({ title: `${name} · AgentGym`, body })
}
