import type { AgentCard } from '@agentgym/contract'
import { Figure, Figures } from '../../components/figure.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Drawn } from '../../pictures/drawn.tsx'
import { learningCurve } from '../../pictures/learning-curve.ts'
import { Replay } from '../../pictures/replay.tsx'
import { Checks } from './checks.tsx'
import { EvaluationSection } from './evaluation.tsx'
import { Prose } from './prose.tsx'
import type { VersionView } from './read-package.ts'
import { readmeAddress } from './readme-page.tsx'
import { Snippets } from './snippets.tsx'
import { SpacesTable, spacesOfPolicy } from './spaces-table.tsx'

/** A version of an agent: what it came to, how it learned, how to use it, its model card. */
export function AgentVersion({ shown, title }: { shown: VersionView; title: string }) {
  const { details, readmeHtml, episode } = shown
  const { agent, learning_curve: curve } = details
  return (
    <>
      {agent !== null && <Training agent={agent} />}
      <EvaluationSection details={details} />
      {curve !== null && curve.length > 1 && (
        <section class="package-section" aria-labelledby="curve">
          <h2 id="curve">How it learned</h2>
          <figure class="package-curve">
            <Drawn
              picture={learningCurve(curve, {
                title: `Learning curve of ${details.name}`,
                target: agent?.evaluation.success.criteria.find(({ metric }) => metric === 'return_mean')?.target,
              })}
            />
            <figcaption class="dim">
              Mean return of the last 100 episodes, as a run of this server recorded it.
            </figcaption>
          </figure>
        </section>
      )}
      {episode !== null && (
        <section class="package-section" aria-labelledby="episode">
          <h2 id="episode">An episode of its evaluation</h2>
          <Replay episode={episode} name={details.name} version={details.version} />
        </section>
      )}
      {agent !== null && <Snippets name={details.name} version={details.version} agent={agent} />}
      {readmeHtml.trim() !== '' && (
        <section class="package-section" aria-labelledby="card">
          <h2 id="card">Model card</h2>
          <Prose html={readmeHtml} title={title} below={2} all={readmeAddress(details)} />
        </section>
      )}
      {agent !== null && (
        <section class="package-section" aria-labelledby="spaces">
          <h2 id="spaces">Observation and action</h2>
          <SpacesTable rows={spacesOfPolicy(agent.policy)} caption="Observation and action of the model" />
        </section>
      )}
      <Checks checks={details.checks} />
    </>
  )
}

function Training({ agent: { scenario, algorithm, steps, policy } }: { agent: AgentCard }) {
  return (
    <section class="package-section" aria-label="Training">
      <p>
        Trained on{' '}
        <a class="mono" href={`${packageAddress(scenario.name)}/v/${encodeURIComponent(scenario.version)}`}>
          {scenario.name}@{scenario.version}
        </a>
      </p>
      <Figures>
        <Figure label="Algorithm">{algorithm.toUpperCase()}</Figure>
        <Figure label="Trained" note="environment steps">
          {steps.toLocaleString('en')}
        </Figure>
        <Figure label="Network" note={`${policy.activation}, actor and critic alike`}>
          {policy.hidden.length === 0 ? 'linear' : policy.hidden.join(' × ')}
        </Figure>
      </Figures>
    </section>
  )
}
