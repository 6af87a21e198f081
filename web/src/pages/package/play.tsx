import { formatValue } from '@agentgym/contract/charts'
import { episodeFrame, episodeView } from '@agentgym/pictures'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Price } from '../../components/values.tsx'
import { useIsland, usePage } from '../../layout/page-context.ts'
import { Picture } from '../../pictures/picture.tsx'
import { Replay } from '../../pictures/replay.tsx'
import { KeptEpisodes } from './kept-episodes.tsx'
import { NothingPublished, PackageFrame } from './package-frame.tsx'
import { type PackageView, readPackage } from './read-package.ts'
import { type PlayPage, type PlayScenario, readPlay } from './read-play.ts'

const path = '/packages/:scope/:name/play'

export const playRoutes = [
  route('get', path, { access: 'public' }, answerPlay),

  route('post', `${path}/episodes/:id/remove`, { access: 'account' }, async (visit) => {
    await visit.api.DELETE('/v1/demonstrations/{id}', { params: { path: { id: visit.params.id } } })
    return visit.redirect(episodesAddress(visit))
  }),

  route('post', `${path}/episodes/:id/take-down`, { access: 'operator' }, async (visit) => {
    const params = { path: { id: visit.params.id } }
    const body = { reason: visit.form.get(`reason-${visit.params.id}`) }
    await visit.api.POST('/v1/demonstrations/{id}/removal', { params, body })
    return visit.redirect(episodesAddress(visit))
  }),
]

function episodesAddress({ params: { scope, name } }: Visit): string {
  return `${packageAddress(`${scope}/${name}`)}/play#episodes`
}

/** Plays a package in the page: a scenario by the visitor and by its best agents, or an agent on its scenario. */
async function answerPlay(visit: Visit): Promise<Response> {
  const view = await readPackage(visit)
  const { page } = view
  const play = page.latest === null ? null : await readPlay(visit, view, page.latest.version)
  return visit.page(
    <PackageFrame view={view} tab="/play">
      {play === null ? (
        <NothingPublished name={page.name} takenDown={page.taken_down !== null} member={view.member} />
      ) : (
        <section class="package-section play-page" aria-labelledby="play">
          <h2 id="play">Play</h2>
          {play.scenario === null ? (
            <Unplayable view={view} play={play} />
          ) : (
            <Playable play={play} scenario={play.scenario} />
          )}
        </section>
      )}
    </PackageFrame>,
    { title: `Play ${page.title ?? page.name}`, hidden: page.latest === null },
  )
}

/** What the visitor may not have never leaves the server: they see what was recorded. */
function Unplayable({ view: { page }, play: { offer, shown } }: { view: PackageView; play: PlayPage }) {
  return (
    <>
      {offer === null ? (
        <Notice kind="info">The scenario of this agent is not on this server, so it cannot be played here.</Notice>
      ) : (
        <Notice kind="info">
          {offer.price.kind === 'per_run'
            ? 'This scenario runs on this server only. '
            : page.kind === 'agent'
              ? 'Buy the scenario of this agent to play it in this page. '
              : 'Buy this scenario to play it in this page. '}
          {offer.price.kind === 'one_time' && (
            <Button href={`/buy/${offer.package}`} size="small">
              Buy for <Price minor={offer.price.amount_minor} currency={offer.price.currency} kind={offer.price.kind} />
            </Button>
          )}
        </Notice>
      )}
      <Recorded shown={shown} />
    </>
  )
}

function Recorded({ shown: { episode, details } }: Pick<PlayPage, 'shown'>) {
  if (episode === null)
    return <EmptyState title="No recorded episode">A recorded episode appears here once one is on record.</EmptyState>
  const { name, version } = details
  return <Replay players={[{ label: 'Recorded', name, version }]} episode={episode} />
}

type PlayableProps = { play: PlayPage; scenario: PlayScenario }

function Playable({ play, scenario }: PlayableProps) {
  useIsland('play')
  const { assets, account } = usePage()
  const { name, version, hash, tarball, view } = scenario
  const agents = play.agents.flatMap((agent) =>
    agent.tarball === null ? [] : [{ name: agent.name, tarball: agent.tarball }],
  )
  const keep = account === null ? null : `/v1/packages/${name}/versions/${version}/demonstrations`
  const configuration = { name, version, hash, tarball, view, agents, keep, ...assets.play }
  return (
    <>
      <noscript>
        <Notice kind="info">Playing needs JavaScript. Below is a recorded episode.</Notice>
        <Recorded shown={play.shown} />
      </noscript>
      <div class="play" data-play={JSON.stringify(configuration)}>
        <div class="play-table">
          <Stage play={play} />
          <div class="play-ended" data-play-part="ended" hidden>
            <p role="alert" data-play-part="why" />
            <button class="button" type="button" data-play-part="again">
              Start again
            </button>
          </div>
          <div class="play-body" data-play-part="controls" hidden>
            <p class="play-now" data-play-part="now" aria-live="polite" />
            <div class="play-actions" data-play-part="actions" />
            <Keep page={play.shown.details.name} loggedIn={account !== null} />
            <Controls play={play} />
          </div>
        </div>
        <Scores play={play} scenario={scenario} />
      </div>
      {play.kept !== null && <KeptEpisodes play={play} kept={play.kept} />}
    </>
  )
}

const aboutKeeping = 'Kept episodes count on the leaderboard. Others can download them, without your name.'

/** Shown at the end of the visitor's own episode. */
function Keep({ page, loggedIn }: { page: string; loggedIn: boolean }) {
  const address = `${packageAddress(page)}/play`
  return (
    <div class="play-keep" data-play-part="keep" hidden>
      {loggedIn ? (
        <button class="button button-small" type="button" data-play-part="keep-button">
          Keep this episode
        </button>
      ) : (
        <span>
          <a href={`/login?next=${encodeURIComponent(address)}`}>Log in</a> to keep your episodes.
        </span>
      )}
      <span class="dim" data-play-part="kept" data-usual={aboutKeeping} role="status">
        {aboutKeeping}
      </span>
    </div>
  )
}

function Stage({ play: { shown } }: { play: PlayPage }) {
  const { episode } = shown
  return (
    <div class="play-frame">
      <section class="play-stage" data-play-part="stage" aria-label="Scenario" tabindex={0}>
        {episode !== null && episodeView(episode)?.kind !== 'transcript' && (
          <Picture picture={episodeFrame(episode, episodeView(episode), 0, { title: 'Start of an episode' })} />
        )}
      </section>
      <button class="button button-primary play-start" type="button" data-play-part="start" hidden>
        Start
      </button>
    </div>
  )
}

const speeds = [2, 5, 10, 30, 60]

function Controls({ play: { agents } }: { play: PlayPage }) {
  return (
    <>
      <div class="play-bar">
        <button class="button button-small" type="button" data-play-part="toggle">
          <span class="play-idle" data-play-part="run">
            Real time
          </span>
          <span class="play-running">Pause</span>
        </button>
        <button class="button button-small" type="button" data-play-part="step" hidden>
          Step
        </button>
        <button class="button button-small" type="button" data-play-part="restart">
          Restart
        </button>
        <button class="button button-small" type="button" data-play-part="next">
          Next episode
        </button>
      </div>
      <div class="play-choices">
        <div class="field">
          <label for="play-player">Player</label>
          <select id="play-player" data-play-part="player">
            <option value="person">You</option>
            {agents.map(({ name, tarball }) => (
              <option value={name} disabled={tarball === null}>
                {name}
              </option>
            ))}
            <option value="random">Random actions</option>
          </select>
        </div>
        <div class="field">
          <label for="play-speed">Speed</label>
          <select id="play-speed" data-play-part="speed">
            {speeds.map((speed) => (
              <option value={speed} selected={speed === 10}>
                {speed} steps/s
              </option>
            ))}
          </select>
        </div>
      </div>
      <details class="play-keys">
        <summary>
          Keys <Icon name="chevron-down" size={14} />
        </summary>
        <dl>
          <Key keys="← → ↑ ↓, 1–9" what="play an action, or the least and the greatest number" />
          <Key keys="Space" what="do nothing, where an action does that" />
          <Key keys="Esc" what="run in real time, or pause" />
          <Key keys="N" what="next episode" />
        </dl>
      </details>
    </>
  )
}

function Key({ keys, what }: { keys: string; what: string }) {
  return (
    <div>
      <dt>{keys}</dt>
      <dd>{what}</dd>
    </div>
  )
}

/** The visitor's episodes beside the verified results. */
function Scores({ play: { agents, random, kept }, scenario }: PlayableProps) {
  const people = kept?.people ?? null
  return (
    <aside class="play-scores" aria-label="Scores">
      <dl class="play-now-scores">
        <div>
          <dt>Return</dt>
          <dd data-play-part="return">0</dd>
        </div>
        <div>
          <dt>Step</dt>
          <dd data-play-part="steps">0</dd>
        </div>
        <div>
          <dt>Episode</dt>
          <dd data-play-part="episode">1</dd>
        </div>
      </dl>
      <table class="table play-board">
        <caption class="visually-hidden">Returns on {scenario.name}</caption>
        <thead>
          <tr>
            <th scope="col">Player</th>
            <th scope="col" class="numeric">
              Mean
            </th>
            <th scope="col" class="numeric">
              Best here
            </th>
          </tr>
        </thead>
        <tbody>
          <Score player="person" score={null}>
            You
          </Score>
          {agents.map(({ name, score, tarball }) => (
            <Score player={name} score={score}>
              <a href={packageAddress(name)}>{name}</a>
              {tarball === null && <span class="dim"> paid</span>}
            </Score>
          ))}
          {people !== null && (
            <Score player="people" score={people.return_mean}>
              People
            </Score>
          )}
          <Score player="random" score={random}>
            Random
          </Score>
        </tbody>
      </table>
      <p class="dim">
        Agents: verified mean over held-out episodes. People: mean of the episodes they kept. Best here: the best return
        on this visit.
      </p>
      <p class="dim">
        The scenario runs in your browser, in a sandbox without network and storage. It must answer within 2 seconds;
        its memory is limited by your browser alone.
      </p>
    </aside>
  )
}

type ScoreProps = { player: string; score: number | null; children?: unknown }

function Score({ player, score, children }: ScoreProps) {
  return (
    <tr>
      <th scope="row">{children}</th>
      <td class="numeric">{score === null ? '–' : formatValue(score)}</td>
      <td class="numeric" data-play-score={player}>
        –
      </td>
    </tr>
  )
}
