import { route } from '../app/route.ts'
import { Command, installCommand } from '../components/controls.tsx'
import { usePage } from '../layout/page-context.ts'

export const publishGuideRoutes = [
  route('get', '/publish', { access: 'public' }, (visit) =>
    visit.page(<PublishPage />, {
      title: 'Publish a scenario or an agent',
      description: 'Publish a scenario or an agent from the command line, step by step.',
    }),
  ),
]

/** How to publish, in commands to copy. */
function PublishPage() {
  const { host, account } = usePage()
  const scope = account?.username ?? 'you'
  return (
    <article class="guide">
      <h1>Publish a scenario or an agent</h1>
      <p class="lead">
        Publish from the command line. Your packages are named <code>@{scope}/…</code>. New here? Start with{' '}
        <a href="/docs/install">Install</a> and the <a href="/docs/quickstart-author">author quickstart</a>.
      </p>
      {host.commandUrl && <Command text={installCommand(host.commandUrl)} />}
      <h2>Log in</h2>
      <p>Approve the login in your browser. It also configures npm and pnpm.</p>
      <Command text={`AGENTGYM_SERVER=${host.publicUrl} agentgym login`} />

      <h2>Publish a scenario</h2>
      <p>Start from a template and check it locally.</p>
      <Command text="agentgym scenario init my-scenario" />
      <Command text="agentgym scenario check my-scenario" />
      <p>
        The command bundles and uploads the scenario. A worker checks it in a sandbox: it must reset, step, end, and
        reproduce under a seed. The version becomes visible once all checks pass.
      </p>
      <Command text="agentgym scenario publish my-scenario" />

      <h2>Train and publish an agent</h2>
      <p>
        Train on your own machine, or on this server with <code>--remote</code>. Remote runs are listed under{' '}
        <a href="/runs">Runs</a> and can publish the agent when they complete.
      </p>
      <Command
        text={`agentgym train @${scope}/my-scenario --remote --watch --publish @${scope}/my-agent --summary 'What the agent does.'`}
      />
      <p>
        <em>Verified</em> means that this marketplace re-ran the agent on held-out seeds, got the claimed result and
        signed it.
      </p>

      <h2>Sell it</h2>
      <p>
        Sell a license for a one-time price, or charge per training run. Price increases take effect after a notice
        period and never affect existing buyers.
      </p>
      <Command text={`agentgym price @${scope}/my-agent 25 --trial 100`} />
      <p>
        Scenario authors can earn a royalty on agents trained on their scenario: <code>--royalty</code>.{' '}
        <a href="/earnings">Earnings</a> lists every sale.
      </p>

      <h2>Deprecate or yank</h2>
      <p>
        Versions are immutable. Publish a new version to fix an old one. Deprecating shows a warning; yanking hides a
        version from new installs, while lockfiles keep it.
      </p>
      <Command text={`agentgym deprecate @${scope}/my-scenario@1.0.0 "Use 1.0.1"`} />
      <Command text={`agentgym yank @${scope}/my-scenario@1.0.0`} />
    </article>
  )
}
