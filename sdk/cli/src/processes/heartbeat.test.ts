import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Heartbeat } from './heartbeat.ts'

const times = { everyMs: 5, mostUnanswered: 3, mostUnansweredAtStart: 10 }

function watched(answers: (asked: number) => boolean) {
  let [asked, hung] = [0, false]
  const heartbeat = new Heartbeat(() => {
    if (answers(++asked)) heartbeat.answered()
  }, times)
  void heartbeat.hung.then(() => {
    hung = true
  })
  return { heartbeat, asked: () => asked, hung: () => hung }
}

it('gives up on a process after several unanswered heartbeats in a row, more at its start', async () => {
  const never = watched(() => false)
  await never.heartbeat.hung
  expect(never.asked()).toBe(10)
  const once = watched((asked) => asked === 1)
  await once.heartbeat.hung
  expect(once.asked()).toBe(4)
})

it('never gives up on one that answers occasionally', async () => {
  const slow = watched((asked) => asked % 3 === 0)
  while (slow.asked() < 30) await delay(5)
  expect(slow.hung()).toBe(false)
  slow.heartbeat.end()
})

it('does not consider a process dead because this one was paused', async () => {
  const lively = watched(() => true)
  while (lively.asked() < 2) await delay(1)
  const until = performance.now() + 20 * times.everyMs
  while (performance.now() < until) {}
  await delay(2 * times.everyMs)
  expect(lively.hung()).toBe(false)
  lively.heartbeat.end()
  const asked = lively.asked()
  await delay(4 * times.everyMs)
  expect(lively.asked()).toBe(asked)
})
