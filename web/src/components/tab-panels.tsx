import type { Child } from 'hono/jsx'

type TabPanelsProps = {
  /** Names the radio buttons. */
  group: string
  legend: string
  /** `tab`: a word. */
  panels: { tab: string; body: Child }[]
}

/** One panel at a time, chosen by radio buttons that CSS reads. */
export function TabPanels({ group, legend, panels }: TabPanelsProps) {
  return (
    <fieldset class="snippets">
      <legend class="visually-hidden">{legend}</legend>
      {panels.map(({ tab, body }, index) => (
        <>
          <label class="snippet-tab">
            <input class="visually-hidden" type="radio" name={group} checked={index === 0} />
            {tab}
          </label>
          <div class="snippet">{body}</div>
        </>
      ))}
    </fieldset>
  )
}
