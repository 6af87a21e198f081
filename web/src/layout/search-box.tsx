import { Icon } from '../components/icon.tsx'
import { useIsland, usePage } from './page-context.ts'

/** Search from everywhere; suggests while one types where there is JavaScript. */
export function SearchBox() {
  useIsland('suggest')
  const { address, path } = usePage()
  const q = path === '/packages' ? (new URL(address, 'http://site').searchParams.get('q') ?? '') : ''
  return (
    <search class="search-box" data-suggest>
      <form action="/packages" method="get">
        <label class="visually-hidden" for="search">
          Search scenarios and agents
        </label>
        <Icon name="search" />
        <input
          id="search"
          name="q"
          type="search"
          value={q}
          placeholder="Search scenarios and agents"
          autocomplete="off"
          spellcheck={false}
          maxlength={200}
        />
      </form>
      <div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions" hidden />
    </search>
  )
}
