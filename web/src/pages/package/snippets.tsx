import type { AgentCard } from '@agentgym/contract'
import { Command } from '../../components/command.tsx'
import { usePage } from '../../layout/page-context.ts'
import { agentSnippets } from './agent-snippets.ts'
import { hostedSnippets } from './hosted-snippets.ts'
import { tryAddress } from './trial-page.tsx'

type SnippetsProps = { name: string; version: string; agent: AgentCard }

/** How to call an agent that runs here, and how to run it in one's own program. */
export function Snippets({ name, version, agent }: SnippetsProps) {
  const { host } = usePage()
  const { observation } = agent.spaces
  return (
    <>
      <section class="package-section" aria-labelledby="call">
        <h2 id="call">Call it</h2>
        <p class="dim">
          Workers of this server run the agent: <a href={tryAddress(name)}>try it here</a>, or call it from a program
          with a <a href="/settings/tokens">token</a> in <code>AGENTGYM_TOKEN</code> that may call agents. Any client of
          OpenAI's chat completions does.
        </p>
        <Listed snippets={hostedSnippets({ name, version, server: host.publicUrl, observation })} />
      </section>
      <section class="package-section" aria-labelledby="use">
        <h2 id="use">Run it yourself</h2>
        <p class="dim">
          The agent is a package with an ONNX model in it: it runs where you install it, and asks no server.
        </p>
        <Listed snippets={agentSnippets(name, agent, host.publicUrl)} />
      </section>
    </>
  )
}

function Listed({ snippets }: { snippets: { title: string; text: string }[] }) {
  return snippets.map(({ title, text }) => (
    <div>
      <h3 class="package-label">{title}</h3>
      <Command text={text} label={`Copy: ${title}`} />
    </div>
  ))
}
