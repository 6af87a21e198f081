import { route } from '../app/route.ts'
import { Icon, type IconName } from '../components/icon.tsx'
import { localPath } from '../session/same-site.ts'
import { type Theme, usePage } from './page-context.ts'

const themes: { theme: Theme; sign: IconName; label: string }[] = [
  { theme: 'system', sign: 'monitor', label: 'System theme' },
  { theme: 'light', sign: 'sun', label: 'Light theme' },
  { theme: 'dark', sign: 'moon', label: 'Dark theme' },
]

/**
 * Selects the light, dark or system theme. The form needs no token, because it only changes how this browser shows the
 * site.
 */
export function ThemeSwitch() {
  const { theme: chosen, address } = usePage()
  return (
    <details class="theme-menu">
      <summary>Theme</summary>
      <form class="theme-switch" method="post" action="/theme" aria-label="Theme">
        <input type="hidden" name="next" value={address} />
        {themes.map(({ theme, sign, label }) => (
          <button
            type="submit"
            name="theme"
            value={theme}
            aria-pressed={theme === chosen ? 'true' : 'false'}
            aria-label={label}
            title={label}
          >
            <Icon name={sign} size={14} />
          </button>
        ))}
      </form>
    </details>
  )
}

const aYearSeconds = 365 * 86_400

export const themeRoutes = [
  route('post', '/theme', { access: 'public', formToken: false }, ({ form, host, setCookie, redirect }) => {
    const theme = form.get('theme')
    const secure = host.secure ? '; Secure' : ''
    // Accessible to scripts, because it only contains light or dark.
    if (theme === 'light' || theme === 'dark')
      setCookie(`agentgym_theme=${theme}; Path=/; Max-Age=${aYearSeconds}; SameSite=Lax${secure}`)
    else setCookie(`agentgym_theme=; Path=/; Max-Age=0; SameSite=Lax${secure}`)
    return redirect(localPath(form.get('next')))
  }),
]
