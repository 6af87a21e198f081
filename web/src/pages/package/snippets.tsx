import type { AgentCard } from '@agentgym/contract'
import { Command } from '../../components/command.tsx'
import { usePage } from '../../layout/page-context.ts'
import { agentSnippets } from './agent-snippets.ts'

/** How to run an agent from one's own program. */
export function Snippets({ name, agent }: { name: string; agent: AgentCard }) {
  const { host } = usePage()
  return (
    <section class="package-section" aria-labelledby="use">
      <h2 id="use">Use it</h2>
      <p class="dim">
        The agent is a package with an ONNX model in it: it runs where you install it, and asks no server. This server
        does not host agents yet, so there is no address yet for an OpenAI client to call.
      </p>
      {agentSnippets(name, agent, host.publicUrl).map(({ title, text }) => (
        <div>
          <h3 class="package-label">{title}</h3>
          <Command text={text} label={`Copy: ${title}`} />
        </div>
      ))}
    </section>
  )
}
