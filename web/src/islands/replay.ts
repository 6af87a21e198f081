// Plays the sample episodes of a page: replays with controls while they are on screen, and thumbnails of lists while they
// are pointed at. Nothing moves by itself where reduced motion is preferred.
import { ReplayCard } from './nodes/replay-card.ts'
import { ReplayTransport } from './nodes/replay-transport.ts'

for (const figure of document.querySelectorAll<HTMLElement>('[data-replay]')) {
  const range = figure.querySelector<HTMLInputElement>('.replay-range')
  if (range !== null) new ReplayTransport(figure, range).listen()
}

for (const thumbnail of document.querySelectorAll<HTMLElement>('[data-replay-card]')) new ReplayCard(thumbnail).listen()
