import { route } from '../app/route.ts'
import { Command } from '../components/controls.tsx'
import { usePage } from '../layout/page-context.ts'

export const publishGuideRoutes = [
  route('get', '/publish', { access: 'public' }, (visit) =>
    visit.page(<PublishPage />, {
      title: 'Publish a scenario or an agent',
      description:
        'From a template to a package that others find, train on and buy, in commands that work as they stand.',
    }),
  ),
]

/** From nothing to a package that others find, in commands that work as they stand. */
function PublishPage() {
  const { host, account } = usePage()
  const scope = account?.username ?? 'you'
  return (
    <article class="guide">
      <h1>Publish a scenario or an agent</h1>
      <p class="lead">
        Everything is done by the command line. What you publish carries your name: <code>@{scope}/…</code>
      </p>
      <h2>Log in</h2>
      <p>It opens this site, where you approve it. npm and pnpm are logged in with it.</p>
      <Command text={`AGENTGYM_SERVER=${host.publicUrl} agentgym login`} />

      <h2>Publish a scenario</h2>
      <p>Begin from a template, and play it here before anybody else does.</p>
      <Command text="agentgym scenario init my-scenario" />
      <Command text="agentgym scenario check my-scenario" />
      <p>
        Publishing builds one bundle and uploads it. A worker checks it in a sandbox: that it resets, steps, ends and
        repeats itself under one seed. Until that has passed nobody sees the version.
      </p>
      <Command text="agentgym scenario publish my-scenario" />

      <h2>Train, and publish the agent</h2>
      <p>
        On your own machine, or on this server’s with <code>--remote</code>: a run of that kind is on{' '}
        <a href="/runs">your runs</a>, and can publish the agent when it has completed.
      </p>
      <Command text={`agentgym train @${scope}/my-scenario --remote --watch --publish @${scope}/my-agent`} />
      <p>
        This marketplace plays every published agent again, on seeds that nobody knew when it was published, and signs
        what came of it. That is what <em>verified</em> means.
      </p>

      <h2>Sell it</h2>
      <p>
        A price may be set once for a licence, or by the run. A raise takes effect after the notice period; whoever has
        bought keeps what they bought.
      </p>
      <Command text={`agentgym price @${scope}/my-agent 25 --trial 100`} />
      <p>
        Authors of scenarios may ask for a share of what agents trained on them are sold for: <code>--royalty</code>.{' '}
        <a href="/earnings">Earnings</a> show every sale.
      </p>

      <h2>Change your mind</h2>
      <p>
        Versions are never overwritten. A new one replaces an old one; one that should not be used is deprecated, or
        yanked: lock files keep it, and nobody gets it anew.
      </p>
      <Command text={`agentgym deprecate @${scope}/my-scenario@1.0.0 "Use 1.0.1"`} />
      <Command text={`agentgym yank @${scope}/my-scenario@1.0.0`} />
    </article>
  )
}
