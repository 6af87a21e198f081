import { html } from 'hono/html'
import { type Html, page } from '../../core/http/pages/page.ts'

/** What runs here and where to go: until the marketplace's site stands at this address. */
export function homePage(publicUrl: string, version: string): Html {
  const body = html`
<h1>AgentGym registry</h1>
<p class="lead">Scenarios to train agents on, and the agents trained on them, as packages. Version ${version}.</p>
<h2>Use it</h2>
<pre><code>export AGENTGYM_SERVER=${publicUrl}
agentgym signup --username you --email you@example.com
agentgym login
agentgym search cart
agentgym train @you/cart-pole</code></pre>
<p>npm and pnpm work too. <code>agentgym login</code> writes the line that they need into <code>.npmrc</code>:</p>
<pre><code>@you:registry=${publicUrl}/npm/</code></pre>
<h2>Addresses</h2>
<div class="scroll"><table>
<tr><td><a href="/docs">/docs</a></td><td>Reference of the HTTP API, for readers</td></tr>
<tr><td><a href="/v1/openapi.json">/v1/openapi.json</a></td><td>The same as OpenAPI 3.1, for programs</td></tr>
<tr><td><code>/npm/</code></td><td>npm registry</td></tr>
<tr><td><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a></td><td>Whether the process lives, and whether it can serve</td></tr>
</table></div>`
  return page({ title: 'AgentGym registry', body })
}
