/** The search as a picture: the question, the trail of notes, the page of results and the open article. */
import type { Scene, SceneShape } from '@agentgym/scenario'
import { entityOf, read, relationsOf } from './corpus.ts'
import { type Desk, notesOf, placeId, sourceOf } from './procedure.ts'

const WIDTH = 100
const HEIGHT = 62
const NOTES_Y = 16
const PAGE_Y = 34
const LINE = 4.4
/** Words of the question on a line. */
const WORDS = 11
const NOTE = { width: 22, height: 9, gap: 2.5 }
const ARTICLE_X = 58

const text = (x: number, y: number, words: string, color: SceneShape['color'] = 'ink'): SceneShape => ({
  ...{ kind: 'text', x, y, text: words.slice(0, 80), color },
})

export function drawDesk(desk: Desk): Scene {
  const words = desk.question.text.split(' ')
  return {
    width: WIDTH,
    height: HEIGHT,
    shapes: [
      text(2, 5, words.slice(0, WORDS).join(' ')),
      text(2, 5 + LINE, words.slice(WORDS).join(' ') || ' '),
      ...drawNotes(desk),
      ...drawResults(desk),
      ...drawArticle(desk),
      text(2, HEIGHT - 2, desk.message === '' ? ' ' : desk.message, endColor(desk)),
      text(84, HEIGHT - 2, `${Math.max(0, desk.spareCalls)} spare calls`, 'dim'),
    ],
  }
}

function endColor({ ended }: Desk): SceneShape['color'] {
  if (ended === null) return 'accent'
  return ended === 'right' || ended === 'gave up rightly' ? 'green' : 'failure'
}

/** A row for each subject of the question, with what was found from it to the right. */
function drawNotes(desk: Desk): SceneShape[] {
  return notesOf(desk).flatMap(({ note, place }): SceneShape[] => {
    const x = 2 + place.depth * (NOTE.width + NOTE.gap)
    const y = NOTES_Y - 2 + place.trail * (NOTE.height + 0.5)
    const isSearched = desk.searched !== null && placeId(desk.searched) === placeId(place)
    const color = isSearched ? 'accent' : 'line'
    const link: SceneShape[] =
      place.depth === 0
        ? []
        : [
            {
              kind: 'line',
              points: [
                [x - NOTE.gap, y + NOTE.height / 2],
                [x, y + NOTE.height / 2],
              ],
              color: 'line',
            },
          ]
    return [
      ...link,
      { kind: 'rect', x, y, width: NOTE.width, height: NOTE.height, color, outline: true },
      text(x + 1, y + 3.8, note.entity.name),
      text(
        x + 1,
        y + 7.6,
        note.year === null ? (place.depth === 0 ? 'in the question' : note.entity.kind) : String(note.year.value),
        'dim',
      ),
    ]
  })
}

function drawResults(desk: Desk): SceneShape[] {
  const source = desk.searched === null ? null : sourceOf(desk, desk.searched)
  const rows = desk.results.map((entity, row) => {
    const shown = source !== null && entity.names.has(source.id)
    const excerpt = shown ? ` … ${source.name} …` : ''
    const color = entity === desk.article?.entity ? 'accent' : desk.opened.has(entity.id) ? 'dim' : 'ink'
    return text(2, PAGE_Y + 5 + row * LINE, `${entity.name} (${entity.kind})${excerpt}`, color)
  })
  return [text(2, PAGE_Y, 'Results', 'dim'), ...rows]
}

/** Facts are shown once they were looked up. */
function drawArticle({ article, corpus }: Desk): SceneShape[] {
  const title = text(ARTICLE_X, PAGE_Y, 'Article', 'dim')
  if (article === null) return [title]
  const { entity, lookup } = article
  const facts = relationsOf(entity).map((relation, row) => {
    const said = lookup?.relation === relation ? read(entity, relation) : '…'
    const value =
      said === null ? 'not known' : typeof said === 'string' && said !== '…' ? entityOf(corpus, said).name : said
    return text(
      ARTICLE_X + 1.5,
      PAGE_Y + 10 + row * LINE,
      `${relation}: ${value}`,
      lookup?.relation === relation ? 'ink' : 'dim',
    )
  })
  const frame: SceneShape = {
    kind: 'rect',
    x: ARTICLE_X,
    y: PAGE_Y + 1.5,
    width: 40,
    height: 22,
    color: 'line',
    outline: true,
  }
  return [title, frame, text(ARTICLE_X + 1.5, PAGE_Y + 5.5, `${entity.name} (${entity.kind})`), ...facts]
}
