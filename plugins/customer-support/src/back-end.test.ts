import { expect, test } from 'vitest'
import { articles, bestArticle, customers, hasErrors, isRefundable } from './back-end.ts'

const payment = { invoice: 'INV-10000', amount: 30, date: '3 May', ageDays: 30, refunded: false }

test('a payment is refunded for thirty days, once', () => {
  expect(isRefundable(payment)).toBe(true)
  expect(isRefundable({ ...payment, ageDays: 31 })).toBe(false)
  expect(isRefundable({ ...payment, refunded: true })).toBe(false)
})

test('every branch of a procedure has customers', () => {
  for (const fact of [
    customers.map(({ lastPayment }) => isRefundable(lastPayment)),
    customers.map(({ logs }) => hasErrors(logs, 'api')),
    customers.map(({ logs }) => hasErrors(logs, 'import')),
  ]) {
    const share = fact.filter(Boolean).length / customers.length
    expect(share).toBeGreaterThan(0.3)
    expect(share).toBeLessThan(0.7)
  }
})

test('the API log shows an error exactly where the key has expired', () => {
  for (const { logs, apiKey } of customers) expect(hasErrors(logs, 'api')).toBe(apiKey.state === 'expired')
})

test('the search finds the article that shares most words', () => {
  expect(bestArticle('The CSV import skipped rows')).toBe(articles[4])
  expect(bestArticle('my LOGIN password')).toBe(articles[0])
  expect(bestArticle('Good morning')).toBeUndefined()
})
