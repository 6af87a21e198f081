/** The search as a picture: the question, the trail of notes, the page of results and the open article. */
import type { Scene, SceneShape } from '@agentgym/scenario'
import { entityOf, read, relationsOf } from './corpus.ts'
import { type Desk, sourceOf } from './procedure.ts'

const WIDTH = 100
const HEIGHT = 68
const NOTES_Y = 19
const PAGE_Y = 31
const LINE = 4.4
/** About as wide as a character is drawn, and how many of them a line of the question has. */
const CHARACTER = 2
const LINE_CHARACTERS = 47
const ARTICLE_X = 51

const text = (x: number, y: number, words: string, color: SceneShape['color'] = 'ink'): SceneShape => ({
  ...{ kind: 'text', x, y, text: words.slice(0, 80), color },
})

export function drawDesk(desk: Desk): Scene {
  return {
    width: WIDTH,
    height: HEIGHT,
    shapes: [
      ...wrapped(desk.question.text).map((line, row) => text(2, 4 + row * LINE, line)),
      ...drawNotes(desk),
      ...drawResults(desk),
      ...drawArticle(desk),
      ...(desk.message === '' ? [] : [text(2, HEIGHT - 6, desk.message, endColor(desk))]),
      text(2, HEIGHT - 1.5, `${Math.max(0, desk.spareCalls)} useless calls left`, 'dim'),
    ],
  }
}

function wrapped(question: string): string[] {
  const lines = ['']
  for (const word of question.split(' ')) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim()
    if (longer.length > LINE_CHARACTERS) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

function endColor({ ended }: Desk): SceneShape['color'] {
  if (ended === null) return 'accent'
  return ended === 'right' || ended === 'gave up rightly' ? 'green' : 'failure'
}

/** A row for each subject of the question, with what was found from it to the right. */
function drawNotes({ trails, searched }: Desk): SceneShape[] {
  return trails.flatMap((notes, trail) => {
    let x = 2
    return notes.map(({ entity, year }, depth) => {
      // Four names are too long for one row; only the first subject is followed so far.
      if (depth === 2) x = 2
      const words = `${depth === 0 ? '' : '› '}${entity.name}${year === null ? '' : ` ${year.value}`}`
      const isSearched = searched?.trail === trail && searched.depth === depth
      const shape = text(x, NOTES_Y + (trail + Math.floor(depth / 2)) * LINE, words, isSearched ? 'accent' : 'ink')
      x += (words.length + 1) * CHARACTER
      return shape
    })
  })
}

function drawResults(desk: Desk): SceneShape[] {
  const source = desk.searched === null ? null : sourceOf(desk, desk.searched)
  const rows = desk.results.map((entity, row) => {
    const unread = source !== null && entity.names.has(source.id) ? 'orange' : 'ink'
    const color = entity === desk.article?.entity ? 'accent' : desk.opened.has(entity.id) ? 'dim' : unread
    return text(2, PAGE_Y + 5 + row * LINE, `${entity.name}, ${entity.kind}`, color)
  })
  return [text(2, PAGE_Y, 'Results (linked: orange)', 'dim'), ...rows]
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
    width: 47,
    height: 22,
    color: 'line',
    outline: true,
  }
  return [title, frame, text(ARTICLE_X + 1.5, PAGE_Y + 5.5, `${entity.name}, ${entity.kind}`), ...facts]
}
