import { Button } from '../../components/button.tsx'
import { usePage } from '../../layout/page-context.ts'

const titles: Record<string, string> = { github: 'GitHub', google: 'Google' }

/** Log-in through others, where this server offers it. */
export function ProviderLinks({ next }: { next: string }) {
  const { host } = usePage()
  if (host.oauthProviders.length === 0) return null
  return (
    <div class="providers">
      <p class="providers-or">or</p>
      {host.oauthProviders.map((provider) => (
        <Button href={`/v1/oauth/${provider}?return_to=${encodeURIComponent(next)}`}>
          Continue with {titles[provider] ?? provider}
        </Button>
      ))}
    </div>
  )
}
