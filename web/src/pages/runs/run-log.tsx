import type { Run, RunEvent } from '@agentgym/contract'
import { eventWords } from './event-words.ts'

const mostLines = 200

/** What happened, latest first. */
export function RunLog({ log, run }: { log: RunEvent[]; run: Run }) {
  const lines = log.slice(-mostLines).reverse()
  return (
    <section class="run-log" aria-labelledby="log">
      <h2 id="log">Log</h2>
      {lines.length === 0 ? (
        <p class="dim">Its events have been deleted; the curve and the agent are kept.</p>
      ) : (
        <ol tabindex={0} aria-label="What happened">
          {lines.map((event) => (
            <li class={`run-log-line run-log-${event.type}`}>
              <time datetime={event.at}>{event.at.slice(0, 19).replace('T', ' ')}</time>
              <span>{eventWords(event, run.cost.currency)}</span>
            </li>
          ))}
        </ol>
      )}
      {lines.length > 0 && <p class="run-log-zone">Times in UTC, latest first.</p>}
    </section>
  )
}
