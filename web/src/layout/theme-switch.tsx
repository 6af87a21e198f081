import { Icon, type IconName } from '../components/icon.tsx'
import { type Theme, usePage } from './page-context.ts'

const themes: { theme: Theme; sign: IconName; label: string }[] = [
  { theme: 'system', sign: 'monitor', label: 'Colours as the system has them' },
  { theme: 'light', sign: 'sun', label: 'Light colours' },
  { theme: 'dark', sign: 'moon', label: 'Dark colours' },
]

/** Light, dark, or as the system has it. Not signed, for it changes only how this browser shows the site. */
export function ThemeSwitch() {
  const { theme: chosen, address } = usePage()
  return (
    <form class="theme-switch" method="post" action="/theme" aria-label="Colours">
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
  )
}
